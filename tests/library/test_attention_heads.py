"""What a head computes: its circuits against its scores and outputs, its names against loops."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from primer import attention
from primer.attention import induction

F64 = torch.float64
seeds = st.integers(0, 2**32 - 1)
head_counts = st.sampled_from([(4, 4), (4, 2), (4, 1), (1, 1)])


def normal(seed: int, *shape: int) -> torch.Tensor:
    """Draw a double-precision tensor."""
    return torch.randn(shape, dtype=F64, generator=torch.Generator().manual_seed(seed))


def make_layer(heads: tuple[int, int], bias: bool = False) -> attention.MultiHeadAttention:
    return attention.MultiHeadAttention(8, *heads, bias=bias).double()


# Circuits -----------------------------------------------------------------------------------------


@given(seeds, head_counts)
def test_the_qk_circuit_gives_the_scores(seed, heads):
    layer, x = make_layer(heads), normal(seed, 5, 8)
    _, weights = layer(x, return_weights=True)
    for h in range(layer.n_heads):
        scores = x @ attention.qk_circuit(layer, h) @ x.T
        torch.testing.assert_close((scores / layer.d_head**0.5).softmax(-1), weights[h])


@given(seeds, head_counts)
def test_the_ov_circuit_gives_what_a_head_writes(seed, heads):
    layer, x = make_layer(heads), normal(seed, 5, 8)
    _, weights = layer(x, return_weights=True)
    written = attention.head_outputs(layer, weights, x)
    for h in range(layer.n_heads):
        torch.testing.assert_close(weights[h] @ x @ attention.ov_circuit(layer, h), written[h])


@given(seeds, head_counts, st.booleans())
def test_the_heads_add_up_to_the_layer(seed, heads, cross):
    layer, x = make_layer(heads, bias=True), normal(seed, 2, 5, 8)
    memory = normal(seed + 1, 2, 3, 8) if cross else None
    output, weights = layer(x, memory, return_weights=True)
    written = attention.head_outputs(layer, weights, x if memory is None else memory)
    torch.testing.assert_close(written.sum(1) + layer.output.bias, output)


def test_circuits_have_the_rank_of_a_head():
    layer = make_layer((4, 2))
    for circuit in (attention.qk_circuit, attention.ov_circuit):
        assert torch.linalg.matrix_rank(circuit(layer, 3)).item() == layer.d_head == 2


@pytest.mark.usefixtures("as_readers_run_it")
def test_what_does_not_fit_a_layer_is_refused():
    layer = make_layer((4, 4))
    for circuit in (attention.qk_circuit, attention.ov_circuit):
        for head in (-1, 4):
            with pytest.raises(ValueError, match=r"head must be 0 … 3"):
                circuit(layer, head)
    with pytest.raises(ValueError, match="need weights of 4 heads over 5 keys"):
        attention.head_outputs(layer, torch.ones(2, 5, 5, dtype=F64), torch.ones(5, 8, dtype=F64))
    with pytest.raises(ValueError, match="source must have shape"):
        attention.head_outputs(layer, torch.ones(4, 5, 3, dtype=F64), torch.ones(5, 8, dtype=F64))


# Names for heads ----------------------------------------------------------------------------------


def scores_by_loop(weights, tokens):
    """Compute one head's scores on one text as the docstring words them."""
    n = len(tokens)
    kinds = {
        "previous token": lambda i, j: j == i - 1,
        "first token": lambda i, j: i >= 1 and j == 0,
        "same token": lambda i, j: j <= i and tokens[j] == tokens[i],
        "induction": lambda i, j: 1 <= j <= i and tokens[j - 1] == tokens[i],
    }
    scores = {}
    for name, fits in kinds.items():
        rows = [[weights[i][j] for j in range(n) if fits(i, j)] for i in range(n)]
        sums = [sum(row) for row in rows if row]
        scores[name] = sum(sums) / len(sums) if sums else 0.0
    return scores


