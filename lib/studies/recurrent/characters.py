r"""Train the chapter's character models: as good as each other, with memories that are not.

Run ``python -m primer.recurrent.train_characters`` to repeat it (about three minutes on one core).
Sizes and steps were chosen so that the nets come out about equally good, which says nothing about
which cell is better; what they remember was not chosen.

Each finished run is added to ``characters.csv`` beside this file, so a run that is stopped goes on
where it was; the log ``characters-log.txt`` sums them up.  The nets of seed 0 go to
``characters.safetensors``, rounded to whole numbers of 8 bits.  The chapter reads all three.
"""

from __future__ import annotations

import functools
import os
import platform
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from tqdm import tqdm

from primer.datasets import split_plays
from primer.inputs import one_of
from primer.recurrent.cells import State
from primer.recurrent.characters import RecurrentLanguageModel
from primer.recurrent.layers import Recurrent
from primer.recurrent.memory import input_gradients, loss_with_erased_past, text_windows
from primer.recurrent.stored import save_models
from primer.saving import write_whole
from primer.tables import read_table


class Net(NamedTuple):
    """A kind of net: its cell, its units, the steps of its training, the forget bias."""

    cell: str
    hidden_size: int
    steps: int
    forget_bias: float | None = None


NETS = {
    "rnn": Net("rnn", 128, 1200),
    "gru": Net("gru", 80, 1000),
    "lstm": Net("lstm", 96, 1500, 3.0),
}
"""What is trained.  The RNN begins with an orthogonal matrix, as suits it best."""

RATE, SEEDS = 8e-3, 1
STREAMS, LENGTH = 32, 96
DISTANCES = (1, 8, 16, 32, 63)
KEPT = (1, 3, 5, 8, 12, 16, 24, 32, 64, 160)
RESULTS = Path(__file__).with_name("characters.csv")
LOG = Path(__file__).with_name("characters-log.txt")


class Run(NamedTuple):
    """One training: a name in ``NETS``, and the seed."""

    net: str
    seed: int


class Result(NamedTuple):
    """What came out of a run.

    Attributes
    ----------
    net, seed
        The run: see :class:`Run`.
    bits : float
        Bits per character on the four held-out plays, all of their text, in pieces.
    gradients : tuple of float
        The mean size of the gradient at each of ``DISTANCES``, relative to distance 0.
    erased : tuple of float
        The loss in bits when all but the last ``KEPT`` characters are replaced.
    """

    net: str
    seed: int
    bits: float
    gradients: tuple[float, ...]
    erased: tuple[float, ...]


class TorchLayer(nn.Module):
    """Torch's layer in the place of ours while training: the same function, and faster."""

    def __init__(self, net: Net, input_size: int) -> None:
        super().__init__()
        kind = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}[net.cell]
        self.layer = kind(input_size, net.hidden_size, batch_first=True)
        for name in ("bias_ih_l0", "bias_hh_l0"):
            nn.init.zeros_(getattr(self.layer, name))
        if net.cell == "rnn":
            nn.init.orthogonal_(self.layer.weight_hh_l0)
        if net.forget_bias is not None:  # torch's blocks: input, forget, candidate, output
            rows = slice(net.hidden_size, 2 * net.hidden_size)
            self.layer.bias_ih_l0.data[rows] = net.forget_bias

    def forward(
        self, x: Float[Tensor, "batch time input"], state: State | None = None
    ) -> tuple[Float[Tensor, "batch time hidden"], State]:
        """Read on; states are tuples here, also where torch has a single tensor."""
        given = state if state is None or len(state) == 2 else state[0]
        outputs, after = self.layer(x, given)
        return outputs, after if isinstance(after, tuple) else (after,)


