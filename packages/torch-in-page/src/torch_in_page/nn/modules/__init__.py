"""``torch.nn.modules``: where torch keeps its layers, so that their names and copies agree."""

from __future__ import annotations

import sys
import types

from ...tensor import unknown
from .. import activations, containers, layers, recurrent
from .. import transformer as transformers
from ..module import Module
from . import module

__all__ = ["Module", "module"]
_HOMES = {
    "linear": (layers, "Identity Linear LazyLinear Bilinear"),
    "sparse": (layers, "Embedding"),
    "normalization": (layers, "LayerNorm RMSNorm GroupNorm"),
    "batchnorm": (layers, "BatchNorm1d BatchNorm2d"),
    "conv": (layers, "Conv1d Conv2d"),
    "pooling": (
        layers,
        "MaxPool1d MaxPool2d AvgPool1d AvgPool2d AdaptiveAvgPool1d AdaptiveAvgPool2d",
    ),
    "flatten": (layers, "Flatten Unflatten"),
    "dropout": (layers, "Dropout Dropout1d Dropout2d"),
    "distance": (layers, "CosineSimilarity"),
    "loss": (
        layers,
        " ".join(name for name in dir(layers) if name.endswith("Loss") and name[0] != "_"),
    ),
    "activation": (
        activations,
        " ".join(name for name in dir(activations) if isinstance(getattr(activations, name), type)),
    ),
    "container": (containers, "Sequential ModuleList ModuleDict ParameterList ParameterDict"),
    "rnn": (recurrent, "RNNBase RNN LSTM GRU RNNCell LSTMCell GRUCell"),
    "transformer": (
        transformers,
        "Transformer TransformerEncoder TransformerDecoder TransformerEncoderLayer "
        "TransformerDecoderLayer",
    ),
}


def _settle() -> None:
    """Give each class the name of torch's module, and that module the class."""
    for name, (source, classes) in _HOMES.items():
        home = types.ModuleType(f"{__name__}.{name}", f"``torch.nn.modules.{name}``.")
        for one in classes.split():
            cls = getattr(source, one)
            if cls is Module or not issubclass(cls, Module) or one.startswith("_"):
                continue
            cls.__module__ = f"torch.nn.modules.{name}"
            setattr(home, one, cls)
        sys.modules[home.__name__] = home
        globals()[name] = home
    attention = transformers.MultiheadAttention
    for cls in (attention, transformers.NonDynamicallyQuantizableLinear):
        home = globals()["activation" if cls is attention else "linear"]
        cls.__module__ = f"torch.nn.modules.{home.__name__.rpartition('.')[2]}"
        setattr(home, cls.__name__, cls)


_settle()
__getattr__ = unknown("torch.nn.modules")
