"""Classifiers, random features and linear autoencoders, against scikit-learn, SciPy and torch."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression, Ridge

from primer import networks

seeds = st.integers(0, 2**32 - 1)
penalties = st.floats(0.05, 20)


# --- logistic and softmax regression --------------------------------------------------------------


def binary_data(seed, n=30, p=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = (X[:, 0] + rng.normal(size=n) > 0).astype(int)
    y[:2] = 0, 1
    return X, y


@given(seeds, st.floats(0, 3))
def test_logistic_loss_gradient_and_curvature_are_torchs(seed, penalty):
    X, y = binary_data(seed)
    w = np.random.default_rng(seed).normal(size=3)
    table, target = torch.tensor(X), torch.tensor(y, dtype=torch.float64)

    def loss(w):
        return torch.nn.functional.binary_cross_entropy_with_logits(
            table @ w, target, reduction="sum"
        ) + penalty / 2 * (w @ w)

    tensor = torch.tensor(w)
    assert networks.logistic_loss(w, X, y, penalty) == pytest.approx(loss(tensor).item())
    slope = torch.autograd.functional.jacobian(loss, tensor)
    np.testing.assert_allclose(networks.logistic_gradient(w, X, y, penalty), slope, atol=1e-10)
    hessian = networks.logistic_hessian(w, X, penalty)
    np.testing.assert_allclose(hessian, torch.autograd.functional.hessian(loss, tensor), atol=1e-10)
    assert np.linalg.eigvalsh(hessian).min() >= -1e-12


@given(seeds, penalties)
def test_logistic_regression_is_sklearns(seed, penalty):
    X, y = binary_data(seed)
    peer = LogisticRegression(C=1 / penalty, tol=1e-10, solver="newton-cholesky").fit(X, y)
    ours = networks.logistic_regression(X, y, penalty)
    np.testing.assert_allclose(ours.weights, peer.coef_[0], atol=1e-5)
    assert ours.bias == pytest.approx(peer.intercept_[0], abs=1e-5)


@given(seeds, penalties)
@settings(max_examples=10)
def test_softmax_regression_is_sklearns(seed, penalty):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 3)), rng.permutation(np.arange(40) % 4)
    peer = LogisticRegression(C=1 / penalty, tol=1e-9, max_iter=10_000).fit(X, y)
    ours = networks.softmax_regression(X, y, penalty)
    np.testing.assert_allclose(ours.scores(X), peer.decision_function(X), atol=1e-3)
    assert ours.bias.sum() == pytest.approx(0, abs=1e-8)


def test_softmax_regression_on_digits_ends_where_the_gradient_is_0():
    images, classes = load_digits(return_X_y=True)
    X, y = images[:400] / 16, classes[:400]
    fit = networks.softmax_regression(X, y, penalty=0.1)
    P = np.exp(fit.scores(X))
    P /= P.sum(1, keepdims=True)
    np.testing.assert_allclose(X.T @ (P - np.eye(10)[y]) + 0.1 * fit.weights, 0, atol=1e-7)
    np.testing.assert_allclose((P - np.eye(10)[y]).sum(0), 0, atol=1e-7)


@pytest.mark.parametrize("penalty", [0.5, 8.5, 30.0])
def test_few_rows_and_a_strong_penalty_end_where_the_gradient_is_0(penalty):
    """From some of its steps Newton's method must come back: the penalty is part of the loss."""
    X = np.array([[-1.3], [-1.05], [0.75], [-2.33], [0.45], [0.62]])
    y = np.array([0, 1, 2, 1, 1, 1])
    fit = networks.softmax_regression(X, y, penalty)
    P = np.exp(fit.scores(X))
    P /= P.sum(1, keepdims=True)
    np.testing.assert_allclose(X.T @ (P - np.eye(3)[y]) + penalty * fit.weights, 0, atol=1e-8)
    np.testing.assert_allclose((P - np.eye(3)[y]).sum(0), 0, atol=1e-8)
    two = networks.logistic_regression(X, y == 1, penalty)
    p = 1 / (1 + np.exp(-two.scores(X)))
    np.testing.assert_allclose(X.T @ (p - (y == 1)) + penalty * two.weights, 0, atol=1e-8)
    assert (p - (y == 1)).sum() == pytest.approx(0, abs=1e-8)


