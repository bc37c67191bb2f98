"""Positions against Hugging Face's implementations, closed forms and the theorems themselves."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import gradcheck
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.gptj import modeling_gptj
from transformers.models.llama import modeling_llama

from primer import positions
from primer.positions import experiment

F64 = torch.float64
even_dims = st.integers(1, 20).map(lambda pairs: 2 * pairs)
offsets = st.integers(0, 5000)
bases = st.floats(2.0, 1e6)
seeds = st.integers(0, 2**32 - 1)
layouts = st.sampled_from(["interleaved", "half"])


def normal(seed: int, *shape: int) -> torch.Tensor:
    """Draw a double-precision tensor."""
    return torch.randn(shape, dtype=F64, generator=torch.Generator().manual_seed(seed))


# Frequencies and angles ---------------------------------------------------------------------------


@given(even_dims, bases)
def test_frequencies_are_the_formula(dim, base):
    expected = [base ** (-2 * i / dim) for i in range(dim // 2)]
    torch.testing.assert_close(
        positions.rope_frequencies(dim, base), torch.tensor(expected).double()
    )


@given(st.integers(0, 10**8), seeds)
def test_single_precision_is_turned_as_double_is(place, seed):
    x = normal(seed, 1, 8)
    exact = positions.apply_rope(x, [place])
    turned = positions.rope_complex(x.float(), [place])
    single = {
        "elementwise": positions.apply_rope(x.float(), [place]),
        "complex": torch.view_as_real(turned).flatten(-2),
    }
    for found in single.values():
        torch.testing.assert_close(found.double(), exact, rtol=1e-6, atol=1e-6)
    for kind in (torch.float16, torch.bfloat16, torch.float32):
        assert positions.angles_at([place], torch.ones(1, dtype=kind)).item() == place


@pytest.mark.parametrize(
    "given_as",
    [
        lambda p: p[::-1].copy()[::-1],
        lambda p: p.astype(">i8"),
        lambda p: p.astype(np.uint16),
        lambda p: p.astype(float),
        lambda p: torch.tensor(p.astype(np.uint16)),
        lambda p: torch.tensor(p.astype(np.uint64)),
        lambda p: np.broadcast_to(p, p.shape),
        list,
        tuple,
    ],
)
def test_positions_are_read_however_they_lie_in_memory(given_as):
    places, x = np.array([0, 3, 7]), normal(0, 3, 4)
    expected = positions.apply_rope(x, places.tolist())
    torch.testing.assert_close(positions.apply_rope(x, given_as(places)), expected, rtol=0, atol=0)
    assert positions.LearnedPositions(8, 2)(given_as(places)).shape == (3, 2)


def test_angles_stay_exact_far_out():
    # 1e6 · 1 rad is a whole number: single precision would lose its sine.
    assert positions.rope_angles(10**6, 2).sin().item() == pytest.approx(math.sin(1e6), abs=1e-12)


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        ([-1], "0 or larger"),
        ([0.5], "whole numbers"),
        ([float("nan")], "whole numbers, got nan|must be finite, got nan"),
        ([float("inf")], "whole numbers, got inf|must be finite, got inf"),
        ([True], "whole number"),
        (torch.tensor([1j]), "whole numbers"),
    ],
)
def test_positions_are_whole_and_not_negative(bad, sentence):
    for call in (
        lambda: positions.rope_angles(bad, 4),
        lambda: positions.sinusoidal_positions(bad, 4),
        lambda: positions.apply_rope(torch.zeros(1, 4), bad),
        lambda: positions.LearnedPositions(4, 4)(bad),
    ):
        with pytest.raises(ValueError, match=sentence):
            call()


@pytest.mark.parametrize("dim", [0, 1, 3, -2])
def test_dimensions_come_in_pairs(dim):
    for function in (
        positions.rope_frequencies,
        positions.rope_permutation,
        lambda d: positions.sinusoidal_positions([0], d),
        lambda d: positions.rope_matrix(1, d),
    ):
        with pytest.raises(ValueError, match=r"must be (even and ≥ 2|a whole number ≥ 1)"):
            function(dim)


@pytest.mark.parametrize("base", [1.0, 0.0, -3.0, float("nan"), float("inf")])
def test_base_is_above_one(base):
    with pytest.raises(ValueError, match="finite number"):
        positions.rope_frequencies(4, base)


# Absolute positions -------------------------------------------------------------------------------


@given(even_dims, st.lists(offsets, min_size=1, max_size=5))
def test_sinusoidal_is_the_formula_in_numpy(dim, where):
    expected = np.empty((len(where), dim))
    for row, t in enumerate(where):
        for i in range(dim // 2):
            expected[row, 2 * i] = np.sin(t / 10_000 ** (2 * i / dim))
            expected[row, 2 * i + 1] = np.cos(t / 10_000 ** (2 * i / dim))
    np.testing.assert_allclose(positions.sinusoidal_positions(where, dim), expected, atol=1e-10)


def test_sinusoidal_equals_gptj_up_to_the_order_of_columns():
    ours = positions.sinusoidal_positions(range(50), 16)
    theirs = modeling_gptj.create_sinusoidal_positions(50, 16)  # all sines, then all cosines
    torch.testing.assert_close(ours[:, positions.rope_permutation(16)].float(), theirs)


@given(even_dims, offsets, offsets, bases)
def test_a_shift_rotates_sinusoidal_positions(dim, t, k, base):
    # Row form of the rotation property: PE(t + k) = PE(t) R_k.
    here, there = positions.sinusoidal_positions([t, t + k], dim, base)
    torch.testing.assert_close(here @ positions.rope_matrix(k, dim, base), there, atol=1e-9, rtol=0)


@given(even_dims, offsets)
def test_sinusoidal_norm_is_constant(dim, t):
    assert positions.sinusoidal_positions(t, dim).square().sum().item() == pytest.approx(dim / 2)


def test_learned_positions_are_a_lookup_with_gradient_only_where_used():
    table = positions.LearnedPositions(10, 4)
    rows = table(torch.tensor([[0, 1], [0, 3]]))
    one_hot = torch.nn.functional.one_hot(torch.tensor([[0, 1], [0, 3]]), 10).float()
    torch.testing.assert_close(rows, one_hot @ table.weight)
    rows.sum().backward()
    touched = table.weight.grad.abs().sum(1).nonzero().flatten().tolist()
    assert touched == [0, 1, 3]
    assert table.weight.grad[0, 0] == 2  # position 0 occurs twice
    with pytest.raises(ValueError, match="position 10 has no vector"):
        table([10])
    with pytest.raises(ValueError, match="max_length must be a whole number ≥ 1"):
        positions.LearnedPositions(0, 4)


# RoPE ---------------------------------------------------------------------------------------------


@given(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3))
def test_rotations_compose_and_keep_lengths(a, b):
    rotate = positions.rotation_matrix
    torch.testing.assert_close(rotate(a) @ rotate(b), rotate(a + b), atol=1e-9, rtol=0)
    torch.testing.assert_close(rotate(a).T, rotate(-a))
    torch.testing.assert_close(rotate(a) @ rotate(a).T, torch.eye(2, dtype=F64))
    with pytest.raises(ValueError, match="finite"):
        rotate(float("nan"))


@given(even_dims, st.lists(offsets, min_size=1, max_size=4), bases, seeds)
def test_four_forms_of_rope_agree(dim, where, base, seed):
    x = normal(seed, len(where), dim)
    expected = positions.apply_rope(x, where, base)
    by_complex = torch.view_as_real(positions.rope_complex(x, where, base)).flatten(-2)
    by_matrix = torch.stack(
        [row @ positions.rope_matrix(t, dim, base).T for row, t in zip(x, where, strict=True)]
    )
    order = positions.rope_permutation(dim)
    by_halves = positions.apply_rope(x[:, order], where, base, "half")[:, order.argsort()]
    for other in (by_complex, by_matrix, by_halves):
        torch.testing.assert_close(other, expected, atol=1e-9, rtol=0)


@given(even_dims, offsets, offsets, offsets, bases, seeds, layouts)
def test_relative_position_theorem(dim, m, n, shift, base, seed, layout):
    q, k = normal(seed, 2, dim)

    def score(i, j):
        return positions.apply_rope(q, i, base, layout) @ positions.apply_rope(k, j, base, layout)

    scale = 1e-9 * (1 + q.norm() * k.norm()).item()
    assert score(m, n).item() == pytest.approx(score(m + shift, n + shift).item(), abs=scale)
    middle = positions.rope_matrix(n - m, dim, base, layout)
    assert score(m, n).item() == pytest.approx((q @ middle @ k).item(), abs=scale)


@given(even_dims, offsets, seeds, layouts)
def test_rope_keeps_lengths(dim, t, seed, layout):
    x = normal(seed, dim)
    assert positions.apply_rope(x, t, layout=layout).norm().item() == pytest.approx(x.norm().item())


def test_rope_equals_llama():
    config = LlamaConfig(hidden_size=64, num_attention_heads=4, max_position_embeddings=128)
    query, key = normal(0, 2, 4, 128, 16).float(), normal(1, 2, 4, 128, 16).float()
    cos, sin = modeling_llama.LlamaRotaryEmbedding(config)(query, torch.arange(128)[None])
    expected = modeling_llama.apply_rotary_pos_emb(query, key, cos, sin)
    for ours, theirs in zip((query, key), expected, strict=True):
        got = positions.apply_rope(ours, range(128), layout="half")
        torch.testing.assert_close(got, theirs, atol=2e-5, rtol=0)  # their angles are float32


def test_rope_equals_gptj():
    x = normal(2, 2, 30, 4, 16).float()  # GPT-J keeps (batch, seq, heads, dim)
    sin, cos = modeling_gptj.create_sinusoidal_positions(30, 16).expand(2, -1, -1).chunk(2, -1)
    theirs = modeling_gptj.apply_rotary_pos_emb(x, sin, cos).transpose(1, 2)
    got = positions.apply_rope(x.transpose(1, 2), range(30), layout="interleaved")
    torch.testing.assert_close(got, theirs, atol=1e-5, rtol=0)


@pytest.mark.parametrize("layout", ["interleaved", "half"])
def test_rope_has_the_gradient_of_a_rotation(layout):
    x = normal(3, 2, 5, 6).requires_grad_()
    assert gradcheck(lambda v: positions.apply_rope(v, range(5), layout=layout), x)


def test_rope_keeps_precision_and_takes_one_position_for_all():
    x = normal(4, 3, 8)
    for dtype in (torch.float16, torch.bfloat16, torch.float32):
        assert positions.apply_rope(x.to(dtype), range(3)).dtype == dtype
    torch.testing.assert_close(positions.apply_rope(x, 7), positions.apply_rope(x, [7, 7, 7]))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: positions.apply_rope(torch.zeros(2, 4), [0]), "do not match the tokens"),
        (lambda: positions.apply_rope(torch.zeros(4), [0, 1]), "do not match the tokens"),
        (lambda: positions.apply_rope(torch.zeros(1, 3), [0]), "must be even"),
        (
            lambda: positions.apply_rope(torch.zeros(1, 4), [0], layout="halves"),
            "'interleaved', 'half'",
        ),
        (lambda: positions.apply_rope(torch.full((1, 4), torch.nan), [0]), "NaN"),
        (lambda: positions.apply_rope(torch.zeros(1, 4).long(), [0]), "floating-point"),
        (
            lambda: positions.rope_complex(torch.zeros(1, 4, dtype=torch.cfloat), [0]),
            "floating-point",
        ),
        (
            lambda: positions.rotate_pairs(torch.zeros(4), torch.zeros(3)),
            "4 coordinates make 2 pairs",
        ),
        (lambda: positions.rope_matrix(0.5, 4), "whole number"),
        (lambda: positions.rope_matrix(1, 4, layout="pairs"), "layout must be one of"),
    ],
)
def test_rope_names_what_is_wrong(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


# Shaw ---------------------------------------------------------------------------------------------


def shaw_as_printed(query, key, value, key_offsets, value_offsets, causal):
    """Evaluate the formula literally, pair by pair."""
    n_queries, n_keys, k = len(query), len(key), len(key_offsets) // 2
    out = torch.zeros(n_queries, value.shape[-1], dtype=query.dtype)
    for row in range(n_queries):
        i = n_keys - n_queries + row
        seen = range(i + 1) if causal else range(n_keys)
        clip = [max(-k, min(k, j - i)) + k for j in seen]
        e = torch.stack(
            [query[row] @ (key[j] + key_offsets[c]) for j, c in zip(seen, clip, strict=True)]
        )
        for a, j, c in zip((e / query.shape[-1] ** 0.5).softmax(0), seen, clip, strict=True):
            out[row] += a * (value[j] + value_offsets[c])
    return out


@given(st.integers(1, 6), st.integers(0, 4), st.integers(1, 3), st.booleans(), seeds)
def test_shaw_attention_is_the_printed_formula(n_queries, older, k, causal, seed):
    n_keys = n_queries + older
    query, key, value = normal(seed, n_queries, 4), normal(seed, n_keys, 4), normal(seed, n_keys, 3)
    tables = normal(seed, 2 * k + 1, 4), normal(seed, 2 * k + 1, 3)
    torch.testing.assert_close(
        positions.shaw_attention(query, key, value, *tables, causal=causal),
        shaw_as_printed(query, key, value, *tables, causal),
    )


def test_shaw_with_zero_tables_is_plain_attention():
    query, key, value = normal(5, 3, 2, 6, 4)
    zero = torch.zeros(7, 4, dtype=F64)
    torch.testing.assert_close(
        positions.shaw_attention(query, key, value, zero, zero, causal=True),
        torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True),
    )


def test_shaw_gradients():
    arguments = [
        normal(s, *shape).requires_grad_() for s, shape in enumerate([(4, 2)] * 3 + [(5, 2)] * 2)
    ]
    assert gradcheck(positions.shaw_attention, arguments)


@given(st.integers(1, 8), st.integers(0, 8), st.integers(1, 5))
def test_clipped_offsets_are_the_formula(n_queries, older, k):
    got = positions.clipped_offsets(n_queries, n_queries + older, k)
    for row in range(n_queries):
        for j in range(n_queries + older):
            assert got[row, j] == max(-k, min(k, j - (older + row)))


def test_shaws_vectors_begin_with_length_one_on_average():
    """Each of an offset's entries has the variance 1 / d_head, so that none drowns the words."""
    torch.manual_seed(0)
    layer = positions.ShawRelativeAttention(d_model=32, n_heads=2, max_distance=2000)
    for offsets in (layer.key_offsets, layer.value_offsets):
        assert offsets.shape == (4001, 16)
        assert offsets.square().sum(-1).mean().item() == pytest.approx(1, rel=0.02)


