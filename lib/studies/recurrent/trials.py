r"""Trainings that take too long for the chapter, each over learning rates and seeds.

Two questions.  *adding*: who learns to add two marked numbers, which lie far apart, and how soon?
*reversal*: does attention help to write strings backwards, inside the trained lengths and beyond?

All variants of a question are tried at the same rates and seeds.  The rate is chosen by the error
on examples kept for that; the error on others is reported.

``python -m studies recurrent.trials`` trains what is missing, all of it in minutes of one core.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path

import torch
from torch import Tensor, nn

from primer.recurrent.cells import Cell, ElmanCell, LSTMCell
from primer.recurrent.seq2seq import EncoderDecoder
from primer.recurrent.tasks import adding_problem, reversal
from studies.networks.trials import SEEDS, Run, report
from studies.study import Study

LENGTH, UNITS, BATCH = 24, 32, 32
LOOKS = (150, 300, 600)
"""After how many steps of the adding problem the error is taken."""

ADDING_RATES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
CELLS: dict[str, Callable[[], Cell]] = {
    "Elman": lambda: ElmanCell(2, UNITS),
    "Elman, orthogonal": lambda: _orthogonal(ElmanCell(2, UNITS)),
    "LSTM, bias 0": lambda: LSTMCell(2, UNITS, 0.0),
    "LSTM, bias 1": lambda: LSTMCell(2, UNITS, 1.0),
}

REVERSAL_RATES = (0.004, 0.008)
WRITERS = {"one vector": None, "attention": "bilinear"}
LETTERS, LONGEST, STEPS = 6, 8, 400
LENGTHS = (2, 4, 6, 8, 12, 16)


def _orthogonal(cell: ElmanCell) -> ElmanCell:
    """Begin with a matrix that keeps all lengths."""
    nn.init.orthogonal_(cell.state_weight)
    return cell


def stacked(cells: Sequence[Cell]) -> Cell:
    """Put the weights of cells of one kind above each other, so that one cell steps for all.

    Its arrays have the shape (cells, batch, …), its inputs (time, cells, batch, input).

    Examples
    --------
    >>> stacked([ElmanCell(2, 3), ElmanCell(2, 3)]).state_weight.shape
    torch.Size([2, 3, 3])
    """
    together = copy.deepcopy(cells[0])
    for name, _ in cells[0].named_parameters():
        weights = torch.stack([cell.get_parameter(name).detach() for cell in cells])
        if weights.ndim == 2:  # biases are the same for the whole batch
            weights = weights[:, None]
        setattr(together, name, nn.Parameter(weights))
    return together


def adam_steps(parameters: Sequence[nn.Parameter], rates: Tensor) -> Callable[[int], None]:
    """Return Adam for networks side by side, each with its own rate, its gradient clipped to 1."""
    first = [torch.zeros_like(p) for p in parameters]
    second = [torch.zeros_like(p) for p in parameters]

    @torch.no_grad()
    def step(t: int) -> None:
        gradients = [p.grad for p in parameters if p.grad is not None]
        lengths = torch.stack([g.flatten(1).norm(dim=1) for g in gradients]).norm(dim=0)
        shrink = (1 / lengths.clamp(min=1))[:, None, None]
        for p, g, m, v in zip(parameters, gradients, first, second, strict=True):
            g = g * shrink
            m.lerp_(g, 0.1)
            v.lerp_(g * g, 0.001)
            unbiased = (v / (1 - 0.999**t)).sqrt_().add_(1e-8)
            p.sub_(rates[:, None, None] * m / (1 - 0.9**t) / unbiased)
            p.grad = None

    return step


def adding_trials(variant: str, rate: float) -> Iterator[Run]:
    """Train a cell and a linear map of its last state on the adding problem.

    All seeds are trained side by side.

    Yields
    ------
    Run
        The mean squared error after each of the numbers of steps in ``LOOKS``.
    """
    cells, heads = [], []
    for seed in range(SEEDS):
        torch.manual_seed(seed)
        cells.append(CELLS[variant]())
        heads.append(nn.Linear(UNITS, 1))
    cell = stacked(cells)
    head = nn.Parameter(torch.stack([h.weight.detach().T for h in heads]))  # (networks, units, 1)
    constant = nn.Parameter(torch.stack([h.bias.detach() for h in heads])[:, None])
    parameters = [*cell.parameters(), head, constant]
    descend = adam_steps(parameters, torch.full((SEEDS,), rate))

    def errors(numbers: Tensor, sums: Tensor) -> Tensor:  # (networks, batch, time, 2)
        state = tuple(z.expand(SEEDS, -1, -1) for z in cell.zero_state(numbers.shape[1]))
        for projected in cell.project(numbers.permute(2, 0, 1, 3)).unbind():
            state = cell.step(projected, state)
        return ((state[0] @ head + constant)[..., 0] - sums).square().mean(dim=1)

    held_out = torch.Generator().manual_seed(1000)  # the same for all
    kept = [adding_problem(1000, LENGTH, held_out) for _ in range(2)]
    randoms = [torch.Generator().manual_seed(seed) for seed in range(SEEDS)]
    for t in range(1, LOOKS[-1] + 1):
        drawn = [adding_problem(BATCH, LENGTH, random) for random in randoms]
        numbers, sums = (torch.stack(part) for part in zip(*drawn, strict=True))
        errors(numbers, sums).sum().backward()
        descend(t)
        if t in LOOKS:
            with torch.no_grad():
                found = [errors(x[None].expand(SEEDS, -1, -1, -1), y) for x, y in kept]
            for seed in range(SEEDS):
                ends = (both[seed].item() for both in found)
                yield Run(variant, f"{t} steps", rate, seed, *ends)


def learn_reversal(score: str | None, rate: float, seed: int, steps: int = STEPS) -> EncoderDecoder:
    """Train an encoder and a decoder to write strings of 2 to 8 letters backwards.

    Parameters
    ----------
    score : {None, "dot", "bilinear", "mlp"}
        Of the attention; ``None`` for one vector.
    rate : float
        Of Adam.
    seed : int
        Of the weights and the strings.
    steps : int
        How many batches of 64 strings.

    Returns
    -------
    EncoderDecoder
        In the mode for use.
    """
    torch.manual_seed(seed)
    random = torch.Generator().manual_seed(seed)
    model = EncoderDecoder(LETTERS, UNITS, score)
    optimizer = torch.optim.Adam(model.parameters(), rate)
    for _ in range(steps):
        length = int(torch.randint(2, LONGEST + 1, (1,), generator=random))
        loss = model.loss(*reversal(64, length, LETTERS, random))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.eval()


def reversal_trials(variant: str, rate: float, seed: int) -> Iterator[Run]:
    """Train one writer of strings backwards.

    Yields
    ------
    Run
        The share of wrong letters when it writes on its own, at each length.
    """
    model = learn_reversal(WRITERS[variant], rate, seed)
    held_out = torch.Generator().manual_seed(1000)
    for length in LENGTHS:
        found = []
        for _ in range(2):
            source, target = reversal(500, length, LETTERS, held_out)
            wrong = model.write(source, length)[0] != target
            found.append(wrong.double().mean().item())
        yield Run(variant, f"length {length}", rate, seed, *found)


HERE = Path(__file__).parent
adding = Study(
    HERE / "trials-adding.csv",
    Run,
    adding_trials,
    lambda _: list(product(CELLS, ADDING_RATES)),
    report,
    setting=lambda run: (run.variant, run.rate),
)
reversals = Study(
    HERE / "trials-reversal.csv",
    Run,
    reversal_trials,
    lambda _: list(product(WRITERS, REVERSAL_RATES, range(SEEDS))),
    report,
    setting=lambda run: (run.variant, run.rate, run.seed),
)
