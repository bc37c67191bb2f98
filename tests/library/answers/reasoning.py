"""Answers to the exercises on reasoning."""

import math

import numpy as np

from primer.exercises import reasoning as checks

END = 54


def pressed(display, key, odd=True, room=True, first=0, last=49):
    if odd and key == 3 and display % 2:
        return None
    shown = (display + 3, display - 5, display * 2, display // 2)[key]
    return shown if not room or first <= shown <= last else None


def checker(
    start,
    target,
    tokens,
    believe=False,
    need_end=True,
    sorts=True,
    honest=False,
    skip=False,
    **rules,
):
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
            shown = pressed(display, token - 50, **rules)
            if shown is None and not skip:
                return False
            display = display if shown is None else shown
    return not need_end and display == target


def last(start, target, tokens):
    return END in tokens and tokens.index(END) > 0 and tokens[tokens.index(END) - 1] == target


def whole(start, target, tokens):
    return checker(start, target, tokens) and tokens[-1] == END


def wrapped(start, target, tokens):
    """Press by a table in which −1 says illegal, and forget to ask."""
    table = [[-1 if (new := pressed(d, k)) is None else new for k in range(4)] for d in range(50)]
    display = start
    for place, token in enumerate(tokens):
        if place % 2 == 0 and token == END:
            return display == target
        if (place % 2 == 0) != (50 <= token < 54):
            return False
        display = table[display][token - 50] if place % 2 == 0 else display
    return False


def with_arrows(start, target, tokens):
    """Take 55 for a number."""
    return checker(start, target, [0 if token == 55 else token for token in tokens])


def two_by_two(start, target, tokens):
    """Look at the number behind each key, whether there is one or not."""
    for place in range(0, len(tokens), 2):
        if tokens[place] == END:
            break
        assert tokens[place + 1] is not None
    return checker(start, target, tokens)


def all_but_the_last(start, target, tokens):
    """Compare each number with the display when the next key is pressed."""
    end = tokens.index(END) if END in tokens else 0
    told = [*tokens[: max(end - 1, 0)], target, END]
    return checker(start, target, tokens) and (end < 2 or honest(start, target, told))


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


def by_whole_numbers(c, n, k):
    """Exact binomials, which NumPy keeps as objects where they are long."""
    return 1 - np.array([math.comb(n - one, k) for one in c.tolist()]) / math.comb(n, k)


def groups(reward, tries):
    table = reward.reshape(tries, -1)
    return (table - table.mean(axis=0)).ravel()


def down(table):
    return (table - table.mean(axis=0)).ravel()


def neighbors(reward, tries):
    table = reward.reshape(-1, tries)
    return (table - table.mean(axis=1, keepdims=True)).ravel()


def across(reward, tries):
    table = reward.reshape(tries, -1)
    return (table - table.mean(axis=1, keepdims=True)).ravel()


def turned(reward, tries):
    table = reward.reshape(tries, -1)
    return (table - table.mean(axis=0)).T.ravel()


def by_spread(reward, tries):
    table = reward.reshape(tries, -1)
    spread = table.std(axis=0)
    return ((table - table.mean(axis=0)) / np.where(spread > 0, spread, 1)).ravel()


def advantage(rewards, values, decay, end=0.0, baseline=True, once=False):
    ahead = np.append(values[1:], values[-1] if end is None else end)
    delta = rewards + ahead - values * baseline
    size = len(delta)
    power = np.arange(size) - np.arange(size)[:, None]
    weight = np.where(power > 0, decay if once else decay ** np.maximum(power, 0), power == 0)
    return (weight * (power >= 0)) @ delta


def from_the_front(rewards, values, decay):
    delta = rewards + np.append(values[1:], 0) - values
    return [sum(decay ** (t - s) * delta[s] for s in range(t + 1)) for t in range(len(delta))]


def discounted(rewards, values, decay):
    delta = rewards + decay * np.append(values[1:], 0) - values
    return [
        sum(decay ** (s - t) * delta[s] for s in range(t, len(delta))) for t in range(len(delta))
    ]


def honest(start, target, tokens):
    return checker(start, target, tokens, honest=True)


RIGHT = [
    (checks.check_checker, checker),
    (checks.check_estimator, estimator),
    (checks.check_estimator, by_logarithms),
    (checks.check_estimator, by_whole_numbers),
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
    (
        checks.check_checker,
        lambda s, t, y: y.count(54) < 2 and checker(s, t, y),
        "first end counts",
    ),
    (checks.check_checker, lambda *a: checker(*a, odd=False), "half of an odd"),
    (checks.check_checker, lambda *a: checker(*a, room=False), "does not fit on the display"),
    (checks.check_checker, lambda s, t, y: y[9] == t, "it fails: list index out of range"),
    (checks.check_checker, lambda *a: checker(*a, last=50), "which ends at 49"),
    (checks.check_checker, lambda *a: checker(*a, last=48), "49 is on the display"),
    (checks.check_checker, lambda *a: checker(*a, first=1), "0 is on the display"),
    (checks.check_checker, lambda *a: checker(*a, sorts=False), "behind a key a number is due"),
    (checks.check_checker, wrapped, "no display behind it"),
    (checks.check_checker, with_arrows, "55 is the arrow"),
    (checks.check_checker, two_by_two, "it stops behind a key"),
    (checks.check_estimator, lambda c, n, k: 1 - (1 - c / n) ** k, "too low on average"),
    (checks.check_estimator, lambda c, n, k: 1 - estimator(c, n, k), "take it from 1"),
    (checks.check_estimator, lambda c, n, k: c / n, "pass@1"),
    (checks.check_estimator, lambda c, n, k: k * c / n, "do not add up"),
    (checks.check_estimator, lambda c, n, k: c > 0, "any of the n"),
    (checks.check_estimator, lambda c, n, k: estimator(c, n, k - 1), "one factor is missing"),
    (checks.check_groups, neighbors, "groups neighbors"),
    (checks.check_groups, lambda r, n: down(r.reshape(-1, n)), "the rows are neighbors still"),
    (checks.check_groups, across, "down the columns"),
    (checks.check_groups, lambda r, n: -groups(r, n), "the sign"),
    (checks.check_groups, lambda r, n: r - r.mean(), "the whole batch"),
    (checks.check_groups, turned, "in another order"),
    (checks.check_groups, lambda r, n: groups(r, n) * n / (n - 1), "out of the mean"),
    (checks.check_groups, by_spread, "by the spread"),
    (checks.check_advantage, lambda r, v, d: advantage(r, v, d, end=None), "the value is 0"),
    (checks.check_advantage, lambda r, v, d: advantage(r, v, d, baseline=False), "subtract V_t"),
    (checks.check_advantage, lambda r, v, d: advantage(r, v, 0.0), "that is λ = 0"),
    (checks.check_advantage, lambda r, v, d: advantage(r, v, d, once=True), "to the power"),
    (checks.check_advantage, lambda r, v, d: advantage(r, v, 1.0), "that is λ = 1"),
    (checks.check_advantage, lambda r, v, d: -advantage(r, v, d), "the sign"),
    (checks.check_advantage, lambda r, v, d: advantage(r, v, d) * d, "counts whole"),
    (checks.check_advantage, from_the_front, "begin behind the end"),
    (checks.check_advantage, discounted, "not the value in δ"),
    (checks.check_honest, lambda *a: whole(*a) and honest(*a), "behind the end"),
    (checks.check_honest, lambda *a: checker(*a, honest=True, skip=True), "not passed over"),
    (checks.check_honest, checker, "though the keys lead to 20"),
    (checks.check_honest, last, "not honest"),
    (checks.check_honest, all_but_the_last, "the last number says 11"),
]
