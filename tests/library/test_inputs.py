"""The checks of input: what is good comes back ready to compute with, what is bad is named."""

import importlib
import inspect
import linecache
import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, get_type_hints

import numpy as np
import pytest
import torch
from bad_calls import TOPICS
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from jaxtyping import Bool, Float, Int, jaxtyped
from numpy.typing import ArrayLike
from torch import Tensor

from primer import inputs
from primer.inputs import foreign, guard, hints, quick
from primer.inputs.given import is_tensor as given_tensor
from primer.inputs.sizes import LARGEST_TABLE
from primer.recurrent import bilinear_score
from primer.statistics import kolmogorov_distance


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
    with pytest.raises(ValueError, match="f must be a function of 1 argument, got 3"):
        at_two(3)
    with pytest.raises(ValueError, match="entry 0 of fs must be a function of 1 argument, got 'x'"):
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


CALL = inputs.checked(lambda: None).__code__


class Pair(NamedTuple):
    """What a function hands on to another."""

    x: np.ndarray
    rows: Sequence[Any]


HELD = [
    Pair, Sequence[Pair],
    int, float, str, bool, int | None, Literal["a", "b"], Sequence[int], list[float],
    tuple[int, ...], Callable[[float], float], Callable[..., Any],
    np.random.Generator, torch.Generator | None, Tensor,
    Float[np.ndarray, "n"], Float[Tensor, "... n"], Int[Tensor, "n"] | None, Bool[Tensor, "n n"],
]  # fmt: skip


@pytest.mark.parametrize("hint", HELD, ids=str)
def test_no_hint_that_says_something_is_left_to_the_function(hint):
    assert not hints.is_open(hint)


@pytest.mark.parametrize("hint", [Any, ArrayLike, ArrayLike | None, TypeVar("T"), float | Any])
def test_what_a_hint_leaves_open_is_left_to_the_function(hint):
    assert hints.is_open(hint)


def checked_functions() -> list[Callable[..., Any]]:
    """Give every function of the library's topics that `checked` wraps, methods too."""
    for topic in TOPICS:
        importlib.import_module(f"primer.{topic}")
    found = {}
    for name, module in list(sys.modules.items()):
        for item in vars(module).values() if name.startswith("primer.") else ():
            for one in [item, *(vars(item).values() if inspect.isclass(item) else ())]:
                if getattr(one, "__code__", None) is CALL:
                    found[one.__module__, one.__qualname__] = one
    return list(found.values())


def test_every_plain_hint_of_the_library_is_held():
    """Whatever switches the checks off, a new Python or a new NumPy, is seen here."""
    functions, numbers = checked_functions(), 0
    assert len(functions) > 300
    for function in functions:
        for name, hint in get_type_hints(function, include_extras=True).items():
            if hint in (int, float, str, bool) or hints.is_array(hint):
                assert not hints.is_open(hint), (function.__qualname__, name)
                numbers += 1
    assert numbers > 500


@pytest.mark.parametrize(
    "value", [True, np.True_, np.array(True), torch.tensor(True), torch.ones(()) > 0]
)
def test_a_truth_value_is_one_in_whatever_it_comes(value):
    assert inputs.truth("causal", value) is True


@pytest.mark.parametrize(
    "value",
    ["no", "True", 1, 0.0, None, math.nan, [], np.array([True]), np.ma.masked, torch.ones(())],
)
def test_what_only_counts_as_true_or_false_is_refused(value):
    with pytest.raises(ValueError, match="causal must be True or False, got "):
        inputs.truth("causal", value)


ROUNDING = {torch.bfloat16: 0.05, torch.float32: 1e-3, torch.float64: 1e-6}
ASKS_ITSELF = {  # the others' guard asks; rows of wrong calls hold these
    "MultiHeadAttention.forward",
    "TransformerConfig.__init__",
    "shaw_attention",
    "verify_between",
}


