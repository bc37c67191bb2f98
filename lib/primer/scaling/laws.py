r"""How the loss falls with parameters and tokens: three forms of law, and what they recommend."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from primer.inputs import (
    Like,
    NotNegative,
    Positive,
    checked,
    checked_fields,
    not_negative,
    positive,
    real,
)
from primer.inputs.magnitude import TINY


class Split(NamedTuple):
    """A budget spent.

    Attributes
    ----------
    parameters : float
        :math:`N`.
    tokens : float
        :math:`D`.
    """

    parameters: float
    tokens: float

    @property
    def ratio(self) -> float:
        """Tokens for each parameter."""
        return self.tokens / self.parameters


def amounts(name: str, values: ArrayLike) -> Float[np.ndarray, "..."]:
    """Return numbers of any shape, all of them above 0."""
    numbers = real(name, values)
    if not (numbers > 0).all():
        raise ValueError(f"{name} must be above 0, got {numbers.min():g}")
    return numbers


Amounts = Annotated[Like, amounts]
"""Numbers of any shape, all of them above 0."""


def _together(
    parameters: ArrayLike, tokens: ArrayLike
) -> tuple[Float[np.ndarray, "..."], Float[np.ndarray, "..."]]:
    """Return sizes and tokens, one of each or as many as of the other."""
    sizes, texts = amounts("parameters", parameters), amounts("tokens", tokens)
    try:
        np.broadcast_shapes(sizes.shape, texts.shape)
    except ValueError:
        raise ValueError(
            "parameters and tokens must have shapes that go together, got "
            f"{sizes.shape} and {texts.shape}"
        ) from None
    return sizes, texts


def _isoflop(
    law: ChinchillaLaw | JointLaw, flops: float, parameters: ArrayLike, inference_tokens: float
) -> Float[np.ndarray, "..."]:
    """Compute the loss of sizes that share a budget with their later use."""
    sizes = amounts("parameters", parameters)
    use = not_negative("inference_tokens", inference_tokens)
    tokens = positive("flops", flops) / (6 * sizes) - use / 3
    return np.where(tokens > 0, law.loss(sizes, np.where(tokens > 0, tokens, 1.0)), np.inf)


@checked_fields
@dataclass(frozen=True)
class PowerLaw:
    r"""A loss that falls as a power of one thing, towards a floor.

    .. math:: L(x) = E + \Big(\frac{x_0}{x}\Big)^{\alpha}

    Parameters
    ----------
    scale : float
        :math:`x_0`, where the second term is 1.
    exponent : float
        :math:`\alpha`.
    floor : float
        :math:`E`, 0 if left out: a straight line on log paper.

    Raises
    ------
    ValueError
        When the scale is not above 0, the exponent is 0, or a number is not finite.

    Examples
    --------
    >>> law = PowerLaw(scale=8.8e13, exponent=0.076)
    >>> round(float(law.loss(1e9)), 3), round(law.factor_to_multiply_loss(0.5), 1)
    (2.376, 9139.5)
    """

    scale: float
    exponent: float
    floor: float = 0.0

    def __post_init__(self) -> None:
        """Refuse constants of which there is no power."""
        positive("scale", self.scale)
        if self.exponent == 0:
            raise ValueError("exponent must not be 0, or the loss does not depend on x")

    @checked
    def loss(self, x: Amounts) -> Float[np.ndarray, "..."]:
        """Compute the loss for numbers ``x`` above 0."""
        with np.errstate(over="ignore", under="ignore"):
            ratio = self.scale / x
            # a ratio that is no number, of numbers that are, has a power that may be one
            far = (ratio < TINY) | ~np.isfinite(ratio)
            power = np.where(far, 1.0, ratio) ** self.exponent
            logs = self.exponent * (math.log(self.scale) - np.log(x))
            return np.asarray(self.floor + np.where(far, np.exp(logs), power))

    @checked
    def factor_to_multiply_loss(self, ratio: Positive) -> float:
        r"""Say how much larger :math:`x` must be for ``ratio`` times the loss above the floor.

        .. math:: \text{ratio}^{-1/\alpha}
        """
        return ratio ** (-1 / self.exponent)


@checked_fields
@dataclass(frozen=True)
class ChinchillaLaw:
    r"""A loss with a floor and two terms that add.

    .. math:: L(N, D) = E + \frac{A}{N^\alpha} + \frac{B}{D^\beta}

    Parameters
    ----------
    E, A, B, alpha, beta : float
        The constants, all above 0 (:math:`E` may be 0).

    Raises
    ------
    ValueError
        When a constant is out of range.

    References
    ----------
    Hoffmann et al. (2022), eq. 10.

    Examples
    --------
    >>> law = ChinchillaLaw(E=1.69, A=406.4, B=410.7, alpha=0.34, beta=0.28)
    >>> round(float(law.loss(70e9, 1.4e12)), 4)
    1.9366
    >>> round(law.exponent, 4), round(law.optimum(5.76e23).ratio, 1)
    (0.4516, 92.6)
    """

    E: float
    A: float
    B: float
    alpha: float
    beta: float

    def __post_init__(self) -> None:
        """Refuse constants with which the loss would not fall."""
        not_negative("E", self.E)
        for name in ("A", "B", "alpha", "beta"):
            positive(name, getattr(self, name))

    @property
    def exponent(self) -> float:
        r"""The power of the budget with which the best size grows, :math:`\beta/(\alpha+\beta)`."""
        return self.beta / (self.alpha + self.beta)

    @checked
    def loss(self, parameters: Amounts, tokens: Amounts) -> Float[np.ndarray, "..."]:
        """Compute the loss; sizes and tokens may be arrays."""
        sizes, texts = _together(parameters, tokens)
        by_size, by_text = self.A / sizes**self.alpha, self.B / texts**self.beta
        return np.asarray(self.E + by_size + by_text)

    @checked(infinite="return")
    def isoflop(
        self, flops: float, parameters: ArrayLike, inference_tokens: float = 0.0
    ) -> Float[np.ndarray, "..."]:
        r"""Compute the loss when a budget of :math:`C = 6ND + 2ND_{\text{inference}}` is spent.

        Where the later use alone costs more than the budget, nothing is left to train with, and the
        loss is infinite.
        """
        return _isoflop(self, flops, parameters, inference_tokens)

    @checked
    def optimum(self, flops: Positive) -> Split:
        r"""Split a budget where the loss is lowest.

        .. math::
            N^* = G\Big(\frac C6\Big)^{\beta/(\alpha+\beta)}, \qquad
            D^* = \frac1G\Big(\frac C6\Big)^{\alpha/(\alpha+\beta)}, \qquad
            G = \Big(\frac{\alpha A}{\beta B}\Big)^{1/(\alpha+\beta)}

        Parameters
        ----------
        flops : float
            :math:`C`.

        Returns
        -------
        Split
            :math:`N^*` and :math:`D^*`, with :math:`6N^*D^* = C`.

        References
        ----------
        Hoffmann et al. (2022), equation 4.
        """
        scale = (self.alpha * self.A / (self.beta * self.B)) ** (1 / (self.alpha + self.beta))
        parameters = scale * (flops / 6) ** self.exponent
        return Split(parameters, flops / 6 / parameters)

    @checked(infinite="return")
    def tokens_to_reach(self, loss: float, parameters: Positive) -> float:
        """Say how many tokens a size needs for a loss; infinity where no number suffices."""
        left = loss - self.E - self.A / parameters**self.alpha
        return math.inf if left <= 0 else (self.B / left) ** (1 / self.beta)

    @checked
    def optimum_with_inference(self, loss: float, inference_tokens: NotNegative) -> Split:
        r"""Find the cheapest way to a loss for a model that will read and write later on.

        .. math:: \min_{N, D}\; 6ND + 2N D_{\text{inference}} \quad\text{where}\quad L(N, D) = L

        Parameters
        ----------
        loss : float
            To be reached; above the floor :math:`E`.
        inference_tokens : float
            How many tokens the model will process after its training.

        Returns
        -------
        Split
            The size and the tokens of its training.

        Raises
        ------
        ValueError
            When the loss is not above the floor.

        References
        ----------
        Sardana et al. (2024).

        Examples
        --------
        >>> law = CHINCHILLA_REFIT
        >>> loss = float(law.loss(70e9, 1.4e12))
        >>> [round(law.optimum_with_inference(loss, d).ratio, 1) for d in (0, 1e12, 1e13)]
        [18.4, 30.1, 108.6]
        """
        if not loss > self.E:
            raise ValueError(f"loss must be above the floor E = {self.E}, got {loss}")
        left, use = math.log(loss - self.E), inference_tokens / 3

        def split(odds: float) -> tuple[float, float]:
            """Return log N and log D where the size has so large a share t of what is left."""
            shares = -np.logaddexp(0, -odds), -np.logaddexp(0, odds)  # log t, log (1 - t)
            size = (math.log(self.A) - left - shares[0]) / self.alpha
            return float(size), float((math.log(self.B) - left - shares[1]) / self.beta)

        def slope(odds: float) -> float:
            """Compare what a share more saves in tokens with what it saves in size: it rises."""
            log_use = math.log(use) if use else -math.inf
            tokens = split(odds)[1]
            trained = tokens - np.logaddexp(tokens, log_use)  # log of D / (D + use)
            return float(trained + math.log(self.alpha / self.beta) + odds)

        log_size, log_tokens = split(brentq(slope, -1500, 1500, xtol=1e-13, rtol=1e-14))
        return Split(math.exp(log_size), math.exp(log_tokens))


@checked_fields
@dataclass(frozen=True)
class JointLaw:
    r"""A loss of two bottlenecks that falls to zero.

    .. math::
        L(N, D) = \Big[\Big(\frac{N_c}{N}\Big)^{\alpha_N/\alpha_D}
        + \frac{D_c}{D}\Big]^{\alpha_D}

    Parameters
    ----------
    N_c, D_c : float
        Constants of the fit, in parameters and tokens.
    alpha_N, alpha_D : float
        What is left of the law when only one of the two is scarce.

    Raises
    ------
    ValueError
        When a constant is not above 0.

    References
    ----------
    Kaplan et al. (2020), eq. 1.5.

    Examples
    --------
    >>> round(float(KAPLAN.loss(1e9, 1e30)), 3), round(float(KAPLAN.loss(1e30, 1e9)), 3)
    (2.376, 2.816)
    """

    N_c: float
    D_c: float
    alpha_N: float
    alpha_D: float

    def __post_init__(self) -> None:
        """Refuse constants with which the loss would not fall."""
        for name in ("N_c", "D_c", "alpha_N", "alpha_D"):
            positive(name, getattr(self, name))

    @checked
    def bottlenecks(
        self, parameters: Amounts, tokens: Amounts
    ) -> tuple[Float[np.ndarray, "..."], Float[np.ndarray, "..."]]:
        """Compute the two terms in the bracket; the larger one limits."""
        sizes, texts = _together(parameters, tokens)
        by_size = (self.N_c / sizes) ** (self.alpha_N / self.alpha_D)
        return np.asarray(by_size), np.asarray(self.D_c / texts)

    @checked
    def loss(self, parameters: Amounts, tokens: Amounts) -> Float[np.ndarray, "..."]:
        """Compute the loss; sizes and tokens may be arrays."""
        by_size, by_tokens = self.bottlenecks(parameters, tokens)
        return np.asarray((by_size + by_tokens) ** self.alpha_D)

    @checked(infinite="return")
    def isoflop(
        self, flops: float, parameters: ArrayLike, inference_tokens: float = 0.0
    ) -> Float[np.ndarray, "..."]:
        r"""Compute the loss when a budget of :math:`C = 6ND + 2ND_{\text{inference}}` is spent.

        Where the later use alone costs more than the budget, nothing is left to train with, and the
        loss is infinite.
        """
        return _isoflop(self, flops, parameters, inference_tokens)

    @checked
    def optimum(self, flops: float) -> Split:
        r"""Split a budget where the loss is lowest.

        The bracket is a :class:`ChinchillaLaw` with :math:`\alpha = \alpha_N/\alpha_D` and
        :math:`\beta = 1`, and so has its optimum.
        """
        ratio = self.alpha_N / self.alpha_D
        return ChinchillaLaw(0.0, self.N_c**ratio, self.D_c, ratio, 1.0).optimum(flops)

    @checked(infinite="return")
    def tokens_to_reach(self, loss: Positive, parameters: float) -> float:
        """Say how many tokens a size needs for a loss; infinity where no number suffices."""
        by_size, _ = self.bottlenecks(parameters, 1.0)
        left = loss ** (1 / self.alpha_D) - float(by_size)
        return math.inf if left <= 0 else self.D_c / left


KAPLAN = JointLaw(N_c=8.8e13, D_c=5.4e13, alpha_N=0.076, alpha_D=0.095)
CHINCHILLA_PRINTED = ChinchillaLaw(E=1.69, A=406.4, B=410.7, alpha=0.34, beta=0.28)
CHINCHILLA_UNROUNDED = ChinchillaLaw(E=1.69, A=406.4, B=410.7, alpha=0.3392, beta=0.2849)
CHINCHILLA_REFIT = ChinchillaLaw(E=1.8172, A=482.01, B=2085.43, alpha=0.3478, beta=0.3658)
"""The laws in use: Kaplan et al. (2020), table of section 1.2; Hoffmann et al. (2022) as printed,
with two digits of the exponents, and with the four that stand in its source; the fit of Besiroglu
et al. (2024) to those of its runs that could be read off a figure of the paper."""
