"""Our recurrent layers, a loop of the formulas, beside torch's compiled ones."""

from collections.abc import Iterator

import torch
from torch import nn

from benchmarks.table import Row, alternating_seconds
from primer.recurrent import Recurrent

BATCH, TIME, WIDTH = 32, 96, 128


def rows() -> Iterator[Row]:
    """Time each cell's layer, forward and backward."""
    x = torch.randn(BATCH, TIME, WIDTH, requires_grad=True)
    for kind in (nn.LSTM, nn.GRU, nn.RNN):
        theirs = kind(WIDTH, WIDTH, batch_first=True)
        ours = Recurrent.from_torch(theirs)
        yield Row(
            f"{kind.__name__} layer, forward and backward, {BATCH} × {TIME} × {WIDTH}",
            *alternating_seconds(
                lambda ours=ours: ours(x)[0].sum().backward(),
                lambda theirs=theirs: theirs(x)[0].sum().backward(),
            ),
            f"torch.nn.{kind.__name__}",
        )
