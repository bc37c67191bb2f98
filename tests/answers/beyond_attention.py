"""Answers to the exercises on memories beside attention."""

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
        super().__init__(d, d, penalty=1e-3, keep=0.9)
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
    """A dict of the newest pairs: exact, and of no more than 24 keys."""

    def __init__(self, kept):
        self.rows, self.kept = {}, kept

    def write(self, key, value):
        self.rows[tuple(key)] = self.kept(value)

    def read(self, query):
        return self.rows[tuple(query)]


RIGHT = [
    (checks.check_linear, attend),
    (checks.check_convolve, lambda x, taps: filtered(x, taps, lambda n: 2 * n)[: len(x)]),
    (checks.check_convolve, lambda x, taps: np.convolve(x, taps)[: len(x)]),
    (checks.check_convolve, lambda x, taps: torch.tensor(np.convolve(x, taps)[: len(x)] + 0j)),
    (checks.check_memory, lambda d: RidgeMemory(d, d, penalty=1e-3, keep=0.9)),
    (checks.check_memory, OneByOne),
    (checks.check_memory, lambda d: Inside(OneByOne(d))),
    (checks.check_memory, lambda d: Table(list)),
    (checks.check_memory, lambda d: Table(lambda v: torch.tensor(v, requires_grad=True))),
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
    (checks.check_convolve, lambda x, taps: filtered(x, taps, lambda n: n), "wraps"),
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
    (checks.check_memory, lambda d: DeltaMemory(d, d, rate=0.5), "of 24 pairs .* 0.99 is asked"),
    (checks.check_memory, lambda d: SoftmaxMemory(32.0, recency=0.1), "are allowed"),
    (checks.check_memory, lambda d: Inside(Inside(SoftmaxMemory(32.0))), "holds 4098 numbers"),
    (checks.check_memory, lambda d: Table(list).read, "an object with write and read"),
    (checks.check_memory, lambda d: None, "an object with write and read"),
]
