"""Checks for the exercises of *Reasoning*: each names the mistake it recognizes."""

from __future__ import annotations

import itertools
import math

import numpy as np

from primer.notebook import ChoiceExercise, Mistake, NumberExercise, exercise, varied
from primer.notebook.answers import Answer, as_array, explain
from primer.notebook.wording import short, word


@varied(percent=(2, 4, 5, 8, 10), passing=(80, 85, 90, 95), leak=(1, 2, 3))
def check_ceiling(percent: int = 5, passing: int = 90, leak: int = 2) -> NumberExercise:
    """Ask how often the first accepted reply is right, for a checker that errs."""
    p, t, f = percent / 100, passing / 100, leak / 100
    good, bad = p * t, (1 - p) * f
    right = good / (good + bad)
    return NumberExercise(
        "18.3",
        question=f"A model is right in {percent} % of its replies. A checker accepts {passing} % "
        f"of the right ones and {leak} % of the wrong ones. You draw until it accepts. With which "
        "probability is that reply right?",
        right=right,
        within=0.004,
        low=0,
        high=1,
        expects="a probability",
        wrong={
            good: "that is how often a reply is right and accepted; divide by how often one is "
            "accepted at all",
            t: "that is how often a right reply is accepted; asked is how many accepted ones are "
            "right",
            t / (t + f): f"you took {t:g} against {f:g}, as if right and wrong replies were "
            "equally frequent",
            p / (p + bad): f"right replies are accepted in {passing} % of the cases only",
            good + bad: "that is how often a reply is accepted",
            bad: "that is how often a reply is wrong and accepted all the same",
            good / (good + f): f"{leak} % of the *wrong* replies are accepted, not of all: weight "
            "them with 1 − p",
            1 - right: "that is the share of accepted ones that are wrong",
        },
        otherwise="p·τ over p·τ + (1 − p)·φ",
        because=f"{p:g} · {t:g} = {short(good)} against {1 - p:g} · {f:g} = {short(bad)}, and "
        f"{short(good)} / {short(good + bad)} ≈ {right:.3f}.",
    )


@varied(replies=(4, 5, 6, 7), percent=(10, 20, 25, 30, 40, 50))
def check_weight(replies: int = 5, percent: int = 50) -> NumberExercise:
    """Ask for the weight of a group whose spread is divided out, by its size."""
    n, p = replies, percent / 100
    summed = sum(
        math.comb(n, k) * p**k * (1 - p) ** (n - k) * math.sqrt(k * (n - k)) for k in range(1, n)
    )
    variance = p * (1 - p)
    right = summed / n / variance
    plain = sum(p**k * (1 - p) ** (n - k) * math.sqrt(k * (n - k)) for k in range(1, n))
    plain = plain / n / variance
    return NumberExercise(
        "18.4",
        question=f"Groups of {word(n)} replies, advantages divided by the spread. A question is "
        f"solved in {percent} % of the replies. By which factor is the expected step longer than "
        "∇p? By hand, from the theorem.",
        right=right,
        within=0.006,
        low=0,
        high=100,
        expects="a factor",
        wrong={
            1 / math.sqrt(variance): "that is the limit of many replies, 1/√(p(1 − p)); here "
            f"there are {word(n)}",
            1: "that is leaving one out, without the division",
            1 - 1 / n: f"that is the mean without the division, 1 − 1/{n}",
            summed: f"divide by n p (1 − p), which is {short(n * variance, 4)}",
            right * n: f"divide by n: the step is a mean over the {word(n)} replies",
            right / n: "the n is divided out twice",
            plain: "each term has a binomial coefficient: there are several groups with so many "
            "right ones",
            right / 2: "add the terms up to n − 1, not to the middle alone",
        },
        otherwise=f"add √(c({n} − c)) over c = 1 … {n - 1}, each with its binomial chance, over "
        f"{n} · {short(variance, 4)}",
        because=f"The sum of √(c({n} − c)), each with its chance, is about {summed:.3f}, divided "
        f"by {short(n * variance, 4)}: about {right:.3f}.",
    )


check_push = ChoiceExercise(
    "18.6",
    choices={
        "a": "Both alike: their advantages are equal.",
        "b": "A token of the long one.",
        "c": "A token of the short one.",
    },
    right="c",
    replies={
        "a": "the advantages are equal, and each is divided by its own reply's length",
        "b": "the long reply shares its advantage among more tokens",
        "c": "Each token carries A/|y|, and the short reply has fewer of them: being wrong at "
        "length is cheap.",
    },
)

END = 54


