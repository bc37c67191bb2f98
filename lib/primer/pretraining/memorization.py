r"""What a model knows by heart, and what a test is worth whose answers it has read."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import torch
from jaxtyping import Bool, Int
from numpy.typing import ArrayLike
from torch import Tensor

from primer.inputs import Count, Like, as_array, checked, count
from primer.inputs import tokens as token_ids
from primer.transformers import Transformer


@checked
@torch.no_grad()
def right_guesses(
    model: Transformer, rows: Int[Tensor, "windows length"]
) -> Bool[Tensor, "windows places"]:
    r"""Say at each place of a text whether the model's first choice is the token that follows.

    A greedy continuation of a prompt repeats the text for :math:`k` tokens exactly when the first
    choice is right at :math:`k` places in a row: as long as all were right, what the model has
    written is the text. One forward pass answers for all prompts.

    Parameters
    ----------
    model : Transformer
        A decoder.
    rows : Tensor of int of shape (windows, length)
        Texts, each no longer than its context and one token.

    Returns
    -------
    Tensor of bool of shape (windows, length − 1)
        For the tokens 1, 2, … of each text.

    Examples
    --------
    >>> from primer.transformers import TransformerConfig
    >>> model = Transformer(TransformerConfig(
    ...     vocab_size=9, n_layers=1, d_model=8, n_heads=1, context_length=5
    ... ))
    >>> right_guesses(model, torch.tensor([[1, 2, 3]])).shape
    torch.Size([1, 2])
    """
    guesses = [model(part[:, :-1]).argmax(dim=-1) for part in rows.split(16)]
    return torch.cat(guesses) == rows[:, 1:]


def truth_values(name: str, values: ArrayLike) -> Bool[np.ndarray, "*batch n"]:
    """Return truth values, which 0 and 1 are too."""
    flags = as_array(name, values)
    if flags.ndim == 0 or (flags.dtype != bool and not np.isin(flags, (0, 1)).all()):
        raise ValueError(f"{name} must hold True or False for each place, got {values!r}")
    return flags.astype(bool)


Flags = Annotated[Like, truth_values]
"""Truth values along the last axis."""


@checked
def run_lengths(right: Flags) -> Int[np.ndarray, "*batch n"]:
    """Count from each place how many in a row are right.

    Parameters
    ----------
    right : array_like of bool, shape (..., n)
        From :func:`right_guesses`.

    Returns
    -------
    int array, shape (..., n)
        0 where the place itself is wrong.

    Examples
    --------
    >>> run_lengths([True, True, False, True])
    array([2, 1, 0, 1])
    """
    flags = right
    runs = np.zeros(flags.shape, dtype=int)
    following = np.zeros(flags.shape[:-1], dtype=int)
    for place in reversed(range(flags.shape[-1])):
        following = np.where(flags[..., place], following + 1, 0)
        runs[..., place] = following
    return runs


@checked
def occurrences(text: ArrayLike, length: Count, vocab_size: Count) -> Int[np.ndarray, " starts"]:
    """Count for each stretch of a text how often it stands in the whole of it.

    Parameters
    ----------
    text : array_like of int, shape (n,)
        Tokens.
    length : int
        Tokens of a stretch, at most ``n``.
    vocab_size : int
        Ids are below it.

    Returns
    -------
    int array, shape (n − length + 1,)
        At least 1, for the stretch that begins at each place.

    Raises
    ------
    ValueError
        When the stretch is longer than the text.

    Examples
    --------
    >>> occurrences([1, 2, 1, 2, 3], 2, vocab_size=4)
    array([2, 1, 2, 1])
    """
    tokens = _text("text", text, vocab_size)
    if length > len(tokens):
        raise ValueError(f"stretches of {length} tokens do not fit into a text of {len(tokens)}")
    _, tokens = np.unique(tokens, return_inverse=True)  # no number is larger than the text is long
    names, named = tokens, 1
    while named < length:  # a stretch up to twice as long is named by its beginning and its end
        shift = min(named, length - named)
        _, names = np.unique(names[:-shift] * len(tokens) + names[shift:], return_inverse=True)
        named += shift
    _, which, times = np.unique(names, return_inverse=True, return_counts=True)
    return times[which]


@checked
def overlap(test: ArrayLike, training: ArrayLike, length: int) -> float:
    """Compute the share of a test's stretches that the training text holds.

    Parameters
    ----------
    test, training : array_like of int
        Tokens.
    length : int
        Tokens of a stretch; 13 words are customary.

    Returns
    -------
    float
        From 0 to 1.

    Raises
    ------
    ValueError
        When a text is shorter than a stretch.

    References
    ----------
    Brown et al. (2020), appendix C.

    Examples
    --------
    >>> overlap([1, 2, 3], [9, 1, 2, 9], length=2)
    0.5
    """
    stretches = []
    for name, text in (("test", test), ("training", training)):
        tokens = _text(name, text, 1 << 63).tolist()
        if len(tokens) < count("length", length):
            raise ValueError(f"the {name} text of {len(tokens)} tokens holds no {length} in a row")
        stretches.append([tuple(tokens[i : i + length]) for i in range(len(tokens) - length + 1)])
    known = set(stretches[1])
    return sum(stretch in known for stretch in stretches[0]) / len(stretches[0])


def _text(name: str, ids: ArrayLike, vocab_size: int) -> Int[np.ndarray, " n"]:
    """Return the tokens of one text."""
    tokens = np.asarray(token_ids(name, as_array(name, ids), vocab_size))
    if tokens.ndim != 1:
        raise ValueError(f"{name} must be one text, a row of tokens, got shape {tokens.shape}")
    return tokens
