"""Models of counts against dictionaries written from the papers, nltk and closed forms."""

import itertools
import math
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.lm import MLE, KneserNeyInterpolated, Laplace, Lidstone
from nltk.lm.smoothing import KneserNey as NltkKneserNey

from primer import language_models as lm
from primer.datasets import split_plays
from primer.language_models import counting

V = 4  # the boundary and three symbols
texts_of_three = st.lists(
    st.lists(st.integers(1, V - 1), min_size=1, max_size=40), min_size=1, max_size=4
)
orders = st.integers(1, 5)


@pytest.fixture(scope="module")
def macbeth():
    text = split_plays()[1]["Macbeth"]
    alphabet = lm.Alphabet(text)
    return alphabet, alphabet.encode(text)


# Counts -------------------------------------------------------------------------------------------


def padded_ngrams(text, order):
    """List the n-grams of a text as tuples."""
    symbols = [0] * (order - 1) + list(text) + [0]
    return [tuple(symbols[i : i + order]) for i in range(len(text) + 1)]


def as_key(gram, vocab_size=V):
    key = 0
    for symbol in gram:
        key = key * vocab_size + symbol
    return key


@given(texts_of_three, orders)
def test_counts_are_those_of_a_dictionary(texts, order):
    expected = Counter(gram for text in texts for gram in padded_ngrams(text, order))
    keys, values = lm.count_ngrams(texts, V, order)
    assert dict(zip(keys.tolist(), values.tolist(), strict=True)) == {
        as_key(gram): count for gram, count in expected.items()
    }


@given(texts_of_three, texts_of_three, orders)
def test_counts_add(one, other, order):
    added = lm.add_counts(*(lm.count_ngrams(texts, V, order) for texts in (one, other)))
    together = lm.count_ngrams([*one, *other], V, order)
    for got, wanted in zip(added, together, strict=True):
        np.testing.assert_array_equal(got, wanted)
    with pytest.raises(ValueError, match="at least one text to add"):
        lm.add_counts()


