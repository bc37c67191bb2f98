"""A wish granted: gold and proxy reward of policies that go away from their reference.

Run ``python -m primer.alignment.overoptimization`` to repeat it (about four minutes on one core).
A rater likes an exclamation mark, two even more, and not three.  Nobody tells the policy: it is
rewarded by what was fitted to the rater's comparisons, the *proxy*; the wish itself, the *gold*
reward, is only watched.  Each of three seeds draws its own comparisons and trains one policy
without a leash, one with too long a leash, one with a shorter one, one with that and PPO's passes,
and one directly on the pairs.

Each finished run is added to ``overoptimization.csv`` beside this file, so that a script that is
stopped goes on where it was.  The chapter reads it.
"""

from __future__ import annotations

import copy
import functools
import hashlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from primer.alignment.policy_gradient import whitened
from primer.alignment.preferences import PreferenceFit, Rater, fit_preferences
from primer.alignment.replies import Replies, reply_log_probs, speeches, write_replies
from primer.alignment.supervised import train_on_pairs, tune
from primer.alignment.training import train_policy
from primer.datasets import split_plays
from primer.fine_tuning import add_lora
from primer.language_models import BytePairEncoding
from primer.tables import read_table, write_table
from primer.transformers import Transformer, load_pretrained
from primer.transformers.checkpoint import PRETRAINED

EDITION = "plays-2"
RESULTS = Path(__file__).with_name("overoptimization.csv")
COLUMNS = ("model", "run", "seed", "step", "gold", "proxy", "kl", "chosen", "rejected", "replies")
SEEDS = 3
PLAYS, PROMPT, LENGTH, PAIRS, HELD_OUT = 12, 12, 12, 1000, 96
SHOWN, BETWEEN = 4, " | "
RUNS: dict[str, dict[str, Any]] = {
    "no leash": {"kl_weight": 0.0},
    "long leash": {"kl_weight": 0.2},
    "leash": {"kl_weight": 0.5},
    "clipped": {"kl_weight": 0.5, "passes": 2, "advantages": whitened},
}
STEPS, RATE, EVERY = 24, 3e-4, 2
DIRECT: dict[str, Any] = {"steps": 36, "beta": 0.1, "learning_rate": 3e-4}


def wish(text: str) -> float:
    r"""Say what a reply is worth to the rater: :math:`\min(e, 2) - \max(0, e - 2)` for e marks.

    Examples
    --------
    >>> [wish("Ho" + "!" * e) for e in range(5)]
    [0, 1, 2, 1, 0]
    """
    marks = text.count("!")
    return min(marks, 2) - max(0, marks - 2)


def features(texts: list[str]) -> Float[np.ndarray, "texts 3"]:
    """Count what the reward model may look at: marks, length in tens of characters, questions.

    Examples
    --------
    >>> features(["What, ho!"]).tolist()
    [[1.0, 0.9, 0.0]]
    """
    return np.array([[t.count("!"), len(t) / 10, t.count("?")] for t in texts], dtype=float)


@dataclass(frozen=True)
class World:
    """What all runs share: a model that replies, prompts to train on and prompts to judge by."""

    tokenizer: BytePairEncoding
    reference: Transformer
    prompts: Tensor
    held_out: Tensor

    @property
    def end(self) -> int:
        """The token that ends a reply."""
        return self.tokenizer.special_tokens["<|end|>"]


def make_world(
    held_out: int | None = HELD_OUT, *, rank: int | None = None, learning_rate: float = 1e-3
) -> World:
    """Tune the book's model on speeches, 48 batches of 32; keep so many prompts to judge by.

    With a rank only a change of that rank is tuned, beside the model: it needs a higher rate.
    """
    model, tokenizer = load_pretrained(EDITION)
    if rank is not None:
        add_lora(model, rank)
    training, validation = split_plays()
    cut = functools.partial(speeches, tokenizer=tokenizer, prompt_length=PROMPT, longest=LENGTH - 1)
    shown = cut(dict(list(training.items())[:PLAYS]))
    judged = cut(validation)
    once = torch.Generator().manual_seed(0)
    tune(model, shown, steps=48, learning_rate=learning_rate, generator=once)
    return World(tokenizer, model, shown.prompts, judged.prompts[:held_out])


def compare(world: World, seed: int) -> tuple[Replies, Replies]:
    """Let the model reply twice to each of many prompts and the rater choose; return both sides."""
    torch_random = torch.Generator().manual_seed(100 + seed)
    asked = world.prompts[torch.randperm(len(world.prompts), generator=torch_random)[:PAIRS]]
    first, second = (
        write_replies(world.reference, asked, LENGTH, world.end, torch_random) for _ in range(2)
    )
    rater = Rater(wish, decisiveness=2.0)
    won = torch.from_numpy(
        rater.prefers(
            first.texts(world.tokenizer), second.texts(world.tokenizer), np.random.default_rng(seed)
        )
    )[:, None]

    def side(take: Tensor) -> Replies:
        tokens = torch.where(take, first.tokens, second.tokens)
        return Replies(asked, tokens, torch.where(take, first.mask, second.mask))

    return side(won), side(~won)


