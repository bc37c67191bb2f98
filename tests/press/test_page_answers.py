"""Exercises answered on the page: JavaScript replies what Python prints."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
import sample_exercises
from axe import violations_on
from by_keyboard import tab_to
from nbformat.v4 import new_code_cell, new_markdown_cell
from playwright.sync_api import Page, expect
from sample_exercises import check_count, check_order
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace
from tiny_book import NOTHING_KEPT, chapter_of

from press.pages.page_answers import called_checks, imported_names, sentences
from primer.notebook import Mistake, NumberExercise

Open = Callable[..., Page]

EXPECTED = "✗ Exercise 8.1: a whole number of pairs, between 0 and 100, is expected"


def printed(check: Any, answer: Any, capsys: pytest.CaptureFixture[str]) -> str:
    """Return what the reader sees in Jupyter."""
    try:
        check(answer)
    except Mistake as mistake:
        return f"✗ {mistake}"
    return capsys.readouterr().out.rstrip("\n")


def replies(page: Page, exercise: Any, answers: list[Any]) -> list[str]:
    """Ask the page's own function."""
    name = "replyToChoice" if "replies" in sentences(exercise) else "replyToNumber"
    script = f"([e, answers]) => answers.map((answer) => pageAnswers.{name}(e, answer))"
    return page.evaluate(script, [sentences(exercise), answers])


@pytest.mark.browser
def test_numbers_get_the_reply_that_python_prints(
    reading_page: Open, capsys: pytest.CaptureFixture[str]
) -> None:
    page = reading_page()
    rng = np.random.default_rng(0)
    for _ in range(8):
        low, width = rng.normal(0, 50), rng.uniform(1, 100)
        within = width * rng.choice([0, 0.004, 0.02])
        right, *wrong = low + width * (rng.permutation(10)[:4] + 0.5) / 10
        texts = {value: f"mistake {number}" for number, value in enumerate(map(float, wrong))}
        exercise = replace(
            check_count,
            right=float(right),
            within=float(within),
            low=float(low),
            high=float(low + width),
            wrong=texts,
        )
        named = [right, *wrong]
        answers = [
            *named,
            *(value + sign * within for value in named for sign in (-1, 1)),  # the very edges
            *(value + sign * within * 1.00001 for value in named for sign in (-1, 1)),
            *rng.uniform(low - width / 4, low + width * 1.25, 30),
            *(low, low + width, np.nextafter(low, -np.inf), np.nextafter(low + width, np.inf)),
        ]
        typed = [repr(float(value)) for value in answers]
        typed[::3] = [f" {text.replace('-', '−')} " for text in typed[::3]]
        expected = [printed(exercise, float(value), capsys) for value in answers]
        assert replies(page, exercise, typed) == expected
    assert len(set(expected)) == 6  # right, three mistakes, another number, out of range


