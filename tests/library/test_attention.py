"""Attention against torch's own implementations, explicit loops and the theorems themselves."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import gradcheck
from torch.nn import functional

from primer import attention
from primer.positions import alibi_bias, apply_rope

F64 = torch.float64
sizes = st.integers(1, 6)
seeds = st.integers(0, 2**32 - 1)
MASKS = ("none", "causal", "window", "padding", "causal and padding", "holes")


def normal(seed: int, *shape: int) -> torch.Tensor:
    """Draw a double-precision tensor."""
    return torch.randn(shape, dtype=F64, generator=torch.Generator().manual_seed(seed))


def make_mask(kind: str, batch: int, queries: int, keys: int) -> torch.Tensor | None:
    """Build one of the masks for queries that stand at the end of the keys."""
    padding = attention.padding_mask([1 + b % keys for b in range(batch)], keys)
    holes = normal(batch, batch, 1, queries, keys) > 0
    holes[..., 0, :] = False  # the first query may see nothing
    return {
        "none": None,
        "causal": attention.causal_mask(queries, keys),
        "window": attention.sliding_window_mask(queries, keys, 2),
        "padding": padding,
        "causal and padding": padding & attention.causal_mask(queries, keys),
        "holes": holes,
    }[kind]


# The formula --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", MASKS)
@given(seeds, sizes, sizes, st.integers(0, 4), sizes, sizes, st.integers(1, 3), st.integers(1, 3))
def test_equals_torch_with_every_mask_and_grouped_heads(
    kind, seed, batch, queries, more, d_k, d_v, kv_heads, group
):
    keys = queries + more
    query = normal(seed, batch, kv_heads * group, queries, d_k)
    key = normal(seed + 1, batch, kv_heads, keys, d_k)
    value = normal(seed + 2, batch, kv_heads, keys, d_v)
    mask = make_mask(kind, batch, queries, keys)
    output, weights = attention.scaled_dot_product_attention(query, key, value, mask)
    expected = functional.scaled_dot_product_attention(
        query, key, value, attn_mask=mask, enable_gqa=True
    )
    torch.testing.assert_close(output, expected)
    assert (weights >= 0).all()
    sees_something = torch.ones_like(weights).bool() if mask is None else mask.expand_as(weights)
    torch.testing.assert_close(weights.sum(-1), sees_something.any(-1).to(F64))
    assert (weights[~sees_something] == 0).all()  # exactly


@given(seeds, sizes, sizes, sizes, st.floats(0.01, 10))
def test_bias_and_scale_equal_torch(seed, queries, keys, dim, scale):
    query, key, value = normal(seed, queries, dim), normal(seed, keys, dim), normal(seed, keys, 3)
    bias = normal(seed + 1, queries, keys)
    output, _ = attention.scaled_dot_product_attention(query, key, value, bias=bias, scale=scale)
    expected = functional.scaled_dot_product_attention(
        query, key, value, attn_mask=bias, scale=scale
    )
    torch.testing.assert_close(output, expected)


@given(seeds, sizes, sizes, sizes)
def test_equals_the_loop_over_queries_and_keys(seed, queries, keys, dim):
    query, key, value = normal(seed, queries, dim), normal(seed, keys, dim), normal(seed, keys, 2)
    output, weights = attention.scaled_dot_product_attention(query, key, value)
    for i in range(queries):
        powers = [math.exp(float(query[i] @ key[j]) / math.sqrt(dim)) for j in range(keys)]
        shares = torch.tensor(powers, dtype=F64) / sum(powers)
        torch.testing.assert_close(weights[i], shares)
        torch.testing.assert_close(output[i], sum(shares[j] * value[j] for j in range(keys)))


@given(seeds, sizes, sizes)
def test_outputs_stay_within_the_values(seed, queries, keys):
    value = normal(seed, keys, 3)
    output, _ = attention.scaled_dot_product_attention(
        normal(seed, queries, 2), normal(seed, keys, 2), value
    )
    assert (output <= value.amax(0) + 1e-12).all()
    assert (output >= value.amin(0) - 1e-12).all()


@given(seeds, st.permutations(range(5)))
def test_shuffled_tokens_give_shuffled_outputs(seed, order):
    x, w_query, w_key, w_value = normal(seed, 5, 4), *normal(seed + 1, 3, 4, 4)

    def attend(x, mask=None):
        return attention.scaled_dot_product_attention(x @ w_query, x @ w_key, x @ w_value, mask)[0]

    torch.testing.assert_close(attend(x[order]), attend(x)[order])
    if order != sorted(order):
        causal = attention.causal_mask(5)
        assert not torch.allclose(attend(x[order], causal), attend(x, causal)[order])


@pytest.mark.parametrize("kind", MASKS)
def test_gradients(kind):
    mask = make_mask(kind, 2, 2, 3)
    shapes = (2, 2, 2, 2), (2, 1, 3, 2), (2, 1, 3, 2), (2, 2, 3)
    inputs = [normal(i, *shape).requires_grad_() for i, shape in enumerate(shapes)]
    assert gradcheck(
        lambda q, k, v, b: attention.scaled_dot_product_attention(q, k, v, mask, b), inputs
    )


def test_a_query_that_may_see_nothing_gets_zero_and_no_broken_gradient():
    query, key, value = (normal(i, 2, 3).requires_grad_() for i in range(3))
    mask = torch.tensor([[False, False], [True, False]])
    output, weights = attention.scaled_dot_product_attention(query, key, value, mask)
    assert output[0].tolist() == [0, 0, 0]
    assert weights.tolist() == [[0, 0], [1, 0]]
    output.sum().backward()
    assert all(x.grad.isfinite().all() for x in (query, key, value))


@pytest.mark.parametrize("huge", [1e4, 1e300])
def test_huge_scores_do_not_overflow(huge):
    query = torch.tensor([[huge, 0.0]], dtype=F64)
    _, weights = attention.scaled_dot_product_attention(query, torch.eye(2).double(), query.T)
    assert weights.tolist() == [[1, 0]]


@pytest.mark.parametrize(
    ("shapes", "options", "sentence"),
    [
        (((3,), (3,), (3,)), {}, "same number of axes"),
        (((2, 3), (2, 4), (2, 4)), {}, "same number of coordinates"),
        (((2, 0), (2, 0), (2, 4)), {}, "same number of coordinates, ≥ 1"),
        (((2, 3), (2, 3), (4, 3)), {}, "every key needs its value"),
        (((2, 3), (0, 3), (0, 3)), {}, "there must be one"),
        (((2, 1, 2, 3), (3, 1, 2, 3), (3, 1, 2, 3)), {}, "same batch axes"),
        (((4, 2, 3), (3, 2, 3), (3, 2, 3)), {}, "multiple of the number of key heads"),
        (((2, 3), (4, 3), (4, 3)), {"mask": torch.ones(4, 2).bool()}, "mask of shape"),
        (((2, 3), (4, 3), (4, 3)), {"mask": torch.ones(5, 2, 4).bool()}, "mask of shape"),
        (((2, 3), (4, 3), (4, 3)), {"bias": torch.ones(2, 3)}, "bias of shape"),
    ],
)
@pytest.mark.usefixtures("as_readers_run_it")
def test_bad_shapes_are_refused(shapes, options, sentence):
    inputs = [torch.zeros(shape) for shape in shapes]
    with pytest.raises(ValueError, match=sentence):
        attention.scaled_dot_product_attention(*inputs, **options)


@pytest.mark.parametrize("which", [0, 1, 2])
def test_nan_is_not_handed_on(which):
    inputs = [torch.zeros(2, 2) for _ in range(3)]
    inputs[which][0, 0] = torch.nan
    with pytest.raises(ValueError, match="contains NaN"):
        attention.scaled_dot_product_attention(*inputs)


# Masks --------------------------------------------------------------------------------------------


@given(st.integers(1, 8), st.integers(0, 8), st.integers(1, 10))
def test_masks_are_their_definitions(queries, more, window):
    keys = queries + more
    causal = attention.causal_mask(queries, keys)
    sliding = attention.sliding_window_mask(queries, keys, window)
    for row in range(queries):
        i = row + more  # the queries stand at the end
        assert causal[row].tolist() == [j <= i for j in range(keys)]
        assert sliding[row].tolist() == [0 <= i - j < window for j in range(keys)]
    assert torch.equal(attention.sliding_window_mask(queries, keys, keys), causal)


@given(st.lists(st.integers(1, 7), min_size=1, max_size=4))
def test_padding_never_reaches_a_real_token(lengths):
    x = normal(0, len(lengths), 7, 4)
    layer = attention.MultiHeadAttention(4, 2).double()
    output = layer(x, mask=attention.padding_mask(lengths, 7))
    for sequence, length, result in zip(x, lengths, output, strict=True):
        torch.testing.assert_close(result[:length], layer(sequence[None, :length])[0])


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: attention.causal_mask(0), "n_queries must be"),
        (lambda: attention.causal_mask(3, 2), "n_queries ≤ n_keys"),
        (lambda: attention.sliding_window_mask(3, 3, 0), "window must be a whole number ≥ 1"),
        (lambda: attention.padding_mask([0, 2], 3), "1 to n_keys = 3"),
        (lambda: attention.padding_mask([4], 3), r"got lengths \[4\]"),
        (lambda: attention.padding_mask([], 3), "whole numbers|real tokens"),
        (lambda: attention.padding_mask(torch.tensor([[1]]), 3), "lengths must have shape"),
    ],
)
@pytest.mark.usefixtures("as_readers_run_it")
def test_impossible_masks_are_refused(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


# Several heads ------------------------------------------------------------------------------------


def like_torch(layer: attention.MultiHeadAttention) -> torch.nn.MultiheadAttention:
    """Put the weights of a layer into torch's own."""
    with_bias = layer.query.bias is not None
    d_model = layer.query.in_features
    theirs = torch.nn.MultiheadAttention(
        d_model, layer.n_heads, bias=with_bias, batch_first=True, dtype=F64
    )
    parts = layer.query, layer.key, layer.value
    state = {
        "in_proj_weight": torch.cat([part.weight for part in parts]),
        "out_proj.weight": layer.output.weight,
    }
    if with_bias:
        state["in_proj_bias"] = torch.cat([part.bias for part in parts])
        state["out_proj.bias"] = layer.output.bias
    theirs.load_state_dict(state)
    return theirs


