"""A quiz as Canvas reads it: a package of QTI 1.2 with what Canvas adds to it.

Source: IMS Question & Test Interoperability, ASI XML binding 1.2; Canvas, *Quizzes: QTI*.
"""

from __future__ import annotations

import io
import zipfile
from datetime import datetime
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from press.quiz.asked import Choice, Number, Question, Quiz

QTI = "http://www.imsglobal.org/xsd/ims_qtiasiv1p2"
PACKAGE = "http://www.imsglobal.org/xsd/imscp_v1p1"
IMAGES = "images"
FILES = "$IMS-CC-FILEBASE$"
"""How Canvas names the folder of a package in HTML."""
RESPONSE = "response1"


def canvas(quiz: Quiz, moment: datetime) -> bytes:
    """Write a quiz for Canvas: a zip.

    Parameters
    ----------
    quiz : Quiz
        The quiz.
    moment : datetime
        When the book was written: the time of all that is in the file.
    """
    name = f"quiz-{quiz.chapter}"
    images = {name: file for one in quiz.questions for name, file in one.images.items()}
    parts = {
        "imsmanifest.xml": _manifest(name, images),
        f"{name}/{name}.xml": assessment(quiz),
        **{f"{IMAGES}/{image}": file.read_bytes() for image, file in sorted(images.items())},
    }
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for part, content in parts.items():
            entry = zipfile.ZipInfo(part, moment.timetuple()[:6])
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED, 9)
    return written.getvalue()


def assessment(quiz: Quiz) -> bytes:
    """Write the questions of a quiz: QTI 1.2."""
    root = Element("questestinterop", xmlns=QTI)
    whole = SubElement(root, "assessment", ident=f"quiz-{quiz.chapter}", title=quiz.title)
    section = SubElement(whole, "section", ident="root_section")
    for question in quiz.questions:
        _item(section, question)
    return _written(root)


def _manifest(name: str, images: dict[str, Path]) -> bytes:
    """Write the list of what is in the package."""
    root = Element("manifest", identifier=f"package-{name}", xmlns=PACKAGE)
    about = SubElement(root, "metadata")
    SubElement(about, "schema").text = "IMS Content"
    SubElement(about, "schemaversion").text = "1.1.3"
    SubElement(root, "organizations")
    resources = SubElement(root, "resources")
    listed = [(name, "imsqti_xmlv1p2", f"{name}/{name}.xml")]
    listed += [
        (f"image-{number}", "webcontent", f"{IMAGES}/{image}")
        for number, image in enumerate(sorted(images))
    ]
    for identifier, kind, file in listed:
        one = SubElement(resources, "resource", identifier=identifier, type=kind, href=file)
        SubElement(one, "file", href=file)
    return _written(root)


def _item(section: Element, question: Question) -> None:
    """Write a question."""
    item = SubElement(section, "item", ident=question.name, title=question.title)
    number = isinstance(question.answer, Number)
    kind = "numerical_question" if number else "multiple_choice_question"
    about = SubElement(SubElement(item, "itemmetadata"), "qtimetadata")
    for label, value in (("question_type", kind), ("points_possible", "1.0")):
        entry = SubElement(about, "qtimetadatafield")
        SubElement(entry, "fieldlabel").text = label
        SubElement(entry, "fieldentry").text = value
    shown = SubElement(item, "presentation")
    _words(shown, _with_files(question.words, question))
    judged = Element("resprocessing")
    scores = {"maxvalue": "100", "minvalue": "0", "varname": "SCORE", "vartype": "Decimal"}
    SubElement(SubElement(judged, "outcomes"), "decvar", scores)
    if isinstance(question.answer, Number):
        said = _number(shown, judged, question.answer)
    else:
        said = _choices(shown, judged, question.answer, question)
    item.append(judged)
    for name, words in said.items():
        if words:
            feedback = SubElement(item, "itemfeedback", ident=name)
            _words(SubElement(feedback, "flow_mat"), words)


def _choices(
    shown: Element, judged: Element, choices: tuple[Choice, ...], question: Question
) -> dict[str, str]:
    """Write the choices of a question; return what is said to each."""
    asked = SubElement(shown, "response_lid", ident=RESPONSE, rcardinality="Single")
    listed, said = SubElement(asked, "render_choice"), {}
    for number, choice in enumerate(choices):
        name = f"{question.name}-{number}"
        _words(
            SubElement(listed, "response_label", ident=name), _with_files(choice.words, question)
        )
        said[f"{name}_fb"] = choice.reply
        if choice.reply:
            chosen = SubElement(judged, "respcondition", {"continue": "Yes"})
            _equal(SubElement(chosen, "conditionvar"), name)
            _shows(chosen, f"{name}_fb")
    right = SubElement(judged, "respcondition", {"continue": "No"})
    (place,) = (number for number, choice in enumerate(choices) if choice.right)
    _equal(SubElement(right, "conditionvar"), f"{question.name}-{place}")
    SubElement(right, "setvar", action="Set", varname="SCORE").text = "100"
    return said


def _number(shown: Element, judged: Element, number: Number) -> dict[str, str]:
    """Write the number that answers a question; return what is said when it is right and if not."""
    asked = SubElement(shown, "response_str", ident=RESPONSE, rcardinality="Single")
    SubElement(
        SubElement(asked, "render_fib", fibtype="Decimal"), "response_label", ident="answer1"
    )
    right = SubElement(judged, "respcondition", {"continue": "No"})
    either = SubElement(SubElement(right, "conditionvar"), "or")
    _equal(either, repr(number.right))
    both = SubElement(either, "and")
    low, high = number.right - number.within, number.right + number.within
    SubElement(both, "vargte", respident=RESPONSE).text = repr(low)
    SubElement(both, "varlte", respident=RESPONSE).text = repr(high)
    SubElement(right, "setvar", action="Set", varname="SCORE").text = "100"
    if number.because:
        _shows(right, "correct_fb")
    if number.otherwise:
        other = SubElement(judged, "respcondition", {"continue": "Yes"})
        SubElement(SubElement(other, "conditionvar"), "other")
        _shows(other, "general_incorrect_fb")
    return {"correct_fb": number.because, "general_incorrect_fb": number.otherwise}


def _equal(condition: Element, value: str) -> None:
    SubElement(condition, "varequal", respident=RESPONSE).text = value


def _shows(condition: Element, name: str) -> None:
    SubElement(condition, "displayfeedback", feedbacktype="Response", linkrefid=name)


def _words(parent: Element, words: str) -> None:
    """Write HTML."""
    SubElement(SubElement(parent, "material"), "mattext", texttype="text/html").text = words


def _with_files(words: str, question: Question) -> str:
    """Let HTML name its pictures as Canvas does."""
    for name in question.images:
        words = words.replace(f'src="{name}"', f'src="{FILES}/{IMAGES}/{name}"')
    return words


def _written(root: Element) -> bytes:
    indent(root)
    written: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"
