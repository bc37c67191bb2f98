"""A decoder-only transformer: the original form, the modern one, and what lies between."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from primer.attention import (
    MultiHeadAttention,
    Observe,
    causal_mask,
    shown,
    sliding_window_mask,
    within,
)
from primer.inputs import checked, whole
from primer.inputs.tensors import holds_finite
from primer.positions import alibi_bias
from primer.transformers.cache import KeyValueCache, all_or_none
from primer.transformers.config import TransformerConfig
from primer.transformers.embedding import add_positions, check_tokens, look_up, make_positions
from primer.transformers.feed_forward import make_feed_forward
from primer.transformers.fitting import check_fit
from primer.transformers.mixture import MixtureOfExperts
from primer.transformers.norms import RMSNorm
from primer.transformers.rotary import Rotary

ACTIVATIONS = {
    "embedding": "batch seq d_model",
    "blocks.ℓ.before": "batch seq d_model",
    "blocks.ℓ.attention.input": "batch seq d_model",
    "blocks.ℓ.attention.queries": "batch heads seq d_head",
    "blocks.ℓ.attention.keys": "batch kv_heads seq d_head",
    "blocks.ℓ.attention.values": "batch kv_heads seq d_head",
    "blocks.ℓ.attention.scores": "batch heads seq all_tokens",
    "blocks.ℓ.attention.weights": "batch heads seq all_tokens",
    "blocks.ℓ.attention.heads": "batch heads seq d_head",
    "blocks.ℓ.attention.output": "batch seq d_model",
    "blocks.ℓ.between": "batch seq d_model",
    "blocks.ℓ.feed_forward.input": "batch seq d_model",
    "blocks.ℓ.feed_forward.output": "batch seq d_model",
    "blocks.ℓ.after": "batch seq d_model",
    "norm": "batch last d_model",
    "logits": "batch last vocab",
}
"""What an observer of a transformer is shown, in this order, with its axes; ℓ counts from 0."""


class Block(nn.Module):
    r"""One layer: tokens exchange what they know, then each thinks about it by itself.

    Pre-norm keeps a path from input to output that nothing touches,

    .. math::
        y = x + \mathrm{MHA}(\mathrm{norm}_1(x)), \qquad z = y + \mathrm{FFN}(\mathrm{norm}_2(y)),

    post-norm, the original form, normalizes the sum:

    .. math::
        y = \mathrm{norm}_1(x + \mathrm{MHA}(x)), \qquad z = \mathrm{norm}_2(y + \mathrm{FFN}(y)).

    Parameters
    ----------
    config : TransformerConfig
        The shape of the model.

    References
    ----------
    Vaswani et al. (2017), section 3.1; Xiong et al. (2020), figure 1, for pre-norm.
    """

    @checked
    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.norm1, self.norm2 = make_norm(config), make_norm(config)
        self.attention = MultiHeadAttention(
            config.d_model, config.n_heads, config.kv_heads, bias=config.bias
        )
        self.feed_forward = make_sublayer(config)
        self.dropout = nn.Dropout(config.dropout)
        self.pre_norm = config.norm_position == "pre"

    def forward(
        self,
        x: Float[Tensor, "batch seq d_model"],
        *,
        observe: Observe | None = None,
        **context: Any,
    ) -> Float[Tensor, "batch seq d_model"]:
        """Compute the layer's output.

        ``observe`` is shown what :data:`ACTIVATIONS` lists for a block; ``context`` goes to the
        attention: ``mask``, ``bias``, ``rotate`` and ``cache``.
        """
        x = shown(observe, "before", x)
        heard = self.attention(
            self.norm1(x) if self.pre_norm else x, observe=within(observe, "attention"), **context
        )
        x = x + self.dropout(heard)
        x = shown(observe, "between", x if self.pre_norm else self.norm1(x))
        given = shown(observe, "feed_forward.input", self.norm2(x) if self.pre_norm else x)
        x = x + self.dropout(shown(observe, "feed_forward.output", self.feed_forward(given)))
        return shown(observe, "after", x if self.pre_norm else self.norm2(x))


class Stack(nn.Module):
    """What all transformers are made of: embedding, positions, blocks and a last norm.

    Parameters
    ----------
    config : TransformerConfig
        The shape of the model.
    make_block : callable
        What builds one of its ``n_layers`` blocks from the configuration.
    """

    def __init__(
        self, config: TransformerConfig, make_block: Callable[[TransformerConfig], nn.Module]
    ) -> None:
        super().__init__()
        self.config = config
        self.embed = nn.Embedding(config.vocab_size, config.d_model)
        self.positions = make_positions(config)
        self.dropout = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList(make_block(config) for _ in range(config.n_layers))
        self.norm = make_norm(config) if config.norm_position == "pre" else nn.Identity()


class Transformer(Stack):
    r"""A decoder-only transformer that predicts the next token at every position.

    .. math::
        x^0 = E_{\text{tokens}}, \qquad x^{\ell} = \mathrm{Block}_\ell(x^{\ell-1}), \qquad
        \text{logits} = \mathrm{norm}(x^L)\,W_{\text{head}}

    Parameters
    ----------
    config : TransformerConfig
        The shape of the model.

    Examples
    --------
    >>> config = TransformerConfig(
    ...     vocab_size=100, n_layers=2, d_model=32, n_heads=4, context_length=16
    ... )
    >>> model = Transformer(config)
    >>> model(torch.tensor([[1, 2, 3]])).shape
    torch.Size([1, 3, 100])
    >>> seen = {}  # what is computed on the way, by its name
    >>> logits = model(torch.tensor([[1, 2, 3]]), observe=seen.__setitem__)
    >>> seen["blocks.0.attention.weights"].shape
    torch.Size([1, 4, 3, 3])
    """

    @checked
    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config, Block)
        self.head = nn.Linear(config.d_model, config.vocab_size, bias=False)
        initialize(self, config.n_layers)
        if config.tied_embeddings:
            self.head.weight = self.embed.weight

    @classmethod
    def from_weights(cls, config: TransformerConfig, weights: Mapping[str, Tensor]) -> Transformer:
        """Build a model around given weights; nobody's next random number changes by it.

        Parameters
        ----------
        config : TransformerConfig
            The shape of the model.
        weights : mapping of str to Tensor
            Every parameter by its name; ``head.weight`` is left out where it is the embedding.

        Returns
        -------
        Transformer
            A model with copies of them in torch's default precision.

        Raises
        ------
        ValueError
            When a weight is missing, superfluous, of another shape, no floating-point tensor, NaN
            or infinite, or the head of a tied model is another matrix than the embedding.
        """
        check_fit(config, weights)
        # A small model's random weights are drawn, and thrown away, in a hundredth of the time in
        # which torch loads what lays them out on "meta".
        with torch.random.fork_rng(devices=()), torch.device("cpu"):
            model = cls(config)
        dtype, own = torch.get_default_dtype(), {}
        for name, weight in weights.items():
            own[name] = weight.detach().to(dtype, copy=True).contiguous()
            if not holds_finite(own[name]):
                raise ValueError(f"{name} must be finite in {dtype}, it holds NaN or infinity")
        if config.tied_embeddings:
            head = own.setdefault("head.weight", own["embed.weight"])
            if not torch.equal(head, own["embed.weight"]):
                raise ValueError("head.weight is not the embedding: it needs tied_embeddings=False")
        model.load_state_dict(own, assign=True)
        if config.tied_embeddings:
            model.head.weight = model.embed.weight
        return model

    def forward(
        self,
        tokens: Int[Tensor, "batch seq"],
        cache: KeyValueCache | None = None,
        *,
        n_last: int | None = None,
        observe: Observe | None = None,
    ) -> Float[Tensor, "batch last vocab"]:
        """Compute the logits of the token that follows each position.

        Parameters
        ----------
        tokens : Tensor of int of shape (batch, seq)
            The text as token ids; with a cache, only what the cache does not hold yet.
        cache : KeyValueCache, optional
            What the model remembers of earlier tokens; the new ones are added to it.
        n_last : int, optional
            Only the last so many positions get logits: to write, one needs no more than the last.
        observe : callable, optional
            ``observe(name, tensor)`` is shown every activation of :data:`ACTIVATIONS` in turn, and
            the model goes on with what it returns, unless that is ``None``.  The explicit scores
            and weights cost the fused kernel.

        Returns
        -------
        Tensor of shape (batch, seq or n_last, vocab)
            The logits.

        Raises
        ------
        ValueError
            When there is no token, one is not in the vocabulary, the text is longer than the
            context, ``n_last`` is not between 1 and the number of tokens, or the observer returns
            another shape.
        """
        start = 0 if cache is None else tokens_held(cache, self.config)
        check_tokens(tokens, self.config, start)
        if n_last is not None and not 1 <= whole("n_last", n_last) <= tokens.shape[1]:
            raise ValueError(f"n_last must lie between 1 and {tokens.shape[1]}, got {n_last}")
        x = add_positions(look_up(self.embed, tokens), self.positions, start)
        observe = within(observe)
        x = self.dropout(shown(observe, "embedding", x))
        context = self._context(x, start)
        with all_or_none(cache):
            for layer, block in enumerate(self.blocks):
                own = None if cache is None else cache[layer]
                x = block(x, observe=within(observe, f"blocks.{layer}"), cache=own, **context)
        x = shown(observe, "norm", self.norm(x if n_last is None else x[:, -n_last:]))
        return shown(observe, "logits", self.head(x))

    def _context(self, x: Tensor, start: int) -> dict[str, Any]:
        """Build what all layers' attentions share: mask, bias and rotation."""
        config, n_queries = self.config, x.shape[1]
        n_keys = start + n_queries
        mask = bias = None
        if config.window is not None and n_keys > config.window:
            mask = sliding_window_mask(n_queries, n_keys, config.window).to(x.device)
        elif n_queries > 1:  # a single new token may see everything
            mask = causal_mask(n_queries, n_keys).to(x.device)
        if config.positions == "alibi":
            bias = alibi_bias(config.n_heads, n_queries, n_keys).to(x)
        rotate = self.positions if isinstance(self.positions, Rotary) else None
        return {"mask": mask, "bias": bias, "rotate": rotate}


