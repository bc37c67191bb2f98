"""The graph of what was computed, and the way back through it.

An operation that is to be differentiated leaves a :class:`Node` in its result.  The node knows the
nodes of its inputs and one rule for each of them: how the gradient of that input follows from the
gradient of the result.  Rules are written with tensors, so that what they compute can be
differentiated again.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any

import numpy as np

from .dtypes import bool_, cased, cast, dtype
from .tensor import Tensor, made

# ---------------------------------------------------------------- whether a graph is kept


class _State:
    """Whether operations leave nodes; one for the page, which has one thread."""

    on = True
    inference = False


def is_grad_enabled() -> bool:
    """Say whether operations are recorded."""
    return _State.on


def is_inference_mode_enabled() -> bool:
    """Say whether :class:`inference_mode` is on."""
    return _State.inference


class _Switch:
    """A setting for the lines under ``with``, or for the calls of a function."""

    def __init__(self, mode: bool) -> None:
        self.mode = mode
        self.before: list[bool] = []

    def __enter__(self) -> None:
        self.before.append(_State.on)
        _State.on = self.mode

    def __exit__(self, *_: Any) -> None:
        _State.on = self.before.pop()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that is called under this switch, each step of a generator too."""
        if inspect.isgeneratorfunction(function):
            return self._steps(function)

        @functools.wraps(function)
        def inner(*args: Any, **kwargs: Any) -> Any:
            with _Switch(self.mode):
                return function(*args, **kwargs)

        return inner

    def _steps(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a generator whose own lines run under this switch, and no others do."""

        @functools.wraps(function)
        def inner(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
            steps = function(*args, **kwargs)
            go: Callable[[], Any] = functools.partial(next, steps)
            while True:
                try:
                    with _Switch(self.mode):
                        found = go()
                except StopIteration as end:
                    return end.value
                try:
                    go = functools.partial(steps.send, (yield found))
                except GeneratorExit:
                    with _Switch(self.mode):
                        steps.close()
                    raise
                except BaseException as error:
                    go = functools.partial(steps.throw, error)

        return inner


class no_grad(_Switch):
    """Record nothing: ``with torch.no_grad():`` or ``@torch.no_grad()``."""

    def __new__(cls, function: Any = None) -> Any:
        """Return the switch, or a function under it."""
        return super().__new__(cls) if function is None else cls()(function)

    def __init__(self, function: Any = None) -> None:
        super().__init__(False)


class enable_grad(_Switch):
    """Record again, inside of :class:`no_grad`."""

    def __new__(cls, function: Any = None) -> Any:
        """Return the switch, or a function under it."""
        return super().__new__(cls) if function is None else cls()(function)

    def __init__(self, function: Any = None) -> None:
        super().__init__(True)


class inference_mode(_Switch):
    """Record nothing, as :class:`no_grad` does."""

    def __new__(cls, mode: Any = True) -> Any:
        """Return the switch, or a function under it."""
        return cls()(mode) if callable(mode) else super().__new__(cls)

    def __init__(self, mode: bool = True) -> None:
        super().__init__(not mode)
        self.inner: list[bool] = []

    def __enter__(self) -> None:
        super().__enter__()
        self.inner.append(_State.inference)
        _State.inference = not self.mode

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        _State.inference = self.inner.pop()


class set_grad_enabled(_Switch):
    """Record or not, from here on, or for the lines under ``with``."""

    def __init__(self, mode: bool) -> None:
        super().__init__(bool(mode))
        self.before.append(_State.on)
        _State.on = self.mode

    def __enter__(self) -> None:
        _State.on = self.mode

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that is called under this switch."""
        _State.on = self.before.pop()
        return super().__call__(function)


# ---------------------------------------------------------------- nodes


class Node:
    """One operation in the graph."""

    def __init__(
        self,
        name: str,
        edges: tuple[Any, ...],
        rules: Any,
        saved: Sequence[Tensor],
        out: Tensor | None,
    ) -> None:
        self.title = name
        self.edges = edges  # a node, a leaf's sink, or None where no gradient is asked for
        self.rules = rules  # one function for each edge, or one for all of them
        self.saved = [(t._version, t._version[0]) for t in saved]
        self.result = None if out is None else (out._a, out._dtype)
        self.hooks: list[Callable[..., Any]] = []
        self.retained: list[Tensor] = []

    def name(self) -> str:
        """Return what torch calls this operation."""
        return self.title

    def __repr__(self) -> str:
        return f"<{self.title} object at {id(self):#x}>"

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """The nodes of the inputs."""
        return tuple((edge, 0) for edge in self.edges)

    def output(self) -> Tensor:
        """Return the result again, in its place in the graph."""
        array, kind = self.result  # type: ignore[misc]
        tensor = made(array, kind)
        tensor._node, tensor._rg = self, True
        return tensor

    def register_hook(self, hook: Callable[..., Any]) -> Handle:
        """Call a function with the gradients of inputs and output when the way back passes here."""
        return Handle(self.hooks, hook)

    def gradients(self, gradient: Tensor) -> Sequence[Tensor | None]:
        """Return the gradient of each input that asks for one."""
        if self.rules is None:
            raise RuntimeError(
                "Trying to backward through the graph a second time (or directly access saved "
                "tensors "
                "after they have already been freed). Saved intermediate values of the graph are "
                "freed "
                "when you call .backward() or autograd.grad(). Specify retain_graph=True if you "
                "need to "
                "backward through the graph a second time or if you need to access saved tensors "
                "after "
                "calling backward."
            )
        for version, then in self.saved:
            if version[0] != then:
                raise RuntimeError(
                    "one of the variables needed for gradient computation has been modified by an "
                    f"inplace operation: it was saved for {self.title} at version {then} and is at "
                    f"version {version[0]} now. Write the changed numbers into a new tensor "
                    f"instead."
                )
        out = None if self.result is None else self.output()
        if callable(self.rules):
            return self.rules(gradient, out, tuple(edge is not None for edge in self.edges))
        return [
            None if edge is None or rule is None else rule(gradient, out)
            for edge, rule in zip(self.edges, self.rules, strict=True)
        ]


class AccumulateGrad:
    """Where the way back ends: a leaf, whose ``grad`` grows."""

    def __init__(self, leaf: Tensor) -> None:
        self.variable = leaf
        self.title = "AccumulateGrad"
        self.next_functions = ()

    def name(self) -> str:
        """Return what torch calls the end of the way."""
        return "torch::autograd::AccumulateGrad"


class Handle:
    """What a hook was registered with: ``remove()`` takes it away again."""

    def __init__(self, hooks: Any, hook: Any) -> None:
        self.hooks, self.hook = hooks, hook
        self.id = id(self)
        if isinstance(hooks, dict):
            hooks[self.id] = hook
        else:
            hooks.append(hook)

    def remove(self) -> None:
        """Take the hook away."""
        if isinstance(self.hooks, dict):
            self.hooks.pop(self.id, None)
        elif self.hook in self.hooks:
            self.hooks.remove(self.hook)

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *_: Any) -> None:
        self.remove()


