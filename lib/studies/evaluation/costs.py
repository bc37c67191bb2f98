"""What the options of three tasks cost five models, four minutes on one core.

800 questions are drawn for *word*, 400 each for *line* and *speaker*, with one seed.  The table
holds what each option costs after its context, in bits; of the book's model it holds, too, what it
costs after nothing but a line break.

It is no :class:`~studies.study.Study`: nothing is trained or tuned, and a line of the table is a
question, which five models have answered, and not a run of one setting.
"""

from __future__ import annotations

import hashlib
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float

from primer.datasets import split_plays
from primer.evaluation.questions import (
    TASKS,
    Question,
    Task,
    continuation_bits,
    draw_questions,
)
from primer.language_models import KneserNey
from primer.saving import write_whole
from primer.scoreboard.rules import encoded_plays
from primer.scoreboard.table import corpus_name, file_name
from primer.tables import read_table, write_table
from primer.transformers import load_pretrained, pretrained_file

NUMBERS: dict[Task, int] = {"word": 800, "line": 400, "speaker": 400}
EDITIONS = {"second edition": "plays-2", "first edition": "plays-1"}
ORDERS = (8, 7, 1)
COUNTS_READ = 20
"""Characters of the context that a model of counts is given; none looks back on more than seven."""
COSTS = Path(__file__).with_name("costs.csv")
LOG = Path(__file__).with_name("costs-log.txt")
MODELS = (*EDITIONS, *(f"{order}-gram" for order in ORDERS))
COLUMNS = ("task", "scene", *MODELS, "second edition, alone")

Bits = Float[np.ndarray, "questions options"]


class Costs(NamedTuple):
    """What the questions of one task cost.

    Attributes
    ----------
    scenes : array of shape (questions,)
        The scene of each question.
    bits : dict of str to array of shape (questions, 4)
        By model: what each option costs after the context; the right one stands first.
    alone : array of shape (questions, 4)
        What each option costs the second edition after a line break and nothing else.
    """

    scenes: np.ndarray
    bits: dict[str, Bits]
    alone: Bits


def stored_questions(task: Task) -> list[Question]:
    """Draw the questions that the table was made of; the same on every machine.

    Examples
    --------
    >>> len(stored_questions("line"))
    400
    """
    return draw_questions(task, NUMBERS[task], np.random.default_rng(TASKS.index(task)))


def transformer_bits(name: str, texts: list[tuple[str, str]]) -> Float[np.ndarray, " texts"]:
    """Compute what continuations cost a model of :func:`primer.transformers.load_pretrained`."""
    return continuation_bits(*load_pretrained(name), texts)


def count_bits(order: int, texts: list[tuple[str, str]]) -> Float[np.ndarray, " texts"]:
    """Compute what a continuation costs a Kneser–Ney model of characters after its prefix."""
    alphabet, plays = encoded_plays(split_plays()[0])
    model = KneserNey.fit(plays, alphabet.vocab_size, order)
    bits = []
    for prefix, text in texts:
        read = alphabet.encode(prefix[-COUNTS_READ:] + text)
        bits.append(-model.log2_probabilities(read)[-len(text) - 1 : -1].sum())
    return np.array(bits)


def made_from() -> str:
    """Name texts and weights that the table follows from."""
    files = [file_name(pretrained_file(name)) for name in EDITIONS.values()]
    return hashlib.sha256("".join([corpus_name(), *files]).encode()).hexdigest()[:12]


def read_costs(path: Path = COSTS) -> dict[Task, Costs]:
    """Read what the options cost.

    Returns
    -------
    dict of str to Costs
        By task.

    Raises
    ------
    ValueError
        When the file is no such table, or not whole.

    Examples
    --------
    >>> read_costs()["word"].bits["7-gram"].shape
    (800, 4)
    """

    def read(line: dict[str, str]) -> tuple[str, int, list[list[float]]]:
        costs = [[float(cell) for cell in line[name].split()] for name in COLUMNS[2:]]
        return line["task"], int(line["scene"]), costs

    lines = read_table(path, COLUMNS, read)
    found = {}
    for task in TASKS:
        of_task = [line for line in lines if line[0] == task]
        if len(of_task) != NUMBERS[task]:
            raise ValueError(
                f"{path} holds {len(of_task)} of {NUMBERS[task]} questions of the task {task!r}; "
                "python -m studies evaluation.costs makes it anew"
            )
        _, scenes, costs = zip(*of_task, strict=True)
        *bits, alone = np.array(costs).transpose(1, 0, 2)
        found[task] = Costs(np.array(scenes), dict(zip(MODELS, bits, strict=True)), alone)
    return found


def main(_: list[str] | None = None) -> None:
    """Score all options and write the table whole."""
    torch.set_num_threads(1)
    started, rows = time.process_time(), []
    for task in TASKS:
        questions = stored_questions(task)
        texts = [(q.context, option) for q in questions for option in q.options]
        alone = [("\n", option) for q in questions for option in q.options]
        costs = [transformer_bits(name, texts) for name in EDITIONS.values()]
        costs += [count_bits(order, texts) for order in ORDERS]
        costs.append(transformer_bits(EDITIONS["second edition"], alone))
        for i, question in enumerate(questions):
            cells = [" ".join(f"{bits:.2f}" for bits in c[4 * i : 4 * i + 4]) for c in costs]
            rows.append([task, question.scene, *cells])
        print(f"{task}: {time.process_time() - started:.0f} s", flush=True)
    write_table(COSTS, COLUMNS, rows)
    stored = read_costs().values()
    means = [
        f"{name}: the right option costs {right.mean():.3f} bits on average"
        for name in MODELS
        for right in [np.concatenate([task.bits[name][:, 0] for task in stored])]
    ]
    seconds = time.process_time() - started
    lines = [f"texts and weights {made_from()}", f"{seconds:.0f} s of one core", *means]
    write_whole(LOG, ("\n".join(lines) + "\n").encode())
