"""Tags, paths, spans, scores and lines against brute force, pytorch-crf, scikit-learn and SciPy."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy.stats
import sklearn.metrics
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from tokenizers import models
from torch.nn import functional
from torchcrf import CRF

from primer import pretraining as pre

seeds = st.integers(0, 2**31)
KINDS = ("LOC", "PER")
TAGS = ["O"] + [f"{mark}-{kind}" for kind in KINDS for mark in "BI"]


@st.composite
def sentences(draw):
    """A sentence's length and some spans that do not overlap."""
    n = draw(st.integers(1, 15))
    edges = sorted(draw(st.sets(st.integers(0, n), max_size=6)))
    pairs = zip(edges[::2], edges[1::2], strict=False)
    return n, [pre.Span(a, b, draw(st.sampled_from(KINDS))) for a, b in pairs]


# --- tags -------------------------------------------------------------------------------------


@given(sentences())
def test_tags_and_back(sentence):
    n, spans = sentence
    tags = pre.encode_bio(spans, n)
    assert len(tags) == n
    assert pre.decode_bio(tags) == spans


@given(st.lists(st.sampled_from(TAGS), min_size=1, max_size=8))
def test_tags_decode_exactly_when_each_may_follow(tags):
    legal = all(itertools.starmap(pre.may_follow, itertools.pairwise(["O", *tags])))
    if legal:
        assert pre.encode_bio(pre.decode_bio(tags), len(tags)) == tags
    else:
        with pytest.raises(ValueError, match="continues nothing"):
            pre.decode_bio(tags)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: pre.decode_bio(["B"]), "is no BIO tag"),
        (lambda: pre.decode_bio(["B-"]), "is no BIO tag"),
        (lambda: pre.decode_bio(["O", "E-LOC"]), "is no BIO tag"),
        (lambda: pre.decode_bio(["B-PER", "I-LOC"]), "begin with 'B-LOC'"),
        (lambda: pre.encode_bio([pre.Span(1, 1, "LOC")], 3), "does not fit"),
        (lambda: pre.encode_bio([pre.Span(2, 4, "LOC")], 3), "does not fit"),
        (lambda: pre.encode_bio([pre.Span(0, 2, "A"), pre.Span(1, 3, "B")], 3), "overlaps"),
        (lambda: pre.spread_tags(["O"], [1, 1]), "need as many numbers"),
        (lambda: pre.spread_tags(["O"], [0]), "need as many numbers"),
        (lambda: pre.collect_tags(["O"], [2]), "each needs one"),
        (lambda: pre.longest_match("", {"a"}), "no word to cut"),
    ],
)
def test_bad_tags_are_refused(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


@given(st.lists(st.tuples(st.sampled_from(TAGS), st.integers(1, 5)), min_size=1, max_size=10))
def test_pieces_and_back(words):
    tags, pieces = [list(column) for column in zip(*words, strict=True)]
    assert pre.collect_tags(pre.spread_tags(tags, pieces), pieces) == tags


@given(
    st.text("ab", min_size=1, max_size=12),
    st.sets(
        st.text("ab", min_size=1, max_size=4).flatmap(lambda s: st.sampled_from([s, f"##{s}"]))
    ),
)
def test_the_longest_match_is_that_of_tokenizers(word, pieces):
    vocabulary = {piece: number for number, piece in enumerate(["[UNK]", *sorted(pieces)])}
    theirs = models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100)
    expected = [piece.value for piece in theirs.tokenize(word)]
    assert pre.longest_match(word, pieces) == expected


# --- paths ------------------------------------------------------------------------------------


def chain(seed, n, k):
    g = torch.Generator().manual_seed(seed)
    sizes = [(n, k), (k, k), (k,), (k,)]
    return [torch.randn(size, generator=g, dtype=torch.float64) for size in sizes]


@given(seed=seeds, n=st.integers(1, 6), k=st.integers(1, 4))
def test_paths_by_brute_force(seed, n, k):
    scores, T, first, last = chain(seed, n, k)
    paths = [torch.tensor(path) for path in itertools.product(range(k), repeat=n)]
    every = torch.stack([pre.path_score(scores, T, path, first, last) for path in paths])
    got = pre.viterbi(scores, T, first, last)
    assert torch.equal(got.tags, paths[int(every.argmax())])
    torch.testing.assert_close(got.score, every.max(), atol=1e-12, rtol=0)
    log_z = pre.log_partition(scores, T, first, last)
    torch.testing.assert_close(log_z, every.logsumexp(0), atol=1e-12, rtol=0)


