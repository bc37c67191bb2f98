"""Sphinx extension: a chapter has the number in its file name, written neighbors or not.

Sphinx numbers what it finds: with two chapters written, ``08-positions`` would be chapter 1, and
its theorems and equations would change their names whenever another chapter is added.
"""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx_external_toc.collectors import TocTreeCollectorWithStyles

count_chapters = TocTreeCollectorWithStyles.assign_section_numbers


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


def setup(app: Sphinx) -> dict[str, Any]:
    """Replace the numbering of Jupyter Book's table of contents; there is no hook after it."""
    collector: Any = TocTreeCollectorWithStyles
    collector.assign_section_numbers = assign_section_numbers
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
