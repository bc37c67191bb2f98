"""Six optimizers on the digits, tuned alike: the comparison whose results the chapter reads.

It trains the network of :mod:`primer.optimization.network` for sixty steps with every rule.  First
each rule is tuned: eight learning rates a factor 2 apart and, where it has a memory, five decays,
three seeds each.  Then each rule runs with its best setting on ten other seeds, the same for all.
``python -m studies optimization.race`` trains what is missing, all of it in about three minutes of
two cores.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from primer.inputs import count, fraction, one_of, positive
from primer.optimization.muon import Muon
from primer.optimization.network import Mlp, digits, train
from studies.study import Setting, Study
from studies.study import ends as ends_of
from studies.study import tuned as tuned_of

WIDTH, STEPS = 64, 60
LEVEL = 0.3
TUNING_SEEDS = tuple(range(3))
SEEDS = tuple(range(3, 13))


class SignDescent(torch.optim.Optimizer):
    r"""Sign descent, with or without a memory.

    .. math:: m_t = \beta m_{t-1} + (1-\beta)\,g_t, \qquad
              w_{t+1} = w_t - \eta\,\mathrm{sign}(m_t)

    Parameters
    ----------
    params : iterable of Tensor
        The weights.
    lr : float
        The step size :math:`\eta > 0`.
    momentum : float
        :math:`\beta` in [0, 1).

    Raises
    ------
    ValueError
        When a number is out of its range.

    References
    ----------
    Bernstein et al. (2018).

    Examples
    --------
    >>> w = torch.nn.Parameter(torch.tensor([1.0, 1.0]))
    >>> w.grad = torch.tensor([1000.0, -0.001])
    >>> SignDescent([w], lr=0.5).step()
    >>> w.tolist()
    [0.5, 1.5]
    """

    def __init__(self, params: Iterable[Tensor], lr: float, momentum: float = 0.0) -> None:
        defaults = {"lr": positive("lr", lr), "momentum": fraction("momentum", momentum)}
        super().__init__(list(params), defaults)

    @torch.no_grad()
    def step(self) -> None:  # type: ignore[override]
        """Move every parameter that has a gradient."""
        for group in self.param_groups:
            for w in group["params"]:
                if w.grad is None:
                    continue
                mean = self.state[w].setdefault("mean", torch.zeros_like(w))
                mean.lerp_(w.grad, 1 - group["momentum"])
                w.sub_(mean.sign(), alpha=group["lr"])


MEMORIES = {
    "gradient descent": (0.0,),
    "momentum": (0.0, 0.5, 0.8, 0.9, 0.95),
    "sign": (0.0,),
    "sign, memory": (0.0, 0.5, 0.8, 0.9, 0.95),
    "Adam": (0.0, 0.5, 0.8, 0.9, 0.95),
    "Muon": (0.0, 0.5, 0.8, 0.9, 0.95),
}
"""The rules, and the decays β that each is tuned over."""
LARGEST_RATE = {
    "gradient descent": -1,
    "momentum": -2,
    "sign": -5,
    "sign, memory": -5,
    "Adam": -3,
    "Muon": -2,
}
"""The largest of the eight rates of a rule is 2 to this power; the best must lie inside."""


def rates_of(rule: str) -> tuple[float, ...]:
    """Return the eight learning rates that a rule is tuned over.

    Examples
    --------
    >>> rates_of("momentum")[-1]
    0.25
    """
    return tuple(2.0 ** (LARGEST_RATE[rule] - k) for k in range(7, -1, -1))


def make(rule: str, model: Mlp, rate: float, memory: float) -> torch.optim.Optimizer:
    """Build the optimizer of a rule."""
    one_of("rule", rule, MEMORIES)
    weights = list(model.parameters())
    if rule in ("gradient descent", "momentum"):
        return torch.optim.SGD(weights, lr=rate, momentum=memory)
    if rule in ("sign", "sign, memory"):
        return SignDescent(weights, lr=rate, momentum=memory)
    if rule == "Adam":
        return torch.optim.Adam(weights, lr=rate, betas=(memory, 0.999))
    return Muon(weights, lr=rate, momentum=memory)


class Run(NamedTuple):
    """One training: what was set, the loss on all training digits, the test accuracy, and when.

    ``steps`` is the first step after which the loss on all training digits stays below 0.3 nats
    until the end; 61 when there is none.
    """

    rule: str
    memory: float
    rate: float
    seed: int
    loss: Annotated[float, 5]
    accuracy: Annotated[float, 4]
    steps: int

    @property
    def log_loss(self) -> float:
        """What a rule is tuned by: losses spread over orders of magnitude."""
        return math.log(self.loss)


def compete(rule: str, memory: float, rate: float, seed: int) -> Iterator[Run]:
    """Train one network with one rule and evaluate it after every step.

    Yields
    ------
    Run
        One.

    Examples
    --------
    >>> [run.loss < 1 for run in compete("Adam", 0.9, 2.0**-6, seed=0)]
    [True]
    """
    data = digits()
    with torch.random.fork_rng():
        torch.manual_seed(count("seed", seed, at_least=0))
        model = Mlp(WIDTH, "standard")
    losses = []

    def note(*_: object) -> None:
        with torch.no_grad():
            losses.append(float(cross_entropy(model(data.train_x), data.train_y)))

    optimizer = make(rule, model, rate, memory)
    optimizer.register_step_post_hook(note)
    train(model, optimizer, data, STEPS, seed)
    with torch.no_grad():
        right = model(data.test_x).argmax(1) == data.test_y
    above = np.flatnonzero(~(np.array(losses) < LEVEL))
    steps = int(above[-1]) + 2 if above.size else 1
    loss = min(losses[-1], 1e6) if np.isfinite(losses[-1]) else 1e6
    yield Run(rule, memory, rate, seed, loss, float(right.float().mean()), steps)


def tuned(runs: Iterable[Run], rule: str) -> Run:
    """Return a run with the decay and the rate that have the lowest loss over the tuning seeds.

    Examples
    --------
    >>> best = tuned(study.read(), "momentum")
    >>> best.memory in MEMORIES["momentum"] and best.rate in rates_of("momentum")
    True
    """
    return tuned_of(runs, "log_loss", TUNING_SEEDS, rule=rule)


def ends(runs: Sequence[Run], rule: str) -> list[Run]:
    """Return the runs of a tuned rule on the ten other seeds, in the order of the seeds.

    Examples
    --------
    >>> [run.seed for run in ends(study.read(), "Adam")] == list(SEEDS)
    True
    """
    same = ends_of(runs, "log_loss", TUNING_SEEDS, rule=rule)
    return [run for run in same if run.seed in SEEDS]


def settings(runs: Sequence[Run]) -> list[Setting]:
    """List what is trained: every rule at all its settings, and then the best with other seeds."""
    wanted: list[Setting] = [
        (rule, memory, rate, seed)
        for rule, memories in MEMORIES.items()
        for memory, rate, seed in itertools.product(memories, rates_of(rule), TUNING_SEEDS)
    ]
    if {run[:4] for run in runs}.issuperset(wanted):
        wanted += [(*tuned(runs, rule)[:3], seed) for rule in MEMORIES for seed in SEEDS]
    return wanted


def report(runs: Sequence[Run]) -> Iterator[str]:
    """Sum up each rule: its best setting, and what became of it."""
    for rule in MEMORIES:
        best = tuned(runs, rule)
        last = ends(runs, rule)
        loss = np.exp(np.mean([run.log_loss for run in last]))
        accuracy = np.mean([run.accuracy for run in last])
        steps = np.median([run.steps for run in last])
        inside = rates_of(rule)[0] < best.rate < rates_of(rule)[-1]
        yield (
            f"{rule:16} beta {best.memory:<4} rate 2^{int(np.log2(best.rate)):<3} "
            f"{'inside' if inside else 'AT THE EDGE'}: loss {loss:.3f}, accuracy {accuracy:.3f}, "
            f"median steps to {LEVEL} {steps:.1f}"
        )


study = Study(Path(__file__).with_suffix(".csv"), Run, compete, settings, report)
