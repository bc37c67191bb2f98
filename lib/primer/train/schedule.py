"""The learning rate over a training run: up a short ramp, then down half a cosine."""

from __future__ import annotations

import math

from primer.inputs import Natural, checked, count, number, positive, whole


@checked
def learning_rate(
    step: Natural, *, peak: float, final: float, warmup_steps: int, total_steps: int
) -> float:
    r"""Compute the learning rate of a step.

    .. math::
        \eta_t = \begin{cases}
            \eta_{\max}\,\dfrac{t+1}{w} & t < w\\[1ex]
            \eta_{\min} + \tfrac12(\eta_{\max}-\eta_{\min})
            \left(1+\cos\pi\dfrac{t-w}{T-1-w}\right) & t \ge w
        \end{cases}

    Early gradients are large and Adam's averages still rest on few of them, hence the ramp; towards
    the end small steps let the weights settle.

    Parameters
    ----------
    step : int
        :math:`t`, from 0 to :math:`T-1`.
    peak, final : float
        :math:`\eta_{\max}`, the rate after the ramp, and :math:`\eta_{\min}`, that of the end.
    warmup_steps, total_steps : int
        :math:`w` and :math:`T`.

    Returns
    -------
    float
        :math:`\eta_t`.

    Raises
    ------
    ValueError
        When the step lies outside the run, or the rates or steps make no schedule.

    References
    ----------
    Loshchilov and Hutter, *SGDR* (2017), eq. 5, without restarts; the ramp as in Vaswani et al.,
    *Attention is all you need* (2017), §5.3.

    Examples
    --------
    >>> plan = {"peak": 1.0, "final": 0.0, "warmup_steps": 2, "total_steps": 7}
    >>> [round(learning_rate(step, **plan), 3) for step in range(7)]
    [0.5, 1.0, 1.0, 0.854, 0.5, 0.146, 0.0]
    """
    count("total_steps", total_steps), whole("warmup_steps", warmup_steps)
    positive("peak", peak), number("final", final)
    if not 0 <= final <= peak:
        raise ValueError(f"final must lie between 0 and peak = {peak}, got {final}")
    if not 0 <= warmup_steps <= total_steps:
        raise ValueError(
            f"warmup_steps must be at least 0 and at most total_steps = {total_steps}, "
            f"got {warmup_steps}"
        )
    if not 0 <= step < total_steps:
        raise ValueError(f"step must lie between 0 and {total_steps - 1}, got {step}")
    if step < warmup_steps:
        return peak * (step + 1) / warmup_steps
    progress = (step - warmup_steps) / max(total_steps - 1 - warmup_steps, 1)
    return final + 0.5 * (peak - final) * (1 + math.cos(math.pi * progress))


def check_schedule(peak: float, final: float, warmup_steps: int, total_steps: int) -> None:
    """Raise a ``ValueError`` unless these make a schedule."""
    positive("learning_rate", peak), number("final_learning_rate", final)
    whole("warmup_steps", warmup_steps)
    if not 0 <= final <= peak:
        raise ValueError(
            f"final_learning_rate must lie between 0 and learning_rate = {peak}, got {final}"
        )
    if not 0 <= warmup_steps < total_steps:
        raise ValueError(
            f"warmup_steps must be at least 0 and less than steps = {total_steps}, "
            f"got {warmup_steps}"
        )