def test_every_truth_value_of_the_library_is_asked_for():
    """Else "no" counts as true."""
    left = set()
    for topic in [*TOPICS, "notebook"]:
        package = importlib.import_module(f"primer.{topic}")
        for item in (getattr(package, name) for name in package.__all__):
            own = vars(item) if inspect.isclass(item) else {}
            for name, one in [("", item), *own.items()]:
                one = getattr(one, "__func__", one)
                while getattr(one, "__code__", CALL) is not CALL and hasattr(one, "__wrapped__"):
                    one = one.__wrapped__  # such as torch.no_grad's
                if not inspect.isfunction(one) or (name.startswith("_") and name != "__init__"):
                    continue
                kinds = [h for n, h in inspect.get_annotations(one).items() if n != "return"]
                if {"bool", bool} & set(kinds) and one.__code__ is not CALL:
                    left.add(one.__qualname__)
    assert left == ASKS_ITSELF


@pytest.mark.usefixtures("as_readers_run_it")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((np.array([1.0, np.nan]), 1), r"x must be finite, got nan at \[1\]"),
        (
            ([1.0, 2.0], 1),
            r"x must be a NumPy array of shape \(n,\), got a list; write numpy.array",
        ),
        ((np.ones((2, 2)), 1), r"x must have shape \(n,\), got \(2, 2\)"),
        ((np.ones(2), 1.5), "k must be a whole number, got 1.5"),
        ((np.ones(2), True), "k must be a whole number, got True"),
        (("ab", 1), "x must be a NumPy array of shape .* got 'ab'"),
        ((np.ma.masked_array([1.0, 9.0], mask=[0, 1]), 1), "x is a masked array"),
        ((np.array([1e308, 1e308]), 1), "times gives inf for these arguments: they are too large"),
        ((np.array([1.0]), 0), "times cannot be computed for these arguments, division by zero"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow")
def test_a_wrong_call_of_a_checked_function_is_refused(arguments, words):
    @inputs.checked
    def times(x: Float[np.ndarray, "n"], k: int) -> float:
        return x.sum() * (k / k)

    assert times(np.array([1.0, 2.0]), 3) == 3
    with pytest.raises(ValueError, match=words):
        times(*arguments)


@pytest.mark.usefixtures("as_readers_run_it")
@pytest.mark.parametrize(
    "result",
    [
        np.nan, np.float32(np.inf), np.array([1.0, np.nan]), torch.tensor([[-np.inf]]),
        (1.0, np.inf), [torch.ones(2), torch.tensor(np.nan)], 1j * np.array([np.nan]),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_returned_is_finite_unless_the_function_says_otherwise(result):
    def given(k: int) -> Any:
        return result

    assert inputs.checked(infinite="return")(given)(1) is result
    with pytest.raises(ValueError, match=r"^given gives .* for these arguments"):
        inputs.checked(given)(1)


@pytest.mark.usefixtures("as_readers_run_it")
@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OverflowError("too large"), "cannot be computed for these arguments, too large"),
        (MemoryError(), "needs more memory than there is"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), "needs more memory than"),
    ],
)
def test_errors_of_arithmetic_and_memory_are_said_in_words(error, words):
    @inputs.checked
    def fails(k: int) -> int:
        raise error

    with pytest.raises(ValueError, match=f"fails {words}"):
        fails(1)


@pytest.mark.usefixtures("as_readers_run_it")
@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (lambda x: 1 / 0, ZeroDivisionError),
        (lambda x: [][0], IndexError),
        (lambda x: math.exp(1e9), OverflowError),
        (lambda x: torch.ones(2) @ torch.ones(3), RuntimeError),
        (lambda x: np.ones((2, 2)) @ np.ones(3), ValueError),
        (lambda x: bytearray(1 << 62), MemoryError),
    ],
)
def test_what_a_function_of_the_readers_meets_is_told_by_itself(function, kind):
    with pytest.raises(kind) as own:
        function(0)

    with pytest.raises(kind) as error:
        kolmogorov_distance([0.5, 1.0], function)
    assert type(error.value) is kind
    assert str(error.value) == str(own.value)


@pytest.mark.usefixtures("as_readers_run_it")
def test_a_tensor_without_a_record_is_told_how_it_gets_one():
    query, weight = torch.ones(1, 2), torch.ones(2, 2, requires_grad=True)
    with torch.inference_mode():
        keys = torch.ones(1, 3, 2)
    with pytest.raises(ValueError, match=r"made in torch\.inference_mode\(\), .* give its \.clone"):
        bilinear_score(query, keys, weight)
    assert bilinear_score(query, keys.clone(), weight).tolist() == [[4.0, 4.0, 4.0]]


