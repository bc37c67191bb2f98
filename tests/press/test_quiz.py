"""Quizzes: what a chapter asks stands in Canvas' and Moodle's files, with its answers."""

from __future__ import annotations

import io
import re
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from xml.etree.ElementTree import Element, fromstring

import pytest
from thorough import a_few
from written import BOOK, CHAPTERS

from press.homework.handout import make_homework
from press.pages.page_answers import PageExercise
from press.quiz import write
from press.quiz.asked import Choice, Number, Question, Quiz, plain, quiz_of
from press.quiz.canvas import FILES, PACKAGE, QTI, assessment, canvas
from press.quiz.moodle import moodle
from press.site import SITE

WHEN = datetime(2026, 11, 29, tzinfo=UTC)
ORDER = {
    "questestinterop": "assessment",
    "assessment": "section+",
    "section": "item*",
    "item": "itemmetadata presentation resprocessing itemfeedback*",
    "itemmetadata": "qtimetadata",
    "qtimetadata": "qtimetadatafield+",
    "qtimetadatafield": "fieldlabel fieldentry",
    "presentation": "material (response_lid|response_str)",
    "material": "mattext",
    "response_lid": "render_choice",
    "response_str": "render_fib",
    "render_choice": "response_label+",
    "render_fib": "response_label",
    "response_label": "material?",
    "resprocessing": "outcomes respcondition+",
    "outcomes": "decvar",
    "respcondition": "conditionvar setvar? displayfeedback?",
    "conditionvar": "(varequal|or|other)",
    "or": "varequal and",
    "and": "vargte varlte",
    "itemfeedback": "flow_mat",
    "flow_mat": "material",
    **dict.fromkeys(("fieldlabel", "fieldentry", "mattext", "decvar", "varequal"), ""),
    **dict.fromkeys(("other", "vargte", "varlte", "setvar", "displayfeedback"), ""),
}
"""What QTI 1.2 lets stand in an element, and in which order, as far as a quiz needs it."""
NEEDED = {
    "assessment": ["ident"],
    "section": ["ident"],
    "item": ["ident"],
    "response_lid": ["ident"],
    "response_str": ["ident"],
    "response_label": ["ident"],
    "varequal": ["respident"],
    "vargte": ["respident"],
    "varlte": ["respident"],
    "displayfeedback": ["linkrefid"],
    "itemfeedback": ["ident"],
}
"""The attributes that QTI 1.2 wants."""


@pytest.fixture(scope="module", params=a_few(CHAPTERS, {"01-statistics", "18-reasoning"}))
def quiz(request: pytest.FixtureRequest) -> Quiz:
    if not (SITE / "index.html").exists():
        pytest.fail("the site is not built: run `make book`, then these tests")
    return quiz_of(SITE, request.param)


def faults(element: Element) -> list[str]:
    """Return what of an element and all in it QTI 1.2 does not know."""
    name = element.tag.removeprefix(f"{{{QTI}}}")
    if name not in ORDER:
        return [f"no element {element.tag}"]
    inside = "".join(f"{child.tag.removeprefix(f'{{{QTI}}}')};" for child in element)
    pattern = re.sub("[a-z_]+", r"(?:\g<0>;)", ORDER[name]).replace(" ", "")
    found = [] if re.fullmatch(pattern, inside) else [f"{name} holds {inside}"]
    found += [f"{name} without {key}" for key in NEEDED.get(name, []) if not element.get(key)]
    return found + [fault for child in element for fault in faults(child)]


def test_what_a_chapter_asks_is_in_both(quiz: Quiz) -> None:
    names = [question.name for question in quiz.questions]
    assert len(names) == len(set(names)) >= 8
    root = fromstring(assessment(quiz))
    assert faults(root) == []
    items = root.findall(f".//{{{QTI}}}item")
    assert [item.get("ident") for item in items] == names
    for item in items:  # whatever is said is there to be said, and no two have one name
        said = [one.get("ident") for one in item.findall(f"{{{QTI}}}itemfeedback")]
        shown = [one.get("linkrefid") for one in item.iter(f"{{{QTI}}}displayfeedback")]
        assert sorted(said) == sorted(shown)
        scores = [one.text for one in item.iter(f"{{{QTI}}}setvar")]
        assert scores == ["100"]
    asked = fromstring(moodle(quiz)).findall("question")[1:]
    assert [one.findtext("idnumber") for one in asked] == names
    for one, question in zip(asked, quiz.questions, strict=True):
        right = [answer for answer in one.findall("answer") if answer.get("fraction") == "100"]
        assert len(right) == 1
        assert question.words.strip()
        assert "katex" not in question.words
        assert "annotation" not in question.words
        if isinstance(question.answer, Number):
            assert float(right[0].findtext("text")) == question.answer.right
            assert one.findall("answer")[-1].findtext("text") == "*"
        else:
            assert all(choice.words and choice.reply for choice in question.answer)
            assert sum(choice.right for choice in question.answer) == 1


