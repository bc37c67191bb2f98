"""Optimization: how steps, momentum, noise, norms and width decide whether a model learns."""

from typing import TYPE_CHECKING

from primer.lazy import lazily
from primer.optimization.clipping import clip_by_norm
from primer.optimization.momentum import (
    BestMomentum,
    adam_edge,
    best_momentum,
    momentum_factor,
    momentum_limit,
    momentum_matrix,
    momentum_settings,
)
from primer.optimization.noisy_inputs import (
    StepLimits,
    input_moments,
    noisy_moments,
    noisy_step_limits,
)
from primer.optimization.noisy_quadratic import Expected, expected_losses, loss_floor
from primer.optimization.norms import (
    NORMS,
    dual_norm,
    norm,
    orthogonal_factor,
    penalized_step,
    steepest_step,
)
from primer.optimization.quadratic import (
    BestStep,
    best_step,
    closed_form,
    contraction,
    gradient_descent,
    least_squares_gradient,
    steps_needed,
)
from primer.optimization.rules import (
    Adam,
    Divergence,
    GradientDescent,
    Momentum,
    SteepestDescent,
    descend,
)
from primer.optimization.stochastic import (
    Contraction,
    Coordinates,
    active_coordinates,
    minimum_norm_solution,
    noise_floor,
    sgd,
    sgd_contraction,
    stochastic_gradient,
    worst_expected_factor,
)
from primer.optimization.width import (
    rms,
    rms_operator_norm,
    sign_feature_change,
)

if TYPE_CHECKING:
    from primer.optimization.muon import Muon
    from primer.optimization.network import Mlp, digits, feature_changes, train
    from primer.optimization.orthogonalization import (
        CUBIC,
        MUON,
        newton_schulz,
        odd_polynomial,
        step_cost,
    )
    from primer.optimization.unit_scale import (
        rounding_error,
        unit_multiplier,
        unit_sign_step,
        unit_update_limit,
    )

__all__ = [
    "CUBIC",
    "MUON",
    "NORMS",
    "Adam",
    "BestMomentum",
    "BestStep",
    "Contraction",
    "Coordinates",
    "Divergence",
    "Expected",
    "GradientDescent",
    "Mlp",
    "Momentum",
    "Muon",
    "SteepestDescent",
    "StepLimits",
    "active_coordinates",
    "adam_edge",
    "best_momentum",
    "best_step",
    "clip_by_norm",
    "closed_form",
    "contraction",
    "descend",
    "digits",
    "dual_norm",
    "expected_losses",
    "feature_changes",
    "gradient_descent",
    "input_moments",
    "least_squares_gradient",
    "loss_floor",
    "minimum_norm_solution",
    "momentum_factor",
    "momentum_limit",
    "momentum_matrix",
    "momentum_settings",
    "newton_schulz",
    "noise_floor",
    "noisy_moments",
    "noisy_step_limits",
    "norm",
    "odd_polynomial",
    "orthogonal_factor",
    "penalized_step",
    "rms",
    "rms_operator_norm",
    "rounding_error",
    "sgd",
    "sgd_contraction",
    "sign_feature_change",
    "steepest_step",
    "step_cost",
    "steps_needed",
    "stochastic_gradient",
    "train",
    "unit_multiplier",
    "unit_sign_step",
    "unit_update_limit",
    "worst_expected_factor",
]

__getattr__, __dir__ = lazily(__name__)
