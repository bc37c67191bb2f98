"""The transformer of the original paper: an encoder that reads, a decoder that writes."""

from __future__ import annotations

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from primer.attention import MultiHeadAttention, causal_mask, padding_mask
from primer.inputs import checked, tensor
from primer.transformers.config import TransformerConfig
from primer.transformers.embedding import add_positions, check_tokens, look_up
from primer.transformers.model import Block, Stack, initialize, make_norm, make_sublayer

Tokens = Int[Tensor, "batch seq"]
Hidden = Float[Tensor, "batch seq d_model"]
Lengths = Int[Tensor, " batch"]


class Encoder(Stack):
    r"""A stack of blocks without a causal mask: every token hears the whole text.

    Parameters
    ----------
    config : TransformerConfig
        Its shape; positions are added as vectors, learned or sinusoidal, or left out.

    Raises
    ------
    ValueError
        When the configuration asks for positions or a window that belong to a decoder-only model.

    References
    ----------
    Vaswani et al. (2017), section 3.1.

    Examples
    --------
    >>> import torch
    >>> config = TransformerConfig(vocab_size=20, n_layers=2, d_model=16, n_heads=2,
    ...     context_length=8, positions="sinusoidal", norm="layer", norm_position="post",
    ...     feed_forward="relu", bias=True)
    >>> Encoder(config)(torch.tensor([[1, 2, 3]])).shape
    torch.Size([1, 3, 16])
    """

    @checked
    def __init__(self, config: TransformerConfig) -> None:
        _check_config(config)
        super().__init__(config, Block)
        initialize(self, config.n_layers)

    def forward(self, tokens: Tokens, lengths: Lengths | None = None) -> Hidden:
        """Compute a vector for each token that depends on all tokens of its text.

        Parameters
        ----------
        tokens : Tensor of int of shape (batch, seq)
            Texts, filled up to one length.
        lengths : Tensor of int of shape (batch,), optional
            How many tokens of each text are real; all of them when left out.

        Returns
        -------
        Tensor of shape (batch, seq, d_model)

        Raises
        ------
        ValueError
            When a text is empty, too long, or holds a token that is not in the vocabulary, or there
            is not one length for each text.
        """
        check_tokens(tokens, self.config)
        x = self.dropout(add_positions(look_up(self.embed, tokens), self.positions, start=0))
        mask = _padding(lengths, tokens)
        for block in self.blocks:
            x = block(x, mask=mask)
        return self.norm(x)


class DecoderBlock(nn.Module):
    r"""A block that also listens to the encoder, between self-attention and feed-forward layer.

    In the original, post-norm form:

    .. math::
        y = \mathrm{norm}_1(x + \mathrm{MHA}(x)), \qquad
        z = \mathrm{norm}_2(y + \mathrm{MHA}(y, \text{memory})), \qquad
        \mathrm{norm}_3(z + \mathrm{FFN}(z))

    Parameters
    ----------
    config : TransformerConfig
        The shape of the model.

    References
    ----------
    Vaswani et al. (2017), section 3.1 and figure 1.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.norm1, self.norm2, self.norm3 = (make_norm(config) for _ in range(3))
        heads = (config.d_model, config.n_heads, config.kv_heads)
        self.attention = MultiHeadAttention(*heads, bias=config.bias)
        self.cross_attention = MultiHeadAttention(*heads, bias=config.bias)
        self.feed_forward = make_sublayer(config)
        self.dropout = nn.Dropout(config.dropout)
        self.pre_norm = config.norm_position == "pre"

    def forward(
        self,
        x: Hidden,
        memory: Float[Tensor, "batch source d_model"],
        mask: Bool[Tensor, "..."],
        memory_mask: Bool[Tensor, "..."] | None = None,
    ) -> Hidden:
        """Compute the layer's output; the masks say what of ``x`` and of ``memory`` is seen."""
        if self.pre_norm:
            x = x + self.dropout(self.attention(self.norm1(x), mask=mask))
            x = x + self.dropout(self.cross_attention(self.norm2(x), memory, mask=memory_mask))
            return x + self.dropout(self.feed_forward(self.norm3(x)))
        x = self.norm1(x + self.dropout(self.attention(x, mask=mask)))
        x = self.norm2(x + self.dropout(self.cross_attention(x, memory, mask=memory_mask)))
        return self.norm3(x + self.dropout(self.feed_forward(x)))


