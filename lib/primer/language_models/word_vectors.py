"""Vectors for words: skip-gram, and the table of co-occurrences that it resembles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy import sparse
from scipy.sparse.linalg import svds
from scipy.special import logsumexp
from torch import Tensor
from torch.nn.functional import cross_entropy

from primer.inputs import Count, Dim, Positive, as_array, checked, count, room
from primer.inputs import tokens as token_ids


def _words(words: Sequence[Any] | np.ndarray) -> Int[np.ndarray, " n"]:
    """Return a text of at least two words as an array."""
    text = as_array("words", words)
    if text.ndim != 1 or text.dtype.kind not in "iu" or len(text) < 2 or text.min() < 0:
        raise ValueError(
            "words must be at least two whole numbers, 0 or more: number the vocabulary first"
        )
    if text.max() > np.iinfo(np.int64).max:
        raise ValueError("words must be below 2⁶³: number the vocabulary first")
    return text.astype(np.int64)


@checked
def skip_gram_pairs(words: Sequence[Any] | np.ndarray, window: int) -> Int[np.ndarray, "pairs 2"]:
    """Pair every word with each word at most ``window`` places before or after it.

    Parameters
    ----------
    words : sequence of int
        A text as numbers of words.
    window : int
        How far apart two words may stand.

    Returns
    -------
    int array of shape (pairs, 2)
        Center and context; each pair of places appears in both directions.

    Raises
    ------
    ValueError
        When there are fewer than two words or the window is below 1.

    References
    ----------
    Mikolov, Chen, Corrado and Dean (2013).

    Examples
    --------
    >>> skip_gram_pairs([7, 8, 9], window=1).tolist()
    [[7, 8], [8, 9], [8, 7], [9, 8]]
    """
    text = _words(words)
    room(4, words=len(text), window=min(count("window", window), len(text) - 1))
    forward = [
        np.stack([text[:-distance], text[distance:]], axis=1)
        for distance in range(1, min(count("window", window), len(text) - 1) + 1)
    ]
    pairs = np.concatenate(forward)
    return np.concatenate([pairs, pairs[:, ::-1]])


@checked
def skip_gram_loss(
    centers: Float[Tensor, "vocab dim"],
    contexts: Float[Tensor, "vocab dim"],
    pairs: Int[Tensor, "pairs 2"],
) -> Float[Tensor, ""]:
    r"""Compute how surprising the neighbors of words are to their vectors.

    .. math::
        \mathcal L = -\frac1N\sum_{(c, o)}\log p(o\mid c), \qquad
        p(o \mid c) = \frac{\exp(u_o v_c^\top)}{\sum_{w}\exp(u_w v_c^\top)}

    The sum below runs over the words :math:`w` that could stand *outside*; the center stays. Over
    pairs of one text it is the usual double sum over places and distances, but for a factor.

    Parameters
    ----------
    centers, contexts : Tensor of shape (vocab, dim)
        The two vectors of each word, :math:`v` and :math:`u`.
    pairs : int Tensor of shape (pairs, 2)
        Center and context.

    Returns
    -------
    Tensor
        The mean loss in nats.

    Raises
    ------
    ValueError
        When the tables differ in shape.

    References
    ----------
    Mikolov, Sutskever, Chen, Corrado and Dean (2013), equations 1 and 2.

    Examples
    --------
    >>> import torch
    >>> skip_gram_loss(torch.zeros(4, 2), torch.ones(4, 2), torch.tensor([[0, 1]])).exp()
    tensor(4.)
    """
    if centers.shape != contexts.shape:
        raise ValueError(
            f"both tables need one row for each word, got {tuple(centers.shape)} and "
            f"{tuple(contexts.shape)}"
        )
    if len(pairs) == 0:
        raise ValueError("there is no pair of words: give at least one")
    center, outside = token_ids("pairs", pairs, len(centers)).unbind(dim=1)
    return cross_entropy(centers[center] @ contexts.T, outside)


@checked
def positive_pmi(
    pairs: Int[np.ndarray, "pairs 2"], vocab_size: Dim, power: Positive = 1.0
) -> sparse.csr_array:
    r"""Tabulate how much more often words meet than they would by chance.

    .. math:: M_{co} = \max\Big(0, \log\frac{n_{co}\,\sum_o n_o^{\alpha}}{n_c\,n_o^{\alpha}}\Big)

    Parameters
    ----------
    pairs : int array of shape (pairs, 2)
        Center and context, from :func:`skip_gram_pairs`.
    vocab_size : int
        The number of words.
    power : float
        :math:`\alpha`: below 1 rare contexts count for more common than they are.

    Returns
    -------
    sparse array of shape (vocab_size, vocab_size)
        0 where two words never meet.

    Raises
    ------
    ValueError
        When a number is not a word of the vocabulary or the power is not above 0.

    References
    ----------
    Levy and Goldberg (2014); Levy, Goldberg and Dagan (2015).

    Examples
    --------
    >>> table = positive_pmi(np.array([[0, 1], [1, 0], [2, 2], [2, 2]]), vocab_size=3)
    >>> table.toarray().round(3).tolist()  # 0 and 1 meet four times as often as by chance
    [[0.0, 1.386, 0.0], [1.386, 0.0, 0.0], [0.0, 0.0, 0.693]]
    """
    alpha = power
    if len(pairs) == 0 or pairs.min() < 0 or pairs.max() >= vocab_size:
        raise ValueError(f"pairs must hold words 0 to {vocab_size - 1}, at least one pair")
    ones = np.ones(len(pairs))
    counts = sparse.coo_array(
        (ones, (pairs[:, 0], pairs[:, 1])), shape=(vocab_size, vocab_size)
    ).tocsr()
    counts.sum_duplicates()
    with np.errstate(divide="ignore"):  # words that never come have no place in the table
        center, outside = np.log(counts.sum(axis=1)), alpha * np.log(counts.sum(axis=0))
    table = counts.tocoo()
    row, column = table.coords
    table.data = np.log(table.data) + logsumexp(outside) - center[row] - outside[column]
    table.data = np.maximum(table.data, 0)
    return table.tocsr()


@checked
def spectral_vectors(table: sparse.csr_array, dim: Count) -> Float[np.ndarray, "vocab dim"]:
    r"""Compress a table of words to a short vector for each, by its largest singular values.

    .. math:: M \approx U_d\,\Sigma_d V_d^\top, \qquad \text{vectors} = U_d\,\Sigma_d^{1/2}

    Parameters
    ----------
    table : sparse array of shape (vocab, vocab)
        From :func:`positive_pmi`.
    dim : int
        The length of a vector, less than the number of words.

    Returns
    -------
    array of shape (vocab, dim)
        The direction of the largest singular value first.

    Raises
    ------
    ValueError
        When ``dim`` is not between 1 and one less than the number of words, or the table holds
        nothing but 0, NaN or infinity.

    References
    ----------
    Deerwester et al. (1990); Levy and Goldberg (2014) for the root.
    """
    if dim >= min(table.shape):
        raise ValueError(f"dim must be less than the {min(table.shape)} words, got {dim}")
    if not np.isfinite(table.data).all():
        raise ValueError("table must be finite: it holds NaN or infinity")
    if not table.data.any():
        raise ValueError("table holds nothing but 0: no two words meet, and no direction is theirs")
    largest = float(np.abs(table.data).max())
    unit = 1.0 if 1e-100 < largest < 1e100 else largest  # its squares are numbers
    start = np.random.default_rng(0).standard_normal(min(table.shape))  # the same every time
    left, values, _ = svds(table.astype(float) / unit, k=dim, v0=start)
    order = np.argsort(-values)
    return left[:, order] * (np.sqrt(values[order]) * math.sqrt(unit))


@checked
def nearest(vectors: Float[np.ndarray, "vocab dim"], word: int, n: Count) -> Int[np.ndarray, " n"]:
    """Find the words whose vectors point most nearly the same way.

    Parameters
    ----------
    vectors : array of shape (vocab, dim)
        One row for each word.
    word : int
        Whose neighbors.
    n : int
        How many, less than the number of words.

    Returns
    -------
    int array of shape (n,)
        The nearest first, without the word itself.

    Raises
    ------
    ValueError
        When there is no such word or there are not so many others.

    Examples
    --------
    >>> nearest(np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 0.1]]), word=0, n=1)
    array([2])
    """
    if not 0 <= word < len(vectors):
        raise ValueError(f"words are 0 to {len(vectors) - 1}, got {word}")
    if n >= len(vectors):
        raise ValueError(f"{len(vectors)} words have at most {len(vectors) - 1} others, got n={n}")
    if vectors.shape[1] == 0:
        raise ValueError("vectors must hold numbers, got rows of none")
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    scaled = vectors / np.where(
        largest > 0, largest, 1
    )  # whose squares neither over- nor underflow
    lengths = np.linalg.norm(scaled, axis=1)
    cosine = scaled @ scaled[word] / np.where(lengths > 0, lengths, 1)
    cosine[word] = -np.inf
    return np.argsort(-cosine, kind="stable")[:n]
