"""Our transformers beside those of Hugging Face and torch, with the same weights."""

import re
from dataclasses import replace

import pytest
import torch
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    MixtralConfig,
    MixtralForCausalLM,
    MptConfig,
    MptForCausalLM,
    OpenAIGPTConfig,
    OpenAIGPTLMHeadModel,
)

from primer.transformers import (
    KeyValueCache,
    Transformer,
    TransformerConfig,
    load_gpt2,
    load_llama,
)
from primer.transformers.encoder_decoder import DecoderBlock, Encoder, EncoderDecoder
from primer.transformers.model import Block

NO_TOKENS = {"bos_token_id": None, "eos_token_id": None, "pad_token_id": None}
GPT2_SHAPES = [
    {"n_layer": 1, "n_embd": 8, "n_head": 1},
    {"n_layer": 3, "n_embd": 48, "n_head": 6},
    {"n_layer": 2, "n_embd": 32, "n_head": 4, "n_inner": 40, "layer_norm_epsilon": 1e-3},
    {"n_layer": 2, "n_embd": 32, "n_head": 2, "activation_function": "relu"},
    {"n_layer": 2, "n_embd": 32, "n_head": 8, "activation_function": "gelu"},
    {"n_layer": 1, "n_embd": 32, "n_head": 8, "tie_word_embeddings": False},
]
LLAMA_SHAPES = [
    {"num_attention_heads": 1, "hidden_size": 8},
    {"num_attention_heads": 4, "hidden_size": 32, "num_hidden_layers": 3},
    {"num_attention_heads": 6, "num_key_value_heads": 2, "hidden_size": 48},
    {"num_attention_heads": 4, "num_key_value_heads": 1, "hidden_size": 64, "rms_norm_eps": 1e-3},
    {"num_attention_heads": 4, "hidden_size": 32, "tie_word_embeddings": True},
    {"num_attention_heads": 4, "hidden_size": 32, "attention_bias": True, "mlp_bias": True},
    {
        "num_attention_heads": 2,
        "hidden_size": 32,
        "rope_parameters": {"rope_type": "default", "rope_theta": 500.0},
    },
]

SMALL = TransformerConfig(vocab_size=61, n_layers=2, d_model=32, n_heads=4, context_length=24)


def randomize(model: torch.nn.Module, seed: int = 0) -> torch.nn.Module:
    """Give every parameter, biases and norms included, a value that matters."""
    torch.manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.1)
    return model.eval()


def draw_tokens(vocab_size: int, batch: int = 3, length: int = 20) -> torch.Tensor:
    """Draw random token ids."""
    return torch.randint(vocab_size, (batch, length), generator=torch.Generator().manual_seed(1))


def assert_same_logits(ours: Transformer, theirs: torch.nn.Module) -> None:
    """Compare the logits of both, ours also with a cache, to 1e-4."""
    tokens = draw_tokens(ours.config.vocab_size)
    with torch.no_grad():
        expected, cache = theirs(tokens).logits, KeyValueCache(ours.config)
        pieces = [ours(tokens[:, :9], cache=cache), ours(tokens[:, 9:], cache=cache)]
        torch.testing.assert_close(ours(tokens), expected, atol=1e-4, rtol=0)
        torch.testing.assert_close(torch.cat(pieces, dim=1), expected, atol=1e-4, rtol=0)
    assert expected.std() > 0.1  # so that the tolerance means something


# Hugging Face -------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", GPT2_SHAPES)
def test_gpt2(shape):
    theirs = GPT2LMHeadModel(GPT2Config(vocab_size=61, n_positions=24, **shape, **NO_TOKENS))
    randomize(theirs)
    assert_same_logits(load_gpt2(theirs.state_dict(), theirs.config), theirs)
    assert_same_logits(load_gpt2(theirs.state_dict(), theirs.config.to_dict()), theirs)


def llama_config(kind: type = LlamaConfig, **changes: object) -> LlamaConfig:
    """Describe a small Llama."""
    shape = {"num_hidden_layers": 2, "intermediate_size": 40, "max_position_embeddings": 24}
    return kind(**{"vocab_size": 61, **shape, **NO_TOKENS, **changes})


@pytest.mark.parametrize("shape", LLAMA_SHAPES)
def test_llama(shape):
    theirs = randomize(LlamaForCausalLM(llama_config(**shape)))
    assert_same_logits(load_llama(theirs.state_dict(), theirs.config), theirs)


