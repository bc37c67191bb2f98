r"""A page of the book as plain Markdown, from the notebook or the text that it is made of.

What a page says stays: its prose, its formulas in TeX, the code that a reader would type and what
it printed, its figures in words.  What only the site can show (widgets, pop-ups, folds) becomes
words, too; the checks, which prove a section to whoever doubts, stay in the notebook.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from nbformat import NotebookNode

Named = Callable[[str, str], str]
"""Gives the words that a role shows for a label; empty where it knows none."""

SILENT = {"check"}
"""Tags of the cells that a twin leaves out."""

MADE_ON_THE_SITE = {
    "bibliography",
    "cards",
    "chapter-map",
    "cite-this-book",
    "errata",
    "gallery",
    "go-on",
    "include",
    "kept",
    "library-index",
    "plays",
    "readings",
    "scoreboard",
    "source-map",
    "speed",
    "topics",
}
"""Directives whose content is made of data when the site is built."""

_LABEL = re.compile(r"^\([\w-]+\)=\n", re.MULTILINE)
_FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_FENCE = re.compile(r"^(?P<mark>:{3,}|`{3,})\{(?P<name>[\w:-]+)\}[ ]*(?P<title>.*)$")
_OPTION = re.compile(r"^:([\w-]+):[ ]*(.*)$")
_ROLE = re.compile(r"\{(?P<role>[\w:-]+)\}`(?P<text>[^`]+)`")
_TARGETED = re.compile(r"(?P<words>.*?)\s*<(?P<target>[^>]+)>", re.DOTALL)
_ATTRIBUTES = re.compile(r"(?<=[)`])\{(?:\.|#)[^}]*\}")
_LINK = re.compile(r"(?<=\]\()(?P<page>[\w./-]*)\.(?:ipynb|md)(?P<place>#[\w.-]+)?(?=\))")
_TITLED = {
    "admonition": "{}",
    "dropdown": "{}",
    "exercise": "Exercise: {}",
    "solution": "Solution",
    "hint": "Hint",
    "note": "Note",
    "tip": "Tip",
    "warning": "Warning",
}


def without_roles(text: str, named: Named) -> str:
    """Write what roles show, in words.

    Parameters
    ----------
    text : str
        Markdown with roles of MyST.
    named : callable
        Gives the words of a role for a label.

    Examples
    --------
    >>> named = lambda role, label: label.upper()
    >>> without_roles("see {ref}`positions-rope`, or {ref}`this <x>` in {doc}`a <b>`", named)
    'see POSITIONS-ROPE, or this in a'
    """

    def shown(role: re.Match[str]) -> str:
        content = role["text"]
        if role["role"] == "math":
            return f"${content}$"
        targeted = _TARGETED.fullmatch(content)
        if targeted is None:
            return named(role["role"], content) or content
        words, title = targeted["words"], named(role["role"], targeted["target"])
        return words.replace("{number}", "").replace("{name}", title).strip() or title

    return _ROLE.sub(shown, text)


def _opened(name: str, title: str, options: dict[str, str]) -> str:
    """Return what stands in place of the first line of a directive."""
    if name in ("image", "figure"):
        return f"![{options.get('alt', '')}]({title})"
    if name.startswith("prf:"):
        kind = name.removeprefix("prf:").capitalize()
        return f"**{kind}{f' ({title})' if title else ''}.**"
    if name in MADE_ON_THE_SITE:
        return f"*(Here the site has: {name.replace('-', ' ')}.)*"
    words = _TITLED.get(name, "").format(title)
    return f"**{words}**" if words else ""


def without_directives(text: str) -> str:
    r"""Write what directives hold, each below its title in bold.

    Parameters
    ----------
    text : str
        Markdown with directives of MyST.  What a directive makes of data (a table, a map) is not
        in the text: a line says that the site has it.

    Examples
    --------
    >>> print(without_directives(":::{admonition} Guess\n:class: guess\nTwo?\n:::\nYes."))
    **Guess**
    <BLANKLINE>
    Two?
    Yes.
    """
    return "\n".join(_lines(text.split("\n")))


def _lines(lines: list[str]) -> Iterator[str]:
    """Give the lines of a text without its directives."""
    open_marks: list[tuple[str, str]] = []  # of each directive that is open: its mark, what ends it
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        fence = _FENCE.match(line)
        if open_marks and line.strip() == open_marks[-1][0]:
            _, end = open_marks.pop()
            if end:
                yield end
        elif fence:
            options: dict[str, str] = {}
            while number < len(lines) and (option := _OPTION.match(lines[number])):
                options[option[1]] = option[2]
                number += 1
            name = fence["name"]
            words = _opened(name, fence["title"], options)
            if words:
                yield words
                yield ""
            body = {"math": "$$", "code-block": "```", "code": "```"}.get(name, "")
            if body:
                yield f"```{fence['title']}" if body == "```" else body
            open_marks.append((fence["mark"], body))
        else:
            yield line


def prose(text: str, named: Named) -> str:
    r"""Write a text cell of the book, or a page of it, as plain Markdown.

    Examples
    --------
    >>> prose("(a-b)=\n## B\nSee [it](16-fourier.ipynb#fourier-leakage).", lambda *label: "")
    '## B\nSee [it](16-fourier.md#fourier-leakage).'
    """
    text = without_directives(_LABEL.sub("", _FRONT.sub("", text)))
    text = without_roles(text, named)
    text = _ATTRIBUTES.sub("", text)
    text = _LINK.sub(lambda link: f"{link['page']}.md{link['place'] or ''}", text)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def fenced(text: str, language: str) -> str:
    """Put a text between fences that it does not hold itself.

    Examples
    --------
    >>> print(fenced("x = 1", "python"))
    ```python
    x = 1
    ```
    """
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    mark = "`" * (longest + 1)
    return f"{mark}{language}\n{text.rstrip()}\n{mark}"


def results(outputs: Iterable[NotebookNode]) -> Iterator[str]:
    """Give what a cell printed, what its figures show, and the sources that it quotes."""
    for output in outputs:
        if output.output_type == "stream":
            if output.text.strip():
                yield fenced(output.text, "text")
            continue
        alts = [value.get("alt") for value in output.get("metadata", {}).values()]
        plain = output.get("data", {}).get("text/plain", "")
        if alt := next((one for one in alts if one), ""):
            yield f"*Figure:* {alt}"
        elif output.output_type == "execute_result" and plain:
            yield fenced(plain, "text")
        elif "text/html" in output.get("data", {}) and plain:
            yield fenced(plain, "python")


def twin(page: NotebookNode, executed: Mapping[str, Sequence[NotebookNode]], named: Named) -> str:
    """Write a notebook as plain Markdown.

    Parameters
    ----------
    page : NotebookNode
        The notebook.
    executed : mapping of str to sequence
        The outputs of its cells, by their ids.
    named : callable
        Gives the words of a role for a label.
    """
    parts: list[str] = []
    for cell in page.cells:
        tags = set(cell.metadata.get("tags", []))
        if cell.cell_type == "markdown":
            parts.append(prose(cell.source, named))
        elif cell.cell_type == "code" and not SILENT & tags:
            if "figure" not in tags:  # what its code draws is said in words
                parts.append(fenced(cell.source, "python"))
            parts.extend(results(executed.get(cell.id, ())))
    return "\n\n".join(part for part in parts if part) + "\n"
