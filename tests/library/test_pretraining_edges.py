"""Tokens of every size, paths that are forbidden, places that do not count."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from primer.language_models import (
    BytePairEncoding,
    cross_entropy,
    kl_divergence,
    nearest,
    perplexity,
    positive_pmi,
    shannon_bounds,
    skip_gram_loss,
    window_rows,
)
from primer.pretraining import (
    Corruption,
    corrupt_spans,
    infill,
    log_partition,
    masked_cross_entropy,
    occurrences,
    path_score,
    restore,
    span_loss,
)


@given(
    st.lists(st.integers(0, 3), min_size=3, max_size=12),
    st.integers(1, 3),
    st.sampled_from([4, 70_000, 2**40, 2**62]),
)
def test_occurrences_are_counted_by_name(text: list[int], length: int, vocab_size: int) -> None:
    """A vocabulary of any size: names of stretches never meet."""
    spread = [token * (vocab_size // 4) for token in text]
    pieces = [tuple(text[i : i + length]) for i in range(len(text) - length + 1)]
    assert occurrences(spread, length, vocab_size).tolist() == [pieces.count(p) for p in pieces]


@given(st.lists(st.integers(0, 89), min_size=4, max_size=40), st.integers(0, 2**32 - 1))
def test_corruption_is_undone_or_refused(text: list[int], seed: int) -> None:
    tokens = torch.tensor(text)
    seen = corrupt_spans(tokens, torch.Generator().manual_seed(seed), first_sentinel=90)
    assert restore(seen.inputs, seen.targets, first_sentinel=90).tolist() == text
    with pytest.raises(ValueError, match="must begin with a sentinel"):
        restore(seen.inputs, seen.targets[1:], first_sentinel=90)
    without = seen.inputs[seen.inputs != 90]
    with pytest.raises(ValueError, match="sentinel 90 stands in the targets and not"):
        restore(without, seen.targets, first_sentinel=90)


@given(st.integers(2, 4), st.integers(1, 3), st.integers(0, 2**32 - 1), st.booleans())
def test_forbidden_paths_have_no_weight_and_finite_gradients(
    words: int, tags: int, seed: int, everything: bool
) -> None:
    random = torch.Generator().manual_seed(seed)
    scores = torch.randn(words, tags, generator=random, dtype=torch.float64)
    transitions = torch.randn(tags, tags, generator=random, dtype=torch.float64)
    forbidden = torch.rand(tags, tags, generator=random) < (1.0 if everything else 0.4)
    transitions = transitions.masked_fill(forbidden, -torch.inf)
    paths = itertools.product(range(tags), repeat=words)
    each = torch.stack([path_score(scores, transitions, torch.tensor(path)) for path in paths])
    scores.requires_grad_(True)
    transitions.requires_grad_(True)
    total = log_partition(scores, transitions)
    torch.testing.assert_close(total.detach(), each.logsumexp(0))
    total.backward()
    for part in (scores, transitions):
        assert part.grad is not None
        assert bool(part.grad.isfinite().all())


@pytest.mark.parametrize("behind", [-100, -1, 10**6])
def test_targets_that_do_not_count_may_be_anything(behind: int) -> None:
    random = torch.Generator().manual_seed(0)
    logits = torch.randn(1, 2, 5, generator=random)
    targets, counted = torch.tensor([[3, behind]]), torch.tensor([[True, False]])
    loss = masked_cross_entropy(logits, Corruption(targets, targets, counted))
    torch.testing.assert_close(loss, -logits[0, 0].log_softmax(-1)[3])


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32, torch.int64])
def test_narrow_numbers_are_the_same_tokens(dtype: torch.dtype) -> None:
    random = torch.Generator().manual_seed(0)
    centers, contexts = torch.randn(2, 6, 3, generator=random)
    pairs = torch.tensor([[0, 1], [5, 2]])
    expected = torch.nn.functional.cross_entropy(centers[pairs[:, 0]] @ contexts.T, pairs[:, 1])
    torch.testing.assert_close(skip_gram_loss(centers, contexts, pairs.to(dtype)), expected)
    start, end = torch.randn(2, 2, 6, generator=random)
    wide, narrow = (span_loss(start, end, answers) for answers in (pairs, pairs.to(dtype)))
    assert torch.equal(wide, narrow)
    if dtype != torch.int8:
        assert BytePairEncoding([(97, 98)]).decode(torch.tensor([97, 256], dtype=dtype)) == "aab"


@pytest.mark.parametrize("symbol", [127, 128, 32_767, 32_768, 65_536, 2**31 - 2])
def test_rows_hold_symbols_of_every_size(symbol: int) -> None:
    assert window_rows([symbol], symbol + 1, 2).tolist() == [[0, 0, symbol], [0, symbol, 0]]


def test_short_spans_end_and_shorter_ones_are_refused() -> None:
    draw = torch.Generator().manual_seed(0)
    seen = infill(torch.arange(40), draw, mask_id=99, rate=0.3, mean_span=0.3)
    assert int((seen.inputs != 99).sum()) == 28
    with pytest.raises(ValueError, match="mean_span"):
        infill(torch.arange(40), draw, mask_id=99, rate=0.3, mean_span=0.29)


def test_what_a_model_excludes_costs_infinitely_much() -> None:
    assert cross_entropy([0.5, 0.5], [1.0, 0.0]) == math.inf
    assert float(kl_divergence(torch.tensor([0.5, 0.5]), torch.tensor([1.0, 0.0]))) == math.inf
    assert perplexity([0.5, 0.0]) == math.inf


@given(st.lists(st.integers(1, 9), min_size=1, max_size=20))
def test_shannons_bounds_are_sums_over_all_ranks(ranks: list[int]) -> None:
    q = np.bincount(ranks, minlength=11)[1:] / len(ranks)
    rank = np.arange(1, 10)
    lower = float((rank * (q[:-1] - q[1:]) * np.log2(rank)).sum())
    upper = float(-sum(p * math.log2(p) for p in q if p))
    assert shannon_bounds(np.array(ranks)) == pytest.approx((lower, upper), abs=1e-9)


def test_one_far_rank_takes_no_time() -> None:
    lower, upper = shannon_bounds(np.array([1, 2, 10**12]))
    far = 10**12 * math.log2(10**12) - (10**12 - 1) * math.log2(10**12 - 1)
    assert lower == pytest.approx((2 + far) / 3, rel=1e-3)
    assert upper == pytest.approx(math.log2(3))


@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-200, 1e-3, 1e200]))
def test_neighbors_do_not_depend_on_lengths(seed: int, unit: float) -> None:
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((6, 3))
    stretched = vectors * unit * rng.uniform(0.5, 2, (6, 1))
    assert nearest(stretched, 0, 5).tolist() == nearest(vectors, 0, 5).tolist()


@pytest.mark.parametrize("power", [0.01, 0.75, 1.0, 900.0, 1e300])
def test_common_contexts_of_any_power_count(power: float) -> None:
    table = positive_pmi(np.array([[0, 1], [1, 0], [2, 2], [2, 2]]), 4, power)
    assert np.isfinite(table.data).all()
    n_o = np.array([1.0, 1.0, 2.0])
    logs = power * np.log(n_o)
    total = logs.max() + math.log(np.exp(logs - logs.max()).sum())
    assert table[0, 1] == pytest.approx(max(0, total - logs[1]), rel=1e-9)
