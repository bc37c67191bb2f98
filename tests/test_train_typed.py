"""The typed model of chapter 09 with a line changed: the edits fit, the runs are tuned alike."""

import math
from pathlib import Path

import nbformat
import pytest

from primer.train import typed
from primer.train.typed import EDITS, RATES, SEEDS, Run


@pytest.mark.parametrize("variant", EDITS)
def test_each_edit_fits_the_chapter_and_changes_it(variant: str) -> None:
    code = typed.edited(variant)
    assert (code == typed.edited("as it stands")) == (variant == "as it stands")
    compile(code, variant, "exec")


def test_a_variant_learns(monkeypatch: pytest.MonkeyPatch) -> None:
    play = {"a play": "to be or not to be, " * 200}
    monkeypatch.setattr(typed, "split_plays", lambda: (play, play))
    start, end = (typed.train_typed("one layer", 0.012, 0, steps=steps) for steps in (0, 30))
    assert start > 3 > 2 > end  # log₂ of ten letters and marks is 3.3


def test_unknown_variants_and_changed_chapters_are_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="variant"):
        typed.edited("no luck")
    chapter = nbformat.read(typed.CHAPTER, as_version=4)
    for cell in chapter.cells:
        cell.source = cell.source.replace("return self.down(", "return self.lower(")
    changed = tmp_path / "changed.ipynb"
    nbformat.write(chapter, changed)
    with pytest.raises(ValueError, match="0 times the line"):
        typed.edited("no network", changed)


def test_first_all_rates_then_more_seeds_at_the_best() -> None:
    first = typed.missing_runs([], "one layer")
    assert [(run.rate, run.seed) for run in first] == [(rate, 0) for rate in RATES]
    runs = [Run("one layer", rate, 0, bits) for rate, bits in zip(RATES, (3, 2, 4, 5), strict=True)]
    more = typed.missing_runs(runs, "one layer")
    assert [(run.rate, run.seed) for run in more] == [(RATES[1], s) for s in range(1, SEEDS)]
    runs += [run._replace(bits=2.5) for run in more]
    assert typed.missing_runs(runs, "one layer") == []
    assert typed.ends(runs, "one layer") == [2, 2.5, 2.5]


def test_the_committed_runs_are_complete() -> None:
    runs = typed.load_runs()
    assert [typed.missing_runs(runs, variant) for variant in EDITS] == [[]] * len(EDITS)
    assert {run.variant for run in runs} == set(EDITS)
    assert all(math.isfinite(run.bits) for run in runs)


def test_what_is_finished_is_not_trained_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trained: list[Run] = []

    def train(variant: str, rate: float, seed: int) -> float:
        trained.append(Run(variant, rate, seed))
        if len(trained) == 5:
            raise KeyboardInterrupt
        return rate

    monkeypatch.setattr(typed, "RESULTS", tmp_path / "typed.csv")
    monkeypatch.setattr(typed, "EDITS", {"one layer, no luck": {}})
    monkeypatch.setattr(typed, "train_typed", train)
    with pytest.raises(KeyboardInterrupt):
        typed.main()
    typed.main()
    seeds = [(RATES[0], seed) for seed in range(1, SEEDS)]
    wanted = [*((rate, 0) for rate in RATES), seeds[0], *seeds]  # the interrupted one twice
    assert [run[1:3] for run in trained] == wanted
    assert "one layer, no luck" in capsys.readouterr().out
