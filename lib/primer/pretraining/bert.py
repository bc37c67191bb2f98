r"""BERT: an encoder with segments and two heads, counted to the last weight."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import gelu, linear

from primer.attention import padding_mask
from primer.inputs import checked
from primer.transformers import Block, TransformerConfig, count_parameters
from primer.transformers.embedding import add_positions, check_tokens, look_up
from primer.transformers.model import Stack, initialize

BERT_BASE = TransformerConfig(
    vocab_size=30_522,
    n_layers=12,
    d_model=768,
    n_heads=12,
    context_length=512,
    positions="learned",
    norm="layer",
    norm_position="post",
    feed_forward="gelu",
    bias=True,
    norm_eps=1e-12,
)
BERT_LARGE = replace(BERT_BASE, n_layers=24, d_model=1024, n_heads=16)
SEGMENTS = 2


class BertOutput(NamedTuple):
    """What BERT says about texts.

    Attributes
    ----------
    words : Tensor of shape (batch, seq, vocab)
        Logits of the token that belongs at each place.
    follows : Tensor of shape (batch, 2)
        Logits of "the second sentence follows the first" and of "it does not".
    """

    words: Float[Tensor, "batch seq vocab"]
    follows: Float[Tensor, "batch 2"]


class Bert(Stack):
    r"""The encoder of BERT with its pooled output.

    .. math::
        x^0 = \mathrm{norm}(E_{\text{tokens}} + P + S_{\text{segments}}), \qquad
        \text{pooled} = \tanh(x^L_0 W + b)

    Parameters
    ----------
    config : TransformerConfig
        Post-norm with learned positions, such as :data:`BERT_BASE`.

    Raises
    ------
    ValueError
        When the configuration has no learned positions or is not post-norm.

    References
    ----------
    Devlin et al. (2019), section 3.

    Examples
    --------
    >>> import torch
    >>> with torch.device("meta"):  # shapes without numbers
    ...     model = Bert(BERT_BASE)
    >>> sum(weight.numel() for weight in model.parameters())
    109482240
    """

    @checked
    def __init__(self, config: TransformerConfig) -> None:
        if config.positions != "learned" or config.norm_position != "post":
            raise ValueError(
                "BERT adds learned positions and normalizes behind each sum: choose positions "
                f"'learned' and norm_position 'post', got {config.positions!r} and "
                f"{config.norm_position!r}"
            )
        super().__init__(config, Block)
        self.segments = nn.Embedding(SEGMENTS, config.d_model)
        self.embedding_norm = nn.LayerNorm(config.d_model, eps=config.norm_eps)
        self.pooler = nn.Linear(config.d_model, config.d_model)
        initialize(self, config.n_layers)

    @checked
    def forward(
        self,
        tokens: Int[Tensor, "batch seq"],
        segments: Int[Tensor, "batch seq"] | None = None,
        lengths: Int[Tensor, " batch"] | None = None,
    ) -> tuple[Float[Tensor, "batch seq d_model"], Float[Tensor, "batch d_model"]]:
        """Compute a vector for each token, and one for the text.

        Parameters
        ----------
        tokens : Tensor of int of shape (batch, seq)
            The texts.
        segments : Tensor of int of shape (batch, seq), optional
            0 in the first sentence and 1 in the second; all 0 when left out.
        lengths : Tensor of int of shape (batch,), optional
            How many tokens of each text are real.

        Returns
        -------
        tokens : Tensor of shape (batch, seq, d_model)
        pooled : Tensor of shape (batch, d_model)
            Made of the first token's vector.

        Raises
        ------
        ValueError
            When a text cannot be read.
        """
        check_tokens(tokens, self.config)
        x = add_positions(look_up(self.embed, tokens), self.positions, start=0)
        which = tokens.new_zeros(tokens.shape) if segments is None else segments
        x = self.dropout(self.embedding_norm(x + look_up(self.segments, which)))
        mask = None if lengths is None else padding_mask(lengths, tokens.shape[1])
        for block in self.blocks:
            x = block(x, mask=mask)
        return x, self.pooler(x[:, 0]).tanh()


class BertForPretraining(nn.Module):
    r"""BERT with the two heads of its pretraining: hidden words, and whether sentences follow.

    .. math::
        \text{words} = \mathrm{norm}(\mathrm{GELU}(x^LW + b))\,E^\top + c, \qquad
        \text{follows} = \text{pooled}\,V + d

    Parameters
    ----------
    config : TransformerConfig
        As for :class:`Bert`.

    References
    ----------
    Devlin et al. (2019), section 3.1.
    """

    @checked
    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.bert = Bert(config)
        self.transform = nn.Linear(config.d_model, config.d_model)
        self.transform_norm = nn.LayerNorm(config.d_model, eps=config.norm_eps)
        self.words = nn.Parameter(self.bert.embed.weight.new_zeros(config.vocab_size))
        self.follows = nn.Linear(config.d_model, 2)

    @checked
    def forward(
        self,
        tokens: Int[Tensor, "batch seq"],
        segments: Int[Tensor, "batch seq"] | None = None,
        lengths: Int[Tensor, " batch"] | None = None,
    ) -> BertOutput:
        """Compute both heads' logits; parameters as for :class:`Bert`."""
        x, pooled = self.bert(tokens, segments, lengths)
        x = self.transform_norm(gelu(self.transform(x)))
        return BertOutput(linear(x, self.bert.embed.weight, self.words), self.follows(pooled))


