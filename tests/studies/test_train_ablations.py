"""Transformers with a part taken out, and the learning curves that are stored with the package."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import nn

from primer.train import Batches
from primer.transformers import RMSNorm, Transformer
from studies.train import ablations
from studies.train.ablations import (
    COMMON,
    KEY_HEADS,
    LOG_EVERY,
    RATES,
    SEEDS,
    STEPS,
    VARIANTS,
    WARMUPS,
    Run,
    ends,
    last_points,
    settings_of,
    study,
    tuned,
)


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


@pytest.mark.thorough
@pytest.mark.usefixtures("certain")
def test_training_a_variant() -> None:
    points = list(ablations.train_variant("modern", 4e-3, 60, 5, steps=LOG_EVERY))
    assert [point[:5] for point in points] == [("modern", 4e-3, 60, 5, LOG_EVERY)]
    assert points[0].held_out < 0.5 < points[0].training < math.log2(257)
    with pytest.raises(ValueError, match=r"variant must be one of 'modern', .*got 'ancient'"):
        list(ablations.train_variant("ancient", 4e-3, 60, 0))


Setting = tuple[str, float, int, int]


def curve(setting: Setting, loss: float) -> list[Run]:
    """Make up a learning curve."""
    steps = range(LOG_EVERY, STEPS + 1, LOG_EVERY)
    return [Run(*setting, step, loss + 1, loss) for step in steps]


def test_each_variant_is_tuned_until_its_best_rate_lies_inside() -> None:
    def trained(loss: Callable[[Setting], float]) -> list[Setting]:
        runs: list[Run] = []
        done: list[Setting] = []
        while missing := [s for s in settings_of("original", runs) if s not in done]:
            done.append(missing[0])
            runs += curve(missing[0], loss(missing[0]))
        return done

    grid = [(rate, warmup, 0) for rate in RATES for warmup in WARMUPS]
    inside = trained(lambda run: abs(math.log2(run[1] / 4e-3)) + run[2] / 1000)
    assert [run[1:] for run in inside] == [*grid, (4e-3, 60, 1), (4e-3, 60, 2)]
    slow = trained(lambda run: abs(math.log2(run[1] / 1e-3)) - run[2] / 1000)
    beyond = [(1e-3, 250, 0), (5e-4, 250, 0)]
    assert [run[1:] for run in slow] == [*grid, *beyond, (1e-3, 250, 1), (1e-3, 250, 2)]
    fast = trained(lambda run: 1 / run[1] if run[1] < 0.01 else math.nan)
    assert [run[1:] for run in fast] == [*grid, (16e-3, 60, 0), (8e-3, 60, 1), (8e-3, 60, 2)]


def test_post_norm_is_also_trained_with_what_suits_the_modern_form() -> None:
    grid = [
        run
        for rate, warmup in itertools.product((1e-3, *RATES), WARMUPS)
        for run in curve(("post-norm", rate, warmup, 0), 3 + abs(rate - 2e-3) + warmup)
    ]
    wanted = settings_of("post-norm", grid)[7:]
    assert wanted == [("post-norm", *at, seed) for at in ((2e-3, 60), COMMON) for seed in (1, 2)]


def test_fewer_key_heads_are_compared_at_one_setting() -> None:
    for name in KEY_HEADS:
        assert settings_of(name, []) == [(name, *COMMON, seed) for seed in range(SEEDS)]


def test_stored_runs_are_whole() -> None:
    runs = study.read()
    steps = [run.step for run in runs]
    assert steps == list(range(LOG_EVERY, STEPS + 1, LOG_EVERY)) * (len(runs) * LOG_EVERY // STEPS)
    log = study.log.read_text(encoding="utf-8")
    for name in set(VARIANTS) - {*KEY_HEADS}:
        best = tuned(runs, name)[:3]
        losses = [run.held_out for run in last_points(runs) if run[:3] == best]
        assert sorted(losses) == sorted(ends(runs, name))
        each = "  ".join(f"{loss:.3f}" for loss in losses)
        assert re.search(rf"^{name} +[\d,]+ .* {each} \*$", log, re.MULTILINE)


def test_stored_runs_show_that_the_setting_decides_about_post_norm() -> None:
    runs = study.read()
    post, modern = ends(runs, "post-norm"), ends(runs, "modern")
    assert 0.1 < min(post) - max(modern) < 0.2
    common = [r.held_out for r in last_points(runs) if r[:3] == ("post-norm", *COMMON)]
    assert len(common) == SEEDS
    assert min(common) - max(post) > 1.5


def test_the_log_sums_up_what_is_stored() -> None:
    stored = study.log.read_text(encoding="utf-8").splitlines()
    assert set(ablations.report(study.read())) <= set(stored)


@pytest.mark.parametrize("layer", ["attention", "feed_forward"])
@torch.no_grad()
def test_a_layer_that_is_taken_out_is_one_that_says_nothing(
    layer: str, tokens: torch.Tensor
) -> None:
    without, silent = ablations.without(layer), VARIANTS["modern"]()
    silent.load_state_dict(without.state_dict(), strict=False)
    for block in silent.blocks:
        for parameter in getattr(block, layer).parameters():
            parameter.zero_()
    torch.testing.assert_close(without(tokens), silent(tokens))


@torch.no_grad()
def test_without_residual_each_layer_hands_on_its_own_result(tokens: torch.Tensor) -> None:
    torch.manual_seed(0)
    model = ablations.with_unit_start(VARIANTS["no residual"]())
    logits = model(tokens, observe=(seen := {}).__setitem__)
    for number, block in enumerate(model.blocks):
        heard = seen[f"blocks.{number}.attention.output"]
        x = block.feed_forward(block.norm2(heard))
        torch.testing.assert_close(seen[f"blocks.{number}.after"], x)
    torch.testing.assert_close(logits, model.norm(x) @ model.embed.weight.T)


def spread(model: nn.Module) -> dict[str, float]:
    """Measure how widely the numbers of a model's matrices are spread."""
    return {
        name: float(matrix.detach().std())
        for name, matrix in model.named_parameters()
        if matrix.ndim == 2
    }


