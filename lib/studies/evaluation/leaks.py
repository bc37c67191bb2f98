r"""Half of the test is trained on: what that saves in the scenes that leak, and in the others.

The book's model is trained on for 200 steps.  In half of the runs three windows of ten are cut from
scenes of the held-out plays that leak, half of each play's; in the other half none is, and all else
is alike.  Each seed leaks other scenes.  The table holds what every scene costs before and after; a
run takes about two minutes of one core.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from primer.datasets import split_plays
from primer.scoreboard.scenes import scene_starts
from primer.scoreboard.table import corpus_name, file_name
from primer.scoreboard.transformer import score
from primer.train import learning_rate, make_optimizer, token_stream
from primer.transformers import Transformer, load_pretrained, pretrained_file
from studies.study import Setting, Study

EDITION = "plays-2"
SHARES, SEEDS = (0.0, 0.3), (0, 1, 2)
STEPS, BATCH, LENGTH = 200, 16, 129
PEAK, WARMUP = 3e-4, 20


class SceneGain(NamedTuple):
    """A scene before and after a run.

    Attributes
    ----------
    made_from : str
        The beginning of the hash of texts and weights.
    share : float
        How many of the windows that were trained on came from leaked scenes.
    seed : int
        Of leaks and batches.
    scene : int
        Which scene of the held-out plays, from 0 on.
    leaked : int
        1 if it is one of those that leak; in a run of share 0 nobody reads it either.
    before, after : float
        What it costs, in bits.
    """

    made_from: str
    share: float
    seed: int
    scene: int
    leaked: int
    before: Annotated[float, ".1f"]
    after: Annotated[float, ".1f"]


def made_from() -> str:
    """Name texts and weights that the table follows from."""
    names = corpus_name() + file_name(pretrained_file(EDITION))
    return hashlib.sha256(names.encode()).hexdigest()[:12]


def leaking(seed: int) -> Bool[np.ndarray, " scenes"]:
    """Choose half of the scenes of each play; of an odd number one less than the other half."""
    rng, found = np.random.default_rng(seed), []
    for play in split_plays()[1].values():
        scenes = len(scene_starts(play))
        found.append(np.isin(np.arange(scenes), rng.permutation(scenes)[: scenes // 2]))
    return np.concatenate(found)


def costs(model: Transformer) -> Float[np.ndarray, " scenes"]:
    """Measure what each scene costs, as the scoreboard does."""
    bits = score(model, load_pretrained(EDITION)[1], split_plays()[1]).bits
    return np.concatenate([*bits.values()])


def scene_streams(leaked: Bool[np.ndarray, " scenes"]) -> list[Int[Tensor, " tokens"]]:
    """Encode each leaked scene by itself."""
    tokenizer = load_pretrained(EDITION)[1]
    scenes = []
    for play in split_plays()[1].values():
        starts = [*scene_starts(play), len(play)]
        scenes += [play[a:b] for a, b in itertools.pairwise(starts)]
    chosen = [scene for scene, leaks in zip(scenes, leaked, strict=True) if leaks]
    return [token_stream({"scene": scene}, tokenizer) for scene in chosen]


@functools.cache
def costs_before() -> Float[np.ndarray, " scenes"]:
    """Measure what each scene costs the model that nobody has trained on."""
    return costs(load_pretrained(EDITION)[0])


def train_on(share: float, seed: int) -> Transformer:
    """Train the model on; in each batch every window is a leaked one with probability ``share``."""
    torch.manual_seed(seed)
    model, tokenizer = load_pretrained(EDITION)
    rng = np.random.default_rng((seed, 1))
    sources = [token_stream(split_plays()[0], tokenizer)], scene_streams(leaking(seed))
    optimizer = make_optimizer(model)
    for step in range(STEPS):
        rate = learning_rate(
            step, peak=PEAK, final=PEAK / 10, warmup_steps=WARMUP, total_steps=STEPS
        )
        for group in optimizer.param_groups:
            group["lr"] = rate
        rows = []
        for leaks in rng.random(BATCH) < share:
            texts = sources[int(leaks)]
            places = np.array([max(len(text) - LENGTH + 1, 0) for text in texts])
            text = texts[rng.choice(len(texts), p=places / places.sum())]
            start = rng.integers(len(text) - LENGTH + 1)
            rows.append(text[start : start + LENGTH].long())
        batch = torch.stack(rows)
        loss = cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


def train(edition: str, share: float, seed: int) -> Iterator[SceneGain]:
    """Train once, and measure each scene before and after."""
    scenes = zip(leaking(seed), costs_before(), costs(train_on(share, seed)), strict=True)
    for scene, (leaked, before, after) in enumerate(scenes):
        yield SceneGain(edition, share, seed, scene, int(leaked), before, after)


def settings(runs: Sequence[SceneGain]) -> list[Setting]:
    """List the runs, all of today's texts and weights."""
    edition = made_from()
    return [(edition, share, seed) for seed in SEEDS for share in SHARES]


def report(runs: Sequence[SceneGain]) -> Iterator[str]:
    """Say what each run saved, and what a scene costs afterwards."""
    for (_, share, seed), of_run in itertools.groupby(runs, key=lambda run: run[:3]):
        scenes = [*of_run]
        leaked, others = (
            sum(run.before - run.after for run in scenes if run.leaked == kind) for kind in (1, 0)
        )
        yield (
            f"share {share}, seed {seed}: bits saved in scenes that leak {leaked:.0f}, in others "
            f"{others:.0f}"
        )
    for share in SHARES:
        bits = np.mean([run.after for run in runs if run.share == share])
        yield f"share {share}: a scene costs {bits:.3f} bits on average afterwards"


study = Study(Path(__file__).with_suffix(".csv"), SceneGain, train, settings, report)
