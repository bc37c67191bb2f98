"""The chapters in JupyterLab with a real kernel read as on the site, and their widgets work.

`make test` uses two widgets there; `make thorough` opens each notebook and runs it to its end.  The
site must have been built: its numbers are the measure.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Browser, Page, expect
from written import BESIDE, BOOK, CHAPTERS

from press.audit.form import FOLDED, tags_of
from press.site import SITE
from primer.widgets import RopeRotation

pytestmark = pytest.mark.browser

PATIENCE = 900_000  # ms; timings never decide a test

# A label repeats what Python was told: the page shows it only after the way there and back.
NOTEBOOK = """
from ipywidgets import Label, VBox
from primer.widgets import RopeRotation, SpectrogramExplorer

def with_echo(widget):
    echo = Label("untouched")
    def tell(change):
        echo.value = f"Python has {change.name} = {change.new}"
    widget.observe(tell, names=widget.state_names())
    return VBox([echo, widget])

display(with_echo(RopeRotation(m=3)), with_echo(SpectrogramExplorer()))
"""

# What jupyterlab-myst shows where it cannot read: red boxes, warnings, links that lead nowhere.
TROUBLES = """() => [
  ...[...document.querySelectorAll('.myst [title$="Not Found"], .myst a[href="#"]')]
    .map((e) => `${e.title || "dead link"}: ${e.textContent}`),
  ...[...document.querySelectorAll('.myst')]
    .flatMap((e) => e.innerText.match(/.*Unknown (Directive|Role).*|^---$/gm) ?? []),
  ...[...document.querySelectorAll('.jp-OutputArea-output')]
    .filter((e) => /stderr|vnd.jupyter.error/.test(e.dataset.mimeType ?? "")
      || e.querySelector('[data-mime-type="application/vnd.jupyter.stderr"]'))
    .map((e) => `standard error: ${e.textContent.slice(0, 200)}`),
]"""

NUMBERS = """() => Object.fromEntries(Object.entries({
  equations: '.myst a[title="Link to this Equation"]',
  theorems: '.myst-proof-title > a',
  exercises: '.myst-exercise-title > a',
}).map(([kind, selector]) =>
  [kind, [...document.querySelectorAll(selector)].map((e) => e.textContent.trim())
    .filter((text) => text !== '#')]))"""

# For each cell: is its code closed, and are its outputs?
CLOSED = """() => [...document.querySelectorAll('.jp-Notebook .jp-Cell')].map((cell) => [
  cell.querySelector('.jp-InputPlaceholder') !== null,
  cell.querySelector('.jp-OutputPlaceholder') !== null,
])"""

# Has every code cell been run?
FINISHED = """() => {
  const { content, sessionContext } = jupyterapp.shell.currentWidget;
  return sessionContext.session?.kernel?.status === "idle" && content.widgets
    .every(({ model }) => model.type !== "code" || model.executionCount);
}"""


def free_port() -> int:
    """Ask the system for a port nobody uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_it_answers(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the server answers; fail with its log when it ended or takes too long."""
    until = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < until:
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            assert server.poll() is None, log.read_text("utf-8")
            time.sleep(0.25)
    pytest.fail(
        f"JupyterLab did not start within {PATIENCE / 1000:.0f} s:\n{log.read_text('utf-8')}"
    )


@contextmanager
def served(command: list[str], folder: Path, settings: Path, *also: str) -> Iterator[str]:
    """Start JupyterLab by a command, and give its address.

    The settings are those of the readers, but every cell is on the page at once, not only those in
    sight; what else the machine's user has set plays no part.
    """
    overrides = json.loads(settings.read_text("utf-8"))
    overrides["@jupyterlab/notebook-extension:tracker"] = {"windowingMode": "none"}
    settings.write_text(json.dumps(overrides), encoding="utf-8")
    own = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    environment = {**os.environ, **{name: str(folder / name.lower()) for name in own}}
    del environment["JUPYTER_DEFAULT_PROVISIONER_NAME"]  # of the tests, see conftest.py
    port, log = free_port(), folder / "lab.log"
    with log.open("wb") as output:
        server = subprocess.Popen(
            [
                *(*command, "--no-browser", "--allow-root"),
                *("--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"),
                *("--IdentityProvider.token=", *also),
                *("--expose-app-in-browser", "--LabApp.extension_manager=readonly"),
                f"--LabApp.workspaces_dir={folder / 'workspaces'}",
            ],
            cwd=folder,
            stdout=output,
            stderr=output,
            env=environment,
            start_new_session=True,
        )
    try:
        wait_until_it_answers(f"http://127.0.0.1:{port}/api/status", server, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()  # it ends its kernels first
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:  # on a busy machine; no test is about how it ends
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()


@contextmanager
def window(address: str, chromium: Browser) -> Iterator[Page]:
    """Give one window of JupyterLab, in which nothing else can be reached."""
    context = chromium.new_context(viewport={"width": 1300, "height": 900})
    outside: list[str] = []
    context.route(
        lambda url: url.startswith("http") and not url.startswith(address),
        lambda route: (outside.append(route.request.url), route.abort()),
    )
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(f"{address}/lab?reset")
    page.wait_for_function("window.jupyterapp?.restored.then(() => true)")
    yield page
    context.close()
    assert outside == []


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run JupyterLab on a copy of the chapters; give its address."""
    folder = tmp_path_factory.mktemp("lab")
    shutil.copytree(BOOK / "chapters", folder / "work/chapters")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(NOTEBOOK.strip())])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(notebook, folder / "work/widgets.ipynb")
    shutil.copytree(BOOK / "binder/lab", folder / "settings")
    command = [sys.executable, "-m", "jupyterlab"]
    with served(
        command,
        folder,
        folder / "settings/overrides.json",
        f"--ServerApp.root_dir={folder / 'work'}",
        f"--LabApp.app_settings_dir={folder / 'settings'}",
    ) as address:
        yield address


