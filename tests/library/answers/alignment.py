"""Answers to the exercises on alignment."""

import numpy as np

from primer.exercises import alignment as checks


def dpo(chosen, rejected, ref_chosen, ref_rejected, beta, sign=1, use_ref=1, both=True):
    left = chosen - use_ref * ref_chosen
    right = rejected - use_ref * ref_rejected
    margin = beta * left - (beta if both else 1) * right
    return np.logaddexp(0, -sign * margin).mean()


def unstable(chosen, rejected, ref_chosen, ref_rejected, beta):
    margin = beta * ((chosen - ref_chosen) - (rejected - ref_rejected))
    with np.errstate(all="ignore"):
        return -np.log(1 / (1 + np.exp(-margin))).mean()


def baseline(policy, reward, power=1.0):
    weight = policy * (1 - 2 * policy + policy @ policy) ** power
    return weight @ reward / weight.sum()


def mask(tokens, end):
    before = np.cumsum(tokens == end, axis=1) - (tokens == end)
    return before == 0


def without_log(chosen, rejected, ref_chosen, ref_rejected, beta, sign=1):
    margin = beta * ((chosen - ref_chosen) - (rejected - ref_rejected))
    return -sign * (1 / (1 + np.exp(-sign * margin))).mean()


def mean_inside(chosen, rejected, ref_chosen, ref_rejected, beta):
    margin = beta * ((chosen - ref_chosen) - (rejected - ref_rejected))
    return np.logaddexp(0, -margin.mean())


def ipo(chosen, rejected, ref_chosen, ref_rejected, beta):
    lead = (chosen - ref_chosen) - (rejected - ref_rejected)
    return ((lead - 1 / (2 * beta)) ** 2).mean()


def by_argmax(tokens, end, last=1):
    first = np.argmax(tokens == end, axis=1)[:, None]
    return np.arange(tokens.shape[1]) < first + last


def loop_mask(tokens, end):
    rows = [list(row) for row in tokens]
    lengths = [row.index(end) + 1 if end in row else len(row) for row in rows]
    return [[place < n for place in range(len(rows[0]))] for n in lengths]


def leash(reference, proxy, rated, gold):
    def worth(beta):
        weight = reference[rated] * np.exp((proxy[rated] - proxy.max()) / beta)
        return weight @ gold / weight.sum()

    return max(np.geomspace(0.2, 20, 40), key=worth)


def one_logit(policy, reward, power=2):
    weight = policy * (1 - policy) ** power
    return weight @ reward / weight.sum()


RIGHT = [
    (checks.check_dpo, dpo),
    (checks.check_baseline, baseline),
    (checks.check_mask, mask),
    (checks.check_mask, loop_mask),
    (checks.check_leash, leash),
]

WRONG = [
    (checks.check_dpo, lambda *a: dpo(*a, sign=-1), "exchanged"),
    (checks.check_dpo, lambda *a: dpo(*a, use_ref=0), "reference is missing"),
    (checks.check_dpo, lambda *a: dpo(*a, both=False), "both log ratios"),
    (checks.check_dpo, lambda *a: dpo(*a[:4], 1 / a[4]), "divides in the tilt"),
    (checks.check_dpo, unstable, "margin of −900 the loss is 900, yours .*logaddexp"),
    (checks.check_dpo, lambda *a: -dpo(*a), "minus the mean of log σ"),
    (checks.check_dpo, mean_inside, "the mean comes last"),
    (checks.check_dpo, without_log, "the logarithm is missing"),
    (checks.check_dpo, lambda *a: without_log(*a, sign=-1), "σ of minus the margin"),
    (checks.check_dpo, ipo, "the loss of IPO"),
    (checks.check_baseline, lambda p, r: p @ r, "mean reward, which is best only where"),
    (checks.check_baseline, lambda p, r: one_logit(p, r, 1), "entry at y alone"),
    (checks.check_baseline, lambda p, r: baseline(p, r, 0.5), "not by the length"),
    (checks.check_baseline, one_logit, "at all logits"),
    (checks.check_mask, lambda t, end: np.cumsum(t == end, axis=1) == 0, "must count"),
    (checks.check_mask, lambda t, end: np.cumsum(t == end, axis=1) <= 1, "stays so behind it"),
    (checks.check_mask, lambda t, end: t != end, "behind the first end"),
    (checks.check_mask, by_argmax, "all but its first token is lost"),
    (checks.check_mask, lambda t, end: by_argmax(t, end, 0), "must count, and in a row without"),
    (checks.check_leash, lambda *_: 0.05, "is asked for"),
    (checks.check_leash, lambda *_: 0.85, "is asked for"),
    (checks.check_leash, lambda *_: 1.5, "is asked for"),
    (checks.check_leash, lambda reference, proxy, *_: 0.8 * proxy.std(), "is asked for"),
    (checks.check_leash, lambda *_: -1.0, "above 0"),
    (checks.check_leash, lambda *_: 1e-310, "R/β finite"),
    (checks.check_leash, lambda *_: float("inf"), "β must be above 0, and β"),
]