@pytest.mark.parametrize("window", [1, 5, 100, None])
def test_mistral_has_a_window(window):
    shape = {"hidden_size": 32, "num_attention_heads": 4, "num_key_value_heads": 2}
    config = llama_config(MistralConfig, **shape, head_dim=8, sliding_window=window)
    theirs = randomize(MistralForCausalLM(config))
    ours = load_llama(theirs.state_dict(), theirs.config)
    assert ours.config.window == window
    assert_same_logits(ours, theirs)


def renamed(state: dict[str, torch.Tensor], *names: tuple[str, str]) -> dict[str, torch.Tensor]:
    """Give weights other names."""
    result = {}
    for name, weight in state.items():
        for theirs, ours in names:
            name = re.sub(theirs, ours, name)
        result[name] = weight
    return result


def split_qkv(state: dict[str, torch.Tensor], joint: str) -> dict[str, torch.Tensor]:
    """Cut the one matrix for query, key and value in three."""
    result = {}
    for name, weight in state.items():
        if joint in name:
            for part, piece in zip(("query", "key", "value"), weight.chunk(3), strict=True):
                result[name.replace(joint, part)] = piece
        else:
            result[name] = weight
    return result


@pytest.mark.parametrize("n_heads", [1, 4, 8])
def test_mpt_has_linear_biases(n_heads):
    theirs = randomize(
        MptForCausalLM(
            MptConfig(d_model=32, n_heads=n_heads, n_layers=2, vocab_size=61, max_seq_len=24)
        )
    )
    weights = split_qkv(
        renamed(
            theirs.state_dict(),
            (r"^transformer\.", ""),
            (r"^wte\.", "embed."),
            (r"^norm_f\.", "norm."),
            (r"\.norm_(\d)\.", r".norm\1."),
            (r"\.attn\.", ".attention."),
            (r"\.out_proj\.", ".output."),
            (r"\.ffn\.(up|down)_proj\.", r".feed_forward.\1."),
            (r"^lm_head\.", "head."),
        ),
        joint="Wqkv",
    )
    ours = replace(SMALL, n_heads=n_heads, positions="alibi", norm="layer", feed_forward="gelu")
    assert_same_logits(Transformer.from_weights(ours, weights).eval(), theirs)


def test_the_first_gpt_is_post_norm():
    config = OpenAIGPTConfig(vocab_size=61, n_positions=24, n_embd=32, n_layer=3, n_head=4)
    theirs = randomize(OpenAIGPTLMHeadModel(config))
    conv1d = re.compile(r"(c_attn|c_proj|c_fc)\.weight$")
    state = {
        name: weight.T if conv1d.search(name) else weight
        for name, weight in theirs.state_dict().items()
    }
    weights = split_qkv(
        renamed(
            state,
            (r"^transformer\.", ""),
            (r"^tokens_embed\.", "embed."),
            (r"^positions_embed\.", "positions."),
            (r"^h\.", "blocks."),
            (r"\.ln_(\d)\.", r".norm\1."),
            (r"\.attn\.c_proj\.", ".attention.output."),
            (r"\.attn\.", ".attention."),
            (r"\.mlp\.c_fc\.", ".feed_forward.up."),
            (r"\.mlp\.c_proj\.", ".feed_forward.down."),
            (r"^lm_head\.", "head."),
        ),
        joint="c_attn",
    )
    ours = replace(
        SMALL,
        n_layers=3,
        positions="learned",
        norm="layer",
        norm_position="post",
        feed_forward="gelu_tanh",
        bias=True,
    )
    assert_same_logits(Transformer.from_weights(ours, weights).eval(), theirs)


