"""What the tests share: JavaScript called from Python, and a browser."""

from __future__ import annotations

import gc
import json
import os
import random
import select
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import progress
import pytest
from asking_book import asking_book
from chromium import ARGUMENTS, find_chromium
from hypothesis import settings
from jaxtyping import config
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from threadpoolctl import threadpool_limits
from tiny_book import CHAPTER, reading_book

if TYPE_CHECKING:
    from primer.widgets.base import Widget

# These ask what the plugin of `typed.py` checks.
collect_ignore = [] if "typed" in sys.modules else ["library/test_hints.py"]

# Tests run in more processes than there are cores, and small models gain nothing from threads; a
# second thread in each would only wait, and NumPy's threads wait by counting on the spot: on a busy
# machine a fit of milliseconds then takes a minute. What is loaded from here on reads the variable,
# also in kernels and trainings that tests start; what is loaded is told.
os.environ["OMP_NUM_THREADS"] = "1"
threadpool_limits(1)

# Kernels that tests start at the same time are not given the same ports.
os.environ["JUPYTER_DEFAULT_PROVISIONER_NAME"] = "primer-without-ports"

# Timings never decide a test. `make test` tries the same examples everywhere, so that nobody's
# change fails by somebody else's luck; `make fuzz` looks further, with fresh seeds that it prints.
settings.register_profile("book", deadline=None, derandomize=True, max_examples=20)
settings.register_profile("fuzz", deadline=None, max_examples=100, print_blob=True)
settings.load_profile("book")


def pytest_xdist_auto_num_workers() -> int:
    """Run one process more than there are cores: now and then one waits for its browser."""
    return (os.cpu_count() or 1) + 1


def pytest_configure(config: pytest.Config) -> None:
    """Let nbval read the outputs that `make book` computed, and show how long is left."""
    config.pluginmanager.register(progress.Progress(config), "progress")
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        return  # this process runs no test; it gives them out, and need not wait for the library
    import replay

    config.pluginmanager.register(replay, "replay")


LONGEST, LONGEST_THOROUGH = 600, 3600
"""Seconds that a test may take, with what it waits for first: many times what the slowest does."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give every test a time-out, so that what hangs is named instead of waited for.

    A signal ends the test alone.  Where Playwright waits, an exception from a signal would end its
    loop, and every later test of this process with it: there a second thread ends the process,
    which xdist replaces.
    """
    for item in items:
        long = any(item.get_closest_marker(name) for name in ("thorough", "seeds"))
        method = "thread" if "chromium" in getattr(item, "fixturenames", ()) else "signal"
        seconds = LONGEST_THOROUGH if long else LONGEST
        item.add_marker(pytest.mark.timeout(seconds, method=method))


# What is loaded now stays until the end, torch, the library and the tests: a million objects, which
# the collector of garbage would look through again and again, while they are loaded and after it.
gc.disable()


def pytest_collection_finish() -> None:
    """Let the collector look at what the tests make, and at nothing else."""
    gc.collect()
    gc.freeze()
    gc.enable()


WIDGETS = Path(__file__).parents[1] / "lib/primer/widgets"

PATIENCE = 120  # seconds, for a machine that does much else

# Answers one line of JSON, [file, function, arguments], with one line, {value} or {error}.
SERVER = """
import { createInterface } from "node:readline";
const finite = (key, value) => {
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw new RangeError(`${key || "result"} is ${value}`);
  }
  return ArrayBuffer.isView(value) ? Array.from(value) : value;
};
for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    const [file, name, args] = JSON.parse(line);
    const module = await import(file);
    if (!(name in module)) throw new TypeError(`${file} exports no function ${name}`);
    answer = JSON.stringify({ value: await module[name](...args) ?? null }, finite);
  } catch (error) {
    answer = JSON.stringify({ error: String(error) });
  }
  console.log(answer);
}
"""


@cache
def where(module: str | Path) -> Path:
    """Return where a module of the widgets is, by its name or by folder and name; or a path."""
    if isinstance(module, Path):
        return module
    (found,) = (path for path in WIDGETS.glob(f"**/{module}") if path.parent.name != "static")
    return found


