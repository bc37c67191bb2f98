"""A page says what it may run and ask for: its policy, and a browser that keeps it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from sphinx.errors import ExtensionError
from tiny_book import BOOK

from primer.book.pages import serve
from primer.book.policy import PRESSED, checksum, policy, protect, with_policy

PAGE = """<html><head><meta charset="utf-8" /><title>t</title></head><body>
<button onclick="window.print()">Print</button><p id="said"></p>
<script>document.getElementById("said").textContent = "own script";</script>
<script type="application/json">{"no": "script"}</script>
</body></html>
"""


def test_a_policy_names_the_scripts_in_the_page_and_no_data() -> None:
    said = policy(PAGE)
    assert checksum('document.getElementById("said").textContent = "own script";') in said
    assert said.count("sha256") == 1
    assert "connect-src 'none'" in said
    assert "unsafe-inline" not in said.partition("script-src")[2].partition(";")[0]


def test_it_stands_behind_the_character_set_and_is_written_once() -> None:
    once = with_policy(PAGE, "page")
    assert once.index("charset") < once.index("Content-Security-Policy") < once.index("<title>")
    assert with_policy(once, "page") == once
    assert "onclick" not in once
    assert f'data-press="{PRESSED["window.print()"]}"' in once


def test_a_page_with_a_policy_of_its_own_keeps_it() -> None:
    meta = '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'">'
    strict = PAGE.replace("<title>", f"{meta}<title>")
    assert with_policy(strict, "page") == strict


@pytest.mark.parametrize("handler", ['onclick="steal()"', "onerror='window.print()'"])
def test_a_script_in_an_attribute_is_named(handler: str) -> None:
    with pytest.raises(ExtensionError, match=r"chapter\.html: .*script file instead"):
        with_policy(PAGE.replace('onclick="window.print()"', handler), "chapter.html")


def said_by(browser: Browser, address: str) -> tuple[str, list[str]]:
    """Open a page; return what its script said, and what the browser refused."""
    page = browser.new_page()
    refused: list[str] = []
    page.on("console", lambda message: refused.append(message.text))
    page.goto(address)
    text = page.locator("#said").inner_text()
    page.close()
    return text, refused


@pytest.mark.browser
@pytest.mark.parametrize("place", ["disk", "http"])
def test_the_browser_runs_the_pages_scripts_and_no_other(
    chromium: Browser, tmp_path: Path, place: str
) -> None:
    (tmp_path / "good.html").write_text(PAGE, encoding="utf-8")
    (tmp_path / "asks.html").write_text(
        PAGE.replace('textContent = "own', 'textContent = "asked"; fetch("good.html"); "own'),
        encoding="utf-8",
    )
    protect(tmp_path)
    slipped = (tmp_path / "good.html").read_text("utf-8").replace("own script", "foreign script")
    (tmp_path / "foreign.html").write_text(slipped, encoding="utf-8")
    with serve(tmp_path) as home:
        root = home if place == "http" else tmp_path.as_uri()
        assert said_by(chromium, f"{root}/good.html") == ("own script", [])
        text, refused = said_by(chromium, f"{root}/foreign.html")
        assert text == ""
        assert "violates" in refused[0]
        text, refused = said_by(chromium, f"{root}/asks.html")
        assert text == "asked"
        assert "connect-src" in refused[0]


@pytest.mark.browser
def test_the_themes_buttons_still_do_what_they_say(reading_page: Callable[..., Page]) -> None:
    page = reading_page("window.print = () => { window.done = ['print']; };")
    page.evaluate("() => { window.toggleFullScreen = () => window.done.push('full screen'); }")
    for name in PRESSED.values():
        page.evaluate("name => document.querySelector(`[data-press=${name}]`).click()", name)
    assert page.evaluate("window.done") == ["print", "full screen"]


def test_no_script_of_ours_writes_markup() -> None:
    scripts = [
        *(BOOK / "assets").glob("*.js"),
        *(BOOK / "lib/primer").rglob("*.js"),
        *(BOOK / "packages").rglob("*.js"),
    ]
    assert [
        str(path) for path in scripts if re.search(r"\.(inner|outer)HTML\s*=", path.read_text())
    ] == []
