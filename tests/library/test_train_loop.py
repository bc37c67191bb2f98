"""The training loop step by step: what it draws, shows, saves, and when a phase ends."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch.nn.functional import cross_entropy

from primer.train import (
    Batches,
    Configuration,
    DataSettings,
    Phase,
    TrainingSettings,
    cut_passages,
    learning_rate,
    loop,
    make_optimizer,
    read_corpus,
    read_log,
    train,
)
from primer.transformers import Transformer, TransformerConfig, load_checkpoint, read_metadata


@pytest.fixture
def small(texts: Path) -> Configuration:
    """Make a run of six steps."""
    return Configuration(
        DataSettings(str(texts), 300),
        TransformerConfig(
            vocab_size=300, n_layers=1, d_model=16, n_heads=2, context_length=16, dropout=0.3
        ),
        TrainingSettings(
            steps=6,
            batch_size=4,
            learning_rate=1e-2,
            final_learning_rate=1e-3,
            warmup_steps=2,
            weight_decay=0.1,
            clip_norm=1.0,
            save_every=4,
            held_out_windows=8,
            seed=3,
        ),
    )


FIRST = Phase(
    steps=9,
    context_length=8,
    batch_size=2,
    learning_rate=1e-2,
    final_learning_rate=5e-3,
    warmup_steps=2,
    weight_decay=0.3,
    dropout=0.0,
)


def weights_of(model: Transformer) -> torch.Tensor:
    """Join all weights of a model."""
    return torch.cat([p.detach().flatten() for p in model.parameters()])


def test_dropout_is_a_function_of_seed_and_step(small: Configuration, tmp_path: Path) -> None:
    path = train(small, tmp_path, "m")
    tokens = read_corpus(small.data.texts, 300).training
    torch.manual_seed(3)
    model = Transformer(small.model)
    optimizer = make_optimizer(model)
    for step in range(6):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, peak=1e-2, final=1e-3, warmup_steps=2, total_steps=6)
        batch = Batches(tokens, 16, 4, 3).at(step)
        torch.manual_seed(3 * 2**32 + step)
        optimizer.zero_grad()
        cross_entropy(model(batch[:, :-1]).mT, batch[:, 1:]).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    torch.testing.assert_close(
        weights_of(load_checkpoint(path)), weights_of(model).half().float(), atol=2e-4, rtol=2e-3
    )


class Bar:
    """A bar that remembers what it was told; two steps a second go by."""

    shown: Any = None

    def __init__(self, **options: Any) -> None:
        self.options, self.total, self.done, self.said = options, options["total"], 0, []
        self.format_dict = {"rate": 2.0}
        Bar.shown = self

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def update(self) -> None:
        self.done += 1

    def set_postfix_str(self, text: str, refresh: bool) -> None:
        assert not refresh
        self.said.append(text)


@pytest.mark.parametrize(("stop", "copied"), [(0, False), (7, False), (0, True), (3, True)])
def test_the_bar_tells_how_many_steps_are_done_and_to_come(
    stop: int,
    copied: bool,
    small: Configuration,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    phased = replace(small, phases=(replace(FIRST, until_copying=0.5),))
    monkeypatch.setattr(loop, "tqdm", Bar)
    monkeypatch.setattr(loop._Run, "copies", lambda run, phase: copied)
    original = loop._Run.step

    def step(run: loop._Run, number: int, starts: list[int]) -> tuple[float, torch.Tensor]:
        if number == stop:
            raise KeyboardInterrupt
        return original(run, number, starts)

    if stop:
        with monkeypatch.context() as patched:
            patched.setattr(loop._Run, "step", step)
            with pytest.raises(KeyboardInterrupt):
                train(phased, tmp_path, "m")
    path = train(phased, tmp_path, "m")
    saved = stop // 4 * 4
    ends = 4 if copied else 9
    assert (Bar.shown.options["initial"], Bar.shown.options["disable"]) == (saved, False)
    assert Bar.shown.options["total"] == 9 + 6
    assert Bar.shown.total == ends + 6 == saved + Bar.shown.done
    assert read_metadata(path)["phase_starts"] == [0, ends]
    first = 2 * FIRST.batch_size * FIRST.context_length  # tokens in a second
    speeds = [f"{first} tokens/s"] * (ends - saved) + ["128 tokens/s"] * 6
    assert [said.split(", ")[1] for said in Bar.shown.said] == speeds
    losses = [float(said.split(", ")[0].removeprefix("loss ")) for said in Bar.shown.said]
    assert all(4 < loss < 7 for loss in losses)
    log = read_log(tmp_path / "m-log.csv")
    assert [line.step for line in log] == [*range(4, ends + 6, 4), ends + 6]
    tokens = [16 * min(line.step, ends) + 64 * max(line.step - ends, 0) for line in log]
    assert [line.tokens for line in log] == tokens
    assert [line.seconds for line in log] == sorted(line.seconds for line in log)


def test_the_time_of_all_parts_of_a_training_is_added(
    small: Configuration, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(range(0, 10_000, 10))
    monkeypatch.setattr(loop, "time", SimpleNamespace(perf_counter=lambda: float(next(clock))))
    original = loop._Run.step

    def step(run: loop._Run, number: int, starts: list[int]) -> tuple[float, torch.Tensor]:
        if number == 5:
            raise KeyboardInterrupt
        return original(run, number, starts)

    with monkeypatch.context() as patched:
        patched.setattr(loop._Run, "step", step)
        with pytest.raises(KeyboardInterrupt):
            train(small, tmp_path, "m")
    next(clock)  # nobody trains
    train(small, tmp_path, "m")
    assert [line.seconds for line in read_log(tmp_path / "m-log.csv")] == [10.0, 20.0]


@pytest.mark.parametrize(("best", "asked", "ends"), [(0.4, 0.4, False), (0.41, 0.4, True)])
def test_a_phase_ends_above_its_score_on_twenty_four_passages_of_half_a_context(
    best: float, asked: float, ends: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def scores(model: str, passages: torch.Tensor) -> torch.Tensor:
        seen.append((model, passages))
        return torch.tensor([[0.1, best], [0.2, 0.0]], dtype=torch.float64)

    monkeypatch.setattr(loop, "copy_scores", scores)
    text = torch.arange(5000)
    run = SimpleNamespace(model="a model", corpus=SimpleNamespace(training=text))
    phase = replace(FIRST, context_length=15, until_copying=asked)
    assert loop._Run.copies(run, phase) == ends
    assert seen[0][0] == "a model"
    assert torch.equal(seen[0][1], cut_passages(text, 7, 24))
    assert not loop._Run.copies(run, replace(phase, until_copying=1.0))
    assert len(seen) == 1


def test_a_finished_model_tells_how_it_ended(small: Configuration, tmp_path: Path) -> None:
    path = train(small, tmp_path / "a" / "new folder", "m")
    told = read_metadata(path)
    last = read_log(path.with_name("m-log.csv"))[-1]
    assert (told["name"], told["steps"], told["phase_starts"]) == ("m", 6, [0])
    assert told["validation_loss"] == last.validation_loss
    assert told["bits_per_character"] == last.bits_per_character
    assert told["corpus_sha256"] == read_corpus(small.data.texts, 300).hash
    assert sorted(file.name for file in path.parent.iterdir()) == [
        "m-bpe.json",
        "m-log.csv",
        "m.safetensors",
    ]


@pytest.mark.parametrize("loss", [float("nan"), float("inf")])
def test_a_loss_that_is_no_number_ends_the_training_unsaved(
    loss: float, small: Configuration, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = loop.held_out_loss
    evaluated = []

    def held_out_loss(*given: Any) -> Any:
        evaluated.append(given[3])
        found = original(*given)
        return found._replace(nats_per_token=loss) if len(evaluated) == 2 else found

    monkeypatch.setattr(loop, "held_out_loss", held_out_loss)
    with pytest.raises(ArithmeticError, match=rf"became {loss} at step 5; lower .*\(0\.01\)"):
        train(small, tmp_path, "m")
    assert [line.step for line in read_log(tmp_path / "m-log.csv")] == [4]
    assert evaluated == [8, 8]


def test_too_little_held_out_text_is_refused_before_the_first_step(
    small: Configuration, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = read_corpus(small.data.texts, 300)
    short = corpus._replace(validation=corpus.validation[:16])
    monkeypatch.setattr(loop, "read_corpus", lambda *_: short)
    monkeypatch.setattr(loop._Run, "step", lambda *_: pytest.fail("a step"))
    with pytest.raises(ValueError, match="16 held-out tokens do not fill one window of 16"):
        train(small, tmp_path, "m")
    assert not list(tmp_path.glob("m*"))


def test_a_model_is_built_by_what_is_given(small: Configuration, tmp_path: Path) -> None:
    built = []

    def build(config: TransformerConfig) -> Transformer:
        built.append(config)
        return Transformer(config)

    train(small, tmp_path, "m", build)
    assert built == [small.model]


def test_random_segments_are_drawn_from_the_whole_vocabulary_of_the_data(
    small: Configuration,
) -> None:
    corpus = read_corpus(small.data.texts, 300)
    training = replace(small.training, seed=2**32 - 1, repeated=0.5)
    phases = (replace(FIRST, context_length=16, repeated=0.25, repeats="random"),)
    process = loop.Process(0, 1, torch.device("cpu"))
    run = loop._Run(replace(small, training=training, phases=phases), corpus, process, Transformer)
    first, second = run.batches
    assert (first.vocab_size, first.share, first.repeats) == (300, 0.25, "random")
    assert (second.vocab_size, second.share) == (300, 0.5)
    assert [first.batches.seed, second.batches.seed] == [2**32 - 1, 7918]
    assert (first.batches.context_length, first.batches.batch_size) == (16, 2)


class Shared(torch.nn.Module):
    """What shares gradients among processes, without any other process."""

    def __init__(self, model: Transformer, *, find_unused_parameters: bool) -> None:
        super().__init__()
        self.model, self.finds, self.waits = model, find_unused_parameters, 0

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.model(tokens)

    def no_sync(self) -> Any:
        self.waits += 1
        return nullcontext()


@pytest.mark.parametrize("experts", [None, 2])
def test_processes_average_once_a_batch_and_ask_for_what_is_unused_where_there_are_experts(
    experts: int | None, small: Configuration, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "DistributedDataParallel", Shared)
    model = replace(small.model, n_experts=experts, dropout=0.0)
    settings = replace(small.training, accumulate=4, batch_size=8)
    corpus = read_corpus(small.data.texts, 300)
    process = loop.Process(1, 2, torch.device("cpu"))
    given = replace(small, model=model, training=settings)
    run = loop._Run(given, corpus, process, Transformer)
    assert isinstance(run.shared, Shared)
    assert run.shared.finds == (experts is not None)
    batch = Batches(corpus.training, 16, 8, 3).at(0)
    loss = run.add_gradients(batch)
    assert run.shared.waits == 3
    gradients = [weight.grad.clone() for weight in run.model.parameters()]
    run.optimizer.zero_grad()
    whole = cross_entropy(run.model(batch[:, :-1]).mT, batch[:, 1:])
    whole.backward()
    torch.testing.assert_close(loss, whole.detach())
    for gradient, weight in zip(gradients, run.model.parameters(), strict=True):
        torch.testing.assert_close(gradient, weight.grad, atol=1e-6, rtol=1e-4)


def test_each_process_reads_every_second_row_with_dropout_of_its_own(
    small: Configuration, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "DistributedDataParallel", Shared)
    corpus = read_corpus(small.data.texts, 300)
    for rank in (0, 1):
        run = loop._Run(small, corpus, loop.Process(rank, 2, torch.device("cpu")), Transformer)
        seen = []

        def add_gradients(batch: torch.Tensor, seen: list[Any] = seen) -> torch.Tensor:
            seen.append((batch, torch.initial_seed()))
            return torch.zeros(())

        monkeypatch.setattr(run, "add_gradients", add_gradients)
        rate, _ = run.step(3, [0])
        assert rate == learning_rate(3, peak=1e-2, final=1e-3, warmup_steps=2, total_steps=6)
        ((batch, drawn),) = seen
        assert torch.equal(batch, Batches(corpus.training, 16, 4, 3).at(3)[rank::2])
        assert drawn == 3 * 2**32 + 3 * 2 + rank
