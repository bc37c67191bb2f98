"""A checkpoint gives back what was saved, or says why it cannot."""

import json
import resource
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save_file

from primer.language_models import BytePairEncoding
from primer.transformers import (
    Transformer,
    TransformerConfig,
    checkpoint,
    load_checkpoint,
    load_pretrained,
    pretrained_file,
    read_metadata,
    save_checkpoint,
)

SHAPE = TransformerConfig(vocab_size=260, n_layers=2, d_model=16, n_heads=2, context_length=8)
TOKENS = torch.tensor([[1, 5, 9, 2]])


def build(seed: int = 0, **changes: object) -> Transformer:
    """Build a small model."""
    torch.manual_seed(seed)
    return Transformer(TransformerConfig.from_dict(SHAPE.to_dict() | changes)).eval()


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Give the content of a good file."""
    path = tmp_path_factory.mktemp("good") / "model.safetensors"
    save_checkpoint(path, build(), metadata={"corpus_sha256": "abc"})
    return path.read_bytes()


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"tied_embeddings": False},
        {"positions": "learned", "norm": "layer", "bias": True},
        {"n_experts": 3, "n_kv_heads": 1, "window": 4},
        {"positions": "alibi", "norm_position": "post"},
    ],
)
def test_what_was_saved_comes_back(tmp_path, changes):
    model, path = build(**changes), tmp_path / "model.safetensors"
    metadata = {"corpus_sha256": "é" * 3, "steps": 7, "losses": [1.5, 0.25]}
    save_checkpoint(path, model, metadata=metadata)
    back = load_checkpoint(path)
    assert back.config == model.config
    assert not back.training
    assert read_metadata(path) == metadata
    torch.testing.assert_close(back(TOKENS), model(TOKENS), atol=0, rtol=0)
    assert [name for name, _ in back.named_parameters()] == [
        name for name, _ in model.named_parameters()
    ]
    assert all(p.requires_grad for p in back.parameters())


def test_half_precision_halves_the_file(tmp_path):
    model = build()
    full, half = tmp_path / "full.safetensors", tmp_path / "half.safetensors"
    save_checkpoint(full, model)
    save_checkpoint(half, model, dtype=torch.float16)
    n_parameters = sum(p.numel() for p in model.parameters())
    assert full.stat().st_size - half.stat().st_size == pytest.approx(2 * n_parameters, rel=0.01)
    assert load_checkpoint(half).embed.weight.dtype == torch.float32
    torch.testing.assert_close(
        load_checkpoint(half).embed.weight, model.embed.weight.half().float(), atol=0, rtol=0
    )
    assert read_metadata(half) == {}


@pytest.mark.parametrize(
    "changes", [{}, {"tied_embeddings": False}, {"positions": "learned", "norm": "layer"}]
)
def test_eight_bits_keep_every_weight_within_half_a_unit(tmp_path, changes):
    model, path = build(**changes), tmp_path / "model.safetensors"
    save_checkpoint(path, model, metadata={"name": "small"}, dtype=torch.int8)
    back = load_checkpoint(path)
    assert read_metadata(path) == {"name": "small"}
    for name, weight in model.state_dict().items():
        unit = weight.abs().amax(dim=1, keepdim=True) / 127 if weight.ndim == 2 else 0
        assert ((back.state_dict()[name] - weight).abs() <= 0.5001 * unit).all(), name
    again = tmp_path / "again.safetensors"
    save_checkpoint(again, back, metadata={"name": "small"}, dtype=torch.int8)
    for name, weight in load_checkpoint(again).state_dict().items():
        torch.testing.assert_close(weight, back.state_dict()[name], atol=1e-7, rtol=1e-5)
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match="damaged"):
        load_checkpoint(path)


def test_eight_bits_hold_no_nan(tmp_path):
    model = build()
    model.embed.weight.data[0, 0] = torch.nan
    with pytest.raises(ValueError, match="weight must be finite, got nan"):
        save_checkpoint(tmp_path / "model.safetensors", model, dtype=torch.int8)
    assert not (tmp_path / "model.safetensors").exists()


def test_loading_draws_no_random_numbers(tmp_path):
    save_checkpoint(tmp_path / "model.safetensors", build())
    before = torch.get_rng_state()
    load_checkpoint(tmp_path / "model.safetensors")
    assert torch.equal(torch.get_rng_state(), before)


@given(st.data())
def test_any_damaged_byte_is_noticed(saved, tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "damaged.safetensors"
    where = data.draw(st.integers(0, len(saved) - 1))
    new = data.draw(st.integers(0, 255).filter(lambda byte: byte != saved[where]))
    path.write_bytes(saved[:where] + bytes([new]) + saved[where + 1 :])
    with pytest.raises(ValueError, match=r"damaged|save_checkpoint"):
        load_checkpoint(path)


@given(st.floats(0, 1, exclude_max=True))
def test_any_truncated_file_is_refused(saved, tmp_path_factory, share):
    path = tmp_path_factory.getbasetemp() / "truncated.safetensors"
    path.write_bytes(saved[: int(share * len(saved))])
    with pytest.raises(ValueError, match="truncated, damaged or no safetensors file"):
        load_checkpoint(path)


@given(st.binary(max_size=200))
def test_foreign_bytes_are_refused(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "foreign.safetensors"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"no safetensors file|save_checkpoint"):
        load_checkpoint(path)


def test_safetensors_of_others_are_refused(tmp_path):
    path = tmp_path / "other.safetensors"
    for metadata in (None, {"format": "pt"}):
        save_file({"weight": torch.ones(2)}, path, metadata)
        with pytest.raises(ValueError, match="not written by save_checkpoint"):
            load_checkpoint(path)


def test_a_missing_file_and_a_folder(tmp_path):
    for path in (tmp_path / "nothing.safetensors", tmp_path):
        with pytest.raises(ValueError, match="there is no checkpoint"):
            load_checkpoint(path)


def test_a_full_disk_keeps_the_old_file(tmp_path):
    path = tmp_path / "model.safetensors"
    save_checkpoint(path, build(seed=1))
    before = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, hard))
    try:
        with pytest.raises(OSError, match="the file that was there before is untouched"):
            save_checkpoint(path, build(seed=2))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_metadata_that_json_cannot_hold_leaves_the_old_file(tmp_path):
    path = tmp_path / "model.safetensors"
    save_checkpoint(path, build(seed=1))
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"metadata .* JSON"):
        save_checkpoint(path, build(seed=2), metadata={"tensor": torch.ones(2)})
    with pytest.raises(ValueError, match=r"metadata .* JSON"):
        save_checkpoint(path, build(seed=2), metadata={"loss": float("nan")})
    assert path.read_bytes() == before


# Files with a right checksum that lie -------------------------------------------------------------


def lie(path: Path, weights: dict | None = None, **header: str | None) -> None:
    """Write a file whose checksum is right, as anybody can compute it; its content is ours."""
    model = build()
    own = {name: w for name, w in model.state_dict().items() if name != "head.weight"}
    own = {name: w.contiguous() for name, w in (own if weights is None else weights).items()}
    entries = {
        "format": checkpoint.FORMAT,
        "config": json.dumps(SHAPE.to_dict()),
        "metadata": "{}",
        **header,
    }
    entries = {name: text for name, text in entries.items() if text is not None}
    entries["sha256"] = checkpoint._checksum(entries, own)
    save_file(own, path, entries)


NUMBERS = [name for name, value in SHAPE.to_dict().items() if isinstance(value, int | None)]


@given(
    st.sampled_from(NUMBERS),
    st.sampled_from([-1, 0, 3.5, 10**7, 10**12, 2**70, "2", [2], {}, float("nan"), float("inf")]),
)
def test_no_number_in_a_header_is_believed(tmp_path_factory, name, value):
    path = tmp_path_factory.getbasetemp() / "lie.safetensors"
    lie(path, config=json.dumps(SHAPE.to_dict() | {name: value}))
    if name in ("window", "experts_per_token") and type(value) is int and value > 0:
        return  # these can be as large as they like
    with pytest.raises(ValueError, match=str(path)):
        load_checkpoint(path)


@pytest.mark.parametrize("entry", ["config", "metadata"])
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "has no entry"),
        ("{x", "is no JSON"),
        ("[" * 100_000, "is no JSON"),
        ('{"a":' * 100_000, "is no JSON"),
        ('{"a": ' + "9" * 5000 + "}", "is no JSON"),
        ("[1]", r"must be a table, got \[1\]"),
        ("null", "must be a table, got None"),
    ],
    ids=["none", "cut", "nested", "nested tables", "a long number", "a list", "null"],
)
def test_headers_that_are_no_tables(tmp_path, entry, text, sentence):
    path = tmp_path / "lie.safetensors"
    lie(path, **{entry: text})
    with pytest.raises(ValueError, match=f"{entry}.*{sentence}|{sentence} '{entry}'"):
        (load_checkpoint if entry == "config" else read_metadata)(path)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda w: w * torch.nan, "must be finite"),
        (lambda w: w.fill_(torch.inf), "must be finite"),
        (lambda w: (w.double() + 1) * 1e300, "must be finite in torch.float32"),
        (lambda w: w.to(torch.int16), "holds torch.int16"),
        (lambda w: w.bool(), "holds torch.bool"),
        (lambda w: w.to(torch.complex64), "holds torch.complex64"),
        (lambda w: w.to(torch.int8), "whole numbers without their units"),
        (lambda w: w[..., :-1], "size mismatch"),
        (lambda w: w[None], "size mismatch"),
    ],
    ids=["nan", "inf", "large", "int16", "bool", "complex", "int8", "narrow", "one axis more"],
)
def test_weights_that_no_model_computes_with(tmp_path, change, sentence):
    path = tmp_path / "lie.safetensors"
    own = {name: w for name, w in build().state_dict().items() if name != "head.weight"}
    for name in ("embed.weight", "blocks.1.attention.query.weight", "norm.weight"):
        lie(path, own | {name: change(own[name].clone())})
        with pytest.raises(ValueError, match=f"{name}.*{sentence}|{sentence}.*{name}"):
            load_checkpoint(path)


@pytest.mark.parametrize(
    ("units", "sentence"),
    [
        (torch.ones(260, 1), r"one number for each row, got torch.float32 of shape \(260, 1\)"),
        (torch.ones(259), r"got torch.float32 of shape \(259,\)"),
        (torch.ones(()), r"got torch.float32 of shape \(\)"),
        (torch.ones(260, dtype=torch.int64), "got torch.int64"),
        (torch.full((260,), torch.nan), "embed.weight.units must be finite"),
    ],
)
def test_units_that_are_none(tmp_path, units, sentence):
    path = tmp_path / "lie.safetensors"
    own = {name: w for name, w in build().state_dict().items() if name != "head.weight"}
    whole = own | {"embed.weight": torch.ones(260, 16, dtype=torch.int8)}
    lie(path, whole | {"embed.weight.units": torch.ones(260)})
    assert (load_checkpoint(path).embed.weight == 1).all()
    lie(path, whole | {"embed.weight.units": units})
    with pytest.raises(ValueError, match=sentence):
        load_checkpoint(path)
    lie(path, own | {"embed.weight.units": torch.ones(260)})
    with pytest.raises(ValueError, match="are units of no whole numbers"):
        load_checkpoint(path)


def test_what_is_not_saved(tmp_path):
    path, model = tmp_path / "model.safetensors", build()
    for dtype in (torch.int64, torch.bool, "half"):
        with pytest.raises(ValueError, match=r"dtype must be a floating-point one or torch.int8"):
            save_checkpoint(path, model, dtype=dtype)
    with pytest.raises(ValueError, match="model must be a Transformer, got Linear"):
        save_checkpoint(path, torch.nn.Linear(2, 2))
    model.norm.weight.data[0] = 1e6  # more than half precision holds
    with pytest.raises(ValueError, match=r"norm.weight must be finite in torch.float16"):
        save_checkpoint(path, model, dtype=torch.float16)
    model.norm.weight.data[0] = torch.nan
    with pytest.raises(ValueError, match=r"norm.weight must be finite"):
        save_checkpoint(path, model)
    assert not path.exists()


# The models that come with the book ---------------------------------------------------------------


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a model and its tokenizer in a folder of their own."""
    monkeypatch.setattr(checkpoint, "PRETRAINED", tmp_path)
    tokenizer = BytePairEncoding.train(["to be or not to be"], vocab_size=260)
    tokenizer.save(tmp_path / "tiny-bpe.json")
    save_checkpoint(tmp_path / "tiny.safetensors", build())
    return tmp_path


