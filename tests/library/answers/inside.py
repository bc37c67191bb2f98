"""Answers to the exercises on the inside of a model."""

import numpy as np

from primer.exercises import inside as checks


def pattern(w, covariance):
    moved = covariance @ w
    return moved / (w @ moved)


def by_inverse(w, covariance):
    moved = np.linalg.solve(covariance, w)
    return moved / (w @ moved)


def added(here, there, place):
    found = here.copy()
    found[:, place] += there[:, place]
    return found


def first_prompt(here, there, place):
    found = here.copy()
    found[0, place] = there[0, place]
    return found


def of_width(here, there, place):
    found = here.copy()
    found[..., place % 3] = there[..., place % 3]
    return found


def beyond(shift, others):
    return (1 + (abs(others) > abs(shift)).sum()) / (1 + len(others))


def carried(here, there, place):
    found = here.copy()
    found[:, place] = there[:, place]
    return found


def in_place(here, there, place):
    here[:, place] = there[:, place]
    return here


def out_of_the_other(here, there, place):
    """Carry over, and leave nothing behind."""
    found = carried(here, there, place)
    there[:, place] = 0
    return found


def of_prompts(here, there, place):
    found = here.copy()
    row = min(place, len(here) - 1)
    found[row] = there[row]
    return found


def from_there_on(here, there, place):
    found = here.copy()
    found[:, place:] = there[:, place:]
    return found


def share(patched, corrupted, clean):
    return (patched - corrupted).mean() / (clean - corrupted).mean()


def of_ratios(patched, corrupted, clean, mean=np.mean):
    return mean((patched - corrupted) / (clean - corrupted))


def extreme(shift, others, own=1, below=1, size=abs):
    return (own + (size(others) >= size(shift)).sum()) / (below + len(others))


RIGHT = [
    (checks.check_pattern, pattern),
    (checks.check_carried, carried),
    (checks.check_carried, lambda h, t, p: np.where(np.arange(h.shape[1])[:, None] == p, t, h)),
    (checks.check_share, share),
    (checks.check_extreme, extreme),
    (checks.check_extreme, lambda s, o: np.mean(abs(np.append(o, s)) >= abs(s))),
]

WRONG = [
    (checks.check_pattern, lambda w, c: w / (w @ w), "shortest push"),
    (checks.check_pattern, lambda w, c: c @ w, "another length"),
    (checks.check_pattern, lambda w, c: c @ w / np.linalg.norm(c @ w), "of length 1"),
    (checks.check_pattern, by_inverse, "not by its inverse"),
    (checks.check_pattern, lambda w, c: w, "the weights themselves"),
    (checks.check_pattern, lambda w, c: c @ w / (w @ w), "divide by wᵀΣw"),
    (checks.check_pattern, lambda w, c: np.linalg.solve(c, w), "go the other way"),
    (checks.check_pattern, lambda w, c: c @ w / (w @ c @ c @ w), "square of its own length"),
    (checks.check_pattern, lambda w, c: c @ w / np.sqrt(w @ c @ w), "no root"),
    (checks.check_carried, added, "added to it"),
    (checks.check_carried, first_prompt, "the first prompt alone"),
    (checks.check_carried, of_width, "the width of a vector"),
    (checks.check_carried, in_place, "copy first"),
    (checks.check_carried, out_of_the_other, "changes the other run"),
    (checks.check_carried, lambda h, t, p: carried(t, h, p), "that is the other run"),
    (checks.check_carried, lambda h, t, p: t, "carries all places over"),
    (checks.check_carried, lambda h, t, p: h, "nothing is carried over"),
    (checks.check_carried, of_prompts, "the first axis counts prompts"),
    (checks.check_carried, from_there_on, "the later places over"),
    (checks.check_share, of_ratios, "mean of ratios"),
    (checks.check_share, lambda *m: of_ratios(*m, mean=np.median), "median of ratios"),
    (checks.check_share, lambda *m: 1 - share(*m), "take it from 1"),
    (checks.check_share, lambda p, k, c: p.mean() / c.mean(), "subtract the corrupted run"),
    (checks.check_share, lambda *m: 1 / share(*m), "upside down"),
    (checks.check_share, lambda *m: share(*m) * len(m[0]), "grows with the number"),
    (checks.check_share, lambda p, k, c: abs(p - k).mean() / abs(c - k).mean(), "without signs"),
    (checks.check_share, lambda p, k, c: np.median(p - k) / np.median(c - k), "medians"),
    (checks.check_extreme, lambda s, o: extreme(s, o, own=0, below=0), "one of them"),
    (checks.check_extreme, lambda s, o: extreme(s, o, size=np.real), "compare sizes"),
    (checks.check_extreme, lambda s, o: 1 - extreme(s, o), "that move less"),
    (checks.check_extreme, lambda s, o: extreme(s, o, below=0), "below the line"),
    (checks.check_extreme, beyond, "just as far"),
    (checks.check_extreme, lambda s, o: extreme(-s, o, size=lambda x: -abs(x)), "no farther"),
    (checks.check_extreme, lambda s, o: extreme(s - o.mean(), o - o.mean()), "how far from 0"),
    (checks.check_extreme, lambda s, o: extreme(s, o) * (1 + len(o)), "asked is their share"),
    (
        checks.check_extreme,
        lambda s, o: 2 * min((o >= s).mean(), (o <= s).mean()),
        "the share is",
    ),
    (checks.check_extreme, lambda s, o: (o >= s).mean(), "count your own push"),
    (checks.check_extreme, lambda s, o: (s - o.mean()) / o.std(), "how many spreads"),
]
