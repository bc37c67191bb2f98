r"""What a training costs: operations from parameters and tokens, days from operations."""

from __future__ import annotations

import math
import sys

from primer.inputs import Count, Positive, checked, count
from primer.transformers import TransformerConfig, flops_per_token


@checked
def kaplan_forward_flops(parameters: Positive, n_layers: int, n_tokens: int, d_attn: int) -> float:
    r"""Count the operations of the forward pass for one token, by the short formula.

    .. math:: C_{\text{forward}} = 2N + 2\,n\,n_{\text{layer}}\,d_{\text{attn}}

    Each weight is one multiplication and one addition; the second term is what a causal mask
    leaves, on average over the positions, of the scores and of the weighted mean together.

    Parameters
    ----------
    parameters : float
        :math:`N`, the numbers in the matrices that a token is multiplied with.
    n_layers, n_tokens, d_attn : int
        Blocks, the length :math:`n` of the text, and the width of all heads together.

    Returns
    -------
    float
        Floating-point operations.

    Raises
    ------
    ValueError
        When a number is not positive.

    References
    ----------
    Kaplan et al. (2020), section 2.1.

    Examples
    --------
    >>> kaplan_forward_flops(1000, n_layers=2, n_tokens=10, d_attn=8)
    2320.0
    """
    counts = {"n_layers": n_layers, "n_tokens": n_tokens, "d_attn": d_attn}
    for name, value in counts.items():
        count(name, value)
    return 2 * parameters + 2.0 * n_tokens * n_layers * d_attn


@checked
def attention_share(n_tokens: Count, d_model: Count) -> float:
    r"""Say how large the attention term is against the matrices of the blocks.

    .. math:: \frac{2\,n\,L\,d}{2\cdot 12\,L\,d^2} = \frac{n}{12\,d}

    Parameters
    ----------
    n_tokens : int
        The length :math:`n` of the text.
    d_model : int
        The width :math:`d`.

    Returns
    -------
    float
        The ratio under a causal mask; without a mask it is twice as large.

    Raises
    ------
    ValueError
        When a number is not positive.

    References
    ----------
    Kaplan et al. (2020), section 2.1.

    Examples
    --------
    GPT-3, and a model of 4096 that reads 8192 tokens:

    >>> round(attention_share(2048, 12288), 4), round(attention_share(8192, 4096), 4)
    (0.0139, 0.1667)
    """
    return n_tokens / (12 * d_model)


@checked
def training_flops(parameters: Positive | TransformerConfig, tokens: Positive) -> float:
    r"""Count the operations of a training.

    From a number of parameters the rule of thumb

    .. math:: C \approx 6ND,

    two operations for each weight forward and, because each matrix product has two products in its
    gradient, four backward.  From a configuration the exact count for texts as long as its context:
    three times the forward pass, with the scores of attention and the head.

    Parameters
    ----------
    parameters : float or TransformerConfig
        :math:`N`, or the model itself.
    tokens : float
        :math:`D`, how many tokens are read in all.

    Returns
    -------
    float
        Floating-point operations.

    Raises
    ------
    ValueError
        When a number is not positive.

    References
    ----------
    Kaplan et al. (2020), section 2.1.

    Examples
    --------
    >>> training_flops(175e9, 300e9)  # GPT-3
    3.15e+23
    >>> from primer.transformers import GPT3
    >>> f"{training_flops(GPT3, 300e9):.2e}"
    '3.23e+23'
    """
    if isinstance(parameters, TransformerConfig):
        return 3.0 * flops_per_token(parameters, parameters.context_length) * tokens
    return 6.0 * parameters * tokens


@checked
def training_days(flops: Positive, devices: Count, peak: Positive, utilization: Positive) -> float:
    r"""Say how long a training takes.

    .. math::
        T = \frac{C}{\tau}, \qquad
        \tau = \text{devices}\cdot\text{peak}\cdot\text{utilization}

    Parameters
    ----------
    flops : float
        :math:`C`, operations in all.
    devices : int
        How many share the work.
    peak : float
        Operations per second of one, at its best.
    utilization : float
        Which part of the peak is reached, above 0 and at most 1.

    Returns
    -------
    float
        Days.

    Raises
    ------
    ValueError
        When a number is not positive, or more than the peak is asked for.

    Examples
    --------
    >>> round(training_days(3.15e23, 1024, 312e12, 1.0), 2)
    11.41
    >>> round(training_days(3.15e23, 1024, 312e12, 0.4), 1)
    28.5
    """
    if utilization > 1:
        raise ValueError(f"utilization is a part of the peak, at most 1, got {utilization}")
    rate = devices * (peak / 1e12) * utilization
    days = flops / 1e12 / rate / 86_400
    if not sys.float_info.min < days < math.inf:
        raise ValueError("the days of this training are no floating-point number")
    return days
