"""Evaluation: how sure a benchmark is, what belongs to a score, and what a score does not say."""

from primer.evaluation.calibration import (
    BrierParts,
    best_temperature,
    brier_parts,
    calibration_noise,
)
from primer.evaluation.clusters import (
    ClusteredMean,
    clustered_mean,
    design_effect,
    intraclass_correlation,
)
from primer.evaluation.conformal import conformal_quantile, next_level
from primer.evaluation.items import ItemFit, fit_items
from primer.evaluation.judges import Agreement, agreement, duels
from primer.evaluation.many import expected_best, pass_at_k
from primer.evaluation.options import credits
from primer.evaluation.pairs import mcnemar, questions_needed, sign_flip_test
from primer.evaluation.proportions import Interval, clopper_pearson, coverage, wald, wilson

__all__ = [
    "Agreement",
    "BrierParts",
    "ClusteredMean",
    "Interval",
    "ItemFit",
    "agreement",
    "best_temperature",
    "brier_parts",
    "calibration_noise",
    "clopper_pearson",
    "clustered_mean",
    "conformal_quantile",
    "coverage",
    "credits",
    "design_effect",
    "duels",
    "expected_best",
    "fit_items",
    "intraclass_correlation",
    "mcnemar",
    "next_level",
    "pass_at_k",
    "questions_needed",
    "sign_flip_test",
    "wald",
    "wilson",
]
