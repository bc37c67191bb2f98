"""What takes the time where ours is slower than we wanted: ``-m benchmarks.profiles writing``.

The work is done once to warm up and then under two profilers, on one core: torch's, which sees
torch's operations, and Python's, which sees functions.  The profilers slow both down, so that
only the shares are worth reading.  ``bare`` is no profile but an intervention: the operations that
a Llama needs for a token, written one after the other without layers and checks.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.profiler import ProfilerActivity, profile

from benchmarks.bench_fine_tuning import BLOCK, SIDE
from benchmarks.bench_inference import NEW, PROMPT
from benchmarks.bench_recurrent import BATCH, TIME, WIDTH
from benchmarks.bench_transformers import BATCH as TEXTS
from benchmarks.bench_transformers import CONTEXT, VOCAB_SIZE, llama_pair, training_step
from benchmarks.table import alternating_seconds
from primer import fourier
from primer.datasets import split_plays
from primer.fine_tuning import integer_codebook, quantize
from primer.inference import generate
from primer.language_models import BytePairEncoding
from primer.recurrent import Recurrent
from primer.transformers import Transformer, blockwise_attention

Work = Callable[[], object]
REPEATS, LINES = 5, 12


def writing() -> Work:
    """Write a text with a cache."""
    model, prompt = llama_pair()[0], torch.arange(PROMPT)
    return lambda: generate(model, prompt, NEW)


def training() -> Work:
    """Take a step of training."""
    model = llama_pair()[0]
    return training_step(model, model, torch.randint(VOCAB_SIZE, (TEXTS, CONTEXT + 1)))


def merging() -> Work:
    """Learn the merges of the plays."""
    plays = list(split_plays()[0].values())
    return lambda: BytePairEncoding.train(plays, VOCAB_SIZE)


def transforming() -> Work:
    """Transform a prime number of samples."""
    x = np.random.default_rng(0).normal(size=65537) + 0j
    return lambda: fourier.fft(x)


def attending() -> Work:
    """Attend to 4,096 tokens, block by block."""
    parts = [torch.randn(1, 8, 4096, 64) for _ in range(3)]
    return lambda: blockwise_attention(*parts, causal=True)


def quantizing() -> Work:
    """Quantize a matrix block by block."""
    weights = torch.randn(SIDE, SIDE)
    return lambda: quantize(weights, integer_codebook(8), BLOCK)


def remembering() -> Work:
    """Read with an LSTM, forward and backward."""
    layer, x = Recurrent.from_torch(nn.LSTM(WIDTH, WIDTH)), torch.randn(BATCH, TIME, WIDTH)
    return lambda: layer(x)[0].sum().backward()


ALL = (writing, training, merging, transforming, attending, quantizing, remembering)
WORKS = {work.__name__: work for work in ALL}


def bare_text(model: Transformer, prompt: Tensor, n_tokens: int) -> Tensor:
    """Write what :func:`primer.inference.generate` writes, with nothing but torch's operations."""
    config, rotary = model.config, model.positions
    room = (2, 1, config.n_heads, config.context_length, config.d_head)
    caches = [torch.empty(room) for _ in model.blocks]
    text, start = prompt[None], 0

    def heads(x: Tensor, weight: Tensor) -> Tensor:
        split = functional.linear(x, weight).view(1, -1, config.n_heads, config.d_head)
        return split.transpose(1, 2)

    def turn(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        return x * cos + x.roll(config.d_head // 2, -1) * sin

    def norm(x: Tensor, weight: Tensor) -> Tensor:
        return functional.rms_norm(x, weight.shape, weight, config.norm_eps)

    for _ in range(n_tokens):
        new = text[:, start:]
        end = text.shape[1]
        cos, sin = rotary.cos[start:end], rotary.sin[start:end]
        x = functional.embedding(new, model.embed.weight)
        for block, (keys, values) in zip(model.blocks, caches, strict=True):
            own, last = block.attention, block.feed_forward
            h = norm(x, block.norm1.weight)
            query = turn(heads(h, own.query.weight), cos, sin)
            keys[:, :, start:end] = turn(heads(h, own.key.weight), cos, sin)
            values[:, :, start:end] = heads(h, own.value.weight)
            heard = functional.scaled_dot_product_attention(
                query, keys[:, :, :end], values[:, :, :end], is_causal=start == 0
            )
            x = x + functional.linear(heard.transpose(1, 2).flatten(2), own.output.weight)
            h = norm(x, block.norm2.weight)
            gate = functional.silu(functional.linear(h, last.gate.weight))
            h = gate * functional.linear(h, last.up.weight)
            x = x + functional.linear(h, last.down.weight)
        logits = functional.linear(norm(x[:, -1:], model.norm.weight), model.head.weight)
        text, start = torch.cat([text, logits.argmax(-1)], dim=1), end
    return text[0]


def compare_bare() -> None:
    """Print what layers and checks cost when a text is written."""
    ours, theirs = llama_pair()
    prompt = torch.arange(PROMPT)
    bare = torch.inference_mode()(bare_text)
    assert torch.equal(bare(ours, prompt, NEW), generate(ours, prompt, NEW))

    def peer() -> object:
        return theirs.generate(prompt[None], max_new_tokens=NEW, do_sample=False)

    for name, work in (
        ("with layers and checks", lambda: generate(ours, prompt, NEW)),
        ("operations alone", lambda: bare(ours, prompt, NEW)),
    ):
        mine, other = alternating_seconds(work, peer, repeats=15)
        rate = f"{mine / NEW * 1e6:.0f} µs a token, {other / mine:.2f} of Hugging Face's rate"
        print(f"{name:<24} {rate}")


def show(work: Work) -> None:
    """Print the shares of a work's time, by torch's operations and by functions."""
    work()
    with profile(activities=[ProfilerActivity.CPU]) as operations:
        for _ in range(REPEATS):
            work()
    averages = operations.key_averages()
    total = sum(entry.self_cpu_time_total for entry in averages)
    largest = sorted(averages, key=lambda entry: entry.self_cpu_time_total, reverse=True)
    for entry in largest[:LINES]:
        share = entry.self_cpu_time_total / total
        print(f"{share:>7.1%} {entry.count // REPEATS:>7} × {entry.key}")
    functions = cProfile.Profile(time.process_time)
    functions.runcall(work)
    pstats.Stats(functions).strip_dirs().sort_stats("tottime").print_stats(LINES)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.profiles")
    parser.add_argument("work", choices=[*WORKS, "bare"])
    chosen = parser.parse_args().work
    torch.set_num_threads(1)
    compare_bare() if chosen == "bare" else show(WORKS[chosen]())
