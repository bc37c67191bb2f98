"""A made-up class shows which questions are too hard; what cannot be used is named."""

from __future__ import annotations

import html
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit
from written import BOOK

from press.audit.difficulty import BOOK as NAME
from press.audit.difficulty import items_of, main

CLEAR = {f"guess-{n:08x}": (f"The guess number {n}", -1.8 + 0.2 * n, 1.5) for n in range(14)}
EXERCISES = {f"8.{n}": (f"Exercise number {n}", 0.3 * n - 0.8, 1.2) for n in range(1, 6)}
ITEMS = {  # what they are, their difficulty and discrimination
    **CLEAR,
    "guess-ffffffff": ("Which of these two sentences is meant?", 5.0, 0.2),
    **EXERCISES,
    "8.7": ("Diagnose: another cliff", 1.6, 1.8),
}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Make the two pages of a built book that the command reads."""
    guesses = [{"id": id, "right": 1, "choices": 3} for id in ITEMS if id.startswith("guess")]
    exercises = [id for id in ITEMS if not id.startswith("guess")]
    chapter = {"name": "08-positions", "guesses": guesses, "exercises": exercises, "sections": {}}
    page = tmp_path / "site/chapters/appendix/kept.html"
    page.parent.mkdir(parents=True)
    page.write_text(f'<div class="kept" data-chapters="{html.escape(json.dumps([chapter]))}">')
    boxes = [
        f'<div class="admonition guess" id="{id}"><p class="admonition-title">Guess</p>'
        f"<p>{words}</p>"
        if id.startswith("guess")
        else '<div class="exercise admonition"><p class="admonition-title">'
        f'<span class="caption-number">Exercise {id} </span> ({words})</p>'
        for id, (words, _, _) in ITEMS.items()
    ]
    (page.parents[1] / "08-positions.html").write_text("</div>".join(boxes), "utf-8")
    return tmp_path / "site"


def saved(
    guesses: dict[str, int], firsts: dict[str, int], questions: dict[str, str] | None = None
) -> str:
    """Write a file as the page does."""
    kept = {"progress": {}, "guesses": guesses, "answers": {}, "cells": {}, "firsts": firsts}
    kept["questions"] = questions or {}
    return json.dumps({"book": NAME, **kept}, indent=1)


def made_up_class(folder: Path, readers: int, seed: int = 1) -> Path:
    """Let readers of random ability answer; one in ten questions is left open."""
    rng = np.random.default_rng(seed)
    folder.mkdir(exist_ok=True)
    for reader in range(readers):
        ability = rng.normal()
        given = {}
        for id, (_, difficulty, discrimination) in ITEMS.items():
            right = rng.random() < 1 / (1 + np.exp(-discrimination * (ability - difficulty)))
            if rng.random() < 0.9:
                given[id] = (
                    int(right) if id[0] != "g" else (1 if right else 2 * int(rng.integers(2)))
                )
        guesses = {id: value for id, value in given.items() if id.startswith("guess")}
        firsts = {id: value for id, value in given.items() if not id.startswith("guess")}
        (folder / f"reader-{reader:03d}.json").write_text(saved(guesses, firsts))
    return folder


def test_the_order_of_a_large_class_is_found(
    site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(made_up_class(tmp_path / "class", 400))], site) == 0
    printed = capsys.readouterr()
    assert "400 readers read; fitting …" in printed.err
    head, *lines = printed.out.split("\n\n")[0].splitlines()
    assert head.split() == ["difficulty", "discrimination", "answers", "right", "in", "item"]
    assert len(lines) == len(ITEMS)
    for line, (words, difficulty, discrimination) in zip(lines, ITEMS.values(), strict=True):
        hard, steep, answers, share = map(float, line.replace("%", "").split()[:4])
        assert steep == pytest.approx(discrimination, abs=0.5), line
        assert expit(-steep * hard) == pytest.approx(expit(-discrimination * difficulty), abs=0.1)
        assert 320 < answers < 400
        assert 0 < share < 100
        assert words[:20] in line
    worst = printed.out.split("rightly:\n")[1].splitlines()
    assert "Exercise 8.7 Diagnose: another cliff" in worst[0]
    assert worst[1].strip() == "good readers solve it: what do the others lack?"
    unclear = next(i for i, line in enumerate(worst) if "Which of these two" in line)
    assert worst[unclear + 1].strip().startswith("good readers miss it as well")
    assert len(worst) == 20  # ten, with a word on each


def test_the_page_for_teachers_shows_what_is_printed(
    site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main([str(made_up_class(tmp_path / "class", 60))], site)
    printed = capsys.readouterr().out.splitlines()
    page = (BOOK / "chapters/appendix/teachers.md").read_text("utf-8")
    shown = page.split("```text\ndifficulty")[1].split("```")[0]
    lines = ["difficulty" + shown.splitlines()[0], *shown.splitlines()[1:]]
    for line in lines:
        if line.strip() not in ("", "…"):
            assert line in printed, "\n".join(printed)


def test_what_cannot_be_used_is_named_and_the_rest_is_read(
    site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = made_up_class(tmp_path / "class", 25)
    others = {
        "empty.json": "",
        "list.json": "[1, 2]",
        "foreign.json": '{"book": "another", "guesses": {}}',
        "torn.json": '{"book": "runnable-primer", "guesses": {"8',
        "strange.json": '{"book": "runnable-primer", "guesses": [1]}',
        "old.json": saved({"guess-99999999": 1}, {}),
        "mixed.json": saved({"guess-99999999": 1, "guess-00000001": 7}, {"8.1": 1, "8.7": True}),
        "nothing.json": saved({}, {}),
    }
    for name, text in others.items():
        (folder / name).write_text(text)
    (folder / "picture.json").write_bytes(b"\x89PNG\xff\xfe")
    assert main([str(folder), str(tmp_path / "lost.json")], site) == 0
    said = capsys.readouterr()
    for name, sentence in {
        "empty": "it is damaged, or not what the page",
        "list": "it is not what the page *What this browser keeps* saves",
        "foreign": "it is not what the page *What this browser keeps* saves",
        "torn": "it is damaged",
        "strange": "it is damaged: its guesses are no table",
        "old": "all it holds is of another edition of the book",
        "nothing": "its reader has answered nothing yet",
        "picture": "it cannot be read as text",
    }.items():
        assert f"{folder / name}.json is left out: {sentence}" in said.err
    assert f"{folder / 'mixed.json'}: 3 of its answers are of another edition: left out" in said.err
    assert f"{tmp_path / 'lost.json'} is left out: there is no such file." in said.err
    assert "26 readers read" in said.err


@pytest.mark.parametrize(
    ("readers", "sentence"),
    [(0, "No reader is left, and a class needs two or more"), (1, "One reader is left, and")],
)
def test_a_class_of_one_or_none_is_refused(
    site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], readers: int, sentence: str
) -> None:
    assert main([str(made_up_class(tmp_path / "class", readers))], site) == 1
    said = capsys.readouterr()
    assert sentence in said.err
    assert said.out == ""


def test_a_small_class_is_told_that_it_is_small(
    site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(made_up_class(tmp_path / "class", 5))], site) == 0
    said = capsys.readouterr().out
    assert said.endswith("With 5 readers all of this is rough; 20 tell more.\n")
    assert "answers: wait for more" in said


def test_two_copies_of_one_file_are_one_reader(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    guesses = [{"id": f"guess-{n:08x}", "right": 0, "choices": 3} for n in range(12)]
    chapter = {"name": "08-positions", "guesses": guesses, "exercises": [], "sections": {}}
    page = tmp_path / "chapters/appendix/kept.html"
    page.parent.mkdir(parents=True)
    page.write_text(f'<div data-chapters="{html.escape(json.dumps([chapter]))}">')
    given = {guess["id"]: n % 3 for n, guess in enumerate(guesses)}
    for name, text in {
        "a": saved(given, {}),
        "b": saved(given, {}),
        "c": saved({**given, "guess-00000000": 2}, {}),
    }.items():
        (tmp_path / f"{name}.json").write_text(text)
    assert main([str(tmp_path)], tmp_path) == 0
    said = capsys.readouterr().err
    assert f"{tmp_path / 'b.json'} is left out: it says the same as {tmp_path / 'a.json'}." in said
    assert "2 readers read" in said


def test_of_the_questions_of_sections_those_with_choices_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chapter = {"name": "08-positions", "guesses": [], "exercises": [], "sections": {}}
    chapter["questions"] = ["ask-why", "ask-turns"]
    page = tmp_path / "chapters/appendix/kept.html"
    page.parent.mkdir(parents=True)
    page.write_text(f'<div data-chapters="{html.escape(json.dumps([chapter]))}">')
    (page.parents[1] / "08-positions.html").write_text(
        '<div class="question admonition" id="ask-why"><p class="admonition-title">Question</p>'
        '<p>Why does it stay?</p><details class="choice wrong"></details>'
        '<details class="choice right"></details></div>'
        '<div class="question admonition" id="ask-turns"><p>How many turns?</p></div>'
    )
    for name, choice in {"a": "1", "b": "0", "c": "1"}.items():
        text = saved({}, {}, {"ask-why": choice, "ask-turns": "0.8"})
        (tmp_path / f"{name}.json").write_text(text)
    assert main([str(tmp_path)], tmp_path) == 0
    said = capsys.readouterr()
    assert "3    67 %  08  Why does it stay?" in said.out
    assert "turns" not in said.out
    assert "another edition" not in said.err


def test_without_a_built_book_it_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path)], tmp_path) == 1
    assert "run `make book` first." in capsys.readouterr().err


def test_the_built_book_names_its_items() -> None:
    items = items_of(BOOK / "_build/html")
    assert len({item.id for item in items}) == len(items) > 100
    judged = [item for item in items if item.choices]
    assert len(judged) > 100
    assert all(0 <= item.right < item.choices for item in judged)
    named = [item for item in items if not item.words.startswith("guess ")]
    assert len(named) == len(items)
    assert any(item.words.startswith("Exercise 8.1 ") for item in items)