@pytest.mark.usefixtures("as_readers_run_it")
def test_a_column_of_a_table_is_told_how_it_becomes_one():
    pandas = pytest.importorskip("pandas")

    @inputs.checked
    def total(x: Float[np.ndarray, "n"], y: Float[Tensor, "n"]) -> float:
        return float(x.sum())

    column = pandas.Series([1.0, 2.0])
    with pytest.raises(ValueError, match=r"got a Series; write numpy\.array\(x\.to_numpy\(\)\)"):
        total(column, torch.ones(2))
    with pytest.raises(ValueError, match=r"got a Series; write torch\.tensor\(y\.to_numpy\(\)\)"):
        total(np.ones(2), column)
    with pytest.raises(ValueError, match=r"got a Series; write torch\.tensor\(y\.to_numpy\(\)\)"):
        inputs.tensor("y", column)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
def test_a_distribution_sums_to_one_as_far_as_its_precision_reaches(dtype):
    p = torch.linspace(0, 3, 50_000, dtype=torch.float64).softmax(-1)
    assert inputs.distribution("p", p.to(dtype)).dtype is dtype
    with pytest.raises(ValueError, match=r"sum to 1, got the sum 1\."):
        inputs.distribution("p", torch.tensor([0.5, 0.5 + 4 * ROUNDING[dtype]], dtype=dtype))
    with pytest.raises(ValueError, match=r"got the sum 1\.00001"):
        inputs.distribution("p", [0.5, 0.50001])


@pytest.mark.usefixtures("as_readers_run_it")
def test_other_errors_stay_as_they_are():
    @inputs.checked
    def fails(k: int) -> int:
        raise RuntimeError("no reason that is known")

    with pytest.raises(RuntimeError, match="no reason that is known"):
        fails(1)


@pytest.mark.usefixtures("as_readers_run_it")
@pytest.mark.parametrize(
    "value", [np.array(True), np.array("1"), np.array(1j), torch.tensor(True), torch.tensor(1j)]
)
def test_a_number_is_real_in_whatever_it_comes(value):
    @inputs.checked
    def double(x: float) -> float:
        return 2 * x

    assert double(np.array(2)) == double(torch.tensor(2.0)) == double(np.float32(2)) == 4
    with pytest.raises(ValueError, match="x must be one finite number"):
        double(value)


@pytest.mark.usefixtures("as_readers_run_it")
def test_the_last_of_many_entries_is_looked_at_too():
    @inputs.checked
    def total(x: list[float]) -> float:
        return sum(x)

    with pytest.raises(ValueError, match="nan in entry 5000"):
        total([1.0] * 5000 + [np.nan])
    with pytest.raises(ValueError, match="entry 5000 of x must be one finite number, got 'a'"):
        total([1.0] * 5000 + ["a"])


@pytest.mark.parametrize(
    "values",
    [
        torch.tensor([1.0, 2.0], requires_grad=True),
        torch.tensor([1.0, 2.0], dtype=torch.bfloat16),
        [torch.tensor(1.0, requires_grad=True), 2.0],
        (torch.tensor([1.0], dtype=torch.bfloat16), torch.tensor([2.0])),
    ],
    ids=["gradient", "bfloat16", "in a list", "in a tuple"],
)
def test_tensors_are_taken_for_their_numbers(values):
    np.testing.assert_array_equal(inputs.real("x", values).ravel(), [1.0, 2.0])


@pytest.mark.parametrize("check", [inputs.as_array, inputs.finite, inputs.real, inputs.vector])
def test_masked_arrays_are_refused_wherever_arrays_are_taken(check):
    masked = np.ma.masked_array([1.0, 99.0], mask=[False, True])
    with pytest.raises(ValueError, match=r"x is a masked array, .* write x.compressed\(\)"):
        check("x", masked)
    with pytest.raises(ValueError, match="x holds a masked array"):
        check("x", [masked, masked])


