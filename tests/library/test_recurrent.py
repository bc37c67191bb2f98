"""Cells, layers and gradients through time, against torch's."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from primer.recurrent import (
    CELLS,
    ElmanCell,
    LSTMCell,
    Recurrent,
    backpropagation_through_time,
    carried_back,
    drive,
    gradient_ratio,
    half_life,
    jacobian_product,
    plain_factors,
    power_norms,
    run,
    step_jacobian,
)

TORCH_CELLS = {"rnn": nn.RNNCell, "lstm": nn.LSTMCell, "gru": nn.GRUCell}
TORCH_LAYERS = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}
every_cell = pytest.mark.parametrize("kind", CELLS)


def close(ours: torch.Tensor, theirs: torch.Tensor) -> None:
    torch.testing.assert_close(ours, theirs, atol=1e-10, rtol=0)


@every_cell
@given(seed=st.integers(0, 999), sizes=st.tuples(st.integers(1, 4), st.integers(1, 5)))
@settings(max_examples=15)
def test_a_cell_is_torchs(kind: str, seed: int, sizes: tuple[int, int]) -> None:
    torch.manual_seed(seed)
    theirs = TORCH_CELLS[kind](*sizes).double()
    ours = CELLS[kind](*sizes).double()
    ours.load_torch(theirs)
    x = torch.randn(3, sizes[0], dtype=torch.float64)
    state = tuple(torch.randn(3, sizes[1], dtype=torch.float64) for _ in range(ours.n_states))
    wanted = theirs(x, state if kind == "lstm" else state[0])
    for got, part in zip(ours(x, state), wanted if kind == "lstm" else [wanted], strict=True):
        close(got, part)
    after = theirs(x)
    close(ours(x)[0], after[0] if kind == "lstm" else after)  # from a state of zeros


def torch_gradients(layer: Recurrent, theirs: nn.RNNBase, number: int) -> dict[str, torch.Tensor]:
    """Bring the gradients of torch's weights into the places of ours."""
    cell = layer.cells[number]
    level, direction = divmod(number, layer.n_directions)
    suffix = f"_l{level}" + "_reverse" * direction
    of = {
        name: cell._ordered(getattr(theirs, f"{name}{suffix}").grad)
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    }
    wanted = {
        "input_weight": of["weight_ih"].T,
        "state_weight": of["weight_hh"].T,
        "bias": of["bias_ih"],
    }
    if hasattr(cell, "state_bias"):
        wanted["state_bias"] = of["bias_hh"][2 * cell.hidden_size :]
    return wanted


@every_cell
@given(
    seed=st.integers(0, 999),
    n_layers=st.integers(1, 3),
    bidirectional=st.booleans(),
    packed=st.booleans(),
    stated=st.booleans(),
)
def test_layers_and_gradients_are_torchs(
    kind: str, seed: int, n_layers: int, bidirectional: bool, packed: bool, stated: bool
) -> None:
    torch.manual_seed(seed)
    theirs = TORCH_LAYERS[kind](
        3, 4, n_layers, batch_first=True, bidirectional=bidirectional, dtype=torch.float64
    )
    ours = Recurrent.from_torch(theirs)
    x = torch.randn(5, 6, 3, dtype=torch.float64, requires_grad=True)
    lengths = torch.randint(1, 7, (5,)) if packed else None
    start = None
    if stated:
        shape = (n_layers * (1 + bidirectional), 5, 4)
        start = tuple(
            torch.randn(shape, dtype=torch.float64) for _ in range(ours.cells[0].n_states)
        )
    given_x = (
        nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        if packed
        else x
    )
    wanted, wanted_end = theirs(given_x, start if start is None or kind == "lstm" else start[0])
    if packed:
        wanted, _ = nn.utils.rnn.pad_packed_sequence(wanted, batch_first=True, total_length=6)
    got, end = ours(x, start, lengths)
    close(got, wanted)
    for part, other in zip(end, wanted_end if kind == "lstm" else [wanted_end], strict=True):
        close(part, other)

    weights = torch.randn_like(got)
    [of_x] = torch.autograd.grad((wanted * weights).sum(), x, retain_graph=True)
    (wanted * weights).sum().backward()
    x.grad = None
    (got * weights).sum().backward()
    close(x.grad, of_x)
    for number, cell in enumerate(ours.cells):
        for name, gradient in torch_gradients(ours, theirs, number).items():
            close(getattr(cell, name).grad, gradient)


