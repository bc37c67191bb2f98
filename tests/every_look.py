"""Every page can be read in every look: axe-core at both widths and in both schemes.

It takes minutes, so `make soak` runs it; `make test` looks at each page once or twice.
"""

from __future__ import annotations

import pytest
from axe import LOOKS, WIDTHS, violations_on
from playwright.sync_api import Browser
from test_site import every_page, visit

from primer.book.pages import SITE, serve


@pytest.mark.browser
@every_page
def test_every_look_can_be_read(chromium: Browser, name: str) -> None:
    with serve(SITE) as address:
        context = chromium.new_context(viewport=WIDTHS["desk"], reduced_motion="reduce")
        seen = visit(context, f"{address}/{name}", address)
        assert violations_on(seen.page, LOOKS) == []
        context.close()