@pytest.mark.browser
def test_choices_get_the_reply_that_python_prints(
    reading_page: Open, capsys: pytest.CaptureFixture[str]
) -> None:
    letters = ["a", "b", "", "c", "toString"]
    expected = [printed(check_order, letter, capsys) for letter in letters]
    assert replies(reading_page(), check_order, letters) == expected


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"right": 101}, "exercise 8.1: the answer 101 lies outside 0 … 100"),
        ({"wrong": {-1: "less than none"}}, "exercise 8.1: the answer -1 lies outside 0 … 100"),
        ({"low": 100}, "exercise 8.1: low 100 must be less than high 100"),
        ({"within": -1}, "exercise 8.1: within must be 0 or more, got -1"),
        ({"within": 3}, "exercise 8.1: within 3 the answers 7 and 12 are the same"),
        ({"wrong": {}}, "exercise 8.1: name at least one plausible wrong answer"),
        ({"expects": ""}, "exercise 8.1: every answer needs a sentence"),
    ],
)
def test_a_faulty_declaration_is_refused(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        replace(check_count, **change)


READINGS = {
    "12": 12,
    " +1.25e1 ": 12.5,
    "1 000": 1000,
    "10_000": 10000,
    "4,608": 4608,
    "1,115,400": 1115400,
    "10\u202f000\u202f000": 10000000,
    "1,115.5": 1115.5,
    "−.5": -0.5,
    "–0.841": -0.841,
    "3.": 3,
    "1/4": 0.25,
    "½": 0.5,
    "-1½": -1.5,
    "1 1/2": 1.5,
    "2^9": 512,
    "2**9": 512,
    "2⁹": 512,
    "2.5 × 10⁻³": 0.0025,
    "3⁄8": 0.375,
    "４，６０８": 4608,
    "2^-1": 0.5,
    "8*2145*65": 1115400,
    "8 × 2145 x 65": 1115400,
    "3+8/32+32/4096": 3.2578125,
    "-(1 + 2)*3": -9,
    "= 12": 12,
}
NO_NUMBERS = {
    "": "",
    "twelve": "",
    "Infinity": "",
    "0x10": "+ − * / ^ and brackets are understood",
    "12 34": "+ − * / ^ and brackets are understood",
    "--1": "+ − * / ^ and brackets are understood",
    "2..5": "+ − * / ^ and brackets are understood",
    "(3": "+ − * / ^ and brackets are understood",
    "1/0": "nothing is divided by 0",
    "0,5": "decimals follow a point, not a comma",
    "1,23,456": "decimals follow a point, not a comma",
    "12 apples": "leave out “apples”",
    "3 constructor": "leave out “constructor”",
    "(" * 101: "that is too long",
}
UNITS = [
    ("60 %", "a share", 0.6),
    ("1.70 %", "a percentage, to two decimals", 1.7),
    ("50 percent", "a share", 0.5),
    ("50 per cent", "a share", 0.5),
    ("60％", "a share", 0.6),
    ("-40 Hz", "a frequency in hertz", -40),
    ("2.5 kHz", "a frequency in hertz", 2500),
    ("201 tokens", "a whole number of tokens", 201),
    ("1 token", "a whole number of tokens", 1),
    ("44.7 days", "a number of days to one decimal", 44.7),
    ("9x", "a factor, to two decimals", 9),
    ("9-fold", "a factor, to two decimals", 9),
    ("9×", "a ratio of two probabilities", 9),
]


@pytest.mark.browser
def test_what_is_read_as_a_number(reading_page: Open) -> None:
    page = reading_page()
    for text, value in READINGS.items():
        assert page.evaluate("readNumber", text) == {"value": value}, text
    for text, problem in NO_NUMBERS.items():
        assert page.evaluate("readNumber", text) == {"problem": problem}, text
    for text, expects, value in UNITS:
        found = page.evaluate("(given) => readNumber(...given)", [text, expects])
        assert found == {"value": pytest.approx(value, rel=1e-15)}, text


@pytest.mark.browser
def test_expressions_have_the_values_that_python_gives_them(reading_page: Open) -> None:
    page = reading_page()
    rng = np.random.default_rng(0)

    def expression(depth: int) -> str:
        if depth == 0 or rng.random() < 0.2:
            return str(rng.choice(["2", "3", "10", "0.5", "1.25", "1e2", ".1"]))
        sign = rng.choice(["+", "-", "*", "/", " + ", " * "])
        inner = f"{expression(depth - 1)}{sign}{expression(depth - 1)}"
        power = f"{expression(0)}**{rng.choice(['2', '3', '-1'])}"
        return str(rng.choice([inner, f"({inner})", f"-({inner})*2", power]))

    texts = [text for text in (expression(4) for _ in range(400)) if len(text) <= 100]
    kept = [text for text in texts if not re.search(r"[+\-*/]\s*-", text.replace("**-", ""))]
    assert len(kept) > 100
    values = []
    for text in kept:
        try:
            values.append(float(eval(text)))
        except ZeroDivisionError:
            values.append(None)
    found = page.evaluate("(texts) => texts.map((text) => readNumber(text).value ?? null)", kept)
    assert found == [value if value is None else pytest.approx(value) for value in values]


@pytest.mark.browser
@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("", EXPECTED),
        ("a dozen", EXPECTED),
        ("101", EXPECTED),
        ("-1", EXPECTED),
        ("11,9", EXPECTED + "; decimals follow a point, not a comma"),
        ("12 apples", EXPECTED + "; leave out “apples”"),
        ("1,119", EXPECTED + "; a comma groups thousands, decimals follow a point"),
        ("12 pairs", "✓ Exercise 8.1 is solved. Four queries times three keys."),
    ],
)
def test_the_field_says_what_it_expects(reading_page: Open, text: str, reply: str) -> None:
    assert replies(reading_page(), check_count, [text]) == [reply]


