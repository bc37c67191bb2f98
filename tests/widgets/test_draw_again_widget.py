"""Draw again: the page's samples and means against NumPy and the exact law, its life in a page."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
import scipy.stats
import traitlets
from hypothesis import given
from hypothesis import strategies as st
from thorough import WIDTHS
from widget_page import settle

from primer.notebook.figures import png
from primer.widgets.draw_again import BINS, FIRST, LONGEST, RATE, SIZES, STILL, DrawAgain

FILE = "draw_again.js"
SEEDS = st.integers(0, 2**32 - 1)
SETTINGS = {"sizes": SIZES, "rate": RATE, "bins": BINS, "longest": LONGEST}


@given(SEEDS, st.integers(1, 12))
def test_samples_means_and_bars_are_those_of_numpy(javascript, seed, count):
    found = javascript(FILE, "drawnFrom", seed, count, SETTINGS)
    widget = DrawAgain(seed=seed)
    np.testing.assert_allclose(found["sample"], widget.waits(count)[-1], rtol=1e-12)
    means = widget.means(count)
    assert found["count"] == count
    for i, (run, n) in enumerate(zip(found["runs"], SIZES, strict=True)):
        assert run["mean"] == pytest.approx(means[-1, i])
        bars = np.histogram(means[:, i], np.linspace(0, LONGEST, BINS + 1))[0]
        np.testing.assert_array_equal(run["bars"], bars)
        assert run["missed"] / count == pytest.approx(DrawAgain(seed=seed, n=n).miss(count))


def test_the_means_miss_as_far_as_the_gamma_law_says():
    means = DrawAgain(seed=5).means(2000)
    misses = abs(means - 1 / RATE)
    exact = 2 * scipy.stats.gamma.pdf(SIZES, SIZES) / RATE  # E|G − n| = 2n·f(n) for G of shape n
    errors = misses.std(axis=0) / math.sqrt(len(misses))
    assert (abs(misses.mean(axis=0) - exact) < 4.5 * errors).all()
    waits = DrawAgain(seed=5).waits(500).ravel()
    assert scipy.stats.kstest(waits, scipy.stats.expon(scale=1 / RATE).cdf).pvalue > 1e-4


def test_the_first_samples_show_what_the_question_asks():
    twelve, twice, fourfold = (DrawAgain(n=n).miss(STILL) for n in (12, 24, 48))
    assert twelve / twice == pytest.approx(1.4, abs=0.1)
    assert twelve / fourfold == pytest.approx(2, abs=0.15)
    means = DrawAgain().means(STILL)[:, SIZES.index(12)]
    assert min(abs(means[[0, -1]] - 1 / RATE)) > 0.1  # what stands there first is visibly off


def test_the_result_line_says_how_far_off(javascript):
    run = {"mean": 0.62, "missed": 7.0}
    assert javascript(FILE, "describe", 60, run, RATE) == (
        "Sample 60: mean 0.62 min, 0.12 off the truth. 60 means miss it by 0.117 min on average."
    )
    alone = javascript(FILE, "describe", 1, {"mean": 0.3, "missed": 0.2}, RATE)
    assert alone == "Sample 1: mean 0.30 min, 0.20 off the truth."
    many = javascript(FILE, "describe", 12_345, {"mean": 0.5, "missed": 1234.5}, RATE)
    assert many.startswith("Sample 12,345: mean 0.50 min, 0.00 off the truth. 12,345 means")


OFFERED = "any of .3, 6, 12, 24, 48, 96, 192., not the"


@pytest.mark.parametrize(
    ("state", "complaint"),
    [({"n": 13}, f"{OFFERED} int 13"), ({"n": math.nan}, OFFERED), ({"seed": -1}, "seed")],
)
def test_values_out_of_range_are_refused(state, complaint):
    with pytest.raises(traitlets.TraitError, match=complaint):
        DrawAgain(**state)


@pytest.mark.parametrize("n", SIZES)
def test_the_still_picture_shows_the_latest_sample_and_all_means(n):
    widget = DrawAgain(n=n)
    ticks, means = widget.picture().axes
    np.testing.assert_allclose(ticks.lines[0].get_xdata(), widget.waits(STILL)[-1, :n])
    found = widget.means(STILL)[:, SIZES.index(n)]
    assert ticks.lines[1].get_xdata() == pytest.approx(found[-1])
    bars = [patch.get_height() for patch in means.patches[1:]]
    np.testing.assert_array_equal(bars, np.histogram(found, np.linspace(0, LONGEST, BINS + 1))[0])
    assert png(widget.picture()).startswith(b"\x89PNG")


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_samples_are_drawn_and_noted_longer_by_keys(widget_page, width):
    page = widget_page(DrawAgain(), width=width, has_touch=True)
    result = page.locator(".result")
    first = result.inner_text()
    assert first.startswith(f"Sample {FIRST}: mean {DrawAgain().means(FIRST)[-1, 2]:.2f} min")
    page.get_by_role("button", name="Draw one").tap()
    settle(page)
    assert result.inner_text().startswith(f"Sample {FIRST + 1}: ")
    size = page.get_by_label("Waiting times n")
    size.press("ArrowRight")
    size.press("ArrowRight")
    settle(page)
    assert page.evaluate("model.get('n')") == 48
    missed = DrawAgain(n=48).miss(FIRST + 1)
    assert f"{FIRST + 1} means miss it by {missed:.3f} min" in result.inner_text()
    assert "48 waiting times" in page.locator(".heading").first.inner_text()
    for key, end in (("Home", 3), ("End", 192)):
        size.press(key)
        settle(page)
        assert page.evaluate("model.get('n')") == end
    page.get_by_role("button", name="Start again").tap()
    settle(page)
    assert result.inner_text().startswith("Sample 1: ")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


@pytest.mark.browser
def test_it_draws_until_it_is_told_to_stop(widget_page):
    page = widget_page(DrawAgain(), clock=True)
    page.get_by_role("button", name="Draw many").click()
    page.clock.run_for(2000)

    def count():
        said = re.match(r"Sample ([\d,]+)", page.locator(".result").inner_text())
        return int(said[1].replace(",", ""))

    assert count() > 1.5 * STILL
    page.get_by_role("button", name="Pause").click()
    page.clock.run_for(100)
    stopped = count()
    page.clock.run_for(1000)
    assert count() == stopped
    page.get_by_role("button", name="Draw many").click()
    page.clock.run_for(500)
    page.get_by_role("button", name="Start again").click()  # it draws no more by itself
    page.clock.run_for(1000)
    assert count() == 1
