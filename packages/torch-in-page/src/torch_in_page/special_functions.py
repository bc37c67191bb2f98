"""Functions that NumPy lacks: the error function, its inverse, and the gamma function's logarithm.

SciPy has them all, but is heavy for a page: these few lines save its loading.
"""

from __future__ import annotations

import math

import numpy as np

# W. J. Cody, Rational Chebyshev approximations for the error function, Mathematics of Computation
# 23
# (1969): relative errors below 1e-16 in three ranges.
_NEAR = (
    (1.85777706184603153e-1, 3.16112374387056560, 1.13864154151050156e2, 3.77485237685302021e2,
     3.20937758913846947e3),
    (1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3,
     2.84423683343917062e3),
)  # fmt: skip
_MIDDLE = (
    (2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594, 6.61191906371416295e1,
     2.98635138197400131e2, 8.81952221241769090e2, 1.71204761263407058e3, 2.05107837782607147e3,
     1.23033935479799725e3),
    (1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2,
     1.62138957456669019e3, 3.29079923573345963e3, 4.36261909014324716e3, 3.43936767414372164e3,
     1.23033935480374942e3),
)  # fmt: skip
_FAR = (
    (1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1, 1.25781726111229246e-1,
     1.60837851487422766e-2, 6.58749161529837803e-4),
    (1.0, 2.56852019228982242, 1.87295284992346047, 5.27905102951428412e-1,
     6.05183413124413191e-2, 2.33520497626869185e-3),
)  # fmt: skip


def erf_of(x: np.ndarray, complement: bool = False) -> np.ndarray:
    """Return the error function, or what it lacks to 1."""
    kind = x.dtype
    x = x.astype(np.float64)
    size = np.abs(x)
    with np.errstate(all="ignore"):
        square = x * x
        near = x * np.polyval(_NEAR[0], square) / np.polyval(_NEAR[1], square)
        bell = np.exp(-square)
        middle = bell * np.polyval(_MIDDLE[0], size) / np.polyval(_MIDDLE[1], size)
        inverse = 1 / square
        tail = inverse * np.polyval(_FAR[0], inverse) / np.polyval(_FAR[1], inverse)
        far = bell * (1 / math.sqrt(math.pi) - tail) / size
    rest = np.where(size <= 4, middle, np.where(size < 27, far, 0.0))  # what |erf| lacks to 1
    rest = np.where(np.isnan(x), x, rest)
    if complement:
        out = np.where(size <= 0.46875, 1 - near, np.where(x < 0, 2 - rest, rest))
    else:
        out = np.where(size <= 0.46875, near, np.copysign(1 - rest, x))
    return out.astype(kind)


def erfinv_of(y: np.ndarray) -> np.ndarray:
    """Return the inverse of the error function: a first guess, then three steps of Newton's."""
    kind = y.dtype
    y = y.astype(np.float64)
    with np.errstate(all="ignore"):
        w = np.log1p(-y * y)  # S. Winitzki's guess
        a = 0.147
        b = 2 / (math.pi * a) + w / 2
        x = np.copysign(np.sqrt(np.sqrt(b * b - w / a) - b), y)
        for _ in range(3):
            size = np.abs(y)
            far = np.sign(y) * ((1 - size) - erf_of(np.abs(x), complement=True))
            error = np.where(size < 0.5, erf_of(x) - y, far)
            step = error / (2 / math.sqrt(math.pi) * np.exp(-x * x))
            x = x - step / (1 + x * step)
        x = np.where(np.abs(y) == 1, np.copysign(np.inf, y), np.where(np.abs(y) > 1, np.nan, x))
    return np.where(y == 0, y, x).astype(kind)


def lgamma_of(x: np.ndarray) -> np.ndarray:
    """Return the logarithm of the absolute value of the gamma function."""

    def one(number: float) -> float:
        if number <= 0 and number == math.floor(number):
            return math.inf
        return number if math.isnan(number) else math.lgamma(number)

    flat = [one(number) for number in x.astype(np.float64).ravel().tolist()]
    return np.asarray(flat, dtype=x.dtype).reshape(x.shape)


_SERIES = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)


def digamma_of(x: np.ndarray) -> np.ndarray:
    """Return the derivative of lgamma: shifted to the right of 10, then its asymptotic series."""
    kind, x = x.dtype, x.astype(np.float64)
    with np.errstate(all="ignore"):
        reflected = x < 0
        at = np.where(reflected, 1 - x, x)
        sum_ = np.zeros_like(at)
        for _ in range(10):
            low = at < 10
            sum_ -= np.where(low, 1 / at, 0)
            at = np.where(low, at + 1, at)
        square = 1 / (at * at)
        series = np.zeros_like(at)
        for term in reversed(_SERIES):
            series = (series + term) * square
        out = sum_ + np.log(at) - 0.5 / at - series
        turned = np.where(x == np.floor(x), np.nan, out - math.pi / np.tan(math.pi * x))
        out = np.where(reflected, turned, out)
        out = np.where(x == 0, np.copysign(np.inf, -x), out)
    return out.astype(kind)


def trigamma_of(x: np.ndarray) -> np.ndarray:
    """Return the second derivative of lgamma, in the same way."""
    kind, x = x.dtype, x.astype(np.float64)
    with np.errstate(all="ignore"):
        reflected = x < 0.5
        at = np.where(reflected, 1 - x, x)
        sum_ = np.zeros_like(at)
        for _ in range(10):
            low = at < 10
            sum_ += np.where(low, 1 / (at * at), 0)
            at = np.where(low, at + 1, at)
        square = 1 / (at * at)
        series = 1 / at + square / 2
        power = 1 / at
        for bernoulli in (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6):
            power = power * square
            series = series + bernoulli * power
        out = sum_ + series
        out = np.where(reflected, -out + (math.pi / np.sin(math.pi * x)) ** 2, out)
    return out.astype(kind)
