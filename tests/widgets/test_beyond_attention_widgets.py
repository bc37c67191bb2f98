"""The memories' widgets: JavaScript against the library, and their life in a browser."""

from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.signal
import traitlets
from hypothesis import given
from hypothesis import strategies as st
from thorough import WIDTHS
from widget_page import center, complaints, drag_by_finger, settle

from primer import beyond_attention as ba
from primer.notebook.figures import png
from primer.widgets import CurveMemory, EigenvaluesInHand, FourMemories
from primer.widgets.curve_memory import CURVES, HIGHEST, KNOTS, LARGEST, SAMPLES, SHORTEST
from primer.widgets.eigenvalues_in_hand import CASES, DECAY, METHODS, MOST, SIGNALS, TURN, signal
from primer.widgets.four_memories import COLORS, KEYS, PAIRS, WRITES

WIDGETS = [FourMemories, CurveMemory, EigenvaluesInHand]
RESULT = "document.querySelector('.result').textContent"


# --- four memories --------------------------------------------------------------------------------

pairs = st.fixed_dictionaries(
    {
        "writes": st.integers(1, WRITES),
        "different": st.integers(1, KEYS),
        "similar": st.floats(0, 0.9),
        "rate": st.floats(0.05, 1.5),
        "penalty": st.floats(0.001, 100),
        "sharpness": st.floats(1, 64),
    }
)


@given(pairs)
def test_the_answers_are_the_librarys(javascript, state):
    widget = FourMemories(**state)
    found = javascript("four_memories.js", "answers", state, FourMemories.constants)
    assert found["right"] == PAIRS["answers"][widget.kept_writes()].tolist()
    for got, want in zip(found["products"], widget.products().values(), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6)


def test_ridge_with_a_large_penalty_is_addition_and_with_none_is_least_squares():
    large = FourMemories(penalty=100.0).products()
    np.testing.assert_allclose(100 * large["ridge"], large["addition"], atol=0.2)
    few = FourMemories(writes=10, penalty=0.001, similar=0.5)
    exact = PAIRS["codes"][PAIRS["answers"][:10]] @ PAIRS["codes"].T
    np.testing.assert_allclose(few.products()["ridge"], exact, atol=0.02)


@pytest.mark.usefixtures("as_readers_run_it")  # a check of shapes at each step takes long
def test_what_the_chapter_says_of_the_four_holds():
    def recalled(**state):
        return {name: int(hit.sum()) for name, hit in FourMemories(**state).recalled().items()}

    assert recalled(writes=12) == {"softmax": 12, "ridge": 12, "addition": 12, "delta": 11}
    many = recalled(writes=48)
    assert (many["addition"], many["delta"]) == (26, 15)
    for writes in range(1, WRITES + 1):
        assert FourMemories(writes=writes).recalled()["delta"][-1]
    alike = recalled(similar=0.5)
    assert alike == {"softmax": 24, "ridge": 24, "addition": 3, "delta": 7}
    assert recalled(similar=0.8)["delta"] == 1
    assert recalled(similar=0.8, rate=0.25)["delta"] == 4
    edited = recalled(writes=48, different=12)
    assert edited == {"softmax": 6, "ridge": 5, "addition": 3, "delta": 10}
    assert recalled(writes=48, rate=0.3)["delta"] == 25
    assert recalled(writes=48, different=12, rate=0.3)["delta"] == 8
    shrunk = recalled(penalty=100.0)
    assert (shrunk["ridge"], shrunk["addition"]) == (20, 19)


def test_the_result_line_counts_and_says_that_keys_came_again(javascript):
    state = {"writes": 3, "different": 2}
    line = javascript("four_memories.js", "describe", state, [[True, False]], ["one"])
    assert line == "Recalled of 2 pairs, the newest value of each (3 writes): one 1."
    state = {"writes": 1, "different": 2}
    assert javascript("four_memories.js", "describe", state, [[True]], ["one"]).startswith(
        "Recalled of 1 pair: one 1"
    )


# --- a memory of a curve --------------------------------------------------------------------------

heights = st.lists(st.floats(-HIGHEST, HIGHEST), min_size=KNOTS, max_size=KNOTS)


