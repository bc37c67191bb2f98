r"""The same small model with six ways of saying where a token stands, asked two questions.

A sequence of random digits is read from left to right.  After each digit the model is asked

* *back*: which digit stood ``LAG`` places back? — a question about distance;
* *first*: which digit came first? — a question about an absolute place.

The digits carry no hint, so a model that cannot tell positions cannot answer.  All seeds of one
encoding are trained at once: their weights are stacked and the model is mapped over them.  Every
seed draws from generators of its own.

A trained model can be tested again with something changed and nothing trained: keys at chosen
offsets hidden, or the frequencies of RoPE replaced.  Everything is computed in single precision.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.func import functional_call, vmap

from primer.attention import merge_heads, split_heads
from primer.inputs import count, one_of
from primer.positions.absolute import sinusoidal_positions
from primer.positions.alibi import alibi_bias
from primer.positions.frequencies import angles_at, rope_frequencies
from primer.positions.relative import shaw_attention
from primer.positions.rope import rotate_pairs

ENCODINGS = ("none", "learned", "sinusoidal", "Shaw", "RoPE", "ALiBi")
QUESTIONS = ("back", "first")
DIGITS, LAG = 10, 3
TRAINED_LENGTH, LONGEST = 24, 72
D_MODEL, N_HEADS = 64, 4
D_HEAD = D_MODEL // N_HEADS
MAX_DISTANCE = 8  # Shaw's k
ROPE_BASE = 100.0  # eight pairs whose wavelengths run from 6 to 350 positions


class SmallModel(nn.Module):
    """One block of causal attention and a feed-forward layer, with a choice of position encoding.

    Parameters
    ----------
    encoding : {"none", "learned", "sinusoidal", "Shaw", "RoPE", "ALiBi"}
        How the model learns where a token stands.
    base : float
        The base of RoPE's frequencies; the other encodings do not use it.

    Attributes
    ----------
    frequencies : Tensor of shape (D_HEAD / 2,)
        Radians per position of each of RoPE's pairs.
    sharpen : float
        What RoPE's scores are multiplied by; 1 unless a test changes it.
    hidden : tuple of int
        Offsets into the past whose keys no query may see; none unless a test changes it.

    Raises
    ------
    ValueError
        When the encoding is not one of these, or ``base`` is not above 1.

    Examples
    --------
    >>> SmallModel("RoPE")(torch.tensor([3, 1, 4, 1, 5])).shape  # digits × questions × answers
    torch.Size([5, 2, 10])
    """

    def __init__(self, encoding: str, base: float = ROPE_BASE) -> None:
        super().__init__()
        one_of("encoding", encoding, ENCODINGS)
        self.encoding = encoding
        self.embed = nn.Embedding(DIGITS, D_MODEL)
        self.norm1, self.norm2 = nn.LayerNorm(D_MODEL), nn.LayerNorm(D_MODEL)
        self.to_qkv = nn.Linear(D_MODEL, 3 * D_MODEL, bias=False)
        self.to_output = nn.Linear(D_MODEL, D_MODEL, bias=False)
        self.widen = nn.Linear(D_MODEL, 2 * D_MODEL)
        self.narrow = nn.Linear(2 * D_MODEL, D_MODEL)
        self.answer = nn.Linear(D_MODEL, len(QUESTIONS) * DIGITS)
        if encoding == "learned":  # later rows exist but are never trained
            self.table = nn.Parameter(torch.randn(LONGEST, D_MODEL))
        if encoding == "Shaw":
            rows = 2 * MAX_DISTANCE + 1
            self.key_offsets = nn.Parameter(torch.randn(rows, D_HEAD))
            self.value_offsets = nn.Parameter(torch.randn(rows, D_HEAD))
        self.frequencies = rope_frequencies(D_HEAD, base)
        self.sharpen = 1.0
        self.hidden: tuple[int, ...] = ()

    def forward(
        self, digits: Int[Tensor, "*batch seq"]
    ) -> Float[Tensor, "*batch seq questions digits"]:
        """Compute the logits of both answers after each digit."""
        x = self.positioned(digits)
        x = x + self.attend(self.norm1(x))
        x = x + self.narrow(self.widen(self.norm2(x)).relu())
        return self.answer(x).unflatten(-1, (len(QUESTIONS), DIGITS))

    def positioned(self, digits: Int[Tensor, "*batch seq"]) -> Float[Tensor, "*batch seq d_model"]:
        """Embed the digits and add position vectors where the encoding has them."""
        length = digits.shape[-1]
        x = self.embed(digits)
        if self.encoding == "learned":
            x = x + self.table[:length]
        if self.encoding == "sinusoidal":
            x = x + sinusoidal_positions(range(length), D_MODEL).to(x)
        return x

    def attend(self, x: Float[Tensor, "*batch seq d_model"]) -> Float[Tensor, "*batch seq d_model"]:
        """Let each digit gather from itself and the digits before it."""
        query, key, value = self.heads(x)
        if self.encoding == "Shaw":
            output = shaw_attention(
                query, key, value, self.key_offsets, self.value_offsets, causal=True
            )
        else:
            output = self.weights(query, key) @ value
        return self.to_output(merge_heads(output))

    def heads(self, x: Float[Tensor, "*batch seq d_model"]) -> tuple[Tensor, Tensor, Tensor]:
        """Compute queries, keys and values, each of shape (*batch, heads, seq, d_head)."""
        heads = split_heads(self.to_qkv(x), 3 * N_HEADS)
        query, key, value = heads.chunk(3, dim=-3)
        return query, key, value

    def weights(self, query: Tensor, key: Tensor) -> Float[Tensor, "*batch heads seq seq"]:
        """Compute the attention weights of all encodings but Shaw's."""
        length = query.shape[-2]
        if self.encoding == "RoPE":
            angles = angles_at(range(length), self.frequencies)
            query, key = rotate_pairs(query, angles), rotate_pairs(key, angles)
        scores = self.sharpen * query @ key.transpose(-2, -1) / math.sqrt(D_HEAD)
        if self.encoding == "ALiBi":
            scores = scores + alibi_bias(N_HEADS, length).to(scores)
        unseen = torch.ones(length, length, dtype=torch.bool).triu(1)
        for offset in self.hidden:
            unseen |= torch.ones(length, length, dtype=torch.bool).tril(-offset).triu(-offset)
        return scores.masked_fill(unseen, -torch.inf).softmax(-1)


