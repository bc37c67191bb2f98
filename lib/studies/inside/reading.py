"""Read the place in the line off the stream: at which depth, and off which models.

The target is the number of characters since the last line break, after the token that was read.  A
ridge regression reads it off the stream of windows of a third of the training plays, and is judged
on windows of the held-out plays.  ``python -m studies inside.reading`` measures what is missing,
all of it in two minutes of one core; :mod:`studies.inside.pushing` goes on with its probes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from primer.datasets import corpus_hash, split_plays
from primer.inside import Probe, fit_probe, record
from primer.transformers import Transformer, load_pretrained
from primer.transformers.checkpoint import pretrained_file
from studies.study import Setting, Study

LENGTH, FIT, TEST = 256, 200, 120
"""Tokens of a window; windows to fit by, and to judge on."""
PARTS = {"training": FIT, "held out": TEST}
SPLITS = (0, 1, 2)
LONGEST = 63
"""Characters; later places in a line are left out."""
PENALTY = 1e-3
"""Of the ridge, in units of the states' mean variance."""
PLACES = ("embedding", *(f"blocks.{block}.after" for block in range(4)))
SECOND = "plays-2"
EDITIONS = {"second edition": SECOND, "first edition": "plays-1"}
UNTRAINED, SHUFFLED, TOKEN = "untrained", "shuffled labels", "token"


class Run(NamedTuple):
    """How well the place in the line is read.

    Attributes
    ----------
    model : str
        Whose stream; with "shuffled labels" that of the second edition, read for counts in random
        order.
    seed : int
        Of the split: which third of the training plays, which of the held-out windows.
    place : str
        Where in the stream; "token" is the mean count of the token alone.
    material : str
        The edition, and the beginning of a hash of plays and weights.
    r_squared : float
        On the held-out windows.
    """

    model: str
    seed: int
    place: str
    material: str
    r_squared: Annotated[float, ".4f"]


@cache
def material(edition: str = SECOND) -> str:
    """Name the weights that a result belongs to, and hash them with the plays."""
    training, held_out = split_plays()
    digest = hashlib.sha256((corpus_hash(training) + corpus_hash(held_out)).encode())
    digest.update(pretrained_file(edition).read_bytes())
    return f"{edition}:{digest.hexdigest()[:12]}"


@cache
def windows(part: str, number: int, split: int = 0, length: int = LENGTH) -> Int[Tensor, "n seq"]:
    """Cut windows, each of one play, spread evenly over a third of the plays' tokens.

    Parameters
    ----------
    part : {"training", "held out"}
        Of the training plays every third is read; of the held-out ones every third window.
    number : int
        How many.
    split : int
        Which third.
    length : int
        Tokens of a window.

    Returns
    -------
    Tensor of shape (number, length)
        Tokens.
    """
    _, encoding = load_pretrained("plays")
    training, held_out = split_plays()
    texts = [*training.values()][split::3] if part == "training" else [*held_out.values()]
    cut = [torch.tensor(encoding.encode(text)).unfold(0, length, length) for text in texts]
    rows = torch.cat(cut)
    rows = rows if part == "training" else rows[split::3]
    return rows[torch.linspace(0, len(rows) - 1, number, dtype=torch.float64).long()]


@cache
def line_breaks() -> tuple[int, ...]:
    """List the tokens that break the line; no other token holds a break."""
    _, encoding = load_pretrained("plays")
    return tuple(t for t in range(encoding.vocab_size) if encoding.decode([t]) in ("\n", "\n\n"))


def characters_since(rows: Int[Tensor, "n seq"]) -> Int[Tensor, "n seq"]:
    r"""Count the characters since the last line break; −1 where it is not known, or too many.

    Examples
    --------
    >>> _, encoding = load_pretrained("plays")
    >>> characters_since(torch.tensor([encoding.encode("on\nTo be")]))[0, -3:].tolist()
    [0, 2, 5]
    """
    _, encoding = load_pretrained("plays")
    lengths = [len(encoding.decode([token])) for token in range(encoding.vocab_size)]
    found = torch.full(rows.shape, -1)
    for row, counts in zip(rows.tolist(), found, strict=True):
        count = None
        for place, token in enumerate(row):
            if token in line_breaks():
                count = 0
            elif count is not None:
                count += lengths[token]
            if count is not None and count <= LONGEST:
                counts[place] = count
    return found


