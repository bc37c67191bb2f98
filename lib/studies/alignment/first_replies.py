"""Four hundred replies of the tuned model, two to a prompt, before anybody said what is good.

``python -m studies alignment.first_replies`` writes them again, in half a minute of one core, into
``first_replies.csv`` of :mod:`primer.alignment`.  The widget *Be the rater* shows some of these
pairs, and grants the reader's wish among all of them.
"""

from __future__ import annotations

import torch

from primer.alignment.recorded import FIRST_REPLIES, Pair
from primer.alignment.replies import write_replies
from primer.tables import write_records
from studies.alignment.overoptimization import LENGTH, World, fingerprint, make_world

PROMPTS = 200


def draw(world: World, seed: int = 0) -> list[Pair]:
    """Let the tuned model reply twice to prompts from plays that it has not read."""
    random = torch.Generator().manual_seed(seed)
    chosen = torch.randperm(len(world.held_out), generator=random)[:PROMPTS]
    prompts = world.held_out[chosen]
    first, second = (
        write_replies(world.reference, prompts, LENGTH, world.end, random).texts(world.tokenizer)
        for _ in range(2)
    )
    asked = [world.tokenizer.decode(prompt.tolist()) for prompt in prompts]
    one_line = [[" ".join(text.split()) for text in texts] for texts in (first, second)]
    return [Pair(fingerprint(), *texts) for texts in zip(asked, *one_line, strict=True)]


def main(_: list[str] | None = None) -> None:
    """Draw the replies and write them."""
    torch.set_num_threads(1)
    write_records(FIRST_REPLIES, Pair, draw(make_world(held_out=None)))
