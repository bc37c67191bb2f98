"""Which places of the book link to each entry of the glossary, so that an entry can be read there.

An entry must be true at every place that links to it, for it opens there.  ``python
tests/tools/linked.py`` prints each entry with those places, page and section and the words of the
link; ``python tests/tools/linked.py equivariant encoder`` prints only these.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sphinx.util.nodes import _make_id
from written import BOOK

from press.registry import read_book

GLOSSARY = "chapters/appendix/glossary.md"
ENTRY = re.compile(r"^(\S.*)\n((?:  .*\n|\n(?=  ))+)", re.MULTILINE)
BY_ADDRESS = re.compile(r"\[([^\[\]]*)\]\([^)\s]*glossary\.md#term-([^)\s]+)\)")
BY_NAME = re.compile(r"\{term\}`(?:([^`<]*?)\s*<)?([^`<>]+)>?`")
HEADING = re.compile(r"^#{1,4} (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Link:
    """A link to an entry: the page, the section that it stands in, its words, the entry's id."""

    page: str
    section: str
    words: str
    entry: str

    def __str__(self) -> str:
        """Say where the link stands and what it says."""
        return f"{self.page} · {self.section}: “{self.words}”"


def name_of(term: str) -> str:
    """Return what Sphinx makes of a term in an address, behind ``term-``, in small letters.

    Examples
    --------
    >>> name_of("baseline (of a reward)"), name_of("Bradley–Terry model")
    ('baseline-of-a-reward', 'bradleyterry-model')
    """
    return _make_id(term).lower()


def entries(text: str) -> dict[str, tuple[str, str]]:
    """Return name and definition of each entry of a glossary, by the name in its address.

    Examples
    --------
    >>> entries("```{glossary}\\nkey\\n  A vector.\\n```\\n")
    {'key': ('key', 'A vector.')}
    """
    found = ENTRY.findall(text.partition("```{glossary}\n")[2])
    return {name_of(term): (term, " ".join(said.split())) for term, said in found}


def links_in(page: str, text: str) -> Iterator[Link]:
    """Yield the links of a page, in the order in which they stand.

    Examples
    --------
    >>> text = "# Heads\\nTwo [keys](appendix/glossary.md#term-key), a {term}`value <value>`."
    >>> [str(link) for link in links_in("a page", text)]
    ['a page · Heads: “keys”', 'a page · Heads: “value”']
    """
    headings = [(found.start(), found[1]) for found in HEADING.finditer(text)]
    marks = [(found.start(), found[1], found[2].lower()) for found in BY_ADDRESS.finditer(text)]
    for found in BY_NAME.finditer(text):
        marks.append((found.start(), found[1] or found[2], name_of(found[2])))
    for place, words, entry in sorted(marks):
        above = [heading for start, heading in headings if start < place]
        yield Link(page, above[-1] if above else "above the first heading", words, entry)


def links_of_the_glossary(text: str) -> Iterator[Link]:
    """Yield the links from one entry to another; the section is the entry that has the link.

    Examples
    --------
    >>> text = "```{glossary}\\nkey\\n  See {term}`values <value>`.\\n```\\n"
    >>> [str(link) for link in links_of_the_glossary(text)]
    ['glossary · key: “values”']
    """
    for term, said in entries(text).values():
        for found in BY_NAME.finditer(said):
            yield Link("glossary", term, found[1] or found[2], name_of(found[2]))


def written_in(path: Path) -> str:
    """Return the text of a page; of a notebook, that of its cells of text."""
    text = path.read_text("utf-8")
    if path.suffix != ".ipynb":
        return text
    cells = json.loads(text)["cells"]
    return "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")


def read(book: Path = BOOK) -> tuple[dict[str, tuple[str, str]], list[Link]]:
    """Return all entries of the glossary and all links to them."""
    glossary = book / GLOSSARY
    text = glossary.read_text("utf-8")
    found = list(links_of_the_glossary(text))
    to_come = {chapter.name for chapter in read_book(BOOK).chapters if not chapter.written}
    unread = {"CONTRIBUTING", *to_come}
    for path in [*book.glob("*.md"), *sorted((book / "chapters").rglob("*"))]:
        if path.suffix in (".md", ".ipynb") and path != glossary and path.stem not in unread:
            found += links_in(path.stem, written_in(path))
    return entries(text), found


def main(wanted: list[str]) -> None:
    """Print the entries, or those that are wanted, and beneath each the places that link to it."""
    known, links = read()
    places = defaultdict(list)
    for link in links:
        places[link.entry].append(link)
    asked = {name_of(term) for term in wanted} or set(known)
    if strangers := sorted(asked - set(known)):
        sys.exit(f"the glossary has no entry {', '.join(strangers)}; its terms are in {GLOSSARY}")
    for entry in known:
        if entry in asked:
            term, said = known[entry]
            print(f"\n{term}\n  {said}")
            for link in places[entry]:
                print(f"    {link}")


if __name__ == "__main__":
    main(sys.argv[1:])
