"""Each widget as one file: what is in it, that it lives alone, and how a page offers it."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output
from playwright.sync_api import Browser, Page, expect
from selectolax.lexbor import LexborHTMLParser
from tiny_book import CHAPTER, build, build_book, chapter_of
from widget_alone import answer_to_a_key, assert_fits, opened_alone
from widget_page import settle

from primer import widgets
from primer.book.embed import needed, page_of
from primer.book.widget_host import STATE, VIEW
from primer.widgets.base import Widget

# ---------------------------------------------------------------- what is in a file

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


def core(model_name: str, **state: Any) -> dict[str, Any]:
    """Return the saved record of a model of ipywidgets itself."""
    return {"model_name": model_name, "model_module": "@jupyter-widgets/controls", "state": state}


MODELS = {
    "a": counter(1),
    "b": counter(2, layout="IPY_MODEL_look"),
    "look": core("LayoutModel"),
    "box": core("VBoxModel", children=["IPY_MODEL_a", "IPY_MODEL_b"]),
    "inside": core("LinkModel", source=["IPY_MODEL_a", "n"], target=["IPY_MODEL_b", "n"]),
    "outside": core("LinkModel", source=["IPY_MODEL_a", "n"], target=["IPY_MODEL_text", "value"]),
    "text": core("TextareaModel", value="needs a kernel"),
}


@pytest.mark.parametrize(
    ("model", "kept"),
    [
        ("a", {"a"}),
        ("b", {"b", "look"}),
        ("box", {"box", "a", "b", "look", "inside"}),
        ("lost", set()),
    ],
)
def test_a_file_holds_the_models_of_its_widget_alone(model: str, kept: set[str]) -> None:
    state = {"version_major": 2, "state": MODELS}
    assert set(needed(state, model)["state"]) == kept
    assert needed(state, model)["version_major"] == 2


def test_nothing_in_the_state_ends_the_script_that_holds_it() -> None:
    text = page_of({"state": MODELS}, "a", title="<b>1 & 2</b>", origin="A <book>")
    page = LexborHTMLParser(text)
    (tag,) = page.css(f'script[type="{STATE}"]')
    assert json.loads(tag.text()) == needed({"state": MODELS}, "a")
    (title,) = page.css("title")
    assert title.text() == "<b>1 & 2</b> — A <book>"


def test_the_policy_names_the_one_script_there_is() -> None:
    page = LexborHTMLParser(page_of({"state": MODELS}, "a", title="One", origin="Two"))
    (script,) = page.css("script:not([type])")
    digest = base64.b64encode(hashlib.sha256(script.text().encode()).digest()).decode()
    (policy,) = page.css("meta[http-equiv=Content-Security-Policy]")
    said = policy.attributes["content"] or ""
    assert said.startswith(f"default-src 'none'; script-src 'sha256-{digest}' blob:; ")


# ---------------------------------------------------------------- that it lives alone

Alone = Callable[..., Page]


@pytest.fixture
def alone(chromium: Browser) -> Iterator[Alone]:
    """Open a file from disk; it may ask nothing, and report nothing on the console."""
    with opened_alone(chromium) as open_file:
        yield open_file


def write_counter(folder: Path, **more: str) -> Path:
    """Write the file of a widget that counts."""
    file = folder / "counter.html"
    text = page_of({"state": MODELS}, "a", title="Counting", origin="Shop", **more)
    file.write_text(text, "utf-8")
    return file


@pytest.mark.browser
@pytest.mark.parametrize("name", widgets.__all__)
def test_every_widget_lives_in_a_narrow_frame(alone: Alone, tmp_path: Path, name: str) -> None:
    widget = getattr(widgets, name)()
    saved = json.loads(json.dumps(Widget.get_manager_state(widgets=[widget]), default=str))
    text = page_of(saved, widget.model_id, title=name, origin="The book")
    (tmp_path / "widget.html").write_text(text, "utf-8")
    widget.close()
    page = alone(tmp_path / "widget.html", width=300)
    assert_fits(page)
    answer_to_a_key(page)
    assert_fits(page)


@pytest.mark.browser
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


@pytest.mark.browser
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


@pytest.mark.browser
def test_a_file_names_its_source_and_links_to_it_when_it_has_an_address(
    alone: Alone, tmp_path: Path
) -> None:
    page = alone(write_counter(tmp_path))
    assert page.locator(".source").inner_text() == "From Shop · Counting"
    assert page.locator(".source a").count() == 0
    page = alone(write_counter(tmp_path, address="https://shop.example/a.html#counting"))
    link = page.get_by_role("link", name="Shop · Counting")
    assert link.get_attribute("href") == "https://shop.example/a.html#counting"


@pytest.mark.browser
def test_where_no_script_runs_a_file_says_what_would_be_seen(
    chromium: Browser, tmp_path: Path
) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(write_counter(tmp_path, description="A button that counts.").as_uri())
    assert "A button that counts." in page.inner_text("main")
    context.close()


@pytest.mark.browser
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
    settle(page)
    assert page.evaluate("window.kept_out") == ["inline", "https://elsewhere.example/pixel.png"]
    assert page.evaluate("window.intruder") is None
    page.close()


# ---------------------------------------------------------------- how a page offers it


def shop(*shown: str, models: dict[str, Any] = MODELS) -> nbformat.NotebookNode:
    """Write a chapter that shows some models, each in a cell of its own."""
    cells = [new_markdown_cell("# Positions\n\n## At the counter", id="text")]
    for number, model in enumerate(shown):
        data = {VIEW: {"model_id": model}, "text/plain": "Counter()"}
        output = new_output("display_data", data=data)
        cells.append(new_code_cell("Counter()", outputs=[output], id=f"cell-{number}"))
    chapter = chapter_of(cells)
    chapter.metadata["widgets"] = {STATE: {"version_major": 2, "state": models}}
    return chapter


def offers(site: Path) -> list[tuple[str, str]]:
    """Return the link and the line of each fold, in the order of the page."""
    page = LexborHTMLParser((site / f"{CHAPTER}.html").read_text("utf-8"))
    return [
        (fold.css_first("a").attributes["href"] or "", fold.css_first("pre").text())
        for fold in page.css("details.widget-embed")
    ]


def test_each_widget_of_a_page_has_its_file_and_old_ones_go(tmp_path: Path) -> None:
    site = build_book(tmp_path, shop("a", "b", "a", "text", "box"))
    folder = site / "embed" / CHAPTER
    names = ["counter", "counter-2", "counter", "v-box"]
    assert [link for link, _ in offers(site)] == [
        f"../embed/{CHAPTER}/{name}.html" for name in names
    ]
    assert {file.stem for file in folder.iterdir()} == set(names)
    first = offers(site)[0][1]
    assert first.startswith('<iframe src="counter.html" title="Positions · At the counter" ')
    nbformat.write(shop("b"), tmp_path / f"{CHAPTER}.ipynb")
    done = build(tmp_path)
    assert done.returncode == 0, done.stderr
    assert [file.stem for file in folder.iterdir()] == ["counter"]


def test_with_an_address_the_line_names_it(tmp_path: Path) -> None:
    site = build_book(tmp_path, shop("a"), site="https://book.example/primer/")
    ((_, line),) = offers(site)
    assert f'src="https://book.example/primer/embed/{CHAPTER}/counter.html"' in line
    text = (site / "embed" / CHAPTER / "counter.html").read_text("utf-8")
    assert f'href="https://book.example/primer/{CHAPTER}.html#at-the-counter"' in text


@pytest.mark.browser
def test_the_line_asks_for_the_height_that_the_widget_has(alone: Alone, tmp_path: Path) -> None:
    site = build_book(tmp_path, shop("a"))
    page = alone(site / f"{CHAPTER}.html")
    summary = page.locator("details.widget-embed > summary")
    summary.press("Enter")
    line = page.locator("details.widget-embed pre")
    expect(line).to_contain_text('height="240"')
    slides = site / "embed" / CHAPTER / "slides.html"
    slides.write_text(f"<!doctype html>{line.inner_text()}")
    page = alone(slides, ready="iframe")
    frame = page.frames[1]
    frame.wait_for_selector("html[data-widgets=ready]")
    assert frame.evaluate("document.documentElement.scrollHeight <= innerHeight")
