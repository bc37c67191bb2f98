"""How far all weights move in twenty steps: what the table shows, and a line is found again."""

import pytest

from primer.transformers import Transformer
from studies.pretraining import nudged, probes


def test_the_way_tells_of_the_steps_and_not_of_the_start() -> None:
    runs = {(run.start, run.seed): run for run in nudged.study.read()}
    assert len(runs) == 2 * len(nudged.SEEDS)
    for seed in nudged.SEEDS:
        near, far = runs["pretrained", seed], runs["random", seed]
        assert near.way == pytest.approx(far.way, rel=0.2)
        assert far.share > 1.5 * near.share


def test_a_training_finds_what_is_stored() -> None:
    (stored,) = (run for run in nudged.study.read() if run[:2] == ("random", 2))
    again = nudged.tune(probes.random_weights(), *probes.directions(), 2)
    assert again.way == pytest.approx(stored.way, abs=0.05)  # the last digits are the machine's
    assert again.f1 == pytest.approx(stored.f1, abs=0.05)


def test_train_hands_its_seed_and_its_start_on(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def tune(start: Transformer, learn: list, judge: list, seed: int) -> nudged.Tuned:
        asked.append((start.embed.weight.std().item(), len(learn), len(judge), seed))
        return nudged.Tuned(4.0, 0.1, 0.5, 258)

    monkeypatch.setattr(nudged, "tune", tune)
    runs = [run for start in ("pretrained", "random") for run in nudged.train(start, 7)]
    assert runs == [(start, 7, 4.0, 0.1, 0.5) for start in ("pretrained", "random")]
    (learned, *rest), (drawn, *_) = asked
    assert learned > 2 * drawn  # random weights are small at first
    assert rest == [300, 200, 7]
