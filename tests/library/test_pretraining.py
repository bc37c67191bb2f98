"""Objectives, BERT and its relatives against transformers, torch and closed forms."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import BertConfig, BertForPreTraining
from transformers import BertModel as TheirBert

from primer import pretraining as pre
from primer.attention import causal_mask
from primer.datasets import plays, plays_in_markdown
from primer.transformers import load_pretrained

seeds = st.integers(0, 2**31)


def draw(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


# --- masked tokens ----------------------------------------------------------------------------


@given(seed=seeds, n=st.integers(1, 300), rate=st.floats(0.05, 0.9))
def test_what_is_not_selected_is_not_touched(seed, n, rate):
    text = torch.randint(50, (n,), generator=draw(seed))
    before = text.clone()
    seen = pre.mask_tokens(text, draw(seed), mask_id=50, vocab_size=50, rate=rate)
    assert torch.equal(text, before)
    assert torch.equal(seen.targets, text)
    assert torch.equal(seen.inputs[~seen.counted], text[~seen.counted])
    assert int(seen.inputs.max()) <= 50


@pytest.mark.parametrize("rate", [0.15, 0.4])
@pytest.mark.parametrize("split", [(0.8, 0.1, 0.1), (0.5, 0.2, 0.3)])
def test_rates(rate, split):
    n, words = 400_000, 1000
    text = torch.randint(words, (n,), generator=draw(1))
    seen = pre.mask_tokens(text, draw(2), mask_id=words, vocab_size=words, rate=rate, split=split)
    masked = seen.inputs == words
    changed = (seen.inputs != text) & ~masked
    kept = seen.counted & (seen.inputs == text)
    shares = {
        "selected": (seen.counted, rate),
        "masked": (masked, rate * split[0]),
        "changed": (changed, rate * split[1] * (1 - 1 / words)),  # 1 draw in 1000 changes nothing
        "kept": (kept, rate * (split[2] + split[1] / words)),
    }
    for name, (places, expected) in shares.items():
        error = math.sqrt(expected * (1 - expected) / n)
        assert abs(places.double().mean() - expected) < 4.5 * error, name


def test_random_tokens_are_uniform_unless_said_otherwise():
    text = torch.zeros(200_000, dtype=torch.long)
    unigram = torch.tensor([0.0, 0.7, 0.2, 0.1])
    for given_, expected in ((None, torch.full((4,), 0.25)), (unigram, unigram)):
        seen = pre.mask_tokens(
            text, draw(), mask_id=9, vocab_size=4, rate=0.5, split=(0, 1, 0), unigram=given_
        )
        drawn = seen.inputs[seen.counted]
        share = torch.bincount(drawn, minlength=4) / len(drawn)
        assert (share - expected).abs().max() < 0.01


def test_special_tokens_stay():
    text = torch.tensor([1, 5, 6, 7, 2, 0, 0] * 500)
    seen = pre.mask_tokens(text, draw(), mask_id=9, vocab_size=8, rate=0.5, special=(0, 1, 2))
    assert not seen.counted[torch.isin(text, torch.tensor([0, 1, 2]))].any()
    assert seen.counted.any()


@pytest.mark.parametrize(
    ("settings_", "sentence"),
    [
        ({"rate": 0.0}, "rate must lie strictly between 0 and 1"),
        ({"rate": 1.0}, "rate must lie strictly between 0 and 1"),
        ({"rate": math.nan}, "rate"),
        ({"split": (0.8, 0.1, 0.2)}, "three shares that add up to 1"),
        ({"split": (1.2, -0.1, -0.1)}, "three shares that add up to 1"),
        ({"special": (1, 2, 3)}, "none of the 3 tokens may be masked"),
        ({"unigram": torch.ones(3)}, "unigram needs 9 probabilities"),
        ({"vocab_size": 0}, "vocab_size"),
    ],
)
def test_bad_masking_is_refused_and_nothing_changed(settings_, sentence):
    text = torch.tensor([1, 2, 3])
    with pytest.raises(ValueError, match=sentence):
        pre.mask_tokens(text, draw(), **{"mask_id": 9, "vocab_size": 9, **settings_})
    assert text.tolist() == [1, 2, 3]


def test_an_empty_text_is_refused():
    with pytest.raises(ValueError, match="there is no token"):
        pre.mask_tokens(torch.tensor([], dtype=torch.long), draw(), mask_id=9, vocab_size=9)


@given(seed=seeds)
def test_the_loss_is_torchs_with_the_others_ignored(seed):
    g = draw(seed)
    logits, text = torch.randn(2, 30, 7, generator=g), torch.randint(7, (2, 30), generator=g)
    seen = pre.mask_tokens(text, g, mask_id=7, vocab_size=7, rate=0.4)
    labels = torch.where(seen.counted, text, -100)
    expected = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
    torch.testing.assert_close(pre.masked_cross_entropy(logits, seen), expected)


def test_a_loss_over_nothing_is_refused():
    text = torch.tensor([1, 2])
    nothing = pre.Corruption(text, text, torch.zeros(2, dtype=torch.bool))
    with pytest.raises(ValueError, match="no place counts"):
        pre.masked_cross_entropy(torch.zeros(2, 4), nothing)
    with pytest.raises(ValueError, match="do not fit"):
        pre.masked_cross_entropy(torch.zeros(3, 4), nothing)


def test_next_token_and_prefix():
    text = torch.tensor([[4, 5, 6, 7]])
    seen = pre.next_token(text)
    assert seen.inputs.tolist() == [[4, 5, 6]]
    assert seen.targets.tolist() == [[5, 6, 7]]
    assert seen.counted.all()
    assert pre.prefix(text, 1).counted.all()  # one token to begin with: the causal objective
    assert pre.prefix(text, 3).counted.tolist() == [[False, False, True]]
    with pytest.raises(ValueError, match="leaves nothing to predict"):
        pre.prefix(text, 4)
    with pytest.raises(ValueError, match="no next one"):
        pre.next_token(torch.tensor([3]))


# --- spans ------------------------------------------------------------------------------------


@given(seed=seeds, n=st.integers(2, 200), rate=st.floats(0.02, 0.95), mean=st.floats(1, 5))
def test_sentinels_lose_nothing(seed, n, rate, mean):
    if mean > n - 1:
        mean = 1.0
    text = torch.randint(100, (n,), generator=draw(seed))
    seen = pre.corrupt_spans(text, draw(seed), first_sentinel=100, rate=rate, mean_span=mean)
    sizes = pre.span_sizes(n, rate, mean)
    assert (len(seen.inputs), len(seen.targets)) == (sizes.encoder, sizes.decoder)
    assert torch.equal(pre.restore(*seen, first_sentinel=100), text)
    sentinels = seen.inputs[seen.inputs >= 100]
    assert sentinels.tolist() == list(range(100, 100 + sizes.spans))
    assert sizes.hidden + int((seen.inputs < 100).sum()) == n


def test_sizes_of_the_published_setting():
    assert pre.span_sizes(512) == (77, 26, 461, 104)
    assert pre.span_sizes(568) == (85, 28, 511, 114)  # and an end token each: 512 and 114
    with pytest.raises(ValueError, match="longer than a text of 4 allows"):
        pre.span_sizes(4, mean_span=5)
    with pytest.raises(ValueError, match="at least one token"):
        pre.span_sizes(40, mean_span=0.5)
    with pytest.raises(ValueError, match="is a sentinel"):
        pre.corrupt_spans(torch.tensor([1, 2, 100]), draw(), first_sentinel=100)
    with pytest.raises(ValueError, match="stands in the inputs"):
        pre.restore(torch.tensor([1, 101]), torch.tensor([100, 4]), first_sentinel=100)


@given(seed=seeds, n=st.integers(10, 200), rate=st.floats(0.05, 0.6))
def test_span_masks_hide_the_wanted_share_in_one_way(seed, n, rate):
    text = torch.arange(n)
    seen = pre.mask_spans(text, draw(seed), mask_id=999, vocab_size=n, rate=rate)
    assert int(seen.counted.sum()) == max(1, round(rate * n))
    assert torch.equal(seen.inputs[~seen.counted], text[~seen.counted])


def test_a_span_has_one_fate():
    mixed = 0
    for seed in range(40):
        seen = pre.mask_spans(torch.arange(200), draw(seed), mask_id=999, vocab_size=200, rate=0.1)
        edges = torch.nn.functional.pad(seen.counted.int(), (1, 1)).diff()
        for start, end in zip((edges > 0).nonzero(), (edges < 0).nonzero(), strict=True):
            hidden = seen.inputs[int(start) : int(end)] == 999
            mixed += int(hidden.any() and not hidden.all())
    assert mixed == 0
    with pytest.raises(ValueError, match="do not fit into a text of 9"):
        pre.mask_spans(torch.arange(9), draw(), mask_id=99, vocab_size=9)


def test_span_lengths():
    p = pre.span_length_probabilities()
    np.testing.assert_allclose(p[1:] / p[:-1], 0.8)
    assert p @ np.arange(1, 11) == pytest.approx(3.797, abs=5e-4)
    lengths = np.arange(1, 400)
    free = pre.span_length_probabilities(longest=399) @ lengths
    assert free == pytest.approx(1 / 0.2)


@given(seed=seeds, n=st.integers(4, 100), rate=st.floats(0.05, 0.9))
def test_infilling_keeps_order_and_rate(seed, n, rate):
    text = torch.arange(n)
    seen = pre.infill(text, draw(seed), mask_id=999, rate=rate)
    left = seen.inputs[seen.inputs < 999]
    assert torch.equal(seen.targets, text)
    assert len(left) == n - max(1, round(rate * n))
    assert (left.diff() > 0).all()


# --- who sees what ----------------------------------------------------------------------------


@given(n=st.integers(1, 30), p=st.integers(0, 30))
def test_families(n, p):
    assert torch.equal(pre.family_mask("decoder", n), causal_mask(n))
    assert pre.family_mask("encoder", n).all()
    if p > n:
        with pytest.raises(ValueError, match="longer than the text"):
            pre.family_mask("prefix", n, p)
    else:
        both = pre.family_mask("prefix", n, p)
        assert int(both.sum()) == n * (n + 1) // 2 + p * (p - 1) // 2
    with pytest.raises(ValueError, match="family must be one of"):
        pre.family_mask("tree", n)


# --- BERT -------------------------------------------------------------------------------------


def small(**changed) -> BertConfig:
    settings_ = {
        "vocab_size": 40,
        "num_hidden_layers": 2,
        "hidden_size": 16,
        "num_attention_heads": 4,
        "intermediate_size": 24,
        "max_position_embeddings": 12,
    }
    return BertConfig(**{**settings_, **changed})


@pytest.mark.parametrize("seed", range(3))
def test_bert_is_theirs(seed):
    torch.manual_seed(seed)
    theirs = BertForPreTraining(small(initializer_range=0.3)).double().eval()
    for weight in theirs.parameters():
        torch.nn.init.normal_(weight, std=0.3)
    ours = pre.load_bert(theirs.state_dict(), theirs.config).double()
    tokens = torch.randint(40, (3, 9))
    segments = (torch.arange(9) > 4).long().expand(3, 9)
    lengths = torch.tensor([9, 6, 3])
    seen = (torch.arange(9) < lengths[:, None]).long()
    with torch.no_grad():
        expected = theirs(tokens, attention_mask=seen, token_type_ids=segments)
        got = ours(tokens, segments, lengths)
    real = seen.bool()
    torch.testing.assert_close(
        got.words[real], expected.prediction_logits[real], atol=1e-5, rtol=1e-5
    )
    torch.testing.assert_close(got.follows, expected.seq_relationship_logits, atol=1e-5, rtol=1e-5)


def test_every_weight_is_counted():
    with torch.device("meta"):
        theirs = TheirBert(BertConfig())
        with_heads = BertForPreTraining(BertConfig())
        ours = pre.BertForPretraining(pre.BERT_BASE)
    counted = pre.bert_parameters(pre.BERT_BASE)
    assert sum(counted.values()) == theirs.num_parameters() == 109_482_240
    everything = sum(pre.bert_parameters(pre.BERT_BASE, heads=True).values())
    assert everything == sum(w.numel() for w in with_heads.parameters())
    assert everything == sum(w.numel() for w in ours.parameters())
    large = sum(pre.bert_parameters(pre.BERT_LARGE).values())
    assert large == 335_141_888


@pytest.mark.parametrize("changed", [{"hidden_act": "relu"}, {"model_type": "gpt2"}])
def test_other_models_are_refused(changed):
    config = {**small().to_dict(), **changed}
    with pytest.raises(ValueError, match="this reads models of type 'bert'"):
        pre.load_bert({}, config)


def test_weights_that_do_not_fit_are_refused():
    theirs = BertForPreTraining(small())
    with pytest.raises(ValueError, match="do not fit the configuration"):
        pre.load_bert(theirs.state_dict(), small(vocab_size=41))
    with pytest.raises(ValueError, match="learned positions"):
        pre.Bert(replace(pre.BERT_BASE, positions="none"))


# --- pairs of sentences -----------------------------------------------------------------------


def test_pairs_follow_or_come_from_elsewhere():
    documents = [[[10 * d + s] for s in range(2 + d % 3)] for d in range(6)]
    pairs = pre.next_sentence_pairs(documents, 4000, np.random.default_rng(0))
    for first, second, follows in pairs:
        assert (second[0] == first[0] + 1) if follows else (second[0] // 10 != first[0] // 10)
    share = np.mean([pair.follows for pair in pairs])
    assert abs(share - 0.5) < 4 * 0.5 / math.sqrt(4000)


@pytest.mark.parametrize(
    ("documents", "sentence"),
    [
        ([[[1], [2]]], "at least two"),
        ([[[1]], [[2]]], "two neighbors"),
        ([[[1], [2]], []], "documents need sentences"),
    ],
)
def test_pairs_need_documents(documents, sentence):
    with pytest.raises(ValueError, match=sentence):
        pre.next_sentence_pairs(documents, 3, np.random.default_rng(0))


# --- labels in the plays ----------------------------------------------------------------------


def test_directions_of_all_plays():
    texts = plays_in_markdown()
    assert list(texts) == list(plays())
    found = [direction for text in texts.values() for direction in pre.stage_directions(text)]
    assert all(len(words) == len(names) for words, names in found)
    assert len(found) == 6215
    assert max(len(words) for words, _ in found) == 164  # a procession, not a speech
    swallowed = pre.stage_directions("_Exit\n\nA speech.\n\n_Enter HAMLET_")
    assert swallowed[-1].names == [False, True]
    assert all("speech" not in direction.words for direction in swallowed)


# --- by heart ---------------------------------------------------------------------------------


def test_a_run_of_right_guesses_is_a_greedy_continuation():
    model, tokenizer = load_pretrained("plays-1")
    text = tokenizer.encode("\n\nHAMLET\nTo be, or not to be: that is the question:\nWhether")
    right = pre.right_guesses(model, torch.tensor([text]))
    runs = pre.run_lengths(right)[0]
    place = int(np.argmax(runs))
    written = text[: place + 1]
    with torch.no_grad():
        for _ in range(int(runs[place])):
            written.append(int(model(torch.tensor([written]))[0, -1].argmax()))
    assert runs[place] >= 2
    assert written == text[: place + 1 + runs[place]]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60), st.integers(1, 6))
def test_occurrences_are_counted(text, length):
    if length > len(text):
        with pytest.raises(ValueError, match="do not fit"):
            pre.occurrences(text, length, 4)
        return
    stretches = [tuple(text[i : i + length]) for i in range(len(text) - length + 1)]
    assert pre.occurrences(text, length, 4).tolist() == [stretches.count(s) for s in stretches]


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_stretches_of_a_large_vocabulary_are_told_apart(dtype):
    # 61,356 times 70,000 plus 47,296 is 2 to the 32nd: in 32 bits it would be the pair of zeros.
    text = np.array([0, 0, 61_356, 47_296, 69_999, 69_999, 0, 0], dtype=dtype)
    assert pre.occurrences(text, 2, 70_000).tolist() == [2, 1, 1, 1, 1, 1, 2]


def test_overlap():
    text = list(range(100))
    assert pre.overlap(text[20:50], text, 8) == 1
    assert pre.overlap(text[90:] + list(range(200, 220)), text, 5) == pytest.approx(6 / 26)
    with pytest.raises(ValueError, match="the test text of 3 tokens"):
        pre.overlap([1, 2, 3], text, 4)