class EncoderDecoder(Stack):
    r"""The original transformer: it reads one text and predicts another, token by token.

    .. math::
        P(y_{t+1} \mid y_{\le t}, x) =
        \operatorname{softmax}\bigl(\mathrm{Decoder}(y_{\le t}, \mathrm{Encoder}(x))_t\,E^\top\bigr)

    One matrix :math:`E` embeds the tokens of both texts and, transposed, makes the logits.

    Parameters
    ----------
    config : TransformerConfig
        The shape of both stacks; each has ``n_layers`` blocks.

    Raises
    ------
    ValueError
        As :class:`Encoder`.

    References
    ----------
    Vaswani et al. (2017), sections 3.1 and 3.4.

    Examples
    --------
    >>> import torch
    >>> from primer.transformers import ORIGINAL
    >>> with torch.device("meta"):  # shapes without numbers
    ...     model = EncoderDecoder(ORIGINAL)
    >>> sum(p.numel() for p in model.parameters())  # the paper counts 65 million
    63082496
    """

    @checked
    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config, DecoderBlock)
        self.encoder = Encoder(config)
        self.head = nn.Linear(config.d_model, config.vocab_size, bias=False)
        initialize(self, config.n_layers)
        if config.tied_embeddings:
            self.encoder.embed.weight = self.head.weight = self.embed.weight

    def forward(
        self,
        source: Int[Tensor, "batch source"],
        target: Tokens,
        source_lengths: Lengths | None = None,
    ) -> Float[Tensor, "batch seq vocab"]:
        """Compute the logits of the token that follows each position of the target.

        Parameters
        ----------
        source : Tensor of int of shape (batch, source)
            The texts to read, filled up to one length.
        target : Tensor of int of shape (batch, seq)
            What has been written so far, beginning with a start token.
        source_lengths : Tensor of int of shape (batch,), optional
            How many tokens of each source are real; all of them when left out.

        Returns
        -------
        Tensor of shape (batch, seq, vocab)

        Raises
        ------
        ValueError
            When a text is empty, too long, or holds a token that is not in the vocabulary.
        """
        return self.decode(target, self.encoder(source, source_lengths), source_lengths)

    def decode(
        self,
        target: Tokens,
        memory: Float[Tensor, "batch source d_model"],
        source_lengths: Lengths | None = None,
    ) -> Float[Tensor, "batch seq vocab"]:
        """Compute the logits from a source that the encoder has read already.

        Raises
        ------
        ValueError
            When the target cannot be read, or ``memory`` is not what the encoder returns.
        """
        check_tokens(target, self.config)
        tensor("memory", memory, axes=3)
        x = self.dropout(add_positions(look_up(self.embed, target), self.positions, start=0))
        mask = causal_mask(target.shape[1]).to(x.device)
        memory_mask = _padding(source_lengths, memory)
        for block in self.blocks:
            x = block(x, memory, mask, memory_mask)
        return self.head(self.norm(x))


def _padding(lengths: Lengths | None, texts: Tensor) -> Tensor | None:
    """Mask what lies behind the texts' lengths, of which each text must have one."""
    if lengths is None:
        return None
    mask = padding_mask(lengths, texts.shape[1]).to(texts.device)
    if len(mask) != len(texts):
        raise ValueError(f"{len(texts)} texts need as many lengths, got {len(mask)}")
    return mask


def _check_config(config: TransformerConfig) -> None:
    """Refuse what belongs to a decoder-only model."""
    if config.positions in ("rope", "alibi") or config.window is not None:
        raise ValueError(
            "an encoder adds its positions as vectors and sees the whole text: choose positions "
            f"'sinusoidal', 'learned' or 'none' and no window, got {config.positions!r} "
            f"and {config.window}"
        )
