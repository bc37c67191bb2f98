"""Random tensors, drawn as torch draws them on the processor: one seed, the same numbers."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from . import dtypes
from .creating import finish
from .dtypes import bfloat16, cased, cast, dtype, float16, float32, float64, int64
from .engine import write
from .generator import (
    Generator,
    default_generator,
    fused,
    fused_double,
    normal_blocks,
    normal_pairs,
    uniform_words,
)
from .naming import both, only_function, only_method
from .sizes import here, shape_of
from .tensor import Tensor, made

_DIGITS = {float32: 24, float64: 53, float16: 11, bfloat16: 8}
_DRAWN = {float32: 24, float64: 53, float16: 24, bfloat16: 24}


def _source(generator: Any) -> Generator:
    if generator is None:
        return default_generator
    if not isinstance(generator, Generator):
        raise TypeError(
            f"argument 'generator' must be torch.Generator, not {type(generator).__name__}"
        )
    return generator


def _count(shape: tuple[int, ...]) -> int:
    return math.prod(shape)


def _floating(kind: dtype, name: str) -> None:
    if kind not in _DIGITS:
        raise NotImplementedError(f"\"{name}\" not implemented for '{cased(kind)}'")


def uniform(
    shape: tuple[int, ...], kind: dtype, generator: Any, low: float = 0.0, high: float = 1.0
) -> np.ndarray:
    """Return numbers between two, each as probable as the other."""
    _floating(kind, "check_uniform_bounds")
    if kind is not float64 and abs(high - low) > dtypes.finfo(kind).max:
        raise RuntimeError(f"uniform_ expects to-from <= std::numeric_limits<{kind}>::max()")
    if low > high:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={low} > to={high}"
        )
    u = uniform_words(_source(generator), _count(shape), _DRAWN[kind])
    if (low, high) != (0.0, 1.0):
        width = u.dtype.type(high) - u.dtype.type(low)
        u = (
            fused(u, width, u.dtype.type(low))
            if u.dtype == np.float32
            else fused_double(u, width, low)
        )
    if kind.rounded or u.dtype != kind.array:
        u = cast(u, kind)
    if low < high:  # what rounding takes to the upper end goes to the lower
        u = np.where(u >= u.dtype.type(high), u.dtype.type(low), u)
    return u.reshape(shape)


def normal_numbers(
    shape: tuple[int, ...], kind: dtype, generator: Any, mean: float = 0.0, std: float = 1.0
) -> np.ndarray:
    """Return normal numbers: of 16 and more in blocks, else one pair after the other."""
    _floating(kind, "normal_kernel_cpu")
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    source, count = _source(generator), _count(shape)
    if count < 16:
        out = normal_pairs(source, count) * std + mean
        return cast(out, kind).reshape(shape)
    digits = _DRAWN[kind]
    out = uniform_words(source, count, digits)
    whole = count // 16 * 16
    blocks = normal_blocks(out[:whole], mean, std)
    if count != whole:  # the last 16 are drawn anew
        again = normal_blocks(uniform_words(source, 16, digits), mean, std)
        blocks = np.concatenate([blocks[: count - 16], again])
    return cast(blocks, kind).reshape(shape)


# ---------------------------------------------------------------- in a shape


def _new(size: Any, named: dict[str, Any]) -> tuple[int, ...]:
    if "size" in named:
        size = (named.pop("size"),)
    if named:
        raise TypeError(f"torch in this page does not know the keyword {next(iter(named))!r} here")
    return shape_of(size)


@only_function
def rand(
    *size: Any,
    generator: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    **named: Any,
) -> Tensor:
    """Return numbers between 0 and 1."""
    here(device)
    kind = dtype or dtypes.get_default_dtype()
    return finish(uniform(_new(size, named), kind, generator), kind, requires_grad)


@only_function
def randn(
    *size: Any,
    generator: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    **named: Any,
) -> Tensor:
    """Return normal numbers with mean 0 and standard deviation 1."""
    here(device)
    kind = dtype or dtypes.get_default_dtype()
    shape = _new(size, named)
    if kind.kind == 3:
        parts = normal_numbers((*shape, 2), kind.to_real(), generator, 0.0, math.sqrt(0.5))
        return finish(parts.view(kind.array)[..., 0], kind, requires_grad)
    return finish(normal_numbers(shape, kind, generator), kind, requires_grad)


@only_function
def rand_like(
    input: Tensor,
    *,
    generator: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Return numbers between 0 and 1 in the shape and kind of another tensor."""
    return rand(input._a.shape, generator=generator, dtype=dtype or input._dtype, device=device,
                requires_grad=requires_grad)  # fmt: skip


