"""Scaling: what a training costs, how the loss falls, and how to spend a budget.

The chapter *Scaling laws* teaches this module; each function stands there beside its formula.
"""

from primer.scaling.counting import (
    attention_share,
    kaplan_forward_flops,
    training_days,
    training_flops,
)
from primer.scaling.emergence import (
    METRICS,
    brier_score,
    exact_match,
    measured_matches,
    score,
    token_probability,
)
from primer.scaling.fitting import (
    bootstrap,
    chinchilla_objective,
    fit_chinchilla,
    fit_power_law,
)
from primer.scaling.laws import (
    CHINCHILLA_PRINTED,
    CHINCHILLA_REFIT,
    CHINCHILLA_UNROUNDED,
    KAPLAN,
    ChinchillaLaw,
    JointLaw,
    PowerLaw,
    Split,
)
from primer.scaling.next_byte import multiplied_parameters, next_byte_model, train_next_byte
from primer.scaling.published import CHINCHILLA, GOPHER, GPT3_FAMILY, Published

__all__ = [
    "CHINCHILLA",
    "CHINCHILLA_PRINTED",
    "CHINCHILLA_REFIT",
    "CHINCHILLA_UNROUNDED",
    "GOPHER",
    "GPT3_FAMILY",
    "KAPLAN",
    "METRICS",
    "ChinchillaLaw",
    "JointLaw",
    "PowerLaw",
    "Published",
    "Split",
    "attention_share",
    "bootstrap",
    "brier_score",
    "chinchilla_objective",
    "exact_match",
    "fit_chinchilla",
    "fit_power_law",
    "kaplan_forward_flops",
    "measured_matches",
    "multiplied_parameters",
    "next_byte_model",
    "score",
    "token_probability",
    "train_next_byte",
    "training_days",
    "training_flops",
]
