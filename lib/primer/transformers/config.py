"""One configuration that spans the transformers in use, from the original paper to Llama."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields, replace
from typing import Any, Literal, TypeVar, get_args

import numpy as np

from primer.inputs import count, fraction, number, one_of, truth

Positions = Literal["rope", "learned", "sinusoidal", "alibi", "none"]
RopeLayout = Literal["half", "interleaved"]
Norm = Literal["rms", "layer"]
NormPosition = Literal["pre", "post"]
Activation = Literal["swiglu", "gelu", "gelu_tanh", "relu"]

Settings = TypeVar("Settings", "TransformerConfig", "RopeStretch")

WIDEST = 1 << 24
LARGEST = {
    "vocab_size": WIDEST,
    "n_layers": 10_000,
    "d_model": 1 << 15,
    "n_heads": 1 << 15,
    "context_length": WIDEST,
}
"""How much of each a model may have; more is a slip of the finger, and would fill the memory."""
CHOICES = {
    "positions": get_args(Positions),
    "rope_layout": get_args(RopeLayout),
    "norm": get_args(Norm),
    "norm_position": get_args(NormPosition),
    "feed_forward": get_args(Activation),
}


@dataclass(frozen=True)
class RopeStretch:
    """How Llama 3.1 and later slow their rotations for a longer context.

    The numbers are those of :func:`primer.positions.llama3_frequencies`.

    Parameters
    ----------
    factor : float
        How many times the slow pairs are slowed down, at least 1.
    trained_length : int
        The length of the context before, in tokens.
    slow_turns, fast_turns : float
        Pairs that made fewer turns in it are slowed by the factor, pairs that made more stay.

    Raises
    ------
    ValueError
        When a number is out of range.

    Examples
    --------
    >>> RopeStretch(factor=8.0, trained_length=8192)
    RopeStretch(factor=8.0, trained_length=8192, slow_turns=1.0, fast_turns=4.0)
    """

    factor: float
    trained_length: int
    slow_turns: float = 1.0
    fast_turns: float = 4.0

    def __post_init__(self) -> None:
        """Refuse what slows nothing."""
        count("trained_length", self.trained_length)
        if number("factor", self.factor) < 1:
            raise ValueError(f"factor must be at least 1, got {self.factor}")
        slow, fast = number("slow_turns", self.slow_turns), number("fast_turns", self.fast_turns)
        if not fast > slow > 0:
            raise ValueError(f"need fast_turns > slow_turns > 0, got {fast} and {slow}")


@dataclass(frozen=True)
class TransformerConfig:
    r"""Everything that decides the shape of a transformer; its weights are not in here.

    What is left out is the modern form: pre-norm with RMSNorm, rotary positions, SwiGLU, no biases,
    embedding and output layer sharing one matrix.

    Parameters
    ----------
    vocab_size : int
        The number of tokens :math:`V`.
    n_layers : int
        The number of blocks :math:`L`.
    d_model : int
        The width :math:`d` of the residual stream.
    n_heads : int
        The number of query heads; it divides ``d_model``.
    context_length : int
        The longest sequence the model takes, in tokens.
    n_kv_heads : int, optional
        The number of key and value heads; it divides ``n_heads``.  1 is multi-query attention, a
        number between is grouped-query attention, left out it is ``n_heads``.
    d_ff : int, optional
        The width inside the feed-forward layer.  Left out it is :math:`4d`, and for SwiGLU, which
        has three matrices in place of two, :math:`\tfrac83 d` rounded up to a multiple of 8.
    positions : {"rope", "learned", "sinusoidal", "alibi", "none"}
        How a token knows where it stands.
    rope_base : float
        The base of the rotary frequencies.
    rope_layout : {"half", "interleaved"}
        Which coordinates of a head form a rotary pair.
    rope_stretch : RopeStretch or mapping, optional
        How the rotations are slowed for a context longer than the one of the first training; left
        out, not at all.
    norm : {"rms", "layer"}
        RMSNorm or LayerNorm.
    norm_position : {"pre", "post"}
        :math:`x + F(\mathrm{norm}(x))` with one more norm at the end, or
        :math:`\mathrm{norm}(x + F(x))`.
    feed_forward : {"swiglu", "gelu", "gelu_tanh", "relu"}
        The nonlinearity; ``"gelu_tanh"`` is the approximation of GELU that GPT-2 was trained with.
    bias : bool
        Whether linear layers and LayerNorm have biases.
    tied_embeddings : bool
        Whether the output layer is the transposed embedding.
    window : int, optional
        How many tokens, itself included, a token may look back at; left out, all of them.
    n_experts : int, optional
        The number of experts that replace each feed-forward layer; left out, one dense layer.
    experts_per_token : int
        How many experts the router picks for a token.
    dropout : float
        The probability with which a number entering the residual stream is dropped in training.
    norm_eps : float
        What is added to the variance before its root is taken.

    Raises
    ------
    ValueError
        When a number is out of range, the heads do not divide the width, or a choice is unknown.

    Examples
    --------
    >>> config = TransformerConfig(
    ...     vocab_size=1024, n_layers=4, d_model=128, n_heads=4, context_length=256
    ... )
    >>> config.d_head, config.kv_heads, config.ff_width
    (32, 4, 344)
    >>> TransformerConfig(vocab_size=10, n_layers=1, d_model=10, n_heads=4, context_length=8)
    Traceback (most recent call last):
        ...
    ValueError: n_heads must divide d_model, got 4 heads for a width of 10
    """

    vocab_size: int
    n_layers: int
    d_model: int
    n_heads: int
    context_length: int
    n_kv_heads: int | None = None
    d_ff: int | None = None
    positions: Positions = "rope"
    rope_base: float = 10_000.0
    rope_layout: RopeLayout = "half"
    norm: Norm = "rms"
    norm_position: NormPosition = "pre"
    feed_forward: Activation = "swiglu"
    bias: bool = False
    tied_embeddings: bool = True
    window: int | None = None
    n_experts: int | None = None
    experts_per_token: int = 2
    dropout: float = 0.0
    norm_eps: float = 1e-5
    rope_stretch: RopeStretch | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be built."""
        if isinstance(self.rope_stretch, Mapping):  # as files hold it
            object.__setattr__(self, "rope_stretch", _from_names(RopeStretch, self.rope_stretch))
        if not isinstance(self.rope_stretch, RopeStretch | None):
            raise ValueError(f"rope_stretch must be a RopeStretch, got {self.rope_stretch!r}")
        if self.rope_stretch is not None and self.positions != "rope":
            raise ValueError(f"rope_stretch needs positions = 'rope', got {self.positions!r}")
        for name, most in LARGEST.items():
            count(name, getattr(self, name), at_most=most)
        for name in ("n_kv_heads", "d_ff", "window", "n_experts"):
            if getattr(self, name) is not None:
                count(name, getattr(self, name), at_most=10_000 if name == "n_experts" else WIDEST)
        for name, allowed in CHOICES.items():
            one_of(name, getattr(self, name), allowed)
        self._check_heads()
        count("experts_per_token", self.experts_per_token)
        if self.n_experts is not None and self.experts_per_token > self.n_experts:
            raise ValueError(
                f"experts_per_token must lie between 1 and n_experts = {self.n_experts}, "
                f"got {self.experts_per_token}"
            )
        for name, low, high in (("rope_base", 1, math.inf), ("norm_eps", 0, 1)):
            value = number(name, getattr(self, name))
            if not low < value < high:
                raise ValueError(f"{name} must lie between {low} and {high}, got {value}")
        fraction("dropout", self.dropout)
        for name in ("bias", "tied_embeddings"):
            object.__setattr__(self, name, truth(name, getattr(self, name)))

    def _check_heads(self) -> None:
        """Refuse heads that do not divide what they share, and odd widths where pairs are made."""
        if self.d_model % self.n_heads:
            raise ValueError(
                f"n_heads must divide d_model, "
                f"got {self.n_heads} heads for a width of {self.d_model}"
            )
        if self.n_heads % self.kv_heads:
            raise ValueError(
                f"n_kv_heads must divide n_heads, got {self.kv_heads} for {self.n_heads} heads"
            )
        if self.positions == "rope" and self.d_head % 2:
            raise ValueError(f"RoPE turns pairs: d_model / n_heads must be even, got {self.d_head}")
        if self.positions == "sinusoidal" and self.d_model % 2:
            raise ValueError(f"sinusoidal positions need an even d_model, got {self.d_model}")

    @property
    def d_head(self) -> int:
        """The width of one head."""
        return self.d_model // self.n_heads

    @property
    def kv_heads(self) -> int:
        """The number of key and value heads."""
        return self.n_heads if self.n_kv_heads is None else self.n_kv_heads

    @property
    def ff_width(self) -> int:
        """The width inside the feed-forward layer."""
        if self.d_ff is not None:
            return self.d_ff
        if self.feed_forward == "swiglu":
            return 8 * math.ceil(self.d_model / 3)  # 8d/3, rounded up to a multiple of 8
        return 4 * self.d_model

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration as plain values, ready for JSON or TOML."""
        return asdict(self, dict_factory=_plain)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TransformerConfig:
        """Build a configuration from plain values.

        Raises
        ------
        ValueError
            When these are no names with values, a name is unknown, a necessary one is missing, or a
            value cannot be built.

        Examples
        --------
        >>> TransformerConfig.from_dict({"layers": 4})
        Traceback (most recent call last):
            ...
        ValueError: a transformer's configuration has no entry 'layers'
        """
        return _from_names(cls, values)


def _plain(values: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a dictionary in which NumPy's numbers, which JSON does not know, are plain ones."""
    return {name: v.item() if isinstance(v, np.generic) else v for name, v in values}


