"""The registry of the chapters, ``chapters/book.toml``: read, checked, and written out.

It alone says which chapters there are, what they are called, what they build on and which of them
are written.  The chapter map and the source map read it; ``_toc.yml`` and the README's table are
written from it by ``python -m press.registry``, because Jupyter Book and a reader of the
repository want files.
"""

from __future__ import annotations

import itertools
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

import nbformat
import yaml

from press.notebook import read_notebook
from primer import palette

REGISTRY = Path("chapters/book.toml")
NAME = re.compile(r"(\d\d)-[a-z]+(?:-[a-z]+)*")


@dataclass(frozen=True)
class Chapter:
    """A chapter of the book, written or to come.

    Attributes
    ----------
    name : str
        The file name of its notebook, for example ``"08-positions"``.
    title : str
        What it is called everywhere.
    about : str
        What it is about, in a line.
    part : str
        The part of the book.
    builds_on : tuple of str
        The chapters that a reader should know first.
    library, widgets : tuple of str
        Its packages in ``primer``, and the widgets it shows.
    minutes : int
        How long reading takes; 0 for a chapter to come of which nobody knows it yet.
    wide, tall : (float, float)
        Column and row of its box on the two drawings of the map.
    written : bool
        Whether it is a page of the site.
    """

    name: str
    title: str
    about: str
    part: str
    builds_on: tuple[str, ...]
    library: tuple[str, ...]
    widgets: tuple[str, ...]
    minutes: int
    wide: tuple[float, float]
    tall: tuple[float, float]
    written: bool

    @property
    def number(self) -> int:
        """The number of the chapter."""
        return int(self.name[:2])

    @property
    def topic(self) -> str:
        """The name that its package, exercises and tests share, for example ``"positions"``."""
        return topic_of(self.name)

    @property
    def heading(self) -> str:
        """Its number and title, as the book's contents show them."""
        return f"{self.number} {self.title}"

    @property
    def page(self) -> str:
        """The name of its page below the root of the book."""
        return f"chapters/{self.name}"

    @classmethod
    def from_toml(cls, entry: dict[str, Any]) -> Chapter:
        """Read an entry of the registry.

        Raises
        ------
        ValueError
            When the entry lacks something, or holds something unknown.
        """
        place = f"{REGISTRY}, chapter {entry.get('name', 'without a name')!r}"
        entry = {"written": False, "minutes": 0, **entry}
        wanted = {field.name for field in fields(cls)} - {"wide", "tall"} | {"map"}
        if missing := sorted(wanted - entry.keys()):
            raise ValueError(f"{place}: say its {', '.join(missing)} too")
        if unknown := sorted(entry.keys() - wanted):
            raise ValueError(f"{place}: {', '.join(unknown)} means nothing here; remove it")
        place_on_map = entry.pop("map")
        if place_on_map.keys() != {"wide", "tall"}:
            raise ValueError(f"{place}: map needs wide = [column, row] and tall = [column, row]")
        values: dict[str, Any] = {**entry, **place_on_map}
        for key, value in values.items():
            values[key] = tuple(value) if isinstance(value, list) else value
        return cls(**values)


