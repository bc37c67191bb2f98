"""Answers to the exercises on evaluation."""

import math

import numpy as np

from primer.exercises import evaluation as checks


def gain(first, second, rho, times=2, root=True, sign=-1):
    ratio = (first**2 + second**2) / (first**2 + second**2 + sign * times * rho * first * second)
    return math.sqrt(ratio) if root else ratio


def wilson(right, n, divide=True, under=None, shift=True):
    z, p = 1.96, right / n
    extra = z * z / (4 * n * n) if under is None else under(z, n)
    center = p + z * z / (2 * n) * shift
    reach = z * math.sqrt(p * (1 - p) / n + extra)
    stretch = 1 + z * z / n if divide else 1
    return (center - reach) / stretch, (center + reach) / stretch


def wald(right, n):
    p = right / n
    reach = 1.96 * math.sqrt(p * (1 - p) / n)
    return p - reach, p + reach


def accuracy(costs, right):
    best = costs == costs.min(axis=1, keepdims=True)
    return (best[np.arange(len(costs)), right] / best.sum(axis=1)).mean()


def loop_accuracy(costs, right):
    credit = []
    for row, place in zip(costs.tolist(), right.tolist(), strict=True):
        best = [i for i, cost in enumerate(row) if cost == min(row)]
        credit.append((place in best) / len(best))
    return sum(credit) / len(credit)


def whole_ties(costs, right, count=True):
    best = costs == costs.min(axis=1, keepdims=True)
    chosen = best[np.arange(len(costs)), right]
    return chosen.mean() if count else (chosen & (best.sum(axis=1) == 1)).mean()


def without_ties(costs, right):
    best = costs == costs.min(axis=1, keepdims=True)
    single = best.sum(axis=1) == 1
    return best[np.arange(len(costs)), right][single].mean()


def halved_ties(costs, right):
    best = costs == costs.min(axis=1, keepdims=True)
    return (best[np.arange(len(costs)), right] * np.where(best.sum(axis=1) > 1, 0.5, 1)).mean()


def last_of_the_best(costs, right):
    return (3 - costs[:, ::-1].argmin(axis=1) == right).mean()


def first_column(costs, right):
    best = costs == costs.min(axis=1, keepdims=True)
    return (best[:, 0] / best.sum(axis=1)).mean()


def cut(scores, level, more=1, up=True, infinite=True, shift=0):
    exact = (len(scores) + more) * level
    k = math.ceil(exact - 1e-9) if up else math.floor(exact + 1e-9)
    if k > len(scores):
        return math.inf if infinite else max(scores)
    return sorted(scores)[min(k - 1 + shift, len(scores) - 1)]


def careless_cut(scores, level):
    return np.sort(scores)[math.ceil((len(scores) + 1) * level - 1e-9) - 1]


def short_cut(scores, level):
    k = math.ceil((len(scores) + 1) * level - 1e-9)
    return np.sort(scores)[k - 1] if k < len(scores) else math.inf


def rounded_cut(scores, level):
    k = round((len(scores) + 1) * level)
    return np.sort(scores)[k - 1] if k <= len(scores) else math.inf


def by_infinity(scores, level):
    scores = sorted([*scores, math.inf])
    return scores[math.ceil(len(scores) * level - 1e-9) - 1]


def board(costs, lengths, first=30):
    chosen = costs[:, :first].sum(axis=1).argmin()
    return chosen, costs[chosen, first:].sum() / lengths[first:].sum()


def naive_board(costs, lengths):
    chosen = costs.sum(axis=1).argmin()
    return chosen, costs[chosen].sum() / lengths.sum()


def first_board(costs, lengths):
    return 0, costs[0].sum() / lengths.sum()


def summed_board(costs, lengths):
    chosen, score = board(costs, lengths)
    return chosen, score * lengths.sum()


def all_board(costs, lengths):
    chosen, _ = board(costs, lengths)
    return chosen, costs[:, 30:].sum() / lengths[30:].sum() / 12


def scenes_board(costs, lengths):
    chosen, _ = board(costs, lengths)
    return chosen, (costs / lengths)[chosen, 30:].mean()


def all_scenes_board(costs, lengths):
    chosen, _ = board(costs, lengths)
    return chosen, (costs / lengths)[:, 30:].mean()


def half_board(costs, lengths):
    chosen, _ = board(costs, lengths)
    return chosen, costs[chosen, 30:].sum() / lengths.sum()


def second_board(costs, lengths):
    chosen, _ = board(costs, lengths)
    return chosen, np.sort(costs[:, 30:].sum(axis=1))[1] / lengths[30:].sum()


def unsorted_cut(scores, level):
    k = math.ceil((len(scores) + 1) * level - 1e-9)
    return scores[k - 1] if k <= len(scores) else math.inf


def matrix_accuracy(costs, right, share="row"):
    best = costs == costs.min(axis=1, keepdims=True)
    ties = {"row": best.sum(axis=1), "column": best.sum(axis=1, keepdims=True), "none": 1}
    return (best[:, right] / ties[share]).mean()


