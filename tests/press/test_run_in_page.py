"""The cells of the built book run in its pages: from disk, without network, under its policy."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from pressed import delivered

SITE = Path(__file__).parents[2] / "_build/html"
PATIENCE = 180_000  # milliseconds that a run may take on a machine that does much else

pytestmark = pytest.mark.browser


@pytest.fixture
def open_page(chromium: Browser) -> Iterator[Any]:
    """Open a page of the built book from disk, with its results kept for the test."""
    if not (SITE / "run" / "manifest.js").is_file():
        pytest.skip("NO CELL RAN IN A PAGE: the book was built without Run, and said why")
    contexts = []

    def opened(name: str, **options: Any) -> Page:
        context = chromium.new_context(offline=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.add_init_script(
            "window.results = {}; document.addEventListener('run-in-page', ({target, detail}) => {"
            " window.results[target.dataset.cell] = detail; });"
        )
        page.goto((SITE / f"{name}.html").as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()


def places(page: Page) -> list[str]:
    """List the cells of a page that can run."""
    return page.evaluate("[...document.querySelectorAll('.run-place')].map(p => p.dataset.cell)")


def run(page: Page, cell: str, code: str | None = None) -> dict[str, Any]:
    """Press Run at a cell, after writing other code into it; return what came of it."""
    place = f".run-place[data-cell='{cell}']"
    page.evaluate(
        """place => { for (let one = place; one; one = one.parentElement)
             if (one.matches("details")) one.open = true; }""",
        page.query_selector(place),
    )
    if code is not None:
        field = page.locator(f"{place} .cm-content")
        if not field.is_visible():  # it stays open once it was opened
            page.get_by_role("button", name="Change").and_(page.locator(f"{place} button")).click()
        field.fill(code)
    page.evaluate("cell => { delete window.results[cell]; }", cell)
    page.locator(f"{place} button").first.click()
    page.wait_for_function("cell => window.results[cell]", arg=cell, timeout=PATIENCE)
    return page.evaluate("cell => window.results[cell]", cell)


def status(page: Page, cell: str) -> str:
    """Return what a cell says of its run."""
    return page.text_content(f".run-place[data-cell='{cell}'] [role=status]") or ""


def test_a_cell_that_draws_begins_where_the_notebook_stood(open_page: Any) -> None:
    page = open_page("chapters/08-positions")
    known = json.loads(delivered(SITE / "run/cells/chapters-08-positions.js"))
    begun = {unit["cell"] for unit in known["units"] if unit.get("first")}
    prints = {n for n, cell in enumerate(known["cells"]) if cell.get("printed", "").strip()}
    cell = next(one for one in places(page) if int(one) in begun & prints)
    assert not run(page, cell)["error"]
    assert "prints what the book prints" in status(page, cell)


class Heard(http.server.BaseHTTPRequestHandler):
    """Counts who comes, and lets all in."""

    hits: list[str]

    def do_GET(self) -> None:
        self.hits.append(self.path)
        self.send_response(200)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


ESCAPES = """import js
address = "http://127.0.0.1:{port}/told"
def attempt(name, act):
    try:
        print(name, "went through", act())
    except BaseException as error:
        print(name, "refused:", type(error).__name__)
def xhr():
    request = js.XMLHttpRequest.new()
    request.open("GET", address, False)
    request.send()
