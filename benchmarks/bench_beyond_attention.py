"""Linear attention beside torch's fused softmax attention at three lengths; a scan beside a loop.

Both run on one text with one head; the peer's cost grows with the square of the length.
"""

from collections.abc import Iterator

import numpy as np
import scipy.signal
import torch
from torch.nn import functional

from benchmarks.table import Row, alternating_seconds, median_seconds
from primer import beyond_attention as ba

DIM = 64
LENGTHS = (256, 1024, 4096)
CHANNELS = 64


def rows() -> Iterator[Row]:
    """Time linear attention at three lengths, then 64 linear recurrences at the same lengths."""
    random = np.random.default_rng(0)
    for length in LENGTHS:
        rows_of = random.normal(size=(3, length, DIM))
        query, key = ba.elu_features(rows_of[0]), ba.elu_features(rows_of[1])
        value = rows_of[2]
        softmax = tuple(torch.tensor(rows)[None, None] for rows in rows_of)

        def linear(parts=(query, key, value)) -> object:  # type: ignore[no-untyped-def]
            return ba.linear_attention(*parts)

        def fused(parts=softmax) -> object:  # type: ignore[no-untyped-def]
            return functional.scaled_dot_product_attention(*parts, is_causal=True)

        yield Row(
            f"linear attention in chunks, {length} × {DIM}",
            *alternating_seconds(linear, fused, repeats=5),
            "torch fused softmax attention",
        )

    for length in LENGTHS:
        factor = random.uniform(0.5, 1, (length, CHANNELS))
        term = random.normal(size=(length, CHANNELS))

        def scanned(parts=(factor, term)) -> object:  # type: ignore[no-untyped-def]
            return ba.scan(*parts)

        def looped(parts=(factor, term)) -> object:  # type: ignore[no-untyped-def]
            return ba.scan_by_loop(*parts)

        yield Row(
            f"associative scan, {length} steps × {CHANNELS}",
            *alternating_seconds(scanned, looped, repeats=5),
            "the same states by a loop",
        )

    length = 16_384
    x, decay = random.normal(size=length), 0.99
    taps = ba.kernel([[decay]], [1.0], [1.0], length)
    yield Row(
        f"state space as a convolution, our FFT, {length} steps",
        median_seconds(lambda: ba.convolve(x, taps), repeats=5),
        median_seconds(lambda: scipy.signal.lfilter([1.0], [1.0, -decay], x), repeats=5),
        "scipy.signal.lfilter, one step after another",
    )
