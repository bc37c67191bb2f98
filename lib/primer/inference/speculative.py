r"""Speculative decoding: a small model guesses ahead, the large one checks all guesses at once."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from primer.inference.reading import LanguageModel, Prompt, Reader, check_end, read_prompt
from primer.inference.sampling import probabilities
from primer.inputs import Count, checked, distribution, tensor

Distribution = Float[Tensor, "*batch vocab"]


def acceptance_rate(target: Distribution, draft: Distribution) -> Float[Tensor, "*batch"]:
    r"""Compute how often a guess drawn from :math:`q` is kept as a draw from :math:`p`.

    .. math:: a = \sum_x q(x)\min\Bigl(1, \frac{p(x)}{q(x)}\Bigr) = \sum_x \min(p(x), q(x))

    Parameters
    ----------
    target, draft : Tensor of shape (\*batch, vocab)
        The distributions :math:`p` and :math:`q`.

    Returns
    -------
    Tensor of shape (\*batch,)
        A probability: 1 minus the total variation distance.

    References
    ----------
    Leviathan, Kalman and Matias (2023), theorem 3.5.

    Examples
    --------
    >>> acceptance_rate(torch.tensor([0.5, 0.3, 0.2]), torch.tensor([0.25, 0.25, 0.5]))
    tensor(0.7000)
    """
    _check_distributions(target, draft)
    return torch.minimum(target, draft).sum(-1).clamp(max=1)  # whose sums are 1 up to rounding


def _check_distributions(target: Distribution, draft: Distribution) -> None:
    """Raise a ``ValueError`` unless these are two distributions over the same tokens."""
    for name, p in (("target", target), ("draft", draft)):
        distribution(name, tensor(name, p, axes=1))
    if target.shape != draft.shape:
        raise ValueError(
            f"target and draft must be over the same tokens, got shapes {tuple(target.shape)} "
            f"and {tuple(draft.shape)}"
        )


def residual(target: Distribution, draft: Distribution) -> Distribution:
    r"""Compute what to draw from after a rejection: what the guesses leave uncovered.

    .. math:: r(x) = \frac{\max(0, p(x) - q(x))}{\sum_y \max(0, p(y) - q(y))}

    Parameters
    ----------
    target, draft : Tensor of shape (\*batch, vocab)
        The distributions :math:`p` and :math:`q`.  Where they are equal nothing is ever rejected,
        and :math:`p` is returned.

    Returns
    -------
    Tensor of shape (\*batch, vocab)
        Probabilities.

    References
    ----------
    Leviathan, Kalman and Matias (2023), algorithm 1.

    Examples
    --------
    >>> residual(torch.tensor([0.5, 0.3, 0.2]), torch.tensor([0.25, 0.25, 0.5]))
    tensor([0.8333, 0.1667, 0.0000])
    """
    _check_distributions(target, draft)
    left = (target - draft).clamp(min=0)
    mass = left.sum(-1, keepdim=True)
    return torch.where(mass > 0, left / torch.where(mass > 0, mass, 1), target)


@checked
def expected_tokens(rate: float, n_drafts: Count) -> float:
    r"""Compute how many tokens one pass of the target yields on average.

    With :math:`\gamma` guesses, each kept with probability :math:`a` on its own, up to the
    first one rejected, and the one token the target adds itself:

    .. math:: \sum_{i=0}^{\gamma} a^i = \frac{1 - a^{\gamma+1}}{1 - a}

    Parameters
    ----------
    rate : float
        :math:`a`, between 0 and 1.
    n_drafts : int
        :math:`\gamma \ge 1`.

    Returns
    -------
    float
        A number between 1 and :math:`\gamma + 1`.

    Raises
    ------
    ValueError
        When an argument is out of range.

    References
    ----------
    Leviathan, Kalman and Matias (2023), equation 1.

    Examples
    --------
    >>> expected_tokens(0.5, n_drafts=2)
    1.75
    """
    if not 0 <= rate <= 1:
        raise ValueError(f"rate must be a probability, got {rate}")
    if rate in (0, 1):
        return 1.0 + rate * n_drafts
    return -math.expm1((n_drafts + 1) * math.log(rate)) / (1 - rate)  # exact near rate = 1, too


class Speculation(NamedTuple):
    """A text and how it came about.

    Attributes
    ----------
    tokens : Tensor of shape (length,)
        The prompt and its continuation.
    n_guessed, n_kept : int
        How many tokens the draft guessed, and how many of them were kept.
    n_passes : int
        How often the target ran; without guesses it would be once per token.
    """

    tokens: Int[Tensor, " length"]
    n_guessed: int
    n_kept: int
    n_passes: int


@checked
def speculative_decode(
    target: LanguageModel,
    draft: LanguageModel,
    prompt: Prompt,
    n_tokens: int,
    n_drafts: Count = 4,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
    end_token: int | None = None,
) -> Speculation:
    r"""Sample from a target model, with the help of a draft model that runs ahead of it.

    The draft guesses :math:`\gamma` tokens :math:`x_i \sim q_i`.  The target reads all of them in
    one pass.  From left to right a guess is kept with probability
    :math:`\min(1, p_i(x_i)/q_i(x_i))`; in place of the first one rejected stands a draw from
    :func:`residual`, and behind :math:`\gamma` kept guesses a draw from :math:`p_{\gamma+1}`.
    Whatever the draft is, the text is distributed as if the target had written it alone.

    Parameters
    ----------
    target, draft : LanguageModel
        The large and the small model, of one vocabulary, in evaluation mode.
    prompt : sequence of int, or Tensor of shape (seq,)
        Token ids.
    n_tokens : int
        How many tokens to add at most.
    n_drafts : int
        The number :math:`\gamma \ge 1` of guesses before each pass of the target.
    temperature, top_k, top_p
        How both models' logits become probabilities, see
        :func:`~primer.inference.probabilities`.
    generator : torch.Generator, optional
        Where the randomness comes from.
    end_token : int, optional
        The token that ends a text.

    Returns
    -------
    Speculation
        The text, and how many guesses were made and kept in how many passes.

    Raises
    ------
    ValueError
        When the vocabularies differ, or the prompt or a number is out of range.

    References
    ----------
    Leviathan, Kalman and Matias (2023), algorithm 1; Chen et al. (2023).

    Examples
    --------
    >>> from primer.inference import MarkovModel
    >>> circle = MarkovModel(torch.tensor([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]))
    >>> speculative_decode(circle, circle, [0], n_tokens=10, n_drafts=4)
    Speculation(tokens=tensor([0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1]), n_guessed=8, n_kept=8, n_passes=2)
    """
    if target.config.vocab_size != draft.config.vocab_size:
        raise ValueError(
            f"target and draft must share a vocabulary, "
            f"got {target.config.vocab_size} and {draft.config.vocab_size} tokens"
        )
    tokens = read_prompt(draft, read_prompt(target, prompt, n_tokens), n_tokens)
    check_end(target, end_token)
    if len(tokens) != 1:
        raise ValueError(f"speculative decoding takes one prompt at a time, got {len(tokens)}")

    def distribution(logits: Float[Tensor, "n vocab"]) -> Float[Tensor, "n vocab"]:
        return probabilities(logits.double(), temperature, top_k, top_p)

    checker, guesser = Reader(target), Reader(draft)
    start, n_guessed, n_kept, n_passes = tokens.shape[1], 0, 0, 0
    while (left := n_tokens - (tokens.shape[1] - start)) > 0:
        ahead, q = tokens, []
        for _ in range(min(n_drafts, left - 1)):  # the target itself adds one more
            q.append(distribution(guesser(ahead)[:, -1]))
            guess = torch.multinomial(q[-1], num_samples=1, generator=generator)
            ahead = torch.cat([ahead, guess], dim=1)
        p = distribution(checker(ahead, n_last=len(q) + 1)[0])
        kept, last = _check_guesses(ahead[0, tokens.shape[1] :], p, q, generator)
        tokens = torch.cat([ahead[:, : tokens.shape[1] + kept], last[None]], dim=1)
        n_guessed, n_kept, n_passes = n_guessed + len(q), n_kept + kept, n_passes + 1
        if end_token is not None and bool((ends := tokens[0, start:] == end_token).any()):
            tokens = tokens[:, : start + int(ends.int().argmax()) + 1]
            break
        for reader in (checker, guesser):
            reader.forget(tokens.shape[1] - 1)
    return Speculation(tokens[0], n_guessed, n_kept, n_passes)


def _check_guesses(
    guesses: Int[Tensor, " drafts"],
    p: Float[Tensor, "drafts_and_one vocab"],
    q: list[Float[Tensor, "1 vocab"]],
    generator: torch.Generator | None,
) -> tuple[int, Int[Tensor, " 1"]]:
    """Return how many guesses to keep, and the token to put behind them."""
    for i, guess in enumerate(guesses):
        chance = p[i, guess] / q[i][0, guess]
        if torch.rand((), generator=generator, device=p.device) >= chance:
            return i, torch.multinomial(residual(p[i], q[i][0]), 1, generator=generator)
    return len(guesses), torch.multinomial(p[-1], 1, generator=generator)
