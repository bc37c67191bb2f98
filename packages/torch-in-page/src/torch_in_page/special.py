"""``torch.special``: functions that NumPy lacks, and other names for those that torch has twice."""

from __future__ import annotations

import math

from .naming import FUNCTIONS, public
from .tensor import Tensor, unknown

digamma = psi = FUNCTIONS["digamma"]
gammaln = FUNCTIONS["lgamma"]
erf, erfc, erfinv = FUNCTIONS["erf"], FUNCTIONS["erfc"], FUNCTIONS["erfinv"]
exp2, expm1, log1p, logit = (FUNCTIONS[name] for name in ("exp2", "expm1", "log1p", "logit"))
expit, sinc, xlogy = FUNCTIONS["expit"], FUNCTIONS["sinc"], FUNCTIONS["xlogy"]
logsumexp, softmax, log_softmax = (FUNCTIONS[n] for n in ("logsumexp", "softmax", "log_softmax"))
round = FUNCTIONS["round"]


@public
def entr(input: Tensor) -> Tensor:
    """Return ``-x log x``: 0 at 0, minus infinity below."""
    return (-xlogy(input, input)).masked_fill(input < 0, -math.inf)


@public
def ndtr(input: Tensor) -> Tensor:
    """Return the standard normal's distribution function."""
    return 0.5 * erfc(-input / math.sqrt(2))


@public
def ndtri(input: Tensor) -> Tensor:
    """Return the standard normal's quantiles."""
    return math.sqrt(2) * erfinv(2 * input - 1)


__getattr__ = unknown("torch.special")
