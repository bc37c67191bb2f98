r"""Adapters, small networks behind frozen layers, and (IA)³, vectors that rescale what passes."""

from __future__ import annotations

from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import relu

from primer.fine_tuning.layers import (
    AroundLayer,
    freeze,
    frozen_if_done,
    linear_layers,
    matrix_of,
    put,
    refuse_tied,
    replace_layers,
    tied_to,
)
from primer.inputs import Count, checked, count, one_of


class AdapterLinear(AroundLayer):
    r"""A frozen linear layer and a bottleneck behind it, with a way around.

    .. math:: h = \mathrm{base}(x), \qquad y = h + \mathrm{ReLU}(hW_D + b_D)\,W_U + b_U

    :math:`W_U` and :math:`b_U` begin at zero, so that at first nothing changes.

    Parameters
    ----------
    base : nn.Module
        The linear layer, of output width :math:`d`.
    bottleneck : int
        :math:`r`, the width between :math:`W_D` (d × r) and :math:`W_U` (r × d).

    Raises
    ------
    ValueError
        When the bottleneck is not a positive number below the width.

    References
    ----------
    Houlsby et al. (2019), figure 2.

    Examples
    --------
    >>> layer = AdapterLinear(nn.Linear(4, 6), bottleneck=2)
    >>> x = torch.ones(1, 4)
    >>> torch.equal(layer(x), layer.base(x)), sum(p.numel() for p in layer.added())
    (True, 32)
    """

    @checked
    def __init__(self, base: nn.Module, bottleneck: Count) -> None:
        super().__init__(base)
        if bottleneck >= self.out_features:
            raise ValueError(
                f"bottleneck = {bottleneck} is no bottleneck for a width of {self.out_features}"
            )
        freeze(base)
        self.down = nn.Linear(self.out_features, bottleneck)
        self.up = nn.Linear(bottleneck, self.out_features)
        nn.init.zeros_(self.up.weight)
        nn.init.zeros_(self.up.bias)

    def added(self) -> list[nn.Parameter]:
        """Return the parameters that were added."""
        return [*self.down.parameters(), *self.up.parameters()]

    @checked
    def forward(self, x: Float[Tensor, "... d_in"]) -> Float[Tensor, "... d_out"]:
        """Compute the base's output and what the bottleneck adds to it."""
        h = self.base(self.read(x))
        return h + self.up(relu(self.down(h)))


@checked
def add_adapters(
    model: nn.Module, bottleneck: int, targets: tuple[str, ...] = ("output", "down")
) -> nn.Module:
    """Freeze a model and put adapters behind the layers called so: two in each block.

    Raises
    ------
    ValueError
        When no layer is called so or the bottleneck does not fit.

    Examples
    --------
    >>> from primer.fine_tuning.layers import trainable_numbers
    >>> from primer.transformers import FeedForward
    >>> trainable_numbers(add_adapters(FeedForward(8, 32), bottleneck=2, targets=("down",)))
    42
    """
    with frozen_if_done(model):
        replace_layers(model, targets, lambda layer: AdapterLinear(layer, bottleneck))
    return model


def adapter_parameters(d: int, bottleneck: int, n_layers: int) -> int:
    r"""Count the numbers of two adapters in each of L layers: :math:`2L(2dr + r + d)`.

    Examples
    --------
    >>> adapter_parameters(768, 64, 12)
    2379264
    """
    d, r = count("d", d), count("bottleneck", bottleneck)
    return 2 * count("n_layers", n_layers) * (2 * d * r + r + d)


class ScaledLinear(AroundLayer):
    r"""A frozen linear layer whose inputs or outputs are multiplied by a learned vector.

    .. math:: y = l\odot(xW) \qquad\text{or}\qquad y = (l\odot x)\,W

    :math:`l` begins at one.  One vector for each row of a batch, of shape (batch, 1, width), may be
    put in its place (``torch.func.functional_call``): then a batch mixes tasks.

    Parameters
    ----------
    base : nn.Module
        The linear layer.
    side : {"outputs", "inputs"}
        Keys and values are scaled where they come out, a feed-forward layer's hidden numbers where
        they enter the last matrix.

    Raises
    ------
    ValueError
        When the side is unknown.

    References
    ----------
    Liu et al. (2022), section 3.3.

    Examples
    --------
    >>> layer = ScaledLinear(nn.Linear(2, 2, bias=False), "outputs")
    >>> x = torch.ones(1, 2)
    >>> torch.equal(layer(x), layer.base(x))
    True
    """

    @checked
    def __init__(self, base: nn.Module, side: str) -> None:
        super().__init__(base)
        one_of("side", side, ("outputs", "inputs"))
        freeze(base)
        self.side = side
        width = self.out_features if side == "outputs" else self.in_features
        self.vector = nn.Parameter(torch.ones(width))

    @checked
    def forward(self, x: Float[Tensor, "... d_in"]) -> Float[Tensor, "... d_out"]:
        """Compute the scaled layer's output."""
        if self.side == "outputs":
            return self.vector * self.base(self.read(x))
        return self.base(self.vector * self.read(x))

    @torch.no_grad()
    def fold(self) -> nn.Module:
        """Multiply the vector into the base's matrix (and bias) and return the base."""
        matrix = matrix_of(self.base)
        bias = getattr(self.base, "bias", None)
        if self.side == "inputs":
            matrix *= self.vector[:, None]
        else:
            matrix *= self.vector
            if bias is not None:
                bias *= self.vector
        return self.base


@checked
def add_ia3(
    model: nn.Module,
    outputs: tuple[str, ...] = ("key", "value"),
    inputs: tuple[str, ...] = ("down",),
) -> nn.Module:
    r"""Freeze a model and give it the vectors of (IA)³: for keys, values and hidden numbers.

    .. math:: \mathrm{softmax}\Bigl(\frac{Q\,(l_k\odot K)^\top}{\sqrt{d_k}}\Bigr)(l_v\odot V),
              \qquad (l_{ff}\odot\gamma(xW_1))\,W_2

    Raises
    ------
    ValueError
        When no layer is called so.

    References
    ----------
    Liu et al. (2022), section 3.3.

    Examples
    --------
    >>> from primer.fine_tuning.layers import trainable_numbers
    >>> from primer.transformers import FeedForward
    >>> trainable_numbers(add_ia3(FeedForward(8, 32), outputs=(), inputs=("down",)))
    32
    """
    linear_layers(model, [*outputs, *inputs])  # none is replaced where one is missing
    with frozen_if_done(model):
        for names, side in ((outputs, "outputs"), (inputs, "inputs")):
            replace_layers(model, names, partial(ScaledLinear, side=side))
    return model


@checked
def fold_ia3(model: nn.Module) -> nn.Module:
    """Fold every vector of (IA)³ into the matrix beside it: the model is as fast as before.

    Raises
    ------
    ValueError
        When there is none, or a matrix is shared with another layer, such as an embedding, which
        would be changed with it.
    """
    found = {n: layer for n, layer in model.named_modules() if isinstance(layer, ScaledLinear)}
    if not found:
        raise ValueError("this model has no vectors of (IA)³; add_ia3 puts them in")
    for name, layer in found.items():
        refuse_tied(name, tied_to(model, layer.base))
    for layer in found.values():
        put(model, layer, layer.fold())
    return model