def test_what_fills_a_batch_up_is_not_read() -> None:
    torch.manual_seed(0)
    layer = Recurrent("gru", 2, 3, n_layers=2, bidirectional=True)
    x = torch.randn(2, 5, 2)
    outputs, (end,) = layer(x, lengths=[3, 5])
    alone, (alone_end,) = layer(x[:1, :3])
    torch.testing.assert_close(outputs[:1, :3], alone)
    torch.testing.assert_close(end[:, :1], alone_end)
    assert not outputs[0, 3:].any()
    x[0, 3:] += 100
    torch.testing.assert_close(layer(x, lengths=[3, 5])[0], outputs)


def test_the_last_state_backward_stands_at_the_first_vector() -> None:
    layer = Recurrent("rnn", 2, 3, bidirectional=True)
    outputs, (end,) = layer(torch.randn(1, 4, 2))
    assert torch.equal(outputs[0, -1, :3], end[0, 0])
    assert torch.equal(outputs[0, 0, 3:], end[1, 0])


@given(seed=st.integers(0, 999), time=st.integers(1, 7))
def test_gradients_by_hand_are_autograds(seed: int, time: int) -> None:
    torch.manual_seed(seed)
    cell = ElmanCell(2, 3).double()
    x = torch.randn(2, time, 2, dtype=torch.float64, requires_grad=True)
    upstream = torch.randn(2, time, 3, dtype=torch.float64)
    outputs, _ = run(cell, x)
    outputs.retain_grad()
    (outputs * upstream).sum().backward()
    by_hand = backpropagation_through_time(cell, x.detach(), upstream)
    for name in ("input_weight", "state_weight", "bias"):
        close(getattr(by_hand, name), getattr(cell, name).grad)
    close(by_hand.inputs, x.grad)


def test_the_states_gradient_is_total() -> None:
    torch.manual_seed(1)
    cell = ElmanCell(2, 3).double()
    x, upstream = torch.randn(1, 5, 2).double(), torch.randn(1, 5, 3).double()
    total = backpropagation_through_time(cell, x, upstream).states
    _, (state,) = run(cell, x[:, :2])
    state = state.detach().requires_grad_()
    rest, _ = run(cell, x[:, 2:], (state,))
    loss = (rest * upstream[:, 2:]).sum() + (state * upstream[:, 1]).sum()
    close(total[:, 1], torch.autograd.grad(loss, state)[0])


@every_cell
def test_jacobians_multiply(kind: str) -> None:
    torch.manual_seed(2)
    cell = CELLS[kind](2, 3).double()
    x = torch.randn(4, 2).double()

    def whole(start: torch.Tensor) -> torch.Tensor:
        return torch.cat([s[0] for s in run(cell, x[None], tuple(start[None].split(3, 1)))[1]])

    zero = torch.zeros(3 * cell.n_states).double()
    close(jacobian_product(cell, x), torch.autograd.functional.jacobian(whole, zero))


def test_jacobians_in_closed_form() -> None:
    torch.manual_seed(3)
    cell = ElmanCell(2, 3).double()
    x, h = torch.randn(2).double(), torch.randn(3).double()
    after = cell(x, (h,))[0].detach()
    close(step_jacobian(cell, x, (h,)), (1 - after**2)[:, None] * cell.state_weight.detach().T)
    lstm = LSTMCell(2, 3, forget_bias=2.0).double()
    c = torch.randn(3).double()
    forget = (lstm.project(x) + h @ lstm.state_weight)[:3].sigmoid().detach()
    close(step_jacobian(lstm, x, (h, c))[3:, 3:], torch.diag(forget))


