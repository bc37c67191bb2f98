"""Aliasing by ear: the page's numbers against the library, its sound, its life in a page."""

from __future__ import annotations

import math

import numpy as np
import pytest
import traitlets
from hypothesis import example, given
from hypothesis import strategies as st
from thorough import WIDTHS
from widget_page import settle

from primer.fourier import alias_frequency
from primer.notebook.figures import png
from primer.widgets.alias_by_ear import HIGHEST, AliasByEar

MATH = "folding.js"
states = st.builds(
    dict,
    tone=st.integers(5, 400).map(lambda n: 10.0 * n),
    rate=st.integers(8, 80).map(lambda n: 100.0 * n),
    phase=st.integers(0, 12).map(lambda n: 15.0 * n),
    filtered=st.booleans(),
)


def wave(frequency, level, phase, t):
    return level * np.cos(2 * np.pi * frequency * t + phase)


@given(states)
@example({"tone": 1000.0, "rate": 2000.0, "phase": 60.0, "filtered": False})
@example({"tone": 1000.0, "rate": 2000.0, "phase": 60.0, "filtered": True})
@example({"tone": 4000.0, "rate": 2000.0, "phase": 45.0, "filtered": False})
def test_what_is_heard_is_the_librarys_and_fits_the_samples(javascript, state):
    found = javascript(MATH, "heard", state)
    heard = AliasByEar(**state).heard()
    assert list(found.values()) == pytest.approx(list(heard), abs=1e-9)
    n = np.arange(50) / state["rate"]
    lets_through = not (state["filtered"] and state["tone"] >= state["rate"] / 2)
    samples = wave(state["tone"], float(lets_through), math.radians(state["phase"]), n)
    np.testing.assert_allclose(wave(*heard, n), samples, atol=1e-9)
    values = [javascript(MATH, "valueAt", found, t) for t in n[:5].tolist()]
    np.testing.assert_allclose(values, samples[:5], atol=1e-9)


@given(st.integers(8, 80).map(lambda n: 100.0 * n), st.booleans())
def test_the_zigzag_is_the_fold(javascript, rate, filtered):
    x, y = np.array(javascript(MATH, "fold", rate, filtered)).T
    f = np.linspace(0, x[-1], 101)
    assert x[-1] == (min(rate / 2, HIGHEST) if filtered else HIGHEST)
    np.testing.assert_allclose(np.interp(f, x, y), alias_frequency(f, rate), atol=1e-6)


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (
            (1200, 2000, 0, False),
            "1,200 Hz has the samples of 800 Hz: 1,200 − 2,000 is −800, the same turned backward.",
        ),
        ((2300, 2000, 0, False), "2,300 Hz has the samples of 300 Hz: 2,300 − 2,000 is 300."),
        ((900, 2000, 0, False), "900 Hz is below 1,000 Hz, half the rate: the samples fit no"),
        ((1000, 2000, 60, False), "The samples of 1,000 Hz are 0.50 and −0.50 in turn"),
        ((3000, 2000, 90, False), "The samples of 3,000 Hz are 0.00 and 0.00 in turn"),
        ((4000, 2000, 0, False), "4,000 Hz makes whole turns from one sample to the next"),
        ((1000, 2000, 0, True), "The filter lets nothing through at or above 1,000 Hz, half"),
        ((990, 2000, 0, True), "990 Hz is below 1,000 Hz, half the rate"),
    ],
)
def test_the_result_line_says_which_tone_it_becomes(javascript, state, said):
    names = ("tone", "rate", "phase", "filtered")
    assert said in javascript(MATH, "describe", dict(zip(names, state, strict=True)))


@pytest.mark.parametrize(
    ("state", "complaint"),
    [
        ({"tone": 4001}, "tone must be 50 to 4,000"),
        ({"tone": math.nan}, "tone must be"),
        ({"rate": 700}, "rate must be 800 to 8,000"),
        ({"phase": -1}, "phase must be 0 to 180"),
        ({"filtered": 3}, "filtered"),
    ],
)
def test_values_out_of_range_are_refused(state, complaint):
    with pytest.raises(traitlets.TraitError, match=complaint):
        AliasByEar(**state)