@given(heights, st.integers(1, LARGEST), st.integers(SHORTEST, SAMPLES))
def test_the_curve_and_its_memory_are_the_librarys(javascript, knots, size, now):
    widget = CurveMemory(knots=knots, size=size, now=now)
    curve = javascript("curve_memory.js", "curveOf", knots, SAMPLES)
    np.testing.assert_allclose(curve, widget.curve(), atol=1e-12)
    past = curve[:now]
    state = javascript("curve_memory.js", "remember", past, size)
    np.testing.assert_allclose(state, ba.remember(past, size)[-1], atol=1e-9)
    drawn = javascript("curve_memory.js", "reconstruct", state, now)
    np.testing.assert_allclose(drawn, widget.drawn(), atol=1e-8)
    best = ba.reconstruct(ba.best_state(past, size), now)
    np.testing.assert_allclose(
        javascript("curve_memory.js", "bestFit", past, size), best, atol=1e-6
    )
    if np.var(past) > 1e-6:
        share = javascript("curve_memory.js", "missed", drawn, past)
        assert share == pytest.approx(widget.missed(), rel=1e-6, abs=1e-9)


@given(heights)
def test_the_curve_runs_through_its_knots(knots):
    curve = CurveMemory(knots=knots).curve()
    middles = (np.arange(SAMPLES) + 0.5) / SAMPLES * (KNOTS - 1)
    at_knots = np.interp(np.arange(1, KNOTS - 1), middles, curve)
    np.testing.assert_allclose(at_knots, knots[1:-1], atol=0.05)


def test_what_the_chapter_says_of_the_curve_holds():
    def missed(name="waves", **state):
        return 100 * CurveMemory(knots=CURVES[name], **state).missed()

    assert missed(size=8) == pytest.approx(11.7, abs=0.05)
    assert missed(size=9) < 1 < missed(size=8)
    assert missed(size=9) == pytest.approx(0.5, abs=0.06)
    assert missed("a jump", size=14) < 1 < missed("a jump", size=13)
    for name in ("an early bump", "a late bump"):
        assert missed(name) == pytest.approx(33.5, abs=0.06)
    assert missed("an early bump", now=120) == pytest.approx(6.5, abs=0.05)
    for place, share in ((0, 2.6), (5, 49.6)):  # the same bump elsewhere: it blurs unequally
        bump = np.eye(KNOTS)[place] * max(CURVES["an early bump"])
        assert 100 * CurveMemory(knots=list(bump)).missed() == pytest.approx(share, abs=0.06)
    past = CurveMemory(knots=CURVES["waves"]).curve()
    for size in range(8, LARGEST + 1):
        best = ba.reconstruct(ba.best_state(past, size), SAMPLES)
        fit = 100 * ((best - past) ** 2).mean() / past.var()
        assert 0.03 < missed(size=size) - fit < 0.04
    jump = ba.remember(CurveMemory(knots=CURVES["a jump"]).curve(), 8)[-1]
    assert abs(jump[::2]).max() < 0.01 < 0.3 < abs(jump[1])


def test_the_result_line_says_how_much_is_missed(javascript):
    def line(size, *shares, best=True):
        state = {"size": size, "now": 90, "best": best}
        return javascript("curve_memory.js", "describe", state, *shares)

    missed = "After 90 samples 8 numbers miss 11.7% of the variance of the past"
    assert line(8, 0.1173, 0.04) == f"{missed}; the best fit of 8 numbers misses 4.0%."
    assert line(8, 0.1173, 0.04, best=False) == f"{missed}."  # it is what a task asks
    assert "1 number misses 0.1% of" in line(1, 0.001, 0.0009)
    assert line(1, 0.001, 0.0009).endswith("the best fit of 1 number misses less than 0.1%.")


@pytest.mark.parametrize("height", [0.0, 0.1, 0.51])
def test_of_a_curve_that_stands_still_nothing_is_missed(javascript, height):
    widget = CurveMemory(knots=[height] * KNOTS)
    assert widget.missed() == 0
    past = javascript("curve_memory.js", "curveOf", widget.knots, SAMPLES)
    assert javascript("curve_memory.js", "missed", widget.drawn(), past) == 0


# --- eigenvalues in hand --------------------------------------------------------------------------