def test_powers_against_numpy_and_the_jordan_block() -> None:
    weight = np.random.default_rng(0).normal(size=(4, 4))
    expected = [np.linalg.norm(np.linalg.matrix_power(weight, k), 2) for k in range(6)]
    np.testing.assert_allclose(power_norms(weight, 5), expected, rtol=1e-12)
    norms = power_norms([[0.9, 10], [0, 0.9]], 100)
    assert norms.argmax() == 9
    assert np.argmax(norms[1:] < 1) + 1 == 63


@given(st.floats(-5, 8))
def test_half_life_is_where_half_is_left(bias: float) -> None:
    steps = half_life(bias)
    assert (1 / (1 + math.exp(-bias))) ** steps == pytest.approx(0.5, rel=1e-9)


def test_gradient_ratio_by_finite_differences() -> None:
    torch.manual_seed(4)
    cell = LSTMCell(1, 3).double()
    x = torch.randn(1, 6, 1).double()
    readout = torch.randn(3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)

    @torch.no_grad()
    def end(place: int, change: float) -> float:
        moved = x.clone()
        moved[0, place, 0] += change
        return float(run(cell, moved)[0][0, -1] @ readout)

    first, last = ((end(t, 1e-5) - end(t, -1e-5)) / 2e-5 for t in (0, 5))
    assert gradient_ratio(cell, x) == pytest.approx(abs(first / last), rel=1e-6)


@pytest.mark.usefixtures("as_readers_run_it")
@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: Recurrent("elman", 2, 3), "cell must be one of 'rnn', 'lstm', 'gru'"),
        (lambda: Recurrent("gru", 0, 3), "input_size must be a whole number ≥ 1"),
        (lambda: Recurrent("gru", 2, 3, n_layers=0), "n_layers must be a whole number ≥ 1"),
        (lambda: Recurrent("gru", 2, 3)(torch.zeros(1, 0, 2)), "nothing to read"),
        (lambda: Recurrent("gru", 2, 3)(torch.zeros(0, 4, 2)), "nothing to read"),
        (lambda: Recurrent("gru", 2, 3)(torch.zeros(4, 2)), r"\(batch, time, 2\), got \(4, 2\)"),
        (lambda: Recurrent("gru", 2, 3)(torch.zeros(1, 4, 5)), r"\(batch, time, 2\)"),
        (lambda: Recurrent("gru", 2, 3)(torch.full((1, 4, 2), torch.nan)), "contain NaN"),
        (lambda: Recurrent("gru", 2, 3)(torch.zeros(2, 4, 2), lengths=[4, 5]), "between 1 and 4"),
        (lambda: Recurrent("gru", 2, 3)(torch.zeros(2, 4, 2), lengths=[0, 4]), "between 1 and 4"),
        (lambda: Recurrent("gru", 2, 3)(torch.zeros(2, 4, 2), lengths=[4]), "2 whole numbers"),
        (lambda: Recurrent("gru", 2, 3)(torch.zeros(2, 4, 2), lengths=[1.0, 2.0]), "whole numbers"),
        (
            lambda: Recurrent("gru", 2, 3)(torch.zeros(2, 4, 2), (torch.zeros(2, 2, 3),)),
            "1 cells need as many states",
        ),
        (
            lambda: run(ElmanCell(2, 3), torch.zeros(2, 4, 2), (torch.zeros(1, 3),)),
            r"here of shape \(2, 3\), got shapes \[\(1, 3\)\]",
        ),
        (lambda: ElmanCell(2, 3)(torch.zeros(4)), "vectors of length 2"),
        (lambda: LSTMCell(2, 3)(torch.zeros(2), (torch.zeros(3),)), "2 part"),
        (lambda: LSTMCell(2, 3, forget_bias=math.nan), "forget_bias must be one finite number"),
        (lambda: Recurrent.from_torch(nn.LSTM(2, 3, bias=False)), "with biases"),
        (lambda: Recurrent.from_torch(nn.RNN(2, 3, nonlinearity="relu")), "'relu'"),
        (lambda: power_norms(np.ones((2, 3)), 2), "only a square matrix"),
        (
            lambda: backpropagation_through_time(
                ElmanCell(2, 3), torch.zeros(1, 4, 2), torch.zeros(1, 3, 3)
            ),
            r"upstream must have shape .*, got \(1, 3, 3\)",
        ),
    ],
)
def test_bad_input_is_refused(call, says: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=says):
        call()


