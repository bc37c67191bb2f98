"""Sphinx extension: the source map and the list of errata, written from data and notebooks.

``{source-map}`` lists every row of ``coverage.csv`` by chapter, with a link to the check that
proves it, or "to come".  ``{errata}`` lists ``errata.yml`` with links to the checks that prove
each entry.  A chapter's part is folded, and :file:`filter.js` puts a field above that narrows the
lists.  What is proved is read from the notebooks (:mod:`press.audit.proofs`), so the pages cannot
claim what no cell shows.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective, SphinxRole

from press.audit.coverage import (
    Erratum,
    Row,
    errata_of,
    notebook_of,
    proofs_of,
    read_errata,
    read_rows,
    written_chapters,
)
from press.audit.proofs import Proof
from press.pages.folds import check_label, closed
from press.registry import REGISTRY, read_book


def note_sources(env: BuildEnvironment, chapters: list[str]) -> None:
    """Make a page depend on all that says what is owed and what is proved."""
    book = Path(env.srcdir)
    sources = [book / REGISTRY, book / "chapters/appendix/coverage.csv"]
    sources += [book / "chapters/appendix/errata.yml"]
    sources += [notebook_of(book, chapter) for chapter in chapters]
    sources += [path for chapter in chapters if (path := errata_of(book, chapter)).exists()]
    for source in sources:
        env.note_dependency(str(source))


class Generated(SphinxDirective):
    """What both lists share: the data, the proofs, links, anchors, and when to write them again."""

    def read(self) -> None:
        """Read the book, and make the page depend on everything that was read."""
        book = Path(self.env.srcdir)
        self.rows, self.errata = read_rows(book), read_errata(book)
        self.headings = {chapter.name: chapter.heading for chapter in read_book(book).chapters}
        self.chapters = written_chapters(book)
        self.proofs = proofs_of(book, self.chapters)
        note_sources(self.env, self.chapters)

    def markdown(self, text: str) -> list[nodes.Node]:
        """Parse one paragraph of text with formulas; names of errata become links."""
        linked = re.sub(r"\bERR-(\d+)\b", r"{ref}`ERR-\1 <erratum-\1>`", text)
        return self.parse_inline(linked)[0]

    def link(self, label: str, text: str = "") -> nodes.Element:
        """Refer to a label, with its section's title where no text is given."""
        return self._reference("ref", label, text or label, explicit=bool(text))

    def page(self, chapter: str) -> nodes.Element:
        """Refer to a chapter by its number and name, as a link where it is written."""
        name = self.headings[chapter]
        if chapter not in self.chapters:
            return nodes.inline(name, name)
        return self._reference("doc", f"/chapters/{chapter}", name)

    def _reference(
        self, kind: str, target: str, text: str, *, explicit: bool = True
    ) -> nodes.Element:
        """Refer to a target from the line of the directive."""
        node = reference(self.env.docname, kind, target, text, explicit=explicit)
        self.set_source_info(node)
        return node

    def anchor(self, node: nodes.Element, name: str, title: str) -> None:
        """Give a node an id, and a label by which every page can refer to it."""
        node["ids"].append(name)
        self.env.domains["std"].note_hyperlink_target(name, self.env.docname, name, title)

    def section(self, prefix: str, chapter: str, *content: nodes.Node) -> nodes.section:
        """Make the section of one chapter."""
        title = self.headings[chapter]
        section = nodes.section("", nodes.title(title, title), *content)
        section["ids"].append(f"{prefix}-{chapter}")
        section["names"].append(nodes.fully_normalize_name(f"{prefix} {chapter}"))
        return section


def reference(
    docname: str, kind: str, target: str, text: str, *, explicit: bool = True
) -> addnodes.pending_xref:
    """Build what Sphinx resolves to a link on a page; an unknown target is a warning."""
    return addnodes.pending_xref(
        text,
        nodes.inline(text, text),
        refdomain="std",
        reftype=kind,
        reftarget=target,
        refexplicit=explicit,
        refwarn=True,
        refdoc=docname,
    )


def phrase(style: str, *content: nodes.Node) -> nodes.inline:
    """Wrap a part of a line in a class for the style sheet."""
    return nodes.inline("", "", *content, classes=[style])


def label_of(proof: Proof) -> str:
    """Name the check that proves something; a link to it opens the fold it stands in."""
    return check_label(proof.document, proof.cell)


def _all(count: int) -> str:
    """Say that all of some rows are proved."""
    return "1 row, proved" if count == 1 else f"{count} rows, all proved"


def words(text: str) -> nodes.Text:
    """Make plain text."""
    return nodes.Text(text)


def counts(book: Path) -> dict[str, int]:
    """Count what the book has, by the words that the role ``{count}`` knows."""
    chapters = written_chapters(book)
    proofs = proofs_of(book, chapters)
    all_rows, errata = read_rows(book), read_errata(book)
    rows = [row for row in all_rows if not row.own]
    return {
        "rows": len(rows),
        "rows proved": sum(row.id in proofs for row in rows),
        "own rows": len(all_rows) - len(rows),
        "errata": len(errata),
        "errata proved": sum(erratum.id in proofs for erratum in errata),
        "chapters": len(chapters),
    }


