"""Attention of both kinds against length, a scan beside a loop, and the scoreboard's small models.

The first rows run on one text with one head, beside torch's fused kernel, whose cost grows with the
square of the length, as that of our formula does.  The models are those of
:mod:`primer.scoreboard.memories`, of one size: how fast they learn, and what they keep to write.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import scipy.signal
import torch
from torch.nn import functional
from transformers import LlamaConfig, LlamaForCausalLM

from benchmarks.bench_transformers import NO_TOKENS, training_step
from benchmarks.table import Row, alternating_seconds, median_seconds
from primer import beyond_attention as ba
from primer.scoreboard.memories import MODELS, SHAPE, MixedCache, build
from studies.scoreboard.memories import BATCH

DIM = 64
LENGTHS = (256, 1024, 4096)
CHANNELS = 64


def rows() -> Iterator[Row]:
    """Time attention, recurrences, and training; weigh what is kept while a text is written."""
    yield from attention_rows()
    yield from scan_rows()
    yield from training_rows()
    yield from memory_rows()


def attention_rows() -> Iterator[Row]:
    """Time linear and softmax attention at three lengths."""
    random = np.random.default_rng(0)
    for length in LENGTHS:
        rows_of = random.normal(size=(3, length, DIM))
        query, key = ba.elu_features(rows_of[0]), ba.elu_features(rows_of[1])
        softmax = tuple(torch.tensor(part)[None, None] for part in rows_of)

        def linear(parts=(query, key, rows_of[2])) -> object:  # type: ignore[no-untyped-def]
            return ba.linear_attention(*parts)

        def formula(parts=rows_of) -> object:  # type: ignore[no-untyped-def]
            query, key, value = parts
            return ba.similarity_attention(query / DIM**0.5, key, value, np.exp, causal=True)

        def fused(parts=softmax) -> object:  # type: ignore[no-untyped-def]
            return functional.scaled_dot_product_attention(*parts, is_causal=True)

        for name, ours in (
            ("linear attention in chunks", linear),
            ("softmax attention, the formula", formula),
        ):
            yield Row(
                f"{name}, {length} × {DIM}",
                *alternating_seconds(ours, fused, repeats=5),
                "torch fused softmax attention",
            )


def scan_rows() -> Iterator[Row]:
    """Time 64 linear recurrences at the same lengths, in NumPy and with a gradient in torch."""
    random = np.random.default_rng(1)
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

    keep, write = (torch.rand(8, 128, 48, 16, requires_grad=True) for _ in range(2))

    def ours() -> None:
        ba.linear_recurrence(keep, write).sum().backward()

    def graph() -> None:
        h, states = torch.zeros_like(write[:, 0]), []
        for t in range(write.shape[1]):
            h = keep[:, t] * h + write[:, t]
            states.append(h)
        torch.stack(states, dim=1).sum().backward()

    yield Row(
        "recurrence with its gradient, 8 × 128 × 48 × 16",
        *alternating_seconds(ours, graph, repeats=5),
        "torch's graph of the same loop",
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


def training_rows() -> Iterator[Row]:
    """Time whole steps of training of each small model of the scoreboard."""
    torch.manual_seed(0)
    batch = torch.randint(SHAPE.vocab_size, (BATCH, SHAPE.context_length + 1))
    llama = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=SHAPE.vocab_size,
            max_position_embeddings=SHAPE.context_length,
            hidden_size=SHAPE.d_model,
            intermediate_size=SHAPE.ff_width,
            num_hidden_layers=SHAPE.n_layers,
            num_attention_heads=SHAPE.n_heads,
            tie_word_embeddings=True,
            **NO_TOKENS,
        )
    )
    theirs = training_step(llama, lambda ids: llama(ids).logits, batch)
    for name in MODELS:
        model = build(name)(SHAPE)
        seconds = alternating_seconds(training_step(model, model, batch), theirs, repeats=5)
        tokens = batch[:, 1:].numel()
        yield Row(
            f"training the scoreboard's small model, {name}",
            tokens / seconds[0],
            tokens / seconds[1],
            "a Llama of this size by Hugging Face; more is better",
            unit="t/s",
        )


def memory_rows() -> Iterator[Row]:
    """Weigh what each small model keeps of the text that it continues."""
    for length in LENGTHS:
        config = replace(SHAPE, context_length=length)
        text = torch.randint(SHAPE.vocab_size, (1, length))
        kilobytes = {}
        for name in MODELS:
            model = build(name)(config).eval()
            cache = MixedCache(model)
            with torch.no_grad():
                model(text, cache, n_last=1)
            kilobytes[name] = cache.bytes / 1000
        for name in ("linear", "selective", "hybrid"):
            yield Row(
                f"kept after {length} tokens, {name}",
                kilobytes[name],
                kilobytes["softmax"],
                "softmax attention's keys and values",
                unit="kB",
            )