@checked
def bert_parameters(config: TransformerConfig, heads: bool = False) -> dict[str, int]:
    r"""Count BERT's parameters by part.

    .. math::
        \underbrace{(V + n + 2 + 2)\,d}_{\text{embedding}} +
        \underbrace{L\,(12d^2 + 13d)}_{\text{blocks}} + \underbrace{d^2 + d}_{\text{pooler}}

    with heads :math:`(d^2 + d + 2d + V) + (2d + 2)` more.

    Parameters
    ----------
    config : TransformerConfig
        As for :class:`Bert`.
    heads : bool
        Whether to count the two heads of pretraining.

    Returns
    -------
    dict
        Numbers of "embedding", "blocks", "pooler" and, with heads, "words" and "follows".

    References
    ----------
    Devlin et al. (2019), section 3.

    Examples
    --------
    >>> parts = bert_parameters(BERT_BASE)
    >>> parts["blocks"], sum(parts.values())
    (85054464, 109482240)
    """
    d, V = config.d_model, config.vocab_size
    tables = (V + config.context_length) * d
    parts = {
        "embedding": tables + SEGMENTS * d + 2 * d,
        "blocks": count_parameters(replace(config, tied_embeddings=True)) - tables,
        "pooler": d * d + d,
    }
    if heads:
        parts |= {"words": d * d + d + 2 * d + V, "follows": 2 * d + 2}
    return parts


NAMES = {
    r"^bert\.embeddings\.word_embeddings\.": "bert.embed.",
    r"^bert\.embeddings\.position_embeddings\.": "bert.positions.",
    r"^bert\.embeddings\.token_type_embeddings\.": "bert.segments.",
    r"^bert\.embeddings\.LayerNorm\.": "bert.embedding_norm.",
    r"^bert\.encoder\.layer\.": "bert.blocks.",
    r"\.attention\.self\.(query|key|value)\.": r".attention.\1.",
    r"\.attention\.output\.dense\.": ".attention.output.",
    r"\.attention\.output\.LayerNorm\.": ".norm1.",
    r"\.intermediate\.dense\.": ".feed_forward.up.",
    r"(\d)\.output\.dense\.": r"\1.feed_forward.down.",
    r"(\d)\.output\.LayerNorm\.": r"\1.norm2.",
    r"^bert\.pooler\.dense\.": "bert.pooler.",
    r"^cls\.predictions\.transform\.dense\.": "transform.",
    r"^cls\.predictions\.transform\.LayerNorm\.": "transform_norm.",
    r"^cls\.predictions\.bias$": "words",
    r"^cls\.seq_relationship\.": "follows.",
}
SIZES = (
    "vocab_size",
    "num_hidden_layers",
    "hidden_size",
    "num_attention_heads",
    "max_position_embeddings",
    "intermediate_size",
    "layer_norm_eps",
)
COPIES = re.compile(r"^cls\.predictions\.decoder\.|position_ids$")


@checked
def load_bert(state_dict: Mapping[str, Tensor], config: Any) -> BertForPretraining:
    """Build a model that computes what Hugging Face's ``BertForPreTraining`` computes.

    Parameters
    ----------
    state_dict : mapping of str to Tensor
        ``model.state_dict()`` of theirs.
    config : BertConfig or mapping
        Their configuration.

    Returns
    -------
    BertForPretraining
        A model with copies of the weights, in evaluation mode.

    Raises
    ------
    ValueError
        When their model computes something else, or the weights do not fit.

    Examples
    --------
    >>> import torch
    >>> from transformers import BertConfig, BertForPreTraining
    >>> theirs = BertForPreTraining(BertConfig(vocab_size=9, num_hidden_layers=1, hidden_size=8,
    ...     num_attention_heads=2, intermediate_size=16)).eval()
    >>> ours, tokens = load_bert(theirs.state_dict(), theirs.config), torch.tensor([[1, 2, 3]])
    >>> torch.allclose(ours(tokens).words, theirs(tokens).prediction_logits, atol=1e-5)
    True
    """
    its_own = hasattr(config, "to_dict") and not isinstance(config, type)
    if not isinstance(config, Mapping) and not its_own:
        raise ValueError(f"config must be Hugging Face's BertConfig or a mapping, got {config!r}")
    theirs = dict(config) if isinstance(config, Mapping) else config.to_dict()
    if theirs.get("model_type") != "bert" or theirs.get("hidden_act", "gelu") != "gelu":
        raise ValueError(
            "this reads models of type 'bert' with activation 'gelu', got "
            f"{theirs.get('model_type')!r} with {theirs.get('hidden_act')!r}"
        )
    if missing := [name for name in SIZES if name not in theirs]:
        raise ValueError(f"the configuration does not say {missing[0]}")
    ours = replace(
        BERT_BASE,
        vocab_size=theirs["vocab_size"],
        n_layers=theirs["num_hidden_layers"],
        d_model=theirs["hidden_size"],
        n_heads=theirs["num_attention_heads"],
        context_length=theirs["max_position_embeddings"],
        d_ff=theirs["intermediate_size"],
        norm_eps=theirs["layer_norm_eps"],
    )
    weights = {}
    for name, weight in state_dict.items():
        if not COPIES.search(name):
            for pattern, own in NAMES.items():
                name = re.sub(pattern, own, name)
            weights[name] = weight
    model = BertForPretraining(ours)
    try:
        model.load_state_dict(weights)
    except RuntimeError as error:
        raise ValueError(f"these weights do not fit the configuration: {error}") from None
    return model.eval()