@given(seed=seeds, n=st.integers(2, 12), k=st.integers(2, 5))
def test_the_field_is_that_of_pytorch_crf(seed, n, k):
    scores, T, first, last = chain(seed, n, k)
    tags = torch.randint(k, (n,), generator=torch.Generator().manual_seed(seed))
    theirs = CRF(k, batch_first=True).double()
    ours = pre.LinearChainCRF(k).double()
    with torch.no_grad():
        for mine, other, value in (
            (ours.transitions, theirs.transitions, T),
            (ours.first, theirs.start_transitions, first),
            (ours.last, theirs.end_transitions, last),
        ):
            mine.copy_(value)
            other.copy_(value)
    mask = torch.ones(1, n, dtype=torch.bool)
    expected = theirs(scores[None], tags[None], mask=mask)
    got = ours.log_likelihood(scores, tags)
    torch.testing.assert_close(got, expected, atol=1e-11, rtol=0)
    assert ours.decode(scores).tolist() == theirs.decode(scores[None], mask=mask)[0]
    got.backward()
    expected.backward()
    torch.testing.assert_close(ours.transitions.grad, theirs.transitions.grad)


@given(seed=seeds, n=st.integers(1, 20))
def test_forbidden_steps_are_never_taken(seed, n):
    scores = chain(seed, n, len(TAGS))[0]
    allowed = torch.tensor([[pre.may_follow(before, tag) for tag in TAGS] for before in TAGS])
    T = torch.where(allowed, 0.0, -torch.inf).double()
    path = pre.viterbi(scores, T, first=T[0])  # a sentence begins as if behind O
    pre.decode_bio([TAGS[tag] for tag in path.tags])  # it raises when a step is illegal


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda s, T: pre.viterbi(s, torch.full((2, 2), -torch.inf)), "no path is allowed"),
        (lambda s, T: pre.viterbi(s[:0], T), "scores must have words and tags"),
        (lambda s, T: pre.log_partition(s[:, :1], T), "1 tags need 1 × 1"),
        (lambda s, T: pre.path_score(s, T, torch.tensor([0])), "3 words need as many tags"),
        (lambda s, T: pre.viterbi(s, T, first=torch.zeros(3)), "one for each tag"),
        (lambda s, T: pre.LinearChainCRF(0), "n_tags must be a whole number ≥ 1"),
    ],
)
def test_bad_chains_are_refused(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(torch.zeros(3, 2), torch.zeros(2, 2))


# --- spans ------------------------------------------------------------------------------------


@given(seed=seeds, n=st.integers(1, 40), limit=st.integers(1, 50))
def test_the_best_span_by_brute_force(seed, n, limit):
    start, end = np.random.default_rng(seed).normal(size=(2, n))
    legal = {(i, j): start[i] + end[j] for i in range(n) for j in range(i, min(n, i + limit))}
    got = pre.best_span(start.tolist(), end.tolist(), limit)
    assert (got.start, got.end) == max(legal, key=legal.get)
    assert got.score == pytest.approx(legal[got.start, got.end], abs=1e-12)


def test_spans_refuse_what_does_not_fit():
    with pytest.raises(ValueError, match="must have length 2"):
        pre.best_span([1.0, 2.0], [1.0], 1)
    with pytest.raises(ValueError, match="limit"):
        pre.best_span([1.0], [1.0], 0)
    head = pre.SpanBoundary(4, 10, longest=3)
    for start, end, sentence in (
        (0, 1, "neighbor"),
        (3, 4, "neighbor"),
        (1, 4, "1 to 3"),
        (2, 1, "1 to 3"),
    ):
        with pytest.raises(ValueError, match=sentence):
            head(torch.zeros(5, 4), start, end)


def test_the_boundary_head_reads_its_two_neighbors_and_the_place():
    torch.manual_seed(0)
    head, x = pre.SpanBoundary(6, 10), torch.randn(12, 6)
    before = head(x, 4, 6)
    inside = x.clone()
    inside[4:7] += 1
    assert torch.equal(head(inside, 4, 6), before)
    for neighbor in (3, 7):
        changed = x.clone()
        changed[neighbor] += torch.arange(6.0)
        assert not torch.allclose(head(changed, 4, 6), before)
    assert not torch.allclose(before[0], before[1])  # the place in the span


def test_the_boundary_head_is_two_layers_of_three_steps():
    torch.manual_seed(1)
    head, x = pre.SpanBoundary(6, 10), torch.randn(12, 6)
    first, second = (m for m in head.layers if isinstance(m, torch.nn.Linear))
    h = torch.cat([x[3].expand(3, -1), x[7].expand(3, -1), head.places.weight[:3]], dim=1)
    for layer in (first, second):  # each: linear, GELU, layer norm
        h = functional.layer_norm(functional.gelu(layer(h)), (6,))
    torch.testing.assert_close(head(x, 4, 6), h @ head.head.weight.T)


def test_the_span_loss_is_two_cross_entropies():
    g = torch.Generator().manual_seed(0)
    start, end = torch.randn(2, 5, 9, generator=g)
    answers = torch.randint(9, (5, 2), generator=g)
    p = [
        scores.softmax(dim=1)[torch.arange(5), answers[:, i]]
        for i, scores in enumerate((start, end))
    ]
    torch.testing.assert_close(pre.span_loss(start, end, answers), -(p[0] * p[1]).log().mean())


# --- measures ---------------------------------------------------------------------------------

answers = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40)


