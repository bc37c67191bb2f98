"""``torch.func``: derivatives of functions as functions, and functions of whole batches."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from . import engine
from .autograd.functional import rows
from .creating import zeros_like
from .engine import enable_grad
from .joining import stack
from .tensor import Tensor, unknown

# ---------------------------------------------------------------- tensors in tuples, lists and
# dicts


def tensors_in(tree: Any) -> list[Tensor]:
    """Return the tensors in nested tuples, lists and dicts, in order."""
    if isinstance(tree, Tensor):
        return [tree]
    if isinstance(tree, dict):
        return [x for part in tree.values() for x in tensors_in(part)]
    if isinstance(tree, (tuple, list)):
        return [x for part in tree for x in tensors_in(part)]
    return []


def mapped(function: Callable[[Tensor], Any], tree: Any) -> Any:
    """Return the same nesting with a function's values in place of tensors."""
    if isinstance(tree, Tensor):
        return function(tree)
    if isinstance(tree, dict):
        return type(tree)((name, mapped(function, part)) for name, part in tree.items())
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*[mapped(function, part) for part in tree])
    if isinstance(tree, (tuple, list)):
        return type(tree)(mapped(function, part) for part in tree)
    return tree


def _place(tree: Any, leaves: Any) -> Any:
    return mapped(lambda _: next(leaves), tree)


def _leaf(x: Tensor) -> Tensor:
    """Return a tensor whose gradient is asked for, tied to an outer derivative if there is one."""
    return x.view_as(x) if x.requires_grad else x.detach().requires_grad_()


# ---------------------------------------------------------------- derivatives


