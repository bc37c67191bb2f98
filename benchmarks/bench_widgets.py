"""The time a widget takes for a frame, after an input and while it plays, beside the budget."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from playwright.sync_api import sync_playwright
from tests.chromium import ARGUMENTS, find_chromium
from tests.widget_page import show_widget

from benchmarks.table import Row
from primer import widgets

INPUTS = 100
BUDGET = 12.0  # milliseconds, of the 16 that 60 frames in a second leave
SLOWED, SLOW_BUDGET = 6, 75.0
"""A telephone's processor: so many times slower, and the milliseconds it may take."""

# Moves the sliders in turn; where a widget has none, presses the arrow keys on its drawings, or its
# buttons.  An input's time is that of the slower of the two frames after it, script and layout; the
# first bears the handler too.
MEASURE = """async (inputs) => {
  const frame = window.requestAnimationFrame.bind(window);
  let frames = new Map(); // what the calls of each frame took; all of them are told one time
  window.requestAnimationFrame = (call) => frame((now) => {
    const start = performance.now();
    call(now);
    document.body.getBoundingClientRect();
    frames.set(now, (frames.get(now) ?? 0) + performance.now() - start);
  });
  const sliders = [...document.querySelectorAll("input[type=range]")];
  const drawings = [...document.querySelectorAll("#widget :is(svg, [role])[tabindex='0']")];
  const move = (i) => {
    const slider = sliders[i % sliders.length];
    const [low, high] = [Number(slider.min), Number(slider.max)];
    slider.value = low + (((7 * i) % 11) / 11) * (high - low);
    return [slider, new Event("input", { bubbles: true })];
  };
  const press = (i) => {
    const key = ["ArrowDown", "ArrowRight", "ArrowDown", "ArrowUp"][i % 4];
    const options = { key, bubbles: true, cancelable: true };
    return [drawings[i % drawings.length], new KeyboardEvent("keydown", options)];
  };
  const buttons = [...document.querySelectorAll("#widget button")];
  const click = (i) => [buttons[i % buttons.length], new MouseEvent("click", { bubbles: true })];
  const act = sliders.length ? move : drawings.length ? press : click;
  const times = [];
  for (let i = 0; i < inputs; i++) {
    const [element, event] = act(i);
    frames = new Map();
    const start = performance.now();
    element.dispatchEvent(event);
    const handled = performance.now() - start;
    await new Promise((done) => frame(() => frame(done)));
    const [first = 0, ...others] = frames.values();
    times.push(Math.max(handled + first, ...others));
  }
  return times;
}"""

# Presses the button of a widget that plays or computes for long, and times its frames, script and
# layout.
PLAY = """async ([name, frames]) => {
  const frame = window.requestAnimationFrame.bind(window);
  const times = new Map();
  window.requestAnimationFrame = (call) => frame((now) => {
    const start = performance.now();
    call(now);
    document.body.getBoundingClientRect();
    times.set(now, (times.get(now) ?? 0) + performance.now() - start);
  });
  const buttons = [...document.querySelectorAll("#widget button")];
  buttons.find((button) => button.textContent.includes(name)).click();
  for (let i = 0; i < frames; i++) await new Promise((done) => frame(done));
  return [...times.values()];
}"""
PLAYING = {"SmallNetwork": "Train", "LoraDial": "Measure the whole curve"}


def rows() -> Iterator[Row]:
    """Yield the 95th percentile of each widget, on a wide page and on a phone's."""
    path = find_chromium()
    if path is None:
        print("No Chromium: the widgets' frames are not measured.")
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        for name in widgets.__all__:
            for width in (1400, 390):
                page = browser.new_page(viewport={"width": width, "height": 900})
                show_widget(page, getattr(widgets, name)())
                times = page.evaluate(MEASURE, INPUTS)
                work = f"{name}: frame after an input, p95 of {INPUTS}, {width} px"
                yield Row(work, float(np.percentile(times, 95)), BUDGET, "budget", unit="ms")
                page.close()
            page = browser.new_page(viewport={"width": 390, "height": 900})
            show_widget(page, getattr(widgets, name)())
            session = page.context.new_cdp_session(page)
            session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWED})
            times = page.evaluate(MEASURE, INPUTS // 3)
            work = f"{name}: the same, 390 px, processor slowed {SLOWED} times"
            yield Row(work, float(np.percentile(times, 95)), SLOW_BUDGET, "budget", unit="ms")
            page.close()
        for name, button in PLAYING.items():
            page = browser.new_page(viewport={"width": 1400, "height": 900})
            show_widget(page, getattr(widgets, name)())
            times = page.evaluate(PLAY, [button, INPUTS])
            work = f"{name}: frame while it plays, p95 of {INPUTS}, 1400 px"
            yield Row(work, float(np.percentile(times, 95)), BUDGET, "budget", unit="ms")
            page.close()
        browser.close()
