"""Checks for the exercises of *Inside a model*: each names the mistake it recognizes."""

from __future__ import annotations

import math

import numpy as np

from primer.inside.superposition import directions_within, sharing_border
from primer.notebook import ChoiceExercise, Mistake, NumberExercise, exercise, varied
from primer.notebook.answers import Answer, as_array, as_number, explain
from primer.notebook.wording import short

check_turn = ChoiceExercise(
    "19.1",
    choices={
        "a": "WQ: the matrix turns with the stream.",
        "b": "QᵀW: the matrix turns its reading side back.",
        "c": "QᵀWQ: both of its sides turn.",
        "d": "W: only the states turn.",
    },
    right="b",
    replies={
        "a": "WQ turns what comes out; asked is that the same comes out, and what comes in is "
        "turned",
        "b": "xQ · QᵀW = xW, since QQᵀ is the identity. A matrix that writes becomes WQ.",
        "c": "then xQ · QᵀWQ = xWQ: what comes out is turned, too; queries are not in the stream",
        "d": "then it reads xQW instead of xW, and the model breaks, as the section's control does",
    },
)


@varied(tenths=(*range(2, 10), *range(11, 41)))
def check_border(tenths: int = 30) -> NumberExercise:
    """Ask up to which chance opposite signs win, when the second feature counts tenths/10."""
    r = tenths / 10
    least, most = min(1.0, r), max(1.0, r)
    right = sharing_border(r)
    return NumberExercise(
        "19.2",
        question=f"The error of the second feature counts {r:g} times, that of the first once. Up "
        "to which chance p do two weights of size 1 and opposite signs, without biases, cost less "
        "than the number for one feature alone, with the mean of the other as its bias? By hand.",
        right=right,
        within=0.004,
        low=0,
        high=1,
        expects="a chance",
        wrong={
            4 / 7: "that is the border for equal importance",
            4 * most / (2 * (1 + r) + 3 * most): "whoever gets a number alone keeps the feature "
            "that counts more, and loses the other one",
            2 * least / (1 + r): "the variance of the lost feature is p/3 − p²/4; you left out the "
            "square of its mean",
            2 * least / (1 + r + 2 * least): "the mean of a feature is p/2, so the square of its "
            "mean is p²/4, not p²/3",
            1 - right: "that is the other side of the border",
        },
        otherwise=f"(1 + {r:g}) p²/6 on one side, {least:g} · (p/3 − p²/4) on the other",
        because=f"{1 + r:g} p/6 = {least:g} · (1/3 − p/4) gives p ≈ {right:.3f}.",
    )


@varied(d=(112, 120, 128, 136, 144, 152, 160), percent=(40, 42, 45, 48, 55))
def check_room(d: int = 128, percent: int = 45) -> NumberExercise:
    """Ask how many directions the union bound promises, by dimension and largest cosine."""
    epsilon = percent / 100
    exponent = d * epsilon**2 / 4
    right = directions_within(epsilon, d)
    return NumberExercise(
        "19.3",
        question=f"In {d} dimensions, all cosines at most {epsilon:g} in size: how many directions "
        "does the union bound of this chapter promise?",
        right=right,
        within=max(1.0, 0.001 * right),
        low=0,
        high=1e12,
        expects="a number of directions",
        wrong={
            d: "at right angles there is room for that many; here they need not be",
            math.exp(2 * exponent): "that is one over half the chance for one pair; n directions "
            "have about n²/2 pairs, so take the root",
            math.exp(d * epsilon / 4): "ε enters by its square",
        },
        otherwise=f"e to the power of {d} · {epsilon:g}² / 4",
        because=f"{d} · {epsilon**2:.4g} / 4 = {short(exponent)}, and e to that power is "
        f"{math.exp(exponent):.2f}: {right} directions.",
    )


@exercise("19.4")
def check_pattern(answer: Answer) -> None:
    """Check ``answer(weights, covariance)``: along which direction states move."""
    random = np.random.default_rng(4)
    for d in (2, 3, 6):
        w, mix = random.normal(size=d), random.normal(size=(d, d))
        covariance = mix @ mix.T + np.eye(d)
        moved = covariance @ w
        explain(
            as_array(answer(w.copy(), covariance.copy()), (d,)),
            moved / (w @ moved),
            {
                "that is the shortest push, which looks at the reading alone": w / (w @ w),
                "the right direction with another length: the reading should move by 1": moved,
                "the right direction, of length 1: the reading should move by 1": moved
                / np.linalg.norm(moved),
                "multiply by Σ, not by its inverse: the inverse leads from pattern to weights": (
                    np.linalg.solve(covariance, w) / (w @ np.linalg.solve(covariance, w))
                ),
                "the inverse leads from the pattern to the weights; here you go the other way": (
                    np.linalg.solve(covariance, w)
                ),
                "those are the weights themselves": w,
                "divided by the square of its own length; what the probe reads of it should be 1": (
                    moved / (moved @ moved)
                ),
                "no root: what the probe reads of Σw is wᵀΣw, and it should become 1": (
                    moved / np.sqrt(w @ moved)
                ),
                "divide by wᵀΣw, not by wᵀw": moved / (w @ w),
            },
        )


