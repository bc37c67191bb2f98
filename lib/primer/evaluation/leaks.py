r"""Half of the test is trained on: ``python -m primer.evaluation.leaks``.

The book's model is trained on for 200 steps.  In half of the runs three windows of ten are cut from
scenes of the held-out plays that leak, half of each play's; in the other half none is, and all else
is alike.  Each seed leaks other scenes.  What every scene costs before and after is added to the
table beside this file when a run is done, so that a study that is stopped goes on where it was.  A
run takes about a minute of one core.
"""

from __future__ import annotations

import hashlib
import itertools
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from primer.datasets import split_plays
from primer.saving import write_whole
from primer.scoreboard.scenes import scene_starts
from primer.scoreboard.table import corpus_name, file_name
from primer.scoreboard.transformer import score
from primer.tables import read_records, write_table
from primer.train import learning_rate, make_optimizer, token_stream
from primer.transformers import Transformer, load_pretrained, pretrained_file

EDITION = "plays-2"
SHARES, SEEDS = (0.0, 0.3), (0, 1, 2)
STEPS, BATCH, LENGTH = 200, 16, 129
PEAK, WARMUP = 3e-4, 20
RESULTS = Path(__file__).with_name("leaks.csv")
LOG = Path(__file__).with_name("leaks-log.txt")


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
    before: float
    after: float


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


def train(share: float, seed: int) -> Transformer:
    """Train the model on; in each batch every window is a leaked one with probability ``share``."""
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


def read_leaks(path: Path = RESULTS) -> list[SceneGain]:
    """Read the scenes of all runs.

    Raises
    ------
    ValueError
        When the file is no such table.

    Examples
    --------
    >>> sorted({(gain.share, gain.seed) for gain in read_leaks()})[-1]
    (0.3, 2)
    """
    return read_records(path, SceneGain) if path.exists() else []


def main() -> None:
    """Do the runs that are missing for these texts and weights; say what each gave."""
    torch.set_num_threads(1)
    edition = made_from()
    done = [gain for gain in read_leaks() if gain.made_from == edition]
    missing = {(share, seed) for seed in SEEDS for share in SHARES}
    missing -= {(gain.share, gain.seed) for gain in done}
    before = costs(load_pretrained(EDITION)[0]) if missing else np.zeros(0)
    lines = LOG.read_text("utf-8").splitlines() if done and LOG.exists() else [edition]
    for share, seed in sorted(missing, key=lambda run: run[::-1]):
        started = time.process_time()
        torch.manual_seed(seed)
        after, leaked = costs(train(share, seed)), leaking(seed)
        done += [
            SceneGain(edition, share, seed, *scene)
            for scene in zip(
                range(len(leaked)),
                leaked.astype(int).tolist(),
                before.round(1).tolist(),
                after.round(1).tolist(),
                strict=True,
            )
        ]
        write_table(RESULTS, SceneGain._fields, done)
        rise = [float((before - after)[leaked == kind].sum()) for kind in (True, False)]
        lines.append(
            f"share {share}, seed {seed}: bits saved in scenes that leak {rise[0]:.0f}, in others "
            f"{rise[1]:.0f} ({time.process_time() - started:.0f} s of one core)"
        )
        write_whole(LOG, ("\n".join(lines) + "\n").encode())
        print(lines[-1], flush=True)
    lines = [line for line in lines if "on average" not in line]
    for share in SHARES:
        bits = np.mean([gain.after for gain in done if gain.share == share])
        lines.append(f"share {share}: a scene costs {bits:.3f} bits on average afterwards")
    write_whole(LOG, ("\n".join(lines) + "\n").encode())


if __name__ == "__main__":
    main()
