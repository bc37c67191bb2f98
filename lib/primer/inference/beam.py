r"""Beam search: several texts at once, the best by the probability of the whole."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from primer.inference.reading import LanguageModel, Prompt, Reader, check_end, read_prompt
from primer.inference.sampling import check_logits
from primer.inputs import Count, Number, checked


class Hypothesis(NamedTuple):
    """A continuation that beam search found.

    Attributes
    ----------
    tokens : tuple of int
        What follows the prompt, the end token included.
    log_probability : float
        The logarithm of its probability, in nats.
    score : float
        What it is ranked by: ``log_probability`` divided by a power of the length.
    """

    tokens: tuple[int, ...]
    log_probability: float
    score: float


class Frontier(NamedTuple):
    """The state of a beam search after one step.

    Attributes
    ----------
    tokens : Tensor of shape (beams, step)
        The continuations still growing, best first.
    log_probabilities : Tensor of shape (beams,)
        The logarithms of their probabilities.
    parents : Tensor of shape (beams,)
        Which row of the step before each of them continues.
    ended : list of tuple
        The continuations that ended in this step, with the logarithms of their probabilities.
    """

    tokens: Int[Tensor, "beams step"]
    log_probabilities: Float[Tensor, " beams"]
    parents: Int[Tensor, " beams"]
    ended: list[tuple[tuple[int, ...], float]]


@checked
def beam_steps(
    model: LanguageModel,
    prompt: Prompt,
    n_tokens: int,
    n_beams: Count,
    end_token: int | None = None,
    *,
    cache: bool = True,
) -> Iterator[Frontier]:
    r"""Yield the frontier of a beam search step by step.

    In each step the :math:`k` hypotheses have :math:`kV` extensions, each with the score

    .. math:: \log p(y_{1:t}) = \log p(y_{1:t-1}) + \log p(y_t \mid y_{<t}).

    Those among the best :math:`k` that end with the end token have ended; the best :math:`k` of
    the others go on.

    Parameters
    ----------
    model, prompt, n_tokens, n_beams, end_token
        See :func:`beam_search`.
    cache : bool
        Whether to keep the keys and values of the tokens already read.

    Yields
    ------
    Frontier
        After each of at most ``n_tokens`` steps.

    References
    ----------
    Lowerre (1976); Graves (2012).

    Examples
    --------
    >>> import math
    >>> from primer.inference import MarkovModel
    >>> coin = MarkovModel(torch.tensor([[0.75, 0.25], [0.5, 0.5]]))
    >>> for frontier in beam_steps(coin, [0], n_tokens=2, n_beams=2):
    ...     probabilities = [round(math.exp(s), 4) for s in frontier.log_probabilities]
    ...     print(frontier.tokens.tolist(), probabilities)
    [[0], [1]] [0.75, 0.25]
    [[0, 0], [0, 1]] [0.5625, 0.1875]
    """
    tokens = read_prompt(model, prompt, n_tokens)
    check_end(model, end_token)
    if len(tokens) != 1:
        raise ValueError(f"beam search takes one prompt at a time, got {len(tokens)}")
    reader, start = Reader(model, cache), tokens.shape[1]
    scores = torch.zeros(1, dtype=torch.float64, device=tokens.device)
    for _ in range(n_tokens):
        logits = reader(tokens)[:, -1]
        check_logits(logits)
        step = logits.double().log_softmax(-1)  # (beams, vocab)
        vocabulary = step.shape[-1]
        candidates = (scores[:, None] + step).flatten()
        # At most k of the best 2k candidates end a text, one per hypothesis: k are left to go on.
        best, order = candidates.topk(min(2 * n_beams, len(candidates)))
        possible = best > -torch.inf
        best, order = best[possible], order[possible]
        parents, new = order // vocabulary, order % vocabulary
        extended = torch.cat([tokens[parents], new[:, None]], dim=1)
        ends = (
            new == end_token if end_token is not None else torch.zeros_like(new, dtype=torch.bool)
        )
        ended = [
            (tuple(extended[i, start:].tolist()), float(best[i]))
            for i in range(min(n_beams, len(best)))
            if ends[i]
        ]
        alive = (~ends).nonzero()[:n_beams, 0]
        tokens, scores, parents = extended[alive], best[alive], parents[alive]
        yield Frontier(tokens[:, start:], scores, parents, ended)
        if len(alive) == 0:
            return
        reader.reorder(parents)


@checked
def beam_search(
    model: LanguageModel,
    prompt: Prompt,
    n_tokens: Count,
    n_beams: int,
    length_penalty: Number = 0.0,
    end_token: int | None = None,
    *,
    cache: bool = True,
) -> list[Hypothesis]:
    r"""Search for the most probable continuations.

    They are ranked by

    .. math:: \mathrm{score}(y) = \frac{1}{|y|^{\alpha}} \sum_{i=1}^{|y|} \log p(y_i \mid y_{<i}),

    where :math:`|y|` counts the new tokens.  The search goes on until no hypothesis that is still
    growing can enter the best :math:`k`.

    Parameters
    ----------
    model : LanguageModel
        The model, in evaluation mode.
    prompt : sequence of int, or Tensor of shape (seq,)
        Token ids.
    n_tokens : int
        How many tokens to add at most.
    n_beams : int
        The number :math:`k \ge 1` of hypotheses kept; 1 is greedy.
    length_penalty : float
        The exponent :math:`\alpha`: 0 ranks by the probability of the whole, 1 by the mean
        per token, larger numbers favor longer texts.
    end_token : int, optional
        The token that completes a text.
    cache : bool
        Whether to keep the keys and values of the tokens already read.

    Returns
    -------
    list of Hypothesis
        At most ``n_beams``, best first.

    Raises
    ------
    ValueError
        When the prompt or a number is out of range (see :func:`~primer.inference.generate`), or the
        exponent so large that :math:`|y|^\alpha` is no floating-point number.

    References
    ----------
    Graves (2012), section 2; the exponent as in Hugging Face's ``length_penalty``.

    Examples
    --------
    A first token that is only second best can begin the best text.

    >>> import math
    >>> from primer.inference import MarkovModel
    >>> table = torch.tensor([[0.0, 0.6, 0.4], [0.4, 0.3, 0.3], [0.0, 0.1, 0.9]])
    >>> for tokens, log_probability, _ in beam_search(MarkovModel(table), [0], 2, n_beams=2):
    ...     print(tokens, f"{math.exp(log_probability):.2f}")
    (2, 2) 0.36
    (1, 0) 0.24
    """
    if abs(length_penalty) * math.log(n_tokens + 1) > 700:
        raise ValueError(
            f"length_penalty = {length_penalty:g} is too large for texts of {n_tokens} tokens: no "
            f"floating-point number holds {n_tokens}^{abs(length_penalty):g}"
        )
    finished: list[Hypothesis] = []
    for step, frontier in enumerate(
        beam_steps(model, prompt, n_tokens, n_beams, end_token, cache=cache), start=1
    ):
        complete = list(frontier.ended)
        if step == n_tokens:  # cut off where the room ends
            complete += zip(
                map(tuple, frontier.tokens.tolist()),
                frontier.log_probabilities.tolist(),
                strict=True,
            )
            complete = sorted(complete, key=lambda c: -c[1])[:n_beams]
        finished += [Hypothesis(t, s, s / len(t) ** length_penalty) for t, s in complete]
        finished = sorted(finished, key=lambda h: -h.score)[:n_beams]
        if len(finished) == n_beams and len(frontier.tokens):
            # A sum of logarithms only falls; at best it stays, at the length that flatters it most.
            length = n_tokens if length_penalty > 0 else step + 1
            best = float(frontier.log_probabilities[0]) / length**length_penalty
            if best <= finished[-1].score:
                break
    return finished
