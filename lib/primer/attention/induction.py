r"""A model of attention alone that learns to look up what came next last time.

Random tokens are repeated with a period that changes from text to text.  In the first period
nothing can be predicted; afterwards everything can, by finding the earlier occurrence of the
present token and copying what followed it.  Neither a fixed distance nor the token itself says
where that is: two heads must work together, one below the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional

from primer.attention.masks import causal_mask
from primer.attention.multi_head import MultiHeadAttention
from primer.inputs import Count, Positive, Side, StepsOrNone, checked, count
from primer.inputs import tokens as token_ids

VOCABULARY, LENGTH = 64, 32
SHORTEST, LONGEST = 8, 16
D_MODEL, N_HEADS = 64, 2


class AttentionOnly(nn.Module):
    r"""Layers of attention on a residual stream, and nothing else between embedding and logits.

    .. math::
        x^0 = E_{\text{tokens}}, \qquad
        x^{\ell} = x^{\ell-1} + \mathrm{MHA}_\ell(\mathrm{norm}(x^{\ell-1})), \qquad
        \text{logits} = \mathrm{norm}(x^L)\,W_U

    Where a token stands enters through a trained number for each distance, added to the scores of
    each head.

    Parameters
    ----------
    n_layers : int
        The number of layers of attention.
    d_model : int
        The width of the stream, an even number.

    References
    ----------
    Elhage et al. (2021), "Two-layer attention-only transformers".

    Examples
    --------
    >>> model = AttentionOnly(n_layers=2)
    >>> logits, weights = model(torch.tensor([[3, 1, 4, 1, 5]]))
    >>> logits.shape, len(weights), weights[0].shape
    (torch.Size([1, 5, 64]), 2, torch.Size([1, 2, 5, 5]))
    """

    @checked
    def __init__(self, n_layers: int, d_model: Side = D_MODEL) -> None:
        super().__init__()
        count("n_layers", n_layers, at_least=0, at_most=10_000)
        self.embed = nn.Embedding(VOCABULARY, d_model)
        self.layers = nn.ModuleList(MultiHeadAttention(d_model, N_HEADS) for _ in range(n_layers))
        self.distance_bias = nn.Parameter(torch.zeros(n_layers, N_HEADS, LENGTH))
        self.unembed = nn.Linear(d_model, VOCABULARY, bias=False)

    def forward(
        self, tokens: Int[Tensor, "batch seq"]
    ) -> tuple[Float[Tensor, "batch seq vocabulary"], list[Float[Tensor, "batch heads seq seq"]]]:
        """Compute the logits of the next token at every position, and each layer's weights."""
        tokens = _readable(tokens)
        places = torch.arange(tokens.shape[1])
        distance = (places[:, None] - places).clamp(min=0)  # what lies ahead is masked anyway
        mask = causal_mask(len(places))
        x, all_weights = self.embed(tokens), []
        for layer, bias in zip(self.layers, self.distance_bias, strict=True):
            normed = functional.rms_norm(x, x.shape[-1:])
            heard, weights = layer(normed, mask=mask, bias=bias[:, distance], return_weights=True)
            x = x + heard
            all_weights.append(weights)
        return self.unembed(functional.rms_norm(x, x.shape[-1:])), all_weights


def _readable(tokens: Tensor) -> Tensor:
    """Return the ids of texts that the model can read, or say why it cannot."""
    ids = torch.as_tensor(token_ids("tokens", tokens, VOCABULARY))
    if ids.ndim != 2 or not 1 <= ids.shape[1] <= LENGTH:
        raise ValueError(
            f"tokens must have shape (batch, 1 to {LENGTH} tokens), got {tuple(ids.shape)}"
        )
    return ids


@checked
def repeated_tokens(
    batch_size: Count, generator: torch.Generator
) -> tuple[Int[Tensor, "batch seq"], Bool[Tensor, "batch seq"]]:
    """Draw random tokens that repeat with a period of their own in every text.

    Parameters
    ----------
    batch_size : int
        The number of texts.
    generator : torch.Generator
        Where the tokens and the periods, from ``SHORTEST`` to ``LONGEST``, come from.

    Returns
    -------
    tokens : Tensor of int of shape (batch, LENGTH)
    predictable : Tensor of bool of shape (batch, LENGTH)
        Whether a token is the copy of one that stood a period earlier, with a whole period and one
        token before it, so that its predecessor is a copy as well.

    Examples
    --------
    >>> tokens, predictable = repeated_tokens(3, torch.Generator().manual_seed(0))
    >>> tokens.shape, int(predictable[0].sum()) + int((~predictable[0]).sum())
    (torch.Size([3, 32]), 32)
    """
    period = torch.randint(SHORTEST, LONGEST + 1, (batch_size, 1), generator=generator)
    fresh = torch.randint(VOCABULARY, (batch_size, LENGTH), generator=generator)
    places = torch.arange(LENGTH)
    return fresh.gather(1, places % period), places > period