class Trained(NamedTuple):
    """The models of one encoding after training, one for each seed, and what they are tested on.

    Attributes
    ----------
    encoding : str
        One of ``ENCODINGS``.
    base : float
        The base of RoPE's frequencies.
    weights : dict of str to Tensor of shape (seeds, ...)
        The parameters of :class:`SmallModel`, stacked.
    losses : Tensor of shape (seeds, steps)
        Cross-entropy per answer during training, in nats.
    digits : Tensor of shape (seeds, sequences, LONGEST)
        Fresh sequences for each seed.
    answers : Tensor of shape (seeds, sequences, LONGEST, questions)
        The right answers; -100 where there is none.
    """

    encoding: str
    base: float
    weights: dict[str, Tensor]
    losses: Float[Tensor, "seeds steps"]
    digits: Int[Tensor, "seeds sequences positions"]
    answers: Int[Tensor, "seeds sequences positions questions"]


def draw_weights(model: nn.Module, generator: torch.Generator) -> dict[str, Tensor]:
    r"""Draw first weights in the shapes of a model.

    Matrices of linear layers get variance 1 / (number of inputs), all other vectors variance 1;
    biases are 0 and the gains of the norms 1.
    """
    weights = {}
    for name, parameter in model.named_parameters():
        if parameter.ndim == 1:
            is_gain = name.startswith("norm") and name.endswith("weight")
            weights[name] = torch.full(parameter.shape, float(is_gain), dtype=torch.float32)
        else:
            layer = model.get_submodule(name.rpartition(".")[0])
            scale = layer.in_features**-0.5 if isinstance(layer, nn.Linear) else 1.0
            drawn = torch.randn(parameter.shape, generator=generator, dtype=torch.float32)
            weights[name] = scale * drawn
    return weights


