"""Each direction of a bowl: JavaScript against eigenvalues and the iteration, its use in a page."""

from __future__ import annotations

import math

import numpy as np
import pytest
import traitlets
from hypothesis import given
from hypothesis import strategies as st
from thorough import WIDTHS
from widget_page import center, drag_by_finger, settle

from primer import optimization as opt
from primer.notebook.figures import png
from primer.widgets.each_direction import AT_FIRST, LARGEST, LEVELS, STEPS, EachDirection

FILE = "each_direction.js"
curvatures, momenta = st.floats(1, 100), st.floats(0, 0.99)
pulls = st.floats(0.001, 4.5)  # the step size times the curvature
bowls = st.lists(curvatures, min_size=5, max_size=5)


@given(curvatures, pulls, momenta)
def test_the_factor_is_the_largest_eigenvalue(javascript, h, pull, momentum):
    found = javascript(FILE, "factorOf", h, pull / h, momentum)
    matrix = opt.momentum_matrix(h, pull / h, momentum)
    # near a double root, eigenvalues are known to half of the digits
    assert found == pytest.approx(abs(np.linalg.eigvals(matrix)).max(), abs=1e-6)


@given(curvatures, pulls, momenta)
def test_the_regime_is_told_by_the_roots(javascript, h, pull, momentum):
    roots = np.linalg.eigvals(opt.momentum_matrix(h, pull / h, momentum))
    found = javascript(FILE, "regimeOf", h, pull / h, momentum)
    ends = [(1 + sign * math.sqrt(momentum)) ** 2 for sign in (-1, 1)]
    if min(abs(pull - end) for end in ends) < 1e-6:
        return  # where they meet, rounding decides
    if abs(roots.imag).max() > 0:
        assert found == "swings"
    else:
        assert found == ("creeps" if roots.real.max() > 0 else "jumps")


@given(curvatures, st.floats(0.001, 4), momenta)
def test_the_errors_are_those_of_the_iteration(javascript, h, step, momentum):
    found = javascript(FILE, "errorsOf", h, step, momentum, STEPS, LARGEST)
    widget = EachDirection(step=step, momentum=momentum, curvatures=[h] * 5)
    np.testing.assert_allclose(found, widget.errors()[:, 0], rtol=1e-6, atol=1e-9)
    if step < opt.momentum_limit(h, momentum):
        walked = opt.descend(opt.Momentum(step, momentum), lambda w: h * w, [1.0], STEPS).ravel()
        np.testing.assert_allclose(found, walked, rtol=1e-6, atol=1e-9)


@given(bowls, momenta)
def test_the_limit_and_the_best_settings_are_the_librarys(javascript, bowl, momentum):
    widget = EachDirection(curvatures=bowl, momentum=momentum)
    limit = javascript(FILE, "limitOf", max(bowl), momentum)
    assert limit == pytest.approx(widget.limit())
    found = javascript(FILE, "bestOf", min(bowl), max(bowl))
    plain, heavy = widget.best()
    assert found["plain"] == pytest.approx(
        {"step": plain.step, "momentum": 0, "factor": plain.factor}, abs=1e-9
    )
    assert found["heavy"] == pytest.approx(heavy._asdict(), abs=1e-9)


@given(st.floats(0, 0.99), curvatures, curvatures)
def test_the_regions_are_the_librarys(javascript, factor, one, other):
    ends = sorted((one, other))
    found = javascript(FILE, "settingsOf", factor, *ends)
    np.testing.assert_allclose(
        np.reshape(found, (-1, 2)), opt.momentum_settings(factor, *ends), rtol=1e-9, atol=1e-12
    )


def test_the_result_line_says_which_direction_is_slow(javascript):
    state = {"step": 0.018, "momentum": 0.0, "time": 60, "curvatures": AT_FIRST}

    def line(**changes):
        return javascript(FILE, "describe", state | changes, 0.05)

    best = "Best: 0.980 at η = 0.0198 without momentum, 0.818 at η = 0.0331, β = 0.669 with it."
    assert line() == (
        f"Slowest: h = 1 (creeps), factor 0.982 a step; limit η = 0.0200. {best} "
        "Loss after 60 steps: 0.0500."
    )
    both = line(step=2 / 101, time=1)
    assert "Slowest: h = 1 (creeps) and 100 (jumps), factor 0.980" in both
    assert "after 1 step:" in both
    heavy = opt.best_momentum(1.0, 100.0)
    alike = line(step=heavy.step, momentum=heavy.momentum)
    assert "Slowest: 5 directions alike, factor 0.818" in alike
    assert line(step=0.02).startswith("Not below the limit η = 0.0200: h = 100 has the factor 1.00")
    assert line(step=4.0).startswith("Not below the limit η = 0.0200: h = 100 has the factor 399")
    assert javascript(FILE, "describe", state, 0).endswith("Loss after 60 steps: 0.")
    assert javascript(FILE, "describe", state, 999.7).endswith("Loss after 60 steps: 1.0·10³.")