@pytest.fixture(scope="module")
def page(lab: str, chromium: Browser) -> Iterator[Page]:
    """Give a window of that JupyterLab."""
    with window(lab, chromium) as opened_window:
        yield opened_window


@contextmanager
def opened(page: Page, path: str) -> Iterator[None]:
    """Open a notebook, wait until its text is shown and its kernel ready; close it at the end."""
    page.evaluate("(path) => void jupyterapp.commands.execute('docmanager:open', { path })", path)
    page.wait_for_function(
        "(path) => { const { context } = jupyterapp.shell.currentWidget ?? {};"
        " return context?.path === path && context.isReady; }",
        arg=path,
    )
    page.wait_for_function(
        "[...document.querySelectorAll('.jp-Notebook .jp-MarkdownCell')]"
        ".every((cell) => cell.querySelector('.myst')?.children.length)"
    )
    page.evaluate("jupyterapp.shell.currentWidget.sessionContext.ready.then(() => null)")
    yield
    page.evaluate(
        "async () => { const panel = jupyterapp.shell.currentWidget;"
        " await panel.sessionContext.shutdown(); await panel.context.save(); panel.dispose(); }"
    )


def run_all(page: Page) -> None:
    """Run a notebook from a fresh kernel to its end."""
    page.evaluate(
        "() => void jupyterapp.commands.execute('notebook:clear-all-cell-outputs')"
        ".then(() => jupyterapp.commands.execute('notebook:run-all-cells'))"
    )


def numbers_on_the_site(name: str) -> dict[str, list[str]]:
    """Read the numbers of a chapter from its page."""
    path = SITE / "chapters" / f"{name}.html"
    if not path.exists():
        pytest.fail("the site is not built: run `make book`, then these tests")
    page = BeautifulSoup(path.read_text("utf-8"), "html.parser")
    selectors = {
        "equations": "article .eqno",
        "theorems": "article .proof .caption-number",
        "exercises": "article .exercise .caption-number",
    }
    return {
        kind: [tag.text.removesuffix("#").strip() for tag in page.select(selector)]
        for kind, selector in selectors.items()
    }


