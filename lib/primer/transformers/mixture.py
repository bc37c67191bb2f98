r"""Mixture of experts: many feed-forward networks, of which each token uses a few.

A router scores all experts for a token, the best few compute, and their outputs are added with the
router's weights.  Parameters grow with the number of experts, arithmetic with the number chosen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from primer.inputs import Many, Side, checked, room, tensor
from primer.inputs.functions import same_precision
from primer.inputs.given import given
from primer.inputs.tensors import check_finite


class Routing(NamedTuple):
    """What the router decided for each token."""

    probabilities: Float[Tensor, "tokens experts"]
    """The softmax of its scores over all experts."""
    chosen: Int[Tensor, "tokens k"]
    """The experts that compute, the best first."""
    weights: Float[Tensor, "tokens k"]
    """Their shares in the output; each row sums to 1."""


@checked
def route(scores: Float[Tensor, "tokens experts"], k: int) -> Routing:
    r"""Choose the ``k`` best experts for each token and share the output among them.

    .. math::
        w_e = \frac{e^{s_e}}{\sum_{c\in\mathcal C} e^{s_c}} \quad (e\in\mathcal C), \qquad
        \mathcal C = \text{the } k \text{ largest scores}

    Parameters
    ----------
    scores : Tensor of shape (tokens, experts)
        The router's scores :math:`s`.
    k : int
        How many experts a token uses.

    Returns
    -------
    Routing
        Probabilities over all experts, the chosen ones and their weights.

    Raises
    ------
    ValueError
        When ``k`` is not between 1 and the number of experts.

    References
    ----------
    Shazeer et al. (2017), equations 3 and 5, without the noise; Jiang et al. (2024), section 2.1.

    Examples
    --------
    >>> route(torch.tensor([[0.0, 2.0, 1.0]]), k=2).chosen
    tensor([[1, 2]])
    """
    if not 1 <= k <= scores.shape[-1]:
        raise ValueError(
            f"a token can use 1 to {scores.shape[-1]} of the {scores.shape[-1]} experts, got {k}"
        )
    best, chosen = scores.topk(k, dim=-1)
    return Routing(scores.softmax(-1), chosen, best.softmax(-1))


@checked
def expert_load(chosen: Int[Tensor, "tokens k"], n_experts: int) -> Float[Tensor, " n_experts"]:
    r"""Compute the share of all choices that fell on each expert.

    Parameters
    ----------
    chosen : Tensor of shape (tokens, k)
        From :func:`route`.
    n_experts : int
        How many experts there are.

    Returns
    -------
    Tensor of shape (n_experts,)
        Shares :math:`f_e` with sum 1; balanced is :math:`1/E` for each.

    Raises
    ------
    ValueError
        When nothing was chosen, or an expert that does not exist.

    Examples
    --------
    >>> expert_load(torch.tensor([[0, 1], [0, 2]]), n_experts=4)
    tensor([0.5000, 0.2500, 0.2500, 0.0000])
    """
    if chosen.numel() == 0:
        raise ValueError("no token was routed: chosen is empty")
    if chosen.min() < 0 or chosen.max() >= n_experts:
        raise ValueError(
            f"experts are numbered 0 to {n_experts - 1}, "
            f"got {int(chosen.min())} to {int(chosen.max())}"
        )
    return chosen.flatten().bincount(minlength=n_experts) / chosen.numel()


@checked
def load_balancing_loss(routing: Routing) -> Float[Tensor, ""]:
    r"""Compute the penalty that keeps the router from sending all tokens to a few experts.

    .. math:: E\sum_{e=1}^{E} f_e\,P_e

    :math:`f_e` is the share of choices that fell on expert :math:`e` (counted, so without a
    gradient), :math:`P_e` the mean probability the router gave it.  The penalty is 1 when both are
    uniform, and up to :math:`E` when a single expert takes everything.

    Parameters
    ----------
    routing : Routing
        From :func:`route`, or a layer's ``routing`` after a call.

    Returns
    -------
    Tensor
        A single number with a gradient to the router.

    References
    ----------
    Fedus, Zoph and Shazeer (2022), equation 4.

    Examples
    --------
    >>> balanced = torch.eye(4)  # four tokens, an expert for each
    >>> load_balancing_loss(route(20 * balanced, k=1))
    tensor(1.)
    >>> load_balancing_loss(route(20 * balanced[[2, 2, 2, 2]], k=1)).round()
    tensor(4.)
    """
    n_experts = routing.probabilities.shape[-1]
    share = expert_load(routing.chosen, n_experts)
    return n_experts * (share * routing.probabilities.mean(0)).sum()


class MixtureOfExperts(nn.Module):
    r"""A layer of experts behind a router: the place of the feed-forward network in a block.

    .. math:: y = \sum_{e\in\mathcal C(x)} w_e(x)\, E_e(x), \qquad s(x) = xW_r

    Parameters
    ----------
    make_expert : callable
        Called without arguments once for each expert; returns a module from ``d_model`` to
        ``d_model`` features.
    d_model : int
        The width of a token.
    n_experts : int
        How many experts there are.
    experts_per_token : int
        How many of them a token uses.

    Attributes
    ----------
    routing : Routing or None
        What the router decided in the latest call, for :func:`load_balancing_loss` and
        :func:`expert_load`.

    Raises
    ------
    ValueError
        When there are no experts, one is no module, or a token is to use more than there are.

    Examples
    --------
    >>> layer = MixtureOfExperts(lambda: nn.Linear(8, 8), 8, n_experts=4, experts_per_token=2)
    >>> layer(torch.randn(3, 5, 8)).shape, layer.routing.chosen.shape
    (torch.Size([3, 5, 8]), torch.Size([15, 2]))
    """

    routing: Routing | None

    @checked
    def __init__(
        self,
        make_expert: Callable[[], nn.Module],
        d_model: Side,
        n_experts: Many,
        experts_per_token: int = 2,
    ) -> None:
        super().__init__()
        if not 1 <= experts_per_token <= n_experts:
            raise ValueError(
                f"experts_per_token must lie between 1 and n_experts = {n_experts}, "
                f"got {experts_per_token}"
            )
        room(d_model=d_model, n_experts=n_experts)
        self.router = nn.Linear(d_model, n_experts, bias=False)
        if isinstance(make_expert, nn.Module):
            raise ValueError(
                "make_expert must make a new module at each call, got a module: write lambda: …"
            )
        experts = [make_expert() for _ in range(n_experts)]
        if strange := [expert for expert in experts if not isinstance(expert, nn.Module)]:
            raise ValueError(f"make_expert must return a torch.nn.Module, got {given(strange[0])}")
        self.experts = nn.ModuleList(experts)
        self.experts_per_token = experts_per_token
        self.routing = None

    def forward(self, x: Float[Tensor, "... d_model"]) -> Float[Tensor, "... d_model"]:
        """Send every token to its experts and add up what they return."""
        width, dtype = self.router.in_features, self.router.weight.dtype
        if tensor("x", x, axes=1, beside=self.router.weight).shape[
            -1
        ] != width or not same_precision(x, dtype):
            raise ValueError(
                f"x must hold tokens of width {width} in {dtype}, got {x.dtype} of shape "
                f"{tuple(x.shape)}"
            )
        check_finite("x", x)
        tokens = x.reshape(-1, x.shape[-1])  # (tokens, d_model)
        self.routing = route(self.router(tokens), self.experts_per_token)
        output = torch.zeros_like(tokens)
        for number, expert in enumerate(self.experts):
            row, rank = (self.routing.chosen == number).nonzero(as_tuple=True)
            share = self.routing.weights[row, rank, None]
            answers = self._answers(number, expert, tokens[row])
            if answers.shape != (len(row), tokens.shape[1]):
                raise ValueError(
                    f"expert {number} must return as many features as it gets, {tokens.shape[1]}, "
                    f"got shape {tuple(answers.shape)}"
                )
            output = output.index_add(0, row, (share * answers).to(output.dtype))
        return output.view(x.shape)

    def _answers(self, number: int, expert: nn.Module, tokens: Tensor) -> Tensor:
        """Ask an expert, or say that it cannot read these tokens."""
        try:
            answers = expert(tokens)
        except (RuntimeError, TypeError) as error:
            raise ValueError(
                f"expert {number} cannot read {tokens.dtype} of shape {tuple(tokens.shape)}, "
                f"{error}"
            ) from error
        if not isinstance(answers, Tensor):
            raise ValueError(f"expert {number} must return a tensor, got {given(answers)}")
        return answers