@given(st.lists(st.integers(0, 2**40), min_size=1), st.sampled_from([list, np.array, torch.tensor]))
def test_token_ids_come_back_in_64_bits(ids, kind):
    found = inputs.tokens("text", kind(ids), vocab_size=max(ids) + 1)
    assert found.tolist() == ids
    assert str(found.dtype).endswith("int64")
    with pytest.raises(ValueError, match=f"text must hold token ids, 0 to .*, got {max(ids)} at"):
        inputs.tokens("text", kind(ids), vocab_size=max(ids))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32])
def test_token_ids_of_a_narrow_type_are_widened(dtype):
    assert (inputs.tokens("t", torch.tensor([100], dtype=dtype), 101) * 10**9).item() == 10**11


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        ([-1], r"t must hold token ids, 0 to 4, got -1 at \[0\]"),
        (torch.tensor([[0, 5]]), r"0 to 4, got 5 at \[0, 1\]"),
        (5, "0 to 4, got 5$"),
        ([1.0], "whole numbers from 0 to 4, got numbers of type float64"),
        (torch.tensor([True]), "got numbers of type torch.bool"),
        ([-100, 0], r"got -100 at \[0\]"),
        ("to be", "got numbers of type <U5"),
    ],
)
def test_what_is_no_token_id_is_refused(ids, words):
    with pytest.raises(ValueError, match=words):
        inputs.tokens("t", ids, vocab_size=5)
    inputs.tokens("t", [-100, 0], vocab_size=5, also=[-100])


def test_a_constant_function_counts_at_each_point():
    np.testing.assert_array_equal(inputs.evaluated("f", lambda x: 2, np.zeros(3)), [2, 2, 2])


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (3, "f must be a function of x, got 3"),
        (lambda x: x[:2], r"a number for each point, shape \(3,\), got shape \(2,\)"),
        (lambda x: x / np.inf * np.nan, r"the result of f must be finite, got nan at \[0\]"),
        (lambda x: "a", "the result of f must hold numbers"),
    ],
)
def test_a_function_that_gives_something_else_is_told_so(function, words):
    with pytest.raises(ValueError, match=words):
        inputs.evaluated("f", function, np.zeros(3))


def test_whole_numbers_of_any_size_are_numbers_while_floats_hold_them():
    assert inputs.number("x", 2**1000) == 2.0**1000
    with pytest.raises(ValueError, match="x must be one finite number, got one of 20001 bits"):
        inputs.number("x", 2**20000)


# --- the guard: kinds in signatures ---------------------------------------------------------------


def test_no_function_is_checked_whose_hints_say_nothing():
    idle = [
        f"{function.__module__}.{function.__qualname__}"
        for function in checked_functions()
        for plan in [guard._Plan(function.__wrapped__, set())]
        if not plan.rules and not plan.tests
    ]
    assert idle == [], "give them hints that say what may be given, or take the decorator away"


@inputs.checked
def moved(
    X: Annotated[inputs.Matrix, "n p"],
    y: Annotated[inputs.Vector, "n"],
    step: inputs.Positive,
    W: Annotated[inputs.Matrix, "p p"] | None = None,
    kind: Annotated[str, inputs.among({"up": 1, "down": -1})] = "up",
    band: inputs.Vector = (1, 2),
) -> tuple[np.ndarray, np.ndarray, float, Any, np.ndarray]:
    return X, y, step, W, band


def test_a_kind_converts_what_is_given_and_what_is_not():
    X, y, step, W, band = moved([[1, 2]], y=(3,), step=np.float32(2))
    assert X.dtype == y.dtype == band.dtype == np.float64
    assert (X.tolist(), y.tolist(), step, W, band.tolist()) == ([[1, 2]], [3], 2.0, None, [1, 2])
    assert type(step) is float
    given = np.ones((1, 1))
    X, *_ = moved(given, [1], 1)
    X[0, 0] = 5
    assert given[0, 0] == 1, "what a caller gave is not changed"


