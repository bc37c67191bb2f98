"""Where a token stands: absolute, relative and rotary positions, linear biases, longer contexts.

The chapter *Positions* teaches this module; each function stands there beside its formula.
"""

from primer.positions.absolute import LearnedPositions, sinusoidal_positions
from primer.positions.alibi import alibi_bias, alibi_slopes
from primer.positions.extension import (
    interpolated_frequencies,
    llama3_frequencies,
    ntk_base,
    yarn_frequencies,
    yarn_temperature,
)
from primer.positions.frequencies import angles_at, rope_angles, rope_frequencies
from primer.positions.relative import ShawRelativeAttention, clipped_offsets, shaw_attention
from primer.positions.rope import (
    apply_rope,
    rope_complex,
    rope_matrix,
    rope_permutation,
    rotate_pairs,
    rotation_matrix,
)

__all__ = [
    "LearnedPositions",
    "ShawRelativeAttention",
    "alibi_bias",
    "alibi_slopes",
    "angles_at",
    "apply_rope",
    "clipped_offsets",
    "interpolated_frequencies",
    "llama3_frequencies",
    "ntk_base",
    "rope_angles",
    "rope_complex",
    "rope_frequencies",
    "rope_matrix",
    "rope_permutation",
    "rotate_pairs",
    "rotation_matrix",
    "shaw_attention",
    "sinusoidal_positions",
    "yarn_frequencies",
    "yarn_temperature",
]
