"""Transformers: the parts, the whole, and what they cost.

The chapter *Transformers* teaches this module; each function stands there beside its formula.
"""

from primer.transformers.cache import KeyValueCache
from primer.transformers.checkpoint import (
    load_checkpoint,
    load_pretrained,
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
from primer.transformers.model import Block, Transformer

__all__ = [
    "GPT2_SMALL",
    "GPT3",
    "LLAMA_2_7B",
    "ORIGINAL",
    "Block",
    "KeyValueCache",
    "Transformer",
    "TransformerConfig",
    "load_checkpoint",
    "load_pretrained",
    "read_metadata",
    "save_checkpoint",
]
