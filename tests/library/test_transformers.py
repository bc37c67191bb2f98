"""The decoder-only transformer: every option, its cache, and what it refuses."""

import dataclasses
import json
import runpy

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from primer.positions import apply_rope
from primer.transformers import (
    GPT2_SMALL,
    GPT3,
    LLAMA_2_7B,
    KeyValueCache,
    Transformer,
    TransformerConfig,
    cache_bytes,
    config,
    count_parameters,
)
from primer.transformers.rotary import Rotary

SMALL = TransformerConfig(vocab_size=19, n_layers=2, d_model=16, n_heads=4, context_length=12)
MODERN = {
    "modern": {},
    "untied": {"tied_embeddings": False},
    "bias": {"bias": True},
    "interleaved": {"rope_layout": "interleaved", "rope_base": 100.0},
    "multi-query": {"n_kv_heads": 1},
    "grouped": {"n_kv_heads": 2},
    "window": {"window": 3},
    "experts": {"n_experts": 4},
    "one expert of two": {"n_experts": 2, "experts_per_token": 1, "feed_forward": "relu"},
    "dropout": {"dropout": 0.1},
    "alibi in a window": {"positions": "alibi", "window": 4, "n_kv_heads": 2},
    "original": {
        "positions": "sinusoidal",
        "norm": "layer",
        "norm_position": "post",
        "feed_forward": "relu",
        "bias": True,
    },
}
SINGLE = {
    f"{option} {choice}": {option: choice}
    for option, choices in config.CHOICES.items()
    for choice in choices
}
VARIANTS = MODERN | SINGLE
every_variant = pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS.keys())


@pytest.fixture
def double():
    """Let models be built in double precision."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def build(changes: dict[str, object], seed: int = 0) -> Transformer:
    """Build a small model whose weights are large enough that every part matters."""
    torch.manual_seed(seed)
    model = Transformer(dataclasses.replace(SMALL, **changes)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.2)
    return model


def draw_tokens(batch: int, length: int, seed: int = 1) -> torch.Tensor:
    """Draw random token ids."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(SMALL.vocab_size, (batch, length), generator=generator)


# Every option -------------------------------------------------------------------------------------


@every_variant
def test_as_many_parameters_as_the_formula_says(changes):
    model = build(changes)
    assert sum(p.numel() for p in model.parameters()) == count_parameters(model.config)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [(GPT2_SMALL, 124_439_808), (GPT3, None), (LLAMA_2_7B, 6_738_415_616)],
)
def test_large_models_have_the_known_number_of_parameters(shape, expected):
    with torch.device("meta"):
        model = Transformer(shape)
    real = sum(p.numel() for p in model.parameters())
    assert real == count_parameters(shape)
    assert expected is None or real == expected
    assert model.head.weight.is_meta


@every_variant
def test_no_token_hears_a_later_one(changes):
    model, tokens = build(changes), draw_tokens(2, 9)
    changed = tokens.clone()
    changed[:, 5:] = (changed[:, 5:] + 1) % SMALL.vocab_size
    before, after = model(tokens), model(changed)
    torch.testing.assert_close(before[:, :5], after[:, :5])
    assert (before[:, 5:] - after[:, 5:]).abs().min(-1).values.max() > 0


@every_variant
def test_one_step_of_training_reaches_every_parameter_and_lowers_the_loss(changes):
    torch.manual_seed(0)
    model = Transformer(dataclasses.replace(SMALL, **changes | {"dropout": 0.0}))
    tokens = draw_tokens(8, 12)

    def loss():
        logits = model(tokens[:, :-1])
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())

    before = loss()
    before.backward()
    untouched = {name for name, p in model.named_parameters() if p.grad is None}
    assert not untouched
    assert all(p.grad.isfinite().all() for p in model.parameters())
    torch.optim.SGD(model.parameters(), lr=0.05).step()
    assert loss() < before


@every_variant
@pytest.mark.usefixtures("double")
def test_cached_logits_are_those_of_the_whole_text(changes):
    model, tokens = build(changes), draw_tokens(3, 12)
    cache = KeyValueCache(model.config)
    pieces = [model(tokens[:, a:b], cache=cache) for a, b in [(0, 5), (5, 6), (6, 7), (7, 12)]]
    torch.testing.assert_close(torch.cat(pieces, dim=1), model(tokens), atol=1e-10, rtol=0)