def test_the_grammar_above_refuses_what_stands_in_the_wrong_place() -> None:
    root = fromstring(assessment(MADE_UP))
    assert faults(root) == []
    item = root.find(f".//{{{QTI}}}item")
    first = item[0]
    item.remove(first)
    assert len(faults(root)) == 1
    item.append(first)
    assert faults(root)[0].startswith("item holds presentation;")


def test_one_state_of_the_book_gives_one_file() -> None:
    one, two = (quiz_of(SITE, "08-positions") for _ in range(2))
    assert canvas(one, WHEN) == canvas(two, WHEN)
    assert moodle(one) == moodle(two)


def test_a_term_asks_with_its_own_numbers() -> None:
    homework = make_homework(BOOK / "chapters/08-positions.ipynb", "2027-spring-barley")
    fresh = {one.number: one.declared for one in homework.exercises if one.fresh}
    public, new = quiz_of(SITE, "08-positions"), quiz_of(SITE, "08-positions", homework)
    changed = [
        (old, other)
        for old, other in zip(public.questions, new.questions, strict=True)
        if old != other
    ]
    assert fresh
    assert len(changed) == len(fresh)
    for _, other in changed:
        declared: PageExercise = next(e for n, e in fresh.items() if f" {n} " in f"{other.title} ")
        assert isinstance(other.answer, Number)
        assert other.answer.right == declared.right
        assert declared.question.split()[-1].strip(".?") in other.words


MADE_UP = Quiz(
    "01-x",
    "1 X & Y",
    (
        Question(
            "ask-x",
            "1.1 Question",
            '<p>Is \\(a &lt; b\\) on <img src="a.svg" alt="A &amp; B"/>?</p>',
            (Choice("Yes", "<p>Right.</p>", True), Choice("No", "<p>It is.</p>", False)),
            {"a.svg": Path("LICENSE")},
        ),
        Question(
            "ex-x",
            "Exercise 1.1",
            "<p>Two?</p>",
            Number(2.0, 0.1, "So.", "No.", ((3.0, "One less."),)),
        ),
    ),
)


def test_pictures_and_their_words_come_along(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(BOOK)
    with zipfile.ZipFile(io.BytesIO(canvas(MADE_UP, WHEN))) as package:
        listed = fromstring(package.read("imsmanifest.xml"))
        files = [file.get("href") for file in listed.iter(f"{{{PACKAGE}}}file")]
        assert sorted(files) == sorted(set(package.namelist()) - {"imsmanifest.xml"})
        assert package.read("images/a.svg") == (BOOK / "LICENSE").read_bytes()
        root = fromstring(package.read("quiz-01-x/quiz-01-x.xml"))
    words = root.findtext(f".//{{{QTI}}}mattext")
    assert words == (
        f'<p>Is \\(a &lt; b\\) on <img src="{FILES}/images/a.svg" alt="A &amp; B"/>?</p>'
    )
    question = fromstring(moodle(MADE_UP)).findall("question")[1]
    assert '<img src="@@PLUGINFILE@@/a.svg" alt="A &amp; B"/>' in question.findtext(
        "questiontext/text"
    )
    assert question.find("questiontext/file").get("name") == "a.svg"


def test_moodle_knows_the_mistakes_and_both_know_the_distance() -> None:
    number = fromstring(moodle(MADE_UP)).findall("question")[2]
    said = [
        (
            a.findtext("text"),
            a.get("fraction"),
            a.findtext("tolerance"),
            a.findtext("feedback/text"),
        )
        for a in number.findall("answer")
    ]
    assert said == [
        ("2.0", "100", "0.1", "So."),
        ("3.0", "0", "0.1", "One less."),
        ("*", "0", "0", "No."),
    ]
    root = fromstring(assessment(Quiz("01-x", "X", MADE_UP.questions[1:])))
    assert [e.text for e in root.iter(f"{{{QTI}}}vargte")] == ["1.9"]
    assert [e.text for e in root.iter(f"{{{QTI}}}varlte")] == ["2.1"]


def test_what_a_course_system_cannot_show_goes() -> None:
    assert (
        plain('<p onclick="x()">a <a href="b.html">b</a> <script>c</script></p>') == "<p>a b </p>"
    )


def test_a_chapter_that_is_none_is_named(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(BOOK)
    assert write.main(["77", "--out", str(tmp_path / "out")]) == 1
    assert "there is no chapter '77'; there are 01, 02" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert write.main(["8", "--out", str(tmp_path / "out")]) == 0
    assert "questions" in capsys.readouterr().out
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"08-positions-canvas.zip", "08-positions-moodle.xml"}
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters/a.html").write_text("<article class='bd-article'><h1>A</h1></article>")
    with pytest.raises(ValueError, match="asks nothing"):
        quiz_of(tmp_path, "a")