def test_a_model_comes_with_its_tokenizer(shelf):
    model, tokenizer = load_pretrained("tiny")
    ids = tokenizer.encode("to be")
    assert model(torch.tensor([ids])).shape == (1, len(ids), tokenizer.vocab_size)


@pytest.mark.parametrize("name", ["", "tin", "../tiny", "tiny.safetensors"])
def test_unknown_models_are_named(shelf, name):
    with pytest.raises(ValueError, match="there is: tiny"):
        load_pretrained(name)


def test_a_name_without_a_number_is_the_newest_edition(shelf):
    for edition in ("big-1", "big-2"):
        save_checkpoint(shelf / f"{edition}.safetensors", build(), {"name": edition})
    assert [pretrained_file(name).stem for name in ("big", "big-1", "tiny")] == [
        "big-2",
        "big-1",
        "tiny",
    ]
    with pytest.raises(ValueError, match="there is: big, big-1, big-2, tiny"):
        load_pretrained("big-3")


def test_files_that_do_not_belong_together(shelf):
    save_checkpoint(shelf / "tiny.safetensors", build(vocab_size=300))
    with pytest.raises(ValueError, match="has 260 tokens and the model 300"):
        load_pretrained("tiny")


def test_the_model_of_the_book():
    model, tokenizer = load_pretrained("plays")
    assert len(read_metadata(pretrained_file("plays"))["corpus_sha256"]) == 64
    ids = torch.tensor([tokenizer.encode("To be, or not to be, that is the question:\n")])
    with torch.no_grad():
        loss = torch.nn.functional.cross_entropy(model(ids)[0, :-1], ids[0, 1:])
    uniform = torch.tensor(float(tokenizer.vocab_size)).log()
    assert loss < uniform / 2


def test_the_header_is_plain_json(saved):
    length = int.from_bytes(saved[:8], "little")
    header = json.loads(saved[8 : 8 + length])["__metadata__"]
    assert json.loads(header["config"]) == SHAPE.to_dict()
    assert json.loads(header["metadata"]) == {"corpus_sha256": "abc"}
