"""The loop that writes: read, choose, append."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from primer.inference.reading import LanguageModel, Prompt, Reader, check_end, read_prompt
from primer.inference.sampling import greedy
from primer.inputs import checked
from primer.inputs.tensors import holds_whole

Choose = Callable[[Float[Tensor, "batch vocab"]], Int[Tensor, " batch"]]


@checked
def generate(
    model: LanguageModel,
    prompt: Prompt,
    n_tokens: int,
    choose: Choose = greedy,
    *,
    cache: bool = True,
    end_token: int | None = None,
) -> Int[Tensor, "*batch length"]:
    r"""Continue a text token by token.

    .. math:: w_{t+1} = \mathrm{choose}\bigl(u_t\bigr), \qquad
              u_t = \mathrm{model}(w_1, \dots, w_t)_t

    Parameters
    ----------
    model : LanguageModel
        The model, in evaluation mode.
    prompt : sequence of int, or Tensor of shape (seq,) or (batch, seq)
        Token ids, on the model's device; the texts of a batch are of one length.
    n_tokens : int
        How many tokens to add at most.
    choose : callable
        Takes logits of shape (batch, vocab), returns token ids of shape (batch,): :func:`greedy`,
        or ``functools.partial(sample, temperature=0.8)``.
    cache : bool
        Whether to keep the keys and values of the tokens already read.  The text is the same.
    end_token : int, optional
        The token that ends a text.  A text that has ended is filled with it until all have.

    Returns
    -------
    Tensor of shape (length,) or (batch, length)
        The prompt and its continuation.

    Raises
    ------
    ValueError
        When the prompt is empty, holds what is no token of the model, or does not leave room for
        ``n_tokens`` tokens in the context; when ``n_tokens`` is less than 1, or ``choose`` returns
        something else than a token for each text.

    Examples
    --------
    >>> from primer.inference import MarkovModel
    >>> circle = MarkovModel(torch.tensor([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]))
    >>> generate(circle, [0], 5)
    tensor([0, 1, 2, 0, 1, 2])
    """
    tokens = read_prompt(model, prompt, n_tokens)
    check_end(model, end_token)
    reader = Reader(model, cache)
    ended = tokens.new_zeros(len(tokens), dtype=torch.bool)
    for _ in range(n_tokens):
        new = _chosen(choose(reader(tokens)[:, -1]), tokens)
        if end_token is not None:
            new = new.masked_fill(ended, end_token)
            ended = ended | (new == end_token)
        tokens = torch.cat([tokens, new[:, None]], dim=1)
        if bool(ended.all()):
            break
    if int(tokens.min()) < 0 or int(tokens.max()) >= model.config.vocab_size:
        raise ValueError("choose returned what is no token of the model")
    return tokens if np.ndim(prompt) == 2 else tokens[0]


def _chosen(new: Int[Tensor, " batch"], tokens: Int[Tensor, "batch seq"]) -> Int[Tensor, " batch"]:
    """Return what a caller's ``choose`` returned, if it is a whole number for each text."""
    fits = isinstance(new, Tensor) and new.shape == tokens.shape[:1]
    if not fits or not holds_whole(new):
        shaped = isinstance(new, Tensor)
        given = f"a tensor of {new.dtype} and shape {tuple(new.shape)}" if shaped else repr(new)
        raise ValueError(
            f"choose must return a tensor of token ids of shape ({len(tokens)},), got {given}"
        )
    return new.long()
