"""Two in one: the loss of the page against the library and SciPy, its state, its life in a page."""

from __future__ import annotations

import math

import numpy as np
import pytest
import traitlets
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from thorough import WIDTHS
from widget_page import center, drag_by_finger, settle

from primer.inside import shared_loss, sharing_border
from primer.notebook.figures import png
from primer.widgets.two_in_one import BIAS, LEAST, REACH, TwoInOne

FILE, RULES = "two_in_one.js", "sharing.js"


def pairs(reach):
    """Draw two numbers as the page sets them, in thousandths."""
    return st.lists(st.floats(-reach, reach).map(lambda x: round(x, 3)), min_size=2, max_size=2)


weights, biases = pairs(REACH), pairs(BIAS)
chances, ratios = st.floats(0.02, 1), st.floats(0.1, 10)
SIGNS = {"opposite signs": "o", "the same sign": "s"}


@given(weights, biases, chances, ratios)
@example([1.0, 0.0], [0.0, 0.15], 0.3, 1.0)
@example([0.0, 0.0], [0.0, 0.0], 1.0, 10.0)
@example([1.0, -1.0], [0.0, 0.0], 0.3, 1.0)
@settings(max_examples=200)
def test_the_loss_is_the_librarys(javascript, w, b, p, ratio):
    found = javascript(RULES, "loss", w, b, p, ratio)
    assert found == pytest.approx(shared_loss(w, b, p, ratio), rel=1e-9, abs=1e-12)


@given(weights, biases, chances, ratios)
def test_the_four_cases_are_means_over_what_can_happen(javascript, w, b, p, ratio):
    often, errors = javascript(RULES, "chances", p), javascript(RULES, "cases", w, b, ratio)
    assert sum(often) == pytest.approx(1)
    assert np.dot(often, errors) == pytest.approx(shared_loss(w, b, p, ratio), abs=1e-12)
    middle = (np.arange(200) + 0.5) / 200
    for case, (first, second) in enumerate([(0, 0), (1, 0), (0, 1), (1, 1)]):
        x = np.stack(np.meshgrid(first * middle, second * middle), axis=-1).reshape(-1, 2)
        back = np.maximum(np.outer(x @ w, w) + b, 0)
        mean = ((x - back) ** 2 @ [1, ratio]).mean()
        assert errors[case] == pytest.approx(mean, abs=2e-4 * (1 + ratio))


@given(weights, chances, ratios)
@example([0.0, 0.0], 0.125, 1.0)  # below 0 all biases lose alike
@settings(max_examples=10)
def test_biases_are_the_best_for_their_weights(javascript, w, p, ratio):
    found = javascript(RULES, "withBestBiases", w, p, ratio)
    at = shared_loss(w, found["biases"], p, ratio)
    assert found["loss"] == pytest.approx(at, abs=1e-9)
    for bias in np.linspace(-BIAS, BIAS, 17):
        assert at <= shared_loss(w, [bias, found["biases"][1]], p, ratio) + 2e-5 * (1 + ratio)
        assert at <= shared_loss(w, [found["biases"][0], bias], p, ratio) + 2e-5 * (1 + ratio)
    widget = TwoInOne(weights=w, p=p, ratio=ratio)
    assert widget.loss() == pytest.approx(at, abs=2e-5 * (1 + ratio))


def free_best(p, ratio):
    """Let SciPy look for the best weights and biases from several starts."""

    def of(x):
        inside = np.clip(x, [-REACH, -REACH, -BIAS, -BIAS], [REACH, REACH, BIAS, BIAS])
        return shared_loss(inside[:2], inside[2:], p, ratio) + np.abs(x - inside).sum()

    starts = [(1, -1), (0.9, -0.4), (-0.4, 0.9), (1, 0), (0, 1), (0.9, 0.4)]
    options = {"xatol": 1e-4, "fatol": 1e-8, "maxiter": 400}
    return min(
        minimize(of, [*start, p / 4, p / 4], method="Nelder-Mead", options=options).fun
        for start in starts
    )


@pytest.mark.parametrize(
    ("p", "ratio"), [(0.1, 1.0), (0.3, 1.0), (4 / 7, 1.0), (0.8, 1.0), (0.6, 1.2), (0.3, 6.0)]
)
def test_no_other_weights_lose_less(javascript, p, ratio):
    assert javascript(RULES, "best", p, ratio)["loss"] == pytest.approx(
        free_best(p, ratio), abs=3e-6 * (1 + ratio)
    )