mode = st.tuples(st.floats(*DECAY), st.floats(*TURN)).map(list)
system = st.fixed_dictionaries(
    {
        "modes": st.lists(mode, min_size=1, max_size=MOST),
        "step": st.floats(0.02, 1),
        "method": st.sampled_from(list(METHODS)),
    }
)


@given(system, st.sampled_from(list(SIGNALS)))
def test_the_output_is_the_librarys(javascript, state, name):
    widget = EigenvaluesInHand(**state)
    x = EigenvaluesInHand.constants["signals"][name]
    want = widget.output(np.array(x))
    got = np.array(javascript("eigenvalues_in_hand.js", "output", state, x), dtype=float)
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6 * max(1, abs(want).max()))


@given(mode, st.floats(0.02, 1))
def test_the_steps_are_scipys(mode, step):
    A = np.array([[mode[0], -mode[1]], [mode[1], mode[0]]])
    system = (A, np.array([[1.0], [0.0]]), np.array([[1.0, 0.0]]), np.zeros((1, 1)))
    for method, theirs in (("hold", "zoh"), ("euler", "euler")):
        widget = EigenvaluesInHand(modes=[mode], step=step, method=method)
        A_bar, B_bar = widget.discretized(*mode)
        expected = scipy.signal.cont2discrete(system, step, method=theirs)
        np.testing.assert_allclose(A_bar, expected[0], atol=1e-10)
        np.testing.assert_allclose(B_bar, expected[1][:, 0], atol=1e-10)


@given(system)
def test_a_discrete_eigenvalue_is_that_of_the_matrix(javascript, state):
    widget = EigenvaluesInHand(**state)
    for mode in state["modes"]:
        found = javascript(
            "eigenvalues_in_hand.js", "discretized", mode, state["step"], state["method"]
        )
        A_bar, B_bar = widget.discretized(*mode)
        np.testing.assert_allclose(found["turn"], A_bar[:, 0], atol=1e-9)
        np.testing.assert_allclose(found["gain"], B_bar, atol=1e-9)


@pytest.mark.parametrize("z", [-9e-4, -1.1e-3, 0.0])
def test_a_mode_that_hardly_fades_loses_no_digits(javascript, z):
    found = javascript("eigenvalues_in_hand.js", "discretized", [z, 0], 1, "hold")
    expected = np.expm1(z) / z if z else 1.0
    assert found["gain"][0] == pytest.approx(expected, rel=1e-14 if abs(z) < 1e-3 else 1e-12)


@pytest.mark.parametrize(
    ("value", "half", "around"),
    [
        ([1 - 1e-13, 0], None, None),
        ([1 - 1e-11, 0], 6.93e10, None),
        ([0, 0], None, None),
        ([0.5, 0], 1, None),
        ([-0.5, 0], 1, 2),
        ([0, 0.25], 0.5, 4),
        ([1, 1e-10], None, None),
    ],
)
def test_the_fate_of_a_mode(javascript, value, half, around):
    found = javascript("eigenvalues_in_hand.js", "story", value)
    assert found["size"] == pytest.approx(np.hypot(*value))
    assert [found["half"], found["around"]] == [
        expected and pytest.approx(expected, rel=1e-3) for expected in (half, around)
    ]


@pytest.mark.parametrize(
    ("values", "end"),
    [
        ([0.01], 0.05),
        ([0.051], 0.1),
        ([1, -2], 2),
        ([2.01], 5),
        ([-5.5], 10),
        ([10], 10),
        ([11], 20),
        ([21], 25),
        ([1e9], 25),
    ],
)
def test_the_end_of_an_axis(javascript, values, end):
    assert javascript("eigenvalues_in_hand.js", "reachOf", values) == pytest.approx(end)


def test_what_the_chapter_says_of_the_modes_holds():
    def size(**state):
        widget = EigenvaluesInHand(**state)
        return max(abs(np.linalg.eigvals(widget.discretized(*widget.modes[0])[0])))

    resonance = EigenvaluesInHand(**CASES["a resonance"])
    assert 85 < abs(resonance.output(signal("chirp"))).argmax() < 95
    assert np.log(0.5) / np.log(size(**CASES["a long memory"])) == pytest.approx(69.3, abs=0.1)
    assert np.log(0.5) / np.log(size(modes=[[-0.5, 0.0]])) == pytest.approx(6.93, abs=0.01)
    assert size(**CASES["Euler leaves the circle"]) == pytest.approx(1.23, abs=0.005)
    for step in (0.02, 0.2, 1.0):
        assert size(step=step) < 1
        assert size(step=step, method="bilinear") < 1
    assert size(step=0.037, method="euler") < 1 < size(step=0.038, method="euler")


