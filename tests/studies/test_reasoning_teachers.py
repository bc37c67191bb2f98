"""Students of a teacher: a short lesson of each kind, given again, and what the table says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from primer.reasoning.recorded import load_recorded
from studies.reasoning import climb, teachers, ways

RUNS = teachers.study.read()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Give two small batches to the stored base, and ask four questions."""
    monkeypatch.setattr(climb, "base", lambda _: load_recorded("base"))
    monkeypatch.setattr(climb, "TEST", climb.examples().prompts[:4])
    monkeypatch.setattr(teachers, "BATCH", 32)
    monkeypatch.setattr(teachers, "QUESTIONS", 4)
    for stored in (teachers.text, teachers.right_text):
        stored.cache_clear()
    yield
    for stored in (teachers.text, teachers.right_text):
        stored.cache_clear()


@pytest.mark.parametrize("way", teachers.WAYS)
def test_a_lesson_is_the_same_again_from_its_seed(quick: None, way: str) -> None:
    first, again, other = (teachers.taught(way, 1e-3, seed, steps=2) for seed in (1, 1, 2))
    assert climb.fingerprint(first) == climb.fingerprint(again)
    assert climb.fingerprint(first) != climb.fingerprint(other)


def test_nobody_learns_before_the_lesson(quick: None) -> None:
    # train hands its seed to taught, and to climb.measure
    (before,) = teachers.train(teachers.BEFORE, 0.0, 1)
    assert before.base == climb.fingerprint(load_recorded("base"))
    (teacher,) = teachers.train(teachers.TEACHER, 0.0, 1)
    assert teacher[:3] == (teachers.TEACHER, 0.0, 1)
    assert teacher.teacher == climb.fingerprint(load_recorded("trained"))


def test_the_right_text_is_right(quick: None) -> None:
    kept = teachers.right_text()
    assert 0 < len(kept) < len(teachers.text())
    assert bool(climb.strict(kept).all())


def test_the_table_belongs_to_the_stored_teacher_and_to_one_base_a_student() -> None:
    assert {run.teacher for run in RUNS} == {climb.fingerprint(load_recorded("trained"))}
    others = {run.seed: run.base for run in ways.study.read()}
    for seed in teachers.STUDENTS:
        (base,) = {run.base for run in RUNS if run.seed == seed}
        assert base == others.get(seed, base)


@pytest.mark.parametrize("way", teachers.WAYS)
def test_each_way_was_tuned_with_its_best_rate_inside(way: str) -> None:
    first = teachers.STUDENTS[0]
    tried = {run.rate: run.right for run in RUNS if (run.way, run.seed) == (way, first)}
    best = teachers.best_of(RUNS, way)
    assert min(tried) < best[0].rate < max(tried)
    assert tried[best[0].rate] == max(tried.values())
    assert [run.seed for run in best] == [*teachers.STUDENTS]