@pytest.mark.parametrize("kind", MASKS)
@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("cross", [False, True])
def test_multi_head_equals_torch(kind, with_bias, cross):
    layer = attention.MultiHeadAttention(12, 3, bias=with_bias).double()
    x = normal(0, 2, 4, 12)
    memory = normal(1, 2, 6, 12) if cross else x
    mask = make_mask(kind, 2, 4, memory.shape[1])
    forbidden = None
    if mask is not None:  # theirs marks what is forbidden, for each head of each sequence
        forbidden = ~mask.expand(2, 3, 4, memory.shape[1]).flatten(0, 1)
    expected, expected_weights = like_torch(layer)(
        x, memory, memory, attn_mask=forbidden, average_attn_weights=False
    )
    output, weights = layer(x, memory if cross else None, mask=mask, return_weights=True)
    if kind == "holes":  # torch hands on NaN where nothing may be seen; ours are the bias alone
        blind = ~mask.any(-1).expand(2, 3, 4)
        assert expected_weights[blind].isnan().all()
        expected_weights = torch.where(blind[..., None], 0.0, expected_weights)
        nothing = layer.output.bias if with_bias else torch.zeros(12, dtype=F64)
        expected = torch.where(blind[:, 0, :, None], nothing, expected)
    torch.testing.assert_close(output, expected)
    torch.testing.assert_close(weights, expected_weights)


