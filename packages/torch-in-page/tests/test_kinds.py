"""Kinds of numbers: what two make together, what is rounded how, and what is refused."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from agree import same
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import torch_in_page as ours

NAMES = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
ROUNDED = ["bfloat16", "float8_e4m3fn", "float8_e5m2"]
NUMBERS = [True, 2, 2.5, 1 + 2j]
OPERATORS = {
    "+": lambda T, a, b: a + b,
    "*": lambda T, a, b: a * b,
    "/": lambda T, a, b: a / b,
    "-": lambda T, a, b: a - b,
    "**": lambda T, a, b: a**b,
    "<": lambda T, a, b: a < b,
    "where": lambda T, a, b: T.where(T.tensor([True, False]), a, b),
}


def kinds_agree(name: str, mine: tuple, theirs: tuple) -> None:
    try:
        expected = OPERATORS[name](torch, *theirs)
    except (RuntimeError, TypeError) as error:
        with pytest.raises(type(error)):
            OPERATORS[name](ours, *mine)
        return
    if expected.dtype is torch.complex32:  # which NumPy does not have either
        with pytest.raises(NotImplementedError, match="complex32"):
            OPERATORS[name](ours, *mine)
        return
    got = OPERATORS[name](ours, *mine)
    assert repr(got.dtype) == repr(expected.dtype), (name, mine, theirs)
    assert tuple(got.shape) == tuple(expected.shape)


@pytest.mark.parametrize("operator", OPERATORS)
def test_two_kinds_make_the_same_kind_as_in_torch(operator: str) -> None:
    for first in NAMES:
        for second in NAMES:
            for shapes in (((2,), (2,)), ((2,), ()), ((), (2,)), ((), ())):
                sides = [
                    tuple(
                        T.ones(shape, dtype=getattr(T, kind))
                        for kind, shape in zip((first, second), shapes, strict=True)
                    )
                    for T in (ours, torch)
                ]
                kinds_agree(operator, *sides)
        for number in NUMBERS:
            for shape in ((2,), ()):
                pair = [T.ones(shape, dtype=getattr(T, first)) for T in (ours, torch)]
                kinds_agree(operator, (pair[0], number), (pair[1], number))
                if operator != "where":
                    kinds_agree(operator, (number, pair[0]), (number, pair[1]))


def test_promotion_of_all_pairs_is_torchs() -> None:
    every = [*NAMES, "float8_e4m3fn", "float8_e5m2"]
    for a in every:
        for b in every:
            try:
                expected = repr(torch.promote_types(getattr(torch, a), getattr(torch, b)))
            except RuntimeError:
                with pytest.raises(RuntimeError, match="Float8"):
                    ours.promote_types(getattr(ours, a), getattr(ours, b))
                continue
            assert repr(ours.promote_types(getattr(ours, a), getattr(ours, b))) == expected


@pytest.mark.parametrize("kind", ROUNDED)
@settings(max_examples=60, deadline=None)
@given(numbers=hnp.arrays(np.float32, 8, elements=st.floats(width=32)))
def test_rounding_is_torchs(kind: str, numbers: np.ndarray) -> None:
    mine = ours.from_numpy(numbers).to(getattr(ours, kind))
    theirs = torch.from_numpy(numbers).to(getattr(torch, kind))
    np.testing.assert_array_equal(mine._a, theirs.float().numpy())
    bytes_ = (ours.int16, torch.int16) if kind == "bfloat16" else (ours.uint8, torch.uint8)
    if not np.isnan(mine._a).any():
        np.testing.assert_array_equal(mine.view(bytes_[0])._a, theirs.view(bytes_[1]).numpy())
        again = mine.view(bytes_[0]).view(getattr(ours, kind))
        np.testing.assert_array_equal(again._a, mine._a)
        assert repr(mine) == repr(theirs)


@settings(max_examples=30, deadline=None)
@given(numbers=hnp.arrays(np.float32, (3, 4), elements=st.floats(-50, 50, width=32)))
def test_arithmetic_in_16_bits_is_torchs(numbers: np.ndarray) -> None:
    for kind in ("bfloat16", "float16"):
        both = [T.from_numpy(numbers).to(getattr(T, kind)) for T in (ours, torch)]
        for call in (
            lambda x: x + 1,
            lambda x: x * x,
            lambda x: x / 3,
            lambda x: x.exp().clamp(max=100),
            lambda x: x.tanh(),
            lambda x: x.relu() + 0,
            lambda x: x.sum(0).float(),
            lambda x: x.float() * 2,
        ):
            same(call(both[0]), call(both[1]), kind, 0.01)


@settings(max_examples=50, deadline=None)
@given(numbers=hnp.arrays(np.float64, 6, elements=st.floats(-1e6, 1e6)))
def test_casts_are_torchs(numbers: np.ndarray) -> None:
    for name in ("int64", "int32", "float32", "float16", "bool", "complex64", "bfloat16"):
        mine = ours.from_numpy(numbers).to(getattr(ours, name))
        theirs = torch.from_numpy(numbers).to(getattr(torch, name))
        same(mine, theirs, name, 0.0)


@settings(max_examples=50, deadline=None)
@given(
    data=st.recursive(
        st.one_of(
            st.booleans(), st.integers(-(2**40), 2**40), st.floats(-1e6, 1e6), st.text(max_size=1)
        ),
        lambda inner: st.lists(inner, max_size=3),
        max_leaves=6,
    )
)
def test_tensors_of_lists_are_torchs_and_so_are_refusals(data: object) -> None:
    try:
        expected = torch.tensor(data)
    except (TypeError, ValueError, RuntimeError):
        with pytest.raises((TypeError, ValueError, RuntimeError)):
            ours.tensor(data)
        return
    same(ours.tensor(data), expected, repr(data), 0.0)


def test_numbers_of_numpy_keep_their_kind() -> None:
    for data in (
        np.float64(1),
        [np.float64(1)],
        [np.float32(1), 2],
        np.int32(3),
        [np.int32(1)],
        [1, 2.0],
        [True, 2],
        np.arange(3),
        np.ones((2, 2), np.float16),
        [[1, 2], [3, 4]],
        [],
        [[]],
        3 + 1j,
    ):
        same(ours.tensor(data), torch.tensor(data), repr(data))


def test_a_whole_number_has_64_bits_whatever_numpys_default_is() -> None:
    x = ours.tensor([[3, 1], [2, 5]])
    results = (
        x,
        x.sum(0),
        x.cumsum(0),
        x.prod(),
        x.argmax(),
        x.argsort(1),
        x.sort(1).indices,
        x.nonzero(),
        ours.arange(4),
        ours.randint(5, (3,)),
        ours.randperm(4),
        x.max(0).indices,
        ours.tensor(7),
        ours.full((2,), 3),
        x.unique(return_counts=True)[1],
        ours.bincount(x.flatten()),
        x.topk(1).indices,
        ours.tril_indices(3, 3),
        ours.searchsorted(x[0], x[1]),
        x.count_nonzero(),
        x.median(0).indices,
    )
    assert all(result._a.dtype == np.int64 and result.dtype is ours.int64 for result in results)
    assert int(ours.tensor(2**40) * 3) == 3 * 2**40


def test_limits_are_torchs() -> None:
    for name in ("float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"):
        mine, theirs = ours.finfo(getattr(ours, name)), torch.finfo(getattr(torch, name))
        for said in ("eps", "max", "min", "tiny", "bits"):
            assert getattr(mine, said) == getattr(theirs, said), (name, said)
    for name in ("int64", "int32", "int8", "uint8"):
        assert ours.iinfo(getattr(ours, name)).max == torch.iinfo(getattr(torch, name)).max


def test_the_default_kind_is_taken_and_given_back() -> None:
    try:
        for T in (ours, torch):
            T.set_default_dtype(T.float64)
        for call in (
            lambda T: T.zeros(2),
            lambda T: T.tensor([1.5]),
            lambda T: T.arange(0, 1, 0.5),
            lambda T: T.eye(2),
            lambda T: T.tensor(3) / 2,
            lambda T: T.linspace(0, 1, 3),
            lambda T: T.tensor(1j),
            lambda T: T.full((1,), 1.5),
        ):
            same(call(ours), call(torch), "default")
    finally:
        for T in (ours, torch):
            T.set_default_dtype(T.float32)
    with pytest.raises(TypeError):
        ours.set_default_dtype(ours.int64)


def test_kinds_are_copied_as_themselves() -> None:
    assert copy.deepcopy(ours.bfloat16) is ours.bfloat16
    assert copy.copy(ours.float32) is ours.float32
