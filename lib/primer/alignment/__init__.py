"""From what people prefer to what a model does: preferences, rewards, policies, leashes.

The chapter *Alignment* teaches this module; each function stands there beside its formula.
"""

from primer.alignment.divergence import (
    KLEstimates,
    kl_estimates,
    kl_loss,
    penalized_reward,
)
from primer.alignment.dpo import dpo_loss, implicit_reward
from primer.alignment.optimal_policy import (
    best_of_n,
    best_of_n_kl_bound,
    gaussian_tilt,
    log_partition,
    tilted,
)
from primer.alignment.policy_gradient import (
    GradientSamples,
    centered,
    clipped_policy_loss,
    gaussian_gradients,
    grouped,
    leave_one_out,
    policy_gradient,
    reinforce_loss,
    whitened,
)
from primer.alignment.preferences import (
    PreferenceFit,
    Rater,
    fit_preferences,
    fit_scores,
    preference_loss,
)
from primer.alignment.replies import (
    Replies,
    reply_log_probs,
    reply_loss,
    reply_mask,
    speeches,
    write_replies,
)
from primer.alignment.reward_model import RewardModel
from primer.alignment.supervised import train_on_pairs, tune
from primer.alignment.training import PolicyReport, train_policy
from primer.language_models import kl_divergence

__all__ = [
    "GradientSamples",
    "KLEstimates",
    "PolicyReport",
    "PreferenceFit",
    "Rater",
    "Replies",
    "RewardModel",
    "best_of_n",
    "best_of_n_kl_bound",
    "centered",
    "clipped_policy_loss",
    "dpo_loss",
    "fit_preferences",
    "fit_scores",
    "gaussian_gradients",
    "gaussian_tilt",
    "grouped",
    "implicit_reward",
    "kl_divergence",
    "kl_estimates",
    "kl_loss",
    "leave_one_out",
    "log_partition",
    "penalized_reward",
    "policy_gradient",
    "preference_loss",
    "reinforce_loss",
    "reply_log_probs",
    "reply_loss",
    "reply_mask",
    "speeches",
    "tilted",
    "train_on_pairs",
    "train_policy",
    "tune",
    "whitened",
    "write_replies",
]