@pytest.mark.usefixtures("as_readers_run_it")
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"X": [1, 2]}, r"X must be a matrix, with rows and columns, got shape \(2,\)"),
        ({"X": [[1, 2], [3]]}, "X must be a table whose rows are equally long"),
        ({"X": [[1, np.nan]]}, r"X must be finite, got nan at \[0, 1\]"),
        ({"X": np.ma.masked_array([[1.0, 9.0]], mask=[[0, 1]])}, "X is a masked array"),
        ({"y": [1, 2]}, "y must have length 1, got length 2"),
        ({"y": "abc"}, "y must hold numbers"),
        ({"step": 0}, "step must be a finite number above 0, got 0"),
        ({"step": "2"}, "step must be one finite number, got '2'"),
        ({"W": np.ones((2, 3))}, r"W must have shape \(p, p\), got \(2, 3\), beside X \(n, p\)"),
        ({"kind": "left"}, "kind must be one of 'up', 'down', got 'left'"),
        ({"kind": ["up"]}, "kind must be one of 'up', 'down', got a list"),
        ({"band": "12"}, "band must hold numbers"),
    ],
)
def test_what_a_kind_does_not_allow_is_refused(change, words):
    with pytest.raises(ValueError, match=words):
        moved(**({"X": [[1, 2]], "y": [1], "step": 1} | change))


def test_python_says_what_is_given_twice_or_too_much():
    with pytest.raises(TypeError, match="multiple values for argument 'X'"):
        moved([[1]], [1], 1, X=[[2]])
    with pytest.raises(TypeError, match="positional arguments"):
        moved([[1]], [1], 1, None, "up", (1, 2), 7)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'step'"):
        moved([[1]], [1])


def test_axes_that_cannot_be_read_are_named():
    @inputs.checked
    def last(x: Annotated[inputs.Vector, "n-1"]) -> float:
        return x[-1]

    with pytest.raises(ValueError, match="last has axes that nobody can read: n-1"):
        last([1.0])


def test_the_numbers_of_a_tensor_with_a_gradient_are_taken():
    X, *_ = moved(torch.ones(1, 2, requires_grad=True), torch.ones(1), 1)
    assert isinstance(X, np.ndarray)


def test_a_kind_that_nobody_defined_is_named():
    @inputs.checked
    def stepped(step: "Positiv") -> None:
        pass

    with pytest.raises(NameError, match="stepped has a hint that nobody defined, Positiv; the ki"):
        stepped(1)


@given(
    st.lists(st.sampled_from(["n", "p", "_", "2", "..."]), max_size=4).filter(
        lambda dims: dims.count("...") < 2
    ),
    st.lists(st.integers(0, 3), max_size=4),
    st.lists(st.integers(0, 3), max_size=4),
)
def test_the_quick_test_of_shapes_says_what_jaxtyping_says(dims, first, second):
    """Of two arrays, one after the other: an axis of one name is as long in both."""
    hint = Float[np.ndarray, " ".join(dims)]
    fits, axes = quick.shape_test(hint.dim_str), {}
    with jaxtyped("context"):
        for shape in (first, second):
            right = isinstance(np.ones(shape), hint)
            assert fits(tuple(shape), axes) == right
            if not right:
                return


@pytest.mark.parametrize("hint", HELD, ids=str)
@pytest.mark.parametrize(
    "value",
    [
        2, 2.5, True, "a", "c", None, [1, 2], [1.5], [1, "a"], (1, 2), np.ones(2),
        np.ones((2, 2)), torch.ones(2), torch.ones(2, 3), torch.arange(3), np.array([np.nan]),
        torch.tensor([np.inf]),
        np.random.default_rng(0), torch.Generator(), abs, lambda x: x, lambda x, y: x, np.nan,
        np.ma.masked_array([1.0]), np.float64(2), np.int64(2),
        Pair(np.ones(2), []), [Pair(np.ones(2), [np.ones(3)])], Pair(np.array([np.nan]), []),
        Pair(np.ones(2), [np.inf]), [Pair(np.ma.masked_array([1.0]), [])],
        Pair(np.ones(2), [np.ma.masked_array([1.0])]), torch.Tensor, np.ndarray, torch.nn.ReLU,
    ],
    ids=lambda value: re.sub(" at 0x[0-9a-f]+", "", repr(value), flags=re.I),  # the same everywhere
)  # fmt: skip
def test_what_passes_quickly_would_pass_slowly(hint, value):
    if quick.quick_test(hint, infinite=False)(value, {}):
        assert hints.fits(value, hint)
        assert not hints.not_finite(value, infinite=False)
        inputs.unmasked("x", value)


