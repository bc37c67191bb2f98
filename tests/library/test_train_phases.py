"""Phases of a training, sequences that repeat, first weights, and what heads do with them."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import scipy.stats
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import cross_entropy

from primer.train import (
    Batches,
    Configuration,
    DataSettings,
    Phase,
    RepeatingBatches,
    TrainingSettings,
    attention_of,
    copy_scores,
    cut_passages,
    initialize,
    learning_rate,
    loop,
    make_optimizer,
    named_scores,
    read_configuration,
    read_corpus,
    read_log,
    relative_entropies,
    repetition_gain,
    train,
)
from primer.train.configuration import PLAYS_2, parse_configuration
from primer.transformers import Transformer, TransformerConfig, load_checkpoint, read_metadata

SHAPE = TransformerConfig(vocab_size=300, n_layers=2, d_model=16, n_heads=2, context_length=32)
FIRST = Phase(
    steps=7,
    context_length=16,
    batch_size=4,
    learning_rate=1e-2,
    final_learning_rate=5e-3,
    warmup_steps=2,
    weight_decay=0.3,
    dropout=0.2,
    repeated=0.5,
    repeats="both",
)


@pytest.fixture
def phased(texts: Path) -> Configuration:
    """Make a run of seven steps and then ten others."""
    return Configuration(
        DataSettings(str(texts), 300),
        SHAPE,
        TrainingSettings(
            steps=10,
            batch_size=2,
            learning_rate=2e-2,
            final_learning_rate=1e-3,
            warmup_steps=3,
            weight_decay=0.1,
            clip_norm=1.0,
            save_every=4,
            held_out_windows=8,
            initialization="fan-in",
            shared_vector=1.0,
            seed=5,
        ),
        (FIRST,),
    )


# ── sequences that repeat ────────────────────────────────────────────────────────────────────────


@given(
    context=st.integers(16, 64),
    seed=st.integers(0, 2**32 - 1),
    step=st.integers(0, 10**6),
    repeats=st.sampled_from(["text", "random", "both"]),
)
def test_repeating_sequences_have_a_period(
    context: int, seed: int, step: int, repeats: str
) -> None:
    tokens = torch.arange(1000)
    batches = RepeatingBatches(Batches(tokens, context, 8, seed), 1.0, repeats, vocab_size=10**9)
    rows = batches.at(step)
    assert rows.shape == (8, context + 1)
    for row in rows:
        period = int((row[1:] == row[0]).nonzero()[0]) + 1
        assert context / 16 - 0.5 <= period <= context / 2 + 0.5
        assert torch.equal(row[period:], row[:-period])
        is_text = torch.equal(row[:period], row[0] + torch.arange(period))
        assert repeats == "both" or is_text == (repeats == "text") or period == 1
    assert torch.equal(batches.at(step), rows)
    assert not torch.equal(batches.at(step + 1), rows)


def test_a_share_of_the_sequences_repeats() -> None:
    plain = Batches(torch.arange(100_000), 32, 50, seed=0)
    rows = torch.cat([RepeatingBatches(plain, 0.25, "text", 10).at(step) for step in range(40)])
    others = torch.cat([plain.at(step) for step in range(40)])
    changed = int((rows != others).any(dim=1).sum())
    assert scipy.stats.binomtest(changed, len(rows), 0.25).pvalue > 1e-3
    assert torch.equal(RepeatingBatches(plain, 0.0, "text", 10).at(7), plain.at(7))


def test_both_kinds_of_segments_occur() -> None:
    plain = Batches(torch.arange(10_000), 32, 200, seed=0)
    rows = RepeatingBatches(plain, 1.0, "both", vocab_size=10**9).at(0)
    from_text = int((rows.amax(dim=1) < 10_000).sum())
    assert scipy.stats.binomtest(from_text, 200, 0.5).pvalue > 1e-3


def test_share_that_is_none_or_cannot_repeat() -> None:
    plain = Batches(torch.arange(100), 8, 2, seed=0)
    with pytest.raises(ValueError, match=r"share between 0 and 1, got 1\.5"):
        RepeatingBatches(plain, 1.5, "text", 10)
    with pytest.raises(ValueError, match="needs a context of at least 16 tokens, got 8"):
        RepeatingBatches(plain, 0.5, "text", 10)
    RepeatingBatches(plain, 0.0, "text", 10)


@pytest.mark.parametrize("repeats", ["text", "random", "both"])
def test_repeating_sequences_are_those_of_a_plain_loop(repeats: str) -> None:
    plain = Batches(torch.arange(900) ** 2, 48, 12, seed=9)
    seen = RepeatingBatches(plain, 0.6, repeats, vocab_size=90).at(7)
    rows = plain.at(7).tolist()
    draw = torch.Generator().manual_seed(9 * 2**32 + 2**31 + 7)
    for number, row in enumerate(rows):
        if torch.rand((), generator=draw) >= 0.6:
            continue
        length = round(48 / 16 * 8 ** float(torch.rand((), generator=draw)))
        coin = bool(torch.rand((), generator=draw) < 0.5)  # it is tossed, whatever it decides
        random = coin if repeats == "both" else repeats == "random"
        if random:
            piece = torch.randint(90, (length,), generator=draw).tolist()
        else:
            start = int(torch.randint(900 - length, (), generator=draw))
            piece = [at**2 for at in range(start, start + length)]
        rows[number] = [piece[at % length] for at in range(len(row))]
    assert seen.tolist() == rows


def test_the_shortest_context_of_a_repetition_and_the_shares_at_the_ends() -> None:
    plain = Batches(torch.arange(100), 16, 2, seed=0)
    rows = RepeatingBatches(plain, 1.0, "text", 10).at(0)
    assert rows.shape == (2, 17)
    with pytest.raises(ValueError, match=r"share between 0 and 1, got -0\.1"):
        RepeatingBatches(plain, -0.1, "text", 10)


# ── first weights ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("tied", [True, False])
def test_fan_in_keeps_the_size_of_vectors(tied: bool) -> None:
    torch.manual_seed(0)
    config = replace(SHAPE, d_model=128, n_layers=3, vocab_size=2000, tied_embeddings=tied)
    model = Transformer(config)
    initialize(model, "fan-in")
    for name, weight in model.named_parameters():
        if weight.ndim == 2:
            out = weight @ torch.randn(weight.shape[1])
            writes = name.endswith(("attention.output.weight", "down.weight"))
            expected = 1 / math.sqrt(6) if writes else 1.0
            assert out.square().mean().sqrt().item() == pytest.approx(expected, rel=0.25), name
        else:
            assert torch.equal(weight, torch.ones_like(weight))


def test_what_embeddings_share_changes_no_prediction_from_the_same_state() -> None:
    torch.manual_seed(0)
    model = Transformer(SHAPE)
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    initialize(model, "gpt-2", shared_vector=2.0)
    added = model.embed.weight.detach() - before.pop("embed.weight")
    before.pop("head.weight")
    assert added[0].norm().item() == pytest.approx(2.0, rel=1e-5)
    torch.testing.assert_close(added, added[:1].expand_as(added))
    assert all(torch.equal(model.state_dict()[name], weight) for name, weight in before.items())
    state = torch.randn(16)
    old = model.embed.weight.detach() - added
    torch.testing.assert_close((model.embed.weight @ state).softmax(0), (old @ state).softmax(0))


# ── what heads do ────────────────────────────────────────────────────────────────────────────────


def test_relative_entropy_is_scipys() -> None:
    torch.manual_seed(0)
    tokens = torch.randint(300, (3, 9))
    weights = attention_of(Transformer(SHAPE), tokens)
    for layer in range(2):
        for head in range(2):
            rows = weights[layer, :, head].double().numpy()
            entropies = scipy.stats.entropy(rows, axis=-1).sum()
            most = 3 * sum(math.log(n) for n in range(1, 10))
            ours = relative_entropies(weights)[layer, head].item()
            assert ours == pytest.approx(entropies / most, rel=1e-4)


def test_copy_score_is_the_weight_on_what_came_next_the_first_time() -> None:
    torch.manual_seed(1)
    model = Transformer(SHAPE).train()
    passages = cut_passages(torch.randint(300, (50,)), length=12, passages=4)
    scores = copy_scores(model, passages)
    assert model.training  # the mode is put back
    weights = attention_of(model, torch.cat([passages, passages], dim=1))
    for layer in range(2):
        for head in range(2):
            seen = [
                weights[layer, text, head, query, query - 12 + 1].item()
                for text in range(4)
                for query in range(12, 23)
            ]
            assert scores[layer, head].item() == pytest.approx(sum(seen) / len(seen), rel=1e-4)


def test_all_heads_have_the_scores_of_their_layers() -> None:
    torch.manual_seed(1)
    tokens = torch.randint(20, (3, 30))
    scores = named_scores(attention_of(Transformer(SHAPE), tokens), tokens)
    assert {name: score.shape for name, score in scores.items()} == dict.fromkeys(
        ["previous token", "first token", "same token", "induction"], (2, 2)
    )


@torch.no_grad()
def test_gain_is_the_difference_of_two_losses() -> None:
    torch.manual_seed(2)
    model = Transformer(SHAPE)
    passages = cut_passages(torch.randint(300, (40,)), length=10, passages=9)
    assert len(passages) == 4
    differences = []
    for number in range(4):
        losses = []
        for before in (passages[number - 1], passages[number]):
            text = torch.cat([before, passages[number]])
            losses.append(cross_entropy(model(text[None])[0, 10:-1], text[11:]).item())
        differences.append(losses[0] - losses[1])
    assert repetition_gain(model, passages) == pytest.approx(sum(differences) / 4, abs=1e-5)


def test_text_without_two_passages() -> None:
    with pytest.raises(ValueError, match="19 tokens hold no two passages of 10"):
        cut_passages(torch.arange(19), length=10, passages=4)


# ── configuration ────────────────────────────────────────────────────────────────────────────────


def test_second_edition_has_its_phases() -> None:
    configuration = read_configuration(PLAYS_2)
    assert [phase.context_length for phase in configuration.course] == [256, 64, 256]
    assert configuration.course[-1].dropout == configuration.model.dropout > 0
    assert configuration.course[1].until_copying < 1


def as_read(configuration: Configuration) -> dict[str, Any]:
    """Return the tables of a file with these settings."""
    tables = configuration.to_dict()
    del tables["model"]["vocab_size"]
    tables["model"] = {name: v for name, v in tables["model"].items() if v is not None}
    return tables


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"steps": 0}, "steps must be a whole number"),
        ({"context_length": 64}, "a phase reads 64 tokens at a time and the model 32"),
        ({"warmup_steps": 7}, "less than steps = 7, got 7"),
        ({"dropout": 1.0}, "dropout must be at least 0 and less than 1"),
        ({"weight_decay": -1.0}, "weight_decay must"),
        ({"repeated": -0.5}, "repeated must be a share between 0 and 1"),
        ({"repeats": "poem"}, r"repeats in \[\[phases\]\] must be one of 'text'"),
        ({"until_copying": 0.0}, "until_copying must be larger than 0 and at most 1"),
        ({"dropuot": 0.1}, r"unknown key in \[\[phases\]\]: 'dropuot'; did you mean 'dropout'"),
        ({"batch_size": 3}, "3 sequences cannot be worked through in 2 equal parts"),
    ],
)
def test_phase_says_what_is_wrong(
    change: dict[str, object], complaint: str, phased: Configuration
) -> None:
    tables = as_read(phased)
    tables["training"]["accumulate"] = 2
    with pytest.raises(ValueError, match=complaint):
        parse_configuration({**tables, "phases": [asdict(FIRST) | change]})


def test_phases_stand_in_double_brackets(phased: Configuration) -> None:
    tables = phased.to_dict()
    with pytest.raises(ValueError, match="double brackets"):
        parse_configuration({**tables, "phases": asdict(FIRST)})
    with pytest.raises(ValueError, match="in double brackets"):
        parse_configuration({**tables, "phases": [asdict(FIRST), 3]})


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"initialization": "zeros"}, "initialization .* must be one of 'gpt-2'"),
        ({"shared_vector": -1.0}, "shared_vector must"),
        ({"repeated": 2.0}, "repeated must be a share between 0 and 1"),
    ],
)
def test_setting_says_what_is_wrong(
    change: dict[str, object], complaint: str, phased: Configuration
) -> None:
    tables = as_read(phased)
    with pytest.raises(ValueError, match=complaint):
        parse_configuration({**tables, "training": tables["training"] | change})


# ── runs ─────────────────────────────────────────────────────────────────────────────────────────


def weights_of(model: Transformer) -> torch.Tensor:
    """Join all weights of a model."""
    return torch.cat([p.detach().flatten() for p in model.parameters()])


def test_a_run_with_phases_is_the_textbooks_loop(phased: Configuration, tmp_path: Path) -> None:
    phased = replace(phased, phases=(replace(FIRST, dropout=0.0),))
    path = train(phased, tmp_path, "m")
    tokens = read_corpus(phased.data.texts, 300).training
    torch.manual_seed(5)
    model = Transformer(SHAPE)
    initialize(model, "fan-in", 1.0)
    optimizer = make_optimizer(model)
    plans = [
        (RepeatingBatches(Batches(tokens, 16, 4, 5), 0.5, "both", 300), 7, 1e-2, 5e-3, 2, 0.3),
        (Batches(tokens, 32, 2, 5 + 7919), 10, 2e-2, 1e-3, 3, 0.1),
    ]
    for batches, steps, peak, final, warmup, decay in plans:
        for step in range(steps):
            rate = learning_rate(
                step, peak=peak, final=final, warmup_steps=warmup, total_steps=steps
            )
            for group in optimizer.param_groups:
                group["lr"] = rate
            optimizer.param_groups[0]["weight_decay"] = decay
            batch = batches.at(step)
            optimizer.zero_grad()
            cross_entropy(model(batch[:, :-1]).mT, batch[:, 1:]).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
    torch.testing.assert_close(
        weights_of(load_checkpoint(path)), weights_of(model).half().float(), atol=2e-4, rtol=2e-3
    )
    tokens_read = [line.tokens for line in read_log(tmp_path / "m-log.csv")]
    assert tokens_read == [4 * 64, 7 * 64 + 64, 7 * 64 + 5 * 64, 7 * 64 + 9 * 64, 17 * 64]
    assert read_metadata(path)["phase_starts"] == [0, 7]


@pytest.mark.parametrize("score", [0.001, 0.999, 1.0])
def test_phase_ends_when_a_head_copies(score: float, phased: Configuration, tmp_path: Path) -> None:
    early = replace(phased, phases=(replace(FIRST, until_copying=score),))
    path = train(early, tmp_path, "m")
    expected = 4 if score == 0.001 else 7  # at the first evaluation, or never
    assert read_metadata(path)["phase_starts"] == [0, expected]
    assert read_log(tmp_path / "m-log.csv")[-1].step == expected + 10


@pytest.mark.parametrize(
    "stops",
    [[9, 12, 13], *(pytest.param(s, marks=pytest.mark.thorough) for s in ([3], [4], [6, 8]))],
)
def test_interrupted_in_any_phase_it_ends_with_the_same_weights(
    stops: list[int], phased: Configuration, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    early = replace(
        phased,
        model=replace(SHAPE, dropout=0.1),
        phases=(replace(FIRST, steps=5), replace(FIRST, until_copying=0.001)),
    )  # the second ends early, at an evaluation
    whole = train(early, tmp_path / "whole", "m")
    original = loop._Run.step
    for stop in stops:

        def step(run: object, number: int, starts: list[int], stop: int = stop) -> object:
            if number == stop:
                raise KeyboardInterrupt
            return original(run, number, starts)

        with monkeypatch.context() as patched:
            patched.setattr(loop._Run, "step", step)
            with pytest.raises(KeyboardInterrupt):
                train(early, tmp_path / "parts", "m")
    parts = train(early, tmp_path / "parts", "m")
    assert read_metadata(parts) == read_metadata(whole)
    assert read_metadata(parts)["phase_starts"] == [0, 5, 8]
    assert torch.equal(weights_of(load_checkpoint(parts)), weights_of(load_checkpoint(whole)))


def test_dropout_is_that_of_the_phase(
    phased: Configuration, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    original = loop._Run.add_gradients

    def add_gradients(run: loop._Run, batch: torch.Tensor) -> torch.Tensor:
        seen.append((run.model.dropout.p, run.model.blocks[1].dropout.p))
        return original(run, batch)

    monkeypatch.setattr(loop._Run, "add_gradients", add_gradients)
    train(replace(phased, model=replace(SHAPE, dropout=0.1)), tmp_path, "m")
    assert seen == [(0.2, 0.2)] * 7 + [(0.1, 0.1)] * 10


def test_state_of_another_phase_is_refused(
    phased: Configuration, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def step(*_: object) -> None:
        raise KeyboardInterrupt

    original = loop._Run.step
    monkeypatch.setattr(
        loop._Run, "step", lambda run, at, starts: (step if at == 5 else original)(run, at, starts)
    )
    with pytest.raises(KeyboardInterrupt):
        train(phased, tmp_path, "m")
    other = replace(phased, phases=(replace(FIRST, repeated=0.25),))
    with pytest.raises(ValueError, match=r"repeated of phase 1 was 0\.5 and is now 0\.25"):
        train(other, tmp_path, "m")
    with pytest.raises(ValueError, match=r"steps of phase 1 was 7 and is now None"):
        train(replace(phased, phases=()), tmp_path, "m")
