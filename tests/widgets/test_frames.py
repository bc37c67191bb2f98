"""What a frame of a widget does: it writes what differs, and asks for no layout between its writes.

How long a frame takes says as much about the machine as about the widget, and decides no test: the
times are in the table of `make bench`.
"""

from __future__ import annotations

from typing import Any

import pytest
from widget_page import PATIENCE, settle

from primer import widgets

pytestmark = pytest.mark.browser

# Collects what is written, and what is read of the layout after something was written, in the
# frames that follow; `frameOf(act)` tells what they were.
WATCH = """() => {
  const root = document.getElementById("widget");
  let dirty = false;
  let forced = [];
  let records = []; // the browser hands them over between a frame and what waits for it
  const observer = new MutationObserver((some) => records.push(...some));
  const options = { subtree: true, childList: true, attributes: true, characterData: true };
  observer.observe(root, { ...options, attributeOldValue: true, characterDataOldValue: true });
  const spy = (owner, name, mark) => {
    const found = Object.getOwnPropertyDescriptor(owner, name);
    for (const part of ["get", "set", "value"]) {
      const own = found[part];
      if (typeof own !== "function") continue;
      found[part] = function (...given) {
        mark(part, name);
        return own.apply(this, given);
      };
    }
    Object.defineProperty(owner, name, found);
  };
  const reads = (_, name) => dirty && forced.push(name);
  const writes = (part) => { if (part !== "get") dirty = true; };
  for (const name of ["clientWidth", "clientHeight", "scrollWidth", "scrollHeight"])
    spy(Element.prototype, name, reads);
  for (const name of ["offsetWidth", "offsetHeight", "offsetTop", "offsetLeft"])
    spy(HTMLElement.prototype, name, reads);
  spy(Element.prototype, "getBoundingClientRect", reads);
  spy(SVGGraphicsElement.prototype, "getBBox", reads);
  spy(SVGTextContentElement.prototype, "getComputedTextLength", reads);
  spy(window, "getComputedStyle", reads);
  for (const name of ["setAttribute", "removeAttribute", "replaceChildren", "append"])
    spy(Element.prototype, name, writes);
  spy(Node.prototype, "textContent", writes);
  // a slider is laid out anew when its value is set, also to the one it has
  let placed = 0;
  spy(HTMLInputElement.prototype, "value", (part) => { if (part === "set") placed++; });

  const told = (record) => {
    const { type, target, attributeName: name, oldValue, addedNodes, removedNodes } = record;
    const where = `${target.nodeName.toLowerCase()}.${target.getAttribute?.("class") ?? ""}`;
    if (type === "attributes") return [target.getAttribute(name) === oldValue, `${where} ${name}`];
    if (type === "characterData") return [target.data === oldValue, where];
    const text = (nodes) => [...nodes].map((node) => node.outerHTML ?? node.data).join("");
    return [addedNodes.length > 0 && text(addedNodes) === text(removedNodes), where];
  };
  window.frameOf = async (act) => {
    observer.takeRecords();
    [dirty, forced, placed, records] = [false, [], 0, []];
    act();
    dirty = false; // a frame is a new beginning: what the browser did meanwhile is laid out
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    const found = [...records, ...observer.takeRecords()].map(told);
    return { written: found.map(([, what]) => what), forced, placed,
      same: found.filter(([same]) => same).map(([, what]) => what) };
  };
}"""


def opened(widget_page: Any, name: str) -> Any:
    """Show a widget, wait until it rests, and watch what it does."""
    page = widget_page(getattr(widgets, name)())
    page.wait_for_selector("[aria-busy=true]", state="detached", timeout=PATIENCE)
    # what is closed is drawn when the browser has time, which on a busy machine may be never
    page.evaluate("() => new Promise((go) => requestIdleCallback(go, { timeout: 2000 }))")
    settle(page)
    page.evaluate(WATCH)
    return page


@pytest.mark.parametrize("name", widgets.__all__)
def test_a_frame_writes_only_what_differs_and_reads_no_layout_meanwhile(widget_page, name):
    page = opened(widget_page, name)
    found = page.evaluate("frameOf(() => model.listeners.forEach(([, call]) => call()))")
    assert found == {"written": [], "forced": [], "same": [], "placed": 0}, "nothing changed"
    sliders = page.locator("#widget input[type=range]:enabled:visible").all()
    for slider in sliders:
        moved = """(slider) => frameOf(() => {
          const up = Number(slider.value) < Number(slider.max);
          if (up) slider.stepUp(); else slider.stepDown();
          slider.dispatchEvent(new Event("input", { bubbles: true }));
        })"""
        found = slider.evaluate(moved)
        label = slider.evaluate("(e) => e.labels[0]?.textContent ?? e.ariaLabel")
        assert (found["same"], found["forced"]) == ([], []), label
