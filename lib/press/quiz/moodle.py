"""A quiz as Moodle reads it: Moodle XML, with pictures inside.

Source: `Moodle XML format <https://docs.moodle.org/en/Moodle_XML_format>`_.
"""

from __future__ import annotations

import base64
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from press.downloads.sheets import TITLE
from press.quiz.asked import Choice, Number, Question, Quiz


def moodle(quiz: Quiz) -> bytes:
    """Write a quiz for Moodle."""
    root = Element("quiz")
    category = SubElement(root, "question", type="category")
    _text(category, "category", f"$course$/top/{TITLE}/{quiz.title}")
    for question in quiz.questions:
        _question(root, question)
    indent(root)
    written: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def _question(root: Element, question: Question) -> None:
    """Write a question."""
    choices = not isinstance(question.answer, Number)
    one = SubElement(root, "question", type="multichoice" if choices else "numerical")
    _text(one, "name", question.title)
    words = _html(one, "questiontext", _with_files(question.words, question))
    for name, file in question.images.items():
        encoded = base64.b64encode(file.read_bytes()).decode()
        SubElement(words, "file", name=name, path="/", encoding="base64").text = encoded
    _html(one, "generalfeedback", "")
    _plain(one, defaultgrade="1.0000000", penalty="0.3333333", hidden="0", idnumber=question.name)
    if isinstance(question.answer, Number):
        _number(one, question.answer)
    else:
        _choices(one, question.answer, question)


def _choices(one: Element, choices: tuple[Choice, ...], question: Question) -> None:
    """Write the choices of a question."""
    _plain(one, single="true", shuffleanswers="true", answernumbering="abc")
    for kind in ("correctfeedback", "partiallycorrectfeedback", "incorrectfeedback"):
        _html(one, kind, "")
    for choice in choices:
        answer = SubElement(one, "answer", fraction="100" if choice.right else "0", format="html")
        SubElement(answer, "text").text = _with_files(choice.words, question)
        _html(answer, "feedback", choice.reply)


def _number(one: Element, number: Number) -> None:
    """Write the number that answers a question, and what is said to others: the first that fits."""
    answers = [
        ("100", repr(number.right), number.because),
        *(("0", repr(value), said) for value, said in number.wrong),
        ("0", "*", number.otherwise),
    ]
    for fraction, value, said in answers:
        answer = SubElement(one, "answer", fraction=fraction, format="moodle_auto_format")
        SubElement(answer, "text").text = value
        _html(answer, "feedback", said)
        SubElement(answer, "tolerance").text = "0" if value == "*" else repr(number.within)
    _plain(one, unitgradingtype="0", unitpenalty="0.1000000", showunits="3", unitsleft="0")


def _with_files(words: str, question: Question) -> str:
    """Let HTML name its pictures as Moodle does."""
    for name in question.images:
        words = words.replace(f'src="{name}"', f'src="@@PLUGINFILE@@/{name}"')
    return words


def _text(parent: Element, name: str, text: str) -> None:
    SubElement(SubElement(parent, name), "text").text = text


def _html(parent: Element, name: str, text: str) -> Element:
    element = SubElement(parent, name, format="html")
    SubElement(element, "text").text = text
    return element


def _plain(parent: Element, **values: str) -> None:
    for name, value in values.items():
        SubElement(parent, name).text = value
