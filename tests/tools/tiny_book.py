"""A book of one chapter, built with our own settings in a few seconds."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Collection
from functools import cache
from pathlib import Path

import nbformat
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from press.publish.citing import CITATION
from press.registry import REGISTRY

BOOK = Path(__file__).parents[2]
CHAPTER = "chapters/08-positions"


def chapter_of(cells: list[nbformat.NotebookNode]) -> nbformat.NotebookNode:
    """Make the notebook of a chapter."""
    chapter = new_notebook(cells=cells)
    chapter.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    chapter.metadata["language_info"] = {"name": "python", "pygments_lexer": "ipython3"}
    return chapter


def write_registry(folder: Path, written: Collection[str], more: str = "") -> None:
    """Write the registry of the book, with more entries, as if only these chapters were written."""
    lines = (BOOK / REGISTRY).read_text("utf-8").replace("written = true\n", "") + more
    lines = re.sub(r"^(opening|closing) = .*$", r"\1 = []", lines, flags=re.MULTILINE)
    for name in written:
        entry = f'name = "{name}"\n'
        assert entry in lines
        lines = lines.replace(entry, f"{entry}written = true\n")
    (folder / REGISTRY).parent.mkdir(exist_ok=True)
    (folder / REGISTRY).write_text(lines, encoding="utf-8")


def write_book(
    folder: Path,
    chapter: nbformat.NotebookNode,
    pages: dict[str, str] | None = None,
    *,
    repository: str = "",
    site: str = "",
) -> None:
    """Write a book of one chapter, and of further pages by name, that executes nothing."""
    config = yaml.safe_load((BOOK / "_config.yml").read_text("utf-8"))
    config["repository"]["url"] = repository
    config["html"]["baseurl"] = site
    config["execute"]["execute_notebooks"] = "off"
    extensions = config["sphinx"]["config"]["extensions"]
    extensions.remove("press.pages.appendix")  # it reads the data of the whole book
    config["sphinx"]["config"]["run_runtime"] = "no-pyodide"  # else it packs the whole library
    (folder / "_config.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    names = [CHAPTER, *(pages or {})]
    part = {"caption": "Part", "numbered": 2, "chapters": [{"file": name} for name in names]}
    toc = {"format": "jb-book", "root": "index", "parts": [part]}
    (folder / "_toc.yml").write_text(yaml.safe_dump(toc), encoding="utf-8")
    (folder / "index.md").write_text(
        "# A tiny book\n\nWords.\n\n```{go-on}\n```\n\n```{chapter-map}\n```\n"
    )
    write_registry(folder, [Path(CHAPTER).name])
    nbformat.write(chapter, folder / f"{CHAPTER}.ipynb")
    for name, text in (pages or {}).items():
        (folder / f"{name}.md").parent.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    shutil.copy(BOOK / "chapters/references.bib", folder / "chapters")
    shutil.copy(BOOK / CITATION, folder)
    (folder / "lib").mkdir(exist_ok=True)
    for shared in ("lib/press", "node_modules"):
        (folder / shared).symlink_to(BOOK / shared)


@cache
def builder(library: Path) -> subprocess.Popen[str]:
    """Start what builds books with a library; it ends when nobody can ask any more."""
    path = os.pathsep.join([str(library), str(BOOK / "tests/tools")])
    return subprocess.Popen(
        [sys.executable, BOOK / "tests/tools/builder.py"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": path},
    )


def build(folder: Path, library: Path = BOOK / "lib") -> subprocess.CompletedProcess[str]:
    """Build a book as `make book` does: a warning is an error."""
    process = builder(library)
    assert process.stdin is not None
    assert process.stdout is not None
    print(folder, file=process.stdin, flush=True)
    status, output, errors = json.loads(process.stdout.readline())
    return subprocess.CompletedProcess(folder, status, output, errors)


def build_book(
    folder: Path,
    chapter: nbformat.NotebookNode,
    pages: dict[str, str] | None = None,
    **addresses: str,
) -> Path:
    """Write and build a book that has no fault; return the folder of its site."""
    write_book(folder, chapter, pages, **addresses)
    done = build(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "_build/html"


NOTHING_KEPT = """for (const name of ["localStorage", "sessionStorage"]) {
  Object.defineProperty(window, name, {
    configurable: true,
    get() { throw new DOMException("The browser keeps nothing.", "SecurityError"); },
  });
}"""
"""A script that lets a page find no storage, as where all cookies are blocked."""

READING = r"""# Positions

