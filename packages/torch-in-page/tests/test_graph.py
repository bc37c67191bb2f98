"""Gradients through views, changes in place, hooks, one's own functions; errors of the graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from agree import same

import torch_in_page as ours

BOTH = (ours, torch)


def leaves(T: Any, *shapes: tuple[int, ...]) -> list[Any]:
    """Return leaves with the same numbers in both."""
    rng = np.random.default_rng(3)
    return [T.from_numpy(rng.normal(size=shape)).requires_grad_() for shape in shapes]


def views_added(T: Any, x: Any, y: Any) -> Any:
    out = T.zeros(3, 4, dtype=T.float64)
    out[0] = y
    out[:, 1] += x[:, 0] * 2
    row = out[1]
    row.mul_(x[1].sum())
    row.add_(y)
    return (out**2).sum() + row.sum()


def filled_step_by_step(T: Any, x: Any, y: Any) -> Any:
    out = T.empty(3, 4, dtype=T.float64)
    state = y
    for i in range(3):
        state = (state * x[i]).tanh()
        out[i] = state
    return (out * x).sum()


def places_put(T: Any, x: Any, y: Any) -> Any:
    out = x * 1
    out[T.tensor([0, 2])] = y * 3
    out[out.detach() > 1] = 0.5
    out[1, :2] = y[:2]
    return (out * x).sum()


def masks_filled(T: Any, x: Any, y: Any) -> Any:
    out = x * 2
    out.masked_fill_(x.detach() > 0, 1.5)
    out.clamp_(-1, 1).add_(y).exp_()
    return out.sum()


def old_values_used(T: Any, x: Any, y: Any) -> Any:
    out = x * y
    before = out * 2
    out.add_(y)
    out *= x
    return (before + out).sum()


def copied(T: Any, x: Any, y: Any) -> Any:
    out = T.zeros(3, 4, dtype=T.float64)
    out.copy_(y)
    out.t()[0].copy_(x[:, 0])
    part = out.diagonal()
    part.zero_()
    return (out * x).sum()


def views_of_views(T: Any, x: Any, y: Any) -> Any:
    out = x.clone()
    part = out[1:].transpose(0, 1)[0]
    part.mul_(2).sub_(y[:2])
    first = out.view(-1)[:3]
    first.add_(y[1:])
    return (out**3).sum() + (part * first[:2]).sum()


def scattered(T: Any, x: Any, y: Any) -> Any:
    out = x * 1.5
    out.scatter_add_(0, T.tensor([[0, 1, 2, 0]]), y[None])
    out.index_add_(0, T.tensor([1]), y[None] ** 2)
    return (out**2).sum()


PROGRAMS = [
    views_added,
    filled_step_by_step,
    places_put,
    masks_filled,
    old_values_used,
    copied,
    views_of_views,
    scattered,
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_changes_in_place_have_torchs_gradients(program: Any) -> None:
    found = []
    for T in BOTH:
        x, y = leaves(T, (3, 4), (4,))
        value = program(T, x, y)
        first = T.autograd.grad(value, [x, y], create_graph=True)
        second = T.autograd.grad(
            (first[0] * x).sum() + (first[1] ** 2).sum(), [x, y], allow_unused=True
        )
        found.append([value, *first, *second])
    for a, b in zip(*found, strict=True):
        if b is not None or a is not None:
            same(a, b, program.__name__)


def refusals() -> dict[str, Any]:
    def leaf_changed(T: Any) -> None:
        T.ones(2, requires_grad=True).add_(1)

    def view_of_a_leaf_changed(T: Any) -> None:
        T.ones(2, requires_grad=True)[0].mul_(2)

    def leaf_assigned(T: Any) -> None:
        T.ones(2, requires_grad=True)[0] = 1

    def saved_changed(T: Any) -> None:
        x = T.ones(2, requires_grad=True) * 2
        y = x.exp()
        y.add_(1)
        y.sum().backward()

    def input_changed(T: Any) -> None:
        x, y = T.ones(2, requires_grad=True), T.ones(2)
        z = x * y
        y.add_(1)
        z.sum().backward()

    def view_of_saved_changed(T: Any) -> None:
        x = T.ones(2, 2, requires_grad=True) * 2
        z = x * x
        x[0].zero_()
        z.sum().backward()

    def twice(T: Any) -> None:
        y = T.ones(2, requires_grad=True).exp().sum()
        y.backward()
        y.backward()

    def no_graph(T: Any) -> None:
        T.ones(2).sum().backward()

    def several_numbers(T: Any) -> None:
        T.ones(2, requires_grad=True).exp().backward()

    def unused(T: Any) -> None:
        x, y = T.ones(2, requires_grad=True), T.ones(2, requires_grad=True)
        T.autograd.grad(x.sum(), y)

    def numpy_of_a_leaf(T: Any) -> None:
        T.ones(2, requires_grad=True).numpy()

    def whole_numbers(T: Any) -> None:
        T.ones(2, dtype=T.int64).requires_grad_()

    def expanded_changed(T: Any) -> None:
        T.ones(1, 2).expand(3, 2).add_(1)

    def of_a_computed(T: Any) -> None:
        (T.ones(2, requires_grad=True) * 2).requires_grad_(False)

    def wrong_shape(T: Any) -> None:
        T.ones(2, requires_grad=True).exp().backward(T.ones(3))

    return {name: value for name, value in locals().items() if callable(value)}


@pytest.mark.parametrize("name", refusals())
def test_what_torch_refuses_of_a_graph_is_refused(name: str) -> None:
    call = refusals()[name]
    kinds, texts = [], []
    for T in BOTH:
        with pytest.raises(RuntimeError) as caught:
            call(T)
        kinds.append(type(caught.value).__name__)
        texts.append(str(caught.value)[:40])
    assert kinds[0] == kinds[1]
    assert texts[0] == texts[1]


def test_hooks_see_and_change_gradients() -> None:
    found = []
    for T in BOTH:
        x, y = leaves(T, (3,), (3,))
        seen: list[Any] = []
        z = x * y
        z.register_hook(lambda g, seen=seen: seen.append(g.clone()))
        handle = z.register_hook(lambda g: g * 2)
        x.register_hook(lambda g: g + 1)
        y.register_post_accumulate_grad_hook(lambda p, seen=seen: seen.append(p.grad.clone()))
        z.retain_grad()
        (z**2).sum().backward(retain_graph=True)
        handle.remove()
        (z**2).sum().backward()
        found.append([x.grad, y.grad, z.grad, *seen])
    for a, b in zip(*found, strict=True):
        same(a, b, "hooks")


def test_gradients_add_up_and_can_be_taken_away() -> None:
    found = []
    for T in BOTH:
        (x,) = leaves(T, (4,))
        for _ in range(3):
            (x**2).sum().backward()
        kept = x.grad
        x.grad = None
        with T.no_grad():
            x.add_(1)
        with T.enable_grad():
            x.exp().sum().backward(inputs=[x])
        found.append([kept, x.grad, x.detach() * 2])
    for a, b in zip(*found, strict=True):
        same(a, b, "gradients")


@pytest.mark.parametrize("T", BOTH)
def test_recording_is_switched_off_and_on(T: Any) -> None:
    (x,) = leaves(T, (2,))
    with T.no_grad():
        assert not (x * 2).requires_grad
        with T.enable_grad():
            assert (x * 2).requires_grad
    with T.set_grad_enabled(False):
        assert not T.is_grad_enabled()
    with T.inference_mode():
        assert not (x * 2).requires_grad
    assert T.is_grad_enabled()

    @T.no_grad()
    def quiet() -> Any:
        return x * 2

    assert not quiet().requires_grad
    assert (x.detach() * 2).requires_grad is False


@pytest.mark.parametrize("T", BOTH)
def test_a_generator_runs_under_its_switch_and_its_reader_does_not(T: Any) -> None:
    heard: list[Any] = []

    @T.no_grad()
    def steps() -> Any:
        try:
            heard.append((yield T.is_grad_enabled()))
            yield T.is_grad_enabled()
        except KeyError:
            yield T.is_grad_enabled()
        finally:
            heard.append(T.is_grad_enabled())
        return "done"

    run = steps()
    assert [next(run), T.is_grad_enabled()] == [False, True]
    assert [run.send("word"), run.throw(KeyError())] == [False, False]
    with pytest.raises(StopIteration, match="done"):
        next(run)
    early = steps()
    next(early)
    early.close()
    assert heard == ["word", False, False]
    with T.no_grad():
        on = T.enable_grad()(lambda: iter([T.is_grad_enabled()]))
        assert next(on())
        assert not T.is_grad_enabled()


def cubes(T: Any) -> Any:
    class Cube(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, factor: float) -> Any:
            ctx.save_for_backward(x)
            ctx.factor = factor
            return factor * x**3, x.sum()

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 3 * ctx.factor * x**2 * g + h, None

    return Cube


def test_functions_with_gradients_of_their_own() -> None:
    found = []
    for T in BOTH:
        (x,) = leaves(T, (3,))
        y, z = cubes(T).apply(x, 2.0)
        first = T.autograd.grad((y * x.detach()).sum() + z**2, x, create_graph=True)[0]
        second = T.autograd.grad(first.sum(), x)[0]
        found.append([y, z, first, second])
    for a, b in zip(*found, strict=True):
        same(a, b, "function")


def test_derivatives_as_functions() -> None:
    found = []
    for T in BOTH:
        A, x, B = (leaf.detach() for leaf in leaves(T, (3, 3), (3,), (5, 3)))

        def f(x: Any, A: Any = A) -> Any:
            return (A @ x).tanh().sum() + (x**3).sum()

        def g(x: Any, A: Any = A) -> Any:
            return A @ x.sin()

        func = T.func

        def squared(x: Any, slope: Any = T.func.grad, f: Any = f) -> Any:
            return slope(f)(x) ** 2

        pulled, back = func.vjp(g, x)
        found.append(
            [
                func.grad(f)(x),
                func.jacrev(g)(x),
                func.jacfwd(g)(x),
                func.hessian(f)(x),
                func.grad(func.grad(lambda t: (t**4).sum()))(x[0]),
                func.vmap(f)(B),
                func.vmap(func.grad(f))(B),
                func.vmap(func.hessian(f))(B),
                func.grad_and_value(f)(x)[1],
                func.vmap(g, in_dims=1, out_dims=1)(B.T),
                pulled,
                back(x)[0],
                func.grad(lambda a, b: (a * b).sum(), argnums=1)(x, x * 2),
                T.autograd.functional.jacobian(g, x),
                T.autograd.functional.hessian(f, x),
                func.jacrev(squared)(x),
            ]
        )
    for a, b in zip(*found, strict=True):
        same(a, b, "derivatives")


def test_modules_are_called_with_other_parameters() -> None:
    found = []
    for T in BOTH:
        T.manual_seed(0)
        model = T.nn.Sequential(T.nn.Linear(3, 4), T.nn.Tanh(), T.nn.Linear(4, 2)).double()
        (x,) = leaves(T, (5, 3))
        parameters = {name: p.detach() * 2 for name, p in model.named_parameters()}

        def loss(parameters: Any, row: Any, model: Any = model, T: Any = T) -> Any:
            return (T.func.functional_call(model, parameters, (row,)) ** 2).sum()

        each = T.func.vmap(T.func.grad(loss), in_dims=(None, 0))(parameters, x.detach())
        stacked, _ = T.func.stack_module_state([model, model])
        found.append([loss(parameters, x), each["0.weight"], each["2.bias"], stacked["0.bias"]])
    for a, b in zip(*found, strict=True):
        same(a, b, "functional_call")


def test_gradcheck_finds_a_wrong_gradient() -> None:
    class Wrong(ours.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 3

    (x,) = leaves(ours, (2,))
    assert ours.autograd.gradcheck(lambda x: (x.exp() * x).sum(), x)
    assert ours.autograd.gradgradcheck(lambda x: x.sigmoid() ** 2, x)
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        ours.autograd.gradcheck(Wrong.apply, x)