def test_a_named_tuple_passes_quickly():
    """As each step of a training in chapter 4 hands its layers on."""
    pairs = [Pair(np.ones(2), [np.ones(3)])]
    assert quick.quick_test(Pair)(pairs[0], {})
    assert quick.quick_test(Sequence[Pair])(pairs, {})


# --- what is yielded, kept in a table, or said by NumPy and torch ---------------------------------


@inputs.checked
def halves(x: inputs.Number, n: inputs.Natural):
    for _ in range(n):
        yield x
        x = x * 1e300


def test_what_a_function_yields_is_looked_at_one_by_one():
    found = halves(1.0, 5)
    assert [next(found), next(found)] == [1.0, 1e300]
    with pytest.raises(ValueError, match="halves gives inf for these arguments"):
        next(found)
    with pytest.raises(ValueError, match="n must be a whole number"):
        halves(1.0, 2.5)  # asked at the call, before anything is wanted of it


@inputs.checked
def table(x: inputs.Number):
    return {"kept": 1.0, "lost": [x, x * 1e300]}


def test_a_number_in_a_table_is_looked_at():
    assert table(2.0) == {"kept": 1.0, "lost": [2.0, 2e300]}
    with pytest.raises(ValueError, match="table gives inf in entry 1 for 'lost' for these"):
        table(1e300)


@inputs.checked
def named(patches: Mapping[str, Callable[[int], int]], x: int = 0):
    return [patch(x) for patch in patches.values()]


def test_the_entries_of_a_table_are_what_the_hint_says():
    assert named({"one": lambda x: x + 1}) == [1]
    for wrong, words in (
        ({"one": 3}, "'one' of patches must be a function of 1 argument, got 3"),
        ({1: abs}, "each name in patches must be a text, got 1"),
        ({"one": lambda: 1}, "'one' of patches must be a function of 1 argument, got <lambda>"),
        ([3], "patches must be a mapping from a text to a function of 1 argument, got a list"),
    ):
        with pytest.raises(ValueError, match=words):
            named(wrong)


@inputs.checked
def ranks(factors: Mapping[str, tuple[Float[Tensor, "d_in r"], Float[Tensor, "r d_out"]]]):
    return [a.shape[1] for a, _ in factors.values()]


def test_each_entry_of_a_table_has_widths_of_its_own():
    first, second = (torch.ones(4, 1), torch.ones(1, 4)), (torch.ones(4, 2), torch.ones(2, 8))
    assert ranks({"query": first, "up": second}) == [1, 2]
    with pytest.raises(ValueError, match="'up' of factors must have shape"):
        ranks({"query": first, "up": (first[0], second[1])})


@inputs.checked
def raising(call: Callable[[], object], x: Float[torch.Tensor, "..."]):
    return call()


ONES = torch.ones


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ONES(2, 3) @ ONES(2, 3), r"raising got shapes that do not go together: x \(7,\)"),
        (lambda: ONES(2) + ONES(3), "do not go together"),
        (lambda: np.ones(2) + np.ones(3), "do not go together"),
        (lambda: np.ones((2, 3)) @ np.ones((2, 3)), "do not go together"),
        (lambda: ONES(2).expand(3), "do not go together"),
        (lambda: np.ones((2, 3)) @ np.array(1.0), "do not go together"),
        (lambda: ONES(2)[torch.tensor([5])], "looks for an entry that is not there: index 5"),
        (lambda: np.ones(2)[[5]], "looks for an entry that is not there: index 5"),
        (lambda: ONES(2).topk(3), "looks for an entry that is not there"),
        (lambda: torch.nn.functional.embedding(torch.tensor([9]), ONES(2, 2)), "is not there"),
        (lambda: np.linalg.inv(np.zeros((2, 2))), "meets a matrix that has no inverse"),
        (lambda: torch.linalg.inv(torch.zeros(2, 2)), "meets a matrix that has no inverse"),
        (lambda: torch.linalg.svd(ONES(2, 2).half()), "cannot be computed in this precision"),
        (lambda: torch.randn(2**63), "raising needs more memory than there is"),
        (lambda: ONES(1).fill_(1e200), "cannot be computed for these arguments"),
    ],
)
def test_what_torch_and_numpy_say_is_said_in_words(call, words):
    with pytest.raises(ValueError, match=words):
        raising(call, ONES(7))


