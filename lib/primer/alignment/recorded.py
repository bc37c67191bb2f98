"""What was recorded of the book's policies, for widgets and chapters to show.

The studies of :mod:`studies.alignment` write these files, which widgets read as well: what the
tuned model replied before anybody said what is good, what policies replied that went away from it,
and the change of low rank that is the aligned model.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Annotated, NamedTuple

from primer.tables import read_records

FIRST_REPLIES = Path(__file__).with_name("first_replies.csv")
POLICIES = Path(__file__).with_name("overoptimization.csv")
ALIGNED = Path(__file__).with_name("aligned-lora.safetensors")
BETWEEN = " | "
"""What stands between the replies of one line."""

Four = Annotated[float, ".4g"]


class Pair(NamedTuple):
    """Two replies to one prompt, and the edition of the model that wrote them."""

    model: str
    prompt: str
    first: str
    second: str


class Run(NamedTuple):
    """What a policy is worth after some steps.

    Attributes
    ----------
    model : str
        The edition of the book's model.
    run : str
        How the policy was held.
    seed, step : int
        Of the training.
    gold, proxy, kl : float
        What the rater would say, what the fitted reward says, and the divergence from the model
        before it was rewarded, in nats.
    chosen, rejected : float, optional
        The mean log ratio of both sides of pairs, where the policy was trained on such.
    replies : str
        A few of them.
    """

    model: str
    run: str
    seed: int
    step: int
    gold: Four
    proxy: Four
    kl: Four
    chosen: Annotated[float | None, ".4g"]
    rejected: Annotated[float | None, ".4g"]
    replies: str


@functools.cache
def first_replies() -> list[Pair]:
    """Read prompts with two replies each.

    Examples
    --------
    >>> len(first_replies())
    200
    """
    return read_records(FIRST_REPLIES, Pair)


def policies() -> list[Run]:
    """Read what the policies were worth, step by step.

    Examples
    --------
    >>> policies()[0].step
    0
    """
    return read_records(POLICIES, Run)


def wish(text: str) -> float:
    r"""Say what a reply is worth to the rater: :math:`\min(e, 2) - \max(0, e - 2)` for e marks.

    Examples
    --------
    >>> [wish("Ho" + "!" * e) for e in range(5)]
    [0, 1, 2, 1, 0]
    """
    marks = text.count("!")
    return min(marks, 2) - max(0, marks - 2)