class JavaScript:
    """Functions of the widgets' ES modules, called in one Node process that stays open."""

    def __init__(self, node: str) -> None:
        self.process = subprocess.Popen(
            [node, "--input-type=module", "--eval", SERVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def __call__(self, module: str | Path, function: str, *arguments: Any) -> Any:
        """Call a function of a module (a name in ``primer/widgets`` or a path).

        NaN and infinity have no JSON: they are refused in both directions.
        """
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        call = [where(module).as_uri(), function, arguments]
        print(
            json.dumps(call, allow_nan=False, default=lambda array: array.tolist()),
            file=self.process.stdin,
            flush=True,
        )
        if not select.select([self.process.stdout], [], [], PATIENCE)[0]:
            self.process.kill()
            raise TimeoutError(f"{module}: {function} did not answer within {PATIENCE} s")
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise RuntimeError(f"{module}: {function} failed: {answer['error']}")
        return answer["value"]

    def close(self) -> None:
        """End the Node process."""
        self.process.communicate()


@pytest.fixture
def as_readers_run_it() -> Iterator[None]:
    """Turn the check of `typed.py` off, which would speak before the library does."""
    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", False)


@pytest.fixture(scope="session")
def javascript() -> Iterator[JavaScript]:
    """Call ``javascript("rope.js", "scores", query, key)`` and get what the function returns."""
    from press.workshop.node import find_node

    server = JavaScript(find_node())
    yield server
    server.close()


@pytest.fixture(scope="session")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a small corpus: what a fixed random walk through a few words says."""
    folder = tmp_path_factory.mktemp("texts")
    words = ["to", "be", "or", "not", "that", "is", "the", "question", "whether", "nobler"]
    words += ["mind", "suffer", "slings", "arrows", "outrageous", "fortune", "against"]
    draw = random.Random(0)
    for part, length in (("training", 3000), ("validation", 400)):
        (folder / part).mkdir()
        text = " ".join(draw.choice(words) for _ in range(length))
        (folder / part / "speech.txt").write_text(text, encoding="utf-8")
    return folder


CUT_OFF = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
"""For a browser that finds no other machine."""


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Give a Playwright browser; skip loudly where there is none, but fail in CI."""
    path = find_chromium()
    if path is None:
        reason = "NO BROWSER TEST RAN: no Chromium; `python tests/tools/chromium.py` installs one"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    with ExitStack() as opened:
        try:
            playwright = opened.enter_context(sync_playwright())
            browser = playwright.chromium.launch(executable_path=path, args=[*ARGUMENTS, CUT_OFF])
        except Exception as error:  # what drives it, a Node of Playwright's, may lack a library
            if os.environ.get("CI"):
                raise
            pytest.skip(f"NO BROWSER TEST RAN: {path} is there, and does not start ({error})")
        made = browser.new_context

        def patient(**options: Any) -> BrowserContext:
            """Make a context that waits as long as a machine that does much else may need."""
            context = made(**options)
            context.set_default_timeout(1000 * PATIENCE)
            return context

        browser.new_context = patient  # type: ignore[method-assign]
        expect.set_options(timeout=1000 * PATIENCE)
        yield browser
        browser.close()


@pytest.fixture
def widget_page(chromium: Browser) -> Iterator[Callable[..., Page]]:
    """Open a widget in the browser: ``widget_page(RopeRotation(), width=390, theme="dark")``.

    With ``clock=True`` time passes in the page only by ``page.clock``, so that what plays is the
    same on a busy machine.  Other named arguments go to the browser's context (``has_touch=True``).
    The page may ask nothing of the network, and the test fails when its console reports an error.
    """
    from widget_page import show_widget

    contexts, errors = [], []

    def show(
        widget: Widget, width: int = 1400, theme: str = "light", clock: bool = False, **options: Any
    ) -> Page:
        context = chromium.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        context.route("http*://**", lambda route: (errors.append(route.request.url), route.abort()))
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
        if clock:
            page.clock.install(time=0)
        show_widget(page, widget, theme)
        if clock:
            page.clock.pause_at(3600)  # s; from here on it stands
        return page

    yield show
    for context in contexts:
        context.close()
    assert errors == []


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """Serve the site of the book as it is built."""
    from press.site import SITE, serve

    if not (SITE / "index.html").exists():
        pytest.fail("the site is not built: run `make book`, then these tests")
    with serve(SITE) as url:
        yield url


@pytest.fixture(scope="session")
def reading_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of a tiny site with all that a reader can open and answer."""
    return reading_book(tmp_path_factory.mktemp("reading"))


@pytest.fixture(scope="session")
def reading_home(reading_site: Path) -> Iterator[str]:
    """Serve that site; axe-core reads style sheets, which it may not from disk."""
    from press.site import serve

    with serve(reading_site) as address:
        yield address


@pytest.fixture(scope="session")
def asking_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of a tiny site of two chapters that ask in all the ways there are."""
    return asking_book(tmp_path_factory.mktemp("asking"))


@pytest.fixture(scope="session")
def asking_home(asking_site: Path) -> Iterator[str]:
    """Serve that site."""
    from press.site import serve

    with serve(asking_site) as address:
        yield address


@pytest.fixture
def reading_page(chromium: Browser, reading_site: Path) -> Iterator[Callable[..., Page]]:
    """Open the chapter of that site from disk: ``reading_page(has_touch=True)``.

    ``script`` runs before the page's own; ``home`` is where the site is served, if it is served: a
    test of what the browser keeps needs it, since Chromium under remote control forgets the storage
    of one page in twenty that it loads again from disk, of a bare page as well.  Other named
    arguments go to the browser's context.  The page may ask nothing of any other place, and the
    test fails when its console reports an error.
    """
    contexts, errors = [], []

    def opened(script: str = "", home: str = "", **options: Any) -> Page:
        context = chromium.new_context(**({"reduced_motion": "reduce"} | options))
        contexts.append(context)
        if not home:
            context.route(
                "http*://**", lambda route: (errors.append(route.request.url), route.abort())
            )
        context.add_init_script(script)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
        page.goto(f"{home or reading_site.as_uri()}/{CHAPTER}.html")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert errors == []
