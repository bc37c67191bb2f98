"""Sphinx extension: a search that finds sections, from disk as well as over http.

Sphinx looks for words in whole pages, and shows where they stand only over http.  Here each section
of a page, each term of the glossary and each function of the library is a document of its own, with
its heading, its prose (no code, no output; formulas as plain text) and, for a section, the terms
that the glossary says it defines.  When the site is built they are written as one script,
:file:`_static/search-documents.js`; a script it is because a page opened from disk may load nothing
else; with them go the words of :file:`search_words.toml`, for which the book has others.
:file:`search.js` asks for it, and for `MiniSearch <https://lucaong.github.io/minisearch>`_,
which ranks, when a reader begins to search.

`Pagefind <https://pagefind.app>`_ was looked at first: its index is cut in pieces that a browser
fetches, which it may not from disk.
"""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError

from press.pages.formulas import plain

WORDS = Path(__file__).with_name("search_words.toml")
LIBRARY = "chapters/appendix/library/"
UNSEARCHED = (
    "chapters/appendix/cards",
    "chapters/appendix/source-map",
    "chapters/appendix/topics",
    "chapters/appendix/errata",
    "chapters/appendix/changes",
    "chapters/errata/",
)
"""Pages whose rows and lines say what chapters say, in other words: their titles can be found."""

_LEFT_OUT = (
    nodes.title,
    nodes.literal_block,
    nodes.doctest_block,
    nodes.math_block,
    nodes.raw,
    nodes.comment,
    nodes.image,
    nodes.target,
    nodes.system_message,
    addnodes.desc,
    addnodes.glossary,
    addnodes.toctree,
)


OPEN, CLOSE = "\ue000", "\ue001"
"""Around a label that a sentence names, until it is known what it is called."""


@dataclass
class Document:
    """What a search can find: one section, term, page or function.

    Attributes
    ----------
    kind : {"section", "term", "page", "function"}
        Sections weigh more than terms and titles of pages, and functions stand last.
    page : str
        The page's name, without suffix.
    id : str
        The place on the page; empty for its beginning.
    heading : str
        The section's title, the term or the function's name.
    text : str
        The prose.
    within : str
        The title of the page.
    terms : list of str
        The terms that the glossary says are defined here.
    """

    kind: str
    page: str
    id: str
    heading: str
    text: str
    within: str
    terms: list[str] = field(default_factory=list)


@dataclass
class Found:
    """What one page gives.

    Attributes
    ----------
    documents : list of Document
        What can be found on it.
    sections : dict
        For each id on the page, that of the section around it.
    defined : dict
        For each term that it explains, the labels of the sections that define it.
    """

    documents: list[Document]
    sections: dict[str, str]
    defined: dict[str, list[str]]


def prose(node: nodes.Node) -> str:
    r"""Return the words of a node and all below it, without code, headings and displayed formulas.

    Examples
    --------
    >>> text = nodes.paragraph("", "the mean of ", nodes.math("", "n"), nodes.Text(" numbers: "))
    >>> text += nodes.math("", "\\bar x")
    >>> prose(nodes.section("", nodes.title("", "Means"), text, nodes.literal_block("", "x = 1")))
    'the mean of n numbers: x̅'
    >>> exercise = addnodes.pending_xref("", nodes.Text("{number} A clock"), reftype="numref")
    >>> prose(nodes.paragraph("", "", exercise))  # its number is not known yet
    'A clock'
    >>> unnamed = addnodes.pending_xref("", nodes.Text("stat-mle"), reftarget="stat-mle")
    >>> prose(nodes.paragraph("", "up to ", unnamed)) == f"up to {OPEN}stat-mle{CLOSE}"
    True
    >>> term = addnodes.pending_xref("", nodes.Text("head"), reftype="term", reftarget="head")
    >>> prose(nodes.paragraph("", "silencing a ", term))  # it is called as it is written
    'silencing a head'
    """
    pieces: list[str] = []

    def collect(one: nodes.Node) -> None:
        if isinstance(one, _LEFT_OUT) or _is_section(one):
            return
        if isinstance(one, nodes.math):
            pieces.append(plain(one.astext()))
            return
        if isinstance(one, addnodes.pending_xref) and one.get("reftype") == "numref":
            pieces.append(one.astext().replace("{number}", "").strip())
            return
        if isinstance(one, addnodes.pending_xref) and _names_a_label(one):
            pieces.append(f"{OPEN}{one.astext()}{CLOSE}")  # its name is not known yet
            return
        if isinstance(one, nodes.Text):
            pieces.append(str(one))
        for child in one.children:
            collect(child)
        if not isinstance(one, nodes.Text | nodes.Inline):
            pieces.append(" ")

    for child in node.children:
        collect(child)
    return re.sub("…(?: …)+", "…", " ".join("".join(pieces).split()))