The {term}`softmax` does not know places, and neither do {term}`keys <key>`
([Su et al., 2024](https://doi.org/10.1016/j.neucom.2023.127063)). Reading
takes two minutes.

(positions-order)=
## Without positions, order is lost

::::{admonition} Guess first
:class: guess
Attention without positions reads *the dog bit the man* and *the man bit the dog*. The output vector
of *dog* is …

:::{dropdown} different: in one sentence the dog bites, in the other it is bitten.
That is what *we* read. Where does the number of a row enter?
:::
:::{dropdown} the same in both sentences, $y_1 = y_4$.
Right. The same five words offer the same five keys and values.
:::
:::{dropdown} different, because the softmax is not linear.
The softmax sees the same five scores in both sentences, only in another order.
:::
::::

By equation {eq}`eq-positions-attention`, outputs move along with their tokens.

$$
\operatorname{softmax}\Big(\tfrac{QK^\top}{\sqrt{d_k}}\Big)V
$$ (eq-positions-attention)

:::{admonition} Common mistake
:class: mistake
"Attention is permutation-*invariant*." It is *equi*variant.
:::

::::{admonition} Guess first
:class: guess
One and one is …

:::{dropdown} three.
That is one more than there are.
:::
:::{dropdown} two.
Right. Count.
:::
:::{dropdown} one.
One of 1 + 1 was lost.
:::
::::

Elsewhere stands equation {eq}`eq-notation-energy`.

## Exercises

```{exercise} How many
:label: ex-positions-count
How many pairs do four queries and three keys make?
```
"""
READING_GLOSSARY = r"""(glossary)=
# Glossary

```{glossary}
attention
  A weighted mean of {term}`values <value>`.

key
  The vector by which a token is found. → {ref}`positions-order`

softmax
  $\exp z_i/\sum_j\exp z_j$: makes positive numbers with sum 1 out of any real numbers. It weighs
  {term}`values <value>`. → {ref}`positions-order`

value
  What a token contributes, see {eq}`eq-positions-attention`.
```
"""
READING_KEPT = """# What this browser keeps

```{kept}
```
"""
READING_NOTATION = """# Notation

$$ E = mc^2 $$ (eq-notation-energy)
"""


def reading_book(folder: Path) -> Path:
    """Build a book with guesses, page exercises, terms, citations and equations to refer to."""

    def stub(check: str, text: str = "") -> list[nbformat.NotebookNode]:
        source = f"from primer.exercises.sample import {check}\n\nanswer = ...\n{check}(answer)"
        cell = new_code_cell(source, id=check.replace("_", "-"), metadata={"tags": ["exercise"]})
        return [*([new_markdown_cell(text, id=f"{cell.id}-text")] if text else []), cell]

    cells = [
        new_markdown_cell(READING, id="text"),
        *stub("check_count"),
        new_code_cell("answer = 4 * 3", id="count-solution", metadata={"tags": ["solution"]}),
        *stub("check_order", "```{exercise} Which\nWhat becomes of it? (a) … (b) …\n```"),
        *stub("check_function", "```{exercise} A function\nWrite it.\n```"),
        new_markdown_cell(
            "## Further reading\n\n```{bibliography}\n:filter: docname in docnames\n```",
            id="reading",
        ),
    ]
    pages = {
        "chapters/appendix/glossary": READING_GLOSSARY,
        "chapters/appendix/kept": READING_KEPT,
        "chapters/appendix/notation": READING_NOTATION,
    }
    return build_book(folder, chapter_of(cells), pages)
