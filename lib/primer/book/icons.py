"""Sphinx extension: of the theme's two thousand icons, keep the rules of those the site shows.

The theme's style sheet names every icon of Font Awesome, a third of what a first visit loads.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

THEME_STYLE = "_static/styles/pydata-sphinx-theme.css"

_ICON = re.compile(r"\bfa-[a-z0-9-]+")
_RULE = re.compile(r"(?:\.fa-[a-z0-9-]+::?before,?)+\{content:[^}]*\}")


def keep_icons(style: str, used: set[str]) -> str:
    """Drop the rules of icons that are not used.

    Examples
    --------
    >>> style = '.fa{color:red}.fa-x:before,.fa-y:before{content:"x"}.fa-bus:before{content:"b"}'
    >>> keep_icons(style, {"fa-y"})
    '.fa{color:red}.fa-x:before,.fa-y:before{content:"x"}'
    """

    def kept(rule: re.Match[str]) -> str:
        return rule[0] if used & set(_ICON.findall(rule[0])) else ""

    return _RULE.sub(kept, style)


def thin_style(app: Sphinx, error: Exception | None) -> None:
    """Thin the theme's style sheet once every page and script of the site is there."""
    site = Path(app.outdir)
    if error or app.builder.format != "html" or not (site / THEME_STYLE).exists():
        return
    used: set[str] = set()
    for path in (*site.rglob("*.html"), *site.rglob("*.js")):
        used.update(_ICON.findall(path.read_text("utf-8", errors="ignore")))
    style = (site / THEME_STYLE).read_text("utf-8")
    (site / THEME_STYLE).write_text(keep_icons(style, used), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Thin the style sheet when the build is done."""
    app.connect("build-finished", thin_style)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