def _names_a_label(link: addnodes.pending_xref) -> bool:
    """Whether a link has no words of its own; a term's and a function's are what it leads to."""
    own = link.get("reftype") == "term" or link.get("refdomain") == "py"
    return not own and link.astext() == link.get("reftarget")


def _is_section(node: nodes.Node) -> bool:
    """Whether a node is a section with a heading: exercises keep their text in one without."""
    return isinstance(node, nodes.section) and any(isinstance(one, nodes.title) for one in node)


def _heading(section: nodes.Element) -> str:
    return " ".join(next(one for one in section if isinstance(one, nodes.title)).astext().split())


def _sections(
    tree: nodes.document, page: str, title: str
) -> Iterable[tuple[Document, nodes.Element]]:
    """Give a document for each section of a page, its first for the page as a whole."""
    for number, section in enumerate(tree.findall(_is_section)):
        place = section["ids"][0] if number else ""
        text = prose(section)
        yield (
            Document("section", page, place, _heading(section), text, title if number else ""),
            section,
        )


def _terms(tree: nodes.document, page: str, title: str) -> Iterable[tuple[Document, list[str]]]:
    """Give a document for each term, and the labels of the sections that define it."""
    for glossary in tree.findall(addnodes.glossary):
        for item in glossary.findall(nodes.definition_list_item):
            text, _, _ = prose(item[-1]).partition(" →")
            labels = [one["reftarget"] for one in item.findall(addnodes.pending_xref)]
            for term in item.findall(nodes.term):
                yield Document("term", page, term["ids"][0], term.astext(), text, title), labels


def _functions(tree: nodes.document, page: str, title: str) -> Iterable[Document]:
    """Give a document for each function and class; what belongs to a class is found with it."""
    for description in tree.findall(addnodes.desc):
        if isinstance(description.parent, addnodes.desc_content):
            continue
        first = next(iter(description.findall(nodes.paragraph)), None)
        text = prose(first) if first is not None else ""
        for signature in description.findall(addnodes.desc_signature):
            if signature.parent is description and signature["ids"]:
                name = signature["ids"][0]
                yield Document("function", page, name, name.rpartition(".")[2], text, title)


def read_documents(tree: nodes.document, page: str) -> Found:
    """Return what a search can find on a page.

    Parameters
    ----------
    tree : nodes.document
        The page as it was read.
    page : str
        Its name.
    """
    first = next(iter(tree.findall(_is_section)), None)
    if first is None:
        return Found([], {}, {})
    title = _heading(first)
    if page.startswith(UNSEARCHED):
        return Found([Document("page", page, "", title, "", "")], {}, {})
    terms = list(_terms(tree, page, title))
    documents = [one for one, _ in terms]
    sections: dict[str, str] = {}
    if page.startswith(LIBRARY):
        documents += _functions(tree, page, title)
    else:
        for one, section in _sections(tree, page, title):  # inner ones come after outer ones
            documents.append(one)
            inside = section.findall(nodes.Element)
            sections |= {id: one.id for element in inside for id in element.get("ids", ())}
    return Found(documents, sections, {one.heading: labels for one, labels in terms})


def joined(pages: dict[str, Found], labels: dict[str, tuple[str, str]]) -> list[Document]:
    """Return the documents of all pages, each section with the terms that it defines.

    Parameters
    ----------
    pages : dict
        What each page gives.
    labels : dict
        Where each label stands: page and id.
    """
    documents = [one for page in pages.values() for one in page.documents]
    places = {(one.page, one.id): one for one in documents}
    for found in pages.values():
        for term, targets in found.defined.items():
            # the first is where the glossary sends a reader first
            for label in [one for one in targets if one in labels][:1]:
                page, id = labels[label]
                section = places.get((page, pages[page].sections.get(id, "")))
                if section is not None:  # else the page is not searched
                    section.terms.append(term)
    return documents


def called(text: str, names: Mapping[str, str]) -> str:
    """Write what is named by its label as a reader sees it; what has no name is left out.

    Examples
    --------
    >>> called(f"as {OPEN}eq-t{CLOSE} says, and {OPEN}lost{CLOSE}.", {"eq-t": "the equation"})
    'as the equation says, and.'
    """
    named = re.sub(f"{OPEN}(.*?){CLOSE}", lambda found: names.get(found[1], ""), text)
    return re.sub(r"\s+(?=[.,;:!?)])", "", re.sub(r" {2,}", " ", named))


