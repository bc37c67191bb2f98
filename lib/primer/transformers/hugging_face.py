r"""Weights of Hugging Face's GPT-2 and Llama, read into the transformer of this book.

Both are that transformer with other names.  What needs care: GPT-2 stores its matrices as
:math:`W` of :math:`xW` where ``nn.Linear`` stores :math:`W^\top`, keeps query, key and value in one
matrix and approximates GELU with a tanh; Llama pairs coordinate :math:`i` with :math:`i + d/2` for
its rotations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from torch import Tensor

from primer.inputs import checked, count, number
from primer.transformers.config import LARGEST, Activation, RopeStretch, TransformerConfig
from primer.transformers.model import Transformer
from primer.transformers.rotary import check_table

GPT2_NAMES = {
    r"^transformer\.": "",
    r"^wte\.": "embed.",
    r"^wpe\.": "positions.",
    r"^ln_f\.": "norm.",
    r"^lm_head\.": "head.",
    r"^h\.": "blocks.",
    r"\.ln_(\d)\.": r".norm\1.",
    r"\.attn\.c_proj\.": ".attention.output.",
    r"\.attn\.": ".attention.",
    r"\.mlp\.c_fc\.": ".feed_forward.up.",
    r"\.mlp\.c_proj\.": ".feed_forward.down.",
}
LLAMA_NAMES = {
    r"^model\.": "",
    r"^embed_tokens\.": "embed.",
    r"^lm_head\.": "head.",
    r"^layers\.": "blocks.",
    r"\.input_layernorm\.": ".norm1.",
    r"\.post_attention_layernorm\.": ".norm2.",
    r"\.self_attn\.q_proj\.": ".attention.query.",
    r"\.self_attn\.k_proj\.": ".attention.key.",
    r"\.self_attn\.v_proj\.": ".attention.value.",
    r"\.self_attn\.o_proj\.": ".attention.output.",
    r"\.mlp\.(gate|up|down)_proj\.": r".feed_forward.\1.",
}
# Tables that old files carry and a model computes for itself.
COMPUTED = re.compile(r"\.attn\.(bias|masked_bias)$|\.rotary_emb\.inv_freq$")
GPT2_ACTIVATIONS: dict[str, Activation] = {
    "gelu_new": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu_python_tanh": "gelu_tanh",
    "gelu": "gelu",
    "gelu_python": "gelu",
    "relu": "relu",
}
OURS = {
    **dict.fromkeys(("n_layer", "num_hidden_layers"), "n_layers"),
    **dict.fromkeys(("n_embd", "hidden_size"), "d_model"),
    **dict.fromkeys(("n_head", "num_attention_heads"), "n_heads"),
}
"""Their names of what no model may have as much of as a vocabulary has words."""
# What a configuration may ask for and no model of ours computes, unless the value asks for nothing.
# Theirs leave an entry unread that stands in the wrong file; what it is meant to change is a guess.
SWITCHES = """
    quantization_config is_encoder_decoder add_cross_attention use_bidirectional_attention
    attn_logit_softcapping final_logit_softcapping query_pre_attn_scalar clip_qkv qkv_bias
    use_qkv_bias qk_norm use_qk_norm qk_layernorm use_sinks attention_sinks attention_chunk_size
    add_swa_attention_sink_bias add_full_attention_sink_bias no_rope_layers no_rope_layer_interval
    use_parallel_residual parallel_attn alibi multi_query num_local_experts num_experts
    n_routed_experts rotary_dim rope_interleaved per_layer_config
"""
FACTORS = """
    attention_multiplier embedding_multiplier residual_multiplier logits_scaling logit_scale
    scale_emb scale_depth rotary_pct partial_rotary_factor
