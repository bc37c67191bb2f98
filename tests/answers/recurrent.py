"""Answers to the exercises on recurrent networks."""

import math

import numpy as np
import torch

from primer.exercises import recurrent as checks


def step(weights, x, h, c, order="ifgo", biases=("bias_ih", "bias_hh"), bare=False, fed="h"):
    z = weights["weight_ih"] @ x + weights["weight_hh"] @ (h if fed == "h" else c)
    part = dict(zip(order, (z + sum(weights[b] for b in biases)).chunk(4), strict=True))
    c = part["f"].sigmoid() * c + part["i"].sigmoid() * part["g"].tanh()
    return part["o"].sigmoid() * (c if bare else c.tanh()), c


def factors(w, x):
    """Give the states' total derivatives, the immediate ones, and the loss's total ones."""
    h, forward, here, slopes = 0.0, [], [], []
    for value in x:
        before, h = h, math.tanh(w * h + value)
        slopes.append(1 - h * h)
        here.append(slopes[-1] * before)
        forward.append(here[-1] + slopes[-1] * w * (forward[-1] if forward else 0.0))
    backward = [1.0] * len(x)
    for t in reversed(range(len(x) - 1)):
        backward[t] = 1 + backward[t + 1] * slopes[t + 1] * w
    return forward, here, backward


def total_times_total(w, x):
    forward, _, backward = factors(w, x)
    return sum(map(math.prod, zip(forward, backward, strict=True)))


def backwards(w, x):
    _, here, backward = factors(w, x)
    return sum(map(math.prod, zip(here, backward, strict=True)))


def orthogonal(n, random):
    return np.linalg.qr(random.normal(size=(n, n)))[0]


def normalized(n, random):
    weight = random.normal(size=(n, n))
    return weight / abs(np.linalg.eigvals(weight)).max()


def as_printed(w, x):
    h, dh, total, states = 0.0, 0.0, 0.0, []
    for value in x:
        before, h = h, math.tanh(w * h + value)
        dh = (1 - h * h) * (before + w * dh)
        states.append((h, dh))
    later = 0.0
    for h, dh in reversed(states):
        later = 1 + w * later * (1 - h * h)
        total += later * dh
    return total


RIGHT = [
    (checks.check_step, step),
    (checks.check_fault, lambda w, x: sum(factors(w, x)[0])),
    (checks.check_fault, backwards),
    (checks.check_start, orthogonal),
]

WRONG = [
    (checks.check_step, lambda *a: step(*a, order="figo"), "another order"),
    (checks.check_step, lambda *a: step(*a, order="ifog"), "the last two blocks"),
    (checks.check_step, lambda *a: step(*a, biases=("bias_ih",)), "two biases"),
    (checks.check_step, lambda *a: step(*a, fed="c"), "look at h, not at the memory"),
    (checks.check_step, lambda *a: step(*a, bare=True), "the tanh of c"),
    (checks.check_step, lambda *a: step(*a)[::-1], "the order is h, then c"),
    (checks.check_step, lambda *a: torch.zeros(4), "return two vectors"),
    (checks.check_fault, total_times_total, "still total"),
    (checks.check_fault, as_printed, "belongs to the step after"),
    (checks.check_fault, lambda w, x: sum(factors(w, x)[1]), "hands on to later steps"),
    (checks.check_fault, lambda w, x: factors(w, x)[0][-1], "is right|the sum of all"),
    (checks.check_start, normalized, "that is one direction"),
    (checks.check_start, lambda n, random: np.eye(n), "nothing mixes"),
    (checks.check_start, lambda n, random: 0.99 * orthogonal(n, random), "all of them should"),
]
