"""The checks of input: what is good comes back ready to compute with, what is bad is named."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from jaxtyping import Float

from primer import inputs


@given(arrays(np.float32, array_shapes(), elements=st.floats(-1e3, 1e3, width=32)))
def test_good_numbers_come_back_in_double_precision(values):
    for check in (inputs.finite, inputs.real):
        array = check("x", values.tolist())
        assert array.dtype == np.float64
        np.testing.assert_array_equal(array, values)
    assert inputs.finite("x", values * 1j).dtype == np.complex128


@given(st.integers(-5, 5), st.integers(-5, 5))
def test_a_count_is_what_is_large_enough(value, least):
    if value >= least:
        assert inputs.count("n", np.int32(value), at_least=least) == value
    else:
        with pytest.raises(ValueError, match=f"n must be a whole number ≥ {least}, got {value}"):
            inputs.count("n", value, at_least=least)


@given(st.floats(allow_nan=False, allow_infinity=False))
@example(0.0)
@example(1.0)
def test_each_range_holds_its_numbers_and_no_others(x):
    ranges = {
        inputs.number: True,
        inputs.positive: x > 0,
        inputs.not_negative: x >= 0,
        inputs.probability: 0 < x < 1,
        inputs.fraction: 0 <= x < 1,
    }
    for check, allowed in ranges.items():
        if allowed:
            assert check("x", x) == x
        else:
            with pytest.raises(ValueError, match=f"x must .*, got {x}".replace("+", r"\+")):
                check("x", x)


@pytest.mark.parametrize("check", [inputs.number, inputs.positive, inputs.fraction])
@pytest.mark.parametrize(
    ("value", "got"),
    [
        (np.nan, "nan"),
        (-np.inf, "-inf"),
        ("0.5", "'0.5'"),
        (None, "None"),
        (True, "True"),
        (0.5j, "0.5j"),
        ([0.5], r"an array of shape \(1,\)"),
    ],
)
def test_what_is_not_one_number_is_refused(check, value, got):
    with pytest.raises(ValueError, match=f"step must be one finite number, got {got}"):
        check("step", value)


@pytest.mark.parametrize("value", [1.5, 2.0, True, "2", None, np.nan])
def test_what_is_not_whole_is_no_count(value):
    with pytest.raises(ValueError, match=f"hop must be a whole number ≥ 1, got {value!r}"):
        inputs.count("hop", value)


@pytest.mark.parametrize(
    ("check", "values", "sentence"),
    [
        (inputs.finite, ["a"], "X must hold numbers, got an array of type <U1"),
        (inputs.finite, [[1, 2], [3j, np.inf]], r"X must be finite, got \(inf\+0j\) at \[1, 1\]"),
        (inputs.real, np.ones((2, 0)), r"X is empty, got shape \(2, 0\); it needs"),
        (inputs.real, np.nan, "X must be finite, got nan$"),
        (inputs.real, [1j], "X must hold real numbers, got complex ones; pass"),
        (inputs.vector, 3.0, "X must be a vector, one sequence of numbers, got the number 3.0"),
        (inputs.vector, [[1, 2]], r"X must be a vector, .* got shape \(1, 2\)"),
        (inputs.matrix, [1, 2], r"X must be a matrix, .* got shape \(2,\)"),
    ],
)
def test_arrays_are_refused_with_a_reason(check, values, sentence):
    with pytest.raises(ValueError, match=sentence):
        check("X", values)


def test_a_vector_has_the_length_asked_for():
    np.testing.assert_array_equal(inputs.vector("y", [1, 2], 2), [1, 2])
    with pytest.raises(ValueError, match="y must have length 3, got length 2"):
        inputs.vector("y", [1, 2], 3)


def test_a_choice_is_one_of_those_there_are():
    assert inputs.one_of("norm", "l2", ("l1", "l2")) == "l2"
    with pytest.raises(ValueError, match="norm must be one of 'l1', 'l2', got 'l3'"):
        inputs.one_of("norm", "l3", ("l1", "l2"))


def test_what_to_do_about_a_gap_is_said_where_it_is_known():
    with pytest.raises(ValueError, match=r"y must be finite, got nan at \[1\]; fill the gaps$"):
        inputs.vector("y", [1, np.nan], hint="fill the gaps")


@pytest.mark.usefixtures("as_readers_run_it")
@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([(1, 2.0), "x"], "entry 1 of rows must be a tuple, .* got 'x'"),
        ([(1, 2.0), (1, "a")], "entry 1 of entry 1 of rows must be one finite number, got 'a'"),
    ],
)
def test_an_entry_of_a_list_is_named_with_what_it_should_be(rows, words):
    @inputs.checked
    def total(rows: list[tuple[int, float]]) -> int:
        return len(rows)

    with pytest.raises(ValueError, match=words):
        total(rows)


@pytest.mark.usefixtures("as_readers_run_it")
def test_what_is_no_function_is_told_so():
    @inputs.checked
    def at_two(f: Callable[[float], float]) -> float:
        return f(2.0)

    @inputs.checked
    def each(fs: list[Callable[[float], float]]) -> int:
        return len(fs)

    @inputs.checked
    def first(items: list[Any]) -> Any:
        return items[0]

    with pytest.raises(ValueError, match=r"^items must be a list, got 3"):
        first(3)
    with pytest.raises(ValueError, match="f must be a function, got 3"):
        at_two(3)
    with pytest.raises(ValueError, match="entry 0 of fs must be a function, got 'x'"):
        each(["x"])


@pytest.mark.usefixtures("as_readers_run_it")
def test_a_hint_of_several_takes_each_of_them():
    @inputs.checked
    def named(x: int | str | None) -> int | str | None:
        return x

    assert [named(value) for value in (3, "a", None)] == [3, "a", None]
    with pytest.raises(ValueError, match=r"x must be .* got"):
        named(2.5)


@pytest.mark.usefixtures("as_readers_run_it")
def test_a_gap_has_a_place_where_there_are_several():
    @inputs.checked
    def double(x: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
        return 2 * x

    with pytest.raises(ValueError, match=r"got nan at \[1, 0\]$"):
        double(np.array([[1.0], [np.nan]]))
    with pytest.raises(ValueError, match=r"got inf$"):
        double(np.array(np.inf))
