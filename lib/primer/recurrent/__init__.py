"""Recurrent networks: what a state remembers, and what it costs.

The chapter *Recurrent networks* teaches this module; each function stands there beside its formula.
"""

from primer.recurrent.cells import (
    CELLS,
    Cell,
    ElmanCell,
    GRUCell,
    LSTMCell,
    State,
    half_life,
)
from primer.recurrent.characters import RecurrentLanguageModel
from primer.recurrent.gates import Driven, carried_back, drive, plain_factors
from primer.recurrent.gradients import (
    ThroughTime,
    backpropagation_through_time,
    gradient_ratio,
    jacobian_product,
    power_norms,
    step_jacobian,
)
from primer.recurrent.layers import Recurrent, run
from primer.recurrent.memory import (
    input_gradients,
    loss_with_erased_past,
    memory_capacity,
    text_windows,
)
from primer.recurrent.seq2seq import (
    EncoderDecoder,
    attend,
    bilinear_score,
    dot_score,
    mlp_score,
)
from primer.recurrent.stored import character_models, load_models
from primer.recurrent.tasks import adding_problem, agreement, parity, reversal

__all__ = [
    "CELLS",
    "Cell",
    "Driven",
    "ElmanCell",
    "EncoderDecoder",
    "GRUCell",
    "LSTMCell",
    "Recurrent",
    "RecurrentLanguageModel",
    "State",
    "ThroughTime",
    "adding_problem",
    "agreement",
    "attend",
    "backpropagation_through_time",
    "bilinear_score",
    "carried_back",
    "character_models",
    "dot_score",
    "drive",
    "gradient_ratio",
    "half_life",
    "input_gradients",
    "jacobian_product",
    "load_models",
    "loss_with_erased_past",
    "memory_capacity",
    "mlp_score",
    "parity",
    "plain_factors",
    "power_norms",
    "reversal",
    "run",
    "step_jacobian",
    "text_windows",
]