def draw_digits(
    batch_size: int, length: int, generators: Sequence[torch.Generator], lag: int = LAG
) -> tuple[Int[Tensor, "models batch seq"], Int[Tensor, "models batch seq questions"]]:
    """Draw random digits for each generator's model, and the right answers.

    Before ``lag`` digits were read, *back* has no answer; the target is then -100, which
    ``cross_entropy`` ignores.
    """
    digits = torch.stack(
        [torch.randint(DIGITS, (batch_size, length), generator=g) for g in generators]
    )
    back = torch.full_like(digits, -100)
    back[..., lag:] = digits[..., :-lag]
    first = digits[..., :1].expand_as(digits)
    return digits, torch.stack([back, first], dim=-1)


@torch.inference_mode(False)
@torch.enable_grad()
def train(
    encoding: str,
    seeds: Sequence[int] = range(5),
    steps: int = 300,
    batch_size: int = 8,
    learning_rate: float = 8e-3,
    base: float = ROPE_BASE,
    lag: int = LAG,
) -> Trained:
    """Train one encoding from several seeds on sequences of ``TRAINED_LENGTH`` digits.

    Parameters
    ----------
    encoding : str
        One of ``ENCODINGS``.
    seeds : sequence of int
        One model for each, with weights and data of its own; encodings share the data of a seed.
    steps, batch_size : int
        Steps of AdamW, and sequences per step and model.
    learning_rate : float
        The highest learning rate; it falls to zero along a cosine.
    base : float
        The base of RoPE's frequencies.
    lag : int
        How many places back the question *back* asks, below ``TRAINED_LENGTH``.

    Returns
    -------
    Trained
        The weights, the losses, and fresh sequences for :func:`evaluate`.

    Raises
    ------
    ValueError
        When the encoding is unknown, there is no seed or no step, ``base`` is not above 1, or
        ``lag`` leaves nothing to answer.

    Examples
    --------
    >>> train("RoPE", seeds=[1, 2], steps=3).losses.shape
    torch.Size([2, 3])
    """
    if not len(seeds):
        raise ValueError("seeds must name at least one model, got none")
    count("steps", steps)
    if not 1 <= lag < TRAINED_LENGTH:
        raise ValueError(f"lag must be 1 to {TRAINED_LENGTH - 1} places, got {lag}")
    with _fast():
        model = _shapes(encoding, base)
        drawn = [draw_weights(model, torch.Generator().manual_seed(2 * seed)) for seed in seeds]
        return _train(model, base, drawn, seeds, steps, batch_size, learning_rate, lag)


@contextmanager
def _fast() -> Iterator[None]:
    """Treat numbers next to nothing as zeros.

    Weights, and shares of attention, that training has pushed to almost nothing become subnormal
    numbers, with which a CPU calculates many times more slowly; as zeros they cost nothing.
    """
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


def _shapes(encoding: str, base: float) -> SmallModel:
    """Build a model for its shapes: its numbers are drawn, or trained, for each seed."""
    with torch.random.fork_rng(devices=[]):  # the generator is everybody's
        model = SmallModel(encoding, base)
    model.frequencies = rope_frequencies(D_HEAD, base)
    return model


def _logits(model: nn.Module, weights: dict[str, Tensor], digits: Tensor) -> Tensor:
    """Map the model over the stacked weights: each seed reads its own digits."""
    mapped: Tensor = vmap(lambda w, x: functional_call(model, w, (x,)))(weights, digits)
    return mapped