def names_of_labels(env: BuildEnvironment) -> dict[str, str]:
    """Name each page and label: a title, the number of an equation, a theorem."""
    names = {page: title.astext() for page, title in env.titles.items()}
    names |= {label: title for label, (_, _, title) in env.domaindata["std"]["labels"].items()}
    for label, (page, own) in env.domaindata["math"]["objects"].items():
        of_book = env.toc_fignumbers.get(page, {}).get("displaymath", {})
        parts = of_book.get(f"equation-{label}", (own,))
        names[label] = f"({'.'.join(map(str, parts))})"
    for label, exercise in getattr(env, "sphinx_exercise_registry", {}).items():
        names[label] = exercise["type"].capitalize()
    proofs = getattr(env, "proof_list", {})
    return names | {label: proof["realtype"].capitalize() for label, proof in proofs.items()}


def number(document: Document, numbers: dict[str, tuple[int, ...]]) -> None:
    """Put the number of a section before its heading, and that of its chapter before its page's.

    Examples
    --------
    >>> section = Document("section", "a", "fit", "Fitting", "", "Regression")
    >>> number(section, {"": (2,), "#fit": (2, 3)})
    >>> section.heading, section.within
    ('2.3 Fitting', '2 Regression')
    """
    own = numbers.get(f"#{document.id}" if document.id else "")
    chapter = numbers.get("")
    if own and document.kind == "section":
        document.heading = f"{'.'.join(map(str, own))} {document.heading}"
    if chapter and document.within:
        document.within = f"{'.'.join(map(str, chapter))} {document.within}"


def _collected(env: BuildEnvironment) -> dict[str, Found]:
    if not hasattr(env, "search_documents"):
        env.search_documents = {}  # type: ignore[attr-defined]
    return env.search_documents  # type: ignore[attr-defined]


def collect(app: Sphinx, tree: nodes.document) -> None:
    """Keep what a page gives, once it is read."""
    _collected(app.env)[app.env.docname] = read_documents(tree, app.env.docname)


def forget(app: Sphinx, env: BuildEnvironment, page: str) -> None:
    """Forget a page that is read anew, or is gone."""
    _collected(env).pop(page, None)


def merge(app: Sphinx, env: BuildEnvironment, pages: set[str], other: BuildEnvironment) -> None:
    """Take over what another process has read."""
    read = _collected(other)
    _collected(env).update({page: read[page] for page in pages if page in read})


def replace_search(app: Sphinx) -> None:
    """Let Sphinx make no index of its own; the page of the search is one of the site's."""
    if app.builder.format == "html":
        app.builder.search = False  # type: ignore[attr-defined]
        app.config.html_additional_pages["search"] = "search.html"


def write_documents(app: Sphinx, error: Exception | None) -> None:
    """Write the documents as a script, and copy what searches them."""
    if error is not None or app.builder.format != "html":
        return
    library = Path(app.srcdir) / "node_modules/minisearch/dist/umd/index.js"
    if not library.exists():
        raise ExtensionError(f"{library} is missing: run `make book`, or `npm ci` in its place")
    static = Path(app.outdir) / "_static"
    text = re.sub(r"\n//# sourceMappingURL=.*", "", library.read_text("utf-8"))
    (static / "minisearch.js").write_text(text, "utf-8")
    shutil.copyfile(library.parents[2] / "LICENSE.txt", static / "minisearch-license.txt")
    labels = app.env.domaindata["std"]["anonlabels"]
    pages = _collected(app.env)
    documents = joined({page: pages[page] for page in sorted(pages)}, labels)
    names = names_of_labels(app.env)
    for one in documents:
        number(one, app.env.toc_secnumbers.get(one.page, {}))
        one.text = called(one.text, names)
    script = "".join(
        f"window.{name} = {json.dumps(content, ensure_ascii=False, separators=(',', ':'))};\n"
        for name, content in {
            "searchDocuments": [asdict(one) for one in documents],
            "searchWords": tomllib.loads(WORDS.read_text("utf-8")),
        }.items()
    )
    (static / "search-documents.js").write_text(script, "utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Collect the documents while pages are read; write them when the site is built."""
    app.connect("builder-inited", replace_search)
    app.connect("doctree-read", collect)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    app.connect("build-finished", write_documents)
    app.add_css_file("search.css", priority=910)
    app.add_js_file("search.js", defer="defer")
    return {
        "version": "1",
        "env_version": 2,
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
