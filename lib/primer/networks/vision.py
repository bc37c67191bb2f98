"""Networks of torch that are trained on digits, folds and noisy pictures: what the trials compare.

Pictures are rows of 64 pixels, as scikit-learn's digits come.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, mse_loss

from primer.inputs import count, one_of, positive

Damage = Literal["plain", "noise", "mask"]
DAMAGES: tuple[Damage, ...] = ("plain", "noise", "mask")
NOISE, MASKED = 1.3, 0.5
"""Standard deviation of the noise, in units of a pixel's; part of the pixels that are hidden."""


def fully_connected(sizes: Sequence[int], kink: Callable[[], nn.Module] = nn.ReLU) -> nn.Sequential:
    """Stack linear layers with an activation between them.

    Parameters
    ----------
    sizes : sequence of int
        The widths, input first.
    kink : callable
        Makes the activation.

    Returns
    -------
    torch.nn.Sequential
        With torch's own initial weights.

    Raises
    ------
    ValueError
        When there are fewer than two widths, or one is below 1.

    Examples
    --------
    >>> sum(p.numel() for p in fully_connected([64, 50, 10]).parameters())
    3760
    """
    if len(sizes) < 2:
        raise ValueError(f"sizes needs an input and an output width, got {list(sizes)}")
    layers: list[nn.Module] = []
    for a, b in itertools.pairwise(sizes):
        layers += [nn.Linear(count("width", a), count("width", b)), kink()]
    return nn.Sequential(*layers[:-1])


