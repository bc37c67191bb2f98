r"""How far back does a state remember?  Three measurements that need not agree.

What the gradient reaches (:func:`input_gradients`), what the prediction loses when the past is
replaced (:func:`loss_with_erased_past`), and what can be read out of the state
(:func:`memory_capacity`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from primer.inputs import (
    Count,
    Dim,
    Matrix,
    Natural,
    Seed,
    checked,
    count,
    vector,
)
from primer.inputs.magnitude import scaled
from primer.recurrent.characters import RecurrentLanguageModel
from primer.recurrent.gradients import differentiated


@checked
def input_gradients(
    model: RecurrentLanguageModel, tokens: Int[Tensor, "batch time"]
) -> Float[Tensor, "batch distances"]:
    r"""Measure how much the prediction of the last token feels each token before it.

    .. math:: g_k = \left\lVert
        \frac{\partial \ln P(w_n \mid w_0, \dots, w_{n-1})}{\partial e_{n-1-k}} \right\rVert_2

    where :math:`e_t` is the vector of token :math:`w_t`.

    Parameters
    ----------
    model : RecurrentLanguageModel
        The model.
    tokens : int Tensor of shape (batch, n + 1)
        The last column holds the tokens that are predicted.

    Returns
    -------
    Tensor of shape (batch, n)
        :math:`g_0, \dots, g_{n-1}`: the last character that was read comes first.

    Raises
    ------
    ValueError
        When there is no token to read before the one to predict.

    References
    ----------
    Madsen (2019), "Visualizing memorization in RNNs", where it is called connectivity.

    Examples
    --------
    >>> model = RecurrentLanguageModel("ab", "rnn", 3)
    >>> input_gradients(model, model.encode("abab")[None]).shape
    torch.Size([1, 3])
    """
    if tokens.shape[1] < 2:
        raise ValueError(
            "a token to predict and at least one before it are needed, "
            f"got texts of length {tokens.shape[1]}"
        )
    with differentiated():
        tokens = model.known(tokens).clone()
        embedded = model.embed(tokens[:, :-1]).detach().requires_grad_()
        outputs, _ = model.layer(embedded)
        loss = cross_entropy(model.head(outputs[:, -1]), tokens[:, -1], reduction="sum")
        [gradient] = torch.autograd.grad(loss, embedded)
    return gradient.norm(dim=-1).flip(1)


@checked
@torch.no_grad()
def loss_with_erased_past(
    model: RecurrentLanguageModel, tokens: Int[Tensor, "batch time"], keep: Natural
) -> Float[Tensor, " batch"]:
    r"""Replace all but the last ``keep`` characters by those of another text, and predict.

    Each text of the batch gets the past of another one (of the one half a batch away), so that the
    state has always read as much, only something else.  What the loss rises by is what the model
    had used of the older characters.

    Parameters
    ----------
    model : RecurrentLanguageModel
        The model.
    tokens : int Tensor of shape (batch, n + 1)
        At least two texts; the last column holds the tokens that are predicted.
    keep : int
        How many of the :math:`n` characters before it are left, from 0 to :math:`n`.

    Returns
    -------
    Tensor of shape (batch,)
        The loss of each last token in bits.

    Raises
    ------
    ValueError
        When there is only one text, or ``keep`` is out of range.

    Examples
    --------
    A model without units for memory loses nothing:

    >>> model = RecurrentLanguageModel("ab", "rnn", 3)
    >>> _ = model.layer.cells[0].state_weight.data.zero_()
    >>> texts = torch.tensor([[0, 0, 1, 0], [1, 1, 0, 1]])
    >>> torch.equal(*(loss_with_erased_past(model, texts, keep) for keep in (1, 3)))
    True
    """
    batch, length = tokens.shape
    if keep > length - 1 or batch < 2:
        raise ValueError(
            f"keep must lie between 0 and {length - 1} in a batch of at least two texts, "
            f"got keep = {keep} and {batch} text(s)"
        )
    tokens = model.known(tokens)
    erased = tokens.roll(batch // 2, dims=0)
    erased[:, length - 1 - keep :] = tokens[:, length - 1 - keep :]
    outputs, _ = model.layer(model.embed(erased[:, :-1]))
    loss = cross_entropy(model.head(outputs[:, -1]), tokens[:, -1], reduction="none")
    return loss / math.log(2)


@checked
def text_windows(
    tokens: Int[Tensor, " n"], length: Count, number: Dim, seed: Seed = 0
) -> Int[Tensor, "number length"]:
    """Draw pieces of a text at random places.

    Raises
    ------
    ValueError
        When the text is shorter than one piece, or a number is below 1.

    Examples
    --------
    >>> text_windows(torch.arange(10), length=3, number=2).diff(dim=1).tolist()
    [[1, 1], [1, 1]]
    """
    if len(tokens) < length:
        raise ValueError(f"a text of {len(tokens)} tokens has no piece of {length}")
    draw = torch.Generator().manual_seed(seed)
    places = torch.randint(len(tokens) - length + 1, (number, 1), generator=draw)
    return tokens[places + torch.arange(length)]


@checked
@np.errstate(over="ignore", invalid="ignore")
def memory_capacity(
    states: Matrix,
    inputs: Float[np.ndarray, " time"],
    delays: Sequence[int],
) -> Float[np.ndarray, " delays"]:
    r"""Say how well earlier inputs can be read out of the state by a linear map.

    .. math:: R^2_k = 1 - \frac{\sum_t (u_{t-k} - h_ta_k - b_k)^2}{\sum_t (u_{t-k} - \bar u)^2}

    :math:`a_k, b_k` are fitted by least squares on the first three quarters of the sequence,
    :math:`R^2_k` is measured on the rest.  Jaeger calls the sum over all :math:`k` the memory
    capacity; for inputs without correlation it cannot exceed the number of units.

    Parameters
    ----------
    states : array of shape (time, hidden)
        :math:`h_t`.
    inputs : array of shape (time,)
        :math:`u_t`, one number for each step.
    delays : sequence of int
        The :math:`k \ge 0` to try.

    Returns
    -------
    array of shape (delays,)
        :math:`R^2_k`; below 0 where the map is worse than the mean.

    Raises
    ------
    ValueError
        When states and inputs differ in length, a delay leaves too few steps, or the inputs are
        constant on the part that is measured.

    References
    ----------
    Jaeger (2001), "Short term memory in echo state networks".

    Examples
    --------
    A state that holds the last two inputs remembers two steps and no third:

    >>> u = np.random.default_rng(0).normal(size=2000)
    >>> h = np.stack([u, np.roll(u, 1)], axis=1)
    >>> memory_capacity(h, u, [0, 1, 2]).round(1) + 0.0
    array([1., 1., 0.])
    """
    inputs = vector("inputs", inputs, length=len(states))
    if not len(delays):
        raise ValueError("delays is empty: give at least one number of steps to look back")
    start = max(count("a delay", delay, at_least=0) for delay in delays)
    middle = 3 * len(states) // 4
    if middle - start <= states.shape[1] + 1 or len(states) - middle < 2:
        raise ValueError(
            f"{len(states)} steps are too few for {states.shape[1]} units and a delay of {start}; "
            "give a longer sequence"
        )
    design = np.column_stack([scaled(states, axis=0)[0], np.ones(len(states))])  # of any unit
    targets = np.column_stack([inputs[start - k : len(inputs) - k] for k in delays])
    fit, *_ = np.linalg.lstsq(design[start:middle], targets[: middle - start], rcond=None)
    errors = targets[middle - start :] - design[middle:] @ fit
    spread = targets[middle - start :] - targets[middle - start :].mean(axis=0)
    if not (spread**2).sum(axis=0).all():
        raise ValueError("inputs do not vary on the part that is measured: nothing to remember")
    return 1 - (errors**2).sum(axis=0) / (spread**2).sum(axis=0)
