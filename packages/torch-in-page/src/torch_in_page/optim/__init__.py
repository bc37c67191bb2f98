"""``torch.optim``: how parameters follow their gradients."""

from ..tensor import unknown
from . import lr_scheduler, optimizer
from .first_order import SGD, Adagrad, Adam, AdamW, RMSprop
from .lbfgs import LBFGS
from .optimizer import Optimizer

__all__ = [
    "LBFGS",
    "SGD",
    "Adagrad",
    "Adam",
    "AdamW",
    "Optimizer",
    "RMSprop",
    "lr_scheduler",
    "optimizer",
]
__getattr__ = unknown("torch.optim")
