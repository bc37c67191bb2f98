"""Fine-tuning: few numbers that change a trained model, and few bits that keep it.

The chapter *Fine-tuning* teaches this module; each function stands there beside its formula.
"""

from primer.fine_tuning.adapters import (
    AdapterLinear,
    ScaledLinear,
    adapter_parameters,
    add_adapters,
    add_ia3,
    fold_ia3,
)
from primer.fine_tuning.blocks import Quantized, double_quantize, pack, quantize, unpack
from primer.fine_tuning.codebooks import (
    FP4_BITSANDBYTES,
    FP4_E2M1,
    FP8_E4M3,
    NF4,
    NF4_OFFSET,
    Codebook,
    integer_codebook,
    lloyd_codebook,
    normal_float_codebook,
)
from primer.fine_tuning.completion import completion_loss, completion_mask
from primer.fine_tuning.docstrings import docstring_tokens, numpy_docstrings, split_docstrings
from primer.fine_tuning.layers import (
    ATTENTION,
    EVERY_MATRIX,
    FEED_FORWARD,
    freeze,
    linear_layers,
    matrix_of,
    trainable_numbers,
)
from primer.fine_tuning.lora import LoRALinear, principal_factors
from primer.fine_tuning.lora_models import (
    add_lora,
    load_lora_state,
    lora_layers,
    lora_parameters,
    lora_state,
    merge_lora,
)
from primer.fine_tuning.pruning import MovementScores, keep_largest, magnitude_masks, prune
from primer.fine_tuning.qlora import QuantizedLinear, dequantize_layers, quantize_layers
from primer.fine_tuning.spectrum import between, rank_for, truncated_update, update_spectrum
from primer.fine_tuning.tuning import fine_tune, loss_on, windows_of

__all__ = [
    "ATTENTION",
    "EVERY_MATRIX",
    "FEED_FORWARD",
    "FP4_BITSANDBYTES",
    "FP4_E2M1",
    "FP8_E4M3",
    "NF4",
    "NF4_OFFSET",
    "AdapterLinear",
    "Codebook",
    "LoRALinear",
    "MovementScores",
    "Quantized",
    "QuantizedLinear",
    "ScaledLinear",
    "adapter_parameters",
    "add_adapters",
    "add_ia3",
    "add_lora",
    "between",
    "completion_loss",
    "completion_mask",
    "dequantize_layers",
    "docstring_tokens",
    "double_quantize",
    "fine_tune",
    "fold_ia3",
    "freeze",
    "integer_codebook",
    "keep_largest",
    "linear_layers",
    "lloyd_codebook",
    "load_lora_state",
    "lora_layers",
    "lora_parameters",
    "lora_state",
    "loss_on",
    "magnitude_masks",
    "matrix_of",
    "merge_lora",
    "normal_float_codebook",
    "numpy_docstrings",
    "pack",
    "principal_factors",
    "prune",
    "quantize",
    "quantize_layers",
    "rank_for",
    "split_docstrings",
    "trainable_numbers",
    "truncated_update",
    "unpack",
    "update_spectrum",
    "windows_of",
]
