"""Sphinx extension: of the style sheets, keep the rules that some page or script of the site uses.

The theme carries all of Bootstrap and the rules of two thousand icons: half of what a first visit
loads.  PurgeCSS keeps a rule when each word of its selector occurs in a page or in a script, or is
something that a reader does (``:hover``).  What it finds used may still be unwanted:
:data:`~press.publish.theme_marks.COSTLY`.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from press.publish import theme_marks
from press.site import page_names
from press.workshop.node import find_node

FILTER = Path(__file__).with_suffix(".cjs")


def set_by_scripts(scripts: str) -> list[str]:
    """Return the attributes that scripts set by their other names.

    Examples
    --------
    >>> set_by_scripts("form.dataset.state = 'held'; delete a.dataset.soFar")
    ['data-so-far', 'data-state']
    """
    names = set(re.findall(r"\bdataset\.(\w+)", scripts))
    return sorted(re.sub("[A-Z]", lambda big: f"-{big[0].lower()}", f"data-{n}") for n in names)


def drop_unused(site: Path, package: Path) -> None:
    """Write the style sheets of a built site anew, without the rules that it cannot use.

    Parameters
    ----------
    site : Path
        The folder of the built site.
    package : Path
        The npm package, usually ``node_modules/purgecss``.

    Raises
    ------
    FileNotFoundError
        When PurgeCSS is not installed there.
    """
    if not package.exists():
        raise FileNotFoundError(
            f"PurgeCSS is not installed in {package}: run `make book`, or `npm ci` beside it"
        )
    # What was joined in an earlier build is joined anew after this.
    styles = [path for path in site.glob("_static/**/*.css") if path.parent.name != "joined"]
    pages = [str(site / name) for name in page_names(site)]
    scripts = sorted(site.glob("_static/**/*.js"))
    wanted = {
        "content": [*pages, *map(str, scripts)],
        "styles": [str(path) for path in styles],
        "unwanted": theme_marks.COSTLY,
        "attributes": set_by_scripts("\n".join(path.read_text("utf-8") for path in scripts)),
    }
    reply = subprocess.run(
        [find_node(), str(FILTER), str(package.resolve())],
        input=json.dumps(wanted),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    ).stdout
    for name, style in json.loads(reply).items():
        Path(name).write_text(style, encoding="utf-8")


def drop_from_built(app: Sphinx, error: Exception | None) -> None:
    """Thin the style sheets once every page and script of the site is there."""
    if error or app.builder.format != "html":
        return
    try:
        drop_unused(Path(app.outdir), Path(app.srcdir) / "node_modules" / "purgecss")
    except (FileNotFoundError, RuntimeError) as reason:
        raise ExtensionError(str(reason)) from reason


def setup(app: Sphinx) -> dict[str, Any]:
    """Thin the style sheets when the build is done, before they are joined."""
    app.connect("build-finished", drop_from_built, priority=800)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