def _from_names(kind: type[Settings], values: Mapping[str, Any]) -> Settings:
    """Build a dataclass of plain values, or say which name is unknown or missing."""
    what = "rope_stretch" if kind is RopeStretch else "a transformer's configuration"
    if not isinstance(values, Mapping):
        raise ValueError(f"{what} must be names with values, got a {type(values).__name__}")
    known = {field.name for field in fields(kind)}
    for name in values:
        if name not in known:
            raise ValueError(f"{what} has no entry {name!r}")
    missing = [f.name for f in fields(kind) if f.default is MISSING and f.name not in values]
    if missing:
        raise ValueError(f"{what} needs {', '.join(missing)}")
    return kind(**values)


ORIGINAL = TransformerConfig(
    vocab_size=37_000,
    n_layers=6,  # six in the encoder and six in the decoder
    d_model=512,
    n_heads=8,
    context_length=512,
    positions="sinusoidal",
    norm="layer",
    norm_position="post",
    feed_forward="relu",
    bias=True,
)
GPT2_SMALL = TransformerConfig(
    vocab_size=50_257,
    n_layers=12,
    d_model=768,
    n_heads=12,
    context_length=1024,
    positions="learned",
    norm="layer",
    feed_forward="gelu_tanh",
    bias=True,
)
GPT3 = replace(GPT2_SMALL, n_layers=96, d_model=12_288, n_heads=96, context_length=2048)
LLAMA_2_7B = TransformerConfig(
    vocab_size=32_000,
    n_layers=32,
    d_model=4096,
    n_heads=32,
    context_length=4096,
    d_ff=11_008,
    tied_embeddings=False,
)
