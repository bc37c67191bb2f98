"""Beam search against ``generate`` and enumeration; speculative decoding against exact laws."""

import itertools
import math
from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare
from test_inference import VOCABULARY, gpt2, llama
from torch.utils.flop_counter import FlopCounterMode

from primer import inference
from primer.inference import MarkovModel
from primer.transformers import Transformer, TransformerConfig

seeds = st.integers(0, 2**32 - 1)


def random_table(seed: int, size: int) -> MarkovModel:
    """Draw a Markov model with uneven rows."""
    logits = 2 * torch.randn(
        size, size, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)
    )
    return MarkovModel(logits.softmax(-1))


def log_probability(model, prompt, continuation) -> float:
    """Add up the logarithms along one continuation."""
    text = torch.tensor([[*prompt, *continuation]])
    return float(inference.log_likelihoods(model, text)[0, len(prompt) - 1 :].sum())


# Beam search --------------------------------------------------------------------------------------


def hugging_face_beams(theirs, prompt, n_tokens, n_beams, **settings):
    """Return the texts and scores of Hugging Face's beam search, without prompt and padding."""
    found = theirs.generate(
        prompt,
        attention_mask=torch.ones_like(prompt),
        max_new_tokens=n_tokens,
        num_beams=n_beams,
        num_return_sequences=n_beams,
        do_sample=False,
        early_stopping="never",
        return_dict_in_generate=True,
        output_scores=True,
        **settings,
    )
    end = settings.get("eos_token_id")
    texts = []
    for row in found.sequences[:, prompt.shape[1] :].tolist():
        texts.append(tuple(row[: row.index(end) + 1] if end in row else row))
    return texts, found.sequences_scores


@pytest.mark.parametrize("make", [llama, gpt2])
@pytest.mark.parametrize("n_beams", [2, 5])
@pytest.mark.parametrize("length_penalty", [-1.0, 0.0, 0.7, 1.0, 2.0])
@pytest.mark.parametrize("end", [None, 7])
def test_beams_are_hugging_faces(make, n_beams, length_penalty, end):
    theirs, ours = make(3)
    prompt = torch.tensor([[3, 1, 4, 1]])
    texts, scores = hugging_face_beams(
        theirs, prompt, 16, n_beams, length_penalty=length_penalty, eos_token_id=end
    )
    for cache in (True, False):
        found = inference.beam_search(
            ours, prompt[0], 16, n_beams, length_penalty, end_token=end, cache=cache
        )
        assert [h.tokens for h in found] == texts
        torch.testing.assert_close(
            torch.tensor([h.score for h in found]), scores, atol=1e-4, rtol=1e-4
        )


def test_the_comparison_meets_texts_that_end():
    theirs, _ = llama(3)
    texts, _ = hugging_face_beams(
        theirs, torch.tensor([[3, 1, 4, 1]]), 16, 5, length_penalty=0.0, eos_token_id=7
    )
    assert len({len(text) for text in texts}) > 1


@given(seeds, st.integers(2, 4), st.integers(1, 3))
def test_with_enough_beams_the_search_is_exhaustive(seed, vocabulary, n_tokens):
    model = random_table(seed, vocabulary)
    found = inference.beam_search(model, [0], n_tokens, vocabulary**n_tokens)
    every = itertools.product(range(vocabulary), repeat=n_tokens)
    ranked = sorted(((log_probability(model, [0], y), y) for y in every), reverse=True)
    assert sorted(h.tokens for h in found) == sorted(y for _, y in ranked)
    for hypothesis, (value, _) in zip(found, ranked, strict=True):
        assert hypothesis.log_probability == pytest.approx(value)


@given(seeds, st.integers(2, 4), st.integers(1, 3), st.sampled_from([-0.5, 0.0, 0.6, 1.0, 3.0]))
def test_texts_that_end_are_found_with_their_normalized_score(seed, vocabulary, n, penalty):
    """With beams for every prefix, the list is that of all complete texts."""
    model, end = random_table(seed, vocabulary), vocabulary - 1
    every = {
        y
        for length in range(1, n + 1)
        for y in itertools.product(range(vocabulary), repeat=length)
        if end not in y[:-1] and (y[-1] == end or length == n)
    }
    scores = [log_probability(model, [0], y) / len(y) ** penalty for y in every]
    found = inference.beam_search(model, [0], n, vocabulary**n, penalty, end_token=end)
    assert {h.tokens for h in found} == every
    assert [h.score for h in found] == pytest.approx(sorted(scores, reverse=True))


