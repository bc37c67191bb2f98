"""Convolution, normalization and message passing, against torch and networkx."""

from __future__ import annotations

import networkx
import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from torch.nn import functional

from primer import networks

seeds = st.integers(0, 2**32 - 1)
few = st.integers(1, 3)
sides = st.integers(3, 8)


# --- convolution ----------------------------------------------------------------------------------


@given(seeds, few, few, few, sides, sides, few, few, few, st.integers(0, 2))
def test_convolution_is_torchs(seed, n, channels, filters, h, w, kh, kw, stride, padding):
    rng = np.random.default_rng(seed)
    x, W = rng.normal(size=(n, channels, h, w)), rng.normal(size=(filters, channels, kh, kw))
    b = rng.normal(size=filters)
    y = networks.convolve(x, W, b, stride, padding)
    assert y.shape[2:] == (
        networks.convolution_size(h, kh, stride, padding),
        networks.convolution_size(w, kw, stride, padding),
    )
    tensors = [torch.tensor(a, requires_grad=True) for a in (x, W, b)]
    reference = functional.conv2d(*tensors, stride=stride, padding=padding)
    np.testing.assert_allclose(y, reference.detach(), atol=1e-10)
    dy = rng.normal(size=y.shape)
    reference.backward(torch.tensor(dy))
    found = networks.convolution_gradients(x, W, dy, stride, padding)
    for gradient, tensor in zip(found, tensors, strict=True):
        np.testing.assert_allclose(gradient, tensor.grad, atol=1e-10)


@given(seeds, few, sides, sides, few, few)
def test_pooling_is_torchs(seed, channels, h, w, kernel, stride):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(2, channels, h, w))
    for ours, gradient, theirs in (
        (networks.max_pool, networks.max_pool_gradient, functional.max_pool2d),
        (networks.average_pool, networks.average_pool_gradient, functional.avg_pool2d),
    ):
        tensor = torch.tensor(x, requires_grad=True)
        reference = theirs(tensor, kernel, stride)
        y = ours(x, kernel, stride)
        np.testing.assert_allclose(y, reference.detach(), atol=1e-12)
        dy = rng.normal(size=y.shape)
        reference.backward(torch.tensor(dy))
        np.testing.assert_allclose(gradient(x, dy, kernel, stride), tensor.grad, atol=1e-12)


@given(few, few)
def test_the_receptive_field_is_where_the_gradient_is_not_0(layers, kernel):
    side = 12
    size = side
    for _ in range(layers):
        size = networks.convolution_size(size, kernel)
    gradient = np.zeros((1, 1, size, size))
    gradient[0, 0, 0, 0] = 1.0
    for _ in range(layers):
        size += kernel - 1
        ones = np.ones((1, 1, kernel, kernel))
        gradient = networks.convolution_gradients(
            np.zeros((1, 1, size, size)), ones, gradient
        ).images
    seen = networks.receptive_field(layers, kernel)
    assert (gradient[0, 0] != 0).sum() == seen**2


# --- normalization --------------------------------------------------------------------------------


@given(seeds, st.integers(20, 56))
def test_batch_norm_does_not_depend_on_where_zero_is(seed, power):
    unit = 2.0 ** max(0, power - 44)
    steps = unit * np.random.default_rng(seed).integers(-99, 99, size=(7, 3)).astype(float)
    steps[0] += unit * 1000  # none is constant
    ones, zeros, dy = np.ones(3), np.zeros(3), np.arange(21.0).reshape(7, 3)
    moved = networks.batch_norm(2.0**power + steps, ones, zeros)
    np.testing.assert_allclose(moved, networks.batch_norm(steps, ones, zeros), atol=1e-9)
    here, there = (
        networks.batch_norm_gradients(x, ones, dy).x for x in (steps, 2.0**power + steps)
    )
    np.testing.assert_allclose(there, here, atol=1e-9)


