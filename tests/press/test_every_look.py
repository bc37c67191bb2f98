"""Every page can be read in every look: axe-core at both widths and in both schemes.

At a desk all guesses are made and all exercises answered first, by keyboard.  Over http, too, a
page asks nothing of another place, its widgets are alive and its console is empty.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from axe import LOOKS, WIDTHS, violations_on
from looks import OF_ALL_KINDS, OF_EACH_TEMPLATE, PAGES, READ, kinds
from playwright.sync_api import Browser
from selectolax.lexbor import LexborHTMLParser
from test_site import answer_all, assert_quiet, every_page, visit

from press.site import SITE, serve


@pytest.mark.thorough
@pytest.mark.browser
@every_page
def test_every_look_can_be_read(chromium: Browser, name: str) -> None:
    with serve(SITE) as address:
        context = chromium.new_context(viewport=WIDTHS["desk"], reduced_motion="reduce")
        seen = visit(context, f"{address}/{name}", address)
        answer_all(seen.page, name)
        assert_quiet(seen)
        assert violations_on(seen.page, LOOKS) == []
        context.close()


def test_every_kind_of_element_is_read_in_make_test() -> None:
    assert {*PAGES} >= OF_EACH_TEMPLATE | OF_ALL_KINDS, (
        "tests/tools/looks.py names a page that is gone"
    )
    assert {Path(name).parent for name in PAGES} == {Path(name).parent for name in OF_EACH_TEMPLATE}
    found = {name: kinds(LexborHTMLParser((SITE / name).read_text("utf-8"))) for name in PAGES}
    read = set().union(*(found[name] for name in READ))
    unread = {name: sorted(found[name] - read) for name in PAGES if found[name] - read}
    assert unread == {}, "let axe-core read a page with these: OF_ALL_KINDS in tests/tools/looks.py"
    assert len(read) > 300