attempt("xhr", xhr)
attempt("script", lambda: js.importScripts(address))
attempt("socket", lambda: js.WebSocket.new(address.replace("http", "ws")))
attempt("events", lambda: js.EventSource.new(address))
attempt("worker", lambda: js.Worker.new(address))
attempt("eval", lambda: js.eval("1 + 1"))
attempt("function", lambda: js.Function.new("return 1")())
js.fetch(address)
from IPython.display import SVG, display
display(SVG('<svg xmlns="http://www.w3.org/2000/svg"><image href="' + address + '"/></svg>'))
print("done")
"""


def test_nothing_leaves_the_worker(open_page: Any) -> None:
    handler = type("Handler", (Heard,), {"hits": []})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = open_page("chapters/01-statistics")
        page.context.set_offline(False)  # so that only the policy stands in the way
        result = run(page, places(page)[1], ESCAPES.format(port=server.server_port))
        page.wait_for_load_state("networkidle")
        server.shutdown()
    said = result["printed"]
    assert "done" in said, result
    for name in ("xhr", "script", "eval", "function"):
        assert f"{name} refused" in said
    assert handler.hits == []


def test_an_endless_loop_is_stopped_and_the_next_run_starts_anew(open_page: Any) -> None:
    page = open_page("chapters/01-statistics")
    cell = places(page)[1]
    place = f".run-place[data-cell='{cell}']"
    printed = run(page, cell)["printed"]
    page.locator(f"{place} button", has_text="Change").click()
    page.locator(f"{place} .cm-content").fill("while True:\n    pass")
    page.keyboard.press("Shift+Enter")
    page.locator(f"{place} .run-stop").click()
    page.wait_for_function("p => document.querySelector(p).dataset.state === 'stopped'", arg=place)
    assert status(page, cell).startswith("Stopped. What was computed is forgotten")
    page.locator(f"{place} .run-printed").click()
    assert run(page, cell)["printed"] == printed


HOLD = """(() => {
  window.deeds = []; // of each worker
  window.held = [];
  const workers = [];
  const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (message) {
    if (!workers.includes(this)) workers.push(this);
    const number = workers.indexOf(this);
    (deeds[number] ??= []).push(message.deed);
    const act = () => post.call(this, message);
    number && message.deed === "begin" ? held.push(act) : act();
  };
})()"""
"""Hold the beginning of each worker but the first, as a slow machine does."""


def test_a_loop_is_stopped_before_the_spare_worker_stands(open_page: Any) -> None:
    page, errors = open_page("chapters/16-fourier"), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.evaluate(HOLD)
    cell = places(page)[1]
    run(page, cell)
    page.wait_for_function("() => held.length === 1", timeout=PATIENCE)
    place = f".run-place[data-cell='{cell}']"
    page.locator(f"{place} button", has_text="Change").click()
    page.locator(f"{place} .cm-content").fill("while True:\n    pass")
    page.keyboard.press("Shift+Enter")
    page.locator(f"{place} .run-stop").click()
    page.wait_for_function("() => held.length === 2", timeout=PATIENCE)  # the next spare one
    page.evaluate("held[0]()")
    page.locator(f"{place} .run-printed").click()
    assert not run(page, cell)["error"]
    page.evaluate("held[1]()")
    page.wait_for_function("() => deeds[2].includes('warm')", timeout=PATIENCE)
    page.evaluate("runInPage.python.whenSpareIsReady()")
    spare = page.evaluate("deeds[2]")
    assert spare.index("begin") < spare.index("warm")
    assert errors == []


FAULTS = [
    ("x = (1,", "line 1: x = (1,\nSyntaxError: '(' was never closed"),
    ("1\n1 / 0", "line 2: 1 / 0\nZeroDivisionError: division by zero"),
    ("input()", "Nobody can answer input() here"),
    ("open('mine.csv')", "The page has no files of yours."),
    ("1\nreturn 2", "line 2: return 2\nSyntaxError: 'return' outside function"),
    ("import polars", "The page has no module polars. If that is its name, install it"),
    ("import turtle", "This needs turtle, which does not run in the page."),
    ("import subprocess\nsubprocess.run(['ls'])", "The page can start no other program."),
    ("import urllib.request as r\nr.urlopen('http://a.org')", "The page has no network"),
    ("def f(x):\n    return f(x)\nf(1)", "A function calls itself too often"),
    ("import numpy\nnumpy.ones(2_000_000_000, dtype='f8')", "The page has 2 GB of memory"),
    ("bytearray(10_000_000_000)", "The page has 2 GB of memory"),
]
"""What a reader may write, and what stands in the page's answer."""
USUAL = [
    ("x = ('%d %%'\n     % 3)\nx", "'3 %'\n"),
    (
        "%time 1\n2",
        "~ Lines that begin with % or ! are for Jupyter, and were left out here.\n2\n",
    ),
    ("import warnings\nwarnings.warn('old')", "line 2: UserWarning: old\n"),
    ("help(abs)", "Help on built-in function abs"),
]
"""What goes elsewhere, and how what it prints here begins."""