@pytest.mark.browser
def test_points_that_group_thousands_are_told_apart_from_decimals(reading_page: Open) -> None:
    exercise = replace(check_count, right=58560, high=1e6, wrong={24: "twice"})
    expected = "✗ Exercise 8.1: a whole number of pairs, between 0 and 1,000,000, is expected; "
    for text in ("58.560", "58,560", "58 560"):
        said = expected + "a point begins decimals; write 58560"
        right = "✓ Exercise 8.1 is solved. Four queries times three keys."
        assert replies(reading_page(), exercise, [text]) == [said if "." in text else right]


@pytest.mark.browser
def test_a_comma_of_decimals_is_told_from_one_that_groups_thousands(reading_page: Open) -> None:
    exercise = replace(check_count, right=3.258, within=0.001, high=1e6, wrong={24: "twice"})
    (said,) = replies(reading_page(), exercise, ["3,258"])
    assert said.endswith(
        "is expected; a comma groups thousands, decimals follow a point; write 3.258"
    )


@pytest.mark.browser
def test_a_number_by_keyboard_alone(reading_page: Open, reading_home: str) -> None:
    page = reading_page(home=reading_home)
    field = page.get_by_label("Your answer: a whole number of pairs")
    form = page.locator("form.page-answer").first
    reply = form.get_by_role("status")
    tab_to(page, field)
    page.keyboard.type("24")
    page.keyboard.press("Enter")
    expect(reply).to_have_text("✗ Exercise 8.1: every pair was counted twice: 4·3 ordered pairs")
    page.keyboard.press("Control+A")
    page.keyboard.type("12")
    expect(reply).to_have_text("")  # the old reply is no reply to this
    page.keyboard.press("Tab")
    page.keyboard.press("Space")  # the button
    expect(reply).to_have_text("✓ Exercise 8.1 is solved. Four queries times three keys.")
    expect(form).to_have_attribute("data-state", "held")
    page.reload()
    assert field.input_value() == "12"
    assert reply.inner_text().startswith("✓")


AGAIN = "Once more, with other numbers"


def solve(page: Page, text: str) -> None:
    """Answer the exercise with a number."""
    page.get_by_label("Your answer: a whole number of pairs").fill(text)
    page.keyboard.press("Enter")


def asked_now(page: Page) -> NumberExercise:
    """Return the variant whose question stands in the form, as soon as one does."""
    question = page.locator(".page-answer .question").first
    variants = {one.question: one for one in check_count.variants}
    expect(question).to_have_text(re.compile("|".join(re.escape(text) for text in variants)))
    return variants[question.inner_text()]


