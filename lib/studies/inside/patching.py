"""Carry parts of one run into another: what each place, head and path of the copying circuit gives.

A passage of the held-out plays is read twice, the second time up to a token A whose successor B is
to be predicted.  In the first reading either B is replaced by B′, what is copied, or A by A′, where
it is found.  The measure is the logit of B minus that of B′.  A share of a part says which part of
the corruption is restored (denoising) or done (noising) by it alone.  ``python -m studies
inside.patching`` measures what is missing, all of it in four minutes of one core.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from primer.inside import (
    Patch,
    Share,
    direct_logits,
    direct_path,
    first_order,
    logit_difference,
    patched,
    record,
    share,
    swap,
)
from primer.transformers import Transformer, load_pretrained
from studies.inside.reading import EDITIONS, material, windows
from studies.study import Setting, Study

PROMPTS, PASSAGE, AGAIN, OFTEN = 120, 48, 32, 20
"""Prompts; tokens of the passage and of its second reading; how often a replacement is used."""
A, B, LAST = AGAIN, AGAIN + 1, PASSAGE + AGAIN
"""Where A, B and A's second time stand, behind the end token."""
FOUND, COPIED, NONE = "A replaced", "B replaced", "none"
CORRUPTIONS = (FOUND, COPIED)
INDUCTION = ((1, 2), (1, 3), (2, 1), (2, 2))
OTHERS = ((1, 0), (1, 1), (2, 0), (2, 3))
"""The heads that copy, and the other four of their blocks."""
HEADS = [(block, head) for block in range(4) for head in range(4)]
PLACES: dict[str, list[int]] = {
    "A": [A],
    "B": [B],
    "last": [LAST],
    "elsewhere": [place for place in range(LAST + 1) if place not in (A, B, LAST)],
}
DENOISING, NOISING = "denoising", "noising"
Four = Annotated[float, ".4f"]


class Run(NamedTuple):
    """One part, and what it gives.

    Attributes
    ----------
    what : str
        Of "levels", "stream", "stranger", "heads", "parts", "first order", "paths", the shares of
        the corruption's effect; "written" and "ablation" are in nats, "looks" are weights.
    corruption : str
        Which token was replaced.
    part : str
        Such as "before 1 at B", "0.1", "keys of the four".
    direction : str
        Denoising, noising or neither.
    material : str
        The edition, and the beginning of a hash of plays and weights.
    value, error : float
        And its standard error over prompts.
    """

    what: str
    corruption: str
    part: str
    direction: str
    material: str
    value: Four
    error: Four


class Prompts(NamedTuple):
    """Texts that differ in one token.

    Attributes
    ----------
    clean, found, copied : Tensor of int of shape (prompts, 81)
        As it stands, with A replaced, with B replaced.
    right, wrong : Tensor of int of shape (prompts,)
        B and B′.
    """

    clean: Int[Tensor, "n seq"]
    found: Int[Tensor, "n seq"]
    copied: Int[Tensor, "n seq"]
    right: Int[Tensor, " n"]
    wrong: Int[Tensor, " n"]


@cache
def prompts(number: int = PROMPTS) -> Prompts:
    """Choose passages in which A and B stand once, and tokens that replace them."""
    _, encoding = load_pretrained("plays")
    read = windows("training", 1000)
    uses = torch.bincount(read.flatten(), minlength=encoding.vocab_size)
    often = torch.nonzero(uses >= OFTEN).flatten().tolist()
    passages = windows("held out", 1000, length=PASSAGE)
    once = (passages[:, :, None] == passages[:, None, A - 1 : B]).sum(1) == 1  # (n, 2)
    passages = passages[once.all(1)]
    passages = passages[torch.linspace(0, len(passages) - 1, number, dtype=torch.float64).long()]
    chance = torch.Generator().manual_seed(0)
    drawn = []
    for passage in passages.tolist():
        fresh = [token for token in often if token not in passage]
        order = torch.randperm(len(fresh), generator=chance)[:2].tolist()
        drawn.append([fresh[place] for place in order])
    other = torch.tensor(drawn)  # (n, 2)
    end = torch.full((number, 1), encoding.special_tokens["<|end|>"])
    clean = torch.cat([end, passages, passages[:, :AGAIN]], 1)
    found, copied = clean.clone(), clean.clone()
    found[:, A], copied[:, B] = other.T
    return Prompts(clean, found, copied, clean[:, B], other[:, 1])


