"""Sphinx extension: terms, citations and equations open in a small pop-up where they are named.

When a page is written, the definitions, the entries of its bibliography and the equations on it
that can be referred to are also written as a script of their own,
:file:`_static/popups/<page>.js`, formulas rendered.  A reader's page asks for that of another page
when the reader first points at a link to it: a script it is, because a page opened from disk may
load nothing else.  :file:`popups.js` shows the pop-up.

Two extensions were looked at first.  `sphinx-hoverxref <https://sphinx-hoverxref.readthedocs.io>`_
asks the servers of Read the Docs for what it shows.  `sphinx-tippy
<https://sphinx-tippy.readthedocs.io>`_ takes it from the built pages as we do, but loads two
libraries, from another site unless they are copied, and all pop-ups of a page with the page; a tap
follows the link as it opens the pop-up, and a page that an incremental build did not write again
loses its own.  The browser's own ``popover`` needs no library.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config

CITATION = "cite-{key}"
"""The id of an entry of a bibliography; :file:`popups.js` knows its beginning."""


_ID = re.compile(r' id="[^"]*"')


def targets(tree: nodes.document) -> dict[str, list[nodes.Element]]:
    """Return what can be shown of a page: ids, and the nodes that belong to each.

    Parameters
    ----------
    tree : nodes.document
        The page as it is written, all references resolved.
    """
    found: dict[str, list[nodes.Element]] = {}
    for item in tree.findall(nodes.definition_list_item):
        for term in item.findall(nodes.term):
            name = nodes.paragraph("", "", nodes.strong("", term.astext()))
            found |= {
                id: [name, *item[-1].children] for id in term["ids"] if id.startswith("term-")
            }
    for formula in tree.findall(nodes.math_block):
        found |= {id: [formula] for id in formula["ids"] if id.startswith("equation-")}
    for entry in tree.findall(nodes.citation):
        words = [node for node in entry if not isinstance(node, nodes.label)]
        found |= dict.fromkeys(entry["ids"], words)
    return found


def fragment(builder: Any, parts: list[nodes.Element]) -> str:
    """Write some nodes as HTML that can stand anywhere: without ids and links to themselves."""
    whole = nodes.container("", *(part.deepcopy() for part in parts))
    builder.add_permalinks = False
    try:
        return _ID.sub("", builder.render_partial(whole)["fragment"])
    finally:
        builder.add_permalinks = True


def write_popups(
    app: Sphinx, page: str, template: str, context: dict[str, Any], tree: nodes.document | None
) -> None:
    """Write the pop-ups of a page beside it."""
    if tree is None or app.builder.format != "html":
        return
    found = {id: fragment(app.builder, parts) for id, parts in targets(tree).items()}
    if found:
        file = Path(app.outdir) / "_static" / "popups" / f"{page}.js"
        file.parent.mkdir(parents=True, exist_ok=True)
        content = json.dumps(found, ensure_ascii=False)
        script = f"(window.popups ??= {{}})[{json.dumps(page)}] = {content};\n"
        file.write_text(script, encoding="utf-8")


def name_citations(app: Sphinx, config: Config) -> None:
    """Give each entry of a bibliography an id that says what it is and stays the same."""
    config.bibtex_cite_id = CITATION


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the pop-ups of each page when it is written."""
    app.connect("config-inited", name_citations)
    app.connect("html-page-context", write_popups)
    app.add_css_file("popups.css", priority=910)
    app.add_js_file("address.js", priority=490, defer="defer")
    app.add_js_file("beside.js", priority=490, defer="defer")
    app.add_js_file("popups.js", defer="defer")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
