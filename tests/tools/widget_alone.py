"""Open a widget's own file from disk, see that it fits its frame, and use it by keyboard."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page
from widget_page import PATIENCE, settle


@contextlib.contextmanager
def opened_alone(chromium: Browser) -> Iterator[Callable[..., Page]]:
    """Give a function that opens files from disk; at the end they must have been quiet.

    A file may ask for nothing but itself, and report nothing on the console.
    """
    contexts, said = [], []

    def open_file(
        file: Path, width: int = 800, ready: str = "html[data-widgets=ready]", **options: Any
    ) -> Page:
        context = chromium.new_context(viewport={"width": width, "height": 800}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: said.append(f"{file.name}: {error}"))
        page.on(
            "console",
            lambda message: (
                said.append(f"{file.name}: {message.text}")
                if message.type in {"error", "warning"}
                else None
            ),
        )
        page.on(
            "request",
            lambda request: (
                None
                if request.url.startswith((file.parents[-2].as_uri(), "blob:"))
                else said.append(request.url)
            ),
        )
        page.goto(file.as_uri())
        page.wait_for_selector(ready, timeout=PATIENCE)
        return page

    yield open_file
    for context in contexts:
        context.close()
    assert not said, "\n".join(said)


# What reaches beyond the widget's padding, unless it scrolls inside the widget.
BEYOND = """() => {
  const view = document.querySelector(".widget-view");
  const style = getComputedStyle(view);
  const edge = view.getBoundingClientRect().right - parseFloat(style.paddingRight) + 1;
  const cut = (e) => getComputedStyle(e).overflowX !== "visible";
  const scrolls = (e) => e !== view && (cut(e) || scrolls(e.parentElement));
  return [...view.querySelectorAll("*")]
    .filter((e) => e.checkVisibility() && !e.ownerSVGElement)
    .filter((e) => e.getBoundingClientRect().right > edge && !scrolls(e.parentElement))
    .map((e) => `${e.tagName} ${e.className} ${e.textContent.slice(0, 40)}`);
}"""


def assert_fits(page: Page) -> None:
    """See that nothing of a widget reaches beyond its frame."""
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0, f"{wide} px wider than the frame"
    beyond = page.evaluate(BEYOND)
    assert not beyond, "\n".join(beyond)


FOCUSED = """() => {
  const { tagName, type } = document.activeElement;
  return tagName === "INPUT" ? type : tagName;
}"""
KEYS = {
    "radio": "ArrowDown",
    "SELECT": "ArrowDown",
    "checkbox": "Space",
    "BUTTON": "Enter",
    "SUMMARY": "Enter",
    "TEXTAREA": "e",
    "text": "e",
}
"""The key that moves a control; all others are sliders, or can be taken hold of."""


def answer_to_a_key(page: Page) -> None:
    """Go from control to control until a key changes what the widget says; fail if none does."""
    # A slider's own number changes with the slider; what the widget says of it must change, too.
    lines = "document.querySelectorAll('[aria-live]:not(output)')"
    said = f"[...{lines}].map((line) => line.innerText).join()"
    first = page.locator("[aria-live]:not(output)").filter(has_text=re.compile(r"\S")).first
    first.wait_for(timeout=PATIENCE)  # a model that computes has nothing to say before it is ready
    before = page.evaluate(said)
    for _ in range(40):
        page.keyboard.press("Tab")
        page.keyboard.press(KEYS.get(page.evaluate(FOCUSED), "ArrowRight"))
        settle(page)
        # each key begins a computation anew: on a slow machine none would ever come to its end
        page.wait_for_selector("[aria-busy=true]", state="detached", timeout=PATIENCE)
        if page.evaluate(said) != before:
            return
    raise AssertionError("no key changed what the widget says")
