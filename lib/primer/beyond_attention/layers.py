"""Linear attention as a layer that a transformer can hold, and what such a layer keeps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from primer.inputs import Count, Side, checked, count, tensor
from primer.inputs.functions import alike, same_precision
from primer.inputs.given import given
from primer.inputs.tensors import all_finite, check_finite, is_trusted

Rotate = Callable[[Tensor, int], Tensor]


class LayerState:
    """What a layer with a fixed state keeps between tokens: its size does not grow with the text.

    Attributes
    ----------
    length : int
        How many tokens were read.
    held : dict of str to Tensor
        The state, by the names that the layer gives to its parts; empty before the first token.
    """

    def __init__(self) -> None:
        self.length = 0
        self.held: dict[str, Tensor] = {}

    @property
    def bytes(self) -> int:
        """The bytes that the state takes."""
        return sum(part.nbytes for part in self.held.values())

    def keep(self, tokens: int, **parts: Tensor) -> None:
        """Replace the state by the one after so many tokens more; no gradient flows into it."""
        if not is_trusted():
            count("tokens", tokens, at_least=0)
            parts = {name: tensor(name, part) for name, part in parts.items()}
        self.length += tokens
        self.held = {name: part.detach() for name, part in parts.items()}


class LinearAttention(nn.Module):
    r"""Causal linear attention with several heads, in the place of softmax attention.

    .. math::

        o_t = \frac{\sum_{j\le t} \big(R_t\phi(q_t)\big)\big(R_j\phi(k_j)\big)^\top v_j}
                   {\sum_{j\le t} \phi(q_t)\phi(k_j)^\top},
        \qquad \phi(x) = \operatorname{elu}(x) + 1

    Rotations :math:`R_t` turn the features of the numerator alone: turned features need not be
    positive, and the denominator must be.  Its parameters are named as those of
    :class:`primer.attention.MultiHeadAttention`.

    Parameters
    ----------
    d_model : int
        The width of the tokens.
    n_heads : int
        The number of heads, a divisor of ``d_model``.

    Raises
    ------
    ValueError
        When the heads do not divide the width.

    References
    ----------
    Katharopoulos et al. (2020), equations 7 to 12; Su et al. (2021), equation 19.

    Examples
    --------
    >>> import torch
    >>> layer, kept = LinearAttention(8, n_heads=2), LayerState()
    >>> layer(torch.zeros(1, 5, 8), cache=kept).shape
    torch.Size([1, 5, 8])
    >>> kept.bytes  # 2 heads, 4 × 4 numbers and 4 for the denominator, however long the text
    160
    """

    @checked
    def __init__(self, d_model: Side, n_heads: Count) -> None:
        super().__init__()
        if d_model % n_heads:
            raise ValueError(
                f"n_heads must divide d_model, got {n_heads} heads for a width of {d_model}"
            )
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model, bias=False)
        self.key = nn.Linear(d_model, d_model, bias=False)
        self.value = nn.Linear(d_model, d_model, bias=False)
        self.output = nn.Linear(d_model, d_model, bias=False)

    def forward(
        self,
        x: Float[Tensor, "batch time d_model"],
        *,
        rotate: Rotate | None = None,
        cache: LayerState | None = None,
        **_: Any,
    ) -> Float[Tensor, "batch time d_model"]:
        """Map a text to a text of the same shape; no output sees a later token.

        ``cache`` holds the state of what was read before and gets the new one; the mask that
        softmax attention needs is built in.
        """
        check_text(x, self.query)
        d_head = x.shape[-1] // self.n_heads
        check_state(
            x, cache, matrix=(self.n_heads, d_head, d_head), total=(self.n_heads, 1, d_head)
        )
        q, k, v = (self._heads(part(x)) for part in (self.query, self.key, self.value))
        q, k = _features(q), _features(k)  # (batch, heads, time, d_head)
        start, held = (cache.length, cache.held) if cache is not None else (0, {})
        total = k.cumsum(dim=-2)  # of all keys so far
        if held:
            total = total + held["total"]
        below = (q * total).sum(dim=-1, keepdim=True)
        if rotate is not None:
            if isinstance(rotate, type) or not callable(rotate):
                raise ValueError(
                    f"rotate must be a function of a tensor and its start, got {given(rotate)}"
                )
            q, k = alike("rotate", rotate, q, start), alike("rotate", rotate, k, start)
        above = (q @ k.mT).tril() @ v
        if held:
            above = above + q @ held["matrix"]
        if not all_finite(outputs := above / below):
            raise ValueError(
                "the features of queries or keys are so small that their products are 0, or too "
                f"large for {x.dtype}: nothing can be divided; make tokens or weights smaller"
            )
        if cache is not None:
            matrix = k.mT @ v + held.get("matrix", 0)
            cache.keep(x.shape[1], matrix=matrix, total=total[..., -1:, :].clone())
        return self.output(outputs.transpose(1, 2).flatten(2))

    def _heads(self, x: Tensor) -> Tensor:
        """Split the last axis: (batch, heads, time, d_head)."""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)


def _features(x: Tensor) -> Tensor:
    """Compute elu(x) + 1, which is e^x below 0: written as such it is above 0 also there."""
    return torch.where(x > 0, x + 1, x.clamp(max=0).exp())


def check_text(x: Tensor, first: nn.Linear) -> None:
    """Raise a ``ValueError`` unless these are texts that a layer's first matrix can read."""
    width, weight = first.in_features, first.weight
    if tensor("x", x, beside=weight).ndim != 3 or x.shape[-1] != width or x.shape[1] == 0:
        raise ValueError(
            f"x must have shape (batch, tokens, {width}), with at least one token, "
            f"got {tuple(x.shape)}"
        )
    if not same_precision(x, weight.dtype):
        raise ValueError(f"x needs the layer's precision, {weight.dtype}, got {x.dtype}")
    check_finite("x", x)


def check_state(x: Tensor, cache: LayerState | None, **shapes: tuple[int | None, ...]) -> None:
    """Raise a ``ValueError`` unless such a layer made the state, of as many texts.

    ``shapes`` are those of the parts it holds of one text; ``None`` is any length.
    """
    if cache is None or (isinstance(cache, LayerState) and not cache.held):
        return
    if not isinstance(cache, LayerState):
        raise ValueError(f"cache must be a LayerState, got a {type(cache).__name__}")
    for part in cache.held.values():
        if len(part) != len(x):
            raise ValueError(
                f"the state holds {len(part)} texts, got {len(x)}; begin with a new LayerState()"
            )
    if cache.held.keys() != shapes.keys() or any(
        not same_precision(x, part.dtype)
        or part.ndim != len(shapes[name]) + 1
        or any(n not in (None, m) for n, m in zip(shapes[name], part.shape[1:], strict=True))
        for name, part in cache.held.items()
    ):
        held = ", ".join(f"{n} {tuple(p.shape)} of {p.dtype}" for n, p in cache.held.items())
        raise ValueError(
            f"the state is another layer's: it holds {held}; begin with a new LayerState()"
        )
