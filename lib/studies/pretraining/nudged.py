"""Let all weights of the book's model move a little: how far they go, and what it brings.

The task is that of the chapter: which words of a stage direction are part of a name, learned from
forty directions.  Once from the pretrained weights and once from random ones, over four seeds.
``python -m studies pretraining.nudged`` trains what is missing, all of it in a minute of one core.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from primer.attention import Only
from primer.pretraining import Direction, f1
from primer.transformers import Transformer, load_pretrained
from studies.pretraining.probes import EDITION, directions, flat, random_weights, tokenizer
from studies.study import Setting, Study, spread

SEEDS = (0, 1, 2, 3)
LEARN = 40
"""Directions to learn from."""
STEPS, RATE, BATCH = 20, 1e-3, 12


class Tuned(NamedTuple):
    """How far a model went, and what it knows then.

    Attributes
    ----------
    way : float
        The length of the difference between all its weights, after and before.
    share : float
        That, as a share of the length of all weights before.
    f1 : float
        Of the names in directions of the held-out plays.
    new : int
        Numbers of the head, which did not exist before.
    """

    way: float
    share: float
    f1: float
    new: int


class Run(NamedTuple):
    """One training.

    Attributes
    ----------
    start : str
        The weights at first, "pretrained" or "random".
    seed : int
        Of the head, of dropout and of the batches.
    way, share, f1 : float
        As :class:`Tuned` has them.
    """

    start: str
    seed: int
    way: Annotated[float, ".4f"]
    share: Annotated[float, ".4f"]
    f1: Annotated[float, ".4f"]


def outputs_of(
    model: Transformer, head: nn.Linear, found: Sequence[Direction]
) -> Float[Tensor, "words 2"]:
    """Let a head read the vector of each word's last token, after the last norm."""
    encode = tokenizer().encode
    texts = [[encode((" " if i else "") + w) for i, w in enumerate(d.words)] for d in found]
    ids = [[*chain(*words)] for words in texts]
    longest = max(map(len, ids))
    batch = torch.tensor([row + [0] * (longest - len(row)) for row in ids])
    seen, last = dict[str, Tensor](), f"blocks.{model.config.n_layers - 1}.after"
    model(batch, n_last=1, observe=Only([last], seen.__setitem__))  # no logits are asked for
    states = model.norm(seen[last])
    ends = [np.cumsum([len(w) for w in words]) - 1 for words in texts]
    return torch.cat([head(states[row, torch.tensor(end)]) for row, end in enumerate(ends)])


def tune(
    start: Transformer, learn: Sequence[Direction], judge: Sequence[Direction], seed: int = 0
) -> Tuned:
    """Train a copy of a model, with a head of two outputs, to tell the words of names."""
    torch.manual_seed(seed)
    copy = Transformer.from_weights(start.config, start.state_dict()).train()
    head = nn.Linear(start.config.d_model, 2)
    begin = nn.utils.parameters_to_vector(copy.parameters()).detach().clone()
    optimizer = torch.optim.AdamW([*copy.parameters(), *head.parameters()], lr=RATE)
    for step in range(STEPS):
        order = np.random.default_rng(1000 * seed + step).permutation(LEARN)
        part = [learn[i] for i in order[:BATCH]]
        names = torch.tensor(flat(part).names).long()
        loss = cross_entropy(outputs_of(copy, head, part), names)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    moved = nn.utils.parameters_to_vector(copy.parameters()).detach() - begin
    by_length = sorted(judge, key=lambda d: len(" ".join(d.words)))  # so little is padded
    parts = [by_length[i : i + 25] for i in range(0, len(judge), 25)]
    copy.eval()
    with torch.no_grad():
        said = torch.cat([outputs_of(copy, head, part) for part in parts]).argmax(1).numpy()
    way = float(moved.norm())
    new = sum(weight.numel() for weight in head.parameters())
    return Tuned(way, way / float(begin.norm()), f1(flat(by_length).names * 1, said), new)


def train(start: str, seed: int) -> Iterator[Run]:
    """Train from the pretrained weights, or from random ones."""
    model, _ = load_pretrained(EDITION)
    learn, judge = directions()
    tuned = tune(model if start == "pretrained" else random_weights(), learn, judge, seed)
    yield Run(start, seed, tuned.way, tuned.share, tuned.f1)


def settings(_: Sequence[Run]) -> list[Setting]:
    """Want both starts with every seed."""
    return [(start, seed) for start in ("pretrained", "random") for seed in SEEDS]


def report(runs: Sequence[Run]) -> Iterator[str]:
    """Sum up over the seeds."""
    for start in dict.fromkeys(run.start for run in runs):
        for name in ("way", "share", "f1"):
            yield f"{start}, {name}: {spread(getattr(r, name) for r in runs if r.start == start)}"


study = Study(Path(__file__).with_suffix(".csv"), Run, train, settings, report)
