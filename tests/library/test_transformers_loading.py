"""Files of Hugging Face's models: loaded, they compute what theirs compute, or they are refused.

The other model is always theirs, built of the same configuration and the same weights.
"""

import copy

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
)
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from primer.positions import llama3_frequencies, rope_frequencies
from primer.transformers import Transformer, TransformerConfig, load_gpt2, load_llama
from primer.transformers.config import CHOICES
from primer.transformers.fitting import shapes
from primer.transformers.hugging_face import GPT2_ACTIVATIONS

NO_TOKENS = {"bos_token_id": None, "eos_token_id": None, "pad_token_id": None}
LENGTH = 40


def configure(kind: type = LlamaConfig, **changes: object) -> LlamaConfig:
    """Describe a small Llama or Mistral."""
    shape = {
        "vocab_size": 31,
        "num_hidden_layers": 2,
        "hidden_size": 16,
        "num_attention_heads": 2,
        "intermediate_size": 24,
        "max_position_embeddings": LENGTH,
    }
    if kind is MistralConfig:
        shape["num_key_value_heads"] = 2
    return kind(**{**shape, **NO_TOKENS, **changes})


def build(config: object) -> torch.nn.Module:
    """Make their model with weights that all matter."""
    kinds = {"llama": LlamaForCausalLM, "mistral": MistralForCausalLM, "gpt2": GPT2LMHeadModel}
    torch.manual_seed(0)
    model = kinds[config.model_type](config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.2)
    return model.eval()


