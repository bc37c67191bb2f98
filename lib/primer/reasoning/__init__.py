"""Reasoning: rewards that a program checks, many tries, groups, and written steps.

The chapter *Reasoning* teaches this module; each function stands there beside its formula.
"""

from primer.reasoning.attempts import attempts, entropies
from primer.reasoning.checker import KINDS, Verdicts, check, check_loosely
from primer.reasoning.critic import Estimate, TwoPresses, generalized_advantage
from primer.reasoning.cups import Cups
from primer.reasoning.distillation import teacher_loss
from primer.reasoning.groups import dead_share, group_advantages, group_goal, group_weight
from primer.reasoning.keys import Calculator, split_pairs, worked_examples
from primer.reasoning.lengths import policy_loss, token_weights
from primer.reasoning.support import (
    entropy_change,
    leaky_precision,
    least_divergence,
    right_when_tilted,
    weight_of_best,
)
from primer.reasoning.training import Step, rewarded, train_on_verdicts
from primer.reasoning.voting import PassCurve, majority, pass_curve

__all__ = [
    "KINDS",
    "Calculator",
    "Cups",
    "Estimate",
    "PassCurve",
    "Step",
    "TwoPresses",
    "Verdicts",
    "attempts",
    "check",
    "check_loosely",
    "dead_share",
    "entropies",
    "entropy_change",
    "generalized_advantage",
    "group_advantages",
    "group_goal",
    "group_weight",
    "leaky_precision",
    "least_divergence",
    "majority",
    "pass_curve",
    "policy_loss",
    "rewarded",
    "right_when_tilted",
    "split_pairs",
    "teacher_loss",
    "token_weights",
    "train_on_verdicts",
    "weight_of_best",
    "worked_examples",
]
