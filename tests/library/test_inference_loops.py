"""Circles in texts, and the experiment that counts them."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from primer.inference import continuations, final_loop, loops
from primer.inference.continuations import (
    FORGETFUL,
    MEMORIES,
    RESULTS,
    SETTINGS,
    SILENCED,
    Laboratory,
    generate_forgetful,
    held_out_passages,
    read_results,
    run,
)
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


@pytest.fixture(scope="module")
def laboratory():
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield Laboratory(n_texts=3, n_contexts=5)
    torch.set_default_dtype(default)


def test_the_committed_results_are_those_of_all_settings():
    results = read_results()
    settings = {setting for setting, _ in results}
    assert {"Shakespeare", "greedy", "4 beams", "loops", "lengths", *SETTINGS} <= settings
    assert set(SILENCED) <= settings
    assert {f"m = {m}" for m in FORGETFUL} | {f"last {m}" for m in MEMORIES} <= settings
    assert all(np.isfinite([line.mean, line.error]).all() for line in results.values())


def test_shakespeare_is_measured_again(laboratory):
    lab = Laboratory()
    texts = lab.write("Shakespeare")
    stored = read_results()["Shakespeare", "repeated"]
    judged = [lab.judge("Shakespeare", texts[:2])[1].mean, stored.mean]
    assert abs(judged[0] - judged[1]) < 20 * stored.error
    torch.testing.assert_close(texts[:3], laboratory.passages)


def test_a_run_goes_on_where_it_stopped(laboratory, tmp_path, capsys):
    path = tmp_path / "results.csv"
    run(path, laboratory, only="m = 1")
    first = path.read_text()
    assert first.startswith("setting,measure,mean,error,n\n")
    run(path, laboratory, only="m = 1")
    assert path.read_text() == first
    run(path, laboratory, only="Shakespeare")
    assert path.read_text().startswith(first)
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert read_results(path)["m = 1", "ends in a loop"].mean == 1


def test_silenced_heads_speak_again(laboratory, monkeypatch):
    monkeypatch.setattr(continuations, "NEW", 40)
    before = laboratory.write("greedy")
    silenced = laboratory.write("greedy without induction")
    assert not torch.equal(silenced, before)
    assert torch.equal(laboratory.write("greedy"), before)


def test_a_circle_whose_fourth_round_the_context_does_not_hold_is_not_asked(laboratory):
    prompt = laboratory.passages[0, :32]
    texts = [
        torch.cat([prompt, 100 + torch.arange(192) % period]) for period in (5, 60)
    ]  # 32 + 4 · 60 > 256
    lines = {line.measure: line for line in laboratory.circles(torch.stack(texts))}
    assert lines["period"].mean == 32.5
    assert lines["goes on seeing all"].n == 1


def test_a_forgetful_model_sees_its_last_tokens_only(laboratory):
    prompts = held_out_passages(2)[:, :8]
    whole = generate_forgetful(laboratory.model, prompts, 5, memory=3)
    ends = generate_forgetful(laboratory.model, prompts[:, -3:], 5, memory=3)
    torch.testing.assert_close(whole[:, 5:], ends)


def test_results_of_another_file_are_empty(tmp_path):
    assert read_results(tmp_path / "none.csv") == {}
    assert RESULTS.exists()


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
