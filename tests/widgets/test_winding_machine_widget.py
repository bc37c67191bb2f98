"""The winding machine: the page's numbers against the library, its state, its life in a page."""

from __future__ import annotations

import math

import numpy as np
import pytest
import traitlets
from hypothesis import example, given
from hypothesis import strategies as st
from thorough import WIDTHS
from widget_page import settle

from primer.fourier import dft
from primer.notebook.figures import png
from primer.widgets.winding_machine import HIGHEST, PARTS, RATE, SIGNALS, WindingMachine

MATH, FILE = "winding.js", "winding_machine.js"

hundredths = st.integers(0, 50).map(lambda n: n / 100)
states = st.builds(
    dict,
    signal=st.sampled_from([*SIGNALS]),
    seconds=st.sampled_from([1, 2, 4]),
    tone=st.floats(1, 6).map(lambda x: round(x, 1)),
    delay=hundredths,
    gains=st.lists(st.sampled_from([0, 0.25, 1]), min_size=3, max_size=3),
)
frequencies = st.floats(-HIGHEST, HIGHEST).map(lambda f: round(f, 2))


def parts_of(javascript, state):
    return javascript(MATH, "partsOf", state, WindingMachine.constants)


def samples_of(javascript, state):
    return javascript(MATH, "samples", parts_of(javascript, state), state["gains"])


@given(states, frequencies)
@example({"signal": "two", "seconds": 1, "tone": 3.0, "delay": 0.0, "gains": [1, 0.5, 0]}, 2.6)
@example({"signal": "noise", "seconds": 4, "tone": 3.0, "delay": 0.29, "gains": [1, 1, 0]}, -7.0)
def test_samples_and_centers_are_the_librarys(javascript, state, f):
    widget = WindingMachine(**state, frequency=f)
    x = samples_of(javascript, state)
    np.testing.assert_allclose(x, widget.samples(), atol=1e-12)
    found = complex(*javascript(MATH, "center", x, f))
    assert found == pytest.approx(complex(widget.center(f)), abs=1e-12)
    points = np.array(javascript(MATH, "wound", x, f)) @ [1, 1j]
    assert points.mean() == pytest.approx(found, abs=1e-12)
    finer = np.array(javascript(MATH, "wound", x, f, 3)) @ [1, 1j]
    np.testing.assert_allclose(finer[::3], points, atol=1e-9)


@given(states)
def test_parts_are_named_and_as_high_as_they_are_said_to_be(javascript, state):
    parts = np.array(parts_of(javascript, state))
    np.testing.assert_allclose(parts, WindingMachine(**state).parts(), atol=1e-12)
    named = PARTS.get(state["signal"], [])
    assert len(parts) == max(1, len(named))
    for (_, height), part in zip(named, parts, strict=False):
        assert abs(part).max() <= height + 1e-12


@given(states)
def test_the_curve_of_a_sum_is_the_sum_of_the_curves(javascript, state):
    curves = [javascript(MATH, "curveOf", part, 2) for part in parts_of(javascript, state)]
    added = javascript(MATH, "curveOfSum", curves, state["gains"])
    wound = javascript(MATH, "curveOf", samples_of(javascript, state), 2)
    assert [f for f, _ in added] == [f for f, _ in wound]
    np.testing.assert_allclose([c for _, c in added], [c for _, c in wound], atol=1e-12)


def test_lengths_do_not_add_where_arrows_do():
    both, one, other = ([1, 1, 0], [1, 0, 0], [0, 1, 0])
    lengths = [abs(WindingMachine(gains=gains).center(3.4)) for gains in (both, one, other)]
    assert lengths[0] < lengths[1] + lengths[2] - 0.01


@given(states)
def test_at_whole_turns_the_center_is_a_bin_of_the_dft(javascript, state):
    x = samples_of(javascript, state)
    expected = dft(x) / len(x)
    bins = javascript(MATH, "binsBetween", -HIGHEST, HIGHEST, state["seconds"])
    assert len(bins) == 2 * HIGHEST * state["seconds"] + 1
    found = [complex(*javascript(MATH, "center", x, k / state["seconds"])) for k in bins]
    np.testing.assert_allclose(found, expected[np.array(bins)], atol=1e-12)
    np.testing.assert_allclose(found, np.conj(found[::-1]), atol=1e-12)


@given(states, frequencies, frequencies)
def test_bins_lie_between_what_was_passed(javascript, state, one, other):
    low, high = sorted([one, other])
    bins = javascript(MATH, "binsBetween", low, high, state["seconds"])
    every = np.arange(-HIGHEST * state["seconds"], HIGHEST * state["seconds"] + 1)
    f = every / state["seconds"]
    np.testing.assert_array_equal(bins, every[(f >= low - 1e-9) & (f <= high + 1e-9)])


def test_the_curve_is_drawn_through_centers(javascript):
    widget = WindingMachine()
    curve = javascript(MATH, "curveOf", widget.samples().tolist(), 20)
    f = np.array([place for place, _ in curve])
    np.testing.assert_allclose(f, np.linspace(-HIGHEST, HIGHEST, 281), atol=1e-12)
    found = np.array([center for _, center in curve]) @ [1, 1j]
    np.testing.assert_allclose(found, widget.center(f), atol=1e-12)


