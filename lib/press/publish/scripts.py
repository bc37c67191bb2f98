"""The scripts that a page of the book has, known by what makes them.

Of the scripts that stand in a page, our templates and the theme's bring some, Sphinx and its
extensions register others, and one names the page.  Those that a page asks for all lie among the
static files.  Whatever else runs came from a text, an output or a file that somebody wrote, and is
a stranger.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from pathlib import Path

from sphinx.application import Sphinx

from press.publish.combine import OPTIONS, STATIC

_SCRIPT = re.compile(r"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", re.DOTALL)
_FILLED = re.compile(r"\{\{.*?\}\}", re.DOTALL)


def pattern_of(script: str) -> re.Pattern[str]:
    r"""Return what a template's script reads as in a page, where plain words were filled in.

    Examples
    --------
    >>> pattern = pattern_of('let mode = "{{ default_mode }}";')
    >>> bool(pattern.fullmatch('let mode = "auto";'))
    True
    >>> bool(pattern.fullmatch('let mode = ""; alert("";'))
    False
    """
    parts = [re.escape(part) for part in _FILLED.split(script.strip())]
    return re.compile(r"[\w./:-]*".join(parts))


def in_templates(folders: Iterable[Path]) -> list[re.Pattern[str]]:
    """Read the scripts of all templates in some folders."""
    return [
        pattern_of(script)
        for folder in folders
        for template in sorted(folder.rglob("*.html"))
        for script in _SCRIPT.findall(template.read_text("utf-8"))
        if "{%" not in script
    ]


class KnownScripts:
    """Says which scripts of a page are known.

    Parameters
    ----------
    app : Sphinx
        The build, when its pages are written.
    """

    def __init__(self, app: Sphinx) -> None:
        self.site = Path(app.outdir)
        themes = [Path(folder) for folder in app.builder.theme.get_theme_dirs()]  # type: ignore[attr-defined]
        templates = [Path(app.srcdir) / name for name in app.config.templates_path]
        self.patterns = in_templates([*templates, *themes])
        self.texts = {(self.site / OPTIONS).read_text("utf-8").strip()}
        for _, attributes in app.registry.js_files:
            if "type" not in attributes and attributes.get("body"):
                self.texts.add(attributes["body"].strip())

    def on(self, page: str, address: str, text: str) -> bool:
        """Say whether a script may be on a page.

        Parameters
        ----------
        page : str
            The page, relative to the site.
        address, text : str
            Where the script lies, or what it reads.
        """
        if address:
            name = posixpath.normpath(
                posixpath.join(posixpath.dirname(page), address.split("?")[0])
            )
            own = not re.match(r"[a-z]+:|//", address, re.IGNORECASE)
            static = name.startswith(f"{STATIC}/") or name == "searchindex.js"
            return own and static and (self.site / name).is_file() and not text.strip()
        script = text.strip()
        named = f"DOCUMENTATION_OPTIONS.pagename = '{page.removesuffix('.html')}';"
        return (
            script in self.texts
            or script == named
            or any(pattern.fullmatch(script) for pattern in self.patterns)
        )
