"""``torch.backends``: libraries behind torch, none of which is here."""

from __future__ import annotations

import types

from ..tensor import unknown

cudnn = types.SimpleNamespace(
    deterministic=False, benchmark=False, enabled=False, is_available=lambda: False
)
cuda = types.SimpleNamespace(is_built=lambda: False)
mps = types.SimpleNamespace(is_available=lambda: False, is_built=lambda: False)
mkl = types.SimpleNamespace(is_available=lambda: False)
mkldnn = types.SimpleNamespace(is_available=lambda: False, enabled=False)
openmp = types.SimpleNamespace(is_available=lambda: False)
__getattr__ = unknown("torch.backends")