@cache
def book_model() -> Transformer:
    """Load the second edition."""
    return load_pretrained("plays")[0]


def corrupted(corruption: str) -> Int[Tensor, "n seq"]:
    """Return the texts with one token replaced."""
    return prompts().found if corruption == FOUND else prompts().copied


def measure(logits: Float[Tensor, "n 1 vocab"]) -> Float[Tensor, " n"]:
    """Compare B with B′ at the last place."""
    return logit_difference(logits[:, -1], prompts().right, prompts().wrong)


@torch.no_grad()
def measured(tokens: Int[Tensor, "n seq"], patches: dict[str, Patch]) -> Float[Tensor, " n"]:
    """Run the book's model with patches, and compare."""
    return measure(patched(book_model(), tokens, patches, n_last=1))


@cache
def plain(corruption: str) -> Float[Tensor, " n"]:
    """Compare without a patch."""
    return measured(prompts().clean if corruption == NONE else corrupted(corruption), {})


@cache
def seen(corruption: str) -> dict[str, Tensor]:
    """Record one run."""
    names = [f"blocks.{block}.before" for block in range(4)]
    for block in range(4):
        names += [f"blocks.{block}.attention.{x}" for x in ("heads", "queries", "keys", "values")]
    tokens = prompts().clean if corruption == NONE else corrupted(corruption)
    return record(book_model(), tokens, names)


def both_ways(corruption: str, chosen: Mapping[str, Mapping[str, Any]]) -> dict[str, Share]:
    """Carry a part from the clean run into the corrupted one, and back.

    Parameters
    ----------
    corruption : str
        Which token is replaced.
    chosen : mapping
        Names of activations, each with what :func:`~primer.inside.swap` is told of places, heads.
    """
    clean, other = plain(NONE), plain(corruption)

    def carried(source: str) -> dict[str, Patch]:
        return {name: swap(seen(source)[name], **how) for name, how in chosen.items()}

    restored = measured(corrupted(corruption), carried(NONE))
    destroyed = measured(prompts().clean, carried(corruption))
    return {
        DENOISING: share(restored, other, clean),
        NOISING: share(destroyed, clean, other),
    }


def mean(values: Float[Tensor, " n"]) -> Share:
    """Average over prompts."""
    return Share(float(values.mean()), float(values.std() / math.sqrt(len(values))))


Found = Iterator[tuple[str, str, Share]]
"""Part, direction, and its share."""


def levels(corruption: str) -> Found:
    """Say what the measure is without a patch, in both editions."""
    tokens = prompts().clean if corruption == NONE else corrupted(corruption)
    for edition in EDITIONS:
        model, _ = load_pretrained(EDITIONS[edition])
        with torch.no_grad():
            logits = model(tokens, n_last=1)
        yield edition, "difference", mean(measure(logits))
        log_p = logits[:, -1].log_softmax(-1)[torch.arange(len(logits)), prompts().right]
        yield edition, "log P(B)", mean(log_p)


def stream(corruption: str) -> Found:
    """Carry the stream over at one place, or at all others."""
    for block in range(4):
        for name, places in PLACES.items():
            found = both_ways(corruption, {f"blocks.{block}.before": {"place": places}})
            for direction, value in found.items():
                yield f"before {block} at {name}", direction, value


def stranger(corruption: str) -> Found:
    """Carry over the last place's vector of another prompt."""
    name = "blocks.3.before"
    states = seen(NONE)[name].roll(1, 0)
    found = measured(corrupted(corruption), {name: swap(states, place=LAST)})
    yield "before 3 at last", DENOISING, share(found, plain(corruption), plain(NONE))


def heads(corruption: str) -> Found:
    """Carry over what one head gives, at all places."""
    for block, head in HEADS:
        found = both_ways(corruption, {f"blocks.{block}.attention.heads": {"heads": head}})
        for direction, value in found.items():
            yield f"{block}.{head}", direction, value


def parts(corruption: str) -> Found:
    """Carry over queries, keys or values of the four that copy, and of the four beside them."""
    for group, chosen in (("the four", INDUCTION), ("the others", OTHERS)):
        for kind in ("queries", "keys", "values"):
            where = {
                f"blocks.{block}.attention.{kind}": {"heads": [h for b, h in chosen if b == block]}
                for block in (1, 2)
            }
            for direction, value in both_ways(corruption, where).items():
                yield f"{kind} of {group}", direction, value


