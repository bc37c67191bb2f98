"""A model and the text it has read: with a cache, each token passes through the model once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from primer.inputs import checked, count
from primer.transformers import KeyValueCache, Transformer

Prompt = Sequence[int] | Sequence[Sequence[int]] | Tensor
"""Token ids of one text or of several texts of one length."""


@runtime_checkable
class LanguageModel(Protocol):
    """Anything that gives logits for the token after each token of a text.

    Its ``config`` names ``vocab_size`` and ``context_length``.
    """

    config: Any

    def __call__(self, tokens: Int[Tensor, "batch seq"]) -> Float[Tensor, "batch seq vocab"]:
        """Compute the logits of the next token at each place."""


def read_prompt(model: LanguageModel, prompt: Prompt, n_tokens: int) -> Int[Tensor, "batch seq"]:
    """Return the prompt as a batch of texts that leave room for ``n_tokens`` more tokens.

    Raises
    ------
    ValueError
        When the prompt is empty, holds what is no token, or does not fit the context.
    """
    if not isinstance(model, LanguageModel):
        raise ValueError(f"model must be a LanguageModel, as Transformer is, got {model!r}")
    if isinstance(prompt, str) or not (isinstance(prompt, Tensor) or len(prompt)):
        raise ValueError(
            f"the prompt needs at least one token, a number, got {prompt!r}; "
            "pass a text through its tokenizer, begin an empty one with the token that ends texts"
        )
    tokens = torch.as_tensor(prompt)
    if tokens.numel() == 0 or tokens.ndim not in (1, 2):
        raise ValueError(
            f"the prompt needs at least one token, got shape {tuple(tokens.shape)}; "
            "begin an empty text with the token that separates texts"
        )
    if tokens.is_floating_point() or tokens.is_complex() or tokens.dtype == torch.bool:
        raise ValueError(f"the prompt must hold token ids, got numbers of type {tokens.dtype}")
    if int(tokens.min()) < 0 or int(tokens.max()) >= model.config.vocab_size:
        raise ValueError(
            f"token ids must lie between 0 and {model.config.vocab_size - 1}, "
            f"got {int(tokens.min())} … {int(tokens.max())}; use the tokenizer of this model"
        )
    count("n_tokens", n_tokens)
    length, context = tokens.shape[-1], model.config.context_length
    if length + n_tokens > context:
        raise ValueError(
            f"{length} tokens of prompt and {n_tokens} new ones exceed the context of {context}; "
            f"ask for fewer, or keep the end of the prompt"
        )
    return torch.atleast_2d(tokens.long())


def check_end(model: LanguageModel, end_token: int | None) -> None:
    """Raise a ``ValueError`` when the token that ends a text is none of the model's."""
    if end_token is not None and not 0 <= end_token < model.config.vocab_size:
        raise ValueError(
            f"end_token must be a token of the model, 0 to {model.config.vocab_size - 1}, "
            f"got {end_token}: no text would ever end"
        )


class Reader:
    """A model that remembers what it has read of a growing text.

    Parameters
    ----------
    model : LanguageModel
        The model, in evaluation mode.
    cache : bool
        Whether keys and values are kept.  Without, every call reads the whole text again.  A model
        that is no :class:`~primer.transformers.Transformer` has none to keep.

    Examples
    --------
    >>> from primer.transformers import Transformer, TransformerConfig
    >>> config = TransformerConfig(vocab_size=5, n_layers=1, d_model=8, n_heads=2, context_length=9)
    >>> reader = Reader(Transformer(config))
    >>> reader(torch.tensor([[3, 1, 4]])).shape
    torch.Size([1, 1, 5])
    >>> reader(torch.tensor([[3, 1, 4, 1, 2]]), n_last=2).shape  # reads the last two tokens
    torch.Size([1, 2, 5])
    """

    @checked
    def __init__(self, model: LanguageModel, cache: bool = True) -> None:
        self.model = model
        self.cache = (
            KeyValueCache(model.config) if cache and isinstance(model, Transformer) else None
        )

    def __call__(
        self, tokens: Int[Tensor, "batch seq"], n_last: int = 1
    ) -> Float[Tensor, "batch n_last vocab"]:
        """Read what is new in the text; return the logits of what follows its last tokens."""
        with torch.inference_mode():  # quicker than no_grad; what is made there nobody may change …
            if isinstance(self.model, Transformer):
                known = 0 if self.cache is None else self.cache.length
                logits = self.model(tokens[:, known:], cache=self.cache, n_last=n_last)
            else:
                logits = self.model(tokens)[:, -n_last:]
        return logits.clone()  # … so a copy leaves

    def forget(self, length: int) -> None:
        """Forget all but the first ``length`` tokens, if more were read."""
        if self.cache is not None and self.cache.length > length:
            self.cache.truncate(length)

    def reorder(self, rows: Int[Tensor, " batch"]) -> None:
        """Let text ``i`` continue what was text ``rows[i]``."""
        if self.cache is not None:
            self.cache.reorder(rows)
