"""The parts of a training run: settings, batches, schedule, optimizer, evaluation, log."""

from __future__ import annotations

import math
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import cross_entropy

from primer.language_models import BytePairEncoding
from primer.saving import write_whole
from primer.train import (
    PLAYS_1,
    Batches,
    Configuration,
    LogLine,
    Progress,
    characters_of,
    held_out_loss,
    learning_rate,
    load_state,
    make_optimizer,
    read_configuration,
    read_log,
    rounded,
    save_state,
    token_stream,
    write_log,
)
from primer.transformers import (
    Transformer,
    TransformerConfig,
    load_checkpoint,
    save_checkpoint,
)

TINY = TransformerConfig(vocab_size=257, n_layers=1, d_model=8, n_heads=2, context_length=6)
BYTES = BytePairEncoding([])  # no merges: 256 bytes and the end token


# ── configuration ────────────────────────────────────────────────────────────────────────────────


def with_line(old: str, new: str, folder: Path) -> Path:
    """Change one line of the published configuration."""
    text = PLAYS_1.read_text(encoding="utf-8")
    assert old in text
    file = folder / "changed.toml"
    file.write_text(text.replace(old, new), encoding="utf-8")
    return file


def test_published_configuration_is_the_published_model() -> None:
    configuration = read_configuration(PLAYS_1)
    assert configuration.model.vocab_size == configuration.data.vocab_size == 1024
    assert configuration.model.positions == "rope"


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("\nlearning_rate = ", "\nlearing_rate = ", "did you mean 'learning_rate'"),
        ("[training]", "[trainning]", "did you mean 'training'"),
        ("seed = 1", "xyz = 1", r"unknown key in \[training\]: 'xyz'; allowed are steps"),
        ("batch_size = ", "# ", r"batch_size is missing in \[training\]"),
        ("n_layers = 4", "n_layers = 4.0", "n_layers .* must be of type int, got 4.0"),
        ("bias = false", 'bias = "no"', "bias .* must be of type bool, got 'no'"),
        ("n_layers = 4", "n_layers = true", "n_layers .* must be of type int, got True"),
        ("n_heads = 4\n", "n_heads = 3\n", "n_heads must divide d_model"),
        ("n_layers = 4", "vocab_size = 7\nn_layers = 4", r"remove it from \[model\]"),
        ('positions = "rope"', 'positions = "ropes"', "positions .* must be one of 'rope'"),
        ('precision = "float32"', 'precision = "int4"', "precision .* must be one of 'float32'"),
        ("accumulate = 1", "accumulate = 3", "cannot be worked through in 3 equal parts"),
        ("warmup_steps = ", "warmup_steps = 9", "less than steps"),
        ("final_learning_rate = ", "final_learning_rate = 1.0 #", "between 0 and learning_rate"),
        ("clip_norm = 1.0", "clip_norm = nan", "clip_norm must be one finite number, got nan"),
        ("weight_decay = 0.1", "weight_decay = -0.1", "weight_decay must .* 0 or larger"),
        ("beta1 = 0.9", "beta1 = 1", "beta1 must be at least 0 and less than 1, got 1.0"),
        ("seed = 1", "seed = -1", "seed must lie between 0 and 4294967295, got -1"),
        ("seed = 1", "seed = 4294967296", "seed must lie between 0 and 4294967295"),
        ("steps = ", "steps = 0 #", "steps must be a whole number ≥ 1"),
        ("[data]", "[data", "not a TOML file"),
    ],
)
def test_configuration_says_what_is_wrong(
    old: str, new: str, complaint: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=complaint):
        read_configuration(with_line(old, new, tmp_path))


