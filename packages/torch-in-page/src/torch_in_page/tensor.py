"""The tensor: a NumPy array, the kind of its numbers, and its place in the graph.

What can be computed with tensors is in the other modules; each of them puts its methods here.
"""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np

from . import dtypes
from .dtypes import dtype
from .sizes import CPU, Size, device


class Tensor:
    """Numbers with axes, and how they came about.

    ``_a`` is the array, ``_dtype`` the kind, ``_rg`` whether a gradient is asked for, ``_node`` the
    operation that made it; views of one another share the one-element list ``_version``, which
    counts how often their numbers were changed.
    """

    __array_priority__ = 1000
    __module__ = "torch"

    _a: np.ndarray
    _dtype: dtype
    _rg: bool
    _node: Any
    _version: list[int]
    # what most tensors never have
    _sink: Any = None
    _base: Tensor | None = None
    _steps: tuple[Any, ...] = ()
    _epoch = 0
    _hooks: Any = ()
    _after: Any = ()
    _retains = False
    grad: Tensor | None = None
    names = None
    is_sparse = is_quantized = is_cuda = is_mps = is_nested = is_mkldnn = False
    is_meta = False

    def __new__(cls, *data: Any, device: Any = None) -> Any:
        """Return numbers in the default kind, or a tensor of a shape."""
        from .creating import legacy

        return legacy(cls, data)

    # ------------------------------------------------------------ what it is

    @property
    def shape(self) -> Size:
        """The lengths of the axes."""
        return Size(self._a.shape)

    def size(self, dim: int | None = None) -> Any:
        """Return the shape, or the length of one axis."""
        return Size(self._a.shape) if dim is None else self._a.shape[dim]

    @property
    def dtype(self) -> dtype:
        """The kind of its numbers."""
        return self._dtype

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return self._a.ndim

    def dim(self) -> int:
        """Return how many axes it has."""
        return self._a.ndim

    def numel(self) -> int:
        """Return how many numbers it has."""
        return self._a.size

    nelement = numel
    ndimension = dim

    @property
    def device(self) -> device:
        """Where it is: on the processor."""
        return CPU

    @property
    def layout(self) -> Any:
        """How it is kept: with strides."""
        from . import strided

        return strided

    @property
    def itemsize(self) -> int:
        """How many bytes torch needs for one of its numbers."""
        return self._dtype.itemsize

    def element_size(self) -> int:
        """Return how many bytes torch needs for one of its numbers."""
        return self._dtype.itemsize

    @property
    def nbytes(self) -> int:
        """How many bytes torch needs for its numbers."""
        return self._dtype.itemsize * self._a.size

    def stride(self, dim: int | None = None) -> Any:
        """Return how many numbers lie between neighbors along each axis."""
        steps = tuple(step // self._a.itemsize for step in self._a.strides)
        return steps if dim is None else steps[dim]

    def storage_offset(self) -> int:
        """Return how many numbers of its memory lie before its first."""
        root = self._a
        while isinstance(root.base, np.ndarray):
            root = root.base
        here, there = (x.__array_interface__["data"][0] for x in (self._a, root))
        return (here - there) // self._a.itemsize

    def data_ptr(self) -> int:
        """Return where its first number is in memory: the same for views that begin there."""
        return self._a.__array_interface__["data"][0]

    def is_contiguous(self, memory_format: Any = None) -> bool:
        """Say whether its numbers lie one after the other, the last axis fastest."""
        return bool(self._a.flags.c_contiguous)

    def is_floating_point(self) -> bool:
        """Say whether its numbers have a floating point."""
        return self._dtype.kind == 2

    def is_complex(self) -> bool:
        """Say whether its numbers are complex."""
        return self._dtype.kind == 3

    def is_inference(self) -> bool:
        """Say whether it was made in inference mode, which this page treats as ``no_grad``."""
        return False

    def is_signed(self) -> bool:
        """Say whether its numbers can be negative."""
        return self._dtype.is_signed

    @property
    def is_leaf(self) -> bool:
        """Whether it was made by hand, and not computed from what asks for gradients."""
        return not self._rg or self.grad_fn is None

    @property
    def grad_fn(self) -> Any:
        """The operation that made it, where gradients are asked for."""
        if self._base is not None:
            from .engine import node_of

            return node_of(self)
        return self._node

    @property
    def _is_view(self) -> bool:
        return self._base is not None

    # ------------------------------------------------------------ gradients

    @property
    def requires_grad(self) -> bool:
        """Whether gradients are asked for; may be set on what was made by hand."""
        if self._base is not None and self._base._epoch != self._epoch:
            from .engine import node_of

            node_of(self)
        return self._rg

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        self.requires_grad_(wanted)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Ask for gradients, or not."""
        if requires_grad and self._dtype.kind < 2:
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        if not requires_grad and self.grad_fn is not None:
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables. If you want to use a "
                "computed variable in a subgraph that doesn't require differentiation use "
                "var_no_grad = var.detach()."
            )
        self._rg = bool(requires_grad)
        return self

    def detach(self) -> Tensor:
        """Return the same numbers, in the same memory, without a graph."""
        other = made(self._a, self._dtype)
        other._version = self._version
        return other

    def detach_(self) -> Tensor:
        """Forget how this tensor came about."""
        self._node, self._rg, self._base = None, False, None
        return self

    @property
    def data(self) -> Tensor:
        """The same numbers, in the same memory, without a graph."""
        return made(self._a, self._dtype)

    @data.setter
    def data(self, other: Tensor) -> None:
        self._a, self._dtype = other._a, other._dtype
        self._version[0] += 1

    def retain_grad(self) -> None:
        """Keep the gradient of this tensor, though it was computed."""
        if not self.requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        node = self.grad_fn
        if node is not None and not self._retains:
            self._retains = True
            if not any(kept is self for kept in node.retained):
                node.retained.append(self)

    @property
    def retains_grad(self) -> bool:
        """Whether the gradient of this computed tensor is kept."""
        return self._retains

    def register_hook(self, hook: Any) -> Any:
        """Call a function with the gradient that arrives here; what it returns takes its place."""
        from .engine import Handle

        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if isinstance(self._hooks, tuple):
            self._hooks = []
        node = self.grad_fn
        if node is not None and not any(kept is self for kept in node.retained):
            node.retained.append(self)
        return Handle(self._hooks, hook)

    def register_post_accumulate_grad_hook(self, hook: Any) -> Any:
        """Call a function with this leaf after its gradient has grown."""
        from .engine import Handle

        if isinstance(self._after, tuple):
            self._after = []
        return Handle(self._after, hook)

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Add the gradients of this number to ``grad`` of the leaves that it was computed from."""
        from .engine import backward

        backward(self, gradient, retain_graph, create_graph, inputs)

    # ------------------------------------------------------------ to Python and NumPy

    def item(self) -> Any:
        """Return its only number as Python's."""
        if self._a.size != 1:
            raise RuntimeError(
                f"a Tensor with {self._a.size} elements cannot be converted to Scalar"
            )
        return self._a.item()

    def tolist(self) -> Any:
        """Return its numbers in lists."""
        return self._a.tolist()

    def numpy(self, *, force: bool = False) -> np.ndarray:
        """Return the array, which shares the numbers."""
        if self._rg and not force:
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() "
                "instead."
            )
        if self._dtype.rounded:
            raise TypeError(f"Got unsupported ScalarType {dtypes.cased(self._dtype)}")
        return self._a

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = self.numpy()
        if dtype is not None:
            array = array.astype(dtype, copy=False)
        return array.copy() if copy else array

    def __array_wrap__(
        self, array: np.ndarray, context: Any = None, return_scalar: bool = False
    ) -> Any:
        if array.dtype == np.bool_:
            array = array.astype(np.uint8)
        return made(np.asarray(array), dtypes.of_array(np.asarray(array)))

    def __bool__(self) -> bool:
        if self._a.size != 1:
            raise RuntimeError(
                "Boolean value of Tensor with no values is ambiguous"
                if self._a.size == 0
                else "Boolean value of Tensor with more than one value is ambiguous"
            )
        return bool(self._a.item())

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        number = self.item()
        if isinstance(number, complex):
            if number.imag:
                raise RuntimeError("value cannot be converted to type double without overflow")
            number = number.real
        return float(number)

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> int:
        if self._dtype.kind > 1 or self._a.size != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._a.item())

    def __len__(self) -> int:
        if self._a.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return len(self._a)

    def __iter__(self) -> Any:
        if self._a.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __contains__(self, element: Any) -> bool:
        if not isinstance(element, (Tensor, int, float, complex)):
            raise RuntimeError(
                f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
                f"{type(element)}."
            )
        return bool((self == element).any())

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        from .printing import shown

        return shown(self)

    def __format__(self, how: str) -> str:
        if self._a.ndim == 0 and type(self) is Tensor:
            return self.item().__format__(how)
        return object.__format__(self, how)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(
            f"'{type(self).__name__}' object has no attribute '{name}': torch in this page does "
            f"not "
            f"have Tensor.{name}; run this chapter in Jupyter, or write it with what is here"
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if self.grad_fn is not None:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
                "protocol at the moment. If you were attempting to deepcopy a module, this may be "
                "because of a torch.nn.utils.weight_norm usage, see "
                "https://github.com/pytorch/pytorch/pull/103001"
            )
        other = made(self._a.copy(), self._dtype, type(self))
        other._rg = self._rg
        other.__dict__.update(copy.deepcopy(self._own(), memo))
        memo[id(self)] = other
        if self.grad is not None:
            other.grad = copy.deepcopy(self.grad, memo)
        return other

    def _own(self) -> dict[str, Any]:
        """Return what somebody else has written into this tensor."""
        ours = ("grad", "_a", "_dtype", "_rg", "_node", "_version", "_sink", "_base", "_steps")
        ours += ("_epoch", "_hooks", "_after", "_retains")
        return {name: value for name, value in self.__dict__.items() if name not in ours}

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return rebuilt, (type(self), self._a.copy(), self._dtype, self._rg)

    @property
    def is_shared(self) -> bool:
        """Whether other processes see it: never, here."""
        return False

    def cpu(self) -> Tensor:
        """Return the tensor, which is on the processor."""
        return self

    def cuda(self, *_: Any, **__: Any) -> Tensor:
        """Refuse: a page has no such device."""
        from .sizes import here

        here("cuda")
        return self

    def pin_memory(self) -> Tensor:
        """Return the tensor: there is no other device to be quick for."""
        return self

    def untyped_storage(self) -> Any:
        """Return what names its memory."""
        return _Storage(self)


