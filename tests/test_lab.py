"""The widgets in JupyterLab with a real kernel: what the reader does reaches Python."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser

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


def free_port() -> int:
    """Ask the system for a port nobody uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_it_answers(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the server answers; fail with its log when it ended or takes a minute."""
    for _ in range(240):
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            assert server.poll() is None, log.read_text("utf-8")
            time.sleep(0.25)
    pytest.fail(f"JupyterLab did not start within a minute:\n{log.read_text('utf-8')}")


@pytest.fixture
def lab(tmp_path):
    """Run JupyterLab on a folder with one notebook; give its address."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(NOTEBOOK.strip())])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    (tmp_path / "work").mkdir()
    nbformat.write(notebook, tmp_path / "work" / "widgets.ipynb")
    # Settings and state of whoever runs the test play no part.
    own = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    environment = {**os.environ, **{name: str(tmp_path / name.lower()) for name in own}}
    port, log = free_port(), tmp_path / "lab.log"
    with log.open("wb") as output:
        server = subprocess.Popen(
            [
                *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
                *("--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"),
                *("--IdentityProvider.token=", f"--ServerApp.root_dir={tmp_path / 'work'}"),
                *("--expose-app-in-browser", "--LabApp.extension_manager=readonly"),
                f"--LabApp.workspaces_dir={tmp_path / 'workspaces'}",
            ],
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
        finally:
            if server.poll() is None:
                os.killpg(server.pid, signal.SIGKILL)
                server.wait()


@pytest.mark.browser
def test_widgets_work_in_jupyterlab_without_the_network(lab: str, chromium: Browser):
    context = chromium.new_context(viewport={"width": 1300, "height": 900})
    outside: list[str] = []
    context.route(
        lambda url: url.startswith("http") and not url.startswith(lab),
        lambda route: (outside.append(route.request.url), route.abort()),
    )
    page = context.new_page()
    page.set_default_timeout(90_000)
    page.goto(f"{lab}/lab/tree/widgets.ipynb")
    page.wait_for_selector(".jp-Notebook .jp-Cell")
    page.wait_for_function("jupyterapp.shell.currentWidget?.context?.isReady")
    page.evaluate(
        "jupyterapp.shell.currentWidget.sessionContext.ready"
        ".then(() => jupyterapp.commands.execute('notebook:run-all-cells'))"
    )
    page.wait_for_function("document.querySelectorAll('.primer-widget[data-ready]').length === 2")
    rope, spectrogram = page.locator(".jp-OutputArea-output:has(.primer-widget)").all()

    rope.get_by_label("Query position m").press("ArrowRight")
    rope.get_by_text("Python has m = 4").wait_for()
    assert rope.locator(".result").inner_text().startswith("m = 4, ")

    slider = spectrogram.locator("input[type=range]").first
    slider.press("ArrowRight")
    spectrogram.get_by_text("Python has ").wait_for()

    selected = page.locator(".jp-Notebook .jp-Cell.jp-mod-selected").count()
    assert selected == 1  # the arrow keys moved no cell
    assert outside == []
    context.close()
