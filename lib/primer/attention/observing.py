"""Look at what a layer computes on the way, and change it: one observer, names for everything."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor

from primer.inputs import checked
from primer.inputs.functions import same_precision
from primer.inputs.given import given
from primer.inputs.hints import is_function

Observe = Callable[[str, Tensor], Tensor | None]
"""Is shown an activation with its name; returns another one to compute with, or ``None``."""


class Only:
    """An observer of the activations of some names: no other is shown to it.

    Where a part of a model computes none of them, nobody observes it, and its attention needs no
    scores of its own: reading goes faster.

    Parameters
    ----------
    names : sequence of str
        The names.
    observe : callable
        The observer.

    Raises
    ------
    ValueError
        When ``names`` is one name, or ``observe`` no function of two.

    Examples
    --------
    >>> import torch
    >>> twice = Only(["blocks.0.after"], lambda name, x: 2 * x)
    >>> twice("blocks.0.after", torch.ones(2)), twice("blocks.1.after", torch.ones(2))
    (tensor([2., 2.]), None)
    >>> within(twice, "blocks.1") is None
    True
    """

    @checked
    def __init__(self, names: Sequence[str], observe: Observe) -> None:
        if isinstance(names, str):
            raise ValueError(f"names must be a list of names: write [{names!r}]")
        self.names, self.observe = frozenset(names), observe

    def __call__(self, name: str, activation: Tensor) -> Tensor | None:
        """Show an activation whose name is one of these."""
        return self.observe(name, activation) if name in self.names else None


class _Asked:
    """An observer of which somebody has asked whether it is one, and the part that it is shown."""

    def __init__(self, observe: Observe, place: str = "", known: _Asked | None = None) -> None:
        if known is None and not is_function(observe, ("name", None)):
            raise ValueError(
                f"observe must be a function of a name and a tensor, got {given(observe)}"
            )
        self.observe, self.place = observe, place

    def __call__(self, name: str, activation: Tensor) -> Tensor:
        return shown(self, name, activation)


def shown(observe: Observe | None, name: str, activation: Tensor) -> Tensor:
    """Show an activation to an observer, and return the one to go on with.

    Parameters
    ----------
    observe : callable or None
        The observer, if somebody observes.
    name : str
        What the activation is called.
    activation : Tensor
        What was computed.

    Returns
    -------
    Tensor
        What the observer returned, or the activation itself when it returned ``None``.

    Raises
    ------
    ValueError
        When the observer returns a tensor of another shape or precision, or something else.

    Examples
    --------
    >>> import torch
    >>> shown(lambda name, x: 2 * x if name == "weights" else None, "weights", torch.ones(2))
    tensor([2., 2.])
    """
    if observe is None:
        return activation
    asked = observe if isinstance(observe, _Asked) else _Asked(observe)
    name = asked.place + name
    changed = asked.observe(name, activation)
    if changed is None:
        return activation
    if not isinstance(changed, Tensor):
        raise ValueError(
            f"the observer returned {type(changed).__name__} for {name}: return a tensor to "
            "compute with, or None to change nothing"
        )
    if changed.shape != activation.shape:
        raise ValueError(
            f"the observer returned shape {tuple(changed.shape)} for {name}, which has shape "
            f"{tuple(activation.shape)}: return one of that shape, or None to change nothing"
        )
    if not same_precision(activation, changed.dtype):
        raise ValueError(
            f"the observer returned {changed.dtype} for {name}, which is {activation.dtype}: "
            f"write .to(x.dtype), or return None to change nothing"
        )
    return changed


def within(observe: Observe | None, place: str = "") -> Observe | None:
    """Return an observer for a part of a model: what it is shown has the part's name in front.

    It is ``None`` where nobody observes, or :class:`Only` names that this part does not compute.
    Whether it is a function is asked here, once, and not again for each activation: a model that
    begins with ``within(observe)`` has asked at its door.

    Examples
    --------
    >>> import torch
    >>> part = within(lambda name, x: print(name), "attention")
    >>> part("weights", torch.ones(2)) is not None
    attention.weights
    True
    """
    if observe is None:
        return None
    known = observe if isinstance(observe, _Asked) else _Asked(observe)
    inside = f"{known.place}{place}." if place else known.place
    names = known.observe.names if isinstance(known.observe, Only) else {inside}
    if not any(name.startswith(inside) for name in names):
        return None
    return _Asked(known.observe, inside, known) if place else known
