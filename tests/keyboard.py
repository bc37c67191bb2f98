"""How a test reaches a part of a page by key."""

from __future__ import annotations

from playwright.sync_api import Locator, Page


def tab_to(page: Page, place: Locator) -> None:
    """Reach a control by the Tab key from just before it; fail where Tab passes it by."""
    place.evaluate("""(node) => {
      const before = document.createElement("span");
      before.id = "before";
      before.tabIndex = -1;
      (node.closest("summary")?.parentElement ?? node).before(before);
      before.focus({ preventScroll: true });
    }""")
    page.keyboard.press("Tab")
    assert place.evaluate("(node) => node === document.activeElement")
    page.evaluate("document.getElementById('before').remove()")
