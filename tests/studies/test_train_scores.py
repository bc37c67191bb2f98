"""The scores of the typed model of chapter 09: noted in each run, normed or capped."""

import math

import pytest

from studies.train import scores, typed
from studies.train.scores import EDITS, RATES, SEEDS


@pytest.mark.parametrize("variant", EDITS)
def test_a_variant_is_trained_and_its_scores_noted(
    variant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    play = {"a play": "to be or not to be, " * 200}
    monkeypatch.setattr(typed, "split_plays", lambda: (play, play))
    (run,) = scores.train_scores(variant, 0.012, 1, steps=30)
    assert run[:3] == (variant, 0.012, 1)
    assert run.bits < 2.5  # log₂ of ten letters and marks is 3.3
    assert 0 < run.largest < 30


def test_noting_the_scores_changes_nothing() -> None:
    """The table's runs of the model as it stands are those of the table of the typed model."""
    others = {run[1:3]: run.bits for run in typed.study.read() if run.variant == "as it stands"}
    same = {run[1:3]: run.bits for run in scores.study.read() if run.variant == "as it stands"}
    assert {(0.012, 0), (0.048, 0)} <= others.keys() & same.keys()
    assert all(same[one] == others[one] for one in others.keys() & same.keys())


def test_unknown_variants_and_changed_chapters_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="variant"):
        scores.code_of("no luck")
    code = typed.edited("as it stands").replace("self.causal = True", "self.causal = 1")
    monkeypatch.setattr(typed, "edited", lambda variant: code)
    with pytest.raises(ValueError, match=r"needs the line 'self\.causal = True'"):
        scores.code_of("normed")


def test_the_committed_runs_are_whole() -> None:
    runs = scores.study.read()
    assert [run[:3] for run in runs] == scores.settings(runs)
    assert len(runs) == len(EDITS) * len(RATES) * SEEDS
    assert all(math.isfinite(run.bits) for run in runs)
