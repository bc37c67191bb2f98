"""Open a widget on a page of its own, as a notebook without its kernel would, and use it."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from pathlib import Path

from playwright.sync_api import Locator, Page

from primer.widgets.base import Widget

AXE = Path(__file__).parents[1] / "node_modules" / "axe-core" / "axe.min.js"
PAGE = """<!doctype html>
<html lang="en" data-theme="{theme}">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>A widget</title>
<style>body {{ margin: 1rem auto; max-width: 50rem; }} {css}</style>
</head>
<body><main><div id="widget"></div></main></body>
<script type="module">
  const revive = (key, value) => value?.base64 === undefined ? value
    : new DataView(Uint8Array.from(atob(value.base64), (byte) => byte.charCodeAt(0)).buffer);
  const [source, state, listeners] = [{source}, JSON.parse({state}, revive), []];
  window.model = {{
    get: (name) => state[name],
    set(name, value) {{
      if (Object.is(state[name], value)) return;
      state[name] = value;
      for (const [event, call] of [...listeners]) if (event === `change:${{name}}`) call();
    }},
    save_changes() {{}},
    on: (event, call) => listeners.push([event, call]),
    off(event, call) {{
      listeners.splice(listeners.findIndex(([e, c]) => e === event && c === call) >>> 0, 1);
    }},
    listeners,
  }};
  const blob = new Blob([source], {{ type: "text/javascript" }});
  const widget = (await import(URL.createObjectURL(blob))).default;
  window.unmount = await widget.render({{ model, el: document.getElementById("widget") }});
</script>
</html>
"""


def show_widget(page: Page, widget: Widget, theme: str = "light") -> None:
    """Run a widget's bundle on a model that has its state and no Python behind it."""
    state = {name: getattr(widget, name) for name in widget.state_names()}
    packed = json.dumps(state, default=lambda data: {"base64": base64.b64encode(data).decode()})
    source, literal = (json.dumps(text).replace("</", "<\\/") for text in (widget._esm, packed))
    page.set_content(PAGE.format(theme=theme, css=widget._css, source=source, state=literal))
    page.wait_for_selector("#widget[data-ready]")


def settle(page: Page) -> None:
    """Wait until the page has drawn what was asked for."""
    page.evaluate("() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))")


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


def complaints(page: Page) -> list[tuple[str, str]]:
    """Return what axe-core finds wrong with the widget: its rules and the elements."""
    page.evaluate("document.body.style.background = getComputedStyle(widget).backgroundColor")
    page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate("axe.run(document.getElementById('widget'))")
    return [(rule["id"], rule["nodes"][0]["html"]) for rule in found["violations"]]
