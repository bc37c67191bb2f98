"""Each operation gives torch's results, kinds, texts, gradients and second derivatives."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch
from agree import arrays, differentiable, flat, same, slopes, tensors, weights
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from operations import NO_SECOND, OPERATIONS

import torch_in_page as ours

lengths = st.fixed_dictionaries(
    {letter: st.integers(1, 4) for letter in "abcd"} | {"g": st.integers(3, 5)}
)
quickly = settings(
    max_examples=4,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
    database=None,
)


def test_there_are_more_than_two_hundred_operations() -> None:
    assert len(OPERATIONS) > 200


@pytest.mark.parametrize("name", OPERATIONS)
@quickly
@given(
    lengths=lengths, seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(["float64", "float32"])
)
def test_an_operation_agrees_with_torch(name: str, lengths: dict, seed: int, kind: str) -> None:
    words, call = OPERATIONS[name]
    drawn = arrays(words, lengths, seed, kind)
    mine, theirs = tensors(ours, drawn, True), tensors(torch, drawn, True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = flat(call(torch, *theirs))
        except (RuntimeError, IndexError, ValueError):
            with pytest.raises((RuntimeError, IndexError, ValueError)):
                call(ours, *mine)
            return
    got = flat(call(ours, *mine))
    assert len(got) == len(expected)
    for a, b in zip(got, expected, strict=True):
        same(a, b, name)
    places = differentiable(expected)
    assert [
        i for i, x in enumerate(got) if isinstance(x, ours.Tensor) and x.requires_grad
    ] == places
    if not places or kind == "float32":
        return
    pulled = weights(expected, places, seed)
    second = name not in NO_SECOND
    sides = (torch, expected, theirs), (ours, got, mine)
    try:
        first = [slopes(*sides[0][:2], places, pulled, sides[0][2], second)]
    except RuntimeError as error:
        with pytest.raises(RuntimeError, match=str(error)[:20]):
            slopes(*sides[1][:2], places, pulled, sides[1][2], second)
        return
    first.insert(0, slopes(*sides[1][:2], places, pulled, sides[1][2], second))
    for a, b in zip(*first, strict=True):
        assert (a is None) == (b is None), f"{name}: one gradient is missing"
        if b is not None:
            same(a, b, f"gradient of {name}")
    if not second:
        return
    again = differentiable([x if isinstance(x, torch.Tensor) else None for x in first[1]])
    again = [i for i in again if first[1][i].grad_fn is not None]
    if not again:
        return
    once_more = weights(first[1], again, seed + 2)
    curved = []
    for T, parts, inputs in ((ours, first[0], mine), (torch, first[1], theirs)):
        if T is ours:
            live = [i for i in again if parts[i].requires_grad]
            if not live:
                curved.append([None for x in inputs if x.requires_grad])
                continue
            drawn_here = [once_more[again.index(i)] for i in live]
            curved.append(slopes(T, parts, live, drawn_here, inputs, False))
        else:
            curved.append(slopes(T, parts, again, once_more, inputs, False))
    for a, b, x in zip(*curved, [x for x in theirs if x.requires_grad], strict=True):
        zero = np.zeros(tuple(x.shape))
        got_ = zero if a is None else a._a
        want = zero if b is None else b.resolve_conj().numpy(force=True)
        np.testing.assert_allclose(
            got_, want, rtol=1e-6, atol=1e-6, err_msg=f"second derivative of {name}"
        )
