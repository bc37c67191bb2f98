"""The small model of the position experiment against plain torch, and its training step by step."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn
from torch.nn import functional

from primer.positions import experiment

HEADS, WIDTH = 4, 16


def random(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def model_of(encoding: str) -> experiment.SmallModel:
    torch.manual_seed(5)
    return experiment.SmallModel(encoding)


def turned(x: torch.Tensor, frequencies: torch.Tensor) -> torch.Tensor:
    """Multiply pairs of neighbors, read as complex numbers, by e^(i·position·frequency)."""
    pairs = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
    angles = torch.arange(x.shape[-2])[:, None] * frequencies.double()
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)


def plain_attention(
    encoding: str, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor
) -> torch.Tensor:
    """Let torch attend, with what the encoding does to queries, keys and scores written out."""
    length = query.shape[-2]
    if encoding == "RoPE":
        frequencies = 100.0 ** (-torch.arange(0, WIDTH, 2) / WIDTH)
        query, key = turned(query, frequencies), turned(key, frequencies)
    bias = torch.full((HEADS, length, length), -torch.inf, dtype=torch.float64)
    for h in range(HEADS):
        for i in range(length):
            for j in range(i + 1):
                bias[h, i, j] = -(2.0 ** (-2 * (h + 1))) * (i - j) if encoding == "ALiBi" else 0
    query, key, value = query.double(), key.double(), value.double()
    return functional.scaled_dot_product_attention(query, key, value, attn_mask=bias)


@pytest.mark.parametrize("encoding", ["none", "learned", "sinusoidal", "RoPE", "ALiBi"])
def test_the_small_model_is_a_block_of_torchs_attention(encoding):
    model = model_of(encoding)
    digits = torch.randint(10, (3, 12), generator=random(0))
    x = model.embed.weight[digits]
    if encoding == "learned":
        x = x + model.table[:12]
    if encoding == "sinusoidal":
        rates = 1e4 ** (-torch.arange(0, 64, 2) / 64)
        angles = torch.arange(12)[:, None] * rates
        x = x + torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
    normed = functional.layer_norm(x, (64,), model.norm1.weight, model.norm1.bias)
    parts = (normed @ model.to_qkv.weight.T).chunk(3, dim=-1)
    heads = [part.unflatten(-1, (HEADS, WIDTH)).transpose(1, 2) for part in parts]
    mixed = plain_attention(encoding, *heads).float().transpose(1, 2).flatten(-2)
    x = x + mixed @ model.to_output.weight.T
    normed = functional.layer_norm(x, (64,), model.norm2.weight, model.norm2.bias)
    x = x + model.narrow(functional.relu(model.widen(normed)))
    expected = model.answer(x).reshape(3, 12, 2, 10)
    torch.testing.assert_close(model(digits), expected, atol=2e-5, rtol=1e-4)


def test_shaws_offsets_enter_keys_and_values():
    model = model_of("Shaw")
    x = torch.randn(12, 64, generator=random(1))
    query, key, value = (part.double() for part in model.heads(x))
    expected = torch.zeros(12, HEADS, WIDTH, dtype=torch.float64)
    for i in range(12):
        rows = [max(j - i, -8) + 8 for j in range(i + 1)]
        keys = key[:, : i + 1] + model.key_offsets[rows].double()
        values = value[:, : i + 1] + model.value_offsets[rows].double()
        weights = (keys @ query[:, i, :, None] / 4).softmax(dim=1)
        expected[i] = (weights * values).sum(dim=1)
    expected = expected.flatten(1).float() @ model.to_output.weight.T
    torch.testing.assert_close(model.attend(x), expected, atol=2e-5, rtol=1e-4)
    assert model.key_offsets.shape == model.value_offsets.shape == (17, 16)


@pytest.mark.parametrize("encoding", ["RoPE", "ALiBi", "none"])
def test_sharper_scores_are_those_of_longer_queries(encoding):
    """Before ALiBi's bias, which is not sharpened."""
    model = model_of(encoding)
    query, key = torch.randn(2, HEADS, 9, WIDTH, generator=random(2))
    longer = model.weights(3 * query, key)
    model.sharpen = 3.0
    torch.testing.assert_close(model.weights(query, key), longer)


def test_the_model_has_a_table_for_all_positions_that_are_tested():
    sizes = {
        name: sum(p.numel() for p in model_of(name).parameters()) for name in ("none", "learned")
    }
    block = 3 * 64 * 64 + 64 * 64 + (64 * 128 + 128) + (128 * 64 + 64) + 4 * 64
    assert sizes["none"] == 10 * 64 + block + (64 * 20 + 20)
    assert sizes["learned"] - sizes["none"] == 72 * 64


# --- training -------------------------------------------------------------------------------------


