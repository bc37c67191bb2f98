"""Removing weights: which ones, by their size or by where training moves them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from primer.fine_tuning.layers import (
    EVERY_MATRIX,
    check_finite,
    linear_layers,
    matrix_of,
    refuse_tied,
    tied_to,
)
from primer.inputs import Fraction, checked


@checked
def keep_largest(scores: Float[Tensor, "*shape"], sparsity: Fraction) -> Bool[Tensor, "*shape"]:
    r"""Mark what stays when the given share with the lowest scores is removed.

    Parameters
    ----------
    scores : Tensor
        One score for each weight.
    sparsity : float
        The share to remove, from 0 to below 1; the number is rounded.

    Returns
    -------
    Tensor of bool
        ``True`` where the weight stays.

    Raises
    ------
    ValueError
        When a score is not finite or the share is no share.

    Examples
    --------
    >>> keep_largest(torch.tensor([0.1, -3.0, 2.0, 0.5]).abs(), sparsity=0.5)
    tensor([False,  True,  True, False])
    """
    check_finite("scores", scores)
    removed = round(sparsity * scores.numel())
    keep = torch.ones(scores.numel(), dtype=torch.bool)
    keep[torch.topk(scores.flatten(), removed, largest=False).indices] = False
    return keep.reshape(scores.shape)


@checked
def magnitude_masks(
    model: nn.Module, sparsity: float, targets: Collection[str] = EVERY_MATRIX
) -> dict[str, Tensor]:
    r"""Keep the weights farthest from zero, matrix by matrix: the score is :math:`|w|`.

    Returns
    -------
    dict
        Full name of the layer → mask in the shape of ``layer.weight``.

    Raises
    ------
    ValueError
        When no layer is called so or has a plain matrix, or the share is no share.

    References
    ----------
    Han et al. (2015).
    """
    layers = _plain(linear_layers(model, targets))
    return {
        name: keep_largest(layer.weight.detach().abs(), sparsity)  # type: ignore[operator]
        for name, layer in layers.items()
    }


def _plain(layers: dict[str, nn.Module]) -> dict[str, nn.Module]:
    """Return layers that have a matrix of their own, or say which one has none."""
    for layer in layers.values():
        matrix_of(layer)
    return layers


class MovementScores:
    r"""Which weights training moves away from zero.

    .. math:: S = -\sum_t w_t\,\frac{\partial L}{\partial w_t}

    A step of gradient descent changes :math:`w` by :math:`-\eta\,\partial L/\partial w`, so a
    summand is positive when the step makes :math:`|w|` larger.

    Parameters
    ----------
    model : nn.Module
        The model.
    targets : collection of str
        The last names of its layers.

    Raises
    ------
    ValueError
        When no layer is called so.

    References
    ----------
    Sanh et al. (2020), equation 5.

    Examples
    --------
    >>> from primer.transformers import FeedForward
    >>> net = FeedForward(2, 3)
    >>> scores = MovementScores(net, ["up"])
    >>> net.up.weight.grad = -net.up.weight.detach()  # a step would make every weight larger
    >>> scores.add()
    >>> bool((scores.scores["up"] >= 0).all())
    True
    """

    @checked
    def __init__(self, model: nn.Module, targets: Collection[str] = EVERY_MATRIX) -> None:
        self.layers = _plain(linear_layers(model, targets))
        self.scores = {
            name: torch.zeros_like(layer.weight)  # type: ignore[arg-type]
            for name, layer in self.layers.items()
        }

    @torch.no_grad()
    def add(self) -> None:
        """Add the summand of this step; call it after ``backward``, before the optimizer's step."""
        for name, layer in self.layers.items():
            weight: nn.Parameter = layer.weight  # type: ignore[assignment]
            if weight.grad is not None:
                self.scores[name] -= weight * weight.grad

    @checked
    def masks(self, sparsity: float) -> dict[str, Tensor]:
        """Keep the weights with the highest scores, matrix by matrix."""
        return {name: keep_largest(score, sparsity) for name, score in self.scores.items()}


@checked
@torch.no_grad()
def prune(model: nn.Module, masks: Mapping[str, Tensor]) -> None:
    """Set to zero what a mask does not keep; call it again after each step of retraining.

    Raises
    ------
    ValueError
        When a mask has not the shape of its weight.
    """
    for name, mask in masks.items():
        layer = dict(model.named_modules()).get(name)
        if layer is None:
            raise ValueError(f"the model has no layer {name!r}: the masks belong to another model")
        matrix_of(layer)  # a plain layer, or a sentence that says what else
        weight: nn.Parameter = layer.weight
        refuse_tied(name, tied_to(model, layer))
        if mask.dtype != torch.bool:
            raise ValueError(
                f"the mask of {name} must hold truth values, got {mask.dtype}; write mask.bool()"
            )
        if mask.shape != weight.shape:
            raise ValueError(
                f"the mask of {name} has shape {tuple(mask.shape)}, its weight "
                f"{tuple(weight.shape)}"
            )
        weight.mul_(mask)
