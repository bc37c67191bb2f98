"""Encoder, decoder, prefix: who may see what."""

from __future__ import annotations

from typing import Annotated

import torch
from jaxtyping import Bool
from torch import Tensor

from primer.inputs import Natural, Side, among, checked

FAMILIES = ("encoder", "decoder", "prefix")


@checked
def family_mask(
    family: Annotated[str, among(FAMILIES)], n_tokens: Side, prefix: Natural = 0
) -> Bool[Tensor, "n n"]:
    r"""Allow each place the places that its family of models lets it see.

    An encoder sees everything, a decoder what came before, and a prefix model both:
    :math:`\text{allowed}_{ij} = [\,j \le i \text{ or } j < p\,]`, which is also what the decoder of
    an encoder–decoder sees of source and target laid one after the other.

    Parameters
    ----------
    family : {"encoder", "decoder", "prefix"}
        The family.
    n_tokens : int
        The length of the text.
    prefix : int
        The tokens :math:`p` of the source, which everybody sees; for the family ``"prefix"``.

    Returns
    -------
    Tensor of bool of shape (n, n)
        ``True`` where a query (row) may see a key (column).

    Raises
    ------
    ValueError
        When the family is unknown, or the prefix is longer than the text.

    References
    ----------
    Raffel et al. (2020), figure 3.

    Examples
    --------
    >>> family_mask("prefix", 3, prefix=2).int().tolist()
    [[1, 1, 0], [1, 1, 0], [1, 1, 1]]
    """
    n = n_tokens
    if prefix > n:
        raise ValueError(f"a prefix of {prefix} tokens is longer than the text of {n}")
    row, column = torch.arange(n)[:, None], torch.arange(n)
    if family == "encoder":
        return torch.ones(n, n, dtype=torch.bool)
    return (column <= row) | ((column < prefix) if family == "prefix" else (column < 0))
