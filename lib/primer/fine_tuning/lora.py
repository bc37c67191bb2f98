r"""LoRA: a frozen matrix and a learned change of low rank.

.. math:: y = xW_0 + s\,xAB, \qquad A\in\mathbb R^{d\times r},\ B\in\mathbb R^{r\times k},\quad
          s = \alpha/r \ \text{or}\ \alpha/\sqrt r

Rows are tokens, so the factors stand in the order :math:`AB`.  With columns one writes
:math:`W_0^\top + s\,B^\top A^\top`, which many papers call :math:`W_0 + BA`: the same numbers,
transposed (:meth:`LoRALinear.column_factors`).
"""

from __future__ import annotations

import math
from typing import Annotated, Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from primer.fine_tuning.layers import AroundLayer, freeze, matrix_of, refuse_tied
from primer.inputs import Count, among, checked, positive

SCALINGS = ("alpha/r", "alpha/sqrt(r)")
STARTS = ("B zero", "A zero", "both random", "both zero", "svd")
Start = Literal["B zero", "A zero", "both random", "both zero", "svd"]


class LoRALinear(AroundLayer):
    r"""A linear layer with a low-rank change beside it.

    .. math:: y = \mathrm{base}(x) + s\,(xA)B

    Parameters
    ----------
    base : nn.Module
        A linear layer: ``nn.Linear``, ``Conv1D`` of Hugging Face or a quantized one.  It is frozen.
    rank : int
        :math:`r`, from 1 to the smaller width.
    alpha : float, optional
        :math:`\alpha`; twice the rank when left out.
    scaling : {"alpha/r", "alpha/sqrt(r)"}
        What :math:`s` is; the second is rsLoRA's.
    start : {"B zero", "A zero", "both random", "both zero", "svd"}
        Which factor begins at zero.  ``"svd"`` (PiSSA) puts the largest :math:`r` singular triples
        of the base into the factors and takes them out of the base.

    Raises
    ------
    ValueError
        When the rank or alpha does not fit, or the base has no plain matrix to decompose.

    References
    ----------
    Hu et al. (2021), equation 3; Kalajdzievski (2023) for the root; Meng et al. (2024) for the SVD.

    Examples
    --------
    >>> layer = LoRALinear(nn.Linear(4, 3, bias=False), rank=2)
    >>> x = torch.ones(1, 4)
    >>> torch.equal(layer(x), layer.base(x)), layer.A.shape, layer.B.shape, layer.scale
    (True, torch.Size([4, 2]), torch.Size([2, 3]), 2.0)
    """

    @checked
    def __init__(
        self,
        base: nn.Module,
        rank: Count,
        alpha: float | None = None,
        scaling: Annotated[str, among(SCALINGS)] = "alpha/r",
        start: Annotated[str, among(STARTS)] = "B zero",
    ) -> None:
        super().__init__(base)
        d, k = self.in_features, self.out_features
        if rank > min(d, k):
            raise ValueError(
                f"rank = {rank} is more than a {d} × {k} matrix can have; at most {min(d, k)}"
            )
        alpha = 2.0 * rank if alpha is None else positive("alpha", alpha)
        freeze(base)
        self.rank, self.alpha, self.start = rank, alpha, start
        self.scale = alpha / (rank if scaling == "alpha/r" else math.sqrt(rank))
        self.A = nn.Parameter(torch.zeros(d, rank))
        self.B = nn.Parameter(torch.zeros(rank, k))
        self._kept: Tensor | None = None  # the base's matrix while the change is merged into it
        self.tied_to = ""  # the weight of another layer that merging would change with the base's
        if start in ("B zero", "both random"):
            nn.init.uniform_(self.A, -1 / math.sqrt(d), 1 / math.sqrt(d))
        if start in ("A zero", "both random"):
            nn.init.uniform_(self.B, -1 / math.sqrt(rank), 1 / math.sqrt(rank))
        if start == "svd":
            self._take_principal_part()

    def _take_principal_part(self) -> None:
        """Move the largest singular triples of the base into the factors."""
        matrix = matrix_of(self.base)
        A, B = principal_factors(matrix, self.rank)
        self.A.data.copy_(A / math.sqrt(self.scale))
        self.B.data.copy_(B / math.sqrt(self.scale))
        matrix -= self.update()

    @checked
    def forward(self, x: Float[Tensor, "... d_in"]) -> Float[Tensor, "... d_out"]:
        """Compute the base's output and, unless it is merged, add the change's, rank first."""
        y = self.base(self.read(x))
        if self.merged:
            return y
        return y + self.scale * (x.to(self.A.dtype) @ self.A @ self.B).to(y.dtype)

    @torch.no_grad()
    def update(self) -> Float[Tensor, "d_in d_out"]:
        """Return the change of the matrix, s·AB, multiplied out."""
        return self.scale * self.A @ self.B

    def column_factors(self) -> tuple[Float[Tensor, "d_out r"], Float[Tensor, "r d_in"]]:
        r"""Return the factors in the order of columns, :math:`BA`, as peft stores them.

        Examples
        --------
        >>> layer = LoRALinear(nn.Linear(4, 3), rank=2, start="both random")
        >>> B, A = layer.column_factors()
        >>> torch.allclose(layer.scale * B @ A, layer.update().T)
        True
        """
        return self.B.detach().T, self.A.detach().T

    @property
    def trained_with(self) -> str:
        """What the factors need beside them to be the same change in another model."""
        return f"scale {self.scale}" + (", start 'svd'" if self.start == "svd" else "")

    @property
    def merged(self) -> bool:
        """Whether the change stands in the base's matrix now."""
        return self._kept is not None

    def merge(self) -> None:
        """Add the change to the base's matrix, so that the layer costs no more than the base.

        Raises
        ------
        ValueError
            When it is merged already, or the base is quantized.
        """
        if self.merged:
            raise ValueError("the change is merged already; merging twice would add it twice")
        refuse_tied("this layer", self.tied_to)
        matrix = matrix_of(self.base)
        self._kept = matrix.clone()
        matrix += self.update().to(matrix.dtype)

    def unmerge(self) -> None:
        """Put the base's matrix back, bit for bit: it was kept, and nothing is subtracted.

        Raises
        ------
        ValueError
            When nothing is merged.
        """
        if self._kept is None:
            raise ValueError("nothing is merged; call merge first")
        matrix_of(self.base).copy_(self._kept)
        self._kept = None

    @checked
    def swap(self, A: Float[Tensor, "d_in r"], B: Float[Tensor, "r d_out"]) -> None:
        """Take other factors, of the same shapes; a merged layer stays merged, with the new ones.

        Raises
        ------
        ValueError
            When their shapes are others.
        """
        if A.shape != self.A.shape or B.shape != self.B.shape:
            raise ValueError(
                f"factors of shapes {tuple(A.shape)} and {tuple(B.shape)} do not fit this layer, "
                f"which has {tuple(self.A.shape)} and {tuple(self.B.shape)}"
            )
        merged = self.merged
        if merged:
            self.unmerge()
        self.A.data.copy_(A)
        self.B.data.copy_(B)
        if merged:
            self.merge()


