"""Layers that a transformer can hold: against the library's forms, in pieces, and their states."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from primer.beyond_attention import (
    LayerState,
    LinearAttention,
    SelectiveLayer,
    elu_features,
    linear_attention,
    linear_recurrence,
    scan_by_loop,
)
from primer.transformers.rotary import Rotary

D = 12


def layers() -> dict[str, torch.nn.Module]:
    """Give a layer of each kind in double precision."""
    torch.manual_seed(0)
    return {
        "linear": LinearAttention(D, n_heads=3).double(),
        "selective": SelectiveLayer(D, d_state=5, expand=1).double(),
    }


def rotary() -> Rotary:
    """Give rotations for heads of four numbers, in double precision."""
    return Rotary(32, D // 3, 10_000.0, "half").double()


@pytest.mark.parametrize("form", ["parallel", "recurrent", "chunked"])
def test_linear_attention_is_the_librarys(form: str) -> None:
    layer, x = layers()["linear"], torch.randn(1, 20, D, dtype=torch.float64)
    with torch.no_grad():
        q, k, v = (
            part(x)[0].numpy().reshape(20, 3, 4) for part in (layer.query, layer.key, layer.value)
        )
        heads = [
            linear_attention(
                elu_features(q[:, h]), elu_features(k[:, h]), v[:, h], form=form, chunk=7
            )
            for h in range(3)
        ]
        expected = np.hstack(heads) @ layer.output.weight.T.numpy()
        np.testing.assert_allclose(layer(x)[0], expected, atol=1e-12)


def test_rotations_turn_the_numerator_alone() -> None:
    layer, turn = layers()["linear"], rotary()
    x = torch.randn(1, 6, D, dtype=torch.float64)
    with torch.no_grad():
        q, k, v = (part(x)[0].view(6, 3, 4) for part in (layer.query, layer.key, layer.value))
        q, k = (torch.nn.functional.elu(part) + 1 for part in (q, k))
        rows = torch.zeros(6, 3, 4, dtype=torch.float64)
        for t in range(6):
            for h in range(3):
                above, below = torch.zeros(4).double(), 0.0
                for j in range(t + 1):
                    turned = turn(q[t, h][None], t)[0] @ turn(k[j, h][None], j)[0]
                    above, below = above + turned * v[j, h], below + q[t, h] @ k[j, h]
                rows[t, h] = above / below
        expected = layer.output(rows.flatten(1))
        torch.testing.assert_close(layer(x, rotate=turn)[0], expected, atol=1e-12, rtol=0)


@pytest.mark.parametrize("kind", ["linear", "selective"])
@pytest.mark.parametrize("pieces", [[1] * 20, [7, 13], [2, 1, 17], [20]])
def test_pieces_are_read_as_the_whole(kind: str, pieces: list[int]) -> None:
    layer, x = layers()[kind], torch.randn(2, 20, D, dtype=torch.float64)
    state, turn, got, sizes = LayerState(), rotary(), [], set()
    with torch.no_grad():
        for part in x.split(pieces, dim=1):
            got.append(layer(part, rotate=turn, cache=state))
            if state.length > 3:  # the convolution's memory is full
                sizes.add(state.bytes)
        whole = layer(x, rotate=turn)
    torch.testing.assert_close(torch.cat(got, dim=1), whole, atol=1e-12, rtol=0)
    assert state.length == 20
    assert len(sizes) == 1  # what is kept does not grow


@pytest.mark.parametrize("kind", ["linear", "selective"])
def test_nothing_sees_the_future(kind: str) -> None:
    layer, x = layers()[kind], torch.randn(1, 9, D, dtype=torch.float64)
    changed = x.clone()
    changed[:, 5:] += 1
    torch.testing.assert_close(layer(x)[:, :5], layer(changed)[:, :5], atol=1e-14, rtol=0)
    assert (layer(x) - layer(changed))[:, 5:].abs().max() > 1e-3


def test_the_recurrence_is_the_loop_and_its_gradient_the_loop_backward() -> None:
    draw = torch.Generator().manual_seed(0)
    keep, write = torch.rand(2, 2, 30, 3, generator=draw, dtype=torch.float64)
    before = torch.zeros(2, 3, dtype=torch.float64)
    for row in range(2):
        expected = scan_by_loop(keep[row].numpy(), write[row].numpy())
        np.testing.assert_allclose(linear_recurrence(keep, write)[row], expected, atol=1e-13)
    inputs = [part[:, :5].clone().requires_grad_() for part in (keep, write)]
    assert torch.autograd.gradcheck(linear_recurrence, [*inputs, before.requires_grad_()])
    assert torch.autograd.gradgradcheck(linear_recurrence, [*inputs, before])


def test_a_state_carries_no_gradient() -> None:
    layer, state = layers()["selective"], LayerState()
    layer(torch.randn(1, 4, D, dtype=torch.float64), cache=state)
    assert not any(part.requires_grad for part in state.held.values())
    layer(torch.randn(1, 4, D, dtype=torch.float64), cache=state).sum().backward()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: LinearAttention(8, 3), "must divide d_model"),
        (lambda: LinearAttention(0, 1), "d_model"),
        (lambda: linear_recurrence(torch.ones(1, 0), torch.ones(1, 0)), "at least one step"),
        (lambda: linear_recurrence(torch.ones(1, 2), torch.ones(1, 2, 3)), "one shape"),
    ],
)
def test_what_does_not_fit_is_said(call, words: str) -> None:
    with pytest.raises(Exception, match=rf"{words}|Type-check"):
        call()