@pytest.mark.thorough
def test_an_error_is_a_sentence_with_the_readers_line(open_page: Any) -> None:
    page = open_page("chapters/01-statistics")
    cell = places(page)[1]
    errors = {code: run(page, cell, code)["error"] or "" for code, _ in FAULTS}
    assert [(errors[code], said) for code, said in FAULTS if said not in errors[code]] == []


WAYS = {"01-statistics": True, "before-you-start": True, "appendix/scratch": False}
"""Pages, and whether they say at their foot how the whole book is run."""


@pytest.mark.thorough
@pytest.mark.parametrize("name", WAYS)
def test_an_error_that_sends_to_the_whole_book_leads_there(open_page: Any, name: str) -> None:
    page = open_page(f"chapters/{name}", viewport={"width": 390, "height": 800})
    cell = places(page)[0]
    for module in ("polars", "turtle"):
        assert run(page, cell, f"import {module}")["error"].endswith(" the whole book.")
        way = page.locator(".run-error a", has_text="the whole book")
        assert way.count() == WAYS[name]
    if WAYS[name]:
        way.press("Enter")
        page.locator("#run-it li").first.wait_for(state="visible")


@pytest.mark.thorough
def test_what_a_reader_may_try_gives_what_it_gives_elsewhere(open_page: Any) -> None:
    page = open_page("chapters/01-statistics")
    cell = places(page)[1]
    found = {code: run(page, cell, code)["printed"] for code, _ in USUAL}
    assert [
        (found[code], begins) for code, begins in USUAL if not found[code].startswith(begins)
    ] == []


@pytest.mark.thorough
@pytest.mark.parametrize("ends", ["None", "plt.show()", "plt.gcf()"])
def test_a_figure_that_is_left_open_is_shown_once(open_page: Any, ends: str) -> None:
    page = open_page("chapters/01-statistics")
    cell = places(page)[1]
    ran = run(page, cell, f"import matplotlib.pyplot as plt\nplt.plot([1, 2])\n{ends}")
    assert (ran["error"], ran["printed"]) == (None, "")
    drawn = page.locator(f".run-place[data-cell='{cell}'] .run-out img")
    assert drawn.count() == 1
    assert "nobody has described it" in drawn.get_attribute("alt")


@pytest.mark.thorough
def test_a_change_that_another_cell_uses_is_named(open_page: Any) -> None:
    page = open_page("chapters/02-regression")
    known = json.loads(delivered(SITE / "run/cells/chapters-02-regression.js"))["cells"]
    first, second = (
        next(one for one in places(page) if known[int(one)]["source"].startswith(begins))
        for begins in ("rng = generator(1)\nn = 50", "fitted = X @ beta_hat")
    )
    run(page, first, f"{known[int(first)]['source']}\nbeta_hat = 'mine'")
    assert run(page, second)["error"]
    assert status(page, second).endswith("It used cell 3 as you changed it.")
    page.reload()
    assert not run(page, second)["error"]
    assert status(page, second).endswith("It used cell 3 as printed: run your change first.")
    page.locator(f".run-place[data-cell='{first}'] .run-printed").click()
    run(page, second)
    assert "cell 3 as" not in status(page, second)


