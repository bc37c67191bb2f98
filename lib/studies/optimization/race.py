"""Six optimizers on the digits, tuned alike: the comparison whose results the chapter reads.

It trains the network of :mod:`primer.optimization.network` for sixty steps with every rule.  First
each rule is tuned: eight learning rates a factor 2 apart and, where it has a memory, five decays,
three seeds each.  Then each rule runs with its best setting on ten other seeds, the same for all.
Run ``python -m primer.optimization.race`` to repeat it (about three minutes on two cores): it
trains what is missing in ``race.csv`` beside this file, so remove that file first, and writes a log
to ``race-log.txt``.
"""

from __future__ import annotations

import itertools
import os
import platform
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from tqdm import tqdm

from primer.inputs import fraction, positive
from primer.inputs.seeds import seed_number
from primer.optimization.muon import Muon
from primer.optimization.network import Digits, Mlp, digits, train
from primer.saving import write_whole
from primer.tables import read_records, write_table

WIDTH, STEPS = 64, 60
LEVEL = 0.3
TUNING_SEEDS = tuple(range(3))
SEEDS = tuple(range(3, 13))
RESULTS = Path(__file__).with_name("race.csv")
LOG = Path(__file__).with_name("race-log.txt")


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
    weights = list(model.parameters())
    if rule in ("gradient descent", "momentum"):
        return torch.optim.SGD(weights, lr=rate, momentum=memory)
    if rule in ("sign", "sign, memory"):
        return SignDescent(weights, lr=rate, momentum=memory)
    if rule == "Adam":
        return torch.optim.Adam(weights, lr=rate, betas=(memory, 0.999))
    if rule == "Muon":
        return Muon(weights, lr=rate, momentum=memory)
    raise ValueError(f"rule must be one of {', '.join(MEMORIES)}, got {rule!r}")


class Run(NamedTuple):
    """One training: what was set, the loss on all training digits, the test accuracy, and when.

    ``steps`` is the first step after which the loss on all training digits stays below 0.3 nats
    until the end; 61 when there is none.
    """

    rule: str
    memory: float
    rate: float
    seed: int
    loss: float
    accuracy: float
    steps: int


def compete(rule: str, memory: float, rate: float, seed: int, data: Digits) -> Run:
    """Train one network with one rule and evaluate it after every step.

    Examples
    --------
    >>> compete("Adam", 0.9, 2.0**-6, seed=0, data=digits()).loss < 1
    True
    """
    with torch.random.fork_rng():
        torch.manual_seed(seed_number("seed", seed))
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
    return Run(rule, memory, rate, seed, loss, float(right.float().mean()), steps)


def load_runs() -> list[Run]:
    """Read the results that are stored with the package.

    Examples
    --------
    >>> len({run.rule for run in load_runs()})
    6
    """
    return read_records(RESULTS, Run)


def tuned(runs: list[Run], rule: str) -> tuple[float, float]:
    """Choose the decay and the rate with the lowest loss over the tuning seeds.

    The mean is that of the logarithms, as in :func:`primer.optimization.sweep.mean_losses`.

    Examples
    --------
    >>> memory, rate = tuned(load_runs(), "momentum")
    >>> memory in MEMORIES["momentum"] and rate in rates_of("momentum")
    True
    """
    table: dict[tuple[float, float], list[float]] = {}
    for run in runs:
        if run.rule == rule and run.seed in TUNING_SEEDS:
            table.setdefault((run.memory, run.rate), []).append(np.log(run.loss))
    return min(table, key=lambda setting: float(np.mean(table[setting])))


def finals(runs: list[Run], rule: str) -> list[Run]:
    """Return the runs of a tuned rule on the ten other seeds, in the order of the seeds.

    Examples
    --------
    >>> [run.seed for run in finals(load_runs(), "Adam")] == list(SEEDS)
    True
    """
    memory, rate = tuned(runs, rule)
    chosen = [run for run in runs if run[:3] == (rule, memory, rate) and run.seed in SEEDS]
    return sorted(chosen, key=lambda run: run.seed)


def main() -> None:
    """Tune, compare, and write the results and the log."""
    torch.set_num_threads(1)  # the matrices are too small to share
    data = digits()
    began = time.time()
    settings = [
        (rule, memory, rate, seed)
        for rule, memories in MEMORIES.items()
        for memory, rate, seed in itertools.product(memories, rates_of(rule), TUNING_SEEDS)
    ]
    done = {run[:4]: run for run in load_runs()} if RESULTS.exists() else {}
    stored = len(done)
    for setting in tqdm([setting for setting in settings if setting not in done], desc="tuning"):
        rule, memory, rate, seed = setting
        done[setting] = compete(rule, memory, rate, seed, data)
    runs = [done[setting] for setting in settings]
    for rule in tqdm(MEMORIES, desc="comparing"):
        for setting in [(rule, *tuned(runs, rule), seed) for seed in SEEDS]:
            if setting not in done:
                _, memory, rate, seed = setting
                done[setting] = compete(rule, memory, rate, seed, data)
            runs.append(done[setting])
    rows = (run._replace(loss=round(run.loss, 5), accuracy=round(run.accuracy, 4)) for run in runs)
    write_table(RESULTS, Run._fields, rows)
    lines = [
        f"{len(runs)} networks, {STEPS} steps each; {stored} read from an earlier run, the others "
        f"in {time.time() - began:.0f} s",
        f"torch {torch.__version__}, numpy {np.__version__}, Python {platform.python_version()}, "
        f"{platform.machine()}, {os.cpu_count()} cores, one thread",
    ]
    for rule in MEMORIES:
        memory, rate = tuned(runs, rule)
        last = finals(runs, rule)
        loss = np.exp(np.mean([np.log(run.loss) for run in last]))
        accuracy = np.mean([run.accuracy for run in last])
        steps = np.median([run.steps for run in last])
        inside = rates_of(rule)[0] < rate < rates_of(rule)[-1]
        lines.append(
            f"{rule:16} beta {memory:<4} rate 2^{int(np.log2(rate)):<3} "
            f"{'inside' if inside else 'AT THE EDGE'}: loss {loss:.3f}, accuracy {accuracy:.3f}, "
            f"median steps to {LEVEL} {steps:.1f}"
        )
    write_whole(LOG, "".join(f"{line}\n" for line in lines).encode())
    print("\n".join(lines))


if __name__ == "__main__":
    main()