def tokens_held(cache: KeyValueCache, config: TransformerConfig) -> int:
    """Return how many tokens a cache holds; refuse one that is for another model."""
    if isinstance(cache, type) or not hasattr(cache, "length"):
        raise ValueError(f"cache must be a KeyValueCache(model.config), got {cache!r:.60}")
    if len(cache) != config.n_layers:
        raise ValueError(
            f"the cache has {len(cache)} layers and the model {config.n_layers}: "
            "make it with KeyValueCache(model.config)"
        )
    return cache.length


def make_norm(config: TransformerConfig) -> nn.Module:
    """Build one norm layer."""
    if config.norm == "rms":
        return RMSNorm(config.d_model, eps=config.norm_eps)
    return nn.LayerNorm(config.d_model, eps=config.norm_eps, bias=config.bias)


def make_sublayer(config: TransformerConfig) -> nn.Module:
    """Build the feed-forward layer, or the mixture of experts in its place."""

    def dense() -> nn.Module:
        return make_feed_forward(
            config.feed_forward, config.d_model, config.ff_width, bias=config.bias
        )

    if config.n_experts is None:
        return dense()
    return MixtureOfExperts(dense, config.d_model, config.n_experts, config.experts_per_token)


def initialize(model: nn.Module, n_layers: int) -> None:
    r"""Draw the weights as GPT-2 does.

    Matrices are normal with standard deviation 0.02, biases 0.  Each block adds two results to the
    residual stream; their last matrices are divided by :math:`\sqrt{2L}`, so that the stream's
    variance does not grow with depth.

    References
    ----------
    Radford et al. (2019), section 2.3.
    """
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            last = name.endswith(("attention.output", "down"))
            nn.init.normal_(module.weight, std=0.02 / math.sqrt(2 * n_layers) if last else 0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)