def test_missing_configuration_names_an_example(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no configuration file .*plays-2\.toml is an example"):
        read_configuration(tmp_path / "none.toml")
    (tmp_path / "picture.toml").write_bytes(b"\xff\xd8")
    with pytest.raises(ValueError, match="not a TOML file"):
        read_configuration(tmp_path / "picture.toml")


# ── data ─────────────────────────────────────────────────────────────────────────────────────────


@given(
    n_tokens=st.integers(24, 200),  # enough for three sequences of six
    context=st.integers(1, 6),
    batch=st.integers(1, 3),
    seed=st.integers(0, 9),
)
def test_an_epoch_reads_every_sequence_once(
    n_tokens: int, context: int, batch: int, seed: int
) -> None:
    batches = Batches(torch.arange(n_tokens), context, batch, seed)
    drawn = torch.cat([batches.at(step) for step in range(batches.sequences)])  # ``batch`` epochs
    assert torch.equal(drawn - drawn[:, :1], torch.arange(context + 1).expand_as(drawn))
    for epoch in drawn.split(batches.sequences):
        targets = epoch[:, 1:].flatten()
        assert len(targets.unique()) == len(targets) > n_tokens - 2 * context


def test_batches_depend_on_seed_and_step_alone() -> None:
    tokens = torch.arange(500)
    batches = Batches(tokens, 8, 4, seed=3)
    late = batches.at(70)
    for step in range(70):
        batches.at(step)
    assert torch.equal(batches.at(70), late)
    assert not torch.equal(Batches(tokens, 8, 4, seed=4).at(70), late)
    epochs = [sorted(batches.at(step)[:, 0].tolist()) for step in (0, batches.sequences)]
    assert epochs[0] != epochs[1]


def test_too_little_text_for_a_batch() -> None:
    with pytest.raises(ValueError, match="20 tokens make only 1 sequences of 8, fewer than one"):
        Batches(torch.arange(20), 8, 2, seed=0)


# ── schedule and optimizer ───────────────────────────────────────────────────────────────────────


@pytest.mark.filterwarnings("ignore:.*epoch parameter in `scheduler.step.*:UserWarning")
@pytest.mark.parametrize(("warmup", "total"), [(2, 7), (10, 100), (5, 6)])
def test_schedule_is_torchs_linear_ramp_and_cosine(warmup: int, total: int) -> None:
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.3)
    schedulers = torch.optim.lr_scheduler
    ramp = schedulers.LinearLR(optimizer, 1 / warmup, total_iters=warmup - 1)
    cosine = schedulers.CosineAnnealingLR(optimizer, max(total - 1 - warmup, 1), eta_min=0.02)
    chain = schedulers.SequentialLR(optimizer, [ramp, cosine], [warmup])
    for step in range(total):
        ours = learning_rate(step, peak=0.3, final=0.02, warmup_steps=warmup, total_steps=total)
        assert ours == pytest.approx(optimizer.param_groups[0]["lr"], rel=1e-6)
        optimizer.step()
        chain.step()
    with pytest.raises(ValueError, match=f"between 0 and {total - 1}, got {total}"):
        learning_rate(total, peak=0.3, final=0.02, warmup_steps=warmup, total_steps=total)


def test_only_matrices_decay() -> None:
    config = replace(TINY, norm="layer", bias=True)
    model = Transformer(config)
    optimizer = make_optimizer(model, weight_decay=0.5)
    decaying, others = (group["params"] for group in optimizer.param_groups)
    assert len(decaying) + len(others) == len(list(model.parameters()))  # a tied matrix once
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    for group in optimizer.param_groups:
        group["lr"] = 0.1
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    for name, parameter in model.named_parameters():
        factor = 1 - 0.1 * 0.5 if parameter.ndim == 2 else 1.0
        torch.testing.assert_close(parameter.data, factor * before[name])


def test_decay_does_not_pass_through_adams_averages() -> None:
    torch.manual_seed(0)
    weight = torch.nn.Linear(3, 3, bias=False)
    optimizer = make_optimizer(weight, betas=(0.9, 0.99), weight_decay=0.1)
    reference = weight.weight.detach().clone().requires_grad_()
    adam = torch.optim.Adam([reference], lr=0.01, betas=(0.9, 0.99))
    for group in optimizer.param_groups:
        group["lr"] = 0.01
    for _ in range(5):
        gradient = torch.randn(3, 3)
        weight.weight.grad, reference.grad = gradient.clone(), gradient.clone()
        with torch.no_grad():
            reference *= 1 - 0.01 * 0.1
        adam.step()
        optimizer.step()
    torch.testing.assert_close(weight.weight.data, reference.data)


# ── evaluation ───────────────────────────────────────────────────────────────────────────────────


