"""Attention written as its formula beside torch's fused kernel, and our layer beside torch's."""

from collections.abc import Iterator

import torch
from torch.nn import functional

from benchmarks.table import Row, median_seconds
from primer.attention import MultiHeadAttention, causal_mask, scaled_dot_product_attention

BATCH, HEADS, DIM = 4, 8, 64


def rows() -> Iterator[Row]:
    """Time causal attention at three lengths, then a whole layer forward and backward."""
    for length in (128, 512, 1024):
        query, key, value = torch.randn(3, BATCH, HEADS, length, DIM)
        mask = causal_mask(length)

        def formula(parts=(query, key, value), mask=mask) -> object:  # type: ignore[no-untyped-def]
            return scaled_dot_product_attention(*parts, mask)

        def fused(parts=(query, key, value)) -> object:  # type: ignore[no-untyped-def]
            return functional.scaled_dot_product_attention(*parts, is_causal=True)

        yield Row(
            f"attention, the formula, {BATCH} × {HEADS} heads × {length} × {DIM}",
            median_seconds(formula, repeats=5),
            median_seconds(fused, repeats=5),
            "torch fused kernel (keeps no weights)",
        )

    length, width = 512, HEADS * DIM
    ours = MultiHeadAttention(width, HEADS)
    theirs = torch.nn.MultiheadAttention(width, HEADS, bias=False, batch_first=True)
    x = torch.randn(BATCH, length, width, requires_grad=True)
    mask = causal_mask(length)
    yield Row(
        f"attention layer, forward and backward, {BATCH} × {length} × {width}",
        median_seconds(lambda: ours(x, mask=mask).sum().backward(), repeats=5),
        median_seconds(
            lambda: theirs(x, x, x, attn_mask=~mask, need_weights=False)[0].sum().backward(),
            repeats=5,
        ),
        "torch.nn.MultiheadAttention",
    )
