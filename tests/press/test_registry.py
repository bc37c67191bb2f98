"""The registry of the chapters: what is wrong in it is one sentence, and the files follow it."""

import re
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from written import BOOK

from press.registry import REGISTRY, complaints, main, read_book, written_files
from primer import widgets


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Copy what the registry is compared with, to break it."""
    shutil.copytree(BOOK / "chapters", tmp_path / "chapters")
    shutil.copytree(
        BOOK / "lib/primer", tmp_path / "lib/primer", ignore=lambda *_: {"widgets", "checkpoints"}
    )
    for name in ("_toc.yml", "README.md", "index.md"):
        shutil.copy(BOOK / name, tmp_path)
    return tmp_path


def edit(copy: Path, old: str, new: str) -> None:
    """Replace one place of the registry."""
    text = (copy / REGISTRY).read_text()
    assert old in text
    (copy / REGISTRY).write_text(text.replace(old, new, 1))


def test_registry_and_files_agree() -> None:
    assert complaints(BOOK) == []
    for path, text in written_files(BOOK).items():
        assert path.read_text() == text, "run `make contents`"


def test_the_contents_keep_what_learners_need_apart_from_what_auditors_need() -> None:
    groups = read_book(BOOK).appendix
    contents = yaml.safe_load((BOOK / "_toc.yml").read_text())["parts"]
    shown = {part.get("caption"): part["chapters"] for part in contents}
    for group, pages in groups.items():
        assert [entry["file"] for entry in shown[group]] == [
            f"chapters/appendix/{p}" for p in pages
        ]
    learners, auditors = groups["Appendix for learners"], groups["Appendix for auditors"]
    assert {"one-token", "glossary", "notation", "scoreboard"} <= set(learners)
    assert {"source-map", "errata", "conventions", "library"} <= set(auditors)
    assert list(shown)[-2:] == list(groups)


def test_every_widget_belongs_to_a_chapter_or_to_the_first_page() -> None:
    book = read_book(BOOK)
    shown = [*book.first_page, *(name for chapter in book.chapters for name in chapter.widgets)]
    to_come = tomllib.loads((BOOK / REGISTRY).read_text("utf-8"))["widgets_to_come"]
    lost = set(widgets.__all__) ^ {*shown, *to_come}
    assert not lost, f"{lost}: a chapter of {REGISTRY} names it, or `widgets_to_come`, or nothing"
    assert not set(shown) & set(to_come)


def test_a_chapter_says_what_it_builds_on_by_links_to_what_is_written() -> None:
    book = read_book(BOOK)
    assert book.before("09-transformers") == set(book.names[:8])
    assert book.before("16-fourier") == set()


ATTENTION = 'builds_on = ["05-language-models", "06-recurrent"]'


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('"07-attention"', '"7-attention"', "a name has two digits and lower-case words"),
        ('"07-attention"', '"08-attention"', "stands where chapter 7 should"),
        ('part = "Signals"', 'part = "Noise"', "'16-fourier': there is no part 'Noise'; one of"),
        (ATTENTION, 'builds_on = ["05-words"]', "builds on '05-words', which is no chapter"),
        (
            'builds_on = ["04-networks", "05-language-models"]',
            'builds_on = ["09-transformers"]',
            "builds on .*'?0[679]-.* builds on .*; remove one of these prerequisites",
        ),
        (ATTENTION, 'builds_on = ["07-attention"]', "07-attention builds on 07-attention"),
        ('title = "Attention"\n', "", "chapter '07-attention': say its title too"),
        ('title = "Attention"', 'title = "A"\ncolour = "red"', "colour means nothing here"),
        ("map = { wide = [2, 1], tall", "map = { narrow", "map needs wide = "),
        ('color = "green"', 'color = "grass"', "'grass' is no color of primer.palette"),
    ],
)
def test_a_fault_of_the_registry_is_one_sentence_with_its_place(
    copy: Path, old: str, new: str, sentence: str
) -> None:
    edit(copy, old, new)
    with pytest.raises(ValueError, match=f"{REGISTRY}.*{sentence}") as caught:
        read_book(copy)
    assert "\n" not in str(caught.value)


@given(st.data())
def test_a_circle_of_prerequisites_is_named_wherever_it_is(data: st.DataObject) -> None:
    """An edge from a chapter to one that needs it closes a circle, and no other edge does."""
    book = read_book(BOOK)
    chapter = data.draw(st.sampled_from(book.chapters))
    target = data.draw(st.sampled_from(book.chapters))
    with TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "chapters").mkdir()
        text = (BOOK / REGISTRY).read_text()
        before, entry, rest = text.partition(f'name = "{chapter.name}"')
        rest = re.sub(r"builds_on = \[", f'builds_on = ["{target.name}", ', rest, count=1)
        (root / REGISTRY).write_text(before + entry + rest)
        if target == chapter or chapter.name in book.before(target.name):
            with pytest.raises(ValueError, match=f"{chapter.name} builds on.*remove one"):
                read_book(root)
        else:
            assert target.name in read_book(root).before(chapter.name)


def without_notebook(copy: Path) -> None:
    (copy / "chapters/08-positions.ipynb").unlink()


def without_entry(copy: Path) -> None:
    shutil.copy(copy / "chapters/08-positions.ipynb", copy / "chapters/99-places.ipynb")


def errata_without_entry(copy: Path) -> None:
    shutil.move(copy / "chapters/errata/08-positions.ipynb", copy / "chapters/errata/8.ipynb")


def other_title(copy: Path) -> None:
    edit(copy, 'title = "Positions"', 'title = "Places"')


def other_time(copy: Path) -> None:
    edit(copy, "minutes = 90\nmap = { wide = [0, 1]", "minutes = 75\nmap = { wide = [0, 1]")


def no_time(copy: Path) -> None:
    edit(copy, "minutes = 90\nmap = { wide = [0, 1]", "map = { wide = [0, 1]")


def other_widget(copy: Path) -> None:
    edit(copy, 'widgets = ["RopeRotation"]', 'widgets = ["Anatomy"]')


def other_widget_of_the_first_page(copy: Path) -> None:
    edit(copy, 'first_page = ["', 'first_page = ["Anatomy", "')


def without_opening(copy: Path) -> None:
    (copy / "chapters/before-you-start.ipynb").unlink()


def without_package(copy: Path) -> None:
    edit(copy, 'library = ["positions"]', 'library = ["positions", "places"]')


def without_page(copy: Path) -> None:
    (copy / "chapters/appendix/library/positions.md").unlink()


def without_group(copy: Path) -> None:
    edit(copy, '"notation", ', "")


def in_two_groups(copy: Path) -> None:
    edit(copy, '"conventions", ', '"conventions", "notation", ')


def without_page_of_the_appendix(copy: Path) -> None:
    (copy / "chapters/appendix/notation.md").unlink()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (without_notebook, "'08-positions': it is written, but there is no chapters/08-pos"),
        (without_entry, "chapters/99-places.ipynb: chapters/book.toml has no chapter '99-p"),
        (errata_without_entry, "chapters/errata/8.ipynb: chapters/book.toml has no chapter '8'"),
        (
            without_opening,
            "opening or closing: there is no chapters/before-you-start.ipynb; add it or",
        ),
        (
            other_time,
            "'02-regression': its notebook's opening says nowhere that it takes an hour and",
        ),
        (no_time, "'02-regression': say how many minutes reading takes"),
        (other_title, "its title is 'Places', its notebook's 'Positions'"),
        (other_widget, "the widgets that its notebook shows are RopeRotation; name these"),
        (other_widget_of_the_first_page, "first_page: index.md shows WhatComesNext; name these"),
        (without_package, "there is no package primer.places; add it or remove it"),
        (without_page, "primer.positions has no page chapters/appendix/library/positions.md"),
        (without_group, "chapters/appendix/notation.md: no group of chapters/book.toml has it"),
        (in_two_groups, "appendix: 'notation' stands in two groups; leave it in one"),
        (without_page_of_the_appendix, "appendix: there is no chapters/appendix/notation.md"),
    ],
)
def test_what_disagrees_with_the_files_is_one_sentence(
    copy: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    change: Callable[[Path], None],
    sentence: str,
) -> None:
    change(copy)
    (complaint,) = complaints(copy)
    assert sentence in complaint
    monkeypatch.chdir(copy)
    assert main() == 1
    assert capsys.readouterr().out.splitlines()[-1] == complaint


def test_what_opens_and_what_closes_the_book_is_no_chapter(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toc = yaml.safe_load((copy / "_toc.yml").read_text())["parts"]
    first, second, *_ = toc
    assert first == {"chapters": [{"file": "chapters/before-you-start"}]}  # unnumbered, no caption
    assert second["caption"] == "Foundations"
    assert "before-you-start" not in read_book(copy).names
    (last,) = [part for part in toc if part.get("caption") == "Beyond the chapters"]
    assert last["chapters"] == [{"file": "chapters/next-door"}]  # unnumbered
    assert toc.index(last) == 1 + len(read_book(copy).parts)

    edit(copy, 'opening = ["before-you-start"]', "opening = []")
    (copy / "chapters/before-you-start.ipynb").unlink()
    monkeypatch.chdir(copy)
    assert main() == 0
    assert yaml.safe_load((copy / "_toc.yml").read_text())["parts"][0] == second


def test_a_chapter_that_is_taken_back_leaves_contents_and_readme(
    copy: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (copy / REGISTRY).read_text()
    before, entry, rest = text.partition('name = "08-positions"')
    (copy / REGISTRY).write_text(before + entry + rest.replace("written = true\n", "", 1))
    monkeypatch.chdir(copy)
    assert main() == 0
    assert capsys.readouterr().out == "_toc.yml: written\nREADME.md: written\n"
    assert "positions" not in (copy / "_toc.yml").read_text()
    readme = (copy / "README.md").read_text()
    assert "08 Positions" in readme.partition("To come: ")[2].splitlines()[0]
    assert main() == 0
    assert capsys.readouterr().out == ""


def test_a_readme_without_its_marks_is_left_alone(
    copy: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (copy / "README.md").write_text("# A primer\n")
    monkeypatch.chdir(copy)
    assert main() == 1
    assert capsys.readouterr().out.startswith("README.md: put the lines '<!-- written by")
    assert (copy / "README.md").read_text() == "# A primer\n"