@every_variant
def test_cached_logits_in_single_precision(changes):
    model, tokens = build(changes), draw_tokens(2, 12)
    cache = KeyValueCache(model.config)
    pieces = [model(tokens[:, t : t + 1], cache=cache) for t in range(12)]
    torch.testing.assert_close(torch.cat(pieces, dim=1), model(tokens), atol=1e-5, rtol=1e-5)


@every_variant
def test_weights_are_seen_beside_the_same_logits(changes):
    model, tokens = build(changes), draw_tokens(2, 7)
    seen = {}
    logits = model(tokens, observe=seen.__setitem__)
    torch.testing.assert_close(logits, model(tokens), atol=1e-5, rtol=1e-5)
    distance = torch.arange(7)[:, None] - torch.arange(7)
    allowed = (distance >= 0) & (distance < (model.config.window or 7))
    for layer in range(SMALL.n_layers):
        weights = seen[f"blocks.{layer}.attention.weights"]
        torch.testing.assert_close(weights.sum(-1), torch.ones(2, 4, 7))
        assert (weights[..., ~allowed] == 0).all()
        assert (weights[..., allowed] > 0).all()


def test_the_last_positions_alone_have_the_same_logits():
    model, tokens = build({}), draw_tokens(2, 7)
    for n_last in (1, 3, 7):
        torch.testing.assert_close(model(tokens, n_last=n_last), model(tokens)[:, -n_last:])


@given(st.data())
@pytest.mark.usefixtures("double")
def test_any_mixture_of_options_is_causal_and_cached(data):
    changes = {
        name: data.draw(st.sampled_from(choices)) for name, choices in config.CHOICES.items()
    }
    changes["n_kv_heads"] = data.draw(st.sampled_from([None, 1, 2, 4]))
    changes["window"] = data.draw(st.none() | st.integers(1, 13))
    changes["n_experts"] = data.draw(st.none() | st.integers(2, 5))
    changes["bias"], changes["tied_embeddings"] = data.draw(st.tuples(st.booleans(), st.booleans()))
    model = build(changes, seed=data.draw(st.integers(0, 1000)))
    assert sum(p.numel() for p in model.parameters()) == count_parameters(model.config)
    length, cut = data.draw(st.integers(2, 12)), data.draw(st.integers(1, 11))
    assume(cut < length)
    tokens = draw_tokens(2, length)
    whole, cache = model(tokens), KeyValueCache(model.config)
    torch.testing.assert_close(model(tokens[:, :cut], cache=cache), whole[:, :cut])
    torch.testing.assert_close(model(tokens[:, cut:], cache=cache), whole[:, cut:])


def test_dropout_acts_in_training_only():
    model, tokens = build({"dropout": 0.5}), draw_tokens(2, 8)
    torch.testing.assert_close(model(tokens), model(tokens), atol=0, rtol=0)
    model.train()
    assert not torch.allclose(model(tokens), model(tokens))


def test_a_stack_of_windows_sees_as_far_as_its_layers_reach():
    model, tokens = build({"window": 3, "n_layers": 2}), draw_tokens(1, 12)
    last = model(tokens)[0, -1]
    reach = []
    for place in range(12):
        changed = tokens.clone()
        changed[0, place] = (changed[0, place] + 1) % SMALL.vocab_size
        reach.append(not torch.allclose(model(changed)[0, -1], last, atol=1e-6))
    assert reach == [False] * 7 + [True] * 5  # 2 layers × 2 tokens back, and itself


def test_without_positions_a_single_layer_does_not_know_the_order():
    tokens = draw_tokens(1, 8)
    shuffled = torch.cat([tokens[:, :-1].flip(1), tokens[:, -1:]], dim=1)
    for positions in config.CHOICES["positions"]:
        model = build({"positions": positions, "n_layers": 1})
        same = torch.allclose(model(tokens)[0, -1], model(shuffled)[0, -1], atol=1e-5)
        assert same == (positions == "none")


