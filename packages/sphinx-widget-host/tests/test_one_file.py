"""A widget as one file: what is in it, and that it lives alone."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from sphinx_widget_host import STATE
from sphinx_widget_host.embed import page_of

COUNTER = """export default { render({ model, el }) {
  const button = el.appendChild(document.createElement("button"));
  const draw = () => { button.textContent = `${model.get("n")} </script> <!--`; };
  button.style.height = "200px";
  button.onclick = () => model.set("n", model.get("n") + 1);
  model.on("change:n", draw);
  draw();
} };"""


def counter(n: int = 0, kind: str = "shop.Counter", **state: Any) -> dict[str, Any]:
    """Return the saved record of a widget that counts."""
    state = {"_esm": COUNTER, "_anywidget_id": kind, "n": n, **state}
    return {"model_name": "AnyModel", "model_module": "anywidget", "state": state}


class Texts(HTMLParser):
    """The texts of a page's elements, and their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None], str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        self.found.append(("", {}, ""))  # what follows belongs to no element of its own

    def handle_data(self, data: str) -> None:
        if self.found:
            tag, attributes, text = self.found[-1]
            self.found[-1] = (tag, attributes, text + data)


def test_nothing_in_the_state_ends_the_script_that_holds_it() -> None:
    found = Texts(page_of(counter(1), title="<b>1 & 2</b>", origin="A <book>")).found
    (text,) = (text for _, attributes, text in found if attributes.get("type") == STATE)
    assert json.loads(text) == {"state": {"shown": counter(1)}}
    assert [text for tag, _, text in found if tag == "title"] == ["<b>1 & 2</b> — A <book>"]


def test_the_policy_names_the_one_script_there_is() -> None:
    found = Texts(page_of(counter(1), title="One", origin="Two")).found
    (script,) = (text for tag, attributes, text in found if tag == "script" and not attributes)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (said,) = (one.get("content") for _, one, _ in found if one.get("http-equiv"))
    assert str(said).startswith(f"default-src 'none'; script-src 'sha256-{digest}' blob:; ")


Alone = Callable[..., Page]


@pytest.fixture
def alone(chromium: Browser) -> Iterator[Alone]:
    """Open a file from disk; it may report nothing on the console."""
    contexts, said = [], []

    def opened(file: Path, ready: str = "html[data-widgets=ready]", **options: Any) -> Page:
        context = chromium.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(file.as_uri())
        page.wait_for_selector(ready)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not said, said


def write_counter(folder: Path, **more: str) -> Path:
    """Write the file of a widget that counts."""
    file = folder / "counter.html"
    file.write_text(page_of(counter(1), title="Counting", origin="Shop", **more), "utf-8")
    return file


def test_a_file_is_light_or_dark_as_the_viewer_prefers(alone: Alone, tmp_path: Path) -> None:
    file = write_counter(tmp_path)
    theme = "document.documentElement.dataset.theme"
    page = alone(file, color_scheme="dark")
    assert page.evaluate(theme) == "dark"
    page.emulate_media(color_scheme="light")
    page.wait_for_selector("html[data-theme=light]")
    page.goto(f"{file.as_uri()}#dark")
    page.wait_for_selector("html[data-theme=dark]")
    paper = "getComputedStyle(document.documentElement).colorScheme"
    assert page.evaluate(paper) == "dark"


def test_a_frame_of_300_px_is_enough_and_a_narrower_one_says_so(
    alone: Alone, tmp_path: Path
) -> None:
    write_counter(tmp_path)
    (tmp_path / "slides.html").write_text(
        '<!doctype html><iframe src="counter.html" width="300" height="200"></iframe>'
        '<iframe src="counter.html" width="240" sandbox="allow-scripts"></iframe>'
    )
    page = alone(tmp_path / "slides.html", ready="iframe")
    wide, narrow = (page.frame_locator(f"iframe >> nth={number}") for number in range(2))
    for frame in (wide, narrow):
        frame.get_by_role("button").press("Enter")
        expect(frame.get_by_role("button")).to_contain_text("2")
    expect(wide.get_by_text("too narrow")).to_be_hidden()
    expect(narrow.get_by_text("too narrow")).to_be_visible()


def test_the_page_around_a_frame_is_told_how_high_the_widget_is(
    alone: Alone, tmp_path: Path
) -> None:
    write_counter(tmp_path)
    (tmp_path / "slides.html").write_text(
        """<!doctype html><iframe src="counter.html" width="300" height="50"></iframe><script>
        addEventListener("message", ({ source, data }) => {
          const frame = document.querySelector("iframe");
          if (source === frame.contentWindow) frame.height = data.widgetHeight;
        });</script>"""
    )
    page = alone(tmp_path / "slides.html", ready="iframe:not([height='50'])")
    inside = page.frames[1]
    inside.wait_for_selector("html[data-widgets=ready]")
    inside.wait_for_function(
        """() => {
          const { scrollHeight, clientHeight } = document.documentElement;
          return clientHeight > 200 && scrollHeight <= clientHeight;
        }"""
    )


def test_a_file_names_its_source_and_links_to_it_when_it_has_an_address(
    alone: Alone, tmp_path: Path
) -> None:
    page = alone(write_counter(tmp_path))
    assert page.locator(".source").inner_text() == "From Shop · Counting"
    assert page.locator(".source a").count() == 0
    page = alone(write_counter(tmp_path, address="https://shop.example/a.html#counting"))
    link = page.get_by_role("link", name="Shop · Counting")
    assert link.get_attribute("href") == "https://shop.example/a.html#counting"


def test_where_no_script_runs_a_file_says_what_would_be_seen(
    chromium: Browser, tmp_path: Path
) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(write_counter(tmp_path, description="A button that counts.").as_uri())
    assert "A button that counts." in page.inner_text("main")
    context.close()


def test_the_policy_keeps_other_scripts_and_the_network_out(
    chromium: Browser, tmp_path: Path
) -> None:
    page = chromium.new_page()
    page.goto(write_counter(tmp_path).as_uri())
    page.wait_for_selector("html[data-widgets=ready]")
    page.evaluate("""() => {
      window.kept_out = [];
      addEventListener("securitypolicyviolation", (e) => window.kept_out.push(e.blockedURI));
      const script = document.createElement("script");
      script.textContent = "window.intruder = true";
      const image = document.createElement("img");
      image.src = "https://elsewhere.example/pixel.png";
      document.body.append(script, image);
    }""")
    page.wait_for_selector("img")
    page.evaluate("() => new Promise(requestAnimationFrame)")
    assert page.evaluate("window.kept_out") == ["inline", "https://elsewhere.example/pixel.png"]
    assert page.evaluate("window.intruder") is None
    page.close()
