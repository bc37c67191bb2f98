"""What a network computes and how it is differentiated, against torch and closed forms."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from primer import networks
from primer.networks import Variable

seeds = st.integers(0, 2**32 - 1)
few = st.integers(1, 5)

CURVES = {
    "identity": (networks.identity, lambda z: z),
    "sigmoid": (networks.sigmoid, torch.sigmoid),
    "tanh": (networks.tanh, torch.tanh),
    "relu": (networks.relu, torch.relu),
    "leaky": (networks.leaky_relu(0.01), functional.leaky_relu),
    "steep leaky": (networks.leaky_relu(0.3), lambda z: functional.leaky_relu(z, 0.3)),
    "gelu": (networks.gelu, functional.gelu),
    "silu": (networks.silu, functional.silu),
}


# --- activations ----------------------------------------------------------------------------------


@given(st.sampled_from(sorted(CURVES)), st.lists(st.floats(-50, 50), min_size=1, max_size=8))
def test_activations_and_derivatives_are_torchs(name, numbers):
    ours, theirs = CURVES[name]
    z = torch.tensor(numbers, dtype=torch.float64, requires_grad=True)
    value = theirs(z)
    value.sum().backward()
    np.testing.assert_allclose(ours(numbers), value.detach(), atol=1e-12)
    np.testing.assert_allclose(ours.derivative(numbers), z.grad, atol=1e-12)


@pytest.mark.parametrize("name", sorted(CURVES))
def test_activations_survive_enormous_numbers(name):
    ours, _ = CURVES[name]
    assert np.isfinite(ours([-1e4, 0.0, 1e4])).all()
    assert np.isfinite(ours.derivative([-1e4, 0.0, 1e4])).all()


# --- a network written out ------------------------------------------------------------------------


@given(seeds, st.lists(few, min_size=2, max_size=5), st.sampled_from(sorted(CURVES)), few)
def test_forward_and_backward_are_torchs(seed, sizes, name, batch):
    rng = np.random.default_rng(seed)
    ours, theirs = CURVES[name]
    layers = [
        networks.Layer(layer.weights, rng.normal(size=len(layer.bias)))
        for layer in networks.initialize(sizes, rng)
    ]
    x, weight = rng.normal(size=(batch, sizes[0])), rng.normal(size=(batch, sizes[-1]))
    passed = networks.forward(x, layers, ours)
    found = networks.backward(passed, layers, ours, weight)

    tensors = [[torch.tensor(p, requires_grad=True) for p in layer] for layer in layers]
    h = torch.tensor(x)
    for W, b in tensors[:-1]:
        h = theirs(h @ W + b)
    output = h @ tensors[-1][0] + tensors[-1][1]
    (output * torch.tensor(weight)).sum().backward()
    np.testing.assert_allclose(passed.sums[-1], output.detach(), atol=1e-10)
    for gradient, (W, b) in zip(found, tensors, strict=True):
        np.testing.assert_allclose(gradient.weights, W.grad, atol=1e-10)
        np.testing.assert_allclose(gradient.bias, b.grad, atol=1e-10)


@given(st.lists(few, min_size=2, max_size=6))
def test_parameters_are_counted_as_torch_counts_them(sizes):
    module = torch.nn.Sequential(*[torch.nn.Linear(a, b) for a, b in itertools.pairwise(sizes)])
    assert networks.count_parameters(sizes) == sum(p.numel() for p in module.parameters())


def test_initial_weights_have_the_variance_that_is_asked_for():
    [layer] = networks.initialize([400, 500], np.random.default_rng(0), gain=2.0)
    assert layer.weights.var() == pytest.approx(2 / 400, rel=0.02)
    assert not layer.bias.any()


# --- the tape -------------------------------------------------------------------------------------

UNARY = {
    "tanh": (Variable.tanh, torch.tanh),
    "sigmoid": (Variable.sigmoid, torch.sigmoid),
    "relu": (Variable.relu, torch.relu),
    "exp": (lambda v: (v * 0.1).exp(), lambda t: (t * 0.1).exp()),
    "log": (lambda v: (v * v + 1).log(), lambda t: (t * t + 1).log()),
    "square": (lambda v: v**2, lambda t: t**2),
    "negative": (lambda v: -v, lambda t: -t),
    "row sums": (lambda v: v.sum(axis=1), lambda t: t.sum(1, keepdim=True)),
    "column sums": (lambda v: v.sum(axis=0), lambda t: t.sum(0, keepdim=True)),
    "silu": (lambda v: v.apply(networks.silu), functional.silu),
    "constants": (lambda v: 1 - 2 / (v**2 + 3) + v / 2, lambda t: 1 - 2 / (t**2 + 3) + t / 2),
    "mean": (lambda v: v * v.mean(), lambda t: t * t.mean()),
}
BINARY = {
    "add": (lambda a, b: a + b, True),
    "subtract": (lambda a, b: a - b, True),
    "multiply": (lambda a, b: a * b, True),
    "divide": (lambda a, b: a / (b * b + 1), True),
    "matrix product": (lambda a, b: a @ b, False),
}


@given(seeds, st.data())
@settings(max_examples=150)
def test_random_graphs_have_the_gradients_of_torch(seed, data):
    """Operations on randomly chosen earlier results, shared, broadcast and multiplied."""
    rng = np.random.default_rng(seed)
    n = data.draw(st.integers(1, 4), label="rows")
    shapes = [(n, n), (1, n), (n, 1), (1, 1), (n, n)]
    starts = [rng.normal(size=shape) for shape in shapes]
    ours = [Variable(s) for s in starts]
    theirs = [torch.tensor(s, requires_grad=True) for s in starts]
    results, tensors = list(ours), list(theirs)
    for _ in range(data.draw(st.integers(1, 8), label="operations")):
        i = data.draw(st.integers(0, len(results) - 1))
        j = data.draw(st.integers(0, len(results) - 1))
        name = data.draw(st.sampled_from(sorted({**UNARY, **BINARY})))
        if name in UNARY:
            f, g = UNARY[name]
            pair = f(results[i]), g(tensors[i])
        else:
            f, elementwise = BINARY[name]
            if not elementwise and results[i].value.shape[1] != results[j].value.shape[0]:
                continue
            pair = f(results[i], results[j]), f(tensors[i], tensors[j])
        pair = pair[0].tanh(), pair[1].tanh()  # sizes stay near 1, whatever is drawn
        results.append(pair[0])
        tensors.append(pair[1])
    loss, reference = results[-1].sum(), tensors[-1].sum()
    for v, t in zip(results, tensors, strict=True):
        loss, reference = loss + (v * v).sum() * 0.1, reference + (t * t).sum() * 0.1
    loss.backward()
    reference.backward()
    np.testing.assert_allclose(loss.value, reference.detach(), atol=1e-10)
    for v, t in zip(ours, theirs, strict=True):
        assert v.gradient.shape == v.value.shape
        np.testing.assert_allclose(v.gradient, t.grad, atol=1e-10)


@given(seeds)
def test_a_classifier_has_the_gradients_of_torch(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(6, 4)), rng.integers(0, 3, size=6)
    parameters = [rng.normal(size=s) for s in ((4, 5), (5,), (5, 3), (3,))]
    a = [Variable(p) for p in parameters]
    b = [torch.tensor(p, requires_grad=True) for p in parameters]
    loss = networks.cross_entropy((x @ a[0] + a[1]).relu() @ a[2] + a[3], y)
    logits = torch.relu(torch.tensor(x) @ b[0] + b[1]) @ b[2] + b[3]
    reference = functional.cross_entropy(logits, torch.tensor(y))
    loss.backward()
    reference.backward()
    assert loss.value.item() == pytest.approx(reference.item(), abs=1e-12)
    for v, t in zip(a, b, strict=True):
        np.testing.assert_allclose(v.gradient, t.grad, atol=1e-10)


def test_a_second_backward_starts_anew_and_deep_graphs_do_not_overflow():
    x = Variable(1.0)
    y = x
    for _ in range(5000):
        y = y * 0.999 + x * 0.001
    y.backward()
    y.backward()
    assert x.gradient == pytest.approx(1.0, abs=1e-9)


@given(st.lists(few, min_size=2, max_size=6), few)
def test_the_cost_of_backward_is_at_most_twice_that_of_forward(sizes, batch):
    rng = np.random.default_rng(0)
    weights = [Variable(layer.weights) for layer in networks.initialize(sizes, rng)]
    result = rng.normal(size=(batch, sizes[0])) @ weights[0]
    for W in weights[1:]:
        result = result @ W
    products = [batch * a * b for a, b in itertools.pairwise(sizes)]
    cost = networks.cost(result.sum())
    assert cost.forward == sum(products)
    assert cost.backward == 2 * sum(products) - products[0]


def test_cross_entropy_does_not_overflow():
    logits = Variable([[1e4, 0.0], [0.0, -1e4]])
    loss = networks.cross_entropy(logits, [1, 0])
    loss.backward()
    assert loss.value == pytest.approx(5000)
    np.testing.assert_allclose(logits.gradient, [[0.5, -0.5], [0, 0]], atol=1e-12)


# --- folding --------------------------------------------------------------------------------------


@given(st.integers(1, 8), st.floats(0.2, 0.8))
def test_the_network_of_folds_is_the_tent(folds, crease):
    x = np.linspace(0, 1, 65)
    layers = networks.tent_network(folds, crease)
    output = networks.forward(x[:, None], layers, networks.relu).sums[-1].ravel()
    np.testing.assert_allclose(output, networks.tent(x, folds, crease), atol=1e-6)
    grid = networks.corners(layers)
    values = networks.forward(grid[:, None], layers, networks.relu).sums[-1].ravel()
    assert networks.count_pieces(grid, values) == 2**folds
    assert sum(layer.weights.size + layer.bias.size for layer in layers) == 6 * folds + 1


@given(st.integers(1, 5), st.integers(1, 4))
def test_the_zigzag_is_a_triangle_wave_of_itself(depth, width):
    x = np.linspace(0, 1, 301)
    output = networks.forward(x[:, None], networks.zigzag_network(depth, width), networks.relu)
    expected = x
    for _ in range(depth):
        expected = np.arccos(np.cos(np.pi * width * expected)) / np.pi
    np.testing.assert_allclose(output.sums[-1].ravel(), expected, atol=1e-4)


@given(seeds, st.integers(-300, 300))
def test_corners_do_not_depend_on_the_unit_of_a_layer(seed, digits):
    rng = np.random.default_rng(seed)
    first = networks.Layer(rng.normal(size=(1, 3)), rng.normal(size=3))
    last = networks.Layer(np.ones((3, 1)), np.zeros(1))
    unit = 10.0**digits
    same = networks.Layer(unit * first.weights, unit * first.bias)
    found, expected = (networks.corners([layer, last], -2, 2) for layer in (same, first))
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_narrow_folds_are_found_in_a_wide_interval():
    for high in (1e3, 1e15, 1e300):
        found = networks.corners(networks.tent_network(3), 0, high)
        np.testing.assert_allclose(found, [*np.linspace(0, 1, 9), high], atol=1e-12)


@given(seeds, st.integers(1, 3))
def test_between_its_corners_a_random_network_is_straight(seed, depth):
    rng = np.random.default_rng(seed)
    layers = [
        networks.Layer(layer.weights, rng.normal(size=len(layer.bias)))
        for layer in networks.initialize([1, *[6] * depth, 1], rng)
    ]
    grid = networks.corners(layers, -2, 2)
    t = rng.uniform(0.2, 0.8, size=len(grid) - 1)
    inside = grid[:-1] + t * np.diff(grid)

    def net(x):
        return networks.forward(x[:, None], layers, networks.relu).sums[-1].ravel()

    ends = net(grid)
    np.testing.assert_allclose(net(inside), ends[:-1] + t * np.diff(ends), atol=1e-9)


# --- bad input ------------------------------------------------------------------------------------


def wrong_class(classes):
    return lambda: networks.cross_entropy(Variable(np.zeros((2, 3))), classes)


@pytest.mark.parametrize("classes", [[-1, 2], [0, 3]])
def test_one_class_out_of_range_is_enough(classes):
    with pytest.raises(ValueError, match="classes must lie between 0 and 2"):
        wrong_class(classes)()


GRAPH = networks.Layer(np.ones((2, 2)), np.zeros(2))
BAD = {
    "letters": (lambda: networks.relu(["a"]), "z must hold numbers"),
    "not a number": (lambda: networks.gelu.derivative([np.nan]), "z must be finite"),
    "slope of 1": (lambda: networks.leaky_relu(1.0), "slope must be less than 1"),
    "negative slope": (lambda: networks.leaky_relu(-0.1), "slope must be a finite number, 0"),
    "one width": (lambda: networks.count_parameters([3]), "an input and an output width"),
    "width 0": (lambda: networks.count_parameters([3, 0]), r"sizes\[1\] must be a whole number"),
    "negative gain": (
        lambda: networks.initialize([2, 2], np.random.default_rng(0), gain=-1),
        "gain must be",
    ),
    "no layer": (lambda: networks.forward([[1.0]], [], networks.relu), "layers is empty"),
    "wrong width": (
        lambda: networks.forward([[1.0]], [GRAPH], networks.relu),
        "layer 0 takes rows of length 2, got length 1",
    ),
    "wrong gradient": (
        lambda: networks.backward(
            networks.forward([[1.0, 2.0]], [GRAPH], networks.relu), [GRAPH], networks.relu, [[1.0]]
        ),
        r"the output's shape \(1, 2\), got \(1, 1\)",
    ),
    "other layers": (
        lambda: networks.backward(
            networks.forward([[1.0, 2.0]], [GRAPH], networks.relu), [], networks.relu, [[1.0]]
        ),
        "the pass has 1 layers, got 0",
    ),
    "infinite variable": (lambda: Variable([np.inf]), "value must be finite"),
    "many results": (lambda: Variable([1.0, 2.0]).backward(), "backward starts at one number"),
    "logarithm of 0": (lambda: Variable(0.0).log(), "an entry was too large, or 0 or negative"),
    "root of a negative number": (lambda: Variable(-1.0) ** 0.5, "the result must be finite"),
    "overflow": (lambda: Variable(1000.0).exp(), "the result must be finite"),
    "division by 0": (lambda: 1 / Variable(0.0), "the result must be finite"),
    "shapes of a product": (
        lambda: Variable(np.ones((2, 3))) @ np.ones((2, 3)),
        r"@ takes matrices of shapes",
    ),
    "vector in a product": (lambda: Variable([1.0]) @ [[1.0]], "@ takes matrices"),
    "unknown class": (wrong_class([0, 3]), "classes must lie between 0 and 2, got 0 … 3"),
    "classes of a wrong shape": (wrong_class([0]), "one whole number for each row"),
    "classes that are no numbers": (wrong_class([0.5, 1.0]), "one whole number for each row"),
    "fold outside": (lambda: networks.tent(1.5, 2), "x must lie between 0 and 1"),
    "crease at 1": (lambda: networks.tent(0.5, 2, 1.0), "crease must lie strictly"),
    "negative folds": (lambda: networks.tent(0.5, -1), "folds must be a whole number ≥ 0"),
    "network without folds": (lambda: networks.tent_network(0), "folds must be a whole number ≥ 1"),
    "pieces of one point": (lambda: networks.count_pieces([0.0], [1.0]), "two or more increasing"),
    "pieces backward": (lambda: networks.count_pieces([1.0, 0.0], [1.0, 2.0]), "two or more"),
    "corners of two inputs": (lambda: networks.corners([GRAPH]), "take one number"),
    "zigzag without units": (lambda: networks.zigzag_network(2, 0), "width must be a whole number"),
    "zigzag without layers": (
        lambda: networks.zigzag_network(0, 2),
        "depth must be a whole number",
    ),
    "empty interval": (lambda: networks.corners(networks.tent_network(1), 1, 1), "low must be"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_with_a_sentence(name, as_readers_run_it):
    call, sentence = BAD[name]
    with pytest.raises(ValueError, match=sentence):
        call()
