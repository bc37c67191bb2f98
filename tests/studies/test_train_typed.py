"""The typed model of chapter 09 with a line changed: the edits fit, the runs are tuned alike."""

import csv
import inspect
import math
import re
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
import torch

from studies.study import ends, tuned
from studies.train import typed
from studies.train.typed import EDITS, LIMITS, RATES, SEEDS, Run


@pytest.mark.parametrize("variant", EDITS)
def test_each_edit_fits_the_chapter_and_changes_it(variant: str) -> None:
    code = typed.edited(variant)
    assert (code == typed.edited("as it stands")) == (variant == "as it stands")
    compile(code, variant, "exec")


def test_a_variant_learns(monkeypatch: pytest.MonkeyPatch) -> None:
    play = {"a play": "to be or not to be, " * 200}
    monkeypatch.setattr(typed, "split_plays", lambda: (play, play))
    (start,), (end,) = (typed.train_typed("one layer", 0.012, 0, steps=n) for n in (0, 30))
    assert start.bits > 3 > 2 > end.bits  # log₂ of ten letters and marks is 3.3


def test_unknown_variants_and_changed_chapters_are_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="variant"):
        typed.edited("no luck")
    chapter = nbformat.read(typed.CHAPTER, as_version=4)
    for cell in chapter.cells:
        cell.source = cell.source.replace("return self.down(", "return self.lower(")
    changed = tmp_path / "changed.ipynb"
    nbformat.write(chapter, changed)
    with pytest.raises(ValueError, match="has it 0 times"):
        typed.edited("no network", changed)


def wanted(runs: list[Run]) -> list[tuple[float, int]]:
    """Return the rates and seeds that are missing of one variant."""
    done = {run[:3] for run in runs}
    return [one[1:] for one in typed.settings(runs) if one[0] == "one layer" and one not in done]


def the_runs(bits_at: Callable[[float], float]) -> list[Run]:
    """Return all runs that a variant needs if each ends with the bits that its rate gives."""
    runs: list[Run] = []
    while missing := wanted(runs):
        runs += [Run("one layer", rate, seed, bits_at(rate)) for rate, seed in missing]
    return runs


def test_first_all_rates_then_more_seeds_at_the_best() -> None:
    assert wanted([]) == [(rate, 0) for rate in RATES]
    runs = [Run("one layer", rate, 0, bits) for rate, bits in zip(RATES, (3, 2, 4, 5), strict=True)]
    assert wanted(runs) == [(RATES[1], seed) for seed in range(1, SEEDS)]
    runs += [Run("one layer", rate, seed, 2.5) for rate, seed in wanted(runs)]
    assert wanted(runs) == []
    assert [run.bits for run in ends(runs, "bits", variant="one layer")] == [2, 2.5, 2.5]


@pytest.mark.parametrize(
    ("best", "beyond"),
    [(0.012, []), (0.006, [0.003]), (0.003, [0.003, 0.0015]), (0.096, [0.096, 0.192])],
)
def test_a_best_rate_at_the_edge_is_given_a_neighbor(best: float, beyond: list[float]) -> None:
    runs = the_runs(lambda rate: abs(math.log(rate / best)))
    assert [run.rate for run in runs if run.seed == 0] == [*RATES, *beyond]
    assert [run[1:3] for run in runs if run.seed > 0] == [(best, s) for s in range(1, SEEDS)]


@pytest.mark.parametrize(("bits_at", "limit"), [(float, LIMITS[0]), (lambda r: -r, LIMITS[1])])
def test_no_rate_beyond_the_limits_is_tried(
    bits_at: Callable[[float], float], limit: float
) -> None:
    runs = the_runs(bits_at)
    assert len(runs) == len(RATES) + 3 + SEEDS - 1
    assert tuned(runs, "bits", variant="one layer").rate == limit


def test_no_number_is_the_worst_end() -> None:
    runs = the_runs(lambda rate: math.nan if rate in (RATES[0], RATES[-1]) else rate)
    assert tuned(runs, "bits", variant="one layer").rate == RATES[1]
    assert len(runs) == len(RATES) + SEEDS - 1


def test_the_committed_runs_are_tuned_alike() -> None:
    runs = typed.study.read()
    assert [run[:3] for run in runs] == typed.settings(runs)
    assert all(len(ends(runs, "bits", variant=variant)) == SEEDS for variant in EDITS)
    assert all(math.isfinite(run.bits) for run in runs)


@pytest.mark.parametrize("variant", EDITS)
def test_the_best_committed_rate_is_inside_those_tried(variant: str) -> None:
    with typed.study.table.open(newline="", encoding="utf-8") as file:
        lines = [line for line in csv.DictReader(file) if line["variant"] == variant]
    bits = {float(line["rate"]): float(line["bits"]) for line in lines if line["seed"] == "0"}
    best = min(bits, key=bits.__getitem__)
    assert min(bits) < best < max(bits)
    assert {line["seed"] for line in lines if float(line["rate"]) == best} == {"0", "1", "2"}


def test_a_variant_is_trained_with_its_seed_on_what_is_not_held_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = {"one": "to be or not to be, " * 60, "two": "that is " * 60}
    new = {"three": "it is not the question or that, " * 30}
    monkeypatch.setattr(typed, "split_plays", lambda: (seen, new))
    names = {"math": math, "seen_text": "\n".join(seen.values()), "new_text": new["three"]}
    exec(typed.edited("one layer"), names)
    torch.manual_seed(4)
    model = names["LanguageModel"](len(set(names["seen_text"] + names["new_text"])))
    bits = names["bits"](names["train"](model, 3, 0.01))
    for rate, seed, same in ((0.01, 4, True), (0.01, 5, False), (0.02, 4, False)):
        [run] = typed.train_typed("one layer", rate, seed, steps=3)
        assert (run.bits == float(bits)) == same


def test_the_chapter_trains_its_model_for_as_many_steps() -> None:
    cells = {cell.id: cell.source for cell in nbformat.read(typed.CHAPTER, as_version=4).cells}
    (steps,) = re.findall(r"train\(LanguageModel\(.*steps=(\d+)\)", cells["whole-run"])
    assert inspect.signature(typed.train_typed).parameters["steps"].default == int(steps)
