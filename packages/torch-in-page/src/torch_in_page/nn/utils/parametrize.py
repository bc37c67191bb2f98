"""``torch.nn.utils.parametrize``: weights that are computed from others; not here."""

from ...tensor import unknown

__getattr__ = unknown("torch.nn.utils.parametrize")
