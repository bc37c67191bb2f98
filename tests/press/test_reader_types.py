"""A reader types on the built site: by keyboard alone, with no network, and torch agrees."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page
from test_site import WIDTHS, assert_quiet, visit
from widget_page import settle

from press.site import SITE, serve
from primer.widgets import AttentionMaps, Decoding

pytestmark = pytest.mark.browser

QUOTE = "To be, or not to be"


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until the focus is on an element of this kind."""
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return
    pytest.fail(f"the keyboard does not reach {selector}")


def wake(page: Page, widget: str) -> None:
    """Wait for a widget with a model, which itself waits for a reader to do something.

    That the page has scrolled to the section of its address may have come before it listened.
    """
    page.locator("html[data-widgets=ready]").wait_for(state="attached")
    page.keyboard.press("Shift")
    page.wait_for_selector(widget)


def clear(page: Page) -> None:
    """Delete what stands in the field that has the focus, so that the answer is to what follows."""
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    settle(page)


def test_typing_gives_the_attention_of_torch(chromium: Browser) -> None:
    context = chromium.new_context(viewport=WIDTHS["desk"], reduced_motion="reduce")
    with serve(SITE) as address:
        seen = visit(context, f"{address}/chapters/07-attention.html#attention-real", address)
        page = seen.page
        wake(page, ".attention-maps[data-ready]")
        tab_to(page, ".attention-maps textarea")
        clear(page)
        assert (
            "type something"
            in page.locator(".attention-maps .controls .note:not([hidden])").inner_text()
        )
        page.keyboard.type(QUOTE)
        settle(page)
        widget = AttentionMaps(text=QUOTE)
        result = page.locator(".attention-maps .result")
        tab_to(page, ".attention-maps .heads input")
        for _ in range(16):  # past the last head, once around
            page.keyboard.press("ArrowRight")
        settle(page)
        assert "Layer 1, head 2" in page.locator(".attention-maps .title").inner_text()
        tab_to(page, ".attention-maps .grid")
        for _ in range(len(widget.tokens())):  # to the last query and the first key
            page.keyboard.press("ArrowDown")
            page.keyboard.press("ArrowLeft")
        for key, weight in enumerate(widget.maps()[1, 2, -1]):
            settle(page)
            said = result.inner_text()
            assert float(said.split()[-1]) == pytest.approx(float(weight), abs=6e-4), key
            page.keyboard.press("ArrowRight")
        assert_quiet(seen)
    context.close()


@pytest.mark.thorough
def test_typing_gives_the_continuation_of_torch(chromium: Browser) -> None:
    context = chromium.new_context(viewport=WIDTHS["desk"], reduced_motion="reduce")
    home = SITE.as_uri()
    seen = visit(context, f"{home}/chapters/11-inference.html#inference-picture", home)
    page = seen.page
    wake(page, ".decoding[data-ready]")
    tab_to(page, ".decoding textarea")
    clear(page)
    assert "needs a token" in page.locator(".decoding .prompt .note").inner_text()
    page.keyboard.type(QUOTE)
    finish(page)
    widget = Decoding(text=QUOTE)
    order = widget.logits().argsort(descending=True, stable=True)
    shares = [100 * float(p) for p in widget.distribution()[order[:14]]]
    values = page.locator(".decoding .bars .value").all_inner_texts()
    assert values == [f"{share:.1f}%" if share else "cut" for share in shares]
    greedy, beam, *samples = texts(page)
    assert greedy == widget.encoding().decode(widget.greedy())
    assert beam == widget.encoding().decode(list(widget.beam().tokens))
    assert len({greedy, *samples}) == 4
    tab_to(page, ".decoding .controls input")  # temperature
    tab_to(page, ".decoding .controls input")  # top-k
    page.keyboard.press("Home")
    finish(page)
    assert "keeps 1 of 1024" in page.locator(".decoding .result").inner_text()
    assert texts(page)[2:] == [greedy] * 3
    assert_quiet(seen)
    context.close()


def finish(page: Page) -> None:
    """Wait until all continuations are written."""
    settle(page)
    page.wait_for_selector(".decoding [aria-busy=false]", state="attached", timeout=120_000)


def texts(page: Page) -> list[str]:
    """Return the continuations: greedy, beam search, samples."""
    return page.locator(".decoding .continuation .text").evaluate_all(
        "all => all.map(e => e.textContent)"
    )
