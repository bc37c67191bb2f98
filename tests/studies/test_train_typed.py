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

from primer.train import typed
from primer.train.typed import EDITS, LIMITS, RATES, SEEDS, Run


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


def the_runs(bits_at: Callable[[float], float]) -> list[Run]:
    """Return all runs that a variant needs if each ends with the bits that its rate gives."""
    runs: list[Run] = []
    while missing := typed.missing_runs(runs, "one layer"):
        assert not {run[:3] for run in missing} & {run[:3] for run in runs}
        runs += [run._replace(bits=bits_at(run.rate)) for run in missing]
    return runs


def test_first_all_rates_then_more_seeds_at_the_best() -> None:
    first = typed.missing_runs([], "one layer")
    assert [(run.rate, run.seed) for run in first] == [(rate, 0) for rate in RATES]
    runs = [Run("one layer", rate, 0, bits) for rate, bits in zip(RATES, (3, 2, 4, 5), strict=True)]
    more = typed.missing_runs(runs, "one layer")
    assert [(run.rate, run.seed) for run in more] == [(RATES[1], s) for s in range(1, SEEDS)]
    runs += [run._replace(bits=2.5) for run in more]
    assert typed.missing_runs(runs, "one layer") == []
    assert typed.ends(runs, "one layer") == [2, 2.5, 2.5]


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
    assert typed.tuned(runs, "one layer") == limit


def test_no_number_is_the_worst_end() -> None:
    runs = the_runs(lambda rate: math.nan if rate in (RATES[0], RATES[-1]) else rate)
    assert typed.tuned(runs, "one layer") == RATES[1]
    assert len(runs) == len(RATES) + SEEDS - 1


def test_the_committed_runs_are_complete_and_tuned_alike() -> None:
    runs = typed.load_runs()
    stored = {run[:3]: run for run in runs}
    wanted: list[Run] = []
    for variant in EDITS:  # as the command trains them, one after the other
        while missing := typed.missing_runs(wanted, variant):
            wanted += [stored.pop(run[:3]) for run in missing]
    assert runs == wanted
    assert [len(typed.ends(runs, variant)) for variant in EDITS] == [SEEDS] * len(EDITS)
    assert all(math.isfinite(run.bits) for run in runs)


@pytest.mark.parametrize("variant", EDITS)
def test_the_best_committed_rate_is_inside_those_tried(variant: str) -> None:
    with typed.RESULTS.open(newline="", encoding="utf-8") as file:
        lines = [line for line in csv.DictReader(file) if line["variant"] == variant]
    bits = {float(line["rate"]): float(line["bits"]) for line in lines if line["seed"] == "0"}
    best = min(bits, key=bits.__getitem__)
    assert min(bits) < best < max(bits)
    assert {line["seed"] for line in lines if float(line["rate"]) == best} == {"0", "1", "2"}


def test_what_is_finished_is_not_trained_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trained: list[Run] = []

    def train(variant: str, rate: float, seed: int) -> float:
        trained.append(Run(variant, rate, seed))
        if len(trained) == 5:
            raise KeyboardInterrupt
        return abs(rate - RATES[1])

    monkeypatch.setattr(typed, "RESULTS", tmp_path / "typed.csv")
    monkeypatch.setattr(typed, "EDITS", {"one layer, no luck": {}})
    monkeypatch.setattr(typed, "train_typed", train)
    with pytest.raises(KeyboardInterrupt):
        typed.main()
    typed.main()
    seeds = [(RATES[1], seed) for seed in range(1, SEEDS)]
    wanted = [*((rate, 0) for rate in RATES), seeds[0], *seeds]  # the interrupted one twice
    assert [run[1:3] for run in trained] == wanted
    assert "one layer, no luck" in capsys.readouterr().out


def test_what_is_read_is_stored_as_it_was(tmp_path: Path) -> None:
    typed.save_runs(typed.load_runs(), tmp_path / "typed.csv")
    assert (tmp_path / "typed.csv").read_bytes() == typed.RESULTS.read_bytes()


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
    assert typed.train_typed("one layer", 0.01, 4, steps=3) == float(bits)
    assert typed.train_typed("one layer", 0.01, 5, steps=3) != float(bits)
    assert typed.train_typed("one layer", 0.02, 4, steps=3) != float(bits)


def test_the_chapter_trains_its_model_for_as_many_steps() -> None:
    cells = {cell.id: cell.source for cell in nbformat.read(typed.CHAPTER, as_version=4).cells}
    (steps,) = re.findall(r"train\(LanguageModel\(.*steps=(\d+)\)", cells["whole-run"])
    assert inspect.signature(typed.train_typed).parameters["steps"].default == int(steps)