def gradients(corruption: str) -> Found:
    """Estimate by one gradient what noising each head would do."""
    names = [f"blocks.{block}.attention.heads" for block in range(4)]
    estimates = first_order(book_model(), prompts().clean, corrupted(corruption), measure, names)
    for block, head in HEADS:
        lost = estimates[names[block]][:, head]
        value = share(plain(NONE) - lost, plain(NONE), plain(corruption))
        yield f"{block}.{head}", NOISING, value


def paths(corruption: str) -> Found:
    """Corrupt a head of the first block only where the keys of the four read it."""
    for head in range(4):
        logits = direct_path(
            book_model(), prompts().clean, corrupted(corruption), (0, head), INDUCTION, "keys"
        )
        value = share(measure(logits[:, None]), plain(NONE), plain(corruption))
        yield f"0.{head} to the keys of the four", NOISING, value


def written(_: str) -> Found:
    """Split the difference of logits into what each part wrote."""
    one = prompts()
    for part, values in direct_logits(book_model(), one.clean, one.right, one.wrong).items():
        yield part, "", mean(values)


def ablation(_: str) -> Found:
    """Put a head's mean over prompts and places in its place; then those of all four that copy."""

    def lost(chosen: Sequence[tuple[int, int]]) -> Share:
        patches: dict[str, Patch] = {}
        for block in {block for block, _ in chosen}:
            name = f"blocks.{block}.attention.heads"
            own = seen(NONE)[name]
            middle = own.mean((0, 2), keepdim=True).expand_as(own)
            patches[name] = swap(middle, heads=[h for b, h in chosen if b == block])
        return mean(plain(NONE) - measured(prompts().clean, patches))

    for block, head in HEADS:
        yield f"{block}.{head}", "", lost([(block, head)])
    yield "the four", "", lost(INDUCTION)


def looks(_: str) -> Found:
    """Read off at which place the heads of the circuit look."""
    names = [f"blocks.{block}.attention.weights" for block in range(3)]
    weights = record(book_model(), prompts().clean, names)
    for head in (1, 3):
        for name, place in (("A", A), ("B", B)):
            yield f"0.{head} at B to {name}", "", mean(weights[names[0]][:, head, B, place])
    for block, head in INDUCTION:
        yield f"{block}.{head} at last to B", "", mean(weights[names[block]][:, head, LAST, B])


MEASURES = {
    "levels": levels,
    "stream": stream,
    "stranger": stranger,
    "heads": heads,
    "parts": parts,
    "first order": gradients,
    "paths": paths,
    "written": written,
    "ablation": ablation,
    "looks": looks,
}
ONCE = ("written", "ablation", "looks")
"""What needs no corruption."""


def train(what: str, corruption: str) -> Iterator[Run]:
    """Measure one thing under one corruption."""
    for part, direction, value in MEASURES[what](corruption):
        yield Run(what, corruption, part, direction, material(), *value)


def settings(_: Sequence[Run]) -> list[Setting]:
    """Want everything under both corruptions, and the levels without, too."""
    wanted: list[Setting] = [("levels", NONE)]
    for what in MEASURES:
        wanted += [(what, c) for c in ((NONE,) if what in ONCE else CORRUPTIONS)]
    return wanted


def shares(what: str, corruption: str, direction: str = "") -> dict[str, Share]:
    """Read what each part gives, from the stored table.

    Parameters
    ----------
    what : str
        A name of ``MEASURES``.
    corruption : str
        "A replaced", "B replaced" or "none".
    direction : str
        "denoising" or "noising"; for levels "difference" or "log P(B)"; else nothing.
    """
    wanted = (what, corruption, direction)
    return {
        run.part: Share(run.value, run.error)
        for run in study.read()
        if (run.what, run.corruption, run.direction) == wanted
    }


def report(runs: Sequence[Run]) -> Iterator[str]:
    """Name everything that is not close to nothing."""
    for run in runs:
        if abs(run.value) >= 0.05:
            said = f"{run.value:.4f} ± {run.error:.4f}"
            yield f"{run.what}, {run.corruption}, {run.part} {run.direction}: {said}"


study = Study(Path(__file__).with_suffix(".csv"), Run, train, settings, report, lambda run: run[:2])