@torch.no_grad()
def test_held_out_loss_is_the_mean_surprise_of_every_target() -> None:
    torch.manual_seed(0)
    model = Transformer(TINY).train()
    stream = token_stream({"a": "Ein schöner Tag", "b": "naïve café"}, BYTES)
    loss = held_out_loss(model, stream, BYTES)
    assert model.training  # the mode is put back
    n_windows = (len(stream) - 1) // 6
    nats = [
        cross_entropy(model(stream[None, i : i + 6].long())[0], stream[i + 1 : i + 7].long())
        for i in range(0, 6 * n_windows, 6)
    ]
    targets = stream[1 : 6 * n_windows + 1]
    text = BYTES.decode([i for i in targets.tolist() if i != 256])
    assert loss.tokens == len(targets)
    assert loss.characters == len(text.rstrip("�"))
    assert loss.nats_per_token == pytest.approx(float(torch.stack(nats).mean()), rel=1e-5)
    expected = loss.nats_per_token * loss.tokens / loss.characters / math.log(2)
    assert loss.bits_per_character == pytest.approx(expected)


@torch.no_grad()
def test_held_out_windows_are_spread_over_the_text() -> None:
    torch.manual_seed(0)
    model = Transformer(TINY)
    first, middle, last = (torch.randint(256, (6,)) for _ in range(3))
    stream = torch.cat([first, middle, last, torch.tensor([65])])
    ends = torch.cat([held_out_rows(stream, i) for i in (0, 2)])
    expected = cross_entropy(model(ends[:, :-1]).flatten(0, 1), ends[:, 1:].flatten())
    assert held_out_loss(model, stream, BYTES, windows=2).nats_per_token == pytest.approx(
        float(expected), rel=1e-5
    )
    whole = held_out_loss(model, stream, BYTES)
    assert held_out_loss(model, stream, BYTES, windows=99) == whole


def held_out_rows(stream: torch.Tensor, window: int) -> torch.Tensor:
    """Take one window of six tokens and the token after it."""
    return stream[None, 6 * window : 6 * window + 7]


def test_dropout_is_off_in_evaluation() -> None:
    model = Transformer(replace(TINY, dropout=0.5)).train()
    stream = torch.randint(256, (40,))
    assert held_out_loss(model, stream, BYTES) == held_out_loss(model, stream, BYTES)


def test_held_out_text_shorter_than_a_window() -> None:
    with pytest.raises(ValueError, match="5 held-out tokens do not fill one window of 6"):
        held_out_loss(Transformer(TINY), torch.arange(5), BYTES)


@given(st.text(min_size=1))
def test_characters_of_tokens_add_up_to_those_of_the_text(text: str) -> None:
    assert int(characters_of(BYTES)[BYTES.encode(text)].sum()) == len(text)


@pytest.mark.parametrize("n_experts", [None, 2])
def test_rounded_model_is_the_one_in_the_file(n_experts: int | None, tmp_path: Path) -> None:
    model = Transformer(replace(TINY, n_experts=n_experts)).eval()
    model(torch.tensor([[1, 2, 3]]))  # experts remember how they were chosen
    save_checkpoint(tmp_path / "m.safetensors", model, dtype=torch.float16)
    saved = load_checkpoint(tmp_path / "m.safetensors").state_dict()
    for name, weight in rounded(model).state_dict().items():
        assert torch.equal(weight, saved[name]), name
    assert not torch.equal(model.embed.weight, saved["embed.weight"])  # a copy was rounded
    assert not rounded(model).training


# ── log and state ────────────────────────────────────────────────────────────────────────────────

LINES = [LogLine(2, 48, 0.5, 1e-3, 5.5, 5.25, 3.5), LogLine(4, 96, 1.0, 2e-3, 5.0, 4.75, 3.25)]


def test_log_is_read_as_written(tmp_path: Path) -> None:
    write_log(tmp_path / "log.csv", LINES)
    assert read_log(tmp_path / "log.csv") == LINES


@pytest.mark.parametrize("content", ["", "a,b\n1,2\n", "step,tokens\n", None])
def test_what_is_no_log_is_refused(content: str | None, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match="training log"):
        read_log(path)