@given(
    seeds,
    st.sampled_from(MASKS),
    st.sampled_from([(4, 4), (4, 2), (4, 1)]),
    st.booleans(),
    st.booleans(),
)
def test_fused_and_explicit_paths_agree(seed, kind, heads, with_bias, rotated):
    layer = attention.MultiHeadAttention(8, *heads).double()
    options = {
        "mask": make_mask(kind, 2, 5, 5),
        "bias": alibi_bias(4, 5) if with_bias else None,
        "rotate": (lambda t, start: apply_rope(t, range(start, start + 5))) if rotated else None,
    }
    x = normal(seed, 2, 5, 8)
    explicit, _ = layer(x, return_weights=True, **options)
    torch.testing.assert_close(layer(x, **options), explicit)


@pytest.mark.parametrize("kind", ["causal", "holes"])
def test_gradients_reach_every_weight_alike_on_both_paths(kind):
    layer = attention.MultiHeadAttention(8, 4, 2, bias=True).double()
    x, mask = normal(0, 2, 5, 8), make_mask(kind, 2, 5, 5)
    gradients = []
    for explicit in (True, False):
        layer.zero_grad()
        output = layer(x, mask=mask, return_weights=explicit)
        (output[0] if explicit else output).square().sum().backward()
        gradients.append([weight.grad.clone() for weight in layer.parameters()])
    torch.testing.assert_close(*gradients)
    assert all(gradient.abs().sum() > 0 for gradient in gradients[0][:1])


