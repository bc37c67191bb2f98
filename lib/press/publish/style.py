"""Sphinx extension: the style sheet of the book, its fonts, and the palette of figures and widgets.

Everything is served with the pages.  The fonts are the npm packages of Source Serif, Source Sans
and Source Code; of their many alphabets only those that the book writes are copied.  A page asks
for those of its first lines before its style sheet names them, and until they are there
:mod:`stand-ins <press.publish.stand_ins>` keep their place.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from press.publish import stand_ins
from primer import palette

FONTS = (
    ("source-serif-4", "wght.css"),
    ("source-serif-4", "wght-italic.css"),
    ("source-sans-3", "wght.css"),
    ("source-code-pro", "wght.css"),
)
"""The npm packages under ``@fontsource-variable`` and their style sheets."""

ALPHABETS = ("latin", "latin-ext", "greek")

FIRST = (
    "fonts/source-serif-4-latin-wght-normal.woff2",
    "fonts/source-sans-3-latin-wght-normal.woff2",
)
"""What every page is written in, asked for at once."""
FIRST_OF = {
    "<em>": "fonts/source-serif-4-latin-wght-italic.woff2",
    "<code": "fonts/source-code-pro-latin-wght-normal.woff2",
    "katex-html": "katex/fonts/KaTeX_Main-Regular.woff2",
    "mathnormal": "katex/fonts/KaTeX_Math-Italic.woff2",
}
"""What a page is written in besides when its text has this."""

_FOLD = re.compile(r"<details(?:(?!<details).)*?</details>", re.DOTALL)
_FONT_FACE = re.compile(r"/\* (?P<name>\S+) \*/\s*(?P<rule>@font-face \{.*?\})", re.DOTALL)
_FONT_FILE = re.compile(r"\./files/([\w-]+\.woff2)")


def font_faces(sheet: str) -> list[str]:
    """Return the rules of a font's style sheet for the alphabets of the book.

    Examples
    --------
    >>> greek = "/* serif-greek-wght-normal */ @font-face { a }"
    >>> thai = "/* serif-thai-wght-normal */ @font-face { b }"
    >>> font_faces(greek + thai)
    ['@font-face { a }']
    """
    wanted = re.compile(rf"[a-z0-9-]+-(?:{'|'.join(ALPHABETS)})-wght-\w+")
    return [one["rule"] for one in _FONT_FACE.finditer(sheet) if wanted.fullmatch(one["name"])]


def write_fonts(packages: Path, target: Path) -> None:
    """Copy the fonts and write one style sheet for them."""
    target.mkdir(parents=True, exist_ok=True)
    rules: list[str] = []
    for package, sheet in FONTS:
        source = packages / package
        if not source.is_dir():
            raise ExtensionError(
                f"the font {source} is missing: run `make book`, or `npm ci` in its place"
            )
        for rule in font_faces((source / sheet).read_text("utf-8")):
            for file in _FONT_FILE.findall(rule):
                shutil.copyfile(source / "files" / file, target / file)
            rules.append(_FONT_FILE.sub(r"\1", rule))
    rules.append(stand_ins.style_sheet())
    (target / "fonts.css").write_text("\n".join(rules), encoding="utf-8")


def write_styles(app: Sphinx) -> None:
    """Write what the style sheet builds on, before a page names it with its checksum."""
    if app.builder.format == "html":
        static = Path(app.outdir) / "_static"
        write_fonts(Path(app.srcdir) / "node_modules/@fontsource-variable", static / "fonts")
        (static / "palette.css").write_text(palette.css(), encoding="utf-8")


def first_fonts(body: str) -> list[str]:
    """Return the fonts, among the static files, that a page with this text is written in at once.

    What stands in a closed fold is not drawn: a font that only it needs would come in vain.

    Examples
    --------
    >>> first_fonts("<p>Words. <details><code>x</code></details></p>")[-1]
    'fonts/source-sans-3-latin-wght-normal.woff2'
    >>> first_fonts('<em>x</em> <span class="mord mathnormal">z</span>')[2:]
    ['fonts/source-serif-4-latin-wght-italic.woff2', 'katex/fonts/KaTeX_Math-Italic.woff2']
    """
    seen, folds = body, 1
    while folds:
        seen, folds = _FOLD.subn("", seen)
    return [*FIRST, *(font for mark, font in FIRST_OF.items() if mark in seen)]


def give_style(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Tell the template the color of the paper, which browsers give to their frame, and fonts."""
    context["paper"] = {"light": palette.LIGHT["paper"], "dark": palette.DARK["paper"]}
    context["first_fonts"] = first_fonts(context.get("body") or "")


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the style sheets after the theme's."""
    app.connect("builder-inited", write_styles)
    app.connect("html-page-context", give_style)
    app.add_css_file("fonts/fonts.css", priority=700)
    app.add_css_file("palette.css", priority=800)
    app.add_css_file("book.css", priority=900)
    app.add_css_file("print.css", priority=920)
    app.add_js_file("address.js", priority=490, defer="defer")
    app.add_js_file("book.js", defer="defer")
    app.add_js_file("print.js", defer="defer")
    app.add_js_file("copy.js", defer="defer")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