def test_first_weights_are_small_or_keep_vectors_of_size_one() -> None:
    torch.manual_seed(0)
    for name, deviation in spread(VARIANTS["no residual"]()).items():
        last = name.endswith(("attention.output.weight", "down.weight"))
        assert deviation == pytest.approx(0.02 / 8**0.5 if last else 0.02, rel=0.05)
    model = VARIANTS["no residual, unit start"]()
    for name, deviation in spread(model).items():
        columns = model.get_parameter(name).shape[1]
        expected = 0.02 if name.startswith("embed") else columns**-0.5
        assert deviation == pytest.approx(expected, rel=0.05)


def test_training_is_a_plain_loop_with_torchs_adamw(monkeypatch: pytest.MonkeyPatch) -> None:
    small = replace(ablations.MODERN, n_layers=1, d_model=8, n_heads=2, context_length=8)
    stream = torch.randint(256, (6000,), generator=torch.Generator().manual_seed(0))
    unseen = torch.randint(97, 123, (6000,), generator=torch.Generator().manual_seed(1))
    monkeypatch.setattr(ablations, "_streams", lambda: (stream, unseen))
    monkeypatch.setattr(ablations, "MODERN", small)
    monkeypatch.setattr(ablations, "LOG_EVERY", 6)
    torch.manual_seed(3)
    model = Transformer(small)
    flat = [p for p in model.parameters() if p.ndim < 2]
    deep = [p for p in model.parameters() if p.ndim >= 2]
    groups = [{"params": deep, "weight_decay": 0.1}, {"params": flat, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.95))
    windows = torch.linspace(0, (6000 - 1) // 8 - 1, 512, dtype=torch.float64).long()
    rows = unseen[windows[:, None] * 8 + torch.arange(9)]
    bits, expected = [], []
    for step in range(14):
        for group in optimizer.param_groups:  # four steps up, ten along a cosine to 0
            group["lr"] = 0.1 * (
                (step + 1) / 4 if step < 4 else (1 + math.cos(math.pi * (step - 4) / 9)) / 2
            )
        batch = Batches(stream, 8, 16, 3).at(step)
        loss = nn.functional.cross_entropy(model(batch[:, :-1]).mT, batch[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        bits.append(loss.item() / math.log(2))
        if step in (5, 11):
            with torch.no_grad():
                held_out = nn.functional.cross_entropy(model(rows[:, :-1]).mT, rows[:, 1:])
            mean = sum(bits[step - 5 :]) / 6
            expected.append((step + 1, mean, held_out.item() / math.log(2)))
    points = list(ablations.train_variant("modern", 0.1, 4, 3, steps=14))
    assert [point[:4] for point in points] == [("modern", 0.1, 4, 3)] * 2
    for point, wanted in zip(points, expected, strict=True):
        assert point[4:] == pytest.approx(wanted, rel=1e-4)


def test_a_run_ends_with_what_was_measured_last() -> None:
    settings = {(2e-3, 60): 2.5, (2e-3, 250): 2.25, (4e-3, 60): math.nan}
    points = [
        Run("modern", *setting, 0, step, 3.0, loss)
        for setting, end in settings.items()
        for step, loss in ((100, 1.0), (500, end))
    ]
    assert tuned(points, "modern")[1:3] == (2e-3, 250)
    assert ends(points, "modern") == [2.25]
