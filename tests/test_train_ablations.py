"""Transformers with a part taken out, and the learning curves that are stored with the package."""

from __future__ import annotations

import itertools
import math
import re

import pytest
import torch
from torch import nn

from primer.train import ablations
from primer.train.ablations import LOG_EVERY, RATES, SEEDS, STEPS, VARIANTS
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


def test_training_a_variant(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = torch.arange(5000) % 7  # what comes next is certain
    monkeypatch.setattr(ablations, "_streams", lambda: (stream, stream))
    monkeypatch.setattr(ablations, "BATCH", 4)
    points = ablations.train_variant("modern", rate=4e-3, seed=5, steps=LOG_EVERY)
    assert [point[:4] for point in points] == [("modern", 4e-3, 5, LOG_EVERY)]
    assert points[0].held_out < 0.5 < points[0].training < math.log2(257)
    with pytest.raises(ValueError, match=r"variant must be one of 'modern', .*got 'ancient'"):
        ablations.train_variant("ancient", rate=4e-3, seed=0)


def test_stored_curves_are_whole() -> None:
    points = ablations.load_points()
    runs = itertools.product(VARIANTS, RATES, range(SEEDS))
    steps = range(LOG_EVERY, STEPS + 1, LOG_EVERY)
    assert [point[:4] for point in points] == [(*run, step) for run in runs for step in steps]
    log = ablations.LOG.read_text(encoding="utf-8")
    for variant, by_rate in ablations.final_losses(points).items():
        for rate, losses in by_rate.items():
            each = "  ".join(f"{loss:.3f}" for loss in losses)
            assert re.search(
                rf"^{variant} +[\d,]+  {rate:g}  \d\.\d{{3}}   {each}$", log, re.MULTILINE
            )


def test_stored_curves_show_what_each_part_is_good_for() -> None:
    losses = ablations.best_losses(ablations.load_points())
    for variant in ("no attention", "no residual", "no norm", "no feed-forward"):
        assert min(losses[variant]) > max(losses["modern"])