class Count(SphinxRole):
    """The role ``{count}``: a number of the book, derived, so that no page states an old one.

    Its text is one of ``rows``, ``rows proved``, ``own rows``, ``errata``, ``errata proved`` and
    ``chapters``; ``rows`` are those of the sources.
    """

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Write the number."""
        book = Path(self.env.srcdir)
        found = counts(book)
        note_sources(self.env, written_chapters(book))
        if self.text not in found:
            message = self.inliner.reporter.error(
                f"count: {self.text!r} is unknown; one of {', '.join(found)}", line=self.lineno
            )
            return [], [message]
        return [nodes.Text(f"{found[self.text]:,}")], []


class SourceMap(Generated):
    """The directive ``{source-map}``."""

    def run(self) -> list[nodes.Node]:
        """Write the whole map, a section for each chapter."""
        self.read()
        sections = [
            self.section(
                "map",
                chapter,
                closed(
                    "rows", self.summary(chapter, rows), self.way(chapter), self.list_rows(rows)
                ),
            )
            for chapter in self.headings
            if (rows := [row for row in self.rows if row.chapter == chapter])
        ]
        return [nodes.paragraph("", f"{self.proved(self.rows)}."), *sections]

    def proved(self, rows: list[Row]) -> str:
        """Say how many rows are proved."""
        proved = sum(row.id in self.proofs for row in rows)
        return f"{proved} of {len(rows)} rows are proved" if rows[proved:] else _all(len(rows))

    def summary(self, chapter: str, rows: list[Row]) -> str:
        """Write the line under which the rows of a chapter are folded."""
        return self.proved(rows) if chapter in self.chapters else f"{len(rows)} rows, to come"

    def way(self, chapter: str) -> nodes.paragraph:
        """Write the way to a chapter."""
        return nodes.paragraph("", "", words("From chapter "), self.page(chapter), words("."))

    def list_rows(self, rows: list[Row]) -> nodes.bullet_list:
        """Write rows as a list whose lines the style sheet lays out as columns."""
        items = []
        for row in rows:
            proof = self.proofs.get(row.id)
            state = [self.link(label_of(proof))] if proof else [words("to come")]
            item = nodes.list_item(
                "",
                nodes.paragraph(
                    "",
                    "",
                    phrase("map-id", words(row.id)),
                    words(" "),
                    phrase("map-item", *self.markdown(row.item)),
                    words(" "),
                    phrase("map-source", words(row.source)),
                    words(" "),
                    phrase("map-proved" if proof else "map-to-come", *state),
                ),
            )
            self.anchor(item, row.id.lower(), row.id)
            items.append(item)
        return nodes.bullet_list("", *items, classes=["source-map"])


class Errata(Generated):
    """The directive ``{errata}``."""

    def run(self) -> list[nodes.Node]:
        """Write the errata, a section for each chapter that corrects some."""
        self.read()
        proved = sum(erratum.id in self.proofs for erratum in self.errata)
        text = (
            f"{proved} of {len(self.errata)} are proved so far; the others wait for their chapters."
            if proved < len(self.errata)
            else f"All {proved} are proved."
        )
        sections = [
            self.section("errata", chapter, closed("rows", *self.folded(errata)))
            for chapter in self.headings
            if (errata := [entry for entry in self.errata if entry.chapter == chapter])
        ]
        return [nodes.paragraph("", text), *sections]

    def in_text(self, erratum: Erratum) -> bool:
        """Say whether the text of a chapter takes an erratum up, because many make that mistake."""
        proof = self.proofs.get(erratum.id)
        return proof is not None and not proof.document.startswith("errata/")

    def folded(self, errata: list[Erratum]) -> tuple[str, nodes.Node]:
        """Write the line under which errata are folded, and the errata: common mistakes first."""
        common = sum(map(self.in_text, errata))
        line = "1 erratum" if len(errata) == 1 else f"{len(errata)} errata"
        if common:
            line += f", {common} of them in the text of the chapter"
        return line, self.list_errata(sorted(errata, key=self.in_text, reverse=True))

    def list_errata(self, errata: list[Erratum]) -> nodes.definition_list:
        """Write errata as terms with their definitions."""
        items = []
        for erratum in errata:
            term = nodes.term(
                "",
                "",
                phrase("erratum-id", words(erratum.id)),
                words(" "),
                phrase("erratum-kind", words(erratum.kind)),
            )
            self.anchor(term, f"erratum-{erratum.id.removeprefix('ERR-')}", erratum.id)
            definition = nodes.definition(
                "",
                self.statement("The notes say.", erratum.says),
                self.statement("What is right.", erratum.right),
                self.proof_of(erratum),
                nodes.paragraph("", "", phrase("erratum-where", words(erratum.where))),
            )
            items.append(nodes.definition_list_item("", term, definition))
        return nodes.definition_list("", *items, classes=["errata"])

    def statement(self, opening: str, text: str) -> nodes.paragraph:
        """Write a paragraph that opens with its part in bold."""
        return nodes.paragraph(
            "", "", nodes.strong(opening, opening), words(" "), *self.markdown(text)
        )

    def proof_of(self, erratum: Erratum) -> nodes.paragraph:
        """Write where the erratum is proved, or that it is not yet."""
        if proof := self.proofs.get(erratum.id):
            place = self.headings[proof.document.removeprefix("errata/")]
            where = "on the errata page of" if proof.document.startswith("errata/") else "in"
            content = [words(f"Proved {where} chapter "), self.link(label_of(proof), place)]
            content.append(words("."))
            return nodes.paragraph("", "", phrase("map-proved", *content))
        text = f"The proof is to come with chapter {self.headings[erratum.chapter]}."
        return nodes.paragraph("", "", phrase("map-to-come", words(text)))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives, the role, their style sheet and the filter above their lists."""
    app.setup_extension("press.pages.topics")
    app.add_role("count", Count())
    app.add_directive("source-map", SourceMap)
    app.add_directive("errata", Errata)
    app.add_css_file("appendix.css", priority=910)
    app.add_js_file("address.js", priority=490, defer="defer")
    app.add_js_file("filter.js", defer="defer")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
