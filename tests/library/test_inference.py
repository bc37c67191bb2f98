"""Choosing tokens and generating text, against Hugging Face's ``generate`` and its processors."""

import math
from functools import partial

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM
from transformers.generation.logits_process import (
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from primer import inference
from primer.transformers import Transformer, TransformerConfig, load_gpt2, load_llama

VOCABULARY, CONTEXT = 31, 48
seeds = st.integers(0, 2**32 - 1)
temperatures = st.floats(0.05, 20)
sizes = st.integers(1, 40)


def random_logits(seed: int, *shape: int) -> torch.Tensor:
    """Draw logits in double precision, as spread out as those of a trained model."""
    return 3 * torch.randn(
        shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)
    )


def llama(seed: int, **changes):
    """Return Hugging Face's Llama with random weights, and ours with the same."""
    torch.manual_seed(seed)
    shape = {
        "vocab_size": VOCABULARY,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": CONTEXT,
        "initializer_range": 0.4,  # the default gives all tokens nearly the same probability
        "pad_token_id": 0,
        "eos_token_id": None,
        "bos_token_id": None,
    }
    theirs = LlamaForCausalLM(LlamaConfig(**shape | changes)).eval()
    return theirs, load_llama(theirs.state_dict(), theirs.config)


def gpt2(seed: int):
    """Return Hugging Face's GPT-2 with random weights, and ours with the same."""
    torch.manual_seed(seed)
    config = GPT2Config(
        vocab_size=VOCABULARY,
        n_positions=CONTEXT,
        n_embd=32,
        n_layer=2,
        n_head=4,
        initializer_range=0.4,
        pad_token_id=0,
        eos_token_id=None,
        bos_token_id=None,
    )
    theirs = GPT2LMHeadModel(config).eval()
    return theirs, load_gpt2(theirs.state_dict(), theirs.config)


# Choosing -----------------------------------------------------------------------------------------


@given(seeds, sizes, temperatures)
def test_temperature_is_hugging_faces(seed, size, temperature):
    logits = random_logits(seed, 3, size)
    theirs = TemperatureLogitsWarper(temperature)(None, logits).softmax(-1)
    torch.testing.assert_close(inference.probabilities(logits, temperature), theirs)


@given(seeds, sizes, st.data())
def test_top_k_is_hugging_faces(seed, size, data):
    logits, k = random_logits(seed, 3, size), data.draw(st.integers(1, size))
    kept = inference.top_k_filter(logits, k)
    assert torch.equal(kept, TopKLogitsWarper(k)(None, logits))
    assert (kept > -torch.inf).sum(-1).tolist() == [k] * 3


@given(seeds, sizes, st.floats(0.01, 1))
def test_top_p_is_hugging_faces(seed, size, p):
    logits = random_logits(seed, 3, size)
    mass = logits.sort(descending=True).values.softmax(-1).cumsum(-1)
    if (mass - p).abs().min() < 1e-9:
        return  # rounding decides, and the two round differently
    assert torch.equal(inference.top_p_filter(logits, p), TopPLogitsWarper(p)(None, logits))


@given(seeds, st.integers(2, 40), st.floats(0.01, 0.99))
def test_the_nucleus_is_the_smallest_set_with_its_mass(seed, size, p):
    logits = random_logits(seed, size)
    weights = logits.softmax(-1)
    kept = inference.top_p_filter(logits, p) > -torch.inf
    assert weights[kept].sum() >= p - 1e-12
    assert weights[kept].sum() - weights[kept].min() < p + 1e-12  # one less does not suffice
    assert kept.all() or weights[kept].min() >= weights[~kept].max()


@given(seeds, sizes, temperatures, st.data())
def test_probabilities_are_the_processors_in_their_order(seed, size, temperature, data):
    logits = random_logits(seed, 2, size)
    k, p = data.draw(st.integers(1, size)), data.draw(st.floats(0.05, 0.95))
    theirs = TemperatureLogitsWarper(temperature)(None, logits)
    theirs = TopKLogitsWarper(k)(None, theirs)
    mass = theirs.softmax(-1).sort(descending=True).values.cumsum(-1)
    if (mass - p).abs().min() < 1e-9:
        return
    theirs = TopPLogitsWarper(p)(None, theirs).softmax(-1)
    ours = inference.probabilities(logits, temperature, top_k=k, top_p=p)
    torch.testing.assert_close(ours, theirs)


