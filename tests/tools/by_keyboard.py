"""A chapter by keyboard alone: reach a control, make the guesses, answer the exercises."""

from __future__ import annotations

import importlib
import re

import nbformat
from playwright.sync_api import ElementHandle, Locator, Page, TimeoutError
from written import BOOK

from press.audit.asking import is_right
from press.audit.form import tags_of
from press.pages.page_answers import called_checks, imported_names, sentences
from primer.notebook import ChoiceExercise, NumberExercise


def tab_to(page: Page, place: Locator | ElementHandle) -> None:
    """Reach a control by the Tab key from just before it; fail where Tab passes it by."""
    place.evaluate("""(node) => {
      const before = document.createElement("span");
      before.id = "before";
      before.tabIndex = -1;
      before.style.position = "fixed"; // so that no line is laid out anew
      (node.closest("summary")?.parentElement ?? node).before(before);
      before.focus({ preventScroll: true });
    }""")
    page.keyboard.press("Tab")
    assert place.evaluate("""(node) => {
      document.getElementById("before").remove();
      return node === document.activeElement;
    }""")


# Handles are found once; a locator would look through all of a chapter's elements for each key.


def choose(page: Page, box: ElementHandle) -> int:
    """Open every choice of a box: each has a reply, one of them is right; return their number."""
    choices = box.query_selector_all(".choice")
    for choice in choices:
        tab_to(page, part_of(choice, "summary"))
        page.keyboard.press("Enter")
        kind, seen, text = choice.evaluate("""(choice) => {
          const reply = choice.querySelector(".reply");
          return [choice.className, reply.checkVisibility(), reply.innerText];
        }""")
        assert seen
        assert is_right(text) == ("right" in kind)
        assert len(text.split()) >= 6, f"{text!r} says too little"
    return len(choices)


def make_the_guesses(page: Page) -> None:
    """Make every guess of a chapter: two at least, each with three choices or more."""
    boxes = page.query_selector_all(".admonition.guess")
    assert len(boxes) >= 2
    for box in boxes:
        assert choose(page, box) >= 3
        page.wait_for_function(
            "(box) => box.querySelectorAll('.choice[open]').length === 1", arg=box
        )
        page.wait_for_function(
            "(box) => [...box.querySelectorAll('[role=status]')].pop().innerText"
            ".includes('First guesses')",
            arg=box,
        )


def answer_the_questions(page: Page) -> None:
    """Answer every question and every task of a chapter, and check every order as it stands."""
    for box in page.query_selector_all(".admonition:is(.question, .task)"):
        if form := box.query_selector("form.prediction"):
            value, unit = form.evaluate("({ dataset }) => [dataset.value, dataset.unit]")
            tab_to(page, part_of(form, "input"))
            page.keyboard.insert_text(value)
            page.keyboard.press("Enter")
            said = part_of(form, "[role=status]").inner_text()
            assert said.startswith(f"Right. You said {value}; it is "), said
            assert said.endswith(f" {unit}." if unit else "."), said
        elif not choose(page, box):
            tab_to(page, part_of(box, ".fold-answer > summary"))
            page.keyboard.press("Enter")
        if fold := box.query_selector(".fold-answer > .reply"):
            assert fold.evaluate("(reply) => reply.checkVisibility()")
    for box in page.query_selector_all(".admonition.order"):
        tab_to(page, part_of(box, ".check-order"))
        page.keyboard.press("Enter")
        said = part_of(box, ".reply").inner_text()
        assert re.search(r"comes too early|does not belong\.", said), said


def part_of(place: ElementHandle, selector: str) -> ElementHandle:
    """Return the first part that matches; fail where there is none."""
    part = place.query_selector(selector)
    assert part is not None, selector
    return part


def page_exercises(chapter: str) -> list[NumberExercise | ChoiceExercise]:
    """Return the exercises of a chapter's stubs that are declared as data."""
    notebook = nbformat.read(BOOK / "chapters" / f"{chapter}.ipynb", as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    names = imported_names(cell.source for cell in cells)
    checks = [
        getattr(importlib.import_module(module), name)
        for cell in cells
        if "exercise" in tags_of(cell)
        for module, name in called_checks(cell.source, names)
    ]
    return [check for check in checks if isinstance(check, NumberExercise | ChoiceExercise)]


def assert_says(page: Page, place: ElementHandle, sentence: str) -> None:
    """Wait until a place says this, and fail with what it says instead."""
    says = "([place, sentence]) => place.innerText === sentence"
    try:
        page.wait_for_function(says, arg=[place, sentence])
    except TimeoutError:
        assert place.inner_text() == sentence
        raise


def answer_the_exercises(page: Page, chapter: str) -> None:
    """Give every foreseen answer to a chapter's exercises, two at least; read each reply."""
    forms, exercises = page.query_selector_all("form.page-answer"), page_exercises(chapter)
    assert len(exercises) >= 2
    for form, exercise in zip(forms, exercises, strict=True):
        title = form.evaluate("""(form) => document.evaluate(
          "preceding::div[contains(@class, 'exercise admonition')][1]/p[1]",
          form, null, XPathResult.STRING_TYPE).stringValue""")
        assert title.split()[1] == exercise.number
        reply = part_of(form, "[role=status]")
        said = sentences(exercise)
        tab_to(page, part_of(form, "input"))
        if "replies" in said:
            for number, sentence in enumerate(said["replies"].values()):
                page.keyboard.press("ArrowDown" if number else "Space")
                page.keyboard.press("Enter")
                assert_says(page, reply, sentence)
        else:
            typed = {exercise.right: said["solved"]} | dict(said["wrong"])
            for value, sentence in typed.items():
                page.keyboard.press("Control+A")
                page.keyboard.insert_text(repr(float(value)))
                page.keyboard.press("Enter")
                assert_says(page, reply, sentence)
        for sentence in said.get("replies", dict(said.get("wrong", []))).values():
            reason = re.sub(r"^\S+ Exercise [\d.]+(:| is solved\.) ", "", sentence)
            assert len(reason.split()) >= 5, f"{sentence!r} says too little"