@checked
def copy_loss(model: AttentionOnly) -> float:
    """Measure the mean loss on the predictable tokens of 256 new texts, always the same ones.

    Parameters
    ----------
    model : AttentionOnly
        The model.

    Returns
    -------
    float
        In nats per token.

    Examples
    --------
    >>> with torch.random.fork_rng():
    ...     _ = torch.manual_seed(0)
    ...     untrained = AttentionOnly(n_layers=2)
    >>> 4.1 < copy_loss(untrained) < 5  # guessing among 64 costs log 64 = 4.16
    True
    """
    tokens, predictable = repeated_tokens(256, torch.Generator().manual_seed(99))
    with torch.no_grad():
        logits, _ = model(tokens)
    losses = functional.cross_entropy(logits[:, :-1].mT, tokens[:, 1:], reduction="none")
    return losses[predictable[:, 1:]].mean().item()


class Training(NamedTuple):
    """What a training run left behind.

    Attributes
    ----------
    model : AttentionOnly
        The trained model.
    steps : list of int
        Where the losses were taken.
    fresh, repeated : list of float
        Mean loss (nats) on tokens that nothing predicts, and on copies.
    """

    model: AttentionOnly
    steps: list[int]
    fresh: list[float]
    repeated: list[float]


@contextmanager
def _single_precision() -> Iterator[None]:
    """Make new parameters in single precision, whatever the default is."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


@checked
@torch.inference_mode(False)
@torch.enable_grad()
def train(
    n_layers: Count,
    steps: StepsOrNone = 150,
    batch_size: int = 32,
    seed: int = 0,
    *,
    d_model: int = D_MODEL,
    learning_rate: Positive = 0.005,
    even: Sequence[int] = (),
) -> Training:
    """Train a model of attention alone on repeated random tokens.

    Parameters
    ----------
    n_layers : int
        The number of layers of attention.
    steps : int
        The number of steps of Adam.
    batch_size : int
        The number of texts in a step; no text comes twice.
    seed : int
        Where weights and texts start from.
    d_model : int
        The width of the stream.
    learning_rate : float
        Adam's; twenty times as much for the numbers that stand for distances.
    even : sequence of int
        Layers that may not choose: all their scores stay 0, so that each query reads all tokens up
        to its own alike.

    Returns
    -------
    Training
        The model and its losses at every fifth step.

    Examples
    --------
    >>> train(n_layers=1, steps=6, batch_size=2).steps
    [0, 5]
    """
    for number in even:
        if not 0 <= number < n_layers:
            raise ValueError(f"layers in even are numbered 0 to {n_layers - 1}, got {number}")
    count("seed", seed, at_least=0)
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng(), _single_precision():
        torch.manual_seed(seed)
        model = AttentionOnly(n_layers, d_model)
    free = torch.ones(n_layers)
    for number in even:
        layer = model.layers[number]
        assert isinstance(layer, MultiHeadAttention)
        torch.nn.init.zeros_(layer.query.weight).requires_grad_(False)
        layer.key.weight.requires_grad_(False)
        free[number] = 0.0
    others = [
        weight
        for name, weight in model.named_parameters()
        if name != "distance_bias" and weight.requires_grad
    ]
    optimizer = torch.optim.Adam(others, lr=learning_rate)
    optimizer.add_param_group({"params": [model.distance_bias], "lr": 20 * learning_rate})
    run = Training(model, [], [], [])
    for step in range(steps):
        tokens, predictable = repeated_tokens(batch_size, generator)
        logits, _ = model(tokens)
        losses = functional.cross_entropy(logits[:, :-1].mT, tokens[:, 1:], reduction="none")
        optimizer.zero_grad()
        losses.mean().backward()
        if model.distance_bias.grad is not None:
            model.distance_bias.grad *= free[:, None, None]
        optimizer.step()
        if step % 5 == 0:
            copies = predictable[:, 1:]
            run.steps.append(step)
            run.fresh.append(losses[~copies].mean().item())
            run.repeated.append(losses[copies].mean().item())
    return run