@given(seeds, st.integers(2, 40), temperatures, temperatures)
def test_entropy_grows_with_temperature(seed, size, one, other):
    logits = random_logits(seed, size)
    low, high = sorted((one, other))
    cold, hot = (inference.warp_temperature(logits, t) for t in (low, high))
    assert inference.entropy(cold) <= inference.entropy(hot) + 1e-9
    assert 1 - 1e-9 <= inference.effective_choices(hot) <= size + 1e-9


@given(seeds, st.integers(2, 20))
def test_the_slope_of_the_entropy_is_the_variance_of_the_logits(seed, size):
    logits, temperature, h = random_logits(seed, size), 1.5, 1e-4
    ends = [inference.entropy(inference.warp_temperature(logits, temperature + s)) for s in (-h, h)]
    weights = inference.probabilities(logits, temperature)
    variance = (weights * logits**2).sum() - (weights * logits).sum() ** 2
    slope = (ends[1] - ends[0]) / (2 * h)
    torch.testing.assert_close(slope, variance / temperature**3, atol=1e-6, rtol=1e-4)


def test_equal_logits_keep_exactly_k_and_the_smallest_ids():
    logits = torch.tensor([1.0, 2.0, 2.0, 2.0])
    assert inference.top_k_filter(logits, 2).tolist() == [-math.inf, 2, 2, -math.inf]
    assert inference.top_p_filter(logits, 0.5).tolist() == [-math.inf, 2, 2, -math.inf]
    even = inference.top_p_filter(torch.zeros(4), 0.5)  # two quarters are one half: enough
    assert even.tolist() == [0, 0, -math.inf, -math.inf]
    assert inference.greedy(logits).item() == 1


def test_extreme_temperatures_stay_finite():
    logits = torch.tensor([1e4, 0.0, -1e4])
    assert inference.probabilities(logits, 1e-30).tolist() == [1, 0, 0]
    torch.testing.assert_close(inference.probabilities(logits, 1e30), torch.full((3,), 1 / 3))


def test_a_rare_token_survives_p_of_one():
    logits = torch.tensor([0.0, -80.0])
    assert torch.equal(inference.top_p_filter(logits, 1.0), logits)


@pytest.mark.parametrize(
    "choice", [{}, {"temperature": 2.0}, {"top_k": 2}, {"top_p": 0.6}, {"top_k": 3, "top_p": 0.9}]
)
def test_draws_have_the_announced_frequencies(choice):
    logits = random_logits(5, 5)
    expected = inference.probabilities(logits, **choice)
    draws = inference.sample(
        logits.expand(20_000, 5), **choice, generator=torch.Generator().manual_seed(1)
    )
    counts = draws.bincount(minlength=5)
    possible = expected > 0
    assert counts[~possible].sum() == 0
    if possible.sum() > 1:
        assert chisquare(counts[possible], 20_000 * expected[possible]).pvalue > 1e-6


@pytest.mark.parametrize("bad", [0, -1.0, math.nan, math.inf])
def test_a_temperature_is_positive(bad):
    with pytest.raises(ValueError, match=r"temperature must be (a|one) finite number"):
        inference.sample(torch.zeros(3), temperature=bad)


@pytest.mark.parametrize("bad", [0, -1, 4, True])
def test_k_lies_within_the_vocabulary(bad):
    with pytest.raises(ValueError, match="between 1 and the 3 tokens"):
        inference.top_k_filter(torch.zeros(3), bad)


@pytest.mark.parametrize("bad", [0, -0.1, 1.01, math.nan])
def test_p_lies_in_the_unit_interval(bad):
    with pytest.raises(ValueError, match=r"p must (lie in \(0, 1\]|be one finite number)"):
        inference.sample(torch.zeros(3), top_p=bad)


@pytest.mark.parametrize("bad", [[math.nan, 0.0], [math.inf, 0.0], [-math.inf, -math.inf], []])
def test_logits_describe_a_distribution(bad):
    for choice in (
        inference.greedy,
        inference.sample,
        inference.entropy,
        lambda logits: inference.top_k_filter(logits, 1),
        lambda logits: inference.top_p_filter(logits, 0.5),
    ):
        with pytest.raises(ValueError, match="logits must"):
            choice(torch.tensor(bad))