def test_an_exercise_is_solved_on_the_page_and_remembered(open_page: Any) -> None:
    page = open_page("chapters/01-statistics")
    cell, stub = page.evaluate(
        """() => { for (const one of document.querySelectorAll(".tag_exercise > .run-place")) {
             const code = one.previousElementSibling.querySelector("pre").textContent;
             if (code.includes("def best_shrinkage")) return [one.dataset.cell, code.trim()]; } }"""
    )
    assert "waits for your answer" in run(page, cell)["printed"]
    wrong = run(page, cell, stub.replace("...", "mean**2 / (mean**2 + sd**2)", 1))
    assert wrong["error"].startswith("✗ Exercise 1.2: that is the variance of one observation")
    right = run(page, cell, stub.replace("...", "mean**2 / (mean**2 + sd**2 / n)", 1))
    assert right["printed"].startswith("✓ Exercise 1.2 is solved.")
    page.reload()
    assert status(page, cell) == "You have solved it."
    kept = json.loads(page.evaluate("localStorage.getItem('runnable-primer:cells')"))
    assert kept[f"chapters/01-statistics:{cell}"].count("sd**2 / n") == 1
    place = page.locator(f".run-place[data-cell='{cell}']")
    place.get_by_role("button", name="Change").click()
    place.locator(".cm-content").fill(stub.replace("...", "mean", 1))
    assert status(page, cell) == ""  # said of other code than stands there now
    page.reload()
    assert status(page, cell) == "You have solved it, last with other code."
    place.get_by_role("button", name="As printed").click()
    page.reload()
    assert status(page, cell) == "You have solved it, last with other code."
    page.evaluate("""localStorage.setItem("runnable-primer:answers", '{"1.2": "✓"}')""")
    page.reload()  # an earlier edition kept this
    assert status(page, cell) == "You have solved it before."


def test_what_was_typed_beside_a_cell_stays_when_the_cell_is_solved(open_page: Any) -> None:
    page = open_page("chapters/01-statistics")
    number = page.evaluate(
        """() => JSON.parse(document.querySelector("form.page-answer input:not([type=radio])")
             .form.dataset.exercise).number"""
    )
    cell = page.evaluate(
        """number => { for (const one of document.querySelectorAll(".fold-exercise .run-place"))
             if (one.parentElement.textContent.includes(`Exercise ${number} waits`))
               return one.dataset.cell; }""",
        number,
    )
    field = page.locator("form.page-answer input:not([type=radio])").first
    run(page, cell, f"print('✓ Exercise {number} is solved.')")  # what its check prints
    page.reload()
    assert status(page, cell) == "You have solved it."
    assert field.input_value() == ""
    field.fill("7")
    field.press("Enter")
    run(page, cell)  # the change is kept
    page.reload()
    assert field.input_value() == "7"


SLOW = """import importlib, time
with open("/lib/python3.12/site-packages/cycler.py", "w") as file:
    file.write("import time; time.sleep(2)")
importlib.invalidate_caches()
importlib.import_module("cycler")
time.sleep(2)
"""
"""Code that imports what is slow to import, in the place of a library that no cell has loaded."""


def test_while_a_library_is_imported_its_name_is_said_and_no_longer(open_page: Any) -> None:
    page = open_page("chapters/01-statistics")
    cell = places(page)[1]
    page.evaluate(
        """place => { window.said = []; new MutationObserver(
             () => said.push(place.textContent)).observe(place, { childList: true }); }""",
        page.query_selector(f".run-place[data-cell='{cell}'] [role=status]"),
    )
    run(page, cell, SLOW)
    said = page.evaluate("said")
    begun = said.index("Importing cycler …")
    assert (said[begun - 1], said[begun + 1]) == ("Running …", "Running …"), said
    assert said[begun + 2].startswith("Ran in ")


def test_what_a_first_visit_loads_is_small_and_the_packs_are_bounded() -> None:
    if not (SITE / "run" / "manifest.js").is_file():
        pytest.skip("NO CELL RAN IN A PAGE: the book was built without Run, and said why")
    assert (SITE / "_static/run.js").stat().st_size < 8_000
    assert sum(file.stat().st_size for file in (SITE / "run").rglob("*")) < 60e6