@given(seeds, st.integers(1, 5), st.sampled_from([0.0, 1.0]))
def test_one_beam_is_greedy_and_scores_are_honest(seed, n_beams, penalty):
    model = random_table(seed, 5)
    greedy = inference.generate(model, [0], 8)[1:].tolist()
    assert inference.beam_search(model, [0], 8, 1)[0].tokens == tuple(greedy)
    found = inference.beam_search(model, [0], 8, n_beams, penalty, end_token=4)
    assert len(found) == n_beams
    assert [h.score for h in found] == sorted((h.score for h in found), reverse=True)
    for tokens, value, score in found:
        assert value == pytest.approx(log_probability(model, [0], tokens))
        assert score == pytest.approx(value / len(tokens) ** penalty)


def test_stopping_early_loses_nothing():
    """The rule that ends the search gives what a search to the last token gives."""
    for seed in range(40):
        model = random_table(seed, 6)
        for penalty in (-0.5, 0.0, 1.0):
            stopped = inference.beam_search(model, [0], 12, 3, penalty, end_token=5)
            steps = list(inference.beam_steps(model, [0], 12, 3, end_token=5))
            complete = [c for step in steps for c in step.ended]
            complete += zip(
                map(tuple, steps[-1].tokens.tolist()),
                steps[-1].log_probabilities.tolist(),
                strict=True,
            )
            scores = sorted((s / len(t) ** penalty for t, s in complete), reverse=True)
            assert stopped[0].score == pytest.approx(scores[0])


def test_a_long_text_may_overtake_one_that_ended():
    """With the mean per token, 0.7 after one token loses against 0.2 · 0.99¹¹ after twelve."""
    model = MarkovModel(torch.tensor([[0.1, 0.2, 0.7], [0.005, 0.99, 0.005], [0.0, 0.0, 1.0]]))
    (best,) = inference.beam_search(model, [0], 12, 1, length_penalty=1.0, end_token=2)
    assert best.tokens == (1,) * 12
    assert best.score == pytest.approx((math.log(0.2) + 11 * math.log(0.99)) / 12)


def test_parents_tell_the_tree():
    model = random_table(1, 5)
    before = None
    for step in inference.beam_steps(model, [0], 5, 3):
        if before is not None:
            assert torch.equal(step.tokens[:, :-1], before.tokens[step.parents])
        before = step


def test_impossible_continuations_are_no_hypotheses():
    circle = MarkovModel(torch.eye(4).roll(1, dims=1))
    (only,) = inference.beam_search(circle, [0], 3, n_beams=4)
    assert only.tokens == (1, 2, 3)
    assert only.log_probability == 0


def test_beam_search_takes_one_prompt_and_whole_beams():
    model = random_table(0, 3)
    with pytest.raises(ValueError, match="one prompt at a time, got 2"):
        inference.beam_search(model, [[0], [1]], 2, 2)
    for bad in (0, -1, True):
        with pytest.raises(ValueError, match="n_beams must be a whole number"):
            inference.beam_search(model, [0], 2, bad)


# Speculative decoding -----------------------------------------------------------------------------


@given(seeds, st.integers(2, 8))
def test_a_guess_or_its_replacement_is_a_draw_from_the_target(seed, size):
    """Enumerate all outcomes of one guess: the two ways to each token add up to p."""
    p, q = (random_table(seed, size).log_table.exp()[i] for i in (0, 1))
    kept = q * torch.clamp(p / q, max=1)  # guessed and not rejected
    assert inference.acceptance_rate(p, q) == pytest.approx(float(kept.sum()))
    replaced = (1 - kept.sum()) * inference.residual(p, q)
    torch.testing.assert_close(kept + replaced, p)


@pytest.mark.parametrize("function", [inference.acceptance_rate, inference.residual])
def test_the_message_names_the_distribution_that_is_none(function):
    good, bad = torch.tensor([0.5, 0.5]), torch.tensor([0.9, 0.5])
    with pytest.raises(ValueError, match=r"^target"):
        function(bad, good)
    with pytest.raises(ValueError, match=r"^draft"):
        function(good, bad)


def test_equal_distributions_leave_no_residual():
    p = torch.tensor([0.5, 0.5])
    assert torch.equal(inference.residual(p, p), p)
    assert inference.acceptance_rate(p, p) == 1


def tiny(seed: int, layers: int) -> Transformer:
    """Return a transformer of three tokens with uneven distributions."""
    torch.manual_seed(seed)
    config = TransformerConfig(
        vocab_size=3, n_layers=layers, d_model=8, n_heads=2, context_length=12
    )
    model = Transformer(config).double().eval()
    with torch.no_grad():
        for weights in model.parameters():
            weights.normal_(std=0.6)
    return model


