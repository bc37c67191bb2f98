"""The widgets of scaling: their JavaScript against the library, their state, their life."""

from __future__ import annotations

import math
import re
from itertools import pairwise

import numpy as np
import pytest
import traitlets
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from thorough import WIDTHS
from widget_page import settle

from primer import scaling
from primer.notebook.figures import png
from primer.widgets import Emergence, SpendCompute
from primer.widgets.emergence import SIZES
from primer.widgets.spend_compute import LAWS

SPEND, EMERGENCE = "spend_compute.js", "emergence.js"
CONSTANTS = SpendCompute.constants["laws"]
laws = st.sampled_from(list(LAWS))
budgets = st.floats(15, 26).map(lambda t: 10**t)
chances = st.floats(0.01, 1)


# --- spend your compute -----------------------------------------------------------------------


@given(law=laws, budget=budgets, size=st.floats(4, 13), use=st.sampled_from([0.0, 1e10, 1e13]))
def test_losses(javascript, law, budget, size, use):
    expected = float(LAWS[law].isoflop(budget, 10**size, use))
    if math.isinf(expected):  # nothing is left for training
        with pytest.raises(RuntimeError, match="Infinity"):
            javascript(SPEND, "isoflop", CONSTANTS[law], budget, 10**size, use)
    else:
        got = javascript(SPEND, "isoflop", CONSTANTS[law], budget, 10**size, use)
        assert got == pytest.approx(expected, rel=1e-9)


@given(law=laws, budget=budgets)
def test_the_bottom_and_its_sides(javascript, law, budget):
    best = javascript(SPEND, "optimum", CONSTANTS[law], budget, 0)
    assert best == pytest.approx(LAWS[law].optimum(budget).parameters, rel=1e-5)
    sides = javascript(SPEND, "band", CONSTANTS[law], budget, 0, best, 0.01)
    lowest = float(LAWS[law].isoflop(budget, best))
    np.testing.assert_allclose(LAWS[law].isoflop(budget, sides), lowest + 0.01, rtol=1e-6)
    assert sides[0] < best < sides[1]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("use", [1e11, 1e13])
def test_later_use(javascript, law, use):
    budget = 5.76e23
    best = javascript(SPEND, "optimum", CONSTANTS[law], budget, use)
    center = LAWS[law].optimum(budget).parameters
    found = minimize_scalar(
        lambda t: min(float(LAWS[law].isoflop(budget, math.exp(t), use)), 99.0),
        bounds=(math.log(center) - 5, math.log(min(center, budget / (2 * use))) + 0.5),
        method="bounded",
        options={"xatol": 1e-9},
    )
    assert best == pytest.approx(math.exp(found.x), rel=1e-4)


def test_each_part_of_the_slider_of_later_use_does_something(javascript):
    control = SpendCompute.inference.control
    ends = javascript("kit/bind.js", "ends", control)
    uses = [
        javascript(
            "kit/bind.js", "valueAt", control, ends["min"] + part * (ends["max"] - ends["min"])
        )
        for part in (0, 0.25, 0.5, 0.75, 1)
    ]
    assert uses[0] == 0
    assert uses[-1] == 1e14
    best = [javascript(SPEND, "optimum", CONSTANTS["printed"], 5.76e23, use) for use in uses]
    assert all(more < 0.99 * fewer for fewer, more in pairwise(best))


def test_what_is_said_of_a_budget(javascript):
    line = javascript(SPEND, "describe", CONSTANTS["printed"], 5.76e23, 280e9, 0)
    assert line.startswith("280 B parameters read 343 B tokens, 1.22 for each: loss 1.9")
    assert "92.6 tokens for each" in line
    line = javascript(SPEND, "describe", CONSTANTS["printed"], 1e20, 18_700_000, 0)
    assert "read 891 B tokens, 47,700 for each" in line
    line = javascript(SPEND, "describe", CONSTANTS["printed"], 1e20, 1e12, 1e14)
    assert "using them later costs more than the whole budget" in line


# --- emergence --------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", scaling.METRICS)
@settings(max_examples=15, deadline=None)
@given(p=chances, k=st.integers(1, 30))
def test_scores(javascript, metric, p, k):
    expected = float(scaling.score(metric, p, k))
    assert javascript(EMERGENCE, "score", metric, p, k) == pytest.approx(expected, rel=1e-9)


def test_chances(javascript):
    got = [javascript(EMERGENCE, "tokenProbability", size) for size in SIZES]
    np.testing.assert_allclose(got, scaling.token_probability(SIZES), rtol=1e-12)


@pytest.mark.parametrize("metric", ["exact match", "tokens right"])
def test_a_test_measures_what_it_should(javascript, metric):
    p, k, items = [0.3, 0.8, 0.95], 3, 20_000
    seen = np.array(javascript(EMERGENCE, "measured", metric, p, k, items, 1))
    expected = scaling.score(metric, p, k)
    assert (abs(seen - expected) < 5 * np.sqrt(expected * (1 - expected) / items)).all()
    exactly = javascript(EMERGENCE, "measured", metric, p, k, 0, 1)
    np.testing.assert_allclose(exactly, expected)