def test_the_result_line_tells_of_the_first_mode(javascript):
    def line(**state):
        state = {"modes": [[-0.3, 4.0]], "step": 0.2, "method": "hold"} | state
        return javascript("eigenvalues_in_hand.js", "describe", state)

    assert "half of it is left after 11.6 steps, and a full turn takes 7.9." in line()
    assert "it grows by 23.4% a step" in line(method="euler")
    assert "it neither grows nor fades" in line(modes=[[0.0, 1.0]])
    assert "turn" not in line(modes=[[-1.0, 0.0]])
    for mode, method in ([-1.0, 0.0], "euler"), ([-2.0, 0.0], "bilinear"):  # a step leads to 0
        told = line(modes=[mode], step=1.0, method=method)
        assert told.endswith("of size 0.000: nothing is left of it a step later.")


@given(st.lists(st.floats(-1e6, 1e6), min_size=1))
def test_the_end_of_an_axis_is_round(javascript, values):
    end = javascript("eigenvalues_in_hand.js", "reachOf", values)
    assert min(max(map(abs, values)), 25) <= end * (1 + 1e-9) <= 25 * (1 + 1e-9)


# --- all three ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("widget", "state", "complaint"),
    [
        (FourMemories, {"writes": 0}, "writes must be 1 to 96"),
        (FourMemories, {"different": 49}, "different must be 1 to 48"),
        (FourMemories, {"similar": 1.0}, "similar must be 0 to 0.9"),
        (FourMemories, {"penalty": float("nan")}, "penalty must be 0.001 to 100"),
        (CurveMemory, {"size": 33}, "size must be 1 to 32"),
        (CurveMemory, {"now": 10}, "now must be 40 to 240"),
        (CurveMemory, {"knots": [0.0] * 11}, "knots must be 12 heights"),
        (CurveMemory, {"knots": [float("nan")] * 12}, "knots must be 12 heights"),
        (CurveMemory, {"knots": [2.0] * 12}, "knots must be 12 heights"),
        (EigenvaluesInHand, {"modes": []}, "1 to 3 pairs"),
        (EigenvaluesInHand, {"modes": [[0.0, 0.0]] * 4}, "1 to 3 pairs"),
        (EigenvaluesInHand, {"modes": [[0.0]]}, "1 to 3 pairs"),
        (EigenvaluesInHand, {"modes": [[1.0, 0.0]]}, "a real part from -4 to 0.5"),
        (EigenvaluesInHand, {"modes": [[float("nan"), 0.0]]}, "a real part from -4 to 0.5"),
        (EigenvaluesInHand, {"step": 0.0}, "step must be 0.02 to 1"),
        (EigenvaluesInHand, {"method": "tustin"}, "tustin"),
    ],
)
def test_bad_state_is_refused(widget, state, complaint):
    with pytest.raises(traitlets.TraitError, match=complaint):
        widget(**state)


@pytest.mark.parametrize(
    "widget",
    [
        FourMemories(),
        FourMemories(writes=1, different=1),
        CurveMemory(best=True),
        CurveMemory(size=1, now=SHORTEST),
        EigenvaluesInHand(),
        EigenvaluesInHand(**CASES["Euler leaves the circle"]),
    ],
)
def test_there_is_a_picture(widget):
    widget.picture().draw_without_rendering()