def test_mixtral_has_experts():
    shape = {"hidden_size": 32, "num_attention_heads": 4, "num_key_value_heads": 2}
    experts = {"num_local_experts": 5, "num_experts_per_tok": 2, "head_dim": 8}
    theirs = randomize(MixtralForCausalLM(llama_config(MixtralConfig, **shape, **experts)))
    ours = replace(
        SMALL,
        n_kv_heads=2,
        d_ff=40,
        rope_base=theirs.config.rope_parameters["rope_theta"],
        n_experts=5,
        tied_embeddings=False,
    )
    state = renamed(
        theirs.state_dict(),
        (r"^model\.", ""),
        (r"^embed_tokens\.", "embed."),
        (r"^layers\.", "blocks."),
        (r"\.input_layernorm\.", ".norm1."),
        (r"\.post_attention_layernorm\.", ".norm2."),
        (r"\.self_attn\.q_proj\.", ".attention.query."),
        (r"\.self_attn\.k_proj\.", ".attention.key."),
        (r"\.self_attn\.v_proj\.", ".attention.value."),
        (r"\.self_attn\.o_proj\.", ".attention.output."),
        (r"\.mlp\.gate\.", ".feed_forward.router."),
        (r"\.mlp\.experts\.", ".feed_forward.experts."),
        (r"^lm_head\.", "head."),
    )
    weights = {}
    for name, weight in state.items():
        if name.endswith("gate_up_proj"):  # all experts, gate and up, in one tensor
            for number, joint in enumerate(weight):
                gate, up = joint.chunk(2)
                stem = name.replace("gate_up_proj", str(number))
                weights |= {f"{stem}.gate.weight": gate, f"{stem}.up.weight": up}
        elif name.endswith("down_proj"):
            for number, down in enumerate(weight):
                weights[f"{name.replace('down_proj', str(number))}.down.weight"] = down
        else:
            weights[name] = weight
    assert_same_logits(Transformer.from_weights(ours, weights).eval(), theirs)


def test_loaded_weights_are_copies():
    theirs = randomize(LlamaForCausalLM(llama_config(hidden_size=32, num_attention_heads=4)))
    ours = load_llama(theirs.state_dict(), theirs.config)
    before = theirs.model.norm.weight.clone()
    with torch.no_grad():
        for parameter in ours.parameters():
            parameter.zero_()
    torch.testing.assert_close(theirs.model.norm.weight, before)
    assert all(p.requires_grad for p in ours.parameters())


def test_half_precision_files_are_computed_in_single_precision():
    theirs = randomize(LlamaForCausalLM(llama_config(hidden_size=32, num_attention_heads=4)))
    half = {name: weight.half() for name, weight in theirs.state_dict().items()}
    ours = load_llama(half, theirs.config)
    assert ours.embed.weight.dtype == torch.float32
    theirs.load_state_dict(half)
    assert_same_logits(ours, theirs)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"hidden_act": "gelu"}, "hidden_act = 'gelu': this transformer computes 'silu'"),
        ({"attention_bias": True}, "attention_bias = True and mlp_bias = False"),
        ({"head_dim": 16}, "head_dim = 16"),
        (
            {"rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 1e4}},
            "rope_type = 'linear': only plain RoPE",
        ),
    ],
)
def test_llamas_we_do_not_compute(changes, sentence):
    config = llama_config(**{"hidden_size": 32, "num_attention_heads": 4, **changes})
    with pytest.raises(ValueError, match=sentence):
        load_llama({}, config)


@pytest.mark.parametrize(
    "changes",
    [
        {"activation_function": "silu"},
        {"scale_attn_by_inverse_layer_idx": True},
        {"scale_attn_weights": False},
    ],
)
def test_gpt2s_we_do_not_compute(changes):
    config = GPT2Config(vocab_size=9, n_embd=8, n_head=2, **changes, **NO_TOKENS)
    with pytest.raises(ValueError, match="cannot load a model with"):
        load_gpt2({}, config)


@pytest.mark.parametrize(
    ("load", "config", "sentence"),
    [
        (load_llama, {"model_type": "granite"}, "model_type = 'granite'.*'llama' or 'mistral'"),
        (load_gpt2, {"model_type": "llama"}, "model_type = 'llama': .* computes 'gpt2'"),
        (load_llama, {"model_type": "llama"}, "no entry 'num_attention_heads'"),
        (load_gpt2, {}, "no entry 'vocab_size'"),
    ],
)
def test_configurations_of_other_models(load, config, sentence):
    with pytest.raises(ValueError, match=sentence):
        load({}, config)


def test_older_files_carry_what_a_model_computes():
    config = GPT2Config(vocab_size=61, n_positions=24, n_embd=8, n_head=2, n_layer=1, **NO_TOKENS)
    theirs = randomize(GPT2LMHeadModel(config))
    state = theirs.state_dict() | {"transformer.h.0.attn.bias": torch.ones(1, 1, 24, 24)}
    assert_same_logits(load_gpt2(state, config), theirs)
    older = llama_config(hidden_size=32, num_attention_heads=4).to_dict()
    del older["rope_parameters"]
    llama = randomize(LlamaForCausalLM(llama_config(hidden_size=32, num_attention_heads=4)))
    state = llama.state_dict() | {"model.layers.0.self_attn.rotary_emb.inv_freq": torch.ones(4)}
    assert_same_logits(load_llama(state, older | {"rope_theta": 10_000.0}), llama)


