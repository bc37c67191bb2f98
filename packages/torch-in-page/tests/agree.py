"""Hold the substitute against torch: the same inputs, results, kinds, texts and gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

import torch_in_page as ours

TOLERANCE = {"float64": 1e-8, "complex128": 1e-8, "float32": 2e-4, "complex64": 2e-4}


def arrays(words: str, lengths: dict[str, int], seed: int, kind: str) -> list[np.ndarray]:
    """Draw the inputs that the words of an entry ask for."""
    rng = np.random.default_rng(seed)
    out = []
    for word in words.split():
        letter, axes = word.split(":")
        shape = tuple(int(c) if c.isdigit() else lengths[c] for c in axes)
        count = int(np.prod(shape))
        if letter == "f":
            x = rng.normal(size=shape)
        elif letter == "p":
            x = rng.uniform(0.2, 3.0, size=shape)
        elif letter == "q":
            x = rng.uniform(1.2, 3.0, size=shape)
        elif letter == "u":
            x = rng.uniform(0.05, 0.95, size=shape)
        elif letter == "d":
            x = rng.permutation(count).reshape(shape) / 7.0 - count / 14.0 + 0.013 * len(out)
        elif letter == "s":
            x = rng.normal(size=shape) * 0.3 + 2 * np.eye(shape[-1])
        elif letter == "h":
            root = rng.normal(size=shape)
            x = root @ root.T + np.diag(np.arange(1.0, shape[-1] + 1))
        elif letter == "i":
            out.append(rng.integers(-3, 4, size=shape))
            continue
        elif letter == "n":
            out.append(rng.integers(0, 5, size=shape))
            continue
        elif letter == "t":
            out.append(rng.integers(0, 2, size=shape).astype(bool))
            continue
        else:
            x = rng.normal(size=shape) + 1j * rng.normal(size=shape)
            out.append(x.astype("complex128" if kind == "float64" else "complex64"))
            continue
        out.append(x.astype(kind))
    return out


def tensors(T: Any, given: Sequence[np.ndarray], gradients: bool) -> list[Any]:
    """Return the inputs as tensors, those with a floating point asking for gradients."""
    out = []
    for array in given:
        x = T.from_numpy(array.copy())
        out.append(x.requires_grad_() if gradients and array.dtype.kind in "fc" else x)
    return out


def flat(result: Any) -> list[Any]:
    """Return the parts of a result in order."""
    if isinstance(result, (tuple, list)):
        return [part for one in result for part in flat(one)]
    return [result]


def same(mine: Any, theirs: Any, what: str, tolerance: float | None = None) -> None:
    """Raise where two results differ in kind, shape, numbers or text."""
    if not isinstance(theirs, torch.Tensor):
        assert mine == theirs, f"{what}: {mine!r} is not {theirs!r}"
        return
    assert isinstance(mine, ours.Tensor), f"{what}: {type(mine)} is no tensor"
    assert repr(mine.dtype) == repr(theirs.dtype), f"{what}: {mine.dtype} is not {theirs.dtype}"
    assert tuple(mine.shape) == tuple(theirs.shape), f"{what}: {mine.shape} is not {theirs.shape}"
    a = mine.detach()._a
    b = (
        theirs.detach()
        .resolve_conj()
        .to(
            torch.float32
            if theirs.dtype in (torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2)
            else theirs.dtype
        )
        .numpy()
    )
    limit = TOLERANCE.get(mine.dtype.name, 0.0) if tolerance is None else tolerance
    np.testing.assert_allclose(a, b, rtol=limit, atol=limit, err_msg=what)
    if np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"):
        assert repr(mine.detach()) == repr(theirs.detach().resolve_conj()), what


def differentiable(parts: list[Any]) -> list[int]:
    """Return the places of parts that have gradients."""
    return [i for i, x in enumerate(parts) if isinstance(x, torch.Tensor) and x.requires_grad]


def weights(parts: list[Any], places: list[int], seed: int) -> list[np.ndarray]:
    """Draw a weight for each number of some results."""
    rng = np.random.default_rng(seed + 1)
    out = []
    for i in places:
        x = rng.normal(size=tuple(parts[i].shape))
        if parts[i].is_complex():
            x = x + 1j * rng.normal(size=x.shape)
        out.append(x.astype(str(parts[i].dtype)[6:]))
    return out


def slopes(
    T: Any,
    parts: list[Any],
    places: list[int],
    drawn: list[np.ndarray],
    inputs: list[Any],
    create: bool,
) -> list[Any]:
    """Return the gradients of a weighted sum of results."""
    asked = [x for x in inputs if x.requires_grad]
    return list(
        T.autograd.grad(
            [parts[i] for i in places],
            asked,
            [T.from_numpy(w.copy()) for w in drawn],
            create_graph=create,
            allow_unused=True,
        )
    )
