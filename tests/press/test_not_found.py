"""The page for addresses where there is none: whole at every depth, and it leads on."""

from __future__ import annotations

import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe import violations_on
from playwright.sync_api import Browser, Page, expect

from press.site import serve

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def mounted(reading_site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the site below a folder that it was told nothing of, as GitHub Pages does."""
    server = tmp_path_factory.mktemp("server")
    shutil.copytree(reading_site, server / "reader/primer")
    with serve(server) as address:
        yield f"{address}/reader/primer"


def opened(chromium: Browser, url: str) -> Page:
    page = chromium.new_context(viewport={"width": 1400, "height": 900}).new_page()
    page.goto(url)
    return page


@pytest.mark.parametrize("lost", ["softmax.html", "chapters/appendix/old/softmax.html", "a/b/"])
def test_it_is_whole_at_every_depth(chromium: Browser, mounted: str, lost: str) -> None:
    page = chromium.new_context(viewport={"width": 1400, "height": 900}).new_page()
    failed: list[str] = []
    page.on("response", lambda reply: reply.status >= 400 and failed.append(reply.url))
    page.goto(f"{mounted}/{lost}")
    # the last of the scripts
    page.wait_for_function("() => document.documentElement.dataset.markedAt")
    # what the browser asks for elsewhere is looking for the root, by us and by itself, ahead of us
    assert [url for url in failed if url.startswith(f"{mounted}/")] == [f"{mounted}/{lost}"]
    assert page.locator("#asked code").inner_text() == f"/reader/primer/{lost}"
    paper = page.evaluate("getComputedStyle(document.body).getPropertyValue('--primer-paper')")
    assert paper.strip() == "#ffffff"
    page.get_by_role("link", name="Glossary", exact=True).last.click()
    page.wait_for_url(f"{mounted}/chapters/appendix/glossary.html")
    page.context.close()


def test_it_searches_for_the_words_of_the_address(chromium: Browser, mounted: str) -> None:
    page = opened(chromium, f"{mounted}/chapters/09_softmax.ipynb")
    assert page.locator(".lost input[type=search]").input_value() == "softmax"
    page.locator("#search-results a[href$='#term-softmax']").wait_for()
    page.locator(".lost input[type=search]").press("Enter")
    page.wait_for_url(f"{mounted}/search.html?q=softmax")
    page.context.close()


@pytest.mark.parametrize(
    "lost",
    [
        "8",
        "chapters/8/",
        "chapters/8-attention",
        "08_positions.ipynb",
        "chapter-8.html",
        "ch%208/a",
    ],
)
def test_it_leads_to_the_chapter_whose_number_the_address_has(
    chromium: Browser, mounted: str, lost: str
) -> None:
    page = opened(chromium, f"{mounted}/{lost}")
    way = page.locator(".ways-home li:visible").first
    expect(way).to_have_text("Chapter 8: Positions")
    way.get_by_role("link").click()
    page.wait_for_url(f"{mounted}/chapters/08-positions.html")
    page.context.close()


@pytest.mark.parametrize("lost", ["chapters/80", "attention-8", "a.html"])
def test_another_number_is_no_chapter(chromium: Browser, mounted: str, lost: str) -> None:
    page = opened(chromium, f"{mounted}/{lost}")
    expect(page.locator("#asked code")).to_contain_text(lost)
    expect(page.locator(".ways-home li:visible").first).to_contain_text("To the first page")
    page.context.close()


def test_its_skip_link_stays_on_it(chromium: Browser, mounted: str) -> None:
    page = opened(chromium, f"{mounted}/a/b.html")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{mounted}/a/b.html#main-content")
    page.context.close()


def test_it_can_be_opened_from_disk_and_read_by_everybody(
    chromium: Browser, reading_site: Path, mounted: str
) -> None:
    page = opened(chromium, (reading_site / "404.html").as_uri())
    page.get_by_role("link", name="To the first page").click()
    page.wait_for_url((reading_site / "index.html").as_uri())
    page.goto(f"{mounted}/a/b.html")
    assert violations_on(page) == []
    page.context.close()


def test_a_server_gives_it_for_what_is_not_there(mounted: str) -> None:
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(f"{mounted}/chapters/nothing.html")
    assert caught.value.code == 404
    assert "This page is not here" in caught.value.read().decode()
    outside = mounted.removesuffix("/reader/primer")
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(f"{outside}/nothing.html")  # there is no site
    assert "This page is not here" not in caught.value.read().decode()


def test_a_port_that_is_taken_is_one_sentence(reading_site: Path, tmp_path: Path) -> None:
    program = (
        "import sys, pathlib; from press import site; "
        f"site.SITE = pathlib.Path({str(reading_site)!r}); sys.exit(site.main())"
    )
    with serve(tmp_path) as address:
        port = address.rpartition(":")[2]
        command = [sys.executable, "-c", program, port]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert done.stdout.startswith(f"Port {port} cannot be used")
    assert done.stderr == ""


def test_a_mark_for_the_tab_that_nobody_made_is_no_fault(tmp_path: Path) -> None:
    with serve(tmp_path) as home, urllib.request.urlopen(f"{home}/favicon.ico") as answer:
        assert (answer.status, answer.read()) == (204, b"")
