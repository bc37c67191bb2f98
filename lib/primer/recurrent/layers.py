r"""A cell run over sequences: layers above each other, both directions, sequences of any length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, cast

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from primer.inputs import Dim, Many, Side, among, checked, tensor
from primer.inputs.arrays import laid_out
from primer.inputs.guard import unasked
from primer.inputs.tensors import holds_whole
from primer.recurrent.cells import CELLS, Cell, State


@checked
def run(
    cell: Cell,
    x: Float[Tensor, "batch time input"],
    state: State | None = None,
    lengths: Int[Tensor, " batch"] | None = None,
    *,
    reverse: bool = False,
) -> tuple[Float[Tensor, "batch time hidden"], State]:
    r"""Let a cell read sequences from left to right, or from right to left.

    .. math:: s_t = \mathrm{cell}(x_t, s_{t-1}), \qquad t = 0, \dots, n - 1

    Beyond its length a sequence is not read: there its state stands still and its outputs are 0.

    Parameters
    ----------
    cell : Cell
        What is run.
    x : Tensor of shape (batch, time, input_size)
        The sequences, filled up with anything beyond their lengths.
    state : tuple of Tensor of shape (batch, hidden_size), optional
        Where to begin; zeros by default.
    lengths : int Tensor of shape (batch,), optional
        How much of each sequence there is; all of it by default.
    reverse : bool
        Whether to read from the last vector to the first.

    Returns
    -------
    outputs : Tensor of shape (batch, time, hidden_size)
        :math:`h_t` for each vector read.
    state : tuple of Tensor of shape (batch, hidden_size)
        The state after the last vector that was read.

    Raises
    ------
    ValueError
        When the sequences are empty, the sizes do not fit, or a length is out of range.

    Examples
    --------
    >>> from primer.recurrent import ElmanCell
    >>> outputs, (last,) = run(ElmanCell(3, 2), torch.ones(1, 5, 3))
    >>> outputs.shape, torch.equal(outputs[:, -1], last)
    (torch.Size([1, 5, 2]), True)
    """
    known = check_sequences(x, cell.input_size, lengths)
    batch, time, _ = x.shape
    state = cell.zero_state(batch) if state is None else state
    cell.check_state(state, (batch, cell.hidden_size))
    projected = cell.project(x).unbind(1)  # time × (batch, gates · hidden)
    outputs: list[Tensor] = [x] * time
    step = unasked(cell.step)
    for t in reversed(range(time)) if reverse else range(time):
        after = step(projected[t], state)
        if known is None:
            outputs[t] = after[0]
        else:
            reads = (t < known)[:, None]  # (batch, 1)
            after = tuple(torch.where(reads, a, b) for a, b in zip(after, state, strict=True))
            outputs[t] = torch.where(reads, after[0], 0.0)
        state = after
    return torch.stack(outputs, dim=1), state


def check_sequences(
    x: Tensor, input_size: int, lengths: Tensor | Sequence[int] | None = None
) -> Tensor | None:
    """Refuse sequences that cannot be read; return their lengths as a tensor.

    Raises
    ------
    ValueError
        When ``x`` is not (batch, time, input), is empty or holds NaN or infinity, or a length is
        out of range.

    Examples
    --------
    >>> check_sequences(torch.zeros(2, 5, 3), 3, [4, 6])
    Traceback (most recent call last):
        ...
    ValueError: lengths must lie between 1 and 5, the longest that the batch holds, got [4, 6]
    """
    if isinstance(x, PackedSequence):
        raise ValueError(
            "x is a PackedSequence; take it apart: x, lengths = "
            "torch.nn.utils.rnn.pad_packed_sequence(x, batch_first=True)"
        )
    if tensor("x", x).ndim != 3 or x.shape[-1] != input_size:
        raise ValueError(
            f"sequences must have shape (batch, time, {input_size}), got {tuple(x.shape)}"
        )
    batch, time, _ = x.shape
    if batch == 0 or time == 0:
        raise ValueError(
            f"there is nothing to read: {batch} sequences of length {time}; "
            "leave empty sequences out of the batch"
        )
    laid_out("x", x)
    if not x.isfinite().all():
        raise ValueError(f"the sequences contain {'NaN' if x.isnan().any() else 'infinity'}")
    if lengths is None:
        return None
    try:
        known = torch.as_tensor(lengths)
    except (TypeError, ValueError, RuntimeError):
        raise ValueError(f"lengths must be {batch} whole numbers, got {lengths!r}") from None
    if known.shape != (batch,) or not holds_whole(known):
        raise ValueError(
            f"lengths must be {batch} whole numbers, one for each sequence, got "
            f"{tuple(known.shape)} of type {known.dtype}"
        )
    if int(known.min()) < 1 or int(known.max()) > time:
        raise ValueError(
            f"lengths must lie between 1 and {time}, the longest that the batch holds, "
            f"got {known.tolist()}"
        )
    return known.to(x.device)


class Recurrent(nn.Module):
    r"""Recurrent layers above each other, in one direction or in both.

    Layer :math:`\ell + 1` reads the outputs of layer :math:`\ell`; in both directions these are
    the outputs of two cells side by side, :math:`h_t = [\overrightarrow h_t, \overleftarrow h_t]`.

    Parameters
    ----------
    cell : {"rnn", "lstm", "gru"}
        Which cell.
    input_size, hidden_size : int
        The length of an input vector, and of a cell's output.
    n_layers : int
        How many layers.
    bidirectional : bool
        Whether a second cell reads from right to left in each layer.

    Raises
    ------
    ValueError
        When the cell is unknown or a number is not above 0.

    Examples
    --------
    >>> both = Recurrent("gru", 3, 4, n_layers=2, bidirectional=True)
    >>> outputs, (h,) = both(torch.randn(5, 7, 3))
    >>> outputs.shape, h.shape  # four cells have a last state
    (torch.Size([5, 7, 8]), torch.Size([4, 5, 4]))
    """

    @checked
    def __init__(
        self,
        cell: Annotated[str, among(CELLS)],
        input_size: Dim,
        hidden_size: Side,
        n_layers: Many = 1,
        *,
        bidirectional: bool = False,
    ) -> None:
        super().__init__()
        kind = CELLS[cell]
        self.n_layers = n_layers
        self.n_directions = 2 if bidirectional else 1
        sizes = [input_size] + [self.n_directions * hidden_size] * (n_layers - 1)
        self.cells = nn.ModuleList(
            kind(size, hidden_size) for size in sizes for _ in range(self.n_directions)
        )

    def forward(
        self,
        x: Float[Tensor, "batch time input"],
        state: State | None = None,
        lengths: Int[Tensor, " batch"] | Sequence[int] | None = None,
    ) -> tuple[Float[Tensor, "batch time directions_hidden"], State]:
        """Read sequences.

        Parameters
        ----------
        x, lengths
            As in :func:`run`.
        state : tuple of Tensor of shape (layers · directions, batch, hidden_size), optional
            Where each cell begins, the lowest layer first, left to right before right to left.

        Returns
        -------
        outputs : Tensor of shape (batch, time, directions · hidden_size)
            Of the highest layer.
        state : tuple of Tensor of shape (layers · directions, batch, hidden_size)
            Where each cell ended: for the one that reads from right to left, at the first vector.

        Raises
        ------
        ValueError
            As :func:`run`.
        """
        cells = cast("list[Cell]", list(self.cells))  # a ModuleList forgets of what it is a list
        known = check_sequences(x, cells[0].input_size, lengths)
        if not isinstance(state, tuple | list | None):
            kind = type(state).__name__
            raise ValueError(f"a state is a tuple of tensors, (h,) or (h, c), got a {kind}")
        if state is not None and any(len(tensor("state", p, axes=3)) != len(cells) for p in state):
            raise ValueError(
                f"{len(cells)} cells need as many states, got {[len(part) for part in state]}"
            )
        ends: list[State] = []
        for layer in range(self.n_layers):
            outputs = []
            for direction in range(self.n_directions):
                number = layer * self.n_directions + direction
                start = None if state is None else tuple(part[number] for part in state)
                read, end = run(cells[number], x, start, known, reverse=direction == 1)
                outputs.append(read)
                ends.append(end)
            x = torch.cat(outputs, dim=-1)
        return x, tuple(torch.stack(parts) for parts in zip(*ends, strict=True))

    @classmethod
    def from_torch(cls, module: nn.RNNBase) -> Recurrent:
        """Copy torch's ``RNN``, ``LSTM`` or ``GRU``.

        Parameters
        ----------
        module : torch.nn.RNN, torch.nn.LSTM or torch.nn.GRU
            With biases and tanh.

        Returns
        -------
        Recurrent
            The same function, in the same precision; sequences come first in its batches.

        Raises
        ------
        ValueError
            When the module is another one, or has no biases, projections or another nonlinearity.

        Examples
        --------
        >>> theirs = nn.LSTM(3, 4, batch_first=True)
        >>> x = torch.randn(2, 5, 3)
        >>> torch.allclose(Recurrent.from_torch(theirs)(x)[0], theirs(x)[0], atol=1e-6)
        True
        """
        kind = {nn.RNN: "rnn", nn.LSTM: "lstm", nn.GRU: "gru"}.get(type(module))
        if kind is None or not module.bias or module.proj_size:
            raise ValueError(
                "only torch.nn.RNN, LSTM and GRU with biases and without projections can be "
                f"copied, got {module}"
            )
        if getattr(module, "nonlinearity", "tanh") != "tanh":
            raise ValueError(f"Elman's cell has the tanh, this one has {module.nonlinearity!r}")
        ours = cls(
            kind,
            module.input_size,
            module.hidden_size,
            module.num_layers,
            bidirectional=module.bidirectional,
        ).to(next(module.parameters()).dtype)
        for number, cell in enumerate(cast("list[Cell]", list(ours.cells))):
            layer, direction = divmod(number, ours.n_directions)
            cell.load_torch(module, f"_l{layer}" + "_reverse" * direction)
        return ours
