"""What is learned of ten swaps by answering at once, and by writing each place.

A model sees fresh questions of 1 to 10 swaps and is asked for the last place alone, or for all ten
places, the last of which is the answer.  ``python -m studies reasoning.cups`` trains what is
missing, all of it in ten minutes of one core.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from primer.reasoning import Cups
from primer.transformers import Transformer, TransformerConfig
from studies.study import Setting, Study, ends, spread, tuned_alike

CUPS = Cups()
STEPS, BATCH, ASKED = 800, 64, 256
"""Steps of 64 fresh questions each; questions of each number of swaps at the end."""
SEEDS = (0, 1, 2)
WAYS = (("direct", 2), ("direct", 4), ("written", 2))
"""What is asked for, and the layers of the model."""
SWAPS = range(1, CUPS.slots + 1)
Four = Annotated[float, ".4f"]


class Run(NamedTuple):
    """How often the last place is right after so many swaps.

    Attributes
    ----------
    way : str
        "direct" answers at once, "written" writes all places.
    layers : int
        Of the model.
    rate : float
        The learning rate of Adam at its highest.
    seed : int
        Of weights and questions.
    swaps : int
        How many there are in a question.
    right : float
        The share of right answers, the likeliest token each time; a guess has 0.2.
    """

    way: str
    layers: int
    rate: float
    seed: int
    swaps: int
    right: Four

    @property
    def missed(self) -> float:
        """What a rate is chosen by, on average over the numbers of swaps."""
        return 1 - self.right


def fresh(layers: int) -> Transformer:
    """Make an untaught model."""
    return Transformer(
        TransformerConfig(
            vocab_size=CUPS.vocab_size,
            n_layers=layers,
            d_model=64,
            n_heads=4,
            context_length=2 * CUPS.slots + 2,
            tied_embeddings=False,
        )
    )


def answers(way: str, questions: Tensor) -> Tensor:
    """Return what is asked for: the last place, or all."""
    places = CUPS.track(questions)
    return places[:, -1:] if way == "direct" else places


def taught(way: str, layers: int, rate: float, seed: int) -> Transformer:
    """Teach a model by fresh questions; the rate warms up and falls to 0."""
    torch.manual_seed(seed)
    model, generator = fresh(layers), torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    for step in range(STEPS):
        optimizer.param_groups[0]["lr"] = rate * min((step + 1) / 50, 1.0, 2 - 2 * step / STEPS)
        swaps = torch.randint(1, CUPS.slots + 1, (BATCH,), generator=generator)
        questions = CUPS.questions(swaps, generator)
        asked = answers(way, questions)
        logits = model(torch.cat([questions, asked[:, :-1]], dim=1))[:, CUPS.slots + 1 :]
        loss = cross_entropy(logits.flatten(0, 1), asked.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.eval()


@torch.no_grad()
def last_place(way: str, model: Transformer, questions: Tensor) -> Tensor:
    """Let a model answer with its likeliest tokens; return the last."""
    for _ in range(1 if way == "direct" else CUPS.slots):
        token = model(questions)[:, -1].argmax(-1, keepdim=True)
        questions = torch.cat([questions, token], dim=1)
    return questions[:, -1]


def train(way: str, layers: int, rate: float, seed: int) -> Iterator[Run]:
    """Teach one model and ask it questions of every length."""
    model = taught(way, layers, rate, seed)
    generator = torch.Generator().manual_seed(1000 + seed)
    for swaps in SWAPS:
        questions = CUPS.questions(torch.full((ASKED,), swaps), generator)
        right = last_place(way, model, questions) == CUPS.track(questions)[:, -1]
        yield Run(way, layers, rate, seed, swaps, float(right.float().mean()))


def best_of(runs: Sequence[Run], way: str, layers: int) -> list[Run]:
    """Return the runs of one way at its best rate: every seed, every number of swaps.

    Examples
    --------
    >>> len(best_of(study.read(), "direct", 4))  # three seeds, ten numbers of swaps
    30
    """
    return ends(runs, "missed", way=way, layers=layers)


def settings(runs: Sequence[Run]) -> list[Setting]:
    """Want rates by seed 0, followed while the best is at the edge, and two more seeds."""
    wanted: list[Setting] = []
    for way, layers in WAYS:
        tries = tuned_alike(runs, "missed", (1.5e-3, 3e-3), SEEDS, way=way, layers=layers)
        wanted += [(way, layers, *one) for one in tries]
    return wanted


def report(runs: Sequence[Run]) -> Iterator[str]:
    """Sum up: the share of right answers after all swaps, then after 1, 3, 5 and 10, over seeds."""
    for way, layers in WAYS:
        best = best_of(runs, way, layers)
        mean = sum(run.right for run in best) / len(best)
        each = (spread((r.right for r in best if r.swaps == swaps), 2) for swaps in (1, 3, 5, 10))
        head = f"{way}, {layers} layers, rate {best[0].rate:g}: right {mean:.3f}"
        yield f"{head}; after 1, 3, 5, 10 swaps {', '.join(each)}"


study = Study(Path(__file__).with_suffix(".csv"), Run, train, settings, report)
