"""Inside a model: what its numbers stand for, and how a claim about them can be refuted.

The chapter *Inside a model* teaches this module; each function stands there beside its formula.
"""

from primer.inside.activation_patching import Patch, patched, patching, record, swap
from primer.inside.addition import (
    AdditionNetwork,
    Report,
    handmade_addition,
    modular_pairs,
    train_addition,
)
from primer.inside.addition_neurons import Neurons, explained_by, neurons, own_waves
from primer.inside.controls import shuffled_weights, turned
from primer.inside.dictionary import (
    Dictionary,
    likeness,
    recovered,
    token_share,
    train_dictionary,
    unexplained,
)
from primer.inside.effects import (
    Share,
    direct_logits,
    direct_path,
    first_order,
    logit_difference,
    share,
)
from primer.inside.probes import Probe, fit_probe, pattern, shortest_push
from primer.inside.steering import difference_of_means, random_directions, steered
from primer.inside.superposition import (
    cosines,
    directions_within,
    illusion,
    shared_loss,
    sharing_border,
    welch_bound,
)
from primer.inside.toy import Toy, sparse_examples, train_toy

__all__ = [
    "AdditionNetwork",
    "Dictionary",
    "Neurons",
    "Patch",
    "Probe",
    "Report",
    "Share",
    "Toy",
    "cosines",
    "difference_of_means",
    "direct_logits",
    "direct_path",
    "directions_within",
    "explained_by",
    "first_order",
    "fit_probe",
    "handmade_addition",
    "illusion",
    "likeness",
    "logit_difference",
    "modular_pairs",
    "neurons",
    "own_waves",
    "patched",
    "patching",
    "pattern",
    "random_directions",
    "record",
    "recovered",
    "share",
    "shared_loss",
    "sharing_border",
    "shortest_push",
    "shuffled_weights",
    "sparse_examples",
    "steered",
    "swap",
    "token_share",
    "train_addition",
    "train_dictionary",
    "train_toy",
    "turned",
    "unexplained",
    "welch_bound",
]
