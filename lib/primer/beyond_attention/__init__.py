"""Memories beside attention: linear attention, ridge and delta rules, state spaces, selection.

The chapter *Beyond attention* teaches this module; each function stands there beside its formula.
"""

from typing import TYPE_CHECKING

from primer.beyond_attention.discretization import (
    bilinear,
    hold_by_formula,
    matrix_exponential,
    zero_order_hold,
)
from primer.beyond_attention.hippo import best_state, legs_matrices, reconstruct, remember
from primer.beyond_attention.kernels import (
    elu_features,
    linear_attention,
    quadratic_features,
    similarity_attention,
)
from primer.beyond_attention.memories import (
    AdditiveMemory,
    DeltaMemory,
    Memory,
    RidgeMemory,
    SoftmaxMemory,
    parallel_delta_rule,
    recall,
)
from primer.beyond_attention.powers import power_block, rank_one_power
from primer.beyond_attention.ridge import ridge_attention, sherman_morrison
from primer.beyond_attention.scan import scan, scan_by_loop
from primer.beyond_attention.state_space import convolve, diagonal_kernel, kernel, run_system
from primer.lazy import lazily

if TYPE_CHECKING:
    from primer.beyond_attention.layers import LayerState, LinearAttention
    from primer.beyond_attention.recurrence import linear_recurrence
    from primer.beyond_attention.selection import SelectiveLayer, selective_scan

__all__ = [
    "AdditiveMemory",
    "DeltaMemory",
    "LayerState",
    "LinearAttention",
    "Memory",
    "RidgeMemory",
    "SelectiveLayer",
    "SoftmaxMemory",
    "best_state",
    "bilinear",
    "convolve",
    "diagonal_kernel",
    "elu_features",
    "hold_by_formula",
    "kernel",
    "legs_matrices",
    "linear_attention",
    "linear_recurrence",
    "matrix_exponential",
    "parallel_delta_rule",
    "power_block",
    "quadratic_features",
    "rank_one_power",
    "recall",
    "reconstruct",
    "remember",
    "ridge_attention",
    "run_system",
    "scan",
    "scan_by_loop",
    "selective_scan",
    "sherman_morrison",
    "similarity_attention",
    "zero_order_hold",
]

__getattr__, __dir__ = lazily(__name__)
