"""Decoding at the edges: cold temperatures, impossible tokens, guesses without number."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from primer.inference import (
    MarkovModel,
    beam_search,
    entropy,
    expected_tokens,
    generate,
    log_likelihoods,
    probabilities,
    residual,
    sample,
)
from primer.transformers import Transformer, TransformerConfig

CHAIN = MarkovModel(torch.tensor([[0.75, 0.25], [1.0, 0.0]]))


@given(st.floats(0, 1), st.integers(1, 30))
def test_expected_tokens_is_the_sum_of_powers(rate: float, n: int) -> None:
    exact = sum(Fraction(rate) ** i for i in range(n + 1))
    assert expected_tokens(rate, n) == pytest.approx(float(exact), rel=1e-13)


@pytest.mark.parametrize("n", [10**9, 10**18])
def test_any_number_of_guesses_is_counted_at_once(n: int) -> None:
    assert expected_tokens(0.5, n) == 2
    assert expected_tokens(1.0, n) == float(n + 1)
    assert expected_tokens(0.0, n) == 1
    assert expected_tokens(1 - 2.0**-40, n) == pytest.approx(2.0**40 * -math.expm1(-n / 2.0**40))


@given(
    st.lists(st.floats(-1e4, 1e4, width=32) | st.just(-math.inf), min_size=2, max_size=5).filter(
        lambda row: max(row) > -math.inf
    )
)
def test_entropy_has_a_gradient_wherever_it_has_a_value(row: list[float]) -> None:
    logits = torch.tensor(row, dtype=torch.float64, requires_grad=True)
    found = entropy(logits)
    p = np.exp(np.array(row) - max(row))
    p /= p.sum()
    expected = -sum(x * math.log(x) for x in p if x > 0)
    assert found.item() == pytest.approx(expected, abs=1e-9)
    found.backward()
    gradient = [-x * (math.log(x) + expected) if x > 0 else 0.0 for x in p]
    assert logits.grad is not None
    torch.testing.assert_close(logits.grad.tolist(), gradient, atol=1e-9, rtol=1e-7)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
@pytest.mark.parametrize("temperature", [1e-320, 1e-40, 1e-12])
def test_the_coldest_temperatures_are_greedy(dtype: torch.dtype, temperature: float) -> None:
    logits = torch.tensor([1.0, 3.0, 3.0, -math.inf], dtype=dtype)
    assert probabilities(logits, temperature).tolist() == [0.0, 0.5, 0.5, 0.0]
    assert int(sample(logits[:2], temperature)) == 1


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("temperature", [1e5, 1e38, 1e39, 1e300])
def test_the_hottest_temperatures_leave_what_is_possible(dtype, temperature) -> None:
    logits = torch.tensor([-torch.inf, 2.0, -6e4], dtype=dtype)
    found = probabilities(logits, temperature)
    expected = (logits.double() / temperature).softmax(-1)
    torch.testing.assert_close(found.double(), expected, rtol=5e-3, atol=1e-3)
    assert found[0] == 0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.array, torch.tensor])
def test_a_setting_counts_whatever_number_it_is(kind) -> None:
    logits = torch.tensor([0.0, 1.0, 2.0])
    found = probabilities(logits, temperature=kind(0.5), top_p=kind(0.75))
    torch.testing.assert_close(found, probabilities(logits, temperature=0.5, top_p=0.75))


def test_equal_distributions_leave_a_residual_with_a_gradient() -> None:
    p = torch.tensor([0.5, 0.5], requires_grad=True)
    residual(p, torch.tensor([0.5, 0.5]))[0].backward()
    assert p.grad is not None
    assert p.grad.tolist() == [1.0, 0.0]


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.uint16, torch.int32])
def test_prompts_of_every_whole_type_are_read_alike(dtype: torch.dtype) -> None:
    prompt = torch.tensor([1, 0]).to(dtype)
    assert generate(CHAIN, prompt, 2).tolist() == generate(CHAIN, [1, 0], 2).tolist()


def test_the_impossible_has_the_logarithm_minus_infinity() -> None:
    table = log_likelihoods(CHAIN, torch.tensor([[0, 1, 1]], dtype=torch.int32))
    assert table.tolist() == [[pytest.approx(math.log(0.25)), -math.inf]]


def test_a_strong_exponent_ranks_and_one_beyond_all_numbers_is_refused() -> None:
    for power in (500.0, -500.0):
        found = beam_search(CHAIN, [0], 2, 2, length_penalty=power)
        assert all(math.isfinite(one.score) for one in found)
    with pytest.raises(ValueError, match="no floating-point number"):
        beam_search(CHAIN, [0], 2, 2, length_penalty=-2000.0)


@pytest.mark.parametrize("name", ["query", "key", "value", "output"])
@pytest.mark.parametrize("prompt", [[0], [0, 1, 2]], ids=len)
def test_a_model_whose_weights_are_no_numbers_writes_nothing(name: str, prompt: list[int]) -> None:
    """A single query with NaN gets zeros of torch's kernel, and what is beside it goes on."""
    torch.manual_seed(0)
    config = TransformerConfig(vocab_size=5, n_layers=2, d_model=8, n_heads=2, context_length=9)
    model = Transformer(config).eval()
    with torch.no_grad():
        getattr(model.blocks[-1].attention, name).weight[0, 0] = math.nan
    for cache in (True, False):
        with pytest.raises(ValueError, match=r"(?i)nan"):
            generate(model, prompt, 3, cache=cache)
        with pytest.raises(ValueError, match=r"(?i)nan"):
            beam_search(model, prompt, 3, 2, cache=cache)


def test_a_model_whose_logits_are_infinite_writes_nothing() -> None:
    model = Transformer(
        TransformerConfig(vocab_size=5, n_layers=1, d_model=8, n_heads=2, context_length=9)
    ).eval()
    with torch.no_grad():
        model.embed.weight[-1, 0] = math.inf
    with pytest.raises(ValueError, match="the model's logits are NaN or infinite"):
        generate(model, [0, 1], 3)
