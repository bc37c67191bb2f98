"""Trials that take too long for a chapter: networks compared over rates and seeds.

Four questions.  *pixels*: does a convolutional network read digits better than a fully connected
one, as they are and with their pixels shuffled?  *labels*: how many labels does a classifier need
on top of features that were learned without any?  *folds*: how many folds of the line does
training find?  *kinks*: does it matter which activation stands between the layers?

All variants of a question are tried at the same learning rates and seeds; the rate, and the
penalty of a classifier on features, are chosen by digits kept for that (for folds by the error
itself) and the error on other digits is reported.

Run ``python -m primer.networks.trials`` to repeat them (about six minutes on one core), or add the
names of some of the questions: it trains what is missing in the files ``trials-*.csv`` beside this
one, so remove those first, and writes ``trials-log.txt``.
"""

from __future__ import annotations

import itertools
import os
import platform
import sys
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from tqdm import tqdm

from primer.inputs import one_of
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
from primer.saving import write_whole
from primer.tables import read_records, write_table

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

HERE = Path(__file__).parent
LOG = HERE / "trials-log.txt"
QUESTIONS = ("pixels", "kinks", "labels", "folds")
KINKS = {"ReLU": nn.ReLU, "GELU": nn.GELU, "SiLU": nn.SiLU}


class Trial(NamedTuple):
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
    tuning: float
    test: float


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


def pixel_trial(variant: str, case: str, rate: float, seed: int) -> Iterator[Trial]:
    """Train on 300 digits, 300 steps; choose by 300 others, report on the other 1197.

    Yields
    ------
    Trial
        For the pictures as the case has them, and for natural pictures also shifted ones.
    """
    x, y = shuffled_digits(seed)
    if case == "shuffled":
        x = x[:, torch.randperm(64, generator=torch.Generator().manual_seed(seed))]
    build = convolutional if variant == "convolutional" else lambda: fully_connected([64, 50, 10])
    model = seeded(build, seed)
    train_classifier(model, x[:300], y[:300], rate, 300, seed)
    tuning = error_rate(model, x[300:600], y[300:600])
    yield Trial(variant, case, rate, seed, tuning, error_rate(model, x[600:], y[600:]))
    if case == "natural":
        for pixels in (1, 2):
            moved = error_rate(model, shift_right(x[600:], pixels), y[600:])
            yield Trial(variant, f"shifted {pixels}", rate, seed, tuning, moved)


def kink_trial(variant: str, case: str, rate: float, seed: int) -> Iterator[Trial]:
    """Train a network with two hidden layers on 300 digits, as :func:`pixel_trial` does.

    Yields
    ------
    Trial
        One.
    """
    x, y = shuffled_digits(seed)
    model = seeded(lambda: fully_connected([64, 50, 50, 10], KINKS[variant]), seed)
    train_classifier(model, x[:300], y[:300], rate, 300, seed)
    errors = [error_rate(model, x[part], y[part]) for part in (slice(300, 600), slice(600, None))]
    yield Trial(variant, case, rate, seed, *errors)


