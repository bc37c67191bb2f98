"""Attention by its formula, in blocks and as a layer, beside torch's."""

from collections.abc import Callable, Iterator
from itertools import accumulate

import torch
from torch.nn import functional
from torch.profiler import ProfilerActivity, profile

from benchmarks.table import Row, alternating_seconds
from primer.attention import MultiHeadAttention, causal_mask, scaled_dot_product_attention
from primer.transformers import blockwise_attention

BATCH, HEADS, DIM = 4, 8, 64
LONG = 4096  # tokens of one text: the formula's table of weights takes half a gigabyte


def rows() -> Iterator[Row]:
    """Time causal attention by the formula and in blocks, weigh both, then time a whole layer."""
    for length in (128, 512, 1024):
        yield _formula_row(length)
    for batch, length in ((BATCH, 1024), (1, LONG)):
        yield _blockwise_row(batch, length)
    yield _memory_row()
    yield _layer_row()


def _fused(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> object:
    """Attend with torch's kernel."""
    return functional.scaled_dot_product_attention(query, key, value, is_causal=True)


def _formula_row(length: int) -> Row:
    """Time attention that keeps all weights."""
    parts, mask = torch.randn(3, BATCH, HEADS, length, DIM).unbind(), causal_mask(length)
    return Row(
        f"attention, the formula, {BATCH} × {HEADS} heads × {length} × {DIM}",
        *alternating_seconds(
            lambda: scaled_dot_product_attention(*parts, mask), lambda: _fused(*parts), repeats=5
        ),
        "torch fused kernel (keeps no weights)",
    )


def _blockwise_row(batch: int, length: int) -> Row:
    """Time attention that never holds more than a block of weights."""
    parts = torch.randn(3, batch, HEADS, length, DIM).unbind()
    return Row(
        f"attention in blocks, {batch} × {HEADS} heads × {length} × {DIM}",
        *alternating_seconds(
            lambda: blockwise_attention(*parts, causal=True), lambda: _fused(*parts), repeats=5
        ),
        "torch fused kernel",
    )


def _memory_row() -> Row:
    """Weigh what attention makes besides its inputs."""
    parts, mask = torch.randn(3, 1, HEADS, LONG, DIM).unbind(), causal_mask(LONG)
    return Row(
        f"memory of attention in blocks, {HEADS} heads × {LONG} × {DIM}",
        _megabytes(lambda: blockwise_attention(*parts, causal=True)),
        _megabytes(lambda: scaled_dot_product_attention(*parts, mask)),
        "the formula, which keeps all weights",
        unit="MB",
    )


def _megabytes(work: Callable[[], object]) -> float:
    """Return the largest memory that tensors made by a work hold at one time."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as found:
        work()
    changes = [e for e in found.profiler.kineto_results.events() if e.name() == "[memory]"]
    changes.sort(key=lambda change: change.start_ns())
    return max(accumulate(change.nbytes() for change in changes)) / 1e6


def _layer_row() -> Row:
    """Time a whole layer, forward and backward."""
    length, width = 512, HEADS * DIM
    ours = MultiHeadAttention(width, HEADS)
    theirs = torch.nn.MultiheadAttention(width, HEADS, bias=False, batch_first=True)
    x = torch.randn(BATCH, length, width, requires_grad=True)
    mask = causal_mask(length)
    return Row(
        f"attention layer, forward and backward, {BATCH} × {length} × {width}",
        *alternating_seconds(
            lambda: ours(x, mask=mask).sum().backward(),
            lambda: theirs(x, x, x, attn_mask=~mask, need_weights=False)[0].sum().backward(),
            repeats=5,
        ),
        "torch.nn.MultiheadAttention",
    )
