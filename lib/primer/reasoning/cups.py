"""A ball under one of five cups, and cups that are swapped: a toy whose answer has to be tracked.

Swaps of five cups generate all 120 permutations, whose composition is complete for the class NC¹
(Barrington, 1989); the keys of the calculator do nothing of the kind.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

from primer.inputs import checked, count, tokens
from primer.inputs.values import MANY


@dataclass(frozen=True)
class Cups:
    """Questions about a ball: where it lies, what is swapped, where it lies then.

    A question is the first place, ``slots`` tokens (swaps first, then *nothing*) and an equals
    sign.  The places are the tokens 0, 1, …, then come the swaps, *nothing*, and the sign.

    Parameters
    ----------
    places, slots : int
        Cups, 2 to 100, and what may happen to them.

    Examples
    --------
    >>> cups = Cups()
    >>> question = torch.tensor([[0, *map(cups.swap, [(0, 3), (1, 2)]), *[15] * 8, 16]])
    >>> cups.track(question)[0, :3], cups.vocab_size
    (tensor([3, 3, 3]), 17)
    """

    places: int = 5
    slots: int = 10

    def __post_init__(self) -> None:
        """Refuse a single cup, and more than anybody can follow."""
        count("places", self.places, at_least=2, at_most=100)
        count("slots", self.slots, at_most=MANY)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The cups of each swap."""
        return [*itertools.combinations(range(self.places), 2)]

    @property
    def nothing(self) -> int:
        """The token of a slot in which nothing happens."""
        return self.places + len(self.pairs)

    @property
    def vocab_size(self) -> int:
        """How many tokens there are."""
        return self.nothing + 2

    @checked
    def swap(self, cups: tuple[int, int]) -> int:
        """Return the token of a swap.

        Raises
        ------
        ValueError
            When these are no two cups, the smaller number first.
        """
        if cups not in self.pairs:
            raise ValueError(f"a swap is two cups below {self.places}, in order, got {cups}")
        return self.places + self.pairs.index(cups)

    @checked
    def questions(
        self, swaps: Int[Tensor, " n"], generator: torch.Generator | None = None
    ) -> Int[Tensor, "n length"]:
        """Draw a question for each number of swaps.

        Parameters
        ----------
        swaps : Tensor of int of shape (n,)
            How many swaps each has, from 0 to ``slots``.
        generator : torch.Generator, optional
            Where the randomness comes from.

        Returns
        -------
        Tensor of int of shape (n, slots + 2)
            First place, slots, equals sign.

        Raises
        ------
        ValueError
            When a number of swaps does not fit.
        """
        if len(swaps) and not 0 <= int(swaps.min()) <= int(swaps.max()) <= self.slots:
            raise ValueError(f"there is room for 0 to {self.slots} swaps")
        n = len(swaps)
        drawn = torch.randint(self.places, self.nothing, (n, self.slots), generator=generator)
        used = torch.arange(self.slots) < swaps[:, None]
        first = torch.randint(self.places, (n, 1), generator=generator)
        sign = torch.full((n, 1), self.nothing + 1)
        return torch.cat([first, torch.where(used, drawn, self.nothing), sign], dim=1)

    @checked
    def track(self, questions: Int[Tensor, "n length"]) -> Int[Tensor, "n slots"]:
        """Follow the ball: its place after each slot.

        Raises
        ------
        ValueError
            When a question is none of this game.
        """
        shape_fits = questions.shape[1] == self.slots + 2
        if not shape_fits or bool((questions[:, -1] != self.nothing + 1).any()):
            raise ValueError(f"a question is a place, {self.slots} slots and the equals sign")
        questions = tokens("questions", questions, self.vocab_size)
        slots = questions[:, 1:-1]
        if bool((questions[:, 0] >= self.places).any() or (slots < self.places).any()):
            raise ValueError(f"a question is a place, {self.slots} slots and the equals sign")
        moves = torch.arange(self.places).repeat(self.vocab_size, 1)  # token, from → to
        for token, (a, b) in enumerate(self.pairs, start=self.places):
            moves[token, a], moves[token, b] = b, a
        place, found = questions[:, 0], []
        for slot in slots.T:
            place = moves[slot, place]
            found.append(place)
        return torch.stack(found, dim=1)
