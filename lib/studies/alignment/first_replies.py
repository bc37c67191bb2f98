"""Four hundred replies of the tuned model, two to a prompt, before anybody said what is good.

Run ``python -m primer.alignment.first_replies`` to write them again (half a minute on one core),
into ``first_replies.csv`` beside this file.  The widget *Be the rater* shows some of these pairs,
and grants the reader's wish among all of them.
"""

from __future__ import annotations

import functools
from pathlib import Path

import torch

from primer.alignment.overoptimization import LENGTH, World, fingerprint, make_world
from primer.alignment.replies import write_replies
from primer.tables import read_table, write_table

FILE = Path(__file__).with_name("first_replies.csv")
COLUMNS = ("model", "prompt", "first", "second")
PROMPTS = 200


@functools.cache
def first_replies() -> list[tuple[str, str, str]]:
    """Read prompts with two replies each, as text.

    Examples
    --------
    >>> len(first_replies())
    200
    """
    return read_table(FILE, COLUMNS, lambda row: (row["prompt"], row["first"], row["second"]))


def draw(world: World, seed: int = 0) -> list[tuple[str, str, str]]:
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
    return list(zip(asked, *one_line, strict=True))


def main() -> None:
    """Draw the replies and write them."""
    torch.set_num_threads(1)
    edition = fingerprint()
    write_table(FILE, COLUMNS, ((edition, *row) for row in draw(make_world(held_out=None))))


if __name__ == "__main__":
    main()
