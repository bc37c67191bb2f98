"""Every page can be read in every look: axe-core at both widths and in both schemes.

At a desk all guesses are made and all exercises answered first, by keyboard.
"""

from __future__ import annotations

import pytest
from axe import LOOKS, WIDTHS, violations_on
from playwright.sync_api import Browser
from test_site import answer_all, every_page, visit

from primer.book.pages import SITE, serve


@pytest.mark.thorough
@pytest.mark.browser
@every_page
def test_every_look_can_be_read(chromium: Browser, name: str) -> None:
    with serve(SITE) as address:
        context = chromium.new_context(viewport=WIDTHS["desk"], reduced_motion="reduce")
        seen = visit(context, f"{address}/{name}", address)
        answer_all(seen.page, name)
        assert violations_on(seen.page, LOOKS) == []
        context.close()