@only_function
def randn_like(
    input: Tensor,
    *,
    generator: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Return normal numbers in the shape and kind of another tensor."""
    return randn(input._a.shape, generator=generator, dtype=dtype or input._dtype, device=device,
                 requires_grad=requires_grad)  # fmt: skip


@only_function
def normal(
    mean: Any,
    std: Any = 1.0,
    size: Any = None,
    *,
    generator: Any = None,
    dtype: dtype | None = None,
    device: Any = None,
) -> Tensor:
    """Return normal numbers with given means and standard deviations."""
    here(device)
    if size is not None:
        kind = dtype or dtypes.get_default_dtype()
        return made(
            normal_numbers(shape_of((size,)), kind, generator, float(mean), float(std)), kind
        )
    tensors = [x for x in (mean, std) if isinstance(x, Tensor)]
    if not tensors:
        raise TypeError("normal() needs size= when mean and std are numbers")
    kind = tensors[0]._dtype
    shape = np.broadcast_shapes(*[x._a.shape for x in tensors])
    out = made(normal_numbers(shape, kind, generator), kind)
    return (out * std + mean).detach()


def whole_numbers(generator: Generator, count: int, low: int, high: int) -> np.ndarray:
    """Return whole numbers from one to below another."""
    span = high - low
    if span >= 2**28:
        words = generator.double_words(count) % np.uint64(span)
    else:
        words = generator.words(count).astype(np.uint64) % np.uint64(span)
    return words.astype(np.int64) + np.int64(low)


@only_function
def randint(
    *args: Any,
    generator: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    **named: Any,
) -> Tensor:
    """Return whole numbers from ``low`` (0) to below ``high`` in a shape."""
    here(device)
    given = list(args)
    size = named.pop("size", None)
    size = given.pop() if size is None else size
    low = given.pop(0) if len(given) == 2 else named.pop("low", 0)
    high = given.pop(0) if given else named.pop("high")
    if named:
        raise TypeError(f"torch in this page does not know the keyword {next(iter(named))!r} here")
    low, high = int(low), int(high)
    if low >= high:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    shape = shape_of((size,))
    kind = dtype or int64
    out = whole_numbers(_source(generator), _count(shape), low, high).reshape(shape)
    return finish(cast(out, kind), kind, requires_grad)


@only_function
def randint_like(input: Tensor, *args: Any, **named: Any) -> Tensor:
    """Return whole numbers in the shape and kind of another tensor."""
    return randint(*args, input._a.shape, **({"dtype": input._dtype} | named))


@only_function
def randperm(
    n: int,
    *,
    generator: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Return the whole numbers below ``n`` in random order."""
    here(device)
    n = int(n)
    kind = dtype or int64
    words = _source(generator).words(max(n - 1, 0)).tolist()
    order = list(range(n))
    for i, word in enumerate(words):
        j = i + word % (n - i)
        order[i], order[j] = order[j], order[i]
    return finish(np.array(order, dtype=np.int64).astype(kind.array), kind, requires_grad)


@both
def bernoulli(input: Tensor, p: Any = None, *, generator: Any = None) -> Tensor:
    """Return 1 with the probability that a tensor says, else 0."""
    if p is not None:
        out = made(np.empty(input._a.shape, input._a.dtype), input._dtype)
        return out.bernoulli_(p, generator=generator)
    if input._a.size and not (input._a.min() >= 0 and input._a.max() <= 1):
        raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.")
    kind = float64 if input._dtype is float64 else float32
    drawn = uniform(input._a.shape, kind, generator)
    return made((drawn < input._a).astype(input._a.dtype), input._dtype)


@both
def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Any = None
) -> Tensor:
    """Return places drawn with the weights of a vector, or of each row of a matrix."""
    x = input._a
    if x.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if input._dtype.kind != 2:
        raise RuntimeError(
            f"multinomial only supports floating-point dtypes for input, got: {cased(input._dtype)}"
        )
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > x.shape[-1]:
        raise RuntimeError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
        )
    if not (np.isfinite(x).all() and (x >= 0).all()):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    rows = np.atleast_2d(x)
    if (rows.sum(-1) == 0).any():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    source = _source(generator)
    if not replacement or num_samples == 1:
        clock = cast(exponential(rows.shape, source, 1.0), input._dtype)
        with np.errstate(all="ignore"):
            rate = cast(rows / clock, input._dtype)
        if num_samples == 1:
            place = rate.argmax(-1)[:, None]
        else:
            place = np.argsort(-rate, axis=-1, kind="stable")[:, :num_samples]
    else:
        # as torch adds up: in the kind of the weights, one after the other
        total = np.cumsum(rows, axis=-1, dtype=rows.dtype)
        total = total / total[:, -1:]
        total[:, -1] = 1
        drawn = uniform((len(rows), num_samples), float64, source)
        place = np.stack([np.searchsorted(c, u, "left") for c, u in zip(total, drawn, strict=True)])
    return made(place.astype(np.int64).reshape((*x.shape[:-1], num_samples)), int64)


