"""Name words by a probe: on the trained model, its embeddings, an untrained one, or by a list.

Every word of a stage direction is a name's or not.  From so many labeled words of the training
plays a logistic regression learns to tell by a model's vectors, with the penalty that does best on
what is left out; a word list takes for a name what it has not seen outside of one.  Both are judged
on directions of the held-out plays.  ``python -m studies pretraining.probes`` measures what is
missing, all of it within a minute on one core.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.preprocessing import StandardScaler

from primer.attention import Only
from primer.datasets import VALIDATION_PLAYS, plays_in_markdown
from primer.language_models import BytePairEncoding
from primer.pretraining import Direction, f1, stage_directions
from primer.transformers import Transformer, load_pretrained
from studies.study import Setting, Study

SIZES = (50, 100, 200, 800)
"""Labeled words."""
DRAWS = range(8)
LEARN, JUDGE = 300, 200
"""Directions to draw labeled words from, and to judge on."""
SHORTEST, LONGEST = 3, 14
"""Words of a direction."""
PENALTIES = (0.01, 0.1, 1)
"""C of the logistic regression."""
LIST = "word list"
EDITION = "plays-2"


class Run(NamedTuple):
    """How well names are found.

    Attributes
    ----------
    features : str
        What is known of a word; "word list" looks at the word alone.
    labels : int
        Labeled words.
    seed : int
        Of their draw.
    f1 : float
        On directions of the held-out plays.
    """

    features: str
    labels: int
    seed: int
    f1: Annotated[float, ".4f"]


class Words(NamedTuple):
    """Words of directions one after the other, and which are part of a name."""

    words: list[str]
    names: Bool[np.ndarray, " words"]


def flat(found: Sequence[Direction]) -> Words:
    """Lay the words of directions one after the other.

    Examples
    --------
    >>> flat([Direction(["enter", "hamlet"], [False, True]), Direction(["exit"], [False])]).words
    ['enter', 'hamlet', 'exit']
    """
    words = [word for direction in found for word in direction.words]
    return Words(words, np.array([name for direction in found for name in direction.names]))


def vectors(
    model: Transformer, found: Sequence[Direction]
) -> tuple[Float[np.ndarray, "words d"], Float[np.ndarray, "words d"]]:
    """Compute the words' vectors, each beside those of its neighbors: embeddings, and last layer.

    A word's embedding is the mean of its tokens', its vector of the last layer that of its last
    token, which has read the others.  Where there is no neighbor stand zeros.
    """
    encode, texts, spans = tokenizer().encode, [], []
    for direction in found:
        ids, places = list[int](), []
        for number, word in enumerate(direction.words):
            piece = encode((" " if number else "") + word)
            places.append((len(ids), len(ids) + len(piece)))
            ids += piece
        texts.append(ids)
        spans.append(places)
    longest = max(map(len, texts))
    batch = torch.tensor([ids + [0] * (longest - len(ids)) for ids in texts])
    seen, last = dict[str, torch.Tensor](), f"blocks.{model.config.n_layers - 1}.after"
    with torch.no_grad():  # what is padded stands behind, unseen
        model(batch, n_last=1, observe=Only(["embedding", last], seen.__setitem__))
    kinds = []
    for name in ("embedding", last):
        rows = []
        for x, places in zip(seen[name], spans, strict=True):
            own = torch.stack([x[b - 1] if name == last else x[a:b].mean(0) for a, b in places])
            none = torch.zeros(1, own.shape[1])
            sides = torch.cat([none, own[:-1]]), own, torch.cat([own[1:], none])
            rows.append(torch.cat(sides, dim=1))
        kinds.append(torch.cat(rows).numpy())
    return kinds[0], kinds[1]


@cache
def tokenizer() -> BytePairEncoding:
    """Load the edition's encoding once: a tagger asks for vectors direction by direction."""
    return load_pretrained(EDITION)[1]


class Material(NamedTuple):
    """Labeled words, words to judge, and what is known of either, standardized."""

    learn: Words
    judge: Words
    features: dict[str, tuple[Float[np.ndarray, "words d"], Float[np.ndarray, "words d"]]]


@cache
def directions() -> tuple[list[Direction], list[Direction]]:
    """Draw directions to learn from, and others to judge on."""
    markdown = plays_in_markdown()
    random = np.random.default_rng(0)

    def drawn(titles: Sequence[str], n: int) -> list[Direction]:
        found = [d for title in titles for d in stage_directions(markdown[title])]
        found = [d for d in found if SHORTEST <= len(d.words) <= LONGEST]
        return [found[i] for i in random.permutation(len(found))[:n]]

    learn = drawn([title for title in markdown if title not in VALIDATION_PLAYS], LEARN)
    return learn, drawn(VALIDATION_PLAYS, JUDGE)


def random_weights() -> Transformer:
    """Make a model of the same form that has learned nothing."""
    model, _ = load_pretrained(EDITION)
    torch.manual_seed(0)
    return Transformer(model.config).eval()


@cache
def material() -> Material:
    """Compute the vectors of the directions' words."""
    learn, judge = directions()
    model, _ = load_pretrained(EDITION)
    features = {}
    for name, which in (("trained", model), ("untrained", random_weights())):
        parts = [vectors(which, found) for found in (learn, judge)]
        features[name] = tuple(np.hstack(part) for part in parts)
        if name == "trained":
            features["embeddings"] = tuple(part[0] for part in parts)
    standardized = {}
    for name in ("trained", "embeddings", "untrained"):
        learned, judged = features[name]
        scale = StandardScaler().fit(learned)  # on all words: it takes no label
        standardized[name] = scale.transform(learned), scale.transform(judged)
    return Material(flat(learn), flat(judge), standardized)


def train(features: str, labels: int, seed: int) -> Iterator[Run]:
    """Draw labeled words, learn from them and be judged."""
    learn, judge, known = material()
    chosen = np.random.default_rng(seed).permutation(len(learn.names))[:labels]
    if features == LIST:
        ordinary = {learn.words[i] for i in chosen if not learn.names[i]}
        said = np.array([int(word not in ordinary) for word in judge.words])
    else:
        learned, judged = known[features]
        x, names = learned[chosen], learn.names[chosen] * 1

        def left_out(C: float) -> float:
            return f1(names, cross_val_predict(LogisticRegression(C=C), x, names, cv=3))

        C = max(PENALTIES, key=left_out)
        said = LogisticRegression(C=C).fit(x, names).predict(judged)
    yield Run(features, labels, seed, f1(judge.names * 1, said))


def settings(_: Sequence[Run]) -> list[Setting]:
    """Want everything that is known of a word at every number of labels, in every draw."""
    kinds = ("trained", "embeddings", "untrained", LIST)
    return [(kind, labels, seed) for kind in kinds for labels in SIZES for seed in DRAWS]


def report(runs: Sequence[Run]) -> Iterator[str]:
    """Say the mean over draws, and their spread."""
    for kind, labels in dict.fromkeys((run.features, run.labels) for run in runs):
        same = [run.f1 for run in runs if (run.features, run.labels) == (kind, labels)]
        yield f"{kind}, {labels} labels: F1 {np.mean(same):.3f} ± {np.std(same):.3f}"


study = Study(Path(__file__).with_suffix(".csv"), Run, train, settings, report)
