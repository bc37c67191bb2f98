"""The aligned model of the book as a small change beside the model of the plays.

``python -m studies alignment.aligned`` trains it again, in a minute and a half of one core: a
change of rank 4 learns from speeches to reply, then a rater's noisy comparisons of its replies are
fitted, and the same change is moved by policy gradient on a leash, all as in the chapter.  What
comes out is one change for both, in eight bits: ``aligned-lora.safetensors`` of
:mod:`primer.alignment`, which widgets put beside the model.  The table beside this file says what
each state was worth.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from primer.alignment.recorded import ALIGNED, BETWEEN, Four, wish
from primer.alignment.replies import Replies, reply_log_probs, write_replies
from primer.alignment.training import train_policy
from primer.fine_tuning.stored import pack_lora, turned, unpack_lora
from primer.saving import write_whole
from primer.tables import as_stored, read_records, write_records
from primer.transformers import load_pretrained
from studies.alignment.overoptimization import (
    EDITION,
    LENGTH,
    World,
    compare,
    features,
    fit_proxy,
    make_world,
)

LOG = Path(__file__).with_name("aligned-log.csv")
RANK, TUNING_RATE, RATE, STEPS, KL_WEIGHT = 4, 1e-2, 3e-3, 30, 0.5
SEED, SHOWN = 0, 4


class Run(NamedTuple):
    """What a state of the model is worth, and how its replies end.

    Attributes
    ----------
    state : str
        Which.
    gold, marks, ended, kl : float
        The rater's wish, exclamation marks, the share of replies that end by themselves, the
        divergence from the model before it was rewarded.
    replies : str
        A few of them.
    """

    state: str
    gold: Four
    marks: Four
    ended: Four
    kl: Four
    replies: str


def judge(state: str, world: World, policy: nn.Module) -> Run:
    """Let a policy reply to the held-out prompts; say what that is worth."""
    random = torch.Generator().manual_seed(SEED)
    replies = write_replies(policy, world.held_out, LENGTH, world.end, random)
    texts = replies.texts(world.tokenizer)
    with torch.no_grad():
        ratio = reply_log_probs(policy, replies) - reply_log_probs(world.reference, replies)
    ended = (replies.tokens == world.end).any(-1)
    run = Run(
        state,
        float(np.mean([wish(text) for text in texts])),
        float(np.mean([text.count("!") for text in texts])),
        float(ended.float().mean()),
        float(ratio.sum(-1).mean()),
        BETWEEN.join(" ".join(text.split()) for text in texts[:SHOWN]),
    )
    return as_stored(Run, run)


def train() -> Iterator[tuple[Run, bytes | None]]:
    """Train the change; yield what each state is worth, at last with the change to be stored."""
    base, _ = load_pretrained(EDITION)
    torch.manual_seed(SEED)
    world = make_world(rank=RANK, learning_rate=TUNING_RATE)
    yield judge("the plays", world, base), None
    yield judge("tuned on speeches", world, world.reference), None
    proxy = fit_proxy(world, *compare(world, SEED))
    policy = copy.deepcopy(world.reference)
    random = torch.Generator().manual_seed(1000 + SEED)

    def reward(replies: Replies) -> Tensor:
        return torch.from_numpy(proxy(features(replies.texts(world.tokenizer)))).float()

    for report in train_policy(
        policy,
        world.reference,
        reward,
        world.prompts[torch.randperm(len(world.prompts), generator=random)],
        end_token=world.end,
        length=LENGTH,
        steps=STEPS,
        learning_rate=RATE,
        kl_weight=KL_WEIGHT,
        generator=random,
    ):
        if report.stopped:
            raise ValueError(f"the policy is not to be stored: {report.stopped}")
    yield judge("aligned", world, policy), None
    data = pack_lora(policy)
    stored = turned(base, unpack_lora(data, base), 1.0, RANK)
    yield judge("aligned, in eight bits", world, stored), data


def read_log() -> list[Run]:
    """Read what each state was worth.

    Examples
    --------
    >>> [run.state for run in read_log()][-1]
    'aligned, in eight bits'
    """
    return read_records(LOG, Run)


def main(_: list[str] | None = None) -> None:
    """Train the change, store it and what was measured on the way."""
    torch.set_num_threads(1)
    measured = []
    for run, data in train():
        measured.append(run)
        print(run, file=sys.stderr, flush=True)
        if data is not None:
            write_whole(ALIGNED, data)
    write_records(LOG, Run, measured)
