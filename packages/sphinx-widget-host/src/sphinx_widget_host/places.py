"""Sphinx extension: the place of each widget stands in the page before any script runs.

It is a group with a name, so that a screen reader says what begins there; and where the heights of
the widgets are known, it is as high as its widget will be, so that nothing moves when the widget
comes.  ``widget_heights`` names a file of them, relative to the source folder::

    {"<page>/<widget>": {"358": 1204, "784": 690}}

The page is its document without folders, the widget is named as its file is
(:mod:`sphinx_widget_host.embed`), and the heights, in pixels, are those that it has in a column of
so many pixels; :data:`WIDTHS` are the columns that are told apart.  A widget that is not in the
file takes its height when it comes.
"""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

from sphinx_widget_host import VIEW
from sphinx_widget_host.embed import heights_of, named_widgets, saved_records

WIDTHS = (288, 328, 343, 358, 380, 398, 440, 480, 520, 560, 600, 640, 688, 720, 752, 784, 960)
"""Pixels of a column from which on another height holds; the last is a slide's."""
STYLE = "widget-places.css"


def style_sheet() -> str:
    """Write the rules that choose among the heights of a place.

    Examples
    --------
    >>> print(style_sheet().splitlines()[-2])
      @container (min-width: 960px) { .widget-view { --height: var(--at-960); } }
    """
    rules = [
        f"  @container (min-width: {width}px) {{ .widget-view {{ --height: var(--at-{width}); }} }}"
        for width in WIDTHS
    ]
    head = [
        "/* The place of a widget is as high as it will be. Without scripts there is none. */",
        ".widget-view:empty { margin: 0; }",
        "@media screen and (scripting: enabled) {",
        "  .cell_output:has(> .widget-view[style]) { container-type: inline-size; }",
        "  .widget-view[style] { min-height: var(--height); margin: 0 0 1rem; }",
        "  .widget-view[style][data-widget=waiting] { display: flow-root; }",
        "  .widget-view[style][data-widget=waiting] picture { display: contents; }",
        "  .widget-view[style][data-widget=waiting] img {",
        "    width: auto; height: auto; max-width: 100%; max-height: calc(var(--height) - 5rem);",
        "  }",
    ]
    return "\n".join([*head, *rules, "}"])


def place(stem: str, heights: dict[str, int]) -> str:
    """Write the place of a widget.

    Parameters
    ----------
    stem : str
        The name of its file.
    heights : dict
        Its heights by the widths of its column, of which those in :data:`WIDTHS` count.

    Examples
    --------
    >>> place("till", {"784": 300})
    '<div class="widget-view" role="group" aria-label="Widget: till" style="--at-784:300px"></div>'
    """
    known = [f"--at-{width}:{heights[str(width)]}px" for width in WIDTHS if str(width) in heights]
    style = f' style="{";".join(known)}"' if known else ""
    name = html.escape(f"Widget: {stem.replace('-', ' ')}")
    return f'<div class="widget-view" role="group" aria-label="{name}"{style}></div>'


class KeepPlaces(SphinxPostTransform):
    """Put the place of each widget behind the line that says which it is."""

    default_priority = 3  # the last to come directly behind that line
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        """Look at each widget of the page."""
        page = self.env.docname
        for _, kinds, _, stem in [*named_widgets(self.document, saved_records(self.env, page))]:
            heights = heights_of(self.app, page, stem)
            kinds[VIEW].insert(1, nodes.raw("", place(stem, heights), format="html"))


def write_style(app: Sphinx) -> None:
    """Write the style sheet before the first page is written, which names it."""
    if app.builder.format == "html":
        target = Path(app.outdir) / "_static"
        target.mkdir(parents=True, exist_ok=True)
        (target / STYLE).write_text(style_sheet(), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Keep the places beside what the host needs."""
    app.setup_extension("sphinx_widget_host.embed")
    app.add_post_transform(KeepPlaces)
    app.connect("builder-inited", write_style)
    app.add_css_file(STYLE)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
