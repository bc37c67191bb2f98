"""The formulas for parameters, operations and bytes against real models and torch's counter."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode
from transformers import AutoModelForCausalLM, GPT2Config, LlamaConfig

from primer.transformers import (
    GPT2_SMALL,
    GPT3,
    LLAMA_2_7B,
    ORIGINAL,
    KeyValueCache,
    Transformer,
    TransformerConfig,
)
from primer.transformers.counting import (
    cache_bytes,
    count_parameters,
    flops_by_part,
    flops_per_token,
    weights,
)

META = torch.device("meta")


def real_count(model: torch.nn.Module) -> int:
    return sum(weight.numel() for weight in model.parameters())


@st.composite
def configurations(draw):
    n_heads = draw(st.sampled_from([1, 2, 4]))
    return TransformerConfig(
        vocab_size=draw(st.integers(2, 50)),
        n_layers=draw(st.integers(1, 3)),
        d_model=n_heads * 2 * draw(st.integers(1, 4)),
        n_heads=n_heads,
        n_kv_heads=draw(st.sampled_from([n for n in (1, 2, 4) if n_heads % n == 0])),
        d_ff=draw(st.none() | st.integers(1, 30)),
        context_length=draw(st.integers(8, 20)),
        positions=draw(st.sampled_from(["rope", "learned", "sinusoidal", "alibi", "none"])),
        norm=draw(st.sampled_from(["rms", "layer"])),
        norm_position=draw(st.sampled_from(["pre", "post"])),
        feed_forward=draw(st.sampled_from(["swiglu", "gelu", "gelu_tanh", "relu"])),
        bias=draw(st.booleans()),
        tied_embeddings=draw(st.booleans()),
        n_experts=draw(st.none() | st.integers(2, 4)),
        experts_per_token=draw(st.integers(1, 2)),
    )


@given(configurations())
def test_parameters_of_any_configuration(config):
    with META:
        model = Transformer(config)
    assert count_parameters(config) == real_count(model)


@pytest.mark.parametrize("config", [GPT2_SMALL, GPT3, LLAMA_2_7B, ORIGINAL])
def test_parameters_of_the_great_ones(config):
    with META:
        model = Transformer(config)
    assert count_parameters(config) == real_count(model)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (GPT2_SMALL, GPT2Config()),
        (GPT3, GPT2Config(n_embd=12_288, n_layer=96, n_head=96, n_positions=2048)),
        (LLAMA_2_7B, LlamaConfig(vocab_size=32_000)),
    ],
)
def test_parameters_of_hugging_faces_models(ours, theirs):
    with META:
        model = AutoModelForCausalLM.from_config(theirs)
    assert count_parameters(ours) == real_count(model)


@settings(max_examples=15)
@given(configurations(), st.integers(1, 8), st.integers(1, 3))
def test_operations_are_what_torch_counts(config, n_tokens, batch):
    model = Transformer(config)
    tokens = torch.zeros(batch, n_tokens, dtype=torch.long)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(tokens, observe=lambda *_: None)  # the fused kernel on a CPU goes uncounted
    assert counter.get_total_flops() == batch * n_tokens * flops_per_token(config, n_tokens)


def test_operations_of_gpt2():
    with META:
        model = Transformer(GPT2_SMALL)
        tokens = torch.zeros(1, 1024, dtype=torch.long)
        with FlopCounterMode(display=False) as counter:
            model(tokens)
    assert counter.get_total_flops() == 1024 * flops_per_token(GPT2_SMALL, 1024)


@given(configurations(), st.integers(1, 8))
def test_cache_bytes_are_what_a_cache_holds(config, n_tokens):
    model, cache = Transformer(config), KeyValueCache(config)
    with torch.no_grad():
        model(torch.zeros(1, n_tokens, dtype=torch.long), cache=cache)
    assert cache_bytes(config, n_tokens, bytes_per_number=4) == cache.bytes


@given(configurations())
def test_active_parameters(config):
    dense = replace(config, n_experts=None)
    assert count_parameters(dense, active=True) == count_parameters(dense)
    if config.n_experts is not None:
        chosen = replace(config, n_experts=config.experts_per_token)
        other_routers = config.n_experts - config.experts_per_token
        assert count_parameters(config, active=True) == (
            count_parameters(chosen) + config.n_layers * config.d_model * other_routers
        )


def test_parts_add_up():
    for config in (GPT2_SMALL, GPT3, LLAMA_2_7B):
        assert sum(flops_by_part(config, 100).values()) == flops_per_token(config, 100)
        assert sum(weight.parameters for weight in weights(config)) == count_parameters(config)


@pytest.mark.parametrize(
    "call",
    [
        lambda: flops_per_token(GPT3, 0),
        lambda: cache_bytes(GPT3, -1),
        lambda: cache_bytes(GPT3, 10, bytes_per_number=0),
    ],
)
def test_counts_refuse_nothing_to_count(call):
    with pytest.raises(ValueError, match="must be a whole number ≥ 1"):
        call()
