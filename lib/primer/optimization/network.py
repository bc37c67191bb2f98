r"""A small network in several parametrizations, and what its width does to activations and updates.

Three hidden layers of width :math:`n` between the 64 pixels of scikit-learn's digits and ten
classes, without biases.  *Standard*: variance :math:`\propto 1/d_{\text{in}}` everywhere and one
learning rate.  *Maximal update* (μP) for Adam changes two things: hidden and output layers learn at
a rate :math:`\propto 1/n`, and the output starts at a size :math:`\propto 1/n`.  To find out which
of the two does what there are *rates* (only the first) and *start* (only the second); *root* is a
rival of the first, rates :math:`\propto 1/\sqrt n`.  At the base width all are the same network.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator
from typing import Literal, NamedTuple, cast, get_args

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from primer.inputs import Positive, Seed, Side, StepsOrNone, checked, one_of, tensor
from primer.inputs.functions import same_precision

Parametrization = Literal["standard", "mup", "rates", "start", "root"]
SMALL_START = ("mup", "start")
RATE_POWER = {"mup": 1.0, "rates": 1.0, "root": 0.5}
"""How the rate of a layer falls that reads from a hidden one: like width to this power."""
PIXELS, CLASSES = 64, 10
BASE_WIDTH = 32
HIDDEN_LAYERS = 3
TEST = 360


class Digits(NamedTuple):
    """Handwritten digits, 8×8 pixels, in a fixed random order: 1437 to train on, 360 to test."""

    train_x: Float[Tensor, "train 64"]
    train_y: Int[Tensor, " train"]
    test_x: Float[Tensor, "test 64"]
    test_y: Int[Tensor, " test"]


@functools.cache
def _read_digits() -> tuple[Tensor, Tensor]:
    """Read images and classes, once: they are unpacked from a text."""
    from sklearn.datasets import load_digits  # here, for it takes half a second

    images, classes = load_digits(return_X_y=True)
    return torch.tensor(images, dtype=torch.float32), torch.tensor(classes)


def digits() -> Digits:
    """Load scikit-learn's digits, scaled so that the mean square of all pixels is 1.

    Returns
    -------
    Digits
        Images as rows, and their classes.

    Examples
    --------
    >>> digits().train_x.shape, digits().test_x.shape
    (torch.Size([1437, 64]), torch.Size([360, 64]))
    """
    x, y = _read_digits()
    x = x / x.square().mean().sqrt()
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
    train, test = order[TEST:], order[:TEST]
    return Digits(x[train], y[train], x[test], y[test])


class Mlp(nn.Module):
    """Three hidden ReLU layers of one width, without biases.

    Parameters
    ----------
    width : int
        The width of the hidden layers, 1 or more.
    parametrization : {"standard", "mup", "rates", "start", "root"}
        How initial weights and learning rates depend on the width.

    Raises
    ------
    ValueError
        When the width is below 1 or the parametrization unknown.

    Examples
    --------
    >>> Mlp(128, "mup")(torch.zeros(5, 64)).shape
    torch.Size([5, 10])
    """

    @checked
    def __init__(self, width: Side, parametrization: Parametrization) -> None:
        super().__init__()
        one_of("parametrization", parametrization, get_args(Parametrization))
        self.width = width
        self.parametrization = parametrization
        sizes = [PIXELS, *[width] * HIDDEN_LAYERS, CLASSES]
        layers = [nn.Linear(*shape, bias=False) for shape in itertools.pairwise(sizes)]
        for layer in layers:
            nn.init.normal_(layer.weight, std=math.sqrt(2 / layer.in_features))  # 2 for the ReLU
        if parametrization in SMALL_START:
            with torch.no_grad():
                layers[-1].weight *= math.sqrt(BASE_WIDTH / width)
        self.layers = nn.ModuleList(layers)

    @checked
    def features(self, x: Float[Tensor, "batch 64"]) -> Iterator[Tensor]:
        """Yield what each layer computes before its ReLU; the last are the logits."""
        x = tensor("x", x, axes=2)
        if x.shape[-1] != PIXELS or not same_precision(x, self.layers[0].weight.dtype):
            raise ValueError(
                f"x must hold {PIXELS} pixels in {self.layers[0].weight.dtype}, got shape "
                f"{tuple(x.shape)} of {x.dtype}"
            )
        for layer in self.layers:
            x = layer(x)
            yield x
            x = x.relu()

    @checked
    def forward(self, x: Float[Tensor, "batch 64"]) -> Float[Tensor, "batch 10"]:
        """Compute the logits."""
        *_, logits = self.features(x)
        return logits

    @checked
    def rates(self, learning_rate: Positive) -> list[dict[str, object]]:
        """Give each layer its learning rate, as parameter groups for an optimizer.

        Examples
        --------
        >>> [group["lr"] for group in Mlp(128, "mup").rates(0.01)]
        [0.01, 0.0025, 0.0025, 0.0025]
        """
        scale = (BASE_WIDTH / self.width) ** RATE_POWER.get(self.parametrization, 0.0)
        return [
            {"params": [layer.weight], "lr": learning_rate if i == 0 else learning_rate * scale}
            for i, layer in enumerate(self.layers)
        ]


@checked
def train(
    model: Mlp, optimizer: torch.optim.Optimizer, data: Digits, steps: StepsOrNone, seed: Seed
) -> list[float]:
    """Train on mini-batches of 64 digits.

    Parameters
    ----------
    model : Mlp
        Changed in place.
    optimizer : torch.optim.Optimizer
        Over the model's parameters.
    data : Digits
        See :func:`digits`.
    steps : int
        How many steps.
    seed : int
        Of the order of the digits.

    Returns
    -------
    list of float
        The loss of each mini-batch, in nats.

    Examples
    --------
    >>> model = Mlp(16, "standard")
    >>> len(train(model, torch.optim.Adam(model.rates(0.01)), digits(), steps=3, seed=0))
    3
    """
    order = torch.Generator().manual_seed(seed)
    losses = []
    for _ in range(steps):
        batch = torch.randint(len(data.train_x), (64,), generator=order)
        loss = cross_entropy(model(data.train_x[batch]), data.train_y[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


class WidthReport(NamedTuple):
    r"""What a few steps of training did to the features of each layer, as root mean squares.

    Attributes
    ----------
    start : list of float
        The features of each layer before training, the logits last.
    change : list of float
        By how much they changed.
    own : list of float
        The part of the change that the layer's own update makes on its old inputs,
        :math:`\Delta W_l\,x_l`.  The rest is handed on by the layers before it.
    """

    start: list[float]
    change: list[float]
    own: list[float]


@checked
def feature_changes(
    width: int, parametrization: Parametrization, learning_rate: float, steps: int, seed: Seed
) -> WidthReport:
    """Measure how far Adam moves the features of a network of one width.

    Parameters
    ----------
    width : int
        The width.
    parametrization : {"standard", "mup", "rates", "start", "root"}
        How weights and rates are scaled.
    learning_rate : float
        The learning rate at the base width, above 0.
    steps : int
        How many steps of Adam.
    seed : int
        Of the weights and the order of the digits.

    Returns
    -------
    WidthReport
        Root mean squares over 360 digits, layer by layer.

    Examples
    --------
    >>> len(feature_changes(16, "mup", learning_rate=0.01, steps=1, seed=0).change)
    4
    """
    data = digits()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = Mlp(width, parametrization)
    with torch.no_grad():
        before = [h.clone() for h in model.features(data.test_x)]
        old = [cast(Tensor, layer.weight).clone() for layer in model.layers]
    train(model, torch.optim.Adam(model.rates(learning_rate)), data, steps, seed)
    with torch.no_grad():
        after = list(model.features(data.test_x))
        inputs = [data.test_x, *(h.relu() for h in before[:-1])]
        weights = [cast(Tensor, layer.weight) for layer in model.layers]
        updates = [W - before_it for W, before_it in zip(weights, old, strict=True)]
        own = [x @ dW.T for x, dW in zip(inputs, updates, strict=True)]
    return WidthReport(
        start=[_rms(h) for h in before],
        change=[_rms(a - b) for a, b in zip(after, before, strict=True)],
        own=[_rms(h) for h in own],
    )


def _rms(features: Tensor) -> float:
    """Compute the root mean square of all entries."""
    return float(features.square().mean().sqrt())