def grad_and_value(
    func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function of the gradient and the value."""

    @functools.wraps(func)
    def both(*args: Any, **kwargs: Any) -> Any:
        places = (argnums,) if isinstance(argnums, int) else tuple(argnums)
        given = list(args)
        outer = any(x.requires_grad for x in tensors_in(args)) and engine.is_grad_enabled()
        for place in places:
            given[place] = mapped(_leaf, given[place])
        with enable_grad():
            value = func(*given, **kwargs)
            value, aux = value if has_aux else (value, None)
            if not isinstance(value, Tensor) or value.numel() != 1 or value.ndim:
                raise RuntimeError(
                    "Expected f(*args) to return a scalar tensor, got tensor with "
                    f"{getattr(value, 'ndim', 0)} dims. Maybe you wanted to use the vjp or "
                    f"jacrev APIs "
                    "instead?"
                )
            leaves = [x for place in places for x in tensors_in(given[place])]
            parts: Any = [None] * len(leaves)
            if value.requires_grad:
                parts = engine.grad(value, leaves, create_graph=True, allow_unused=True)
        filled = iter(
            [zeros_like(x) if part is None else part for part, x in zip(parts, leaves, strict=True)]
        )
        slopes = tuple(_place(given[place], filled) for place in places)
        if not outer and not _inside.depth:
            slopes = mapped(lambda t: t.detach(), slopes)
            value = value.detach()
            aux = mapped(lambda t: t.detach(), aux)
        found = slopes[0] if isinstance(argnums, int) else slopes
        return (found, (value, aux)) if has_aux else (found, value)

    return both


class _inside:
    """How many functions of this module wait for others of them."""

    depth = 0

    def __enter__(self) -> None:
        _inside.depth += 1

    def __exit__(self, *_: Any) -> None:
        _inside.depth -= 1


def grad(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """Return a function of the gradient."""
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def slope(*args: Any, **kwargs: Any) -> Any:
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return slope


def jacrev(
    func: Callable[..., Any], argnums: Any = 0, *, has_aux: bool = False, chunk_size: Any = None
) -> Callable[..., Any]:
    """Return a function of the matrix of first derivatives."""
    if has_aux:
        raise NotImplementedError("torch in this page has no has_aux= for jacrev")

    @functools.wraps(func)
    def matrix(*args: Any, **kwargs: Any) -> Any:
        places = (argnums,) if isinstance(argnums, int) else tuple(argnums)
        given = list(args)
        outer = any(x.requires_grad for x in tensors_in(args)) or _inside.depth
        for place in places:
            given[place] = _leaf(given[place])
        at = tuple(given[place] for place in places)
        with enable_grad():
            with _inside():
                output = func(*given, **kwargs)
            found = mapped(lambda one: rows(one, at, True), output)
        if isinstance(argnums, int):
            found = _unwrapped(found, output)
        return found if outer else mapped(lambda t: t.detach(), found)

    return matrix


def _unwrapped(found: Any, output: Any) -> Any:
    """Return single matrices out of tuples of one."""
    if isinstance(output, Tensor):
        return found[0]
    if isinstance(output, dict):
        return {name: _unwrapped(found[name], output[name]) for name in output}
    return type(output)(_unwrapped(f, o) for f, o in zip(found, output, strict=True))


def jacfwd(
    func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable[..., Any]:
    """Return a function of the matrix of first derivatives, which is computed backward here."""
    return jacrev(func, argnums, has_aux=has_aux)


def hessian(func: Callable[..., Any], argnums: Any = 0) -> Callable[..., Any]:
    """Return a function of the matrix of second derivatives."""
    return jacrev(jacrev(func, argnums), argnums)


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Return a function's value, and one from a vector to its product with the derivatives."""
    if has_aux:
        raise NotImplementedError("torch in this page has no has_aux= for vjp")
    at = tuple(mapped(_leaf, x) for x in primals)
    with enable_grad():
        value = func(*at)

    def pull(*cotangents: Any) -> Any:
        leaves = tensors_in(at)
        parts = engine.grad(
            tensors_in(value), leaves, tensors_in(cotangents), retain_graph=True, create_graph=True,
            allow_unused=True,
        )  # fmt: skip
        filled = iter(
            [
                zeros_like(x) if part is None else part.detach()
                for part, x in zip(parts, leaves, strict=True)
            ]
        )
        return tuple(_place(x, filled) for x in at)

    return mapped(lambda t: t.detach(), value), pull


# ---------------------------------------------------------------- batches


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """Return a function that computes each slice by itself and joins the results."""

    @functools.wraps(func)
    def mapped_function(*args: Any, **kwargs: Any) -> Any:
        dims = in_dims if isinstance(in_dims, tuple) else (in_dims,) * len(args)
        if len(dims) != len(args):
            raise ValueError(
                f"vmap: in_dims has {len(dims)} entries for {len(args)} inputs; give one for each"
            )
        sizes = {
            n
            for arg, dim in zip(args, dims, strict=True)
            if dim is not None
            for n in _sizes(arg, dim)
        }
        if not sizes:
            raise ValueError("vmap: at least one input must have an axis to map over")
        if len(sizes) > 1:
            raise ValueError(
                "vmap: Expected all tensors to have the same size in the mapped dimension, got "
                "sizes "
                f"{sorted(sizes)} for the mapped dimension"
            )
        results = [
            func(*[_slice(arg, dim, i) for arg, dim in zip(args, dims, strict=True)], **kwargs)
            for i in range(sizes.pop())
        ]
        return _stacked(results, out_dims)

    return mapped_function


def _sizes(tree: Any, dim: Any) -> list[int]:
    if isinstance(tree, dict):
        return [
            n
            for name, x in tree.items()
            for n in _sizes(x, dim[name] if isinstance(dim, dict) else dim)
        ]
    if isinstance(tree, (tuple, list)):
        each = dim if isinstance(dim, (tuple, list)) else [dim] * len(tree)
        return [n for x, d in zip(tree, each, strict=True) for n in _sizes(x, d)]
    return [tree.shape[dim]] if isinstance(tree, Tensor) and dim is not None else []


def _slice(tree: Any, dim: Any, i: int) -> Any:
    if dim is None:
        return tree
    if isinstance(tree, dict):
        return {n: _slice(x, dim[n] if isinstance(dim, dict) else dim, i) for n, x in tree.items()}
    if isinstance(tree, (tuple, list)):
        each = dim if isinstance(dim, (tuple, list)) else [dim] * len(tree)
        return type(tree)(_slice(x, d, i) for x, d in zip(tree, each, strict=True))
    return tree.select(dim, i) if isinstance(tree, Tensor) else tree


def _stacked(results: list[Any], dim: Any) -> Any:
    first = results[0]
    if isinstance(first, (tuple, list)):
        each = dim if isinstance(dim, (tuple, list)) else [dim] * len(first)
        return type(first)(_stacked([r[i] for r in results], d) for i, d in enumerate(each))
    if isinstance(first, dict):
        return {name: _stacked([r[name] for r in results], dim) for name in first}
    if not isinstance(first, Tensor):
        raise ValueError(
            f"vmap: `{type(first).__name__}` must only return Tensors, got type {type(first)}"
        )
    return stack(results, dim)


# ---------------------------------------------------------------- modules as functions


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: Any = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with other parameters in place of its own."""
    given = parameter_and_buffer_dicts
    if isinstance(given, (tuple, list)):
        given = {name: value for part in given for name, value in part.items()}
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    own = dict(module.named_parameters(remove_duplicate=False)) | dict(
        module.named_buffers(remove_duplicate=False)
    )
    extra = [name for name in given if name not in own]
    if extra:
        raise KeyError(f"functional_call: the module has no parameter or buffer {extra[0]!r}")
    by_identity = {id(own[name]): value for name, value in given.items()} if tie_weights else {}
    kept = []
    try:
        for name, tensor in own.items():
            value = given.get(name, by_identity.get(id(tensor)))
            if value is None:
                continue
            path, _, leaf = name.rpartition(".")
            holder = module.get_submodule(path)
            place = holder._parameters if leaf in holder._parameters else holder._buffers
            kept.append((place, leaf, place[leaf]))
            place[leaf] = value
        return module(*args, **(kwargs or {}))
    finally:
        for place, leaf, value in kept:
            place[leaf] = value


def stack_module_state(models: list[Any]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Return the parameters and buffers of equal modules, each stacked."""
    states = []
    for kind in ("named_parameters", "named_buffers"):
        each = [dict(getattr(model, kind)()) for model in models]
        states.append({name: stack([one[name] for one in each]).detach() for name in each[0]})
    for parameter in states[0].values():
        parameter.requires_grad_()
    return states[0], states[1]


__getattr__ = unknown("torch.func")
