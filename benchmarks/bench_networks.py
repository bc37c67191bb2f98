"""The tape and convolution beside torch, forward and backward, on the same work."""

from collections.abc import Iterator

import numpy as np
import torch
from torch.nn import functional

from benchmarks.table import Row, median_seconds
from primer import networks
from primer.networks import Variable

SIZES, BATCH = (64, 256, 256, 10), 256
IMAGES, FILTERS, SIDE = 32, 16, 28


def rows() -> Iterator[Row]:
    """Time a network on the tape, and one convolution."""
    rng = np.random.default_rng(0)
    layers = networks.initialize(SIZES, rng)
    x, y = rng.normal(size=(BATCH, SIZES[0])), rng.integers(0, SIZES[-1], BATCH)
    x_torch, y_torch = torch.tensor(x), torch.tensor(y)

    def tape() -> object:
        h: Variable | np.ndarray = x
        for number, (W, b) in enumerate(layers):
            h = h @ Variable(W) + Variable(b)
            h = h.relu() if number < len(layers) - 1 else h
        networks.cross_entropy(h, y).backward()
        return h

    def autograd() -> object:
        h = x_torch
        for number, (W, b) in enumerate(layers):
            h = h @ torch.tensor(W, requires_grad=True) + torch.tensor(b, requires_grad=True)
            h = h.relu() if number < len(layers) - 1 else h
        functional.cross_entropy(h, y_torch).backward()
        return h

    yield Row(
        f"tape, {'-'.join(map(str, SIZES))}, batch {BATCH}, forward and backward",
        median_seconds(tape),
        median_seconds(autograd),
        "torch autograd",
    )
    images = rng.normal(size=(IMAGES, 3, SIDE, SIDE))
    kernels = rng.normal(size=(FILTERS, 3, 3, 3))
    dy = rng.normal(size=(IMAGES, FILTERS, SIDE - 2, SIDE - 2))
    images_torch, kernels_torch, dy_torch = map(torch.tensor, (images, kernels, dy))

    def ours() -> object:
        networks.convolve(images, kernels)
        return networks.convolution_gradients(images, kernels, dy)

    def theirs() -> object:
        a, b = (t.clone().requires_grad_() for t in (images_torch, kernels_torch))
        functional.conv2d(a, b).backward(dy_torch)
        return a.grad

    yield Row(
        f"convolution 3×3, {IMAGES} × 3 × {SIDE} × {SIDE} to {FILTERS}, both ways",
        median_seconds(ours),
        median_seconds(theirs),
        "torch conv2d",
    )
