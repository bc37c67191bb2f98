"""Activations as modules."""

from __future__ import annotations

from typing import Any

from ..creating import full
from ..tensor import Tensor
from . import functional as F
from .module import Module
from .parameter import Parameter


class _Activation(Module):
    """A function of each number; its settings are the function's keywords."""

    function: Any = None
    settings: dict[str, Any] = {}  # noqa: RUF012
    shown: tuple[str, ...] = ()

    def __init__(self, *args: Any, **given: Any) -> None:
        super().__init__()
        values = dict(zip(self.settings, args, strict=False)) | given
        self.inplace = values.pop("inplace", False)
        unknown = set(values) - set(self.settings)
        if unknown or len(args) > len(self.settings) + 1:
            raise TypeError(f"{type(self).__name__} in this page does not know {unknown or args!r}")
        for name, default in self.settings.items():
            setattr(self, name, values.get(name, default))

    def forward(self, input: Tensor) -> Tensor:
        """Return the function's values."""
        settings = {name: getattr(self, name) for name in self.settings}
        if self.inplace:
            return input.copy_(type(self).function(input, **settings))
        return type(self).function(input, **settings)

    def extra_repr(self) -> str:
        """Return what stands in the brackets."""
        parts = [f"{name}={getattr(self, name)!r}" for name in self.shown]
        return ", ".join(parts + (["inplace=True"] if self.inplace else []))


def _activation(name: str, function: Any, shown: tuple[str, ...] = (), **settings: Any) -> Any:
    return type(
        name, (_Activation,),
        {"function": staticmethod(function), "settings": settings, "shown": shown,
         "__doc__": function.__doc__, "__module__": "torch.nn.modules.activation"},
    )  # fmt: skip


ReLU = _activation("ReLU", F.relu)
ReLU6 = _activation("ReLU6", F.relu6)
Sigmoid = _activation("Sigmoid", F.sigmoid)
Tanh = _activation("Tanh", F.tanh)
SiLU = _activation("SiLU", F.silu)
Mish = _activation("Mish", F.mish)
GELU = _activation("GELU", F.gelu, ("approximate",), approximate="none")
ELU = _activation("ELU", F.elu, ("alpha",), alpha=1.0)
CELU = _activation("CELU", F.celu, ("alpha",), alpha=1.0)
SELU = _activation("SELU", F.selu)
LeakyReLU = _activation("LeakyReLU", F.leaky_relu, ("negative_slope",), negative_slope=0.01)
Softplus = _activation("Softplus", F.softplus, ("beta", "threshold"), beta=1.0, threshold=20.0)
Softsign = _activation("Softsign", F.softsign)
Softshrink = _activation("Softshrink", F.softshrink, lambd=0.5)
Tanhshrink = _activation("Tanhshrink", F.tanhshrink)
LogSigmoid = _activation("LogSigmoid", F.logsigmoid)
Hardtanh = _activation("Hardtanh", F.hardtanh, ("min_val", "max_val"), min_val=-1.0, max_val=1.0)
Hardsigmoid = _activation("Hardsigmoid", F.hardsigmoid)
Hardswish = _activation("Hardswish", F.hardswish)
GLU = _activation("GLU", F.glu, ("dim",), dim=-1)
Softmax = _activation("Softmax", F.softmax, ("dim",), dim=None)
LogSoftmax = _activation("LogSoftmax", F.log_softmax, ("dim",), dim=None)
Softmin = _activation("Softmin", F.softmin, ("dim",), dim=None)


class PReLU(Module):
    """The number, times a learned slope where it is negative."""

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.weight = Parameter(full((num_parameters,), init, dtype=dtype))

    def forward(self, input: Tensor) -> Tensor:
        """Return the function's values."""
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        """Return what stands in the brackets."""
        return f"num_parameters={self.num_parameters}"