def test_published_numbers(javascript):
    """Those of the chapter's table: by Nelder-Mead on a grid of 200 x 200 midpoints."""
    for p, expected in ((0.1, 0.00332), (0.5, 0.07628), (0.7, 0.10811), (0.9, 0.09709)):
        assert javascript(RULES, "best", p, 1)["loss"] == pytest.approx(expected, abs=2e-5)


def test_the_stored_map_is_what_the_page_would_find(javascript):
    assert [len(row) for row in LEAST] == [25] * 11
    for k in (0, 1, 4, 7, 10):
        for column in (1, 4, 8, 12, 16, 20, 23):
            p, ratio = (column + 1) / 25, 10 ** (k / 10)
            found = javascript(RULES, "best", p, ratio)
            words = javascript(FILE, "arrangement", found["weights"])
            assert LEAST[k][column] == SIGNS.get(words, "a"), (p, ratio, found)


@given(ratios)
def test_the_border_is_the_librarys(javascript, ratio):
    assert javascript(FILE, "border", ratio) == pytest.approx(sharing_border(ratio))


def test_a_landscape_has_the_loss_of_each_of_its_weights(javascript):
    grid = javascript(RULES, "landscapeWith", [0.1, -0.2], 0.4, 2.0)
    grid = [grid[str(i)] for i in range(625)] if isinstance(grid, dict) else grid
    at = np.linspace(-REACH, REACH, 25)
    for row, column in ((0, 3), (7, 20), (24, 12)):
        expected = shared_loss([at[column], at[row]], [0.1, -0.2], 0.4, 2.0)
        assert grid[row * 25 + column] == pytest.approx(expected, abs=1e-6)


@given(weights, biases, chances, ratios, st.booleans())
@settings(max_examples=20)
def test_a_step_down_never_loses_more(javascript, w, b, p, ratio, free):
    state = {"weights": w, "biases": b, "p": p, "ratio": ratio, "best": free}
    if free:
        state["biases"] = javascript(RULES, "withBestBiases", w, p, ratio)["biases"]
    before = javascript(RULES, "loss", w, state["biases"], p, ratio)
    step = javascript(RULES, "fallen", state, 0.05)
    after = javascript(RULES, "loss", step["weights"], step["biases"], p, ratio)
    assert after <= before + 1e-6 * (1 + ratio)


@given(st.lists(st.floats(0.001, 0.5), min_size=1, max_size=6), st.booleans())
@settings(max_examples=20)
def test_what_falls_rests_however_long_its_frames_are(javascript, frames, free):
    """The page says that nothing falls from what it has written: both must mean one state."""
    state = {"weights": [0.8, -0.1], "biases": [0.118, 0.018], "p": 0.3, "ratio": 1, "best": free}
    for seconds in [*frames, *[sum(frames)] * 400]:
        found = javascript(FILE, "falling", state, seconds)
        state |= {name: found[name] for name in ("weights", "biases")}
        if found["rests"]:
            break
    assert javascript(FILE, "rests", state)
    assert state["weights"] == pytest.approx([1.01, -1.01], abs=0.01)


def test_the_result_line_names_the_arrangement_and_the_least(javascript):
    state = {"weights": [0.8, 0.6], "biases": [0, 0], "p": 0.3, "ratio": 1}
    least = {"weights": [1.01, -1.01], "loss": 0.02931}
    assert javascript(FILE, "describe", state, least, False) == (
        "The same sign, w = (0.80, 0.60): loss 0.0784. The least at p = 0.30, r = 1.00 is 0.0293, "
        "with opposite signs."
    )
    said = javascript(FILE, "describe", state | {"weights": [0, 1]}, least, True)
    assert said.startswith("The number for the second alone")
    assert said.endswith("The slope is 0 here: nothing falls.")
    assert javascript(FILE, "arrangement", [0.01, 0.0]) == "nothing is told"


@pytest.mark.parametrize(
    ("state", "complaint"),
    [
        ({"p": 0}, "p must be 0.02 to 1"),
        ({"p": math.nan}, "p must be"),
        ({"ratio": 11}, "ratio must be 0.1 to 10"),
        ({"weights": [1.0]}, "two numbers"),
        ({"weights": [1.0, 1.6]}, "from -1.5 to 1.5"),
        ({"weights": [1.0, math.nan]}, "two numbers"),
        ({"first_bias": 1.1}, "first_bias must be -1 to 1"),
    ],
)
def test_values_out_of_range_are_refused(state, complaint):
    with pytest.raises(traitlets.TraitError, match=complaint):
        TwoInOne(**state)


