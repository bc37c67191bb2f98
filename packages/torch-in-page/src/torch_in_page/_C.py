"""``torch._C``: the generator under its inner name, and the error of linear algebra."""

from .generator import Generator
from .matrices import LinAlgError as _LinAlgError
from .tensor import unknown

__all__ = ["Generator", "_LinAlgError"]
__getattr__ = unknown("torch._C")
