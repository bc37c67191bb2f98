"""What a model will reach that nobody has trained yet: a forecast with its interval.

``python -m studies scaling.forecast 128x4`` adds the forecast for a size of the sweep to the table,
from the stored runs of smaller sizes.  A forecast is worth something only if it was written down
before the run: a size that was trained is refused.
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from primer.inputs import count, positive
from primer.scaling.fitting import bootstrap, fit_power_law
from primer.tables import read_records, write_records
from studies.scaling import sweep
from studies.scaling.sweep import FAMILY, SIZES, TOKENS, tuned

FORECASTS = Path(__file__).with_name("forecast.csv")


class Interval(NamedTuple):
    """Where a number should lie.

    Attributes
    ----------
    low, middle, high : float
        Quantiles 0.05, 0.5 and 0.95 of what was predicted.
    """

    low: float
    middle: float
    high: float


class Forecast(NamedTuple):
    """An interval that was written down, in nats for a byte: see :class:`Interval`."""

    size: str
    low: Annotated[float, ".4f"]
    middle: Annotated[float, ".4f"]
    high: Annotated[float, ".4f"]


def forecast(x: ArrayLike, loss: ArrayLike, new: float, resamples: int = 200) -> Interval:
    r"""Predict the loss of one run at a size that was not tried.

    Nobody knows whether the law has a floor in this range, so that both are fitted,
    :math:`(x_0/x)^\alpha` and :math:`E + (x_0/x)^\alpha`, each to resamples of the runs; and one
    more run scatters as the others do, so that each prediction is multiplied by :math:`e^{r}` with
    a residual :math:`r` of the fit.  The interval holds the middle 90 % of these predictions.  A
    new run lies in it less often, in two of three cases of made-up laws: fifteen runs do not show
    all that may happen, and eight times the largest size is far away.

    Parameters
    ----------
    x, loss : array_like, shape (runs,)
        Sizes and losses, several runs of each size.
    new : float
        The size.
    resamples : int
        Fits of each form.

    Returns
    -------
    Interval
        Quantiles 0.05, 0.5 and 0.95 of the predictions.

    Raises
    ------
    ValueError
        When the runs cannot be fitted, or ``new`` is not above 0.

    Examples
    --------
    >>> x = np.repeat([1e3, 1e4, 1e5], 3)
    >>> loss = 3 * (x / 1e3) ** -0.1 * np.exp(0.01 * np.tile([-1, 0, 1], 3))
    >>> low, middle, high = forecast(x, loss, 1e6, resamples=20)
    >>> low < 3 * 1e3**-0.1 < high  # the truth, without scatter
    True
    """
    size = np.array([positive("new", new)])
    rng = np.random.default_rng(0)
    predictions = []
    for floor in (False, True):
        fit = functools.partial(fit_power_law, floor=floor)
        expected = fit(x, loss).loss(x)
        residuals = np.log(loss) - np.log(expected)
        for law in bootstrap(fit, x, loss, resamples=count("resamples", resamples)):
            predictions.append(float(law.loss(size)[0]) * np.exp(rng.choice(residuals)))
    return Interval(*(float(end) for end in np.quantile(predictions, [0.05, 0.5, 0.95])))


def smaller_runs(size: str, runs: Sequence[sweep.Run]) -> tuple[np.ndarray, np.ndarray]:
    """Return parameters and losses of the tuned runs whose model is smaller, of the same text.

    Of one family, and of the longest text: other shapes and shorter runs are left out.
    """
    smaller = [
        run
        for run in runs
        if run.size in FAMILY and SIZES[run.size].parameters < SIZES[size].parameters
    ]
    chosen = [run for run in tuned(smaller) if run.tokens == TOKENS[-1]]
    return (
        np.array([SIZES[run.size].parameters for run in chosen], dtype=float),
        np.array([run.nats for run in chosen]),
    )


def load_forecasts() -> dict[str, Interval]:
    """Read what was written down: size → interval of its loss, in nats for a byte."""
    if not FORECASTS.exists():
        return {}
    return {size: Interval(*ends) for size, *ends in read_records(FORECASTS, Forecast)}


def main(arguments: Sequence[str] | None = None) -> None:
    """Forecast a size that was not trained, and write it down."""
    parser = argparse.ArgumentParser(prog="python -m studies scaling.forecast")
    parser.add_argument("size", choices=list(SIZES))
    size = parser.parse_args(arguments).size
    runs = sweep.study.read()
    if any(run.size == size for run in runs):
        parser.error(f"{size} was trained: a forecast comes before the run")
    known = load_forecasts()
    known[size] = forecast(*smaller_runs(size, runs), SIZES[size].parameters)
    write_records(FORECASTS, Forecast, [Forecast(name, *ends) for name, ends in known.items()])
    print(f"{size}: {known[size].low:.3f} to {known[size].high:.3f} nats for a byte")