# Generating ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [llama, gpt2])
@pytest.mark.parametrize("seed", range(4))
def test_greedy_text_is_hugging_faces(make, seed):
    theirs, ours = make(seed)
    prompt = torch.randint(VOCABULARY, (3, 5), generator=torch.Generator().manual_seed(seed))
    expected = theirs.generate(
        prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=40, do_sample=False
    )
    for cache in (True, False):
        assert torch.equal(inference.generate(ours, prompt, 40, cache=cache), expected)
    assert len(expected[:, 5:].unique()) > 3  # no model that says one word forever


@given(
    seeds,
    st.integers(1, 6),
    st.integers(1, 10),
    st.sampled_from(["rope", "learned", "sinusoidal", "alibi", "none"]),
    st.sampled_from([None, 4]),
)
def test_the_text_is_the_same_with_and_without_a_cache(seed, prompt_length, n, positions, window):
    torch.manual_seed(seed)
    config = TransformerConfig(
        vocab_size=11,
        n_layers=2,
        d_model=16,
        n_heads=4,
        n_kv_heads=2,
        context_length=16,
        positions=positions,
        window=window,
    )
    model = Transformer(config).double().eval()
    prompt = torch.randint(11, (2, prompt_length))
    texts = []
    for cache in (True, False):
        choose = partial(inference.sample, generator=torch.Generator().manual_seed(seed))
        texts.append(inference.generate(model, prompt, n, choose, cache=cache))
    assert texts[0].shape == (2, prompt_length + n)
    assert torch.equal(*texts)


def test_with_a_cache_every_token_passes_through_the_model_once():
    _, model = llama(0)
    rows = []
    model.embed.register_forward_hook(lambda module, given, result: rows.append(given[0].shape[1]))
    inference.generate(model, [1, 2, 3], 6)
    assert rows == [3, 1, 1, 1, 1, 1]
    rows.clear()
    inference.generate(model, [1, 2, 3], 6, cache=False)
    assert rows == [3, 4, 5, 6, 7, 8]


def test_a_text_ends_with_the_end_token():
    circle = inference.MarkovModel(torch.eye(4).roll(1, dims=1))  # 0 → 1 → 2 → 3 → 0
    assert inference.generate(circle, [0], 9, end_token=2).tolist() == [0, 1, 2]
    both = inference.generate(circle, [[0], [3]], 9, end_token=2)
    assert both.tolist() == [[0, 1, 2, 2], [3, 0, 1, 2]]


def test_greedy_with_an_end_token_is_hugging_faces():
    theirs, ours = llama(1)
    prompt = torch.tensor([[3, 1, 4]])
    plain = inference.generate(ours, prompt, 20)
    end = int(plain[0, 8])
    expected = theirs.generate(
        prompt,
        attention_mask=torch.ones_like(prompt),
        max_new_tokens=20,
        do_sample=False,
        eos_token_id=end,
    )
    assert torch.equal(inference.generate(ours, prompt, 20, end_token=end), expected)
    assert expected.shape[1] < 23


def test_generation_leaves_no_graph_and_takes_lists():
    _, model = llama(2)
    tokens = inference.generate(model, [1, 2], 3)
    assert tokens.shape == (5,)
    model(tokens[None]).sum().backward()  # no tensor of an inference mode that cannot be saved


@pytest.mark.parametrize(
    ("prompt", "n_tokens", "sentence"),
    [
        ([], 3, "at least one token"),
        ([[]], 3, "at least one token"),
        (5, 3, "at least one token"),
        ([0.5], 3, "must hold token ids"),
        ([True], 3, "must hold token ids"),
        ([VOCABULARY], 3, "must lie between 0 and 30"),
        ([-1], 3, "must lie between 0 and 30"),
        ([0] * (CONTEXT + 1), 1, "exceed the context of 48"),
        ([0] * 40, 9, "exceed the context of 48"),
        ([0], 0, "n_tokens must be a whole number"),
        ([0], -2, "n_tokens must be a whole number"),
    ],
)
def test_bad_prompts_are_refused(prompt, n_tokens, sentence):
    _, model = llama(0)
    given = torch.tensor(prompt)
    for call in (
        lambda: inference.generate(model, given, n_tokens),
        lambda: inference.beam_search(model, given, n_tokens, 2),
        lambda: inference.speculative_decode(model, model, given, n_tokens),
    ):
        with pytest.raises(ValueError, match=sentence):
            call()


def test_the_context_may_be_filled_to_its_end():
    _, model = llama(0)
    assert len(inference.generate(model, [0] * 40, 8)) == CONTEXT
