"""One memory, four ways to write: what each recalls of the pairs that were written into it."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Int
from matplotlib.figure import Figure

from primer.beyond_attention import (
    AdditiveMemory,
    DeltaMemory,
    Memory,
    RidgeMemory,
    SoftmaxMemory,
)
from primer.palette import LIGHT
from primer.widgets.base import Widget
from primer.widgets.controls import Number, Whole

WIDTH, KEYS, WRITES, CODES = 16, 48, 96, 32
COLORS = {"softmax": "muted", "ridge": "green", "addition": "blue", "delta": "orange"}


def drawn_pairs() -> dict[str, np.ndarray]:
    """Draw what the widget writes, once for all.

    Returns
    -------
    dict of str to array
        ``keys`` (random directions; the last one is what all keys can be given in common),
        ``codes`` (the values that there are, of length 1) and ``answers`` (which code each write
        stores).
    """
    random = np.random.default_rng(10)

    def directions(count: int) -> np.ndarray:
        rows = random.normal(size=(count, WIDTH))
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).round(4)

    return {
        "keys": directions(KEYS + 1),
        "codes": directions(CODES),
        "answers": random.integers(CODES, size=WRITES),
    }


PAIRS = drawn_pairs()


class FourMemories(Widget):
    r"""Pairs of key and value, written one after the other into four memories that are then asked.

    .. math:: k_i \propto \sqrt\rho\,c + \sqrt{1-\rho}\,u_i

    Write :math:`t` stores a new value under key :math:`t \bmod m`, so that more writes than keys
    are second thoughts.  Asked is for the newest value of every key; recalled is what lies nearest
    to the right one of 32 codes.

    Parameters
    ----------
    **state
        First values of the traits: ``writes`` (1 to 96), ``different`` (:math:`m`, 1 to 48 keys),
        ``similar`` (:math:`\rho`, 0 to 0.9: about the cosine of two keys), ``rate`` (:math:`\beta`
        of the delta rule), ``penalty`` (:math:`\lambda` of the ridge regression), ``sharpness``
        (of the softmax) and ``asked`` (the pair whose answer is shown, from 1, the one written
        longest ago).

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range or NaN.

    Examples
    --------
    >>> bool(FourMemories(writes=12, different=6).recalled()["addition"].sum() < 6)
    True
    """

    description = (
        "Four rows of squares, one for each memory, and a square for each key, from the one that "
        "was written longest ago to the newest; a filled square is a pair that is recalled. "
        "Softmax and ridge regression have all 24; what addition misses lies anywhere, what the "
        "delta rule misses lies mostly at the left. Below, for one key, the answer of each memory "
        "compared with all values there are."
    )

    constants: ClassVar[dict[str, Any]] = {
        **{name: part.tolist() for name, part in PAIRS.items()},
        "names": list(COLORS),
    }

    writes = Whole(24, low=1, high=WRITES, label="Pairs written")
    different = Whole(KEYS, low=1, high=KEYS, label="Different keys")
    similar = Number(0.0, low=0.0, high=0.9, step=0.01, label="Similarity of keys ρ")
    rate = Number(1.0, low=0.05, high=1.5, step=0.05, label="Delta: rate β")
    penalty = Number(
        0.01, low=0.001, high=100.0, step=0.1, scale="decades", form="short", digits=3,
        label="Ridge: penalty λ",
    )  # fmt: skip
    sharpness = Number(16.0, low=1.0, high=64.0, step=1, digits=0, label="Softmax: sharpness τ")
    asked = Whole(2, low=1, high=KEYS, label="Asked for pair")

    def keys_of_writes(self) -> Float[np.ndarray, "writes d"]:
        """Return the key of each write."""
        own, common = PAIRS["keys"][:-1], PAIRS["keys"][-1]
        mixed = np.sqrt(self.similar) * common + np.sqrt(1 - self.similar) * own
        mixed = mixed / np.linalg.norm(mixed, axis=1, keepdims=True)
        return mixed[np.arange(self.writes) % self.different]

    def kept_writes(self) -> Int[np.ndarray, " pairs"]:
        """Return the last write of each key, the oldest first."""
        return np.arange(max(0, self.writes - self.different), self.writes)

    def memories(self) -> dict[str, Memory]:
        """Return the four memories, after all pairs were written."""
        made: dict[str, Memory] = {
            "softmax": SoftmaxMemory(self.sharpness),
            "ridge": RidgeMemory(WIDTH, WIDTH, penalty=self.penalty),
            "addition": AdditiveMemory(WIDTH, WIDTH),
            "delta": DeltaMemory(WIDTH, WIDTH, rate=self.rate),
        }
        for key, answer in zip(self.keys_of_writes(), PAIRS["answers"], strict=False):
            for memory in made.values():
                memory.write(key, PAIRS["codes"][answer])
        return made

    def products(self) -> dict[str, Float[np.ndarray, "pairs codes"]]:
        """Compare each memory's answer to each key with every code."""
        keys = self.keys_of_writes()[self.kept_writes()]
        return {
            name: memory.read(keys) @ PAIRS["codes"].T for name, memory in self.memories().items()
        }

    def recalled(self) -> dict[str, np.ndarray]:
        """Say for each pair, the oldest first, whether each memory recalls it."""
        right = PAIRS["answers"][self.kept_writes()]
        return {name: found.argmax(axis=1) == right for name, found in self.products().items()}

    def picture(self) -> Figure:
        """Draw what is recalled, a row for each memory.

        Returns
        -------
        Figure
            One panel.
        """
        figure = Figure(figsize=(7.2, 2.4), layout="constrained")
        axes = figure.subplots()
        for row, (name, hits) in enumerate(self.recalled().items()):
            places = np.arange(len(hits))
            color = LIGHT[COLORS[name]]
            axes.plot(places[hits], np.full(hits.sum(), -row), "s", color=color, markersize=7)
            missed = places[~hits]
            axes.plot(missed, np.full(len(missed), -row), "s", mfc="none", mec=color, markersize=7)
        said = [f"{name}, {hits.mean():.0%}" for name, hits in self.recalled().items()]
        axes.set_yticks(-np.arange(len(said)), said)
        axes.set_ylim(-len(said) + 0.4, 0.6)
        axes.set_xlabel("pairs, from the oldest to the newest; filled: recalled")
        axes.grid(visible=False)
        axes.set_title("What each memory recalls")
        return figure
