"""The next character from a model of tokens: what its predictions say, letter by letter."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

from primer.inputs import as_array, checked
from primer.language_models.byte_pairs import BytePairEncoding

Predict = Callable[[Sequence[int]], Float[np.ndarray, "places vocab"]]
"""From tokens to log-probabilities: row :math:`i` is what follows the first :math:`i` of them."""


@checked
def next_characters(predict: Predict, encoding: BytePairEncoding, text: str) -> dict[str, float]:
    r"""Compute which character follows a text, according to a model that predicts tokens.

    Inside a word nobody knows where the present token will end: after *th* the next token may be
    *e*, or the last one may turn out to have been *the*. So all ways are added up that a token
    :math:`t` reaches beyond the text :math:`x`, from any place :math:`j` in it:

    .. math:: P(c \mid x) \propto \sum_j P(\tau(x_{1:j}))
              \sum_{t \,:\, x_{j+1:}\,c \text{ begins } t} P(t \mid \tau(x_{1:j}))

    where :math:`\tau` encodes a text. Other spellings of :math:`x_{1:j}` than this one are left
    out: no training text had them.

    Parameters
    ----------
    predict : callable
        Takes n tokens, gives log-probabilities of shape (n + 1, vocab): after none of them, after
        the first, and so on.
    encoding : BytePairEncoding
        Its tokens.
    text : str
        What was read so far, an empty one at the beginning.

    Returns
    -------
    dict of str to float
        Probabilities that sum to 1. The end of the text has the name of its special token; a token
        that begins with a part of a character counts as U+FFFD.

    Raises
    ------
    ValueError
        When the text holds a lone surrogate, or the predictions have another shape than the
        vocabulary asks for.

    Examples
    --------
    >>> encoding = BytePairEncoding([(ord("t"), ord("h"))], special_tokens=())
    >>> even = lambda tokens: np.full((len(tokens) + 1, 257), -np.log(257))
    >>> p = next_characters(even, encoding, "t")  # t and any of 256 ASCII or other bytes, or th
    >>> round(p["h"] / p["e"])  # h follows as a byte, and 257 times likelier as a part of th
    258
    """
    texts = [token.decode("utf-8", errors="replace") for token in encoding.tokens]
    longest = max(map(len, texts))
    found: dict[str, float] = {}
    weights, parts = [], []
    for start in range(max(0, len(text) - longest + 1), len(text) + 1):
        tokens, rest = encoding.encode(text[:start]), text[start:]
        log_p = as_array("predictions", predict(tokens))
        if log_p.dtype.kind not in "iuf" or log_p.shape != (len(tokens) + 1, len(texts)):
            raise ValueError(
                f"predictions after {len(tokens)} tokens must be numbers of shape "
                f"{(len(tokens) + 1, len(texts))}, got shape {log_p.shape} of {log_p.dtype}"
            )
        if np.isnan(log_p).any() or (log_p > 1e-3).any():
            raise ValueError(
                f"predictions after {len(tokens)} tokens must be logarithms of probabilities, "
                f"got {log_p[np.isnan(log_p) | (log_p > 1e-3)][0]:g}"
            )
        weights.append(log_p[np.arange(len(tokens)), tokens].sum())
        parts.append((log_p[-1], rest))
    highest = max(weights)
    if highest == -np.inf:
        raise ValueError("the model finds every way to spell this text impossible")
    special = {number: name for name, number in encoding.special_tokens.items()}
    for weight, (log_p, rest) in zip(weights, parts, strict=True):
        for number, (token, logarithm) in enumerate(zip(texts, log_p, strict=True)):
            if number in special:
                if rest:
                    continue
                symbol = special[number]
            elif len(token) > len(rest) and token.startswith(rest):
                symbol = token[len(rest)]
            else:
                continue
            found[symbol] = found.get(symbol, 0.0) + float(np.exp(weight - highest + logarithm))
    total = sum(found.values())
    return {symbol: value / total for symbol, value in found.items()}