def middle_and_reach(right, n):
    low, high = wilson(right, n)
    return (low + high) / 2, (high - low) / 2


def worst_board(costs, lengths):
    return board(costs, lengths)[0], costs.max(axis=0).sum() / lengths.sum()


RIGHT = [
    (checks.check_gain, gain),
    (checks.check_wilson, wilson),
    (checks.check_accuracy, accuracy),
    (checks.check_accuracy, loop_accuracy),
    (checks.check_cut, cut),
    (checks.check_cut, by_infinity),
    (checks.check_board, board),
    (checks.check_board, lambda costs, lengths: board(costs, lengths, 24)),
]

WRONG = [
    (checks.check_gain, lambda *a: gain(*a, root=False), "ratio of variances"),
    (checks.check_gain, lambda *a: 1 / gain(*a), "turn it around"),
    (checks.check_gain, lambda *a: gain(*a, sign=1), "surer"),
    (checks.check_gain, lambda *a: gain(*a, times=1), "counted twice"),
    (checks.check_gain, lambda a, b, rho: (1 - rho) ** -0.5, "equal errors only"),
    (checks.check_gain, lambda a, b, rho: gain(a, b, rho / a / b), "the covariance is ρσ₁σ₂"),
    (checks.check_wilson, wald, "that is Wald's: "),
    (checks.check_wilson, lambda k, n: np.clip(wald(k, n), 0, 1), "that is Wald's"),
    (checks.check_wilson, lambda k, n: wilson(k, n, divide=False), "divide by 1"),
    (checks.check_wilson, lambda k, n: wilson(k, n, under=lambda z, n: 0), "is missing under"),
    (checks.check_wilson, lambda k, n: wilson(k, n, under=lambda z, n: z * z / (4 * n)), "not z²"),
    (checks.check_wilson, lambda k, n: wilson(k, n, shift=False), "the middle is"),
    (checks.check_wilson, lambda k, n: wilson(k, n)[::-1], "the lower end comes first"),
    (checks.check_wilson, middle_and_reach, "the middle and the reach"),
    (checks.check_accuracy, matrix_accuracy, "is a matrix, each row with every `right`: take"),
    (checks.check_accuracy, lambda c, r: matrix_accuracy(c, r, "column"), "every `right`; take"),
    (checks.check_accuracy, lambda c, r: matrix_accuracy(c, r, "none"), "and share a tie"),
    (checks.check_accuracy, lambda c, r: (c.argmin(axis=1) == r).mean(), "whoever stands first"),
    (checks.check_accuracy, lambda c, r: (c.argmin(axis=1) == 0).mean(), "still takes the first"),
    (checks.check_accuracy, first_column, "`right` says where"),
    (checks.check_accuracy, whole_ties, "wholly right"),
    (checks.check_accuracy, lambda c, r: whole_ties(c, r, count=False), "counts as wrong"),
    (checks.check_accuracy, halved_ties, "1/3 or 1/4, not 1/2"),
    (checks.check_accuracy, last_of_the_best, "whoever stands last"),
    (checks.check_accuracy, without_ties, "leave out the questions"),
    (checks.check_accuracy, lambda c, r: accuracy(-c, r), "not the largest"),
    (checks.check_cut, lambda s, level: cut(s, level, more=0), "the new case counts"),
    (checks.check_cut, lambda s, level: cut(s, level, shift=1), "one too far"),
    (checks.check_cut, lambda s, level: cut(s, level, up=False), "round up"),
    (checks.check_cut, rounded_cut, "round up"),
    (checks.check_cut, short_cut, "the last of them"),
    (checks.check_cut, lambda s, level: None, "one number, yours is None"),
    (checks.check_cut, np.quantile, "mixes two scores"),
    (checks.check_cut, unsorted_cut, "sort the scores first"),
    (checks.check_cut, careless_cut, "beyond the last; then"),
    (checks.check_cut, lambda s, level: cut(s, level, infinite=False), "yours is 4"),
    (checks.check_board, naive_board, "report the same entry on the others"),
    (checks.check_board, all_board, "mean of all twelve entries"),
    (checks.check_board, scenes_board, "you take each scene for one"),
    (
        checks.check_board,
        all_scenes_board,
        "twelve entries, not the score of the one that you chose; and",
    ),
    (checks.check_board, half_board, "the letters of the same scenes"),
    (checks.check_board, second_board, "too good by"),
    (checks.check_board, first_board, "where entries differ"),
    (checks.check_board, summed_board, "bits per letter"),
    (checks.check_board, worst_board, "too bad by"),
    (checks.check_board, lambda c, n: c.sum(axis=1).argmin(), "return two things"),
    (checks.check_board, lambda c, n: (12, 3.4), "entries 0 to 11"),
    (checks.check_board, lambda c, n: board(c, n, 58), "scatters by"),
    (checks.check_board, lambda c, n: board(c, n, 1), "where entries differ"),
]
