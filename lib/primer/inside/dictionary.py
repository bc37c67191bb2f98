r"""A dictionary of directions, few of which are used at a time: a sparse autoencoder."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from primer.inputs import Count, Number, Positive, Steps, checked
from primer.inputs import tokens as token_ids


class Dictionary(NamedTuple):
    r"""Directions, and how to find which of them are in a state.

    .. math::
        h = \operatorname{TopK}\bigl(\operatorname{ReLU}(zE + c)\bigr), \qquad
        \hat x = \mu + s\,hD, \qquad z = (x - \mu) / s

    Attributes
    ----------
    rows : Tensor of shape (latents, d)
        D, directions of length 1.
    encoder : Tensor of shape (d, latents)
        The matrix :math:`E`.
    offset : Tensor of shape (latents,)
        The row :math:`c`.
    center : Tensor of shape (d,)
        :math:`\mu`, the mean state.
    scale : float
        s, the mean length of a centered state.
    active : int
        K, how many latents a state may use.
    """

    rows: Float[Tensor, "latents d"]
    encoder: Float[Tensor, "d latents"]
    offset: Float[Tensor, " latents"]
    center: Float[Tensor, " d"]
    scale: float
    active: int

    @checked
    def encode(self, states: Float[Tensor, "... d"]) -> Float[Tensor, "... latents"]:
        """Find the latents of states: at most K of them are not 0.

        Examples
        --------
        >>> eye = torch.eye(2)
        >>> both = Dictionary(eye, eye, torch.zeros(2), torch.zeros(2), 1.0, active=1)
        >>> both.encode(torch.tensor([3.0, 2.0]))
        tensor([3., 0.])
        """
        reach = ((states - self.center) / self.scale @ self.encoder + self.offset).relu()
        kept = reach.topk(self.active, dim=-1)
        return torch.zeros_like(reach).scatter(-1, kept.indices, kept.values)

    @checked
    def decode(self, latents: Float[Tensor, "... latents"]) -> Float[Tensor, "... d"]:
        """Compute the states that latents stand for.

        Examples
        --------
        >>> eye = torch.eye(2)
        >>> both = Dictionary(eye, eye, torch.zeros(2), torch.ones(2), 2.0, active=1)
        >>> both.decode(torch.tensor([3.0, 0.0]))
        tensor([7., 1.])
        """
        return self.center + self.scale * (latents @ self.rows)


@torch.enable_grad()
@checked
def train_dictionary(
    states: Float[Tensor, "n d"],
    latents: Count,
    active: Count,
    generator: torch.Generator,
    *,
    steps: Steps = 300,
    learning_rate: Positive = 0.005,
    batch_size: Count = 1024,
) -> Dictionary:
    r"""Learn a dictionary whose few best entries give a state back.

    .. math:: \min_{D,E,c}\ E\,\lVert x - \hat x\rVert^2, \qquad \lVert D_j\rVert = 1

    Parameters
    ----------
    states : Tensor of shape (n, d)
        x, at least as many as there are latents.
    latents, active : int
        Entries of the dictionary, and how many a state may use.
    generator : torch.Generator
        Draws the first directions and the batches.
    steps : int
        Of Adam, each on ``batch_size`` states.
    learning_rate : float
        Reached after 30 steps; over the last three tenths it falls to 0.
    batch_size : int
        States of a step.

    Returns
    -------
    Dictionary
        Without gradients.

    Raises
    ------
    ValueError
        When more latents may be active than there are, or there are fewer states than latents, or
        all states are equal.

    References
    ----------
    Gao et al. (2024); Bricken et al. (2023); Cunningham et al. (2023).

    Examples
    --------
    >>> chance = torch.Generator().manual_seed(0)
    >>> one_of_four = torch.eye(4)[torch.arange(400) % 4]
    >>> found = train_dictionary(one_of_four, 4, 1, chance, steps=200, batch_size=100)
    >>> unexplained(one_of_four, found.decode(found.encode(one_of_four))) < 0.5
    True
    """
    if active > latents:
        raise ValueError(f"active must be at most the number of latents, {latents}, got {active}")
    if len(states) < latents:
        raise ValueError(f"{latents} latents cannot be learned from {len(states)} states")
    center = states.mean(0)
    scale = float((states - center).norm(dim=1).mean())
    if scale == 0 or bool((states == states[0]).all()):  # whose mean may be rounded
        raise ValueError("all states are equal: there is nothing to tell apart")
    rows = torch.randn(latents, states.shape[1], generator=generator)
    rows = torch.nn.functional.normalize(rows).to(states.dtype)
    encoder, offset = rows.T.clone(), torch.zeros(latents, dtype=states.dtype)
    for weights in (rows, encoder, offset):
        weights.requires_grad_()
    optimizer = torch.optim.Adam([rows, encoder, offset], lr=learning_rate)
    made = Dictionary(rows, encoder, offset, center, scale, active)
    for step in range(steps):
        left = (steps - step) / (0.3 * steps)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate * min((step + 1) / 30, 1, left)
        x = states[torch.randint(len(states), (batch_size,), generator=generator)]
        loss = ((x - made.decode(made.encode(x))) / scale).square().sum(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            rows /= rows.norm(dim=1, keepdim=True)
    return made._replace(rows=rows.detach(), encoder=encoder.detach(), offset=offset.detach())


@checked
def unexplained(states: Float[Tensor, "n d"], found: Float[Tensor, "n d"]) -> float:
    r"""Compute the share of the states' variance that is left.

    .. math:: \frac{\sum_i\lVert x_i - \hat x_i\rVert^2}{\sum_i\lVert x_i - \bar x\rVert^2}

    Parameters
    ----------
    states, found : Tensor of shape (n, d)
        x and what stands in for it.

    Returns
    -------
    float
        0 for the states themselves, 1 for their mean.

    Raises
    ------
    ValueError
        When all states are equal.

    References
    ----------
    Gao et al. (2024), as normalized mean squared error.

    Examples
    --------
    >>> states = torch.tensor([[0.0], [2.0]])
    >>> unexplained(states, torch.ones(2, 1)), unexplained(states, states)
    (1.0, 0.0)
    """
    if len(states) == 0 or bool((states == states[0]).all()):  # whose mean may be rounded
        raise ValueError("all states are equal: there is no variance to explain")
    wide = states.double()
    away, missed = wide - wide[0], wide - found.double()
    away = away - away.mean(0)
    largest = away.abs().max()
    if largest == 0:
        raise ValueError("all states are equal: there is no variance to explain")
    return float((missed / largest).square().sum() / (away / largest).square().sum())


@checked
def recovered(loss: Number, clean: Number, ablated: Number) -> float:
    r"""Compute the share of a loss that is recovered between the worst case and the model.

    .. math:: \frac{L_\text{ablated} - L}{L_\text{ablated} - L_\text{clean}}

    Parameters
    ----------
    loss, clean, ablated : float
        With the states replaced, with the states themselves, and with the worst case, such as the
        mean state everywhere: the share depends on which worst case is chosen.

    Returns
    -------
    float
        1 where nothing is lost, 0 for the worst case; below 0 and above 1 are possible.

    Raises
    ------
    ValueError
        When the worst case is no worse.

    References
    ----------
    Bricken et al. (2023), with zeros for the worst case.

    Examples
    --------
    >>> round(recovered(3.279, 3.153, 9.661), 3)
    0.981
    """
    if not ablated > clean:
        raise ValueError(
            f"the worst case, {ablated}, is no worse than the model, {clean}: there is nothing to "
            "recover"
        )
    return (ablated - loss) / (ablated - clean)


@checked
def token_share(
    latents: Float[Tensor, "n latents"], tokens: Int[Tensor, " n"], vocab_size: Count
) -> Float[Tensor, " latents"]:
    """Compute for each latent which share of its activation falls on its favorite token.

    Parameters
    ----------
    latents : Tensor of shape (n, latents)
        Activations, not negative.
    tokens : Tensor of int of shape (n,)
        What was read at each place.
    vocab_size : int
        The number of tokens.

    Returns
    -------
    Tensor of shape (latents,)
        1 for a latent that one token alone wakes; 0 for one that nothing wakes.

    Raises
    ------
    ValueError
        When a token is not in the vocabulary, or an activation is negative.

    Examples
    --------
    >>> token_share(torch.tensor([[1.0, 0.0], [3.0, 0.0]]), torch.tensor([0, 1]), 2)
    tensor([0.7500, 0.0000])
    """
    tokens = token_ids("tokens", tokens, vocab_size)
    if bool((latents < 0).any()):
        raise ValueError(f"latents must not be negative, got {float(latents.min()):g}")
    read, places = tokens.unique(return_inverse=True)
    sums = latents.new_zeros(max(len(read), 1), latents.shape[1]).index_add(0, places, latents)
    total = sums.sum(0)
    return torch.where(total > 0, sums.amax(0) / total.where(total > 0, 1), 0)


@checked
def likeness(rows: Float[Tensor, "one d"], others: Float[Tensor, "two d"]) -> Float[Tensor, " one"]:
    """Compute for each direction the largest cosine to any direction of another dictionary.

    Parameters
    ----------
    rows, others : Tensor of shape (latents, d)
        Directions of length 1.

    Returns
    -------
    Tensor of shape (latents,)
        1 where the other dictionary has the same direction.

    Raises
    ------
    ValueError
        When a dictionary is empty, or one of its rows does not have length 1.

    References
    ----------
    Sharkey, Braun and Millidge (2022), mean max cosine similarity.

    Examples
    --------
    >>> likeness(torch.eye(2), torch.tensor([[0.6, 0.8]]))
    tensor([0.6000, 0.8000])
    """
    for name, directions in (("rows", rows), ("others", others)):
        lengths = directions.norm(dim=1)
        if not len(lengths) or bool((abs(lengths - 1) > 0.01).any()):
            raise ValueError(f"{name} must be directions of length 1, one or more")
    rows, others = (d / d.norm(dim=1, keepdim=True) for d in (rows, others))  # 1 to the last digit
    return (rows @ others.T).amax(1).clamp(-1, 1)