"""
ASKS_FOR_NOTHING: dict[str, tuple[object, ...]] = {
    **dict.fromkeys(SWITCHES.split(), (None, False)),
    **dict.fromkeys(FACTORS.split(), (None, 1)),
    "is_causal": (None, True),
}


@checked
def load_gpt2(state_dict: Mapping[str, Tensor], config: Any) -> Transformer:
    """Build a transformer that computes what Hugging Face's ``GPT2LMHeadModel`` computes.

    Parameters
    ----------
    state_dict : mapping of str to Tensor
        ``model.state_dict()`` of theirs, or the content of its file.
    config : GPT2Config or mapping
        Their configuration, ``model.config`` or the content of ``config.json``.

    Returns
    -------
    Transformer
        A model with copies of the weights, in evaluation mode.

    Raises
    ------
    ValueError
        When the configuration asks for what our transformer has not, or the weights do not fit it.

    References
    ----------
    Radford et al. (2019).

    Examples
    --------
    >>> import torch
    >>> from transformers import GPT2Config, GPT2LMHeadModel
    >>> theirs = GPT2LMHeadModel(GPT2Config(vocab_size=9, n_layer=1, n_embd=8, n_head=2,
    ...     bos_token_id=None, eos_token_id=None)).eval()
    >>> ours = load_gpt2(theirs.state_dict(), theirs.config)
    >>> tokens = torch.tensor([[1, 2, 3]])
    >>> torch.allclose(ours(tokens), theirs(tokens).logits, atol=1e-5)
    True
    """
    settings = _Settings(config)
    settings.only("model_type", "gpt2")
    settings.only("scale_attn_weights", True)
    settings.only("scale_attn_by_inverse_layer_idx", False)
    settings.refuse_not_computed()
    activation = settings.get("activation_function", "gelu_new")
    settings.only("activation_function", *GPT2_ACTIVATIONS)
    vocab_size, width = settings.count("vocab_size"), settings.count("n_embd")
    heads = settings.count("n_head")
    settings.divides("n_head", heads, "n_embd", width)
    ours = TransformerConfig(
        vocab_size=vocab_size,
        n_layers=settings.count("n_layer"),
        d_model=width,
        n_heads=heads,
        context_length=settings.count("n_positions"),
        d_ff=None if settings.get("n_inner") is None else settings.count("n_inner"),
        positions="learned",
        norm="layer",
        norm_eps=settings.epsilon("layer_norm_epsilon"),
        feed_forward=GPT2_ACTIVATIONS[activation],
        bias=True,
        tied_embeddings=settings.truth("tie_word_embeddings", True),
    )
    weights = {}
    for name, weight in _renamed(state_dict, GPT2_NAMES):
        if weight.ndim == 2 and re.search(r"(c_attn|output|up|down)\.weight$", name):
            weight = weight.T  # from W of xW to what nn.Linear stores
        if "c_attn" in name:
            if weight.ndim == 0 or len(weight) != 3 * width:
                raise ValueError(
                    f"{name} must hold query, key and value of {width} rows each, "
                    f"got shape {tuple(weight.shape)}"
                )
            for part, piece in zip(("query", "key", "value"), weight.chunk(3), strict=True):
                weights[name.replace("c_attn", part)] = piece
        else:
            weights[name] = weight
    return _build(ours, weights)


@checked
def load_llama(state_dict: Mapping[str, Tensor], config: Any) -> Transformer:
    """Build a transformer that computes what Hugging Face's ``LlamaForCausalLM`` computes.

    Mistral is Llama with a sliding window and is read as well; so is Llama 3.1 with its slowed
    rotations, see :func:`primer.positions.llama3_frequencies`.

    Parameters
    ----------
    state_dict : mapping of str to Tensor
        ``model.state_dict()`` of theirs, or the content of its file.
    config : LlamaConfig, MistralConfig or mapping
        Their configuration, ``model.config`` or the content of ``config.json``.

    Returns
    -------
    Transformer
        A model with copies of the weights, in evaluation mode.

    Raises
    ------
    ValueError
        When the configuration asks for what our transformer has not, or the weights do not fit it.

    References
    ----------
    Touvron et al. (2023); Jiang et al. (2023) for Mistral.

    Examples
    --------
    >>> import torch
    >>> from transformers import LlamaConfig, LlamaForCausalLM
    >>> theirs = LlamaForCausalLM(LlamaConfig(vocab_size=9, num_hidden_layers=1, hidden_size=8,
    ...     num_attention_heads=2, intermediate_size=16)).eval()
    >>> ours = load_llama(theirs.state_dict(), theirs.config)
    >>> tokens = torch.tensor([[1, 2, 3]])
    >>> torch.allclose(ours(tokens), theirs(tokens).logits, atol=1e-5)
    True
    """
    settings = _Settings(config)
    # others, as Granite, have weights of the same names and compute something else with them
    settings.only("model_type", "llama", "mistral")
    settings.only("hidden_act", "silu", "swish")
    settings.refuse_not_computed()
    heads, width = settings.count("num_attention_heads"), settings.count("hidden_size")
    settings.divides("num_attention_heads", heads, "hidden_size", width)
    settings.only("head_dim", None, width // heads)
    mistral = settings.get("model_type") == "mistral"
    kv_heads = settings.count("num_key_value_heads", 8 if mistral else heads)
    settings.divides("num_key_value_heads", kv_heads, "num_attention_heads", heads)
    check_table(
        "max_position_embeddings", settings.count("max_position_embeddings"), width // heads
    )
    ours = TransformerConfig(
        vocab_size=settings.count("vocab_size"),
        n_layers=settings.count("num_hidden_layers"),
        d_model=width,
        n_heads=heads,
        context_length=settings.count("max_position_embeddings"),
        n_kv_heads=kv_heads,
        d_ff=settings.count("intermediate_size"),
        rope_layout="half",
        window=_window(settings),
        norm_eps=settings.epsilon("rms_norm_eps"),
        bias=_bias(settings),
        tied_embeddings=settings.truth("tie_word_embeddings", False),
        **_rope(settings),
    )
    return _build(ours, dict(_renamed(state_dict, LLAMA_NAMES)))


def _build(config: TransformerConfig, weights: dict[str, Tensor]) -> Transformer:
    """Build the model; the output layer of a tied one is the embedding and needs no copy."""
    if config.tied_embeddings:
        weights.pop("head.weight", None)
    return Transformer.from_weights(config, weights).eval()


def _renamed(
    state_dict: Mapping[str, Tensor], names: Mapping[str, str]
) -> Iterator[tuple[str, Tensor]]:
    """Give each weight our name for it."""
    seen: set[str] = set()
    for name, weight in state_dict.items():
        if not isinstance(name, str) or not isinstance(weight, Tensor):
            raise ValueError(
                "state_dict must be tensors by their names, as model.state_dict() is, "
                f"got a {type(weight).__name__} for {name!r}"
            )
        if COMPUTED.search(name):
            continue
        for theirs, ours in names.items():
            name = re.sub(theirs, ours, name)
        if name in seen:
            raise ValueError(f"state_dict holds two weights for {name}, with a prefix and without")
        seen.add(name)
        yield name, weight


class _Settings(dict[str, Any]):
    """Their configuration as a dictionary that says, in their words, what does not do."""

    def __init__(self, config: Any) -> None:
        given = config if isinstance(config, Mapping) else getattr(config, "to_dict", None)
        if given is None or isinstance(config, type):
            raise ValueError(
                "config must be their configuration, model.config or the content of config.json "
                f"as a dictionary, got {config!r:.60}"
            )
        super().__init__(given if isinstance(given, Mapping) else given())

    def __missing__(self, name: str) -> Any:
        raise ValueError(f"their configuration has no entry {name!r}: give model.config")

    def only(self, name: str, *allowed: object) -> None:
        """Raise a ``ValueError`` when a setting, where there is one, is none that we compute."""
        if name in self and self[name] not in allowed:
            raise ValueError(
                f"cannot load a model with {name} = {self[name]!r}: "
                f"this transformer computes {' or '.join(map(repr, allowed))}"
            )

    def refuse_not_computed(self) -> None:
        """Raise a ``ValueError`` when the configuration asks for what no model of ours has."""
        for name, neutral in ASKS_FOR_NOTHING.items():
            if name in self and self[name] not in neutral:
                raise ValueError(
                    f"cannot load a model with {name} = {self[name]!r}: "
                    "this transformer does not compute it"
                )

    def count(self, name: str, default: int | None = None) -> int:
        """Return a whole number ≥ 1; with a default the entry may be missing or ``None``."""
        value = self[name] if default is None else self.get(name)
        most = LARGEST[OURS.get(name, "vocab_size")]
        return count(name, default if value is None else value, at_most=most)

    def divides(self, name: str, part: int, other: str, whole: int) -> None:
        """Raise a ``ValueError`` unless one number divides the other."""
        if whole % part:
            raise ValueError(f"{name} must divide {other}, got {part} and {whole}")

    def epsilon(self, name: str) -> float:
        """Return what is added to a variance."""
        if not 0 < number(name, self[name]) < 1:
            raise ValueError(f"{name} must lie between 0 and 1, got {self[name]}")
        return float(self[name])

    def truth(self, name: str, default: bool) -> bool:
        """Return a truth value."""
        value = self.get(name)
        value = default if value is None else value
        if not isinstance(value, bool):
            raise ValueError(f"{name} must be true or false, got {value!r}")
        return value


def _bias(settings: _Settings) -> bool:
    """Say whether all linear layers of a Llama have biases, or none."""
    attention, mlp = settings.truth("attention_bias", False), settings.truth("mlp_bias", False)
    if attention != mlp:
        raise ValueError(
            f"cannot load a model with attention_bias = {attention} and mlp_bias = {mlp}: "
            "this transformer has biases in all linear layers or in none"
        )
    if attention and settings.get("model_type") == "mistral":
        raise ValueError("cannot load a Mistral with attention_bias = True: Mistral has no biases")
    return attention


def _window(settings: _Settings) -> int | None:
    """Find how far a token looks back: Mistral has a window, Llama none, whatever it says."""
    window, kind = settings.get("sliding_window"), settings.get("model_type")
    if kind == "mistral" and "sliding_window" not in settings:
        window = 4096  # what theirs takes, then
    if kind == "llama":
        window = None
    if window is not None:
        settings.only("use_sliding_window", None, True)
    if kind is None and window is not None:
        raise ValueError(
            f"sliding_window = {window!r} without a model_type: "
            "'mistral' uses it, 'llama' does not; say which"
        )
    if window is not None:
        count("sliding_window", window)
    wanted = "full_attention" if window is None else "sliding_attention"
    layers = settings.get("layer_types")
    if layers is not None and any(layer != wanted for layer in layers):
        raise ValueError(
            f"cannot load a model with layer_types = {layers!r}: "
            f"with sliding_window = {window!r} all layers are of one kind here, {wanted!r}"
        )
    return window


def _rope(settings: _Settings) -> dict[str, Any]:
    """Find base and stretch of the rotations, which moved between versions."""
    name = "rope_scaling" if settings.get("rope_scaling") else "rope_parameters"
    rope = settings.get(name) or {}
    if not isinstance(rope, Mapping) or any(isinstance(v, Mapping) for v in rope.values()):
        raise ValueError(f"cannot load a model with {name} = {rope!r}: one plain table is read")
    rope = _Settings(rope)
    kind = rope.get("rope_type", rope.get("type", "default"))
    if kind not in ("default", "llama3"):
        raise ValueError(
            f"cannot load a model with rope_type = {kind!r}: only plain RoPE and that of "
            "Llama 3.1, rope_type = 'llama3', are read"
        )
    rope.refuse_not_computed()
    base = rope.get("rope_theta")
    base = settings.get("rope_theta", 10_000.0) if base is None else base
    if number("rope_theta", base) <= 1:
        raise ValueError(f"rope_theta must be above 1, got {base}")
    if kind == "default":
        rope.only("factor", None, 1)
        return {"rope_base": float(base)}
    for entry in ("factor", "low_freq_factor", "high_freq_factor"):
        number(entry, rope[entry])
    if rope["factor"] < 1:
        raise ValueError(f"factor must be at least 1, got {rope['factor']}")
    if not 0 < rope["low_freq_factor"] < rope["high_freq_factor"]:
        raise ValueError(
            "need 0 < low_freq_factor < high_freq_factor, "
            f"got {rope['low_freq_factor']} and {rope['high_freq_factor']}"
        )
    length = "original_max_position_embeddings"  # beside the table it counts more than in it
    trained = settings if settings.get(length) is not None else rope
    stretch = RopeStretch(
        factor=float(rope["factor"]),
        trained_length=trained.count(length, settings.count("max_position_embeddings")),
        slow_turns=float(rope["low_freq_factor"]),
        fast_turns=float(rope["high_freq_factor"]),
    )
    return {"rope_base": float(base), "rope_stretch": stretch}
