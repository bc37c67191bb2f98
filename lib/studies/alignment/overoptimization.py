"""A wish granted: gold and proxy reward of policies that go away from their reference.

``python -m studies alignment.overoptimization`` trains what is missing, all of it in about four
minutes of one core.  A rater likes an exclamation mark, two even more, and not three.  Nobody tells
the policy: it is rewarded by what was fitted to the rater's comparisons, the *proxy*; the wish
itself, the *gold* reward, is only watched.  Each of three seeds draws its own comparisons and
trains one policy without a leash, one with too long a leash, one with a shorter one, one with that
and PPO's passes, and one directly on the pairs.

The table stands in :mod:`primer.alignment.recorded`, for a widget shows one of these policies.
"""

from __future__ import annotations

import copy
import functools
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from primer.alignment.policy_gradient import whitened
from primer.alignment.preferences import PreferenceFit, Rater, fit_preferences
from primer.alignment.recorded import BETWEEN, POLICIES, Run, wish
from primer.alignment.replies import Replies, reply_log_probs, speeches, write_replies
from primer.alignment.supervised import train_on_pairs, tune
from primer.alignment.training import train_policy
from primer.datasets import split_plays
from primer.fine_tuning import add_lora
from primer.language_models import BytePairEncoding
from primer.transformers import Transformer, load_pretrained
from primer.transformers.checkpoint import PRETRAINED
from studies.study import Study

EDITION = "plays-2"
SEEDS = 3
PLAYS, PROMPT, LENGTH, PAIRS, HELD_OUT = 12, 12, 12, 1000, 96
SHOWN = 4
RUNS: dict[str, dict[str, Any]] = {
    "no leash": {"kl_weight": 0.0},
    "long leash": {"kl_weight": 0.2},
    "leash": {"kl_weight": 0.5},
    "clipped": {"kl_weight": 0.5, "passes": 2, "advantages": whitened},
}
STEPS, RATE, EVERY = 24, 3e-4, 2
DIRECT: dict[str, Any] = {"steps": 36, "beta": 0.1, "learning_rate": 3e-4}


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


class Judged(NamedTuple):
    """What a policy is worth: see :class:`primer.alignment.recorded.Run`."""

    gold: float
    proxy: float
    kl: float
    replies: str


def judge(world: World, policy: Transformer, proxy: PreferenceFit, seed: int) -> Judged:
    """Let a policy reply to the held-out prompts; return rewards, distance, a few replies."""
    random = torch.Generator().manual_seed(seed)
    replies = write_replies(policy, world.held_out, LENGTH, world.end, random)
    texts = replies.texts(world.tokenizer)
    with torch.no_grad():
        ratio = reply_log_probs(policy, replies) - reply_log_probs(world.reference, replies)
    return Judged(
        float(np.mean([wish(text) for text in texts])),
        float(proxy(features(texts)).mean()),
        float(ratio.sum(-1).mean()),
        BETWEEN.join(" ".join(text.split()) for text in texts[:SHOWN]),
    )


def trained(world: World, chosen: Replies, rejected: Replies, run: str, seed: int) -> Iterator[Run]:
    """Train one policy; yield what it is worth at the start and every few steps."""
    proxy = fit_proxy(world, chosen, rejected)
    policy = copy.deepcopy(world.reference)
    random = torch.Generator().manual_seed(1000 + seed)

    def now(step: int, moved: tuple[float | None, float | None] = (None, None)) -> Run:
        gold, proxied, kl, replies = judge(world, policy, proxy, seed)
        return Run(fingerprint(), run, seed, step, gold, proxied, kl, *moved, replies)

    yield now(0)
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
                sides = (shift(policy, world.reference, side[held]) for side in (chosen, rejected))
                yield now(step, (next(sides), next(sides)))
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
            yield now(report.step)


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


@functools.cache
def fingerprint() -> str:
    """Name the edition of the book's model that the results belong to."""
    return hashlib.sha256((PRETRAINED / f"{EDITION}.safetensors").read_bytes()).hexdigest()[:12]


@functools.cache
def own_world() -> World:
    """Set up the book's own world, once in each process."""
    return make_world()


@functools.cache
def own_pairs(seed: int) -> tuple[Replies, Replies]:
    """Compare in it, once for each seed."""
    return compare(own_world(), seed)


def train_run(_: str, run: str, seed: int) -> Iterator[Run]:
    """Train one policy of the study, for the edition that it belongs to."""
    return trained(own_world(), *own_pairs(seed), run, seed)


def settings(_: Sequence[Run] = ()) -> list[tuple[str, str, int]]:
    """List what is trained: for each seed all kinds of runs."""
    return [(fingerprint(), run, seed) for seed, run in product(range(SEEDS), [*RUNS, "direct"])]


study = Study(POLICIES, Run, train_run, settings)


def main(arguments: Sequence[str] = ()) -> None:
    """Train what is missing for this edition of the model; what another has given goes."""
    runs = study.read()
    own = [run for run in runs if run.model == fingerprint()]
    if own != runs:
        study.write(own)
    study.main(arguments)
