"""Pair table: its counts, its mathematics in the page against primer, its life in a browser."""

from __future__ import annotations

import numpy as np
import pytest
import traitlets
from hypothesis import given
from hypothesis import strategies as st
from thorough import COLUMNS, WIDTHS
from widget_page import settle

from primer import language_models as lm
from primer.datasets import split_plays
from primer.notebook.figures import png
from primer.widgets.pair_table import LETTERS, LONGEST, SIZE, PairTable, count_pairs, fold, pairs

FILE = "pair_table.js"


# --- what is counted


def test_the_stored_counts_are_those_of_the_plays():
    training, _ = split_plays()
    np.testing.assert_array_equal(count_pairs(training.values()), pairs())


def test_the_table_is_add_ones(javascript):
    texts = ["To be, or not to be", "that is the question"]
    model = lm.AddK.fit([fold(text) for text in texts], SIZE, order=2, k=1)
    counts = count_pairs(texts)
    expected = model.distributions(np.arange(SIZE))
    flat = [int(count) for count in counts.ravel()]
    found = [javascript(FILE, "chances", flat, first) for first in (0, 2, 20, 26)]
    np.testing.assert_allclose(found, expected[[0, 2, 20, 26]], rtol=1e-12)
    np.testing.assert_allclose(PairTable().chances().sum(axis=1), 1)


@given(st.text(max_size=40))
def test_texts_are_folded_alike(javascript, text):
    text = "".join(c for c in text if c.lower() == c or c.isascii())
    assert javascript(FILE, "fold", text) == fold(text)


@pytest.mark.parametrize("text", ["", "Our revels now are ended.", "  Qu'est-ce? ÄÖ zz", "xq jv"])
def test_a_text_costs_the_same_in_the_page(javascript, text):
    widget = PairTable(text=text)
    table = widget.chances().tolist()
    np.testing.assert_allclose(javascript(FILE, "bitsOf", table, fold(text)), widget.bits())
    for drawn in (0, 7, 10_000):
        widget.drawn = drawn
        found = javascript(FILE, "continued", table, text, LETTERS, 20, drawn)
        assert found == widget.continued(20)


def test_the_same_letters_backward_cost_more_than_three_times_as_much():
    the, eht = PairTable(text="the").bits().sum(), PairTable(text="eht").bits().sum()
    assert eht / the > 3


# --- words and state


def test_the_result_line_says_what_is_seen(javascript):
    rare = javascript(FILE, "describe", ["␣", "x"], 39, 845_867, 40 / 845_894, [14.4])
    assert "39 times of 845,867: under 0.01%, 14.4 bits" in rare
    said = javascript(FILE, "describe", ["␣", "t"], 1, 4, 0.25, [2.0, 1.0])
    assert said == (
        "After a space came “t” 1 time of 4: 25.0%, 2.0 bits. "
        "The 2 symbols of the text cost 3.0 bits, 1.50 each."
    )
    said = javascript(FILE, "describe", ["e", "␣"], 0, 4000, 0.00024, [])
    assert said.startswith("After “e” came a space 0 times of 4,000: 0.02%, 12.0 bits. There is no")


@pytest.mark.parametrize(
    ("state", "complaint"),
    [
        ({"first": 27}, "first"),
        ({"second": -1}, "second"),
        ({"drawn": -1}, "drawn"),
        ({"text": 5}, "text"),
        ({"counts": [1]}, "nobody sets"),
    ],
)
def test_values_of_another_kind_are_refused(state, complaint):
    with pytest.raises(traitlets.TraitError, match=complaint):
        PairTable(**state)


@pytest.mark.parametrize("text", ["", "ω", "To be " * 2000])
def test_every_text_has_a_still_picture(text):
    widget = PairTable(text=text)
    assert len(widget.shown()) <= LONGEST
    assert png(widget.picture()).startswith(b"\x89PNG")


# --- in a browser


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_pairs_are_chosen_and_texts_walk(widget_page, width):
    page = widget_page(PairTable(), width=width, has_touch=True)
    settle(page)
    result, field = page.locator(".result"), page.locator(".field")
    assert "After “v” came “e”" in result.inner_text()
    assert "The 24 symbols of the text cost 82.8 bits, 3.45 each." in result.inner_text()
    field.press("ArrowDown")
    field.press("ArrowRight")
    settle(page)
    assert page.evaluate("[model.get('first'), model.get('second')]") == [23, 6]
    box = field.bounding_box()
    assert box
    page.touchscreen.tap(box["x"] + box["width"] * 8.5 / 27, box["y"] + box["height"] * 20.5 / 27)
    settle(page)
    assert "After “t” came “h” 102,961 times of 301,499: 34.1%, 1.6 bits." in result.inner_text()
    page.locator("svg.after").press("ArrowLeft")
    settle(page)
    assert "After “t” came “g”" in result.inner_text()
    walk = page.locator("svg.walk")
    walk.press("ArrowRight")
    walk.press("ArrowRight")
    settle(page)
    assert page.evaluate("model.get('second')") == 19  # the s of revels
    page.get_by_role("textbox", name="Text").fill("eht")
    settle(page)
    assert "3 symbols of the text cost 20.2 bits" in result.inner_text()
    assert "After “h” came “t”" in result.inner_text()
    page.get_by_role("button", name="Draw twenty").tap()
    settle(page)
    assert page.evaluate("model.get('text')") == PairTable(text="eht").continued(20)
    for _ in range(2):
        page.get_by_role("button", name="Draw twenty").tap()
        settle(page)
    assert (
        "63 symbols of 27, the space and 26 letters; the first 48 are"
        in page.locator("p.note").inner_text()
    )
    page.get_by_role("button", name="Draw a letter").tap()
    settle(page)
    assert len(page.evaluate("model.get('text')")) == 2
    page.get_by_role("textbox", name="Text").fill("?!")
    settle(page)
    assert "There is no letter to walk with: type one." in result.inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


@pytest.mark.browser
@pytest.mark.parametrize("width", COLUMNS)
def test_what_is_said_of_a_pair_stands_below_the_map_that_is_pressed(widget_page, width):
    page = widget_page(PairTable(), width=width)
    field = page.locator(".field").bounding_box()
    said = page.locator(".result").bounding_box()
    assert 0 <= said["y"] - (field["y"] + field["height"]) < 60
    assert said["y"] + said["height"] - field["y"] < 600  # both are on a telephone's screen