def fit_proxy(world: World, chosen: Replies, rejected: Replies) -> PreferenceFit:
    """Fit a linear reward to the rater's choices."""
    apart = features(chosen.texts(world.tokenizer)) - features(rejected.texts(world.tokenizer))
    return fit_preferences(apart)


def judge(world: World, policy: Transformer, proxy: PreferenceFit, seed: int) -> dict[str, str]:
    """Let a policy reply to the held-out prompts; return rewards, distance, a few replies."""
    random = torch.Generator().manual_seed(seed)
    replies = write_replies(policy, world.held_out, LENGTH, world.end, random)
    texts = replies.texts(world.tokenizer)
    with torch.no_grad():
        ratio = reply_log_probs(policy, replies) - reply_log_probs(world.reference, replies)
    found = {
        "gold": float(np.mean([wish(text) for text in texts])),
        "proxy": float(proxy(features(texts)).mean()),
        "kl": float(ratio.sum(-1).mean()),
    }
    first = BETWEEN.join(" ".join(text.split()) for text in texts[:SHOWN])
    return {**rounded(found), "replies": first}


def rounded(numbers: dict[str, float]) -> dict[str, str]:
    """Write numbers as the table has them.

    Examples
    --------
    >>> rounded({"kl": 0.123456})
    {'kl': '0.1235'}
    """
    return {name: f"{value:.4g}" for name, value in numbers.items()}


def trained(
    world: World, chosen: Replies, rejected: Replies, run: str, seed: int
) -> Iterator[dict[str, str]]:
    """Train one policy; yield what it is worth at the start and every few steps."""
    proxy = fit_proxy(world, chosen, rejected)
    policy = copy.deepcopy(world.reference)
    random = torch.Generator().manual_seed(1000 + seed)
    yield {"step": "0", **judge(world, policy, proxy, seed)}
    if run == "direct":
        held = told_apart(world, chosen, rejected, PAIRS - 200)
        steps = train_on_pairs(
            policy,
            world.reference,
            chosen[: PAIRS - 200],
            rejected[: PAIRS - 200],
            generator=random,
            **DIRECT,
        )
        for step, _ in enumerate(steps, 1):
            if step % EVERY == 0:
                moved = {
                    name: shift(policy, world.reference, side[held])
                    for name, side in (("chosen", chosen), ("rejected", rejected))
                }
                yield {"step": str(step), **judge(world, policy, proxy, seed), **rounded(moved)}
        return

    def reward(replies: Replies) -> Tensor:
        return torch.from_numpy(proxy(features(replies.texts(world.tokenizer)))).float()

    prompts = world.prompts[torch.randperm(len(world.prompts), generator=random)]
    for report in train_policy(
        policy,
        world.reference,
        reward,
        prompts,
        end_token=world.end,
        length=LENGTH,
        steps=STEPS,
        learning_rate=RATE,
        generator=random,
        **RUNS[run],
    ):
        if report.step % EVERY == 0 or report.stopped:
            yield {"step": str(report.step), **judge(world, policy, proxy, seed)}


def told_apart(world: World, chosen: Replies, rejected: Replies, first: int) -> Tensor:
    """Find the pairs, from a first one on, between which the rater is not indifferent."""
    sides = (side[first:].texts(world.tokenizer) for side in (chosen, rejected))
    worth = [wish(a) != wish(b) for a, b in zip(*sides, strict=True)]
    return first + torch.tensor(worth).nonzero()[:, 0]


def shift(policy: Transformer, reference: Transformer, replies: Replies) -> float:
    """Average the log ratio of given replies: how much more probable training made them."""
    with torch.no_grad():
        ratio = reply_log_probs(policy, replies) - reply_log_probs(reference, replies)
    return float(ratio.sum(-1).mean())


def fingerprint() -> str:
    """Name the edition of the book's model that the results belong to."""
    return hashlib.sha256((PRETRAINED / f"{EDITION}.safetensors").read_bytes()).hexdigest()[:12]


def read_results() -> list[dict[str, str]]:
    """Read the finished runs, as text."""
    if not RESULTS.exists():
        return []
    return read_table(RESULTS, COLUMNS, dict)


def main() -> None:
    """Do the runs that are not finished for this edition of the model; say what each gave."""
    torch.set_num_threads(1)
    edition = fingerprint()
    rows = [row for row in read_results() if row["model"] == edition]
    done = {(row["run"], row["seed"]) for row in rows}
    todo = {
        seed: [run for run in [*RUNS, "direct"] if (run, str(seed)) not in done]
        for seed in range(SEEDS)
    }
    if not any(todo.values()):
        return
    world = make_world()
    for seed, runs in todo.items():
        if not runs:
            continue
        chosen, rejected = compare(world, seed)
        for run in runs:
            for found in trained(world, chosen, rejected, run, seed):
                rows.append({"model": edition, "run": run, "seed": str(seed), **found})
                print(run, seed, found, file=sys.stderr, flush=True)
            cells = ([row.get(column, "") for column in COLUMNS] for row in rows)
            write_table(RESULTS, COLUMNS, cells)


if __name__ == "__main__":
    main()
