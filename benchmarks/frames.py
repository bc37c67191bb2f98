"""Time the frames of a widget in a page, in turns with a fixed drawing task of the same page.

A frame lasts from the input, or from the first call that the page asked for, until the browser has
styled, laid out and painted what they changed.  How long that takes says as much about the machine
as about the widget, and about what else the machine does: so frames are given as multiples of what
the fixed task takes in between, and the budgets are such multiples.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from playwright.sync_api import Browser
from widget_page import show_widget

from primer.widgets.base import Widget

SLOWED = 6
"""A telephone's processor: so many times slower."""
BUDGET = 1.0
"""Where the fixed task takes 6 ms, a frame is to take half of the 12 ms that keep a page smooth,
and half of 75 ms on a processor that is slowed six times: both are what the task takes."""


class Frames(NamedTuple):
    """What the frames of a widget take, each after an input.

    Attributes
    ----------
    usual, long : float
        The median and the 95th percentile, as multiples of the fixed task.
    milliseconds : float
        The 95th percentile.
    """

    usual: float
    long: float
    milliseconds: float


FRAMES = """() => {
  const SVG = "http://www.w3.org/2000/svg";
  const make = (tag, parent) => parent.appendChild(document.createElementNS(SVG, tag));
  const drawing = make("svg", document.body);
  drawing.style.cssText = "position: absolute; top: 0; left: 0; contain: strict; z-index: -1";
  for (const [name, value] of [["width", 360], ["height", 240]]) drawing.setAttribute(name, value);
  const shapes = Array.from({ length: 60 }, (_, i) => {
    const [curve, word] = [make("path", drawing), make("text", drawing)];
    curve.setAttribute("fill", "none");
    curve.setAttribute("stroke", "silver");
    word.setAttribute("x", 6 * i);
    word.setAttribute("y", 4 * i);
    return [curve, word];
  });
  const task = (turn) => shapes.forEach(([curve, word], i) => {
    let d = "M0 120";
    for (let x = 1; x <= 60; x++) {
      d += `L${6 * x} ${(120 + 2 * i * Math.sin((x + turn) / (1 + i))).toFixed(2)}`;
    }
    curve.setAttribute("d", d);
    word.textContent = (turn / (i + 1)).toFixed(3);
  });

  const own = window.requestAnimationFrame.bind(window);
  let frames = new Map(); // when the first call of a frame began; all of them are told one time
  const { port1, port2 } = new MessageChannel();
  const ends = new Map();
  port1.onmessage = ({ data }) => ends.set(data, performance.now());
  window.requestAnimationFrame = (call) => own((now) => {
    if (!frames.has(now)) {
      frames.set(now, performance.now());
      port2.postMessage(now);
    }
    call(now);
  });
  const settled = () => new Promise((done) => own(() => own(() => setTimeout(done))));
  const spent = async () => {
    for (const now of frames.keys()) {
      while (!ends.has(now)) await new Promise((done) => setTimeout(done));
    }
    return [...frames].map(([now, begun]) => ends.get(now) - begun);
  };
  const timed = async (act) => {
    frames = new Map();
    const start = performance.now();
    act();
    const handled = performance.now() - start;
    await settled();
    const [first = 0, ...others] = await spent();
    return Math.max(handled + first, ...others);
  };
  let turn = 0;
  const fixed = () => timed(() => window.requestAnimationFrame(() => task(turn++)));

  const all = (which) => [...document.querySelectorAll(`#widget :is(${which})`)];
  const visible = (element) => element.checkVisibility() && !element.disabled;
  const sliders = all("input[type=range]").filter(visible);
  const drawings = all("svg[tabindex='0'], [role][tabindex='0']").filter(visible);
  const buttons = all("button").filter(visible);
  const choices = all("input[type=radio]").filter(visible);
  const slide = (i) => {
    const slider = sliders[i % sliders.length];
    const [low, high] = [Number(slider.min), Number(slider.max)];
    slider.value = low + (((7 * i) % 11) / 11) * (high - low);
    slider.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const press = (i) => {
    const key = ["ArrowDown", "ArrowRight", "ArrowDown", "ArrowUp"][i % 4];
    drawings[i % drawings.length].dispatchEvent(
      new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  };
  const click = (i) => buttons[i % buttons.length].click();
  const choose = (i) => choices[i % choices.length].click();
  const act = [[sliders, slide], [drawings, press], [buttons, click], [choices, choose]]
    .find(([moved]) => moved.length)[1];

  window.timeInputs = async (inputs) => {
    const times = [];
    for (let i = 0; i < inputs; i++) times.push([await timed(() => act(i)), await fixed()]);
    return times;
  };
  window.timePlay = async ([name, count]) => {
    const times = [];
    for (let i = 0; i < count; i++) times.push([0, await fixed()]);
    frames = new Map();
    buttons.find((button) => button.textContent.includes(name)).click();
    for (let i = 0; i < count; i++) await new Promise(own);
    await settled();
    return [await spent(), times.map(([, task]) => task)];
  };
}"""


def shares(times: list[list[float]]) -> Frames:
    """Divide the frames by the fixed task beside them."""
    frames, task = np.array(times).T
    usual, long = np.percentile(frames, [50, 95])
    unit = float(np.median(task))
    return Frames(float(usual) / unit, float(long) / unit, float(long))


def frames_of(
    browser: Browser, widget: Widget, *, width: int, inputs: int, slowed: int = 1
) -> Frames:
    """Move the sliders of a widget in turn; where it has none, press keys, buttons or choices."""
    page = browser.new_page(viewport={"width": width, "height": 900})
    show_widget(page, widget)
    page.wait_for_selector("[aria-busy=true]", state="detached", timeout=120_000)
    page.evaluate(FRAMES)
    if slowed > 1:
        session = page.context.new_cdp_session(page)
        session.send("Emulation.setCPUThrottlingRate", {"rate": slowed})
    page.evaluate("timeInputs(4)")  # code is compiled when it first runs
    times = page.evaluate("timeInputs", inputs)
    page.close()
    return shares(times)


def frames_playing(browser: Browser, widget: Widget, button: str, *, frames: int) -> Frames:
    """Press a button by which a widget plays or computes for long, and follow its frames."""
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    show_widget(page, widget)
    page.evaluate(FRAMES)
    playing, task = page.evaluate("timePlay", [button, frames])
    page.close()
    unit = float(np.median(task))
    return shares([[one, unit] for one in playing])
