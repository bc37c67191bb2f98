"""The race of ways to tune: which rates are tried, what is still missing, what is kept."""

from __future__ import annotations

import itertools
import math
import statistics

import pytest
import torch
from torch.nn.functional import cross_entropy

from primer.fine_tuning import (
    LoRALinear,
    between,
    fine_tune,
    loss_on,
    trainable_numbers,
    truncated_update,
    windows_of,
)
from primer.fine_tuning.docstrings import DocstringTokens
from primer.language_models import BytePairEncoding
from primer.train import token_stream
from primer.transformers import Transformer, TransformerConfig, load_pretrained
from studies.fine_tuning import race
from studies.fine_tuning.race import (
    FOLLOWED,
    LESS,
    MIDDLE,
    RANKS,
    SEEDS,
    STRENGTHS,
    Run,
    best_rate,
    ends,
    prepare,
    settings,
    study,
)

WAY = "embedding"


def wanted(runs, way=None):
    """Return what is missing, of one way or of all."""
    done = {race.trained_as(run) for run in runs}
    return [w for w in settings(runs) if w not in done and way in (None, w[0])]


def runs_with(best):
    """Pretend that the loss for tuning is lowest at one rate, and train whatever is asked for."""
    runs: list[Run] = []
    while todo := wanted(runs, next(iter(MIDDLE))):
        runs += [Run(*w, abs(math.log(w[1] / best)), 3.0 + w[2], 4.0) for w in todo]
    return runs


@pytest.mark.parametrize("factor", [0.26, 0.5, 1.0, 2.0, 3.9])
def test_rates_are_tried_until_the_best_has_worse_ones_on_both_sides(factor):
    way = next(iter(MIDDLE))
    runs = runs_with(MIDDLE[way] * factor)
    tried = sorted(r.rate for r in runs if r.seed == 0)
    assert tried[0] < best_rate(way, runs) < tried[-1]
    assert [b / a for a, b in itertools.pairwise(tried)] == pytest.approx([2.0] * (len(tried) - 1))
    assert abs(math.log2(best_rate(way, runs) / (MIDDLE[way] * factor))) <= 0.5
    assert {r.seed for r in runs if r.rate == best_rate(way, runs)} == set(SEEDS)


def test_the_committed_race_is_complete():
    runs = study.read()
    for way in MIDDLE:
        assert ends(way, runs).shape == (len(SEEDS), 2)
    for way, rates in FOLLOWED.items():
        assert all(len(ends(way, runs, rate)) == len(SEEDS) for rate in rates)
    less = [LESS, *(f"cut, r = {r}" for r in RANKS), *(f"times {a}" for a in STRENGTHS)]
    assert all(len(ends(way, runs)) == len(SEEDS) for way in less)


def test_every_way_opens_what_it_says():
    config = TransformerConfig(
        vocab_size=10, n_layers=1, d_model=32, n_heads=2, context_length=4, d_ff=48
    )
    base = Transformer(config)
    numbers = {way: trainable_numbers(prepare(way, base)) for way in MIDDLE | FOLLOWED}
    assert numbers["everything"] - numbers["all but the embedding"] == numbers[WAY] == 320
    both = numbers["LoRA, r = 4, and embedding"]
    assert both == numbers["LoRA, r = 4"] + numbers[WAY]
    ranks = [numbers[f"LoRA, r = {r}"] for r in (1, 4, 16)]
    assert ranks[1:] == [4 * ranks[0], 16 * ranks[0]]
    assert trainable_numbers(base) == numbers["everything"]
    with pytest.raises(ValueError, match="way"):
        prepare("nothing", base)


# --- what each way trains -------------------------------------------------------------------------


def small(seed=0, **changes):
    sizes = {"vocab_size": 50, "n_layers": 1, "d_model": 32, "n_heads": 2, "context_length": 256}
    torch.manual_seed(seed)
    return Transformer(TransformerConfig(**sizes, d_ff=48, **changes))


@pytest.mark.parametrize(
    ("way", "rank", "places"),
    [
        ("LoRA, r = 6, feed-forward", 6, {"gate", "up", "down"}),
        ("LoRA, r = 8, attention", 8, {"query", "key", "value", "output"}),
        ("LoRA, r = 16", 16, {"query", "key", "value", "output", "gate", "up", "down"}),
        (
            "LoRA, r = 4, and embedding",
            4,
            {"query", "key", "value", "output", "gate", "up", "down"},
        ),
    ],
)
def test_a_change_of_low_rank_has_its_rank_and_its_places(way, rank, places):
    model = prepare(way, small())
    layers = {name: p for name, p in model.named_modules() if isinstance(p, LoRALinear)}
    assert {name.rpartition(".")[2] for name in layers} == places
    assert {layer.A.shape[1] for layer in layers.values()} == {rank}
    opened = {name for name, p in model.named_parameters() if p.requires_grad}
    own = {f"{name}.{part}" for name in layers for part in "AB"}
    assert opened - own == ({"embed.weight"} if way.endswith("embedding") else set())


def test_adapters_are_sixteen_wide_and_the_embedding_is_opened_by_its_own_ways():
    base = small()
    shapes = [p.shape for p in prepare("adapters, width 16", base).parameters() if p.requires_grad]
    matrices = {tuple(shape) for shape in shapes if len(shape) == 2}
    assert matrices == {(32, 16), (16, 32)}
    for way in ("everything", "embedding", "all but the embedding"):
        opened = {name for name, p in prepare(way, base).named_parameters() if p.requires_grad}
        assert ("embed.weight" in opened) == (way != "all but the embedding")
        assert (len(opened) == 1) == (way == "embedding")
    assert prepare("everything", base) is not base


