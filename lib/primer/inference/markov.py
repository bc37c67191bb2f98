"""A language model that is a table: small enough to enumerate every text it can write."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from primer.inputs import Count, checked


class Limits(NamedTuple):
    """What a model says about itself: its number of tokens and the longest text it reads."""

    vocab_size: int
    context_length: int


class MarkovModel:
    r"""A model whose next token depends on the last one only.

    .. math:: P(w_{t+1} = j \mid w_1, \dots, w_t) = P_{w_t j}

    Parameters
    ----------
    table : Tensor of shape (vocab, vocab)
        Row :math:`i` holds the probabilities of the token that follows token :math:`i`.
    context_length : int
        The longest text to accept.

    Raises
    ------
    ValueError
        When the table is not square, an entry is negative, or a row does not sum to 1.

    Examples
    --------
    >>> weather = MarkovModel(torch.tensor([[0.9, 0.1], [0.5, 0.5]]))
    >>> weather(torch.tensor([[0, 1]])).exp()
    tensor([[[0.9000, 0.1000],
             [0.5000, 0.5000]]])
    """

    @checked
    def __init__(self, table: Float[Tensor, "vocab next"], context_length: Count = 1024) -> None:
        if table.shape[0] != table.shape[1] or table.numel() == 0:
            raise ValueError(
                f"the table needs a row and a column for each token, got {table.shape}"
            )
        if bool((table < 0).any()) or not torch.allclose(table.sum(1), table.new_ones(len(table))):
            raise ValueError("each row of the table must hold probabilities with sum 1")
        self.log_table = table.log()
        self.config = Limits(len(table), context_length)

    @checked(infinite="return")
    def __call__(self, tokens: Int[Tensor, "batch seq"]) -> Float[Tensor, "batch seq vocab"]:
        """Look up the log-probabilities of what follows each token."""
        if tokens.numel() and not 0 <= int(tokens.min()) <= int(tokens.max()) < len(self.log_table):
            raise ValueError(
                f"token ids must lie between 0 and {len(self.log_table) - 1}, "
                f"got {int(tokens.min())} to {int(tokens.max())}"
            )
        return self.log_table[tokens.long()]

    @classmethod
    @checked
    def fit(
        cls, tokens: Int[Tensor, " n"], vocab_size: int, context_length: int = 1024
    ) -> MarkovModel:
        r"""Estimate the table by counting pairs of neighbors.

        Each row is pulled toward the frequencies :math:`f_j` of single tokens, which count as much
        as :math:`a = 5` pairs (and every token occurs once more than it does):

        .. math:: P_{ij} = \frac{n_{ij} + a f_j}{\sum_j n_{ij} + a}

        Parameters
        ----------
        tokens : Tensor of shape (n,)
            A text of at least two tokens.
        vocab_size : int
            The number of tokens there are.
        context_length : int
            The longest text the model is to accept.

        Raises
        ------
        ValueError
            When the text is too short or a token lies outside the vocabulary.

        Examples
        --------
        >>> model = MarkovModel.fit(torch.tensor([0, 1, 0, 1, 0]), vocab_size=2)
        >>> model(torch.tensor([[0]])).exp().round(decimals=3)
        tensor([[[0.4080, 0.5920]]])
        """
        if len(tokens) < 2 or int(tokens.min()) < 0 or int(tokens.max()) >= vocab_size:
            raise ValueError(
                f"need at least two tokens between 0 and {vocab_size - 1} to count pairs"
            )
        tokens = tokens.long()
        pairs = torch.bincount(tokens[:-1] * vocab_size + tokens[1:], minlength=vocab_size**2)
        counts = pairs.reshape(vocab_size, vocab_size).double()
        single = torch.bincount(tokens, minlength=vocab_size).double() + 1
        table = counts + 5 * single / single.sum()
        return cls((table / table.sum(1, keepdim=True)).float(), context_length)
