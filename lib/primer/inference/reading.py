"""A model and the text it has read: with a cache, each token passes through the model once."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from numpy.typing import ArrayLike
from torch import Tensor

from primer.inputs import as_array, checked, count, whole
from primer.inputs.given import given
from primer.inputs.tensors import all_finite, trusted
from primer.transformers import KeyValueCache, Transformer

Prompt = ArrayLike | Tensor
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
    ids = as_array("the prompt", prompt)
    if ids.dtype.kind not in "iufcb" or ids.size == 0 or ids.ndim not in (1, 2):
        given = f"shape {ids.shape}" if isinstance(prompt, Tensor) else repr(prompt)
        raise ValueError(
            f"the prompt needs at least one token, a number, got {given}; "
            "pass a text through its tokenizer, begin an empty one with the token that ends texts"
        )
    if ids.dtype.kind not in "iu":
        kind = prompt.dtype if isinstance(prompt, Tensor) else ids.dtype
        raise ValueError(f"the prompt must hold token ids, got numbers of type {kind}")
    if ids.min() < 0 or ids.max() >= model.config.vocab_size:
        raise ValueError(
            f"token ids must lie between 0 and {model.config.vocab_size - 1}, "
            f"got {ids.min()} … {ids.max()}; use the tokenizer of this model"
        )
    count("n_tokens", n_tokens)
    length, context = ids.shape[-1], model.config.context_length
    if length + n_tokens > context:
        raise ValueError(
            f"{length} tokens of prompt and {n_tokens} new ones exceed the context of {context}; "
            f"ask for fewer, or keep the end of the prompt"
        )
    tokens = prompt.long() if isinstance(prompt, Tensor) else torch.from_numpy(ids.astype("int64"))
    return torch.atleast_2d(tokens)


def check_end(model: LanguageModel, end_token: int | None) -> None:
    """Raise a ``ValueError`` when the token that ends a text is none of the model's."""
    if end_token is not None and not 0 <= whole("end_token", end_token) < model.config.vocab_size:
        raise ValueError(
            f"end_token must be a token of the model, 0 to {model.config.vocab_size - 1}, "
            f"got {end_token}: no text would ever end"
        )


def last_logits(model: LanguageModel, tokens: Tensor, n_last: int) -> Tensor:
    """Ask a model that is no transformer of ours for the logits after the last tokens.

    Raises
    ------
    ValueError
        When it returns no logit for each token of its vocabulary.

    Examples
    --------
    >>> from primer.inference import MarkovModel
    >>> chain = MarkovModel(torch.tensor([[0.9, 0.1], [0.5, 0.5]]))
    >>> last_logits(chain, torch.tensor([[0, 1, 1]]), n_last=1).shape
    torch.Size([1, 1, 2])
    """
    logits, rows, width = model(tokens), len(tokens), model.config.vocab_size
    fits = isinstance(logits, Tensor) and logits.ndim == 3 and logits.is_floating_point()
    last = logits[:, -n_last:] if fits else logits
    if not fits or last.shape != (rows, n_last, width):
        shaped = isinstance(logits, Tensor)
        got = f"{logits.dtype} of shape {tuple(logits.shape)}" if shaped else given(logits)
        raise ValueError(
            f"the model must return a logit for each of its {width} tokens, of shape "
            f"({rows}, {tokens.shape[1]}, {width}), got {got}"
        )
    return last


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
        self.asked = False

    def __call__(
        self, tokens: Int[Tensor, "batch seq"], n_last: int = 1
    ) -> Float[Tensor, "batch n_last vocab"]:
        """Read what is new in the text; return the logits of what follows its last tokens."""
        with torch.inference_mode():  # quicker than no_grad; what is made there nobody may change …
            if isinstance(self.model, Transformer):
                logits = self._read(self.model, tokens, n_last)
            else:
                logits = last_logits(self.model, tokens, n_last)
        return logits.clone()  # … so a copy leaves

    def _read(self, model: Transformer, tokens: Tensor, n_last: int) -> Tensor:
        """Ask in each layer at the first read, which meets all weights, and again where one fails.

        A single query whose scores are NaN would get zeros of torch's kernel, as if it might look
        at nothing, and the text would go on.
        """
        known = 0 if self.cache is None else self.cache.length
        if self.asked:
            with trusted():
                logits = model(tokens[:, known:], cache=self.cache, n_last=n_last)
            if all_finite(logits):
                return logits
            self.forget(known)
        logits = model(tokens[:, known:], cache=self.cache, n_last=n_last)
        if not all_finite(logits):
            raise ValueError(
                f"the model's logits are NaN or infinite in {logits.dtype}: its weights are no "
                "numbers, or too large"
            )
        self.asked = True
        return logits

    def forget(self, length: int) -> None:
        """Forget all but the first ``length`` tokens, if more were read."""
        count("length", length, at_least=0)
        if self.cache is not None and self.cache.length > length:
            self.cache.truncate(length)

    def reorder(self, rows: Int[Tensor, " batch"]) -> None:
        """Let text ``i`` continue what was text ``rows[i]``."""
        if self.cache is not None:
            self.cache.reorder(rows)
