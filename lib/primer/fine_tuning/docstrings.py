"""Another world to read: the docstrings of the NumPy that is installed."""

from __future__ import annotations

import inspect
from typing import NamedTuple

import numpy as np
from jaxtyping import Int
from torch import Tensor

from primer.language_models import BytePairEncoding
from primer.train import token_stream

NAMESPACES = ("", "linalg", "fft", "random", "ma", "polynomial", "char", "lib.stride_tricks")
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
            text = None if name.startswith("_") or inspect.ismodule(thing) else thing.__doc__
            if isinstance(text, str) and len(inspect.cleandoc(text)) >= SHORTEST:
                found[f"{space}.{name}".lstrip(".")] = inspect.cleandoc(text) + "\n"
    return dict(sorted(found.items()))


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