@pytest.mark.parametrize(
    ("state", "complaint"),
    [
        ({"step": 5.0}, "step must be 0.001 to 4, got 5.0"),
        ({"step": math.nan}, "step must be"),
        ({"momentum": 1.0}, "momentum must be 0 to 0.99"),
        ({"time": 201}, "time must be 0 to 200"),
        ({"curvatures": [1.0]}, "curvatures must be 5 numbers from 1 to 100"),
        ({"curvatures": [0.5, 1, 1, 1, 1]}, "curvatures must be 5 numbers from 1 to 100"),
        ({"curvatures": [math.nan, 1, 1, 1, 1]}, "curvatures must be 5 numbers from 1 to 100"),
    ],
)
def test_values_out_of_range_are_refused(state, complaint):
    with pytest.raises(traitlets.TraitError, match=complaint):
        EachDirection(**state)


def test_the_still_picture_shows_factors_errors_and_the_loss():
    widget = EachDirection(step=0.03, momentum=0.6, time=40)
    rates, loss, left, plane = widget.picture().axes
    bars = rates.lines[-5:]
    np.testing.assert_allclose([bar.get_ydata()[1] for bar in bars], widget.factors())
    path = widget.errors()
    shown = [bar.get_ydata()[1] for bar in left.lines]
    np.testing.assert_allclose(shown, np.maximum(abs(path[40]), 1e-9))
    whole = next(line for line in loss.lines if line.get_label() == "loss")
    total = (AT_FIRST * path**2 / 2).sum(axis=1)
    np.testing.assert_allclose(whole.get_ydata(), np.maximum(total, 1e-15))
    drawn = [level for level in LEVELS if len(opt.momentum_settings(level, 1.0, 100.0))]
    assert len(plane.patches) == 1 + len(drawn)


def test_it_has_a_picture():
    wild = EachDirection(step=4.0, momentum=0.99, time=STEPS)
    assert png(wild.picture()).startswith(b"\x89PNG")


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_bars_and_dot_are_moved_by_keys(widget_page, width):
    page = widget_page(EachDirection(), width=width, has_touch=True)
    result = page.locator(".result")
    assert "h = 1 (creeps), factor 0.982" in result.inner_text()
    page.get_by_role("button", name="Tune η, β = 0").tap()
    settle(page)
    assert "h = 1 (creeps) and 100 (jumps), factor 0.980" in result.inner_text()
    page.get_by_role("button", name="Tune η and β").tap()
    settle(page)
    assert "5 directions alike, factor 0.818" in result.inner_text()
    steep = page.get_by_role("button", name="Direction 5")
    steep.press("ArrowRight")  # it stands at the end
    settle(page)
    assert page.evaluate("model.get('curvatures')") == AT_FIRST
    steep.press("ArrowLeft")
    settle(page)
    assert page.evaluate("model.get('curvatures')[4]") == pytest.approx(95.24)
    assert "limit η = 0.0351" in result.inner_text()
    dot = page.get_by_role("button", name="Step size 0.0331")
    dot.press("ArrowDown")
    settle(page)
    assert page.evaluate("model.get('momentum')") == pytest.approx(0.6594)
    for key, end in (("Home", 0.001), ("End", 4)):
        page.get_by_label("Step size η").press(key)
        settle(page)
        assert page.evaluate("model.get('step')") == end
    assert "Not below the limit" in result.inner_text()
    page.get_by_label("Steps taken").press("End")
    settle(page)
    assert "more than 10⁹" in result.inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


@pytest.mark.browser
def test_a_bar_and_the_dot_follow_the_pointer(widget_page):
    page = widget_page(EachDirection(), width=390, has_touch=True)
    dot, bar = page.locator(".plane .grip"), page.locator(".rates .grip").nth(4)
    dot.scroll_into_view_if_needed()
    drag_by_finger(page, dot, [-10.0, -40.0])
    assert page.evaluate("model.get('momentum')") == pytest.approx(0.27, abs=0.05)
    bar.scroll_into_view_if_needed()
    x, y = center(bar)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 60, y, steps=4)
    page.mouse.up()
    settle(page)
    assert 30 < page.evaluate("model.get('curvatures')[4]") < 60
    page.mouse.move(x - 60, y)
    page.mouse.down()
    page.mouse.move(0, y, steps=4)
    page.mouse.up()
    settle(page)
    assert page.evaluate("model.get('curvatures')[4]") == 1
    page.locator("svg.losses").scroll_into_view_if_needed()
    box = page.locator("svg.losses").bounding_box()
    assert box
    page.mouse.click(box["x"] + 46 + (box["width"] - 58) / 2, box["y"] + 60)
    settle(page)
    assert page.evaluate("model.get('time')") == pytest.approx(100, abs=2)


@pytest.mark.browser
def test_a_run_is_played_to_its_end(widget_page):
    page = widget_page(EachDirection(time=STEPS), clock=True)
    page.get_by_role("button", name="Run").click()
    page.clock.run_for(1000)
    assert 20 < page.evaluate("model.get('time')") < 60
    page.clock.run_for(6000)
    assert page.evaluate("model.get('time')") == STEPS


THREE_KEYS = """(mark) => {
  for (let i = 0; i < 3; i++)
    mark.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
}"""


@pytest.mark.browser
def test_three_keys_within_a_frame_move_a_mark_three_times(widget_page):
    page = widget_page(EachDirection())
    page.locator("svg.rates .grip").first.evaluate(THREE_KEYS)
    moved = page.evaluate("model.get('curvatures')")
    assert moved == pytest.approx([AT_FIRST[0] * 1.05**3, *AT_FIRST[1:]], rel=1e-3)