class _Storage:
    """The memory of a tensor, by where it is and how long."""

    def __init__(self, tensor: Tensor) -> None:
        root = tensor._a
        while isinstance(root.base, np.ndarray):
            root = root.base
        self.root, self.count, self.each = root, root.size, tensor._dtype.itemsize

    def data_ptr(self) -> int:
        """Return where it begins."""
        return self.root.__array_interface__["data"][0]

    def nbytes(self) -> int:
        """Return how many bytes torch needs for it."""
        return self.count * self.each

    __len__ = size = nbytes


def made(array: np.ndarray, kind: dtype, cls: type = Tensor) -> Tensor:
    """Return a tensor around an array."""
    tensor = object.__new__(cls)
    tensor._a = array
    tensor._dtype = kind
    tensor._rg = False
    tensor._node = None
    tensor._version = [0]
    return tensor


def rebuilt(cls: type, array: np.ndarray, kind: dtype, wanted: bool) -> Tensor:
    """Return a tensor that was pickled or copied."""
    tensor = made(array, kind, cls)
    tensor._rg = wanted
    return tensor


def of(array: Any) -> Tensor:
    """Return a tensor around an array, of the array's own kind."""
    array = np.asarray(array)
    return made(array, dtypes.of_array(array))


def unknown(what: str) -> Any:
    """Return a ``__getattr__`` for a module, which says that something is not there."""

    def missing(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(
            f"module '{what}' has no attribute '{name}': the torch of this page does not have "
            f"{what}.{name}; run this chapter in Jupyter, or write it with what is here"
        )

    return missing


def warn_once(message: str) -> None:
    """Say what torch warns of."""
    warnings.warn(message, UserWarning, stacklevel=3)