tables = random_table(1, 3), random_table(2, 3)
transformers = tiny(1, 2), tiny(2, 1)


@pytest.mark.parametrize(
    ("models", "n_drafts", "choice", "runs"),
    [
        (tables, 1, {}, 200),
        (tables, 4, {}, 200),
        (tables, 3, {"temperature": 2.0}, 200),
        (tables, 2, {"top_p": 0.8}, 200),
        (transformers, 2, {}, 100),
    ],
)
@pytest.mark.usefixtures("as_readers_run_it")  # half of the time would go into shapes
def test_the_texts_have_the_targets_distribution(models, n_drafts, choice, runs):
    """Every text of three tokens is as frequent as the exact probability under the target."""
    (target, draft), prompt = models, [0, 1]
    expected = {}
    for text in itertools.product(range(3), repeat=3):
        with torch.no_grad():
            logits = target(torch.tensor([[*prompt, *text]]))[0, 1:4]
        weights = inference.probabilities(logits, **choice)
        expected[text] = math.prod(float(weights[i, token]) for i, token in enumerate(text))
    assert sum(expected.values()) == pytest.approx(1)
    random, counts = torch.Generator().manual_seed(8), Counter()
    for _ in range(runs):
        found = inference.speculative_decode(
            target, draft, prompt, 3, n_drafts, generator=random, **choice
        )
        counts[tuple(found.tokens[2:].tolist())] += 1
    assert all(expected[text] > 0 for text in counts)
    common = [text for text in expected if runs * expected[text] >= 5]
    observed = [counts[text] for text in common]
    wanted = [runs * expected[text] for text in common]
    observed.append(runs - sum(observed))
    wanted.append(runs - sum(wanted))
    if wanted[-1] < 1e-6:
        observed.pop(), wanted.pop()
    assert chisquare(observed, wanted).pvalue > 1e-6
    alone = [text for text in common if abs(expected[text] - 1 / 27) > 0.02]
    assert alone  # a law that differs from blind guessing


def test_a_perfect_draft_is_always_kept():
    model = tiny(1, 2)
    found = inference.speculative_decode(model, model, [0], 10, 4)
    assert (found.n_guessed, found.n_kept, found.n_passes) == (8, 8, 2)


def test_the_tokens_per_pass_are_the_formula():
    """Rows that do not depend on the last token make every guess an independent trial."""
    p, q = torch.tensor([0.6, 0.3, 0.1]).double(), torch.tensor([0.2, 0.3, 0.5]).double()
    target, draft = (MarkovModel(row.expand(3, 3), context_length=2000) for row in (p, q))
    rate = float(inference.acceptance_rate(p, q))
    assert rate == pytest.approx(0.6)
    found = inference.speculative_decode(
        target, draft, [0], 1500, 3, generator=torch.Generator().manual_seed(1)
    )
    per_pass = 1500 / found.n_passes
    assert per_pass == pytest.approx(inference.expected_tokens(rate, 3), rel=0.05)
    assert inference.expected_tokens(1.0, 3) == 4
    assert inference.expected_tokens(0.0, 3) == 1


def test_a_cache_that_forgot_wrong_guesses_gives_the_text_of_a_fresh_model():
    """With top_k = 1 both sides are greedy: one wrong entry in the cache would change the text."""
    _, target = llama(5)
    _, draft = llama(6)
    found = inference.speculative_decode(target, draft, [1, 2, 3], 40, 3, top_k=1)
    assert torch.equal(found.tokens, inference.generate(target, [1, 2, 3], 40, cache=False))
    assert found.n_kept < found.n_guessed


def test_the_text_stops_at_the_end_token():
    circle = MarkovModel(torch.eye(4).roll(1, dims=1))
    found = inference.speculative_decode(circle, circle, [0], 12, 3, end_token=2)
    assert found.tokens.tolist() == [0, 1, 2]


def test_speculation_refuses_what_does_not_fit():
    three, four = random_table(0, 3), random_table(0, 4)
    with pytest.raises(ValueError, match="share a vocabulary, got 3 and 4"):
        inference.speculative_decode(three, four, [0], 3)
    with pytest.raises(ValueError, match="n_drafts must be a whole number"):
        inference.speculative_decode(three, three, [0], 3, 0)
    with pytest.raises(ValueError, match="one prompt at a time"):
        inference.speculative_decode(three, three, [[0], [1]], 3)
    with pytest.raises(ValueError, match="temperature must be"):
        inference.speculative_decode(three, three, [0], 3, temperature=0)
    with pytest.raises(ValueError, match="rate must be a probability"):
        inference.expected_tokens(1.5, 2)