@checked
def principal_factors(
    matrix: Float[Tensor, "d k"], rank: Count
) -> tuple[Float[Tensor, "d r"], Float[Tensor, "r k"]]:
    r"""Factor the best approximation of rank r.

    .. math:: A = U_r\sqrt{S_r}, \qquad B = \sqrt{S_r}\,V_r^\top

    Parameters
    ----------
    matrix : Tensor of shape (d, k)
        What is to be approximated.
    rank : int
        :math:`r`.

    Returns
    -------
    A, B : Tensor
        Their product is nearest to the matrix among all of that rank (Eckart and Young).

    Raises
    ------
    ValueError
        When the rank does not lie between 1 and the smaller side.

    References
    ----------
    Eckart and Young (1936); Meng et al. (2024).

    Examples
    --------
    >>> A, B = principal_factors(torch.diag(torch.tensor([4.0, 1.0])), rank=1)
    >>> (A @ B).abs()
    tensor([[4., 0.],
            [0., 0.]])
    """
    if rank > min(matrix.shape):
        raise ValueError(f"rank = {rank} is more than a {tuple(matrix.shape)} matrix can have")
    U, S, Vt = torch.linalg.svd(matrix, full_matrices=False)
    root = S[:rank].sqrt()
    return U[:, :rank] * root, root[:, None] * Vt[:rank]
