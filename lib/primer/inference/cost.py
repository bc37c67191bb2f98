"""What it costs to generate a text, with and without a cache, counted exactly."""

from __future__ import annotations

from typing import NamedTuple

from primer.inputs import Count, checked


@checked
def generation_scores(n_tokens: Count, *, cache: bool) -> int:
    r"""Count the scores that one head computes while a text of :math:`n` tokens is generated.

    In step :math:`t` the model has :math:`t` tokens before it.  Without a cache it compares each
    with each, with a cache only the newest with all:

    .. math:: \sum_{t=1}^{n} t^2 = \frac{n(n+1)(2n+1)}{6} \approx \frac{n^3}{3}, \qquad
              \sum_{t=1}^{n} t = \frac{n(n+1)}{2} \approx \frac{n^2}{2}

    Parameters
    ----------
    n_tokens : int
        The number of steps :math:`n \ge 1`.
    cache : bool
        Whether keys and values are kept.

    Returns
    -------
    int
        The number of dot products of a query and a key.

    Raises
    ------
    ValueError
        When ``n_tokens`` is not a whole number of at least 1.

    Examples
    --------
    >>> generation_scores(3, cache=False), generation_scores(3, cache=True)  # 1 + 4 + 9, 1 + 2 + 3
    (14, 6)
    """
    n = n_tokens
    return n * (n + 1) // 2 if cache else n * (n + 1) * (2 * n + 1) // 6


class GenerationFlops(NamedTuple):
    """Floating-point operations of one attention layer while a text is generated.

    Attributes
    ----------
    projections : int
        For queries, keys, values and the output: linear in the tokens read.
    attention : int
        For the scores and the weighted sums of values.
    """

    projections: int
    attention: int


@checked
def generation_flops(n_tokens: Count, d_model: Count, *, cache: bool) -> GenerationFlops:
    r"""Count the operations of one attention layer while a text of :math:`n` tokens is generated.

    A product of a row with a :math:`d \times d` matrix takes :math:`2d^2` operations, and there
    are four such matrices; a score takes :math:`2d` over all heads together, and so does the use
    of its weight:

    .. math::
        \text{without a cache:}\quad & \sum_t \bigl(8 t d^2 + 4 t^2 d\bigr) \\
        \text{with a cache:}\quad & \sum_t \bigl(8 d^2 + 4 t d\bigr)

    Parameters
    ----------
    n_tokens : int
        The number of steps :math:`n \ge 1`, the first with one token before it.
    d_model : int
        The width :math:`d \ge 1`, with as many key and value heads as query heads.
    cache : bool
        Whether keys and values are kept.

    Returns
    -------
    GenerationFlops
        The two parts.

    Raises
    ------
    ValueError
        When an argument is not a whole number of at least 1.

    Examples
    --------
    >>> generation_flops(2, d_model=1, cache=False)  # 8 + 16, 4 + 16
    GenerationFlops(projections=24, attention=20)
    >>> generation_flops(2, d_model=1, cache=True)
    GenerationFlops(projections=16, attention=12)
    """
    tokens_read = n_tokens if cache else n_tokens * (n_tokens + 1) // 2
    scores = generation_scores(n_tokens, cache=cache)
    return GenerationFlops(8 * tokens_read * d_model**2, 4 * scores * d_model)
