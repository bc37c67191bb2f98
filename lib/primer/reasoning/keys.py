"""A calculator with four keys: what a press does, which questions there are, worked examples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor

from primer.alignment import Replies, reply_mask
from primer.inputs import (
    Count,
    Seed,
    at_least,
    checked,
    count,
    one_of,
)
from primer.inputs import tokens as token_ids

KEYS = {
    "+3": lambda display: display + 3,
    "−5": lambda display: display - 5,
    "×2": lambda display: display * 2,
    "÷2": lambda display: display // 2,
}
"""What each key does; half of an odd number is no whole number, and that press is illegal."""


@dataclass(frozen=True)
class Calculator:
    """A display, four keys, and a vocabulary in which every number is one token.

    Tokens are the numbers 0 … ``size`` − 1, the four keys, the end and the arrow behind a question.

    Parameters
    ----------
    size : int
        How many numbers the display can show, 9 to 1,000.

    Raises
    ------
    ValueError
        When the display is smaller: there are numbers then that no key leads away from; or larger.

    Examples
    --------
    >>> calculator = Calculator()
    >>> calculator.press(14, "×2"), calculator.press(7, "÷2"), calculator.press(30, "×2")
    (28, None, None)
    """

    size: int = 50

    def __post_init__(self) -> None:
        """Refuse a display on which a walk can be stuck."""
        count("size", self.size, at_least=9, at_most=1000)  # the search takes its square

    @property
    def end(self) -> int:
        """The token that ends a reply."""
        return self.size + len(KEYS)

    @property
    def arrow(self) -> int:
        """The token behind a question."""
        return self.size + len(KEYS) + 1

    @property
    def vocab_size(self) -> int:
        """How many tokens there are."""
        return self.size + len(KEYS) + 2

    @cached_property
    def table(self) -> Int[np.ndarray, "size keys"]:
        """What each display becomes by each key; −1 where the press is illegal."""
        found = np.full((self.size, len(KEYS)), -1)
        for display in range(self.size):
            for key, press in enumerate(KEYS.values()):
                shown = press(display)
                whole = key != 3 or display % 2 == 0
                if whole and 0 <= shown < self.size:
                    found[display, key] = shown
        return found

    @checked
    def press(self, display: int, key: str) -> int | None:
        """Return what the display shows after a press, or None where the press is illegal.

        Raises
        ------
        ValueError
            When the display cannot show this number, or there is no such key.
        """
        if not 0 <= display < self.size:
            raise ValueError(f"display must show a number from 0 to {self.size - 1}, got {display}")
        shown = int(self.table[display, [*KEYS].index(one_of("key", key, KEYS))])
        return None if shown < 0 else shown

    @cached_property
    def distances(self) -> Int[np.ndarray, "size size"]:
        """How many presses lead from each number to each other at least; −1 where none do."""
        found = np.full((self.size, self.size), -1)
        for start in range(self.size):
            found[start, start], reached = 0, [start]
            for display in reached:  # which grows: a search in breadth
                for shown in self.table[display]:
                    if shown >= 0 and found[start, shown] < 0:
                        found[start, shown] = found[start, display] + 1
                        reached.append(int(shown))
        return found

    @cached_property
    def pairs(self) -> Int[np.ndarray, "pairs 2"]:
        """All questions: start and target, which differ, ordered by start, then by target."""
        return np.argwhere(self.distances > 0)

    @checked
    def prompts(self, pairs: Int[np.ndarray, "batch 2"]) -> Int[Tensor, "batch 3"]:
        """Write questions as tokens: start, target, arrow.

        Raises
        ------
        ValueError
            When a number is none of the display's, a start is its target, which needs no press,
            or no presses lead there.
        """
        if pairs.size and not (pairs.min() >= 0 and pairs.max() < self.size):
            raise ValueError(f"pairs must hold numbers from 0 to {self.size - 1}")
        steps = self.distances[pairs[:, 0], pairs[:, 1]]
        if (steps <= 0).any():
            s, t = pairs[np.flatnonzero(steps <= 0)[0]]
            why = "needs no press" if s == t else "cannot be reached"
            raise ValueError(f"the question {s} → {t} {why}: choose pairs from Calculator.pairs")
        arrows = np.full((len(pairs), 1), self.arrow)
        return torch.from_numpy(np.concatenate([pairs, arrows], axis=1))

    @checked
    def read(self, tokens: Int[Tensor, " length"]) -> str:
        """Write tokens as text, up to the end.

        Examples
        --------
        >>> Calculator().read(torch.tensor([50, 10, 52, 20, 54, 54]))
        '+3 10 ×2 20'
        """
        words = [*map(str, range(self.size)), *KEYS, "end", "→"]
        ids = token_ids("tokens", tokens, self.vocab_size).tolist()
        return " ".join(words[t] for t in ids[: ids.index(self.end) if self.end in ids else None])


@checked
def worked_examples(
    calculator: Calculator,
    n: Count,
    held_out: Int[np.ndarray, "pairs 2"],
    generator: torch.Generator | None = None,
    longest: Annotated[int, at_least(1)] = 7,
) -> Replies:
    """Press at random and call wherever that led the target: right answers that nobody planned.

    Start and number of presses are uniform, and each key is drawn from those that are legal.

    Parameters
    ----------
    calculator : Calculator
        What is pressed.
    n : int
        How many examples.
    held_out : array of int of shape (pairs, 2)
        Questions that must not occur.
    generator : torch.Generator, optional
        Where the randomness comes from.
    longest : int
        The most presses; a walk that ends where it began is no example.

    Returns
    -------
    Replies
        Each press is followed by what the display then shows; behind the last stands the end.

    Raises
    ------
    ValueError
        When everything is held out that so many presses reach, or a question is none.

    Examples
    --------
    >>> calculator = Calculator()
    >>> one = worked_examples(calculator, 1, calculator.pairs[:5], torch.Generator().manual_seed(0))
    >>> calculator.read(one.prompts[0]), calculator.read(one.tokens[0])
    ('44 32 →', '−5 39 −5 34 +3 37 −5 32')
    """
    size = calculator.size
    allowed = (calculator.distances > 0) & (calculator.distances <= longest)
    if held_out.size and not 0 <= held_out.min() <= held_out.max() < size:
        raise ValueError(f"held_out must hold numbers from 0 to {size - 1}")
    allowed[tuple(held_out.T)] = False
    if not allowed.any():
        raise ValueError(
            f"every question is held out that {longest} or fewer presses reach: none is left"
        )
    keep, table = torch.from_numpy(allowed), torch.from_numpy(calculator.table)
    prompts: list[Tensor] = []
    replies: list[Tensor] = []
    walks = n
    while sum(len(found) for found in prompts) < n:
        start = torch.randint(size, (walks,), generator=generator)
        presses = torch.randint(1, longest + 1, (walks,), generator=generator)
        tokens = torch.full((walks, 2 * longest + 1), calculator.end)
        display = start
        for press in range(longest):
            key = torch.multinomial((table[display] >= 0).double(), 1, generator=generator)[:, 0]
            going = press < presses
            display = torch.where(going, table[display, key], display)
            tokens[going, 2 * press] = size + key[going]
            tokens[going, 2 * press + 1] = display[going]
        chosen = keep[start, display]
        arrow = torch.full_like(start, calculator.arrow)
        prompts.append(torch.stack([start, display, arrow], dim=1)[chosen])
        replies.append(tokens[chosen])
        if not chosen.any():  # few questions are left: more walks at once
            walks = min(2 * walks, max(walks, 1 << 16))
    tokens = torch.cat(replies)[:n]
    return Replies(torch.cat(prompts)[:n], tokens, reply_mask(tokens, calculator.end))


@checked
def split_pairs(
    calculator: Calculator, test: Count = 128, seed: Seed = 2024
) -> tuple[Int[np.ndarray, "test 2"], Int[np.ndarray, "train 2"]]:
    """Set questions aside: the first of a shuffled list are the test, the others may be used.

    Examples
    --------
    >>> test, train = split_pairs(Calculator())
    >>> len(test), len(train)
    (128, 2322)
    """
    if test >= len(calculator.pairs):
        raise ValueError(f"there are {len(calculator.pairs)} questions, got a test of {test}")
    order = np.random.default_rng(seed).permutation(len(calculator.pairs))
    is_test: Bool[np.ndarray, " pairs"] = np.isin(np.arange(len(order)), order[:test])
    return calculator.pairs[order[:test]], calculator.pairs[~is_test]