def _train(
    model: SmallModel,
    base: float,
    drawn: list[dict[str, Tensor]],
    seeds: Sequence[int],
    steps: int,
    batch_size: int,
    learning_rate: float,
    lag: int,
) -> Trained:
    """Do what :func:`train` describes."""
    weights = {name: torch.stack([w[name] for w in drawn]).requires_grad_() for name in drawn[0]}
    data = [torch.Generator().manual_seed(2 * seed + 1) for seed in seeds]
    optimizer = torch.optim.AdamW(weights.values(), lr=learning_rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    losses = []
    for _ in range(steps):
        digits, answers = draw_digits(batch_size, TRAINED_LENGTH, data, lag)
        logits = _logits(model, weights, digits)  # (seeds, batch, seq, questions, digits)
        loss = nn.functional.cross_entropy(
            logits.flatten(0, -2), answers.flatten(), reduction="none", ignore_index=-100
        ).view(len(seeds), -1)
        optimizer.zero_grad()
        loss.mean(1).sum().backward()  # the seeds share nothing: a sum trains each on its own
        optimizer.step()
        schedule.step()
        losses.append(loss.detach().mean(1))
    trained = {name: weight.detach() for name, weight in weights.items()}
    digits, answers = draw_digits(100, LONGEST, data, lag)
    return Trained(model.encoding, base, trained, torch.stack(losses, dim=1), digits, answers)


def _changed(
    trained: Trained,
    hidden: Collection[int],
    frequencies: Float[Tensor, " pairs"] | None,
    sharpen: float,
) -> SmallModel:
    """Build the model that a test asks for."""
    if hidden and trained.encoding == "Shaw":
        raise ValueError("hidden: the offsets of Shaw's attention cannot be hidden here")
    if frequencies is not None and trained.encoding != "RoPE":
        raise ValueError(f"only RoPE has frequencies to change, not {trained.encoding!r}")
    model = _shapes(trained.encoding, trained.base)
    if frequencies is not None:
        if frequencies.shape != model.frequencies.shape:
            raise ValueError(
                f"a head has {len(model.frequencies)} pairs, got frequencies of shape "
                f"{tuple(frequencies.shape)}"
            )
        model.frequencies = frequencies
    model.hidden = tuple(sorted(hidden))
    model.sharpen = sharpen
    return model


def evaluate(
    trained: Trained,
    hidden: Collection[int] = (),
    frequencies: Float[Tensor, " pairs"] | None = None,
    sharpen: float = 1.0,
) -> Float[Tensor, "seeds positions questions"]:
    """Test trained models on long sequences, as they are or with something changed.

    Parameters
    ----------
    trained : Trained
        From :func:`train`.
    hidden : collection of int
        Offsets into the past: no query sees the key so many places before it.
    frequencies : Tensor of shape (D_HEAD / 2,), optional
        Frequencies for RoPE in the place of those it was trained with.
    sharpen : float
        A factor on the scores, YaRN's for example.

    Returns
    -------
    Tensor of shape (seeds, LONGEST, questions)
        Share of right answers at each position of fresh sequences; 0 where there is no answer.

    Raises
    ------
    ValueError
        When keys of Shaw's attention are to be hidden, or frequencies are given that do not fit.

    Examples
    --------
    >>> evaluate(train("RoPE", seeds=[1], steps=3), hidden=[47]).shape
    torch.Size([1, 72, 2])
    """
    model = _changed(trained, hidden, frequencies, sharpen)
    with torch.no_grad(), _fast():
        right = _logits(model, trained.weights, trained.digits).argmax(-1) == trained.answers
    return right.float().mean(1)


class _Looking(nn.Module):
    """A model that returns where its last query looks, in the place of the answers."""

    def __init__(self, model: SmallModel) -> None:
        super().__init__()
        self.model = model

    def forward(self, digits: Int[Tensor, "*batch seq"]) -> Float[Tensor, "*batch heads seq"]:
        query, key, _ = self.model.heads(self.model.norm1(self.model.positioned(digits)))
        return self.model.weights(query, key)[..., -1, :]


def weight_by_offset(trained: Trained, position: int) -> Float[Tensor, "seeds heads offsets"]:
    """Measure how much attention the query at one position pays to each offset into the past.

    Parameters
    ----------
    trained : Trained
        From :func:`train`; not Shaw's.
    position : int
        Where the query stands, 0 to ``LONGEST - 1``.

    Returns
    -------
    Tensor of shape (seeds, N_HEADS, position + 1)
        Entry ``offset`` is the mean attention weight on the key so many places back.

    Raises
    ------
    ValueError
        When the position is not in the sequence, or the encoding is Shaw's.

    Examples
    --------
    >>> weight_by_offset(train("RoPE", seeds=[1], steps=3), position=9).sum(-1).round(decimals=3)
    tensor([[1., 1., 1., 1.]])
    """
    if not 0 <= position < LONGEST:
        raise ValueError(f"position must be 0 to {LONGEST - 1}, got {position}")
    if trained.encoding == "Shaw":
        raise ValueError("the weights of Shaw's attention are not computed here")
    looking = _Looking(_shapes(trained.encoding, trained.base))
    named = {f"model.{name}": weight for name, weight in trained.weights.items()}
    digits = trained.digits[..., : position + 1]

    with torch.no_grad(), _fast():
        weights = _logits(looking, named, digits)  # (seeds, sequences, heads, keys)
    return weights.mean(1).flip(-1)
