r"""Train the chapter's character models: as good as each other, with memories that are not.

``python -m studies recurrent.characters`` trains what is missing, all of it in about three minutes
of one core.  Sizes and steps were chosen so that the nets come out about equally good, which says
nothing about which cell is better; what they remember was not chosen.  The nets of seed 0 go to
``characters.safetensors`` of :mod:`primer.recurrent`, rounded to whole numbers of 8 bits.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

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
from studies.study import Study


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


class Run(NamedTuple):
    """One training, and what came out.

    Attributes
    ----------
    net : str
        A name in ``NETS``.
    seed : int
        Of weights and of where the reading begins.
    bits : float
        Bits per character on the four held-out plays, all of their text, in pieces.
    gradients : tuple of float
        The mean size of the gradient at each of ``DISTANCES``, relative to distance 0.
    erased : tuple of float
        The loss in bits when all but the last ``KEPT`` characters are replaced.
    """

    net: str
    seed: int
    bits: Annotated[float, ".4f"]
    gradients: Annotated[tuple[float, ...], ".2e"]
    erased: Annotated[tuple[float, ...], ".4f"]


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


def train_net(name: str, seed: int) -> RecurrentLanguageModel:
    """Train one net.

    Several streams of the plays are read side by side; the state is carried from one step to the
    next, the gradient is not.

    Raises
    ------
    ValueError
        When there is no such net.
    """
    net = NETS[one_of("net", name, NETS)]
    training, _ = texts()
    torch.manual_seed(seed)
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
    for step in tqdm(range(net.steps), desc=f"{name}, seed {seed}", leave=False):
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


def measured(name: str, seed: int) -> Iterator[Run]:
    """Train a net, keep that of seed 0, and measure how good it is and how far back it looks."""
    model = train_net(name, seed)
    if seed == 0:
        save_models({name: model})
    gradients = input_gradients(model, held_out_windows(model, 300)).mean(0)
    windows = held_out_windows(model, 600)
    erased = [float(loss_with_erased_past(model, windows, keep).mean()) for keep in KEPT]
    relative = [float(gradients[k] / gradients[0]) for k in DISTANCES]
    yield Run(name, seed, held_out_bits(model), tuple(relative), tuple(erased))


def held_out_bits(model: RecurrentLanguageModel) -> float:
    """Measure bits per character on the four held-out plays, read in pieces side by side.

    It is quick, and one piece can lead an LSTM astray; the scoreboard reads in one pass.
    """
    _, plays = split_plays()
    characters = sum(map(len, plays.values()))
    return sum(model.bits_per_character(play) * len(play) for play in plays.values()) / characters


def report(runs: Sequence[Run]) -> Iterator[str]:
    """Sum up each net."""
    yield (
        f"{STREAMS} streams of {LENGTH} characters a step, Adam, the rate falls along a cosine; "
        "bits per character on the four held-out plays, in pieces; gradient at distances "
        f"{', '.join(map(str, DISTANCES))} relative to distance 0"
    )
    for run in runs:
        gradients = " ".join(f"{x:.1e}" for x in run.gradients)
        yield (
            f"{run.net:5}{NETS[run.net].hidden_size:3} units  {NETS[run.net].steps:4} steps  "
            f"seed {run.seed}  {run.bits:.3f} bits  {gradients}"
        )


study = Study(
    Path(__file__).with_suffix(".csv"),
    Run,
    measured,
    lambda _: [(net, seed) for seed, net in itertools.product(range(SEEDS), NETS)],
    report,
)
