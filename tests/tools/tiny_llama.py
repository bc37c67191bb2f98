"""A Llama of Hugging Face with random weights, small enough for any test."""

from __future__ import annotations

import torch
from transformers import LlamaConfig, LlamaForCausalLM


def llama() -> LlamaForCausalLM:
    """Make the same model each time."""
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=20,
        hidden_size=16,
        intermediate_size=24,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
    )
    return LlamaForCausalLM(config).eval()