def test_counts_of_a_play_are_those_of_a_counter(macbeth):
    alphabet, codes = macbeth
    text = alphabet.decode(codes)
    for order in (1, 4):
        expected = Counter(text[i : i + order] for i in range(len(text) - order + 1))
        keys, values = lm.count_ngrams([codes], alphabet.vocab_size, order)
        inner = {}
        for key, value in zip(keys.tolist(), values.tolist(), strict=True):
            digits = [key // alphabet.vocab_size**j % alphabet.vocab_size for j in range(order)]
            if 0 not in digits:
                inner[alphabet.decode(digits[::-1])] = value
        assert inner == expected


def test_the_largest_order_fits_and_the_next_does_not():
    for vocab_size in (2, 81, 512, 1025, 50_257):
        order = lm.largest_order(vocab_size)
        assert vocab_size**order < 2**63 <= vocab_size ** (order + 1)
        top = np.full(order, vocab_size - 1)
        assert lm.ngram_keys(top, vocab_size, order).min() >= 0
        with pytest.raises(ValueError, match=f"take at most order {order}"):
            lm.ngram_keys(top, vocab_size, order + 1)


@given(st.text(min_size=1))
def test_an_alphabet_spells_its_own_texts(text):
    alphabet = lm.Alphabet(text)
    codes = alphabet.encode(text)
    assert alphabet.decode(codes) == text
    assert codes.min() >= 1
    assert codes.max() == alphabet.vocab_size - 1 == len(set(text))


# Models -------------------------------------------------------------------------------------------


def brute_force(texts, order, gram, discount=None):
    """Kneser–Ney from Chen and Goodman's formulas, with dictionaries and exact fractions."""
    counts = {order: Counter(g for text in texts for g in padded_ngrams(text, order))}
    for n in range(order - 1, 0, -1):  # how many different symbols come before
        before = defaultdict(set)
        for longer in counts[n + 1]:
            before[longer[1:]].add(longer[0])
        counts[n] = Counter({g: len(symbols) for g, symbols in before.items()})

    def discounts(n):
        if discount is not None:
            return [Fraction(0)] + [Fraction(discount)] * 3
        c = Counter(counts[n].values())
        if all(c[i] for i in (1, 2, 3, 4)):
            y = Fraction(c[1], c[1] + 2 * c[2])
            d = [i - (i + 1) * y * Fraction(c[i + 1], c[i]) for i in (1, 2, 3)]
            if all(0 <= d[i - 1] <= i for i in (1, 2, 3)):
                return [Fraction(0), *d]
        return [Fraction(0), Fraction(1, 2), Fraction(1), Fraction(3, 2)]

    def p(n, g):
        if n == 0:
            return Fraction(1, V)
        followers = {x: c for x, c in counts[n].items() if x[:-1] == g[:-1]}
        lower = p(n - 1, g[1:])
        if not followers:
            return lower
        d, total = discounts(n), sum(followers.values())
        kept = max(followers.get(g, 0) - d[min(followers.get(g, 0), 3)], Fraction(0))
        back = sum(d[min(c, 3)] for c in followers.values())
        return kept / total + back / total * lower

    return p(order, gram)


@given(texts_of_three, st.integers(1, 4), st.sampled_from([None, 0.25, 0.75]), st.data())
def test_kneser_ney_is_what_dictionaries_and_fractions_give(texts, order, discount, data):
    model = lm.KneserNey.fit(texts, V, order, discount)
    for _ in range(3):
        gram = data.draw(st.tuples(*[st.integers(0, V - 1)] * order))
        ours = model.probabilities(np.array([as_key(gram)]))[0]
        assert ours == pytest.approx(float(brute_force(texts, order, gram, discount)), abs=1e-14)


def test_a_discount_of_exactly_nothing_is_a_discount():
    def found(*n):
        return lm.kneser_ney_discounts(np.repeat([1, 2, 3, 4], n)).tolist()

    assert found(5, 2, 9, 1) == found(2, 1, 1, 3) == [0, 0.5, 1, 1.5]  # D_2 < 0, and D_3 < 0
    assert found(6, 3, 4, 6) == [0, 0.5, 0, 0]
    for n_1, n_2 in itertools.product(range(1, 30), repeat=2):
        n_3, rest = divmod(2 * (n_1 + 2 * n_2) * n_2, 3 * n_1)
        if not rest:  # then D_2 is 0; floats come out less than 0 in one of ten cases
            assert found(n_1, n_2, n_3, 1)[2] == 0


def test_the_estimated_discounts_are_used_where_a_corpus_has_all_counts():
    """The random corpora above are small: here every order but the lowest estimates its own."""
    draw = np.random.default_rng(5)
    texts = [draw.choice([1, 2, 3], p=[0.6, 0.3, 0.1], size=400).tolist()]
    model = lm.KneserNey.fit(texts, V, 4)
    assert sum(level.discounts.tolist() != [0, 0.5, 1, 1.5] for level in model.levels) >= 1
    for gram in [(1, 1, 1, 1), (3, 3, 3, 3), (2, 1, 3, 3), (1, 3, 2, 0), (0, 0, 0, 2)]:
        expected = float(brute_force(texts, 4, gram))
        assert model.probabilities(np.array([as_key(gram)]))[0] == pytest.approx(
            expected, abs=1e-14
        )


@given(
    texts_of_three,
    orders,
    st.sampled_from(["maximum likelihood", "Laplace", "add .1", "Kneser–Ney", "discount"]),
    st.lists(st.integers(0, V - 1), max_size=7),
)
def test_every_distribution_sums_to_one(texts, order, kind, context):
    model = {
        "maximum likelihood": lambda: lm.AddK.fit(texts, V, order),
        "Laplace": lambda: lm.AddK.fit(texts, V, order, k=1),
        "add .1": lambda: lm.AddK.fit(texts, V, order, k=0.1),
        "Kneser–Ney": lambda: lm.KneserNey.fit(texts, V, order),
        "discount": lambda: lm.KneserNey.fit(texts, V, order, discount=0.9),
    }[kind]()
    p = model.distribution(context)
    assert p.min() >= 0
    assert p.sum() == pytest.approx(1, abs=1e-13)
    assert kind == "maximum likelihood" or p.min() > 0


def test_all_texts_together_have_probability_one():
    """With an end symbol the probabilities of all strings add up to 1 (here: of length ≤ 60)."""
    model = lm.KneserNey.fit([[1, 2, 1], [1], [2, 2]], 3, 2)
    transitions = model.distributions(np.arange(3))
    alive, ended = np.array([1.0, 0, 0]), 0.0
    for _ in range(60):
        after = alive @ transitions
        ended += after[0]
        alive = np.array([0, after[1], after[2]])
    assert ended == pytest.approx(1, abs=1e-4)
    assert ended < 1


@given(texts_of_three, orders)
def test_without_smoothing_the_corpus_itself_is_never_impossible(texts, order):
    model = lm.AddK.fit(texts, V, order)
    for text in texts:
        assert np.isfinite(model.log2_probabilities(text)).all()


def test_maximum_likelihood_beats_every_other_table_on_its_own_corpus():
    """Counts are the maximum: moving a little mass in any row costs bits."""
    draw = np.random.default_rng(0)
    text = draw.integers(1, V, size=200)
    table = lm.AddK.fit([text], V, 2).distributions(np.arange(V))
    counts = np.zeros((V, V))
    np.add.at(counts, (np.append(0, text), np.append(text, 0)), 1)
    best = (counts * np.log(np.where(counts > 0, table, 1))).sum()
    for _ in range(50):
        other = draw.dirichlet(np.ones(V), size=V)
        mixed = 0.95 * table + 0.05 * other
        assert (counts * np.log(np.where(counts > 0, mixed, 1))).sum() < best


def nltk_model(model, text, order):
    grams = [tuple(map(str, g)) for n in range(1, order + 1) for g in plain_ngrams(text, n)]
    model.fit([grams], vocabulary_text=[str(symbol) for symbol in range(V)])
    return model


def plain_ngrams(text, n):
    """List what nltk counts: no padding of its own, ours written out."""
    symbols = [0, *text, 0]
    start = 1 if n == 1 else 0
    return [tuple(symbols[i : i + n]) for i in range(start, len(symbols) - n + 1)]


@given(st.lists(st.integers(1, V - 1), min_size=1, max_size=40), st.data())
def test_bigrams_agree_with_nltk(text, data):
    first, second = data.draw(st.integers(0, V - 1)), data.draw(st.integers(0, V - 1))
    for ours, theirs in [
        (lm.AddK.fit([text], V, 2, k=1), nltk_model(Laplace(2), text, 2)),
        (lm.AddK.fit([text], V, 2, k=0.3), nltk_model(Lidstone(0.3, 2), text, 2)),
        (lm.AddK.fit([text], V, 2), nltk_model(MLE(2), text, 2)),
    ]:
        if isinstance(theirs, MLE) and not theirs.context_counts((str(first),)).N():
            continue  # nltk gives 0 to everything there, we 1/V
        p = theirs.score(str(second), [str(first)])
        # nltk counts its unknown symbol as one of the vocabulary
        if not isinstance(theirs, MLE):
            k = theirs.gamma
            n = theirs.context_counts((str(first),)).N()
            p *= (n + k * len(theirs.vocab)) / (n + k * V)
        assert ours.distribution([first])[second] == pytest.approx(p, abs=1e-14)


@given(
    st.lists(st.integers(1, V - 1), min_size=2, max_size=40), st.sampled_from([0.1, 0.5]), st.data()
)
def test_kneser_ney_bigrams_agree_with_nltk_where_its_discount_allows(text, discount, data):
    """Nltk has one discount and does not mix its lowest order with 1/V: compare above that."""
    ours = lm.KneserNey.fit([text], V, 2, discount=discount)
    theirs = nltk_model(KneserNeyInterpolated(2, discount), text, 2)
    lowest = ours.levels[1]
    assert isinstance(theirs.estimator, NltkKneserNey)
    first, second = data.draw(st.integers(0, V - 1)), data.draw(st.integers(0, V - 1))
    context = (str(first),)
    if not theirs.context_counts(context).N():
        return
    alpha, gamma = theirs.estimator.alpha_gamma(str(second), context)
    values = counting.lookup(lowest.counts, np.array([second]))[0]
    share = max(values - lowest.discounts[min(values, 3)], 0) / lowest.totals[0]
    unigram = share + lowest.kept_back[0] / V
    assert ours.distribution([first])[second] == pytest.approx(alpha + gamma * unigram, abs=1e-14)
    if values:  # and the lowest order before our discount is theirs
        assert values / lowest.totals[0] == pytest.approx(
            theirs.estimator.unigram_score(str(second)), abs=1e-14
        )


def test_a_longer_text_does_not_change_what_came_before(macbeth):
    alphabet, codes = macbeth
    model = lm.KneserNey.fit([codes[:50_000]], alphabet.vocab_size, 5)
    whole = model.log2_probabilities(codes[50_000:51_000])
    part = model.log2_probabilities(codes[50_000:50_400])
    np.testing.assert_array_equal(whole[:400], part[:-1])


def test_the_sum_of_steps_is_the_text(macbeth):
    alphabet, codes = macbeth
    model = lm.KneserNey.fit([codes[:50_000]], alphabet.vocab_size, 4)
    text = codes[50_000:50_060]
    steps = [math.log2(model.distribution(text[:t])[symbol]) for t, symbol in enumerate([*text, 0])]
    np.testing.assert_allclose(model.log2_probabilities(text), steps, atol=1e-12)


def test_samples_follow_the_distribution():
    draw = np.random.default_rng(1)
    model = lm.KneserNey.fit([[1, 2, 3, 1, 2, 1]], V, 3)
    firsts = [model.sample(1, draw) for _ in range(4000)]
    p = model.distribution([])
    for symbol in range(V):
        share = np.mean([text == ([symbol] if symbol else []) for text in firsts])
        assert share == pytest.approx(p[symbol], abs=5 * math.sqrt(p[symbol] / 4000))
    assert len(model.sample(50, np.random.default_rng(0), prompt=[1, 2])) <= 50


# Shannon's bounds ---------------------------------------------------------------------------------


@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=8))
def test_shannons_bounds_enclose_the_entropy_of_an_ideal_guesser(weights):
    p = np.sort(np.array(weights) / sum(weights))[::-1]
    ranks = np.repeat(np.arange(1, len(p) + 1), np.rint(p * 1_000_000).astype(int))
    lower, upper = lm.shannon_bounds(ranks)
    assert lower - 1e-4 <= lm.entropy(p, base=2) <= upper + 1e-4


