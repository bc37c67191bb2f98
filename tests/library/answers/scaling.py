"""Answers to the exercises of the chapter *Scaling laws*."""

import numpy as np
import torch

from primer.exercises import scaling as checks
from primer.scaling import bootstrap, fit_power_law


def split(flops, A, B, alpha, beta):
    scale = (alpha * A / (beta * B)) ** (1 / (alpha + beta))
    return scale * (flops / 6) ** (beta / (alpha + beta))


def swapped(flops, A, B, alpha, beta):
    scale = (alpha * A / (beta * B)) ** (1 / (alpha + beta))
    return scale * (flops / 6) ** (alpha / (alpha + beta))


def without_six(flops, A, B, alpha, beta):
    return split(6 * flops, A, B, alpha, beta)


def without_factors(flops, A, B, alpha, beta):
    return (A / B) ** (1 / (alpha + beta)) * (flops / 6) ** (beta / (alpha + beta))


def upside_down(flops, A, B, alpha, beta):
    return split(flops, B, A, beta, alpha) * (flops / 6) ** ((beta - alpha) / (alpha + beta))


def tokens(flops, A, B, alpha, beta):
    return flops / 6 / split(flops, A, B, alpha, beta)


def forecast(x, loss, new):
    fits = bootstrap(fit_power_law, x, loss, resamples=100)
    return np.quantile([float(law.loss(new)) for law in fits], [0.01, 0.99])


def one_fit(x, loss, new):
    best = float(fit_power_law(x, loss).loss(new))
    return best - 1e-4, best + 1e-4


def quantiles(low, high):
    def forecast_interval(x, loss, new):
        fits = bootstrap(fit_power_law, x, loss, resamples=100)
        return np.quantile([float(law.loss(new)) for law in fits], [low, high])

    return forecast_interval


def by_least_squares(x, loss, new):
    X = np.stack([np.ones_like(x), np.log(x)], axis=1)
    fitted, rest = np.linalg.lstsq(X, np.log(loss), rcond=None)[:2]
    at = np.array([1, np.log(new)])
    reach = 2.16 * np.sqrt(rest[0] / 13 * at @ np.linalg.inv(X.T @ X) @ at)
    return np.exp(at @ fitted - reach), np.exp(at @ fitted + reach)


def twice_as_wide(x, loss, new):
    low, high = by_least_squares(x, loss, new)
    return low - (high - low) / 2, high + (high - low) / 2


def share_of_last(x, loss, new):
    return loss[-3:].mean() * 0.785, loss[-3:].mean() * 0.88


def of_width(width):
    def forecast_interval(x, loss, new):
        best = float(fit_power_law(x, loss).loss(new))
        return best * (1 - width / 2), best * (1 + width / 2)

    return forecast_interval


RIGHT = [
    (checks.check_split, split),
    (checks.check_rounding, 1.57),
    (checks.check_missing, "c"),
    (checks.check_diagnose, "b"),
    (checks.check_forecast, forecast),
    (checks.check_forecast, lambda *runs: torch.from_numpy(forecast(*runs))),
    (checks.check_forecast, quantiles(0.025, 0.975)),
    (checks.check_forecast, by_least_squares),
]
WRONG = [
    (checks.check_days, 17.9, "at its peak"),
    (checks.check_days, 1072, "those are hours"),
    (checks.check_days, 44.6615 * 24, "those are hours"),
    (checks.check_days, 44.8, "rounded on the way"),
    (checks.check_days, 7.146, "takes longer than the peak"),
    (checks.check_days, 44.6, "round once, at the end"),
    (checks.check_days, 44.5, "round once, at the end"),
    (checks.check_days, 43, "over 1,221 devices"),
    (checks.check_rounding, 1.56, "round once, at the end"),
    (checks.check_split, swapped, "belongs to the tokens"),
    (checks.check_split, without_six, "a 6 is missing"),
    (checks.check_split, without_factors, "stand in G as factors"),
    (checks.check_split, upside_down, "upside down"),
    (checks.check_split, tokens, "the number of tokens"),
    (checks.check_split, lambda *_: 12345.0, r"the result is 1\.234e\+04, but [\d.e+]+ is right"),
    (checks.check_rounding, 0.64, "the other way round"),
    (checks.check_rounding, 33.5, "the difference"),
    (checks.check_rounding, 1.48, "β rounded alone"),
    (checks.check_rounding, 1.06, "α rounded alone"),
    (checks.check_missing, "a", "half a billion"),
    (checks.check_diagnose, "a", "would not help"),
    (checks.check_forecast, one_fit, "a fixed width"),
    (checks.check_forecast, lambda x, loss, new: (0.0, 100.0), "a fixed width"),
    (checks.check_forecast, quantiles(0.4, 0.6), "of 6 cases"),
    (checks.check_forecast, twice_as_wide, "narrower one"),
    *((checks.check_forecast, of_width(w), "a fixed width") for w in (0.01, 0.04, 0.1, 0.15)),
    (checks.check_forecast, lambda x, loss, new: 2.0, "two numbers"),
    (checks.check_forecast, lambda x, loss, new: np.array(2.0), "two numbers"),
    (checks.check_forecast, share_of_last, "a fixed width"),
]
