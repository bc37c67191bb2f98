r"""The same small model with six ways of saying where a token stands, asked two questions.

A sequence of random digits is read from left to right.  After each digit the model is asked

* *back*: which digit stood ``LAG`` places back? — a question about distance;
* *first*: which digit came first? — a question about an absolute place.

The digits carry no hint, so a model that cannot tell positions cannot answer.  All seeds of one
encoding are trained at once: their weights are stacked and the model is mapped over them.  Every
seed draws from generators of its own, so that trainings can run side by side in threads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.func import functional_call, vmap

from primer.attention import merge_heads, split_heads
from primer.inputs import one_of
from primer.positions.absolute import sinusoidal_positions
from primer.positions.alibi import alibi_bias
from primer.positions.frequencies import rope_angles
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

    Raises
    ------
    ValueError
        When the encoding is not one of these.

    Examples
    --------
    >>> SmallModel("RoPE")(torch.tensor([3, 1, 4, 1, 5])).shape  # digits × questions × answers
    torch.Size([5, 2, 10])
    """

    def __init__(self, encoding: str) -> None:
        super().__init__()
        one_of("encoding", encoding, ENCODINGS)
        self.encoding = encoding
        self.embed = nn.Embedding(DIGITS, D_MODEL)
        self.norm1, self.norm2 = nn.LayerNorm(D_MODEL), nn.LayerNorm(D_MODEL)
        self.to_qkv = nn.Linear(D_MODEL, 3 * D_MODEL, bias=False)
        self.to_output = nn.Linear(D_MODEL, D_MODEL, bias=False)
        self.widen, self.narrow = nn.Linear(D_MODEL, 2 * D_MODEL), nn.Linear(2 * D_MODEL, D_MODEL)
        self.answer = nn.Linear(D_MODEL, len(QUESTIONS) * DIGITS)
        if encoding == "learned":  # rows beyond the trained length exist but are never trained
            self.table = nn.Parameter(torch.randn(LONGEST, D_MODEL))
        if encoding == "Shaw":
            self.key_offsets = nn.Parameter(torch.randn(2 * MAX_DISTANCE + 1, D_HEAD))
            self.value_offsets = nn.Parameter(torch.randn(2 * MAX_DISTANCE + 1, D_HEAD))

    def forward(
        self, digits: Int[Tensor, "*batch seq"]
    ) -> Float[Tensor, "*batch seq questions digits"]:
        """Compute the logits of both answers after each digit."""
        length = digits.shape[-1]
        x = self.embed(digits)
        if self.encoding == "learned":
            x = x + self.table[:length]
        if self.encoding == "sinusoidal":
            x = x + sinusoidal_positions(range(length), D_MODEL).to(x)
        x = x + self.attend(self.norm1(x))
        x = x + self.narrow(self.widen(self.norm2(x)).relu())
        return self.answer(x).unflatten(-1, (len(QUESTIONS), DIGITS))

    def attend(self, x: Float[Tensor, "*batch seq d_model"]) -> Float[Tensor, "*batch seq d_model"]:
        """Let each digit gather from itself and the digits before it."""
        length = x.shape[-2]
        heads = split_heads(self.to_qkv(x), 3 * N_HEADS)
        query, key, value = heads.chunk(3, dim=-3)  # each (*batch, heads, seq, d_head)
        if self.encoding == "Shaw":
            output = shaw_attention(
                query, key, value, self.key_offsets, self.value_offsets, causal=True
            )
        else:
            if self.encoding == "RoPE":
                angles = rope_angles(range(length), D_HEAD, ROPE_BASE)
                query, key = rotate_pairs(query, angles), rotate_pairs(key, angles)
            scores = query @ key.transpose(-2, -1) / math.sqrt(D_HEAD)
            if self.encoding == "ALiBi":
                scores = scores + alibi_bias(N_HEADS, length).to(scores)
            future = torch.ones(length, length, dtype=torch.bool).triu(1)
            output = scores.masked_fill(future, -torch.inf).softmax(-1) @ value
        return self.to_output(merge_heads(output))


class Result(NamedTuple):
    """What one encoding achieved.

    Attributes
    ----------
    losses : Tensor of shape (seeds, steps)
        Cross-entropy per answer during training, in nats.
    accuracy : Tensor of shape (seeds, LONGEST, questions)
        Share of right answers at each position of fresh sequences.
    """

    losses: Float[Tensor, "seeds steps"]
    accuracy: Float[Tensor, "seeds positions questions"]