def test_shannons_bounds_meet_for_fair_dice():
    lower, upper = lm.shannon_bounds(np.repeat(np.arange(1, 9), 5))
    assert lower == pytest.approx(3)
    assert upper == pytest.approx(3)


# Bad input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lm.KneserNey.fit([[1]], V, 0), "order must be a whole number ≥ 1, got 0"),
        (lambda: lm.AddK.fit([[1]], V, -2), "order must be a whole number ≥ 1, got -2"),
        (lambda: lm.AddK.fit([[1]], V, 1, k=-0.5), "k must be a finite number, 0 or larger"),
        (lambda: lm.AddK.fit([[1]], V, 1, k=math.nan), "k must be one finite number, got nan"),
        (lambda: lm.KneserNey.fit([[1]], V, 1, discount=1.0), "less than 1, got 1.0"),
        (lambda: lm.KneserNey.fit([[1]], V, 1, discount=-0.1), "discount"),
        (lambda: lm.KneserNey.fit([], V, 2), "at least one text to count, got none"),
        (lambda: lm.KneserNey.fit([[1], []], V, 2), "text 1 is empty"),
        (lambda: lm.count_ngrams("to be", V, 2), "encode each text first"),
        (lambda: lm.count_ngrams({"Hamlet": [1]}, V, 2), "got one dict"),
        (lambda: lm.count_ngrams([[1, 9]], V, 2), "symbols are 0 to 3, got 9"),
        (lambda: lm.count_ngrams([[-1]], V, 2), "symbols are 0 to 3, got -1"),
        (lambda: lm.count_ngrams([[0.5]], V, 2), "encode strings first"),
        (lambda: lm.count_ngrams([[1]], 1, 1), "vocab_size must be a whole number ≥ 2"),
        (lambda: lm.Alphabet(""), "at least one character"),
        (lambda: lm.Alphabet("ab").encode("cab"), "has no 'c'"),
        (lambda: lm.Alphabet("ab").decode([3]), "codes are 0 to 2, got 3"),
        (lambda: lm.KneserNey.fit([[1]], V, 2).distribution([7]), "symbols are 0 to 3, got 7"),
        (
            lambda: lm.KneserNey.fit([[1]], V, 2).sample(0, np.random.default_rng(0)),
            "length must be a whole number ≥ 1",
        ),
        (lambda: lm.shannon_bounds(np.array([0, 1])), "ranks must be whole numbers, 1 for"),
        (lambda: lm.shannon_bounds(np.array([], dtype=int)), "ranks must be whole numbers"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_discounts_fall_back_where_they_cannot_be_estimated():
    fallback = [0, 0.5, 1, 1.5]
    assert lm.kneser_ney_discounts(np.array([1, 1, 2])).tolist() == fallback
    strange = np.repeat([1, 2, 3, 4], [1, 1, 1, 50])  # would give a negative discount
    assert lm.kneser_ney_discounts(strange).tolist() == fallback
