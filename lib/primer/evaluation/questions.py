r"""Questions with four options from the held-out plays, and what an option costs a model."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

import numpy as np
import torch
from jaxtyping import Float
from torch.nn.functional import cross_entropy

from primer.datasets import split_plays
from primer.inputs import checked, count, one_of, random_generator
from primer.language_models import BytePairEncoding
from primer.scoreboard.scenes import scene_starts
from primer.transformers import Transformer

Task = Literal["word", "line", "speaker"]
TASKS: tuple[Task, ...] = get_args(Task)

WORD = re.compile(r"(?<= )[a-z]{4,}(?=[ ,.;:!?\n])")
SPEAKER = re.compile(r"(?<=\n\n)[A-Z][A-Za-z']+(?: [A-Z][A-Za-z']+)*\n(?=[^\n])")
"""A speech begins with the name of who speaks: words with capitals, nothing behind them."""
READ = {"word": 300, "line": 300, "speaker": 500}
"""How many characters stand before the options."""


class Question(NamedTuple):
    """A context and four ways to go on.

    Attributes
    ----------
    scene : int
        Which of the 71 scenes of the held-out plays it is drawn from, in their order.
    context : str
        What is read before the options.
    options : tuple of str
        Four of them. *The right one stands first*: whoever scores them has to see to it that
        this place is no advantage.
    """

    scene: int
    context: str
    options: tuple[str, ...]


@checked
def draw_questions(task: Task, number: int, rng: np.random.Generator) -> list[Question]:
    r"""Draw questions from all places of the held-out plays that allow one.

    ``"word"``: a word of four or more small letters, with the character behind it; the three
    others have its length and are drawn from the training plays as often as they occur there.
    ``"line"``: a line inside a speech; the others are lines of speeches of the same play.
    ``"speaker"``: who speaks next, in scenes with four speakers or more; the others are three who
    speak in the scene.

    Parameters
    ----------
    task : {"word", "line", "speaker"}
        What is asked.
    number : int
        How many questions, at different places.
    rng : numpy.random.Generator
        Decides places and options.

    Returns
    -------
    list of Question
        In the order of the plays.

    Raises
    ------
    ValueError
        When there is no such task, or there are fewer places.

    Examples
    --------
    >>> [question] = draw_questions("speaker", 1, np.random.default_rng(3))
    >>> question.options
    ('BANQUO\n', 'Third Witch\n', 'ANGUS\n', 'ALL\n')
    """
    one_of("task", task, TASKS)
    random_generator("rng", rng)
    training, held_out = split_plays()
    places = [
        (title, place)
        for title, play in held_out.items()
        for place in _places(task, play)
        if place[0] >= READ[task]
    ]
    if count("number", number) > len(places):
        raise ValueError(f"there are {len(places)} places for the task {task!r}, got {number}")
    chosen = np.sort(rng.choice(len(places), size=number, replace=False))
    starts = {title: scene_starts(play) for title, play in held_out.items()}
    before = dict(zip(starts, np.cumsum([0, *map(len, starts.values())]), strict=False))
    others = _Others(task, training, held_out)
    questions = []
    for title, (place, end) in (places[i] for i in chosen):
        play, within = held_out[title], np.searchsorted(starts[title], place, "right") - 1
        right = play[place:end]
        wrong = others.draw(title, int(within), right, rng)
        context, shift = play[place - READ[task] : place], ""
        if task == "word":  # a blank belongs to the token that it stands before
            context, shift = context[:-1], " "
            wrong = [word + right[-1] for word in wrong]
        options = tuple(shift + option for option in (right, *wrong))
        questions.append(Question(int(before[title] + within), context, options))
    return questions


def _places(task: Task, play: str) -> list[tuple[int, int]]:
    """Find where options may stand: begin and end of the right one."""
    if task == "word":
        return [(found.start(), found.end() + 1) for found in WORD.finditer(play)]
    if task == "speaker":
        return [place for scene in _speakers(play) for place in scene[1]]
    return _lines(play)


def _lines(play: str) -> list[tuple[int, int]]:
    """Find the lines of speeches but for the first of each, which follows a name."""
    found = []
    for speech in re.finditer(r"(?<=\n\n)[^\n]+\n[^\n]+\n(?:[^\n]+\n)+", play):
        lines = [*re.finditer(r"[^\n]+\n", speech[0])][2:]
        found += [(speech.start() + line.start(), speech.start() + line.end()) for line in lines]
    return found


def _speakers(play: str) -> list[tuple[list[str], list[tuple[int, int]]]]:
    """Name who speaks in each scene, and find where; a scene of fewer than four has no place."""
    starts = [*scene_starts(play), len(play)]
    scenes = []
    for begin, end in itertools.pairwise(starts):
        found = [*SPEAKER.finditer(play, begin, end)]
        names = sorted({name[0] for name in found})
        scenes.append((names, [name.span() for name in found] if len(names) >= 4 else []))
    return scenes


class _Others:
    """What else could stand there."""

    def __init__(self, task: Task, training: Mapping[str, str], held_out: Mapping[str, str]):
        self.task = task
        if task == "word":
            words = Counter(word for play in training.values() for word in WORD.findall(play))
            self.words = {
                length: [*zip(*((w, n) for w, n in words.items() if len(w) == length), strict=True)]
                for length in {len(word) for word in words}
            }
        elif task == "line":
            self.lines = {
                title: sorted({play[begin:end] for begin, end in _lines(play)})
                for title, play in held_out.items()
            }
        else:
            self.names = {
                title: [names for names, _ in _speakers(play)] for title, play in held_out.items()
            }

    def draw(self, title: str, scene: int, right: str, rng: np.random.Generator) -> list[str]:
        """Draw three others, all different."""
        if self.task == "word":
            words, counts = self.words[len(right) - 1]
            kept = np.array([word != right[:-1] for word in words])
            weights = np.array(counts) * kept
            picked = rng.choice(len(words), size=3, replace=False, p=weights / weights.sum())
            return [words[i] for i in picked]
        pool = self.lines[title] if self.task == "line" else self.names[title][scene]
        pool = [option for option in pool if option != right]
        return [pool[i] for i in rng.choice(len(pool), size=3, replace=False)]


@torch.no_grad()
def continuation_bits(
    model: Transformer, encoding: BytePairEncoding, texts: list[tuple[str, str]]
) -> Float[np.ndarray, " texts"]:
    r"""Compute what a continuation costs after its prefix: bits of both, less those of the prefix.

    Parameters
    ----------
    model : Transformer
        What reads.
    encoding : BytePairEncoding
        The tokens that it was trained with.
    texts : list of pairs of str
        Prefix and continuation. The first token of the prefix is read and not charged.

    Returns
    -------
    array of shape (texts,)
        Bits. Continuations of one prefix can be compared with each other.
    """
    whole = sorted({prefix + text for prefix, text in texts} | {prefix for prefix, _ in texts})
    encoded = sorted(((encoding.encode(text), text) for text in whole), key=lambda e: len(e[0]))
    found = {}
    for start in range(0, len(encoded), 32):
        part = encoded[start : start + 32]
        longest = max(len(ids) for ids, _ in part)
        rows = torch.tensor([ids + [0] * (longest - len(ids)) for ids, _ in part])
        if longest == 1:
            nats = torch.zeros(len(part), 0)
        else:
            logits = model(rows[:, :-1]).transpose(1, 2)
            nats = cross_entropy(logits, rows[:, 1:].long(), reduction="none")
        for row, (ids, text) in zip(nats.double(), part, strict=True):
            found[text] = float(row[: len(ids) - 1].sum()) / math.log(2)  # none is charged for 0s
    return np.array([found[prefix + text] - found[prefix] for prefix, text in texts])
