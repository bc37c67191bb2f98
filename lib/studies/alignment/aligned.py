"""The aligned model of the book as a small change beside the model of the plays.

Run ``python -m primer.alignment.aligned`` to train it again (a minute and a half on one core): a
change of rank 4 learns from speeches to reply, then a rater's noisy comparisons of its replies are
fitted, and the same change is moved by policy gradient on a leash, all as in the chapter.  What
comes out is one change for both: ``aligned-lora.safetensors`` beside this file, in eight bits, with
``aligned-log.csv``, which says what each state was worth.  Widgets put it beside the model.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from primer.alignment.overoptimization import (
    EDITION,
    LENGTH,
    World,
    compare,
    features,
    fit_proxy,
    make_world,
    rounded,
    wish,
)
from primer.alignment.replies import Replies, reply_log_probs, write_replies
from primer.alignment.training import train_policy
from primer.fine_tuning.stored import pack_lora, turned, unpack_lora
from primer.saving import write_whole
from primer.tables import read_table, write_table
from primer.transformers import load_pretrained

ALIGNED = Path(__file__).with_name("aligned-lora.safetensors")
LOG = Path(__file__).with_name("aligned-log.csv")
COLUMNS = ("state", "gold", "marks", "ended", "kl", "replies")
RANK, TUNING_RATE, RATE, STEPS, KL_WEIGHT = 4, 1e-2, 3e-3, 30, 0.5
SEED, SHOWN = 0, 4


def judge(world: World, policy: nn.Module) -> dict[str, str]:
    """Let a policy reply to the held-out prompts; say what that is worth, and how it ends.

    Returns
    -------
    dict
        The rater's wish, exclamation marks, the share of replies that end by themselves, the
        divergence from the model before it was rewarded, and a few replies.
    """
    random = torch.Generator().manual_seed(SEED)
    replies = write_replies(policy, world.held_out, LENGTH, world.end, random)
    texts = replies.texts(world.tokenizer)
    with torch.no_grad():
        ratio = reply_log_probs(policy, replies) - reply_log_probs(world.reference, replies)
    ended = (replies.tokens == world.end).any(-1)
    found = {
        "gold": float(np.mean([wish(text) for text in texts])),
        "marks": float(np.mean([text.count("!") for text in texts])),
        "ended": float(ended.float().mean()),
        "kl": float(ratio.sum(-1).mean()),
    }
    first = " | ".join(" ".join(text.split()) for text in texts[:SHOWN])
    return {**rounded(found), "replies": first}


def train() -> Iterator[tuple[dict[str, str], bytes | None]]:
    """Train the change; yield what each state is worth, at last with the change to be stored."""
    base, _ = load_pretrained(EDITION)
    torch.manual_seed(SEED)
    world = make_world(rank=RANK, learning_rate=TUNING_RATE)
    yield {"state": "the plays", **judge(world, base)}, None
    yield {"state": "tuned on speeches", **judge(world, world.reference)}, None
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
    yield {"state": "aligned", **judge(world, policy)}, None
    data = pack_lora(policy)
    stored = turned(base, unpack_lora(data, base), 1.0, RANK)
    yield {"state": "aligned, in eight bits", **judge(world, stored)}, data


def read_log() -> list[dict[str, str]]:
    """Read what each state was worth.

    Examples
    --------
    >>> [row["state"] for row in read_log()][-1]
    'aligned, in eight bits'
    """
    return read_table(LOG, COLUMNS, dict)


def main() -> None:
    """Train the change, store it and what was measured on the way."""
    torch.set_num_threads(1)
    measured = []
    for row, data in train():
        measured.append([row[column] for column in COLUMNS])
        print(row, file=sys.stderr, flush=True)
        if data is not None:
            write_whole(ALIGNED, data)
    write_table(LOG, COLUMNS, measured)


if __name__ == "__main__":
    main()
