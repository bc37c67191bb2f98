"""Trials that take too long for a chapter: networks compared over rates and seeds.

Four questions.  *pixels*: does a convolutional network read digits better than a fully connected
one, as they are and with their pixels shuffled?  *labels*: how many labels does a classifier need
on top of features that were learned without any?  *folds*: how many folds of the line does
training find?  *kinks*: does it matter which activation stands between the layers?

All variants of a question are tried at the same learning rates and seeds; the rate, and the
penalty of a classifier on features, are chosen by digits kept for that (for folds by the error
itself) and the error on other digits is reported.

``python -m studies networks.trials`` trains what is missing, all of it in about six minutes of one
core.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from primer.networks.folding import tent
from primer.networks.vision import (
    DAMAGES,
    convolutional,
    damage,
    error_rate,
    fully_connected,
    seeded,
    shift_right,
    train_classifier,
    train_denoiser,
    train_on_line,
)
from studies.study import Setting, Study, spread, tuned

RATES = (0.001, 0.003, 0.01)
FEW_RATES = RATES[:2]
"""For the longer trainings, of autoencoders and on folds."""

SEEDS = 3
LABELS = (10, 20, 50, 100, 300)
DRAWS = 5
PENALTIES = (0.01, 0.1, 1.0, 10.0)
FOLDS = (1, 2, 4)
FEATURES = ("pixels", "random", *DAMAGES, "mask left on")
"""*random* is the encoder as it is drawn: what its kinks do before anything was learned."""

KINKS = {"ReLU": nn.ReLU, "GELU": nn.GELU, "SiLU": nn.SiLU}


class Run(NamedTuple):
    """One result.

    Attributes
    ----------
    variant : str
        What is compared.
    case : str
        Under which circumstances.
    rate : float
        The learning rate; 0 where nothing was trained.
    seed : int
        Of weights, data and order.
    tuning, test : float
        The error on the digits kept for choosing, and on the others.
    """

    variant: str
    case: str
    rate: float
    seed: int
    tuning: Annotated[float, ".6f"]
    test: Annotated[float, ".6f"]


class Digits(NamedTuple):
    """Digits in a random order, pixels minus their mean over one common standard deviation."""

    x: Tensor
    y: Tensor


def shuffled_digits(seed: int) -> Digits:
    """Put scikit-learn's 1797 digits in the order of a seed.

    Examples
    --------
    >>> shuffled_digits(0).x.shape
    torch.Size([1797, 64])
    """
    from sklearn.datasets import load_digits  # here, for it takes half a second

    images, classes = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(images))
    x = torch.tensor(images[order], dtype=torch.float32)
    x = x - x.mean(dim=0)
    return Digits(x / x.std(), torch.tensor(classes[order]))


def pixel_trial(variant: str, case: str, rate: float, seed: int) -> Iterator[Run]:
    """Train on 300 digits, 300 steps; choose by 300 others, report on the other 1197.

    Yields
    ------
    Run
        For the pictures as the case has them, and for natural pictures also shifted ones.
    """
    x, y = shuffled_digits(seed)
    if case == "shuffled":
        x = x[:, torch.randperm(64, generator=torch.Generator().manual_seed(seed))]
    build = convolutional if variant == "convolutional" else lambda: fully_connected([64, 50, 10])
    model = seeded(build, seed)
    train_classifier(model, x[:300], y[:300], rate, 300, seed)
    tuning = error_rate(model, x[300:600], y[300:600])
    yield Run(variant, case, rate, seed, tuning, error_rate(model, x[600:], y[600:]))
    if case == "natural":
        for pixels in (1, 2):
            moved = error_rate(model, shift_right(x[600:], pixels), y[600:])
            yield Run(variant, f"shifted {pixels}", rate, seed, tuning, moved)


def kink_trial(variant: str, case: str, rate: float, seed: int) -> Iterator[Run]:
    """Train a network with two hidden layers on 300 digits, as :func:`pixel_trial` does.

    Yields
    ------
    Run
        One.
    """
    x, y = shuffled_digits(seed)
    model = seeded(lambda: fully_connected([64, 50, 50, 10], KINKS[variant]), seed)
    train_classifier(model, x[:300], y[:300], rate, 300, seed)
    errors = [error_rate(model, x[part], y[part]) for part in (slice(300, 600), slice(600, None))]
    yield Run(variant, case, rate, seed, *errors)


def label_trial(variant: str, rate: float, seed: int) -> Iterator[Run]:
    """Learn features from 1000 digits without labels, then a classifier from few with labels.

    The classifier's penalty is chosen, for each variant, rate and seed, by 300 digits; the last 497
    are for the report.  Errors are means over five draws of the labeled digits.

    Yields
    ------
    Run
        For each number of labels, and one for the mean squared error of the reconstruction; after
        *mask* the same again with the mask left on when the features are read.
    """
    x, y = shuffled_digits(seed)
    if variant not in DAMAGES:
        features = random_features(x, seed) if variant == "random" else x
        yield from _probe(variant, features, y, rate, seed)
        return
    model = train_denoiser(x[:1000], variant, rate, 1500, seed)
    with torch.no_grad():
        losses = (model(x) - x)[1000:].square().mean(dim=1)
        yield Run(
            variant, "loss", rate, seed, float(losses[:300].mean()), float(losses[300:].mean())
        )
        yield from _probe(variant, model[:2](x), y, rate, seed)
        if variant == "mask":
            masked = damage(x, "mask", torch.Generator().manual_seed(seed))
            yield from _probe("mask left on", model[:2](masked), y, rate, seed)


def random_features(x: Tensor, seed: int) -> Tensor:
    """Compute what the autoencoder of a seed hands on before its first step of training.

    Examples
    --------
    >>> random_features(torch.ones(2, 64), seed=0).shape
    torch.Size([2, 128])
    """
    with torch.no_grad():
        hidden: Tensor = seeded(lambda: fully_connected([64, 128, 64]), seed)[:2](x)
    return hidden


def _probe(variant: str, features: Tensor, y: Tensor, rate: float, seed: int) -> Iterator[Run]:
    """Classify features by few labels, with the penalty that suits the tuning digits best."""
    from sklearn.linear_model import LogisticRegression  # here, as above

    table = features.numpy().astype(float)
    table = table / table.std()
    chance = np.random.default_rng(seed)
    for labels in LABELS:
        draws = [_some_of_each(y[:1000].numpy(), labels, chance) for _ in range(DRAWS)]
        errors = []
        for penalty in PENALTIES:
            found = []
            for chosen in draws:
                probe = LogisticRegression(C=1 / penalty, max_iter=2000)
                read = probe.fit(table[chosen], y[chosen]).predict(table[1000:])
                wrong = read != y[1000:].numpy()
                found.append((wrong[:300].mean(), wrong[300:].mean()))
            errors.append(np.mean(found, axis=0))
        tuning, test = min(errors, key=lambda pair: pair[0])
        yield Run(variant, str(labels), rate, seed, float(tuning), float(test))


def fold_trial(variant: str, case: str, rate: float) -> Iterator[Run]:
    """Train networks of five hidden layers of 32 on a folded line, 1000 steps of 256 points.

    Yields
    ------
    Run
        For each seed, the mean squared error on 1025 points.
    """

    def target(x: Tensor) -> Tensor:
        return torch.tensor(tent(x.numpy(), int(case)), dtype=torch.float32)

    grid = torch.linspace(0, 1, 1025)[:, None]
    found = train_on_line(target, [32] * 5, rate, 1000, SEEDS)(grid)
    for seed, error in enumerate((found - target(grid)).square().mean(dim=(1, 2)).tolist()):
        yield Run(variant, case, rate, seed, error, error)


def ends(runs: Sequence[Run], variant: str, case: str, tuned_on: str | None = None) -> np.ndarray:
    """Return the test errors of the seeds at the learning rate with the lowest tuning error.

    Parameters
    ----------
    runs : sequence of Run
        Of one question: ``pixels.read()``.
    variant, case : str
        Which of them.
    tuned_on : str, optional
        The case by which the rate is chosen; left out, the same.

    Returns
    -------
    float array, shape (seeds,)
        One error for each seed.

    Raises
    ------
    ValueError
        When there is no such run.

    Examples
    --------
    >>> ends(folds.read(), "trained", "1").shape
    (3,)
    """
    best = tuned(runs, "tuning", range(SEEDS), variant=variant, case=tuned_on or case)
    return np.array([run.test for run in runs if run[:3] == (variant, case, best.rate)])


def _some_of_each(classes: np.ndarray, labels: int, chance: np.random.Generator) -> np.ndarray:
    """Draw digits, equally many of each class."""
    each = [
        chance.choice(np.nonzero(classes == c)[0], labels // 10, replace=False) for c in range(10)
    ]
    return np.concatenate(each)


def report(runs: Sequence[Run]) -> Iterator[str]:
    """Sum up each variant in each case."""
    for variant, case in dict.fromkeys((run.variant, run.case) for run in runs):
        errors = ends(runs, variant, case, "natural" if case.startswith("shifted") else case)
        yield f"{variant:16} {case:9} {spread(errors, 5)}"


def case_trained(run: Run) -> Setting:
    """Return the setting of a run on pixels: shifted ones are read by networks of natural ones."""
    case = "natural" if run.case.startswith("shifted") else run.case
    return (run.variant, case, run.rate, run.seed)


def features_trained(run: Run) -> Setting:
    """Return the setting of a run with few labels: one training answers for all cases."""
    return ("mask" if run.variant == "mask left on" else run.variant, run.rate, run.seed)


def _study(
    name: str, train: Callable[..., Iterator[Run]], settings: Iterable[Setting], **of: Any
) -> Study[Run]:
    wanted = list(settings)
    table = Path(__file__).with_name(f"trials-{name}.csv")
    return Study(table, Run, train, lambda _: wanted, report, **of)


pixels = _study(
    "pixels",
    pixel_trial,
    product(("convolutional", "fully connected"), ("natural", "shuffled"), RATES, range(SEEDS)),
    setting=case_trained,
)
kinks = _study("kinks", kink_trial, product(KINKS, ("natural",), RATES, range(SEEDS)))
labels = _study(
    "labels",
    label_trial,
    [
        *product(("pixels",), (0.0,), range(SEEDS)),
        *product(DAMAGES, FEW_RATES, range(SEEDS)),
        *product(("random",), (0.0,), range(SEEDS)),
    ],
    setting=features_trained,
)
folds = _study(
    "folds",
    fold_trial,
    product(("trained",), map(str, FOLDS), FEW_RATES),  # all seeds at once
    setting=lambda run: run[:3],
)