@pytest.fixture
def here(monkeypatch):
    rows = [
        torch.randint(50, (k, 9), generator=torch.Generator().manual_seed(k)) for k in (1, 2, 3)
    ]
    world = race.World(small(), torch.arange(900) % 50, *rows)
    monkeypatch.setattr(race, "world", lambda: world)
    return world


def test_a_run_is_fine_tuned_from_its_seed_and_judged_by_three_losses(here, monkeypatch):
    monkeypatch.setattr(race, "STEPS", 3)
    [found] = race.train_way("adapters, width 16", 0.01, 5)
    torch.manual_seed(5)
    model = prepare("adapters, width 16", here.base)
    fine_tune(model, here.training, 0.01, 5, steps=3)
    losses = [cross_entropy(model(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten()) for x in here[2:]]
    assert found[:3] == ("adapters, width 16", 0.01, 5)
    assert found[3:] == pytest.approx([loss.item() for loss in losses])


def test_an_update_is_made_less_in_rank_and_in_strength(here, monkeypatch):
    monkeypatch.setattr(race, "STEPS", 2)
    monkeypatch.setattr(race, "RANKS", (1, 5))
    found = race.train_way(LESS, 0.02, 1)
    model = fine_tune(prepare("everything", here.base), here.training, 0.02, 1, steps=2)
    models = {
        LESS: model,
        "cut, r = 1": truncated_update(here.base, model, 1),
        "cut, r = 5": truncated_update(here.base, model, 5),
        "times 0.25": between(here.base, model, 0.25),
        "times 0.5": between(here.base, model, 0.5),
        "times 0.75": between(here.base, model, 0.75),
    }
    found = [*found]
    for run, (name, less) in zip(found, models.items(), strict=True):
        assert run[:3] == (name, 0.02, 1)
        assert run[3:] == pytest.approx([loss_on(less, rows) for rows in here[2:]])
    assert len({run.test for run in found}) == 6


def test_the_world_holds_eight_windows_to_tune_by_and_sixteen_of_each_to_report(monkeypatch):
    base, letters = small(), BytePairEncoding([])
    rows = [torch.arange(k, k + 9000) for k in range(3)]
    play = "Words, words, words. " * 500
    monkeypatch.setattr(race, "load_pretrained", lambda _: (base, letters))
    monkeypatch.setattr(race, "docstring_tokens", lambda _: DocstringTokens(*rows))
    monkeypatch.setattr(race, "split_plays", lambda: ({"a": "No."}, {"b": play}))
    found = race.world.__wrapped__()
    assert found.base is base
    assert torch.equal(found.training, rows[0])
    assert torch.equal(found.tuning, windows_of(rows[1], 8))
    assert torch.equal(found.test, windows_of(rows[2], 16))
    assert torch.equal(found.plays, windows_of(token_stream({"b": play}, letters), 16))


# --- the table ------------------------------------------------------------------------------------


def test_the_log_sums_up_the_committed_runs():
    log = study.log.read_text("utf-8")
    assert log.startswith(f"{race.STEPS} steps of AdamW")
    base, runs = load_pretrained("plays-2")[0], study.read()
    rows = race.table(runs, base)
    assert [row.way for row in rows] == list(MIDDLE)
    for row in rows:
        own = [r for r in runs if r.way == row.way and r.rate == row.rate]
        assert row.test_spread == pytest.approx(statistics.stdev(r.test for r in own))
        assert row.plays == pytest.approx(statistics.fmean(r.plays for r in own))
        assert (
            f"{row.way:28}{row.numbers:>9,}  rate {row.rate:<8.4g}docstrings {row.test:.3f} "
            f"({row.test_spread:.3f})  plays {row.plays:.3f} ({row.plays_spread:.3f})\n"
        ) in log


def test_the_committed_rates_are_a_factor_of_two_around_the_middle_and_those_followed():
    runs = study.read()
    for way, middle in MIDDLE.items():
        tried = {r.rate for r in runs if r.way == way and r.seed == 0}
        assert {middle / 2, middle, 2 * middle} <= {float(f"{rate:.4g}") for rate in tried}
        others = {r.rate for r in runs if r.way == way and r.seed in SEEDS[1:]}
        wanted = {best_rate(way, runs), *FOLLOWED.get(way, ())}
        assert sorted(others) == pytest.approx(sorted(wanted), rel=1e-3)
    closed = {r.rate for r in runs if r.way == "all but the embedding"}
    assert sorted(closed) == list(FOLLOWED["all but the embedding"])
    assert {r.seed for r in runs} == set(SEEDS)


def test_what_was_lost_is_trained_again():
    """Way by way; then the rates that some are followed to, then the update made less."""
    runs = study.read()
    way, second = list(MIDDLE)[:2]
    tuned = [r for r in runs if not (r.way in (way, second) and r.seed == 2)]
    assert wanted(tuned) == [(w, best_rate(w, runs), 2) for w in (way, second)]
    rate = MIDDLE[second]
    untried = [r for r in runs if (r.way, r.rate) != (second, rate)]
    assert (second, rate, 0) in wanted(untried)
    lost = [
        ("everything", 5e-4, 1),
        ("all but the embedding", 1e-3, 0),
        (LESS, best_rate("everything", runs), 2),
    ]
    assert wanted([r for r in runs if race.trained_as(r) not in lost]) == lost


@pytest.mark.parametrize("sign", [1, -1])
def test_no_more_than_eight_rates_are_tried(sign):
    runs: list[Run] = []
    while todo := [w for w in wanted(runs, WAY) if w[2] == 0]:
        runs += [Run(*w, sign * w[1], 3.0, 4.0) for w in todo]
    tried = sorted(r.rate for r in runs)
    steps = range(-6, 2) if sign == 1 else range(-1, 7)
    assert tried == pytest.approx([MIDDLE[WAY] * 2.0**k for k in steps])
