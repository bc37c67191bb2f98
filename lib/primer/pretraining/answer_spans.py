r"""An answer is a stretch of the text: two vectors find its beginning and its end."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import ArrayLike
from torch import Tensor, nn

from primer.inputs import Count, Dim, Side, Vector, checked, room, tensor, vector, whole
from primer.inputs import tokens as token_ids


class AnswerSpan(NamedTuple):
    """The best answer.

    Attributes
    ----------
    start, end : int
        Its first and its last token.
    score : float
        The sum of their scores.
    """

    start: int
    end: int
    score: float


@checked
def best_span(start: Vector, end: ArrayLike, limit: Count) -> AnswerSpan:
    r"""Find the span with the largest sum of scores, in one pass.

    .. math:: \max_{i \le j < i + L} (S\,t_i^\top + E\,t_j^\top)

    For each end :math:`j` only the best start among the last :math:`L` matters; a queue that keeps
    falling candidates hands it out in constant time.

    Parameters
    ----------
    start, end : array_like, shape (n,)
        Scores of each token as beginning and as end.
    limit : int
        The most tokens :math:`L` of an answer.

    Returns
    -------
    AnswerSpan
        The first of several equally good ones by its end.

    Raises
    ------
    ValueError
        When the scores do not fit, or the limit is below 1.

    References
    ----------
    Devlin et al. (2019), section 4.2.

    Examples
    --------
    >>> best_span([0.0, 2.0, 1.0], [3.0, 0.0, 1.0], limit=2)  # start 1 and end 0 make no span
    AnswerSpan(start=0, end=0, score=3.0)
    """
    S = start
    E = vector("end", end, len(S))
    best = AnswerSpan(0, 0, -np.inf)
    candidates: deque[int] = deque()
    for j in range(len(S)):
        while candidates and S[candidates[-1]] < S[j]:
            candidates.pop()
        candidates.append(j)
        if candidates[0] <= j - limit:
            candidates.popleft()
        score = float(S[candidates[0]] + E[j])
        if score > best.score:
            best = AnswerSpan(candidates[0], j, score)
    return best


@checked
def span_loss(
    start: Float[Tensor, "batch seq"],
    end: Float[Tensor, "batch seq"],
    answers: Int[Tensor, "batch 2"],
) -> Float[Tensor, ""]:
    r"""Compute the mean surprise of the right beginnings and ends.

    .. math:: -\ln P_{\text{start}}(i) - \ln P_{\text{end}}(j), \qquad
              P_{\text{start}}(i) = \frac{e^{S t_i^\top}}{\sum_k e^{S t_k^\top}}

    Parameters
    ----------
    start, end : Tensor of shape (batch, seq)
        Scores.
    answers : Tensor of int of shape (batch, 2)
        First and last token of each right answer.

    Returns
    -------
    Tensor
        Nats per question.

    References
    ----------
    Devlin et al. (2019), section 4.2.

    Examples
    --------
    >>> flat = torch.zeros(1, 4)
    >>> round(span_loss(flat, flat, torch.tensor([[1, 2]])).item(), 4)  # 2 ln 4
    2.7726
    """
    if len(answers) == 0:
        raise ValueError("there is no question: give at least one answer")
    first, last = token_ids("answers", answers, start.shape[1]).unbind(dim=1)
    cross_entropy = nn.functional.cross_entropy
    return cross_entropy(start, first) + cross_entropy(end, last)


class SpanBoundary(nn.Module):
    r"""Predict a hidden span's tokens from the vectors beside it, and their place in it.

    .. math::
        \text{logits}_i = f\big([z_{s-1},\, z_{e+1},\, p_{i-s+1}]\big)\,W, \qquad s \le i \le e

    where :math:`f` is two layers of GELU and layer norm. The vectors are the encoder's *outputs*.

    Parameters
    ----------
    d_model : int
        The width of the encoder.
    vocab_size : int
        Tokens.
    longest : int
        The longest span.

    References
    ----------
    Joshi et al. (2020), section 3.2.

    Examples
    --------
    >>> head = SpanBoundary(d_model=8, vocab_size=50, longest=10)
    >>> head(torch.zeros(20, 8), start=3, end=6).shape  # four tokens
    torch.Size([4, 50])
    """

    @checked
    def __init__(self, d_model: Side, vocab_size: Dim, longest: Dim = 10) -> None:
        super().__init__()
        room(3, d_model=d_model, vocab_size=vocab_size)
        room(d_model=d_model, longest=longest)
        self.places = nn.Embedding(longest, d_model)
        self.layers = nn.Sequential(
            nn.Linear(3 * d_model, d_model),
            nn.GELU(),
            nn.LayerNorm(d_model),
            nn.Linear(d_model, d_model),
            nn.GELU(),
            nn.LayerNorm(d_model),
        )
        self.head = nn.Linear(d_model, vocab_size, bias=False)

    @checked
    def forward(
        self, outputs: Float[Tensor, "seq d_model"], start: int, end: int
    ) -> Float[Tensor, "span vocab"]:
        """Compute logits for the tokens from ``start`` to ``end``, both of them hidden.

        Raises
        ------
        ValueError
            When the span is empty, too long, or has no neighbor on one side.
        """
        tensor("outputs", outputs, axes=2)
        length = whole("end", end) - whole("start", start) + 1
        if not 1 <= length <= self.places.num_embeddings:
            raise ValueError(
                f"spans have 1 to {self.places.num_embeddings} tokens, got {start} to {end}"
            )
        if start < 1 or end > len(outputs) - 2:
            raise ValueError(
                f"a span from {start} to {end} needs a neighbor on both sides of {len(outputs)}"
            )
        beside = torch.cat([outputs[start - 1], outputs[end + 1]]).expand(length, -1)
        joined = torch.cat([beside, self.places.weight[:length]], dim=1)  # (span, 3 d_model)
        return self.head(self.layers(joined))
