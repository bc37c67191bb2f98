"""Begin a chapter: ``python -m press.workshop.skeleton 05-language-models`` makes its files.

They are small but whole: the notebook has every kind of cell of the form and has been run, the
function has its tests, the exercises their answers.  The chapter is *to come* until the registry
says ``written = true``, so nothing of it has to be complete.
"""

from __future__ import annotations

import itertools
import json
import re
import sys
from pathlib import Path
from typing import Any

import nbformat

from press.execution.normalize import execute, normalize, number
from press.registry import NAME, REGISTRY, Book, read_book, topic_of
from press.registry import main as contents
from press.workshop import skeleton_texts as texts


def make_chapter(root: Path, name: str) -> list[Path]:
    """Make the files of a chapter that does not exist; files that exist stay as they are.

    Parameters
    ----------
    root : Path
        The directory of the repository.
    name : str
        What the notebook will be called: a chapter to come of the registry, or the one after its
        last, which then gets an entry.

    Returns
    -------
    list of Path
        The files that were made or changed.

    Raises
    ------
    ValueError
        When the name is badly formed, taken, or has another chapter's number.
    """
    book = read_book(root)
    check_name(root, book, name)
    topic = topic_of(name)
    entry = new_entry(book, name) if name not in book.names else ""
    title = title_of(name) if entry else book[name].title
    words = {
        "NAME": name,
        "SLUG": name[3:],
        "TOPIC": topic,
        "TITLE": title,
        "NUMBER": str(int(name[:2])),
        "BUILDS_ON": "nothing" if entry else links_to_earlier(book, name),
    }
    notebook = root / f"chapters/{name}.ipynb"
    files = {
        f"lib/primer/{topic}/__init__.py": texts.PACKAGE,
        f"lib/primer/{topic}/averages.py": texts.MODULE,
        f"lib/primer/exercises/{topic}.py": texts.EXERCISES,
        f"tests/library/answers/{topic}.py": texts.ANSWERS,
        f"tests/library/test_{topic}.py": texts.TESTS,
        f"chapters/appendix/library/{topic}.md": texts.LIBRARY_PAGE,
    }
    made = [notebook]
    for file, text in files.items():
        if not (root / file).exists():
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_text(filled(text, words), encoding="utf-8")
            made.append(root / file)
    cards = json.loads(filled(texts.CARDS, words))
    write_notebook(notebook, filled(texts.CHAPTER, words), cards)
    if entry:
        with (root / REGISTRY).open("a", encoding="utf-8") as registry:
            registry.write(entry)
        made.append(root / REGISTRY)
    return made


def check_name(root: Path, book: Book, name: str) -> None:
    """Raise a ``ValueError`` unless a chapter of this name can be begun."""
    if not NAME.fullmatch(name):
        raise ValueError(
            f"{name!r} is no name of a chapter: give two digits and lower-case words with hyphens, "
            "like NAME=05-language-models"
        )
    place = root / f"chapters/{name}.ipynb"
    if place.exists():
        raise ValueError(f"{name!r} is taken: {place.relative_to(root)} exists; go on with it")
    if name not in book.names and int(name[:2]) != len(book.chapters) + 1:
        free = ", ".join(one.name for one in book.chapters if not one.written) or "none"
        raise ValueError(
            f"{name!r} is neither a chapter of {REGISTRY} nor the next one, "
            f"{len(book.chapters) + 1:02d}-…; to come are {free}"
        )


def title_of(name: str) -> str:
    """Make a title of a name.

    Examples
    --------
    >>> title_of("17-state-spaces")
    'State spaces'
    """
    return name[3:].replace("-", " ").capitalize()


def new_entry(book: Book, name: str) -> str:
    """Write the entry of a chapter that the registry does not have, in its last part."""
    column = max(chapter.wide[0] for chapter in book.chapters)
    row = max(chapter.wide[1] for chapter in book.chapters if chapter.wide[0] == column)
    places = {
        "NAME": name,
        "TITLE": title_of(name),
        "TOPIC": topic_of(name),
        "PART": list(book.parts)[-1],
        "COLUMN": f"{column:g}",
        "ROW": f"{row + 1:g}",
        "LAST": f"{max(chapter.tall[1] for chapter in book.chapters) + 1:g}",
    }
    return filled(texts.ENTRY, places)


def links_to_earlier(book: Book, name: str) -> str:
    """Name what a chapter builds on, with links where that is written."""
    earlier = [book[one] for one in book[name].builds_on]
    names = [f"[{one.title}]({one.name}.ipynb)" if one.written else one.title for one in earlier]
    return " and ".join(names) or "nothing"


def filled(text: str, words: dict[str, str]) -> str:
    r"""Put words into a template; its imports from ``primer`` are sorted by what they are now.

    Examples
    --------
    >>> print(filled("from primer.TOPIC import a\nfrom primer.b import c", {"TOPIC": "z"}))
    from primer.b import c
    from primer.z import a
    """
    for word, value in words.items():
        text = re.sub(rf"\b{word}\b", value, text)
    blocks = itertools.groupby(text.split("\n"), lambda line: line.startswith("from primer"))
    return "\n".join(line for ours, block in blocks for line in (sorted(block) if ours else block))


def write_notebook(path: Path, text: str, cards: dict[str, list[dict[str, str]]]) -> None:
    """Make a notebook of cells that begin with ``%%% kind id tag``, and run it.

    ``cards`` holds what cells have in their metadata about flash cards, by their ids.
    """
    cells = []
    for part in text.split("\n%%% ")[1:]:
        header, _, source = part.partition("\n")
        kind, cell_id, *tags = header.split()
        make = nbformat.v4.new_code_cell if kind == "code" else nbformat.v4.new_markdown_cell
        metadata: dict[str, Any] = {"tags": tags} if tags else {}
        if cell_id in cards:
            metadata["cards"] = cards[cell_id]
        cells.append(make(source.strip("\n"), id=cell_id, metadata=metadata))
    notebook = nbformat.v4.new_notebook(cells=cells)
    number(normalize(notebook), path)
    execute(notebook, path.parent)
    nbformat.write(normalize(notebook), path)


def main() -> int:
    """Make the chapter of the command line, name it in the README, and say what is left to do."""
    if len(sys.argv) != 2:
        print("Name the chapter: make chapter NAME=05-language-models", file=sys.stderr)
        return 1
    try:
        made = make_chapter(Path(), sys.argv[1])
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    print(*made, sep="\n")
    print("The chapter is to come until chapters/book.toml says `written = true`.")
    return contents()


if __name__ == "__main__":
    sys.exit(main())
