"""Codebooks, blocks, packing and QLoRA, against published numbers and a search of all codes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from primer.fine_tuning import (
    FP4_BITSANDBYTES,
    FP4_E2M1,
    FP8_E4M3,
    NF4,
    Codebook,
    LoRALinear,
    QuantizedLinear,
    add_lora,
    dequantize_layers,
    double_quantize,
    integer_codebook,
    lloyd_codebook,
    merge_lora,
    normal_float_codebook,
    pack,
    quantize,
    quantize_layers,
    unpack,
)
from primer.transformers import Transformer, TransformerConfig

# bitsandbytes 0.50.2, csrc; the same numbers as in Dettmers et al. (2023), appendix E
PUBLISHED_NF4 = [
    -1.0,
    -0.6961928009986877,
    -0.5250730514526367,
    -0.39491748809814453,
    -0.28444138169288635,
    -0.18477343022823334,
    -0.09105003625154495,
    0.0,
    0.07958029955625534,
    0.16093020141124725,
    0.24611230194568634,
    0.33791524171829224,
    0.44070982933044434,
    0.5626170039176941,
    0.7229568362236023,
    1.0,
]
BOOKS = [
    NF4,
    FP4_E2M1,
    FP4_BITSANDBYTES,
    FP8_E4M3,
    *(integer_codebook(b) for b in range(2, 9)),
    normal_float_codebook(2),
    normal_float_codebook(3),
]
seeds = st.integers(0, 2**31)


def brute_force(x: np.ndarray, codebook: Codebook) -> np.ndarray:
    """Find the nearest by looking at all, the upper one of two."""
    distance = np.abs(x[:, None] - np.array(codebook.values)[::-1])
    return len(codebook.values) - 1 - distance.argmin(axis=1)


def test_nf4_is_the_published_table() -> None:
    np.testing.assert_allclose(NF4.values, PUBLISHED_NF4, atol=1.2e-7)


def test_the_other_fp4_is_that_of_bitsandbytes() -> None:
    published = [0, 0.0052083333, 0.6666666667, 1, 0.3333333333, 0.5, 0.1666666667, 0.25]
    signed = sorted({sign * value for value in published for sign in (-1, 1)})
    np.testing.assert_allclose(FP4_BITSANDBYTES.values, signed, atol=1e-9)


def test_eight_bits_are_torchs_float8() -> None:
    every = torch.arange(256, dtype=torch.uint8).view(torch.float8_e4m3fn).float()
    assert {round(v * 448, 6) for v in FP8_E4M3.values} == {
        round(float(v), 6) for v in every if torch.isfinite(v)
    }
    x = torch.rand(500, dtype=torch.float64) * 2 - 1
    theirs = (x * 448).to(torch.float8_e4m3fn).double() / 448
    ours = FP8_E4M3.look_up(FP8_E4M3.nearest(x), torch.float64)
    torch.testing.assert_close(ours, theirs, atol=1e-12, rtol=0)


@pytest.mark.parametrize("codebook", BOOKS, ids=lambda book: book.name)
def test_codes_are_the_nearest_of_a_million(codebook: Codebook) -> None:
    n = 1_000_000 // len(BOOKS)
    random = np.random.default_rng(0)
    x = random.uniform(-1, 1, n)
    x[: len(codebook.values)] = codebook.values
    x[100:200] = 0
    got = codebook.nearest(torch.tensor(x)).numpy()
    for part in range(0, n, 20_000):
        piece = slice(part, part + 20_000)
        expected = brute_force(x[piece], codebook)
        unequal = got[piece] != expected  # halfway to within rounding is as near
        table = np.array(codebook.values)
        left = np.abs(table[got[piece]] - x[piece]) - np.abs(table[expected] - x[piece])
        assert np.abs(left[unequal]).max(initial=0) < 1e-15


def test_ties_go_up() -> None:
    book = Codebook("halves", (-1, -0.5, 0, 0.5, 1))
    ties = torch.tensor([-0.75, -0.25, 0.25, 0.75])
    assert book.nearest(ties).tolist() == [1, 2, 3, 4]


@given(seeds, st.integers(2, 8), st.integers(1, 90))
def test_packing_is_undone(seed: int, bits: int, n: int) -> None:
    torch.manual_seed(seed)
    codes = torch.randint(2**bits, (n,), dtype=torch.uint8)
    packed = pack(codes, bits)
    assert len(packed) == -(-n * bits // 8)
    assert torch.equal(unpack(packed, bits, n), codes)
    as_bits = "".join(f"{code:0{bits}b}" for code in codes.tolist())
    expected = int(as_bits.ljust(8 * len(packed), "0"), 2).to_bytes(len(packed), "big")
    assert bytes(packed.tolist()) == expected


@given(seeds, st.sampled_from(BOOKS), st.integers(1, 70), st.integers(1, 150))
def test_blocks_by_hand(seed: int, codebook: Codebook, block: int, n: int) -> None:
    torch.manual_seed(seed)
    x = torch.randn(n, dtype=torch.float64)
    x[: n // 3] = 0
    got = quantize(x, codebook, block).dequantize(torch.float64)
    for start in range(0, n, block):
        piece = x[start : start + block].numpy()
        scale = np.abs(piece).max() or 1.0
        nearest = np.array(codebook.values)[brute_force(piece / scale, codebook)] * scale
        error = np.abs(got[start : start + block].numpy() - piece)
        np.testing.assert_allclose(error, np.abs(nearest - piece), atol=1e-12)


def test_a_codebook_of_two_numbers_is_read_back() -> None:
    signs = Codebook("signs", (-1, 1))
    x = torch.tensor([4.0, -1.0, 0.0, -2.0, 0.5])
    assert quantize(x, signs, None).dequantize().tolist() == [4.0, -4.0, 4.0, -4.0, 4.0]


def test_no_code_needs_no_byte() -> None:
    none = torch.zeros(0, dtype=torch.uint8)
    for bits in range(2, 9):
        assert pack(none, bits).shape == (0,)
        assert unpack(none, bits, 0).shape == (0,)


def test_one_block_is_as_long_as_the_tensor_and_the_usual_one_has_64() -> None:
    x = torch.randn(3, 50, dtype=torch.float64)
    whole, usual = quantize(x, NF4, None), quantize(x, NF4)
    assert torch.equal(whole.scales(), x.abs().max()[None])
    assert usual.scales().tolist() == [part.abs().max() for part in x.flatten().split(64)]
    assert (whole.block_size, whole.shape, whole.numel()) == (150, (3, 50), 150)
    assert whole.stored_bytes() == 75 + 8
    assert usual.bits_per_weight == pytest.approx(4 + 3 * 64 / 150)
    assert usual.dequantize().dtype == torch.float32
    assert usual.dequantize(torch.float64).dtype == torch.float64


def test_constants_are_quantized_less_their_mean_in_blocks_of_their_own() -> None:
    q = quantize(torch.randn(40 * 8) ** 3, NF4, 8)
    twice = double_quantize(q, 10, integer_codebook(8))
    constants = q.scales()
    assert twice.mean == pytest.approx(constants.mean().item())
    for part, got in zip(constants.split(10), twice.scales().split(10), strict=True):
        unit = (part - constants.mean()).abs().max() / 127
        rounded = ((part - constants.mean()) / unit).round() * unit + constants.mean()
        torch.testing.assert_close(got, rounded)
    assert (twice.shape, twice.block_size, twice.codebook) == (q.shape, 8, NF4)
    assert twice.stored_bytes() == 40 * 8 / 2 + 40 + 4 * 4


def test_a_block_of_zeros_stays_zero() -> None:
    x = torch.cat([torch.zeros(64), torch.ones(64)])
    assert torch.equal(quantize(x, NF4).dequantize(), x)


@given(seeds)
def test_constants_of_constants(seed: int) -> None:
    torch.manual_seed(seed)
    q = quantize(torch.randn(64 * 300), NF4)
    twice = double_quantize(q)
    assert torch.equal(twice.codes(), q.codes())
    spread = float((q.scales() - q.scales().mean()).abs().max())
    assert float((twice.scales() - q.scales()).abs().max()) <= spread / 28  # 16/448 · 1/2 at most
    assert q.bits_per_weight == 4.5
    assert twice.bits_per_weight == pytest.approx(4 + 8 / 64 + 2 * 32 / (64 * 300))


@given(seeds, st.booleans())
def test_qlora_multiplies_by_the_stored_matrix(seed: int, bias: bool) -> None:
    torch.manual_seed(seed)
    layer = QuantizedLinear(nn.Linear(16, 12, bias=bias), block_size=8)
    plain = layer.dequantized()
    x = torch.randn(3, 16, requires_grad=True)
    y = torch.randn(3, 16)
    torch.testing.assert_close(layer(x), plain(x))
    (ours,) = torch.autograd.grad(layer(x).square().sum(), x)
    (theirs,) = torch.autograd.grad(plain(x).square().sum(), x)
    torch.testing.assert_close(ours, theirs)
    lora = LoRALinear(layer, 2, start="both random")
    lora(y).sum().backward()
    assert {n for n, w in lora.named_parameters() if w.grad is not None} == {"A", "B"}
    assert layer(y.bfloat16()).dtype == torch.bfloat16
    with pytest.raises(ValueError, match="dequantize it first"):
        lora.merge()


def test_what_is_kept_for_the_backward_pass_is_small() -> None:
    layer = QuantizedLinear(nn.Linear(256, 256))
    kept = []
    x = torch.randn(2, 256, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: kept.append(t.numel()) or t, lambda t: t
    ):
        layer(x)
    assert sum(kept) < 256 * 256


def test_a_whole_model_in_four_bits_and_its_merge() -> None:
    torch.manual_seed(0)
    config = TransformerConfig(vocab_size=20, n_layers=1, d_model=16, n_heads=2, context_length=8)
    model = add_lora(quantize_layers(Transformer(config).eval()), 2, targets=["query", "down"])
    for layer in model.modules():
        if isinstance(layer, LoRALinear):
            layer.B.data.normal_(std=0.1)
    tokens = torch.arange(6).reshape(1, 6)
    expected = model(tokens)
    merged = merge_lora(dequantize_layers(model))
    torch.testing.assert_close(merged(tokens), expected, atol=1e-5, rtol=1e-4)


@given(seeds, st.integers(2, 4))
def test_lloyd_never_makes_it_worse(seed: int, bits: int) -> None:
    torch.manual_seed(seed)
    x = torch.randn(40, 16)
    x = (x / x.abs().amax(dim=1, keepdim=True)).flatten().double()

    def error(book: Codebook) -> float:
        return float((book.look_up(book.nearest(x), torch.float64) - x).square().mean())

    errors = [error(normal_float_codebook(bits))]
    errors += [error(lloyd_codebook(x, bits, steps)) for steps in (1, 3, 10)]
    assert all(a >= b - 1e-12 for a, b in itertools.pairwise(errors))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: integer_codebook(1), "from 2 to 8"),
        (lambda: normal_float_codebook(9), "from 2 to 8"),
        (lambda: normal_float_codebook(4, 1.0), "between 0.5 and 1"),
        (lambda: Codebook("x", (1, 0)), "must rise"),
        (lambda: Codebook("x", (0, 2)), "must rise and lie"),
        (lambda: Codebook("x", (0,)), "2 to 256"),
        (lambda: quantize(torch.tensor([1.0, torch.nan]), NF4), "must be finite"),
        (lambda: quantize(torch.zeros(0), NF4), "nothing to quantize"),
        (lambda: quantize(torch.ones(3), NF4, 0), "block_size"),
        (lambda: double_quantize(double_quantize(quantize(torch.randn(128), NF4))), "already"),
        (lambda: pack(torch.tensor([4], dtype=torch.uint8), 2), "does not fit"),
        (lambda: pack(torch.tensor([1], dtype=torch.uint8), 1), "from 2 to 8"),
        (lambda: pack(torch.tensor([1], dtype=torch.uint8), 9), "from 2 to 8"),
        (lambda: unpack(torch.zeros(1, dtype=torch.uint8), 1, 3), "from 2 to 8"),
        (lambda: unpack(torch.zeros(1, dtype=torch.uint8), 4, 3), "do not hold"),
        (lambda: lloyd_codebook(torch.tensor([2.0])), "divide by the largest"),
        (lambda: QuantizedLinear(nn.LayerNorm(3)), "no plain matrix"),
    ],
)
def test_bad_input_is_refused_in_words(call, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()
