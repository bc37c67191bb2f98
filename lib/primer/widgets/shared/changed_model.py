"""What widgets share that put a small stored change beside the model their page runs."""

from __future__ import annotations

import functools
from typing import Any, cast

import traitlets
from safetensors.torch import save

from primer.alignment.recorded import ALIGNED
from primer.fine_tuning.stored import DOCSTRINGS, Factors, turned, unpack_lora
from primer.transformers import Transformer
from primer.widgets.shared.language_model import LanguageModelWidget
from primer.widgets.shared.quantized import unpacked

NOTHING = save({})
"""The change that changes nothing: a file without factors."""


class ChangedModelWidget(LanguageModelWidget, abstract=True):
    """A widget whose page offers changes of low rank for its model.

    A subclass declares ``change``, the name of the one that is chosen, with a
    :class:`~primer.widgets.controls.Name` among :attr:`changes`.  On a page without Python a change
    is loaded when somebody chooses it.
    """

    changes = traitlets.Dict(key_trait=traitlets.Unicode(), value_trait=traitlets.Bytes()).tag(
        sync=True, later=True
    )
    """Name → the factors, from :func:`primer.fine_tuning.stored.pack_lora`."""

    def __init__(self, **state: Any) -> None:
        # which changes there are depends on the model, and which may be chosen on both
        first = {name: state.pop(name) for name in ("checkpoint", "changes") if name in state}
        super().__init__(**first, **state)

    @traitlets.default("changes")
    def _default_changes(self) -> dict[str, bytes]:
        return stored_changes()

    @traitlets.validate("checkpoint")
    def _check_checkpoint(self, proposal: traitlets.Bunch) -> bytes:
        checkpoint = super()._check_checkpoint(proposal)
        _refuse_foreign(checkpoint, self.changes)
        return checkpoint

    @traitlets.validate("changes")
    def _check_changes(self, proposal: traitlets.Bunch) -> dict[str, bytes]:
        _refuse_foreign(self.checkpoint, proposal.value)
        return dict(proposal.value)

    def changed_model(self, strength: float = 1.0, rank: int | None = None) -> Transformer:
        """Return the model with a share of the change that is chosen: all of it, if none is said.

        Raises
        ------
        ValueError
            When the change was trained beside another model.
        """
        data = self.changes[self.change]
        most = rank_of(self.checkpoint, data)
        return _changed(self.checkpoint, data, strength, most if rank is None else min(rank, most))


def stored_changes() -> dict[str, bytes]:
    """Read the changes that come with the book."""
    return {"docstrings": DOCSTRINGS.read_bytes(), "aligned": ALIGNED.read_bytes()}


def _refuse_foreign(checkpoint: bytes, changes: dict[str, bytes]) -> None:
    """Raise traitlets' error when a change is damaged or was trained beside another model."""
    for name, data in changes.items():
        try:
            _factors(checkpoint, data)
        except ValueError as error:
            raise traitlets.TraitError(f"changes, {name!r}: {error}") from None


def rank_of(checkpoint: bytes, data: bytes) -> int:
    """Count the directions of a change; 0 of the one that changes nothing."""
    return max((A.shape[1] for A, _ in _factors(checkpoint, data).values()), default=0)


@functools.lru_cache(maxsize=8)
def _factors(checkpoint: bytes, data: bytes) -> Factors:
    """Read the factors of a change for a model once."""
    return {} if data == NOTHING else unpack_lora(data, unpacked(checkpoint)[0])


@functools.lru_cache(maxsize=4)
def _changed(checkpoint: bytes, data: bytes, strength: float, rank: int) -> Transformer:
    """Change a model once.  Nobody may change what it returns."""
    model, factors = unpacked(checkpoint)[0], _factors(checkpoint, data)
    return cast(Transformer, turned(model, factors, strength, rank)) if factors else model
