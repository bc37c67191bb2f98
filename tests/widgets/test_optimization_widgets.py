"""The step size and the norm ball: JavaScript against the library, and their life in a browser."""

from __future__ import annotations

import re

import numpy as np
import pytest
import traitlets
from hypothesis import given
from hypothesis import strategies as st
from widget_page import center, drag_by_finger, settle

from primer import optimization as opt
from primer.notebook.figures import png
from primer.widgets import NormBall, StepSize
from primer.widgets.norm_ball import KINDS
from primer.widgets.step_size import RULES

angles = st.floats(-180, 180)
lengths = st.floats(0.2, 1.6)
radii = st.floats(0.1, 1)


# --- the mathematics, against primer --------------------------------------------------------------


@given(st.sampled_from(RULES), st.floats(0.001, 3), st.floats(1, 100), st.floats(0, 0.99))
def test_the_path_is_the_librarys(javascript, rule, step, curvature, momentum):
    widget = StepSize(rule=rule, step=step, curvature=curvature, momentum=momentum)
    got, expected = (
        javascript("step_size.js", "walk", rule, step, curvature, momentum),
        widget.path(),
    )
    assert len(got) == len(expected)
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-6)
    limit = javascript("step_size.js", "stepLimit", rule, curvature, momentum)
    assert limit == pytest.approx(widget.limit())


@given(angles, lengths, radii, st.sampled_from(KINDS))
def test_the_best_step_is_the_librarys(javascript, angle, length, radius, kind):
    widget = NormBall(angle=angle, length=length, radius=radius)
    g = javascript("norm_ball.js", "gradientAt", angle, length)
    np.testing.assert_allclose(g, widget.gradient(), atol=1e-9)
    step = javascript("norm_ball.js", "bestStep", g, radius, kind)
    np.testing.assert_allclose(step, opt.steepest_step(g, radius, kind), atol=1e-6)
    dual = javascript("norm_ball.js", "dualNorm", g, kind)
    assert dual == pytest.approx(opt.dual_norm(g, kind), abs=1e-6)


@pytest.mark.parametrize("angle", [-180, -90, 0, 90, 180])
def test_along_an_axis_the_gradient_has_one_coordinate_alone(javascript, angle):
    g = javascript("norm_ball.js", "gradientAt", angle, 1.2)
    assert np.count_nonzero(g) == 1
    np.testing.assert_array_equal(g, NormBall(angle=angle, length=1.2).gradient())
    assert np.count_nonzero(javascript("norm_ball.js", "bestStep", g, 0.8, "linf")) == 1


@given(st.sampled_from(range(-180, 181, 15)), radii, st.sampled_from(KINDS))
def test_only_a_step_that_no_other_equals_is_called_the_best(javascript, angle, radius, kind):
    g = NormBall(angle=angle, length=1.0).gradient()
    turns = np.linspace(0, 2 * np.pi, 721)[:-1]
    rim = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    order = {"l1": 1, "l2": 2, "linf": np.inf}[kind]
    steps = radius * rim / np.linalg.norm(rim, order, axis=1)[:, None]
    falls = -steps @ g
    line = javascript("norm_ball.js", "describe", angle, 1.0, radius, kind)
    several = np.sum(falls > falls.max() - 1e-9) > 1
    assert ("one of many best steps is" in line) == several
    assert ("the best step is" in line) != several


def test_the_result_line_says_what_happens(javascript):
    def line(*state):
        return javascript("step_size.js", "describe", *state)

    assert line("gradient", 0.1, 10, 0.8).startswith("Below the limit: it converges")
    assert line("gradient", 0.2, 10, 0.8).startswith("At the limit")
    above = line("gradient", 0.25, 10, 0.8)
    assert above.startswith("Above the limit: it diverges")
    assert "exceeds a million" in above
    assert line("sign", 0.1, 10, 0.8).startswith("No step limit, and no rest")
    # from (-2, 1) steps of 1 lead both weights to 0, steps of 2 the first one
    both, first = line("sign", 1, 10, 0.8), line("sign", 2, 10, 0.8)
    assert "both weights exactly to 0" in both
    assert both.endswith("is 0.")
    assert "one weight exactly to 0" in first
    assert line("gradient", 1, 1, 0.5).endswith("is 0.")
    assert "the last 1.0 % of it" in line("adam", 0.18, 10, 0.8)

    assert "Here the error after 100 steps is" in line("sign", 0.1, 10, 0.8)
    assert line("gradient", 0.09, 10, 0.5).endswith("is 1.6·10⁻⁴.")  # 2 times 0.91 to the 100
    calm = line("adam", 0.01, 10, 0.8)
    assert calm.startswith("No fixed step limit")
    assert "The first step is η" in calm


