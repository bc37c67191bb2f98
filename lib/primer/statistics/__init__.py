"""Estimating, testing and inferring: what a sample tells about where it came from."""

from typing import TYPE_CHECKING

from primer.lazy import lazily
from primer.statistics.bayes import (
    Beta,
    Chain,
    GridPosterior,
    Normal,
    effective_sample_size,
    grid_posterior,
    metropolis,
)
from primer.statistics.convergence import kolmogorov_distance, typewriter, typewriter_interval
from primer.statistics.cramer_rao import cramer_rao_bound, efficiency
from primer.statistics.estimators import (
    midrange,
    sample_mean,
    sample_median,
    sample_variance,
    trimmed_mean,
)
from primer.statistics.evidence import (
    coin_bayes_factor,
    marginal_likelihood,
    normal_bayes_factor,
    posterior_probability,
)
from primer.statistics.power import t_critical_values, t_power, t_sample_size
from primer.statistics.student import (
    noncentral_t_cdf,
    noncentral_t_density,
    scale_mixture,
    t_cdf,
    t_density,
    t_quantile,
)
from primer.statistics.testing import (
    HypothesisTest,
    TTest,
    confidence_interval,
    t_test,
    tail_probability,
    welch_t_test,
)

if TYPE_CHECKING:
    from primer.statistics.families import (
        Bernoulli,
        Cauchy,
        Exponential,
        Family,
        Laplace,
        NormalMean,
        Poisson,
        Uniform,
    )
    from primer.statistics.likelihood import (
        log_likelihood,
        maximize_likelihood,
        numerical_information,
        observed_information,
        score,
        score_contributions,
    )

__all__ = [
    "Bernoulli",
    "Beta",
    "Cauchy",
    "Chain",
    "Exponential",
    "Family",
    "GridPosterior",
    "HypothesisTest",
    "Laplace",
    "Normal",
    "NormalMean",
    "Poisson",
    "TTest",
    "Uniform",
    "coin_bayes_factor",
    "confidence_interval",
    "cramer_rao_bound",
    "effective_sample_size",
    "efficiency",
    "grid_posterior",
    "kolmogorov_distance",
    "log_likelihood",
    "marginal_likelihood",
    "maximize_likelihood",
    "metropolis",
    "midrange",
    "noncentral_t_cdf",
    "noncentral_t_density",
    "normal_bayes_factor",
    "numerical_information",
    "observed_information",
    "posterior_probability",
    "sample_mean",
    "sample_median",
    "sample_variance",
    "scale_mixture",
    "score",
    "score_contributions",
    "t_cdf",
    "t_critical_values",
    "t_density",
    "t_power",
    "t_quantile",
    "t_sample_size",
    "t_test",
    "tail_probability",
    "trimmed_mean",
    "typewriter",
    "typewriter_interval",
    "welch_t_test",
]

__getattr__, __dir__ = lazily(__name__)
