"""What a student takes over from a teacher: which text, and which divergence, at equal replies.

The teacher is the model that :mod:`studies.reasoning.climb` trained on verdicts from the base of
seed 0; the students are bases of other seeds, taught by the same worked examples.  Every way fits
60 batches of 256 replies and has its learning rate chosen by the share of right replies of the
first student; then come two more.  ``python -m studies reasoning.teachers`` trains what is
missing, all of it in a quarter of an hour of one core.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, NamedTuple

import torch
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from primer.alignment import Replies, reply_loss
from primer.alignment.replies import reply_logits
from primer.reasoning import attempts, teacher_loss
from primer.reasoning.recorded import load_recorded
from primer.transformers import Transformer
from studies.reasoning import climb
from studies.study import Setting, Study, ends, spread, tuned_alike

STEPS, BATCH, QUESTIONS = 60, 256, 512
"""Batches, replies of each, and the questions that the teacher answers 16 times each."""
STUDENTS = (1, 2, 3)
"""Seeds of the students' bases; the teacher's is 0."""
BEFORE, TEACHER = "student before", "teacher"
Four = Annotated[float, ".4f"]


class Run(NamedTuple):
    """What the 128 test questions show in the end.

    Attributes
    ----------
    way : str
        What is fitted; "teacher" and "student before" are where all begin.
    rate : float
        The learning rate of Adam, 0 where nothing is learned.
    seed : int
        Of the student's base, its batches and draws.
    base, teacher : str
        The beginnings of the hashes of the weights.
    right, solved : float
        Shares: of 16 replies to each question, and of questions with a right one among them.
    slip, followed : float
        Shares: of replies that fail by a false number, and of written numbers that follow.
    keys, numbers : float
        Entropies of the next token, in nats.
    """

    way: str
    rate: float
    seed: int
    base: str
    teacher: str
    right: Four
    solved: Four
    slip: Four
    followed: Four
    keys: Four
    numbers: Four

    @property
    def missed(self) -> float:
        """What a rate is chosen by."""
        return 1 - self.right


@cache
def teacher() -> Transformer:
    """Load the model that wrote the text."""
    return load_recorded("trained")


@cache
def text() -> Replies:
    """Let the teacher answer questions that are in no test, 16 times each."""
    generator = torch.Generator().manual_seed(0)
    rows = torch.randperm(len(climb.TRAIN), generator=generator)[:QUESTIONS]
    return attempts(teacher(), climb.CALCULATOR, climb.TRAIN[rows], climb.FEW, generator)


@cache
def right_text() -> Replies:
    """Keep what the strict checker passes."""
    return text()[climb.strict(text())]


def imitate(student: Transformer, replies: Replies) -> Tensor:
    """Fit the tokens that were written."""
    return reply_loss(student, replies)


def forward(student: Transformer, replies: Replies) -> Tensor:
    """Fit the teacher's probabilities where it goes."""
    return _divergence(student, replies, "forward")


def reverse(student: Transformer, replies: Replies) -> Tensor:
    """Fit the teacher's probabilities where the student goes."""
    return _divergence(student, replies, "reverse")


def _divergence(student: Transformer, replies: Replies, direction: str) -> Tensor:
    with torch.no_grad():
        said = reply_logits(teacher(), replies)
    return teacher_loss(reply_logits(student, replies), said, replies.mask, direction)


WAYS: Mapping[
    str, tuple[Callable[[Transformer, Replies], Tensor], Callable[[], Replies] | None]
] = {
    "worked examples": (imitate, climb.examples),
    "all of its text": (imitate, text),
    "right text only": (imitate, right_text),
    "forward, its text": (forward, text),
    "reverse, its text": (reverse, text),
    "forward, own text": (forward, None),
    "reverse, own text": (reverse, None),
}
"""What is fitted, and on whose text: what is stored, or what the student writes itself."""


def taught(way: str, rate: float, seed: int, steps: int = STEPS) -> Transformer:
    """Teach one student one way."""
    loss_of, stored = WAYS[way]
    student, generator = copy.deepcopy(climb.base(seed)), torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(student.parameters(), lr=rate)
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = rate * min(1.0, (steps - step) / (0.75 * steps))
        if stored is None:
            rows = torch.randint(len(climb.TRAIN), (BATCH // climb.FEW,), generator=generator)
            asked = climb.TRAIN[rows]
            replies = attempts(student, climb.CALCULATOR, asked, climb.FEW, generator)
        else:
            kept = stored()
            replies = kept[torch.randint(len(kept), (BATCH,), generator=generator)]
        optimizer.zero_grad()
        loss_of(student, replies).backward()
        clip_grad_norm_(student.parameters(), 1.0)
        optimizer.step()
    return student


def train(way: str, rate: float, seed: int) -> Iterator[Run]:
    """Teach one student, and let it answer the test questions."""
    model = climb.base(seed)
    if way == TEACHER:
        model = teacher()
    elif way != BEFORE:
        model = taught(way, rate, seed)
    found = climb.measure(way, seed, STEPS, model, climb.FEW)
    solved = sum(passed > 0 for passed in found.passed) / len(found.passed)
    rest = (getattr(found, name) for name in Run._fields[7:])
    names = found.base, climb.fingerprint(teacher())
    yield Run(way, rate, seed, *names, found.right, solved, *rest)


def best_of(runs: Sequence[Run], way: str) -> list[Run]:
    """Return one way at its best rate, a run for each student.

    Examples
    --------
    >>> [run.seed for run in best_of(study.read(), "right text only")]
    [1, 2, 3]
    """
    return ends(runs, "missed", STUDENTS[:1], way=way)


def settings(runs: Sequence[Run]) -> list[Setting]:
    """Want where all begin, rates by the first student, and two more students of the best."""
    wanted: list[Setting] = [(TEACHER, 0.0, 0)]
    wanted += [(BEFORE, 0.0, seed) for seed in STUDENTS]
    for way in WAYS:
        tries = tuned_alike(runs, "missed", (1e-3, 2e-3), STUDENTS, way=way)
        wanted += [(way, *one) for one in tries]
    return wanted


def report(runs: Sequence[Run]) -> Iterator[str]:
    """Sum up: what each way leaves, over the students."""
    for way in WAYS:
        best = best_of(runs, way)
        for name in ("right", "solved", "followed", "keys"):
            values = spread(getattr(run, name) for run in best)
            yield f"{way}, rate {best[0].rate:g}: {name} {values}"


study = Study(Path(__file__).with_suffix(".csv"), Run, train, settings, report)