class Saved:
    """A model with its optimizer after one step, saved."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "state.pt"
        published = read_configuration(PLAYS_1)
        self.configuration = Configuration(published.data, TINY, published.training)
        self.model = Transformer(TINY)
        self.optimizer = make_optimizer(self.model)
        self.model(torch.tensor([[1, 2, 3]])).sum().backward()
        self.optimizer.step()
        self.save(Progress(4, LINES))

    def save(self, progress: Progress) -> None:
        save_state(
            self.path,
            self.model,
            self.optimizer,
            progress,
            self.configuration,
            corpus_hash="c0ffee",
        )

    def load(
        self, configuration: Configuration | None = None, corpus_hash: str = "c0ffee"
    ) -> tuple[Transformer, torch.optim.Optimizer, Progress]:
        model = Transformer(TINY)
        optimizer = make_optimizer(model)
        configuration = configuration or self.configuration
        progress = load_state(self.path, model, optimizer, configuration, corpus_hash)
        return model, optimizer, progress


def test_state_is_loaded_as_saved(tmp_path: Path) -> None:
    saved = Saved(tmp_path)
    model, optimizer, progress = saved.load()
    assert progress == Progress(4, LINES)
    for name, weight in saved.model.state_dict().items():
        assert torch.equal(model.state_dict()[name], weight)
    for mine, theirs in zip(
        optimizer.state_dict()["state"].values(),
        saved.optimizer.state_dict()["state"].values(),
        strict=True,
    ):
        assert all(torch.equal(mine[name], theirs[name]) for name in theirs)


def test_state_of_another_run_is_refused(tmp_path: Path) -> None:
    saved = Saved(tmp_path)
    training = replace(saved.configuration.training, learning_rate=0.5)
    other = Configuration(saved.configuration.data, TINY, training)
    with pytest.raises(ValueError, match=r"learning_rate was 0\.\d+ and is now 0\.5"):
        saved.load(other)
    with pytest.raises(ValueError, match="other texts"):
        saved.load(corpus_hash="decaf")


def test_damaged_state_is_refused(tmp_path: Path) -> None:
    saved = Saved(tmp_path)
    whole = saved.path.read_bytes()
    saved.path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="damaged and cannot be continued"):
        saved.load()
    place = whole.index(saved.model.embed.weight.detach().numpy().tobytes()[:64])
    saved.path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
    with pytest.raises(ValueError, match=r"damaged .*checksum"):  # one bit of one weight
        saved.load()
    saved.path.unlink()
    with pytest.raises(ValueError, match="no training state"):
        saved.load()


def test_foreign_files_are_no_state(tmp_path: Path) -> None:
    saved = Saved(tmp_path)
    torch.save({"weights": torch.zeros(3)}, saved.path)
    with pytest.raises(ValueError, match="not a training state"):
        saved.load()
    torch.save(Path("something that unpickling would have to call"), saved.path)
    with pytest.raises(ValueError, match="not a training state"):
        saved.load()
    saved.path.write_bytes(b"a letter")
    with pytest.raises(ValueError, match="damaged"):
        saved.load()


def rewritten(path: Path, *place: object, value: object = None, gone: bool = False) -> None:
    """Change one entry of a saved state, or take it away; the file's checksums are right again."""
    state = table = torch.load(path, weights_only=True)
    *way, last = place
    for name in way:
        table = table[name]
    if gone:
        del table[last]
    else:
        table[last] = value(table[last]) if callable(value) else value
    torch.save(state, path)


MEMORY = ("optimizer", "state", 0)


