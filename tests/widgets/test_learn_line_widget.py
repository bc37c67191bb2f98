"""One layer learns a line: its JavaScript against the library, its state, its life in a page."""

from __future__ import annotations

import math

import numpy as np
import pytest
import traitlets
from hypothesis import given
from hypothesis import strategies as st
from thorough import WIDTHS
from widget_page import settle

from primer import pretraining as pre
from primer.notebook.figures import png
from primer.widgets import LearnLine
from primer.widgets.learn_line import PLACES

MODULE = "learn_line.js"
numbers = st.floats(-3, 3).map(lambda v: round(v, 3))
points = st.lists(st.tuples(numbers, numbers).map(list), min_size=5, max_size=5)


@given(points=points, query=numbers, rate=st.floats(0, 2), layers=st.integers(1, 6))
def test_layers_are_those_of_the_library(javascript, points, query, rate, layers):
    x, y = np.transpose(points)
    expected = pre.attention_layers(x[:, None].tolist(), y.tolist(), [query], rate, layers)[-1]
    got = javascript(MODULE, "layersAnswer", points, query, rate, layers)
    assert got == pytest.approx(expected, rel=1e-6, abs=1e-6)
    step = pre.gradient_steps(x[:, None].tolist(), y.tolist(), [query], rate, layers)[-1]
    weight = javascript(MODULE, "weightAfter", points, rate, layers)
    assert weight * query == pytest.approx(step, rel=1e-6, abs=1e-6)


@given(points=points)
def test_the_softmax_is_a_mean(javascript, points):
    widget = LearnLine(points=points, attention="softmax")
    at = [0, 30, 60]
    got = [javascript(MODULE, "softmaxAnswer", points, PLACES[i]) for i in at]
    np.testing.assert_allclose(got, widget.answers()[at], rtol=1e-6, atol=1e-6)


def test_what_is_said(javascript):
    state = {
        "points": LearnLine().points,
        "query": 1.2,
        "rate": 0.3,
        "layers": 1,
        "attention": "linear",
        "best": 0.714,
    }
    line = javascript(MODULE, "describe", state)
    assert line.startswith("At x = 1.2 one layer says 0.52")
    assert "as does gradient descent after one step" in line
    assert "20 layers say" in javascript(MODULE, "describe", {**state, "layers": 20})
    beyond = javascript(MODULE, "describe", {**state, "layers": 20, "rate": 2})
    assert "a number beyond all points, as does gradient descent after 20 steps." in beyond
    assert "best single step on random lines is η = 0.71." in line
    assert "best" not in javascript(MODULE, "describe", {**state, "layers": 2})
    high = {**state, "points": [[1, 99.5], [1, 98]], "query": 1.0, "rate": 1.0}
    assert "one layer says 98.750," in javascript(MODULE, "describe", high)
    high["points"] = [[1, 99], [1, 99]]
    assert "one layer says 99.000," in javascript(MODULE, "describe", high)
    high["points"] = [[1, 100], [1, 99]]
    assert "a number beyond all points" in javascript(MODULE, "describe", high)
    assert "a mean of heights between −1.9 and 1.7" in javascript(
        MODULE, "describe", {**state, "attention": "softmax"}
    )


@pytest.mark.parametrize(
    "state",
    [
        {"rate": -0.1},
        {"rate": math.nan},
        {"layers": 0},
        {"layers": 21},
        {"attention": "hard"},
        {"query": 4.0},
        {"points": [[0.0, 0.0]]},
        {"points": [[0.0, 9.0]] * 5},
        {"points": [[0.0, math.nan]] * 5},
        {"points": [["a", 0.0]] * 5},
    ],
)
def test_bad_state_is_refused(state):
    with pytest.raises(traitlets.TraitError):
        LearnLine(**state)


@pytest.mark.parametrize("attention", ["linear", "softmax"])
def test_it_has_a_picture(attention):
    assert png(LearnLine(attention=attention).picture()).startswith(b"\x89PNG")


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_layers_rates_and_points(widget_page, width):
    page = widget_page(LearnLine(), width=width)
    result = page.locator(".result")
    assert "one layer says" in result.inner_text()
    page.get_by_label("Layers").press("End")
    settle(page)
    assert "20 layers say" in result.inner_text()
    page.get_by_role("button", name="Example 1").focus()
    page.keyboard.press("ArrowUp")
    settle(page)
    assert page.evaluate("model.get('points')[0][1]") == pytest.approx(-1.8)
    example = page.get_by_role("button", name="Example 1")
    assert example.get_attribute("aria-label") == "Example 1: x −1.6, y −1.8"
    for _ in range(2):
        example.press("PageDown")
    assert page.evaluate("model.get('points')[0]") == [-1.6, -3]  # no farther
    question = page.get_by_role("button", name="The question 1.2: ")
    assert question.get_attribute("aria-label")[-3:-2] == "."  # two decimals
    question.press("ArrowRight")
    assert page.evaluate("model.get('query')") == pytest.approx(1.3)
    if width == 390:
        assert page.locator("svg.plane").get_attribute("viewBox").endswith(" 250")
    page.get_by_label("softmax", exact=True).check()
    settle(page)
    assert "a mean of heights" in result.inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_leaves_a_narrow_page(widget_page, theme):
    page = widget_page(LearnLine(layers=20, rate=2.0), width=390, theme=theme)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    # beyond all points the curve goes on, three times as far as there is room
    top, height = (
        float(page.locator("svg.plane > svg").get_attribute(name)) for name in ("y", "height")
    )
    seen = "(e) => { const { y, height } = e.getBBox(); return [y, height]; }"
    curve = page.locator("svg.plane path.answers").evaluate(seen)
    assert curve == pytest.approx([top - height, 3 * height], rel=1e-4)
    # but what is said of the question stays in sight
    page.evaluate("model.set('query', 2.5)")
    settle(page)
    grip = page.get_by_role("button", name="The question 2.5: ")
    for mark in (page.locator("svg.plane circle.said"), grip):
        assert float(mark.get_attribute("cy")) == pytest.approx(top + height)