def edge_of(tensor: Tensor) -> Any:
    """Return where a gradient of this tensor goes: its node, its own ``grad``, or nowhere."""
    if not tensor._rg:
        return None
    node = node_of(tensor)
    if node is not None:
        return node
    if tensor._sink is None:
        tensor._sink = AccumulateGrad(tensor)
    return tensor._sink


def node_of(tensor: Tensor) -> Any:
    """Return a tensor's node; a view of what was changed since gets a new one."""
    base = tensor._base
    if base is not None and base._epoch != tensor._epoch:
        with enable_grad():
            again = base
            for step in tensor._steps:
                again = step(again)
        tensor._node, tensor._rg, tensor._epoch = again._node, again._rg, base._epoch
    return tensor._node


def record(
    array: Any,
    kind: dtype,
    inputs: tuple[Tensor, ...],
    rules: Any,
    name: str,
    saves: Sequence[Tensor] = (),
    result: bool = False,
) -> Tensor:
    """Return a result as a tensor, with its node where anybody may want its gradient.

    Parameters
    ----------
    array : array
        The numbers.
    kind : dtype
        Their kind; what NumPy lacks is rounded already.
    inputs : tuple of Tensor
        What it was computed from.
    rules : tuple of functions, or a function
        For each input ``rule(gradient, result)``, or one that also gets which are asked for.
    name : str
        torch's name of the operation, without ``Backward0``.
    saves : sequence of Tensor
        Those whose numbers the rules need: they may not change until then.
    result : bool
        Whether the rules need the result's numbers.
    """
    out = made(array if type(array) is np.ndarray else np.asarray(array), kind)
    if _State.on:
        for tensor in inputs:
            if tensor._rg:
                break
        else:
            return out
        if kind.kind < 2:
            return out
        out._rg = True
        edges = tuple([edge_of(tensor) for tensor in inputs])
        out._node = Node(_titled(name), edges, rules, saves, out if result else None)
        if result:
            out._node.saved.append((out._version, 0))
    return out