@dataclass(frozen=True)
class Book:
    """The registry.

    Attributes
    ----------
    chapters : tuple of Chapter
        All chapters in their order.
    parts : dict of str to str
        The parts of the book with their colors, names of :mod:`primer.palette`.
    opening, closing : tuple of str
        The notebooks before the first chapter and behind the last, which are no chapters.
    first_page : tuple of str
        The widgets that the first page shows.
    appendix : dict of str to tuple of str
        The pages of the appendix, by the names of its groups.
    first, last : tuple of str
        Packages of no chapter, whose pages stand before and behind the others in the library.
    """

    chapters: tuple[Chapter, ...]
    parts: dict[str, str]
    opening: tuple[str, ...]
    closing: tuple[str, ...]
    first_page: tuple[str, ...]
    appendix: dict[str, tuple[str, ...]]
    first: tuple[str, ...]
    last: tuple[str, ...]

    @property
    def beside(self) -> tuple[str, ...]:
        """The notebooks that are no chapters."""
        return self.opening + self.closing

    def __getitem__(self, name: str) -> Chapter:
        """Return the chapter of that name."""
        return next(chapter for chapter in self.chapters if chapter.name == name)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all chapters."""
        return tuple(chapter.name for chapter in self.chapters)

    @property
    def written(self) -> tuple[Chapter, ...]:
        """The chapters that are pages of the site."""
        return tuple(chapter for chapter in self.chapters if chapter.written)

    @property
    def library(self) -> list[str]:
        """The packages with a page of the library, in the order of those pages."""
        taught = (package for chapter in self.written for package in chapter.library)
        return list(dict.fromkeys([*self.first, *taught, *self.last]))

    def before(self, name: str) -> set[str]:
        """Return all chapters that one builds on, directly or by another."""
        earlier = set(self[name].builds_on)
        return earlier.union(*map(self.before, earlier))


def topic_of(name: str) -> str:
    """Return the name that a chapter's package, exercises and tests share.

    Examples
    --------
    >>> topic_of("05-language-models")
    'language_models'
    """
    return name[3:].replace("-", "_")


_QUARTERS = {0: "", 15: " and a quarter", 30: " and a half", 45: " and three quarters"}


def in_words(minutes: int) -> str:
    """Write a reading time as a sentence does, "" for 0.

    Examples
    --------
    >>> in_words(75), in_words(120), in_words(20), in_words(150)
    ('an hour and a quarter', 'two hours', '20 minutes', 'two hours and a half')
    """
    if minutes < 60 or minutes % 60 not in _QUARTERS:
        return f"{minutes} minutes" if minutes else ""
    hours = {1: "an hour", 2: "two hours", 3: "three hours"}.get(minutes // 60)
    return f"{hours or f'{minutes // 60} hours'}{_QUARTERS[minutes % 60]}"


def in_short(minutes: int) -> str:
    """Write a reading time as a small box has room for it, "" for 0.

    Examples
    --------
    >>> in_short(75), in_short(120), in_short(20)
    ('1¼ h', '2 h', '20 min')
    """
    if minutes < 60 or minutes % 60 not in _QUARTERS:
        return f"{minutes} min" if minutes else ""
    return f"{minutes // 60}{ {0: '', 15: '¼', 30: '½', 45: '¾'}[minutes % 60] } h"


def read_book(root: Path) -> Book:
    """Read and check the registry.

    Parameters
    ----------
    root : Path
        The directory of the repository, or of a copy of its chapters.

    Returns
    -------
    Book
        The chapters and what stands around them.

    Raises
    ------
    ValueError
        When an entry is incomplete, a number comes twice or is left out, a part or a prerequisite
        is unknown, or prerequisites go in a circle; the sentence names the place.
    """
    data = tomllib.loads((root / REGISTRY).read_text(encoding="utf-8"))
    chapters = tuple(Chapter.from_toml(entry) for entry in data["chapter"])
    parts = {part["name"]: part["color"] for part in data["part"]}
    for part, color in parts.items():
        if color not in palette.LIGHT:
            raise ValueError(f"{REGISTRY}, part {part!r}: {color!r} is no color of primer.palette")
    for number, chapter in enumerate(chapters, 1):
        _check_entry(chapter, number, parts)
    _check_order(chapters)
    general = data["general"]
    appendix = {group: tuple(pages) for group, pages in data["appendix"].items()}
    return Book(
        chapters,
        parts,
        opening=tuple(data["opening"]),
        closing=tuple(data["closing"]),
        first_page=tuple(data["first_page"]),
        appendix=appendix,
        first=tuple(general["first"]),
        last=tuple(general["last"]),
    )


def _check_entry(chapter: Chapter, number: int, parts: Collection[str]) -> None:
    """Raise a ``ValueError`` unless a name has the next number and the part exists."""
    if not NAME.fullmatch(chapter.name):
        raise ValueError(
            f"{REGISTRY}, chapter {chapter.name!r}: a name has two digits and lower-case words, "
            "like '08-positions'"
        )
    if chapter.number != number:
        raise ValueError(
            f"{REGISTRY}, chapter {chapter.name!r}: it stands where chapter {number} should; "
            "numbers run from 01 without a gap and come once"
        )
    if chapter.part not in parts:
        raise ValueError(
            f"{REGISTRY}, chapter {chapter.name!r}: there is no part {chapter.part!r}; "
            f"one of {', '.join(parts)}"
        )


def _check_order(chapters: Iterable[Chapter]) -> None:
    """Raise a ``ValueError`` unless the prerequisites exist and none needs itself."""
    needs = {chapter.name: chapter.builds_on for chapter in chapters}
    for name, earlier in needs.items():
        if unknown := [one for one in earlier if one not in needs]:
            raise ValueError(
                f"{REGISTRY}, chapter {name!r}: it builds on {unknown[0]!r}, which is no chapter; "
                "name one of the others or remove it"
            )
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        circle = " builds on ".join(reversed(error.args[1]))
        raise ValueError(f"{REGISTRY}: {circle}; remove one of these prerequisites") from None


# ---------------------------------------------------------------- against the files


def complaints(root: Path) -> list[str]:
    """Say, a sentence each, where registry and files disagree; nothing when they agree.

    Parameters
    ----------
    root : Path
        The directory of the repository, or of a copy of its chapters and library.
    """
    book = read_book(root)
    found = []
    beside = {root / f"chapters/{name}.ipynb" for name in book.beside}
    files = {*root.glob("chapters/*.ipynb"), *root.glob("chapters/errata/*.ipynb")}
    for path in sorted(files - beside):
        if path.stem not in book.names:
            place = path.relative_to(root).as_posix()
            found.append(f"{place}: {REGISTRY} has no chapter {path.stem!r}; add it there")
    for path in sorted(beside - files):
        place = path.relative_to(root).as_posix()
        found.append(
            f"{REGISTRY}, opening or closing: there is no {place}; add it or remove its name"
        )
    for chapter in book.written:
        place = f"{REGISTRY}, chapter {chapter.name!r}"
        notebook = root / f"{chapter.page}.ipynb"
        if not notebook.exists():
            found.append(f"{place}: it is written, but there is no {chapter.page}.ipynb; add it")
            continue
        text = read_notebook(notebook)
        if (title := _title(text)) != chapter.title:
            found.append(f"{place}: its title is {chapter.title!r}, its notebook's {title!r}")
        says = in_words(chapter.minutes)
        if not says:
            found.append(f"{place}: say how many minutes reading takes")
        elif not re.search(rf"\b{says}\b(?! and a)", _opening(text)):  # no longer one
            found.append(f"{place}: its notebook's opening says nowhere that it takes {says}")
        code = "\n".join(cell.source for cell in text.cells if cell.cell_type == "code")
        if (shown := _widgets(code)) != set(chapter.widgets):
            names = ", ".join(sorted(shown)) or "none"
            found.append(f"{place}: the widgets that its notebook shows are {names}; name these")
        for package in chapter.library:
            source = root / "lib/primer" / package
            page = f"chapters/appendix/library/{package}.md"
            if not (source.is_dir() or source.with_suffix(".py").exists()):
                found.append(f"{place}: there is no package primer.{package}; add it or remove it")
            elif not (root / page).exists():
                found.append(f"{place}: primer.{package} has no page {page}; add it")
    if (first := root / "index.md").exists():
        shown = _widgets(first.read_text("utf-8"))
        if shown != set(book.first_page):
            names = ", ".join(sorted(shown)) or "none"
            found.append(f"{REGISTRY}, first_page: index.md shows {names}; name these")
    return found + _pages_out_of_place(book, root)


def _pages_out_of_place(book: Book, root: Path) -> list[str]:
    """Say which pages of the appendix stand in no group, in two, or nowhere but in a group."""
    listed = [page for pages in book.appendix.values() for page in pages]
    texts = (root / "chapters/appendix").glob("*.*")
    files = {path.stem: path for path in texts if path.suffix in {".md", ".ipynb"}}
    found = [
        f"{files[page].relative_to(root).as_posix()}: no group of {REGISTRY} has it; add it to one"
        for page in sorted(files.keys() - set(listed))
    ]
    for page, times in Counter(listed).items():
        place = f"{REGISTRY}, appendix"
        if page not in files:
            found.append(f"{place}: there is no chapters/appendix/{page}.md; add it or remove it")
        elif times > 1:
            found.append(f"{place}: {page!r} stands in two groups; leave it in one")
    return found


def _title(notebook: nbformat.NotebookNode) -> str:
    """Return the heading of a chapter."""
    texts = (cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    headings = (re.search(r"^# (.+)$", text, re.MULTILINE) for text in texts)
    return next((heading[1] for heading in headings if heading), "")


def _opening(notebook: nbformat.NotebookNode) -> str:
    """Return the words of a chapter before its first section, in one line."""
    words = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    before = itertools.takewhile(lambda source: not re.search(r"^## ", source, re.M), words)
    return " ".join(" ".join(before).split())


def _widgets(code: str) -> set[str]:
    """Return the widgets that are imported by name."""
    lists = re.findall(r"^from primer\.widgets import (?:\(([^)]*)\)|(.+))", code, re.MULTILINE)
    return set(re.findall(r"\w+", " ".join(one or other for one, other in lists)))


# ---------------------------------------------------------------- what is written from it


def table_of_contents(root: Path) -> str:
    """Write ``_toc.yml``: what opens the book, its parts, what closes it, the appendix."""
    book = read_book(root)
    parts: list[dict[str, Any]] = []
    if book.opening:
        parts.append({"chapters": [{"file": f"chapters/{name}"} for name in book.opening]})
    for part in book.parts:
        files = [{"file": chapter.page} for chapter in book.written if chapter.part == part]
        if files:
            parts.append({"caption": part, "numbered": 2, "chapters": files})
    if book.closing:
        files = [{"file": f"chapters/{name}"} for name in book.closing]
        parts.append({"caption": "Beyond the chapters", "chapters": files})
    below = {
        "errata": [
            f"chapters/errata/{chapter.name}"
            for chapter in book.written
            if (root / f"chapters/errata/{chapter.name}.ipynb").exists()
        ],
        "library": [f"chapters/appendix/library/{package}" for package in book.library],
    }
    for group, pages in book.appendix.items():
        entries: list[dict[str, Any]] = []
        for page in pages:
            entries.append({"file": f"chapters/appendix/{page}"})
            if page in below:
                entries[-1]["sections"] = [{"file": file} for file in below[page]]
        parts.append({"caption": group, "chapters": entries})
    toc = {"format": "jb-book", "root": "index", "parts": parts}
    return f"# Written by `make contents` from {REGISTRY}.\n" + yaml.safe_dump(toc, sort_keys=False)


MARKS = ("<!-- written by `make contents` -->", "<!-- to here -->")


def readme(root: Path) -> str:
    """Write the README with the table of the written chapters, and those to come, up to date."""
    text = (root / "README.md").read_text(encoding="utf-8")
    book = read_book(root)
    rows = ["| | Chapter | Library | Widgets |", "|---|---|---|---|"]
    for chapter in book.written:
        library = ", ".join(f"[`primer.{name}`](lib/primer/{name})" for name in chapter.library)
        widgets = ", ".join(f"`{name}`" for name in chapter.widgets)
        link = f"[{chapter.title}]({chapter.page}.ipynb)"
        rows.append(f"| {chapter.number:02d} | {link}: {chapter.about} | {library} | {widgets} |")
    to_come = [f"{one.number:02d} {one.title}" for one in book.chapters if not one.written]
    rows += ["", f"To come: {', '.join(to_come)}."] if to_come else []
    begin, end = MARKS
    before, _, rest = text.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise ValueError(f"README.md: put the lines {begin!r} and {end!r} around its table again")
    return "\n".join([before + begin, "", *rows, "", end + after])


def written_files(root: Path) -> dict[Path, str]:
    """Return the files that are written from the registry, as they should be."""
    return {root / "_toc.yml": table_of_contents(root), root / "README.md": readme(root)}


def main() -> int:
    """Write the files anew, and say where registry and notebooks disagree."""
    root = Path()
    try:
        sentences = complaints(root)
        for path, text in written_files(root).items():
            if path.read_text(encoding="utf-8") != text:
                path.write_text(text, encoding="utf-8")
                print(f"{path}: written")
    except ValueError as error:
        sentences = [str(error)]
    print(*sentences, sep="\n", end="\n" if sentences else "")
    return int(bool(sentences))


if __name__ == "__main__":
    sys.exit(main())
