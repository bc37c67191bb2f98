"""Attention, wherever it is computed, where a row may look at nothing or numbers are large.

Held against torch's own attention and norms, against what a mask does in place of a bias, and
against the same numbers in double precision.
"""

import math
from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional

from primer import beyond_attention, positions, recurrent, transformers
from primer.attention import (
    MultiHeadAttention,
    change_weights,
    head_outputs,
    scaled_dot_product_attention,
)
from primer.attention.dot_product import row_weights
from primer.inputs.tensors import all_finite
from primer.transformers.online_softmax import Running, result, update

INF = torch.inf
seeds = st.integers(0, 2**32 - 1)


def normal(seed: int, *shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
    """Draw a tensor."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, dtype=torch.float64, generator=generator).to(dtype)


def holes(seed: int, *shape: int) -> Tensor:
    """Draw a mask of which some rows allow nothing."""
    allowed = normal(seed, *shape) > 0
    allowed[..., 0, :] = False
    return allowed


def explicit(q: Tensor, k: Tensor, v: Tensor, **what: Tensor) -> Tensor:
    """Attend as the formula does."""
    return scaled_dot_product_attention(q, k, v, **what)[0]


def layer(bias: Tensor | None, mask: Tensor | None, weights: bool) -> Callable[[Tensor], Tensor]:
    """Build self-attention with a bias and a mask, by one of its two paths."""
    torch.manual_seed(0)
    attention = MultiHeadAttention(4, 2).double()

    def forward(x: Tensor) -> Tensor:
        found = attention(x, mask=mask, bias=bias, return_weights=weights)
        return found[0] if weights else found

    return forward


# Rows of −∞ ---------------------------------------------------------------------------------------


@given(seeds, st.integers(1, 4), st.integers(1, 4))
def test_a_bias_of_minus_infinity_forbids_as_a_mask_does(seed, queries, keys):
    q, k, v = (normal(seed + i, n, 3).requires_grad_() for i, n in enumerate((queries, keys, keys)))
    allowed, others = holes(seed, queries, keys), holes(seed + 9, queries, keys)
    bias = torch.zeros(queries, keys, dtype=q.dtype).masked_fill(~allowed, -INF).requires_grad_()
    both = {"bias": bias, "mask": others}
    for given_, mask in (({"bias": bias}, allowed), (both, allowed & others)):
        output, weights = scaled_dot_product_attention(q, k, v, **given_)
        expected = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        torch.testing.assert_close(output, expected)
        assert (weights[~mask] == 0).all()
        ours = torch.autograd.grad(output.sum(), (q, k, v, bias), retain_graph=True)
        theirs = torch.autograd.grad(expected.sum(), (q, k, v))
        for one, other in zip(ours, theirs, strict=False):
            torch.testing.assert_close(one, other)
        assert bool(ours[3].isfinite().all())


@pytest.mark.parametrize("weights", [True, False])
@pytest.mark.parametrize("way", ["bias", "mask", "both"])
def test_a_layer_gives_nothing_to_who_may_see_nothing_by_either_path(way, weights):
    window, padding = torch.eye(3).bool(), torch.tensor([True, True, False])  # nobody for the last
    bias = torch.zeros(3, 3, dtype=torch.float64).masked_fill(~window, -INF)
    what = {
        "bias": (bias.masked_fill(~padding, -INF), None),
        "mask": (None, window & padding),
        "both": (bias, padding.expand(3, 3)),
    }[way]
    x = normal(1, 1, 3, 4).requires_grad_()
    output = layer(*what, weights)(x)
    assert output[0, 2].tolist() == [0, 0, 0, 0]
    assert bool((output[0, :2] != 0).all())
    torch.testing.assert_close(output, layer(*what, not weights)(x))
    [gradient] = torch.autograd.grad(output.square().sum(), x)
    assert bool(gradient.isfinite().all())


@given(seeds, st.integers(1, 7), st.integers(1, 3))
def test_the_running_softmax_takes_blocks_of_which_nothing_is_seen(seed, keys, block):
    scores, value = normal(seed, 3, keys), normal(seed + 1, keys, 2).requires_grad_()
    scores = scores.masked_fill(~holes(seed + 2, 3, keys), -INF).requires_grad_()
    running = Running(
        torch.full((3, 1), -INF, dtype=torch.float64),
        torch.zeros(3, 1, dtype=torch.float64),
        torch.zeros(3, 2, dtype=torch.float64),
    )
    for start in range(0, keys, block):
        there = slice(start, start + block)
        running = update(running, scores[:, there], value[there])
    expected = row_weights(scores) @ value
    torch.testing.assert_close(result(running), expected)
    for one, other in zip(
        torch.autograd.grad(result(running).square().sum(), (scores, value)),
        torch.autograd.grad(expected.square().sum(), (scores, value)),
        strict=True,
    ):
        torch.testing.assert_close(one, other)


# Numbers that half precision does not hold --------------------------------------------------------


def shaw(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Attend with vectors of offsets that are all 0."""
    table = torch.zeros(3, q.shape[-1], dtype=q.dtype)
    return positions.shaw_attention(q, k, v, table, torch.zeros(3, v.shape[-1], dtype=q.dtype))


def blocks(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Attend in blocks of one key."""
    return transformers.blockwise_attention(q, k, v, block_size=1)


ATTENTIONS = [explicit, shaw, blocks]


@pytest.mark.parametrize("attend", ATTENTIONS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("size", [150.0, 250.0, 2000.0])
def test_equal_scores_share_alike_however_large(attend, dtype, size):
    same = torch.full((2, 4), size, dtype=dtype)
    found = attend(same, same, torch.eye(2, dtype=dtype))
    assert found.dtype == dtype
    assert found.tolist() == [[0.5, 0.5], [0.5, 0.5]]


@pytest.mark.parametrize("attend", ATTENTIONS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@given(seed=seeds, size=st.floats(0.1, 300))
def test_half_precision_is_as_near_to_double_as_torch(attend, dtype, seed, size):
    q, k, v = (normal(seed + i, 3, 8, dtype=dtype) for i in range(3))
    q, k = (q * size).to(dtype), (k * size).to(dtype)
    exact = functional.scaled_dot_product_attention(q.double(), k.double(), v.double())
    torch.testing.assert_close(attend(q, k, v).double(), exact, atol=0.02, rtol=0.02)


@pytest.mark.parametrize("weights", [True, False])
def test_a_layer_in_half_precision_has_no_nan(weights):
    attention = MultiHeadAttention(4, 1).half()
    for part in (attention.query, attention.key, attention.value, attention.output):
        part.weight.data = torch.eye(4).half()
    x = torch.full((1, 2, 4), 250.0).half()
    found = attention(x, return_weights=weights)
    torch.testing.assert_close(found[0] if weights else found, x)


@pytest.mark.parametrize("attend", ATTENTIONS)
def test_scores_that_no_number_holds_are_refused(attend):
    large = torch.full((2, 4), 1e20)
    with pytest.raises(ValueError, match="large"):
        attend(large, large, torch.eye(2))
    with pytest.raises(ValueError, match="large"):  # −∞ by overflow is no mask
        attend(large, -large, torch.eye(2))


# No axis is stretched -----------------------------------------------------------------------------


@pytest.mark.usefixtures("as_readers_run_it")
@pytest.mark.parametrize("attend", [*ATTENTIONS, recurrent.bilinear_score, recurrent.mlp_score])
@pytest.mark.parametrize("shapes", [((1, 2, 4), (3, 2, 4)), ((3, 2, 4), (1, 2, 4))])
def test_batches_of_two_sizes_are_refused(attend, shapes):
    one, other = torch.ones(shapes[0]), torch.ones(shapes[1])
    if attend is recurrent.bilinear_score:
        call = lambda: attend(one[:, 0], other, torch.eye(4))  # noqa: E731
    elif attend is recurrent.mlp_score:
        call = lambda: attend(one[:, 0], other, torch.ones(8, 2), torch.ones(2))  # noqa: E731
    elif attend is explicit:  # axis −3 is that of heads, which may share keys
        call = lambda: attend(one[:, None], other[:, None], other[:, None])  # noqa: E731
    else:
        call = lambda: attend(one, other, other)  # noqa: E731
    with pytest.raises(ValueError, match="same"):
        call()


@pytest.mark.usefixtures("as_readers_run_it")
@pytest.mark.parametrize("weights", [True, False])
@pytest.mark.parametrize("batches", [((1,), (2,)), ((2,), (1,)), ((2, 1), (2, 3)), ((), (2,))])
def test_a_layer_refuses_another_number_of_memories_by_either_path(batches, weights):
    attention = MultiHeadAttention(8, 2)
    x, memory = (torch.ones(*batch, 3, 8) for batch in batches)
    with pytest.raises(ValueError, match="same batch axes"):
        attention(x, memory, return_weights=weights)
    assert attention(x, x.clone()).shape == x.shape


@pytest.mark.usefixtures("as_readers_run_it")
def test_head_outputs_refuses_another_number_of_texts():
    attention = MultiHeadAttention(8, 2)
    _, weights = attention(torch.ones(2, 3, 8), return_weights=True)
    with pytest.raises(ValueError, match="source must have shape"):
        head_outputs(attention, weights, torch.ones(1, 3, 8))


@pytest.mark.usefixtures("as_readers_run_it")
@pytest.mark.parametrize("change", [lambda w: w[..., :1], lambda w: w.mean(), lambda w: 0.0])
def test_weights_are_changed_by_weights_of_their_shape_only(change):
    attention = MultiHeadAttention(8, 2)
    with change_weights(attention, 0, change), pytest.raises(ValueError, match="the observer"):
        attention(torch.ones(1, 3, 8))


@pytest.mark.usefixtures("as_readers_run_it")
@pytest.mark.parametrize(
    "make",
    [lambda: beyond_attention.LinearAttention(4, 2), lambda: beyond_attention.SelectiveLayer(4)],
)
def test_a_state_is_read_on_by_as_many_texts_as_wrote_it(make):
    attention, state = make(), beyond_attention.LayerState()
    attention(torch.ones(1, 2, 4), cache=state)
    with pytest.raises(ValueError, match="the state holds 1 texts, got 3"):
        attention(torch.ones(3, 2, 4), cache=state)


# Finite values have finite gradients --------------------------------------------------------------


def of_cell(cell: recurrent.Cell) -> Callable[[Tensor], Tensor]:
    """Read a text with a cell."""
    return lambda x: recurrent.run(cell.double(), x)[0]


def differentiable() -> dict[str, Callable[[Tensor], Tensor]]:
    """Name functions of texts (1, 3, 4) that training goes through."""
    torch.manual_seed(0)
    config = transformers.TransformerConfig(
        vocab_size=5, n_layers=1, d_model=4, n_heads=2, context_length=8
    )
    functions: dict[str, Callable[[Tensor], Tensor]] = {
        "layer_norm": transformers.layer_norm,
        "rms_norm": transformers.rms_norm,
        "RMSNorm": transformers.RMSNorm(4).double(),
        "FeedForward": transformers.FeedForward(4, 8).double(),
        "SwiGLU": transformers.SwiGLU(4, 8).double(),
        "Block": transformers.Block(config).double(),
        "MixtureOfExperts": transformers.MixtureOfExperts(
            lambda: torch.nn.Linear(4, 4), 4, 3
        ).double(),
        "route": lambda x: transformers.route(x[0], 2).probabilities,
        "load_balancing_loss": lambda x: transformers.load_balancing_loss(
            transformers.route(x[0], 2)
        ),
        "attention": lambda x: explicit(x, x, x),
        "MultiHeadAttention": MultiHeadAttention(4, 2).double(),
        "blockwise_attention": lambda x: transformers.blockwise_attention(x, x, x, 2, causal=True),
        "shaw_attention": lambda x: shaw(x, x, x),
        "ShawRelativeAttention": positions.ShawRelativeAttention(4, 2, 2).double(),
        "apply_rope": lambda x: positions.apply_rope(x, range(3)),
        "LinearAttention": beyond_attention.LinearAttention(4, 2).double(),
        "SelectiveLayer": beyond_attention.SelectiveLayer(4, 2).double(),
        "linear_recurrence": lambda x: beyond_attention.linear_recurrence(x.sigmoid(), x),
        "dot_score": lambda x: recurrent.dot_score(x[:, 0], x),
        "attend": lambda x: recurrent.attend(x[..., 0], x)[0],
    }
    for name, cell in recurrent.CELLS.items():
        functions[name] = of_cell(cell(4, 3))
    return functions


FUNCTIONS = differentiable()
EDGES = {
    "zeros": torch.zeros(1, 3, 4),
    "ones": torch.ones(1, 3, 4),
    "a zero row": torch.tensor([[[0.0] * 4, [1.0, -1, 2, 0], [0.0] * 4]]),
    "tiny": torch.full((1, 3, 4), 1e-160),
    "saturated": 800 * torch.tensor([[[1.0, -1, 1, -1], [-1.0, -1, -1, -1], [1.0, 1, 1, 1]]]),
}


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_finite_value_has_a_finite_gradient(name, edge):
    x = EDGES[edge].double().requires_grad_()
    value = FUNCTIONS[name](x)
    assert bool(value.isfinite().all())
    [gradient] = torch.autograd.grad(value.sum(), x)
    assert bool(gradient.isfinite().all())


@pytest.mark.usefixtures("as_readers_run_it")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_nan_and_infinity_are_not_handed_on(name):
    for broken in (math.nan, math.inf, -math.inf):
        x = torch.ones(1, 3, 4, dtype=torch.float64)
        x[0, 1, 2] = broken
        with pytest.raises(ValueError, match=r"NaN|nan|infinity|inf"):
            FUNCTIONS[name](x)


@given(seeds, st.sampled_from([math.nan, INF, -INF, 0.0]), st.integers(0, 11))
def test_one_sum_tells_whether_all_are_finite(seed, number, place):
    x = 1e308 * normal(seed, 12).clamp(-1, 1)  # whose sum may be infinite
    x[place] = number
    assert all_finite(x) == math.isfinite(number)


@pytest.mark.usefixtures("as_readers_run_it")
@given(seeds, st.floats(0, 38), st.sampled_from([1.0, -1.0, math.nan]), st.booleans())
def test_both_paths_attend_alike_or_refuse_alike(seed, digits, sign, fill):
    torch.manual_seed(seed)
    attention = MultiHeadAttention(8, 2)
    x = 10**digits * (torch.ones(1, 3, 8) if fill else normal(seed, 1, 3, 8).float())
    attention.query.weight.data.mul_(sign)  # −∞ is a score too large as well, and no mask
    found = []
    for weights in (True, False):
        try:
            result = attention(x, return_weights=weights)
            found.append(result[0] if weights else result)
        except ValueError as error:
            words = "too large" if sign == sign else "query contains NaN"
            assert words in str(error)  # noqa: PT017 -- both refuse, or none
            found.append(None)
    explicit, fused = found
    assert (explicit is None) == (fused is None)
    if explicit is not None:
        torch.testing.assert_close(explicit, fused, rtol=1e-4, atol=1e-4 * float(x.abs().max()))


@given(seeds, st.sampled_from([-1e300, 1e300, 1e39]))
def test_a_bias_that_the_scores_have_no_room_for_is_refused(seed, value):
    bias = torch.full((3, 3), value, dtype=torch.float64)
    with pytest.raises(ValueError, match="bias is too large for"):
        MultiHeadAttention(8, 2)(normal(seed, 1, 3, 8).float(), bias=bias)
