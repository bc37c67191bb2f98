"""Scores against SciPy and torch; the window model and word vectors against formulas."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import special, stats

from primer import language_models as lm
from primer.language_models import window as windows

logits = arrays(float, (3, 5), elements=st.floats(-700, 700))


def distributions(size):
    weights = arrays(float, size, elements=st.floats(0, 1) | st.just(0.0))
    return weights.filter(lambda w: w.sum() > 1e-3).map(lambda w: w / w.sum())


# Losses -------------------------------------------------------------------------------------------


@given(logits, st.floats(-1000, 1000))
def test_softmax_is_scipys_and_no_shift_changes_it(z, shift):
    least = np.finfo(float).tiny  # below it a number has fewer digits than the tolerance asks for
    np.testing.assert_allclose(lm.softmax(z), special.softmax(z, axis=-1), rtol=1e-12, atol=least)
    np.testing.assert_allclose(lm.log_softmax(z), special.log_softmax(z, axis=-1), atol=1e-10)
    np.testing.assert_allclose(lm.softmax(z + shift), lm.softmax(z), atol=1e-10)


@given(distributions(6), distributions(6), st.sampled_from([2, math.e, 10]))
def test_entropies_are_scipys(p, q, base):
    assert lm.entropy(p, base) == pytest.approx(stats.entropy(p, base=base), abs=1e-12)
    divergence = lm.kl_divergence(p, q, base)
    assert divergence == pytest.approx(stats.entropy(p, q, base=base), abs=1e-9)
    assert divergence >= -1e-12
    both = lm.entropy(p, base) + divergence
    assert lm.cross_entropy(p, q, base) == pytest.approx(both, abs=1e-9)


@given(distributions(6), distributions(6), distributions(6))
def test_tensors_get_a_number_for_each_distribution_and_their_gradient(p, q, r):
    rows = torch.tensor(np.stack([p, q]), requires_grad=True)
    others = torch.tensor(np.stack([r, p]))
    np.testing.assert_allclose(lm.entropy(rows, 2).tolist(), [lm.entropy(p, 2), lm.entropy(q, 2)])
    for of in (lm.cross_entropy, lm.kl_divergence):
        np.testing.assert_allclose(of(rows, others).tolist(), [of(p, r), of(q, p)], atol=1e-12)
    lm.kl_divergence(others, rows).sum().backward()
    np.testing.assert_allclose(rows.grad, -others / rows.detach())


def test_entropy_bears_the_rounding_of_half_precision():
    p = torch.zeros(61, dtype=torch.bfloat16).softmax(0)  # its sum is further from 1 than 0.001
    assert lm.entropy(p).item() == pytest.approx(math.log(61), rel=0.01)


@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=20))
def test_perplexity_is_the_inverse_geometric_mean(q):
    assert lm.perplexity(q) == pytest.approx(1 / stats.gmean(q))


@given(st.floats(0.01, 10), st.integers(1, 10**6), st.integers(1, 10**6))
def test_units_convert_forth_and_back(nats, tokens, characters):
    bits = lm.bits_per_character(nats, tokens, characters)
    if bits * characters / tokens < 1000:
        assert lm.perplexity_per(tokens, characters, bits) == pytest.approx(math.exp(nats))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lm.entropy([0.5, 0.6]), "p must sum to 1, but sums to 1.1"),
        (lambda: lm.entropy([1.5, -0.5]), "p must not be negative, got -0.5 at 1"),
        (lambda: lm.entropy([]), "p is empty"),
        (lambda: lm.entropy([1.0], base=1), "base must be above 1"),
        (lambda: lm.cross_entropy([1.0], [0.5, 0.5]), "1 outcomes and q has 2"),
        (lambda: lm.kl_divergence([1.0, 0.0], [0.5, 0.4]), "q must sum to 1"),
        (
            lambda: lm.entropy(torch.tensor([0.5, 0.6])),
            "numbers ≥ 0 that sum to 1, got the sum 1.1",
        ),
        (
            lambda: lm.kl_divergence(torch.tensor([1.0]), [1.0]),
            r"or neither; write torch.tensor\(q\)",
        ),
        (
            lambda: lm.kl_divergence(torch.ones(1), torch.ones(2, 1)),
            r"p has shape \(1,\) and q \(2, 1\)",
        ),
        (lambda: lm.perplexity([0.5, 1.2]), "between 0 and 1, got 1.2"),
        (lambda: lm.perplexity([]), "is empty"),
        (lambda: lm.softmax([math.inf, 0]), "logits must be finite"),
        (lambda: lm.bits_per_character(-1, 2, 3), "nats_per_token"),
        (lambda: lm.bits_per_character(1, 0, 3), "tokens must be a whole number ≥ 1"),
        (lambda: lm.perplexity_per(0, 3, 1.0), "unit must be a whole number ≥ 1"),
    ],
)
def test_bad_scores_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# The window model ---------------------------------------------------------------------------------


def test_the_window_model_is_its_formula():
    torch.manual_seed(0)
    model = lm.WindowModel(vocab_size=7, window=3, d_embed=4, d_hidden=5).double()
    contexts = torch.randint(7, (6, 3))
    e = torch.cat([model.embed.weight[contexts[:, i]] for i in range(3)], dim=1)
    h = torch.tanh(e @ model.hidden.weight.T + model.hidden.bias)
    torch.testing.assert_close(model(contexts), h @ model.head.weight.T + model.head.bias)


@given(*[st.integers(1, 12)] * 4)
def test_parameters_are_counted(v, w, d, h):
    model = lm.WindowModel(v, w, d, h)
    built = sum(weight.numel() for weight in model.parameters())
    assert lm.count_window_parameters(v, w, d, h) == built


@given(st.lists(st.integers(1, 5), max_size=12), st.integers(1, 4))
def test_rows_hold_each_symbol_once_as_target(text, window):
    rows = lm.window_rows(text, 6, window).tolist()
    padded = [0] * window + text + [0]
    assert rows == [padded[i : i + window + 1] for i in range(len(text) + 1)]


def test_training_learns_a_rule_and_repeats_itself():
    text = [1, 2, 3] * 60
    rows = lm.window_rows(text, 4, 2)
    losses = []
    for _ in range(2):
        torch.manual_seed(3)
        model = lm.WindowModel(4, 2, 6, 12)
        losses.append(lm.train_window_model(model, rows, steps=150, batch_size=32, seed=1))
    np.testing.assert_array_equal(*losses)
    assert losses[0][:5].mean() > 1.2
    assert losses[0][-20:].mean() < 0.15
    cost = -lm.window_log_probabilities(model, text)
    assert len(cost) == len(text) + 1
    assert cost[:-1].mean() < 0.15


def test_probabilities_see_nothing_of_the_future():
    model, alphabet, about = lm.load_window_model()
    text = alphabet.encode("To be, or not to be, that is the question.")
    whole, part = (lm.window_log_probabilities(model, t) for t in (text, text[:20]))
    torch.testing.assert_close(whole[:20], part[:20])
    assert about["sizes"] == model.sizes


def test_a_saved_model_is_loaded_again(tmp_path):
    torch.manual_seed(0)
    model, alphabet = lm.WindowModel(4, 2, 3, 5), lm.Alphabet("abc")
    file = tmp_path / "small.safetensors"
    windows.save_window_model(file, model, alphabet, corpus="none")
    again, letters, about = lm.load_window_model(file)
    assert letters.characters == "abc"
    assert about["corpus"] == "none"
    for name, weight in model.state_dict().items():
        torch.testing.assert_close(again.state_dict()[name], weight, atol=1e-3, rtol=1e-3)


def test_a_file_that_is_no_window_model_is_refused(tmp_path):
    from safetensors.torch import save_file

    with pytest.raises(ValueError, match="there is no file"):
        lm.load_window_model(tmp_path / "none.safetensors")
    (tmp_path / "text.safetensors").write_text("to be")
    with pytest.raises(ValueError, match="is damaged or no safetensors"):
        lm.load_window_model(tmp_path / "text.safetensors")
    save_file({"a": torch.zeros(1)}, tmp_path / "other.safetensors")
    with pytest.raises(ValueError, match="is no window model"):
        lm.load_window_model(tmp_path / "other.safetensors")


# Word vectors -------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 5), min_size=2, max_size=15), st.integers(1, 20))
def test_pairs_are_those_of_the_double_loop(words, window):
    expected = sorted(
        [words[t], words[t + j]]
        for t in range(len(words))
        for j in range(-window, window + 1)
        if j and 0 <= t + j < len(words)
    )
    assert sorted(lm.skip_gram_pairs(words, window).tolist()) == expected


def test_the_loss_of_skip_gram_is_the_formula_and_its_gradient_is_right():
    torch.manual_seed(0)
    v, u = torch.randn(2, 5, 3, dtype=torch.float64).requires_grad_().unbind()
    pairs = torch.tensor(lm.skip_gram_pairs([0, 3, 1, 4, 4, 2], 2).copy())
    outside, center = u.detach().numpy(), v.detach().numpy()
    by_hand = -sum(
        math.log(math.exp(outside[o] @ center[c]) / np.exp(outside @ center[c]).sum())
        for c, o in pairs.tolist()
    ) / len(pairs)
    assert lm.skip_gram_loss(v, u, pairs).item() == pytest.approx(by_hand)
    assert torch.autograd.gradcheck(
        lambda a, b: lm.skip_gram_loss(a, b, pairs),
        (v.detach().requires_grad_(), u.detach().requires_grad_()),
    )


@given(st.lists(st.integers(0, 4), min_size=2, max_size=30), st.sampled_from([1.0, 0.75]))
def test_the_table_is_the_formula(words, power):
    pairs = lm.skip_gram_pairs(words, 2)
    n = np.zeros((5, 5))
    np.add.at(n, (pairs[:, 0], pairs[:, 1]), 1)
    outside = n.sum(0) ** power
    with np.errstate(divide="ignore", invalid="ignore"):
        table = np.log(n * outside.sum() / (n.sum(1)[:, None] * outside))
    expected = np.where(n > 0, np.maximum(table, 0), 0)
    np.testing.assert_allclose(lm.positive_pmi(pairs, 5, power).toarray(), expected, atol=1e-12)


def test_vectors_are_the_largest_singular_directions():
    draw = np.random.default_rng(0)
    words = draw.integers(0, 12, 400)
    table = lm.positive_pmi(lm.skip_gram_pairs(words, 3), 12)
    vectors = lm.spectral_vectors(table, 4)
    left, values, _ = np.linalg.svd(table.toarray())
    np.testing.assert_allclose(
        vectors @ vectors.T, left[:, :4] * values[:4] @ left[:, :4].T, atol=1e-8
    )
    np.testing.assert_array_equal(lm.spectral_vectors(table, 4), vectors)


def test_neighbors_are_the_largest_cosines():
    vectors = np.random.default_rng(1).standard_normal((9, 4))
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    for word in range(9):
        order = [i for i in np.argsort(-(unit @ unit[word])) if i != word]
        assert lm.nearest(vectors, word, 8).tolist() == order


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lm.WindowModel(5, 0, 2, 2), "window must be a whole number ≥ 1"),
        (lambda: lm.count_window_parameters(5, 1, 2, 0), "d_hidden must be a whole number"),
        (lambda: lm.window_rows([9], 5, 2), "symbols are 0 to 4, got 9"),
        (
            lambda: lm.WindowModel(5, 2, 2, 2)(torch.zeros(1, 3, dtype=torch.long)),
            "reads 2 symbols, got contexts of 3",
        ),
        (
            lambda: lm.train_window_model(
                lm.WindowModel(5, 2, 2, 2), torch.zeros(0, 3, dtype=torch.int16), 1
            ),
            "no rows to learn from",
        ),
        (lambda: lm.skip_gram_pairs([1], 1), "at least two whole numbers"),
        (lambda: lm.skip_gram_pairs([1, 2], 0), "window must be a whole number ≥ 1"),
        (
            lambda: lm.positive_pmi(np.array([[0, 7]]), 3),
            "pairs must hold words 0 to 2, at least one pair",
        ),
        (lambda: lm.positive_pmi(np.array([[0, 1]]), 3, power=0), "power must be a finite number"),
        (
            lambda: lm.spectral_vectors(lm.positive_pmi(np.array([[0, 1]]), 3), 3),
            "dim must be less than the 3 words",
        ),
        (lambda: lm.nearest(np.eye(3), 5, 1), "words are 0 to 2, got 5"),
        (lambda: lm.nearest(np.eye(3), 0, 3), "at most 2 others"),
    ],
)
def test_bad_networks_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("vocab_size", [100, 127, 129, 2**15, 2**15 + 1, 70_000])
def test_a_row_holds_its_symbols_however_large_the_vocabulary_is(vocab_size):
    last = vocab_size - 1
    rows = lm.window_rows([last, 1, last], vocab_size, 2)
    assert rows.tolist() == [[0, 0, last], [0, last, 1], [last, 1, last], [1, last, 0]]
