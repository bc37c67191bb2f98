"""Answers to the exercises on memories beside attention."""

import functools
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import torch

from primer.beyond_attention import AdditiveMemory, DeltaMemory, RidgeMemory, SoftmaxMemory
from primer.exercises import beyond_attention as checks


def attend(q, k, v, write_first=True, normalize="sum"):
    S, z, out = np.zeros((k.shape[1], v.shape[1])), np.zeros(k.shape[1]), []
    for t in range(len(q)):
        if write_first:
            S, z = S + np.outer(k[t], v[t]), z + k[t]
        by = {"sum": max(q[t] @ z, 1e-300), "none": 1, "count": t + 1}[normalize]
        out.append(q[t] @ S / by)
        if not write_first:
            S, z = S + np.outer(k[t], v[t]), z + k[t]
    return np.array(out)


def read_then_write(q, k, v):
    with np.errstate(invalid="ignore"):  # NumPy only warns of 0/0, in the first row
        return np.tril(q @ k.T, -1) @ v / np.tril(q @ k.T, -1).sum(1)[:, None]


def filtered(x, taps, size):
    n = len(x)
    return np.fft.ifft(np.fft.fft(x, size(n)) * np.fft.fft(taps, size(n))).real


class OneByOne(RidgeMemory):
    """Reads one query at a time, and says so."""

    def __init__(self, d):
        super().__init__(d, d, penalty=1e-3, keep=0.95)
        self.name = "one by one"

    def read(self, query):
        (columns,) = query.shape
        return sum(query[i] * self.W[i] for i in range(columns))


class Inside:
    """Keeps its numbers in another memory, and that in a list, and has no vars."""

    __slots__ = ("inner", "unused")

    def __init__(self, inner):
        self.inner = [inner]

    def write(self, key, value):
        self.inner[0].write(key, value)

    def read(self, query):
        return self.inner[0].read(query)


class Table:
    """A dict of the newest pairs: exact, and as long as the list of keys."""

    def __init__(self, kept, named=tuple):
        self.rows, self.kept, self.named = {}, kept, named

    def write(self, key, value):
        self.rows[self.named(key)] = self.kept(value)

    def read(self, query):
        return self.rows[self.named(query)]


class Ring:
    """As many whole pairs as fit, the newest, in arrays that are there from the start."""

    def __init__(self, d):
        self.keys, self.values, self.next = np.zeros((d, d)), np.zeros((d, d)), 0

    def write(self, key, value):
        old = np.flatnonzero((self.keys == key).all(axis=1))
        place = old[0] if len(old) else self.next
        self.next = self.next if len(old) else (self.next + 1) % len(self.keys)
        self.keys[place], self.values[place] = key, value

    def read(self, query):
        return self.values[(self.keys @ query).argmax()]


class Cut:
    """A list of 42 pairs in arrays: of each key 16 numbers, which tell it from the others."""

    def __init__(self, d, kind=np.float64):
        self.keys, self.values, self.next = np.zeros((42, 16), kind), np.zeros((42, d), kind), 0

    def write(self, key, value):
        old = np.flatnonzero((self.keys == key[:16].astype(self.keys.dtype)).all(axis=1))
        place = old[0] if len(old) else self.next
        self.next = self.next if len(old) else (self.next + 1) % len(self.keys)
        self.keys[place], self.values[place] = key[:16], value

    def read(self, query):
        return self.values[(self.keys @ query[:16]).argmax()].astype(float)


class Named:
    """A dict of pairs, made before the first of them, that knows a key by its first number."""

    def __init__(self, d):
        self.rows = {-float(place): np.zeros(d) for place in range(1, 61)}

    def write(self, key, value):
        if key[0] not in self.rows:
            del self.rows[next(iter(self.rows))]
        self.rows[key[0]] = np.array(value)

    def read(self, query):
        return self.rows[query[0]]


def causal(weights, v, part=np.tril):
    return part(weights) @ v / part(weights).sum(1, keepdims=True)


def down(q, k):
    weights = np.tril(q @ k.T)
    return weights / weights.sum(axis=0)


def without_length(x, taps):
    n = 2 * len(x) - 1
    return np.fft.irfft(np.fft.rfft(x, n) * np.fft.rfft(taps, n))[: len(x)]


def newest(pairs, key):
    return max(reversed(pairs), key=lambda pair: round(float(pair[0] @ key), 6))[1]


def around_a_list(d):
    """A list of pairs that two functions share."""
    pairs = []
    return SimpleNamespace(
        write=lambda key, value: pairs.append((key, value)), read=lambda key: newest(pairs, key)
    )


def partly(memory):
    return SimpleNamespace(write=functools.partial(memory.write), read=memory.read)


def of_a_class(d):
    """A list of pairs around the class whose methods use it."""
    pairs = []

    class Memory:
        def write(self, key, value):
            pairs.append((key, value))

        def read(self, key):
            return newest(pairs, key)

    return Memory()


class OfAll:
    """A list of pairs that all memories of the class share."""

    pairs: ClassVar = []

    def __init__(self, d):
        type(self).pairs = []

    def write(self, key, value):
        self.pairs.append((key, value))

    def read(self, key):
        return newest(self.pairs, key)


