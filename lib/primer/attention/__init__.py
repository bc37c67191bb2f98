"""Attention: scaled dot products, masks, several heads, and what trained heads do.

The chapter *Attention* teaches this module; each function stands there beside its formula.
"""

from primer.attention.circuits import head_outputs, ov_circuit, qk_circuit
from primer.attention.dot_product import scaled_dot_product_attention, share_heads
from primer.attention.heads import ablate_heads, change_weights, head_scores, head_targets
from primer.attention.masks import causal_mask, padding_mask, sliding_window_mask
from primer.attention.multi_head import MultiHeadAttention, merge_heads, split_heads
from primer.attention.observing import Observe, Only, shown, within

__all__ = [
    "MultiHeadAttention",
    "Observe",
    "Only",
    "ablate_heads",
    "causal_mask",
    "change_weights",
    "head_outputs",
    "head_scores",
    "head_targets",
    "merge_heads",
    "ov_circuit",
    "padding_mask",
    "qk_circuit",
    "scaled_dot_product_attention",
    "share_heads",
    "shown",
    "sliding_window_mask",
    "split_heads",
    "within",
]