def _pressed(display: int, key: int) -> int | None:
    """Press a key of the chapter's calculator, 0 to 3."""
    if key == 3 and display % 2:
        return None
    shown = (display + 3, display - 5, display * 2, display // 2)[key]
    return shown if 0 <= shown < 50 else None


CASES: list[tuple[int, int, list[int], bool, str]] = [
    (7, 20, [50, 10, 52, 20, END], True, "keys that lead to the target are right"),
    (7, 20, [50, 11, 52, 20, END], True, "the keys decide; the numbers are not read"),
    (7, 20, [50, 10, 52, 20, END, 50, 23], True, "what stands behind the end does not count"),
    (7, 20, [50, 10, 52, 20, END, END], True, "the first end counts, not what is behind it"),
    (7, 20, [50, 20, END], False, "7 + 3 is not 20: press the key, do not read the number"),
    (7, 20, [50, 10, 52, 20], False, "a reply without an end is not right"),
    (7, 3, [53, 3, END], False, "half of an odd number is an illegal press"),
    (45, 48, [52, 40, 50, 48, END], False, "90 does not fit on the display: an illegal press"),
    (3, 1, [51, 0, 50, 1, END], False, "−2 does not fit on the display: an illegal press"),
    (7, 20, [50, 52, END], False, "behind a key a number is due"),
    (7, 7, [10, END], False, "the first token is a key, or the end"),
    (7, 20, [END], False, "no press leads nowhere"),
    (7, 20, [50, 10, 52, END], False, "behind a key a number is due, before the end"),
    (7, 10, [50, 52, END], False, "behind a key a number is due, not another key"),
    (7, 10, [12, 7, 50, 10, END], False, "a number stands where a key is due"),
    (7, 10, [55, 7, 50, 10, END], False, "55 is no key: the arrow belongs to the question"),
    (46, 49, [50, 49, END], True, "49 is on the display"),
    (5, 3, [51, 0, 50, 3, END], True, "0 is on the display"),
    (25, 45, [52, 50, 51, 45, END], False, "50 does not fit on the display, which ends at 49"),
    (25, 45, [52, 49, 51, 45, END], False, "2 · 25 does not fit on the display, which ends at 49"),
    (7, 10, [53, 7, 50, 10, END], False, "an illegal press ends it; it is not passed over"),
    (7, 44, [53, 3, 51, 44, END], False, "an illegal press ends it: there is no display behind it"),
    (7, 20, [50, 10, 52, 20, 50, 23, END], False, "it passes the target and goes on to 23"),
    (7, 10, [50], False, "it stops behind a key: a reply without an end is not right"),
    (7, 10, [50, 55, END], False, "behind a key a number is due, and 55 is the arrow"),
]


LUCKY = CASES[1]
"""What the strict checker passes, and one that reads the numbers does not."""


@exercise("18.1")
def check_checker(answer: Answer) -> None:
    """Check ``answer(start, target, tokens)``: whether the keys lead to the target."""
    for start, target, tokens, right, why in CASES:
        try:
            said = bool(answer(start, target, list(tokens)))
        except (IndexError, ValueError, TypeError) as error:
            raise Mistake(f"for {start} → {target} and {tokens} it fails: {error}; {why}") from None
        if said != right:
            word = "right" if right else "wrong"
            raise Mistake(f"{start} → {target} with {tokens} is {word}: {why}")


@exercise("18.2")
def check_estimator(answer: Answer) -> None:
    """Check ``answer(right, n, k)``: pass@k of each question, also for large n."""
    for n, k in ((10, 5), (16, 4), (256, 64), (2000, 1000), (6, 6)):
        c = np.unique(np.linspace(0, n, 9).astype(int))
        draws = np.arange(k)
        none = np.prod(np.clip(n - c[:, None] - draws, 0, None) / (n - draws), axis=1)
        with np.errstate(all="ignore"):
            try:
                got = as_array(answer(c.copy(), n, k), c.shape, allow_nan=True)
            except OverflowError:
                raise Mistake("the binomials overflow: multiply k factors instead") from None
        if np.isnan(got).any():
            raise Mistake(f"n = {n}, k = {k} gives NaN: multiply k factors, no large factorials")
        explain(
            got,
            1 - none,
            {
                "that is 1 − (1 − c/n)^k, which is too low on average": 1 - (1 - c / n) ** k,
                "that is the chance of no right one: take it from 1": none,
                "that is pass@1: a single try": c / n,
                "chances of k tries do not add up: a question solved twice counts once": k * c / n,
                "that is whether any of the n is right, and only k of them are picked": (
                    c > 0
                ).astype(float),
                "one factor is missing: there are k draws": 1
                - np.prod(np.clip(n - c[:, None] - draws[:-1], 0, None) / (n - draws[:-1]), axis=1),
            },
        )


@exercise("18.5")
def check_groups(answer: Answer) -> None:
    """Check ``answer(reward, tries)``: replies ordered question-last."""
    for questions, tries in ((4, 3), (2, 4), (5, 5)):
        random = np.random.default_rng(questions)
        reward = (random.random(questions * tries) < 0.5).astype(float)
        reward[:2] = 1, 0
        table = reward.reshape(tries, questions)
        wrong = reward.reshape(questions, tries)
        right, spread = (table - table.mean(axis=0)).ravel(), table.std(axis=0)
        explain(
            as_array(answer(reward.copy(), tries), reward.shape),
            right,
            {
                "that groups neighbors, which answer different questions": (
                    wrong - wrong.mean(axis=1, keepdims=True)
                ).ravel(),
                "that compares with the whole batch": reward - reward.mean(),
                "the rows are neighbors still: let `reshape` give each question a column": (
                    wrong - wrong.mean(axis=0)
                ).ravel(),
                "a row holds one reply to each question: take the mean down the columns": (
                    table - table.mean(axis=1, keepdims=True)
                ).ravel(),
                "the sign: a reply better than its group has an advantage above 0": -right,
                "right groups, and the result in another order than the rewards": (
                    table - table.mean(axis=0)
                ).T.ravel(),
                "that leaves each reply out of the mean it is compared with, n/(n − 1) times as "
                "much; asked is the mean of all, as in the program": right * tries / (tries - 1),
                "subtract the mean only; do not divide by the spread": right
                / np.tile(np.where(spread > 0, spread, 1), tries),
            },
        )


@exercise("18.7")
def check_advantage(answer: Answer) -> None:
    """Check ``answer(rewards, values, decay)``: generalized advantages of one reply."""
    random = np.random.default_rng(0)
    for size, decay in itertools.product((2, 6, 1), (0.0, 0.9, 1.0)):
        rewards, values = random.normal(size=(2, size))
        ahead = np.append(values[1:], 0.0)
        delta = rewards + ahead - values

        def summed(delta: np.ndarray, decay: float = decay, size: int = size) -> np.ndarray:
            found, behind = np.zeros(size), 0.0
            for t in reversed(range(size)):
                behind = found[t] = delta[t] + decay * behind
            return found

        explain(
            as_array(answer(rewards.copy(), values.copy(), decay), (size,)),
            summed(delta),
            {
                "behind the end the value is 0, not the last value again": summed(
                    rewards + np.append(values[1:], values[-1]) - values
                ),
                "subtract V_t: the critic's guess is the baseline": summed(rewards + ahead),
                "that is λ = 0: add the later δ, each weighted with λ once more": delta,
                "that is λ = 1, whatever λ was given": summed(delta, 1.0),
                "begin behind the end: a token is judged by what comes after it": summed(
                    delta[::-1]
                )[::-1],
                "λ weights the later δ, not the value in δ": summed(
                    rewards + decay * ahead - values
                ),
                "the δ of the token itself counts whole, without λ": summed(delta) * decay,
                "the sign: what came, less what was expected": -summed(delta),
                "weight with λ to the power of the distance, not once for all": np.array(
                    [delta[t] + decay * delta[t + 1 :].sum() for t in range(size)]
                ),
            },
        )


@exercise("18.8")
def check_honest(answer: Answer) -> None:
    """Check ``answer(start, target, tokens)``: whether every number follows, to the target."""
    random = np.random.default_rng(1)
    cases = [case for case in CASES if case != LUCKY]
    cases += [
        (7, 20, [50, 10, 52, 20, END], True, "every number follows, and the last is the target"),
        (7, 20, [50, 11, 52, 20, END], False, "7 + 3 is not 11, though the keys lead to 20"),
        (7, 22, [50, 11, 52, 22, END], False, "7 + 3 is not 11; the rest follows from it"),
        (7, 10, [50, 11, END], False, "the keys lead to 10, and the last number says 11"),
    ]
    for _ in range(200):
        start, display, tokens, sound = int(random.integers(50)), 0, [], True
        display = start
        for _ in range(int(random.integers(1, 6))):
            legal = [key for key in range(4) if _pressed(display, key) is not None]
            key = int(random.choice(legal))
            shown = _pressed(display, key)
            assert shown is not None
            if random.random() < 0.1:
                shown, sound = int((shown + 1) % 50), False
            tokens += [50 + key, shown]
            display = shown
        why = "every number follows" if sound else "one number on the way does not follow"
        cases.append((start, display, [*tokens, END], sound, why))
    for start, target, tokens, honest, why in cases:
        try:
            said = bool(answer(start, target, list(tokens)))
        except (IndexError, ValueError, TypeError) as error:
            raise Mistake(f"for {start} → {target} and {tokens} it fails: {error}; {why}") from None
        if said != honest:
            word = "is honest" if honest else "is not honest"
            raise Mistake(f"{start} → {target} with {tokens} {word}: {why}")