@exercise("19.5")
def check_carried(answer: Answer) -> None:
    """Check ``answer(here, there, place)``: one place's vectors of another run, carried over."""
    random = np.random.default_rng(5)
    for batch, seq, place in ((2, 4, 1), (3, 5, 0), (4, 4, 3)):
        here, there = random.normal(size=(2, batch, seq, 3))
        right, kept, row = here.copy(), here.copy(), here.copy()
        right[:, place] = there[:, place]
        other = there.copy()
        other[:, place] = here[:, place]
        row[min(place, batch - 1)] = there[min(place, batch - 1)]
        added, first, width = here.copy(), here.copy(), here.copy()
        added[:, place] += there[:, place]
        first[0, place] = there[0, place]
        width[:, :, place % 3] = there[:, :, place % 3]
        later = here.copy()
        later[:, place:] = there[:, place:]
        source = there.copy()
        got = as_array(answer(here, there, place), here.shape)
        if not np.array_equal(here, kept):
            raise Mistake(
                "it changes the run that it was given: copy first, or the next patch starts from "
                "a run that is patched already"
            )
        if not np.array_equal(there, source):
            raise Mistake("it changes the other run: only read from that one")
        explain(
            got,
            right,
            {
                "that is the other run, with one place of this one": other,
                "that carries all places over: the whole layer is the whole run": there,
                "nothing is carried over": here,
                "the first axis counts prompts, the second places": row,
                "that carries the later places over as well": later,
                "the other run's vector takes the place of this one; here it is added to it": added,
                "that is the first prompt alone; the place is carried over for every prompt": first,
                "the last axis is the width of a vector; places are the second": width,
            },
        )


@exercise("19.6")
def check_share(answer: Answer) -> None:
    """Check ``answer(patched, corrupted, clean)``: a ratio of means over prompts."""
    random = np.random.default_rng(6)
    for n in (5, 8, 12):
        clean = random.normal(6, 3, size=n)
        corrupted = clean - random.normal(4, 3, size=n)
        patched = corrupted + 0.6 * (clean - corrupted) + random.normal(size=n)
        gained, whole = patched - corrupted, clean - corrupted
        explain(
            np.array(as_number(answer(patched.copy(), corrupted.copy(), clean.copy()))),
            np.array(gained.mean() / whole.mean()),
            {
                "that is the mean of ratios: one prompt that the corruption hardly changes decides "
                "it": (gained / whole).mean(),
                "that is the median of ratios, which weights all prompts alike": np.median(
                    gained / whole
                ),
                "that is what is still missing: take it from 1": 1 - gained.mean() / whole.mean(),
                "the measure has no zero of its own: subtract the corrupted run above and below": (
                    patched.mean() / clean.mean()
                ),
                "upside down: what is bridged stands above": whole.mean() / gained.mean(),
                "a sum over a mean grows with the number of prompts: take two means": (
                    gained.sum() / whole.mean()
                ),
                "without signs a patch that does harm counts as one that mends": (
                    abs(gained).mean() / abs(whole).mean()
                ),
                "these are medians; asked is a ratio of two means": (
                    np.median(gained) / np.median(whole)
                ),
            },
        )


check_absorption = ChoiceExercise(
    "19.7",
    choices={
        "a": "The model does not know that a whale is an animal.",
        "b": "The row for animals is a wrong one; training longer will mend it.",
        "c": "The row for whales carries the direction of animals, too, which saves an active row.",
        "d": "The dictionary is too small: more rows will mend it.",
    },
    right="c",
    replies={
        "a": "the states may hold both; the dictionary gives back what is there with one active "
        "row instead of two",
        "b": "training did what it was paid for: one active row is cheaper than two",
        "c": "For each whale one row is active instead of two, and nothing is lost. So “animal” "
        "is silent exactly there.",
        "d": "with more rows there is more room for special cases, and each may take over from "
        "a general one",
    },
)


@exercise("19.8")
def check_extreme(answer: Answer) -> None:
    """Check ``answer(shift, others)``: how extreme a push is among random ones."""
    random = np.random.default_rng(8)
    got, right, shown = [], [], []
    mistakes: dict[str, list[float]] = {}
    for n in (8, 19, 40):
        others = random.normal(size=n)
        for shift in (1.1, -0.9, 4.0, -float(others[0])):
            got.append(as_number(answer(shift, others.copy())))
            sizes, own = abs(others), abs(shift)
            beyond, above = int((sizes >= own).sum()), int((others >= shift).sum())
            center = others.mean()
            right.append((1 + beyond) / (1 + n))
            shown.append((shift, n))
            for sentence, wrong in {
                "your own push counts as one of them: with eight controls nothing can be "
                "rarer than one in nine": beyond / n,
                "a random push may move the odds either way: compare sizes": (1 + above) / (1 + n),
                "that is the share of those that move less": 1 - right[-1],
                "that counts those that go no farther; asked are those that go at least as far": (
                    (1 + int((sizes <= own).sum())) / (1 + n)
                ),
                "the push belongs below the line as well: 1 + n of them": (1 + beyond) / n,
                "a push that goes just as far counts, too: at least as far": (
                    (1 + int((sizes > own).sum())) / (1 + n)
                ),
                "compare sizes, and count your own push above and below the line": above / n,
                "asked is how far from 0, not from the mean of the random ones": (
                    (1 + int((abs(others - center) >= abs(shift - center)).sum())) / (1 + n)
                ),
                "that is how many go as far; asked is their share": 1.0 + beyond,
                "that is how many spreads away it is; asked is a share of all pushes": (
                    (shift - center) / others.std()
                ),
            }.items():
                mistakes.setdefault(sentence, []).append(wrong)
    worst = int(np.abs(np.subtract(got, right)).argmax())
    explain(
        np.array(got),
        np.array(right),
        {sentence: np.array(wrong) for sentence, wrong in mistakes.items()},
        "a push by {:.2g} beside {} random ones: the share is {:.4g}, yours is {:.4g}".format(
            *shown[worst], right[worst], got[worst]
        ),
    )
