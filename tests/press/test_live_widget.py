"""One widget alone in a page that follows its files."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from press.workshop import live_widget as alone
from primer import widgets


def test_every_widget_can_be_shown_alone():
    modules = {getattr(widgets, name).__module__.split(".")[-1] for name in widgets.__all__}
    assert set(alone.names()) == modules


@pytest.mark.parametrize("name", [[], ["ropes"]])
def test_an_unknown_widget_is_one_sentence_with_the_known_ones(name):
    run = subprocess.run(
        [sys.executable, "-m", "press.workshop.live_widget", *name], capture_output=True, text=True
    )
    assert run.returncode == 1
    assert run.stderr.startswith(f"NAME must be one of {alone.names()[0]!r}, ")
    assert run.stderr.count("\n") == 1


@pytest.fixture
def address() -> Iterator[str]:
    """Serve a widget; return where."""
    made = alone.server("norm_ball", 0)
    threading.Thread(target=made.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{made.server_address[1]}"
    made.shutdown()
    made.server_close()


@pytest.mark.thorough
@pytest.mark.browser
def test_the_page_follows_the_files(chromium: Browser, address: str, monkeypatch):
    written: list[str] = []
    monkeypatch.setattr(alone, "write_bundles", lambda wanted: written.extend(wanted))
    files = ["first"]
    python = alone.version(".py")
    monkeypatch.setattr(alone, "version", lambda *kinds: files[0] if len(kinds) > 1 else python)
    alone.saved_state(
        "norm_ball", python
    )  # a process of its own: it may take longer than a page waits
    page = chromium.new_page()
    page.goto(address)
    page.get_by_label("Radius η").press("ArrowRight")
    assert "rope.js" in written
    page.evaluate("window.before = true")
    files[0] = "second"
    page.wait_for_function("!window.before")
    page.get_by_label("Radius η").wait_for()
    monkeypatch.setattr(
        alone, "bundles", lambda: (_ for _ in ()).throw(ValueError("rope.js:1: <oh>"))
    )
    files[0] = "third"
    page.get_by_text("rope.js:1: <oh>").wait_for()
    page.close()