@pytest.mark.parametrize("layout", config.CHOICES["rope_layout"])
def test_the_tables_turn_as_apply_rope_does(layout):
    x = torch.randn(2, 3, 7, 8, generator=torch.Generator().manual_seed(0))
    rotary = Rotary(context_length=40, d_head=8, base=50.0, layout=layout)
    expected = apply_rope(x, range(30, 37), base=50.0, layout=layout)
    torch.testing.assert_close(rotary(x, start=30), expected)
    assert not rotary.state_dict()  # computed, not stored


def test_fresh_weights_predict_evenly_and_keep_the_stream_from_growing():
    shape = TransformerConfig(vocab_size=50, n_layers=8, d_model=64, n_heads=4, context_length=32)
    torch.manual_seed(0)
    model, tokens = Transformer(shape), torch.randint(50, (16, 33))
    loss = torch.nn.functional.cross_entropy(
        model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten()
    )
    assert loss.item() == pytest.approx(torch.tensor(50.0).log().item(), abs=0.05)
    scaled = model.blocks[3].attention.output.weight.std().item()
    assert scaled == pytest.approx(0.02 / 4, rel=0.05)  # √(2 · 8) = 4


# The cache ----------------------------------------------------------------------------------------


def test_cache_takes_the_bytes_of_the_formula():
    model = build({"n_kv_heads": 2})
    cache = KeyValueCache(model.config)
    assert (cache.bytes, cache.length, len(cache)) == (0, 0, 2)
    model(draw_tokens(3, 7), cache=cache)
    assert cache.bytes == 3 * cache_bytes(model.config, 7, bytes_per_number=4)
    assert cache.length == 7


def test_truncated_cache_goes_on_from_there():
    model, tokens, other = build({}), draw_tokens(2, 9), draw_tokens(2, 9, seed=5)
    cache = KeyValueCache(model.config)
    model(torch.cat([tokens[:, :4], other[:, 4:]], dim=1), cache=cache)
    cache.truncate(4)
    torch.testing.assert_close(
        model(tokens[:, 4:], cache=cache), model(tokens)[:, 4:], atol=1e-5, rtol=1e-5
    )
    for length in (-1, 10):
        with pytest.raises(ValueError, match="between 0 and 9"):
            cache.truncate(length)


def test_reordered_cache_follows_its_beams():
    model, tokens = build({}), draw_tokens(2, 6)
    cache = KeyValueCache(model.config)
    with pytest.raises(ValueError, match="nothing to reorder"):
        cache.reorder(torch.tensor([0]))
    model(tokens[:, :5], cache=cache)
    order = torch.tensor([1, 1, 0])
    cache.reorder(order)
    got = model(tokens[order, 5:], cache=cache)
    torch.testing.assert_close(got, model(tokens[order])[:, 5:], atol=1e-5, rtol=1e-5)
    for wrong in ([3], [-1], []):
        with pytest.raises(ValueError, match="between 0 and 2"):
            cache.reorder(torch.tensor(wrong, dtype=torch.long))


def test_cache_holds_numbers_and_no_graph():
    model = build({})
    cache = KeyValueCache(model.config)
    model(draw_tokens(1, 3), cache=cache)
    assert not cache[0].keys.requires_grad
    model(draw_tokens(1, 3), cache=cache).sum().backward()


def test_cache_refuses_another_batch_and_another_model():
    model = build({})
    cache = KeyValueCache(model.config)
    model(draw_tokens(2, 3), cache=cache)
    with pytest.raises(ValueError, match="2 sequences with 4 heads of 4 numbers, got 3 with 4"):
        model(draw_tokens(3, 1), cache=cache)
    with pytest.raises(ValueError, match="1 layers and the model 2"):
        model(draw_tokens(2, 3), cache=KeyValueCache(dataclasses.replace(SMALL, n_layers=1)))
    with pytest.raises(ValueError, match="room for 4 tokens"):
        model(draw_tokens(2, 5), cache=KeyValueCache(dataclasses.replace(SMALL, context_length=4)))


# Bad input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tokens", "sentence"),
    [
        (torch.zeros(1, 0, dtype=torch.long), "give at least one token"),
        (torch.zeros(0, 3, dtype=torch.long), "give at least one token"),
        (torch.zeros(1, 13, dtype=torch.long), "13 tokens are more than the context of 12"),
        (torch.tensor([[0, 19]]), "between 0 and 18, got 0 to 19"),
        (torch.tensor([[-1, 3]]), "between 0 and 18, got -1 to 3"),
    ],
)
def test_tokens_that_cannot_be_read(tokens, sentence):
    with pytest.raises(ValueError, match=sentence):
        build({})(tokens)