def convolutional() -> nn.Sequential:
    """Build a small convolutional network for 8×8 pictures: 3706 parameters.

    Two convolutions of 3×3 with 12 and 24 filters, each halved by pooling, and one linear layer.

    Returns
    -------
    torch.nn.Sequential
        From rows of 64 pixels to ten logits.

    Examples
    --------
    >>> convolutional()(torch.zeros(5, 64)).shape
    torch.Size([5, 10])
    """
    return nn.Sequential(
        nn.Unflatten(1, (1, 8, 8)),
        *(nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(12, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Linear(96, 10)),
    )


def seeded(build: Callable[[], nn.Sequential], seed: int) -> nn.Sequential:
    """Build a network whose first weights depend on the seed alone.

    Examples
    --------
    >>> a, b = (seeded(convolutional, seed=3) for _ in range(2))
    >>> bool((a[1].weight == b[1].weight).all())
    True
    """
    with torch.random.fork_rng():
        torch.manual_seed(count("seed", seed, at_least=0))
        return build()


def train_classifier(
    model: nn.Module,
    X: Float[Tensor, "n pixels"],
    classes: Int[Tensor, " n"],
    learning_rate: float,
    steps: int,
    seed: int,
) -> None:
    """Train on mini-batches of 64 with Adam, in place.

    Parameters
    ----------
    model : torch.nn.Module
        Changed in place.
    X, classes : Tensor
        Pictures as rows and what they show.
    learning_rate : float
        The learning rate, above 0.
    steps : int
        How many.
    seed : int
        Of the mini-batches.

    Raises
    ------
    ValueError
        When the learning rate is not above 0.

    Examples
    --------
    >>> train_classifier(convolutional(), torch.zeros(9, 64), torch.arange(9), 0.01, 1, seed=0)
    """
    _descend(
        model.parameters(),
        lambda batch, _: cross_entropy(model(X[batch]), classes[batch]),
        len(X),
        learning_rate,
        steps,
        seed,
    )


def error_rate(model: nn.Module, X: Float[Tensor, "n pixels"], classes: Int[Tensor, " n"]) -> float:
    """Compute the part of the pictures that a classifier misreads.

    Examples
    --------
    >>> error_rate(torch.nn.Identity(), torch.eye(4), torch.tensor([0, 1, 2, 0]))
    0.25
    """
    with torch.no_grad():
        return float((model(X).argmax(1) != classes).float().mean())


def shift_right(X: Float[Tensor, "n 64"], pixels: int) -> Float[Tensor, "n 64"]:
    """Roll pictures of 8×8 to the right; what leaves on one side enters on the other.

    Examples
    --------
    >>> shift_right(torch.arange(64.0)[None], 1)[0, :3]
    tensor([7., 0., 1.])
    """
    return X.unflatten(1, (8, 8)).roll(pixels, dims=2).flatten(1)


def damage(
    X: Float[Tensor, "n pixels"], kind: Damage, generator: torch.Generator
) -> Float[Tensor, "n pixels"]:
    """Leave pictures as they are, add noise, or hide half of their pixels.

    Parameters
    ----------
    X : Tensor, shape (n, pixels)
        Pictures; a typical pixel has standard deviation 1.
    kind : {"plain", "noise", "mask"}
        What is done to them.
    generator : torch.Generator
        Where chance comes from.

    Returns
    -------
    Tensor
        Of the shape of ``X``.

    Raises
    ------
    ValueError
        When the kind is unknown.

    Examples
    --------
    >>> damage(torch.ones(1, 6), "mask", torch.Generator().manual_seed(0)).sum()
    tensor(2.)
    """
    one_of("kind", kind, DAMAGES)
    if kind == "noise":
        return X + NOISE * torch.randn(X.shape, generator=generator)
    if kind == "mask":
        return X * (torch.rand(X.shape, generator=generator) >= MASKED)
    return X


def train_denoiser(
    X: Float[Tensor, "n 64"], kind: Damage, learning_rate: float, steps: int, seed: int
) -> nn.Sequential:
    """Train an autoencoder 64-128-64 to restore damaged pictures; no label is used.

    Parameters
    ----------
    X : Tensor, shape (n, 64)
        Pictures.
    kind : {"plain", "noise", "mask"}
        How they are damaged, anew at each step.
    learning_rate, steps, seed
        As in :func:`train_classifier`.

    Returns
    -------
    torch.nn.Sequential
        Its first two modules compute the 128 features.

    Raises
    ------
    ValueError
        When the kind is unknown or the learning rate not above 0.

    References
    ----------
    Vincent et al. (2008).

    Examples
    --------
    >>> model = train_denoiser(torch.ones(9, 64), "noise", 0.01, steps=1, seed=0)
    >>> model[:2](torch.ones(2, 64)).shape
    torch.Size([2, 128])
    """
    model = seeded(lambda: fully_connected([64, 128, 64]), seed)
    _descend(
        model.parameters(),
        lambda batch, chance: mse_loss(model(damage(X[batch], kind, chance)), X[batch]),
        len(X),
        learning_rate,
        steps,
        seed,
    )
    return model


def train_on_line(
    target: Callable[[Tensor], Tensor],
    sizes: Sequence[int],
    learning_rate: float,
    steps: int,
    seeds: int,
) -> Callable[[Tensor], Tensor]:
    """Train ReLU networks on a function of one number between 0 and 1, one for each seed, together.

    Parameters
    ----------
    target : callable
        The function, for a column of numbers.
    sizes : sequence of int
        The widths of the hidden layers.
    learning_rate, steps
        As in :func:`train_classifier`; each step sees 256 new points, the same for all networks.
    seeds : int
        How many networks; each begins with torch's own initial weights for its seed.

    Returns
    -------
    callable
        From a column of numbers to a column for each network, of shape (seeds, n, 1).

    Raises
    ------
    ValueError
        When a width or the number of seeds is below 1, or the learning rate is not above 0.

    Examples
    --------
    >>> trained = train_on_line(lambda x: 2 * x, [4], 0.01, steps=1, seeds=2)
    >>> trained(torch.zeros(3, 1)).shape
    torch.Size([2, 3, 1])
    """
    each = [
        seeded(lambda: fully_connected([1, *sizes, 1]), seed)[::2]
        for seed in range(count("seeds", seeds))
    ]
    layers = [
        (
            torch.stack([layer.weight.detach().T for layer in same]).requires_grad_(),
            torch.stack([layer.bias.detach()[None] for layer in same]).requires_grad_(),
        )
        for same in zip(*each, strict=True)
    ]

    def run(x: Tensor) -> Tensor:
        h = x.expand(seeds, *x.shape)
        for W, b in layers[:-1]:
            h = (h @ W + b).relu()
        return h @ layers[-1][0] + layers[-1][1]

    def loss(_: Tensor, chance: torch.Generator) -> Tensor:
        x = torch.rand(256, 1, generator=chance)
        return (run(x) - target(x)).square().mean(dim=(1, 2)).sum()

    _descend([p for layer in layers for p in layer], loss, 1, learning_rate, steps, 0)
    return lambda x: run(x).detach()


def _descend(
    parameters: object,
    loss: Callable[[Tensor, torch.Generator], Tensor],
    n: int,
    learning_rate: float,
    steps: int,
    seed: int,
) -> None:
    """Take steps of Adam, each on 64 of ``n`` examples."""
    optimizer = torch.optim.Adam(parameters, lr=positive("learning_rate", learning_rate))  # type: ignore[arg-type]
    chance = torch.Generator().manual_seed(count("seed", seed, at_least=0))
    for _ in range(count("steps", steps, at_least=0)):
        batch = torch.randint(n, (64,), generator=chance)
        optimizer.zero_grad()
        loss(batch, chance).backward()
        optimizer.step()