def test_training_is_torchs_adamw_under_half_a_cosine():
    found = experiment.train(
        "RoPE", seeds=[3, 4], steps=6, batch_size=5, learning_rate=0.02, base=50.0
    )
    assert (found.encoding, found.base) == ("RoPE", 50.0)
    for place, seed in enumerate((3, 4)):
        model, data = experiment.SmallModel("RoPE", 50.0), random(2 * seed + 1)
        model.load_state_dict(experiment.draw_weights(model, random(2 * seed)))
        optimizer = torch.optim.AdamW(model.parameters())
        for step in range(6):
            optimizer.param_groups[0]["lr"] = 0.02 * (1 + math.cos(math.pi * step / 6)) / 2
            digits = torch.randint(10, (5, 24), generator=data)
            logits = model(digits).log_softmax(-1)
            back = -logits[:, 3:, 0].gather(-1, digits[:, :-3, None])
            first = -logits[:, :, 1].gather(-1, digits[:, :1, None].expand(-1, 24, -1))
            loss = (back.sum() + first.sum()) / (5 * 24 * 2)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            assert found.losses[place, step].item() == pytest.approx(loss.item(), rel=1e-4)
        for name, weight in model.state_dict().items():
            torch.testing.assert_close(found.weights[name][place], weight, atol=1e-3, rtol=1e-3)
        fresh = torch.randint(10, (100, 72), generator=data)
        assert torch.equal(found.digits[place], fresh)
        assert torch.equal(found.answers[place, ..., 1], fresh[:, :1].expand(-1, 72))
    assert not any(weight.requires_grad for weight in found.weights.values())


def test_what_is_left_out_is_three_hundred_steps_of_eight_from_five_seeds_three_back(monkeypatch):
    asked = []

    def noted(model, base, drawn, *rest):
        asked.append((model.encoding, base, len(drawn), *rest))
        return short

    short = experiment.train("none", seeds=[0], steps=1)
    monkeypatch.setattr(experiment, "_train", noted)
    experiment.train("ALiBi")
    assert asked == [("ALiBi", 100.0, 5, range(5), 300, 8, 8e-3, 3)]


def test_numbers_next_to_nothing_are_zeros_while_it_computes_and_only_then():
    def halved() -> float:
        return float(torch.tensor([1e-38]) * 0.5)

    assert halved() > 0

    @experiment._fast()
    def failing() -> None:
        assert halved() == 0
        raise KeyError

    with pytest.raises(KeyError):
        failing()
    assert halved() > 0


# --- tests of a trained model ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def trained() -> experiment.Trained:
    return experiment.train("RoPE", seeds=[2], steps=2, learning_rate=0.05)


def test_every_change_of_a_test_reaches_the_model(trained):
    frequencies = torch.linspace(0.1, 2.0, 8, dtype=torch.float64)
    found = experiment.evaluate(trained, [5, 1], frequencies, 2.5)
    model = experiment.SmallModel("RoPE")
    model.load_state_dict({name: weight[0] for name, weight in trained.weights.items()})
    model.frequencies, model.hidden, model.sharpen = frequencies, (1, 5), 2.5
    right = model(trained.digits[0]).argmax(-1) == trained.answers[0]
    torch.testing.assert_close(found[0], right.float().mean(0))
    assert experiment._changed(trained, {7, 2}, None, 1.0).hidden == (2, 7)


@pytest.mark.parametrize("position", [0, 71])
def test_every_position_of_a_sequence_has_its_weights(trained, position):
    weights = experiment.weight_by_offset(trained, position)
    assert weights.shape == (1, HEADS, position + 1)
    torch.testing.assert_close(weights.sum(-1), torch.ones(1, HEADS))


def test_a_position_outside_of_the_sequence_is_refused(trained):
    for position in (-1, 72):
        with pytest.raises(ValueError, match="position must be 0 to 71"):
            experiment.weight_by_offset(trained, position)


def test_weights_by_offset_are_those_of_a_model_that_is_not_sharpened(trained):
    alibi = trained._replace(encoding="ALiBi")
    model = experiment.SmallModel("ALiBi")
    model.load_state_dict({name: weight[0] for name, weight in trained.weights.items()})
    x = model.norm1(model.embed.weight[trained.digits[0, :, :11]])
    query, key, _ = model.heads(x)
    scores = (query[..., -1:, :] @ key.transpose(-2, -1)).squeeze(-2) / 4
    slopes = torch.tensor([1 / 4, 1 / 16, 1 / 64, 1 / 256])[:, None]
    expected = (scores - slopes * torch.arange(10, -1, -1)).softmax(-1).mean(0).flip(-1)
    torch.testing.assert_close(experiment.weight_by_offset(alibi, 10)[0], expected)


def test_embeddings_are_drawn_with_variance_one_and_layers_by_their_inputs():
    torch.manual_seed(0)
    model = nn.Module()
    model.embed, model.norm1 = nn.Embedding(400, 30), nn.LayerNorm(30)
    model.layer = nn.Linear(25, 300)
    weights = experiment.draw_weights(model, random(0))
    assert weights["embed.weight"].std().item() == pytest.approx(1, rel=0.03)
    assert weights["layer.weight"].std().item() == pytest.approx(1 / 5, rel=0.03)
    assert weights["norm1.weight"].tolist() == [1.0] * 30
    assert not weights["norm1.bias"].any()
    assert not weights["layer.bias"].any()
