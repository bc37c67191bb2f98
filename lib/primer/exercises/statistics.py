"""Checks of the exercises of chapter 01: each knows the usual mistakes and names the one made."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from primer.notebook import ChoiceExercise, NumberExercise, exercise, varied
from primer.notebook.answers import Answer, as_number, explain
from primer.notebook.wording import short, word


def _explain(case: str, value: Any, right: float, mistakes: dict[str, float]) -> None:
    """Raise the mistake whose result was given, or say for which case the numbers differ."""
    got = as_number(value)
    explain(got, right, mistakes, f"{case} the result is {got:.6g}, but {right:.6g} is right")


@varied(root=(3, 4, 5, 6, 8), wanted=(0.05, 0.1, 0.2, 0.5), factor=(3, 4, 5, 6, 10))
def check_precision(root: int = 5, wanted: float = 0.1, factor: int = 4) -> NumberExercise:
    """Ask how many observations make the error so many times smaller."""
    had, error, sd = root**2, factor * wanted, factor * wanted * root
    right = factor**2 * had
    return NumberExercise(
        "1.1",
        question=f"The mean of {had} observations has a standard error of {error:g}. How many "
        f"observations in all does a standard error of {wanted:g} need?",
        right=right,
        within=0.5,
        low=1,
        high=100_000,
        expects="a whole number of observations",
        wrong={
            factor * had: f"{word(factor)} times the data only leaves {error:g}/√{factor} = "
            f"{short(error / math.sqrt(factor), 2)}: the error falls like 1/√n",
            2 * had: f"twice the data leaves {error:g}/√2 = {short(error / math.sqrt(2), 2)}",
            right - had: "that many are to be added; the question asks for all of them, with the "
            f"first {had}",
            factor**2: f"that is the factor; {had} observations are there already, so multiply "
            "them by it",
            factor * root: f"that is σ/{wanted:g} = √n, with σ = {error:g} · √{had} = {sd:g}; "
            "square it",
            sd**2 / wanted: f"that is σ²/{wanted:g}; the wanted error is to be squared as well: "
            f"n = σ²/{wanted:g}²",
            4 * right: f"an error {word(2 * factor)} times smaller would need {4 * factor**2} · "
            f"{had} = {4 * right}; {word(factor)} times is enough",
        },
        otherwise=f"the error is σ/√n with σ = {error:g} · √{had} = {sd:g}; solve "
        f"{sd:g}/√n = {wanted:g}",
        because=f"An error {word(factor)} times smaller costs {factor**2} times the data.",
    )


@exercise("1.2")
def check_best_shrinkage(best_shrinkage: Answer) -> None:
    """Check ``best_shrinkage(mean, sd, n)``, the c that minimizes the error of c·X̄."""
    rng = np.random.default_rng()  # other numbers in every run: no table of answers passes
    drawn = [(rng.uniform(0.5, 3), rng.uniform(0.5, 3), int(rng.integers(2, 50))) for _ in range(2)]
    for mean, sd, n in ((2.0, 3.0, 5), (-0.5, 1.0, 10), (10.0, 1.0, 2), *drawn):
        signal, noise = mean**2, sd**2 / n
        _explain(
            f"for mean {mean:g}, sd {sd:g}, n = {n}",
            best_shrinkage(mean, sd, n),
            signal / (signal + noise),
            {
                "1 is the unbiased choice, but a little bias buys a smaller error": 1.0,
                "that is the variance of one observation; the mean of n has σ²/n": signal
                / (signal + sd**2),
                "that is the share of the noise; the factor is the share of the signal": noise
                / (signal + noise),
                "n − 1 belongs to an estimate of σ² from the sample; here σ is given, and the mean "
                "has the variance σ²/n": signal / (signal + sd**2 / (n - 1)),
                "the standard deviation of the mean is σ/√n; its square is what counts": signal
                / (signal + sd / math.sqrt(n)),
                "both parts are to be squared: μ² against σ²/n, for c² multiplies a variance": mean
                / (mean + sd / math.sqrt(n)),
            },
        )


@exercise("1.3")
def check_geometric_information(geometric_information: Answer) -> None:
    """Check ``geometric_information(theta)``, for the number of tosses up to the first head."""
    for p in (0.2, 0.5, 0.9, *np.random.default_rng().uniform(0.1, 0.9, 2)):
        _explain(
            f"for θ = {p:.4g}",
            geometric_information(p),
            1 / (p**2 * (1 - p)),
            {
                "that is the information of a single toss; here the tosses go on until the first "
                "head": 1 / (p * (1 - p)),
                "the sign: information is minus the expected second derivative": -1
                / (p**2 * (1 - p)),
                "the term with x is missing: E(x) = 1/θ tosses, so E(x − 1) = (1 − θ)/θ": 1 / p**2,
                "the expected number of failures is E(x − 1) = (1 − θ)/θ, not 1/θ": 1 / p**2
                + 1 / (p * (1 - p) ** 2),
                "that is the variance of x, not the information about θ": (1 - p) / p**2,
                "the sign of one term: −∂² of (x − 1) log(1 − θ) is (x − 1)/(1 − θ)², above 0 as "
                "well": 1 / p**2 - 1 / (p * (1 - p)),
            },
        )


@varied(rate=(2, 3, 4, 5, 6, 8, 10, 12), n=(50, 100, 200, 400, 900, 1600))
def check_twice(rate: int = 2, n: int = 400) -> NumberExercise:
    """Ask for the variance of √n(θ̂ − θ), where the notes count the sample twice."""
    variance = rate**2
    at_n = n**3 * variance / ((n - 1) ** 2 * (n - 2))
    return NumberExercise(
        "1.4",
        question="A set of lecture notes defines I(θ) as the information of the whole sample and "
        f"then states √n(θ̂ − θ) → N(0, 1/I(θ)). For {n} waiting times with rate {rate}, that "
        f"sample has the information {n}/{rate}² = {short(n / variance)}, and the notes predict a "
        f"variance of {short(variance / n)} for √n(θ̂ − θ). To which number does it really tend as "
        "the sample grows?",
        right=variance,
        within=0.001,
        low=0,
        high=400_000,
        expects="a variance, as a number",
        wrong={
            at_n: f"that is the exact variance at n = {n}; as the sample grows, it falls to 1/I₁",
            variance / n: f"the notes predict {short(variance / n)}, and that is {n} times too "
            "small; a cell of the section on much data measures such a variance",
            1 / variance: "that is the information of one waiting time, 1/θ²; the variance is its "
            "reciprocal",
            rate: "that is the standard deviation; the question asks for the variance",
            n * variance: f"with √n in front, the n = {n} observations have been counted already; "
            f"use I₁ = 1/{variance}",
            n / variance: "that is the information of the whole sample; use that of one "
            f"observation, 1/{variance}",
        },
        otherwise="√n(θ̂ − θ) has the limit N(0, 1/I₁), and one waiting time has I₁ = 1/θ² with "
        f"θ = {rate}",
        because=f"It is 1/I₁ = θ² = {variance}: √n goes with the information of one observation.",
    )


check_mixture = ChoiceExercise(
    "1.5",
    choices={
        "a": "(R1): σ is at the edge of the parameter space.",
        "b": "(R2): the support moves.",
        "c": "(R4): there is no information about μ and σ.",
        "d": "(R5): there is no maximum likelihood estimate.",
    },
    right="d",
    replies={
        "a": "(R1) speaks of the truth, and the true σ may well lie inside; it is the climb of the "
        "likelihood that runs to the edge σ → 0, and never arrives.",
        "b": "A mixture of normal laws has a positive density on the whole line for all μ and σ.",
        "c": "At a true σ of 1, say, the slopes of the log-likelihood do vary from sample to "
        "sample; (R4) holds. Ask what the log-likelihood does when σ goes from 1e-20 to 1e-100.",
        "d": "With μ on an observation, the log-likelihood grows by −log σ without limit: it has "
        "no highest value, for any data, and a larger one is no better fit.",
    },
)


@varied(sd=range(1, 25))
def check_edge(sd: int = 1) -> NumberExercise:
    """Ask for the variance of an estimate that cannot be negative, at a true mean of 0."""
    variance = sd**2
    unit = 1 / 2 - 1 / (2 * math.pi)
    return NumberExercise(
        "1.6",
        question=f"Normal observations with known σ = {sd} and a mean that cannot be negative, "
        "μ ≥ 0. The maximum likelihood estimate is μ̂ = max(X̄, 0). The truth is μ = 0, where (R1) "
        f"fails, and 1/I₁ = {variance}. What is the variance of √n μ̂, to two decimals?",
        right=variance * unit,
        within=0.005,
        low=0,
        high=1000,
        expects="a variance, as a number with two decimals",
        wrong={
            variance: "that is 1/I₁, what the theorem would say; but half of the samples give "
            "exactly 0",
            variance / 2: "that is E of the square; subtract the square of the mean, "
            f"{variance}/(2π)",
            sd * math.sqrt(unit): "that is the standard deviation; the question asks for the "
            "variance",
            variance / (2 * math.pi): f"that is the square of the mean, {variance}/(2π); subtract "
            f"it from E of the square, {variance}/2",
            variance * (1 / 2 - 1 / math.sqrt(2 * math.pi)): "E of max(Z, 0) is 1/√(2π) = 0.399; "
            "its square, 1/(2π), is to be subtracted from 1/2",
        },
        otherwise=f"with σ = {sd}, E of the square is {variance}/2; subtract the square of the "
        f"mean, which is {sd}/√(2π)",
        because=f"It is σ² (1/2 − 1/(2π)) = {variance * unit:.3f}: a third of 1/I₁, and "
        "half of the law sits on a point.",
    )


check_walk = NumberExercise(
    "1.7",
    right=0.5,
    within=0.01,
    low=0,
    high=1,
    expects="a share",
    wrong={
        0.75: "that is the posterior, and what a walk tells that counts refused steps, too; here "
        "after an accepted step to b the next accepted one leads to a",
        0.25: "that is the posterior of a; which place follows an accepted step from a?",
        1 / 3: "one in three is how often a step down is accepted; but refused ones leave no note",
    },
    otherwise="only accepted steps are noted, and each of them changes the place: a, b, a, b, …",
    because="Accepted steps alternate. The posterior is in how long the walk stays.",
)


@exercise("1.8")
def check_permutation_p_value(permutation_p_value: Answer) -> None:
    """Check ``permutation_p_value(x, y)``, exact and one-sided, from the difference of means."""
    cases = [
        ([3.0, 5.0, 4.0], [1.0, 2.0, 4.5]),
        ([1.0, 2.0], [3.0, 4.0, 9.0]),
        ([2.0, 0.5], [1.0, 0.0]),
        # 0.7 + 0.1 falls short of 0.5 + 0.3, however a sum is rounded: by `sum` of any Python, too
        ([0.5, 0.3], [0.7, 0.1, 0.4, 0.4]),
    ]
    rng = np.random.default_rng()
    for m, n in ((3, 4), (2, 5)):
        cases.append((rng.normal(1, 1, m).round(2).tolist(), rng.normal(0, 1, n).round(2).tolist()))
    for x, y in cases:
        pooled, m = np.array(x + y), len(x)
        everything = set(range(len(pooled)))
        chosen = [list(c) for c in itertools.combinations(range(len(pooled)), m)]
        gaps = np.array(
            [pooled[c].mean() - pooled[list(everything - set(c))].mean() for c in chosen]
        )
        seen = gaps[0]  # the first choice is the arrangement that was observed
        at_least = gaps >= seen - 1e-12
        without_room = [sum(pooled[c].tolist()) >= sum(x) for c in chosen]
        beyond = gaps > seen + 1e-12
        mistakes = {
            "the observed arrangement counts too, and equal sums may differ in their last digit: "
            "ask for ≥, not >, and leave a little room (1e-9)": float(beyond.mean()),
            "equal sums may differ in their last digit: leave a little room (1e-9)": float(
                np.mean(without_room)
            ),
            "equal numbers are several observations: choose places, not values": float(
                np.mean([sum(c) >= sum(x) - 1e-9 for c in {*itertools.combinations(x + y, m)}])
            ),
            "two-sided: the question was whether x is larger": float(
                (np.abs(gaps) >= abs(seen) - 1e-12).mean()
            ),
            "the wrong side: large differences x̄ − ȳ speak against H₀": float(
                (gaps <= seen + 1e-12).mean()
            ),
        }
        value, right = as_number(permutation_p_value(x, y)), float(at_least.mean())
        share = value * len(
            gaps
        )  # of all deals a whole number, of some drawn at random hardly ever
        if abs(value - right) < 0.05 and abs(share - round(share)) > 1e-6:
            explain(
                value,
                right,
                mistakes,
                f"near the right number, but no share of all {len(gaps)} deals of {len(pooled)} "
                "numbers: the exact probability was asked, so list the deals, do not draw some",
            )
        _explain(f"for x = {x} and y = {y}", value, right, mistakes)
