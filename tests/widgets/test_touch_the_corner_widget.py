"""Touch the corner: JavaScript against the library, its state, its life in a browser."""

from __future__ import annotations

import math

import numpy as np
import pytest
import traitlets
from hypothesis import given
from hypothesis import strategies as st
from thorough import WIDTHS
from widget_page import settle

from primer.notebook.figures import png
from primer.widgets.touch_the_corner import PENALTIES, TouchTheCorner

FILE = "touch_the_corner.js"
kinds = st.sampled_from(["ridge", "lasso"])
states = (kinds, st.floats(-2.5, 2.5), st.floats(-1.9, 1.9), st.floats(-0.9, 0.9))


@given(*states, st.floats(0.01, 3))
def test_the_weights_are_the_librarys(javascript, kind, first, second, tilt, penalty):
    widget = TouchTheCorner(kind=kind, minimum=[first, second], tilt=tilt, penalty=penalty)
    (found,) = javascript(FILE, "course", kind, widget.minimum, tilt, [penalty])
    np.testing.assert_allclose(found, widget.weights(), atol=1e-5)


@given(*states, st.floats(0, 3), st.integers(0, 1000))
def test_no_other_weights_cost_less(javascript, kind, first, second, tilt, penalty, seed):
    (found,) = javascript(FILE, "course", kind, [first, second], tilt, [penalty])

    def cost(w):
        gap = np.array(w) - [first, second]
        charge = np.abs(w).sum() if kind == "lasso" else np.square(w).sum() / 2
        return gap @ [[1, tilt], [tilt, 1]] @ gap / 2 + penalty * charge

    others = np.array(found) + np.random.default_rng(seed).normal(size=(50, 2)) * 0.1
    assert cost(found) <= min(map(cost, others)) + 1e-12


def test_the_result_line_says_which_weight_is_zero(javascript):
    state = {"kind": "lasso", "penalty": 1, "minimum": [1.9, 0.35]}
    assert javascript(FILE, "describe", state, [1.075, 0]) == (
        "Lasso, λ = 1.00: w = (1.07, 0.00); w₂ is exactly 0. Least squares: (1.90, 0.35)."
    )
    assert "both are exactly 0" in javascript(FILE, "describe", state, [0, 0])
    state["kind"] = "ridge"
    assert "Ridge, λ = 1.00: w = (0.93, 0.42); no" in javascript(
        FILE, "describe", state, [0.93, 0.42]
    )


@pytest.mark.parametrize(
    ("state", "complaint"),
    [
        ({"penalty": 3.1}, "penalty must be 0 to 3, got 3.1"),
        ({"tilt": math.nan}, "tilt must be"),
        ({"kind": "l3"}, "kind"),
        ({"minimum": [3, 0]}, "within ±2.5 and ±1.9, got"),
        ({"minimum": [1]}, "must be two numbers"),
        ({"minimum": [math.nan, 0]}, "must be two numbers"),
        ({"minimum": ["a", 0]}, "must be numbers"),
    ],
)
def test_values_out_of_range_are_refused(state, complaint):
    with pytest.raises(traitlets.TraitError, match=complaint):
        TouchTheCorner(**state)


def test_the_still_picture_shows_the_place_and_both_paths():
    widget = TouchTheCorner(penalty=0.8)
    plane, course = widget.picture().axes
    np.testing.assert_allclose(np.ravel(plane.lines[1].get_xydata()), widget.weights())
    for i in range(2):
        np.testing.assert_allclose(
            course.lines[i].get_ydata(), [widget.weights(one)[i] for one in PENALTIES]
        )


def test_it_has_a_picture():
    for state in ({"penalty": 0.0}, {"minimum": [0, 0]}, {"penalty": 3.0}):
        assert png(TouchTheCorner(**state).picture()).startswith(b"\x89PNG")


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_the_minimum_is_dragged_and_the_penalty_raised(widget_page, width):
    page = widget_page(TouchTheCorner(), width=width, has_touch=True)
    result = page.locator(".result")
    assert "no weight is 0" in result.inner_text()
    page.get_by_role("slider", name="λ").press("End")
    settle(page)
    assert "both are exactly 0" in result.inner_text()
    page.get_by_label("ridge").tap()
    settle(page)
    assert "Ridge, λ = 3.00" in result.inner_text()
    assert "no weight is 0" in result.inner_text()
    page.locator(".grip").press("ArrowUp")
    settle(page)
    assert page.evaluate("model.get('minimum')") == [1.9, 0.4]
    box = page.locator("svg.course").bounding_box()
    assert box
    page.mouse.click(box["x"] + 34 + (box["width"] - 46) / 2, box["y"] + 60)
    settle(page)
    assert page.evaluate("model.get('penalty')") == pytest.approx(1.5, abs=0.02)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0
