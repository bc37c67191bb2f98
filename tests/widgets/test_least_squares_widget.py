"""Least squares by hand: its JavaScript against the library, its state, its life in a browser."""

from __future__ import annotations

import numpy as np
import pytest
import traitlets
from hypothesis import given
from hypothesis import strategies as st
from widget_page import center, drag_by_finger, settle

from primer import regression as reg
from primer.notebook.figures import png
from primer.widgets import LeastSquaresByHand

MODULE = "least_squares.js"
seeds = st.integers(0, 2**32 - 1)
counts = st.integers(3, 40)
penalties = st.one_of(st.just(0.0), st.floats(1e-3, 999))


def cloud(seed, n):
    """Draw points."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-10, 20, n)
    return x, 3 + rng.normal() * x + rng.normal(0, 3, n)


# --- the mathematics, against primer --------------------------------------------------------------


@given(seeds, counts, penalties)
def test_fit_is_the_librarys(javascript, seed, n, penalty):
    x, y = cloud(seed, n)
    got = javascript(MODULE, "fitLine", x, y, penalty)
    # Ridge that leaves the intercept alone, by a general penalty matrix.
    gamma = np.diag([0.0, np.sqrt(penalty)])
    expected = reg.tikhonov(reg.add_intercept(x[:, None]), y, gamma)
    np.testing.assert_allclose([got["intercept"], got["slope"]], expected, atol=1e-6)
    widget = LeastSquaresByHand(np.column_stack([x, y]), penalty=penalty)
    np.testing.assert_allclose(widget.fit(), expected, atol=1e-6)
    if penalty == 0:
        np.testing.assert_allclose(widget.fit(), reg.simple_regression(x, y), atol=1e-6)


@given(seeds, counts, penalties)
def test_leverage_is_the_librarys(javascript, seed, n, penalty):
    x, y = cloud(seed, n)
    got = javascript(MODULE, "leverages", x, penalty)
    X = reg.add_intercept(x[:, None])
    hat = X @ reg.tikhonov(X, np.eye(n), np.diag([0.0, np.sqrt(penalty)]))
    np.testing.assert_allclose(got, np.diag(hat), atol=1e-6)
    if penalty == 0:
        np.testing.assert_allclose(got, reg.leverage(reg.ols(x[:, None], y)), atol=1e-6)


@given(seeds, counts, st.floats(-20, 20), st.floats(-3, 3))
def test_sums_of_squares_are_the_librarys(javascript, seed, n, intercept, slope):
    x, y = cloud(seed, n)
    got = javascript(MODULE, "assess", x, y, {"intercept": intercept, "slope": slope})
    fitted = intercept + slope * x
    sums = reg.sums_of_squares(y, fitted)
    np.testing.assert_allclose([got["rss"], got["ess"], got["tss"]], sums, rtol=1e-9, atol=1e-6)
    np.testing.assert_allclose(got["residuals"], y - fitted, atol=1e-6)
    assert got["r2"] == pytest.approx(reg.r_squared(y, fitted), abs=1e-6)


@given(seeds, counts, penalties, st.floats(0.1, 100), st.floats(0, 2 * np.pi))
def test_rings_have_equal_loss(javascript, seed, n, penalty, rise, angle):
    x, y = cloud(seed, n)
    a, b = javascript(MODULE, "halfAxes", x, penalty, rise)
    best = javascript(MODULE, "fitLine", x, y, penalty)

    def loss(height, slope):
        fitted = height + slope * (x - x.mean())
        return reg.sums_of_squares(y, fitted).residual + penalty * slope**2

    center = best["intercept"] + best["slope"] * x.mean()
    there = loss(center + a * np.cos(angle), best["slope"] + b * np.sin(angle))
    assert there - loss(center, best["slope"]) == pytest.approx(rise, abs=1e-6 * (1 + there))


def test_equal_x_have_a_slope_only_with_a_penalty(javascript):
    x, y = [0.1, 0.1, 0.1], [1.0, 2.0, 4.0]
    assert javascript(MODULE, "fitLine", x, y, 0) is None
    assert LeastSquaresByHand(np.column_stack([x, y])).fit() is None
    assert javascript(MODULE, "fitLine", x, y, 1)["slope"] == pytest.approx(0)
    assert LeastSquaresByHand(np.column_stack([x, y]), penalty=1.0).fit().slope == pytest.approx(0)
    np.testing.assert_allclose(javascript(MODULE, "leverages", x, 0), 1 / 3)


def test_equal_y_have_no_r_squared(javascript):
    got = javascript(MODULE, "assess", [0, 1, 2], [0.1] * 3, {"intercept": 0.1, "slope": 0})
    assert (got["r2"], got["tss"]) == (None, 0)


def test_the_result_line_compares_the_two_lines(javascript):
    state = {
        "fit": {"intercept": 1.0, "slope": 0.5},
        "free": {"intercept": 0.5, "slope": 1.0},
        "assessed": {"fit": {"rss": 2.0, "residuals": [0.25, -1.5]}, "own": {"rss": 5.0}},
        "shown": {"fit": True, "own": True},
        "points": [[1, 2], [3, 4]],
        "leverage": [0.6, 0.4321],
    }

    def line(**more):
        return javascript(MODULE, "describe", {**state, "penalty": 0, "chosen": None, **more})

    found = "Least squares: ŷ = 1.00 + 0.500 x, RSS 2.00."
    assert line() == f"{found} Your line: RSS 5.00, 2.50 times the least."
    assert line(shown={"fit": True, "own": False}) == found
    assert line(chosen=1, shown={"fit": True, "own": False}) == (
        f"{found} Point 2 (3.00, 4.00): residual −1.50, leverage 0.432."
    )
    assert line(penalty=3) == (
        "Ridge: ŷ = 1.00 + 0.500 x, RSS 2.00. The slope is 50% of that without penalty. "
        "Your line: RSS 5.00."
    )
    assert line(shown={"fit": False, "own": True}, chosen=1) == "Your line: RSS 5.00."
    falling = {"intercept": 1.0, "slope": -0.5}
    assert "ŷ = 1.00 − 0.500 x" in line(fit=falling)
    through = {**state["assessed"], "fit": {"rss": 0, "residuals": [0, 0]}}
    assert line(assessed=through).endswith("Your line: RSS 5.00.")  # no multiple of nothing
    assert line(fit=None).startswith("All x are equal: every slope fits equally well.")


# --- the Python side ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "complaint"),
    [
        ({"points": []}, "2 to 40 pairs"),
        ({"points": [[1, 2]]}, "2 to 40 pairs"),
        ({"points": np.zeros((41, 2))}, "2 to 40 pairs"),
        ({"points": [[1, 2], [3, np.nan]]}, "must be finite"),
        ({"points": [[1, 2], ["a", 3]]}, "pairs of numbers"),
        ({"penalty": -1.0}, "penalty must be 0 to 999, got -1.0"),
        ({"penalty": float("nan")}, "penalty must be"),
        ({"slope": float("inf")}, "slope must be finite"),
        ({"data": "clouds"}, "data must be one of .*Anscombe IV.* got 'clouds'"),
        ({"squares": "all"}, "all"),
        ({"lambda_": 1}, "LeastSquaresByHand has no lambda_"),
    ],
)
def test_bad_state_is_refused(state, complaint):
    with pytest.raises(traitlets.TraitError, match=complaint):
        LeastSquaresByHand(**state)


def test_own_points_come_first_and_examples_can_be_chosen():
    widget = LeastSquaresByHand([[0, 1], [1, 3], [2, 2]])
    assert widget.data == "your points"
    widget.data = "Anscombe IV"
    assert len(widget.points) == 11
    assert widget.fit() == pytest.approx((3.0, 0.5), abs=0.01)
    with pytest.raises(traitlets.TraitError, match="must be one of"):
        widget.data = "none such"
    frame = x0, x1, y0, y1 = tuple(widget.frame)
    widget.points = [[x0, y0], [x1, y1]]  # on the edge is inside
    assert tuple(widget.frame) == frame
    widget.points = [[x0, y0], [x1, y1 + 1]]  # outside in one direction alone
    assert widget.frame[3] > y1
    widget.points = [[100, 100], [200, 300]]
    assert widget.frame[1] > 200


@pytest.mark.parametrize("penalty", [0.0, 50.0])
@pytest.mark.parametrize("name", ["a noisy line", "Anscombe IV"])
def test_there_is_a_picture(name, penalty):
    picture = LeastSquaresByHand(data=name, penalty=penalty, squares="own").picture()
    picture.draw_without_rendering()


def test_there_is_a_picture_without_a_fit_in_pixels():
    assert png(LeastSquaresByHand([[1, 2], [1, 3]]).picture()).startswith(b"\x89PNG")


# --- in a browser ---------------------------------------------------------------------------------


def points(page):
    """Return the points as the browser holds them."""
    settle(page)
    return np.array(page.evaluate("model.get('points')"))


@pytest.mark.browser
def test_a_point_is_dragged_by_mouse_and_the_fit_follows(widget_page):
    page = widget_page(LeastSquaresByHand())
    before = points(page)
    x, y = center(page.get_by_role("button", name="Point 10,"))
    page.mouse.move(x + 3, y + 3)  # not quite in its middle: the point must not leap
    page.mouse.down()
    np.testing.assert_allclose(points(page), before, atol=1e-9)
    page.mouse.move(x + 3, y + 83, steps=5)
    page.mouse.up()
    after = points(page)
    np.testing.assert_allclose(after[:9], before[:9])
    np.testing.assert_allclose(after[9, 0], before[9, 0], atol=0.05)
    assert after[9, 1] < before[9, 1] - 1
    line = reg.simple_regression(*after.T)
    text = page.locator(".result").inner_text()
    assert f"Least squares: ŷ = {line.intercept:.2f} + {line.slope:.3f} x" in text
    assert "Point 10 (" in text
    assert "leverage" in text


@pytest.mark.browser
def test_points_lines_and_controls_answer_to_the_keyboard(widget_page):
    page = widget_page(LeastSquaresByHand())
    before = points(page)
    mark = page.get_by_role("button", name="Point 1,")
    mark.focus()
    settle(page)
    assert "Point 1 (" in page.locator(".result").inner_text()
    mark.press("ArrowUp")
    mark.press("PageUp")
    mark.press("ArrowRight")
    x0, x1, y0, y1 = page.evaluate("model.get('frame')")
    step = points(page)[0] - before[0]
    np.testing.assert_allclose(step, [(x1 - x0) / 100, 11 * (y1 - y0) / 100], atol=1e-9)
    mark.press("Delete")
    assert len(points(page)) == 9
    page.get_by_role("button", name="Add a point").press("Enter")
    assert len(points(page)) == 10
    page.get_by_role("button", name="Remove it").press("Enter")
    assert len(points(page)) == 9
    page.get_by_role("button", name="Start again").press("Enter")
    np.testing.assert_allclose(points(page), before)
    height = "model.get('intercept') + model.get('slope') * 8.5"
    kept = page.evaluate(height)
    page.get_by_label("Your slope").press("ArrowRight")
    assert page.evaluate("model.get('slope')") == pytest.approx(0.01)
    assert page.evaluate(height) == pytest.approx(kept)  # it turns about the mean of x
    page.get_by_role("button", name="Your line: height").press("ArrowUp")
    fiftieth = 1.6 * (y1 - y0) / (x1 - x0) / 50  # of the steepest line that the map has room for
    assert page.evaluate("model.get('slope')") == pytest.approx(0.01 + fiftieth)


@pytest.mark.browser
def test_points_and_ends_are_dragged_by_touch(widget_page):
    page = widget_page(LeastSquaresByHand(), width=390, has_touch=True)
    before, slope = points(page), page.evaluate("model.get('slope')")
    for name in ("Point 5,", "The right end"):
        mark = page.get_by_role("button", name=name)
        mark.scroll_into_view_if_needed()
        drag_by_finger(page, mark, [-15, -40])
    after = points(page)
    assert after[4, 1] > before[4, 1] + 0.5
    assert page.evaluate("model.get('slope')") > slope
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    # a browser that scrolls under a mark takes it away from the finger, though this one does not
    begin = """(mark) => {
      const touch = new Event("touchstart", { bubbles: true, cancelable: true });
      mark.dispatchEvent(touch);
      return touch.defaultPrevented;
    }"""
    assert mark.evaluate(begin)


@pytest.mark.browser
def test_ridge_turns_the_line_and_unbalances_the_sums(widget_page):
    page = widget_page(LeastSquaresByHand())
    gap = page.locator("tbody tr:nth-child(5) td").first
    assert gap.inner_text() == "0.00"
    page.get_by_label("Ridge λ").press("End")
    settle(page)
    assert "of that without penalty" in page.locator(".result").inner_text()
    assert gap.inner_text().startswith("−")
    x, y = points(page).T
    slope = reg.ridge((x - x.mean())[:, None], y - y.mean(), 999.0)[0]
    shown = float(page.locator("tbody tr:nth-child(2) td").first.inner_text())
    assert shown == pytest.approx(slope, abs=6e-4)


@pytest.mark.browser
def test_equal_x_are_explained(widget_page):
    page = widget_page(LeastSquaresByHand([[1, 2], [1, 3], [1, 5]]))
    assert "All x are equal" in page.locator(".result").inner_text()
    page.get_by_label("Ridge λ").press("End")
    settle(page)
    assert "Ridge: ŷ = 3.33 + 0.000 x" in page.locator(".result").inner_text()


@pytest.mark.browser
def test_anscombes_sets_agree_in_the_numbers_and_differ_in_the_squares(widget_page):
    page = widget_page(LeastSquaresByHand())
    seen = set()
    for name in ("I", "II", "III", "IV"):
        page.get_by_label("Points", exact=True).select_option(f"Anscombe {name}")
        settle(page)
        assert "ŷ = 3.00 + 0.500 x" in page.locator(".result").inner_text()
        seen.add(page.locator(".box").nth(2).get_attribute("height"))
    assert len(seen) == 4


@pytest.mark.browser
def test_what_can_be_moved_is_named_and_stays_in_the_frame(widget_page):
    given = [[0, 1], [2, 3.14159], [4, 5]]
    page = widget_page(LeastSquaresByHand(given, intercept=1.0, slope=0.25))
    names = [mark.get_attribute("aria-label") for mark in page.locator(".grip").all()]
    low, high = np.interp([0.12, 0.88], [0, 1], page.evaluate("model.get('frame')")[:2])
    assert names == [
        f"The left end of your line, at height {1 + low / 4:.2f}",
        f"The right end of your line, at height {1 + high / 4:.2f}",
        "Point 1, x 0.00, y 1.00",
        "Point 2, x 2.00, y 3.14",
        "Point 3, x 4.00, y 5.00",
        "Your line: height 1.50, slope 0.25",
    ]
    page.get_by_role("button", name="The left end").press("ArrowUp")
    settle(page)
    _, _, y0, y1 = page.evaluate("model.get('frame')")
    ends = [page.get_by_role("button", name=f"The {side} end") for side in ("left", "right")]
    heights = [float(end.get_attribute("aria-label").split()[-1]) for end in ends]
    assert heights == pytest.approx([1 + low / 4 + (y1 - y0) / 100, 1 + high / 4], abs=0.006)
    page.evaluate("model.set('slope', 100)")
    settle(page)
    for svg, marks in (("scatter", [0, 1]), ("map", [5])):
        edge = page.locator(f"svg.{svg} > svg").bounding_box()
        for i in marks:
            _, y = center(page.locator(".grip").nth(i))
            assert edge["y"] - 0.5 <= y <= edge["y"] + edge["height"] + 0.5
    bars = page.locator("svg.bars rect")
    widths = lambda: [float(bar.get_attribute("width")) for bar in bars.all()]  # noqa: E731
    longest = page.locator("svg.bars").evaluate("(e) => e.clientWidth") - 46
    assert sum(widths()[3:]) == pytest.approx(longest)  # the longest of the three takes it all
    page.evaluate("model.set('show_own', false)")
    settle(page)
    assert widths()[3:] == [0, 0]
    assert widths()[0] == pytest.approx(longest)
    assert page.locator("svg.scatter rect.end").count() == 0
    assert page.locator("tbody td:nth-child(3)").all_inner_texts() == ["–"] * 6
    for _ in range(2):
        page.get_by_role("button", name="Point 1,").press("Delete")
    assert len(points(page)) == 2  # no line can be fitted to fewer
    page.get_by_role("button", name="Add a point").press("Enter")
    x0, x1, y0, y1 = page.evaluate("model.get('frame')")
    np.testing.assert_allclose(points(page)[2], [(x0 + x1) / 2, (y0 + y1) / 2])
    assert "Point 3 (" in page.locator(".result").inner_text()
    page.get_by_role("button", name="Remove it").press("Enter")
    assert len(points(page)) == 2
    add = page.get_by_role("button", name="Add a point")
    for n in (40, 39):  # there is room for so many
        page.evaluate(f"model.set('points', Array.from({{ length: {n} }}, (_, i) => [i / 10, 2]))")
        settle(page)
        assert add.is_disabled() == (n == 40)
    height = page.get_by_label("Your height at x̄")
    ends = height.evaluate("(e) => [e.min, e.max, e.step].map(Number)")
    assert ends == pytest.approx([y0, y1, (y1 - y0) / 200])
    for room, tall in ((481, 380), (480, 320)):  # of the drawing, where the two stand one by one
        page.set_viewport_size({"width": room + 34, "height": 900})
        settle(page)
        assert page.locator("svg.scatter").get_attribute("viewBox") == f"0 0 {room} {tall}"
    assert page.get_by_role("button", name="Remove it").is_disabled()


@pytest.mark.browser
def test_it_leaves_nothing_behind(widget_page):
    page = widget_page(LeastSquaresByHand())
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0
