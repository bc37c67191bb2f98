"""Norms of vectors whose squares no float holds, ids of narrow types, caches of another model.

Norms are held against the same numbers in exact arithmetic, and against torch where it computes
them in single precision.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from primer import recurrent
from primer.scoreboard.memories import MixedCache, with_memories
from primer.transformers import (
    Encoder,
    EncoderDecoder,
    FeedForward,
    KeyValueCache,
    RMSNorm,
    SwiGLU,
    Transformer,
    TransformerConfig,
    dequantize,
    layer_norm,
    quantize,
    rms_norm,
)

DTYPES = {
    torch.float16: (6e-4, 6.5e4),
    torch.bfloat16: (1e-37, 3e38),
    torch.float32: (1e-37, 3e38),
    torch.float64: (1e-300, 1e300),
}
CONFIG = TransformerConfig(vocab_size=100, n_layers=1, d_model=8, n_heads=2, context_length=8)
SMALL = TransformerConfig(
    vocab_size=9, n_layers=1, d_model=8, n_heads=2, context_length=8, positions="sinusoidal"
)


def square_root(x: Fraction) -> float:
    """Take the root of a ratio whose parts may be beyond floats."""
    digits = 10**200
    return float(
        Fraction(math.isqrt(x.numerator * x.denominator * digits**2), x.denominator * digits)
    )


def exact(x: list[float], eps: float, *, center: bool) -> list[float]:
    """Normalize in ratios of whole numbers."""
    ratios = [Fraction(value) for value in x]
    mean = sum(ratios) / len(ratios) if center else Fraction(0)
    ratios = [value - mean for value in ratios]
    below = sum(value**2 for value in ratios) / len(ratios) + Fraction(eps)
    if below == 0:
        return [0.0] * len(x)
    signs = [1 if value > 0 else -1 for value in ratios]
    return [s * square_root(v**2 / below) for s, v in zip(signs, ratios, strict=True)]


@pytest.mark.parametrize("dtype", DTYPES)
@given(data=st.data(), eps=st.sampled_from([0.0, 1e-12, 1e-5]), n=st.integers(2, 5))
def test_norms_of_vectors_of_any_size_are_right(dtype, data, eps, n):
    low, high = DTYPES[dtype]
    size = 10 ** data.draw(st.floats(float(np.log10(low)), float(np.log10(high))))
    parts = st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0])
    x = torch.tensor(data.draw(st.lists(parts, min_size=n, max_size=n)), dtype=torch.float64)
    x = (x * size).to(dtype)
    values = x.double().tolist()
    tolerance = {"atol": 0.0, "rtol": 8 * torch.finfo(dtype).eps} if eps == 0 else {}
    for norm, center in ((layer_norm, True), (rms_norm, False)):
        if eps == 0 and len(set(values)) == 1:
            continue  # no length to bring to 1
        expected = torch.tensor(exact(values, eps, center=center), dtype=torch.float64).to(dtype)
        if center:  # the mean is rounded
            tolerance = {"atol": 8 * torch.finfo(dtype).eps, "rtol": 8 * torch.finfo(dtype).eps}
        torch.testing.assert_close(norm(x, eps=eps), expected, **tolerance)
        if not center:
            torch.testing.assert_close(RMSNorm(n, eps).to(dtype)(x).detach(), expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_norms_equal_torchs(dtype):
    x = torch.tensor([[60_000.0, -60_000, -60_000], [1e-3, 2e-3, 0], [300, -300, 200]]).to(dtype)
    torch.testing.assert_close(layer_norm(x), functional.layer_norm(x, (3,)))
    torch.testing.assert_close(rms_norm(x), functional.rms_norm(x, (3,), eps=1e-5))


def test_the_gradient_of_a_large_norm_is_that_of_the_small_one():
    small = torch.tensor([[1.0, -2.0, 0.5]], dtype=torch.float64, requires_grad=True)
    for norm in (layer_norm, rms_norm, RMSNorm(3, eps=0.0).double()):
        plain = {} if isinstance(norm, RMSNorm) else {"eps": 0.0}
        [slope] = torch.autograd.grad(norm(small, **plain)[0, 0], small)
        large = (1e200 * small.detach()).requires_grad_()
        [scaled] = torch.autograd.grad(norm(large, **plain)[0, 0], large)
        torch.testing.assert_close(1e200 * scaled, slope)


@pytest.mark.usefixtures("as_readers_run_it")
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32])
def test_ids_of_narrow_types_are_read_as_wide_ones(dtype):
    ids = torch.tensor([[1, 99, 3]])
    model = Transformer(CONFIG).eval()
    torch.testing.assert_close(model(ids.to(dtype)), model(ids))
    letters = recurrent.RecurrentLanguageModel("".join(map(chr, range(33, 133))), "gru", 4)
    torch.testing.assert_close(letters(ids.to(dtype)), letters(ids))
    assert letters.decode(ids[0].to(dtype)) == letters.decode([1, 99, 3])
    writer = recurrent.EncoderDecoder(100, 4)
    torch.testing.assert_close(writer(ids.to(dtype), ids.to(dtype)), writer(ids, ids))


@pytest.mark.usefixtures("as_readers_run_it")
@pytest.mark.parametrize("dtype", [torch.int8, torch.int64])
def test_ids_below_0_never_count_from_the_end(dtype):
    ids = torch.tensor([[1, -1]], dtype=dtype)
    models = [
        Transformer(CONFIG),
        Encoder(SMALL),
        recurrent.RecurrentLanguageModel("ab", "rnn", 2),
        recurrent.EncoderDecoder(3, 4).encode,
    ]
    for model in models:
        with pytest.raises(ValueError, match="token ids"):
            model(ids)


@pytest.mark.usefixtures("as_readers_run_it")
@pytest.mark.parametrize("n_last", [1.5, True, "1"])
def test_only_whole_numbers_of_logits(n_last):
    with pytest.raises(ValueError, match="n_last must be a whole number"):
        Transformer(CONFIG)(torch.tensor([[1, 2]]), n_last=n_last)


@pytest.mark.usefixtures("as_readers_run_it")
def test_a_cache_of_something_else_is_refused():
    model, cache = Transformer(CONFIG).eval(), KeyValueCache(CONFIG)
    with pytest.raises(ValueError, match="cache must be a KeyValueCache"):
        model(torch.tensor([[1]]), cache=3)
    model(torch.tensor([[1, 2]]), cache=cache)
    for length in ("0", 1.0, True, -1, 3):
        with pytest.raises(ValueError, match="length must"):
            cache.truncate(length)
    key = torch.ones(1, 2, 1, 4)
    for wrong in (torch.ones(1, 2, 1, 5), torch.ones(2, 2, 1, 4), torch.ones(1, 1, 4)):
        with pytest.raises(ValueError, match=r"the cache holds|keys and values must"):
            cache[0].append(wrong, wrong)
    with pytest.raises(ValueError, match="keys and values must"):
        cache[0].append(key, torch.ones(1, 2, 2, 4))
    assert cache.length == 2
    cache.reorder(torch.tensor([0, 0], dtype=torch.int8))
    assert cache[0].keys.shape[0] == 2


@pytest.mark.usefixtures("as_readers_run_it")
def test_every_text_has_a_length_of_its_own():
    texts = torch.tensor([[1, 2], [3, 4]])
    for lengths in (torch.tensor([2]), torch.tensor([2, 1, 1])):
        with pytest.raises(ValueError, match="2 texts need as many lengths"):
            Encoder(SMALL)(texts, lengths)
        with pytest.raises(ValueError, match="2 texts need as many lengths"):
            EncoderDecoder(SMALL)(texts, texts, lengths)
    with pytest.raises(ValueError, match="same batch axes"):
        EncoderDecoder(SMALL)(texts, texts[:1])


@pytest.mark.parametrize("n", [1, 2, 3])
@torch.no_grad()
def test_of_few_tokens_none_sees_the_next(n):
    torch.manual_seed(0)
    model, tokens = Transformer(CONFIG).eval(), torch.randint(100, (1, 6))
    whole, cache = model(tokens), KeyValueCache(CONFIG)
    torch.testing.assert_close(model(tokens[:, :n]), whole[:, :n])
    model(tokens[:, :-n], cache)
    torch.testing.assert_close(model(tokens[:, -n:], cache), whole[:, -n:])


TWO = TransformerConfig(vocab_size=9, n_layers=2, d_model=8, n_heads=2, context_length=8)


@pytest.mark.parametrize("layer", [0, 1])
def test_a_refused_text_leaves_the_cache_as_it_was(layer):
    torch.manual_seed(0)
    model, cache = Transformer(TWO).eval(), KeyValueCache(TWO)
    text = torch.tensor([[1, 2, 3, 4, 5]])
    first = model(text[:, :2], cache=cache)

    def refuse(name, activation):
        return activation[:0] if name == f"blocks.{layer}.feed_forward.input" else None

    with pytest.raises(ValueError, match="the observer returned shape"):
        model(text[:, 2:], cache=cache, observe=refuse)
    assert [kept.length for kept in cache.layers] == [2, 2]
    rest = model(text[:, 2:], cache=cache)
    torch.testing.assert_close(torch.cat([first, rest], dim=1), model(text))


def test_a_refused_text_leaves_a_state_as_it_was():
    torch.manual_seed(0)
    model = with_memories(Transformer(TWO), ("linear", "selective")).eval()
    cache, text = MixedCache(model), torch.tensor([[1, 2, 3, 4, 5]])
    first = model(text[:, :2], cache)
    weight = model.blocks[1].feed_forward.up.weight
    broken, whole = torch.full_like(weight, torch.nan), weight.detach().clone()
    weight.data = broken
    with pytest.raises(ValueError, match="NaN or infinity"):
        model(text[:, 2:], cache)
    weight.data = whole
    rest = model(text[:, 2:], cache)
    torch.testing.assert_close(torch.cat([first, rest], dim=1), model(text))


@given(
    st.lists(st.integers(-100, 100), min_size=2, max_size=6),
    st.integers(8, 62),
    st.sampled_from([1e-5, 0.0]),
)
def test_a_layer_norm_does_not_depend_on_where_zero_is(numbers, power, eps):
    unit = 2.0 ** max(0, power - 45)
    x = torch.tensor([2.0**power + unit * n for n in numbers], dtype=torch.float64)
    if eps == 0 and len(set(numbers)) == 1:
        return
    expected = torch.tensor(exact(x.tolist(), eps, center=True), dtype=torch.float64)
    torch.testing.assert_close(layer_norm(x, eps=eps), expected, rtol=1e-9, atol=1e-9)


@given(st.integers(0, 2**32 - 1), st.floats(-44, 37))
def test_whole_numbers_are_within_half_a_unit_of_any_weights(seed, digits):
    generator = torch.Generator().manual_seed(seed)
    weight = 10**digits * torch.randn(4, 6, generator=generator)
    whole, unit = quantize(weight)
    error = (dequantize(whole, unit).double() - weight.double()).abs()
    assert bool((error <= (0.5 + 1e-3) * unit.double()[:, None] + 127 * 1.5e-45).all())


def test_networks_that_overflow_say_so():
    for layer in (FeedForward(8, 16), SwiGLU(8, 16)):
        with pytest.raises(ValueError, match="weights are too large for"):
            layer(3e38 * layer.up.weight.sign()[:1].detach())