def test_among_equal_coordinates_and_none_the_best_step_is_still_one(javascript):
    def step(g, kind):
        return javascript("norm_ball.js", "bestStep", g, 0.5, kind)

    assert step([-1, 1], "l1") == [0.5, 0]
    for kind in KINDS:
        assert step([0, 0], kind) == [0, 0]
    assert step([0, 2], "linf") == [0, -0.5]


def test_the_opening_state_is_one_where_momentum_helps():
    state = {name: getattr(StepSize(), name) for name in ("step", "curvature", "momentum")}
    plain, heavy = (StepSize(rule=rule, **state).path()[-1] for rule in ("gradient", "momentum"))
    assert np.linalg.norm(plain) > 0.3 > 2e-5 > np.linalg.norm(heavy)


# --- the Python side ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("widget", "state"),
    [
        (StepSize, {"step": 0.0}),
        (StepSize, {"step": float("nan")}),
        (StepSize, {"curvature": 101.0}),
        (StepSize, {"momentum": 1.0}),
        (StepSize, {"rule": "newton"}),
        (StepSize, {"rate": 1.0}),
        (NormBall, {"angle": 181.0}),
        (NormBall, {"radius": float("nan")}),
        (NormBall, {"norm": "l3"}),
    ],
)
def test_bad_state_is_refused(widget, state):
    with pytest.raises(traitlets.TraitError):
        widget(**state)


@pytest.mark.parametrize(
    "widget", [StepSize(), StepSize(step=3.0, curvature=100.0), StepSize(rule="adam"), NormBall()]
)
def test_there_is_a_picture(widget):
    widget.picture().draw_without_rendering()


@pytest.mark.parametrize("widget", [StepSize, NormBall])
def test_there_is_a_picture_in_pixels(widget):
    assert png(widget().picture()).startswith(b"\x89PNG")


# --- in a browser ---------------------------------------------------------------------------------


@pytest.mark.browser
def test_step_size_answers_to_the_keyboard(widget_page):
    page = widget_page(StepSize(), width=390)
    result = page.locator(".result")
    assert "converges" in result.inner_text()
    readings = []  # a task asks for 0.02, the limit: no step beside it may read like it
    for _ in range(12):
        page.get_by_label("Step size η").press("ArrowRight")
        settle(page)
        readings.append(page.get_by_label("Step size η").get_attribute("aria-valuetext"))
        if readings[-1] == "0.0200":
            assert "At the limit: it jumps forever. The limit is η = 0.0200" in result.inner_text()
    assert len(set(readings)) == 12
    assert "0.0200" in readings
    page.get_by_label("Step size η").press("End")
    settle(page)
    assert "diverges" in result.inner_text()
    rule = page.get_by_label("momentum", exact=True)
    assert not rule.is_checked()
    page.get_by_label("Momentum β").press("ArrowRight")
    page.get_by_label("Momentum β").press("ArrowLeft")
    settle(page)
    assert rule.is_checked()  # what is moved has an effect
    page.get_by_label("Step size η").press("Home")
    settle(page)
    assert "limit is η = 0.036" in result.inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.browser
