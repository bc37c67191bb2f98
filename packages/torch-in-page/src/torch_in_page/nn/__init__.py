"""``torch.nn``: modules, the layers that they are made of, and the functions behind them."""

from __future__ import annotations

from ..tensor import unknown
from . import attention, functional, init, modules, parallel, parameter, utils
from .activations import (
    CELU,
    ELU,
    GELU,
    GLU,
    SELU,
    Hardsigmoid,
    Hardswish,
    Hardtanh,
    LeakyReLU,
    LogSigmoid,
    LogSoftmax,
    Mish,
    PReLU,
    ReLU,
    ReLU6,
    Sigmoid,
    SiLU,
    Softmax,
    Softmin,
    Softplus,
    Softshrink,
    Softsign,
    Tanh,
    Tanhshrink,
)
from .containers import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from .layers import (
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AvgPool1d,
    AvgPool2d,
    BatchNorm1d,
    BatchNorm2d,
    BCELoss,
    BCEWithLogitsLoss,
    Bilinear,
    Conv1d,
    Conv2d,
    CosineEmbeddingLoss,
    CosineSimilarity,
    CrossEntropyLoss,
    Dropout,
    Dropout1d,
    Dropout2d,
    Embedding,
    Flatten,
    GaussianNLLLoss,
    GroupNorm,
    HingeEmbeddingLoss,
    HuberLoss,
    Identity,
    KLDivLoss,
    L1Loss,
    LayerNorm,
    LazyLinear,
    Linear,
    MarginRankingLoss,
    MaxPool1d,
    MaxPool2d,
    MSELoss,
    NLLLoss,
    PoissonNLLLoss,
    RMSNorm,
    SmoothL1Loss,
    SoftMarginLoss,
    TripletMarginLoss,
    Unflatten,
)
from .module import Module
from .parameter import Buffer, Parameter
from .recurrent import GRU, LSTM, RNN, GRUCell, LSTMCell, RNNBase, RNNCell
from .transformer import (
    MultiheadAttention,
    Transformer,
    TransformerDecoder,
    TransformerDecoderLayer,
    TransformerEncoder,
    TransformerEncoderLayer,
)

__all__ = [
    name for name in dir() if not name.startswith("_") and name not in ("annotations", "unknown")
]
__getattr__ = unknown("torch.nn")
