"""The widget host shows saved widgets without a kernel, and says so where it cannot."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from serving import serve

from sphinx_widget_host import HOST, LARGE, SHARED_ABOVE, move_large_buffers, share_sources

STATE = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"

# Counts how often it is initialized, shows the trait `n`, and adds one at a click.
COUNTER = """
let initialized = 0;
function render({ model, el }) {
  const button = document.createElement("button");
  const draw = () => { button.textContent = `${model.get("name")} ${model.get("n")}`; };
  button.addEventListener("click", () => {
    model.set("n", model.get("n") + 1);
    model.save_changes();
  });
  model.on("change:n", draw);
  draw();
  el.append(button);
}
export default { initialize() { window.initialized = ++initialized; }, render };
"""


def counter(n: int = 0, name: str = "count", esm: str = COUNTER, **state: Any) -> dict[str, Any]:
    """Return the saved record of an anywidget model."""
    return {
        "model_name": "AnyModel",
        "model_module": "anywidget",
        "state": {"_esm": esm, "n": n, "name": name, **state},
    }


def core(model_name: str, **state: Any) -> dict[str, Any]:
    """Return the saved record of a model of ipywidgets itself."""
    return {"model_name": model_name, "model_module": "@jupyter-widgets/controls", "state": state}


Open = Callable[..., Page]


@pytest.fixture(params=["http", "file"])
def open_page(chromium: Browser, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Open]:
    """Write a page with the given models and views, and open it."""
    (tmp_path / HOST.name).write_bytes(HOST.read_bytes())
    context = chromium.new_context()
    with serve(tmp_path) as address:

        def opened(models: dict[str, Any] | str | None, views: list[str], extra: str = "") -> Page:
            text = models if isinstance(models, str) else json.dumps({"state": models})
            state = "" if models is None else f'<script type="{STATE}">{text}</script>'
            tags = "".join(
                f'<section id="view-{number}"><script type="{VIEW}">'
                f"{view if view.startswith('{') else json.dumps({'model_id': view})}</script>"
                f"{extra}</section>"
                for number, view in enumerate(views)
            )
            (tmp_path / "page.html").write_text(
                f'<!doctype html><script async src="{HOST.name}"></script>{state}{tags}'
            )
            page = context.new_page()
            page.goto(
                f"{address}/page.html"
                if request.param == "http"
                else (tmp_path / "page.html").as_uri()
            )
            page.wait_for_selector("html[data-widgets=ready], .widget-unavailable")
            return page

        yield opened
    context.close()


def place(page: Page, number: int) -> Any:
    """Find a view."""
    return page.locator(f"#view-{number} > .widget-view")


def test_two_views_of_one_model_stay_in_step(open_page: Open) -> None:
    page = open_page({"a": counter()}, ["a", "a"])
    page.locator("#view-0 button").click()
    page.locator("#view-1 button").press("Enter")
    expect(page.locator("button")).to_have_text(["count 2", "count 2"])
    assert page.evaluate("window.initialized") == 1


def test_models_of_one_class_are_apart(open_page: Open) -> None:
    page = open_page({"a": counter(3), "b": counter(5)}, ["a", "b"])
    page.locator("#view-0 button").click()
    expect(page.locator("button")).to_have_text(["count 4", "count 5"])


def test_every_view_starts_even_far_below(open_page: Open) -> None:
    page = open_page({"a": counter()}, ["a"] * 4, extra='<div style="height: 4000px"></div>')
    page.wait_for_selector("html[data-widgets=ready]")
    assert page.locator("[data-widget=ready]").count() == 4


def test_binary_traits_arrive_as_data_views(open_page: Open) -> None:
    numbers = [1.5, -2.25, 0.375]
    esm = """export default { render({ model, el }) {
      const view = model.get("nested").data;
      const numbers = new Float32Array(view.buffer, view.byteOffset, view.byteLength / 4);
      el.textContent = JSON.stringify(Array.from(numbers));
    } };"""
    record = counter(esm=esm, nested={})
    data = base64.b64encode(struct.pack("<3f", *numbers)).decode()
    record["buffers"] = [{"path": ["nested", "data"], "encoding": "base64", "data": data}]
    page = open_page({"a": record}, ["a"])
    assert json.loads(place(page, 0).inner_text()) == numbers


# Shows how many bytes came, and their sum.
SUM = """export default { render({ model, el }) {
  const view = model.get("data");
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  el.textContent = `${bytes.length} ${bytes.reduce((a, b) => a + b, 0)}`;
} };"""
LARGE_DATA = struct.pack(f"<{LARGE}I", *range(LARGE))
SUMMED = f"{len(LARGE_DATA)} {sum(LARGE_DATA)}"


def large(data: bytes = LARGE_DATA) -> dict[str, Any]:
    """Return the saved record of a widget with a large binary trait."""
    packed = {"path": ["data"], "encoding": "base64", "data": base64.b64encode(data).decode()}
    return {**counter(esm=SUM), "buffers": [packed]}


def test_small_buffers_stay_and_large_ones_move_once(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    state = {"version_major": 2, "state": {"a": large(b"small"), "b": counter()}}
    assert move_large_buffers(state, folder) == state
    assert not folder.exists()
    state["state"] |= {"c": large(), "d": large(), "e": large(LARGE_DATA[::-1])}
    moved = move_large_buffers(state, folder)
    names = [moved["state"][model]["buffers"][0]["data"] for model in "cde"]
    assert names[0] == names[1] != names[2]
    assert {file.stem for file in folder.iterdir()} == set(names)
    assert len(json.dumps(moved)) < 3000
    assert moved["state"]["c"]["state"] == state["state"]["c"]["state"]
    assert state["state"]["c"] == large()


KIT = "var kit = { word: 'shared' };" + "\n// and much more" * 200 + "\n"


def own(word: str) -> str:
    """Return a module that stands below the kit."""
    return f"export default {{ render({{ el }}) {{ el.append(kit.word + ' {word}'); }} }};\n"


def test_sources_leave_the_page_and_what_they_share_travels_once(
    open_page: Open, tmp_path: Path
) -> None:
    models = {
        name: counter(esm=KIT + SHARED_ABOVE + own(name), _css=SHARED_ABOVE.join([KIT, ".x {}"]))
        for name in ("a", "b")
    } | {"small": counter()}
    state = share_sources({"state": models}, tmp_path / "widget-data")["state"]
    assert "_esm" not in state["a"]["state"]
    assert state["small"] == models["small"]
    assert "_esm" in models["a"]["state"]
    pieces = [state[name]["pieces"]["_esm"] for name in ("a", "b")]
    assert pieces[0][0] == pieces[1][0]
    assert len({name for piece in pieces for name in piece}) == 3
    asked: list[str] = []
    page = open_page(state, ["a", "b", "small"])
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    page.wait_for_selector("html[data-widgets=ready]")
    assert [place(page, view).inner_text() for view in range(2)] == ["shared a", "shared b"]
    assert sum(pieces[0][0] in url for url in asked) == 1


FAR = '<div style="height: 5000px"></div>'


def test_large_data_is_loaded_once_when_the_reader_comes_near(
    open_page: Open, tmp_path: Path
) -> None:
    models = {"first": counter(), "a": large(), "b": large()}
    state = move_large_buffers({"state": models}, tmp_path / "widget-data")["state"]
    page = open_page(state, ["first", "a", "b"], extra=FAR)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_selector("html[data-widgets=ready]")
    page.wait_for_load_state("networkidle")
    assert not any("widget-data" in url for url in asked)
    for view in (1, 2):
        assert "wakes up when you move" in place(page, view).inner_text()
        place(page, view).scroll_into_view_if_needed()
        page.locator(f"#view-{view} > [data-widget=ready]").wait_for()
        assert place(page, view).inner_text() == SUMMED
    assert sum("widget-data" in url for url in asked) == 1


@pytest.mark.parametrize(("last", "told"), [("pointerup", True), ("pointercancel", False)])
def test_a_widget_is_told_that_its_picture_was_pressed(
    open_page: Open, tmp_path: Path, last: str, told: bool
) -> None:
    state = move_large_buffers({"state": {"a": large()}}, tmp_path / "widget-data")["state"]
    page = open_page(state, ["a"], extra=PICTURED)
    page.wait_for_selector("html[data-widgets=ready]")
    press = "(e, last) => { for (const n of ['pointerdown', last]) e.dispatchEvent(new Event(n)); }"
    place(page, 0).evaluate(press, last)  # who scrolls there takes the pointer back
    page.get_by_text(SUMMED).wait_for()
    assert place(page, 0).evaluate("(e) => 'pressed' in e.dataset") is told


PICTURED = (
    '<noscript><img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" alt="as it is"></noscript>'
)


@pytest.mark.parametrize("sign", ["move", "key", "touch"])
def test_large_data_in_the_first_screen_waits_for_a_reader(
    open_page: Open, tmp_path: Path, sign: str
) -> None:
    state = move_large_buffers({"state": {"a": large()}}, tmp_path / "widget-data")["state"]
    page = open_page(state, ["a"], extra=PICTURED)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_selector("html[data-widgets=ready]")
    page.wait_for_load_state("networkidle")
    assert not any("widget-data" in url for url in asked)
    picture = place(page, 0).get_by_role("img", name="as it is")
    expect(picture).to_have_count(1)
    page.evaluate("dispatchEvent(new PointerEvent('pointermove'))")  # told where the mouse rests
    expect(picture).to_have_count(1)
    if sign == "move":
        page.mouse.move(9, 9, steps=2)  # the first is told as a move by nothing
    elif sign == "key":
        page.keyboard.press("Tab")
    else:
        page.evaluate("dispatchEvent(new Event('touchstart'))")
    page.get_by_text(SUMMED).wait_for()
    expect(picture).to_have_count(0)


def test_data_that_does_not_come_is_said_and_spares_the_others(
    open_page: Open, tmp_path: Path
) -> None:
    models = {"a": large(), "b": counter()}
    state = move_large_buffers({"state": models}, tmp_path / "widget-data")["state"]
    for file in (tmp_path / "widget-data").iterdir():
        file.unlink()
    page = open_page(state, ["a", "b"])
    page.mouse.move(5, 5, steps=2)
    page.locator("#view-0 > .widget-unavailable").wait_for()
    assert "could not be loaded" in place(page, 0).inner_text()
    page.locator("#view-1 button").click()
    expect(page.locator("#view-1 button")).to_have_text("count 1")


# Shows how many bytes came of what it asks for, or why they are not there.
ASK = """export default { render({ model, el }) {
  const draw = () => {
    try {
      el.textContent = (model.get("parts").much ?? model.need(["parts", "much"])).byteLength;
    } catch (error) { el.textContent = error.message; }
  };
  const button = document.createElement("button");
  button.textContent = "ask";
  button.addEventListener("click", () => { draw(); model.on("change:parts", draw); });
  el.append(button);
} };"""


def asking(later: bool) -> dict[str, Any]:
    """Return a widget that asks for data of three thousand bytes when its button is pressed."""
    spec = {"later": ["parts"]} if later else {}
    packed = base64.b64encode(bytes(3000)).decode()
    buffer = {"path": ["parts", "much"], "encoding": "base64", "data": packed}
    return {**counter(esm=ASK, parts={}, _spec=spec), "buffers": [buffer]}


def test_data_for_later_is_loaded_when_it_is_asked_for(open_page: Open, tmp_path: Path) -> None:
    folder = tmp_path / "widget-data"
    assert move_large_buffers({"state": {"a": asking(later=False)}}, folder)["state"] == {
        "a": asking(later=False)
    }
    state = move_large_buffers({"state": {"a": asking(later=True)}}, folder)["state"]
    assert len(json.dumps(state)) < 2500
    page = open_page(state, ["a", "a"])  # ready although nobody moved
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.locator("#view-0 button").click()
    expect(place(page, 0)).to_have_text("3000")
    assert sum("widget-data" in url for url in asked) == 1
    page.locator("#view-1 button").click()
    expect(place(page, 1)).to_have_text("3000")
    assert sum("widget-data" in url for url in asked) == 1


def test_data_for_later_that_does_not_come_is_said(open_page: Open, tmp_path: Path) -> None:
    state = move_large_buffers({"state": {"a": asking(later=True)}}, tmp_path / "widget-data")
    for file in (tmp_path / "widget-data").iterdir():
        file.unlink()
    page = open_page(state["state"], ["a"])
    page.locator("#view-0 button").click()
    expect(place(page, 0)).to_contain_text("could not be loaded")


def test_nobody_can_ask_for_data_that_were_never_there(open_page: Open) -> None:
    record = asking(later=True) | {"buffers": []}
    page = open_page({"a": record}, ["a"])
    page.locator("#view-0 button").click()
    expect(place(page, 0)).to_have_text("The page has no data for parts, much.")


TALL = """export default { render({ el }) {
  const style = "display: block; height: 2000px";
  el.append(Object.assign(document.createElement("button"), { style }));
} };"""


def test_a_page_loaded_again_stays_where_it_was(open_page: Open, tmp_path: Path) -> None:
    models = {"far": large(), "tall": counter(esm=TALL)}
    state = move_large_buffers({"state": models}, tmp_path / "widget-data")["state"]
    page = open_page(state, ["tall", "tall", "far"], extra=FAR)
    waiting = place(page, 2).evaluate("view => view.offsetHeight")
    page.evaluate("scrollTo(0, 8000)")  # into the second view, below the first
    page.wait_for_function("scrollY === 8000")
    page.reload()
    page.wait_for_selector("html[data-widgets=ready]")
    page.wait_for_function("scrollY === 8000")
    heights = [place(page, view).evaluate("view => view.style.minHeight") for view in range(3)]
    assert heights == ["2000px", "2000px", f"{waiting}px"]
    page.locator("#view-1 button").click()  # from now on it is as high as it needs to be
    assert place(page, 1).evaluate("view => view.style.minHeight") == ""


def test_module_that_is_a_function_and_once_and_style(open_page: Open) -> None:
    esm = """export default () => ({ render({ model, el }) {
      let calls = 0;
      model.once("change:n", () => { calls += 1; });
      model.set("n", 1); model.set("n", 2); model.set("n", 2);
      el.innerHTML = `<p class="styled">${calls} ${model.get("n")}</p>`;
    } });"""
    page = open_page({"a": counter(esm=esm, _css=".styled { color: rgb(1, 2, 3) }")}, ["a"])
    assert place(page, 0).inner_text() == "1 2"
    color = page.locator(".styled").evaluate("(element) => getComputedStyle(element).color")
    assert color == "rgb(1, 2, 3)"


BROKEN = {
    "throws while it renders": counter(
        esm="export default { render() { throw new Error('no'); } };"
    ),
    "throws when it loads": counter(esm="throw new Error('no');"),
    "is no JavaScript": counter(esm="export default {"),
    "needs a kernel": core("TextareaModel", value="x"),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN.keys())
def test_a_widget_that_fails_apologizes_and_spares_the_others(
    open_page: Open, broken: dict[str, Any]
) -> None:
    page = open_page({"bad": broken, "good": counter()}, ["bad", "good"])
    page.locator("#view-1 button").click()
    expect(page.locator("#view-1 button")).to_have_text("count 1")
    assert "could not be started" in place(page, 0).inner_text()


def test_a_widget_starts_while_the_page_still_arrives(chromium: Browser, tmp_path: Path) -> None:
    (tmp_path / HOST.name).write_bytes(HOST.read_bytes())
    # a classic script at the end that never comes keeps the page from being parsed to its end
    (tmp_path / "page.html").write_text(
        f'<!doctype html><script async src="{HOST.name}"></script>'
        f'<script type="{STATE}">{json.dumps({"state": {"a": counter()}})}</script>'
        f'<p><script type="{VIEW}">{json.dumps({"model_id": "a"})}</script></p>'
        '<script src="never.js"></script>'
    )
    page = chromium.new_page()
    page.route("**/never.js", lambda route: None)
    with serve(tmp_path) as address:
        page.goto(f"{address}/page.html", wait_until="commit")
        page.locator("button").click()
        expect(page.locator("button")).to_have_text("count 1")
        assert page.evaluate("document.readyState") == "loading"
        page.close()


@pytest.mark.parametrize(
    ("models", "view"),
    [(None, "a"), ("{not json", "a"), ({"a": counter()}, "unknown"), ({"a": counter()}, "{broken")],
    ids=["no state", "state is no JSON", "unknown model", "view is no JSON"],
)
def test_missing_or_bad_state_apologizes(open_page: Open, models: Any, view: str) -> None:
    page = open_page(models, [view])
    assert "download the notebook" in place(page, 0).inner_text()


def test_the_picture_stands_in_for_a_widget_that_fails(open_page: Open) -> None:
    pixel = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="
    picture = f'<noscript><img src="{pixel}" alt="two arrows"></noscript>'
    page = open_page(None, ["a"], extra=picture)
    assert place(page, 0).locator("img").get_attribute("alt") == "two arrows"


def test_a_picture_in_several_forms_stays_one(open_page: Open) -> None:
    wide, narrow = (f"data:image/gif;base64,{data}" for data in ("R0lG", "R0lH"))
    forms = (
        f'<picture><source media="(max-width: 9000px)" srcset="{narrow}"><img src="{wide}" alt="">'
    )
    page = open_page(None, ["a"], extra=f"<noscript>{forms}</picture></noscript>")
    shown = place(page, 0).locator("picture > img")
    page.wait_for_function("(image) => image.currentSrc", arg=shown.element_handle())
    assert shown.evaluate("(image) => image.currentSrc") == narrow
