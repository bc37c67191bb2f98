"""The first weights of a model, where they are not those of GPT-2."""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import nn

from primer.inputs import checked
from primer.transformers import Transformer

Initialization = Literal["gpt-2", "fan-in"]


@checked
@torch.no_grad()
def initialize(model: Transformer, kind: Initialization, shared_vector: float = 0.0) -> None:
    r"""Draw a model's first weights.

    ``"gpt-2"`` leaves what :class:`~primer.transformers.Transformer` has drawn.  With ``"fan-in"``
    every matrix is normal with variance one over its number of columns, so that vectors of entries
    of size 1 leave it with entries of size 1, and an embedding has length about 1; the two
    matrices of a block that write into the residual stream are divided by :math:`\sqrt{2L}`.

    .. math:: W_{ij}\sim\mathcal N(0, 1/n_{\text{columns}}), \qquad
              E_t \leftarrow E_t + \ell\,\frac{g}{\lVert g\rVert}, \quad g\sim\mathcal N(0, I)

    What all embeddings have in common, the first layer's queries and keys can turn by RoPE and so
    ask for a distance, whatever the token; the output gets the same number added to every logit.

    Parameters
    ----------
    model : Transformer
        Its weights are replaced; torch's random numbers decide.
    kind : {"gpt-2", "fan-in"}
        The spread.
    shared_vector : float
        :math:`\ell`, the length of the vector that all embeddings share.

    References
    ----------
    LeCun et al., *Efficient BackProp* (1998), section 4.6; Radford et al. (2019), section 2.3, for
    :math:`\sqrt{2L}`.

    Examples
    --------
    >>> from primer.transformers import TransformerConfig
    >>> model = Transformer(TransformerConfig(
    ...     vocab_size=500, n_layers=2, d_model=100, n_heads=2, context_length=8
    ... ))
    >>> initialize(model, "fan-in", shared_vector=3.0)
    >>> round(model.blocks[0].attention.query.weight.std().item(), 2)
    0.1
    >>> round(model.embed.weight.mean(dim=0).norm().item(), 1)
    3.0
    """
    if kind == "fan-in":
        writes = math.sqrt(2 * model.config.n_layers)
        for name, module in model.named_modules():
            if isinstance(module, nn.Linear | nn.Embedding):
                spread = 1 / math.sqrt(module.weight.shape[1])
                last = name.endswith(("attention.output", "attention.out_proj", "down"))
                nn.init.normal_(module.weight, std=spread / writes if last else spread)
    if shared_vector:
        shared = torch.randn(model.config.d_model, device=model.embed.weight.device)
        model.embed.weight += shared_vector * shared / shared.norm()
