"""A masked array is refused by name: what it hides would count, as if nobody had hidden it."""

import contextlib
import io
from typing import Any

import numpy as np
import pytest
from probe import Example, examples, replay

IN_STEPS = ("start", "move")  # of an update rule, for descend, which looks at what it is given
TOPICS = ["statistics", "regression", "optimization", "networks", "scaling", "fourier"]


def masked(value: Any) -> Any:
    """Hide the first number of an array, or of a list of numbers; else give nothing."""
    if not isinstance(value, list | np.ndarray):
        return None
    with contextlib.suppress(
        ValueError, TypeError, RuntimeError
    ):  # parts of several sizes, a model's
        array = np.ma.masked_array(np.array(value))
        if array.ndim and array.size and array.dtype.kind in "iuf":
            array[(0,) * array.ndim] = np.ma.masked
            return array
    return None


def unanswered(example: Example) -> list[str]:
    """Name the arguments that may be masked without a word."""
    silent = []
    for name, value in example.arguments.items():
        if name == "self" or (hidden := masked(value)) is None:
            continue
        try:
            replay(example, **{name: hidden})
        except ValueError as error:
            if "masked array" in str(error):
                continue
        silent.append(f"{example.name}({name})")
    return silent


@pytest.mark.usefixtures("as_readers_run_it")
@pytest.mark.parametrize("topic", TOPICS)
def test_no_function_takes_a_masked_array(topic: str) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        calls = examples(topic)
    calls = {n: call for n, call in calls.items() if n.split(".")[-1] not in IN_STEPS}
    looked_at = [
        e for e in calls.values() if any(masked(v) is not None for v in e.arguments.values())
    ]
    assert looked_at
    assert [words for example in looked_at for words in unanswered(example)] == []
