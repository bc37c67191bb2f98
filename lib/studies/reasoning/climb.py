"""What rewards, groups and lengths do to a small model that presses keys, over three seeds.

Each seed has a base of its own, taught by the same worked examples.  One run is one way to go on
from it, and a line of the table what the test questions show after so many steps.
``python -m studies reasoning.climb`` trains what is missing, all of it in a quarter of an hour of
one core, and stores the three models of seed 0 that the chapter loads.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, NamedTuple

import torch
from torch import Tensor

from primer.alignment import Replies, reply_log_probs, tune
from primer.alignment.replies import reply_logits
from primer.reasoning import (
    KINDS,
    Calculator,
    attempts,
    check,
    check_loosely,
    entropies,
    split_pairs,
    train_on_verdicts,
    worked_examples,
)
from primer.reasoning.recorded import RECORDED
from primer.transformers import Transformer, TransformerConfig, save_checkpoint
from studies.study import Setting, Study, spread

CALCULATOR = Calculator()
TEST, TRAIN = map(CALCULATOR.prompts, split_pairs(CALCULATOR))
CONFIG = TransformerConfig(
    vocab_size=CALCULATOR.vocab_size,
    n_layers=2,
    d_model=64,
    n_heads=4,
    context_length=32,
    tied_embeddings=False,
)
EXAMPLES, BASE_STEPS, BASE_RATE, BASE_BATCH = 8000, 300, 3e-3, 128
SEEDS = (0, 1, 2)
FEW, MANY, FOR_KL = 16, 256, 32
"""Replies to each test question: on the way, where pass@k is measured, and for the divergence."""
Four = Annotated[float, ".4f"]


class Run(NamedTuple):
    """What the 128 test questions show after so many steps.

    Attributes
    ----------
    way : str
        How the model goes on from its base.
    seed : int
        Of base, batches and draws.
    step : int
        Steps so far.
    base : str
        The beginning of the hash of the base's weights.
    tries : int
        Replies to each question.
    right : float
        The share of right ones.
    passed : tuple of int
        How many are right, question by question.
    elsewhere, slip, illegal, form, unended : float
        Shares of the kinds of failure.
    accepted, fooled : float
        Shares that the loose checker accepts, and accepts though they are wrong.
    lucky, followed : float
        Shares: of replies with right keys and a wrong number, and of numbers that follow.
    keys, numbers : float
        Entropies of the next token, in nats.
    right_length, wrong_length : float
        Mean tokens of right and of wrong replies.
    kl : float
        Mean log ratio of a reply to the base, in nats.
    """

    way: str
    seed: int
    step: int
    base: str
    tries: int
    right: Four
    passed: tuple[int, ...]
    elsewhere: Four
    slip: Four
    illegal: Four
    form: Four
    unended: Four
    accepted: Four
    fooled: Four
    lucky: Four
    followed: Four
    keys: Four
    numbers: Four
    right_length: Four
    wrong_length: Four
    kl: Four


@cache
def examples() -> Replies:
    """Make the worked examples, the same for all seeds."""
    test, _ = split_pairs(CALCULATOR)
    return worked_examples(CALCULATOR, EXAMPLES, test, torch.Generator().manual_seed(0))


@cache
def base(seed: int) -> Transformer:
    """Teach a fresh model by the worked examples; keep its weights in half precision."""
    torch.manual_seed(seed)
    model, order = Transformer(CONFIG), torch.Generator().manual_seed(seed)
    tune(
        model,
        examples(),
        steps=BASE_STEPS,
        learning_rate=BASE_RATE,
        batch_size=BASE_BATCH,
        generator=order,
    )
    for weights in model.parameters():
        weights.data = weights.data.half().float()  # as a checkpoint holds them
    return model.eval()


def fingerprint(model: Transformer) -> str:
    """Name weights by the beginning of their hash, in half precision."""
    digest = hashlib.sha256()
    for weights in model.state_dict().values():
        digest.update(weights.half().numpy().tobytes())
    return digest.hexdigest()[:12]


def measure(way: str, seed: int, step: int, model: Transformer, tries: int) -> Run:
    """Let a model answer the test questions."""
    generator = torch.Generator().manual_seed(1_000_000 * (way == "again") + 1000 * seed + step)
    replies = attempts(model, CALCULATOR, TEST, tries, generator)
    verdicts, accepted = check(CALCULATOR, replies), check_loosely(CALCULATOR, replies)
    some = replies[torch.arange(len(replies)) % tries < FOR_KL]
    with torch.no_grad():
        logits = reply_logits(model, some)
        ratio = reply_log_probs(model, some) - reply_log_probs(base(seed), some)
    keys, numbers = entropies(logits, some)
    lengths, right = replies.lengths.float(), verdicts.right
    shares = verdicts.shares()
    elsewhere, slip, illegal, form, unended = (shares[kind] for kind in KINDS[1:])
    return Run(
        way,
        seed,
        step,
        fingerprint(base(seed)),
        tries,
        float(right.float().mean()),
        tuple(right.reshape(-1, tries).sum(1).tolist()),
        elsewhere,
        slip,
        illegal,
        form,
        unended,
        float(accepted.float().mean()),
        float((accepted & ~right).float().mean()),
        float(verdicts.lucky.float().mean()),
        float(verdicts.followed.sum() / verdicts.written.sum()),
        float(keys),
        float(numbers),
        float(lengths[right].mean()),
        float(lengths[~right].mean()),
        float(ratio.sum(-1).mean()),
    )


def strict(replies: Replies) -> Tensor:
    """Reward who presses rightly."""
    return check(CALCULATOR, replies).right


def loose(replies: Replies) -> Tensor:
    """Reward who writes the target last."""
    return check_loosely(CALCULATOR, replies)


WAYS: dict[str, tuple[Callable[[Replies], Tensor], int, tuple[int, ...]]] = {
    "strict": (strict, 200, (25, 50, 75, 100, 125, 150, 175)),
    "loose": (loose, 150, (25, 50, 75, 100, 125)),
}
"""Reward, steps, and where it is measured on the way."""
REPAIR = 40
"""Steps with the strict checker after the loose one."""
STORED = {"strict": "trained", "loose": "misled"}


def rewarded(way: str, seed: int) -> Iterator[Run]:
    """Go on by the policy gradient."""
    reward, steps, on_the_way = WAYS[way]
    model = copy.deepcopy(base(seed))
    if way == "strict":
        yield measure(way, seed, 0, model, MANY)
        if seed == 0:
            save_checkpoint(RECORDED["base"], model, {"study": "reasoning.climb"}, torch.float16)
    generator = torch.Generator().manual_seed(seed)

    def go(reward: Callable[[Replies], Tensor], before: int, steps: int) -> Iterator[Run]:
        for report in train_on_verdicts(
            model, CALCULATOR, TRAIN, reward, steps=steps, generator=generator
        ):
            if report.stopped:
                raise ValueError(f"{way}, seed {seed}: {report.stopped}")
            done = before + report.step
            if report.step == steps or done in on_the_way:
                tries = MANY if way == "strict" and done in (100, 200) else FEW
                yield measure(way, seed, done, model, tries)

    yield from go(reward, 0, steps)
    if seed == 0:
        file = RECORDED[STORED[way]]
        save_checkpoint(file, model, {"study": "reasoning.climb"}, torch.float16)
    if way == "loose":
        yield from go(strict, steps, REPAIR)


def train(way: str, seed: int) -> Iterator[Run]:
    """Go one way from one base."""
    if way == "again":
        yield measure(way, seed, 0, base(seed), MANY)
    else:
        yield from rewarded(way, seed)


def settings(_: Sequence[Run]) -> list[Setting]:
    """Want every way from every base, and every base drawn once more."""
    return [(way, seed) for way in (*WAYS, "again") for seed in SEEDS]


def report(runs: Sequence[Run]) -> Iterator[str]:
    """Sum up: the share of right replies, over the seeds."""
    for way, step in dict.fromkeys((run.way, run.step) for run in runs):
        same = [run for run in runs if (run.way, run.step) == (way, step)]
        yield f"{way}, {step}: right {spread(run.right for run in same)}"


study = Study(Path(__file__).with_suffix(".csv"), Run, train, settings, report)
