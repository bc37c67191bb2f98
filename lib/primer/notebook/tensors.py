"""Answers that are tensors, apart from the others because torch takes its time to be imported."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from primer.notebook.answers import as_array


def as_tensor(
    value: Any, shape: tuple[int, ...], name: str = "the result", *, allow_nan: bool = False
) -> Tensor:
    """Read an answer as a tensor of double precision, whatever its own precision.

    The parameters and the mistakes are those of :func:`~primer.notebook.answers.as_array`.

    Examples
    --------
    >>> as_tensor([True, False], (2,))
    tensor([1., 0.], dtype=torch.float64)
    """
    return torch.as_tensor(as_array(value, shape, name, allow_nan=allow_nan)).double()


def draw(*shape: int, seed: int = 0) -> Tensor:
    """Draw the normal numbers that an answer is tried with, the same ones every time.

    Examples
    --------
    >>> draw(2, 3).shape
    torch.Size([2, 3])
    >>> torch.equal(draw(2), draw(2))
    True
    """
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, dtype=torch.float64, generator=generator)