def test_what_a_function_of_the_readers_does_wrong_is_raised_as_it_is():
    with pytest.raises(TypeError, match="unsupported operand"):
        raising(lambda: 1 + "a", ONES(1))
    with pytest.raises(IndexError, match="list index"):
        raising(lambda: [][0], ONES(1))


def in_the_library(body: str) -> Callable[[Any], Any]:
    """Make a function of one line that stands in the library, as far as a traceback tells."""
    path, scope = f"{foreign.LIBRARY}/made_up.py", {"np": np, "torch": torch}
    source = f"def single(x: int, more: object = None):\n    {body}\n"
    linecache.cache[path] = (len(source), None, source.splitlines(keepends=True), path)
    exec(compile(source, path, "exec"), scope)
    return inputs.checked(scope["single"])


@pytest.mark.usefixtures("as_readers_run_it")
@pytest.mark.parametrize(
    "body",
    [
        "return x.shape",
        "return {}[x]",
        "return [][x]",
        "return 'a' + x",
        "return int('a')",
        "return np.zeros(3).reshape(2, 2)",
        "return torch.nn.functional.pad(torch.ones(3), (0,))",
        "return np.mean(['a'])",
    ],
)
def test_where_the_library_meets_an_error_it_says_what_was_given(body):
    words = r"^single cannot work with what it was given, x = 1, more = a list: "
    with pytest.raises(ValueError, match=words):
        in_the_library(body)(1, more=[2])


@pytest.mark.usefixtures("as_readers_run_it")
def test_what_the_library_says_itself_says_enough():
    with pytest.raises(TypeError, match=r"^our own words$"):
        in_the_library("raise TypeError('our own words')")(1)


