"""What the press knows of the theme's own HTML and scripts, and where it lays a hand on them.

The theme is sphinx-book-theme over pydata-sphinx-theme.  When another version of it writes its
pages otherwise, this is the module to look at, and then the styles and scripts beside the features.
:file:`tests/press/test_theme_marks.py` finds each of these in the theme that is installed.
"""

from __future__ import annotations

import re

ARTICLE = "bd-article"
"""The class of the element that holds what a page says."""

MARKING = re.compile(r'document\.querySelectorAll\(\["pre",[^\]]*\]\.join\(", "\)\)')
"""In the theme's script, what looks for wide tables and code, and reads their layout for it."""

PRESSED = {"window.print()": "print", "toggleFullScreen()": "full-screen"}
"""What the theme writes into ``onclick``, and the name of it that ``book.js`` knows."""

NOT_PUBLISHED = ("webpack-macros.html", "sbt-webpack-macros.html")
"""Pieces of templates that the theme lays among its static files: pages without a policy."""

COSTLY = (
    r"^div\.cell:has\(> \*:nth-child\(2\)\)",
    r"^\.bd-content \.dropdown\.admonition\.toggle:has\(:focus-visible\)",
)
"""Selectors of rules that leave the theme's sheets: for each element that comes or goes anywhere, a
browser styles all cells, or all folds, of a page anew.  The corners that the first rounds are not
seen; :file:`book.css` has the ring of the second."""
