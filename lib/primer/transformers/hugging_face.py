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

from primer.inputs import checked
from primer.transformers.config import Activation, TransformerConfig
from primer.transformers.model import Transformer

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
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu": "gelu",
    "relu": "relu",
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
    _refuse(settings, "model_type", allowed=("gpt2",))
    _refuse(settings, "scale_attn_weights", allowed=(True,))
    _refuse(settings, "scale_attn_by_inverse_layer_idx", allowed=(False,))
    _refuse(settings, "add_cross_attention", allowed=(False,))
    activation = settings.get("activation_function", "gelu_new")
    _refuse(settings, "activation_function", allowed=(*GPT2_ACTIVATIONS,))
    ours = TransformerConfig(
        vocab_size=settings["vocab_size"],
        n_layers=settings["n_layer"],
        d_model=settings["n_embd"],
        n_heads=settings["n_head"],
        context_length=settings["n_positions"],
        d_ff=settings.get("n_inner"),
        positions="learned",
        norm="layer",
        norm_eps=settings["layer_norm_epsilon"],
        feed_forward=GPT2_ACTIVATIONS[activation],
        bias=True,
        tied_embeddings=settings.get("tie_word_embeddings", True),
    )
    weights = {}
    for name, weight in _renamed(state_dict, GPT2_NAMES):
        if name.endswith(".weight") and re.search(r"c_attn|output|up|down", name):
            weight = weight.T  # from W of xW to what nn.Linear stores
        if "c_attn" in name:
            for part, piece in zip(("query", "key", "value"), weight.chunk(3), strict=True):
                weights[name.replace("c_attn", part)] = piece
        else:
            weights[name] = weight
    return _build(ours, weights)


@checked
def load_llama(state_dict: Mapping[str, Tensor], config: Any) -> Transformer:
    """Build a transformer that computes what Hugging Face's ``LlamaForCausalLM`` computes.

    Mistral is Llama with a sliding window and is read as well.

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
    _refuse(settings, "model_type", allowed=("llama", "mistral"))
    _refuse(settings, "hidden_act", allowed=("silu", "swish"))
    _refuse(settings, "mlp_bias", allowed=(settings.get("attention_bias", False),))
    heads, width = settings["num_attention_heads"], settings["hidden_size"]
    _refuse(settings, "head_dim", allowed=(None, width // heads))
    ours = TransformerConfig(
        vocab_size=settings["vocab_size"],
        n_layers=settings["num_hidden_layers"],
        d_model=width,
        n_heads=heads,
        context_length=settings["max_position_embeddings"],
        n_kv_heads=settings.get("num_key_value_heads"),
        d_ff=settings["intermediate_size"],
        rope_base=_rope_base(settings),
        rope_layout="half",
        window=settings.get("sliding_window"),
        norm_eps=settings["rms_norm_eps"],
        bias=settings.get("attention_bias", False),
        tied_embeddings=settings.get("tie_word_embeddings", False),
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
    for name, weight in state_dict.items():
        if COMPUTED.search(name):
            continue
        for theirs, ours in names.items():
            name = re.sub(theirs, ours, name)
        yield name, weight


class _Settings(dict[str, Any]):
    """Their configuration as a dictionary that says what it lacks."""

    def __init__(self, config: Any) -> None:
        super().__init__(config if isinstance(config, Mapping) else config.to_dict())

    def __missing__(self, name: str) -> Any:
        raise ValueError(f"their configuration has no entry {name!r}: give model.config")


def _refuse(settings: Mapping[str, Any], name: str, allowed: tuple[object, ...]) -> None:
    """Raise a ``ValueError`` when a setting, where there is one, is none that we compute."""
    if name in settings and settings[name] not in allowed:
        raise ValueError(
            f"cannot load a model with {name} = {settings[name]!r}: "
            f"this transformer computes {' or '.join(map(repr, allowed))}"
        )


def _rope_base(settings: Mapping[str, Any]) -> float:
    """Find the base of the rotations, which moved between versions; refuse stretched contexts."""
    rope = settings.get("rope_parameters") or settings.get("rope_scaling") or {}
    kind = rope.get("rope_type", rope.get("type", "default"))
    if kind != "default":
        raise ValueError(f"cannot load a model with rope_type = {kind!r}: only plain RoPE is read")
    return float(rope.get("rope_theta", settings.get("rope_theta", 10_000.0)))