def label_trial(variant: str, case: str, rate: float, seed: int) -> Iterator[Trial]:
    """Learn features from 1000 digits without labels, then a classifier from few with labels.

    The classifier's penalty is chosen, for each variant, rate and seed, by 300 digits; the last 497
    are for the report.  Errors are means over five draws of the labeled digits.

    Yields
    ------
    Trial
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
        yield Trial(
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


def _probe(variant: str, features: Tensor, y: Tensor, rate: float, seed: int) -> Iterator[Trial]:
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
        yield Trial(variant, str(labels), rate, seed, float(tuning), float(test))


def fold_trial(variant: str, case: str, rate: float, _: int) -> Iterator[Trial]:
    """Train networks of five hidden layers of 32 on a folded line, 1000 steps of 256 points.

    Yields
    ------
    Trial
        For each seed, the mean squared error on 1025 points.
    """

    def target(x: Tensor) -> Tensor:
        return torch.tensor(tent(x.numpy(), int(case)), dtype=torch.float32)

    grid = torch.linspace(0, 1, 1025)[:, None]
    found = train_on_line(target, [32] * 5, rate, 1000, SEEDS)(grid)
    for seed, error in enumerate((found - target(grid)).square().mean(dim=(1, 2)).tolist()):
        yield Trial(variant, case, rate, seed, error, error)


def load_trials(question: str) -> list[Trial]:
    """Read the stored results of one question.

    Parameters
    ----------
    question : {"pixels", "kinks", "labels", "folds"}
        Which.

    Returns
    -------
    list of Trial
        One for each variant, case, rate and seed.

    Examples
    --------
    >>> len(load_trials("folds")) == len(FOLDS) * len(FEW_RATES) * SEEDS
    True
    """
    return read_records(_file(question), Trial)


def write_trials(path: Path, trials: list[Trial]) -> None:
    """Store the results of a question."""
    rows = ([*trial[:4], f"{trial.tuning:.6f}", f"{trial.test:.6f}"] for trial in trials)
    write_table(path, Trial._fields, rows)


def chosen(trials: list[Trial], variant: str, case: str, tuned_on: str | None = None) -> np.ndarray:
    """Return the test errors of the seeds at the learning rate with the lowest tuning error.

    Parameters
    ----------
    trials : list of Trial
        See :func:`load_trials`.
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
        When there is no such trial.

    Examples
    --------
    >>> chosen(load_trials("folds"), "trained", "1").shape
    (3,)
    """

    def pick(case: str) -> dict[float, list[Trial]]:
        found: dict[float, list[Trial]] = {}
        for trial in trials:
            if (trial.variant, trial.case) == (variant, case):
                found.setdefault(trial.rate, []).append(trial)
        if not found:
            raise ValueError(f"no trial of {variant!r} in the case {case!r}")
        return found

    tuned = pick(tuned_on or case)
    best = min(tuned, key=lambda rate: np.mean([trial.tuning for trial in tuned[rate]]))
    return np.array([trial.test for trial in pick(case)[best]])


def settings(question: str) -> list[tuple[str, str, float, int]]:
    """List what is trained for a question: variant, case, rate and seed.

    Examples
    --------
    >>> len(settings("pixels"))
    36
    """
    seeds = range(SEEDS)
    if question == "pixels":
        kinds = ("convolutional", "fully connected")
        return list(itertools.product(kinds, ("natural", "shuffled"), RATES, seeds))
    if question == "kinks":
        return list(itertools.product(KINKS, ("natural",), RATES, seeds))
    if question == "folds":
        return list(
            itertools.product(("trained",), map(str, FOLDS), FEW_RATES, (0,))
        )  # all at once
    trained = itertools.product(DAMAGES, ("",), FEW_RATES, seeds)
    return [*itertools.product(("pixels", "random"), ("",), (0.0,), seeds), *trained]


def _some_of_each(classes: np.ndarray, labels: int, chance: np.random.Generator) -> np.ndarray:
    """Draw digits, equally many of each class."""
    each = [
        chance.choice(np.nonzero(classes == c)[0], labels // 10, replace=False) for c in range(10)
    ]
    return np.concatenate(each)


def _file(question: str) -> Path:
    return HERE / f"trials-{question}.csv"


def answer(question: str) -> int:
    """Train what is missing for a question, store each result at once, and count the trainings."""
    run: dict[str, Callable[..., Iterator[Trial]]] = {
        "pixels": pixel_trial,
        "kinks": kink_trial,
        "labels": label_trial,
        "folds": fold_trial,
    }
    stored = load_trials(question) if _file(question).exists() else []
    several_cases = question == "labels"  # one training answers for all numbers of labels
    done = {(t.variant, "" if several_cases else t.case, t.rate, t.seed) for t in stored}
    missing = [setting for setting in settings(question) if setting not in done]
    for setting in tqdm(missing, desc=question):
        stored += run[question](*setting)
        write_trials(_file(question), stored)
    return len(missing)


def main(questions: Collection[str]) -> None:
    """Answer the questions and write the log."""
    for question in questions:
        one_of("question", question, QUESTIONS)
    torch.set_num_threads(1)  # the matrices are too small to share
    began = time.process_time()
    trained = sum(answer(question) for question in questions)
    lines = []
    for question in filter(lambda name: _file(name).exists(), QUESTIONS):
        trials = load_trials(question)
        for variant, case in dict.fromkeys((t.variant, t.case) for t in trials):
            tuned_on = "natural" if case.startswith("shifted") else case
            errors = chosen(trials, variant, case, tuned_on)
            spread = f"{errors.mean():.5f} ± {errors.std(ddof=1):.5f}"
            lines.append(f"{question:7} {variant:16} {case:9} {spread}")
    lines += [
        f"{trained} trained now, {time.process_time() - began:.0f} s",
        f"torch {torch.__version__}, numpy {np.__version__}, Python {platform.python_version()}, "
        f"{platform.machine()}, {os.cpu_count()} cores, one thread",
    ]
    write_whole(LOG, "".join(f"{line}\n" for line in lines).encode())
    print("\n".join(lines))


if __name__ == "__main__":
    main(sys.argv[1:] or QUESTIONS)
