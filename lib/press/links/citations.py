"""Sphinx extension: a link to a work of the bibliography is a citation.

In a notebook a citation is an ordinary link, ``[Vaswani et al., 2017](https://arxiv.org/abs/…)``,
which every program that shows notebooks can open.  On the site the same words lead to the entry at
the end of the page, and the entry to the work.  A link is recognized by the address: the ``url``,
``doi`` or ``eprint`` of an entry in ``references.bib``.  Any other link stays as it is, and so does
each link on a page that has no ``{bibliography}``.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from pybtex.database import BibliographyData, Entry, Person
from pybtex.plugin import register_plugin
from pybtex.style.formatting.unsrt import Style as Unsorted
from pybtex.style.labels import BaseLabelStyle
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinxcontrib.bibtex.citation_target import CitationTarget
from sphinxcontrib.bibtex.nodes import bibliography
from sphinxcontrib.bibtex.roles import CitationRef


def addresses(entry: Entry) -> list[str]:
    """List the addresses of a work, the one to be written in a notebook first.

    Examples
    --------
    >>> addresses(Entry("misc", {"eprint": "1706.03762", "doi": "10.1000/182"}))
    ['https://doi.org/10.1000/182', 'https://arxiv.org/abs/1706.03762']
    """
    patterns = {"url": "{}", "doi": "https://doi.org/{}", "eprint": "https://arxiv.org/abs/{}"}
    return [
        pattern.format(entry.fields[field])
        for field, pattern in patterns.items()
        if entry.fields.get(field)
    ]


def canonical(address: str) -> str:
    """Reduce the ways to write one address to one.

    Examples
    --------
    >>> canonical("http://dx.doi.org/10.1016/J.Neucom.2023.127063")
    'doi.org/10.1016/j.neucom.2023.127063'
    >>> canonical("https://arxiv.org/pdf/1706.03762v7")
    'arxiv.org/abs/1706.03762'
    """
    bare = re.sub(r"^https?://(?:www\.|dx\.)?", "", address.strip()).rstrip("/")
    if bare.startswith("doi.org/"):
        return bare.lower()
    if paper := re.match(r"arxiv\.org/(?:abs|pdf)/([\w.-]+/\d+|\d+\.\d+)", bare):
        return f"arxiv.org/abs/{paper[1]}"
    return bare


def works(bibliography: BibliographyData) -> dict[str, str]:
    """Map the canonical addresses of all works to their keys."""
    return {
        canonical(address): key
        for key, entry in bibliography.entries.items()
        for address in addresses(entry)
    }


def _last_name(person: Person) -> str:
    """Return the name under which a person is cited."""
    return " ".join(str(part) for part in (*person.rich_prelast_names, *person.rich_last_names))


def authors(entry: Entry) -> str:
    """Name the authors of a work as a sentence does.

    Examples
    --------
    >>> authors(Entry("book", persons={"author": [Person("Lee, Ann"), Person("de Jong, Bo")]}))
    'Lee and de Jong'
    """
    persons = entry.persons.get("author") or entry.persons.get("editor") or []
    names = [_last_name(person) for person in persons]
    if len(names) > 2 or "others" in names:
        return f"{names[0]} et al."
    return " and ".join(names)


class KeyLabels(BaseLabelStyle):  # type: ignore[misc]
    """Label each entry by its key: labels are not shown, but must differ within the book."""

    def format_labels(self, sorted_entries: list[Entry]) -> list[str]:
        """Return the keys."""
        return [entry.key for entry in sorted_entries]


class References(Unsorted):  # type: ignore[misc]
    """The entries in the order of last name and year."""

    default_sorting_style = "author_year_title"
    default_label_style = KeyLabels


def note_citations(app: Sphinx, document: nodes.document) -> None:
    """Let the bibliography of a page know which works its links cite."""
    if not any(document.findall(bibliography)):
        return
    domain: Any = app.env.get_domain("cite")
    known = works(domain.bibdata.data)
    for link in document.findall(nodes.reference):
        if key := known.get(canonical(link.get("refuri", ""))):
            link["cites"] = key
            domain.citation_refs.append(
                CitationRef(
                    citation_ref_id="",  # entries show no way back
                    docname=app.env.docname,
                    line=link.line or 0,
                    targets=[CitationTarget(key=key, pre="", post="")],
                )
            )


class LinkCitations(SphinxPostTransform):
    """Lead the links that cite to the entries of their page."""

    default_priority = 6  # when the bibliography has become citations

    def run(self, **kwargs: Any) -> None:
        """Change the targets, and take the labels and ways back off the entries."""
        domain: Any = self.env.get_domain("cite")
        entries = {
            citation.key: citation.citation_id
            for citation in domain.citations
            if citation.bibliography_key.docname == self.env.docname
        }
        for link in self.document.findall(nodes.reference):
            if link.get("cites") in entries:
                del link["refuri"]
                link["refid"], link["internal"] = entries[link["cites"]], True
        for entry in self.document.findall(nodes.citation):
            entry["backrefs"] = []
            for label in list(entry.findall(nodes.label)):
                entry.remove(label)


def setup(app: Sphinx) -> dict[str, Any]:
    """Note the citations of each page once it is read; link them when it is written."""
    register_plugin("pybtex.style.formatting", "references", References)
    app.connect("doctree-read", note_citations)
    app.add_post_transform(LinkCitations)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
