"""What a model will reach that nobody has trained yet: a forecast with its interval.

Run ``python -m primer.scaling.forecast 128x4`` to add the forecast for a size of the sweep to
``forecast.csv`` beside this file, from the stored runs of smaller sizes.  A forecast is worth
something only if it was written down before the run: a size that was trained is refused.
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from primer.inputs import count, positive
from primer.saving import write_whole
from primer.scaling.fitting import bootstrap, fit_power_law
from primer.scaling.sweep import FAMILY, SIZES, TOKENS, Result, load_results, tuned
from primer.tables import read_table

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


def smaller_runs(size: str, results: Sequence[Result]) -> tuple[np.ndarray, np.ndarray]:
    """Return parameters and losses of the tuned runs whose model is smaller, of the same text.

    Of one family, and of the longest text: other shapes and shorter runs are left out.
    """
    smaller = [
        result
        for result in results
        if result.size in FAMILY and SIZES[result.size].parameters < SIZES[size].parameters
    ]
    chosen = [result for result in tuned(smaller) if result.tokens == TOKENS[-1]]
    return (
        np.array([SIZES[result.size].parameters for result in chosen], dtype=float),
        np.array([result.nats for result in chosen]),
    )


def load_forecasts(path: Path | None = None) -> dict[str, Interval]:
    """Read what was written down: size → interval of its loss, in nats for a byte."""
    path = path or FORECASTS
    if not path.exists():
        return {}
    lines = read_table(
        path,
        ("size", *Interval._fields),
        lambda row: (row["size"], Interval(*(float(row[end]) for end in Interval._fields))),
    )
    return dict(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Forecast a size that was not trained, and write it down."""
    parser = argparse.ArgumentParser(prog="python -m primer.scaling.forecast")
    parser.add_argument("size", choices=list(SIZES))
    size = parser.parse_args(arguments).size
    results = load_results()
    if any(result.size == size for result in results):
        parser.error(f"{size} was trained: a forecast comes before the run")
    known = load_forecasts()
    known[size] = forecast(*smaller_runs(size, results), SIZES[size].parameters)
    lines = [",".join(("size", *Interval._fields))]
    lines += [",".join((name, *(f"{end:.4f}" for end in known[name]))) for name in known]
    write_whole(FORECASTS, "".join(line + "\n" for line in lines).encode())
    print(f"{size}: {known[size].low:.3f} to {known[size].high:.3f} nats for a byte")


if __name__ == "__main__":
    main()