def test_grouped_heads_are_full_heads_with_repeated_weights():
    grouped = attention.MultiHeadAttention(8, 4, 2).double()
    full = attention.MultiHeadAttention(8, 4).double()
    state = grouped.state_dict()
    for name in ("key.weight", "value.weight"):
        state[name] = state[name].unflatten(0, (2, 2)).repeat_interleave(2, 0).flatten(0, 1)
    full.load_state_dict(state)
    x = normal(0, 3, 5, 8)
    torch.testing.assert_close(grouped(x), full(x))


class ListCache:
    """The simplest cache there can be."""

    def __init__(self):
        self.key, self.value = torch.zeros(2, 1, 2, 0, 4, dtype=F64)

    @property
    def length(self):
        return self.key.shape[-2]

    def append(self, key, value):
        self.key, self.value = torch.cat([self.key, key], -2), torch.cat([self.value, value], -2)
        return self.key, self.value


@given(seeds, st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_with_a_cache_pieces_give_what_the_whole_gives(seed, pieces):
    layer = attention.MultiHeadAttention(16, 4, 2).double()
    n = sum(pieces)
    x = normal(seed, 1, n, 16)

    def rotate(t, start):
        return apply_rope(t, range(start, start + t.shape[-2]))

    whole = layer(x, mask=attention.causal_mask(n), rotate=rotate)
    cache, outputs = ListCache(), []
    for piece in x.split(pieces, dim=1):
        mask = attention.causal_mask(piece.shape[1], cache.length + piece.shape[1])
        outputs.append(layer(piece, mask=mask, rotate=rotate, cache=cache))
    torch.testing.assert_close(torch.cat(outputs, 1), whole)


@given(seeds, st.integers(1, 5), st.integers(1, 4), st.integers(1, 4))
def test_heads_are_split_and_merged(seed, seq, heads, d_head):
    x = normal(seed, 2, seq, heads * d_head)
    split = attention.split_heads(x, heads)
    assert split.shape == (2, heads, seq, d_head)
    for h in range(heads):
        assert torch.equal(split[:, h], x[..., h * d_head : (h + 1) * d_head])
    assert torch.equal(attention.merge_heads(split), x)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((10, 3), "cannot be split evenly among n_heads = 3"),
        ((8, 0), "n_heads must be a whole number ≥ 1, got 0"),
        ((0, 1), "d_model must be a whole number ≥ 1, got 0"),
        ((8, 4, 3), "cannot share n_kv_heads = 3"),
        ((8, 4, 0), "n_kv_heads = 0"),
        ((8, 4, 8), "n_kv_heads = 8"),
    ],
)
def test_heads_that_do_not_divide_are_refused(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        attention.MultiHeadAttention(*arguments)


@pytest.mark.usefixtures("as_readers_run_it")
def test_bad_input_of_a_layer_is_refused():
    layer, x = attention.MultiHeadAttention(8, 2), torch.zeros(1, 3, 8)
    with pytest.raises(ValueError, match="width 8"):
        layer(torch.zeros(1, 3, 6))
    with pytest.raises(ValueError, match="at least one token"):
        layer(torch.zeros(1, 0, 8))
    with pytest.raises(ValueError, match="width 8"):
        layer(x, torch.zeros(1, 3, 6))
    with pytest.raises(ValueError, match="True = may attend"):
        layer(x, mask=torch.zeros(3, 3))
    with pytest.raises(ValueError, match="mask of shape"):
        layer(x, mask=torch.ones(4, 4).bool())
    with pytest.raises(ValueError, match="bias of shape"):
        layer(x, bias=torch.ones(3, 4))
    with pytest.raises(ValueError, match="belong to self-attention"):
        layer(x, x, rotate=lambda t, start: t)
    with pytest.raises(ValueError, match="cannot be split evenly"):
        attention.split_heads(torch.zeros(2, 5), 2)