@pytest.mark.parametrize("metric", ["Brier score", "log likelihood"])
def test_what_reads_probabilities_draws_nothing(javascript, metric):
    seen = javascript(EMERGENCE, "measured", metric, [0.3, 0.8], 3, 10, 1)
    np.testing.assert_allclose(seen, scaling.score(metric, np.array([0.3, 0.8]), 3))


def test_what_is_said_of_a_test(javascript):
    sizes = [1e6, 1e8, 1e10]
    say = lambda *seen: javascript(EMERGENCE, "describe", "exact match", 10, seen, sizes)  # noqa: E731
    assert say(0, 0, 0) == "Not one answer of 10 tokens is right at any size."
    assert say(0, 0, 0.25).startswith("The 2 smallest models get none right")
    assert say(0, 0.1, 0.25).startswith("The smallest model gets none right")
    assert "10 B parameters" in say(0, 0, 0.25)
    assert say(0.1, 0.2, 0.25).startswith("Right answers come at 1 M")
    line = javascript(EMERGENCE, "describe", "tokens right", 10, [0.1, 0.2, 0.9], sizes)
    assert line.startswith("Tokens right go from 10.0% to 90.0%, a little with every step")
    line = javascript(EMERGENCE, "describe", "log likelihood", 10, [-9.876, -3, -0.123], sizes)
    assert line.startswith("Log likelihood goes from −9.88 to −0.12, a little with every step")
    assert say(0, 0, 0.254).endswith("and the largest gets 25%.")


@pytest.mark.parametrize("items", [20, 100, 1000, 10_000, 0])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_short_test_is_not_said_to_rise_with_every_step(javascript, items, seed):
    p = [javascript(EMERGENCE, "tokenProbability", size) for size in SIZES]
    seen = javascript(EMERGENCE, "measured", "tokens right", p, 10, items, seed)
    line = javascript(EMERGENCE, "describe", "tokens right", 10, seen, SIZES)
    still = sum(later <= earlier for earlier, later in pairwise(seen))
    assert ("a little with every step" in line) == (not still)
    assert f"without a rise at {still} step" in line or not still


def test_what_is_said_of_a_size(javascript):
    def say(budget, size, inference=0):
        return javascript(SPEND, "describe", CONSTANTS["refit"], budget, size, inference)

    assert say(1e21, 1e9).startswith("1 B parameters read 167 B tokens, 167 for each: loss 2.338.")
    assert say(1e26, 1e3).startswith("1 k parameters read 1.7·10²² tokens, 1.7·10¹⁹ for each")
    assert say(1e18, 1e10).startswith("10 B parameters read 16.7 M tokens, 1.7·10⁻³ for each")
    assert say(6e21, 1e11).startswith("100 B parameters read 10 B tokens, 0.100 for each")
    assert say(6e21, 1e8).startswith("100 M parameters read 10 T tokens, 1.0·10⁵ for each")
    assert say(1e21, 1e9, 1e12).startswith(
        "1 B parameters: using them later costs more than the whole budget. Lowest: "
    )
    line, best = say(1e21, 1e9), LAWS["refit"].optimum(1e21)
    found = re.search(r"Lowest: (.*) B parameters, (.*) tokens for each, loss (.*); within", line)
    assert [float(part) for part in found.groups()] == pytest.approx(
        [
            best.parameters / 1e9,
            best.tokens / best.parameters,
            float(LAWS["refit"].loss(*best[:2])),
        ],
        rel=5e-3,
    )


# --- the Python side --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "state"),
    [
        (SpendCompute, {"budget": 1e14}),
        (SpendCompute, {"budget": math.nan}),
        (SpendCompute, {"parameters": 0.0}),
        (SpendCompute, {"inference": -1.0}),
        (SpendCompute, {"law": "Moore"}),
        (SpendCompute, {"loss": 2.0}),
        (Emergence, {"k": 0}),
        (Emergence, {"k": 2.5}),
        (Emergence, {"items": 7}),
        (Emergence, {"metric": "accuracy"}),
        (Emergence, {"seed": 21}),
    ],
)
def test_bad_state_is_refused(kind, state):
    with pytest.raises(traitlets.TraitError):
        kind(**state)


@pytest.mark.parametrize("law", LAWS)
def test_spending_has_a_picture(law):
    SpendCompute(law=law, inference=1e12).picture().draw_without_rendering()


def test_spending_has_a_picture_in_pixels():
    assert png(SpendCompute().picture()).startswith(b"\x89PNG")


@pytest.mark.parametrize("metric", scaling.METRICS)
def test_emergence_has_a_picture(metric):
    Emergence(metric=metric, logarithmic=True).picture().draw_without_rendering()