@given(seeds, st.integers(1, 12))
def test_reliability_is_sklearns(seed, bins):
    rng = np.random.default_rng(seed)
    p = rng.uniform(size=60)
    right = rng.random(60) < p
    found = networks.reliability(p, right, bins)
    accuracy, confidence = calibration_curve(right, p, n_bins=bins)
    np.testing.assert_allclose(found.accuracy, accuracy, atol=1e-12)
    np.testing.assert_allclose(found.confidence, confidence, atol=1e-12)
    gap = abs(accuracy - confidence)
    assert found.error == pytest.approx(gap @ found.counts / 60)


# --- random features ------------------------------------------------------------------------------


@given(seeds, st.integers(1, 20), st.integers(1, 3))
def test_minimum_norm_fit_is_lstsqs(seed, width, responses):
    rng = np.random.default_rng(seed)
    features, y = rng.normal(size=(10, width)), rng.normal(size=(10, responses))
    found = networks.minimum_norm_fit(features, y)
    expected, _, _, sigma = np.linalg.lstsq(features, y, rcond=1e-10)
    np.testing.assert_allclose(found.weights, expected, atol=1e-7, rtol=1e-7)
    np.testing.assert_allclose(found.singular_values, sigma, atol=1e-10)


@given(seeds, st.integers(1, 20), st.floats(0.01, 10))
def test_with_a_penalty_it_is_sklearns_ridge(seed, width, penalty):
    rng = np.random.default_rng(seed)
    features, y = rng.normal(size=(10, width)), rng.normal(size=10)
    peer = Ridge(alpha=penalty, fit_intercept=False, solver="svd").fit(features, y)
    found = networks.minimum_norm_fit(features, y, penalty).weights
    np.testing.assert_allclose(found, peer.coef_, atol=1e-8)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=5), st.integers(0, 12))
def test_legendre_features_follow_the_recurrence(x, degree):
    P = networks.legendre_features(x, degree)
    assert P.shape == (len(x), degree + 1)
    for k in range(1, degree):
        left = (k + 1) * P[:, k + 1]
        right = (2 * k + 1) * np.array(x) * P[:, k] - k * P[:, k - 1]
        np.testing.assert_allclose(left, right, atol=1e-10)


@given(seeds)
@settings(max_examples=10)
def test_descent_keeps_what_the_data_cannot_see(seed):
    rng = np.random.default_rng(seed)
    features, y, start = rng.normal(size=(4, 9)), rng.normal(size=4), rng.normal(size=9)
    sigma = np.linalg.svd(features, compute_uv=False)
    step = 1.0 / sigma[0] ** 2
    steps = int(30 * (sigma[0] / sigma[-1]) ** 2) + 10
    if steps > 20_000:
        return
    pinv = np.linalg.pinv(features)
    expected = pinv @ y + start - pinv @ features @ start
    found = networks.descend_from(features, y, start, step, steps)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_double_descent_computes_the_fit_that_minimum_norm_fit_finds():
    few = networks.few_digits(60, np.random.default_rng(0), wrong=0.2)
    drawing = np.random.default_rng(5)
    rows = list(networks.double_descent(few, [30, 60, 200], drawing, [0.0, 0.1]))
    assert [(row.width, row.penalty) for row in rows] == [
        (width, penalty) for width in (30, 60, 200) for penalty in (0.0, 0.1)
    ]
    rng = np.random.default_rng(5)
    for width, pair in zip((30, 60, 200), (rows[0:2], rows[2:4], rows[4:6]), strict=True):
        both = networks.relu_features(np.vstack([few.train_x, few.test_x]), width, rng)
        for row in pair:
            fit = networks.minimum_norm_fit(both[:60], np.eye(10)[few.train_y] - 0.1, row.penalty)
            outputs = both[60:] @ fit.weights
            truth = np.eye(10)[few.test_y] - 0.1
            assert row.smallest == pytest.approx(fit.singular_values[-1])
            assert row.test_error == (outputs.argmax(1) != few.test_y).mean()
            assert row.test_square == pytest.approx(
                ((outputs - truth) ** 2).sum(1).mean(), rel=1e-6
            )


def test_several_labelings_share_their_features():
    clean, noisy = (networks.few_digits(60, np.random.default_rng(3), w) for w in (0, 0.3))
    widths, penalties = [30, 200], [0.0, 0.1]
    labelings = [clean.train_y, noisy.train_y]
    drawing = np.random.default_rng(5)
    together = list(networks.double_descent(clean, widths, drawing, penalties, labelings))
    for number, digits in enumerate((clean, noisy)):
        rng = np.random.default_rng(5)
        alone = [row[:6] for row in networks.double_descent(digits, widths, rng, penalties)]
        assert [row[:6] for row in together if row.labeling == number] == alone
    with pytest.raises(ValueError, match="each labeling needs a class for each of the 60"):
        list(networks.double_descent(clean, [30], drawing, labelings=[clean.train_y[1:]]))


