"""The example book is built, and its cells run from disk with the network cut off."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

PATIENCE = 120_000
SUM, HALF = 3, 4


@pytest.fixture
def page(chromium: Browser, site: Path) -> Iterator[Page]:
    """Open the page from disk."""
    context = chromium.new_context(offline=True)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto((site / "index.html").as_uri())
    yield page
    context.close()


def test_the_last_cell_can_be_the_first_and_says_what_ran_before_it(page: Page) -> None:
    place = page.locator(f"#run-{SUM}")
    place.get_by_role("button", name="Run cell 3").click()
    status = place.get_by_role("status")
    expect(status).to_contain_text("It prints what the book prints.", timeout=PATIENCE)
    expect(status).to_contain_text("First ran, quietly: the setup, cell 1, cell 2.")
    place.get_by_role("button", name="Run cell 3").click()  # nothing need run again
    expect(status).not_to_contain_text("quietly", timeout=PATIENCE)
    expect(place.locator(".run-out")).to_contain_text("the sum is ")


def test_the_books_own_code_is_there(page: Page) -> None:
    place = page.locator(f"#run-{HALF}")
    place.get_by_role("button", name="Run").click()
    expect(place.locator(".run-out")).to_have_text(re.compile(r"^3\.5"), timeout=PATIENCE)


WHENCE = """import json, sys
from numpy.polynomial.polynomial import polyval
for one in (json.dumps, polyval):
    print(one.__code__.co_filename + "c" == sys.modules[one.__module__].__file__)
"""


def test_a_function_of_a_library_says_where_it_comes_from(page: Page) -> None:
    place = page.locator("#run-1")
    place.get_by_role("button", name="Change").click()
    field = place.locator(".cm-content, textarea").first
    field.fill(WHENCE)
    field.press("Shift+Enter")
    expect(place.locator(".run-out")).to_have_text(
        re.compile(r"^True\s+True\s*$"), timeout=PATIENCE
    )


CHANGED = r"""# four of them, 'halved'
def f1(x_2, share=.5e-1, name="it's"):
    return None if x_2 is not None and not 3 else x_2 * share  # "and"
class Four: pass
numbers = np.arange(4.0) if r'\d"' < '''for
in''' else np.eye(0x4)[2:, 1] @ 1"""
COLORS = """(box) => {
  const letters = [];
  const code = box.querySelector(".cm-content, pre");
  const walk = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const { color } = getComputedStyle(walk.currentNode.parentElement);
    for (const letter of walk.currentNode.data.replace(/\\s/g, "")) letters.push(letter + color);
  }
  return letters;
}"""
"""The letters of a listing, each with its color."""


def test_a_cell_is_changed_kept_and_brought_back(page: Page) -> None:
    place = page.locator("#run-1")
    place.get_by_role("button", name="Change").click()
    field = place.locator(".cm-content, textarea").first
    field.fill(CHANGED)
    field.press("Shift+Enter")
    expect(place.get_by_role("status")).to_contain_text("Your change.", timeout=PATIENCE)
    later = page.locator(f"#run-{SUM}")
    later.get_by_role("button", name="Run").click()
    expect(later.locator(".run-out")).to_have_text(re.compile(r"^the sum is 13\.000"))
    page.reload()
    changed = place.locator(".run-changed pre")
    expect(changed).to_have_text(CHANGED)
    assert place.locator("button").first.is_enabled()  # and no field was asked for
    colors = place.locator(".run-changed").evaluate(COLORS)
    place.get_by_role("button", name="Change").click()
    expect(place.locator(".cm-content")).to_be_visible()
    expect(changed).to_have_count(0)
    assert place.locator(".run-field").evaluate(COLORS) == colors  # those of the field
    place.get_by_role("button", name="Run").click()
    place.get_by_role("button", name="As printed: cell 1").click(timeout=PATIENCE)
    expect(place.locator(".run-field")).to_have_count(0)
    assert page.evaluate("localStorage.getItem('run-in-page')") == "{}"


def test_a_pack_that_was_cut_off_is_a_sentence(page: Page, site: Path) -> None:
    (pack,) = (site / "run").glob("numpy-*.js")
    whole = pack.read_text("ascii")
    try:
        pack.write_text(whole[: len(whole) // 2], "ascii")
        place = page.locator(f"#run-{SUM}")
        place.get_by_role("button", name="Run").click()
        expect(place.get_by_role("status")).to_contain_text("did not arrive whole")
        middle = len(whole) // 2
        pack.write_text(f"{whole[:middle]}AAAAAAAA{whole[middle + 8 :]}", "ascii")
        place.get_by_role("button", name="Run").click()
        expect(place.get_by_role("status")).to_contain_text("The file of numpy is damaged")
    finally:
        pack.write_text(whole, "ascii")


def test_nothing_stands_there_without_a_script_or_on_paper(
    chromium: Browser, site: Path, page: Page
) -> None:
    context = chromium.new_context(java_script_enabled=False)
    bare = context.new_page()
    bare.goto((site / "index.html").as_uri())
    assert bare.locator(".run-place button").count() == 0
    context.close()
    page.emulate_media(media="print")
    expect(page.locator("#run-1")).to_be_hidden()
