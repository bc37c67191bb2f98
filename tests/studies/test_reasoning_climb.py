"""What the study of rewards stores: it belongs to its base, and can be drawn and made again."""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterator

import numpy as np
import pytest
import torch

from primer.reasoning import check
from primer.reasoning.recorded import load_recorded
from primer.transformers import Transformer
from studies.reasoning import climb

RUNS = {(run.way, run.seed, run.step): run for run in climb.study.read()}


def test_every_way_goes_on_from_one_base_in_each_seed():
    for seed in climb.SEEDS:
        assert len({run.base for run in RUNS.values() if run.seed == seed}) == 1
    assert climb.fingerprint(load_recorded("base")) == RUNS["strict", 0, 0].base


@pytest.mark.parametrize(
    ("name", "way", "step"),
    [("base", "strict", 0), ("trained", "strict", 200), ("misled", "loose", 150)],
)
def test_a_stored_model_answers_as_its_line_says(name, way, step):
    run = RUNS[way, 0, step]
    replies = climb.attempts(
        load_recorded(name), climb.CALCULATOR, climb.TEST, 8, torch.Generator().manual_seed(5)
    )
    each = check(climb.CALCULATOR, replies).right.reshape(-1, 8).float().mean(1).numpy()
    gap = each - np.array(run.passed) / run.tries
    assert abs(gap.mean()) < 4 * gap.std() / np.sqrt(len(gap))


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make the study small, on an untaught base, and keep its files where they are."""

    @functools.cache
    def base(seed: int) -> Transformer:
        torch.manual_seed(seed)
        return Transformer(climb.CONFIG).eval()

    monkeypatch.setattr(climb, "base", base)
    monkeypatch.setattr(climb, "TEST", climb.examples().prompts[:4])
    monkeypatch.setattr(climb, "save_checkpoint", lambda *_: None)
    monkeypatch.setattr(climb, "MANY", 16)
    monkeypatch.setattr(climb, "REPAIR", 1)
    short = {way: (reward, 1, ()) for way, (reward, *_) in climb.WAYS.items()}
    monkeypatch.setattr(climb, "WAYS", short)


def test_a_model_that_is_measured_twice_has_one_result(quick: None):
    model = copy.deepcopy(load_recorded("base"))
    first, again = (climb.measure("strict", 0, 3, model, 16) for _ in range(2))
    assert first == again
    assert climb.measure("strict", 0, 4, model, 16) != first


@pytest.mark.parametrize("way", ["strict", "loose"])
def test_a_way_is_the_same_again_from_its_seed(quick: None, way: str):
    model = load_recorded("base")
    climb.base = lambda seed: model  # type: ignore[assignment]
    first, again = ([*climb.rewarded(way, 1)] for _ in range(2))
    assert first == again
    assert [*climb.train(way, 2)] != first


def test_the_models_of_seed_0_are_stored_the_misled_one_before_its_repair(
    quick: None, monkeypatch: pytest.MonkeyPatch
):
    events: list[str] = []
    model = load_recorded("base")
    monkeypatch.setattr(climb, "base", lambda seed: model)
    monkeypatch.setattr(climb, "save_checkpoint", lambda file, *_: events.append(file.stem))
    for seed in (0, 1):
        for way in ("strict", "loose"):
            for run in climb.rewarded(way, seed):
                events.append(f"{way} {seed}, step {run.step}")
    assert events == [
        *("strict 0, step 0", "base", "strict 0, step 1", "trained"),
        *("loose 0, step 1", "misled", "loose 0, step 2"),
        *("strict 1, step 0", "strict 1, step 1", "loose 1, step 1", "loose 1, step 2"),
    ]
