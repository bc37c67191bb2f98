"""A reward model: a language model whose last token answers with a number."""

from __future__ import annotations

import copy

import torch
from jaxtyping import Float
from torch import Tensor, nn

from primer.alignment.replies import Replies
from primer.attention import Only
from primer.inputs import checked
from primer.transformers import Transformer


class RewardModel(nn.Module):
    r"""A copy of a transformer with a head of one number, read at the last token of the reply.

    .. math:: R_\phi(x, y) = x^L_{T}\,w^\top

    where :math:`T` is the last token that counts and :math:`w` starts at 0, so that at first all
    replies are worth the same.

    Parameters
    ----------
    model : Transformer
        The language model to start from; it is copied.

    Examples
    --------
    >>> from primer.transformers import TransformerConfig
    >>> config = TransformerConfig(
    ...     vocab_size=9, n_layers=1, d_model=8, n_heads=2, context_length=8
    ... )
    >>> judge = RewardModel(Transformer(config))
    >>> prompt, reply = torch.tensor([[3, 1]]), torch.tensor([[4, 8]])
    >>> judge(Replies(prompt, reply, torch.ones_like(reply, dtype=torch.bool)))
    tensor([0.], grad_fn=<SqueezeBackward1>)
    """

    @checked
    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.body = copy.deepcopy(model)
        self.head = nn.Linear(model.config.d_model, 1, bias=False)
        nn.init.zeros_(self.head.weight)

    @checked
    def forward(self, replies: Replies) -> Float[Tensor, " batch"]:
        """Return the reward of each reply.

        Raises
        ------
        ValueError
            When no token of a reply counts.
        """
        if not bool(replies.mask[:, :1].all()) or replies.mask.shape[1] == 0:
            raise ValueError("every reply needs a token that counts: its end, at least")
        seen: dict[str, Tensor] = {}

        def keep(name: str, value: Tensor) -> None:
            seen[name] = value

        whole = torch.cat([replies.prompts, replies.tokens], dim=1)
        self.body(whole, observe=Only(["norm"], keep))
        last = replies.prompts.shape[1] + replies.lengths - 1
        return self.head(seen["norm"][torch.arange(len(whole)), last]).squeeze(-1)
