"""Sphinx extension: a chapter has the number in its file name, written neighbors or not.

Sphinx numbers what it finds: with two chapters written, ``08-positions`` would be chapter 1, and
its theorems and equations would change their names whenever another chapter is added.  Pages that
are no chapters would share one count of equations: each begins with (1), as in JupyterLab.

In JupyterLab the numbers come from a front matter at the top of the chapter's first cell; the site,
which counts by itself, drops it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx_external_toc.collectors import TocTreeCollectorWithStyles

count_chapters = TocTreeCollectorWithStyles.assign_section_numbers
count_equations = TocTreeCollectorWithStyles.assign_figure_numbers


def chapter_number(docname: str) -> int | None:
    """Return the number in the name of a page, ``None`` when it has none.

    Examples
    --------
    >>> chapter_number("chapters/08-positions")
    8
    >>> chapter_number("chapters/appendix/notation") is None
    True
    """
    found = re.fullmatch(r"(?:.*/)?(\d+)-[^/]+", docname)
    return int(found[1]) if found else None


FRONT_MATTER = re.compile(r"---\nnumbering:\n.*?\n---\n+", re.DOTALL)
"""What :func:`front_matter` writes, at the beginning of a cell."""


def front_matter(chapter: int) -> str:
    """Write the lines that let jupyterlab-myst count as the site does.

    Sections, equations, theorems and exercises begin with the number of the chapter.  Proofs have
    no number on the site; in JupyterLab each has one, which therefore is written as a space.

    Examples
    --------
    >>> FRONT_MATTER.fullmatch(front_matter(8)) is not None
    True
    """
    return (
        f"---\nnumbering:\n  enumerator: {chapter}.%s\n  heading_1: true\n"
        '  proof:proof:\n    enumerator: "\\u200b"\n---\n\n'
    )


def drop_front_matter(app: Sphinx, docname: str, source: list[str]) -> None:
    """Take the front matter out of a notebook before it is parsed: the page would show it."""
    if chapter_number(docname) is None or Path(app.env.doc2path(docname)).suffix != ".ipynb":
        return
    notebook = json.loads(source[0])
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = FRONT_MATTER.sub("", "".join(cell["source"]), count=1)
            break
    source[0] = json.dumps(notebook)


def renumber(env: BuildEnvironment) -> None:
    """Replace the first part of every section number by the number of the chapter."""
    for docname, numbers in env.toc_secnumbers.items():
        chapter = chapter_number(docname)
        if chapter is None:
            continue
        for anchor, number in numbers.items():
            if number:
                numbers[anchor] = (chapter, *number[1:])
        for node in (env.titles[docname], *env.tocs[docname].findall()):
            if getattr(node, "attributes", {}).get("secnumber"):
                node["secnumber"] = [chapter, *node["secnumber"][1:]]


def assign_section_numbers(self: TocTreeCollectorWithStyles, env: BuildEnvironment) -> list[str]:
    """Count the sections, then number them by file; return the pages whose numbers changed."""
    before = env.toc_secnumbers
    count_chapters(self, env)
    renumber(env)
    return [page for page, numbers in env.toc_secnumbers.items() if numbers != before.get(page)]


def assign_equation_numbers(self: TocTreeCollectorWithStyles, env: BuildEnvironment) -> list[str]:
    """Count what has numbers, equations of a page without one from 1; return the changed pages."""
    before = env.toc_fignumbers
    count_equations(self, env)
    for docname, kinds in env.toc_fignumbers.items():
        if chapter_number(docname) is None and "displaymath" in kinds:
            labels = kinds["displaymath"]
            kinds["displaymath"] = {label: (n,) for n, label in enumerate(labels, 1)}
    return [page for page, kinds in env.toc_fignumbers.items() if kinds != before.get(page)]


def setup(app: Sphinx) -> dict[str, Any]:
    """Replace the numbering of Jupyter Book's table of contents: there is no hook after it."""
    collector: Any = TocTreeCollectorWithStyles
    collector.assign_section_numbers = assign_section_numbers
    collector.assign_figure_numbers = assign_equation_numbers
    app.connect("source-read", drop_front_matter)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
