"""Writing text: our loop beside Hugging Face's, and JavaScript beside the budget of a page."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import torch

from benchmarks.bench_transformers import PAIRS, VOCAB_SIZE
from benchmarks.table import Row, alternating_seconds
from press.workshop.node import find_node
from primer.inference import generate
from primer.widgets.shared.quantized import book_model

PROMPT, NEW = 32, 128
BUDGET_PROMPT, BUDGET_TOKEN = 300.0, 30.0  # milliseconds that a reader does not notice

# Reads a prompt many times and continues it; prints the medians in milliseconds.
PAGE = """
import { readFileSync } from "node:fs";
const { newCache, nextLogits, readModel } = await import(process.argv[1]);
const model = readModel(readFileSync(process.argv[2]));
const prompt = Array.from({ length: %d }, (_, i) => 300 + 7 * i);
const median = (times) => times.sort((a, b) => a - b)[times.length >> 1];
const [prompts, tokens] = [[], []];
for (let run = 0; run < 9; run++) {
  const cache = newCache(model);
  const timed = (times, ids) => {
    const start = performance.now();
    nextLogits(model, ids, cache);
    times.push(performance.now() - start);
  };
  timed(prompts, prompt);
  for (let i = 0; i < %d; i++) timed(tokens, [300 + i]);
}
console.log(JSON.stringify([median(prompts), median(tokens)]));
"""


def rows() -> Iterator[Row]:
    """Time greedy text with and without a cache, then the model in JavaScript."""
    prompt = torch.randint(VOCAB_SIZE, (PROMPT,), generator=torch.Generator().manual_seed(0))
    for name, pair in PAIRS.items():
        ours, theirs = pair()
        for cache in (True, False):

            def write(model=ours, cache=cache) -> object:  # type: ignore[no-untyped-def]
                return generate(model, prompt, NEW, cache=cache)

            def peer(model=theirs, cache=cache) -> object:  # type: ignore[no-untyped-def]
                return model.generate(
                    prompt[None], max_new_tokens=NEW, do_sample=False, use_cache=cache
                )

            assert torch.equal(write(), peer()[0])
            seconds = alternating_seconds(write, peer, repeats=5)
            yield Row(
                f"{name}, {NEW} tokens {'with' if cache else 'without'} a cache, tokens/s",
                NEW / seconds[0],
                NEW / seconds[1],
                "Hugging Face generate; more is better",
                unit="t/s",
            )
    yield from _page_rows()


def _page_rows() -> Iterator[Row]:
    """Time the page's model in Node."""
    module = (
        Path(__file__).parents[1] / "lib" / "primer" / "widgets" / "shared" / "language_model.js"
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "plays.bin"
        file.write_bytes(book_model())
        script = PAGE % (PROMPT, NEW)
        command = [find_node(), "--input-type=module", "--eval", script, module.as_uri(), str(file)]
        answer = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    first, token = json.loads(answer)
    yield Row(f"JavaScript, a prompt of {PROMPT} tokens", first, BUDGET_PROMPT, "budget", unit="ms")
    yield Row("JavaScript, a new token", token, BUDGET_TOKEN, "budget", unit="ms")