@pytest.mark.parametrize("widget", [FourMemories, CurveMemory, EigenvaluesInHand])
def test_there_is_a_picture_in_pixels(widget):
    assert png(widget().picture()).startswith(b"\x89PNG")


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_four_memories_answer_to_keys_mouse_and_touch(widget_page, width):
    page = widget_page(FourMemories(), width=width, has_touch=True)
    assert page.evaluate(RESULT) == (
        "Recalled of 24 pairs: softmax 24, ridge 24, addition 19, delta 15."
    )
    hits = FourMemories().recalled()
    for name in COLORS:
        squares = page.locator(f"svg path.{name}-all").get_attribute("d")
        filled = page.locator(f"svg path.{name}").get_attribute("d")
        assert (squares.count("M"), filled.count("M")) == (24, hits[name].sum())
    frame = page.locator("svg.panel > svg").first
    left, top, wide, high = (
        float(frame.get_attribute(name)) for name in ("x", "y", "width", "height")
    )
    first = page.locator(f"svg path.{next(iter(COLORS))}-all").get_attribute("d").split("Z")[0]
    numbers = [float(number) for number in re.findall(r"-?[\d.]+", first)]
    each = np.array([wide / 24, high / 4])  # a square leaves an eighth of its place on each side
    expected = [*([left, top] + 0.12 * each), *(0.76 * each), -0.76 * each[0]]
    np.testing.assert_allclose(numbers, expected, atol=0.051)
    page.get_by_label("Pairs written").press("ArrowRight")
    settle(page)
    assert page.evaluate("model.get('writes')") == 25
    page.get_by_label("Pairs written").press("End")
    settle(page)
    assert "the newest value of each (96 writes)" in page.evaluate(RESULT)
    row = page.locator("svg path.delta-all").bounding_box()  # 48 squares
    page.touchscreen.tap(row["x"] + 30.5 / 48 * row["width"], row["y"] + row["height"] / 2)
    settle(page)
    assert page.evaluate("model.get('asked')") == 31
    strips = page.get_by_label("A square for each memory")
    strips.press("ArrowLeft")
    settle(page)
    assert page.evaluate("model.get('asked')") == 30
    strips.press("PageUp")  # up and down there is nothing
    assert page.evaluate("model.get('asked')") == 30
    page.evaluate("model.set('asked', 48)")
    strips.press("ArrowRight")
    assert page.evaluate("model.get('asked')") == 48
    page.get_by_label("Different keys").press("Home")
    settle(page)
    assert "Recalled of 1 pair," in page.evaluate(RESULT)
    others = page.locator("svg path.others").get_attribute("d")
    assert others.count("M") == 4 * (len(PAIRS["codes"]) - 1)
    strips.press("ArrowLeft")
    assert page.evaluate("model.get('asked')") == 1
    assert page.get_by_label("Asked for pair").get_attribute("max") == "2"  # a slider has two ends
    # 96 values were added up for one key: that answer lies beyond the axis, and is seen at its end
    frame = page.locator("svg.panel > svg").last
    left, room = (float(frame.get_attribute(name)) for name in ("x", "width"))
    heights = sorted({float(re.split("[ h]", d)[1]) for d in others.split("M")[1:]})
    top, high = (float(frame.get_attribute(name)) for name in ("y", "height"))
    np.testing.assert_allclose(heights, top + high * np.array([1, 3, 5, 7]) / 8, atol=0.051)
    dots = [float(d.split()[0]) for d in others.split("M")[1:]]
    assert [min(dots), max(dots)] == pytest.approx(
        [left + 0.05 / 3.5 * room, left + 3.45 / 3.5 * room], abs=0.06
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_a_curve_can_be_drawn_by_mouse_finger_and_keys(widget_page, width):
    page = widget_page(CurveMemory(), width=width, has_touch=True)
    assert "8 numbers miss 11.7% of the variance" in page.evaluate(RESULT)
    knot = page.get_by_label("Knot 3 of 12")
    knot.press("ArrowUp")
    settle(page)
    assert page.evaluate("model.get('knots')[2]") == pytest.approx(0.25)
    drag_by_finger(page, knot, [-20, -40])
    height = page.evaluate("model.get('knots')[2]")
    assert height > 0.4
    assert height == round(height, 3)
    x, y = center(knot)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y + 500)
    page.mouse.up()
    settle(page)
    assert page.evaluate("model.get('knots')[2]") == -HIGHEST
    page.get_by_role("button", name="an early bump").tap()
    settle(page)
    assert "8 numbers miss 33.5%" in page.evaluate(RESULT)
    assert page.locator("svg .best").get_attribute("visibility") == "hidden"
    page.get_by_label("show the best fit").check()
    page.get_by_label("Numbers kept").press("End")
    settle(page)
    assert page.locator("svg .best").get_attribute("visibility") is None
    assert page.locator("svg rect.bars").count() == LARGEST
    if width == 390:
        heights = [svg.bounding_box()["height"] for svg in page.locator("svg.panel").all()]
        assert heights == [230, 150]
    page.get_by_role("button", name="Read").click()
    page.wait_for_function("model.get('now') < 240")
    page.get_by_role("button", name="Pause").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