def around_two_matrices(d):
    """Least squares that forgets a little, in functions that share two matrices."""
    memory, spread = np.zeros((d, d)), 1000 * np.eye(d)

    def write(key, value):
        nonlocal memory, spread
        spread = spread / 0.95
        gain = spread @ key / (1 + key @ spread @ key)
        memory = memory + np.outer(value - memory @ key, gain)
        spread = spread - np.outer(gain, key @ spread)

    return SimpleNamespace(write=write, read=lambda key: memory @ key)


RIGHT = [
    (checks.check_linear, attend),
    (checks.check_convolve, lambda x, taps: filtered(x, taps, lambda n: 2 * n)[: len(x)]),
    (checks.check_convolve, lambda x, taps: np.convolve(x, taps)[: len(x)]),
    (checks.check_convolve, lambda x, taps: torch.tensor(np.convolve(x, taps)[: len(x)] + 0j)),
    (checks.check_memory, lambda d: RidgeMemory(d, d, penalty=1e-3, keep=0.95)),
    (checks.check_memory, OneByOne),
    (checks.check_memory, around_two_matrices),
    (checks.check_memory, lambda d: Inside(OneByOne(d))),
]

WRONG = [
    (checks.check_linear, lambda q, k, v: attend(q, k, v, normalize="none"), "normalizer"),
    (checks.check_linear, lambda q, k, v: attend(q, k, v, normalize="count"), "how many pairs"),
    (checks.check_linear, lambda q, k, v: attend(q, k, v, write_first=False), "pair t itself"),
    (checks.check_linear, read_then_write, "pair t itself"),
    (checks.check_linear, lambda q, k, v: np.vstack([v[:-1], v[-1:] * np.nan]), "holds NaN"),
    (checks.check_linear, lambda q, k, v: q @ k.T @ v / (q @ k.T).sum(1)[:, None], "future"),
    (
        checks.check_linear,
        lambda q, k, v: np.tril(q @ k.T) @ v / (q @ k.T).sum(1)[:, None],
        "z must hold keys up to t",
    ),
    (checks.check_linear, lambda q, k, v: causal(np.exp(q @ k.T), v), "no softmax here"),
    (checks.check_linear, lambda q, k, v: causal(q @ k.T, v, np.triu), "those after it"),
    (checks.check_linear, lambda q, k, v: down(q, k) @ v, "sums of columns"),
    (
        checks.check_linear,
        lambda q, k, v: np.tril(q @ k.T) @ v / np.tril(q @ k.T).sum(0)[:, None],
        "sums of columns",
    ),
    (
        checks.check_linear,
        lambda q, k, v: causal(np.exp(q @ k.T / k.shape[1] ** 0.5), v),
        "without 1/√d",
    ),
    (checks.check_linear, lambda q, k, v: causal(k @ q.T, v), "exchanged"),
    (checks.check_convolve, lambda x, taps: filtered(x, taps, lambda n: n), "wraps"),
    (checks.check_convolve, lambda x, y: np.convolve(x, y, "same"), "keeps the middle"),
    (checks.check_convolve, without_length, "irfft was not told"),
    (checks.check_convolve, np.convolve, "keep the first"),
    (checks.check_convolve, lambda x, y: filtered(x, y, lambda n: 2 * n), "keep the first"),
    (checks.check_convolve, lambda x, y: None, r"numbers of shape \(4,\), yours is None"),
    (checks.check_convolve, lambda x, y: [1.0, [2.0, 3.0]], "parts of several sizes"),
    (
        checks.check_convolve,
        lambda x, y: torch.zeros(len(x), requires_grad=True).double(),
        r"the result \[\d\] is 0",
    ),
    (checks.check_memory, lambda d: AdditiveMemory(d, d), "after rewriting"),
    (checks.check_memory, lambda d: DeltaMemory(d, d, rate=1.0), "asked for"),
    (checks.check_memory, lambda d: DeltaMemory(d, d, rate=0.5), "of 40 pairs .* 0.95 is asked"),
    (checks.check_memory, lambda d: RidgeMemory(d, d, 1e-3, keep=0.9), "fades fast"),
    (checks.check_memory, lambda d: Table(list), "the memory grows: 512 numbers after 8 writes"),
    (
        checks.check_memory,
        lambda d: Table(lambda v: torch.tensor(v, requires_grad=True)),
        "the memory grows",
    ),
    (
        checks.check_memory,
        lambda d: Table(np.ndarray.tobytes, np.ndarray.tobytes),
        "the memory grows",
    ),
    (checks.check_memory, Ring, "as they came: a list of pairs"),
    (checks.check_memory, around_a_list, "holds 4096 numbers"),
    (checks.check_memory, of_a_class, "holds 4096 numbers"),
    (checks.check_memory, lambda d: partly(around_a_list(d)), "holds 4096 numbers"),
    (checks.check_memory, OfAll, "holds 4096 numbers"),
    (checks.check_memory, Cut, "768 of the numbers that it holds are those of keys and values"),
    (checks.check_memory, lambda d: Cut(d, np.float32), "as they came: a list of pairs"),
    (checks.check_memory, Named, "write each pair into numbers that all pairs share"),
    (checks.check_memory, lambda d: SoftmaxMemory(32.0, recency=0.1), "are allowed"),
    (checks.check_memory, lambda d: Inside(Inside(SoftmaxMemory(32.0))), "holds 4098 numbers"),
    (checks.check_memory, lambda d: Table(list).read, "an object with write and read"),
    (checks.check_memory, lambda d: None, "an object with write and read"),
]