def test_weights_of_another_shape_are_refused():
    theirs = LlamaForCausalLM(llama_config(hidden_size=32, num_attention_heads=4))
    state = theirs.state_dict()
    with pytest.raises(
        ValueError, match=r"(?s)do not fit.*size mismatch for blocks.0.attention.query"
    ):
        load_llama(state, llama_config(hidden_size=64, num_attention_heads=4))
    with pytest.raises(ValueError, match=r"(?s)Missing key.*norm1"):
        load_llama({k: v for k, v in state.items() if "input" not in k}, theirs.config)
    with pytest.raises(ValueError, match=r"(?s)Unexpected key.*extra"):
        load_llama(state | {"extra": torch.ones(1)}, theirs.config)


# torch's layers -----------------------------------------------------------------------------------


def stack_config(pre_norm: bool, activation: str) -> TransformerConfig:
    """Describe stacks as ``torch.nn.Transformer`` builds them."""
    return TransformerConfig(
        vocab_size=31,
        n_layers=2,
        d_model=24,
        n_heads=4,
        context_length=16,
        d_ff=40,
        positions="sinusoidal",
        norm="layer",
        norm_position="pre" if pre_norm else "post",
        feed_forward=activation,
        bias=True,
    )


def copy_attention(ours: torch.nn.Module, theirs: torch.nn.MultiheadAttention) -> None:
    """Give our attention the weights of torch's, which keeps three matrices in one."""
    weights, biases = theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3)
    for name, weight, bias in zip(("query", "key", "value"), weights, biases, strict=True):
        getattr(ours, name).load_state_dict({"weight": weight, "bias": bias})
    ours.output.load_state_dict(theirs.out_proj.state_dict())


def copy_layer(ours: Block | DecoderBlock, theirs: torch.nn.Module) -> None:
    """Give our block the weights of torch's layer."""
    copy_attention(ours.attention, theirs.self_attn)
    if isinstance(ours, DecoderBlock):
        copy_attention(ours.cross_attention, theirs.multihead_attn)
        ours.norm3.load_state_dict(theirs.norm3.state_dict())
    ours.norm1.load_state_dict(theirs.norm1.state_dict())
    ours.norm2.load_state_dict(theirs.norm2.state_dict())
    ours.feed_forward.up.load_state_dict(theirs.linear1.state_dict())
    ours.feed_forward.down.load_state_dict(theirs.linear2.state_dict())


stacks = pytest.mark.parametrize(
    ("pre_norm", "activation"), [(False, "relu"), (True, "relu"), (False, "gelu"), (True, "gelu")]
)
OPTIONS = {"d_model": 24, "nhead": 4, "dim_feedforward": 40, "batch_first": True, "dropout": 0.0}


