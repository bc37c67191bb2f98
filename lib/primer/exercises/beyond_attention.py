"""Checks for the exercises of the chapter *Beyond attention*: each names the mistake it sees."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from functools import partial
from numbers import Number
from types import ModuleType
from typing import Any

import numpy as np

from primer.beyond_attention import linear_attention
from primer.notebook import ChoiceExercise, Mistake, NumberExercise, exercise, varied
from primer.notebook.answers import Answer, as_array, explain


@varied(heads=(2, 4, 6, 8, 12, 16), width=(16, 24, 32, 48, 64, 96, 128))
def check_state(heads: int = 8, width: int = 64) -> NumberExercise:
    """Ask for the numbers in the state of linear attention with the quadratic map."""
    d = width
    features = (d + 1) * (d + 2) // 2
    right = heads * features * (d + 1)
    return NumberExercise(
        "10.1",
        question=f"A layer of linear attention has {heads} heads of width {d}, keys and values "
        "alike, and uses the quadratic feature map with its normalizer. How many numbers does its "
        "state hold?",
        right=right,
        within=0.5,
        low=0,
        high=1e9,
        expects="a whole number",
        wrong={
            features * (d + 1): f"that is one head; each of the {heads} keeps a state of its own",
            heads * features * d: f"that is S alone; the normalizer z has {features:,} numbers in "
            "each head, too",
            heads * d * (d + 1): "that would be so if the map kept the dimension; it makes "
            f"{features:,} numbers of {d}",
            heads * d**2 * (d + 1): f"that takes {d}² features; products of two different entries "
            "come once, not twice",
            heads * (1 + d + d**2) * (d + 1): f"that takes 1 + {d} + {d}² = {1 + d + d**2:,} "
            "features; products of two different entries come once, not twice",
        },
        otherwise=f"a head keeps S, features times {d}, and z, one number for each feature; "
        f"{d} numbers have {d + 1}·{d + 2}/2 = {features:,} features",
        because=f"{heads} · {features:,} · ({d} + 1) = {right:,}.",
    )


@varied(percent=range(10, 80, 2))
def check_filter(percent: int = 50) -> NumberExercise:
    """Ask which share of the held value no filter explains, by how often the lamp is on."""
    p = percent / 100
    left = (1 - p) / (2 - p)
    return NumberExercise(
        "10.3",
        question=f"At each step a lamp is on with probability {p:g}, and the number x shown then "
        "is held until the lamp goes on again. Which share of the variance of the held value does "
        "the best linear filter of g·x leave, with g = 1 where the lamp is on and 0 elsewhere? To "
        "two decimals.",
        right=left,
        within=0.005,
        low=0,
        high=1,
        expects="a share, to two decimals",
        wrong={
            1 - left: "that is the share that the filter explains; the question is what is left",
            1 - p: "the value marked just now is only one of those the filter uses; "
            f"older ones add {p * (1 - p) ** 2:.3f}, {p * (1 - p) ** 4:.3f}, …",
            0: "that sums p(1 − p)^s, which is 1; the share explained has the square, "
            "p(1 − p)^(2s)",
        },
        otherwise="the filter (1 − p)^s on g·x explains the sum of p(1 − p)^(2s) over all s ≥ 0",
        because=f"The sum is 1/(2 − p) = {1 - left:.3f}, and {left:.3f} is left.",
    )


check_diagnose = ChoiceExercise(
    "10.5",
    choices={
        "a": "A adds and B is the delta rule.",
        "b": "A is the delta rule and B adds.",
        "c": "Both add; B has simply seen other keys.",
        "d": "A is softmax attention and B is ridge regression.",
    },
    right="a",
    replies={
        "a": "Addition treats all pairs alike; the delta rule, here with a rate well below 1, "
        "favors the newest and pays with the oldest. Their means over all ages say nothing of "
        "that.",
        "b": "A does not care how old a pair is; the delta rule does: with rate 1 its newest pair "
        "is exact",
        "c": "other random keys move all ages alike; from 0.55 to 0.98 is a trend in age",
        "d": "softmax attention with sharp scores and few pairs recalls everything, 1.00 at "
        "each age",
    },
)


@exercise("10.2")
def check_linear(answer: Answer) -> None:
    """Check ``answer(q, k, v)``: causal linear attention with a normalizer."""
    for seed, (n, d, d_v) in enumerate([(6, 3, 2), (9, 4, 5), (2, 2, 1)]):
        random = np.random.default_rng(seed)
        q, k = random.uniform(0.1, 1, size=(2, n, d))
        v = random.normal(size=(n, d_v))
        got = as_array(answer(q.copy(), k.copy(), v.copy()), (n, d_v), allow_nan=True)
        if np.isnan(got[0]).all():
            raise Mistake("pair t itself is missing: write before you read")
        scores = q @ k.T
        past, before = np.tril(scores), np.tril(scores, -1)
        all_weights = scores.sum(1, keepdims=True)
        weights_before = np.maximum(before.sum(1, keepdims=True), 1e-300)
        counts = np.arange(1, n + 1)[:, None]
        soft, exchanged = np.tril(np.exp(scores)), np.tril(k @ q.T)
        scaled = np.tril(np.exp(scores / np.sqrt(d)))
        ahead = np.triu(scores)
        columns = past.sum(axis=0)
        no_softmax = "no softmax here: q and k are features, and a weight is their product q k"
        explain(
            as_array(got, (n, d_v)),
            linear_attention(q, k, v),
            {
                "the future is included: S must hold pairs up to t only": scores @ v / all_weights,
                "z must hold keys up to t only, as S does": past @ v / all_weights,
                "the normalizer is missing: divide by q z": past @ v,
                "divide by q z, not by how many pairs there are": past @ v / counts,
                "pair t itself is missing: write before you read": before @ v / weights_before,
                no_softmax: soft @ v / soft.sum(1, keepdims=True),
                no_softmax + ", without 1/√d": scaled @ v / scaled.sum(1, keepdims=True),
                "your query t sees pair t and those after it: np.tril keeps what came before": (
                    ahead @ v / ahead.sum(1, keepdims=True)
                ),
                "the weights of one query, a row, have to add up to 1: you divide by the sums of "
                "columns": past / columns @ v,
                "a query's weights, one row, add up to 1: you divide by the sums of columns": (
                    past @ v / columns[:, None]
                ),
                "queries and keys are exchanged: row t of the weights belongs to query t": (
                    exchanged @ v / exchanged.sum(1, keepdims=True)
                ),
            },
        )


@exercise("10.4")
def check_convolve(answer: Answer) -> None:
    """Check ``answer(x, taps)``: linear convolution by the transform."""
    for seed, n in enumerate((4, 9, 64)):
        x, taps = np.random.default_rng(seed).normal(size=(2, n))
        wrapped = np.fft.ifft(np.fft.fft(x) * np.fft.fft(taps)).real
        full = np.convolve(x, taps)
        value = answer(x.copy(), taps.copy())
        if isinstance(value, Collection) and len(value) >= len(full):
            longer = as_array(value, (len(value),))
            if np.allclose(longer[: len(full)], full):
                raise Mistake(
                    f"keep the first {n} outputs: the rest answers inputs that never came"
                )
        explain(
            as_array(value, (n,)),
            full[:n],
            {
                "the end still wraps onto the start: pad both with zeros": wrapped,
                "the mode 'same' keeps the middle, which has seen samples that come later; keep "
                "the first outputs": np.convolve(x, taps, "same"),
                "irfft was not told how many outputs there are and takes an even number; give it "
                "the padded length": np.fft.irfft(
                    np.fft.rfft(x, 2 * n - 1) * np.fft.rfft(taps, 2 * n - 1)
                )[:n],
            },
        )


FEW = 8  # writes after which the size of a memory is fixed
HELD = 40  # more pairs than the 32 that fit whole into 2d² numbers


@exercise("10.6")
def check_memory(answer: Answer) -> None:
    """Check ``answer(d)``: a memory of fixed size that edits, and that holds 40 pairs."""
    edited: list[float] = []
    held: list[float] = []
    for seed in range(20):
        random = np.random.default_rng(seed)
        edited.append(_recalled(answer, random, pairs=16, rounds=4))
        held.append(_recalled(answer, random, pairs=HELD, rounds=1))
    if np.mean(edited) < 0.93:
        raise Mistake(
            f"after rewriting, the newest value is recalled for {np.mean(edited):.2f} of the keys; "
            "0.93 is asked for"
        )
    if np.mean(held) < 0.95:
        raise Mistake(
            f"of {HELD} pairs written once {np.mean(held):.2f} are recalled; 0.95 is asked for "
            "(of whole pairs only 32 fit, and who fades fast forgets the oldest)"
        )


def _recalled(answer: Answer, random: np.random.Generator, pairs: int, rounds: int) -> float:
    """Write every key several times, and return for which share the newest value is recalled."""
    d = 32
    keys, codes = random.normal(size=(pairs, d)), random.normal(size=(64, d))
    keys /= np.linalg.norm(keys, axis=1, keepdims=True)
    codes /= np.linalg.norm(codes, axis=1, keepdims=True)
    memory = answer(d)
    if not all(callable(getattr(memory, name, None)) for name in ("write", "read")):
        raise Mistake("memory(d) should return an object with write and read")
    newest, early = np.zeros(pairs, dtype=int), 0
    for written, place in enumerate(np.r_[*(random.permutation(pairs) for _ in range(rounds))]):
        newest[place] = random.integers(64)
        memory.write(keys[place], codes[newest[place]])
        early = _size(memory, set()) if written == FEW - 1 else early
    size = _size(memory, set())
    if size > 2 * d * d + 8:
        raise Mistake(
            f"the memory holds {size} numbers after {rounds * pairs} writes; "
            f"{2 * d * d} are allowed, and a few settings"
        )
    if size > early + 8:
        raise Mistake(
            f"the memory grows: {early} numbers after {FEW} writes, {size} after {rounds * pairs}; "
            "a list of pairs, and it will not end: let it keep as many numbers from the start"
        )
    kept = np.concatenate([np.zeros(0), *_numbers(memory, set())])
    verbatim = np.isin(_rounded(kept), _rounded(np.concatenate([keys, codes]))).sum()
    if verbatim > 4 * d:  # the pair that came last may be at hand
        raise Mistake(
            f"{verbatim} of the numbers that it holds are those of keys and values, as they came: "
            "a list of pairs, or of their parts; write each pair into numbers that all pairs share"
        )
    said = np.array([as_array(memory.read(key), (d,), "what read returns") for key in keys])
    return float(((said @ codes.T).argmax(axis=1) == newest).mean())


def _rounded(numbers: np.ndarray) -> np.ndarray:
    """Keep the digits that single precision has, so that a copy of a number is known as one."""
    with np.errstate(over="ignore"):
        rounded: np.ndarray = numbers.astype(np.float32).round(6)
    return rounded[rounded != 0]


def _size(part: Any, seen: set[int]) -> int:
    """Count the numbers in an object, in what it contains and in its attributes, each once."""
    return sum(numbers.size for numbers in _numbers(part, seen))


def _numbers(part: Any, seen: set[int]) -> Iterator[np.ndarray]:
    """Yield the numbers in an object, in what it contains and in its attributes, each once."""
    if isinstance(part, bool | type | ModuleType) or id(part) in seen:
        return
    if isinstance(part, str | bytes | bytearray):
        yield _of_bytes(part.encode() if isinstance(part, str) else bytes(part))
        return
    if isinstance(part, int):
        long = part.bit_length() // 64
        yield np.array([0.0] * long + [0.0 if long else part])
        return
    if isinstance(part, Number):
        yield np.array([float(getattr(part, "real", 0))])
        return
    seen.add(id(part))
    if hasattr(part, "numel"):  # a torch tensor, named by its method to spare the import
        yield part.detach().cpu().double().numpy().ravel()
    elif not isinstance(part, np.ndarray) or part.dtype == object:
        for inner in part.ravel() if isinstance(part, np.ndarray) else _inside(part):
            yield from _numbers(inner, seen)
    else:
        yield part.ravel() if part.dtype.kind in "biuf" else _of_bytes(part.tobytes())


def _of_bytes(data: bytes) -> np.ndarray:
    """Read bytes as numbers of eight bytes each."""
    return np.frombuffer(data[: len(data) // 8 * 8])


def _inside(part: Any) -> Iterator[Any]:
    """Yield what an object contains, and its attributes."""
    if isinstance(part, Collection):
        yield from part
    if isinstance(part, Mapping):
        yield from part.values()
    yield from getattr(part, "__dict__", {}).values()
    if isinstance(part, partial):
        yield from (part.func, part.args, part.keywords)
    elif not _of_a_library(part):
        yield from _behind(part)
    for kind in type(part).__mro__:
        names = vars(kind).get("__slots__", ())
        for name in [names] if isinstance(names, str) else names:
            yield getattr(part, name, None)
        if not _of_a_library(kind):  # what all objects of a class share, and its functions
            yield from (value for name, value in vars(kind).items() if not name.startswith("__"))


def _of_a_library(part: Any) -> bool:
    """Say whether a function or class was not written by the reader."""
    root = str(getattr(part, "__module__", "")).partition(".")[0]
    return root in {"primer", "numpy", "torch", "scipy", "sklearn", *sys.stdlib_module_names}


def _behind(part: Any) -> Iterator[Any]:
    """Yield what a function remembers: names from around it, defaults, and whose method it is."""
    for cell in getattr(part, "__closure__", None) or ():
        with suppress(ValueError):  # a name that has no value yet
            yield cell.cell_contents
    for name in ("__defaults__", "__kwdefaults__", "__self__", "__func__"):
        yield getattr(part, name, None)
