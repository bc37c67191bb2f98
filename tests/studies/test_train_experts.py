"""Eight experts in the typed model of chapter 09: the cells fit, the work is counted."""

import math

import nbformat
import pytest

from studies.study import ends
from studies.train import experts, typed
from studies.train.experts import RATES, SEEDS, VARIANTS


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_variant_is_trained_and_its_work_counted(
    variant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    play = {"a play": "to be or not to be, " * 200}
    monkeypatch.setattr(typed, "split_plays", lambda: (play, play))
    (run,) = experts.train_experts(variant, 0.024, 1, steps=30)
    assert (run.variant, run.rate, run.seed) == (variant, 0.024, 1)
    assert run.bits < 2  # log₂ of ten letters and marks is 3.3
    for busiest, idle in ((run.busiest_0, run.idle_0), (run.busiest_1, run.idle_1)):
        assert 1 <= busiest <= 8
        assert 0 <= idle <= 7


def test_prices_rise_for_what_is_chosen_too_often() -> None:
    names = experts.chapter_names("to be or not to be " * 9, "to be " * 20)
    layer = names["Experts"]()
    model = names["LanguageModel"](len(names["letters"]))
    for block in model.blocks:
        block.experts = layer
    model(names["seen"][None, :50])
    load = names["load_of"](layer)
    names["adjust"](layer, speed=0.5)
    assert load.sum().item() == pytest.approx(1)
    assert layer.price.tolist() == (0.5 * (load - 1 / 8).sign()).tolist()


def test_unknown_variants_and_changed_chapters_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="variant"):
        next(experts.train_experts("no luck", 0.01, 0))
    code = typed.edited("as it stands").replace("gelu(self.up(x))", "self.up(x)")
    monkeypatch.setattr(typed, "edited", lambda variant: code)
    with pytest.raises(ValueError, match=r"needs the line 'return self\.down"):
        experts.chapter_names("to be", "to be")


def test_the_committed_runs_are_tuned_alike() -> None:
    runs = experts.study.read()
    assert [run[:3] for run in runs] == experts.settings(runs)
    for variant in VARIANTS:
        same = ends(runs, "bits", variant=variant)
        assert len(same) == SEEDS
        assert min(RATES) < same[0].rate < max(RATES)
        assert all(math.isfinite(run.bits) for run in same)


def test_the_cells_are_those_of_the_chapter() -> None:
    cells = {cell.id: cell.source for cell in nbformat.read(typed.CHAPTER, as_version=4).cells}
    assert "class Experts" in cells[experts.CELLS[1]]
    assert "def adjust" in cells[experts.CELLS[2]]