@pytest.mark.parametrize("n_last", [0, -1, 4])
def test_logits_of_positions_that_are_not_there(n_last):
    with pytest.raises(ValueError, match=f"between 1 and 3, got {n_last}"):
        build({})(draw_tokens(1, 3), n_last=n_last)


def test_a_full_context_leaves_the_cache_as_it_was():
    model = build({})
    cache = KeyValueCache(model.config)
    model(draw_tokens(1, 12), cache=cache)
    with pytest.raises(ValueError, match="13 tokens are more than the context of 12"):
        model(draw_tokens(1, 1), cache=cache)
    assert cache.length == 12


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"n_heads": 3}, "n_heads must divide d_model, got 3 heads for a width of 16"),
        ({"n_kv_heads": 3}, "n_kv_heads must divide n_heads"),
        ({"n_kv_heads": 8}, "n_kv_heads must divide n_heads"),
        ({"n_heads": 16}, "must be even, got 1"),
        ({"d_model": 15, "n_heads": 3, "positions": "sinusoidal"}, "even d_model, got 15"),
        ({"vocab_size": 0}, "vocab_size must be a whole number ≥ 1, got 0"),
        ({"n_layers": -1}, "n_layers must be a whole number ≥ 1, got -1"),
        ({"window": 0}, "window must be a whole number ≥ 1"),
        ({"n_experts": 2, "experts_per_token": 3}, "between 1 and n_experts = 2, got 3"),
        ({"dropout": 1.0}, "dropout must be at least 0 and less than 1, got 1.0"),
        ({"norm_eps": 0.0}, "norm_eps must lie between 0 and 1, got 0.0"),
        ({"rope_base": 1.0}, "rope_base must lie between 1 and inf"),
        ({"positions": "rotary"}, "positions must be one of 'rope', 'learned'"),
        ({"norm": "batch"}, "norm must be one of 'rms', 'layer', got 'batch'"),
        ({"norm_position": "both"}, "norm_position must be one of"),
        ({"feed_forward": "tanh"}, "feed_forward must be one of"),
        ({"rope_layout": "thirds"}, "rope_layout must be one of"),
        ({"rope_base": "large"}, "rope_base must be one finite number, got 'large'"),
        ({"bias": 1}, "bias must be True or False, got 1"),
        ({"layers": 4}, "no entry 'layers'"),
        ({"d_model": "wide"}, "d_model must be a whole number ≥ 1, got 'wide'"),
    ],
)
def test_configurations_that_cannot_be_built(changes, sentence):
    # run without the tests' checked annotations, which would speak first
    unchecked = runpy.run_path(config.__file__)["TransformerConfig"]
    assert unchecked.from_dict(SMALL.to_dict()).to_dict() == SMALL.to_dict()
    with pytest.raises(ValueError, match=sentence):
        unchecked.from_dict(SMALL.to_dict() | changes)


def test_a_configuration_in_numpys_numbers_can_be_saved():
    unchecked = runpy.run_path(config.__file__)["TransformerConfig"]
    widths = {"d_model": np.int64(SMALL.d_model), "norm_eps": np.float32(2**-10)}
    stored = json.loads(json.dumps(unchecked.from_dict(SMALL.to_dict() | widths).to_dict()))
    assert stored == SMALL.to_dict() | {"norm_eps": 2**-10}


def test_configuration_survives_a_dictionary():
    for shape in (SMALL, GPT2_SMALL, GPT3, LLAMA_2_7B):
        assert TransformerConfig.from_dict(shape.to_dict()) == shape
    with pytest.raises(ValueError, match="needs vocab_size, d_model, n_heads, context_length"):
        TransformerConfig.from_dict({"n_layers": 2})


@pytest.mark.parametrize(("d_model", "width"), [(128, 344), (4096, 10_928), (3, 8)])
def test_swiglu_is_as_wide_as_costs_the_same(d_model, width):
    shape = dataclasses.replace(SMALL, d_model=d_model, n_heads=1, positions="none")
    assert shape.ff_width == width
    assert dataclasses.replace(shape, feed_forward="gelu").ff_width == 4 * d_model
