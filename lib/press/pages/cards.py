"""Sphinx extension: the flash cards of the book, on a page and as a file for Anki.

``{cards}`` lists the cards of all written chapters (:mod:`press.pages.questions`), each a
``<details>``: a question that opens to its answer, with no script and from disk.  :file:`cards.js`
shows them one by one.  When that page is written, so is the file (:mod:`press.downloads.anki`).
Each summary links to the cards of its chapter.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from docutils import nodes
from sphinx.application import Sphinx

from press.audit.coverage import notebook_of
from press.downloads.anki import Note, field, write_decks
from press.downloads.archive import FOLDER
from press.notebook import read_notebook
from press.pages.appendix import Generated, phrase, reference, words
from press.pages.numbering import chapter_number
from press.pages.questions import Card, cards_of
from press.publish.dating import written_at
from press.registry import REGISTRY, read_book

PAGE = "chapters/appendix/cards"
DECK = f"_static/{FOLDER}.apkg"
"""The file for Anki, beside the pages."""

_LISTS = (nodes.bullet_list, nodes.enumerated_list)
_LINK = re.compile(r"\]\((?!\w+:|[/#])([^()\s]+\.(?:md|ipynb)(?:#[^()]*)?)\)")


class flash_card(nodes.General, nodes.Element):  # type: ignore[misc]
    """A card: a question and an answer, each in a container; ``card`` and ``chapter`` name it."""


def visit_card(self: Any, node: flash_card) -> None:
    """Open the card, on the side of its question."""
    self.body.append(f'<details class="card-fold" id="{node["ids"][0]}">\n')


def depart_card(self: Any, node: flash_card) -> None:
    """Close the card."""
    self.body.append("</details>\n")


class card_front(nodes.General, nodes.TextElement):  # type: ignore[misc]
    """The question of a card, a line of text."""


def visit_front(self: Any, node: card_front) -> None:
    """Open the line that is always there."""
    self.body.append("<summary><span>")


def depart_front(self: Any, node: card_front) -> None:
    """Close it."""
    self.body.append("</span></summary>\n")


def from_root(markdown: str) -> str:
    """Let the links of a chapter to other files lead there from any page.

    Examples
    --------
    >>> from_root("[heads](appendix/glossary.md#term-head) of [Vaswani](https://arxiv.org/a.md)")
    '[heads](/chapters/appendix/glossary.md#term-head) of [Vaswani](https://arxiv.org/a.md)'
    """
    return _LINK.sub(r"](/chapters/\1)", markdown)


def read_cards(book: Path, chapter: str) -> list[Card]:
    """Read the cards of a chapter."""
    return cards_of(read_notebook(notebook_of(book, chapter)), chapter)


class Cards(Generated):
    """The directive ``{cards}``."""

    def run(self) -> list[nodes.Node]:
        """Write a section for each chapter."""
        book = Path(self.env.srcdir)
        registry = read_book(book)
        self.headings = {chapter.name: chapter.heading for chapter in registry.written}
        self.chapters = [
            name for name in self.headings if f"chapters/{name}" in self.env.found_docs
        ]
        for source in [book / REGISTRY, *(notebook_of(book, name) for name in self.chapters)]:
            self.env.note_dependency(str(source))
        found = {name: read_cards(book, name) for name in self.chapters}
        return [
            self.offer(sum(map(len, found.values()))),
            *(self.chapter(name, cards) for name, cards in found.items()),
        ]

    def offer(self, number: int) -> nodes.paragraph:
        """Write how many cards there are, and offer them as a file."""
        root = "../" * self.env.docname.count("/")
        link = f'<a class="card-file" href="{root}{DECK}" download>Download them for Anki</a>'
        return nodes.paragraph(
            "", "", words(f"The {number} cards: "), nodes.raw("", link, format="html"), words(".")
        )

    def chapter(self, name: str, cards: list[Card]) -> nodes.section:
        """Write the cards of a chapter."""
        section = self.section("cards", name, *(self.card(name, card) for card in cards))
        section["classes"].append("card-deck")
        label = f"cards-{name}"
        self.env.domains["std"].note_hyperlink_target(
            label, self.env.docname, label, self.headings[name]
        )
        return section

    def card(self, chapter: str, card: Card) -> flash_card:
        """Write one card; the place where the chapter says it stands below the answer."""
        front = card_front("", *self.markdown(card.question))
        answer = [nodes.paragraph("", "", *self.markdown(from_root(card.answer)))]
        if card.kind == "claim":
            front.insert(0, [phrase("card-ask", words("What is wrong here?")), words(" ")])
        elif card.kind == "mistake":
            lead = nodes.strong("", "A common mistake:")
            answer[0].insert(0, [lead, words(" ")])
        where = nodes.paragraph("", "", self.link(card.section), classes=["card-where"])
        node = flash_card("", front, nodes.container("", *answer), where, card=card.id)
        node["chapter"] = self.headings[chapter]
        node["ids"].append(f"card-{card.id.replace('/', '-')}")
        return node


def web_address(app: Sphinx, target: str) -> str:
    """Return where a link of the page leads on the web, ``""`` where the site has no address."""
    root = app.config.html_baseurl
    return urljoin(f"{root.rstrip('/')}/{PAGE}.html", target) if root else ""


def write_file(app: Sphinx, tree: nodes.document, docname: str) -> None:
    """Write the file for Anki when the page is written."""
    cards = list(tree.findall(flash_card))
    if not cards or app.builder.format != "html":
        return

    def html(node: nodes.Node) -> str:
        return field(node, lambda target: web_address(app, target))

    notes = [
        Note(
            card["card"],
            "".join(html(part) for part in card[0].children),
            html(card[1]),
            "".join(html(part) for part in card[2].children),
            card["chapter"],
        )
        for card in cards
    ]
    write_decks(notes, Path(app.outdir) / DECK, written_at(Path(app.srcdir)))


def link_summary(app: Sphinx, document: nodes.document) -> None:
    """Put below the lines of a summary a link to the cards of its chapter."""
    page, name = app.env.docname, Path(app.env.docname).name
    # A chapter's page of errata has its name, too.
    if page != f"chapters/{name}" or chapter_number(page) is None or PAGE not in app.env.found_docs:
        return
    number = len(read_cards(Path(app.srcdir), name))
    for section in document.findall(nodes.section):
        lists = [node for node in section.children if isinstance(node, _LISTS)]
        if section[0].astext() == "Summary" and lists:
            link = reference(page, "ref", f"cards-{name}", f"the {number} cards of this chapter")
            ask = nodes.paragraph("", "", words("Ask yourself: "), link, words("."))
            ask["classes"].append("to-cards")
            section.insert(section.index(lists[0]) + 1, ask)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive, what a card is on a page, the link of each summary, and the file."""
    app.add_directive("cards", Cards)
    app.add_node(flash_card, html=(visit_card, depart_card))
    app.add_node(card_front, html=(visit_front, depart_front))
    app.connect("doctree-read", link_summary)
    app.connect("doctree-resolved", write_file)
    app.add_css_file("cards.css", priority=910)
    app.add_js_file("cards.js", defer="defer")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