def test_the_still_picture_shows_what_comes_back_and_the_map(javascript):
    widget = TwoInOne(weights=[1.0, -1.0], best=False, p=0.5, ratio=2.0)
    back, chart = widget.picture().axes
    given_, found = widget.returned()
    for x, y in zip(given_, found, strict=True):
        np.testing.assert_allclose(javascript(FILE, "back", [1.0, -1.0], [0, 0], x.tolist()), y)
    assert back.get_title() == f"Loss {shared_loss([1, -1], [0, 0], 0.5, 2.0):.4f}"
    marks = {line.get_label(): line for line in chart.lines}
    assert {"opposite signs", "one alone", "the same sign"} <= set(marks)
    assert sum(len(line.get_xdata()) for line in chart.lines[:3]) == 25 * 21
    assert png(TwoInOne().picture()).startswith(b"\x89PNG")


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_weights_are_moved_by_keys_touch_and_mouse(widget_page, width):
    page = widget_page(TwoInOne(), width=width, has_touch=True)
    result = page.locator(".result")
    assert "The same sign, w = (0.80, 0.60): loss 0.0772" in result.inner_text()
    weights_grip, chance_grip = page.locator(".grip").all()
    weights_grip.press("ArrowRight")
    settle(page)
    assert page.evaluate("model.get('weights')") == pytest.approx([0.85, 0.6])
    weights_grip.scroll_into_view_if_needed()
    drag_by_finger(page, weights_grip, (40, 200, 900))
    settle(page)
    assert page.evaluate("model.get('weights')") == pytest.approx([0.85, -1.5], abs=0.02)
    page.get_by_role("button", name="Opposite signs").tap()
    settle(page)
    assert "Opposite signs, w = (1.00, −1.00): loss 0.0294" in result.inner_text()
    chance_grip.press("PageUp")
    chance_grip.press("ArrowRight")
    settle(page)
    p, ratio = page.evaluate("[model.get('p'), model.get('ratio')]")
    assert (p, ratio) == (0.32, pytest.approx(3.16))
    chance_grip.scroll_into_view_if_needed()
    x, y = center(chance_grip)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 900, y, steps=4)
    page.mouse.up()
    settle(page)
    assert page.evaluate("model.get('p')") == 1
    assert "with the number for the second alone" in result.inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


@pytest.mark.browser
def test_it_falls_into_the_valley_it_stands_in(widget_page):
    page = widget_page(TwoInOne())
    result, fall = page.locator(".result"), page.get_by_role("button", name="Let it fall")
    rests = "document.querySelector('.result').textContent.includes('nothing falls')"
    fall.click()
    page.wait_for_function(rests)
    assert page.evaluate("model.get('weights')") == pytest.approx([1.008, 0.409], abs=0.01)
    assert "loss 0.0754" in result.inner_text()
    page.evaluate("model.set('weights', [0.8, -0.1])")
    page.get_by_role("button", name="Let it fall").click()
    page.wait_for_function(rests)
    assert page.evaluate("model.get('weights')") == pytest.approx([1.01, -1.01], abs=0.01)
    page.get_by_label("Best biases").click()
    settle(page)
    found = page.evaluate("[model.get('first_bias'), model.get('second_bias')]")
    assert found == pytest.approx([0.018, 0.018], abs=0.002)
    page.get_by_role("slider", name="Bias b₁").press("PageUp")
    settle(page)
    assert "nothing falls" not in result.inner_text()
    page.get_by_role("button", name="Let it fall").click()
    page.wait_for_function(rests)
    assert page.evaluate("model.get('first_bias')") == pytest.approx(0.018, abs=0.002)


THREE_KEYS = """(mark) => {
  for (let i = 0; i < 3; i++)
    mark.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
}"""


@pytest.mark.browser
def test_three_keys_within_a_frame_move_a_mark_three_times(widget_page):
    page = widget_page(TwoInOne(weights=[0.2, 0.4]))
    page.locator("svg.panel .grip").first.evaluate(THREE_KEYS)
    assert page.evaluate("model.get('weights')") == pytest.approx([0.35, 0.4])
