"""``torch.utils._python_dispatch``: seeing each operation inside torch; not here."""

from __future__ import annotations

from typing import Any

from ..tensor import unknown


class TorchDispatchMode:
    """Sees each operation inside torch, which is another one here."""

    def __enter__(self) -> Any:
        raise NotImplementedError(
            "torch in this page is made of other operations inside, and has no "
            "TorchDispatchMode; run this "
            "chapter in Jupyter"
        )

    def __exit__(self, *_: Any) -> None:
        pass


__getattr__ = unknown("torch.utils._python_dispatch")
