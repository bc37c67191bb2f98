"""Another world to read: the docstrings of the NumPy that is installed."""

from __future__ import annotations

import inspect
import re
from typing import NamedTuple

import numpy as np
from jaxtyping import Int
from torch import Tensor

from primer.language_models import BytePairEncoding
from primer.train import token_stream

NAMESPACES = ("", "linalg", "fft", "random", "ma", "polynomial", "char", "lib.stride_tricks")
INSERTED = re.compile(r"(?<=\nlike : array_like, optional)(?:\n {8}.*)+")
ADDED = re.compile(r"\n    (Notes|Examples)\n    -+(?:\n {4}.*|\n)*\Z")
"""What NumPy puts into docstrings, and at their ends, where it is indented as in a source."""
TRUTH = """bool(x) -> bool

Returns True when the argument x is true, False otherwise.
The builtins True and False are the only two instances of the class bool.
The class bool is a subclass of the class int, and cannot be subclassed."""
"""What Python up to 3.12 says of a bool, such as little_endian; newer ones use other words."""
SHORTEST, SHINGLE, TOO_SIMILAR = 200, 40, 0.25


class Docstrings(NamedTuple):
    """Docstrings to learn from, to tune by, and to be judged by: name → text."""

    training: dict[str, str]
    tuning: dict[str, str]
    test: dict[str, str]


def numpy_docstrings() -> dict[str, str]:
    """Read the docstrings of NumPy's public names, each text once.

    Returns
    -------
    dict
        Name → text, in alphabetical order; those under 200 characters are left out.

    Examples
    --------
    >>> numpy_docstrings()["linalg.qr"].splitlines()[0]
    'Compute the qr factorization of a matrix.'
    """
    found: dict[str, str] = {}
    for space in NAMESPACES:
        module = np
        for part in filter(None, space.split(".")):
            module = getattr(module, part)
        for name in sorted(dir(module)):
            thing = getattr(module, name)
            text = TRUTH if isinstance(thing, bool) else thing.__doc__
            if name.startswith("_") or inspect.ismodule(thing):
                continue
            if isinstance(text, str) and len(dedented(text)) >= SHORTEST:
                found[f"{space}.{name}".lstrip(".")] = dedented(text) + "\n"
    return dict(sorted(found.items()))


def dedented(text: str) -> str:
    r"""Take a docstring's common indentation away, alike on every Python.

    NumPy puts some docstrings together when it is imported.  From 3.13 on Python dedents what is
    written in a source before that, and what is inserted or added keeps four spaces too many.

    Examples
    --------
    >>> before = "One.\n\n    Two.\n\n    Notes\n    -----\n    Three."
    >>> since_3_13 = "One.\n\nTwo.\n\n    Notes\n    -----\n    Three."
    >>> dedented(before) == dedented(since_3_13)
    True
    """
    text = inspect.cleandoc(text)
    for later in (INSERTED, ADDED):
        text = later.sub(lambda found: found[0].replace("\n    ", "\n"), text)
    return text.rstrip("\n")


def split_docstrings() -> Docstrings:
    """Split the docstrings so that none that is judged by was nearly learned from.

    NumPy has many texts twice, under two names and with a word changed.  A text of which more than
    a quarter of all stretches of forty characters stands in an earlier one is left out; of the
    rest every eighth is for tuning and every eighth for the test.

    Returns
    -------
    Docstrings
        The same for one version of NumPy.

    Examples
    --------
    >>> parts = split_docstrings()
    >>> set(parts.training) & set(parts.test)
    set()
    """
    seen: set[str] = set()
    kept: list[tuple[str, str]] = []
    for name, text in numpy_docstrings().items():
        flat = " ".join(text.split())
        shingles = {flat[i : i + SHINGLE] for i in range(len(flat) - SHINGLE + 1)}
        if len(shingles & seen) <= TOO_SIMILAR * len(shingles):
            kept.append((name, text))
            seen |= shingles
    parts: tuple[dict[str, str], ...] = ({}, {}, {})
    for place, (name, text) in enumerate(kept):
        parts[{3: 1, 7: 2}.get(place % 8, 0)][name] = text
    return Docstrings(*parts)


class DocstringTokens(NamedTuple):
    """The three parts as rows of tokens."""

    training: Int[Tensor, " tokens"]
    tuning: Int[Tensor, " tokens"]
    test: Int[Tensor, " tokens"]


def docstring_tokens(tokenizer: BytePairEncoding) -> DocstringTokens:
    """Encode the three parts of :func:`split_docstrings` with the vocabulary of another text."""
    return DocstringTokens(*(token_stream(part, tokenizer) for part in split_docstrings()))
