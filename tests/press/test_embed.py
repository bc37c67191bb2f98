"""A widget as one file, and how a page offers it; `test_site` opens all files in narrow frames."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from axe import AXE
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output
from playwright.sync_api import Browser, Page, expect
from selectolax.lexbor import LexborHTMLParser
from tiny_book import CHAPTER, build, build_book, chapter_of
from widget_alone import opened_alone

from primer import widgets
from primer.widgets.base import Widget
from sphinx_widget_host import STATE, VIEW
from sphinx_widget_host.embed import page_of

Alone = Callable[..., Page]


@pytest.fixture
def alone(chromium: Browser) -> Iterator[Alone]:
    """Open a file from disk; it may ask nothing, and report nothing on the console."""
    with opened_alone(chromium) as open_file:
        yield open_file


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_file_is_accessible(alone: Alone, tmp_path: Path, scheme: str) -> None:
    widget = widgets.RopeRotation()
    saved = json.loads(json.dumps(Widget.get_manager_state(widgets=[widget]), default=str))
    text = page_of(saved["state"][widget.model_id], title="Rotation", origin="The book")
    (tmp_path / "widget.html").write_text(text, "utf-8")
    page = alone(tmp_path / "widget.html", width=300, color_scheme=scheme, bypass_csp=True)
    page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate("axe.run()")["violations"]
    assert not found, [(rule["id"], rule["nodes"][0]["html"]) for rule in found]


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


MODELS = {
    "a": counter(1),
    "b": counter(2),
    "register": counter(3, "shop.CashRegister"),
    "text": {"model_name": "TextareaModel", "state": {"value": "needs a kernel"}},
}


def shop(*shown: str) -> nbformat.NotebookNode:
    """Write a chapter that shows some models, each in a cell of its own."""
    cells = [new_markdown_cell("# Positions\n\n## At the counter", id="text")]
    for number, model in enumerate(shown):
        data = {VIEW: {"model_id": model}, "text/plain": "Counter()"}
        output = new_output("display_data", data=data)
        cells.append(new_code_cell("Counter()", outputs=[output], id=f"cell-{number}"))
    chapter = chapter_of(cells)
    chapter.metadata["widgets"] = {STATE: {"version_major": 2, "state": MODELS}}
    return chapter


def offers(site: Path) -> list[tuple[str, str]]:
    """Return the link and the line of each fold, in the order of the page."""
    page = LexborHTMLParser((site / f"{CHAPTER}.html").read_text("utf-8"))
    return [
        (fold.css_first("a").attributes["href"] or "", fold.css_first("pre").text())
        for fold in page.css("details.widget-embed")
    ]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a book that shows a widget twice, two others, and one that needs a kernel."""
    return build_book(tmp_path_factory.mktemp("shop"), shop("a", "b", "a", "text", "register"))


def files_of(site: Path) -> set[str]:
    """Name the files of widgets of the page."""
    return {file.stem for file in (site / "embed" / CHAPTER).iterdir()}


def test_each_widget_of_a_page_has_its_file(site: Path) -> None:
    names = ["counter", "counter-2", "counter", "cash-register"]
    assert [link for link, _ in offers(site)] == [
        f"../embed/{CHAPTER}/{name}.html" for name in names
    ]
    assert files_of(site) == set(names)
    first = offers(site)[0][1]
    assert first.startswith('<iframe src="counter.html" title="Positions · At the counter" ')


@pytest.fixture(scope="module")
def rebuilt(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the same book again when its chapter shows one widget only."""
    book = tmp_path_factory.mktemp("again") / "book"
    shutil.copytree(site.parents[1], book, symlinks=True)
    nbformat.write(shop("b"), book / f"{CHAPTER}.ipynb")
    done = build(book)
    assert done.returncode == 0, done.stderr
    return book / "_build/html"


def test_old_files_go(rebuilt: Path) -> None:
    assert files_of(rebuilt) == {"counter"}


@pytest.mark.thorough
def test_with_an_address_the_line_names_it(tmp_path: Path) -> None:
    site = build_book(tmp_path, shop("a"), site="https://book.example/primer/")
    ((_, line),) = offers(site)
    assert f'src="https://book.example/primer/embed/{CHAPTER}/counter.html"' in line
    text = (site / "embed" / CHAPTER / "counter.html").read_text("utf-8")
    assert f'href="https://book.example/primer/{CHAPTER}.html#at-the-counter"' in text


@pytest.mark.browser
def test_the_line_asks_for_the_height_that_the_widget_has(alone: Alone, rebuilt: Path) -> None:
    page = alone(rebuilt / f"{CHAPTER}.html")
    summary = page.locator("details.widget-embed > summary")
    summary.press("Enter")
    line = page.locator("details.widget-embed pre")
    expect(line).to_contain_text('height="240"')
    slides = rebuilt / "embed" / CHAPTER / "slides.html"
    slides.write_text(f"<!doctype html>{line.inner_text()}")
    page = alone(slides, ready="iframe")
    frame = page.frames[1]
    frame.wait_for_selector("html[data-widgets=ready]")
    assert frame.evaluate("document.documentElement.scrollHeight <= innerHeight")
