"""Sphinx extension: everything that needs an address, switched on by writing the address down.

``repository.url`` in ``_config.yml`` brings the buttons for Colab, Binder, "suggest an edit" and
"report an issue"; ``html.baseurl`` brings Open Graph tags and a sitemap.  While an address is
empty, no page points to a place that does not exist.
"""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

REPOSITORY_BUTTONS = ("use_repository_button", "use_edit_page_button", "use_issues_button")


def use_addresses(app: Sphinx, config: Config) -> None:
    """Turn on what the configured addresses allow."""
    options = config.html_theme_options
    if options.get("repository_url"):
        options.update(dict.fromkeys(REPOSITORY_BUTTONS, True))
    else:
        options["launch_buttons"] = {}
    if config.html_baseurl:
        app.setup_extension("sphinxext.opengraph")
        app.setup_extension("sphinx_sitemap")
        config.ogp_site_url = config.html_baseurl
        config.ogp_social_cards = {"enable": False}  # drawn cards need fonts from another site
        config.ogp_image = "_static/card.png"
        config.sitemap_url_scheme = "{link}"
        config.sitemap_excludes = ["404.html", "search.html", "genindex.html", "py-modindex.html"]


def setup(app: Sphinx) -> dict[str, Any]:
    """Look at the addresses before the theme does."""
    app.connect("config-inited", use_addresses, priority=100)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
