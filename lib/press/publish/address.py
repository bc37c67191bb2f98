"""Sphinx extension: everything that needs an address, switched on by writing the address down.

``repository.url`` in ``_config.yml`` brings the buttons for Colab, Binder, "suggest an edit" and
"report an issue", the lines of :file:`run-it.html` about them, and beside each heading "report an
error", which opens an issue that names the section; ``html.baseurl`` brings Open Graph tags and a
sitemap.  While an address is empty, no page points to a place that does not exist.
"""

from __future__ import annotations

import re
from html import escape
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config

REPOSITORY_BUTTONS = ("use_repository_button", "use_edit_page_button", "use_issues_button")
OF_NO_INTEREST = ["404.html", "search.html", "genindex.html", "py-modindex.html"]
"""Pages that a search engine need not know."""

_HEADING_END = re.compile(r'<a class="headerlink" href="#([^"]+)"[^>]*>[^<]*</a></h2>')


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
        config.sitemap_excludes = OF_NO_INTEREST


def report(repository: str, place: str, section: str) -> str:
    """Return the address that opens an issue about a section.

    Parameters
    ----------
    repository : str
        Its address.
    place : str
        Where the section is: an address, or the page's file.
    section : str
        Its number and heading.

    Examples
    --------
    >>> report("https://example.org/book", "a.md", "2.1 A & B").partition("&body=")[0]
    'https://example.org/book/issues/new?title=Error%20in%20%E2%80%9C2.1%20A%20%26%20B%E2%80%9D'
    """
    body = f"{place}\n\nThis sentence, formula or cell:\n\nWhat is wrong with it:\n"
    asked = urlencode({"title": f"Error in “{section}”", "body": body}, quote_via=quote)
    return f"{repository}/issues/new?{asked}"


def launches(options: dict[str, Any], notebook: str) -> dict[str, str]:
    """Return where a notebook of a repository on GitHub opens without an installation.

    Parameters
    ----------
    options : dict
        The options of the theme.
    notebook : str
        Its place in the repository.

    Examples
    --------
    >>> buttons = {"colab_url": "https://colab.example"}
    >>> options = {"repository_url": "https://github.com/me/book", "launch_buttons": buttons}
    >>> launches(options, "a.ipynb")
    {'Colab': 'https://colab.example/github/me/book/blob/main/a.ipynb'}
    """
    address = urlsplit(options.get("repository_url", ""))
    if address.netloc != "github.com":
        return {}
    name, branch = address.path.strip("/"), options.get("repository_branch") or "main"
    found = {}
    if colab := options["launch_buttons"].get("colab_url"):
        found["Colab"] = f"{colab}/github/{name}/blob/{branch}/{notebook}"
    if binder := options["launch_buttons"].get("binderhub_url"):
        found["Binder"] = f"{binder}/v2/gh/{name}/{branch}?urlpath=lab/tree/{notebook}"
    return found


def offer(
    app: Sphinx, page: str, template: str, context: dict[str, Any], tree: nodes.document | None
) -> None:
    """Tell a page's template the repository, and put "report an error" beside its headings."""
    options = app.config.html_theme_options
    repository = options.get("repository_url", "").rstrip("/")
    if not repository or tree is None:
        return
    source = app.env.doc2path(page, base=False)
    context["repository"] = repository
    context["launches"] = launches(options, source)
    site = app.config.html_baseurl
    numbers = app.env.toc_secnumbers.get(page, {})
    titles = {
        name: node[0].astext() for node in tree.findall(nodes.section) for name in node["ids"]
    }

    def beside(heading: re.Match[str]) -> str:
        name = heading[1]
        number = ".".join(map(str, numbers.get(f"#{name}") or ()))
        section = f"{number} {titles.get(name, name)}".strip()
        place = f"{site.rstrip('/')}/{page}.html#{name}" if site else f"{source}, #{name}"
        link = escape(report(repository, place, section))
        words = "Report an error in this section"
        button = f'<a class="report" href="{link}" title="{words}" aria-label="{words}">report</a>'
        return heading[0].replace("</h2>", f"{button}</h2>")

    context["body"] = _HEADING_END.sub(beside, context["body"])


def setup(app: Sphinx) -> dict[str, Any]:
    """Look at the addresses before the theme does."""
    app.connect("config-inited", use_addresses, priority=100)
    app.connect("html-page-context", offer)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
