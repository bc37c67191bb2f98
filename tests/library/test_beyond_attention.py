"""Memories of pairs: kernels, linear attention, ridge, delta rule."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import polynomial_kernel

from primer.beyond_attention import (
    AdditiveMemory,
    DeltaMemory,
    Memory,
    RidgeMemory,
    SoftmaxMemory,
    elu_features,
    linear_attention,
    parallel_delta_rule,
    quadratic_features,
    recall,
    ridge_attention,
    sherman_morrison,
    similarity_attention,
)

sizes = st.integers(1, 7)
seeds = st.integers(0, 2**32 - 1)


def draw(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


@given(seeds, sizes, sizes, st.booleans())
def test_the_exponential_kernel_is_softmax_attention(
    seed: int, n: int, d: int, causal: bool
) -> None:
    q, k, v = (draw(seed + part, n, d) for part in range(3))
    theirs = torch.nn.functional.scaled_dot_product_attention(
        *map(torch.tensor, (q, k, v)), is_causal=causal, scale=1.0
    )
    ours = similarity_attention(q, k, v, np.exp, causal=causal)
    np.testing.assert_allclose(ours, theirs, atol=1e-12, rtol=1e-9)


@given(seeds, sizes, sizes)
def test_quadratic_features_have_the_quadratic_kernel(seed: int, n: int, d: int) -> None:
    x, y = draw(seed, n, d), draw(seed + 1, n, d)
    features = quadratic_features(x)
    assert features.shape == (n, (d + 1) * (d + 2) // 2)
    kernel = polynomial_kernel(x, y, degree=2, gamma=1, coef0=1)
    np.testing.assert_allclose(features @ quadratic_features(y).T, kernel, atol=1e-11)


@given(seeds, st.integers(1, 40), sizes, sizes, st.integers(1, 50), st.booleans())
def test_three_forms_of_linear_attention_are_one(
    seed: int, n: int, d: int, d_v: int, chunk: int, normalize: bool
) -> None:
    q, k = elu_features(draw(seed, n, d)), elu_features(draw(seed + 1, n, d))
    v = draw(seed + 2, n, d_v)
    expected = similarity_attention(q, k, v, lambda x: x, causal=True)
    if not normalize:
        expected = np.tril(q @ k.T) @ v
    for form in ("parallel", "recurrent", "chunked"):
        got = linear_attention(q, k, v, normalize=normalize, form=form, chunk=chunk)
        np.testing.assert_allclose(got, expected, atol=1e-12, rtol=1e-12)


def test_elu_features_are_torchs() -> None:
    x = draw(0, 5, 4)
    np.testing.assert_allclose(
        elu_features(x), torch.nn.functional.elu(torch.tensor(x)) + 1, atol=1e-15
    )


@given(seeds, st.integers(1, 20), sizes, sizes, st.floats(0.01, 10))
def test_ridge_attention_is_ridge_regression(
    seed: int, n: int, d: int, d_v: int, penalty: float
) -> None:
    q, k, v = draw(seed, 3, d), draw(seed + 1, n, d), draw(seed + 2, n, d_v)
    theirs = Ridge(alpha=penalty, fit_intercept=False).fit(k, v).predict(q).reshape(3, d_v)
    np.testing.assert_allclose(ridge_attention(q, k, v, penalty), theirs, atol=1e-8)
    memory = RidgeMemory(d, d_v, penalty)
    for key, value in zip(k, v, strict=True):
        memory.write(key, value)
    np.testing.assert_allclose(memory.read(q), theirs, atol=1e-8)


@given(seeds, st.floats(0, 9), st.floats(-18, 2))
def test_ridge_attention_keeps_what_squares_would_lose(
    seed: int, digits: float, penalty: float
) -> None:
    left, right = (np.linalg.qr(draw(seed + i, n, 3))[0] for i, n in enumerate((6, 3)))
    sigma, value, lam = (
        10.0 ** np.array([0, -digits / 2, -digits]),
        draw(seed + 2, 6, 2),
        10**penalty,
    )
    expected = right @ np.diag(sigma / (sigma**2 + lam)) @ left.T @ value
    found = ridge_attention(np.eye(3), left @ np.diag(sigma) @ right.T, value, lam)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())


@given(seeds, st.floats(-14, 0))
def test_a_ridge_memory_is_the_regression_or_refuses(seed: int, digits: float) -> None:
    k, v = draw(seed, 20, 4), draw(seed + 1, 20, 2)
    k[:10] = k[:10, :2] @ draw(seed + 2, 2, 4)  # at first all in a plane
    memory, penalty = RidgeMemory(4, 2, penalty=10**digits), 10**digits
    try:
        for key, value in zip(k, v, strict=True):
            memory.write(key, value)
    except ValueError as error:
        assert "key is too long beside penalty" in str(error)  # noqa: PT017 -- this or the fit
        return
    np.testing.assert_allclose(memory.W, ridge_attention(np.eye(4), k, v, penalty), atol=1e-4)


@pytest.mark.parametrize(
    ("memory", "value"),
    [
        (SoftmaxMemory(1.0), [np.nan]),
        (SoftmaxMemory(1.0), [1.0, 2.0]),
        (RidgeMemory(1, 1), [-1.7e308]),
    ],
)
def test_a_refused_pair_leaves_a_memory_as_it_was(memory: Memory, value: list[float]) -> None:
    memory.write([1.0], [1.5e308])
    before = copy.deepcopy(vars(memory))
    with pytest.raises(ValueError, match=r"value must|memory would grow"):
        memory.write([1.0], value)
    np.testing.assert_equal(vars(memory), before)


def test_forgetting_weighs_the_regression() -> None:
    k, v = draw(0, 30, 3), draw(1, 30, 2)
    memory = RidgeMemory(3, 2, penalty=1.0, keep=0.9)
    for key, value in zip(k, v, strict=True):
        memory.write(key, value)
    weights = 0.9 ** np.arange(30)[::-1]
    fit = Ridge(alpha=0.9**30, fit_intercept=False).fit(k, v, sample_weight=weights)
    np.testing.assert_allclose(memory.W, fit.coef_.T, atol=1e-9)


@given(seeds, sizes)
def test_sherman_morrison_is_the_inverse(seed: int, d: int) -> None:
    A, u, v = draw(seed, d, d) + 5 * np.eye(d), draw(seed + 1, d), draw(seed + 2, d)
    changed = A + np.outer(u, v)
    if np.linalg.cond(A) < 1e4 and np.linalg.cond(changed) < 1e4:
        got = sherman_morrison(np.linalg.inv(A), u, v)
        np.testing.assert_allclose(got, np.linalg.inv(changed), atol=1e-6)


@given(seeds, st.integers(1, 30), sizes, sizes)
def test_the_delta_rule_in_parallel_is_the_loop(seed: int, n: int, d: int, d_v: int) -> None:
    q, k, v = draw(seed, n, d), draw(seed + 1, n, d), draw(seed + 2, n, d_v)
    k /= np.linalg.norm(k, axis=1, keepdims=True)
    rates = np.random.default_rng(seed).uniform(0, 1, n)
    memory, answers = DeltaMemory(d, d_v), []
    for t in range(n):
        memory.rate = rates[t]
        memory.write(k[t], v[t])
        answers.append(memory.read(q[t]))
    np.testing.assert_allclose(parallel_delta_rule(q, k, v, rates), answers, atol=1e-11)


def test_the_delta_rule_is_a_gradient_step() -> None:
    memory, key, value = DeltaMemory(3, 2, rate=0.3), draw(0, 3), draw(1, 2)
    memory.W = draw(2, 3, 2)
    weight = torch.tensor(memory.W, requires_grad=True)
    (0.5 * ((torch.tensor(key) @ weight - torch.tensor(value)) ** 2).sum()).backward()
    assert weight.grad is not None
    expected = memory.W - 0.3 * weight.grad.numpy()
    memory.write(key, value)
    np.testing.assert_allclose(memory.W, expected, atol=1e-15)


def test_addition_is_linear_attention_without_a_normalizer() -> None:
    k, v, q = draw(0, 9, 4), draw(1, 9, 3), draw(2, 9, 4)
    memory, answers = AdditiveMemory(4, 3), []
    for t in range(9):
        memory.write(k[t], v[t])
        answers.append(memory.read(q[t]))
    np.testing.assert_allclose(linear_attention(q, k, v, normalize=False), answers, atol=1e-13)
    fading = AdditiveMemory(4, 3, keep=0.5)
    for t in range(9):
        fading.write(k[t], v[t])
    np.testing.assert_allclose(fading.W, (0.5 ** np.arange(9)[::-1, None] * k).T @ v, atol=1e-13)


def test_softmax_memory_is_attention_and_recency_its_bias() -> None:
    k, v, q = draw(0, 9, 4), draw(1, 9, 3), draw(2, 2, 4)
    for recency in (0.0, 0.3):
        memory = SoftmaxMemory(sharpness=0.5, recency=recency)
        for t in range(9):
            memory.write(k[t], v[t])
        theirs = torch.nn.functional.scaled_dot_product_attention(
            *map(torch.tensor, (q, k, v)),
            attn_mask=torch.tensor(-recency * np.arange(9.0)[::-1].copy()).expand(2, 9),
            scale=0.5,
        )
        np.testing.assert_allclose(memory.read(q), theirs, atol=1e-13)


@pytest.mark.parametrize(
    "memory", [DeltaMemory(4, 4), RidgeMemory(4, 4, 1e-9), AdditiveMemory(4, 4)]
)
def test_orthogonal_keys_are_recalled(memory: Memory) -> None:
    codes = np.linalg.qr(draw(3, 4, 4))[0]
    for key, value in zip(np.eye(4), codes, strict=True):
        memory.write(key, value)
    assert recall(memory, np.eye(4), codes, np.arange(4)).all()
    assert not recall(memory, np.eye(4), codes, np.roll(np.arange(4), 1)).any()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: linear_attention([[1.0]], [[1.0, 2.0]], [[1.0]]), "as many"),
        (lambda: linear_attention([[1.0]], [[1.0]], [[1.0], [2.0]]), "each key needs one value"),
        (lambda: linear_attention([[1.0]] * 2, [[1.0]], [[1.0]]), "causal"),
        (lambda: linear_attention([[1.0]], [[-1.0]], [[1.0]]), "positive features"),
        (lambda: linear_attention([[1.0]], [[1.0]], [[1.0]], form="fast"), "one of"),
        (lambda: linear_attention([[1.0]], [[1.0]], [[1.0]], chunk=0), "whole number"),
        (lambda: ridge_attention([[1.0]], [[1.0]], [[1.0]], 0.0), "penalty"),
        (lambda: sherman_morrison([[1.0]], [1.0], [-1.0]), "singular"),
        (lambda: sherman_morrison([[1.0, 2.0]], [1.0], [1.0]), "square"),
        (lambda: SoftmaxMemory(1.0).read([1.0]), "nothing was written"),
        (lambda: AdditiveMemory(1, 1, keep=1.5), "between 0 and 1"),
        (lambda: AdditiveMemory(1, 1).read([1.0, 2.0]), "the keys have 1"),
        (lambda: DeltaMemory(1, 1, rate=-1), "rate"),
        (lambda: DeltaMemory(2, 1).write([1.0], [1.0]), "key"),
        (lambda: parallel_delta_rule([[1.0]], [[1.0]], [[1.0]], [-1.0]), "negative"),
        (lambda: recall(AdditiveMemory(1, 1), [[1.0]], [[1.0]], [0, 0]), "as many answers"),
    ],
)
def test_what_does_not_fit_is_said(call, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()
