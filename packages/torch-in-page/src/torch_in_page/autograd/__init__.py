"""``torch.autograd``: gradients, and operations with gradients of one's own."""

from __future__ import annotations

from typing import Any

from .. import engine
from ..engine import (
    Node,
    backward,
    edge_of,
    enable_grad,
    grad,
    inference_mode,
    no_grad,
    set_grad_enabled,
)
from ..tensor import Tensor, made, unknown
from . import functional, graph
from .gradcheck import gradcheck, gradgradcheck

__all__ = [
    "Function",
    "backward",
    "enable_grad",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
]
Variable = Tensor


class _Context:
    """What an operation keeps for its way back."""

    def __init__(self, needs: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs
        self._kept: tuple[Any, ...] = ()
        self.none_for_none = True
        self.fixed: tuple[Any, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors."""
        self._kept = tensors
        self._then = [t._version[0] if isinstance(t, Tensor) else 0 for t in tensors]

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors that were kept."""
        for tensor, then in zip(self._kept, self._then, strict=True):
            if isinstance(tensor, Tensor) and tensor._version[0] != then:
                raise RuntimeError(
                    "one of the variables needed for gradient computation has been modified by "
                    "an inplace "
                    "operation"
                )
        return self._kept

    def set_materialize_grads(self, value: bool) -> None:
        """Say whether missing gradients come as zeros."""
        self.none_for_none = value

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Say which results have no gradients."""
        self.fixed = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Refuse: operations that change their inputs are not here."""
        raise NotImplementedError("torch in this page has no ctx.mark_dirty; return a new tensor")


class Function:
    """An operation with a gradient of its own: subclasses write ``forward`` and ``backward``."""

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the result."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Return the gradient of each input."""
        raise NotImplementedError("You must implement either the backward or vjp method")

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Compute the result, and remember how to come back."""
        ctx = _Context(tuple(isinstance(a, Tensor) and a.requires_grad for a in args))
        with no_grad():
            if "setup_context" in cls.__dict__:
                result = cls.forward(*args)
                cls.setup_context(ctx, args, result)  # type: ignore[attr-defined]
            else:
                result = cls.forward(ctx, *args)
        if not (engine.is_grad_enabled() and any(ctx.needs_input_grad)):
            return result
        outs = result if isinstance(result, tuple) else (result,)
        if sum(1 for out in outs if isinstance(out, Tensor)) > 1:
            return cls._several(ctx, args, outs)
        recorded = tuple(cls._one(ctx, args, out, i, len(outs)) for i, out in enumerate(outs))
        return recorded if isinstance(result, tuple) else recorded[0]

    @classmethod
    def _one(cls, ctx: Any, args: Any, out: Any, place: int, count: int) -> Any:
        """Return one result with a node that calls ``backward``."""
        if not isinstance(out, Tensor) or any(out is fixed for fixed in ctx.fixed):
            return out

        def rules(g: Tensor, _: Any, needed: Any) -> list[Any]:
            grads = [g if i == place else None for i in range(count)]
            parts = cls.backward(ctx, *grads)
            parts = parts if isinstance(parts, tuple) else (parts,)
            if len(parts) != len(args):
                raise RuntimeError(
                    f"function {cls.__name__}Backward returned an incorrect number of gradients "
                    f"(expected "
                    f"{len(args)}, got {len(parts)})"
                )
            return list(parts)

        recorded = made(out._a, out._dtype)
        recorded._rg = True
        edges = tuple(edge_of(a) if isinstance(a, Tensor) else None for a in args)
        recorded._node = Node(f"{cls.__name__}Backward", edges, rules, (), None)
        return recorded

    @classmethod
    def _several(cls, ctx: Any, args: Any, outs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return several results, each a part of one vector whose node calls ``backward`` once."""
        from ..creating import zeros_like
        from ..joining import cat

        live = [
            i
            for i, o in enumerate(outs)
            if isinstance(o, Tensor) and not any(o is f for f in ctx.fixed)
        ]
        kinds = {outs[i]._dtype for i in live}
        if len(kinds) > 1:
            raise NotImplementedError(
                "torch in this page has no autograd.Function whose results are of different kinds"
            )

        def rules(g: Tensor, _: Any, needed: Any) -> list[Any]:
            grads: list[Any] = [None] * len(outs)
            at = 0
            for i in live:
                n = outs[i].numel()
                grads[i] = g[at : at + n].reshape(outs[i].shape)
                at += n
            for i, out in enumerate(outs):
                if grads[i] is None and isinstance(out, Tensor) and ctx.none_for_none:
                    grads[i] = zeros_like(out)
            parts = cls.backward(ctx, *grads)
            return list(parts if isinstance(parts, tuple) else (parts,))

        with no_grad():
            whole = cat([outs[i].flatten() for i in live])
        whole._rg = True
        edges = tuple(edge_of(a) if isinstance(a, Tensor) else None for a in args)
        whole._node = Node(f"{cls.__name__}Backward", edges, rules, (), None)
        recorded, at = list(outs), 0
        for i in live:
            n = outs[i].numel()
            recorded[i] = whole[at : at + n].reshape(outs[i].shape)
            at += n
        return tuple(recorded)


def set_detect_anomaly(mode: bool, check_nan: bool = True) -> None:
    """Do nothing: errors name their operation here anyway."""


__getattr__ = unknown("torch.autograd")
