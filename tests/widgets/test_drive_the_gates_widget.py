"""Gates to drive: JavaScript against the library, the state, its life in a page."""

from __future__ import annotations

import math

import numpy as np
import pytest
import traitlets
from hypothesis import given
from hypothesis import strategies as st
from thorough import COLUMNS
from widget_page import settle

from primer.notebook.figures import png
from primer.recurrent import carried_back, drive, half_life, plain_factors
from primer.widgets.drive_the_gates import COLORS, PRESETS, READ, STEPS, DriveTheGates, read

FILE = "drive_the_gates.js"
length = st.shared(st.integers(1, 12), key="length")
gates = length.flatmap(lambda n: st.lists(st.floats(0, 1), min_size=n, max_size=n))
signals = length.flatmap(lambda n: st.lists(st.floats(-1, 1), min_size=n, max_size=n))


@given(gates, gates, gates, signals)
def test_memory_and_output_are_the_librarys(javascript, forget, let_in, let_out, candidates):
    got = javascript(FILE, "drive", forget, let_in, let_out, candidates)
    want = drive(forget, let_in, let_out, candidates)
    np.testing.assert_allclose(got["memory"], want.memory, atol=1e-12)
    np.testing.assert_allclose(got["output"], want.output, atol=1e-12)


@given(st.floats(0, 2), signals)
def test_the_plain_units_factors_and_its_gradient_are_the_librarys(javascript, weight, inputs):
    factors = javascript(FILE, "plainFactors", weight, inputs)
    np.testing.assert_allclose(factors, plain_factors(weight, inputs), atol=1e-12)
    got = javascript(FILE, "carriedBack", factors)
    np.testing.assert_allclose(got, carried_back(factors), rtol=1e-12)


@given(st.floats(-2, 5))
def test_the_half_life_of_an_even_gate_is_the_librarys(javascript, bias):
    gate = [1 / (1 + math.exp(-bias))] * 400
    got = javascript(FILE, "halfAfter", gate, 1)
    assert got == pytest.approx(half_life(bias), rel=1e-9)


def test_a_gate_that_shuts_keeps_all_until_it_does(javascript):
    assert javascript(FILE, "halfAfter", [1, 1, 1, 0, 1], 1) == 2
    assert javascript(FILE, "halfAfter", [1, 1, 1, 0, 1], 3) == 0
    assert javascript(FILE, "halfAfter", [1, 1, 1, 0, 1], 4) is None


def test_the_result_line_says_what_is_left(javascript):
    even = [0.9] * STEPS
    plain = carried_back(plain_factors(1, read("pulse")))
    assert javascript(FILE, "describe", 8, even, plain) == (
        "Of what the memory holds at step 8, more than half is left for 6.6 steps. The gradient "
        "that comes back to it is f₉⋯f₅₀ = 0.012; to the plain unit comes 0.013."
    )
    shut = [0.0] * STEPS
    assert "nothing is left a step later" in javascript(FILE, "describe", 8, shut, plain)
    assert "is f₅₀ = 0;" in javascript(FILE, "describe", 49, shut, plain)
    assert "to the end" in javascript(FILE, "describe", 8, [1.0] * STEPS, plain)
    assert javascript(FILE, "describe", 50, even, plain).startswith("Step 50 is the last")
    once = [1.0] * STEPS
    once[24] = 0.0  # shut at step 25 alone: what was before is gone, and the line says so
    assert javascript(FILE, "describe", 25, once, plain).startswith(
        "Shut at step 25: of the memory before nothing is left, and no gradient comes back "
        "past it. To step 25 itself comes f₂₆⋯f₅₀ = 1; to the plain unit "
    )
    assert "f₂₅⋯f₅₀ = 0;" in javascript(FILE, "describe", 24, once, plain)


@pytest.mark.parametrize(
    ("state", "complaint"),
    [
        ({"forget": [0.5] * 49}, r"forget must hold 50 numbers, got shape \(49,\)"),
        ({"let_in": [0.5] * 49 + [1.5]}, "let_in must hold numbers from 0 to 1"),
        ({"let_out": [math.nan] * 50}, "let_out must hold numbers from 0 to 1"),
        ({"let_out": ["open"] * 50}, "let_out must hold numbers"),
        ({"read": "a book"}, "read"),
        ({"weight": 2.1}, "weight must be 0 to 2"),
        ({"at": 0}, "at must be 1 to 50"),
    ],
)
def test_values_out_of_range_are_refused(state, complaint):
    with pytest.raises(traitlets.TraitError, match=complaint):
        DriveTheGates(**state)


