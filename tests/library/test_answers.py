"""What a check is handed: anything a reader's function may return."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import torch

from primer.notebook import Mistake
from primer.notebook.answers import as_array, as_number, as_whole, explain, same
from primer.notebook.tensors import as_tensor


@pytest.mark.parametrize(
    "value",
    [
        [[1, 2], [3, 4]],
        ((1.0, 2.0), (3.0, 4.0)),
        np.array([[1, 2], [3, 4]], dtype=np.float32),
        torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True),
        [torch.tensor([1, 2]), torch.tensor([3, 4])],
    ],
)
def test_numbers_in_any_container(value):
    assert as_array(value, (2, 2)).tolist() == [[1, 2], [3, 4]]
    torch.testing.assert_close(
        as_tensor(value, (2, 2)), torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64)
    )


@pytest.mark.parametrize(
    ("read", "value", "sentence"),
    [
        (lambda value: as_array(value, (2,)), None, r"numbers of shape \(2,\), yours is None"),
        (lambda value: as_array(value, (2,)), {"a": 1}, "yours is {'a': 1}"),
        (lambda value: as_array(value, (2,)), [1, [2, 3]], "parts of several sizes"),
        (lambda value: as_array(value, (2,)), [[1], [2]], r"yours has shape \(2, 1\)"),
        (lambda value: as_array(value, (2,)), [1, np.nan], "the result holds NaN"),
        (lambda value: as_array(value, (2,), "the second result"), 7, "the second result should"),
        (lambda value: as_tensor(value, (2,)), torch.zeros(3), r"shape \(2,\), yours .* \(3,\)"),
        (lambda value: as_tensor(value, ()), torch.tensor(torch.nan), "holds NaN"),
        (as_number, "4", "write '4' without quotes"),
        (as_number, torch.ones((), dtype=torch.bfloat16), "keeps two digits; compute in float32"),
        (as_number, torch.zeros(1), r"one number, yours has shape \(1,\)"),
        (as_number, 1j, "a real number, yours is 1j"),
        (as_whole, np.float64(2.5), "a whole number"),
        (as_whole, np.inf, "a whole number, yours is inf"),
    ],
)
def test_what_cannot_be_read_is_told_in_a_sentence(read, value, sentence):
    with pytest.raises(Mistake, match=sentence):
        read(value)


@pytest.mark.parametrize("value", [Fraction(5, 2), Decimal("2.5"), np.float32(2.5)])
def test_an_exact_number_is_a_number(value):
    assert as_number(value) == 2.5


def test_exact_numbers_are_numbers_in_an_array_too():
    found = as_array([Fraction(1, 2), Decimal("0.5"), 10**30 // 10**29], (3,))
    assert found.dtype == float
    assert found.tolist() == [0.5, 0.5, 10.0]
    long = np.array([math.comb(2000, 1000), 1]) / math.comb(2000, 1000)  # of Python's numbers
    assert as_array(long, (2,)).tolist()[0] == 1.0
    with pytest.raises(Mistake, match="should be numbers"):
        as_array([Fraction(1, 2), None], (2,))


def test_nan_is_read_where_the_exercise_has_a_better_sentence_for_it():
    assert as_tensor([torch.tensor(1.0), torch.tensor(torch.nan)], (2,), allow_nan=True)[1].isnan()


@pytest.mark.parametrize("value", [5, 5.0, np.int64(5), torch.tensor(5), np.array(5.0)])
def test_a_whole_number_in_any_type(value):
    assert as_whole(value) == 5


def test_single_precision_is_good_enough_and_a_wrong_digit_is_not():
    wanted = np.random.default_rng(0).normal(size=(4, 5)) * 1e4
    assert same(wanted.astype(np.float32), wanted)
    assert same(torch.tensor(wanted, dtype=torch.float32), torch.tensor(wanted))
    changed = wanted.copy()
    changed[2, 3] += 1e-4 * np.abs(wanted).max()
    assert not same(changed, wanted)
    assert not same(wanted, wanted[:1])  # no broadcasting
    assert not same(np.array(np.inf), np.array(1.0))


def test_whole_numbers_of_any_length_are_compared_exactly():
    assert same(as_whole(4096**32), 4096**32)
    assert not same(as_whole(4096**32 + 1), 4096**32)


@pytest.mark.parametrize(
    ("got", "right", "sentence"),
    [
        (2.0, 3.0, r"^the result is 2, but 3 is right$"),
        (1j, 2 + 1j, r"^the result is 0\+1j, but 2\+1j is right$"),
        (np.array([[1.0, 2.0], [3.0, 9.0]]), [[1, 2], [3.1, 4]], r"\[1, 1\] is 9, but 4 is right"),
        (np.array([np.inf, 1.0]), [1.0, 1.0], r"\[0\] is inf, but 1 is right"),
        (0.40512345, 0.4052, r"^the result is 0\.4051, but 0\.4052 is right$"),
        (-0.40504, -0.405, r"^the result is -0\.40504, but -0\.405 is right$"),
    ],
)
def test_an_unknown_mistake_is_shown_where_it_is_largest(got, right, sentence):
    with pytest.raises(Mistake, match=sentence):
        explain(got, right, {})


def test_the_first_mistake_that_fits_is_named():
    mistakes = {"of another shape": [8.0], "this one": 8.0, "a later one": 8.0}
    with pytest.raises(Mistake, match="this one"):
        explain(8.0, 6.0, mistakes, "none of them")
    with pytest.raises(Mistake, match="none of them"):
        explain(7.0, 6.0, mistakes, "none of them")
