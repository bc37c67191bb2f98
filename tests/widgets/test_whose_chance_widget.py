"""Whose chance: JavaScript against the library and SciPy, its state, its life in a browser."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
import scipy.stats
import traitlets
from hypothesis import assume, given
from hypothesis import strategies as st
from thorough import WIDTHS
from widget_page import settle

from primer import evaluation
from primer.notebook.figures import png
from primer.widgets.whose_chance import GRID, METHODS, NAMES, WhoseChance

FILE = "whose_chance.js"
CONSTANTS = {"z": WhoseChance.constants["z"], "level": 0.95}
methods, sizes, shares = (
    st.sampled_from(sorted(METHODS)),
    st.integers(1, 200),
    st.floats(0.01, 0.99),
)


@given(methods, sizes, st.data())
def test_the_intervals_are_the_librarys(javascript, method, n, data):
    right = data.draw(st.integers(0, n))
    low, high = javascript(FILE, "all", method, n, CONSTANTS)[right]
    expected = METHODS[method](right, n)
    assert (low, high) == pytest.approx(expected, abs=1e-10)


@given(sizes, st.data())
def test_clopper_pearson_is_what_scipy_has(javascript, n, data):
    right = data.draw(st.integers(0, n))
    theirs = scipy.stats.binomtest(right, n).proportion_ci(method="exact")
    got = javascript(FILE, "all", "clopper_pearson", n, CONSTANTS)[right]
    assert got == pytest.approx([theirs.low, theirs.high], abs=1e-10)


@given(st.integers(1, 1060), st.floats(-30, -0.05), st.data())
def test_the_least_share_is_scipys_to_many_digits_however_small(javascript, n, power, data):
    right = data.draw(st.integers(1, n))
    theirs = scipy.stats.beta.ppf(10**power, right, n - right + 1)
    got = javascript("binomial.js", "lowest", right, n, 10**power)
    assert got == pytest.approx(theirs, rel=1e-8, abs=0)


@given(sizes, shares, st.data())
def test_chances_are_those_of_the_binomial_law(javascript, n, p, data):
    right = data.draw(st.integers(0, n))
    got = javascript("binomial.js", "chance", right, n, p)
    assert got == pytest.approx(scipy.stats.binom.pmf(right, n, p), rel=1e-9, abs=1e-300)


@given(methods, sizes, shares)
def test_the_coverage_is_the_librarys(javascript, method, n, p):
    ends = [end for k in range(n + 1) for end in METHODS[method](k, n)]
    assume(min(abs(end - p) for end in ends) > 1e-9)  # at an end the last digit decides
    got = javascript(FILE, "coverage", method, n, p, CONSTANTS)
    assert got == pytest.approx(evaluation.coverage(METHODS[method], n, [p])[0], abs=1e-9)


@pytest.mark.parametrize("n", [10, 37, 200])
def test_clopper_pearson_keeps_its_promise_on_the_page_too(javascript, n):
    for p in np.linspace(0.01, 0.99, 23):
        assert javascript(FILE, "coverage", "clopper_pearson", n, float(p), CONSTANTS) >= 0.95


def test_the_result_line_says_what_is_left(javascript):
    state = {"n": 10, "right": 9, "p": 0.9, "method": "wald", "often": 0.6497, "ends": [0.714, 1]}
    assert javascript(FILE, "describe", state, NAMES) == (
        "9 of 10 right: Wald leaves 0.714 to 1.000. "
        "If the true share is 0.90, such an interval holds it in 65.0% of all tests."
    )


@pytest.mark.parametrize(
    ("state", "complaint"),
    [
        ({"n": 9}, "n must be 10 to 200, got 9"),
        ({"wrong": 11}, "wrong must be 0 to 10, got 11"),
        ({"wrong": -1}, "wrong must be 0 to 10"),
        ({"p": 1.0}, "p must be 0.01 to 0.99, got 1.0"),
        ({"p": math.nan}, "p must be"),
        ({"method": "bayes"}, "clopper_pearson"),
    ],
)
def test_values_out_of_range_are_refused(state, complaint):
    with pytest.raises(traitlets.TraitError, match=complaint):
        WhoseChance(**state)


def test_the_still_picture_shows_the_intervals_the_law_and_the_coverage():
    widget = WhoseChance(n=20, wrong=2, p=0.8, method="wilson")
    intervals, law, curve = widget.picture().axes
    for line, ends in zip(intervals.lines, widget.intervals().values(), strict=False):
        np.testing.assert_allclose(line.get_xdata(), ends)
    heights = {round(b.get_x() + b.get_width() / 2, 9): b.get_height() for b in law.patches}
    expected = scipy.stats.binom.pmf(range(21), 20, 0.8)
    np.testing.assert_allclose([heights[k] for k in sorted(heights)], expected, atol=1e-12)
    held = [k / 20 for k in range(21) if widget_holds(k, 20, 0.8)]
    filled = law.containers[0]
    np.testing.assert_allclose([b.get_x() + b.get_width() / 2 for b in filled], held)
    x, y = curve.lines[0].get_data()
    assert len(x) == GRID - 1
    np.testing.assert_allclose(y, evaluation.coverage(evaluation.wilson, 20, x))


def widget_holds(right: int, n: int, p: float) -> bool:
    low, high = evaluation.wilson(right, n)
    return low <= p <= high


def test_it_has_a_picture():
    assert png(WhoseChance(n=30, wrong=0).picture()).startswith(b"\x89PNG")


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_the_share_is_moved_by_keys_touch_and_mouse(widget_page, width):
    page = widget_page(WhoseChance(), width=width, has_touch=True)
    result = page.locator(".result")
    assert "9 of 10 right: Wald leaves 0.714 to 1.000" in result.inner_text()
    assert "0.90, such an interval holds it in 65.0%" in result.inner_text()
    page.locator(".grip").press("ArrowLeft")
    settle(page)
    assert page.evaluate("model.get('p')") == 0.89
    page.get_by_label("Wilson").tap()
    settle(page)
    assert "Wilson leaves 0.596 to 0.982" in result.inner_text()
    page.get_by_role("slider", name="Wrong answers").press("Home")
    settle(page)
    assert "10 of 10 right: Wilson leaves 0.722 to 1.000" in result.inner_text()
    for panel in range(2):  # both upper drawings are taken hold of as a whole
        box = page.locator("svg.panel").nth(panel).bounding_box()
        assert box
        page.mouse.click(
            box["x"] + 104 + (0.34 + 0.2 * panel) / 1.08 * (box["width"] - 114), box["y"] + 60
        )
        settle(page)
        assert page.evaluate("model.get('p')") == pytest.approx(0.3 + 0.2 * panel, abs=0.011)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


@pytest.mark.browser
def test_the_filled_bars_are_those_whose_interval_holds_the_share(widget_page):
    widget = WhoseChance(n=20, p=0.8, method="wilson")
    page = widget_page(widget)
    kept, missed = (page.locator(f"path.{name}").get_attribute("d") for name in ("kept", "missed"))
    held = sum(low <= 0.8 <= high for low, high in (evaluation.wilson(k, 20) for k in range(21)))
    assert (len(re.findall("M", kept)), len(re.findall("M", missed))) == (held, 21 - held)