@given(seeds, st.integers(2, 5), few, st.booleans())
def test_batch_norm_is_torchs(seed, n, features, images):
    rng = np.random.default_rng(seed)
    x = rng.normal(2, 3, size=(n, features, *((3, 4) if images else ())))
    gain, shift = rng.normal(size=(2, features))
    tensors = [torch.tensor(a, requires_grad=True) for a in (x, gain, shift)]
    reference = functional.batch_norm(
        tensors[0], None, None, tensors[1], tensors[2], training=True, eps=1e-5
    )
    np.testing.assert_allclose(networks.batch_norm(x, gain, shift), reference.detach(), atol=1e-10)
    dy = rng.normal(size=x.shape)
    reference.backward(torch.tensor(dy))
    found = networks.batch_norm_gradients(x, gain, dy)
    for gradient, tensor in zip(found, tensors, strict=True):
        np.testing.assert_allclose(gradient, tensor.grad, atol=1e-9, rtol=1e-9)


def test_dropout_keeps_the_mean_and_the_part():
    y = networks.dropout(np.full(200_000, 3.0), 0.8, np.random.default_rng(0))
    assert y.mean() == pytest.approx(3, abs=0.02)
    assert (y == 0).mean() == pytest.approx(0.2, abs=0.005)
    assert set(np.round(y, 12)) == {0.0, 3.75}


# --- graphs ---------------------------------------------------------------------------------------


def random_graph(seed, nodes, directed=False):
    return networkx.gnp_random_graph(nodes, 0.4, seed=seed % 1000, directed=directed)


@given(seeds, st.integers(2, 7), st.integers(0, 6), st.booleans())
def test_walks_are_networkxs(seed, nodes, length, directed):
    graph = random_graph(seed, nodes, directed)
    walks = networkx.number_of_walks(graph, length)
    expected = [[walks[i][j] for j in range(nodes)] for i in range(nodes)]
    assert networks.count_walks(networkx.to_numpy_array(graph), length).tolist() == expected


@given(seeds, st.integers(2, 7), few)
def test_messages_are_what_networkx_finds_next_door(seed, nodes, features):
    graph = random_graph(seed, nodes)
    A = networkx.to_numpy_array(graph)
    v = np.random.default_rng(seed).normal(size=(nodes, features))
    for reduce, function in (("sum", np.sum), ("mean", np.mean), ("max", np.max)):
        expected = [
            function(v[list(graph[i])], axis=0) if graph[i] else np.zeros(features)
            for i in range(nodes)
        ]
        found = networks.message_passing(A, v, reduce)
        np.testing.assert_allclose(found, expected, atol=1e-12)


@given(seeds, st.integers(2, 7), st.sampled_from(["sum", "mean", "max"]))
def test_message_passing_is_equivariant(seed, nodes, reduce):
    rng = np.random.default_rng(seed)
    A, v = rng.normal(size=(nodes, nodes)), rng.normal(size=(nodes, 2))
    order = rng.permutation(nodes)
    shuffled = networks.message_passing(A[np.ix_(order, order)], v[order], reduce)
    np.testing.assert_allclose(shuffled, networks.message_passing(A, v, reduce)[order], atol=1e-12)


@given(seeds, st.integers(2, 6))
def test_the_residual_layer_is_its_formula(seed, nodes):
    rng = np.random.default_rng(seed)
    graph = random_graph(seed, nodes)
    s, inner, outer = rng.normal(size=(nodes, 2)), rng.normal(size=(2, 3)), rng.normal(size=(3, 2))
    expected = s.copy()
    for i in range(nodes):
        said = [np.tanh(s[j] @ inner) for j in graph[i]]
        if said:
            expected[i] += np.mean(said, axis=0) @ outer
    found = networks.residual_layer(networkx.to_numpy_array(graph), s, inner, outer)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@given(st.lists(st.tuples(st.integers(0, 1), st.floats(0.001, 0.999)), min_size=1, max_size=9))
