"""The number that answers a question is printed as exactly as it is asked for, and read again."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from press.audit.form import ANSWERED
from primer.notebook import answer_to


def printed(capsys: pytest.CaptureFixture[str], *given: object, **more: object) -> str:
    """Return the line that a call prints."""
    answer_to(*given, **more)  # type: ignore[arg-type]
    return capsys.readouterr().out.removesuffix("\n")


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e6))
def test_the_printed_number_is_right_by_the_measure_that_is_printed_with_it(value, within):
    with pytest.MonkeyPatch.context() as patch:
        lines: list[str] = []
        patch.setattr("builtins.print", lines.append)
        answer_to("try-a-b", value, "m", within=within)
    name, number, unit, near = ANSWERED.fullmatch(lines[0]).groups()
    assert (name, unit, float(near)) == ("try-a-b", "m", within)
    assert abs(float(number.replace(",", "")) - value) <= 0.51 * within + 1e-9 * abs(value)


@pytest.mark.parametrize(
    ("value", "unit", "within", "line"),
    [
        (0.7957, "turns", 0.05, "→ ask-a: 0.80 turns (within 0.05)"),
        (12, "", 0.5, "→ ask-a: 12 (within 0.5)"),
        (12.26, "bits", 0.5, "→ ask-a: 12.3 bits (within 0.5)"),
        (124_439_808, "numbers", 1e6, "→ ask-a: 124,439,808 numbers (within 1000000)"),
        (-0.001, "%", 0.05, "→ ask-a: 0.00 % (within 0.05)"),
        (3e-4, "", 1e-5, "→ ask-a: 0.00030 (within 0.00001)"),
        (torch.tensor(2.5), "", 0.25, "→ ask-a: 2.5 (within 0.25)"),
        (np.float32(0.5), "", 0.1, "→ ask-a: 0.5 (within 0.1)"),
    ],
)
def test_as_many_digits_as_within_asks_for(capsys, value, unit, within, line):
    assert printed(capsys, "ask-a", value, unit, within=within) == line


@pytest.mark.parametrize("name", ["turns", "ask-", "ask-Turns", "ask-a--b", "ask a", "asks-a", 3])
def test_another_name_is_refused(name):
    with pytest.raises(ValueError, match="name must be that of a question, ask-…, or a task, try"):
        answer_to(name, 1, within=1)


@pytest.mark.parametrize("value", [math.nan, math.inf, "one", [1, 2], None, 1j])
def test_only_a_finite_number_answers(value):
    with pytest.raises(ValueError, match="value must be"):
        answer_to("ask-a", value, within=1)


@pytest.mark.parametrize("within", [0, -1, math.nan, math.inf])
def test_within_is_above_0(within):
    with pytest.raises(ValueError, match="within must be"):
        answer_to("ask-a", 1, within=within)
