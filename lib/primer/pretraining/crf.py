r"""A linear-chain conditional random field: tags that know their neighbors.

A path of tags :math:`y` through a sentence of :math:`n` words has the score

.. math::
    s(y) = a_{y_0} + \sum_{i=0}^{n-1} z_{i,y_i} + \sum_{i=1}^{n-1} T_{y_{i-1},y_i} + b_{y_{n-1}}

and the probability :math:`e^{s(y)} / \sum_{y'} e^{s(y')}`. The sum has :math:`K^n` terms; because a
score only joins neighbors, two loops of :math:`nK^2` steps find it and the best path.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from primer.inputs import Side, checked
from primer.inputs import tokens as token_ids

Scores = Float[Tensor, "words tags"]
Transitions = Float[Tensor, "rows columns"]
Ends = Float[Tensor, " ends"]


class Path(NamedTuple):
    """The best path.

    Attributes
    ----------
    tags : Tensor of int of shape (words,)
        A tag for each word.
    score : Tensor
        :math:`s` of it.
    """

    tags: Int[Tensor, " words"]
    score: Float[Tensor, ""]


@checked(infinite="transitions first last return")
def path_score(
    scores: Scores,
    transitions: Transitions,
    tags: Int[Tensor, " path"],
    first: Ends | None = None,
    last: Ends | None = None,
) -> Float[Tensor, ""]:
    r"""Compute the score :math:`s(y)` of one path.

    Parameters
    ----------
    scores : Tensor of shape (words, tags)
        :math:`z`, how well each tag suits each word.
    transitions : Tensor of shape (tags, tags)
        :math:`T`, from row to column; −∞ forbids.
    tags : Tensor of int of shape (words,)
        The path.
    first, last : Tensor of shape (tags,), optional
        :math:`a` and :math:`b`; 0 when left out.

    Returns
    -------
    Tensor
        The score.

    Raises
    ------
    ValueError
        When shapes do not fit or there is no word.

    Examples
    --------
    >>> path_score(torch.eye(2), torch.tensor([[0.0, 5.0], [0.0, 0.0]]), torch.tensor([0, 1]))
    tensor(7.)
    """
    first, last = _ends(scores, transitions, first, last)
    if tags.shape != scores.shape[:1]:
        raise ValueError(f"{len(scores)} words need as many tags, got shape {tuple(tags.shape)}")
    path = token_ids("tags", tags, scores.shape[1])
    total = scores[torch.arange(len(path)), path].sum() + transitions[path[:-1], path[1:]].sum()
    return _no_overflow(total + first[path[0]] + last[path[-1]])


@checked(infinite="transitions first last return")
def log_partition(
    scores: Scores, transitions: Transitions, first: Ends | None = None, last: Ends | None = None
) -> Float[Tensor, ""]:
    r"""Compute the logarithm of the sum over all paths by the forward algorithm.

    .. math::
        \alpha_0 = a + z_0, \qquad
        \alpha_{i,k} = z_{i,k} + \ln\sum_j e^{\alpha_{i-1,j} + T_{jk}}, \qquad
        \ln Z = \ln\sum_k e^{\alpha_{n-1,k} + b_k}

    Parameters
    ----------
    scores, transitions, first, last
        As in :func:`path_score`.

    Returns
    -------
    Tensor
        :math:`\ln Z`.

    Raises
    ------
    ValueError
        As :func:`path_score`.

    References
    ----------
    Lafferty, McCallum and Pereira (2001); Rabiner (1989), section III.A.

    Examples
    --------
    >>> round(log_partition(torch.zeros(3, 2), torch.zeros(2, 2)).exp().item(), 4)  # 2³ paths
    8.0
    """
    first, last = _ends(scores, transitions, first, last)
    forward = first + scores[0]
    for score in scores[1:]:
        forward = score + _log_sum(forward[:, None] + transitions)
    return _no_overflow(_log_sum(forward + last))


def _no_overflow(score: Float[Tensor, ""]) -> Float[Tensor, ""]:
    """Return a score, which may be −∞ for what is forbidden, and is otherwise a number."""
    if bool((score == torch.inf) | score.isnan()):
        raise ValueError("the scores of a path add up to no floating-point number: make them less")
    return score


def _log_sum(logs: Float[Tensor, "tags *others"]) -> Float[Tensor, "*others"]:
    """Add what the logarithms stand for; where all are −∞ so is the sum, with the gradient 0."""
    none = (logs == -torch.inf).all(dim=0)
    return logs.masked_fill(none, 0).logsumexp(dim=0).masked_fill(none, -torch.inf)


@checked(infinite="transitions first last")
def viterbi(
    scores: Scores, transitions: Transitions, first: Ends | None = None, last: Ends | None = None
) -> Path:
    r"""Find the best path: the forward algorithm with a maximum in place of the sum.

    Parameters
    ----------
    scores, transitions, first, last
        As in :func:`path_score`.

    Returns
    -------
    Path

    Raises
    ------
    ValueError
        As :func:`path_score`, and when the forbidden transitions leave no path.

    References
    ----------
    Viterbi (1967); Rabiner (1989), section III.B.

    Examples
    --------
    The second word likes tag 1, which may not stand behind tag 0, and gives in:

    >>> forbidden = torch.tensor([[0.0, -torch.inf], [0.0, 0.0]])
    >>> viterbi(torch.tensor([[3.0, 0.0], [0.0, 1.0]]), forbidden).tags
    tensor([0, 0])
    """
    first, last = _ends(scores, transitions, first, last)
    best, pointers = first + scores[0], []
    for score in scores[1:]:
        candidates = best[:, None] + transitions
        pointers.append(candidates.argmax(dim=0))
        best = score + candidates.amax(dim=0)
    top = (best + last).max(dim=0)
    if top.values == -torch.inf:
        raise ValueError("no path is allowed: every one takes a forbidden transition")
    path = [top.indices]
    for pointer in reversed(pointers):
        path.append(pointer[path[-1]])
    return Path(torch.stack(path[::-1]), top.values)


class LinearChainCRF(nn.Module):
    r"""A layer on top of a tagger that learns which tags follow each other.

    Parameters
    ----------
    n_tags : int
        The number of tags :math:`K`.

    References
    ----------
    Lafferty, McCallum and Pereira (2001); Lample et al. (2016) on top of a network.

    Examples
    --------
    >>> crf = LinearChainCRF(2)
    >>> tags = torch.tensor([0, 1, 0])
    >>> round(crf.log_likelihood(torch.zeros(3, 2), tags).exp().item(), 4)  # one path of eight
    0.125
    """

    @checked
    def __init__(self, n_tags: Side) -> None:
        super().__init__()
        self.transitions = nn.Parameter(torch.zeros(n_tags, n_tags))
        self.first, self.last = (nn.Parameter(torch.zeros(n_tags)) for _ in range(2))

    @checked
    def log_likelihood(self, scores: Scores, tags: Int[Tensor, " words"]) -> Float[Tensor, ""]:
        """Compute the log-probability of a sentence's tags; its negative is the loss."""
        parts = (self.first, self.last)
        path = path_score(scores, self.transitions, tags, *parts)
        return path - log_partition(scores, self.transitions, *parts)

    @torch.no_grad()
    @checked
    def decode(self, scores: Scores) -> Int[Tensor, " words"]:
        """Find the most likely tags of a sentence."""
        return viterbi(scores, self.transitions, self.first, self.last).tags


def _ends(
    scores: Scores, transitions: Transitions, first: Ends | None, last: Ends | None
) -> tuple[Ends, Ends]:
    """Check shapes; return the scores of the first and the last tag."""
    if scores.ndim != 2 or 0 in scores.shape:
        raise ValueError(f"scores must have words and tags, got shape {tuple(scores.shape)}")
    tags = scores.shape[1]
    if transitions.shape != (tags, tags):
        raise ValueError(
            f"{tags} tags need {tags} × {tags} transitions, got shape {tuple(transitions.shape)}"
        )
    for name, part in (("transitions", transitions), ("first", first), ("last", last)):
        if part is not None and bool((part == torch.inf).any()):
            raise ValueError(f"{name} must hold numbers, or −∞ for what is forbidden, got inf")
    ends = [scores.new_zeros(tags) if end is None else end for end in (first, last)]
    if any(end.shape != (tags,) for end in ends):
        raise ValueError(f"first and last must have {tags} numbers, one for each tag")
    return ends[0], ends[1]
