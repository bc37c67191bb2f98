"""What it costs to generate a text, with and without a cache, counted exactly."""

from __future__ import annotations

from typing import NamedTuple

from primer.inputs import Count, Natural, Positive, checked


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


@checked
def held_positions(
    n_tokens: Natural, n_layers: Count, window: Count | None = None, every: Count = 1
) -> int:
    r"""Count what a cache keeps of one text: positions, added up over the layers.

    Every so-manyth layer keeps all :math:`n` tokens, the others the last :math:`w` of them:

    .. math:: \sum_{l=1}^{L} \begin{cases} n & \text{where } l \text{ is a multiple of } e \\
        \min(n, w) & \text{elsewhere} \end{cases}

    Parameters
    ----------
    n_tokens : int
        The tokens that were read, :math:`n \ge 0`.
    n_layers : int
        :math:`L`.
    window : int, optional
        :math:`w`; without it every layer keeps all.
    every : int
        :math:`e`: 1 means that all layers look at all tokens.

    Returns
    -------
    int
        The positions, of each of which a layer keeps a key and a value.

    Raises
    ------
    ValueError
        When a number is not whole, or too small.

    References
    ----------
    Gemma Team (2024), "Gemma 2", section 2: windows in every other layer.

    Examples
    --------
    >>> held_positions(100, 4), held_positions(100, 4, window=10, every=2)  # 4 · 100, 2 · 110
    (400, 220)
    """
    near = n_tokens if window is None else min(n_tokens, window)
    everywhere = n_layers // every
    return everywhere * n_tokens + (n_layers - everywhere) * near


class StepCost(NamedTuple):
    """What a decode step asks of a machine.

    Attributes
    ----------
    weights : int
        Bytes of the weights, fetched once for all texts.
    cache : float
        Bytes of all caches.
    operations : int
        Additions and multiplications.
    """

    weights: int
    cache: float
    operations: int


@checked
def step_cost(
    n_parameters: Count,
    positions: Natural,
    position_bytes: Positive,
    position_operations: Count,
    texts: Count = 1,
) -> StepCost:
    r"""Count what a decode step of several texts fetches and computes.

    With :math:`P` weights of two bytes, each used twice for a text, and :math:`m` cached positions
    of :math:`b` bytes and :math:`a` operations each, :math:`t` texts take

    .. math:: 2P + tmb \text{ bytes}, \qquad t\,(2P + ma) \text{ operations}

    Parameters
    ----------
    n_parameters : int
        :math:`P`.
    positions : int
        :math:`m`, see :func:`held_positions`.
    position_bytes : float
        :math:`b`.
    position_operations : int
        :math:`a`, over all query heads: :math:`4Hd_k` with keys and values.
    texts : int
        :math:`t`.

    Returns
    -------
    StepCost
        The bytes and the operations.

    Raises
    ------
    ValueError
        When a number is too small, or not whole where it must be.

    References
    ----------
    Pope et al. (2023), "Efficiently scaling transformer inference".

    Examples
    --------
    >>> step_cost(10, 3, 4, 5, texts=2)
    StepCost(weights=20, cache=24.0, operations=70)
    """
    operations = texts * (2 * n_parameters + positions * position_operations)
    return StepCost(2 * n_parameters, float(texts * positions * position_bytes), operations)