@pytest.mark.parametrize(
    ("place", "value", "sentence"),
    [
        (("model", "embed.weight"), lambda w: w * torch.nan, "embed.weight holds NaN"),
        (("model", "embed.weight"), lambda w: w.to(torch.int8), "torch.int8"),
        (("model", "embed.weight"), lambda w: w[1:], "has shape"),
        (("model", "embed.weight"), lambda w: w[0, 0].expand(10**9, 10**9), "has shape"),
        (("model", "embed.weight"), [1.0], "embed.weight is no tensor"),
        (("model", "embed.weight"), lambda w: w.to_sparse(), "embed.weight is no tensor"),
        (("model", "other"), torch.ones(1), "its weights are not those of the model"),
        (("model",), [1], "its weights are not those of the model"),
        (("optimizer",), 3, "its optimizer had other parameters"),
        (("optimizer", "state"), [1], "its optimizer had other parameters"),
        (("optimizer", "state", 99), {}, "its optimizer had other parameters"),
        (MEMORY, {"momentum": torch.ones(1)}, "remembers something else"),
        ((*MEMORY, "exp_avg"), lambda m: m * torch.inf, "exp_avg of parameter 0 holds NaN"),
        ((*MEMORY, "exp_avg"), lambda m: m[:1], "exp_avg of parameter 0 has shape"),
        ((*MEMORY, "exp_avg_sq"), lambda m: m - 1, "exp_avg_sq of parameter 0 is negative"),
        ((*MEMORY, "step"), torch.tensor(-1.0), "step of parameter 0 is negative"),
        ((*MEMORY, "step"), torch.ones(2), "step of parameter 0 has shape"),
        ((*MEMORY, "step"), 4, "step of parameter 0 is no tensor"),
        (("step",), -4, "of no run"),
        (("step",), 2.5, "of no run"),
        (("step",), 10**12, "of no run"),
        (("step",), 3, "of no run"),  # the log is ahead
        (("log",), [], "of no run"),
        (("log",), [(1, 2)], "of no run"),
        (("log",), [(1, 2, 3.0, 1.0, 1.0, float("nan"), 1.0)], "of no run"),
        (("log",), 7, "of no run"),
        (("starts",), [1], "of no run"),
        (("starts",), [0, 9], "of no run"),
        (("starts",), [], "of no run"),
        (("configuration",), None, "of no run"),
        (("configuration",), {"phases": 3}, "of no run"),
        (("configuration", "phases"), [3], "of no run"),
        (("corpus_hash",), 3, "of no run"),
    ],
)
def test_a_state_of_no_run_changes_nothing(
    place: tuple[object, ...], value: object, sentence: str, tmp_path: Path
) -> None:
    saved = Saved(tmp_path)
    rewritten(saved.path, *place, value=value)
    model = Transformer(TINY)
    optimizer = make_optimizer(model)
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    with pytest.raises(ValueError, match=rf"cannot be continued: .*{sentence}.*start anew"):
        load_state(saved.path, model, optimizer, saved.configuration, "c0ffee")
    assert all(torch.equal(weight, before[name]) for name, weight in model.state_dict().items())
    assert not optimizer.state


@pytest.mark.parametrize("entry", ["model", "optimizer", "step", "log", "starts", "configuration"])
def test_a_state_that_lacks_something(entry: str, tmp_path: Path) -> None:
    saved = Saved(tmp_path)
    rewritten(saved.path, entry, gone=True)
    with pytest.raises(ValueError, match="cannot be continued"):
        saved.load()


def test_a_run_keeps_its_own_settings_of_the_optimizer(tmp_path: Path) -> None:
    saved = Saved(tmp_path)
    rewritten(saved.path, "optimizer", "param_groups", 0, "betas", value=(7.0, "x"))
    assert saved.load()[1].param_groups[0]["betas"] == (0.9, 0.95)


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """Let no file grow beyond a number of bytes, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_full_disk_leaves_the_earlier_state(tmp_path: Path) -> None:
    saved = Saved(tmp_path)
    with room_for(1000), pytest.raises(OSError, match=r"cannot save .* untouched; free some room"):
        saved.save(Progress(6, LINES))
    assert saved.load()[2] == Progress(4, LINES)
    assert [file.name for file in tmp_path.iterdir()] == ["state.pt"]


def test_death_while_writing_leaves_the_earlier_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    write_whole(file, b"earlier")

    def die(*_: object) -> None:
        raise SystemExit  # as a signal would: nothing below cleans up

    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", die)
        with pytest.raises(SystemExit):
            write_whole(file, b"half")
    assert file.read_bytes() == b"earlier"
    write_whole(file, b"later")
    assert file.read_bytes() == b"later"
    assert list(tmp_path.iterdir()) == [file]
