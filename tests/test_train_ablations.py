"""Transformers with a part taken out, and the learning curves that are stored with the package."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn

from primer.train import ablations
from primer.train.ablations import (
    COMMON,
    KEY_HEADS,
    LOG_EVERY,
    RATES,
    SEEDS,
    STEPS,
    VARIANTS,
    WARMUPS,
    Point,
    Run,
    load_points,
    missing_runs,
    save_points,
    tuned_losses,
)
from primer.transformers import RMSNorm


@pytest.fixture
def tokens() -> torch.Tensor:
    """Draw a short text."""
    return torch.randint(256, (2, 12), generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_predicts_from_the_past_alone(variant: str, tokens: torch.Tensor) -> None:
    torch.manual_seed(0)
    model = VARIANTS[variant]().eval()
    changed = tokens.clone()
    changed[:, 8:] += 1
    changed %= 256
    with torch.no_grad():
        before, after = model(tokens), model(changed)
    assert before.shape == (2, 12, 257)
    torch.testing.assert_close(before[:, :8], after[:, :8])
    assert not torch.allclose(before[:, 8:], after[:, 8:])


@torch.no_grad()
def test_without_residual_nothing_passes_by(tokens: torch.Tensor) -> None:
    model = VARIANTS["no residual"]()
    for parameter in model.blocks[-1].feed_forward.parameters():
        parameter.zero_()
    assert not model(tokens).any()
    model = VARIANTS["modern"]()
    for parameter in model.blocks[-1].feed_forward.parameters():
        parameter.zero_()
    assert model(tokens).any()


def test_without_norm_there_is_none() -> None:
    kinds = (RMSNorm, nn.LayerNorm)
    assert not any(isinstance(m, kinds) for m in VARIANTS["no norm"]().modules())
    assert any(isinstance(m, kinds) for m in VARIANTS["modern"]().modules())


@torch.no_grad()
def test_without_attention_a_token_sees_only_itself(tokens: torch.Tensor) -> None:
    model = VARIANTS["no attention"]()
    repeated = tokens[:, -1:].expand_as(tokens)
    torch.testing.assert_close(model(tokens)[:, -1], model(repeated)[:, -1])
    model = VARIANTS["modern"]()
    assert not torch.allclose(model(tokens)[:, -1], model(repeated)[:, -1])


@torch.no_grad()
def test_without_positions_the_order_of_the_past_is_lost(tokens: torch.Tensor) -> None:
    """True of one layer; with more, the causal mask lets later layers count."""
    shuffled = torch.cat([tokens[:, :-1].flip(1), tokens[:, -1:]], dim=1)
    models = {name: VARIANTS[name]() for name in ("no positions", "modern")}
    for model in models.values():
        model.blocks = model.blocks[:1]
    blind, seeing = (model(tokens)[:, -1] - model(shuffled)[:, -1] for model in models.values())
    assert blind.abs().max() < 1e-6 < 1e-4 < seeing.abs().max()


def test_key_heads_are_shared() -> None:
    rows = {
        name: VARIANTS[name]().blocks[0].attention.key.out_features
        for name in ("modern", "2 key heads", "1 key head")
    }
    assert rows == {"modern": 64, "2 key heads": 32, "1 key head": 16}


@torch.no_grad()
def test_a_unit_start_keeps_vectors_alive_where_the_norms_epsilon_swallows_them(
    tokens: torch.Tensor,
) -> None:
    torch.manual_seed(0)
    sizes = {}
    for name in ("no residual", "no residual, unit start"):
        model = VARIANTS[name]()
        model(tokens, observe=(seen := {}).__setitem__)
        sizes[name] = float(seen["norm"].square().mean().sqrt())
    assert sizes["no residual"] < 0.1 < 0.9 < sizes["no residual, unit start"]


@pytest.fixture
def certain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make what comes next certain, and the runs short."""
    stream = torch.arange(5000) % 7
    monkeypatch.setattr(ablations, "_streams", lambda: (stream, stream))
    monkeypatch.setattr(ablations, "BATCH", 4)


@pytest.mark.usefixtures("certain")
def test_training_a_variant() -> None:
    points = ablations.train_variant(Run("modern", 4e-3, 60, seed=5), steps=LOG_EVERY)
    assert [point[:5] for point in points] == [("modern", 4e-3, 60, 5, LOG_EVERY)]
    assert points[0].held_out < 0.5 < points[0].training < math.log2(257)
    with pytest.raises(ValueError, match=r"variant must be one of 'modern', .*got 'ancient'"):
        ablations.train_variant(Run("ancient", 4e-3, 60, seed=0))


