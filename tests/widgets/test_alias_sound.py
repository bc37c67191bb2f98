"""What is heard of an alias: the samples that the page sends to a speaker, measured."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from primer.widgets import shared
from primer.widgets.alias_by_ear import AliasByEar

SPEAKER = Path(shared.__file__).with_name("speaker.js")
RATE = 48_000

# The widget's own speaker plays into a recording; what happens later waits for its time.
RECORD = """async ({ source, acts, seconds, rate }) => {
  const tape = new OfflineAudioContext(1, seconds * rate, rate);
  const onward = () => OfflineAudioContext.prototype.resume.call(tape);
  tape.resume = () => {};
  window.AudioContext = function () { return tape; };
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const { speaker } = await import(address);
  const { start, tune, stop } = speaker();
  const act = ([, what, frequency, level]) => ({ start, tune, stop })[what]({ frequency, level });
  acts.filter(([time]) => !time).forEach(act);
  for (const one of acts.filter(([time]) => time))
    tape.suspend(one[0]).then(() => { act(one); onward(); });
  return [...(await tape.startRendering()).getChannelData(0)];
}"""


@pytest.fixture
def record(chromium):
    page = chromium.new_page()

    def play(acts, seconds=1.5):
        given = {"source": SPEAKER.read_text("utf-8"), "acts": acts}
        return np.array(page.evaluate(RECORD, {**given, "seconds": seconds, "rate": RATE}))

    yield play
    page.close()


def pitch(sound):
    """Return the frequency of the highest peak, between its neighbors, and what lies below it."""
    spectrum = np.abs(np.fft.rfft(sound * np.hanning(len(sound))))
    k = int(spectrum.argmax())
    a, b, c = np.log(spectrum[k - 1 : k + 2])
    others = np.delete(spectrum, range(max(0, k - 4), k + 5)).max()
    return (k + (a - c) / (2 * (a - 2 * b + c))) * RATE / len(sound), others / spectrum[k]


@pytest.mark.browser
@pytest.mark.parametrize("tone", [1200, 3300])
def test_what_is_heard_is_what_is_drawn_and_nothing_clicks(record, tone):
    heard = AliasByEar(tone=tone, rate=2000).heard()
    sound = record([[0, "start", heard.frequency, heard.level], [1, "stop", 0, 0]])
    steady = sound[int(0.3 * RATE) : int(0.9 * RATE)]
    found, others = pitch(steady)
    assert found == pytest.approx(heard.frequency, abs=0.1)
    assert others < 1e-4  # nothing else sounds
    assert np.abs(sound).max() == pytest.approx(0.12, abs=1e-3)  # an eighth of what would be loud
    steps = np.abs(np.diff(sound))
    assert steps.max() <= 1.01 * np.abs(np.diff(steady)).max()  # neither its start nor its end
    last = np.flatnonzero(sound)[-1]
    assert last < 1.1 * RATE
    assert np.abs(sound[last - 48 : last + 1]).max() < 1e-3


@pytest.mark.browser
def test_a_swap_and_a_glide_do_not_click_and_no_tone_is_no_sound(record):
    swapped = record([[0, "start", 3300, 1], [0.5, "start", 700, 1], [1, "stop", 0, 0]])
    assert np.abs(swapped).max() < 0.125
    frames = [[0.1 + i / 60, "tune", 50 + 400 * i / 60, 1] for i in range(60)]
    glide = record([[0, "start", 50, 1], *frames, [1.3, "stop", 0, 0]])
    assert np.abs(glide).max() < 0.125
    assert np.abs(np.diff(glide)).max() < 1.05 * 0.12 * 2 * np.pi * 450 / RATE
    assert not record([[0, "start", 0, 1], [1, "stop", 0, 0]]).any()
