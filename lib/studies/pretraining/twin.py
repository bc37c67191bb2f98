"""Train the masked twin, minutes on one core: ``python -m studies pretraining.twin``.

It reads what the book's model read, hides three tokens in ten and learns to fill them.  Its state
is saved in the folder given (``runs/twin`` by default) every 500 steps, so a run that is stopped
goes on where it was; ``--steps N`` stops after N more.  Each saved state adds a line to the table
beside this file, and the last one becomes ``twin.safetensors`` of :mod:`primer.pretraining`, in
eight bits.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import torch
from torch import Tensor

from primer.datasets import corpus_hash, split_plays
from primer.pretraining.objectives import mask_tokens
from primer.pretraining.twin import MASK, TWIN, MaskedModel, with_mask
from primer.tables import read_records, write_table
from primer.train.checkpointing import read_state, restore, write_state
from primer.train.data import Batches, token_stream
from primer.train.evaluation import cut_windows
from primer.train.optimizer import make_optimizer
from primer.train.schedule import learning_rate
from primer.transformers import Transformer, TransformerConfig, load_pretrained, save_checkpoint

STEPS, BATCH, WARMUP, RATE, PEAK = 3000, 32, 200, 0.3, 3e-3
SAVE_EVERY, HELD_OUT_WINDOWS = 500, 256
FORMAT = "primer masked twin's training state, version 1"
CURVE = Path(__file__).with_suffix(".csv")


class Run(NamedTuple):
    """A point of the learning curve: nats for a hidden place."""

    step: int
    training: Annotated[float, ".4f"]
    held_out: Annotated[float, ".4f"]


def curve() -> list[Run]:
    """Read the learning curve.

    Examples
    --------
    >>> [run.step for run in curve()][-1] == STEPS
    True
    """
    return read_records(CURVE, Run)


def shape(vocab_size: int) -> TransformerConfig:
    """Return the twin's shape: the modern form, but for positions that an encoder can add."""
    return TransformerConfig(
        vocab_size=vocab_size,
        n_layers=3,
        d_model=128,
        n_heads=4,
        context_length=64,
        positions="learned",
    )


def loss_of(model: MaskedModel, rows: Tensor, draw: torch.Generator, mask_id: int) -> Tensor:
    """Compute the mean surprise at the hidden places; only they pay for the output layer."""
    seen = mask_tokens(rows, draw, mask_id=mask_id, vocab_size=mask_id, rate=RATE)
    hidden = model(seen.inputs)[seen.counted]
    return torch.nn.functional.cross_entropy(
        hidden @ model.embed.weight.T, seen.targets[seen.counted]
    )


@torch.no_grad()
def held_out(model: MaskedModel, windows: Tensor, mask_id: int) -> float:
    """Measure the loss on held-out windows, always with the same places hidden."""
    model.eval()
    loss = loss_of(model, windows, torch.Generator().manual_seed(0), mask_id)
    model.train()
    return float(loss)


def train(folder: Path, more: int = STEPS) -> None:
    """Go on with the training by so many steps, or to its end."""
    training, validation = split_plays()
    tokenizer = with_mask(load_pretrained("plays")[1])
    mask_id = tokenizer.special_tokens[MASK]
    torch.manual_seed(1)
    model = MaskedModel(shape(tokenizer.vocab_size))
    optimizer = make_optimizer(model, betas=(0.9, 0.98))
    length = model.config.context_length
    batches = Batches(token_stream(training, tokenizer), length, BATCH, seed=1)
    windows = cut_windows(token_stream(validation, tokenizer), length, HELD_OUT_WINDOWS)[:, 1:]
    state, first, lines = folder / "state.pt", 0, [Run._fields]
    if state.exists():
        saved = read_state(state, FORMAT)
        first, lines = continued(state, saved)
        restore(state, saved, model, optimizer)
    losses = []
    for step in range(first, min(first + more, STEPS)):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(
                step, peak=PEAK, final=PEAK / 100, warmup_steps=WARMUP, total_steps=STEPS
            )
        draw = torch.Generator().manual_seed((1 << 32) + step)
        loss = loss_of(model, batches.at(step)[:, 1:], draw, mask_id)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        if (step + 1) % SAVE_EVERY == 0:
            seen, unseen = sum(losses) / len(losses), held_out(model, windows, mask_id)
            losses = []
            lines.append((str(step + 1), f"{seen:.4f}", f"{unseen:.4f}"))
            print(*lines[-1], flush=True)
            folder.mkdir(parents=True, exist_ok=True)
            write_state(state, FORMAT, model, optimizer, step=step + 1, lines=lines)
            write_table(CURVE, lines[0], lines[1:])
            if step + 1 == STEPS:
                publish(model, corpus_hash(training), unseen)


def continued(path: Path, saved: dict[str, Any]) -> tuple[int, list[tuple[str, str, str]]]:
    """Find where a saved training goes on, and its losses so far."""
    first, lines = saved.get("step"), saved.get("lines")
    if (
        type(first) is not int
        or not 0 <= first <= STEPS
        or not isinstance(lines, list)
        or not all(
            isinstance(line, tuple) and len(line) == 3 and all(isinstance(x, str) for x in line)
            for line in lines
        )
    ):
        raise ValueError(
            f"{path} cannot be continued: its step or losses are of no run; delete it to start anew"
        )
    return first, lines


def publish(model: MaskedModel, corpus: str, loss: float) -> None:
    """Save the twin in eight bits, with where it comes from."""
    stored = Transformer.from_weights(model.config, model.state_dict())
    about = {"corpus": corpus, "steps": STEPS, "batch": BATCH, "rate": RATE, "held_out": loss}
    save_checkpoint(TWIN, stored, about, dtype=torch.int8)


def main(arguments: Sequence[str] | None = None) -> None:
    """Go on with the training in a folder."""
    parser = argparse.ArgumentParser(prog="python -m studies pretraining.twin")
    parser.add_argument("folder", nargs="?", type=Path, default=Path("runs/twin"))
    parser.add_argument("--steps", type=int, default=STEPS)
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    train(given.folder, given.steps)
