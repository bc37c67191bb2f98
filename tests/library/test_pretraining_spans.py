"""Spans taken out of a text: which, how long, what stands in their place."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, poisson

from primer import pretraining as pre
from primer.pretraining import span_corruption, span_masking

seeds = st.integers(0, 2**31)


def draw(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@given(
    seed=seeds,
    n=st.integers(10, 120),
    rate=st.floats(0.01, 0.95),
    split=st.sampled_from([(0.8, 0.1, 0.1), (0.3, 0.4, 0.3), (0, 1, 0), (0, 0, 1), (1, 0, 0)]),
)
def test_span_masks_are_those_of_a_plain_loop(seed, n, rate, split):
    seen = pre.mask_spans(
        torch.arange(n), draw(seed), mask_id=999, vocab_size=77, rate=rate, split=split
    )
    random = draw(seed)
    chances = torch.tensor([0.2 * 0.8**k / (1 - 0.8**10) for k in range(10)], dtype=torch.float64)
    inputs, counted = list(range(n)), [False] * n
    while left := max(1, round(rate * n)) - sum(counted):
        length = min(int(torch.multinomial(chances, 1, generator=random)) + 1, left)
        starts = [
            at for at in range(n - length + 1) if not any(counted[max(0, at - 1) : at + length + 1])
        ]
        if not starts:
            length, starts = 1, [at for at in range(n) if not counted[at]]
        start = starts[int(torch.randint(len(starts), (), generator=random))]
        counted[start : start + length] = [True] * length
        fate = float(torch.rand((), generator=random))
        if fate < split[0]:
            inputs[start : start + length] = [999] * length
        elif fate < split[0] + split[1]:
            new = torch.randint(77, (length,), generator=random)
            inputs[start : start + length] = new.tolist()
    assert seen.counted.tolist() == counted
    assert seen.inputs.tolist() == inputs
    assert seen.targets.tolist() == list(range(n))


def test_spans_have_the_lengths_and_fates_that_are_said():
    lengths, fates = Counter(), Counter()
    for seed in range(400):
        text = torch.arange(1000, 1400)
        seen = pre.mask_spans(text, draw(seed), mask_id=9, vocab_size=9, rate=0.02)
        edges = torch.nn.functional.pad(seen.counted.int(), (1, 1)).diff()
        start, end = (int((edges == sign).nonzero()[0]) for sign in (1, -1))
        if int(seen.counted.sum()) == end - start:
            continue  # the rest may have been cut short
        lengths[min(end - start, 4)] += 1
        hidden = seen.inputs[start:end]
        fates["mask" if hidden[0] == 9 else "kept" if hidden[0] >= 1000 else "random"] += 1
    total = sum(fates.values())
    assert (
        chisquare(
            [fates[k] for k in ("mask", "random", "kept")], total * np.array([0.8, 0.1, 0.1])
        ).pvalue
        > 1e-3
    )
    assert lengths[1] > lengths[2] > lengths[3] > 0


def test_a_text_as_long_as_the_longest_span_is_enough():
    seen = pre.mask_spans(torch.arange(10), draw(), mask_id=99, vocab_size=10)
    assert int(seen.counted.sum()) == 2  # round(0.15 · 10)
    few = pre.mask_spans(torch.arange(3), draw(), mask_id=99, vocab_size=3, longest=3, rate=0.01)
    assert int(few.counted.sum()) == 1


@given(length=st.integers(1, 4), places=st.lists(st.booleans(), min_size=4, max_size=12))
def test_free_starts_are_those_of_a_plain_loop(length, places):
    free = [
        at
        for at in range(len(places) - length + 1)
        if not any(places[max(0, at - 1) : at + length + 1])
    ]
    assert span_masking._free_starts(torch.tensor(places), length).tolist() == free


@given(
    n=st.integers(2, 300), rate=st.floats(0.001, 0.999), mean=st.floats(1, 6), exact=st.booleans()
)
def test_sizes_leave_something_to_read_and_something_to_write(n, rate, mean, exact):
    mean = float(n - 1) if exact or mean > n - 1 else mean
    hidden = sorted([1, round(n * rate), n - 1])[1]
    spans = min(max(round(hidden / mean), 1), n - hidden)
    assert pre.span_sizes(n, rate, mean) == (hidden, spans, n - hidden + spans, hidden + spans + 1)
    assert 1 <= spans <= min(hidden, n - hidden)


@pytest.mark.parametrize(
    ("given_", "sizes"),
    [
        ((2, 0.5, 1.0), (1, 1, 2, 3)),
        ((10, 0.9, 1.0), (9, 1, 2, 11)),  # one token is left, so that there is one span
        ((10, 0.99, 3.0), (9, 1, 2, 11)),
        ((10, 0.01, 3.0), (1, 1, 10, 3)),
        ((10, 0.5, 9.0), (5, 1, 6, 7)),
        ((10, 0.6, 1.0), (6, 4, 8, 11)),
    ],
)
def test_sizes_at_the_ends(given_, sizes):
    assert pre.span_sizes(*given_) == sizes


def test_a_text_of_one_token_or_spans_that_are_too_long_are_refused():
    with pytest.raises(ValueError, match="n_tokens must be a whole number ≥ 2"):
        pre.span_sizes(1)
    with pytest.raises(ValueError, match=r"spans of 9.5 tokens are longer than a text of 10"):
        pre.span_sizes(10, mean_span=9.5)
    with pytest.raises(ValueError, match=r"a mean of 0\.99"):
        pre.span_sizes(10, mean_span=0.99)
    with pytest.raises(ValueError, match="token 100 of the text is a sentinel: they begin at 100"):
        pre.corrupt_spans(torch.tensor([1, 100]), draw(), first_sentinel=100)
    seen = pre.corrupt_spans(torch.tensor([1, 99]), draw(), first_sentinel=100, mean_span=1.0)
    assert pre.restore(*seen, first_sentinel=100).tolist() == [1, 99]
    with pytest.raises(ValueError, match="longer than the text of 3"):
        pre.infill(torch.arange(3), draw(), mask_id=9, mean_span=3.5)
    assert len(pre.infill(torch.arange(3), draw(), mask_id=9, mean_span=3.0).targets) == 3


def test_what_is_left_out_is_that_of_the_published_setting():
    seen = pre.corrupt_spans(torch.arange(512) % 100, draw(), first_sentinel=100)
    assert (len(seen.inputs), len(seen.targets)) == (461, 104)
    assert seen.targets[0] == 100  # the text comes first, then a span
    assert seen.targets[-1] == 126


@given(seed=seeds, n=st.integers(4, 60), rate=st.floats(0.1, 0.9))
def test_halves_are_those_of_a_plain_loop(seed, n, rate):
    seen = pre.corrupt_spans(torch.arange(n), draw(seed), first_sentinel=100, rate=rate)
    hidden, spans, *_ = pre.span_sizes(n, rate)
    random = draw(seed)
    cuts = [
        sorted((torch.randperm(total - 1, generator=random)[: spans - 1] + 1).tolist())
        for total in (hidden, n - hidden)
    ]
    taken, kept = (
        np.diff([0, *cut, total]) for cut, total in zip(cuts, (hidden, n - hidden), strict=True)
    )
    inputs, targets, rest = [], [], list(range(n))
    for number in range(spans):
        inputs += [*rest[: kept[number]], 100 + number]
        rest = rest[kept[number] :]
        targets += [100 + number, *rest[: taken[number]]]
        rest = rest[taken[number] :]
    assert rest == []
    assert seen.inputs.tolist() == inputs
    assert seen.targets.tolist() == [*targets, 100 + spans]


def test_all_ways_to_cut_a_number_are_equally_likely():
    random = draw(5)
    found = Counter(tuple(span_corruption._pieces(5, 3, random)) for _ in range(1200))
    ways = {w for w in itertools.product(range(1, 6), repeat=3) if sum(w) == 5}
    assert set(found) == ways
    assert chisquare(list(found.values())).pvalue > 1e-3
    assert span_corruption._pieces(4, 4, random) == [1, 1, 1, 1]
    assert span_corruption._pieces(3, 1, random) == [3]


@given(seed=seeds, n=st.integers(4, 80), rate=st.floats(0.01, 0.95), mean=st.floats(0.95, 4))
def test_infilling_is_that_of_a_plain_loop(seed, n, rate, mean):
    seen = pre.infill(torch.arange(n), draw(seed), mask_id=999, rate=rate, mean_span=mean)
    random, lengths = draw(seed), []
    while (left := max(1, round(rate * n)) - sum(lengths)) > 0:
        drawn = int(torch.poisson(torch.tensor(mean), generator=random))
        lengths.append(min(drawn, left))
    kept = n - sum(lengths)
    cuts = sorted(torch.randint(kept + 1, (len(lengths),), generator=random).tolist())
    inputs, place = [], 0
    for number, at in enumerate(cuts):  # so many of those that are kept stand before the mask
        while (already := sum(token != 999 for token in inputs)) < at:
            inputs.append(place + sum(lengths[:number]))
            place += 1
            assert already < n
        inputs.append(999)
    inputs += [place + at + sum(lengths) for at in range(kept - place)]
    assert seen.inputs.tolist() == inputs
    assert seen.targets.tolist() == list(range(n))


def test_infilled_spans_are_three_tokens_long_on_average():
    masks = sum(
        int((pre.infill(torch.arange(2000), draw(seed), mask_id=9999).inputs == 9999).sum())
        for seed in range(10)
    )
    assert masks == pytest.approx(10 * 600 / 3, rel=5 * (3 / 6000) ** 0.5)


def test_infilled_spans_have_poissons_lengths():
    lengths: Counter[int] = Counter()
    for seed in range(30):
        seen = pre.infill(torch.arange(3000), draw(seed), mask_id=9999, rate=0.02, mean_span=1.5)
        tokens, gaps = [-1, *seen.inputs.tolist(), 3000], []
        for before, now, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
            if now == 9999 and before != 9999 and after != 9999:
                gaps.append(after - before - 1)
        lengths.update(min(gap, 4) for gap in gaps)
    total = sum(lengths.values())
    chances = [*poisson.pmf(range(4), 1.5), poisson.sf(3, 1.5)]
    assert chisquare([lengths[k] for k in range(5)], total * np.array(chances)).pvalue > 1e-3


def test_restoring_reads_sentinels_in_any_order():
    targets = torch.tensor([102, 5, 100, 101, 7, 8, 103])
    inputs = torch.tensor([1, 101, 2, 100, 3, 102])
    assert pre.restore(inputs, targets, first_sentinel=100).tolist() == [1, 7, 8, 2, 3, 5]


@pytest.mark.parametrize(("p", "longest"), [(0.2, 10), (0.5, 3), (0.9, 1)])
def test_span_lengths_are_a_geometric_law_that_is_cut_off(p, longest):
    free = np.array([p * (1 - p) ** (k - 1) for k in range(1, longest + 1)])
    np.testing.assert_allclose(
        pre.span_length_probabilities(p, longest), free / (1 - (1 - p) ** longest)
    )
