"""Addresses that were cut or mistyped: every page stays whole, and its scripts go on."""

from __future__ import annotations

import http.client
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from by_keyboard import tab_to
from playwright.sync_api import Browser, Page, expect
from tiny_book import CHAPTER

from press.site import page_names, serve

Open = Callable[[str], Page]

BROKEN = ["%", "%E0%A4%A", "%ED%A0%80", "%00", "a%zz%20b", "%25%", "constructor"]
"""What stands where something encoded is expected: cut inside a letter, half a letter, no code."""
KEEPS_CALLS = "window.printed = 0; window.print = () => { window.printed += 1; };"


@pytest.fixture(scope="module")
def home(reading_site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the small site below a folder, as GitHub Pages does."""
    server = tmp_path_factory.mktemp("server")
    shutil.copytree(reading_site, server / "primer")
    with serve(server) as address:
        yield f"{address}/primer"


@pytest.fixture
def visit(chromium: Browser, home: str) -> Iterator[Open]:
    """Open a page by its address; in the end no console may hold an error."""
    context = chromium.new_context(color_scheme="dark", reduced_motion="reduce")
    context.add_init_script(KEEPS_CALLS)
    errors: list[str] = []

    def opened(address: str) -> Page:
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(f"{address}: {error}"))
        page.on(
            "console",
            # that there is no page, which the browser says of itself, is what is asked
            lambda said: (
                errors.append(f"{address}: {said.text}")
                if said.type == "error" and "status of 404" not in said.text
                else None
            ),
        )
        page.goto(f"{home}/{address}")
        page.locator("html[data-marked-at]").wait_for()
        return page

    yield opened
    context.close()
    assert errors == []


@pytest.mark.browser
def test_every_page_opens_at_it(visit: Open, reading_site: Path, home: str) -> None:
    names = page_names(reading_site)
    assert {"index.html", "search.html", f"{CHAPTER}.html"} <= set(names)
    page = visit("index.html")
    for number, name in enumerate(names):
        broken = BROKEN[number % len(BROKEN)]
        for tail in ("?q=%#%", f"?{broken}&q={broken}#{broken}"):
            page.goto(f"{home}/{name}{tail}")
            page.locator("html[data-marked-at]").wait_for()  # the last of the scripts was there


@pytest.mark.browser
@pytest.mark.parametrize("tail", ["#%", "#%E0%A4%A", "?q=%#%ED%A0%80"])
def test_a_chapter_does_all_that_it_does(visit: Open, tail: str) -> None:
    page = visit("index.html")
    picture = '<picture><source media="not all" srcset="d.svg"><img alt=""></picture>'
    page.route(
        f"**/{CHAPTER}.html*",
        lambda route: route.fulfill(
            response=(reply := route.fetch()),
            body=reply.text().replace("<h1>", f"{picture}<h1>", 1),
        ),
    )
    page.route("**/d.svg", lambda route: route.fulfill(body="", content_type="image/svg+xml"))
    page.goto(page.url.replace("index.html", f"{CHAPTER}.html{tail}"))
    page.locator("html[data-marked-at]").wait_for()
    expect(page.locator("picture > source")).to_have_attribute("media", "screen")  # it is dark
    page.locator("[data-press=print]").first.dispatch_event("click")
    page.wait_for_function("() => window.printed === 1")
    page.evaluate("delete document.documentElement.dataset.markedAt")
    page.set_viewport_size({"width": 900, "height": 700})
    expect(page.locator("html")).to_have_attribute("data-marked-at", "900")
    page.locator(".guess summary", has_text="the same").click()
    expect(page.locator(".guess .standing").first).to_contain_text("1 of 1 right")
    page.get_by_role("textbox").first.fill("12")
    page.get_by_role("textbox").first.press("Enter")
    expect(page.locator(".page-answer .reply").first).to_contain_text("✓")
    page.keyboard.press("Control+k")
    page.locator("#pst-search-dialog input").fill("softmax")
    page.locator("#pst-search-dialog .found a").first.wait_for()


@pytest.mark.browser
def test_a_link_to_such_a_place_opens_nothing(visit: Open) -> None:
    page = visit(f"{CHAPTER}.html")
    links = page.locator("main a[href*='#term-']")
    for broken in BROKEN:
        links.nth(0).evaluate("(link, tail) => { link.hash = `term-${tail}`; }", broken)
        tab_to(page, links.nth(0))
        tab_to(page, links.nth(1))  # which opens: the one before did nothing, and harmed nothing
        page.locator(".popup:popover-open").wait_for()
        page.keyboard.press("Escape")
        page.evaluate("document.activeElement.blur()")


@pytest.mark.browser
@pytest.mark.parametrize("broken", ["softmax%", "%ED%A0%80/soft%6Dax%E0%A4%A"])
def test_a_lost_address_keeps_its_words(visit: Open, broken: str) -> None:
    page = visit(broken)
    expect(page.locator("#asked code")).to_have_text(f"/primer/{broken}")
    expect(page.locator(".lost input[type=search]")).to_have_value("softmax")
    page.locator("#search-results a[href$='#term-softmax']").wait_for()


@pytest.mark.browser
def test_a_lost_address_with_two_slashes_stays_on_its_site(chromium: Browser, home: str) -> None:
    page = chromium.new_page()
    page.goto(home.replace("/primer", "//evil.example/softmax.html"))
    # there is no site: only below its folder a server gives its page
    assert "evil" not in page.evaluate("location.host")
    page.goto(f"{home}//evil.example/softmax.html")
    page.locator("html[data-marked-at]").wait_for()
    links = page.locator('a[href$="#main-content"]').evaluate_all("(all) => all.map((a) => a.host)")
    assert links
    assert set(links) == {page.evaluate("location.host")}
    page.context.close()


ANSWERED = {
    "/%00": 404,
    "/a%00b/c.html": 404,
    "/%": 404,
    "/%E0%A4%A": 404,
    "/%ED%A0%80": 404,
    f"/{'a' * 300}/b.html": 404,
    "//evil.example/x": 404,
    "/primer": 301,
    "/primer/index.html": 200,
    "/primer/index.html%00": 404,
    "/%2e%2e/%2e%2e/etc/passwd": 404,
}
SAID = ["no words", "GET", f"GET /{'a' * 70_000} HTTP/1.1", "GET / HTTP/9.9", "\x00\x01\x02"]


def test_the_server_answers_every_address(home: str, capfd: pytest.CaptureFixture[str]) -> None:
    machine = home.removeprefix("http://").removesuffix("/primer")
    for address, status in ANSWERED.items():
        for method in ("GET", "HEAD"):
            connection = http.client.HTTPConnection(machine, timeout=60)
            connection.request(method, address)
            assert connection.getresponse().status == status, address
            connection.close()
    host, port = machine.split(":")
    for line in SAID:
        with socket.create_connection((host, int(port)), timeout=60) as opened:
            opened.sendall(f"{line}\r\n\r\n".encode())
            assert opened.recv(100), line
    assert capfd.readouterr().err == "", "a traceback in the terminal"
