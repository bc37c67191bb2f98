"""A tensor is written as torch writes it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import torch_in_page as ours

shapes = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)
plain = st.one_of(
    st.floats(-100, 100, width=32),
    st.integers(-1000, 1000).map(float),
    st.sampled_from([0.0, np.inf, -np.inf, np.nan]),
    st.floats(-0.0009765625, 0.0009765625, width=32),
)
often = settings(max_examples=150, deadline=None)


@pytest.fixture(autouse=True)
def usual_options() -> Iterator[None]:
    yield
    for T in (ours, torch):
        T.set_printoptions(profile="default")


@often
@given(numbers=hnp.arrays(np.float32, shapes, elements=plain))
def test_numbers_are_written_as_torch_does(numbers: np.ndarray) -> None:
    assert repr(ours.from_numpy(numbers)) == repr(torch.from_numpy(numbers))
    assert str(ours.from_numpy(numbers)) == str(torch.from_numpy(numbers))


@often
@given(numbers=hnp.arrays(np.float64, shapes, elements=st.floats(allow_subnormal=False, width=64)))
def test_numbers_of_any_size_are_written_as_torch_does(numbers: np.ndarray) -> None:
    assert repr(ours.from_numpy(numbers)) == repr(torch.from_numpy(numbers))


@often
@given(
    numbers=hnp.arrays(st.sampled_from([np.int64, np.int32, np.int8, np.uint8, np.bool_]), shapes)
)
def test_whole_numbers_are_written_as_torch_does(numbers: np.ndarray) -> None:
    assert repr(ours.from_numpy(numbers)) == repr(torch.from_numpy(numbers))


@settings(max_examples=60, deadline=None)
@given(
    numbers=hnp.arrays(
        np.complex64,
        shapes,
        elements=st.complex_numbers(max_magnitude=100, width=64, allow_subnormal=False),
    )
)
def test_complex_numbers_are_written_as_torch_does(numbers: np.ndarray) -> None:
    assert repr(ours.from_numpy(numbers)) == repr(torch.from_numpy(numbers))


@settings(max_examples=60, deadline=None)
@given(
    numbers=hnp.arrays(np.float32, shapes, elements=plain),
    options=st.fixed_dictionaries(
        {},
        optional={
            "precision": st.integers(0, 8),
            "linewidth": st.integers(20, 200),
            "threshold": st.integers(0, 50),
            "edgeitems": st.integers(1, 4),
            "sci_mode": st.booleans(),
        },
    ),
)
def test_options_change_the_text_as_in_torch(numbers: np.ndarray, options: dict) -> None:
    for T in (ours, torch):
        T.set_printoptions(profile="default")
        T.set_printoptions(**options)
    assert repr(ours.from_numpy(numbers)) == repr(torch.from_numpy(numbers))


def test_long_tensors_are_shortened_as_in_torch() -> None:
    for shape in ((2000,), (50, 60), (3, 40, 50), (1001, 1), (1, 1001), (4, 5, 60)):
        assert repr(ours.arange(np.prod(shape)).reshape(shape)) == repr(
            torch.arange(np.prod(shape)).reshape(shape)
        )
        x = np.random.default_rng(0).normal(size=shape)
        assert repr(ours.from_numpy(x)) == repr(torch.from_numpy(x))


def test_what_stands_behind_the_numbers_is_torchs() -> None:
    for call in (
        lambda T: T.ones(2, requires_grad=True),
        lambda T: T.ones(2, requires_grad=True) * 2,
        lambda T: T.ones(2, requires_grad=True).sum(),
        lambda T: T.nn.Parameter(T.ones(2, 2)),
        lambda T: T.ones(2, requires_grad=True).exp(),
        lambda T: T.zeros(0, 3),
        lambda T: T.zeros(0, dtype=T.int64),
        lambda T: T.ones(30, dtype=T.float64, requires_grad=True).cumsum(0),
        lambda T: T.ones(2).shape,
        lambda T: T.float32,
        lambda T: T.device("cpu"),
        lambda T: T.Size([]),
        lambda T: T.ones(2, 3).max(1),
        lambda T: T.linalg.qr(T.eye(2)),
        lambda T: T.ones(2, requires_grad=True)[0],
        lambda T: T.ones(2, 3, requires_grad=True)[:, 0],
        lambda T: T.ones(2, 3, requires_grad=True).T,
        lambda T: T.ones(2, 3, requires_grad=True).max(),
        lambda T: T.ones(2, 3, requires_grad=True).mean(),
        lambda T: T.ones(2, 3, requires_grad=True) @ T.ones(3, 1),
        lambda T: T.tensor(2.0, requires_grad=True),
        lambda T: T.nn.functional.cross_entropy(T.ones(2, 3, requires_grad=True), T.tensor([0, 1])),
    ):
        assert repr(call(ours)) == repr(call(torch))
    assert f"{ours.tensor(1.23456):.2f}" == f"{torch.tensor(1.23456):.2f}"


def test_modules_are_written_as_torch_does() -> None:
    def built(T: object) -> object:
        nn = T.nn  # type: ignore[attr-defined]
        return nn.Sequential(
            nn.Linear(3, 4),
            nn.ReLU(),
            nn.ModuleList([nn.Linear(2, 2) for _ in range(3)]),
            nn.LSTM(2, 3, 2, bidirectional=True),
            nn.Dropout(0.1),
            nn.LayerNorm(3),
            nn.Embedding(4, 5),
            nn.Conv2d(1, 2, 3, padding=1),
            nn.Conv1d(1, 2, 3, bias=False),
            nn.GELU(),
            nn.Flatten(),
            nn.Unflatten(1, (2, 2)),
            nn.ModuleDict({"a": nn.Tanh()}),
            nn.RMSNorm(4),
            nn.BatchNorm1d(3),
            nn.MaxPool2d(2),
            nn.AvgPool2d(2),
            nn.Softmax(dim=-1),
            nn.LeakyReLU(),
            nn.GRUCell(2, 3),
            nn.RNN(2, 3),
            nn.MultiheadAttention(4, 2),
            nn.TransformerEncoderLayer(4, 2, 8),
            nn.CrossEntropyLoss(),
            nn.Identity(),
            nn.Softplus(),
            nn.MSELoss(),
            nn.GroupNorm(1, 2),
            nn.ELU(),
            nn.SiLU(),
            nn.Sequential(),
        )

    mine, theirs = repr(built(ours)).splitlines(), repr(built(torch)).splitlines()
    assert mine == theirs


def test_optimizers_are_written_as_torch_does() -> None:
    for name in ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad"):
        both = [getattr(T.optim, name)([T.zeros(1, requires_grad=True)]) for T in (ours, torch)]
        assert repr(both[0]) == repr(both[1])
