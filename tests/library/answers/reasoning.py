"""Answers to the exercises on reasoning."""

import math

import numpy as np

from primer.exercises import reasoning as checks

END = 54


def pressed(display, key, odd=True, room=True):
    if odd and key == 3 and display % 2:
        return None
    shown = (display + 3, display - 5, display * 2, display // 2)[key]
    return shown if not room or 0 <= shown < 50 else None


def checker(start, target, tokens, believe=False, need_end=True, sorts=True, honest=False, **rules):
    display = start
    for place, token in enumerate(tokens):
        if place % 2 == 1:
            if sorts and token >= 50:
                return False
            if honest and token != display:
                return False
            if believe:
                display = token
        elif token == END:
            return display == target
        elif not 50 <= token < 54:
            if sorts:
                return False
        else:
            display = pressed(display, token - 50, **rules)
            if display is None:
                return False
    return not need_end and display == target


def last(start, target, tokens):
    return END in tokens and tokens.index(END) > 0 and tokens[tokens.index(END) - 1] == target


def whole(start, target, tokens):
    return checker(start, target, tokens) and tokens[-1] == END


def estimator(c, n, k):
    draws = np.arange(k)
    return 1 - np.prod(np.clip(n - c[:, None] - draws, 0, None) / (n - draws), axis=1)


def by_logarithms(c, n, k):
    found = []
    for one in c.tolist():
        if n - one < k:
            found.append(1.0)
            continue
        logs = [math.lgamma(x + 1) for x in (n - one, n - one - k, n, n - k)]
        found.append(1 - math.exp(logs[0] - logs[1] - logs[2] + logs[3]))
    return found


def groups(reward, tries):
    table = reward.reshape(tries, -1)
    return (table - table.mean(axis=0)).ravel()


def neighbors(reward, tries):
    table = reward.reshape(-1, tries)
    return (table - table.mean(axis=1, keepdims=True)).ravel()


def turned(reward, tries):
    table = reward.reshape(tries, -1)
    return (table - table.mean(axis=0)).T.ravel()


def advantage(rewards, values, decay, end=0.0, baseline=True, once=False):
    ahead = np.append(values[1:], values[-1] if end is None else end)
    delta = rewards + ahead - values * baseline
    size = len(delta)
    power = np.arange(size) - np.arange(size)[:, None]
    weight = np.where(power > 0, decay if once else decay ** np.maximum(power, 0), power == 0)
    return (weight * (power >= 0)) @ delta


def honest(start, target, tokens):
    return checker(start, target, tokens, honest=True)


RIGHT = [
    (checks.check_checker, checker),
    (checks.check_estimator, estimator),
    (checks.check_estimator, by_logarithms),
    (checks.check_groups, groups),
    (checks.check_advantage, advantage),
    (checks.check_honest, honest),
]

WRONG = [
    (checks.check_checker, last, "is not 20: press the key"),
    (checks.check_checker, lambda *a: checker(*a, believe=True), "press the key, do not read"),
    (checks.check_checker, honest, "the numbers are not read"),
    (checks.check_checker, whole, "behind the end"),
    (checks.check_checker, lambda *a: checker(*a, need_end=False), "without an end"),
    (checks.check_checker, lambda *a: checker(*a, odd=False), "half of an odd"),
    (checks.check_checker, lambda *a: checker(*a, room=False), "does not fit on the display"),
    (checks.check_checker, lambda s, t, y: y[9] == t, "it fails: list index out of range"),
    (checks.check_estimator, lambda c, n, k: 1 - (1 - c / n) ** k, "too low on average"),
    (checks.check_estimator, lambda c, n, k: 1 - estimator(c, n, k), "take it from 1"),
    (checks.check_groups, neighbors, "groups neighbors"),
    (checks.check_groups, lambda r, n: r - r.mean(), "the whole batch"),
    (checks.check_groups, turned, "in another order"),
    (checks.check_groups, lambda r, n: groups(r, n) * n / (n - 1), "do not divide"),
    (checks.check_advantage, lambda r, v, d: advantage(r, v, d, end=None), "the value is 0"),
    (checks.check_advantage, lambda r, v, d: advantage(r, v, d, baseline=False), "subtract V_t"),
    (checks.check_advantage, lambda r, v, d: advantage(r, v, 0.0), "that is λ = 0"),
    (checks.check_advantage, lambda r, v, d: advantage(r, v, d, once=True), "to the power"),
    (checks.check_honest, checker, "though the keys lead to 20"),
    (checks.check_honest, last, "not honest"),
]