def test_binary_cross_entropy_is_torchs(pairs):
    y, p = (torch.tensor(c, dtype=torch.float64) for c in zip(*pairs, strict=True))
    expected = functional.binary_cross_entropy(p, y).item()
    assert networks.binary_cross_entropy(y, p) == pytest.approx(expected, abs=1e-12)


@given(seeds)
def test_convolution_is_message_passing_on_a_grid(seed):
    """Without the corners' missing neighbors: on a torus, with a kernel that only blurs."""
    rng = np.random.default_rng(seed)
    side = 5
    grid = networkx.grid_2d_graph(side, side, periodic=True)
    assume(grid.number_of_nodes() == side**2)
    A = networkx.to_numpy_array(grid, nodelist=sorted(grid))
    x = rng.normal(size=(side, side))
    cross = np.array([[[[0.0, 1, 0], [1, 0, 1], [0, 1, 0]]]])
    blurred = networks.convolve(np.pad(x, 1, mode="wrap")[None, None], cross)[0, 0]
    np.testing.assert_allclose(
        networks.message_passing(A, x.reshape(-1, 1)).reshape(side, side), blurred, atol=1e-12
    )


# --- bad input ------------------------------------------------------------------------------------

IMAGE, KERNEL = np.ones((1, 1, 4, 4)), np.ones((1, 1, 3, 3))
PATH = [[0, 1], [1, 0]]
BAD = {
    "kernel larger than the image": (
        lambda: networks.convolve(IMAGE, np.ones((1, 1, 5, 3))),
        "the kernel, 5, is larger than the image, 4; pad",
    ),
    "padded and still too small": (
        lambda: networks.convolution_size(4, 7, padding=1),
        "the image, 4 with padding 1 on both sides",
    ),
    "stride 0": (
        lambda: networks.convolve(IMAGE, KERNEL, stride=0),
        "stride must be a whole number ≥ 1, got 0",
    ),
    "negative padding": (
        lambda: networks.convolve(IMAGE, KERNEL, padding=-1),
        "padding must be a whole number ≥ 0",
    ),
    "three axes": (lambda: networks.convolve(IMAGE[0], KERNEL), "images must have four axes"),
    "channels": (
        lambda: networks.convolve(IMAGE, np.ones((1, 2, 3, 3))),
        "the images have 1 channels, the kernels 2",
    ),
    "bias": (lambda: networks.convolve(IMAGE, KERNEL, [1.0, 2.0]), "bias must have length 1"),
    "gradient's shape": (
        lambda: networks.convolution_gradients(IMAGE, KERNEL, np.ones((1, 1, 3, 3))),
        r"output_gradient must have shape \(1, 1, 2, 2\)",
    ),
    "pooling window": (lambda: networks.max_pool(IMAGE, 5), "is larger than the image"),
    "pooling stride 0": (lambda: networks.average_pool(IMAGE, 2, 0), "stride must be"),
    "pooled gradient": (
        lambda: networks.max_pool_gradient(IMAGE, IMAGE, 2),
        r"output_gradient must have shape \(1, 1, 2, 2\)",
    ),
    "no layer to see through": (lambda: networks.receptive_field(0, 3), "layers must be"),
    "batch of one": (
        lambda: networks.batch_norm([[1.0, 2.0]], [1.0, 1.0], [0.0, 0.0]),
        "normalize two examples or more",
    ),
    "batch norm of a vector": (
        lambda: networks.batch_norm([1.0], [1.0], [0.0]),
        "x must have axes",
    ),
    "constant feature": (
        lambda: networks.batch_norm([[1.0], [1.0]], [1.0], [0.0], epsilon=0.0),
        "constant over the batch",
    ),
    "gains": (lambda: networks.batch_norm([[1.0], [2.0]], [1.0, 2.0], [0.0]), "gain must have"),
    "batch norm's gradient": (
        lambda: networks.batch_norm_gradients([[1.0], [2.0]], [1.0], [[1.0]]),
        "output_gradient must have the shape of x",
    ),
    "keep nothing": (
        lambda: networks.dropout([1.0], 0.0, np.random.default_rng(0)),
        "keep must lie strictly between 0 and 1",
    ),
    "adjacency of a wrong shape": (
        lambda: networks.message_passing([[0, 1, 0], [1, 0, 1]], [[1.0], [2.0]]),
        r"adjacency must be square, .* got shape \(2, 3\)",
    ),
    "states": (lambda: networks.message_passing(PATH, [[1.0]]), "the graph has 2 nodes"),
    "unknown reduction": (
        lambda: networks.message_passing(PATH, [[1.0], [2.0]], "median"),
        "reduce must be one of",
    ),
    "half an edge": (lambda: networks.count_walks([[0.5]], 2), "adjacency must count edges"),
    "negative length": (lambda: networks.count_walks(PATH, -1), "length must be"),
    "too many walks": (lambda: networks.count_walks(np.full((2, 2), 9), 30), "more walks"),
    "residual shapes": (
        lambda: networks.residual_layer(PATH, [[1.0], [2.0]], [[1.0]], [[1.0, 2.0]]),
        r"outer must have shape \(hidden, features\), got \(1, 2\), beside states",
    ),
    "label 2": (lambda: networks.binary_cross_entropy([2], [0.5]), "labels must be 0 or 1"),
    "sure": (lambda: networks.binary_cross_entropy([1], [1.0]), "a sure error costs"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_with_a_sentence(name, as_readers_run_it):
    call, sentence = BAD[name]
    with pytest.raises(ValueError, match=sentence):
        call()


def test_walks_are_counted_up_to_two_to_the_62():
    """Also where most pairs of nodes have none: one large number is enough to be refused."""
    chain = np.diag([2**30, 3], 1)
    assert networks.count_walks(chain, 2)[0, 2] == 3 * 2**30
    assert networks.count_walks([[2**31]], 1).tolist() == [[2**31]]
    almost = [[0, 2**31, 0], [0, 0, 2**31 - 1], [0, 0, 0]]
    found = networks.count_walks(almost, 2)
    assert found[0, 2] == 2**62 - 2**31
    assert found.dtype == np.int64
    for large in (2**31, 2**40):
        with pytest.raises(ValueError, match="more walks of length 2"):
            networks.count_walks([[0, 2**31, 0], [0, 0, large], [0, 0, 0]], 2)
    with pytest.raises(ValueError, match="more walks of length 2000"):  # beyond floating point
        networks.count_walks([[9, 0], [0, 1]], 2000)


def test_messages_of_edges_with_weights_are_weighted():
    A = np.array([[0.0, -2.0, 0.5], [0.0, 0.0, 0.0], [3.0, 0.0, 0.0]])
    v = np.array([[1.0], [2.0], [-4.0]])
    for reduce, wanted in {"sum": [-6, 0, 3], "mean": [-3, 0, 3], "max": [-2, 0, 3]}.items():
        assert networks.message_passing(A, v, reduce).ravel().tolist() == wanted


def test_probabilities_that_are_sure_are_refused_and_labels_in_halves():
    for p in (0.0, 1.0, -0.1, 1.1):
        with pytest.raises(ValueError, match="strictly between 0 and 1"):
            networks.binary_cross_entropy([1, 0], [0.5, p])
    with pytest.raises(ValueError, match="labels must be 0 or 1"):
        networks.binary_cross_entropy([1, 0.5], [0.5, 0.5])


@pytest.mark.parametrize("p", [1e-5, 1e-17, 1e-300])
def test_a_nearly_sure_no_costs_nearly_nothing_and_not_nothing(p):
    assert networks.binary_cross_entropy([0], [p]) == pytest.approx(p + p**2 / 2, rel=1e-9)