def test_wrong_labels_are_wrong_and_only_in_training():
    rng = np.random.default_rng(3)
    clean, noisy = (networks.few_digits(300, np.random.default_rng(3), w) for w in (0, 0.15))
    assert (clean.train_y != noisy.train_y).sum() == 45
    np.testing.assert_array_equal(clean.test_y, noisy.test_y)
    np.testing.assert_array_equal(clean.train_x, noisy.train_x)
    assert networks.few_digits(300, rng).train_x.mean(0) == pytest.approx(np.zeros(64))


# --- linear autoencoders --------------------------------------------------------------------------


def random_model(rng, inputs=5, units=2):
    return networks.Autoencoder(rng.normal(size=(inputs, units)), rng.normal(size=(units, inputs)))


@given(seeds, st.floats(0, 2))
def test_autoencoder_gradients_are_torchs(seed, penalty):
    rng = np.random.default_rng(seed)
    X, model = rng.normal(size=(7, 5)), random_model(rng)
    E, D = (torch.tensor(a, requires_grad=True) for a in model)
    table = torch.tensor(X)
    loss = (table - table @ E @ D).square().sum()
    loss = loss + penalty * (E.square().sum() + D.square().sum())
    loss.backward()
    found = networks.autoencoder_gradients(X, model, penalty)
    assert networks.autoencoder_loss(X, model, penalty) == pytest.approx(loss.item())
    np.testing.assert_allclose(found.encoder, E.grad, atol=1e-9)
    np.testing.assert_allclose(found.decoder, D.grad, atol=1e-9)


@given(seeds, st.integers(1, 4))
def test_the_best_autoencoder_is_sklearns_pca(seed, units):
    X = np.random.default_rng(seed).normal(size=(20, 5)) * [3, 2.5, 2, 1.5, 1]
    X = X - X.mean(0)
    peer = PCA(units).fit(X)
    expected = peer.inverse_transform(peer.transform(X))
    model = networks.best_autoencoder(X, units)
    np.testing.assert_allclose(model.reconstruct(X), expected, atol=1e-8)


@given(seeds, st.floats(0.5, 30))
@settings(max_examples=10)
def test_nothing_beats_the_regularized_solution(seed, penalty):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(8, 4)) * [3, 2, 1, 0.5]
    best = networks.best_autoencoder(X, 2, penalty)
    for gradient in networks.autoencoder_gradients(X, best, penalty):
        np.testing.assert_allclose(gradient, 0, atol=1e-8)

    def unpack(z):
        return networks.Autoencoder(z[:8].reshape(4, 2), z[8:].reshape(2, 4))

    def loss(z):
        gradients = networks.autoencoder_gradients(X, unpack(z), penalty)
        value = networks.autoencoder_loss(X, unpack(z), penalty)
        return value, np.concatenate([g.ravel() for g in gradients])

    found = min(
        scipy.optimize.minimize(loss, rng.normal(size=16), jac=True, tol=1e-10).fun
        for _ in range(3)
    )
    lowest = networks.autoencoder_loss(X, best, penalty)
    assert lowest <= found + 1e-6
    assert found == pytest.approx(lowest, rel=1e-3)


def test_training_reports_each_component():
    rng = np.random.default_rng(0)
    S = np.diag([4.0, 2.0, 1.0])
    start = networks.Autoencoder(0.01 * rng.normal(size=(3, 2)), 0.01 * rng.normal(size=(2, 3)))
    training = networks.train_autoencoder(S, start, step=0.02, steps=800)
    np.testing.assert_allclose(training.learned[-1], [1, 1, 0], atol=1e-6)
    assert training.loss[0] == pytest.approx(7, rel=1e-2)
    assert training.loss[-1] == pytest.approx(1, rel=1e-6)
    product = training.model.encoder @ training.model.decoder
    np.testing.assert_allclose(product, np.diag([1, 1, 0]), atol=1e-5)


@given(seeds, penalties)
def test_purification_is_sklearns_ridge_of_the_data_on_themselves(seed, penalty):
    X = np.random.default_rng(seed).normal(size=(9, 4))
    peer = Ridge(alpha=penalty, fit_intercept=False, solver="svd").fit(X, X)
    np.testing.assert_allclose(networks.purify(X, penalty), peer.coef_.T, atol=1e-9)


