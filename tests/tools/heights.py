"""How high each widget is in columns of many widths, measured on the built site.

``python tests/tools/heights.py`` writes it into ``lib/press/pages/widget_heights.json``, from which
the next build of the book keeps the places of the widgets; do it after a change of what a widget
shows at first, then build again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from chromium import ARGUMENTS, find_chromium
from playwright.sync_api import Browser, Page, sync_playwright

from press.site import SITE, page_names, serve
from sphinx_widget_host.places import WIDTHS

FILE = Path(__file__).parents[2] / "lib/press/pages/widget_heights.json"
PATIENCE = 120_000  # ms

NAMES = """(views) => views.map((view) => {
  let beside = view;
  while (!beside.matches("details.widget-embed")) beside = beside.nextElementSibling;
  const file = beside.querySelector("a[download]").getAttribute("href");
  return file.match(/[^/]+\\/[^/]+(?=\\.html$)/)[0];
})"""
"""The page of each widget and its own name, as in the address of its file."""

MEASURE = """async (widths) => {
  const views = [...document.querySelectorAll(".widget-view")];
  const frame = () => new Promise((go) => requestAnimationFrame(() => setTimeout(go, 20)));
  const found = {};
  for (const width of widths) {
    for (const view of views) view.style.cssText = `min-height: 0; width: ${width}px`;
    let [last, same] = ["", 0];
    for (let i = 0; i < 2000 && same < 20; i++) {  // a model in the page writes for some seconds
      await frame();
      const now = views.map((view) => Math.round(view.getBoundingClientRect().height)).join();
      const busy = views.some((view) => view.querySelector("[aria-busy=true]"));
      same = now === last && !busy ? same + 1 : 0;
      last = now;
    }
    found[width] = last.split(",").map(Number);
  }
  return found;
}"""


def wake(page: Page) -> None:
    """Let every widget of a page begin, also those that wait for a reader and large data."""
    page.locator("html[data-widgets=ready]").wait_for(state="attached", timeout=PATIENCE)
    page.mouse.move(300, 300)
    page.mouse.move(310, 310)
    for view in page.locator(".widget-view").all():
        view.scroll_into_view_if_needed()
        view.and_(page.locator("[data-widget=ready]")).wait_for(timeout=PATIENCE)


def heights_on(page: Page, widths: Iterable[int] = WIDTHS) -> dict[str, dict[str, int]]:
    """Measure the widgets of an open page in columns of these widths, in pixels."""
    wake(page)
    names: list[str] = page.locator(".widget-view").evaluate_all(NAMES)
    found: dict[str, list[int]] = page.evaluate(MEASURE, list(widths))
    return {
        name: {width: heights[place] for width, heights in found.items()}
        for place, name in enumerate(names)
    }


def measure(browser: Browser, site: Path) -> dict[str, dict[str, int]]:
    """Measure the widgets of all pages of a site."""
    found: dict[str, dict[str, int]] = {}
    with serve(site) as address:
        for name in page_names(site):
            if "vnd.jupyter.widget-view" not in (site / name).read_text("utf-8"):
                continue
            page = browser.new_page(viewport={"width": 1400, "height": 900})
            page.goto(f"{address}/{name}")
            found |= heights_on(page)
            page.close()
    return found


def main() -> None:
    """Write the heights of all widgets."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=[*ARGUMENTS])
        found = measure(browser, SITE)
    rows = [f"{json.dumps(name)}: {json.dumps(found[name])}" for name in sorted(found)]
    FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
