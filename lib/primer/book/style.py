"""Sphinx extension: the style sheet of the book, with the palette that figures and widgets use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from primer import palette


def write_palette(app: Sphinx) -> None:
    """Write the palette as CSS custom properties beside the other static files."""
    if app.builder.format == "html":
        target = Path(app.outdir) / "_static"
        target.mkdir(parents=True, exist_ok=True)
        (target / "palette.css").write_text(palette.css(), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the two style sheets after the theme's."""
    app.connect("builder-inited", write_palette)
    app.add_css_file("palette.css", priority=800)
    app.add_css_file("book.css", priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