def exponential(shape: tuple[int, ...], generator: Generator, rate: float) -> np.ndarray:
    """Return waiting times in 64 bits."""
    u = uniform(shape, float64, generator)
    # torch keeps clear of 0, which has no logarithm
    close = u >= 1 - np.finfo(np.float64).eps / 2
    return np.where(close, np.finfo(np.float64).eps / 2, -np.log1p(-u)) / rate


@only_function
def poisson(input: Tensor, generator: Any = None) -> Tensor:
    """Refuse: torch's method for Poisson's numbers is not here."""
    raise NotImplementedError(
        "torch in this page does not draw Poisson's numbers as torch does; run this chapter in "
        "Jupyter, or "
        "use NumPy's generator"
    )


# ---------------------------------------------------------------- into a tensor


def _fresh(self: Tensor, array: np.ndarray) -> Tensor:
    if self._rg and _grad_on() and self.is_leaf:
        raise RuntimeError(
            "a leaf Variable that requires grad is being used in an in-place operation."
        )
    order = sorted(range(array.ndim), key=lambda d: -abs(self._a.strides[d]))
    if order != list(range(array.ndim)):  # torch fills memory from its first number to its last
        array = array.reshape([self._a.shape[d] for d in order]).transpose(np.argsort(order))
    return write(self, array)


def _grad_on() -> bool:
    from .engine import is_grad_enabled

    return is_grad_enabled()


@only_method
def uniform_(
    self: Tensor, from_: float = 0.0, to: float = 1.0, *, generator: Any = None, **named: Any
) -> Tensor:
    """Fill with numbers between two."""
    from_ = named.pop("from", from_)
    return _fresh(self, uniform(self._a.shape, self._dtype, generator, float(from_), float(to)))


@only_method
def normal_(self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Tensor:
    """Fill with normal numbers."""
    shape, count = self._a.shape, self._a.size
    if count >= 16 and not self._a.flags.c_contiguous:
        _floating(self._dtype, "normal_kernel_cpu")
        pairs = normal_pairs(_source(generator), count) * std + mean
        return _fresh(self, cast(pairs, self._dtype).reshape(shape))
    return _fresh(self, normal_numbers(shape, self._dtype, generator, float(mean), float(std)))


@only_method
def random_(self: Tensor, *bounds: Any, generator: Any = None) -> Tensor:
    """Fill with whole numbers: below one, between two, or all that the kind holds."""
    source, kind = _source(generator), self._dtype
    if bounds:
        low, high = (0, bounds[0]) if len(bounds) == 1 else bounds
        out = whole_numbers(source, self._a.size, int(low), int(high))
    elif kind.kind == 2:
        out = whole_numbers(source, self._a.size, 0, 2 ** _DIGITS[kind] + 1)
    elif kind is int64:
        out = (source.double_words(self._a.size) % np.uint64(2**63)).astype(np.int64)
    else:
        out = whole_numbers(
            source, self._a.size, 0, 2 if kind.kind == 0 else dtypes.iinfo(kind).max + 1
        )
    return _fresh(self, cast(out, kind).reshape(self._a.shape))


@only_method
def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Any = None) -> Tensor:
    """Fill with 1 with a probability, else with 0."""
    if isinstance(p, Tensor):
        drawn = uniform(self._a.shape, float64 if p._dtype is float64 else float32, generator)
        return _fresh(self, drawn < np.broadcast_to(p._a, self._a.shape))
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p}")
    return _fresh(self, uniform(self._a.shape, float64, generator) < p)


@only_method
def exponential_(self: Tensor, lambd: float = 1.0, *, generator: Any = None) -> Tensor:
    """Fill with waiting times."""
    if lambd <= 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")
    return _fresh(self, cast(exponential(self._a.shape, _source(generator), lambd), self._dtype))


# ---------------------------------------------------------------- the global generator


@only_function
def manual_seed(seed: int) -> Generator:
    """Begin the global sequence of a seed."""
    return default_generator.manual_seed(seed)


@only_function
def seed() -> int:
    """Begin the global sequence with a seed that nobody chose."""
    return default_generator.seed()


@only_function
def initial_seed() -> int:
    """Return the seed of the global sequence."""
    return default_generator.initial_seed()


@only_function
def get_rng_state() -> Tensor:
    """Return the state of the global generator."""
    return default_generator.get_state()


@only_function
def set_rng_state(new_state: Tensor) -> None:
    """Set the state of the global generator."""
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(devices: Any = None, enabled: bool = True, **named: Any) -> Iterator[None]:
    """Leave the global generator, after the lines under ``with``, as it was before them."""
    state = default_generator.get_state()
    try:
        yield
    finally:
        if enabled:
            default_generator.set_state(state)
