"""The widgets of fine-tuning: their JavaScript against the library, their state, their life."""

from __future__ import annotations

import gzip
import math

import numpy as np
import pytest
import torch
import traitlets
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import entropy
from widget_page import complaints, settle

from primer import fine_tuning as ft
from primer.notebook.figures import png
from primer.widgets import SixteenNumbers
from primer.widgets.sixteen_numbers import BLOCKS, CODES, PLACE, WEIGHTS

SIXTEEN = "sixteen_numbers.js"
VALUES = SixteenNumbers.constants["codes"]
codes = st.sampled_from(list(CODES))
blocks = st.sampled_from([0, 4, 5, 16])


def draw_weights(seed, n=40):
    """Draw weights, among them zeros and a block of nothing else, and halves between numbers."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(0, 0.1, n)
    weights[rng.random(n) < 0.1] = 0
    weights[: 8 * rng.integers(2)] = 0
    return weights


# --- sixteen numbers ------------------------------------------------------------------------------


@given(seed=st.integers(0, 2**32 - 1), code=codes, block=blocks)
@settings(max_examples=60)
def test_rounding_is_the_librarys(javascript, seed, code, block):
    weights = draw_weights(seed)
    stored = ft.quantize(torch.from_numpy(weights), CODES[code], block or None)
    got = javascript(SIXTEEN, "quantize", weights, VALUES[code], block)
    assert got["codes"] == stored.codes().tolist()
    np.testing.assert_allclose(got["constants"], stored.scales(), atol=1e-12)
    np.testing.assert_allclose(got["restored"], stored.dequantize(torch.float64), atol=1e-12)


@pytest.mark.parametrize("code", CODES)
def test_halfway_between_two_numbers_the_upper_one_is_taken(javascript, code):
    values = np.array(VALUES[code])
    halves = (values[1:] + values[:-1]) / 2
    got = [javascript(SIXTEEN, "nearest", half, VALUES[code]) for half in halves]
    assert got == list(range(1, len(values)))
    assert got == CODES[code].nearest(torch.from_numpy(halves)).tolist()


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("outlier", [0.0, 25.0])
def test_the_page_and_python_say_the_same_of_the_books_weights(javascript, block, outlier):
    widget = SixteenNumbers(code="int4", block=block, outlier=outlier)
    plain = np.frombuffer(widget.weights, "<f4").astype(float)
    weights = javascript(SIXTEEN, "withOutlier", plain, outlier, PLACE)
    np.testing.assert_allclose(weights, widget.shown(), atol=1e-12)
    got = javascript(SIXTEEN, "quantize", weights, VALUES["int4"], block)
    found = widget.rounded()
    np.testing.assert_allclose(got["restored"], found.weights, atol=1e-9)
    used = javascript(SIXTEEN, "usage", got["codes"], VALUES["int4"])
    np.testing.assert_allclose(used, found.used, atol=1e-9)
    assert javascript(SIXTEEN, "entropy", used) == pytest.approx(entropy(found.used, base=2))
    left_out = PLACE if outlier else -1
    errors = javascript(SIXTEEN, "errors", weights, got["restored"], block, left_out)
    assert errors["error"] == pytest.approx(found.error, abs=1e-9)
    np.testing.assert_allclose(errors["each"], found.block_errors, atol=1e-9)
    bits = javascript(SIXTEEN, "bitsOf", VALUES["int4"], block, WEIGHTS)
    assert bits == pytest.approx(widget.bits())


def test_bits_are_what_the_library_stores():
    for block in (16, 64, 256):
        widget = SixteenNumbers(block=block)
        stored = ft.quantize(widget.shown().float(), CODES["NF4"], block)
        assert widget.bits() == stored.bits_per_weight


def test_what_the_chapter_says_of_the_weights_holds():
    plain, spoiled = SixteenNumbers(), SixteenNumbers(outlier=30.0)
    before, after = plain.rounded(), spoiled.rounded()
    changed = np.flatnonzero(abs(after.block_errors - before.block_errors) > 1e-9)
    assert changed.tolist() == [PLACE // 64]  # an outlier spoils its own block
    alone, spread = (SixteenNumbers(block=0, outlier=size).rounded() for size in (0.0, 30.0))
    assert spread.error > 3 * alone.error
    assert before.used.max() > 3 * before.used.min()
    tight = SixteenNumbers(block=16).rounded()
    assert entropy(tight.used, base=2) > entropy(before.used, base=2)


def test_the_result_line(javascript):
    used, state = [0.5, 0.0, 0.5], {"code": "int2", "block": 0, "outlier": 3.0}
    line = javascript(SIXTEEN, "describe", state, used, 0.25, 2.0)
    assert line == (
        "int2 in one block: 2 of 3 numbers are used, each by 50.0% to 50.0% of the weights: "
        "1.00 bits of entropy. The error of the other weights is 25.0% of their size; a weight "
        "costs 2.00 bits, constants included."
    )
    state |= {"block": 1024, "outlier": 0.0}
    line = javascript(SIXTEEN, "describe", state, used, 0.25, 2.0)
    assert line.startswith("int2 in blocks of 1,024:")
    assert "error of the weights" in line


def test_a_long_code_is_listed_by_its_most_used_numbers(javascript):
    values = [i / 20 for i in range(-20, 21)]
    used = [0.01 * (i % 7 + 1) for i in range(41)]
    listed = javascript(SIXTEEN, "rows", values, used)
    assert len(listed) == 16
    assert [share for _, share in listed].count("7.00%") == 5  # all of the most used
    assert len(javascript(SIXTEEN, "rows", [0, 1], [0.5, 0.5])) == 2


@pytest.mark.parametrize(
    "state",
    [
        {"code": "NF5"},
        {"block": 48},
        {"outlier": 41.0},
        {"outlier": math.nan},
        {"weights": b"few"},
        {"weights": bytes(4 * WEIGHTS)},
        {"weights": np.full(WEIGHTS, np.nan, "<f4").tobytes()},
    ],
)
def test_bad_numbers_are_refused(state):
    with pytest.raises(traitlets.TraitError):
        SixteenNumbers(**state)


@pytest.mark.parametrize("code", CODES)
def test_sixteen_numbers_have_a_picture(code):
    assert png(SixteenNumbers(code=code, outlier=20.0, block=0).picture()).startswith(b"\x89PNG")


# --- in a browser ---------------------------------------------------------------------------------


@pytest.mark.parametrize("widget", [SixteenNumbers])
def test_modules_are_light(widget):
    assert len(gzip.compress(widget()._esm.encode())) < 16 * 1024


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1400])
def test_an_outlier_takes_the_numbers_away(widget_page, width):
    page = widget_page(SixteenNumbers(), width=width)
    result = page.locator(".result")
    assert "16 of 16 numbers are used" in result.inner_text()
    page.get_by_role("combobox", name="Code").select_option("int4")
    page.get_by_label("Weights in a block").press("End")
    page.get_by_label("One outlier").press("End")
    settle(page)
    assert page.evaluate("model.get('block')") == 0
    assert "int4 in one block" in result.inner_text()
    assert "of 15 numbers are used" in result.inner_text()
    assert "other weights" in result.inner_text()
    page.get_by_text("The numbers in a table").click()
    assert page.get_by_role("row").count() == 16
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("widget", [SixteenNumbers])
def test_everybody_can_read_them(widget_page, widget, theme):
    page = widget_page(widget(), width=390, theme=theme)
    assert complaints(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
