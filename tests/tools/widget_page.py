"""Open a widget on a page of its own, as a notebook without its kernel would, and use it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from axe import AXE
from playwright.sync_api import Locator, Page

from primer.widgets.base import Widget
from sphinx_widget_host import HOST

PATIENCE = 120_000  # ms; timings never decide a test

PAGE = """<!doctype html>
<html lang="en" data-theme="{theme}">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>A widget</title>
<style>body {{ margin: 1rem auto; max-width: 50rem; }}</style>
</head>
<body>
<main><script type="application/vnd.jupyter.widget-view+json">{view}</script></main>
<script type="application/vnd.jupyter.widget-state+json">{state}</script>
<script>{host}</script>
</body>
</html>
"""

# The widget's module, with its model and the function that ends it in the tests' reach.
WITNESS = """
const text = {source};
const {{ default: own }} = await import(
  URL.createObjectURL(new Blob([text], {{ type: "text/javascript" }})));
export default {{
  async render(context) {{
    const {{ model, el }} = context;
    const {{ on, off }} = model;
    model.listeners = [];
    model.on = (...given) => {{
      model.listeners.push(given);
      return on.apply(model, given);
    }};
    model.off = (name, call) => {{
      model.listeners = model.listeners.filter(([e, c]) => e !== name || c !== call);
      return off.call(model, name, call);
    }};
    el.id = "widget";
    Object.assign(window, {{ model, unmount: await own.render(context) }});
  }},
}};
"""


def named_in_order(value: Any, backward: bool) -> Any:
    """Sort the names of all dictionaries in a value, from A to Z or from Z to A."""
    if isinstance(value, dict):
        names = sorted(value, reverse=backward)
        return {name: named_in_order(value[name], backward) for name in names}
    if isinstance(value, list):
        return [named_in_order(part, backward) for part in value]
    return value


def show_widget(page: Page, widget: Widget, theme: str = "light", backward: bool = False) -> None:
    """Show a widget as the site does: the host, the saved state, and no Python behind it.

    The names in the state are sorted, as a notebook's file sorts them, or in the opposite order:
    what has an order of its own must not stand in a dictionary.
    """
    saved = Widget.get_manager_state(widgets=[widget])
    record = saved["state"][widget.model_id]
    state = {**record["state"], "_esm": WITNESS.format(source=json.dumps(record["state"]["_esm"]))}
    saved["state"][widget.model_id] = {**record, "state": state}
    view = json.dumps({"model_id": widget.model_id})
    saved = named_in_order(saved, backward)
    inside = json.dumps(saved, default=str).replace(
        "</", "<\\/"
    )  # nothing in it may end the script
    host = HOST.read_text("utf-8")
    page.set_content(PAGE.format(theme=theme, view=view, state=inside, host=host))
    page.wait_for_selector("#widget[data-ready]")


DRAWN = """async () => {
  // Eight frames: some widgets draw up to six parts in turns (shared/in_turns.js).
  for (let i = 0; i < 8; i++) await new Promise(requestAnimationFrame);
  // What is closed is drawn when nothing has moved for 200 ms (shared/folded.js).
  if (document.querySelector("details:not([open])"))
    await new Promise((done) => setTimeout(done, 210));
}"""


def settle(page: Page) -> None:
    """Wait until the page has drawn what was asked for, in closed folds as well."""
    page.evaluate(DRAWN)


def rest(page: Page) -> None:
    """Wait until what a widget computes beside the page is done and drawn."""
    settle(page)
    page.wait_for_selector("[aria-busy=true]", state="detached", timeout=PATIENCE)
    settle(page)


def center(mark: Locator) -> tuple[float, float]:
    """Return the middle of a mark on the page."""
    box = mark.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag_by_finger(page: Page, mark: Locator, way: Iterable[float]) -> None:
    """Touch a mark and move it up or down, so many pixels from where it was at each step."""
    session = page.context.new_cdp_session(page)
    x, y = center(mark)
    for kind, dy in [("touchStart", 0.0), *(("touchMove", dy) for dy in way)]:
        at = [{"x": x, "y": y + dy}]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": at})
        settle(page)
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


# A widget has the same parts in both themes: in the dark one, mostly on a telephone, only what
# colors and widths decide is read again.
LOOK_AT_IT = """(theme) => axe.run(widget, {
  resultTypes: ["violations"],
  ...(theme === "dark" && {
    runOnly: ["color-contrast", "link-in-text-block", "scrollable-region-focusable"],
  }),
}).then(({ violations }) => violations)"""


def complaints(page: Page) -> list[tuple[str, str]]:
    """Return what axe-core finds wrong with the widget: its rules and the elements."""
    page.wait_for_selector("[aria-busy=true]", state="detached", timeout=PATIENCE)
    page.evaluate("document.body.style.background = getComputedStyle(widget).backgroundColor")
    page.evaluate(AXE.read_text("utf-8"))
    # what is in order, thousands of elements, need not leave the page
    found = page.evaluate(LOOK_AT_IT, page.evaluate("document.documentElement.dataset.theme"))
    return [(rule["id"], rule["nodes"][0]["html"]) for rule in found]