def assert_same(ours: Transformer, theirs: torch.nn.Module) -> None:
    """Compare the logits of a text as long as the context."""
    tokens = torch.randint(31, (2, LENGTH), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        torch.testing.assert_close(ours(tokens), theirs(tokens).logits, atol=1e-4, rtol=1e-4)


# Rotations of Llama 3.1 and later -----------------------------------------------------------------

stretches = st.fixed_dictionaries(
    {
        "rope_type": st.just("llama3"),
        "factor": st.floats(1, 64),
        "low_freq_factor": st.floats(0.1, 4),
        "high_freq_factor": st.floats(4.5, 32),
        "original_max_position_embeddings": st.integers(1, 9000),
        "rope_theta": st.sampled_from([50.0, 1e4, 5e5]),
    }
)


@given(stretches, st.sampled_from([4, 16, 64, 128]))
def test_slowed_frequencies(rope, dim):
    config = configure(hidden_size=2 * dim, rope_parameters=rope)
    expected, scale = ROPE_INIT_FUNCTIONS["llama3"](config)
    got = llama3_frequencies(
        dim,
        rope["factor"],
        rope["original_max_position_embeddings"],
        rope["rope_theta"],
        rope["low_freq_factor"],
        rope["high_freq_factor"],
    )
    assert scale == 1
    torch.testing.assert_close(got, expected.double(), rtol=1e-5, atol=0)


def test_the_ends_of_the_ramp():
    # by hand: L = 8, ω = 1 and 0.01, so 8/2π = 1.27 and 0.0127 turns
    full, slow = rope_frequencies(4).tolist()
    assert llama3_frequencies(4, 2.0, 8, slow_turns=0.5, fast_turns=1.0).tolist() == [
        full,
        slow / 2,
    ]
    between = llama3_frequencies(4, 2.0, 8, slow_turns=1.0, fast_turns=2.0)[0].item()
    keep = 8 / (2 * torch.pi) - 1
    assert between == pytest.approx(keep + (1 - keep) / 2)


@settings(max_examples=10)
@given(stretches, st.booleans())
def test_llama_with_slowed_rotations(rope, older):
    rope["original_max_position_embeddings"] %= LENGTH
    rope["original_max_position_embeddings"] += 1
    theirs = build(configure(rope_parameters=rope))
    config = copy.deepcopy(theirs.config).to_dict()
    if older:  # the table's name, the place of the base and the word for the kind of five years
        table = config.pop("rope_parameters")
        config |= {"rope_theta": table.pop("rope_theta"), "rope_scaling": table}
        table["type"] = table.pop("rope_type")
    ours = load_llama(theirs.state_dict(), config)
    assert ours.config.rope_stretch.factor == rope["factor"]
    assert_same(ours, theirs)
    assert TransformerConfig.from_dict(ours.config.to_dict()) == ours.config


def test_the_length_beside_the_table_counts_more():
    rope = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
    theirs = build(configure(rope_parameters=dict(rope), original_max_position_embeddings=10))
    config = configure().to_dict() | {"original_max_position_embeddings": 10}
    ours = load_llama(
        theirs.state_dict(),
        config | {"rope_parameters": rope | {"original_max_position_embeddings": 20}},
    )
    assert ours.config.rope_stretch.trained_length == 10
    assert_same(ours, theirs)


# What is obeyed -----------------------------------------------------------------------------------


@settings(max_examples=15)
@given(
    kind=st.sampled_from([LlamaConfig, MistralConfig]),
    heads=st.sampled_from([(1, 1), (2, 1), (4, 2), (4, 4)]),
    changes=st.fixed_dictionaries(
        {},
        optional={
            "sliding_window": st.none() | st.integers(1, 60),
            "tie_word_embeddings": st.booleans(),
            "rms_norm_eps": st.floats(1e-7, 0.1),
            "hidden_act": st.sampled_from(["silu", "swish"]),
            "num_hidden_layers": st.integers(1, 3),
            "intermediate_size": st.integers(1, 30),
            "rope_parameters": st.sampled_from([{"rope_type": "default", "rope_theta": 77.0}]),
            "attention_dropout": st.just(0.1),
            "use_cache": st.booleans(),
        },
    ),
)
def test_random_configurations(kind, heads, changes):
    config = configure(
        kind, num_attention_heads=heads[0], num_key_value_heads=heads[1], **copy.deepcopy(changes)
    )
    theirs = build(config)
    assert_same(load_llama(theirs.state_dict(), config), theirs)
    assert_same(load_llama(theirs.state_dict(), config.to_dict()), theirs)


def test_a_window_that_llama_does_not_have():
    theirs = build(configure())
    ours = load_llama(theirs.state_dict(), theirs.config.to_dict() | {"sliding_window": 4})
    assert ours.config.window is None
    assert_same(ours, theirs)


def test_what_a_file_of_mistral_leaves_out():
    theirs = build(configure(MistralConfig, num_attention_heads=8, num_key_value_heads=8))
    config = theirs.config.to_dict()
    del config["sliding_window"], config["num_key_value_heads"]
    ours = load_llama(theirs.state_dict(), config)
    assert (ours.config.window, ours.config.kv_heads) == (4096, 8)


@settings(max_examples=15)
@given(
    changes=st.fixed_dictionaries(
        {},
        optional={
            "activation_function": st.sampled_from([*GPT2_ACTIVATIONS]),
            "n_inner": st.none() | st.integers(1, 30),
            "tie_word_embeddings": st.booleans(),
            "reorder_and_upcast_attn": st.booleans(),
            "layer_norm_epsilon": st.floats(1e-7, 0.1),
            "n_head": st.sampled_from([1, 2, 8]),
            "resid_pdrop": st.just(0.5),
        },
    )
)
def test_random_gpt2s(changes):
    shape = {"vocab_size": 31, "n_positions": LENGTH, "n_embd": 16, "n_layer": 2, "n_head": 2}
    theirs = build(GPT2Config(**{**shape, **NO_TOKENS, **changes}))
    assert_same(load_gpt2(theirs.state_dict(), theirs.config.to_dict()), theirs)


# What is refused, by its own name -----------------------------------------------------------------

LLAMA = configure()
REFUSED = [
    {"attention_bias": True},
    {"mlp_bias": True},
    {"partial_rotary_factor": 0.5},
    {"attn_logit_softcapping": 30.0},
    {"final_logit_softcapping": 30.0},
    {"query_pre_attn_scalar": 64},
    {"head_dim": 16},
    {"hidden_act": "gelu"},
    {"is_causal": False},
    {"quantization_config": {"bits": 4}},
    {"qk_norm": True},
    {"attention_sinks": 4},
    {"no_rope_layers": [1, 0]},
    {"residual_multiplier": 0.2},
    {"num_local_experts": 8},
    {"layer_types": ["full_attention", "sliding_attention"]},
    {"rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 1e4}}},
    {"num_key_value_heads": 3},
    {"num_attention_heads": 0},
    {"num_attention_heads": 3},
    {"hidden_size": "16"},
    {"intermediate_size": 2.5},
    {"rms_norm_eps": 0},
    {"tie_word_embeddings": "no"},
    {"max_position_embeddings": 10**12},
    {"vocab_size": True},
    {"model_type": "ministral"},
]


@pytest.mark.parametrize("changes", REFUSED, ids=lambda changes: next(iter(changes)))
def test_llama_is_refused_by_the_entry_that_is_wrong(changes):
    theirs = build(LLAMA)
    (name,) = changes
    with pytest.raises(ValueError, match=name):
        load_llama(theirs.state_dict(), theirs.config.to_dict() | changes)


@pytest.mark.parametrize("name", ["rope_parameters", "rope_scaling"])
@pytest.mark.parametrize("word", ["rope_type", "type"])
@pytest.mark.parametrize("kind", ["linear", "dynamic", "yarn", "longrope", "proportional", "mrope"])
def test_rotations_that_are_not_read(name, word, kind):
    rope = {word: kind, "factor": 2.0, "rope_theta": 1e4}
    with pytest.raises(ValueError, match=f"rope_type = '{kind}'.*only plain RoPE and .*llama3"):
        load_llama({}, LLAMA.to_dict() | {"rope_parameters": None, name: rope})


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"factor": None}, "factor must be one finite number, got None"),
        ({"factor": 0.5}, "factor must be at least 1, got 0.5"),
        ({"low_freq_factor": "1"}, "low_freq_factor must be one finite number, got '1'"),
        ({"high_freq_factor": 1.0}, "need 0 < low_freq_factor < high_freq_factor, got 1.0 and 1.0"),
        ({"original_max_position_embeddings": 1.5}, "original_max_position_embeddings must be a"),
        ({"rope_theta": 1.0}, "rope_theta must be above 1, got 1.0"),
        ({"partial_rotary_factor": 0.5}, "partial_rotary_factor = 0.5"),
        ({"rope_type": "default"}, "factor = 8.0"),
    ],
)
def test_rotations_that_make_no_sense(changes, sentence):
    rope = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
    with pytest.raises(ValueError, match=sentence):
        load_llama({}, LLAMA.to_dict() | {"rope_parameters": rope | changes})
    with pytest.raises(ValueError, match="no entry 'low_freq_factor'"):
        load_llama({}, LLAMA.to_dict() | {"rope_parameters": {"type": "llama3", "factor": 2.0}})