@pytest.mark.parametrize("delay", [0.05, 0.1])
def test_a_delay_turns_the_center_of_a_tone_and_leaves_its_distance(delay):
    before = WindingMachine(gains=[1, 1, 0]).center([3, 5])
    after = WindingMachine(gains=[1, 1, 0], delay=delay).center([3, 5])
    np.testing.assert_allclose(after, before * np.exp(-2j * np.pi * delay * np.array([3, 5])))


@pytest.mark.parametrize(
    ("state", "middle", "said"),
    [
        (
            (3, 1),
            [0.5, 0],
            "Wound at 3.00 Hz, the center is 0.500 from 0, at an angle of 0°. "
            "In the record it makes 3 turns.",
        ),
        ((2, 1), [1e-17, 0], "2.00 Hz, the center is at 0. In the record it makes 2 turns."),
        ((-3, 2), [-0.25, 0], "−3.00 Hz, the center is 0.250 from 0, at an angle of 180°."),
        ((-3, 2), [-0.25, -1e-9], "at an angle of 180°. In the record it makes 6 turns, backward."),
        ((-0.6, 1), [0, 0.1], "90°. In the record it makes a part of a turn, backward."),
        ((2.6, 4), [0.1, 0.1], "In the record it makes 10 turns and a part of a turn."),
    ],
)
def test_the_result_line_names_distance_angle_and_turns(javascript, state, middle, said):
    frequency, seconds = state
    given_ = {"frequency": frequency, "seconds": seconds}
    assert said in javascript(FILE, "describe", given_, middle)


@pytest.mark.parametrize(
    ("state", "complaint"),
    [
        ({"frequency": 7.1}, "frequency must be -7 to 7"),
        ({"frequency": math.nan}, "frequency must be"),
        ({"delay": 0.6}, "delay must be 0 to 0.5"),
        ({"tone": 0}, "tone must be 1 to 6"),
        ({"seconds": 3}, "seconds"),
        ({"moment": 4.5}, "moment"),
        ({"moment": math.nan}, "moment"),
        ({"signal": "drum"}, "signal"),
        ({"gains": [1.0, 1.0]}, "gains must hold 3 numbers from 0 to 1"),
        ({"gains": [1.0, 1.0, 1.1]}, "gains must hold 3 numbers from 0 to 1"),
    ],
)
def test_values_out_of_range_are_refused(state, complaint):
    with pytest.raises(traitlets.TraitError, match=complaint):
        WindingMachine(**state)


def test_the_still_picture_shows_what_was_passed():
    widget = WindingMachine(frequency=-3.0, seconds=2)
    signal, curve, plane = widget.picture().axes
    assert len(signal.lines[0].get_xdata()) == 2 * RATE
    line, *alone, dots = curve.lines
    assert len(alone) == 2
    assert (line.get_xdata().min(), line.get_xdata().max()) == (-3, 0)
    np.testing.assert_allclose(dots.get_xdata(), np.arange(-6, 1) / 2)
    tip = plane.lines[2].get_xydata()[1] @ [1, 1j]
    assert tip == pytest.approx(complex(widget.center(-3.0)))
    assert plane.get_title() == "Wound at -3.00 Hz"
    whole = WindingMachine(whole=True).picture().axes[1].lines[0].get_xdata()
    assert (whole.min(), whole.max()) == (-HIGHEST, HIGHEST)
    assert png(WindingMachine().picture()).startswith(b"\x89PNG")


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_the_curve_fills_in_behind_the_winding(widget_page, width):
    page = widget_page(WindingMachine(), width=width, has_touch=True)
    result = page.locator(".result")
    moment, grip = page.locator(".grip").all()
    slider = page.get_by_role("slider", name="Winding frequency", exact=True)
    assert "Wound at 2.60 Hz" in result.inner_text()
    reaches = "document.querySelector('.winding-machine .curve').getBBox().width"
    before = page.evaluate(reaches)
    for _ in range(8):
        slider.press("ArrowRight")
    settle(page)
    assert page.evaluate("model.get('frequency')") == 3.0
    assert "0.500 from 0, at an angle of 0°. In the record it makes 3 turns." in result.inner_text()
    assert page.evaluate(reaches) > before
    longest = page.evaluate(reaches)
    grip.press("PageDown")  # half a hertz back: what was passed stays
    settle(page)
    assert page.evaluate("model.get('frequency')") == 2.5
    assert page.evaluate(reaches) == pytest.approx(longest, abs=0.1)
    slider.press("Home")
    settle(page)
    assert page.evaluate("model.get('frequency')") == -HIGHEST
    assert "In the record it makes 7 turns, backward." in result.inner_text()
    slider.press("End")
    settle(page)
    assert page.evaluate("model.get('frequency')") == HIGHEST
    page.get_by_role("button", name="Start over").tap()
    settle(page)
    assert page.evaluate("model.get('frequency')") == 0
    assert page.evaluate(reaches) == 0
    grip.scroll_into_view_if_needed()
    box = grip.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 900, y - 300, steps=4)
    page.mouse.up()
    settle(page)
    assert page.evaluate("model.get('frequency')") == HIGHEST
    moment.press("ArrowRight")
    moment.press("PageDown")
    settle(page)
    assert page.evaluate("model.get('moment')") == pytest.approx(0.53)
    box = moment.bounding_box()
    page.mouse.move(box["x"] + 16, box["y"] + 16)
    page.mouse.down()
    page.mouse.move(box["x"] + 900, box["y"], steps=4)
    page.mouse.up()
    settle(page)
    assert page.evaluate("model.get('moment')") == pytest.approx(0.99)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