@stacks
def test_encoder_layer(pre_norm, activation):
    theirs = randomize(
        torch.nn.TransformerEncoderLayer(**OPTIONS, activation=activation, norm_first=pre_norm)
    )
    ours = Block(stack_config(pre_norm, activation)).eval()
    copy_layer(ours, theirs)
    x, real = torch.randn(2, 9, 24), torch.arange(9) < torch.tensor([[9], [6]])
    got = ours(x, mask=real[:, None, None])
    expected = theirs(x, src_key_padding_mask=~real)
    torch.testing.assert_close(got[0], expected[0], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(got[1, :6], expected[1, :6], atol=1e-5, rtol=1e-5)


@stacks
def test_decoder_layer(pre_norm, activation):
    theirs = randomize(
        torch.nn.TransformerDecoderLayer(**OPTIONS, activation=activation, norm_first=pre_norm)
    )
    ours = DecoderBlock(stack_config(pre_norm, activation)).eval()
    copy_layer(ours, theirs)
    x, memory = torch.randn(2, 7, 24), torch.randn(2, 9, 24)
    causal, real = torch.ones(7, 7).tril().bool(), torch.arange(9) < torch.tensor([[9], [4]])
    expected = theirs(x, memory, tgt_mask=~causal, memory_key_padding_mask=~real)
    got = ours(x, memory, causal, real[:, None, None])
    torch.testing.assert_close(got, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")  # torch's own default, of no use here
def test_the_whole_model():
    # torch ends both stacks with a norm, as ours do in the pre-norm form
    theirs = randomize(
        torch.nn.Transformer(**OPTIONS, num_encoder_layers=2, num_decoder_layers=2, norm_first=True)
    )
    ours = EncoderDecoder(stack_config(pre_norm=True, activation="relu")).eval()
    for mine, other in ((ours.encoder, theirs.encoder), (ours, theirs.decoder)):
        for block, layer in zip(mine.blocks, other.layers, strict=True):
            copy_layer(block, layer)
        mine.norm.load_state_dict(other.norm.state_dict())
    source, target = draw_tokens(31, batch=2, length=9), draw_tokens(31, batch=2, length=6)

    def embedded(tokens):
        # sin and cos of t / 10000^(2i/d), with the embedding scaled by √d
        i, t = torch.arange(0, 24, 2), torch.arange(tokens.shape[1])
        angles = t[:, None] / 10_000 ** (i / 24)
        places = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
        return ours.embed.weight[tokens] * 24**0.5 + places

    causal = torch.nn.Transformer.generate_square_subsequent_mask(6)
    hidden = theirs(embedded(source), embedded(target), tgt_mask=causal, tgt_is_causal=True)
    expected = hidden @ ours.embed.weight.T
    torch.testing.assert_close(ours(source, target), expected, atol=1e-5, rtol=1e-5)


@stacks
def test_padding_of_the_source_changes_nothing(pre_norm, activation):
    model = randomize(EncoderDecoder(stack_config(pre_norm, activation)))
    source, target = draw_tokens(31, batch=2, length=9), draw_tokens(31, batch=2, length=6)
    lengths = torch.tensor([9, 5])
    padded = model(source, target, lengths)
    alone = model(source[1:, :5], target[1:])
    torch.testing.assert_close(padded[1:], alone, atol=1e-5, rtol=1e-5)
    assert not torch.allclose(model(source, target)[1], padded[1], atol=1e-3)


def test_encoder_hears_both_sides_and_decoder_one():
    model = randomize(EncoderDecoder(stack_config(pre_norm=False, activation="relu")))
    source, target = draw_tokens(31, batch=1, length=8), draw_tokens(31, batch=1, length=6)
    changed = source.clone()
    changed[0, -1] = (changed[0, -1] + 1) % 31
    assert (model.encoder(source)[0, 0] - model.encoder(changed)[0, 0]).abs().max() > 1e-3
    later = target.clone()
    later[0, 4:] = (later[0, 4:] + 1) % 31
    before, after = model(source, target), model(source, later)
    torch.testing.assert_close(before[:, :4], after[:, :4])
    assert not torch.allclose(before[:, 4:], after[:, 4:])
    assert not torch.allclose(before, model(changed, target))


def test_the_original_trains_with_one_embedding_for_both_texts():
    torch.manual_seed(0)
    model = EncoderDecoder(stack_config(pre_norm=False, activation="relu"))
    assert model.encoder.embed.weight is model.embed.weight is model.head.weight
    source, target = draw_tokens(31, batch=8, length=9), draw_tokens(31, batch=8, length=7)

    def loss():
        logits = model(source, target[:, :-1])
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten())

    before = loss()
    before.backward()
    assert all(p.grad is not None for p in model.parameters())
    torch.optim.SGD(model.parameters(), lr=0.05).step()
    assert loss() < before


@pytest.mark.parametrize("changes", [{"positions": "rope"}, {"positions": "alibi"}, {"window": 3}])
def test_what_belongs_to_a_decoder_only_model(changes):
    shape = stack_config(pre_norm=True, activation="relu").to_dict() | changes
    with pytest.raises(ValueError, match="sees the whole text"):
        Encoder(TransformerConfig.from_dict(shape))


@pytest.mark.parametrize(
    ("source", "target", "sentence"),
    [
        (torch.zeros(1, 0).long(), torch.zeros(1, 2).long(), "at least one token"),
        (torch.zeros(1, 2).long(), torch.zeros(1, 17).long(), "more than the context of 16"),
        (torch.tensor([[31]]), torch.zeros(1, 2).long(), "between 0 and 30"),
    ],
)
def test_texts_that_cannot_be_read(source, target, sentence):
    with pytest.raises(ValueError, match=sentence):
        EncoderDecoder(stack_config(pre_norm=True, activation="relu"))(source, target)