def test_shaw_layer_serves_any_length_and_shares_its_tables():
    layer = positions.ShawRelativeAttention(d_model=12, n_heads=3, max_distance=2, causal=True)
    for length in (1, 4, 40):
        assert layer(torch.zeros(2, length, 12)).shape == (2, length, 12)
    assert layer.key_offsets.shape == (5, 4)
    x = normal(6, 9, 12).float()
    torch.testing.assert_close(layer(x)[:5], layer(x[:5]))  # causal: the past does not change


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: positions.clipped_offsets(0, 3, 1), "n_queries"),
        (lambda: positions.clipped_offsets(4, 3, 1), "n_queries"),
        (lambda: positions.clipped_offsets(3, 3, 0), "max_distance"),
        (lambda: positions.ShawRelativeAttention(8, 3, 2), "n_heads = 3: choose a number"),
        (lambda: positions.ShawRelativeAttention(8, 2, 0), "max_distance"),
    ],
)
def test_shaw_names_what_is_wrong(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


# ALiBi --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_heads", [1, 2, 3, 6, 8, 12, 16, 24, 112])
def test_alibi_equals_bloom(n_heads):
    theirs = build_alibi_tensor(torch.ones(1, 7), n_heads, torch.float32)  # (heads, 1, keys)
    torch.testing.assert_close(positions.alibi_slopes(n_heads).float(), theirs[:, 0, 1])
    # Bloom adds +m j to row i instead of −m (i − j): the same softmax over the past.
    future = torch.ones(7, 7, dtype=torch.bool).triu(1)
    mine = positions.alibi_bias(n_heads, 7).float().masked_fill(future, -torch.inf).softmax(-1)
    yours = theirs.expand(-1, 7, -1).masked_fill(future, -torch.inf).softmax(-1)
    torch.testing.assert_close(mine, yours)


@given(st.integers(1, 20), st.integers(1, 9), st.integers(0, 9))
def test_alibi_bias_is_the_formula(n_heads, n_queries, older):
    bias = positions.alibi_bias(n_heads, n_queries, n_queries + older)
    slopes = positions.alibi_slopes(n_heads)
    for row in range(n_queries):
        for j in range(n_queries + older):
            torch.testing.assert_close(bias[:, row, j], -slopes * abs(older + row - j))


@pytest.mark.parametrize("n_heads", [0, -1, True])
def test_alibi_wants_a_number_of_heads(n_heads):
    with pytest.raises(ValueError, match="n_heads"):
        positions.alibi_slopes(n_heads)


def test_alibi_wants_queries_among_the_keys():
    with pytest.raises(ValueError, match="n_queries"):
        positions.alibi_bias(2, 3, 2)


# Longer contexts ----------------------------------------------------------------------------------


def llama(kind: str, **parameters: float) -> LlamaConfig:
    return LlamaConfig(
        hidden_size=256,
        num_attention_heads=4,
        max_position_embeddings=2048,
        rope_parameters={"rope_type": kind, "rope_theta": 10_000.0, **parameters},
    )


@pytest.mark.parametrize("factor", [1.0, 2.0, 8.0, 40.0])
def test_extensions_equal_hugging_face(factor):
    linear, _ = ROPE_INIT_FUNCTIONS["linear"](llama("linear", factor=factor))
    torch.testing.assert_close(positions.interpolated_frequencies(64, factor).float(), linear)

    # "dynamic" computes the base for the length at hand: at seq_len = 2048 · s and factor 1 it is
    # b s^(d/(d−2)).
    config = llama("dynamic", factor=1.0)
    dynamic, _ = ROPE_INIT_FUNCTIONS["dynamic"](config, seq_len=int(2048 * factor))
    ours = positions.rope_frequencies(64, positions.ntk_base(64, factor))
    torch.testing.assert_close(ours.float(), dynamic)

    config = llama("yarn", factor=factor, original_max_position_embeddings=2048)
    yarn, temperature = ROPE_INIT_FUNCTIONS["yarn"](config)
    torch.testing.assert_close(positions.yarn_frequencies(64, factor, 2048).float(), yarn)
    assert positions.yarn_temperature(factor) == pytest.approx(temperature)


@given(even_dims, st.floats(1, 64), st.integers(1, 10**5), bases)
def test_yarn_lies_between_no_change_and_interpolation(dim, factor, length, base):
    got = positions.yarn_frequencies(dim, factor, length, base)
    plain = positions.rope_frequencies(dim, base)
    assert (got <= plain * (1 + 1e-12)).all()
    assert (got >= plain / factor * (1 - 1e-12)).all()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: positions.interpolated_frequencies(4, 0.5), "factor"),
        (lambda: positions.ntk_base(4, float("nan")), "factor"),
        (lambda: positions.ntk_base(2, 2.0), "dim must be ≥ 4"),
        (lambda: positions.yarn_frequencies(4, 2.0, 0), "trained_length"),
        (
            lambda: positions.yarn_frequencies(4, 2.0, 8, fast_turns=1.0, slow_turns=2.0),
            "fast_turns",
        ),
        (lambda: positions.yarn_temperature(0.0), "factor"),
    ],
)
def test_extensions_name_what_is_wrong(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


# The experiment -----------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", experiment.ENCODINGS)
def test_small_model_is_causal_and_none_is_a_bag(encoding):
    torch.manual_seed(0)
    model = experiment.SmallModel(encoding)
    digits = torch.randint(10, (2, 20))
    logits = model(digits)
    torch.testing.assert_close(model(digits[:, :9]), logits[:, :9])
    # The last output after the earlier digits are reversed: only "none" cannot tell.
    order = [*range(18, -1, -1), 19]
    unchanged = torch.allclose(model(digits[:, order])[:, -1], logits[:, -1], atol=1e-4)
    assert unchanged == (encoding == "none")


def test_answers_of_the_experiment():
    generators = [torch.Generator().manual_seed(seed) for seed in (0, 1)]
    digits, answers = experiment.draw_digits(3, 10, generators)
    assert digits.shape == (2, 3, 10)
    assert answers.shape == (2, 3, 10, 2)
    assert (answers[:, :, :3, 0] == -100).all()
    assert (answers[:, :, 3:, 0] == digits[:, :, :-3]).all()
    assert (answers[..., 1] == digits[:, :, :1]).all()


def test_training_lowers_the_loss_of_every_seed():
    losses = experiment.train("learned", seeds=[0, 1, 2], steps=40).losses
    assert losses.shape == (3, 40)
    assert (losses[:, -1] < losses[:, 0] - 0.1).all()
    assert not torch.equal(losses[0], losses[1])  # seeds have weights and data of their own


def test_a_training_depends_on_its_seed_alone():
    together = experiment.train("RoPE", [3, 4], steps=5)
    torch.rand(7)  # the global generator plays no part
    alone = experiment.train("RoPE", [4], steps=5)
    torch.testing.assert_close(together.losses[-1], alone.losses[0])
    state = torch.random.get_rng_state()
    experiment.train("learned", [0], steps=1)
    assert torch.equal(torch.random.get_rng_state(), state)


def test_first_weights_have_the_scale_of_their_layer():
    model = experiment.SmallModel("Shaw")
    weights = experiment.draw_weights(model, torch.Generator().manual_seed(0))
    assert {name: w.shape for name, w in weights.items()} == {
        name: p.shape for name, p in model.named_parameters()
    }
    assert weights["narrow.weight"].std() == pytest.approx(128**-0.5, rel=0.05)
    assert weights["embed.weight"].std() == pytest.approx(1, rel=0.1)
    assert (weights["norm1.weight"] == 1).all()
    assert (weights["norm1.bias"] == 0).all()
    assert (weights["answer.bias"] == 0).all()


@pytest.fixture(scope="module")
def trained():
    return {name: experiment.train(name, seeds=[0, 1], steps=4) for name in ("RoPE", "Shaw")}


def test_a_test_without_changes_is_the_model_itself(trained):
    models = trained["RoPE"]
    shares = experiment.evaluate(models)
    plain = experiment.evaluate(models, frequencies=positions.rope_frequencies(16, 100.0))
    torch.testing.assert_close(shares, plain)
    model = experiment.SmallModel("RoPE").float()
    model.load_state_dict({name: weight[1] for name, weight in models.weights.items()})
    right = model(models.digits[1]).argmax(-1) == models.answers[1]
    torch.testing.assert_close(shares[1], right.float().mean(0))
    assert (shares[:, :3, 0] == 0).all()  # no answer yet


def test_hidden_offsets_receive_no_attention_and_the_others_share_it(trained):
    model = experiment.SmallModel("RoPE").float()
    model.load_state_dict({name: weight[0] for name, weight in trained["RoPE"].weights.items()})
    query, key, _ = model.heads(torch.randn(9, experiment.D_MODEL))
    plain = model.weights(query, key)
    model.hidden = (2, 5)
    weights = model.weights(query, key)
    offset = torch.arange(9)[:, None] - torch.arange(9)
    unseen = (offset == 2) | (offset == 5)
    assert (weights[:, unseen] == 0).all()
    kept = plain.masked_fill(unseen, 0)
    torch.testing.assert_close(weights, kept / kept.sum(-1, keepdim=True))


def test_attention_by_offset_is_that_of_the_last_query(trained):
    models = trained["RoPE"]
    weights = experiment.weight_by_offset(models, position=6)
    assert weights.shape == (2, experiment.N_HEADS, 7)
    model = experiment.SmallModel("RoPE").float()
    model.load_state_dict({name: weight[0] for name, weight in models.weights.items()})
    query, key, _ = model.heads(model.norm1(model.positioned(models.digits[0, :, :7])))
    expected = model.weights(query, key)[..., -1, :].mean(0).flip(-1)
    torch.testing.assert_close(weights[0], expected)


def test_frequencies_and_sharpness_change_what_a_model_answers(trained):
    models = trained["RoPE"]
    plain = experiment.evaluate(models)
    slower = positions.interpolated_frequencies(16, 3, 100.0)
    assert not torch.equal(experiment.evaluate(models, frequencies=slower), plain)
    assert not torch.equal(experiment.evaluate(models, sharpen=3.0), plain)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda t: experiment.evaluate(t["Shaw"], hidden=[3]), "cannot be hidden"),
        (lambda t: experiment.evaluate(t["Shaw"], frequencies=torch.ones(8)), "only RoPE"),
        (lambda t: experiment.evaluate(t["RoPE"], frequencies=torch.ones(4)), "8 pairs"),
        (lambda t: experiment.weight_by_offset(t["Shaw"], 3), "not computed here"),
        (lambda t: experiment.weight_by_offset(t["RoPE"], 72), "position must be 0 to 71"),
        (lambda t: experiment.train("RoPE", steps=0), "steps"),
        (lambda t: experiment.train("RoPE", base=1.0), "base"),
    ],
)
def test_tests_of_the_experiment_name_what_is_wrong(trained, call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(trained)


def test_experiment_names_what_is_wrong():
    with pytest.raises(ValueError, match="encoding must be one of"):
        experiment.SmallModel("rope")
    with pytest.raises(ValueError, match="at least one model"):
        experiment.train("RoPE", seeds=[])
