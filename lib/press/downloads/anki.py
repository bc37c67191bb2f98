r"""The flash cards as a file for `Anki <https://apps.ankiweb.net>`_, which plans when to ask again.

The file is written by `genanki <https://github.com/kerrickstaley/genanki>`_.  A card keeps its
number from build to build, so that a reader who imports a newer file keeps what she has learned:
Anki takes the new words of a card it knows when they are newer than its own, which is why the time
of the book's state stands in the file (:mod:`press.publish.dating`).  Formulas are written in
``\( \)``, which Anki's MathJax sets.
"""

from __future__ import annotations

import hashlib
import html
import io
import itertools
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import genanki
from docutils import nodes

from primer.saving import write_whole

TITLE = "A Runnable Primer"
NOTE_TYPE = 1_763_400_881
"""Anki knows the form of our notes by this number; it must never change."""
FIELDS = ("Question", "Answer", "Section", "Chapter")

_FRONT = '<div class="where">{{Chapter}}</div><div class="question">{{Question}}</div>'
_BACK = (
    '{{FrontSide}}<hr id="answer"><div class="answer">{{Answer}}</div>'
    '<div class="where">{{Section}}</div>'
)
_STYLE = """\
.card { max-width: 34em; margin: 0 auto; padding: 1em; font: 20px/1.5 Georgia, serif; }
.where { font: 14px sans-serif; opacity: 0.7; margin: 0.5em 0; }
.ask { display: block; font: 14px sans-serif; opacity: 0.7; }
.question { font-weight: 600; }
"""
_TAGS: dict[type[nodes.Node], str] = {
    nodes.paragraph: "p",
    nodes.strong: "b",
    nodes.emphasis: "i",
    nodes.literal: "code",
    nodes.subscript: "sub",
    nodes.superscript: "sup",
    nodes.bullet_list: "ul",
    nodes.enumerated_list: "ol",
    nodes.list_item: "li",
}


@dataclass(frozen=True)
class Note:
    """A card as Anki holds it, all fields but the name in HTML.

    Attributes
    ----------
    id : str
        The name of the card, which stays; see :class:`press.pages.questions.Card`.
    question, answer, section, chapter : str
        The fields, in the order of :data:`FIELDS`.
    """

    id: str
    question: str
    answer: str
    section: str
    chapter: str


def field(node: nodes.Node, link: Callable[[str], str]) -> str:
    r"""Write a part of a page as a field of a note.

    Parameters
    ----------
    node : nodes.Node
        The part; its references are resolved.
    link : callable
        Gives the address of a reference on the web, or ``""`` where the book has none.

    Raises
    ------
    ValueError
        When the part holds something that has no form in Anki yet.

    Examples
    --------
    >>> text = nodes.paragraph("", "", nodes.math("", "a < b"), nodes.Text(" & so on"))
    >>> field(text, lambda target: "")
    '<p>\\(a &lt; b\\) &amp; so on</p>'
    """
    if isinstance(node, nodes.Text):
        return html.escape(node.astext(), quote=False)
    if isinstance(node, nodes.math):
        return rf"\({html.escape(node.astext(), quote=False)}\)"
    if isinstance(node, nodes.math_block):
        return rf"\[{html.escape(node.astext(), quote=False)}\]"
    inner = "".join(field(child, link) for child in node.children)
    if isinstance(node, nodes.reference):
        address = link(node.get("refuri", ""))
        return f'<a href="{html.escape(address)}">{inner}</a>' if address else inner
    if isinstance(node, nodes.inline):
        return f'<span class="ask">{inner}</span>' if "card-ask" in node["classes"] else inner
    if isinstance(node, nodes.container):
        return inner
    if tag := _TAGS.get(type(node)):
        return f"<{tag}>{inner}</{tag}>"
    raise ValueError(
        f"a flash card holds a {type(node).__name__}, which press.downloads.anki cannot write: "
        "say it in words, or teach it that"
    )


def deck_number(chapter: str) -> int:
    """Return the number by which Anki knows the deck of a chapter.

    Examples
    --------
    >>> deck_number("8 Positions") == deck_number("8 Positions") != deck_number("9 Transformers")
    True
    """
    digest = hashlib.sha256(f"{TITLE}/{chapter}".encode()).digest()
    return (1 << 30) + int.from_bytes(digest[:4], "big") % (1 << 30)


def decks_of(notes: list[Note]) -> list[genanki.Deck]:
    """Put notes into decks, one for each chapter, below one for the book."""
    form = genanki.Model(
        NOTE_TYPE,
        TITLE,
        fields=[{"name": name} for name in FIELDS],
        templates=[{"name": "Card", "qfmt": _FRONT, "afmt": _BACK}],
        css=_STYLE,
    )
    about = "The summaries and common mistakes of its chapters. License: CC BY 4.0."
    decks = [genanki.Deck(deck_number(""), TITLE, about)]
    for chapter, group in itertools.groupby(notes, key=lambda note: note.chapter):
        number, _, title = chapter.partition(" ")
        # Anki sorts decks as text
        name = f"{TITLE}::{int(number):02d} {title}"
        deck = genanki.Deck(deck_number(chapter), name)
        for note in group:
            fields = [note.question, note.answer, note.section, note.chapter]
            deck.add_note(genanki.Note(form, fields, guid=genanki.guid_for(TITLE, note.id)))
        decks.append(deck)
    return decks


def write_decks(notes: list[Note], target: Path, now: int) -> None:
    """Write notes as a file that Anki imports, whole or not at all; the same notes, the same bytes.

    Parameters
    ----------
    notes : list of Note
        All cards of the book, those of a chapter side by side.
    target : Path
        The file, whose name ends in ``.apkg``; its folder is made.
    now : int
        When the notes were written, in seconds since 1970.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    content = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "collection.anki2"
        connection = sqlite3.connect(database)
        package = genanki.Package(decks_of(notes))
        package.write_to_db(connection.cursor(), now, itertools.count(now * 1000))
        connection.commit()
        connection.close()
        parts = {database.name: database.read_bytes(), "media": b"{}"}
    with zipfile.ZipFile(content, "w") as archive:
        for name, data in parts.items():
            entry = zipfile.ZipInfo(name)  # without the time of the build
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # whichever system writes it
            archive.writestr(entry, data)
    write_whole(target, content.getvalue())
