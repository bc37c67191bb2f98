r"""Images as sequences: cut a picture into squares and read each square as one token."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from primer.inputs import Dim, Side, checked, room, tensor
from primer.inputs.functions import same_precision


@checked
def patchify(
    images: Float[Tensor, "batch channels height width"], patch: int
) -> Float[Tensor, "batch patches numbers"]:
    r"""Cut images into squares, row by row, and write each as one vector.

    .. math:: H\times W\times C \;\to\; N\times(P^2C), \qquad N = \frac{H}{P}\cdot\frac{W}{P}

    Parameters
    ----------
    images : Tensor of shape (batch, channels, height, width)
        The pictures.
    patch : int
        The side :math:`P` of a square in pixels.

    Returns
    -------
    Tensor of shape (batch, patches, channels · patch²)
        The numbers of each square, channel by channel, as ``nn.Conv2d`` orders its weights.

    Raises
    ------
    ValueError
        When the squares do not cover the picture exactly.

    References
    ----------
    Dosovitskiy et al. (2021), section 3.1.

    Examples
    --------
    >>> patchify(torch.arange(16.0).view(1, 1, 4, 4), patch=2)[0, 1]  # top right
    tensor([2., 3., 6., 7.])
    """
    batch, channels, height, width = images.shape
    if patch < 1 or 0 in images.shape or height % patch or width % patch:
        raise ValueError(
            f"squares of {patch} × {patch} pixels do not cover {height} × {width}: "
            "the side of a square must divide both"
        )
    rows, columns = height // patch, width // patch
    cut = images.reshape(batch, channels, rows, patch, columns, patch)
    # (batch, rows, columns, channels, patch, patch): first which square, then what is in it
    return cut.permute(0, 2, 4, 1, 3, 5).reshape(batch, rows * columns, channels * patch**2)


class PatchEmbedding(nn.Module):
    r"""Turn images into the token vectors of a transformer.

    .. math::
        X = \begin{pmatrix} c \\ x_1 W \\ \vdots \\ x_N W \end{pmatrix} + P, \qquad
        W\in\mathbb R^{P^2C\times D},\; P\in\mathbb R^{(N+1)\times D}

    :math:`c` is a trained vector of no square, the *class token*: after the last layer it stands
    for the whole picture.

    Parameters
    ----------
    image_size : int
        Height and width in pixels.
    patch : int
        The side of a square.
    channels : int
        Numbers in a pixel: 3 for color.
    d_model : int
        The width :math:`D` of a token.

    Raises
    ------
    ValueError
        When the squares do not cover the picture, or a number is not positive.

    References
    ----------
    Dosovitskiy et al. (2021), equation 1.

    Examples
    --------
    >>> PatchEmbedding(image_size=224, patch=16, channels=3, d_model=768).positions.shape
    torch.Size([197, 768])
    """

    @checked
    def __init__(self, image_size: Dim, patch: Dim, channels: Dim, d_model: Side) -> None:
        super().__init__()
        if image_size % patch:
            raise ValueError(
                f"patch must divide image_size, got patch = {patch} for image_size = {image_size}"
            )
        room(channels=channels, d_model=d_model, **{"patch²": patch**2})
        room(d_model=d_model, **{"(image_size / patch)²": (image_size // patch) ** 2})
        self.patch = patch
        self.project = nn.Linear(channels * patch**2, d_model)
        self.class_token = nn.Parameter(torch.zeros(d_model))
        self.positions = nn.Parameter(torch.randn((image_size // patch) ** 2 + 1, d_model) * 0.02)

    def forward(
        self, images: Float[Tensor, "batch channels height width"]
    ) -> Float[Tensor, "batch tokens d_model"]:
        """Return the class token and all squares of each image, with their positions added."""
        side = math.isqrt(len(self.positions) - 1) * self.patch
        channels = self.project.in_features // self.patch**2
        if tensor("images", images, beside=self.project.weight).shape[1:] != (channels, side, side):
            raise ValueError(
                f"images must have shape (batch, {channels}, {side}, {side}), "
                f"got {tuple(images.shape)}"
            )
        if not same_precision(images, self.project.weight.dtype):
            raise ValueError(
                f"images need the layer's precision, {self.project.weight.dtype}, "
                f"got {images.dtype}"
            )
        squares = self.project(patchify(images, self.patch))  # (batch, patches, d_model)
        first = self.class_token.expand(len(images), 1, -1)
        return torch.cat([first, squares], dim=1) + self.positions