@pytest.mark.browser
def test_the_curve_is_read_from_its_shortest_past_to_its_end(widget_page):
    page = widget_page(CurveMemory(now=200), clock=True)
    page.get_by_role("button", name="Read").press("Enter")
    page.clock.run_for(3000)
    half = page.evaluate("model.get('now')")
    assert half == pytest.approx((SHORTEST + SAMPLES) / 2, abs=3)
    assert page.locator(".result").get_attribute("aria-live") == "off"
    page.clock.run_for(2800)
    assert half < page.evaluate("model.get('now')") < SAMPLES
    page.clock.run_for(400)
    assert page.evaluate("model.get('now')") == SAMPLES
    assert page.get_by_role("button", name="Read").is_visible()  # and again
    names = [mark.get_attribute("aria-label") for mark in page.locator(".grip").all()]
    assert names == [
        f"Knot {i} of {KNOTS}, height {height:.2f}".replace("-", "−")
        for i, height in enumerate(CURVES["waves"], 1)
    ]
    ticks = page.locator("svg.panel").last.locator(".tick")
    for height, end in (
        (0.1, "0.5"),
        (0.5, "0.5"),
        (0.51, "1"),
        (1.2, "1.5"),
    ):  # axes end in halves
        page.evaluate(f"model.set('knots', Array({KNOTS}).fill({height}))")
        page.clock.run_for(50)
        assert ticks.evaluate_all("a => a.map((e) => e.textContent)")[2:] == [f"−{end}", "0", end]
    page.get_by_role("button", name="a jump").press("Enter")
    assert page.evaluate("model.get('knots')") == CURVES["a jump"]


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_eigenvalues_answer_to_keys_mouse_and_touch(widget_page, width):
    page = widget_page(EigenvaluesInHand(), width=width, has_touch=True)
    assert "of size 0.942" in page.evaluate(RESULT)
    mark = page.get_by_label("Mode 1")
    assert mark.get_attribute("aria-label") == "Mode 1: −0.30 + 4.00i"
    mark.press("ArrowLeft")
    settle(page)
    assert page.evaluate("model.get('modes')") == [[-0.35, 4]]
    for key, place in (("PageDown", [-0.35, 3]), ("ArrowUp", [-0.35, 3.1])):
        mark.press(key)
        assert page.evaluate("model.get('modes')[0]") == pytest.approx(place)
    for _ in range(9):
        mark.press("PageUp")
    assert page.evaluate("model.get('modes')") == [[-0.35, TURN[1]]]  # no farther
    page.get_by_role("button", name="One mode more").press("Enter")
    assert page.evaluate("model.get('modes')") == [[-0.35, TURN[1]], [-1, 2]]
    page.get_by_role("button", name="a resonance").press("Enter")
    settle(page)
    drag_by_finger(page, mark, [-10, -30])
    imaginary = page.evaluate("model.get('modes')[0][1]")
    assert imaginary > 4.2
    assert imaginary == round(imaginary, 3)
    page.get_by_role("button", name="three modes").tap()
    settle(page)
    assert page.locator("svg .grip").count() == 3
    assert page.get_by_role("button", name="One mode more").is_disabled()
    page.get_by_role("button", name="One mode less").tap()
    settle(page)
    assert page.locator("svg .grip").count() == 2
    page.get_by_role("button", name="Euler leaves the circle").tap()
    settle(page)
    assert "it grows by 23.4% a step" in page.evaluate(RESULT)
    page.get_by_label("bilinear").check()
    settle(page)
    assert "half of it is left" in page.evaluate(RESULT)
    page.get_by_label("Input", exact=True).select_option("taps")
    settle(page)
    assert page.evaluate("model.get('signal')") == "taps"
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


@pytest.mark.thorough
@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("widget", [made() for made in WIDGETS])
def test_each_is_accessible(widget_page, widget, theme):
    page = widget_page(widget, width=390, theme=theme)
    assert complaints(page) == []
