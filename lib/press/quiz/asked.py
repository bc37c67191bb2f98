r"""What a chapter asks, read from its page: guesses, questions and exercises with one answer.

Formulas are written in TeX between ``\(`` and ``\)``, as MathJax reads it in Canvas and Moodle.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from bs4 import BeautifulSoup
from bs4.element import Tag

from press.homework.handout import Homework
from press.site import article_of
from primer.notebook import NumberExercise

KEPT = {"img": ("src", "alt"), "td": ("colspan",), "th": ("colspan",), "ol": ("start",)}
"""The attributes that stay."""
PLAIN = {
    *("p", "div", "blockquote", "pre", "ul", "ol", "li", "br", "img"),
    *("em", "strong", "code", "sub", "sup"),
    *("table", "thead", "tbody", "tr", "td", "th"),
}
"""The tags that stay; of others their words do."""
WITHOUT = (
    ".headerlink, .katex-html, button, form, script, style, input, .toggle-button, "
    ".admonition-title, details, noscript, source"
)


@dataclass(frozen=True)
class Choice:
    """A choice, in HTML, and what is said to it."""

    words: str
    reply: str
    right: bool


@dataclass(frozen=True)
class Number:
    """A number that is the answer.

    Attributes
    ----------
    right, within : float
        The number, and how far from it an answer may be.
    because, otherwise : str
        What is said to a right answer and to any other, in HTML.
    wrong : tuple of (float, str)
        Numbers to which a mistake leads, and what is said to each.
    """

    right: float
    within: float
    because: str
    otherwise: str
    wrong: tuple[tuple[float, str], ...] = ()


@dataclass(frozen=True)
class Question:
    """A question.

    Attributes
    ----------
    name : str
        Its name in the book, which never changes.
    title : str
        What it is called in a list.
    words : str
        What is asked, in HTML.
    answer : Number or tuple of Choice
        The answer.
    images : dict of str to Path
        The pictures that it shows: the name in its HTML → the file.
    """

    name: str
    title: str
    words: str
    answer: Number | tuple[Choice, ...]
    images: dict[str, Path] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class Quiz:
    """The questions of a chapter."""

    chapter: str
    title: str
    questions: tuple[Question, ...]


def quiz_of(site: Path, chapter: str, homework: Homework | None = None) -> Quiz:
    """Read the quiz of a chapter.

    Parameters
    ----------
    site : Path
        The folder of the built site.
    chapter : str
        Its name.
    homework : Homework, optional
        The chapter's homework of a term: exercises that have new numbers there ask with these.

    Raises
    ------
    ValueError
        When the page is not there, or asks nothing.
    """
    page = f"chapters/{chapter}"
    article = article_of(site, page)
    fresh = {
        one.number: one.declared
        for one in (homework.exercises if homework else ())
        if one.fresh and isinstance(one.declared, NumberExercise)
    }
    reader = _Reader(site, page)
    found = []
    for element in article.select(".guess, .question, form.page-answer"):
        if element.name == "form":
            found.append(reader.exercise(element, fresh))
        else:
            found.append(reader.box(element))
    questions = tuple(one for one in found if one is not None)
    if not questions:
        raise ValueError(f"{page}.html asks nothing that a course system could ask.")
    heading = article.find("h1")
    title = reader.words(heading) if isinstance(heading, Tag) else chapter
    return Quiz(chapter, re.sub(r"<[^>]+>", "", title).strip(), questions)


class _Reader:
    """Reads the questions of a page.

    Parameters
    ----------
    site : Path
        The folder of the built site.
    page : str
        The page, without its ending.
    """

    def __init__(self, site: Path, page: str) -> None:
        self.site, self.page = site, page

    def box(self, box: Tag) -> Question | None:
        """Read a guess or a question; None where its answer is neither choice nor number."""
        kind = "Guess" if "guess" in box.get_attribute_list("class") else "Question"
        name, form = str(box.get("id", "")), box.select_one("form.prediction")
        answer: Number | tuple[Choice, ...]
        if form is not None:
            fold = box.select_one("details.fold-answer")
            said = self.inside(fold) if fold else ""
            right, unit = str(form["data-value"]), str(form["data-unit"])
            answer = Number(float(right), float(str(form["data-within"])), said, said)
            words = self.asked(box) + (f"<p>Answer in: {unit}.</p>" if unit else "")
        else:
            answer = tuple(self.choices(box))
            words = self.asked(box)
        if not answer:
            return None
        number = self.section_of(box)
        return Question(name, f"{number} {kind}".strip(), words, answer, self.images(box))

    def exercise(self, form: Tag, fresh: dict[str, NumberExercise]) -> Question | None:
        """Read an exercise that is answered on the page."""
        data = json.loads(str(form["data-exercise"]))
        number = data["number"]
        box = self.above(form)
        if box is None:
            return None
        caption = box.select_one(".admonition-title")
        title = " ".join(caption.get_text().split()) if caption else f"Exercise {number}"
        name, images = str(box.get("id", number)), self.images(box)
        if "replies" in data:
            letters = [str(radio["value"]) for radio in form.select("input[type=radio]")]
            labels = [str(radio["aria-label"]) for radio in form.select("input[type=radio]")]
            texts = [label.partition(") ")[2] for label in labels]
            right = re.search(r"The answer is \((\w+)\)", data["shown"])
            answer: Number | tuple[Choice, ...] = tuple(
                Choice(
                    _escape(text), _said(data["replies"][letter]), letter == (right and right[1])
                )
                for letter, text in zip(letters, texts, strict=True)
            )
            return Question(name, title, self.asked(box), answer, images)
        words = self.asked(box)
        if new := fresh.get(number):
            words, images = f"<p>{_escape(new.question)}</p>", {}
            answer = Number(
                new.right,
                new.within,
                _escape(new.because),
                _escape(new.otherwise),
                tuple((value, _escape(said)) for value, said in new.wrong.items()),
            )
        else:
            answer = Number(
                data["right"],
                data["within"],
                _said(data["solved"]),
                _said(data["otherwise"]),
                tuple((value, _said(said)) for value, said in data["wrong"]),
            )
        return Question(
            name, title, f"{words}<p>Answer with {data['expects']}.</p>", answer, images
        )

    def above(self, form: Tag) -> Tag | None:
        """Return the exercise whose answer a form takes."""
        found = form.find_previous(class_="exercise")
        return found if isinstance(found, Tag) else None

    def section_of(self, element: Tag) -> str:
        """Return the number of the section in which an element stands."""
        for section in element.find_parents("section"):
            heading = section.find(("h1", "h2"), recursive=False)
            number = heading.select_one(".section-number") if isinstance(heading, Tag) else None
            if number is not None:
                return number.get_text().strip()
        return ""

    def asked(self, box: Tag) -> str:
        """Write what a box asks, without its title and its answers."""
        inner = box.find("section", id="exercise-content") or box
        pieces = [
            self.words(child)
            for child in inner.find_all(True, recursive=False)
            if child.name not in ("details", "form", "button")
            and not {"admonition-title", "reply"} & set(child.get_attribute_list("class"))
        ]
        return "".join(pieces)

    def choices(self, box: Tag) -> Iterator[Choice]:
        """Read the choices of a box."""
        for choice in box.select("details.choice"):
            words, reply = choice.select_one(".words"), choice.select_one(".reply")
            right = "right" in choice.get_attribute_list("class")
            yield Choice(
                self.inside(words) if words else "", self.inside(reply) if reply else "", right
            )

    def images(self, box: Tag) -> dict[str, Path]:
        """Return the pictures of a box."""
        folder = posixpath.dirname(self.page)
        found = {}
        for image in box.select("img"):
            path = posixpath.normpath(posixpath.join(folder, unquote(str(image["src"]))))
            found[posixpath.basename(path)] = self.site / path
        return found

    def words(self, element: Tag) -> str:
        """Write an element plainly."""
        return plain(element.decode())

    def inside(self, element: Tag) -> str:
        """Write plainly what is in an element."""
        copied = BeautifulSoup(element.decode_contents(), "html.parser")
        for summary in copied.find_all("summary"):
            summary.decompose()
        return plain(copied.decode())


def plain(text: str) -> str:
    r"""Write a piece of a page with plain tags, and its formulas in TeX.

    Examples
    --------
    >>> tex = '<math><semantics><mi>k</mi><annotation>k &lt; 2</annotation></semantics></math>'
    >>> plain(f'<p class="x">Is <span class="katex">{tex}</span>?</p>')
    '<p>Is \\(k &lt; 2\\)?</p>'
    """
    piece = BeautifulSoup(text, "html.parser")
    for formula in piece.select(".katex"):
        source, display = formula.find("annotation"), formula.find_parent(class_="katex-display")
        tex = source.get_text().strip() if isinstance(source, Tag) else formula.get_text()
        (display or formula).replace_with(f"\\[{tex}\\]" if display else f"\\({tex}\\)")
    for spare in piece.select(WITHOUT):
        spare.decompose()
    for element in piece.find_all(True):
        if element.name not in PLAIN:
            element.unwrap()
            continue
        kept = KEPT.get(element.name, ())
        element.attrs = {name: value for name, value in element.attrs.items() if name in kept}
        if element.name == "img":
            element["src"] = posixpath.basename(unquote(str(element["src"])))
    return piece.decode().strip()


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _said(sentence: str) -> str:
    """Write what an exercise says, without its mark and its number."""
    return _escape(re.sub(r"^[✓✗] Exercise [\d.]+(?: is solved\.|:) ?", "", sentence))