def test_the_walk_plays_and_stops_by_itself(widget_page):
    page = widget_page(StepSize(), clock=True)
    length = "document.querySelector('.dots').getAttribute('d').split('M').length - 2"
    assert page.evaluate(length) == 100
    page.get_by_role("button", name="Walk").click()
    page.clock.run_for(2000)
    assert page.evaluate(length) == pytest.approx(30, abs=1)  # 15 steps a second
    page.clock.run_for(6000)
    page.get_by_role("button", name="Walk").wait_for()
    assert page.evaluate(length) == 100
    page.get_by_role("button", name="Walk").click()  # it begins anew
    page.clock.run_for(1000)
    assert page.evaluate(length) == pytest.approx(15, abs=1)
    page.get_by_role("button", name="Pause").click()
    page.clock.run_for(1000)
    assert page.evaluate(length) == pytest.approx(15, abs=1)
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


@pytest.mark.browser
def test_a_walk_that_diverges_ends_where_it_leaves_the_valley(widget_page):
    page = widget_page(StepSize(step=3.0, curvature=100.0), clock=True)
    length = "document.querySelector('.dots').getAttribute('d').split('M').length - 2"
    walked = len(StepSize(step=3.0, curvature=100.0).path()) - 1
    assert page.evaluate(length) == walked < 10
    assert f"exceeds a million after {walked} steps" in page.locator(".result").inner_text()
    page.evaluate("model.set('step', 0.001)")
    page.clock.run_for(100)
    page.get_by_role("button", name="Walk").click()
    page.clock.run_for(1000)
    assert page.evaluate(length) < 20
    page.get_by_role("button", name="Pause").click()
    page.get_by_label("Curvature").press("ArrowLeft")  # what is changed is shown to its end
    page.clock.run_for(100)
    assert page.evaluate(length) == 100


@pytest.mark.browser
@pytest.mark.parametrize("norm", KINDS)
def test_the_line_of_equal_drop_touches_the_ball(widget_page, norm):
    """All of the ball lies on one side of it, and it is at right angles to the gradient."""
    page = widget_page(NormBall(norm=norm, angle=30.0, length=1.2, radius=0.6))

    def points(name):
        drawn = page.locator(f"path.{name}").first.get_attribute("d")
        return np.reshape([float(part) for part in re.findall(r"[-\d.]+", drawn)], (-1, 2))

    axis = page.locator("path.axis").get_attribute("d")
    left, top, bottom, right = (float(part) for part in re.findall(r"[\d.]+", axis))
    unit = np.array([right - left, top - bottom]) / 3.4  # both axes go from −1.7 to 1.7
    assert unit[0] == pytest.approx(-unit[1], abs=0.5)  # a circle is round
    one, other = points("contact") / unit
    along = (other - one) / np.linalg.norm(other - one)
    direction = np.array([np.cos(np.pi / 6), np.sin(np.pi / 6)])
    assert along @ direction == pytest.approx(0, abs=1e-3)
    apart = (points("ball.chosen") / unit - one) @ direction
    assert apart.min() == pytest.approx(0, abs=2e-3)  # a polygon stands for the circle
    assert apart.max() > 0.5


@pytest.mark.browser
def test_the_gradient_turns_beyond_half_a_turn(widget_page):
    page = widget_page(NormBall(angle=180.0))
    grip = page.get_by_role("slider", name="Direction of the gradient")
    assert grip.get_attribute("aria-valuetext") == "180 degrees"
    grip.press("ArrowUp")
    settle(page)
    assert page.evaluate("model.get('angle')") == -179
    assert grip.get_attribute("aria-valuenow") == "-179"
    grip.press("PageDown")
    settle(page)
    assert page.evaluate("model.get('angle')") == 171


@pytest.mark.browser
def test_the_gradient_is_turned_by_mouse_keys_and_touch(widget_page):
    page = widget_page(NormBall(), width=390, has_touch=True)
    grip = page.get_by_role("slider", name="Direction of the gradient")
    grip.focus()
    grip.press("ArrowUp")
    settle(page)
    assert page.evaluate("model.get('angle')") == 36
    x, y = center(grip)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y + 130, steps=4)
    page.mouse.up()
    settle(page)
    turned = page.evaluate("model.get('angle')")
    assert turned < 0
    drag_by_finger(page, grip, [-60, -120])
    assert page.evaluate("model.get('angle')") > turned + 20
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