@pytest.mark.usefixtures("as_readers_run_it")
def test_as_many_arguments_as_one_likes_are_each_looked_at():
    @inputs.checked
    def total(x: float, *more: float, scale: inputs.Positive = 1) -> float:
        return scale * (x + sum(more))

    assert total(1.0) == 1
    assert total(1.0, 2.0, 3, scale=2) == 12
    with pytest.raises(ValueError, match="entry 1 of more must be one finite number, got 'a'"):
        total(1.0, 2.0, "a")
    with pytest.raises(ValueError, match="more must be finite, got nan in entry 0"):
        total(1.0, np.nan, scale=2)
    with pytest.raises(ValueError, match="scale must be a finite number above 0"):
        total(1.0, 2.0, scale=-1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'more'"):
        total(1.0, more=(2.0,))


def test_what_is_done_one_after_the_other_ends():
    steps, steps_or_none = map(guard.rule_of, (inputs.Steps, inputs.StepsOrNone))
    assert [steps("steps", 1_000_000), steps_or_none("steps", 0)] == [1_000_000, 0]
    for rule in (steps, steps_or_none):
        with pytest.raises(ValueError, match="steps must be at most 1,000,000, got 1000001"):
            rule("steps", 1_000_001)
    with pytest.raises(ValueError, match="steps must be a whole number ≥ 1, got 0"):
        steps("steps", 0)


@pytest.mark.parametrize("kind", [inputs.Count, inputs.Natural, inputs.Seed])
def test_no_whole_number_is_larger_than_arrays_count(kind):
    assert guard.rule_of(kind)("n", 2**63 - 1) == 2**63 - 1
    with pytest.raises(ValueError, match="n must be below 2⁶³, got 9223372036854775808"):
        guard.rule_of(kind)("n", 2**63)


def test_one_masked_entry_of_a_row_among_others_is_seen():
    hidden = np.ma.masked_array([1.0, 9.0], mask=[False, True])
    with pytest.raises(ValueError, match="x holds a masked array"):
        inputs.unmasked("x", [[np.ones(2), hidden]])


@given(st.lists(st.integers(1, 1 << 24), min_size=1, max_size=3), st.integers(1, 1 << 10))
def test_a_table_has_room_up_to_a_size_and_the_sentence_says_which(lengths, times):
    axes = {f"axis_{n}": length for n, length in enumerate(lengths)}
    if times * math.prod(lengths) <= LARGEST_TABLE:
        inputs.room(times, **axes)
        return
    longest = max(axes, key=lambda name: axes[name])
    with pytest.raises(ValueError, match=f"^{longest} = {axes[longest]:,}") as error:
        inputs.room(times, **axes)
    most = re.search(r"take at most ([\d,]+)$", str(error.value))
    if most is None:  # the others alone are too many
        assert times * math.prod(lengths) // axes[longest] > LARGEST_TABLE
        return
    allowed = int(most[1].replace(",", ""))
    inputs.room(times, **axes | {longest: allowed})
    with pytest.raises(ValueError, match="makes a table of"):
        inputs.room(times, **axes | {longest: allowed + 1})


BOUNDED_BY_ANOTHER = {
    "n_heads",  # divides d_model
    "n_kv_heads",  # divides n_heads
    "experts_per_token",  # at most n_experts
    "rank",  # at most the sides of the base's matrix
    "bottleneck",  # less than the base's width
    "block_size",  # how much of what is there is one block
}
"""Sizes of layers that can be no larger than another one."""


@pytest.mark.parametrize("topic", TOPICS)
def test_each_size_of_a_layer_has_a_largest_one(topic):
    """Or a slip of the finger fills the memory, and the machine stands still."""
    package = importlib.import_module(f"primer.{topic}")
    public = [getattr(package, name) for name in getattr(package, "__all__", ())]
    layers = [one for one in public if inspect.isclass(one) and issubclass(one, torch.nn.Module)]
    open_ended = [
        f"{layer.__name__}({name})"
        for layer in layers
        for name, hint in get_type_hints(layer.__init__, include_extras=True).items()
        if "int" in str(hint) and name not in BOUNDED_BY_ANOTHER and not bounded(hint, name)
    ]
    assert open_ended == []


def bounded(hint: Any, name: str) -> bool:
    """Say whether a kind refuses a billion."""
    rule = guard.rule_of(hint)
    try:
        return rule is not None and rule(name, 10**9) != 10**9
    except ValueError:
        return True


def test_a_full_memory_is_said_with_what_may_have_filled_it():
    @inputs.checked
    def fills(n: int, x: Any, small: int = 3) -> None:
        raise MemoryError

    with pytest.raises(ValueError, match=r"than there is for n = 4,000,000; make that smaller$"):
        fills(4_000_000, ONES(7))
    with pytest.raises(ValueError, match=r"than there is for x of shape \(7,\); make that"):
        fills(4, ONES(7))
    with pytest.raises(ValueError, match=r"than there is; make its arguments smaller$"):
        fills(4, 5)


def test_a_class_is_none_of_its_objects_nor_a_function():
    class Doubles:
        def __call__(self, x: float) -> float:
            return 2 * x

    @inputs.checked
    def applied(function: Callable[[float], float], x: float = 1.0) -> float:
        return function(x)

    @inputs.checked
    def made(make: Callable[[], torch.nn.Module]) -> torch.nn.Module:
        return make()

    @inputs.checked
    def held(model: torch.nn.Module) -> torch.nn.Module:
        return model

    assert applied(Doubles()) == 2.0
    assert isinstance(made(torch.nn.ReLU), torch.nn.ReLU)
    for wrong in (Doubles, np.ndarray, Tensor, torch.nn.Linear):
        with pytest.raises(ValueError, match="function must be a function of 1 argument, got "):
            applied(wrong)
    with pytest.raises(ValueError, match="make must be a function of 0 arguments, got <class"):
        made(Tensor)
    with pytest.raises(
        ValueError, match=r"a torch.nn.Module, got .*; write ReLU\(…\), an object of"
    ):
        held(torch.nn.ReLU)
    assert not given_tensor(Tensor)
    assert given_tensor(ONES(2))