def unit_gates(length: int) -> st.SearchStrategy[list[float]]:
    return st.lists(st.floats(0.01, 0.99), min_size=length, max_size=length)


@given(
    st.tuples(*(unit_gates(6) for _ in range(3))),
    st.lists(st.floats(-0.99, 0.99), min_size=6, max_size=6),
)
def test_a_driven_memory_is_torchs_cell_with_these_gates(gates, candidates) -> None:
    """Each step has an LSTM cell of its own, whose biases are the gates' log-odds."""
    h, c = torch.zeros(1, dtype=torch.float64), torch.zeros(1, dtype=torch.float64)
    ours = drive(*gates, candidates)
    for t, candidate in enumerate(candidates):
        cell = nn.LSTMCell(1, 1).double()
        forget, let_in, let_out = (math.log(g[t] / (1 - g[t])) for g in gates)
        with torch.no_grad():
            for weight in cell.parameters():
                weight.zero_()
            biases = [let_in, forget, math.atanh(candidate), let_out]  # torch's order
            cell.bias_ih.copy_(torch.tensor(biases, dtype=torch.float64))
            h, c = cell(torch.zeros(1, dtype=torch.float64), (h, c))
        assert ours.memory[t] == pytest.approx(c.item(), abs=1e-9)
        assert ours.output[t] == pytest.approx(h.item(), abs=1e-9)


@given(st.floats(-2, 2), st.lists(st.floats(-2, 2), min_size=1, max_size=8))
def test_what_a_plain_unit_carries_back_is_its_jacobian_product(weight, inputs) -> None:
    cell = ElmanCell(1, 1).double()
    for parameter, value in zip(cell.parameters(), (1.0, weight, 0.0), strict=True):
        parameter.data.fill_(value)
    x = torch.tensor(inputs, dtype=torch.float64)[:, None]
    factors = plain_factors(weight, inputs)
    product = jacobian_product(cell, x).item()  # from the state of zeros on: the first factor too
    assert factors[0] * carried_back(factors)[0] == pytest.approx(product, abs=1e-12)


def test_gates_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="let_in must hold numbers from 0 to 1"):
        drive([1, 1], [0, 1.5], [1, 1], [0, 0])
    with pytest.raises(ValueError, match="let_out"):
        drive([1, 1], [0, 1], [1], [0, 0])
    with pytest.raises(ValueError, match="factors is empty"):
        carried_back([])


@pytest.mark.parametrize("read", [3.0, 9.5, 20.0, 300.0, -40.0])
def test_a_unit_far_from_zero_still_has_a_slope(read):
    """1 − tanh² of 20 is 0 in floating point; its derivative, 1/cosh², is 1.7e-17."""
    expected = 0.5 / math.cosh(read) ** 2
    assert plain_factors(0.5, [read])[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("cell", CELLS.values())
@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_gradients_are_measured_wherever_they_are_asked_for(cell, mode):
    torch.manual_seed(0)
    made, x = cell(2, 3), torch.randn(1, 4, 2)
    state = tuple(torch.randn(3) for _ in range(made.n_states))
    ratio, product = gradient_ratio(made, x), jacobian_product(made, x[0], state)
    with mode():
        here, before = x.clone(), tuple(part.clone() for part in state)
        assert gradient_ratio(made, here) == ratio
        torch.testing.assert_close(jacobian_product(made, here[0], before), product)
    assert bool(product.abs().max() > 0)
