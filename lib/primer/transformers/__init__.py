"""Transformers: the parts, the whole, and what they cost.

The chapter *Transformers* teaches this module; each function stands there beside its formula.
"""

from primer.eight_bits import dequantize, quantize
from primer.transformers.cache import KeyValueCache
from primer.transformers.checkpoint import (
    load_checkpoint,
    load_pretrained,
    pretrained_file,
    read_metadata,
    save_checkpoint,
)
from primer.transformers.config import (
    GPT2_SMALL,
    GPT3,
    LLAMA_2_7B,
    ORIGINAL,
    TransformerConfig,
)
from primer.transformers.counting import (
    cache_bytes,
    count_parameters,
    flops_by_part,
    flops_per_token,
)
from primer.transformers.encoder_decoder import Encoder, EncoderDecoder
from primer.transformers.feed_forward import FeedForward, SwiGLU
from primer.transformers.hugging_face import load_gpt2, load_llama
from primer.transformers.mixture import (
    MixtureOfExperts,
    expert_load,
    load_balancing_loss,
    route,
)
from primer.transformers.model import ACTIVATIONS, Block, Transformer
from primer.transformers.norms import RMSNorm, layer_norm, rms_norm
from primer.transformers.online_softmax import blockwise_attention
from primer.transformers.patches import PatchEmbedding, patchify

__all__ = [
    "ACTIVATIONS",
    "GPT2_SMALL",
    "GPT3",
    "LLAMA_2_7B",
    "ORIGINAL",
    "Block",
    "Encoder",
    "EncoderDecoder",
    "FeedForward",
    "KeyValueCache",
    "MixtureOfExperts",
    "PatchEmbedding",
    "RMSNorm",
    "SwiGLU",
    "Transformer",
    "TransformerConfig",
    "blockwise_attention",
    "cache_bytes",
    "count_parameters",
    "dequantize",
    "expert_load",
    "flops_by_part",
    "flops_per_token",
    "layer_norm",
    "load_balancing_loss",
    "load_checkpoint",
    "load_gpt2",
    "load_llama",
    "load_pretrained",
    "patchify",
    "pretrained_file",
    "quantize",
    "read_metadata",
    "rms_norm",
    "route",
    "save_checkpoint",
]
