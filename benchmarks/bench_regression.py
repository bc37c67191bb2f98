"""Least squares with its tests, the lasso and a power, beside statsmodels and scikit-learn."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import statsmodels.api as sm
from sklearn.linear_model import Lasso
from statsmodels.stats.power import TTestPower

from benchmarks.table import Row, alternating_seconds
from primer import regression, statistics


def rows() -> Iterator[Row]:
    """Yield the lines of the table."""
    random = np.random.default_rng(0)
    X = random.normal(size=(10_000, 20))
    y = X @ random.normal(size=20) + random.normal(size=10_000)
    design = sm.add_constant(X)
    yield Row(
        "least squares with its t tests, 10,000 rows of 20",
        *alternating_seconds(
            lambda: regression.coefficient_tests(regression.ols(X, y)),
            lambda: sm.OLS(y, design).fit().pvalues,
        ),
        "statsmodels.OLS",
    )
    few = X[:500]
    penalty = 0.05
    theirs = Lasso(alpha=penalty, fit_intercept=False, tol=1e-8, max_iter=100_000)
    yield Row(
        "the lasso, 500 rows of 20",
        *alternating_seconds(
            lambda: regression.lasso(few, y[:500], penalty), lambda: theirs.fit(few, y[:500])
        ),
        "scikit-learn's Lasso",
    )
    yield Row(
        "power of a t test, d = 0.3, n = 50",
        *alternating_seconds(
            lambda: statistics.t_power(0.3, 50), lambda: TTestPower().power(0.3, 50, 0.05)
        ),
        "statsmodels' TTestPower",
    )