@given(seeds, st.lists(st.integers(0, 3), min_size=2, max_size=8))
def test_head_scores_equal_the_loop(seed, tokens):
    n = len(tokens)
    scores = normal(seed, 2, n, n).masked_fill(~attention.causal_mask(n), -torch.inf)
    weights = scores.softmax(-1)
    got = attention.head_scores(weights, torch.tensor(tokens))
    assert tuple(got) == tuple(scores_by_loop(weights[0], tokens))
    for h in range(2):
        for name, expected in scores_by_loop(weights[h].tolist(), tokens).items():
            assert got[name][h].item() == pytest.approx(expected, abs=1e-12)
            assert 0 <= got[name][h] <= 1 + 1e-12


def test_texts_of_a_batch_are_pooled_over_their_queries():
    tokens = torch.tensor([[1, 1, 1, 1], [1, 2, 3, 4]])  # 3 queries with an induction key, then 0
    weights = torch.stack([torch.eye(4), torch.full((4, 4), 0.25)])[:, None].double()
    got = attention.head_scores(weights, tokens)
    assert got["induction"].item() == pytest.approx(1.0)  # the second text has nothing to say
    assert got["same token"].item() == pytest.approx((4 * 1 + 4 * 0.25) / 8)


def test_perfect_heads_score_one():
    tokens = torch.tensor([5, 6, 7, 5, 6, 7])
    previous = torch.cat([torch.eye(6)[:1], torch.eye(6)[:-1]])[None].double()
    assert attention.head_scores(previous, tokens)["previous token"].item() == 1
    first = torch.zeros(1, 6, 6, dtype=F64)
    first[..., 0] = 1
    assert attention.head_scores(first, tokens)["first token"].item() == 1
    induction = torch.zeros(1, 6, 6, dtype=F64)
    for i in range(6):
        induction[0, i, i - 2 if i >= 3 else 0] = 1  # after the earlier occurrence, three back
    assert attention.head_scores(induction, tokens)["induction"].item() == 1


@pytest.mark.parametrize(
    ("weights", "tokens", "sentence"),
    [
        (torch.ones(2, 3, 3), torch.arange(4), "must have shape"),
        (torch.ones(2, 3, 4), torch.arange(3), "must have shape"),
        (torch.ones(5, 2, 3, 3), torch.ones(4, 3).long(), "must have shape"),
        (torch.ones(2, 1, 1), torch.arange(1), "needs two tokens"),
    ],
)
@pytest.mark.usefixtures("as_readers_run_it")
def test_weights_that_do_not_fit_the_text_are_refused(weights, tokens, sentence):
    with pytest.raises(ValueError, match=sentence):
        attention.head_scores(weights, tokens)


# Silencing heads ----------------------------------------------------------------------------------


@given(seeds, head_counts, st.data())
def test_a_silenced_head_takes_away_what_it_wrote(seed, heads, data):
    layer, x = make_layer(heads, bias=True), normal(seed, 2, 5, 8)
    silent = data.draw(st.lists(st.integers(0, heads[0] - 1), unique=True))
    output, weights = layer(x, return_weights=True)
    written = attention.head_outputs(layer, weights, x)
    with attention.ablate_heads(layer, silent):
        torch.testing.assert_close(layer(x), output - written[:, silent].sum(1))
    torch.testing.assert_close(layer(x), output)  # and afterwards all is as before


def test_heads_speak_again_after_an_error():
    layer, x = make_layer((2, 2)), normal(0, 3, 8)
    before = layer(x)
    with pytest.raises(KeyError), attention.ablate_heads(layer, [0]):
        raise KeyError
    torch.testing.assert_close(layer(x), before)


def test_a_head_that_is_not_there_cannot_be_silenced():
    with pytest.raises(ValueError, match=r"heads must be 0 … 3, got 4"):
        attention.ablate_heads(make_layer((4, 4)), [4]).__enter__()


# Induction ----------------------------------------------------------------------------------------