@pytest.mark.parametrize("name", PRESETS)
def test_the_still_picture_shows_gates_memory_and_gradients(name):
    widget = DriveTheGates(**PRESETS[name], read="taps")
    *lanes, held, back = widget.picture().axes
    for lane, gate in zip(lanes, COLORS, strict=True):
        heights = [bar.get_height() for bar in lane.patches]
        np.testing.assert_allclose(heights, getattr(widget, gate))
    np.testing.assert_allclose(held.lines[1].get_ydata(), widget.driven().memory)
    gradient = np.nan_to_num(back.lines[0].get_ydata())
    np.testing.assert_allclose(gradient, widget.memory_gradient())
    np.testing.assert_allclose(back.lines[1].get_ydata(), widget.plain_gradient())


def test_what_is_read_lies_between_minus_one_and_one():
    for name in READ:
        assert np.abs(read(name)).max() <= 1


def test_it_has_a_picture():
    assert png(DriveTheGates().picture()).startswith(b"\x89PNG")


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1280])
def test_gates_are_painted_by_mouse_and_keys(widget_page, width):
    page = widget_page(DriveTheGates(), width=width)
    result = page.locator(".result")
    assert "more than half is left to the end" in result.inner_text()
    lane = page.locator("svg.lane.forget")
    box = lane.bounding_box()
    assert box
    x = [box["x"] + 44 + (box["width"] - 52) * (step - 0.5) / STEPS for step in (20, 30)]
    page.mouse.move(x[0], box["y"] + box["height"] - 7)
    page.mouse.down()
    page.mouse.move(x[1], box["y"] + box["height"] - 2)  # in one leap
    page.mouse.up()
    settle(page)
    forget = page.evaluate("model.get('forget')")
    assert max(forget[19:30]) < 0.1
    assert forget[18] == forget[30] == 1
    assert page.evaluate("model.get('at')") == 30
    lane.press("ArrowLeft")
    lane.press("ArrowUp")
    settle(page)
    assert page.evaluate("model.get('at')") == 29
    assert page.evaluate("model.get('forget')[28]") == pytest.approx(forget[28] + 0.05, abs=0.011)
    for _ in range(3):
        lane.press("PageUp")
    settle(page)
    assert page.evaluate("model.get('forget')[28]") == 1
    dial = page.get_by_role("slider", name="All of f")
    dial.press("End")
    dial.press("ArrowLeft")
    settle(page)
    assert set(page.evaluate("model.get('forget')")) == {0.99}
    page.get_by_role("button", name="forget at once").click()
    page.get_by_role("slider", name="Look at step").press("Home")
    settle(page)
    assert "nothing is left a step later" in result.inner_text()
    page.locator("svg.held").click(position={"x": box["width"] - 12, "y": 60})
    settle(page)
    assert page.evaluate("model.get('at')") == 50
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


@pytest.mark.browser
def test_the_gradient_runs_back_and_ends(widget_page):
    page = widget_page(DriveTheGates(), width=800)
    button = page.get_by_role("button", name="Gradient, back")
    whole = page.locator("path.plain").get_attribute("d")
    button.click()
    shown = "whole => document.querySelector('path.plain').getAttribute('d') !== whole"
    page.wait_for_function(shown, arg=whole)
    page.get_by_role("button", name="Pause").wait_for(state="detached")
    settle(page)
    assert page.locator("path.plain").get_attribute("d") == whole


@pytest.mark.browser
@pytest.mark.parametrize("width", COLUMNS)
def test_the_gradient_runs_beside_the_button_that_starts_it(widget_page, width):
    page = widget_page(DriveTheGates(), width=width)
    button = page.get_by_role("button", name="Gradient, back from step 50").bounding_box()
    drawing = page.locator("svg.back").bounding_box()
    assert 0 <= drawing["y"] - (button["y"] + button["height"]) < 30
    whole = page.locator("#widget").bounding_box()
    assert button["y"] - whole["y"] < 700  # under the bar of a page of 800 px