@pytest.mark.browser
def test_a_moment_of_the_signal_is_a_point_of_the_string(widget_page, javascript):
    state = {"signal": "two", "seconds": 4, "gains": [1, 1, 0]}
    page = widget_page(WindingMachine(**state, moment=3.21, frequency=1.5))
    x = samples_of(javascript, {**state, "tone": 3.0, "delay": 0.0})
    length = "[...document.querySelectorAll('.winding-machine .hand')].map((h) => h.getBBox())"
    in_time, in_plane = page.evaluate(f"{length}.map(({{ width, height }}) => [width, height])")
    assert in_time[0] == pytest.approx(0, abs=0.1)
    point = np.array(javascript(MATH, "wound", x, 1.5))[321]
    assert math.hypot(*point) == pytest.approx(abs(x[321]))
    assert in_plane[0] / in_plane[1] == pytest.approx(abs(point[0] / point[1]), rel=0.03)
    page.get_by_role("radio", name="1 s").click()  # it was later than the record is long
    settle(page)
    dot = page.get_by_role("slider", name="A moment of the signal")
    assert dot.get_attribute("aria-valuetext") == "0.99 seconds"
    page.get_by_role("button", name="Wind", exact=False).first.click()
    page.wait_for_function("model.get('moment') === 0.99")
    page.get_by_role("button", name="▶ Wind").wait_for()


@pytest.mark.browser
def test_another_signal_begins_a_new_curve_and_a_sweep_ends_at_the_last_frequency(widget_page):
    page = widget_page(WindingMachine(signal="tone", frequency=6.9))
    reaches = "document.querySelector('.winding-machine .curve').getBBox().width"
    tone = page.get_by_role("slider", name="One tone")
    assert tone.is_enabled()
    sweep = page.get_by_role("button", name="Sweep")
    sweep.click()
    page.wait_for_function("model.get('frequency') === 7")
    page.get_by_label("Signal", exact=True).select_option("two")
    settle(page)
    assert tone.is_hidden()
    half = page.evaluate(reaches)
    page.get_by_label("Show the whole curve").click()
    settle(page)
    assert page.evaluate(reaches) == pytest.approx(2 * half, rel=0.02)
    page.get_by_role("button", name="Start over").click()
    page.get_by_role("button", name="Sweep").click()
    page.wait_for_function("document.querySelector('.result').textContent.includes('Wound at 0.')")
    page.get_by_label("4 s").click()  # what is moved stops the sweep
    page.get_by_role("button", name="Sweep").wait_for()
    assert 0 < page.evaluate("model.get('frequency')") < 7


@pytest.mark.browser
@pytest.mark.parametrize("calm", [False, True])
def test_a_tone_swells_into_the_sum_and_leaves_the_other_peak(widget_page, calm):
    page = widget_page(WindingMachine(frequency=6.0))
    page.emulate_media(reduced_motion="reduce" if calm else "no-preference")
    shapes = "[...document.querySelectorAll('.winding-machine .panel:has(.area) .{}')]"
    heights = f"{shapes}.map((one) => one.getBBox().height)"
    alone = page.evaluate(heights.format("part"))
    silent, sounding = (page.get_by_label(name, exact=True) for name in ("5 Hz", "3 Hz"))
    assert sounding.is_checked()
    assert not silent.is_checked()
    silent.press(" ")
    half = f"{heights.format('part')}[1] > 3"
    page.wait_for_function(half)
    assert page.evaluate("model.get('gains')") == [1, 1, 0]
    # the slower peak is as high as before, and the faster one half as high as that
    page.wait_for_function(f"Math.abs({heights.format('part')}[1] - {alone[0] / 2}) < 1")
    assert page.evaluate(heights.format("part"))[0] == pytest.approx(alone[0], abs=0.1)
    sounding.press(" ")
    page.wait_for_function(f"{heights.format('part')}[0] < 0.1")
    assert page.evaluate("model.get('gains')") == [0, 1, 0]
    page.get_by_label("Signal", exact=True).select_option("noise")
    settle(page)
    assert page.evaluate("model.get('gains')") == [1, 1, 1]
    assert page.get_by_label("noise", exact=True).is_checked()
    page.get_by_label("Signal", exact=True).select_option("pulse")
    settle(page)
    assert page.get_by_role("group", name="Add up").count() == 0
