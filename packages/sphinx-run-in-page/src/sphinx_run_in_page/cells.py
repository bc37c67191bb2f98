"""The code cells of a page: which can run in it, what they need, and what is stored of them.

Each cell that can run gets a place behind its code, which is empty until a script fills it.
"""

from __future__ import annotations

import html
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from sphinx_run_in_page.in_page.names import without_magics
from sphinx_run_in_page.in_page.slices import WHOLE, units_of

FIRST = "run_first"
"""In the metadata of a cell: code that a page runs before it, which puts right what earlier cells
would have set and no name holds, as a library's own generator of random numbers."""


class run_place(nodes.General, nodes.Element):  # type: ignore[misc]
    """The place of a cell's buttons and of what it prints anew."""


def visit_run_place(translator: Any, node: run_place) -> None:
    """Write the place, where there is something to run with."""
    if translator.builder.app.env.run_manifest is not None:
        page = html.escape(node["page"])
        place = f'<div class="run-place" data-page="{page}" data-cell="{node["cell"]}"></div>\n'
        translator.body.append(place)
    raise nodes.SkipNode


def cell_nodes(document: nodes.document) -> list[nodes.container]:
    """List the code cells of a page, in their order."""
    return sorted(
        (one for one in document.findall(nodes.container) if one.get("nb_element") == "cell_code"),
        key=lambda cell: int(cell["cell_index"]),
    )


def source_of(cell: nodes.container) -> nodes.container | None:
    """Return the part of a cell that shows its code, wherever in the cell it stands."""
    for part in cell.findall(nodes.container):
        if part.get("nb_element") == "cell_code_source":
            return part
    return None


def stored_text(cell: nodes.container) -> str:
    """Return the text that a cell printed when the book was made, without what it showed."""

    def shown_otherwise(block: nodes.literal_block) -> bool:
        bundle = block.parent
        while bundle is not cell and bundle.get("nb_element") != "mime_bundle":
            bundle = bundle.parent
        return bundle is not cell and len(bundle) > 1

    return "".join(
        f"{block.astext().rstrip()}\n"
        for block in cell.findall(nodes.literal_block)
        if "output" in block["classes"]
        and "traceback" not in block["classes"]
        and not shown_otherwise(block)
    )


def kind_of(cell: nodes.container, kinds: list[str]) -> str:
    """Return the first of some tags that a cell has, ``""`` when it has none."""
    return next((kind for kind in kinds if f"tag_{kind}" in cell["classes"]), "")


def shows_a_widget(cell: nodes.container) -> bool:
    """Say whether a cell's output is alive on the page already."""
    return any(
        "widget-view" in str(part.get("mime_type", "")) for part in cell.findall(nodes.container)
    )


def read_page(app: Sphinx, document: nodes.document) -> None:
    """Note the cells of a page that is read, and mark the places of those that can run."""
    config = app.config
    kinds = [config.run_setup_tag, *config.run_not, *config.run_kinds]
    kept: list[dict[str, Any]] = []
    found = []
    for cell in cell_nodes(document):
        source = source_of(cell)
        if source is None:  # removed from the page, but not from what later cells need
            found.append((cell, None, ""))
            continue
        found.append((cell, source, source.astext()))
    for number, (cell, source, code) in enumerate(found):
        kind = kind_of(cell, kinds)
        runs = source is not None and kind not in [config.run_setup_tag, *config.run_not]
        runs = runs and not shows_a_widget(cell)
        kept.append({"kind": kind, "source": code, "runs": runs, "printed": stored_text(cell)})
        if runs and source is not None:
            place = source.parent.index(source) + 1
            source.parent.insert(place, run_place(cell=number, page=app.env.docname))
    if not any(one["runs"] for one in kept):
        return
    firsts = [cell.get("cell_metadata", {}).get(FIRST, "") for cell, _, _ in found]
    # what has to begin somewhere is not split, or each part would begin there
    whole = [
        one["kind"] in config.run_not and first for one, first in zip(kept, firsts, strict=True)
    ]
    pairs = [
        (WHOLE if keep else one["kind"], one["source"])
        for one, keep in zip(kept, whole, strict=True)
    ]
    units = units_of(pairs, config.run_setup_tag, config.run_tells, config.run_not)
    for unit in units:
        one = kept[unit.cell]
        if one["kind"] != config.run_setup_tag and unit.source == without_magics(one["source"]):
            unit.first = firsts[unit.cell]
    app.env.metadata[app.env.docname]["run_cells"] = {
        "cells": kept,
        "units": [unit.as_data() for unit in units],
    }
