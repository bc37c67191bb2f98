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


def step_in_place(weights, x, h, c):
    b = weights["bias_ih"]
    b += weights["bias_hh"]
    i, f, g, o = (weights["weight_ih"] @ x + weights["weight_hh"] @ h + b).chunk(4)
    c *= f.sigmoid()
    c += i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def with_old_memory(weights, x, h, c):
    _, _, _, o = (weights["weight_ih"] @ x + weights["weight_hh"] @ h + weights["bias_ih"]).chunk(4)
    o = o + weights["bias_hh"].chunk(4)[3]
    return o.sigmoid() * c.tanh(), step(weights, x, h, c)[1]


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


def half_mended(w, x):
    """Take the immediate factor, but the slope of the wrong step."""
    h, total, states = 0.0, 0.0, []
    for value in x:
        before, h = h, math.tanh(w * h + value)
        states.append((h, (1 - h * h) * before))
    later = 0.0
    for h, here in reversed(states):
        later = 1 + w * later * (1 - h * h)
        total += later * here
    return total


def two_cycle(n, random):
    """Return blocks whose second power is the identity, but not their first."""
    weight = np.zeros((n, n))
    for i in range(0, n - 1, 2):
        weight[i, i + 1], weight[i + 1, i] = 10.0, 0.1
    return weight


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


def turned(n, random):
    skew = random.normal(size=(n, n))
    return torch.linalg.matrix_exp(torch.from_numpy(skew - skew.T))


def reflection(n, random):
    mirror = random.normal(size=n)
    return np.eye(n) - 2 * np.outer(mirror, mirror) / (mirror @ mirror)


RIGHT = [
    (checks.check_step, step),
    (checks.check_step, step_in_place),
    (checks.check_step, lambda *a: torch.stack(step(*a))),
    (checks.check_step, lambda *a: torch.stack(step(*a)).numpy()),
    (checks.check_step, lambda *a: [part.tolist() for part in step(*a)]),
    (checks.check_fault, lambda w, x: sum(factors(w, x)[0])),
    (checks.check_fault, backwards),
    (checks.check_start, orthogonal),
    (checks.check_start, lambda n, random: np.linalg.svd(random.normal(size=(n, n)))[0]),
    (checks.check_start, turned),
]

WRONG = [
    (checks.check_step, lambda *a: step(*a, order="figo"), "another order"),
    (checks.check_step, lambda *a: step(*a, order="fiog"), "another order than in lstm_step"),
    (checks.check_step, lambda *a: step(*a, order="ifog"), "the last two blocks"),
    (checks.check_step, lambda *a: step(*a, biases=("bias_ih",)), "two biases"),
    (checks.check_step, lambda *a: step(*a, fed="c"), "look at h, not at the memory"),
    (checks.check_step, lambda *a: step(*a, bare=True), "the tanh of c"),
    (checks.check_step, lambda *a: step(*a)[::-1], "the order is h, then c"),
    (checks.check_step, lambda *a: torch.zeros(4), "return two vectors"),
    (checks.check_step, lambda *a: torch.zeros(3, 4), "return two vectors"),
    (checks.check_step, lambda *a: {"h": a[2], "c": a[3]}, "return two vectors"),
    (checks.check_step, lambda *a: (a[2], a[3]), "the new c should be σ"),
    (checks.check_step, with_old_memory, "the new c is right; the new h"),
    (checks.check_fault, total_times_total, "still total"),
    (checks.check_fault, half_mended, "right now; the slope"),
    (checks.check_fault, as_printed, "belongs to the step after"),
    (checks.check_fault, lambda w, x: sum(factors(w, x)[1]), "hands on to later steps"),
    (checks.check_fault, lambda w, x: factors(w, x)[0][-1], "is right|the sum of all"),
    (checks.check_start, normalized, "speaks of eigenvectors only"),
    (checks.check_start, two_cycle, "after one step some vector has 0.1 and another 10 times"),
    (checks.check_start, lambda n, random: np.fft.fft(np.eye(n)) / n**0.5, "should be real"),
    (checks.check_start, lambda n, random: np.full((n, n), np.inf), "and finite ones"),
    (checks.check_start, lambda n, random: 1e3 * random.normal(size=(n, n)), "beyond all bounds"),
    (checks.check_start, lambda n, random: 2 * np.eye(n, dtype=int), "after 200 steps vectors"),
    (
        checks.check_start,
        lambda n, random: np.full((n, n), 1 / n),
        "has next to none and another 1",
    ),
    (checks.check_start, lambda n, random: np.eye(n), "nothing mixes"),
    (
        checks.check_start,
        lambda n, random: np.roll(np.eye(n, dtype=int), 1, axis=0),
        "change places",
    ),
    (checks.check_start, reflection, "one reflection"),
    (checks.check_start, lambda n, random: 0.99 * orthogonal(n, random), "all of them should"),
    (checks.check_half_life, 5.8, "an approximation"),
    (checks.check_half_life, 5.4, "round once, at the end"),
    (checks.check_half_life, 7.9, "−1/ln σ steps 1/e is left"),
    (checks.check_half_life, 8.4, r"1/\(1 − σ\) steps about"),
    (checks.check_half_life, 14, "a bias of 3"),
    (checks.check_half_life, 14.3, "a bias of 3"),
    (checks.check_hump, 10, "an eigenvalue of 0.9"),
    (checks.check_hump, 143, "below 1 again"),
]