def test_texts_repeat_with_their_own_period():
    tokens, predictable = induction.repeated_tokens(200, torch.Generator().manual_seed(0))
    periods = set()
    for text, copies in zip(tokens.tolist(), predictable.tolist(), strict=True):
        period = copies.index(True) - 1
        periods.add(period)
        assert all(text[i] == text[i - period] for i in range(period, len(text)))
        assert copies == [i > period for i in range(len(text))]
    assert periods == set(range(induction.SHORTEST, induction.LONGEST + 1))


@pytest.mark.parametrize("distance", [0, 1, 3])
def test_a_distance_has_a_bias_of_its_own(distance):
    model = induction.AttentionOnly(n_layers=2)
    with torch.no_grad():
        model.distance_bias[1, 0, distance] = 50.0
        _, weights = model(torch.arange(8)[None])
    looked = weights[1][0, 0].argmax(dim=1)[distance:]
    assert looked.tolist() == [i - distance for i in range(distance, 8)]
    assert weights[1][0, 0].diagonal(-distance).min() > 0.99


@pytest.mark.thorough
def test_two_layers_learn_to_copy_and_one_does_not():
    two, one = (induction.train(layers, steps=101, batch_size=32) for layers in (2, 1))
    assert two.repeated[-1] < 0.4 * one.repeated[-1]
    assert one.fresh[-1] > 0.9 * torch.log(torch.tensor(64.0))  # fresh tokens stay a riddle
    tokens, _ = induction.repeated_tokens(20, torch.Generator().manual_seed(99))
    _, (below, above) = two.model(tokens)
    assert attention.head_scores(above.detach(), tokens)["induction"].max() > 0.6
    assert attention.head_scores(below.detach(), tokens)["induction"].max() < 0.3


@pytest.mark.parametrize("bias", [False, True])
def test_a_head_that_looks_elsewhere_reads_what_stands_there(bias):
    torch.manual_seed(0)
    layer = attention.MultiHeadAttention(8, 2, bias=bias).double()
    x, mask = torch.randn(3, 5, 8, dtype=F64), attention.causal_mask(5)
    first = torch.zeros(5, 5, dtype=F64)
    first[:, 0] = 1.0
    output, weights = layer(x, mask=mask, return_weights=True)
    terms = attention.head_outputs(layer, weights, x)
    value = layer.value(x)[:, :1, 4:] @ layer.output.weight.T[4:]
    expected = output - terms[:, 1] + value
    for dtype in (torch.bool, torch.int64, torch.float32):  # zeros and ones, however they are held
        with attention.change_weights(layer, 1, lambda w: first.to(dtype).expand_as(w)):  # noqa: B023
            torch.testing.assert_close(layer(x, mask=mask), expected)
    with attention.change_weights(layer, 1, lambda w: first.expand_as(w)):
        torch.testing.assert_close(layer(x, mask=mask), expected)
        again, changed = layer(x, mask=mask, return_weights=True)
    torch.testing.assert_close(again, expected)
    assert torch.equal(changed[:, 1], first.expand(3, 5, 5))
    assert torch.equal(changed[:, 0], weights[:, 0])
    torch.testing.assert_close(layer(x, mask=mask), output)  # nothing is left behind
    with attention.change_weights(layer, 0, lambda w: w):
        torch.testing.assert_close(layer(x, x[:, :3]), layer(x, memory=x[:, :3]))
    with (
        pytest.raises(ValueError, match="head must be 0 … 1, got 2"),
        attention.change_weights(layer, 2, lambda w: w),
    ):
        pass


def test_a_first_layer_that_may_not_choose_reads_everything_alike():
    model = induction.train(2, steps=3, batch_size=2, even=[0]).model
    _, weights = model(torch.arange(10)[None])
    expected = attention.causal_mask(10) / torch.arange(1, 11)[:, None]
    torch.testing.assert_close(weights[0][0], expected.expand(2, 10, 10))
    assert (weights[1][0] - expected).abs().max() > 1e-4


def test_training_does_not_depend_on_the_default_precision():
    before = induction.train(1, steps=6, batch_size=2).repeated
    torch.set_default_dtype(F64)
    try:
        after = induction.train(1, steps=6, batch_size=2).repeated
    finally:
        torch.set_default_dtype(torch.float32)
    assert after == before