# What is counted ----------------------------------------------------------------------------------


@given(st.integers(1, 60))
def test_scores_are_counted_one_by_one(n):
    assert inference.generation_scores(n, cache=True) == sum(range(1, n + 1))
    assert inference.generation_scores(n, cache=False) == sum(t * t for t in range(1, n + 1))


@pytest.mark.parametrize("cache", [True, False])
def test_flops_are_torchs_count(cache):
    """The attention of a real model, step by step, with the explicit formula that hides nothing."""
    config = TransformerConfig(vocab_size=5, n_layers=1, d_model=16, n_heads=4, context_length=16)
    attention = Transformer(config).eval().blocks[0].attention
    x, counted = torch.randn(1, 12, 16), 0
    for t in range(1, 13):
        with FlopCounterMode(display=False) as counter, torch.no_grad():
            if cache:
                query = attention.query(x[:, t - 1 : t])
                attention.key(x[:, t - 1 : t]), attention.value(x[:, t - 1 : t])
            else:
                query = attention.query(x[:, :t])
                attention.key(x[:, :t]), attention.value(x[:, :t])
            heads = query.unflatten(-1, (4, 4)).transpose(1, 2)
            keys = torch.zeros(1, 4, t, 4)
            mixed = (heads @ keys.mT).softmax(-1) @ keys
            attention.output(mixed.transpose(1, 2).flatten(2))
        counted += counter.get_total_flops()
    flops = inference.generation_flops(12, 16, cache=cache)
    assert counted == flops.projections + flops.attention


@given(seeds, st.integers(1, 4), st.integers(2, 12), st.data())
def test_distinct_ngrams_are_counted_as_sets(seed, batch, length, data):
    n = data.draw(st.integers(1, length))
    tokens = torch.randint(3, (batch, length), generator=torch.Generator().manual_seed(seed))
    grams = [tuple(row[i : i + n]) for row in tokens.tolist() for i in range(length - n + 1)]
    assert inference.distinct_ngrams(tokens, n) == len(set(grams)) / len(grams)


def test_the_likelihood_is_minus_torchs_loss():
    _, model = llama(4)
    tokens = torch.randint(VOCABULARY, (3, 9))
    loss = torch.nn.functional.cross_entropy(
        model(tokens)[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()
    )
    assert -inference.log_likelihoods(model, tokens).mean() == pytest.approx(loss.item(), abs=1e-5)


def test_counting_refuses_what_is_not_there():
    for bad in (0, 4):
        with pytest.raises(ValueError, match=r"n must be|no 4-gram"):
            inference.distinct_ngrams(torch.tensor([1, 2, 3]), bad)
    with pytest.raises(ValueError, match="at least two tokens"):
        inference.log_likelihoods(random_table(0, 3), torch.tensor([[1]]))
    for call in (
        lambda: inference.generation_scores(0, cache=True),
        lambda: inference.generation_flops(3, 0, cache=True),
    ):
        with pytest.raises(ValueError, match="whole number ≥ 1"):
            call()


# The table ----------------------------------------------------------------------------------------


def test_a_fitted_table_counts_pairs():
    text = torch.tensor([0, 1, 0, 1, 2, 0, 1])
    table = MarkovModel.fit(text, vocab_size=4).log_table.exp()
    single = torch.tensor([4.0, 4.0, 2.0, 1.0]) / 11
    torch.testing.assert_close(table[0], (torch.tensor([0.0, 3, 0, 0]) + 5 * single) / 8)
    torch.testing.assert_close(table[3], single)  # never seen: only the single frequencies
    torch.testing.assert_close(table.sum(1), torch.ones(4))


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (torch.ones(2, 3) / 3, "a row and a column"),
        (torch.zeros(0, 0), "a row and a column"),
        (torch.tensor([[0.5, 0.4], [0.5, 0.5]]), "sum 1"),
        (torch.tensor([[1.5, -0.5], [0.5, 0.5]]), "sum 1"),
    ],
)
def test_a_table_holds_distributions(table, sentence):
    with pytest.raises(ValueError, match=sentence):
        MarkovModel(table)


@pytest.mark.parametrize("text", [[0], [0, 5], [-1, 0]])
def test_pairs_need_a_text_of_known_tokens(text):
    with pytest.raises(ValueError, match="at least two tokens between 0 and 2"):
        MarkovModel.fit(torch.tensor(text), vocab_size=3)
