"""Compute what the models of the guessing game expect, letter by letter.

``python -m studies scoreboard.letters`` writes ``letters.json`` of :mod:`primer.scoreboard`, which
the widget *Shannon's game* reads.

Capitals are forgiven, to the reader and to the models: what a model gives to M and to m is added.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from primer.datasets import split_plays
from primer.language_models import (
    END,
    AddK,
    Alphabet,
    Counts,
    KneserNey,
    count_ngrams,
    next_characters,
)
from primer.language_models.counting import Codes
from primer.saving import write_whole
from primer.scoreboard.letters import FILE, ORDERS, TRANSFORMER, passages, symbols
from primer.transformers import load_pretrained

SHOWN = 5
DIGITS = 7

Expect = Callable[[str], Mapping[str, float]]
"""From a beginning of a text to the probabilities of what may follow."""


@functools.cache
def _training() -> tuple[Alphabet, list[Codes]]:
    """Write the 34 plays as numbers."""
    training = split_plays()[0].values()
    alphabet = Alphabet(training)
    return alphabet, [alphabet.encode(text) for text in training]


@functools.cache
def _counts(order: int) -> Counts:
    """Count their n-grams, of which models with and without smoothing are made."""
    alphabet, training = _training()
    return count_ngrams(training, alphabet.vocab_size, order)


@functools.cache
def counted(order: int, smoothing: bool) -> Expect:
    """Return the predictions of an n-gram model that read the 34 plays.

    Parameters
    ----------
    order : int
        Its order.
    smoothing : bool
        Kneser–Ney, or the counts alone.
    """
    alphabet, _ = _training()
    model = (KneserNey if smoothing else AddK)(_counts(order), alphabet.vocab_size, order)

    def expect(text: str) -> dict[str, float]:
        p = model.distribution(alphabet.encode(text))
        return dict(zip((END, *alphabet.characters), p.tolist(), strict=True))

    return expect


@functools.cache
def trained() -> Expect:
    """Return the predictions of the book's transformer, of characters."""
    model, encoding = load_pretrained("plays")

    @functools.lru_cache(maxsize=32)
    @torch.no_grad()
    def predict(tokens: tuple[int, ...]) -> Float[np.ndarray, "places vocab"]:
        read = torch.tensor([[encoding.special_tokens[END], *tokens]])
        return model(read)[0].double().log_softmax(-1).numpy()

    @functools.cache
    def expect(text: str) -> dict[str, float]:
        return next_characters(lambda tokens: predict(tuple(tokens)), encoding, text)

    return expect


def models() -> dict[str, Expect]:
    """Return the predictions of all models by their names; unsmoothed ones are marked so."""
    kinds = {"": True, " unsmoothed": False}
    tables = {
        name + kind: counted(order, smoothing)
        for kind, smoothing in kinds.items()
        for name, order in ORDERS.items()
    }
    return {**tables, TRANSFORMER: trained()}


def folded(expected: Mapping[str, float]) -> Float[np.ndarray, " symbols"]:
    """Add up what capitals and small letters get; the end of the play is no guess.

    Examples
    --------
    >>> p = folded({"M": 0.25, "m": 0.25, "e": 0.5})
    >>> p[symbols().index("m")].item()
    0.5
    """
    p = dict.fromkeys(symbols(), 0.0)
    for character, value in expected.items():
        if character.lower() in p:
            p[character.lower()] += value
    return np.array(list(p.values()))


def prediction(expect: Expect, before: str, character: str) -> dict[str, Any]:
    """Compute what the page keeps of one prediction.

    Parameters
    ----------
    expect : callable
        The model.
    before, character : str
        The text so far, and what comes.

    Returns
    -------
    dict
        ``order``: its guesses in their order, five or as many as it needs; ``shares``: the
        probabilities of the first five, in units of 10⁻⁷; ``bits``: the surprise, None if infinite.
    """
    p = folded(expect(before))
    ranking = np.argsort(-p, kind="stable")
    place = symbols().index(character.lower())
    needed = max(SHOWN, int(np.flatnonzero(ranking == place)[0]) + 1)
    return {
        "order": "".join(symbols()[i] for i in ranking[:needed]),
        "shares": [round(p[i] * 10**DIGITS) for i in ranking[:SHOWN]],
        "bits": round(float(-np.log2(p[place])), DIGITS) if p[place] > 0 else None,
    }


def game() -> dict[str, Any]:
    """Compute all that the page needs to know, some 3,600 predictions.

    Returns
    -------
    dict
        ``symbols``, and for each of ``passages`` its text and the columns of each model's
        predictions.
    """
    found = {}
    for name, (before, text) in passages().items():
        columns = {}
        for model, expect in models().items():
            rows = [prediction(expect, before + text[:i], text[i]) for i in range(len(text))]
            columns[model] = {key: [row[key] for row in rows] for key in rows[0]}
        found[name] = {"before": before[-8:], "text": text, "models": columns}
    return {"symbols": symbols(), "passages": found}


def main(_: list[str] | None = None) -> None:
    """Compute all predictions and write them."""
    text = json.dumps(game(), ensure_ascii=False, separators=(",", ":"))
    write_whole(FILE, f"{text}\n".encode())
