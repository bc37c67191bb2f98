"""The phases of a training: stretches with their own context, learning rate, text and dropout."""

from __future__ import annotations

from dataclasses import dataclass

from primer.inputs import count, fraction, not_negative
from primer.train.repetition import Repeats, check_repetition
from primer.train.schedule import check_schedule


@dataclass(frozen=True)
class Phase:
    """One stretch of a training.

    Parameters
    ----------
    steps : int
        Updates of the weights; with ``until_copying`` the largest number of them.
    context_length : int
        Tokens of a sequence that are read.
    batch_size : int
        Sequences in one step.
    learning_rate, final_learning_rate : float
        At the end of the warm-up, and at the last step.
    warmup_steps : int
        Steps in which the learning rate rises.
    weight_decay : float
        Share of each matrix that is taken away per step and unit of learning rate.
    dropout : float
        The probability with which a number entering the residual stream is dropped.
    repeated : float
        The share of sequences that repeat a segment, see
        :class:`~primer.train.RepeatingBatches`.
    repeats : {"text", "random", "both"}
        What the segments are made of.
    until_copying : float
        The phase ends early, when an evaluation finds that the best head's
        :func:`~primer.train.copy_scores` exceed this; 1, which no score exceeds, means never.

    Raises
    ------
    ValueError
        When a number is out of range.

    Examples
    --------
    >>> Phase(steps=10, context_length=64, batch_size=4, learning_rate=1e-3,
    ...       final_learning_rate=1e-3, warmup_steps=20, weight_decay=0.1)
    Traceback (most recent call last):
        ...
    ValueError: warmup_steps must be at least 0 and less than steps = 10, got 20
    """

    steps: int
    context_length: int
    batch_size: int
    learning_rate: float
    final_learning_rate: float
    warmup_steps: int
    weight_decay: float
    dropout: float = 0.0
    repeated: float = 0.0
    repeats: Repeats = "text"
    until_copying: float = 1.0

    def __post_init__(self) -> None:
        for name in ("steps", "context_length", "batch_size"):
            count(name, getattr(self, name))
        check_schedule(self.learning_rate, self.final_learning_rate, self.warmup_steps, self.steps)
        not_negative("weight_decay", self.weight_decay)
        fraction("dropout", self.dropout)
        check_repetition(self.repeated, self.context_length)
        if not 0 < self.until_copying <= 1:
            raise ValueError(
                f"until_copying must be larger than 0 and at most 1, got {self.until_copying}"
            )

    @property
    def tokens_per_step(self) -> int:
        """How many tokens one update reads."""
        return self.batch_size * self.context_length
