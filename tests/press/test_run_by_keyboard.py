"""All that Run offers goes by keyboard and on a telephone, and axe-core finds nothing in it."""

from __future__ import annotations

import pytest
from axe import AT_A_DESK, ON_A_TELEPHONE, WIDTHS, violations_on
from by_keyboard import tab_to
from playwright.sync_api import Browser, Locator
from pressed import SITE, Pressed, ids_of, opened

SHORT, NUMBERS, FIGURE = "chapters/before-you-start", "vectors-angles", "vectors-figure"
"""A short page, and two of its cells: one prints, one draws."""
CHAPTER, STUB = "chapters/16-fourier", "stub-one-bin"
"""A chapter, and the cell of an exercise."""

pytestmark = pytest.mark.browser


@pytest.fixture(autouse=True)
def with_run() -> None:
    """Skip where the book was built without Run."""
    if not (SITE / "run" / "manifest.js").is_file():
        pytest.skip("NO CELL RAN IN A PAGE: the book was built without Run, and said why")


def button(page: Pressed, cell: str, name: str) -> Locator:
    """Return a button at a cell by what stands on it, once it can be pressed."""
    page.uncover(cell)
    found = page.page.locator(f"{page.place(cell)} .run-bar button", has_text=name)
    found.wait_for()
    return found


def press(page: Pressed, cell: str, name: str) -> None:
    """Go to a button with the Tab key, and press it with Enter."""
    tab_to(page.page, button(page, cell, name))
    page.page.keyboard.press("Enter")


def type_anew(page: Pressed, cell: str, code: str) -> None:
    """Open the field of a cell, and type other code in the place of what is there."""
    press(page, cell, "Change")
    page.page.wait_for_function("() => document.activeElement.matches('.cm-content')")
    page.page.keyboard.press("Control+A")
    page.page.keyboard.type(code)


def run_from_the_field(page: Pressed, cell: str) -> None:
    """Press Shift and Enter in the field of a cell."""
    page.page.evaluate("cell => { delete window.results[cell]; }", cell)
    page.page.keyboard.press("Shift+Enter")


def focused(page: Pressed) -> str:
    """Return the text of what has the focus."""
    return page.page.evaluate("() => document.activeElement.textContent")


def is_narrow(page: Pressed) -> bool:
    """Say whether nothing sticks out of the window."""
    return page.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


def test_all_of_it_goes_by_keyboard_and_can_be_read(chromium: Browser) -> None:
    ids = ids_of(SHORT)
    numbers, figure = (str(ids.index(name)) for name in (NUMBERS, FIGURE))
    options = {"viewport": WIDTHS["telephone"], "reduced_motion": "reduce"}
    with opened(chromium, SHORT, **options) as page:
        press(page, numbers, "Run")
        assert not page.answer(numbers)["error"]
        assert "prints what the book prints" in page.status(numbers)
        assert focused(page) == "Run"

        type_anew(page, numbers, "while True:\npass")
        run_from_the_field(page, numbers)
        button(page, numbers, "Stop")
        page.page.keyboard.press("Escape")
        page.page.keyboard.press("Tab")
        assert focused(page) == "Stop"
        page.page.keyboard.press("Enter")
        page.answer(numbers)
        assert page.status(numbers).startswith("Stopped.")
        assert focused(page) == "Run"

        press(page, numbers, "As printed")
        assert page.status(numbers) == "As it is printed."
        assert focused(page) == "Run"
        type_anew(page, numbers, "numbers = [1, 2,")
        run_from_the_field(page, numbers)
        assert "'[' was never closed" in page.answer(numbers)["error"]

        press(page, figure, "Run")
        assert not page.answer(figure)["error"]
        drawn = page.page.locator(f"{page.place(figure)} .run-out img")
        assert len(drawn.get_attribute("alt").split()) > 5
        stored = page.page.locator("picture:has(> img.figure)").first
        needed = stored.evaluate("(one) => parseFloat(one.style.getPropertyValue('--readable'))")
        room = drawn.bounding_box()["width"]
        assert room > 0.9 * needed, "its letters are smaller than those of the stored figure"
        assert is_narrow(page)
        assert violations_on(page.page, [*ON_A_TELEPHONE, *AT_A_DESK]) == []


@pytest.mark.thorough  # by mouse one is solved in `test_run_in_page.py`
def test_an_exercise_is_solved_by_keyboard(chromium: Browser) -> None:
    stub = str(ids_of(CHAPTER).index(STUB))
    with opened(chromium, CHAPTER) as page:
        code = page.known()["cells"][int(stub)]["source"]
        for answer, said in (("x.sum()", "✗ Exercise 16.4"), ("...", "waits for your answer")):
            if page.page.locator(f"{page.place(stub)} .run-printed").count():
                press(page, stub, "As printed")
            type_anew(page, stub, "")
            page.page.keyboard.insert_text(code.replace("...", answer, 1))
            run_from_the_field(page, stub)
            told = page.answer(stub)
            assert said in (told["error"] or told["printed"])


LETTERS = """(one) => {
  const { fontSize, lineHeight } = getComputedStyle(one);
  return [fontSize, lineHeight];
}"""


def test_what_is_written_anew_has_the_letters_of_its_listing(chromium: Browser) -> None:
    cell = str(ids_of(SHORT).index(NUMBERS))
    with opened(chromium, SHORT, viewport=WIDTHS["desk"]) as page:
        listed = page.page.locator(f".cell:has(> {page.place(cell)}) .cell_input pre")
        letters = listed.evaluate(LETTERS)
        assert not page.run(cell, "display(1)  # without an import, as in a notebook")["error"]
        for name in (".cm-line", ".run-out pre"):
            found = page.page.locator(f"{page.place(cell)} {name}").first
            assert found.evaluate(LETTERS) == letters, name


def test_a_finger_is_enough(chromium: Browser) -> None:
    cell = str(ids_of(SHORT).index(NUMBERS))
    options = {"viewport": WIDTHS["telephone"], "has_touch": True, "is_mobile": True}
    with opened(chromium, SHORT, **options) as page:
        button(page, cell, "Run").tap()
        assert not page.answer(cell)["error"]
        button(page, cell, "Change").tap()
        page.page.wait_for_function("() => document.activeElement.matches('.cm-content')")
        assert is_narrow(page)