def draw_weights(model: nn.Module, generator: torch.Generator) -> dict[str, Tensor]:
    r"""Draw first weights in the shapes of a model.

    Matrices of linear layers get variance 1 / (number of inputs), all other vectors variance 1;
    biases are 0 and the gains of the norms 1.
    """
    weights = {}
    for name, parameter in model.named_parameters():
        if parameter.ndim == 1:
            is_gain = name.startswith("norm") and name.endswith("weight")
            weights[name] = torch.full(parameter.shape, float(is_gain))
        else:
            layer = model.get_submodule(name.rpartition(".")[0])
            scale = layer.in_features**-0.5 if isinstance(layer, nn.Linear) else 1.0
            weights[name] = scale * torch.randn(parameter.shape, generator=generator)
    return weights


def draw_digits(
    batch: int, length: int, generators: Sequence[torch.Generator]
) -> tuple[Int[Tensor, "models batch seq"], Int[Tensor, "models batch seq questions"]]:
    """Draw random digits for each generator's model, and the right answers.

    Before ``LAG`` digits were read, *back* has no answer; the target is then -100, which
    ``cross_entropy`` ignores.
    """
    digits = torch.stack([torch.randint(DIGITS, (batch, length), generator=g) for g in generators])
    back = torch.full_like(digits, -100)
    back[..., LAG:] = digits[..., :-LAG]
    first = digits[..., :1].expand_as(digits)
    return digits, torch.stack([back, first], dim=-1)


def run(
    encoding: str,
    seeds: Sequence[int] = range(5),
    steps: int = 300,
    batch: int = 8,
    rate: float = 8e-3,
) -> Result:
    """Train one encoding from several seeds on short sequences and test it on long ones.

    Parameters
    ----------
    encoding : str
        One of ``ENCODINGS``.
    seeds : sequence of int
        One model for each, with weights and data of its own; encodings share the data of a seed.
    steps, batch : int
        Steps of AdamW, and sequences per step and model.
    rate : float
        The highest learning rate; it falls to zero along a cosine.

    Returns
    -------
    Result
        The losses of the training and the accuracy at each position up to ``LONGEST``.

    Raises
    ------
    ValueError
        When the encoding is unknown or there is no seed.

    Examples
    --------
    >>> run("RoPE", seeds=[1, 2], steps=3).accuracy.shape
    torch.Size([2, 72, 2])
    """
    if not len(seeds):
        raise ValueError("seeds must name at least one model, got none")
    # Weights that training has pushed to almost nothing become subnormal numbers, with which a CPU
    # calculates many times more slowly; as zeros they cost nothing.
    torch.set_flush_denormal(True)
    try:
        return _train_and_test(encoding, seeds, steps, batch, rate)
    finally:
        torch.set_flush_denormal(False)


def _train_and_test(
    encoding: str, seeds: Sequence[int], steps: int, batch: int, rate: float
) -> Result:
    """Do what :func:`run` describes."""
    with torch.device("meta"):
        model = SmallModel(encoding)  # shapes alone: the numbers are drawn for each seed
    drawn = [draw_weights(model, torch.Generator().manual_seed(2 * seed)) for seed in seeds]
    weights = {name: torch.stack([w[name] for w in drawn]).requires_grad_() for name in drawn[0]}
    data = [torch.Generator().manual_seed(2 * seed + 1) for seed in seeds]
    logits_of = vmap(lambda w, digits: functional_call(model, w, (digits,)))

    optimizer = torch.optim.AdamW(weights.values(), lr=rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    losses = []
    for _ in range(steps):
        digits, answers = draw_digits(batch, TRAINED_LENGTH, data)
        logits = logits_of(weights, digits)  # (seeds, batch, seq, questions, digits)
        loss = nn.functional.cross_entropy(
            logits.flatten(0, -2), answers.flatten(), reduction="none", ignore_index=-100
        ).view(len(seeds), -1)
        optimizer.zero_grad()
        loss.mean(1).sum().backward()  # the seeds share nothing: a sum trains each on its own
        optimizer.step()
        schedule.step()
        losses.append(loss.detach().mean(1))

    with torch.no_grad():
        digits, answers = draw_digits(100, LONGEST, data)
        right = logits_of(weights, digits).argmax(-1) == answers
    return Result(torch.stack(losses, dim=1), right.float().mean(1))
