"""What a full update consists of: its singular values, and what is left when it is cut."""

from __future__ import annotations

import copy
from collections.abc import Collection

import torch
from jaxtyping import Float
from torch import Tensor, nn

from primer.fine_tuning.layers import (
    EVERY_MATRIX,
    linear_layers,
    matrix_of,
    refuse_tied,
    tied_to,
)
from primer.fine_tuning.lora import principal_factors
from primer.inputs import Natural, Probability, checked


@checked
def rank_for(share: Probability, values: Float[Tensor, " n"]) -> int:
    r"""Count the singular values that make up a share of the squared norm.

    .. math:: \min\Bigl\{r : \sum_{i<r}\sigma_i^2 \ge \text{share}\cdot\sum_i\sigma_i^2\Bigr\}

    Raises
    ------
    ValueError
        When the share does not lie strictly between 0 and 1, or all values are zero.

    Examples
    --------
    >>> rank_for(0.9, torch.tensor([3.0, 1.0, 0.0]))
    1
    >>> rank_for(0.95, torch.tensor([3.0, 1.0, 0.0]))
    2
    """
    largest = float(values.abs().max()) if len(values) else 0.0
    if largest == 0:
        raise ValueError("all singular values are zero: nothing was changed")
    squares = (values.double() / largest) ** 2
    upto = squares.cumsum(0)  # of whose last the sum differs by its rounding
    return int((upto < share * upto[-1]).sum()) + 1


@checked
def update_spectrum(
    before: nn.Module, after: nn.Module, targets: Collection[str] = EVERY_MATRIX
) -> dict[str, Float[Tensor, " n"]]:
    """Compute the singular values of what changed in each matrix.

    Returns
    -------
    dict
        Full name → singular values, the largest first.

    Raises
    ------
    ValueError
        When the two are not the same model, or no layer is called so.
    """
    return {
        name: torch.linalg.svdvals(difference)
        for name, difference in _differences(before, after, targets).items()
    }


@checked
def truncated_update(
    before: nn.Module, after: nn.Module, rank: Natural, targets: Collection[str] = EVERY_MATRIX
) -> nn.Module:
    """Copy the tuned model with each matrix's change cut to a rank; all else stays as tuned.

    Parameters
    ----------
    before, after : nn.Module
        A model and the same model tuned.
    rank : int
        How many singular triples of a change are kept; 0 keeps none.
    targets : collection of str
        The last names of the matrices.

    Returns
    -------
    nn.Module
        A new model.

    Raises
    ------
    ValueError
        When the two are not the same model, no layer is called so, the rank does not fit or a
        matrix is shared with another layer, which would be cut with it.
    """
    cut = copy.deepcopy(after)
    first = linear_layers(before, targets)
    for name, difference in _differences(before, after, targets).items():
        layer = cut.get_submodule(name)
        refuse_tied(name, tied_to(cut, layer))
        matrix = matrix_of(layer)
        matrix.copy_(matrix_of(first[name]))
        if rank:
            A, B = principal_factors(difference, rank)
            matrix += A @ B
    return cut


@checked
def between(before: nn.Module, after: nn.Module, strength: float) -> nn.Module:
    r"""Copy a model with all its numbers at :math:`w_0 + a\,(w_1 - w_0)`.

    Parameters
    ----------
    before, after : nn.Module
        :math:`w_0` and :math:`w_1`.
    strength : float
        :math:`a`: 0 is the first model, 1 the second; below and beyond is allowed.

    Returns
    -------
    nn.Module
        A new model.

    Raises
    ------
    ValueError
        When the two are not the same model.

    References
    ----------
    Wortsman et al. (2022), equation 1.

    Examples
    --------
    >>> zeros, ones = nn.Linear(2, 1), nn.Linear(2, 1)
    >>> for layer, value in ((zeros, 0.0), (ones, 1.0)):
    ...     _ = [nn.init.constant_(weight, value) for weight in layer.parameters()]
    >>> between(zeros, ones, 0.25).weight
    Parameter containing:
    tensor([[0.2500, 0.2500]], requires_grad=True)
    """
    middle = copy.deepcopy(after)
    first, last = dict(before.named_parameters()), dict(middle.named_parameters())
    _check_same({n: w.shape for n, w in first.items()}, {n: w.shape for n, w in last.items()})
    with torch.no_grad():
        for name, weight in last.items():
            weight.copy_(torch.lerp(first[name], weight, strength))  # at 0 and 1 bit for bit
    return middle


def _differences(
    before: nn.Module, after: nn.Module, targets: Collection[str]
) -> dict[str, Tensor]:
    """Subtract the matrices of the first model from those of the second."""
    first = {name: matrix_of(layer) for name, layer in linear_layers(before, targets).items()}
    last = {name: matrix_of(layer) for name, layer in linear_layers(after, targets).items()}
    _check_same({n: w.shape for n, w in first.items()}, {n: w.shape for n, w in last.items()})
    return {name: last[name] - first[name] for name in first}


def _check_same(first: dict[str, torch.Size], last: dict[str, torch.Size]) -> None:
    """Raise a ``ValueError`` unless two models have the same weights."""
    if first != last:
        odd = sorted(name for name in {*first, *last} if first.get(name) != last.get(name))[0]
        raise ValueError(f"these are not the same model before and after: {odd!r} differs")
