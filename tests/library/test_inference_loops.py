"""Circles in texts."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from primer.inference import final_loop, loops
from primer.inference.loops import ROUNDS, SHORTEST

pieces = st.lists(st.integers(0, 3), min_size=1, max_size=12)


def is_periodic(text, one):
    """Say whether a text has the period of a loop all along it."""
    part = text[one.start : one.end]
    return part[one.period :] == part[: -one.period]


@given(pieces, pieces, pieces, st.integers(1, 40))
def test_what_is_found_is_a_loop_and_no_loop_is_missed(before, piece, after, rounds):
    text = before + rounds * piece + after
    found = loops(torch.tensor(text))
    for one in found:
        assert is_periodic(text, one)
        assert one.end - one.start >= max(ROUNDS * one.period, SHORTEST)
    if len(piece) * rounds >= max(ROUNDS * len(piece), SHORTEST):
        inside = (len(before), len(before) + rounds * len(piece))
        assert any(one.start <= inside[0] and inside[1] <= one.end for one in found)


@given(st.lists(st.integers(0, 2), min_size=1, max_size=60))
def test_the_final_loop_is_found_by_its_definition(text):
    periods = [
        period
        for period in range(1, len(text) // ROUNDS + 1)
        if (span := max(ROUNDS * period, SHORTEST)) <= len(text)
        and text[-span:][period:] == text[-span:][:-period]
    ]
    found = final_loop(torch.tensor(text))
    assert (found.period if found else None) == min(periods, default=None)


def test_of_two_final_loops_the_shorter_round_is_told() -> None:
    text = torch.tensor(3 * ([2] + 30 * [1]))
    assert [one.period for one in loops(text) if one.end == len(text)] == [31, 1]
    found = final_loop(text)
    assert found is not None
    assert found.period == 1


def test_a_loop_has_three_rounds_and_thirty_tokens() -> None:
    def found(*text: int) -> list[tuple[int, int, int]]:
        return [tuple(one) for one in loops(torch.tensor(text))]

    assert found(*[1] * 29) == []
    assert found(*[1] * 30) == [(0, 30, 1)]
    assert found(7, *[1, 2] * 15, 8) == [(1, 31, 2)]
    assert found(7, *[1, 2] * 14, 1, 8) == []
    assert found(*[*range(40)] * 2, *range(39)) == []
    assert found(*[*range(40)] * 3) == [(0, 120, 40)]
    assert found(*[1] * 30, *range(50, 90), *[2, 3] * 20) == [(0, 30, 1), (70, 110, 2)]