def curve(run: Run, loss: float) -> list[Point]:
    """Make up a learning curve."""
    steps = range(LOG_EVERY, STEPS + 1, LOG_EVERY)
    return [Point(*run, step, loss + 1, loss) for step in steps]


def test_each_variant_is_tuned_until_its_best_rate_lies_inside() -> None:
    def trained(loss: Callable[[Run], float]) -> list[Run]:
        points: list[Point] = []
        done = []
        while missing := missing_runs(points, "original"):
            done.append(missing[0])
            points += curve(missing[0], loss(missing[0]))
        return done

    grid = [(rate, warmup, 0) for rate in RATES for warmup in WARMUPS]
    inside = trained(lambda run: abs(math.log2(run.rate / 4e-3)) + run.warmup / 1000)
    assert [run[1:] for run in inside] == [*grid, (4e-3, 60, 1), (4e-3, 60, 2)]
    slow = trained(lambda run: abs(math.log2(run.rate / 1e-3)) - run.warmup / 1000)
    beyond = [(1e-3, 250, 0), (5e-4, 250, 0)]
    assert [run[1:] for run in slow] == [*grid, *beyond, (1e-3, 250, 1), (1e-3, 250, 2)]
    fast = trained(lambda run: 1 / run.rate if run.rate < 0.01 else math.nan)
    assert [run[1:] for run in fast] == [*grid, (16e-3, 60, 0), (8e-3, 60, 1), (8e-3, 60, 2)]


def test_post_norm_is_also_trained_with_what_suits_the_modern_form() -> None:
    tuned_elsewhere = [
        point
        for rate, warmup in itertools.product((1e-3, *RATES), WARMUPS)
        for seed in range(SEEDS)
        if (seed == 0) or (rate, warmup) == (2e-3, 60)
        for point in curve(Run("post-norm", rate, warmup, seed), 3 + abs(rate - 2e-3) + warmup)
    ]
    common = [Run("post-norm", *COMMON, seed) for seed in (1, 2)]
    assert missing_runs(tuned_elsewhere, "post-norm") == common


def test_fewer_key_heads_are_compared_at_one_setting() -> None:
    for name in KEY_HEADS:
        assert missing_runs([], name) == [Run(name, *COMMON, seed) for seed in range(SEEDS)]


def test_a_killed_run_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "ablations.csv"
    assert load_points(file) == []
    first, second = (curve(Run("no residual, unit start", 4e-3, 60, s), 4.5) for s in (0, 1))
    save_points([*first, *second], file)
    assert load_points(file) == [*first, *second]
    text = file.read_text(encoding="utf-8")
    file.write_text(text[:-3], encoding="utf-8")  # the last line is cut
    assert load_points(file) == first  # and its run is not whole


@pytest.mark.usefixtures("certain")
def test_what_is_stored_is_not_trained_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("RESULTS", "LOG"):
        monkeypatch.setattr(ablations, name, tmp_path / name)
    trained = []

    def train(run: Run) -> list[Point]:
        trained.append(run)
        return curve(run, 3.0)

    monkeypatch.setattr(ablations, "train_variant", train)
    save_points(curve(Run("1 key head", *COMMON, 1), 3.0), tmp_path / "RESULTS")
    ablations.main(["1 key head"])
    assert [run.seed for run in trained] == [0, 2]
    assert (tmp_path / "LOG").read_text(encoding="utf-8") == capsys.readouterr().out
    with pytest.raises(ValueError, match="variant must be one of"):
        ablations.main(["ancient"])


def test_stored_runs_are_whole() -> None:
    points = load_points()
    assert [name for name in VARIANTS if missing_runs(points, name)] == []
    steps = [point.step for point in points]
    assert steps == list(range(LOG_EVERY, STEPS + 1, LOG_EVERY)) * (
        len(points) * LOG_EVERY // STEPS
    )
    log = ablations.LOG.read_text(encoding="utf-8")
    for name, losses in tuned_losses(points).items():
        each = "  ".join(f"{loss:.3f}" for loss in losses)
        assert re.search(rf"^{name} +[\d,]+ .* {each} \*$", log, re.MULTILINE)


def test_stored_runs_show_that_the_setting_decides_about_post_norm() -> None:
    points = load_points()
    losses = tuned_losses(points)
    assert 0.1 < min(losses["post-norm"]) - max(losses["modern"]) < 0.2
    ends = ablations.final_losses(points)
    for seed in range(SEEDS):
        assert ends[Run("post-norm", *COMMON, seed)] - max(losses["post-norm"]) > 1.5