@pytest.mark.browser
def test_a_second_try_has_other_numbers(reading_page: Open, reading_home: str) -> None:
    page = reading_page(home=reading_home, viewport={"width": 390, "height": 844})
    form = page.locator("form.page-answer").first
    reply = form.get_by_role("status")
    again = form.get_by_role("button", name=AGAIN)
    show = form.get_by_role("button", name="Show the answer")
    field = form.get_by_role("textbox")
    expect(again).to_be_hidden()
    solve(page, "11")
    expect(again).to_be_hidden()  # first this one
    solve(page, "12")
    expect(again).to_be_visible()
    expect(show).to_be_hidden()
    box = again.bounding_box()
    assert box is not None
    assert box["height"] >= 24
    tab_to(page, again)
    page.keyboard.press("Enter")
    expect(field).to_be_focused()
    expect(field).to_have_value("")
    expect(reply).to_have_text("")
    expect(again).to_be_hidden()
    second = asked_now(page)
    assert second.question != check_count.question
    assert field.evaluate(
        "(f) => document.getElementById(f.getAttribute('aria-describedby')).innerText"
    ) == (second.question)
    wrong, sentence = next(iter(second.wrong.items()))
    page.keyboard.type(f"{wrong:g}")
    page.keyboard.press("Enter")
    expect(reply).to_have_text(f"✗ Exercise 8.1: {sentence}")
    tab_to(page, show)
    page.keyboard.press("Space")
    expect(reply).to_have_text(f"The answer is {second.right}. {second.because}")
    expect(again).to_be_focused()
    page.keyboard.press("Enter")
    third = asked_now(page)
    assert third not in (second, check_count)
    solve(page, f"{third.right}")
    expect(reply).to_have_text(f"✓ Exercise 8.1 is solved. {third.because}")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert violations_on(page) == []
    page.reload()  # the numbers of the chapter again, and what was said to them
    expect(field).to_have_value("12")
    again.click()
    assert asked_now(page) not in (check_count, second, third)  # what was answered waits


@pytest.mark.browser
def test_of_an_exercise_it_is_kept_whether_the_first_answer_was_right(
    reading_page: Open, reading_home: str
) -> None:
    page = reading_page(home=reading_home)
    for text in ("11", "12", "13"):
        solve(page, text)
    page.get_by_label("(b) It <stays> & is the same.").check()
    page.get_by_role("button", name="Check").nth(1).click()
    kept = json.loads(page.evaluate("localStorage.getItem('runnable-primer:firsts')"))
    assert kept == {"8.1": 0, "8.2": 1}


@pytest.mark.browser
def test_the_solution_offers_other_numbers_too(reading_page: Open) -> None:
    page = reading_page()
    again = page.get_by_role("button", name=AGAIN)
    expect(again).to_be_hidden()
    page.locator("details.fold-solution > summary").first.click()
    expect(again).to_be_visible()
    page.get_by_label("Your answer: a whole number of pairs").fill("1")
    expect(again).to_be_visible()


@pytest.mark.browser
def test_all_variants_come_before_the_first_comes_again(reading_page: Open) -> None:
    page = reading_page()
    asked = [check_count]
    solve(page, "12")
    for _ in range(20):
        page.get_by_role("button", name=AGAIN).click()
        expect(page.locator(".page-answer .reply").first).to_have_text("")
        asked.append(asked_now(page))
        solve(page, f"{asked[-1].right}")
    assert {one.question for one in asked[:20]} == {one.question for one in check_count.variants}
    assert asked[20] == check_count


@pytest.mark.browser
def test_where_the_other_numbers_are_missing_it_is_said(reading_page: Open) -> None:
    page = reading_page()
    page.evaluate("window.besidePage = async () => ({})")
    solve(page, "12")
    page.get_by_role("button", name=AGAIN).click()
    expect(page.locator(".page-answer .reply").first).to_have_text(
        "The other numbers cannot be read: their file is missing."
    )


