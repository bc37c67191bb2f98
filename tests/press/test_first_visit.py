"""The first second of a visit: nothing flashes, nothing jumps, at any width and in both schemes."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise, product
from typing import Any

import pytest
from axe import WIDTHS
from heights import FILE, heights_on
from looks import OF_ALL_KINDS, OF_EACH_TEMPLATE, PAGES
from playwright.sync_api import Browser, Page, Route, expect
from selectolax.lexbor import LexborHTMLParser
from thorough import a_few

from press.site import SITE
from primer.palette import DARK, LIGHT

pytestmark = pytest.mark.browser

MOST = 0.05
"""The layout shift that a first visit may have; good is less than 0.1."""
SLOW = 400_000
"""Bytes in a second, of a line on which style, script and fonts come one after the other."""
READY = """() => {
  const { markedAt, widgets } = document.documentElement.dataset;
  return markedAt && (widgets === "ready" || !document.querySelector(".widget-view"));
}"""

WATCH = """
window.shifts = [];
window.frames = [];
const named = (node) => node?.id || node?.className || node?.nodeName || "?";
new PerformanceObserver((list) => {
  for (const { value, startTime, hadRecentInput, sources } of list.getEntries()) {
    if (!hadRecentInput) shifts.push([startTime, value, sources.map(({ node }) => named(node))]);
  }
}).observe({ type: "layout-shift", buffered: true });
const look = () => {
  if (document.body) {
    const logos = [...document.querySelectorAll("img.logo__image")];
    const seen = logos.filter((logo) => logo.checkVisibility());
    window.frames.push([getComputedStyle(document.body).backgroundColor, seen.length,
      getComputedStyle(document.documentElement).fontSize]);
  }
  if (document.readyState !== "complete") requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""


def total(shifts: list[tuple[float, float, Any]]) -> float:
    """Sum up shifts as browsers do: the worst five seconds without a second of rest between.

    Examples
    --------
    >>> total([(0, 0.1, ""), (500, 0.1, ""), (3000, 0.15, "")])
    0.2
    """
    worst = part = 0.0
    begin = last = float("-inf")
    for time, value, _ in sorted(shifts):
        if time - last > 1000 or time - begin > 5000:
            part, begin = 0.0, time
        last, part = time, part + value
        worst = max(worst, part)
    return worst


def visit(chromium: Browser, url: str, width: str, scheme: Any, slow: int = 0) -> Page:
    """Open a page for the first time, in a window and not as an imitated telephone.

    There Chrome would forgive shifts that come early.
    """
    context = chromium.new_context(viewport=WIDTHS[width], color_scheme=scheme)
    context.add_init_script(WATCH)
    page = context.new_page()
    if slow:
        line = {"latency": 60, "downloadThroughput": slow, "uploadThroughput": slow}
        session = context.new_cdp_session(page)
        session.send("Network.enable")
        session.send("Network.emulateNetworkConditions", {"offline": False, **line})
    page.goto(url, wait_until="load")
    page.wait_for_function(READY)
    page.evaluate("document.fonts.ready")
    return page


def scroll_to_the_end(page: Page) -> None:
    """Go down as a reader does, in steps of most of a screen."""
    page.mouse.move(200, 300, steps=2)
    step, last = 600, -1
    for _ in range(1000):  # of a page that grows while one goes down
        now = page.evaluate("scrollY")
        if now == last:
            break
        last = now
        page.mouse.wheel(0, step)
        page.wait_for_timeout(100)


def assert_still(page: Page, when: str) -> None:
    shifts = page.evaluate("shifts")
    worst = sorted(shifts, key=lambda shift: -shift[1])[:4]
    assert total(shifts) <= MOST, f"{when}: {worst}"


@pytest.mark.parametrize("name", a_few(PAGES, OF_EACH_TEMPLATE | OF_ALL_KINDS))
def test_nothing_jumps_when_a_page_opens(chromium: Browser, address: str, name: str) -> None:
    page = visit(chromium, f"{address}/{name}", "desk", "dark")
    assert_still(page, "while it opened")
    colors, logos, sizes = zip(*page.evaluate("frames"), strict=True)
    assert set(colors) <= {rgb(DARK["paper"])}, "it was not dark from the beginning"
    assert max(logos) <= 1
    assert len(set(sizes)) == 1, "letters changed their size"
    page.context.close()


def rgb(color: str) -> str:
    """Write a color as a browser does.

    Examples
    --------
    >>> rgb("#14181f")
    'rgb(20, 24, 31)'
    """
    return f"rgb({', '.join(str(int(color[i : i + 2], 16)) for i in (1, 3, 5))})"


BUTTONS = """() => [...document.querySelectorAll(".bd-header-article :is(button, a)")]
  .filter((one) => one.checkVisibility())
  .map((one) => [one.className, Math.round(one.getBoundingClientRect().x)])"""


def replying(text: str) -> Callable[[Route], None]:
    """Reply with a page of one's own."""
    return lambda route: route.fulfill(body=text, content_type="text/html")


@pytest.mark.parametrize("name", ["index.html", "chapters/01-statistics.html"])
def test_buttons_above_the_text_stand_where_they_stay(
    chromium: Browser, address: str, name: str
) -> None:
    whole = (SITE / name).read_text("utf-8")
    seen = []
    for text in (whole[: whole.index("</h1>")], whole):  # its beginning alone has come; all has
        context = chromium.new_context(viewport=WIDTHS["telephone"])
        page = context.new_page()
        page.route(f"**/{name}", replying(text))
        page.goto(f"{address}/{name}", wait_until="load")
        page.evaluate("document.fonts.ready")
        seen.append(page.evaluate(BUTTONS))
        context.close()
    assert len(seen[0]) > 3
    assert seen[0] == seen[1]


VISITS = [(name, *look) for name in PAGES for look in product(WIDTHS, ("light", "dark"))]
A_FEW = [
    *(visit for visit in VISITS if visit[0] == "index.html"),
    ("chapters/07-attention.html", "desk", "light"),
    ("chapters/appendix/notation.html", "telephone", "dark"),
]


@pytest.mark.parametrize(("name", "width", "scheme"), a_few(VISITS, A_FEW))
def test_nothing_jumps_on_a_slow_line_and_down_to_the_end(
    chromium: Browser, address: str, name: str, width: str, scheme: str
) -> None:
    page = visit(chromium, f"{address}/{name}", width, scheme, SLOW)
    assert_still(page, "while it opened")
    assert {frame[0] for frame in page.evaluate("frames")} <= {
        rgb({"light": LIGHT, "dark": DARK}[scheme]["paper"])
    }
    scroll_to_the_end(page)
    assert_still(page, "on the way down")
    page.context.close()


def test_a_kept_choice_of_colors_is_there_at_once(chromium: Browser, address: str) -> None:
    context = chromium.new_context(color_scheme="light")
    context.add_init_script(f"localStorage.setItem('mode', 'dark'); {WATCH}")
    page = context.new_page()
    page.goto(f"{address}/chapters/appendix/notation.html")
    assert {frame[0] for frame in page.evaluate("frames")} == {rgb(DARK["paper"])}
    context.close()


WITH_WIDGETS = [
    name
    for name in PAGES
    if (SITE / name).is_file() and 'class="widget-view"' in (SITE / name).read_text("utf-8")
]
NEAR = 24
"""Pixels by which a widget may miss the place that is kept for it."""


@pytest.mark.parametrize("name", a_few(WITH_WIDGETS, WITH_WIDGETS[:2]))
def test_the_place_of_a_widget_is_as_high_as_the_widget(
    chromium: Browser, address: str, name: str
) -> None:
    kept = json.loads(FILE.read_text("utf-8"))
    page = chromium.new_page(viewport=WIDTHS["desk"])
    page.goto(f"{address}/{name}")
    for widget, found in heights_on(page, (358, 784)).items():
        for width, height in found.items():
            assert abs(height - kept[widget][width]) <= NEAR, (
                f"{widget} is {height} px high in a column of {width} px, and has a place of "
                f"{kept[widget][width]}: run `python tests/tools/heights.py`, then `make book`"
            )
    page.close()


LINES = """() => {
  const counts = [];
  for (const p of document.querySelectorAll(".bd-article > section > section > p")) {
    const range = document.createRange();
    let [line, letters] = [null, 0];
    const texts = document.createTreeWalker(p, NodeFilter.SHOW_TEXT);
    if (p.querySelector(".katex")) continue;
    while (texts.nextNode()) {
      const { data } = texts.currentNode;
      for (let i = 0; i < data.length; i++) {
        range.setStart(texts.currentNode, i);
        range.setEnd(texts.currentNode, i + 1);
        const { bottom } = range.getBoundingClientRect();
        if (line !== null && bottom - line > 10) {
          counts.push(letters);
          letters = 0;
        }
        line = bottom;
        letters++;
      }
    }
  }
  return counts; // without the last line of each paragraph
}"""


def test_a_line_has_sixty_to_seventy_five_letters(chromium: Browser, address: str) -> None:
    page = chromium.new_page(viewport=WIDTHS["desk"])
    page.goto(f"{address}/chapters/07-attention.html")
    page.wait_for_function(READY)
    counts = sorted(page.evaluate(LINES))
    assert len(counts) > 50
    assert 60 <= counts[len(counts) // 2] <= 75
    assert counts[len(counts) * 19 // 20] <= 80
    page.close()


MOST_ELEMENTS = 29_000
"""What a page may be made of; the first widget of a page of twice as many comes twice as late."""
LIGHT_CHAPTER = "chapters/05-language-models.html"
TIMES = 2.25
"""How many times the elements of that chapter another may have, with five times its formulas."""


def test_no_page_is_too_heavy() -> None:
    light = len(LexborHTMLParser((SITE / LIGHT_CHAPTER).read_text("utf-8")).css("*"))
    for name in PAGES:
        page = LexborHTMLParser((SITE / name).read_text("utf-8"))
        number = len(page.css("*"))
        assert number <= min(MOST_ELEMENTS, TIMES * light), f"{name} has {number} elements"
        formulas = page.css(".katex")
        assert all(one.css_first("math annotation") for one in formulas), name


FAMILIES = """() => [...new Set([".bd-sidebar-primary", ".primer-widget", ".bd-article table"]
  .flatMap((name) => [...document.querySelectorAll(name)])
  .map((element) => getComputedStyle(element).fontFamily.split(",")[0]))]"""


def test_a_page_has_one_sans_serif(chromium: Browser, address: str) -> None:
    page = chromium.new_page(viewport=WIDTHS["desk"])
    page.goto(f"{address}/chapters/07-attention.html")
    page.wait_for_function(READY)
    assert page.evaluate(FAMILIES) == ['"Source Sans 3 Variable"']
    page.close()


STAND_IN = """async () => {
  const widths = [];
  const words = document.querySelector(".bd-article").textContent.slice(0, 4000);
  await document.fonts.ready;
  const probe = document.body.appendChild(document.createElement("span"));
  probe.style.cssText = "position: absolute; white-space: nowrap; font-size: 18px";
  probe.textContent = words.replaceAll(/[^ -~]/g, "x");
  const style = getComputedStyle(document.documentElement);
  const fonts = { serif: "Source Serif 4", sans: "Source Sans 3", code: "Source Code Pro" };
  for (const [name, font] of Object.entries(fonts)) {
    const own = `${font} Variable`;
    await document.fonts.load(`18px "${own}"`);
    const of = (family) => {
      probe.style.fontFamily = family;
      const { width, height } = probe.getBoundingClientRect();
      return [width, height];
    };
    widths.push([of(`"${own}"`), of(style.getPropertyValue(`--stand-in-${name}`))]);
  }
  return widths;
}"""


def test_what_stands_in_for_a_font_is_as_wide_and_as_high(chromium: Browser, address: str) -> None:
    page = chromium.new_page()
    page.goto(f"{address}/chapters/appendix/about.html")
    for own, other in page.evaluate(STAND_IN):
        for one, two in pairwise([own, other]):
            assert two[0] == pytest.approx(one[0], rel=0.02)
            assert two[1] == pytest.approx(one[1], abs=1)
    page.close()


def test_the_button_for_colors_says_what_is_chosen(chromium: Browser, address: str) -> None:
    page = chromium.new_page(viewport=WIDTHS["desk"])
    page.goto(f"{address}/chapters/appendix/about.html")
    page.wait_for_function(READY)
    button, said = page.locator(".theme-switch-button"), []
    for _ in range(3):
        said.append(button.get_attribute("aria-label"))
        button.click()
        expect(button).not_to_have_attribute("aria-label", said[-1])
    assert sorted(said) == [
        "Color mode: as the system",
        "Color mode: dark",
        "Color mode: light",
    ]
    page.close()