def test_the_still_picture_shows_samples_on_both_tones():
    widget = AliasByEar(tone=3300, phase=30)
    course, fold = widget.picture().axes
    dots = course.lines[2]
    t, values = dots.get_xdata() / 1e3, dots.get_ydata()
    np.testing.assert_allclose(values, wave(3300, 1, math.pi / 6, t), atol=1e-9)
    assert fold.get_title() == "Heard: 700 Hz"
    assert AliasByEar(filtered=True).picture().axes[1].get_title() == "Heard: nothing"
    assert png(AliasByEar().picture()).startswith(b"\x89PNG")


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_the_tone_is_moved_by_keys_and_mouse(widget_page, width):
    page = widget_page(AliasByEar(), width=width, has_touch=True)
    result, grip = page.locator(".result"), page.locator(".grip")
    slider = page.get_by_role("slider", name="Tone", exact=True)
    assert "1,200 Hz has the samples of 800 Hz" in result.inner_text()
    slider.press("ArrowRight")
    grip.press("PageUp")
    settle(page)
    assert page.evaluate("model.get('tone')") == 1310
    slider.press("Home")
    settle(page)
    assert page.evaluate("model.get('tone')") == 50
    slider.press("End")
    settle(page)
    assert page.evaluate("model.get('tone')") == 4000
    assert "nothing sounds" in result.inner_text()
    grip.scroll_into_view_if_needed()
    box = grip.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 900, y, steps=4)
    page.mouse.up()
    settle(page)
    assert page.evaluate("model.get('tone')") == 50
    page.get_by_label("Filter in front").tap()
    page.get_by_role("slider", name="Sampling rate").press("Home")
    slider.press("End")
    settle(page)
    assert "The filter lets nothing through at or above 400 Hz" in result.inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


SPY = """() => {
  window.heard = [];
  const own = AudioParam.prototype.setTargetAtTime;
  AudioParam.prototype.setTargetAtTime = function (value, ...rest) {
    heard.push(value);
    return own.call(this, value, ...rest);
  };
}"""


@pytest.mark.browser
def test_what_sounds_follows_the_tone_and_the_glide_ends_at_the_highest(widget_page):
    page = widget_page(AliasByEar())
    page.evaluate(SPY)
    page.get_by_role("button", name="Hear its samples").click()
    assert page.evaluate("heard") == [800, pytest.approx(0.12)]
    page.get_by_role("slider", name="Tone", exact=True).press("ArrowRight")
    settle(page)
    assert page.evaluate("heard.slice(-2)") == [790, pytest.approx(0.12)]
    page.get_by_role("button", name="Hear the tone").click()
    assert page.evaluate("heard.slice(-2)") == [1210, pytest.approx(0.12)]
    page.get_by_role("button", name="Silence").click()
    assert page.evaluate("heard.at(-1)") == 0
    page.evaluate("model.set('tone', 3900)")
    page.get_by_role("button", name="Glide up").click()
    page.wait_for_function("model.get('tone') === 4000")
    page.get_by_role("button", name="Glide up").wait_for()


@pytest.mark.browser
def test_a_browser_without_sound_says_so_in_the_button(widget_page):
    page = widget_page(AliasByEar())
    before = page.locator("#widget").bounding_box()["height"]
    page.evaluate("(window.AudioContext = class { constructor() { throw new Error('none'); } }, 0)")
    page.get_by_role("button", name="Hear the tone").click()
    button = page.get_by_role("button", name="This browser plays no sound")
    assert button.is_disabled()
    assert page.get_by_role("button", name="Hear its samples").is_disabled()
    assert page.locator("#widget").bounding_box()["height"] == before