@pytest.mark.browser
def test_a_choice_by_keyboard_alone(reading_page: Open, reading_home: str) -> None:
    page = reading_page(home=reading_home)
    form = page.locator("form.page-answer").nth(1)
    reply = form.get_by_role("status")
    tab_to(page, form.get_by_role("button", name="Check"))
    page.keyboard.press("Enter")
    expect(reply).to_have_text("✗ Exercise 8.2: answer with one of the letters a, b")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Space")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(reply).to_have_text("✗ Exercise 8.2: halving needs n/2 tokens")
    page.keyboard.press("ArrowDown")
    expect(reply).to_have_text("")
    page.keyboard.press("Enter")
    expect(reply).to_have_text("✓ Exercise 8.2 is solved. Nothing in it depends on n.")
    page.reload()
    assert page.get_by_label("(b) It <stays> & is the same.").is_checked()


@pytest.mark.browser
def test_where_the_browser_keeps_nothing_the_field_replies(reading_page: Open) -> None:
    page = reading_page(NOTHING_KEPT)
    page.get_by_label("Your answer: a whole number of pairs").fill("12")
    page.get_by_role("button", name="Check").first.click()
    expect(page.locator(".page-answer .reply").first).to_contain_text("✓")


@pytest.mark.browser
def test_the_cell_waits_in_a_fold_and_is_all_there_is_without_a_script(reading_page: Open) -> None:
    for script in (True, False):
        page = reading_page(java_script_enabled=script)
        assert page.locator("form.page-answer").first.is_visible() == script
        folds = page.locator(".fold-exercise")
        assert folds.count() == 2  # the third exercise wants a function
        code = page.locator(".tag_exercise pre")
        assert [code.nth(number).is_visible() for number in range(3)] == [False, False, True]
        page.get_by_text("In Jupyter").first.click()
        expect(code.first).to_be_visible()


@pytest.mark.browser
def test_targets_are_large_and_axe_finds_nothing(reading_page: Open, reading_home: str) -> None:
    page = reading_page(home=reading_home)
    page.get_by_label("Your answer: a whole number of pairs").fill("7")
    for button in page.get_by_role("button", name="Check").all():
        button.click()
    for target in page.locator(
        ".page-answer button:not([hidden]), .page-answer input[type=text], "
        ".page-answer fieldset label, "
        ".fold-exercise summary"
    ).all():
        box = target.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 24
    assert violations_on(page) == []


def test_a_cell_names_the_checks_it_calls() -> None:
    names = imported_names(
        ["%matplotlib inline", "from primer.exercises import a as checks\nfrom primer.b import z"]
    )
    source = "from primer.exercises.c import x, y\nz(1)\ny(2)\nchecks.w(3)\n(lambda: 1)()"
    found = called_checks(source, names | imported_names([source]))
    assert found == [("primer.exercises.c", "y"), ("primer.exercises.a", "w")]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("check_lost", "the exercise's check: module 'primer.exercises.sample' has no attribute"),
        ("check_count(", "the exercise's check: "),
    ],
)
def test_a_check_that_cannot_be_had_is_a_warning_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, sentence: str
) -> None:
    monkeypatch.setitem(sys.modules, "primer.exercises.sample", sample_exercises)
    monkeypatch.setattr(sample_exercises, "__name__", "primer.exercises.sample")
    source = f"from primer.exercises.sample import {name}\n\n{name}(...)"
    stub = new_code_cell(source, id="stub", metadata={"tags": ["exercise"]})
    chapter = chapter_of([new_markdown_cell("# A page", id="title"), stub])
    nbformat.write(chapter, tmp_path / "index.ipynb")
    warnings = io.StringIO()
    options = {
        "extensions": ["myst_nb", "press.pages.folds", "press.pages.page_answers"],
        "nb_execution_mode": "off",
        # a suffix of our own: else myst_nb would write its into the default of all later builds
        "source_suffix": {".md": "myst-nb", ".ipynb": "myst-nb"},
    }
    with docutils_namespace():
        out = tmp_path / "out"
        app = Sphinx(tmp_path, None, out, out, "dummy", options, status=None, warning=warnings)
        app.build()
    assert sentence in warnings.getvalue()
    assert f"{tmp_path}/index.ipynb:" in warnings.getvalue()
