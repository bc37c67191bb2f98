"""Sixteen numbers: real weights, rounded to a short list, block by block."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
import traitlets
from jaxtyping import Float
from matplotlib.figure import Figure
from torch import Tensor

from primer import fine_tuning as ft
from primer.palette import LIGHT
from primer.transformers import load_pretrained
from primer.widgets.base import Widget
from primer.widgets.controls import Choice, Number

CODES = {
    **{"NF4": ft.NF4, "int4": ft.integer_codebook(4), "FP4 (E2M1)": ft.FP4_E2M1},
    **{"NF3": ft.normal_float_codebook(3), "int3": ft.integer_codebook(3)},
    **{"NF2": ft.normal_float_codebook(2), "int2": ft.integer_codebook(2)},
    "int8": ft.integer_codebook(8),
}
BLOCKS = {16: "16", 32: "32", 64: "64", 128: "128", 256: "256", 1024: "1,024", 0: "all 4,096"}
WEIGHTS, PLACE = 4096, 2020
"""How many weights are shown, and which of them may become an outlier."""


class Rounded(NamedTuple):
    """What rounding leaves: the weights, how often each number is used, and the errors."""

    weights: Float[Tensor, " n"]
    used: Float[np.ndarray, " codes"]
    error: float
    block_errors: Float[np.ndarray, " blocks"]


class SixteenNumbers(Widget):
    r"""Weights of the book's model, each rounded to the nearest number of a code.

    .. math:: \hat w = c_b\,q_k, \qquad c_b = \max_{i\in b}|w_i|, \qquad
              k = \arg\min_j|w/c_b - q_j|

    Parameters
    ----------
    **state
        First values of the traits: ``code`` (one of eight, "NF4" at first), ``block`` (16, 32, 64,
        128, 256, 1024, or 0 for all in one), ``outlier`` (what one weight is made, 0 to 40 standard
        deviations; 0 leaves it as it is) and ``weights`` (4,096 numbers of 32 bits as bytes, the
        lowest first; a matrix of the book's model when left out).

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range, or the bytes are not 4,096 finite numbers that differ.

    Examples
    --------
    >>> SixteenNumbers(block=16).rounded().error < SixteenNumbers(block=256).rounded().error
    True
    """

    description = (
        "A bell of weights between -1 and 1, and on it sixteen stems, close together in the middle "
        "and far apart outside: how often each number of the code NF4 is used, the outermost "
        "negative one least. Below, a bar for each block: its relative error, near a tenth "
        "everywhere."
    )
    constants: ClassVar[dict[str, Any]] = {
        "codes": {name: list(code.values) for name, code in CODES.items()},
        "place": PLACE,
    }

    code = Choice("NF4", list(CODES), label="Code")
    block = Choice(64, BLOCKS, look="slider", label="Weights in a block")
    outlier = Number(
        0.0,
        low=0.0,
        high=40.0,
        step=0.5,
        form="short",
        digits=1,
        unit=" σ",
        named={0.0: "none"},
        label="One outlier",
    )
    weights = traitlets.Bytes().tag(sync=True)

    @traitlets.default("weights")
    def _default_weights(self) -> bytes:
        up = load_pretrained("plays-2")[0].state_dict()["blocks.2.feed_forward.up.weight"]
        return bytes(up.flatten()[:WEIGHTS].numpy().astype("<f4").tobytes())

    @traitlets.validate("weights")
    def _check_weights(self, proposal: traitlets.Bunch) -> bytes:
        data = bytes(proposal.value)
        numbers = np.frombuffer(data, "<f4") if len(data) == 4 * WEIGHTS else np.array([])
        if not (len(numbers) and np.isfinite(numbers).all() and np.ptp(numbers) > 0):
            raise traitlets.TraitError(
                f"weights must be {WEIGHTS:,} finite numbers of 32 bits, not all the same"
            )
        return data

    def shown(self) -> Float[Tensor, " n"]:
        """Return the weights with their outlier, in double precision."""
        weights = torch.from_numpy(np.frombuffer(self.weights, "<f4").astype(float))
        if self.outlier:
            weights[PLACE] = self.outlier * weights.std(correction=0)
        return weights

    def rounded(self) -> Rounded:
        """Quantize by :func:`primer.fine_tuning.quantize`; the outlier's own error is left out."""
        weights, block, code = self.shown(), self.block or WEIGHTS, CODES[self.code]
        stored = ft.quantize(weights, code, block)
        restored = stored.dequantize(torch.float64)
        used = np.bincount(stored.codes().numpy(), minlength=len(code.values)) / WEIGHTS
        counts = torch.ones(WEIGHTS, dtype=torch.float64)
        counts[PLACE] = float(not self.outlier)
        missed, size = (
            (counts * x.square()).reshape(-1, block).sum(1) for x in (restored - weights, weights)
        )
        error = float((missed.sum() / size.sum()).sqrt())
        return Rounded(restored, used, error, (missed / size).sqrt().numpy())

    def bits(self) -> float:
        """Count the bits of a weight, with 32 for the constant of its block."""
        return CODES[self.code].bits + 32 / (self.block or WEIGHTS)

    def picture(self) -> Figure:
        """Draw how often each number is used, and the error of each block.

        Returns
        -------
        Figure
            Two panels.
        """
        figure = Figure(figsize=(7.2, 4.2), layout="constrained")
        top, bottom = figure.subplots(2, 1, height_ratios=[2, 1])
        weights, found = self.shown(), self.rounded()
        blocks = weights.reshape(-1, self.block or WEIGHTS)
        scaled = (blocks / blocks.abs().amax(dim=1, keepdim=True)).flatten().numpy()
        each = np.full(WEIGHTS, 100 / WEIGHTS)
        top.hist(scaled, bins=40, range=(-1, 1), weights=each, color=LIGHT["muted"], alpha=0.35)
        top.vlines(CODES[self.code].values, 0, 100 * found.used, color=LIGHT["blue"])
        top.plot(CODES[self.code].values, 100 * found.used, "o", color=LIGHT["blue"], ms=4)
        top.set(xlabel="weight / largest of its block", ylabel="percent of the weights")
        top.set_title(f"{self.code}: error {found.error:.1%}, {self.bits():.2f} bits a weight")
        bottom.bar(range(len(blocks)), 100 * found.block_errors, color=LIGHT["orange"])
        bottom.set(xlabel="block", ylabel="error (percent)")
        return figure
