"""The study of tracked cups: what is asked, a short training made again, and the stored table."""

from __future__ import annotations

import pytest
import torch

from studies.reasoning import cups

RUNS = cups.study.read()


def chance(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_the_last_of_all_places_is_the_direct_answer() -> None:
    questions = cups.CUPS.questions(torch.tensor([1, 7, 10]), chance(0))
    written, direct = (cups.answers(way, questions) for way in ("written", "direct"))
    assert written.shape == (3, 10)
    assert torch.equal(written[:, -1:], direct)


@pytest.mark.parametrize(("way", "layers"), cups.WAYS)
def test_a_training_is_the_same_again_from_its_seed(
    way: str, layers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cups, "STEPS", 2)
    monkeypatch.setattr(cups, "ASKED", 8)
    first, again, other = (cups.taught(way, layers, 1e-3, seed).state_dict() for seed in (0, 0, 1))
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["head.weight"], other["head.weight"])
    runs = [*cups.train(way, layers, 1e-3, 0)]
    assert [run.swaps for run in runs] == [*cups.SWAPS]


class Perfect(torch.nn.Module):
    """Says the place after the slot that is next to be written, for the direct answer the last."""

    def __init__(self, way: str) -> None:
        super().__init__()
        self.way = way

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        length = cups.CUPS.slots + 2
        places = cups.CUPS.track(tokens[:, :length])
        said = places[:, -1 if self.way == "direct" else tokens.shape[1] - length]
        return torch.nn.functional.one_hot(said, cups.CUPS.vocab_size).float()[:, None]


@pytest.mark.parametrize("way", ["direct", "written"])
def test_a_model_that_tracks_is_right(way: str) -> None:
    questions = cups.CUPS.questions(torch.full((20,), 10), chance(1))
    found = cups.last_place(way, Perfect(way), questions)  # type: ignore[arg-type]
    assert torch.equal(found, cups.CUPS.track(questions)[:, -1])


@pytest.mark.parametrize(("way", "layers"), cups.WAYS)
def test_each_way_was_tuned_and_has_three_seeds(way: str, layers: int) -> None:
    best = cups.best_of(RUNS, way, layers)
    assert [run.seed for run in best[:: len(cups.SWAPS)]] == [*cups.SEEDS]
    rates = {run.rate for run in RUNS if run[:2] == (way, layers)}
    assert min(rates) < best[0].rate < max(rates)