@given(seeds, st.floats(0, 12), st.floats(-24, 0))
def test_purification_keeps_what_squares_would_lose(seed, digits, penalty):
    left, right = (np.linalg.qr(np.random.default_rng(seed).normal(size=(n, 3)))[0] for n in (6, 3))
    sigma, lam = 10.0 ** np.array([0, -digits / 2, -digits]), 10.0**penalty
    expected = right @ np.diag(sigma**2 / (sigma**2 + lam)) @ right.T
    found = networks.purify(left @ np.diag(sigma) @ right.T, lam)
    np.testing.assert_allclose(found, expected, atol=1e-2 if digits > 9 else 1e-5)


@given(seeds, st.integers(-300, 300))
def test_the_best_autoencoder_does_not_depend_on_the_unit(seed, digits):
    X = np.random.default_rng(seed).normal(size=(6, 3))
    best, same = networks.best_autoencoder(X, 2), networks.best_autoencoder(X * 10.0**digits, 2)
    np.testing.assert_allclose(same.encoder @ same.decoder, best.encoder @ best.decoder, atol=1e-9)


# --- bad input ------------------------------------------------------------------------------------

X, LABELS = np.array([[0.0], [1.0], [2.0]]), [0, 1, 1]
MODEL = networks.Autoencoder(np.ones((1, 1)), np.ones((1, 1)))
BAD = {
    "label 2": (lambda: networks.logistic_loss([0.0], X, [0, 1, 2]), "labels must be 0 or 1"),
    "weights": (lambda: networks.logistic_loss([0.0, 1.0], X, LABELS), "weights must have length"),
    "penalty": (lambda: networks.logistic_loss([0.0], X, LABELS, -1), "penalty must be"),
    "no penalty": (lambda: networks.logistic_regression(X, LABELS, 0.0), "penalty must be"),
    "one label": (lambda: networks.logistic_regression(X, [1, 1, 1], 1.0), "only the label 1"),
    "one class": (lambda: networks.softmax_regression(X, [0, 0, 0], 1.0), "two or more of them"),
    "class left out": (lambda: networks.softmax_regression(X, [0, 2, 2], 1.0), "none left out"),
    "classes": (lambda: networks.softmax_regression(X, [0.0, 1.0, 1.0], 1.0), "whole numbers"),
    "confidence": (
        lambda: networks.reliability([1.5], np.array([True])),
        "confidence must lie between 0 and 1",
    ),
    "no bin": (lambda: networks.reliability([0.5], np.array([True]), 0), "bins must be"),
    "no features": (lambda: networks.minimum_norm_fit(np.ones((3, 0)), [1.0] * 3), "X is empty"),
    "width 0": (
        lambda: networks.relu_features(X, 0, np.random.default_rng(0)),
        "width must be a whole number ≥ 1, got 0",
    ),
    "negative ridge": (lambda: networks.minimum_norm_fit(X, [1.0] * 3, -1.0), "penalty must be"),
    "outside": (lambda: networks.legendre_features([1.5], 2), "x must lie between -1 and 1"),
    "degree": (lambda: networks.legendre_features([0.5], -1), "degree must be"),
    "all digits": (
        lambda: networks.few_digits(1797, np.random.default_rng(0)),
        "n_train must leave digits to test",
    ),
    "more wrong than all": (
        lambda: networks.few_digits(10, np.random.default_rng(0), wrong=15),
        "wrong must be a part",
    ),
    "a step too long": (
        lambda: networks.descend_from([[1.0]], [1.0], [0.0], 2.0, 5),
        r"step must be below 2/σ²max = 2",
    ),
    "a step too large for a long column": (
        lambda: networks.descend_from([[3.0]], [1.0], [0.0], 0.25, 5),
        r"step must be below 2/σ²max = 0\.2222 ",
    ),
    "data of other width": (
        lambda: networks.autoencoder_loss([[1.0, 2.0]], MODEL),
        "rows of length 2 need an encoder",
    ),
    "too many units": (lambda: networks.best_autoencoder(X, 2), "units must be at most 1"),
    "moments": (
        lambda: networks.train_autoencoder([[1.0, 2.0]], MODEL, 0.1, 3),
        "second_moments must be a symmetric matrix",
    ),
    "divergence": (
        lambda: networks.train_autoencoder(
            [[5.0]], networks.Autoencoder(2 * MODEL.encoder, MODEL.decoder), 30.0, 50
        ),
        "the descent diverged",
    ),
    "purify for nothing": (lambda: networks.purify(X, 0.0), "penalty must be"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_with_a_sentence(name, as_readers_run_it):
    call, sentence = BAD[name]
    with pytest.raises(ValueError, match=sentence):
        call()
