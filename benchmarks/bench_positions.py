"""RoPE and ALiBi beside Hugging Face's code on the same queries and keys."""

from collections.abc import Iterator

import torch
from transformers import LlamaConfig
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

from benchmarks.table import Row, median_seconds
from primer.positions import alibi_bias, apply_rope, shaw_attention

HEADS, LENGTH, DIM = 8, 1024, 64


def rows() -> Iterator[Row]:
    """Time each encoding; angles are computed anew on both sides."""
    query, key, value = torch.randn(3, 1, HEADS, LENGTH, DIM)
    config = LlamaConfig(hidden_size=HEADS * DIM, num_attention_heads=HEADS)
    rotary, where = LlamaRotaryEmbedding(config), torch.arange(LENGTH)[None]
    size = f"{HEADS} heads × {LENGTH} × {DIM}"

    def theirs() -> object:
        cos, sin = rotary(query, where)
        return apply_rotary_pos_emb(query, key, cos, sin)

    for layout in ("half", "interleaved"):

        def ours(layout: str = layout) -> object:
            return [apply_rope(x, range(LENGTH), layout=layout) for x in (query, key)]

        peer = "transformers LlamaRotaryEmbedding"
        yield Row(f"RoPE {layout}, {size}", median_seconds(ours), median_seconds(theirs), peer)

    mask = torch.ones(1, LENGTH)
    yield Row(
        f"ALiBi slopes and bias, {HEADS} heads × {LENGTH}",
        median_seconds(lambda: alibi_bias(HEADS, 1, LENGTH)),
        median_seconds(lambda: build_alibi_tensor(mask, HEADS, torch.float32)),
        "transformers Bloom (one row each)",
    )
    table = torch.randn(2 * 16 + 1, DIM)
    attend = torch.nn.functional.scaled_dot_product_attention
    yield Row(
        f"Shaw attention, k = 16, {size}",
        median_seconds(lambda: shaw_attention(query, key, value, table, table)),
        median_seconds(lambda: attend(query, key, value)),
        "torch attention without positions",
    )
