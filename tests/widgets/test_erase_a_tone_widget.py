"""A tone to erase: the page's numbers against numpy.fft, what is heard, its life in a page."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import scipy.signal
import traitlets
from hypothesis import given
from hypothesis import strategies as st
from thorough import WIDTHS
from widget_page import settle

from primer.notebook.figures import png
from primer.widgets import shared
from primer.widgets.erase_a_tone import BARS, COUNT, FORMANTS, GIVEN, SIGNALS, EraseATone

MATH = "waves.js"
ONES = [1.0] * BARS
lines = st.lists(st.floats(-1, 1), min_size=COUNT, max_size=COUNT)
shares = st.lists(st.floats(0, 1), min_size=BARS, max_size=BARS)


def waves_of(javascript, x):
    return javascript(MATH, "wavesOf", x)


@given(lines, shares)
def test_waves_and_what_is_left_are_those_of_numpy(javascript, x, gains):
    waves = waves_of(javascript, x)
    c = np.fft.rfft(x) / COUNT
    sides = np.array([1] + [2] * (BARS - 2) + [1])
    found = np.array([wave["re"] - 1j * wave["im"] for wave in waves])
    np.testing.assert_allclose(found, sides * c, atol=1e-12)
    expected = np.fft.irfft(np.fft.rfft(x) * gains, COUNT)
    np.testing.assert_allclose(javascript(MATH, "rest", waves, gains), expected, atol=1e-12)
    widget = EraseATone(signal="own", drawn=x, gains=gains)
    np.testing.assert_allclose([w["amplitude"] for w in waves], widget.amplitudes(), atol=1e-12)
    np.testing.assert_allclose(widget.rest(), expected, atol=1e-12)
    assert sum(javascript(MATH, "energies", waves)) == pytest.approx(np.mean(np.square(x)))
    if any(x):
        assert widget.left() == pytest.approx(np.sum(expected**2) / np.sum(np.square(x)), abs=1e-9)


@given(lines, shares, st.integers(0, BARS - 1))
def test_the_curve_goes_through_the_samples_and_is_the_sum_of_its_waves(javascript, x, gains, k):
    waves = waves_of(javascript, x)
    t, values = np.array(javascript(MATH, "curveOf", javascript(MATH, "rest", waves, gains))).T
    widget = EraseATone(signal="own", drawn=x, gains=gains)
    np.testing.assert_allclose(values, widget.rest(t), atol=1e-12)
    np.testing.assert_allclose(values[:-1:8], widget.rest(), atol=1e-12)
    alone = EraseATone(signal="own", drawn=x, gains=[float(j == k) for j in range(BARS)])
    own = [javascript(MATH, "waveAt", waves[k], k, time) for time in (0.1, 0.37)]
    np.testing.assert_allclose(own, alone.rest([0.1, 0.37]), atol=1e-12)


def test_without_its_wave_the_whistle_is_gone_and_nothing_else():
    chord = sum(
        0.25 * np.cos(2 * np.pi * k * np.arange(COUNT) / COUNT + p)
        for k, p in [(4, -1.0), (5, 0.5), (6, 2.0)]
    )
    widget = EraseATone(gains=[float(k != 24) for k in range(BARS)])
    np.testing.assert_allclose(widget.rest(), chord, atol=1e-6)


def test_the_vowel_is_a_voice_through_its_resonators():
    rate, periods = COUNT * 100, 100
    t = np.arange(periods * COUNT) / rate
    sound = sum(np.cos(2 * np.pi * 100 * k * t) / k for k in range(1, 32))
    for formant, width in FORMANTS:  # as primer.fourier.sung_vowel filters
        radius = math.exp(-math.pi * width / rate)
        turn = 2 * radius * math.cos(2 * math.pi * formant / rate)
        sound = scipy.signal.lfilter([1.0], [1.0, -turn, radius**2], sound)
    last = sound[-COUNT:]
    np.testing.assert_allclose(GIVEN["vowel"], last / abs(last).max(), atol=1e-6)
    heights = EraseATone(signal="vowel").amplitudes()
    assert set(np.argsort(heights)[-4:] * 100) >= {700, 800, 1100}  # near 730 and 1090 Hz


def test_a_vowel_keeps_its_note_without_the_slowest_wave():
    period = np.arange(COUNT) / COUNT
    low = EraseATone(signal="vowel", gains=without(1))
    shifts = [abs(low.rest(period + n / COUNT) - low.rest()).max() for n in range(1, COUNT + 1)]
    assert shifts[-1] < 1e-12 < 0.3 < min(shifts[:-1])
    even = EraseATone(signal="vowel", gains=without(*range(1, BARS, 2)))
    np.testing.assert_allclose(even.rest(period + 1 / 2), even.rest(), atol=1e-12)


def test_a_pointer_cuts_each_bar_that_it_passes(javascript):
    waves = waves_of(javascript, GIVEN["click"])  # amplitudes 1/32, at the ends 1/64
    (top,) = {javascript(MATH, "topOf", waves)}
    assert top == 0.05
    whole = javascript(MATH, "cut", ONES, waves, [3, 0.04], [5, 0.04], top)
    assert whole == ONES  # above a bar nothing is cut
    half = javascript(MATH, "cut", ONES, waves, [3, 1 / 64], [5, 1 / 64], top)
    assert [k for k in range(BARS) if half[k] != 1] == [3, 4, 5]
    assert half[4] == 0.5
    slope = javascript(MATH, "cut", ONES, waves, [5, 0.0], [3, 1 / 32], top)
    assert slope[3:6] == [1, 0.5, 0]
    low = javascript(MATH, "cut", ONES, waves, [0, 0.002], [32, -3], top)
    assert low == [0] * BARS
    chord = waves_of(javascript, GIVEN["chord"])
    low = javascript(MATH, "cut", ONES, chord, [0, 0], [32, 0], 0.3)
    assert [k for k in range(BARS) if low[k] == 0] == [4, 5, 6, 24]  # the others are not there


@given(lines)
def test_every_bar_has_room(javascript, x):
    waves = waves_of(javascript, x)
    assert javascript(MATH, "topOf", waves) >= max(wave["amplitude"] for wave in waves)


def without(*gone):
    return [0.0 if k in gone else 1.0 for k in range(BARS)]


@pytest.mark.parametrize(
    ("x", "at", "gains", "said"),
    [
        (
            GIVEN["chord"],
            24,
            ONES,
            "2,400 Hz: amplitude 0.2, 17.6% of the energy. "
            "No bar is lowered: the waves together are the sound.",
        ),
        (GIVEN["chord"], 24, without(24), "One bar is lowered: 82.4% of the energy is left."),
        (GIVEN["chord"], 24, without(4, 5, 6, 24), "4 bars are lowered: 0.0% of the energy"),
        (GIVEN["chord"], 24, without(7), "No bar is lowered"),
        (GIVEN["chord"], 7, ONES, "700 Hz: no such wave in the sound."),
        (GIVEN["square"], 1, ONES, "100 Hz: amplitude 1.274, 81.1% of the energy."),
        ([0.5] * COUNT, 0, ONES, "0 Hz, the mean: amplitude 0.5, 100.0% of the energy."),
        ([0.0] * COUNT, 3, ONES, "The line is flat: no wave. Draw one"),
    ],
)
def test_the_result_line_says_what_is_left(javascript, x, at, gains, said):
    state = {"at": at, "gains": gains, "base": 100}
    assert said in javascript(MATH, "describe", state, waves_of(javascript, x))


@pytest.mark.parametrize(
    ("state", "complaint"),
    [
        ({"at": 33}, "at must be 0 to 32"),
        ({"signal": "drum"}, "signal"),
        ({"gains": ONES[1:]}, "gains must hold 33 numbers from 0 to 1, got shape"),
        ({"gains": [1.1, *ONES[1:]]}, "gains must hold 33 numbers from 0 to 1"),
        ({"drawn": [math.nan] * COUNT}, "drawn must hold 64 numbers from -1 to 1"),
        ({"drawn": ["a"] * COUNT}, "drawn must hold numbers"),
    ],
)
def test_values_out_of_range_are_refused(state, complaint):
    with pytest.raises(traitlets.TraitError, match=complaint):
        EraseATone(**state)


def test_the_still_picture_shows_what_is_left():
    widget = EraseATone(gains=without(24), at=24)
    sound, bars = widget.picture().axes
    t, left = sound.lines[2].get_xdata(), sound.lines[2].get_ydata()
    np.testing.assert_allclose(left, widget.rest(t / 10), atol=1e-12)
    heights = [patch.get_height() for patch in bars.patches]
    np.testing.assert_allclose(heights[:BARS], widget.amplitudes())
    assert heights[BARS + 24] == 0
    for signal in SIGNALS:
        assert png(EraseATone(signal=signal).picture()).startswith(b"\x89PNG")


def middle(page, name):
    box = page.locator(f"svg.{name}").bounding_box()
    return box["x"] + 38, box["y"] + 8, box["width"] - 48, box["height"] - 46


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_a_bar_is_pulled_down_and_a_line_drawn(widget_page, width):
    page = widget_page(EraseATone(), width=width, has_touch=True)
    result = page.locator(".result")
    left, top, wide, high = middle(page, "bars")

    def bar(k):
        return left + wide * (k + 0.8) / 33.6

    assert "2,400 Hz: amplitude 0.2" in result.inner_text()
    page.mouse.click(bar(24), top + 0.8 * high)  # a press takes the wave away
    settle(page)
    assert page.evaluate("model.get('gains')[24]") == 0
    assert "82.4% of the energy is left" in result.inner_text()
    page.mouse.click(bar(24), top + 0.8 * high)
    settle(page)
    assert page.evaluate("model.get('gains')[24]") == 1
    page.mouse.move(bar(5), top + 0.3 * high)
    page.mouse.down()
    page.mouse.move(bar(5) + 3, top + (1 - 0.125 / 0.3) * high, steps=4)  # half of 0.25
    page.mouse.up()
    settle(page)
    assert page.evaluate("model.get('gains')[5]") == pytest.approx(0.5, abs=0.03)
    page.mouse.move(bar(3), top + high + 4)
    page.mouse.down()
    page.mouse.move(bar(12), top + high + 4, steps=3)  # a wipe along the foot
    page.mouse.up()
    settle(page)
    gone = page.evaluate("model.get('gains').flatMap((g, k) => (g ? [] : [k]))")
    assert gone == [4, 5, 6]
    page.get_by_role("button", name="All up").tap()
    settle(page)
    assert page.evaluate("Math.min(...model.get('gains'))") == 1
    x0, y0, w, h = middle(page, "sheet")
    page.mouse.move(x0, y0 + h / 2)
    page.mouse.down()
    page.mouse.move(x0 + w / 2, y0 + h / 2 - h / 2.6, steps=3)
    page.mouse.up()
    settle(page)
    assert page.evaluate("model.get('signal')") == "own"
    drawn = page.evaluate("model.get('drawn')")
    np.testing.assert_allclose(drawn[:33], np.arange(33) / 32, atol=0.03)
    np.testing.assert_allclose(drawn[34:], GIVEN["chord"][34:])
    page.get_by_role("button", name="Empty sheet").tap()
    settle(page)
    assert "The line is flat" in result.inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


@pytest.mark.browser
def test_a_bar_is_pressed_by_key_and_every_second_one_at_once(widget_page):
    page = widget_page(EraseATone(at=5), width=390)
    page.locator("svg.bars").focus()
    for key, left in (("Enter", 0), (" ", 1), ("Enter", 0)):
        page.keyboard.press(key)
        settle(page)
        assert page.evaluate("model.get('gains')[5]") == left
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowDown")
    page.get_by_role("button", name="Odd bars down").press("Enter")
    settle(page)
    gains = page.evaluate("model.get('gains')")
    assert gains == [0 if k % 2 else 0.9 if k == 4 else 1 for k in range(len(gains))]


@pytest.mark.browser
def test_a_wipe_selects_no_words(widget_page):
    page = widget_page(EraseATone(), width=1400)
    left, top, wide, high = middle(page, "bars")
    page.mouse.move(left + 0.1 * wide, top + 0.8 * high)
    page.mouse.down()
    page.mouse.move(left + 0.9 * wide, top + 0.8 * high, steps=12)
    page.mouse.up()
    settle(page)
    assert page.evaluate("Math.min(...model.get('gains').slice(4, 25))") < 1  # it was a wipe
    assert page.evaluate("getSelection().toString()") == ""


@pytest.mark.browser
def test_a_finger_draws_and_presses(widget_page):
    page = widget_page(EraseATone(), width=390, has_touch=True)
    left, top, wide, high = middle(page, "bars")
    page.touchscreen.tap(left + wide * 24.8 / 33.6, top + high / 2)
    settle(page)
    assert page.evaluate("model.get('gains')[24]") == 0
    x0, y0, w, h = middle(page, "sheet")
    page.touchscreen.tap(x0 + w / 2, y0 + h / 2)
    settle(page)
    assert page.evaluate("model.get('drawn')[32]") == pytest.approx(0, abs=0.02)
    for name in ("sheet", "bars"):  # a finger that draws does not scroll the page
        touch = f"getComputedStyle(document.querySelector('svg.{name}')).touchAction"
        assert page.evaluate(touch) == "none"


@pytest.mark.browser
def test_keys_reach_every_bar_and_every_sample(widget_page):
    page = widget_page(EraseATone())
    bars, sheet = page.locator("svg.bars"), page.locator("svg.sheet")
    slider = page.get_by_role("slider", name="Wave")
    slider.press("Home")
    settle(page)
    assert "0 Hz, the mean: no such wave" in page.locator(".result").inner_text()
    slider.press("End")
    bars.press("ArrowRight")
    settle(page)
    assert page.evaluate("model.get('at')") == 32
    for _ in range(8):
        bars.press("ArrowLeft")
    bars.press("PageDown")
    settle(page)
    assert page.evaluate("[model.get('at'), model.get('gains')[24]]") == [24, 0]
    page.get_by_role("slider", name="Its bar").press("End")
    settle(page)
    assert page.evaluate("model.get('gains')[24]") == 1
    sheet.press("ArrowRight")
    sheet.press("PageUp")
    settle(page)
    was = GIVEN["chord"][17]
    assert page.evaluate("model.get('drawn')[17]") == pytest.approx(min(1, was + 0.5), abs=0.01)
    page.get_by_label("Sound", exact=True).select_option("square")
    settle(page)
    assert page.evaluate("[model.get('signal'), model.get('at')]") == ["square", 1]
    assert "100 Hz: amplitude 1.274" in page.locator(".result").inner_text()


@pytest.mark.browser
@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_what_is_moved_and_what_changes_stand_on_one_screen(widget_page, width, height):
    page = widget_page(EraseATone(), width=width)
    assert page.locator("#widget").bounding_box()["height"] < height - 60


@pytest.mark.browser
def test_a_browser_without_sound_says_so_in_the_button(widget_page):
    page = widget_page(EraseATone())
    before = page.locator("#widget").bounding_box()["height"]
    page.evaluate("(window.AudioContext = class { constructor() { throw new Error('none'); } }, 0)")
    page.get_by_role("button", name="Hear what is left").click()
    assert page.get_by_role("button", name="This browser plays no sound").is_disabled()
    assert page.locator("#widget").bounding_box()["height"] == before


RATE = 48_000
RECORD = """async ({ source, before, after, rate }) => {
  const tape = new OfflineAudioContext(1, 2 * rate, rate);
  const onward = () => OfflineAudioContext.prototype.resume.call(tape);
  tape.resume = () => {};
  window.AudioContext = function () { return tape; };
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const { repeater } = await import(address);
  const { start, tune, stop } = repeater(100);
  start(before);
  tape.suspend(0.8).then(() => { tune(after); onward(); });
  tape.suspend(1.7).then(() => { stop(); onward(); });
  return [...(await tape.startRendering()).getChannelData(0)];
}"""


@pytest.mark.browser
def test_the_whistle_is_heard_no_more_the_chord_goes_on_and_nothing_clicks(chromium, javascript):
    waves = waves_of(javascript, GIVEN["chord"])
    before = [[wave["re"], wave["im"]] for wave in waves]
    after = [[0, 0] if k == 24 else wave for k, wave in enumerate(before)]
    source = Path(shared.__file__).with_name("speaker.js").read_text("utf-8")
    page = chromium.new_page()
    given_ = {"source": source, "before": before, "after": after, "rate": RATE}
    sound = np.array(page.evaluate(RECORD, given_))
    page.close()

    def amplitude(f, first, last):
        n = np.arange(int(first * RATE), int(last * RATE))
        return 2 * abs(np.mean(sound[n] * np.exp(-2j * np.pi * f * n / RATE)))

    for f in (400, 500, 600):
        for first, last in ((0.3, 0.7), (0.7, 1.1), (1.2, 1.6)):  # through the change as well
            assert amplitude(f, first, last) == pytest.approx(0.24 * 0.25, rel=0.02)
    assert amplitude(2400, 0.3, 0.7) == pytest.approx(0.24 * 0.2, rel=0.02)
    assert amplitude(2400, 1.2, 1.6) < 1e-5
    steady = np.abs(np.diff(sound[int(0.3 * RATE) : int(0.7 * RATE)])).max()
    assert np.abs(np.diff(sound)).max() <= 1.02 * steady
    assert np.flatnonzero(sound)[-1] < 1.8 * RATE
