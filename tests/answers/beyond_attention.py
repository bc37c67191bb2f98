"""Answers to the exercises on memories beside attention."""

import numpy as np

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


def filtered(x, taps, size):
    n = len(x)
    return np.fft.ifft(np.fft.fft(x, size(n)) * np.fft.fft(taps, size(n))).real


RIGHT = [
    (checks.check_linear, attend),
    (checks.check_convolve, lambda x, taps: filtered(x, taps, lambda n: 2 * n)[: len(x)]),
    (checks.check_convolve, lambda x, taps: np.convolve(x, taps)[: len(x)]),
    (checks.check_memory, lambda d: RidgeMemory(d, d, penalty=1e-3, keep=0.9)),
]

WRONG = [
    (checks.check_linear, lambda q, k, v: attend(q, k, v, normalize="none"), "normalizer"),
    (checks.check_linear, lambda q, k, v: attend(q, k, v, normalize="count"), "how many pairs"),
    (checks.check_linear, lambda q, k, v: attend(q, k, v, write_first=False), "pair t itself"),
    (checks.check_linear, lambda q, k, v: q @ k.T @ v / (q @ k.T).sum(1)[:, None], "future"),
    (checks.check_convolve, lambda x, taps: filtered(x, taps, lambda n: n), "wraps"),
    (checks.check_convolve, np.convolve, "keep the first"),
    (checks.check_memory, lambda d: AdditiveMemory(d, d), "after rewriting"),
    (checks.check_memory, lambda d: DeltaMemory(d, d, rate=1.0), "asked for"),
    (checks.check_memory, lambda d: SoftmaxMemory(32.0, recency=0.1), "are allowed"),
]
