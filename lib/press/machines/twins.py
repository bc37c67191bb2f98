"""Sphinx extension: beside each page its twin in Markdown, and ``llms.txt``, which lists them.

A program that answers questions about the book reads :file:`chapters/08-positions.md` in place of
the page's HTML: the same words, formulas in TeX, code and what it printed.  The page names its twin
in its head.  The list says in a line what each page is about, as https://llmstxt.org describes it,
and names the tutor's instructions (:mod:`press.machines.tutor`).

Pages of the library have none: their text is that of the library's docstrings, which a program
reads in the source.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from press.execution.cache import CACHE, code_of, read, result_file
from press.machines.markdown import prose, twin
from press.machines.tutor import TUTOR, instructions
from press.notebook import read_notebook
from press.pages.appendix import counts
from press.registry import Book, read_book

LIST = "llms.txt"
"""The list of pages, in the root of the site."""
LIBRARY = "chapters/appendix/library/"


def has_twin(page: str) -> bool:
    """Say whether a page of the book has a twin."""
    return not page.startswith(LIBRARY)


def words_for(env: BuildEnvironment) -> Callable[[str, str], str]:
    """Return what gives the words of a role: a section's title, a term, a number of the book."""
    standard = env.get_domain("std")
    exercises: dict[str, Any] = getattr(env, "sphinx_exercise_registry", {})
    number = functools.cache(lambda: counts(Path(env.srcdir)))

    def words(role: str, label: str) -> str:
        if role == "count":
            return f"{number()[label]:,}"
        if role == "eq":
            return f"({label})"
        if role == "numref" and label in exercises:
            return f"exercise “{exercises[label].get('title', '')}”"
        known = standard.data["labels"].get(label)  # page, place, title
        return known[2] if known else ""

    return words


def twin_of(env: BuildEnvironment, page: str) -> str:
    """Write the twin of a page from its source and the stored outputs of its cells."""
    source = Path(env.doc2path(page))
    words = words_for(env)
    text = source.read_text("utf-8")
    if source.suffix != ".ipynb" and "{code-cell}" not in text:
        return prose(text, words) + "\n"
    notebook = read_notebook(source) if source.suffix == ".ipynb" else read(source)
    result = result_file(Path(env.srcdir) / CACHE, code_of(read(source)))
    executed = read_notebook(result) if result.exists() else notebook
    cells = [cell for cell in executed.cells if cell.cell_type == "code"]
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    # a result of Markdown has ids of its own: its cells of code are the same, in the same order
    outputs = {cell.id: done.outputs for cell, done in zip(code, cells, strict=True)}
    return twin(notebook, outputs, words)


def write_twin(
    app: Sphinx, page: str, template: str, context: dict[str, Any], tree: nodes.document | None
) -> None:
    """Write a page's twin beside it, and name it in the page's head."""
    if tree is None or not has_twin(page):
        return
    file = Path(app.outdir) / f"{page}.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(twin_of(app.env, page), "utf-8")
    name = escape(file.name)
    link = f'<link rel="alternate" type="text/markdown" href="{name}" title="Markdown">'
    context["metatags"] = f"{context.get('metatags') or ''}\n    {link}"


def entries(book: Book, about: dict[str, str], titles: dict[str, str]) -> Iterator[str]:
    """Give the lines of the list: the chapters by parts, then what stands before and behind.

    Parameters
    ----------
    book : Book
        The registry.
    about : dict of str to str
        What a page is about, by its name, where that is known.
    titles : dict of str to str
        The title of each page.
    """

    def line(page: str) -> str:
        words = f": {about[page]}" if page in about else ""
        return f"- [{titles[page]}]({page}.md){words}"

    for part in book.parts:
        if chapters := [one for one in book.written if one.part == part]:
            yield f"\n## {part}\n"
            yield from (line(chapter.page) for chapter in chapters)
    yield "\n## Before and beside the chapters\n"
    yield from (line(page) for page in ("index", *(f"chapters/{name}" for name in book.beside)))
    pages = [f"chapters/appendix/{page}" for group in book.appendix.values() for page in group]
    yield from (line(page) for page in pages if page in titles)
    yield f"- [Instructions for a tutor]({TUTOR}): help without answers; the common mistakes"
    yield "\n## Optional\n"
    yield from (line(page) for page in sorted(titles) if page.startswith("chapters/errata/"))


def write_list(app: Sphinx, error: Exception | None) -> None:
    """Write the list and the tutor's instructions when all titles are known."""
    if error or app.builder.format != "html":
        return
    root, site = Path(app.srcdir), Path(app.outdir)
    book = read_book(root)
    titles = {page: title.astext() for page, title in app.env.titles.items() if has_twin(page)}
    about = {chapter.page: chapter.about for chapter in book.written}
    head = [
        f"# {app.config.html_title}",
        "",
        "> The mathematics of language models, from statistics to reinforcement learning from",
        "> human feedback: derivations, code that runs, and what it printed, compared with a fresh",
        "> run.",
        "",
        "Each page below is Markdown; its HTML has the same name with the ending .html. Answers to",
        "exercises stand in folds on the site: to a reader who is learning, give hints first.",
    ]
    text = "\n".join([*head, *entries(book, about, titles)]) + "\n"
    (site / LIST).write_text(text, "utf-8")
    (site / TUTOR).write_text(instructions(root, book), "utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Write a twin with its page, and the list at the end."""
    app.connect("html-page-context", write_twin)
    app.connect("build-finished", write_list)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