def _titled(name: str) -> str:
    return name + "Backward0" if name[-1] not in "0123456789" else name[:-1] + "Backward" + name[-1]


def view(
    tensor: Tensor, array: np.ndarray, step: Callable[[Tensor], Tensor], rule: Any, name: str
) -> Tensor:
    """Return a tensor that shares its numbers with another.

    ``step`` makes the same view of any tensor of that shape: when the other is changed, the view's
    place in the graph is found with it.
    """
    out = record(array, tensor._dtype, (tensor,), (rule,), name)
    base = tensor._base
    out._version = tensor._version
    if base is None:
        out._base, out._steps = tensor, (step,)
    else:
        out._base, out._steps = base, (*tensor._steps, step)
    out._epoch = out._base._epoch
    return out


# ---------------------------------------------------------------- changing numbers in their place

_VIEW_OF_LEAF = (
    "a view of a leaf Variable that requires grad is being used in an in-place operation."
)


def detached(tensor: Tensor) -> Tensor:
    """Return the numbers as they are now, in the same place of the graph, in other memory."""
    old = made(tensor._a.copy(), tensor._dtype)
    old._node, old._rg = node_of(tensor), tensor._rg
    if old._rg and old._node is None:
        old._sink = edge_of(tensor)
    return old


def write(tensor: Tensor, array: Any) -> Tensor:
    """Put numbers into a tensor's memory."""
    try:
        np.copyto(tensor._a, array, casting="unsafe")
    except ValueError as error:
        if tensor._a.flags.writeable:
            raise
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a "
            "single "
            "memory location. Please clone() the tensor before performing the operation."
        ) from error
    tensor._version[0] += 1
    return tensor


def in_place(tensor: Tensor, compute: Callable[..., Tensor], *others: Any, **named: Any) -> Tensor:
    """Compute something from a tensor and put it into the tensor's own memory."""
    asks = tensor._rg or any(isinstance(other, Tensor) and other._rg for other in others)
    if not (_State.on and asks):
        with no_grad():
            new = compute(tensor, *others, **named)
        return write(tensor, fitted(new, tensor))
    base = tensor._base
    node = node_of(tensor)
    if tensor._rg and node is None:
        raise RuntimeError(
            "a leaf Variable that requires grad is being used in an in-place operation."
            if base is None or not base._rg
            else _VIEW_OF_LEAF
        )
    if base is not None and base._rg and base._node is None:
        raise RuntimeError(_VIEW_OF_LEAF)
    if tensor._dtype.kind < 2:
        raise RuntimeError(
            f"result type {tensor._dtype} cannot be differentiated; write into a floating-point "
            f"tensor"
        )
    old = detached(tensor)
    new = compute(*[old if other is tensor else other for other in (tensor, *others)], **named)
    array = fitted(new, tensor)
    if new._dtype is not tensor._dtype:
        new = new.to(tensor._dtype)
    if base is None:
        write(tensor, array)
        _take_over(tensor, new)
        return tensor
    before = made(base._a, base._dtype)
    before._rg, before._node = base._rg, base._node
    write(tensor, array)
    _patch(base, before, tensor._steps, new)
    node_of(tensor)
    return tensor


def _take_over(tensor: Tensor, new: Tensor) -> None:
    """Give a tensor the place in the graph of what was computed for it."""
    tensor._node, tensor._rg = new._node, new._rg
    tensor._epoch += 1


