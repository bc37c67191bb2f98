"""Time the frames of a widget in a page, and a fixed drawing task in a page of its own.

A frame lasts from the input, or from the first call that the page asked for, until the browser has
styled, laid out and painted what they changed.  How long that takes says as much about the machine
as about the widget, and about what else the machine does: so frames are given as multiples of what
the fixed task takes just before and after, and the budgets are such multiples.

What is counted is the processor time of the page's thread (the marks of a trace carry its clock),
in which what else the machine does is left out; on a quiet machine it is what a watch shows.  With
the processor slowed this holds less: beside much other work the task took 18 to 31 ms within a
quarter of an hour then, and 2.9 to 3.3 ms at full speed; such ratios need a quiet machine.  The
same inputs come in several rounds, each at values a little beside those of the others, which no
widget has kept, and an input counts with the shortest of its frames: some hold what is not theirs,
the collection of what earlier ones left or the compilation of what runs often.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from playwright.sync_api import Browser, Page
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
    task : float
        What the fixed task takes, in milliseconds.
    """

    usual: float
    long: float
    milliseconds: float
    task: float


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
  let marks = 0;
  const mark = () => {
    performance.mark(`frames ${++marks}`);
    return marks;
  };
  let frames = new Map(); // the mark at the first call of a frame; all of them are told one time
  const { port1, port2 } = new MessageChannel();
  const ends = new Map();
  port1.onmessage = ({ data }) => ends.set(data, mark());
  window.requestAnimationFrame = (call) => own((now) => {
    if (!frames.has(now)) {
      frames.set(now, mark());
      port2.postMessage(now);
    }
    call(now);
  });
  const settled = () => new Promise((done) => own(() => own(() => setTimeout(done))));
  const spent = async () => {
    for (const now of frames.keys()) {
      while (!ends.has(now)) await new Promise((done) => setTimeout(done));
    }
    return [...frames].map(([now, begun]) => [begun, ends.get(now)]);
  };
  // from mark to mark: what handles the input, then each frame
  const timed = async (act) => {
    frames = new Map();
    const start = mark();
    act();
    const handled = [start, mark()];
    await settled();
    return [handled, ...await spent()];
  };
  let turn = 0;
  const fixed = () => timed(() => window.requestAnimationFrame(() => task(turn++)));

  const all = (which) => [...document.querySelectorAll(`#widget :is(${which})`)];
  const visible = (element) => element.checkVisibility() && !element.disabled;
  const sliders = all("input[type=range]").filter(visible);
  const drawings = all("svg[tabindex='0'], [role][tabindex='0']").filter(visible);
  const buttons = all("button").filter(visible);
  const choices = all("input[type=radio]").filter(visible);
  const slide = (i, round) => {
    const slider = sliders[i % sliders.length];
    const [low, high] = [Number(slider.min), Number(slider.max)];
    slider.value = low + ((((7 * i) % 11) / 11 + round / 37) % 1) * (high - low);
    slider.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const press = (i) => {
    const key = ["ArrowDown", "ArrowRight", "ArrowDown", "ArrowUp"][i % 4];
    drawings[i % drawings.length].dispatchEvent(
      new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  };
  const click = (i) => buttons[i % buttons.length].click();
  const choose = (i) => choices[i % choices.length].click();
  window.timeTask = async (count) => {
    const times = [];
    for (let i = 0; i < count; i++) times.push(await fixed());
    return times;
  };
  window.timeInputs = async ([inputs, round]) => {
    const act = [[sliders, slide], [drawings, press], [buttons, click], [choices, choose]]
      .find(([moved]) => moved.length)?.[1];
    if (!act) throw new Error("there is nothing that could be moved");
    const times = [];
    for (let i = 0; i < inputs; i++) times.push(await timed(() => act(i, round)));
    return times;
  };
  window.timePlay = async ([name, count]) => {
    frames = new Map();
    buttons.find((button) => button.textContent.includes(name)).click();
    for (let i = 0; i < count; i++) await new Promise(own);
    await settled();
    return await spent();
  };
}"""


Mark = int
Spans = list[tuple[Mark, Mark]]


def clock(trace: bytes) -> dict[Mark, float]:
    """Return the processor time of the page's thread at each mark, in milliseconds."""
    return {
        int(event["name"].removeprefix("frames ")): event["tts"] / 1000
        for event in json.loads(trace)["traceEvents"]
        if event["name"].startswith("frames ")
    }


def longest(times: Mapping[Mark, float], spans: Spans) -> float:
    """Return the longest frame; to the first of them belongs what handled the input before it.

    >>> longest({1: 0.0, 2: 1.0, 3: 5.0, 4: 7.5, 5: 9.0, 6: 12.0}, [(1, 2), (3, 4), (5, 6)])
    3.5
    """
    handled, first, *others = [times[end] - times[begun] for begun, end in spans] + [0.0]
    return max(handled + first, *others, 0.0)


def shares(frames: Sequence[Sequence[float]], task: Sequence[float]) -> Frames:
    """Divide the frames, from rounds of the same inputs, by the fixed task.

    >>> shares([[6.0, 9.0], [8.0, 4.0]], [4.0, 2.5, 2.0])._replace(long=0)
    Frames(usual=2.0, long=0, milliseconds=5.9, task=2.5)
    """
    usual, long = np.percentile(np.min(np.array(frames), axis=0), [50, 95])
    unit = float(np.median(task))
    return Frames(float(usual) / unit, float(long) / unit, float(long), unit)


def traced(page: Page, work: str, given: object) -> tuple[Any, dict[Mark, float]]:
    """Return what work in the page returns, and the times of its marks."""
    browser = page.context.browser
    assert browser is not None
    browser.start_tracing(page=page, categories=["blink.user_timing"])
    found = page.evaluate(work, given)
    return found, clock(browser.stop_tracing())


def watch(page: Page, slowed: int) -> None:
    """Time what a page draws from now on, with its processor so many times slower."""
    page.evaluate(FRAMES)
    if slowed > 1:
        session = page.context.new_cdp_session(page)
        session.send("Emulation.setCPUThrottlingRate", {"rate": slowed})


def task(browser: Browser, *, width: int, slowed: int = 1, count: int = 15) -> list[float]:
    """Time the fixed task."""
    page = browser.new_page(viewport={"width": width, "height": 900})
    try:
        watch(page, slowed)
        page.evaluate("timeTask", 4)
        found, times = traced(page, "timeTask", count)
    finally:
        page.close()
    return [longest(times, spans) for spans in found]


def frames_of(
    browser: Browser, widget: Widget, *, width: int, inputs: int, rounds: int, slowed: int = 1
) -> Frames:
    """Move the sliders of a widget in turn; where it has none, press keys, buttons or choices."""
    before = task(browser, width=width, slowed=slowed)
    page = browser.new_page(viewport={"width": width, "height": 900})
    try:
        show_widget(page, widget)
        page.wait_for_selector("[aria-busy=true]", state="detached", timeout=120_000)
        watch(page, slowed)
        page.evaluate("timeInputs", [4, rounds])  # code is compiled when it first runs
        found = []
        for i in range(rounds):
            moved, times = traced(page, "timeInputs", [inputs, i])
            found.append([longest(times, spans) for spans in moved])
    finally:
        page.close()
    return shares(found, before + task(browser, width=width, slowed=slowed))


def frames_playing(browser: Browser, widget: Widget, button: str, *, frames: int) -> Frames:
    """Press a button by which a widget plays or computes for long, and follow its frames."""
    before = task(browser, width=1400)
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    try:
        show_widget(page, widget)
        watch(page, 1)
        spans, times = traced(page, "timePlay", [button, frames])
    finally:
        page.close()
    playing = [times[end] - times[begun] for begun, end in spans]
    return shares([playing], before + task(browser, width=1400))
