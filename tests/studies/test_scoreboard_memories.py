"""The small models with other memories: their layers, their training, the numbers committed."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch.nn.functional import softplus

from primer.attention import MultiHeadAttention
from primer.beyond_attention import LinearAttention, SelectiveLayer
from primer.scoreboard import memories, stored_memories
from primer.scoreboard.memories import MODELS, SHAPE, MixedCache, build, with_memories
from primer.scoreboard.stored_memories import WEIGHTS, add_model, read_model, tokenizer
from primer.transformers import Transformer, TransformerConfig, load_pretrained

TINY = TransformerConfig(vocab_size=257, n_layers=3, d_model=8, n_heads=2, context_length=16)


def tiny(name: str) -> Transformer:
    """Build a small model of a kind, in double precision."""
    torch.manual_seed(1)
    return build(name)(TINY).double().eval()


@pytest.mark.parametrize("name", MODELS)
def test_a_cache_gives_the_logits_of_the_whole_text(name: str) -> None:
    model, tokens = tiny(name), torch.randint(257, (2, 16))
    cache, got = MixedCache(model), []
    with torch.no_grad():
        for part in tokens.split([5, 1, 1, 9], dim=1):
            got.append(model(part, cache))
        whole = model(tokens)
    torch.testing.assert_close(torch.cat(got, dim=1), whole, atol=1e-12, rtol=0)
    assert cache.length == 16


def test_what_is_kept_grows_with_attention_alone() -> None:
    kept = {}
    for name in MODELS:
        model, sizes = tiny(name), []
        cache = MixedCache(model)
        for token in torch.randint(257, (16, 1, 1)):
            with torch.no_grad():
                model(token, cache)
            sizes.append(cache.bytes)
        kept[name] = sizes
    numbers = 8  # bytes
    assert kept["softmax"] == [3 * 2 * 8 * numbers * t for t in range(1, 17)]
    assert set(kept["linear"]) == {3 * 2 * (4 * 4 + 4) * numbers}
    full = 3 * (8 * 16 + 3 * 8) * numbers  # states, and what the convolutions still see
    assert set(kept["selective"][3:]) == {full}
    assert kept["hybrid"][15] == 2 * full // 3 + kept["softmax"][15] // 3


def test_sequences_can_change_places_and_not_be_forgotten() -> None:
    model, tokens = tiny("hybrid"), torch.randint(257, (2, 6))
    cache = MixedCache(model)
    with torch.no_grad():
        model(tokens[:, :5], cache)
        cache.reorder(torch.tensor([1, 0]))
        got = model(tokens[:, 5:].flip(0), cache)
        torch.testing.assert_close(got.flip(0), model(tokens)[:, -1:], atol=1e-12, rtol=0)
    with pytest.raises(ValueError, match="cannot forget"):
        cache.truncate(2)


def test_the_models_are_of_one_size_and_start_alike() -> None:
    models = {name: build(name)(SHAPE) for name in MODELS}
    sizes = {name: sum(w.numel() for w in model.parameters()) for name, model in models.items()}
    assert max(sizes.values()) / min(sizes.values()) < 1.02
    steps = torch.nn.functional.softplus(models["selective"].blocks[0].attention.dt_proj.bias)
    assert steps.min() >= memories.SHORTEST_STEP * 0.999
    assert steps.max() <= memories.LONGEST_STEP * 1.001


@pytest.mark.parametrize("names", [("softmax",), ("softmax", "delta", "softmax")])
def test_unknown_memories_are_refused(names: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="for each of 3 layers"):
        with_memories(Transformer(TINY), names)


def test_models_are_read_as_they_were_stored(tmp_path: Path) -> None:
    torch.manual_seed(3)
    path, model = tmp_path / "models.safetensors", build("hybrid")(SHAPE)
    add_model("hybrid", model.state_dict(), path)
    add_model("linear", build("linear")(SHAPE).state_dict(), path)
    for name, weight in read_model("hybrid", path).state_dict().items():
        tolerance = float(weight.abs().max()) / 200 + 1e-3
        torch.testing.assert_close(weight, model.state_dict()[name], atol=tolerance, rtol=0)
    size = path.stat().st_size
    add_model("linear", build("linear")(SHAPE).state_dict(), path)
    assert path.stat().st_size == size  # replaced, not added
    with pytest.raises(ValueError, match="no whole model 'softmax'"):
        read_model("softmax", path)
    with pytest.raises(ValueError, match="model"):
        add_model("delta", {}, path)
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(ValueError, match="no whole model"):
        read_model("linear", path)


def test_the_file_is_small() -> None:
    assert WEIGHTS.stat().st_size < 500_000
    assert stored_memories.UNIT == "/unit"


# ---------------------------------------------------------------- what is small and decides


def test_first_steps_are_spread_evenly_on_a_scale_of_factors() -> None:
    torch.manual_seed(0)
    layer = torch.nn.Linear(1, 4000).double()
    memories.start_steps(layer)
    steps = torch.nn.functional.softplus(layer.bias).log10()
    assert -3 <= steps.min() < -2.99
    assert -1.01 < steps.max() <= -1
    torch.testing.assert_close(steps.quantile(0.5).item(), -2.0, atol=0.05, rtol=0)


def test_each_layer_has_the_memory_of_its_name() -> None:
    kinds = {"softmax": MultiHeadAttention, "linear": LinearAttention, "selective": SelectiveLayer}
    assert MODELS["hybrid"] == ("selective", "softmax", "selective")
    for names in MODELS.values():
        model = with_memories(Transformer(TINY), names)
        for block, name in zip(model.blocks, names, strict=True):
            assert type(block.attention) is kinds[name]
            if name == "selective":
                assert block.attention.dt_proj.out_features == TINY.d_model
                assert softplus(block.attention.dt_proj.bias.detach()).min().item() > 1e-3 * 0.999
            if name == "linear":
                assert block.attention.n_heads == TINY.n_heads


def test_matrices_are_stored_in_eight_bits_and_all_else_in_sixteen(tmp_path: Path) -> None:
    path, model = tmp_path / "models.safetensors", build("selective")(SHAPE)
    with torch.no_grad():
        model.blocks[0].attention.dt_proj.bias += 1000.1234
    add_model("selective", model.state_dict(), path)
    stored = load_file(path)
    assert not any("head.weight" in key for key in stored)
    for name, weight in model.state_dict().items():
        if name == "head.weight":
            continue
        part = stored[f"selective/{name}"]
        assert part.dtype == (torch.int8 if weight.ndim == 2 else torch.float16), name
        assert (f"selective/{name}/unit" in stored) == (weight.ndim == 2)
        if weight.ndim != 2:
            assert torch.equal(part, weight.half())
    again = read_model("selective", path)
    assert not again.training
    assert torch.equal(again.head.weight, again.embed.weight)
    with pytest.raises(ValueError, match="model"):
        read_model("delta", path)


def test_the_tokens_are_the_first_of_the_books() -> None:
    book, own = load_pretrained("plays")[1], tokenizer()
    assert own.merges == book.merges[: len(own.merges)]
    assert own.vocab_size == 512 == SHAPE.vocab_size


def test_a_stored_model_is_measured_with_its_own_tokens() -> None:
    text = "To be, or not to be? " * 30
    ids = torch.tensor([[511, *tokenizer().encode(text), 511]])
    model, nats = read_model("hybrid"), 0.0
    with torch.no_grad():
        for start in range(0, ids.shape[1] - 1, 128):
            part = ids[:, start : start + 129]
            log_p = model(part[:, :-1]).log_softmax(-1)[0]
            nats -= float(log_p[torch.arange(len(log_p)), part[0, 1:]].sum())
    found = stored_memories.memory_model("hybrid")({}, {"a": text})
    assert found.bits["a"].sum() == pytest.approx(nats / math.log(2), rel=1e-5)
