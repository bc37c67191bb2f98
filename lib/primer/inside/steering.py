r"""Push a model along a direction: the dose, and what a random direction of that length does."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from primer.inputs import Dim, Number, checked
from primer.inside.activation_patching import Patch


@checked
def difference_of_means(
    with_it: Float[Tensor, "n d"], without_it: Float[Tensor, "m d"]
) -> Float[Tensor, " d"]:
    r"""Compute the direction from one kind of state to another.

    .. math:: v = \bar x_\text{with} - \bar x_\text{without}

    Parameters
    ----------
    with_it, without_it : Tensor of shape (n, d) and (m, d)
        States of both kinds, one or more of each.

    Returns
    -------
    Tensor of shape (d,)
        v.

    Raises
    ------
    ValueError
        When a kind has no state, or both have the same mean.

    References
    ----------
    Turner et al. (2023); Rimsky et al. (2023).

    Examples
    --------
    >>> difference_of_means(torch.tensor([[1.0, 2.0], [3.0, 2.0]]), torch.zeros(1, 2))
    tensor([2., 2.])
    """
    if not len(with_it) or not len(without_it):
        raise ValueError(f"both kinds need a state, got {len(with_it)} and {len(without_it)}")
    one, two = with_it.double().mean(0), without_it.double().mean(0)
    v, largest = (one - two), torch.maximum(with_it.abs().amax(0), without_it.abs().amax(0))
    rounding = (len(with_it) + len(without_it)) * torch.finfo(torch.float64).eps  # of both means
    if bool((v.abs() <= rounding * largest.double()).all()):
        raise ValueError("both kinds have the same mean: the direction has length 0")
    return v.to(torch.promote_types(with_it.dtype, without_it.dtype))


@checked
def steered(name: str, vector: Float[Tensor, " d"], dose: Number) -> dict[str, Patch]:
    r"""Make the patch that adds a direction at every place, :math:`x + \alpha v`.

    Parameters
    ----------
    name : str
        The activation, such as ``"blocks.2.after"``.
    vector : Tensor of shape (d,)
        v, not 0.
    dose : float
        :math:`\alpha`; 0 changes nothing.

    Returns
    -------
    dict of str to callable
        What :func:`~primer.inside.patched` takes.

    Raises
    ------
    ValueError
        When the vector has length 0.

    Examples
    --------
    >>> patches = steered("norm", torch.tensor([1.0, 0.0]), 2.0)
    >>> patches["norm"](torch.zeros(1, 2, 2))
    tensor([[[2., 0.],
             [2., 0.]]])
    """
    if not vector.any():
        raise ValueError("a vector of length 0 steers nowhere")
    return {name: lambda x: x + dose * vector}


@checked
def random_directions(
    n: Dim, vector: Float[Tensor, " d"], generator: torch.Generator
) -> Float[Tensor, "n d"]:
    """Draw directions of a vector's length, all equally likely: the control of a push.

    Parameters
    ----------
    n : int
        How many.
    vector : Tensor of shape (d,)
        Whose length they get.
    generator : torch.Generator
        Draws them.

    Returns
    -------
    Tensor of shape (n, d)
        One in each row.

    Raises
    ------
    ValueError
        When the vector has length 0.

    Examples
    --------
    >>> drawn = random_directions(3, torch.tensor([3.0, 4.0]), torch.Generator().manual_seed(0))
    >>> drawn.norm(dim=1)
    tensor([5., 5., 5.])
    """
    if not vector.any():
        raise ValueError("a vector of length 0 has no other of its length")
    drawn = torch.randn(n, len(vector), generator=generator, dtype=vector.dtype)
    largest = vector.abs().max()  # the squares of what is very small or large are no numbers
    return largest * ((vector / largest).norm() * torch.nn.functional.normalize(drawn))