def test_a_window_needs_a_model_that_has_one():
    config = configure(MistralConfig, sliding_window=4).to_dict()
    state = build(configure(MistralConfig)).state_dict()
    assert load_llama(state, config).config.window == 4
    for changes, sentence in (
        ({"use_sliding_window": False}, "use_sliding_window = False"),
        ({"layer_types": ["full_attention"] * 2}, "layer_types"),
        ({"sliding_window": 0}, "sliding_window must be a whole number ≥ 1, got 0"),
        ({"attention_bias": True, "mlp_bias": True}, "Mistral has no biases"),
    ):
        with pytest.raises(ValueError, match=sentence):
            load_llama(state, config | changes)
    del config["model_type"]
    with pytest.raises(ValueError, match="sliding_window = 4 without a model_type"):
        load_llama(state, config)


@pytest.mark.parametrize(
    "changes",
    [
        {"activation_function": "silu"},
        {"scale_attn_weights": False},
        {"scale_attn_by_inverse_layer_idx": True},
        {"add_cross_attention": True},
        {"n_inner": 0},
        {"n_head": 3},
        {"n_embd": 16.0},
        {"layer_norm_epsilon": "1e-5"},
        {"tie_word_embeddings": 1},
        {"is_causal": False},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_gpt2_is_refused_by_the_entry_that_is_wrong(changes):
    shape = {"vocab_size": 31, "n_positions": LENGTH, "n_embd": 16, "n_layer": 1, "n_head": 2}
    theirs = build(GPT2Config(**shape, **NO_TOKENS))
    (name,) = changes
    with pytest.raises(ValueError, match=name):
        load_gpt2(theirs.state_dict(), theirs.config.to_dict() | changes)


@pytest.mark.parametrize("load", [load_llama, load_gpt2])
@pytest.mark.parametrize("config", [None, 5, "config.json", [1], LlamaConfig])
def test_what_is_no_configuration(load, config):
    with pytest.raises(ValueError, match="config must be their configuration"):
        load({}, config)


# Weights that are none ----------------------------------------------------------------------------


def gpt2_state() -> tuple[dict[str, torch.Tensor], dict[str, object]]:
    """Give weights and configuration of a small GPT-2."""
    shape = {"vocab_size": 31, "n_positions": LENGTH, "n_embd": 16, "n_layer": 1, "n_head": 2}
    theirs = build(GPT2Config(**shape, **NO_TOKENS))
    return theirs.state_dict(), theirs.config.to_dict()


@pytest.mark.parametrize(
    ("weight", "sentence"),
    [
        ([1.0] * 16, "'.*' of state_dict must be a tensor, got a list"),
        (torch.ones(16, dtype=torch.int8), "norm.weight holds torch.int8"),
        (torch.ones(16, dtype=torch.bool), "norm.weight holds torch.bool"),
        (torch.ones(16, dtype=torch.complex64), "norm.weight holds torch.complex64"),
        (torch.full((16,), torch.nan), "norm.weight must be finite"),
        (torch.full((16,), torch.inf), "norm.weight must be finite"),
        (
            torch.full((16,), 1e300, dtype=torch.float64),
            "norm.weight must be finite in torch.float",
        ),
        (torch.ones(17), r"norm.weight: it is \(17,\), asked for is \(16,\)"),
        (torch.ones(()), "size mismatch"),
        (torch.ones(16, device="meta"), "norm.weight is on 'meta'"),
    ],
)
def test_weights_that_are_none(weight, sentence):
    theirs = build(LLAMA)
    with pytest.raises(ValueError, match=sentence):
        load_llama(theirs.state_dict() | {"model.norm.weight": weight}, theirs.config)
    state, config = gpt2_state()
    with pytest.raises(ValueError, match=sentence):
        load_gpt2(state | {"transformer.ln_f.weight": weight}, config)


def test_scrambled_names_and_shapes():
    theirs = build(LLAMA)
    state, config = theirs.state_dict(), theirs.config
    for other, sentence in (
        (state | {"norm.weight": torch.ones(16)}, "two weights for norm.weight"),
        (state | {3: torch.ones(1)}, "each name in state_dict must be a text, got 3"),
        ({f"x.{name}": weight for name, weight in state.items()}, "Missing key embed.weight"),
    ):
        with pytest.raises(ValueError, match=sentence):
            load_llama(other, config)
    state, config = gpt2_state()
    for joint in (torch.ones(16, 3), torch.ones(47, 16), torch.ones(())):
        with pytest.raises(ValueError, match="query, key and value of 16 rows each"):
            load_gpt2(state | {"transformer.h.0.attn.c_attn.weight": joint}, config)


def test_sizes_that_no_file_has_are_refused_before_anything_is_built():
    theirs = build(LLAMA)
    for name in ("num_hidden_layers", "vocab_size", "intermediate_size"):
        with pytest.raises(ValueError, match=f"{name} must be at most .*, got 1000000000000"):
            load_llama(theirs.state_dict(), theirs.config.to_dict() | {name: 10**12})
        with pytest.raises(ValueError, match="do not fit the configuration"):
            load_llama(theirs.state_dict(), theirs.config.to_dict() | {name: 9999})
    state, config = gpt2_state()
    for name in ("n_layer", "vocab_size", "n_inner", "n_positions"):
        with pytest.raises(ValueError, match=f"{name} must be at most .*, got 1000000000000"):
            load_gpt2(state, config | {name: 10**12})
        with pytest.raises(ValueError, match="do not fit the configuration"):
            load_gpt2(state, config | {name: 9999})


@given(
    st.fixed_dictionaries(
        {
            "positions": st.sampled_from(CHOICES["positions"]),
            "norm": st.sampled_from(CHOICES["norm"]),
            "norm_position": st.sampled_from(CHOICES["norm_position"]),
            "feed_forward": st.sampled_from(CHOICES["feed_forward"]),
            "bias": st.booleans(),
            "tied_embeddings": st.booleans(),
            "n_kv_heads": st.sampled_from([None, 1, 2]),
            "d_ff": st.sampled_from([None, 7]),
            "n_experts": st.sampled_from([None, 2, 3]),
        }
    )
)
def test_names_and_shapes_are_those_of_a_model(changes):
    config = TransformerConfig(
        vocab_size=9, n_layers=2, d_model=8, n_heads=2, context_length=4, **changes
    )
    state = Transformer(config).state_dict()
    expected = {name: tuple(weight.shape) for name, weight in state.items()}
    if config.tied_embeddings:
        del expected["head.weight"]
    assert dict(shapes(config)) == expected


def test_a_tied_head_is_the_embedding():
    config = TransformerConfig(vocab_size=9, n_layers=1, d_model=8, n_heads=2, context_length=4)
    state = Transformer(config).state_dict()
    assert Transformer.from_weights(config, state).head.weight.shape == (9, 8)
    with pytest.raises(ValueError, match=r"head.weight is not the embedding"):
        Transformer.from_weights(config, state | {"head.weight": torch.ones(9, 8)})
    with pytest.raises(ValueError, match=r"size mismatch for head.weight"):
        Transformer.from_weights(config, state | {"head.weight": torch.ones(8, 8)})


@pytest.mark.parametrize("positions", ["rope", "sinusoidal"])
def test_tables_that_no_memory_holds(positions):
    with pytest.raises(ValueError, match=r"context_length = 16,777,216 asks for tables of"):
        Transformer(
            TransformerConfig(
                vocab_size=9,
                n_layers=1,
                d_model=1 << 15,
                n_heads=1,
                context_length=1 << 24,
                positions=positions,
            )
        )


@pytest.mark.parametrize(
    ("stretch", "sentence"),
    [
        ({"factor": 2.0}, "rope_stretch needs trained_length"),
        ({"factor": 2.0, "trained_length": 8, "x": 1}, "rope_stretch has no entry 'x'"),
        ({"factor": 0.5, "trained_length": 8}, "factor must be at least 1"),
        ({"factor": 2.0, "trained_length": 8.5}, "trained_length must be a whole number"),
        ({"factor": 2.0, "trained_length": 8, "slow_turns": 4.0}, "fast_turns > slow_turns > 0"),
        ([2.0, 8], "rope_stretch must be a RopeStretch"),
    ],
)
def test_stretches_that_make_no_sense(stretch, sentence):
    small = {"vocab_size": 9, "n_layers": 1, "d_model": 8, "n_heads": 2, "context_length": 4}
    with pytest.raises(ValueError, match=sentence):
        TransformerConfig(**small, rope_stretch=stretch)
    with pytest.raises(ValueError, match="rope_stretch needs positions = 'rope', got 'alibi'"):
        TransformerConfig(
            **small, positions="alibi", rope_stretch={"factor": 2.0, "trained_length": 8}
        )