def states_of(
    model: Transformer, rows: Int[Tensor, "n seq"]
) -> dict[str, Float[Tensor, "n seq d"]]:
    """Record the stream of windows, a few at a time."""
    parts = [record(model, some, PLACES) for some in rows.split(16)]
    return {place: torch.cat([part[place] for part in parts]) for place in PLACES}


def fitted(states: Float[Tensor, "n d"], counts: Int[Tensor, " n"]) -> Probe:
    """Fit a probe whose penalty is relative to the states' variance."""
    x = states.double().numpy()
    penalty = PENALTY * len(x) * float(x.var(axis=0).mean())
    return fit_probe(x, counts.double().numpy(), penalty)


def by_token(tokens: Int[Tensor, " n"], counts: Int[Tensor, " n"]) -> Float[np.ndarray, " vocab"]:
    """Compute the mean count of each token; the mean of all for one that was not seen."""
    vocab_size = load_pretrained("plays")[1].vocab_size
    n = np.bincount(tokens, minlength=vocab_size)
    sums = np.bincount(tokens, counts.double(), minlength=vocab_size)
    return np.where(n > 0, sums / np.maximum(n, 1), float(counts.double().mean()))


def model_of(name: str, seed: int) -> Transformer:
    """Load an edition, or make a model with its first weights."""
    model, _ = load_pretrained(EDITIONS.get(name, SECOND))
    if name == UNTRAINED:
        torch.manual_seed(seed)
        return Transformer(model.config).eval()
    return model


@lru_cache(maxsize=1)  # labels in random order are read off the same stream
def streams(edition: str, seed: int) -> dict[str, dict[str, Float[Tensor, "n d"]]]:
    """Record both parts of a split at the places where the count is known."""
    model, found = model_of(edition, seed), dict[str, dict[str, Tensor]]()
    for part, number in PARTS.items():
        rows = windows(part, number, seed)
        kept = characters_since(rows) >= 0
        states = states_of(model, rows)
        found[part] = {place: states[place][kept] for place in PLACES}
    return found


def train(name: str, seed: int) -> Iterator[Run]:
    """Read one model's stream on one split."""
    of, counts, tokens = material(EDITIONS.get(name, SECOND)), list[Tensor](), list[Tensor]()
    for part, number in PARTS.items():
        rows = windows(part, number, seed)
        found = characters_since(rows)
        counts.append(found[found >= 0])
        tokens.append(rows[found >= 0])
    if name == SHUFFLED:
        chance = torch.Generator().manual_seed(seed)
        counts = [some[torch.randperm(len(some), generator=chance)] for some in counts]
    fit, truth = counts[0], counts[1].double().numpy()
    if name == "second edition":
        guess = by_token(tokens[0], fit)[tokens[1]]
        yield Run(name, seed, TOKEN, of, 1 - float(((truth - guess) ** 2).mean() / truth.var()))
    states = streams("second edition" if name == SHUFFLED else name, seed)
    for place in PLACES:
        probe = fitted(states["training"][place], fit)
        seen = states["held out"][place].double().numpy()
        yield Run(name, seed, place, of, probe.r_squared(seen, truth))


def settings(_: Sequence[Run]) -> list[Setting]:
    """Want every model on every split."""
    names = ("second edition", SHUFFLED, "first edition", UNTRAINED)
    return [(name, seed) for seed in SPLITS for name in names]


def report(runs: Sequence[Run]) -> Iterator[str]:
    """Name what was read, split by split."""
    for name, place in dict.fromkeys((run.model, run.place) for run in runs):
        same = [run.r_squared for run in runs if (run.model, run.place) == (name, place)]
        yield f"{name}, {place}: R² {', '.join(f'{one:.4f}' for one in same)}"


study = Study(Path(__file__).with_suffix(".csv"), Run, train, settings, report)
