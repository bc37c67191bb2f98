r"""A network that adds on a circle, read to its last number."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from primer.inputs import (
    Count,
    Dim,
    NotNegative,
    Positive,
    Steps,
    among,
    checked,
    count,
    one_of,
    tokens,
)

LARGEST = 10_000
"""A table of all pairs is to be made of the numbers below p."""
BENDS = {"relu": torch.relu, "square": torch.square}


def prime(name: str, value: int) -> int:
    """Return an odd prime."""
    p = count(name, value, at_most=LARGEST)
    if p < 3 or any(p % d == 0 for d in range(2, math.isqrt(p) + 1)):
        raise ValueError(
            f"{name} must be an odd prime, such as 59, got {p}: only then every frequency goes "
            "through all numbers"
        )
    return p


Prime = Annotated[int, prime]


class AdditionNetwork(NamedTuple):
    r"""A network with one hidden layer for :math:`a + b` modulo p.

    .. math:: z_c = \sum_n g(E_{an} + E_{bn})\,U_{nc}

    Attributes
    ----------
    table : Tensor of shape (p, width)
        E, a row for each number.
    output : Tensor of shape (width, p)
        U, a column for each answer.
    bend : {"relu", "square"}
        g.
    """

    table: Float[Tensor, "p width"]
    output: Float[Tensor, "width p"]
    bend: str

    @checked
    def logits(self, pairs: Int[Tensor, "n 2"]) -> Float[Tensor, "n p"]:
        """Compute the logits of every answer.

        Examples
        --------
        >>> network = AdditionNetwork(torch.eye(3), torch.eye(3), "square")
        >>> network.logits(torch.tensor([[0, 0]]))
        tensor([[4., 0., 0.]])
        """
        numbers = tokens("pairs", pairs, len(self.table))
        return BENDS[one_of("bend", self.bend, BENDS)](self.table[numbers].sum(1)) @ self.output

    @checked
    def accuracy(self, pairs: Int[Tensor, "n 2"]) -> float:
        """Compute how often the largest logit is that of the sum.

        Examples
        --------
        >>> handmade_addition(5).accuracy(modular_pairs(5))
        1.0
        """
        if not len(pairs):
            raise ValueError("pairs is empty: there is no sum to be right on")
        found = self.logits(pairs).argmax(1)
        return float((found == pairs.sum(1) % len(self.table)).float().mean())


class Report(NamedTuple):
    """Where a training of :func:`train_addition` stands.

    Attributes
    ----------
    step : int
        Steps so far.
    train, test : float
        Accuracies on the pairs that it learns from, and on the sums that it saw in neither order.
    network : AdditionNetwork
        As it is now.
    """

    step: int
    train: float
    test: float
    network: AdditionNetwork


@checked
def modular_pairs(p: Prime) -> Int[Tensor, "pairs 2"]:
    """List all pairs of numbers from 0 to p − 1.

    Examples
    --------
    >>> modular_pairs(3)[:4].tolist()
    [[0, 0], [0, 1], [0, 2], [1, 0]]
    """
    return torch.cartesian_prod(torch.arange(p), torch.arange(p))


def split_sums(
    p: int, seen: float, generator: torch.Generator
) -> tuple[Int[Tensor, "seen 2"], Int[Tensor, "unseen 2"]]:
    """Draw pairs to learn from, and list the pairs of which neither order was drawn.

    The network adds two rows of one table: b + a is the same sum to it as a + b.

    Examples
    --------
    >>> learned, unseen = split_sums(59, 0.5, torch.Generator().manual_seed(0))
    >>> len(learned), len(unseen)
    (1740, 898)
    """
    pairs = modular_pairs(p)
    n = round(seen * len(pairs))
    pairs = pairs[torch.randperm(len(pairs), generator=generator)]
    known = torch.zeros(p, p, dtype=torch.bool)
    known[tuple(pairs[:n].T)] = True
    unseen = pairs[~(known | known.T)[tuple(pairs.T)]]
    if not (n > 0 and len(unseen)):
        raise ValueError(
            "seen must leave pairs to learn from, and sums to test on that are seen in neither "
            f"order, got {seen}"
        )
    return pairs[:n], unseen


@checked
@torch.enable_grad()  # inside: it goes through a generator only if it sees one
def train_addition(
    p: Prime,
    width: Dim,
    generator: torch.Generator,
    *,
    bend: Annotated[str, among(BENDS)] = "relu",
    seen: float = 0.4,
    steps: Steps = 2500,
    learning_rate: Positive = 0.01,
    decay: NotNegative = 1.0,
    every: Count = 25,
) -> Iterator[Report]:
    r"""Train a network on some of the sums, and report how it does on those it never saw.

    A sum is unseen if the network learned from neither order of its numbers.

    Parameters
    ----------
    p : int
        An odd prime.
    width : int
        Neurons.
    generator : torch.Generator
        Draws the first weights and the pairs to learn from.
    bend : {"relu", "square"}
        Of the hidden layer.
    seen : float
        The share of the pairs to learn from, between 0 and 1.
    steps : int
        Of AdamW, each on all of these pairs.
    learning_rate : float
        Of AdamW.
    decay : float
        Its weight decay.
    every : int
        Steps between reports.

    Yields
    ------
    Report
        After every so many steps, and after the last.

    Raises
    ------
    ValueError
        When p is no odd prime, or no sum is left to learn from or to test on.

    References
    ----------
    Gromov (2023); Nanda et al. (2023).

    Examples
    --------
    >>> chance = torch.Generator().manual_seed(0)
    >>> *_, last = train_addition(7, 32, chance, seen=0.8, steps=100)
    >>> last.step, last.train
    (100, 1.0)
    """
    train, test = split_sums(p, seen, generator)
    table = 0.5 * torch.randn(p, width, generator=generator)
    output = torch.randn(width, p, generator=generator) / math.sqrt(width)
    table.requires_grad_(), output.requires_grad_()
    optimizer = torch.optim.AdamW(
        [table, output], lr=learning_rate, betas=(0.9, 0.98), weight_decay=decay
    )
    network = AdditionNetwork(table, output, bend)
    for step in range(1, steps + 1):
        optimizer.zero_grad()
        cross_entropy(network.logits(train), train.sum(1) % p).backward()
        optimizer.step()
        if step % every == 0 or step == steps:
            now = AdditionNetwork(table.detach().clone(), output.detach().clone(), bend)
            yield Report(step, now.accuracy(train), now.accuracy(test), now)


@checked
def handmade_addition(p: Prime) -> AdditionNetwork:
    r"""Write down a network that adds without error: five squared cosines for each frequency.

    .. math::
        E_{an} = \cos(\theta_k a + \varphi_j), \qquad U_{nc} = \cos(\theta_k c + 2\varphi_j),
        \qquad \theta_k = \tfrac{2\pi k}{p}, \quad \varphi_j = \tfrac{2\pi j}{5}

    Its logits, up to a factor, are :math:`\tfrac12[c = a + b] + \tfrac14[c = 2a] + \tfrac14[c =
    2b]` and a constant.

    Parameters
    ----------
    p : int
        An odd prime.

    Returns
    -------
    AdditionNetwork
        With 5 (p − 1)/2 neurons.

    References
    ----------
    Gromov (2023), "Grokking modular arithmetic", who writes such weights down, too.

    Examples
    --------
    >>> network = handmade_addition(5)
    >>> network.table.shape, network.bend
    (torch.Size([5, 10]), 'square')
    """
    numbers = torch.arange(p, dtype=torch.float64)[:, None]
    k = torch.arange(1, (p + 1) // 2, dtype=torch.float64).repeat_interleave(5)
    phase = 2 * math.pi * torch.arange(5, dtype=torch.float64).repeat((p - 1) // 2) / 5
    angle = 2 * math.pi * k / p * numbers  # (p, width)
    return AdditionNetwork((angle + phase).cos(), (angle + 2 * phase).cos().T, "square")
