"""Sphinx extension: a page asks for one style sheet and one script, not for fifteen and ten.

The theme and the extensions each bring files of their own, and a browser shows nothing before it
has the last of them: on a first visit the requests take longer than all that is in them.  When the
site is built, the style sheets that a page names are joined, and so are its scripts, in the order
in which the browser would have run them.  The names of the joined files carry their checksums.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from press.publish.theme_marks import MARKING
from press.site import page_names

STATIC = "_static"
JOINED = f"{STATIC}/joined"
OPTIONS = f"{STATIC}/documentation_options.js"
"""A page's own inline scripts add to these options, so they stay in the page, in their place."""

_STYLE = re.compile(
    r'\s*<link(?=[^>]*\brel="stylesheet")[^>]*\bhref="([^":?]*_static/[^"?]*)[^"]*"[^>]*>'
)
_PRELOAD = re.compile(r'\s*<link(?=[^>]*\brel="preload")[^>]*\bhref="[^":?]*_static/[^"]*"[^>]*>')
_SCRIPT = re.compile(
    r'\s*<script(?![^>]*\basync\b)([^>]*?)\s*\bsrc="([^":?]*_static/[^"?]*)[^"]*"([^>]*)></script>'
)
_JOINED = re.compile(rf"{JOINED}/\w+\.(?:css|js)")
_DATA = re.compile(r'\bdata-[\w-]+="[^"]*"')
_URL = re.compile(r"""url\(\s*(["']?)(?!data:|[a-z]+://|[/#])([^"')]+)\1\s*\)""")
_IMPORT = re.compile(r"""@import\s+(?:url\()?\s*["']([^"':]+)["']\s*\)?\s*;""")


def joined_style(site: Path, name: str) -> str:
    r"""Return a style sheet as it must read in the folder of the joined ones.

    What it imports stands in it, and its addresses lead from the other folder.

    Parameters
    ----------
    site : Path
        The folder of the built site.
    name : str
        The style sheet, relative to that folder.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     styles = Path(folder) / "_static" / "styles"
    ...     styles.mkdir(parents=True)
    ...     _ = (styles / "a.css").write_text('@import "b.css"; p { color: red }')
    ...     _ = (styles / "b.css").write_text("b { background: url(../dot.png) }")
    ...     print(joined_style(Path(folder), "_static/styles/a.css"))
    b { background: url("../dot.png") } p { color: red }
    """
    folder = posixpath.dirname(name)

    def moved(found: re.Match[str]) -> str:
        return f'url("{posixpath.relpath(posixpath.join(folder, found[2]), JOINED)}")'

    def imported(found: re.Match[str]) -> str:
        return joined_style(site, posixpath.normpath(posixpath.join(folder, found[1])))

    # The addresses first: those of an imported sheet are already right when it is put in.
    style = _URL.sub(moved, (site / name).read_text("utf-8").replace('@charset "UTF-8";', ""))
    return _IMPORT.sub(imported, style)


def joined_script(site: Path, name: str) -> str:
    """Return a script as it must read among the joined ones.

    The theme makes each box that scrolls reachable by keyboard.  It reads a size and writes an
    attribute by turns, so that the browser styles the page anew for each box: forty times in a long
    chapter, when it opens and whenever a widget has drawn.  The book's own script reads all sizes
    first, and the theme finds no boxes.

    Parameters
    ----------
    site : Path
        The folder of the built site.
    name : str
        The script, relative to that folder.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "theme.js").write_text(
    ...         'document.querySelectorAll(["pre",".output"].join(", ")).forEach(mark)'
    ...     )
    ...     print(joined_script(Path(folder), "theme.js"))
    [].forEach(mark)
    """
    return MARKING.sub("[]", (site / name).read_text("utf-8"))


def join(site: Path, names: list[str]) -> str:
    """Write the joined file of some style sheets or scripts, unless it is there.

    Its first line names its parts, so that it can be made again when one of them has changed.

    Parameters
    ----------
    site : Path
        The folder of the built site.
    names : list of str
        The files, relative to that folder, all of one kind.

    Returns
    -------
    str
        The name of the joined file, relative to that folder.
    """
    kind = Path(names[0]).suffix
    if kind == ".css":
        parts = [joined_style(site, name) for name in names]
    else:
        # The first semicolon keeps one script's "use strict" from binding the others; the last one
        # of each ends its last statement, as the end of a file does.
        parts = [";", *(f"{joined_script(site, name)}\n;" for name in names)]
    text = "\n".join([f"/* {' '.join(names)} */", *parts])
    joined = f"{JOINED}/{hashlib.sha256(text.encode()).hexdigest()[:12]}{kind}"
    (site / JOINED).mkdir(exist_ok=True)
    if not (site / joined).exists():
        (site / joined).write_text(text, encoding="utf-8")
    return joined


def _join_anew(site: Path, joined: str) -> str:
    """Join the parts of a joined file as they are now."""
    with (site / joined).open(encoding="utf-8") as file:
        return join(site, file.readline().split()[1:-1])


def join_page(site: Path, page: Path) -> set[str]:
    """Let a page ask for one style sheet and one script.

    Parameters
    ----------
    site : Path
        The folder of the built site.
    page : Path
        A page in it, which is written anew unless that was done before.

    Returns
    -------
    set of str
        The names of the joined files that the page asks for.
    """
    text = page.read_text("utf-8")
    names = {joined: _join_anew(site, joined) for joined in _JOINED.findall(text)}
    if names:  # this build did not write the page anew, but it may have other styles
        if list(names) != list(names.values()):
            page.write_text(_JOINED.sub(lambda found: names[found[0]], text), encoding="utf-8")
        return set(names.values())

    here = page.parent.relative_to(site).as_posix()
    styles = [posixpath.normpath(f"{here}/{found[1]}") for found in _STYLE.finditer(text)]
    if not styles:
        return set()  # not a page of the theme
    found = [(posixpath.normpath(f"{here}/{f[2]}"), f[1] + f[3]) for f in _SCRIPT.finditer(text)]
    found.sort(key=lambda script: "defer" in script[1])  # those that wait for the page come last
    scripts = [name for name, _ in found if name != OPTIONS]
    data = dict.fromkeys(one for _, attributes in found for one in _DATA.findall(attributes))

    style, script = join(site, styles), join(site, scripts)
    root = posixpath.relpath(".", here)
    tags = [
        f'<link rel="stylesheet" href="{root}/{style}" />',
        f"<script>{(site / OPTIONS).read_text('utf-8').strip()}</script>",
        " ".join(["<script defer", *data, f'src="{root}/{script}"></script>']),
    ]
    text = _SCRIPT.sub("", _PRELOAD.sub("", text))
    before, after = _STYLE.sub("\0", text, count=1).split("\0")
    page.write_text("\n    ".join([before, *tags]) + _STYLE.sub("", after), encoding="utf-8")
    return {style, script}


def join_site(site: Path) -> None:
    """Join the files of every page, and drop joined files that no page asks for any more.

    Parameters
    ----------
    site : Path
        The folder of the built site.
    """
    asked: set[str] = set()
    for page in page_names(site):
        asked |= join_page(site, site / page)
    for file in (site / JOINED).glob("*.*"):
        if file.relative_to(site).as_posix() not in asked:
            file.unlink()


def join_built(app: Sphinx, error: Exception | None) -> None:
    """Join the files of a site that has been built."""
    if not error and app.builder.format == "html":
        join_site(Path(app.outdir))


def setup(app: Sphinx) -> dict[str, Any]:
    """Join when everything else that is done at the end of a build is done."""
    app.connect("build-finished", join_built, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
