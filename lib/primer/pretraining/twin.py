"""A masked twin of the book's model: it sees both sides of a gap and fills it."""

from __future__ import annotations

from pathlib import Path

from jaxtyping import Float, Int
from torch import Tensor, nn

from primer.inputs import checked
from primer.language_models import BytePairEncoding
from primer.language_models.byte_pairs import END
from primer.transformers import Encoder, load_checkpoint
from primer.transformers.checkpoint import PRETRAINED

MASK = "<|mask|>"
"""The twin's token for what is hidden; it comes after those of the book's model."""

TWIN = Path(__file__).with_name("twin.safetensors")


class MaskedModel(Encoder):
    r"""An encoder that says at every place which token belongs there.

    .. math:: \text{logits} = \mathrm{Encoder}(x)\,E^\top

    Parameters
    ----------
    config : TransformerConfig
        Its shape, as :class:`~primer.transformers.Encoder` asks for it; the embedding is the head.

    Raises
    ------
    ValueError
        As :class:`~primer.transformers.Encoder`.

    Examples
    --------
    >>> import torch
    >>> from primer.transformers import TransformerConfig
    >>> config = TransformerConfig(
    ...     vocab_size=9, n_layers=1, d_model=8, n_heads=2, context_length=4, positions="learned"
    ... )
    >>> MaskedModel(config).logits(torch.tensor([[1, 2, 3]])).shape
    torch.Size([1, 3, 9])
    """

    def logits(self, tokens: Int[Tensor, "batch seq"]) -> Float[Tensor, "batch seq vocab"]:
        """Compute the logits of the token at each place, from the whole text."""
        return nn.functional.linear(self(tokens), self.embed.weight)


def load_twin() -> tuple[MaskedModel, BytePairEncoding]:
    """Load the masked twin of the book's model, and its tokenizer, which has a mask.

    Returns
    -------
    tuple of MaskedModel and BytePairEncoding
        The model in evaluation mode; ``tokenizer.special_tokens[MASK]`` hides a token.

    Raises
    ------
    ValueError
        When the file is missing or damaged.

    Examples
    --------
    >>> twin, tokenizer = load_twin()
    >>> twin.config.vocab_size == tokenizer.vocab_size
    True
    """
    stored = load_checkpoint(TWIN)
    twin = MaskedModel(stored.config)
    weights = {name: w for name, w in stored.state_dict().items() if name != "head.weight"}
    twin.load_state_dict(weights)
    return twin.eval(), with_mask(BytePairEncoding.load(PRETRAINED / "plays-bpe.json"))


@checked
def with_mask(tokenizer: BytePairEncoding) -> BytePairEncoding:
    """Return a tokenizer with one token more, the mask, which no text holds.

    Examples
    --------
    >>> with_mask(BytePairEncoding([])).special_tokens
    {'<|end|>': 256, '<|mask|>': 257}
    """
    return BytePairEncoding(tokenizer.merges, special_tokens=(END, MASK))
