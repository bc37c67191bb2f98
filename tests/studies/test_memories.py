"""The study of memories: its trainings go on after a stop, and its table and log agree."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from primer.scoreboard.memories import MODELS, SHAPE, build
from primer.scoreboard.stored_memories import read_model, tokenizer
from primer.train import Configuration, held_out_loss, loop, read_corpus, read_log, train
from primer.transformers import TransformerConfig
from studies.scoreboard import memories
from studies.scoreboard.memories import (
    HELD_OUT_WINDOWS,
    LONG,
    RATES,
    SEEDS,
    SHORT,
    report,
    study,
)
from studies.study import tuned

TINY = TransformerConfig(vocab_size=257, n_layers=3, d_model=8, n_heads=2, context_length=16)
RUNS = study.read()


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """Write a folder of texts to train on."""
    for part, times in (("training", 60), ("validation", 10)):
        (tmp_path / "texts" / part).mkdir(parents=True)
        (tmp_path / "texts" / part / "a.txt").write_text("To be, or not to be. " * times)
    return tmp_path / "texts"


@pytest.mark.thorough
@pytest.mark.parametrize("name", MODELS)
def test_the_trainer_trains_them_and_goes_on_after_a_stop(
    name: str, texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = memories.configuration(80, 0.01, 0)
    configuration = Configuration(
        replace(plain.data, texts=str(texts), vocab_size=257),
        TINY,
        replace(
            plain.training,
            steps=24,
            warmup_steps=4,
            save_every=12,
            held_out_windows=2,
            batch_size=4,
        ),
    )
    whole = train(configuration, tmp_path / "whole", "model", build(name))
    saved = loop.save_state
    calls = []

    def stop(*arguments: object) -> None:
        saved(*arguments)
        calls.append(1)
        if len(calls) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(loop, "save_state", stop)
    with pytest.raises(KeyboardInterrupt):
        train(configuration, tmp_path / "parts", "model", build(name))
    parts = train(configuration, tmp_path / "parts", "model", build(name))
    once, twice = load_file(whole), load_file(parts)
    assert once.keys() == twice.keys()
    assert all(torch.equal(weight, twice[key]) for key, weight in once.items())
    first, last = read_log(whole.with_name("model-log.csv"))
    assert last.validation_loss < first.validation_loss < 5


# --- what is committed ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_every_model_was_tuned_alike(name: str) -> None:
    short = sorted(run.rate for run in RUNS if run[:2] == (name, SHORT))
    assert set(RATES) <= set(short)
    best = tuned(RUNS, "bits", model=name, steps=SHORT).rate
    assert short[0] < best < short[-1]  # not at an edge
    long = [run for run in RUNS if run[:2] == (name, LONG)]
    assert [(run.rate, run.seed) for run in long] == [(best, seed) for seed in range(SEEDS)]


@pytest.mark.thorough
@pytest.mark.parametrize("name", MODELS)
def test_the_stored_model_is_the_one_of_the_results(name: str) -> None:
    """Its loss on the windows of the training's log; eight bits change it little."""
    corpus = read_corpus("plays", SHAPE.vocab_size)
    assert corpus.tokenizer.tokens == tokenizer().tokens
    got = held_out_loss(read_model(name), corpus.validation, corpus.tokenizer, HELD_OUT_WINDOWS)
    [seed_0] = [r for r in RUNS if r[:2] == (name, LONG) and r.seed == 0]
    assert got.bits_per_character == pytest.approx(seed_0.bits, abs=0.01)


def test_results_and_log_belong_together() -> None:
    assert set(report(RUNS)) <= set(study.log.read_text().splitlines())