def test_emergence_has_a_picture_in_pixels():
    assert png(Emergence().picture()).startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("number", "text"),
    [(280e9, "280 B"), (1e12, "1 T"), (32.18e9, "32.2 B"), (1500, "1.5 k"), (7, "7")],
)
def test_sizes_are_written_without_idle_zeros(javascript, number, text):
    assert javascript("large_numbers.js", "brief", number) == text


# --- in a browser -----------------------------------------------------------------------------


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_a_budget_is_spent_by_keys_and_mouse(widget_page, width):
    page = widget_page(SpendCompute(), width=width)
    result = page.locator(".result")
    assert "92.6 tokens for each" in result.inner_text()
    page.get_by_role("combobox", name="Law").select_option("refit")
    settle(page)
    assert "18.4 tokens for each" in result.inner_text()
    page.get_by_label("Parameters N").press("Home")
    settle(page)
    assert page.evaluate("model.get('parameters')") == 1e3
    plot = page.get_by_role("slider", name="Size of the model")
    plot.focus()
    plot.press("ArrowRight")
    settle(page)
    assert page.evaluate("model.get('parameters')") == pytest.approx(1.12e3)
    box = plot.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 80)
    settle(page)
    assert page.evaluate("model.get('parameters')") > 1e4
    page.get_by_label("Later use").press("End")
    settle(page)
    assert page.evaluate("model.get('inference')") == 1e14
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_the_jump_comes_and_goes(widget_page, width):
    page = widget_page(Emergence(), width=width)
    result = page.locator(".result")
    assert "smallest models get none right" in result.inner_text()
    page.get_by_label("Tokens k").press("Home")
    settle(page)
    assert "Right answers come at 1 M" in result.inner_text()
    page.get_by_label("Brier score", exact=True).check()
    settle(page)
    assert "nothing jumps" in result.inner_text()
    assert page.get_by_label("logarithmic axis").is_disabled()
    page.get_by_label("exact match", exact=True).check()
    page.get_by_label("logarithmic axis").check()
    page.get_by_label("Questions").press("End")
    settle(page)
    assert page.evaluate("model.get('items')") == 0
    height = page.locator("svg.scores").get_attribute("height")
    assert height == ("240" if width == 390 else "320")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.browser
@pytest.mark.parametrize("metric", scaling.METRICS)
def test_every_measure_may_open(widget_page, metric):
    page = widget_page(Emergence(metric=metric), width=390)
    assert page.locator("path.dot").get_attribute("d").count("M") == len(SIZES)
    assert page.locator(".scores text").count() > 8  # the numbers on both axes


@pytest.mark.browser
def test_a_finger_moves_the_size(widget_page):
    page = widget_page(SpendCompute(), width=390, has_touch=True)
    box = page.get_by_role("slider", name="Size of the model").bounding_box()
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + 90)
    settle(page)
    assert 3e9 < page.evaluate("model.get('parameters')") < 100e9


@pytest.mark.browser
@pytest.mark.parametrize("budget", [1e15, 1e19, 1e26])
def test_no_name_leaves_the_plot(widget_page, budget):
    page = widget_page(SpendCompute(budget=budget), width=390)
    edge = page.locator("svg.valley").bounding_box()
    for name in page.locator("svg .name").all():
        box = name.bounding_box()
        assert edge["x"] <= box["x"]
        assert box["x"] + box["width"] <= edge["x"] + edge["width"]


@pytest.mark.browser
def test_sizes_far_from_the_bottom_stay_in_the_drawing(widget_page):
    """A small model and a great one, and one whose use takes the whole budget."""
    page = widget_page(SpendCompute(budget=1e21))
    plot = page.get_by_role("slider", name="Size of the model")
    write = "([size, use]) => { model.set('parameters', size); model.set('inference', use) }"
    for size, use, beyond, numbers in (
        (1e3, 0, True, ["1 k", "100 k", "10 M", "1 B", "100 B"]),
        (1e13, 0, True, ["100 M", "1 B", "10 B", "100 B", "1 T", "10 T"]),
        (3e9, 1e14, True, None),
        (3e9, 0, False, ["100 M", "1 B", "10 B", "100 B"]),
    ):
        page.evaluate(write, [size, use])
        settle(page)
        axis = page.locator(".valley .axis").get_attribute("d")
        left, top, bottom, right = map(float, re.findall(r"[\d.]+", axis))
        now = page.locator("circle.now")
        x, y = (float(now.get_attribute(name)) for name in ("cx", "cy"))
        assert left < x < right
        assert top <= y < bottom
        assert (y == pytest.approx(top)) == beyond  # it waits at the edge
        written = page.locator(".valley .tick").all_text_contents()
        sizes = [text for text in written if text[-1] in "kMBT"]
        assert numbers in (None, sizes)
    assert plot.get_attribute("aria-valuetext") == "3 B parameters"
    assert float(plot.get_attribute("aria-valuenow")) == pytest.approx(math.log10(3e9))


@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("widget", [SpendCompute, Emergence])
def test_nothing_leaves_a_narrow_page(widget_page, widget, theme):
    page = widget_page(widget(), width=390, theme=theme)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