def _patch(base: Tensor, before: Tensor, steps: tuple[Any, ...], part: Tensor) -> None:
    """Record that one part of a tensor was replaced."""

    def seen(gradient: Tensor) -> Tensor:
        for step in steps:
            gradient = step(gradient)
        return gradient

    def outside(gradient: Tensor, _: Any) -> Tensor:
        inside = made(np.zeros(gradient.shape, dtype=np.bool_), bool_)
        seen(inside)._a[...] = True
        return gradient.masked_fill(inside, 0.0)

    new = record(
        np.zeros((), base._a.dtype),
        base._dtype,
        (before, part),
        (outside, lambda gradient, _: seen(gradient)),
        "CopySlices",
    )
    if new._node is not None:
        new._node.title = "CopySlices"
    base._node, base._rg = new._node, new._rg
    base._epoch += 1


def fitted(new: Tensor, tensor: Tensor) -> np.ndarray:
    """Return new numbers in the kind and shape of the tensor that they go into, or refuse."""
    a, b = new._dtype, tensor._dtype
    if a.kind > b.kind:
        raise RuntimeError(
            f"result type {cased(a)} can't be cast to the desired output type {cased(b)}"
        )
    if new._a.shape != tensor._a.shape:
        raise RuntimeError(
            f"output with shape {list(tensor._a.shape)} doesn't match the broadcast shape "
            f"{list(new._a.shape)}"
        )
    return new._a if a is b else cast(new._a, b)


# ---------------------------------------------------------------- the way back


def _order(ends: Iterable[Node]) -> list[Node]:
    """Return the nodes below some others, each after all that lead to it."""
    done: list[Node] = []
    seen: set[int] = set()
    stack: list[tuple[Any, bool]] = [(end, False) for end in ends]
    while stack:
        node, left = stack.pop()
        if left:
            done.append(node)
            continue
        if id(node) in seen:
            continue
        seen.add(id(node))
        stack.append((node, True))
        stack.extend((edge, False) for edge in node.edges if type(edge) is Node)
    return done[::-1]


def run_backward(
    outputs: Sequence[Tensor],
    gradients: Sequence[Tensor],
    wanted: Sequence[Tensor] | None,
    keep: bool,
    create: bool,
) -> dict[int, Tensor]:
    """Carry gradients from outputs to leaves, or to the tensors that are wanted.

    Returns
    -------
    dict
        The gradient of each wanted tensor, by ``id`` of where it goes.
    """
    got: dict[int, Tensor] = {}
    targets = {} if wanted is None else {id(edge_of(tensor)): tensor for tensor in wanted}
    ends = []
    found: dict[int, Tensor] = {}
    with _Switch(create):
        for output, gradient in zip(outputs, gradients, strict=True):
            edge = edge_of(output)
            got[id(edge)] = gradient if id(edge) not in got else got[id(edge)] + gradient
            ends.append(edge)
        order = _order([end for end in ends if type(end) is Node])
        useful = _leading_to(order, targets) if wanted is not None else None
        for end in ends:
            if type(end) is not Node:
                _arrive(end, got, targets, found, wanted is None, create)
        for node in order:
            gradient = got.pop(id(node), None)
            if gradient is None:
                continue
            for hook in [h for t in node.retained for h in t._hooks]:
                changed = hook(gradient)
                gradient = gradient if changed is None else changed
            if id(node) in targets:
                found[id(node)] = gradient
            for tensor in node.retained:
                if tensor._retains:
                    tensor.grad = gradient if tensor.grad is None else tensor.grad + gradient
            if useful is not None and id(node) not in useful:
                continue
            parts = node.gradients(gradient)
            for hook in node.hooks:
                changed = hook(tuple(parts), (gradient,))
                parts = parts if changed is None else changed
            if not keep:
                node.rules, node.result, node.saved = None, None, []
            for edge, part in zip(node.edges, parts, strict=True):
                if edge is None or part is None:
                    continue
                known = got.get(id(edge))
                got[id(edge)] = part if known is None else known + part
                if type(edge) is AccumulateGrad:
                    ends.append(edge)
        for end in {id(end): end for end in ends if type(end) is AccumulateGrad}.values():
            _arrive(end, got, targets, found, wanted is None, create)
    return found