def train_net(run: Run) -> RecurrentLanguageModel:
    """Train one net.

    Several streams of the plays are read side by side; the state is carried from one step to the
    next, the gradient is not.

    Raises
    ------
    ValueError
        When there is no such net.
    """
    net = NETS[one_of("net", run.net, NETS)]
    training, _ = texts()
    torch.manual_seed(run.seed)
    alphabet = "".join(sorted(set(training)))
    model = RecurrentLanguageModel(alphabet, net.cell, net.hidden_size)
    layer = TorchLayer(net, model.embed.embedding_dim)
    model.layer = layer  # type: ignore[assignment]  # torch's own, in the same place
    optimizer = torch.optim.Adam(model.parameters(), RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, net.steps)
    streams = model.encode(training).long()
    streams = streams[: len(streams) // STREAMS * STREAMS].view(STREAMS, -1)
    starts = torch.randint(streams.shape[1], (1,)).item()
    streams = streams.roll(-int(starts), dims=1)
    state: State | None = None
    for step in tqdm(range(net.steps), desc=f"{run.net}, seed {run.seed}", leave=False):
        place = step * LENGTH % (streams.shape[1] - LENGTH)
        batch = streams[:, place : place + LENGTH + 1]
        logits, state = model.read(batch[:, :-1], state)
        state = tuple(part.detach() for part in state)
        loss = cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    model.layer = Recurrent.from_torch(layer.layer)
    return model.eval()


@functools.cache
def texts() -> tuple[str, str]:
    """Return the plays to learn from and those to be judged by, each as one text."""
    training, held_out = split_plays()
    return "".join(training.values()), "".join(held_out.values())


def held_out_windows(model: RecurrentLanguageModel, number: int) -> Int[Tensor, "number length"]:
    """Draw the pieces of the held-out plays on which memory is measured."""
    return text_windows(model.encode(texts()[1]), KEPT[-1] + 1, number)


def measure(run: Run, model: RecurrentLanguageModel) -> Result:
    """Measure how good a net is and how far back it looks."""
    gradients = input_gradients(model, held_out_windows(model, 300)).mean(0)
    windows = held_out_windows(model, 600)
    erased = [float(loss_with_erased_past(model, windows, keep).mean()) for keep in KEPT]
    relative = [float(gradients[k] / gradients[0]) for k in DISTANCES]
    return Result(*run, held_out_bits(model), tuple(relative), tuple(erased))


def held_out_bits(model: RecurrentLanguageModel) -> float:
    """Measure bits per character on the four held-out plays, read in pieces side by side.

    It is quick, and one piece can lead an LSTM astray; the scoreboard reads in one pass.
    """
    _, plays = split_plays()
    characters = sum(map(len, plays.values()))
    return sum(model.bits_per_character(play) * len(play) for play in plays.values()) / characters


def missing_runs(results: Iterable[Result]) -> list[Run]:
    """Say what still has to be trained.

    Examples
    --------
    >>> missing_runs([Result("rnn", 0, 2.5, (), ())])[0]
    Run(net='gru', seed=0)
    """
    done = {Run(*result[:2]) for result in results}
    return [run for seed in range(SEEDS) for net in NETS if (run := Run(net, seed)) not in done]


def load_results(path: Path | None = None) -> list[Result]:
    """Read the results, by default those that are stored with the package.

    Examples
    --------
    >>> {result.net for result in load_results()} == set(NETS)
    True
    """
    path = path or RESULTS
    if not path.exists():
        return []

    def numbers(text: str) -> tuple[float, ...]:
        return tuple(map(float, text.split()))

    return read_table(
        path,
        Result._fields,
        lambda row: Result(
            row["net"],
            int(row["seed"]),
            float(row["bits"]),
            numbers(row["gradients"]),
            numbers(row["erased"]),
        ),
    )


def save_results(results: Iterable[Result], path: Path | None = None) -> None:
    """Write the results, in one step that no crash leaves half done."""
    lines = [",".join(Result._fields)]
    for result in results:
        gradients = " ".join(f"{x:.2e}" for x in result.gradients)
        erased = " ".join(f"{x:.4f}" for x in result.erased)
        lines.append(f"{result.net},{result.seed},{result.bits:.4f},{gradients},{erased}")
    write_whole(path or RESULTS, "".join(line + "\n" for line in lines).encode())


def report(results: list[Result]) -> str:
    """Sum up in words and numbers."""
    lines = [
        f"{STREAMS} streams of {LENGTH} characters a step, Adam, the rate falls along a cosine; "
        "bits per character on the four held-out plays, in pieces; gradient at distances "
        f"{', '.join(map(str, DISTANCES))} relative to distance 0",
        f"torch {torch.__version__}, Python {platform.python_version()}, {platform.machine()}, "
        f"{os.cpu_count()} cores, one thread",
    ]
    for result in results:
        gradients = " ".join(f"{x:.1e}" for x in result.gradients)
        lines.append(
            f"{result.net:5}{NETS[result.net].hidden_size:3} units  "
            f"{NETS[result.net].steps:4} steps  seed {result.seed}  "
            f"{result.bits:.3f} bits  {gradients}"
        )
    return "\n".join(lines)


def main() -> None:
    """Train whatever is still missing and write results, weights and log."""
    torch.set_num_threads(1)
    results = load_results()
    bar = tqdm(total=len(NETS) * SEEDS, initial=len(results))
    while missing := missing_runs(results):
        run = missing[0]
        model = train_net(run)
        if run.seed == 0:
            save_models({run.net: model})
        results.append(measure(run, model))
        save_results(results)
        bar.update()
    text = report(load_results())  # of the digits that are stored
    write_whole(LOG, f"{text}\n".encode())
    print(text)


if __name__ == "__main__":
    main()