@given(answers)
def test_measures_of_answers(pairs):
    truth, guess = np.array(pairs, dtype=int).T.tolist()
    if len({*truth, *guess}) == 1:  # scikit-learn warns
        assert pre.matthews(truth, guess) == 0
        return
    expected = sklearn.metrics.matthews_corrcoef(truth, guess)
    assert pre.matthews(truth, guess) == pytest.approx(expected, abs=1e-12)
    expected = sklearn.metrics.f1_score(truth, guess, zero_division=0.0)
    assert pre.f1(truth, guess) == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=40))
def test_ranks(pairs):
    first, second = np.array(pairs, dtype=float).T
    assume(np.ptp(first) and np.ptp(second))
    expected = scipy.stats.spearmanr(first, second).statistic
    assert pre.spearman(first.tolist(), second.tolist()) == pytest.approx(expected, abs=1e-12)


def test_measures_refuse_what_is_no_answer():
    with pytest.raises(ValueError, match="must be 0 or 1"):
        pre.f1([0, 2], [0, 1])
    with pytest.raises(ValueError, match="length"):
        pre.matthews([0, 1], [0])
    with pytest.raises(ValueError, match="no order"):
        pre.spearman([1, 1], [1, 2])


# --- lines in context -------------------------------------------------------------------------


@given(seed=seeds, n=st.integers(1, 30), d=st.integers(1, 8), rate=st.floats(0, 1))
def test_layers_are_steps(seed, n, d, rate):
    random = np.random.default_rng(seed)
    x, y, query = random.normal(size=(n, d)), random.normal(size=n), random.normal(size=d)
    steps = pre.gradient_steps(x, y, query, rate, 8)
    np.testing.assert_allclose(
        pre.attention_layers(x, y, query, rate, 8), steps, atol=1e-9, rtol=1e-9
    )


def test_steps_are_those_of_torch():
    g = torch.Generator().manual_seed(3)
    x, y = torch.randn(9, 4, generator=g).double(), torch.randn(9, generator=g).double()
    query, w = torch.randn(4, generator=g).double(), torch.zeros(4, dtype=torch.float64)
    w.requires_grad_()
    optimizer = torch.optim.SGD([w], lr=0.3)
    said = []
    for _ in range(5):
        optimizer.zero_grad()
        (0.5 * (x @ w - y).square().mean()).backward()
        optimizer.step()
        said.append(float(query @ w.detach()))
    np.testing.assert_allclose(
        pre.gradient_steps(x.numpy(), y.numpy(), query.numpy(), 0.3, 5), said
    )


def test_many_steps_find_the_least_squares_line():
    random = np.random.default_rng(0)
    x, y, query = random.normal(size=(30, 3)), random.normal(size=30), random.normal(size=3)
    fit = query @ np.linalg.lstsq(x, y, rcond=None)[0]
    assert pre.gradient_steps(x, y, query, 0.5, 400)[-1] == pytest.approx(fit, abs=1e-9)


@pytest.mark.parametrize("n", [4, 16, 32])
def test_the_best_rate_and_what_it_leaves(n):
    d, tasks = 8, 20_000
    examples, query, answer = pre.linear_tasks(tasks, n, d, torch.Generator().manual_seed(n))
    x, y, q = examples[..., :d].double(), examples[..., d].double(), query[:, :d].double()
    step = torch.einsum("bn,bnd,bd->b", y, x, q) / n
    found = float((step @ answer.double()) / (step @ step))  # least squares over the tasks
    assert found == pytest.approx(pre.best_rate(n, d), abs=0.02)
    left = (answer - pre.best_rate(n, d) * step).square().mean() / d
    assert float(left) == pytest.approx(1 - pre.best_rate(n, d), abs=0.03)


def test_training_finds_the_step():
    layer = pre.train_layer(3, 6, seed=0, steps=800)
    A, u = layer.A.detach(), layer.u.detach()
    found = A * u[-1]
    assert found[:3, :3].diagonal().mean().item() == pytest.approx(pre.best_rate(6, 3), abs=0.05)
    rest = found[:3, :3] - torch.diag(found[:3, :3].diagonal())
    assert rest.abs().max() < 0.06


def test_context_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match="must have length 2"):
        pre.gradient_steps([[1.0], [2.0]], [1.0], [1.0], 0.1, 1)
    with pytest.raises(ValueError, match="query must have length 1"):
        pre.attention_layers([[1.0], [2.0]], [1.0, 2.0], [1.0, 1.0], 0.1, 1)
    for bad in ({"learning_rate": -0.1}, {"learning_rate": math.nan}, {"steps": 0}):
        with pytest.raises(ValueError, match=r"learning_rate|steps"):
            pre.gradient_steps([[1.0]], [1.0], [1.0], **{"learning_rate": 0.1, "steps": 1, **bad})