def _arrive(end: Any, got: Any, targets: Any, found: Any, accumulate: bool, create: bool) -> None:
    """Add what reached a leaf to its gradient."""
    gradient = got.pop(id(end), None)
    if gradient is None:
        return
    leaf = end.variable
    for hook in leaf._hooks:
        changed = hook(gradient)
        gradient = gradient if changed is None else changed
    if id(end) in targets:
        found[id(end)] = gradient
    if not accumulate:
        return
    if gradient._dtype is not leaf._dtype:
        gradient = gradient.to(leaf._dtype)
    if leaf.grad is None:
        leaf.grad = gradient if create else made(np.array(gradient._a), leaf._dtype)
    elif create:
        leaf.grad = leaf.grad + gradient
    else:
        with no_grad():
            leaf.grad = leaf.grad + gradient if leaf.grad._rg else leaf.grad.add_(gradient)
    for hook in leaf._after:
        hook(leaf)


def _leading_to(order: list[Node], targets: dict[int, Any]) -> set[int]:
    """Return the nodes from which a wanted one can be reached."""
    useful: set[int] = set()
    for node in reversed(order):
        for edge in node.edges:
            if edge is not None and (id(edge) in targets or id(edge) in useful):
                useful.add(id(node))
                break
    return useful


def _started(output: Tensor, gradient: Any) -> Tensor:
    """Return the gradient that an output begins with, or refuse."""
    if not output._rg:
        raise RuntimeError("element 0 of tensors does not require grad and does not have a grad_fn")
    if gradient is None:
        if output._a.size != 1:
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        return made(np.ones(output._a.shape, output._a.dtype), output._dtype)
    if gradient._a.shape != output._a.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[0] has a shape of {gradient.shape} and output[0] "
            f"has a "
            f"shape of {output.shape}."
        )
    return gradient


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add the gradients of some tensors to ``grad`` of the leaves they were computed from."""
    outputs = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    given = (
        [grad_tensors] if grad_tensors is None or isinstance(grad_tensors, Tensor) else grad_tensors
    )
    given = list(given) if len(given) == len(outputs) else [None] * len(outputs)
    starts = [_started(output, start) for output, start in zip(outputs, given, strict=True)]
    keep = create_graph if retain_graph is None else retain_graph
    if inputs is None:
        run_backward(outputs, starts, None, keep, create_graph)
        return
    leaves = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    found = run_backward(outputs, starts, leaves, keep, create_graph)
    for leaf in leaves:
        part = found.get(id(edge_of(leaf)))
        if part is not None:
            leaf.grad = part if leaf.grad is None else leaf.grad + part


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """Return the gradients of outputs with respect to inputs, leaving every ``grad`` as it is."""
    if is_grads_batched:
        raise NotImplementedError(
            "torch in this page has no is_grads_batched; call autograd.grad once for each gradient"
        )
    outs = [outputs] if isinstance(outputs, Tensor) else list(outputs)
    ins = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    given: list[Any] = [None] * len(outs)
    if grad_outputs is not None:
        given = [grad_outputs] if isinstance(grad_outputs, Tensor) else list(grad_outputs)
    starts = [_started(output, start) for output, start in zip(outs, given, strict=True)]
    for tensor in ins:
        if not tensor._rg:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
    keep = create_graph if retain_graph is None else retain_graph
    found = run_backward(outs, starts, ins, keep, create_graph)
    parts = [found.get(id(edge_of(tensor))) for tensor in ins]
    if materialize_grads:
        parts = [
            made(np.zeros(t._a.shape, t._a.dtype), t._dtype) if part is None else part
            for part, t in zip(parts, ins, strict=True)
        ]
    if not (allow_unused or materialize_grads):
        for place, part in enumerate(parts):
            if part is None:
                raise RuntimeError(
                    f"The differentiated Tensor at index {place} appears to not have been used "
                    f"in the "
                    "graph. Set allow_unused=True if this is the desired behavior."
                )
    return tuple(parts)
