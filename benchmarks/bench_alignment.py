"""Rollouts: many replies at once, with and without a cache, beside Hugging Face's loop."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import torch

from benchmarks.bench_transformers import VOCAB_SIZE, llama_pair
from benchmarks.table import Row, alternating_seconds
from primer.inference import generate, sample

REPLIES, PROMPT, NEW = 32, 12, 48


def rows() -> Iterator[Row]:
    """Time replies drawn at temperature 1, as a policy writes them in each step."""
    ours, theirs = llama_pair()
    draws = torch.Generator().manual_seed(0)
    prompts = torch.randint(VOCAB_SIZE, (REPLIES, PROMPT), generator=draws)
    choose = functools.partial(sample, generator=draws)
    for cache in (True, False):

        def write(cache: bool = cache) -> object:
            return generate(ours, prompts, NEW, choose, cache=cache)

        def peer(cache: bool = cache) -> object:
            options = {"do_sample": True, "top_k": 0, "use_cache": cache}
            return theirs.generate(prompts, max_new_tokens=NEW, **options)

        assert write().shape == peer().shape == (REPLIES, PROMPT + NEW)
        seconds = alternating_seconds(write, peer, repeats=5)
        yield Row(
            f"{REPLIES} replies of {NEW} tokens {'with' if cache else 'without'} a cache, tokens/s",
            REPLIES * NEW / seconds[0],
            REPLIES * NEW / seconds[1],
            "Hugging Face generate; more is better",
            unit="t/s",
        )
