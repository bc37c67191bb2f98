"""Letting a model answer questions several times, and counting."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from primer.alignment import Replies, write_replies
from primer.inference import LanguageModel, entropy
from primer.inputs import Count, checked
from primer.reasoning.keys import Calculator

LIMIT = 20
"""The most tokens of a reply."""


@checked
def attempts(
    model: LanguageModel,
    calculator: Calculator,
    prompts: Int[Tensor, "questions 3"],
    tries: Count,
    generator: torch.Generator | None = None,
) -> Replies:
    """Let a model answer each question several times, at temperature 1.

    Parameters
    ----------
    model : LanguageModel
        Which answers.
    calculator : Calculator
        Whose end token ends a reply; without it a reply has 20 tokens.
    prompts : Tensor of int of shape (questions, 3)
        As :meth:`Calculator.prompts` writes them.
    tries : int
        How often each is answered.
    generator : torch.Generator, optional
        Where the randomness comes from.

    Returns
    -------
    Replies
        The replies to one question stand side by side.
    """
    asked = prompts.repeat_interleave(tries, dim=0)
    with torch.no_grad():
        return write_replies(model, asked, LIMIT, calculator.end, generator)


@checked
def entropies(
    logits: Float[Tensor, "batch reply vocab"], replies: Replies
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """Average the entropy of the next token where a key is chosen and where a number is written.

    Parameters
    ----------
    logits : Tensor of shape (batch, reply, vocab)
        From which the tokens of the replies were drawn.
    replies : Replies
        Keys and the end stand at even places, counted from 0, numbers at odd ones.

    Returns
    -------
    keys, numbers : Tensor
        In nats.
    """
    nats = entropy(logits)
    even = torch.arange(nats.shape[1]) % 2 == 0
    keys, numbers = replies.mask & even, replies.mask & ~even
    if not bool(keys.any() and numbers.any()):
        raise ValueError("the replies hold no key or no number: there is no entropy to average")
    return nats[keys].mean(), nats[numbers].mean()