@pytest.mark.thorough
@pytest.mark.parametrize("name", [*BESIDE, *CHAPTERS])
def test_a_chapter_reads_as_on_the_site(name: str, page: Page) -> None:
    cells = nbformat.read(BOOK / "chapters" / f"{name}.ipynb", as_version=4).cells
    folded = [bool(set(tags_of(cell)) & set(FOLDED)) for cell in cells]
    checks = ["check" in tags_of(cell) for cell in cells]
    with opened(page, f"chapters/{name}.ipynb"):
        assert [code for code, _ in page.evaluate(CLOSED)] == folded
        assert [outputs for _, outputs in page.evaluate(CLOSED)] == checks
        assert page.evaluate(NUMBERS) == numbers_on_the_site(name)
        assert page.evaluate(TROUBLES) == []
        assert page.locator(".Toastify__toast").count() == 0  # nobody asks about news
        run_all(page)
        page.wait_for_function(FINISHED, polling=200)  # ms
        assert page.evaluate(TROUBLES) == []
        assert [code for code, _ in page.evaluate(CLOSED)] == folded
        assert page.locator(".primer-widget").count() > 0 or name in BESIDE


def test_widgets_work_without_the_network(page: Page) -> None:
    with opened(page, "widgets.ipynb"):
        run_all(page)
        page.wait_for_function(
            "document.querySelectorAll('.primer-widget[data-ready]').length === 2"
        )
        rope, spectrogram = page.locator(".jp-OutputArea-output:has(.primer-widget)").all()

        rope.get_by_label("Query position m").press("ArrowRight")
        rope.get_by_text("Python has m = 4").wait_for()
        said = re.fullmatch(r"m = 4, .*, score (\S+)", rope.locator(".result").inner_text())
        assert said is not None
        shown = float(said[1].replace("−", "-"))
        assert shown == pytest.approx(RopeRotation(m=4).score(), abs=6e-4)

        slider = spectrogram.locator("input[type=range]").first
        slider.press("ArrowRight")
        spectrogram.get_by_text("Python has ").wait_for()

        selected = page.locator(".jp-Notebook .jp-Cell.jp-mod-selected").count()
        assert selected == 1  # the arrow keys moved no cell


@pytest.mark.thorough
def test_a_wheel_in_an_empty_environment_opens_the_chapters(
    tmp_path: Path, chromium: Browser
) -> None:
    run = partial(subprocess.run, check=True, cwd=tmp_path)
    pip = ["-m", "pip", "--disable-pip-version-check", "--quiet"]
    checkout = tmp_path / "checkout"  # a wheel is built beside its sources
    run(["git", "clone", "--quiet", BOOK, checkout])
    run([sys.executable, *pip, "wheel", "--no-deps", "--no-build-isolation", checkout])
    [wheel] = tmp_path.glob("runnable_primer-*.whl")
    run([sys.executable, "-m", "venv", "empty"])
    python = tmp_path / "empty/bin/python"
    run([python, *pip, "install", "-c", BOOK / "requirements.txt", f"{wheel}[lab]"])
    shutil.rmtree(checkout)

    settings = tmp_path / "empty/share/runnable-primer/lab/overrides.json"
    command = [str(python.with_name("runnable-primer")), "lab", "mine", "--"]
    with (
        served(command, tmp_path, settings) as address,
        window(address, chromium) as page,
        opened(page, "08-positions.ipynb"),
    ):
        run_all(page)
        page.wait_for_function(FINISHED, polling=200)  # ms
        assert page.evaluate(TROUBLES) == []
        rope = page.locator(".primer-widget[data-ready]").filter(
            has=page.get_by_label("Query position m")
        )
        result = rope.locator(".result")
        before = result.inner_text()
        rope.get_by_label("Query position m").press("ArrowRight")
        expect(result).not_to_have_text(before)
