r"""The feed-forward network: what a block computes for each token alone.

Two forms: the original one, a hidden layer wider than the model, and the gated one of Llama, in
which one projection opens or closes the other.  Rows are tokens, so a layer computes
:math:`xW`; ``nn.Linear`` stores :math:`W^\top`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import gelu, relu, silu

from primer.inputs import Dim, Side, among, checked, one_of, room, tensor
from primer.inputs.functions import same_precision
from primer.inputs.tensors import all_finite, check_finite, is_trusted

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": relu,
    "gelu": gelu,
    "gelu_tanh": partial(gelu, approximate="tanh"),
}
KINDS = (*ACTIVATIONS, "swiglu")


class FeedForward(nn.Module):
    r"""The original network: widen, apply a nonlinearity, narrow again.

    .. math:: \mathrm{FFN}(x) = \phi(xW_1 + b_1)\,W_2 + b_2

    Parameters
    ----------
    d_model, d_ff : int
        The width :math:`d` of a token and :math:`d_{ff}` of the hidden layer.
    activation : {"relu", "gelu", "gelu_tanh"}
        :math:`\phi`: ReLU as in the original, GELU, or GPT-2's approximation of it with tanh.
    bias : bool
        Whether there are :math:`b_1` and :math:`b_2`.

    Raises
    ------
    ValueError
        When a width is not positive or the activation is unknown.

    References
    ----------
    Vaswani et al. (2017), equation 2.

    Examples
    --------
    >>> FeedForward(8, 32)
    FeedForward(
      (up): Linear(in_features=8, out_features=32, bias=True)
      (down): Linear(in_features=32, out_features=8, bias=True)
    )
    """

    @checked
    def __init__(
        self,
        d_model: Side,
        d_ff: Dim,
        activation: Annotated[str, among(ACTIVATIONS)] = "relu",
        bias: bool = True,
    ) -> None:
        super().__init__()
        room(d_model=d_model, d_ff=d_ff)
        self.up = nn.Linear(d_model, d_ff, bias=bias)
        self.activation = ACTIVATIONS[activation]
        self.down = nn.Linear(d_ff, d_model, bias=bias)

    def forward(self, x: Float[Tensor, "... d_model"]) -> Float[Tensor, "... d_model"]:
        """Compute the network's output for every token of ``x``, each by itself."""
        _check_tokens(x, self.up)
        return _finite(self.down(self.activation(self.up(x))))


class SwiGLU(nn.Module):
    r"""The gated network: one projection decides how much of the other passes.

    .. math::
        \mathrm{SwiGLU}(x) = \bigl(\mathrm{Swish}(xW_1)\odot xW_3\bigr)\,W_2, \qquad
        \mathrm{Swish}(z) = \frac{z}{1+e^{-z}}

    ``gate`` is :math:`W_1`, ``up`` is :math:`W_3` and ``down`` is :math:`W_2`.

    Parameters
    ----------
    d_model, d_ff : int
        The width :math:`d` of a token and :math:`d_{ff}` of the hidden layer.
    bias : bool
        Whether the three layers add a bias.

    Raises
    ------
    ValueError
        When a width is not positive.

    References
    ----------
    Shazeer (2020), equation 6.

    Examples
    --------
    >>> sum(p.numel() for p in SwiGLU(6, 16).parameters())  # as many as FeedForward(6, 24) has
    288
    """

    @checked
    def __init__(self, d_model: Side, d_ff: Dim, bias: bool = False) -> None:
        super().__init__()
        room(d_model=d_model, d_ff=d_ff)
        self.gate = nn.Linear(d_model, d_ff, bias=bias)
        self.up = nn.Linear(d_model, d_ff, bias=bias)
        self.down = nn.Linear(d_ff, d_model, bias=bias)

    def forward(self, x: Float[Tensor, "... d_model"]) -> Float[Tensor, "... d_model"]:
        """Compute the network's output for every token of ``x``, each by itself."""
        _check_tokens(x, self.up)
        return _finite(self.down(silu(self.gate(x)) * self.up(x)))


def make_feed_forward(kind: str, d_model: int, d_ff: int, bias: bool) -> FeedForward | SwiGLU:
    """Build the network a configuration names.

    Parameters
    ----------
    kind : {"relu", "gelu", "gelu_tanh", "swiglu"}
        Its form.
    d_model, d_ff : int
        Its widths.
    bias : bool
        Whether its layers add a bias.

    Returns
    -------
    FeedForward or SwiGLU
        The network, with fresh weights.

    Raises
    ------
    ValueError
        When the form is unknown or a width not positive.
    """
    one_of("feed_forward", kind, KINDS)
    if kind == "swiglu":
        return SwiGLU(d_model, d_ff, bias)
    return FeedForward(d_model, d_ff, kind, bias)


def _check_tokens(x: Tensor, up: nn.Linear) -> None:
    """Raise a ``ValueError`` unless these are tokens that the network can read."""
    if is_trusted():
        return
    weight = getattr(up, "weight", None)  # none where fine-tuning wraps it
    if tensor("x", x, axes=1, beside=weight).shape[-1] != up.in_features:
        raise ValueError(
            f"x must hold tokens of width {up.in_features}, got shape {tuple(x.shape)}"
        )
    if weight is not None and not same_precision(x, weight.dtype):
        raise ValueError(f"x needs the layer's precision, {weight.dtype}, got {x.dtype}")
    check_finite("x", x)


def _finite(output: Tensor) -> Tensor:
    """Return what a network computed, unless tokens or weights were too large for it."""
    if not all_finite(output):
        raise ValueError(
            f"the network computes NaN or infinity: tokens or weights are too large for "
            f"{output.dtype}, or no numbers; make them smaller"
        )
    return output
