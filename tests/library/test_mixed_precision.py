"""Layers where torch chooses each operation's precision, and an observer that keeps its own.

There a layer may be handed tokens in another precision than its weights': the operation before it
computed them.  Held against the same layer in single precision.
"""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from primer.attention import MultiHeadAttention
from primer.beyond_attention import LayerState, LinearAttention, SelectiveLayer
from primer.positions import ShawRelativeAttention
from primer.transformers import FeedForward, MixtureOfExperts, PatchEmbedding, SwiGLU

LAYERS: dict[str, Callable[[], nn.Module]] = {
    "attention": lambda: MultiHeadAttention(8, 2),
    "relative positions": lambda: ShawRelativeAttention(8, 2, 3),
    "linear attention": lambda: LinearAttention(8, 2),
    "a state space": lambda: SelectiveLayer(8),
    "a network": lambda: FeedForward(8, 16, "gelu"),
    "a gated network": lambda: SwiGLU(8, 16),
    "experts": lambda: MixtureOfExperts(lambda: FeedForward(8, 16, "relu"), 8, 3, 2),
}
HALF = torch.bfloat16


def made(name: str) -> nn.Module:
    """Make a layer with weights of its own."""
    torch.manual_seed(0)
    return LAYERS[name]()


def tokens() -> Tensor:
    """Draw two texts of six tokens, which bfloat16 holds exactly."""
    x = torch.randn(2, 6, 8, generator=torch.Generator().manual_seed(1))
    return x.to(HALF).float()


@pytest.mark.parametrize("given", [torch.float32, HALF], ids=str)
@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_takes_what_the_operation_before_it_computed(name: str, given: torch.dtype) -> None:
    layer, x = made(name), tokens()
    with torch.autocast("cpu", dtype=HALF):
        found = layer(x.to(given))
    expected = layer(x)
    assert (found - expected).abs().max() < 0.02 * expected.abs().max()
    if given is HALF:
        with pytest.raises(ValueError, match=r"torch\.float32"):
            layer(x.to(HALF))


@pytest.mark.parametrize("name", ["linear attention", "a state space"])
def test_a_state_is_gone_on_with_in_mixed_precision(name: str) -> None:
    layer, x, state = made(name), tokens(), LayerState()
    with torch.autocast("cpu", dtype=HALF):
        parts = [layer(part, cache=state) for part in x.split(2, dim=1)]
    expected = layer(x)
    assert (torch.cat(parts, dim=1) - expected).abs().max() < 0.03 * expected.abs().max()


def test_pictures_are_taken_in_half_precision() -> None:
    layer, images = PatchEmbedding(8, 4, 1, 8), torch.ones(1, 1, 8, 8)
    with torch.autocast("cpu", dtype=HALF):
        assert layer(images.to(HALF)).shape == layer(images).shape


@pytest.mark.parametrize("weights", [False, True])
def test_an_observer_may_keep_full_precision(weights: bool) -> None:
    layer, x, seen = made("attention"), tokens(), []

    def wide(name: str, activation: Tensor) -> Tensor:
        seen.append(activation.dtype)
        return activation.double().float()

    with torch.autocast("cpu", dtype=HALF):
        found = layer(x, observe=wide, return_weights=weights)
    output = found[0] if weights else found
    assert HALF in seen
    assert output.dtype is torch.float32
    with pytest.raises(ValueError, match=r"write \.to\(x\.dtype\), or return None"):
        layer(x, observe=lambda name, activation: activation.to(HALF))
