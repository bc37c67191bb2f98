"""Checks for the exercises of *Evaluation*: each names the mistake it recognizes."""

from __future__ import annotations

import math
import warnings

import numpy as np

from primer.evaluation import conformal_quantile, credits, wilson
from primer.notebook import ChoiceExercise, Mistake, NumberExercise, exercise, varied
from primer.notebook.answers import Answer, as_array, as_number, explain
from primer.notebook.wording import short


@varied(passages=(20, 25, 30, 40, 50), each=(5, 8, 10, 20), tenths=(1, 2, 3))
def check_effective(passages: int = 30, each: int = 20, tenths: int = 1) -> NumberExercise:
    """Ask how many independent questions tell as much, at a correlation in tenths."""
    n, rho = passages * each, tenths / 10
    effect = 1 + (each - 1) * tenths / 10
    right = n / effect
    return NumberExercise(
        "17.1",
        question=f"A reading test has {passages} passages with {each} questions each. The answers "
        f"of a model to two questions on one passage have the correlation {rho:g}. How many "
        "independent questions would tell as much about its accuracy?",
        right=right,
        within=max(0.6, 0.006 * right),
        low=0,
        high=1e6,
        expects="a number of questions",
        wrong={
            n: "that is how many there are; those of one passage repeat each other in part",
            passages: "that would be right if the questions of a passage all told the same, ρ = 1",
            effect: "that is the design effect; divide the number of questions by it",
            n / (1 + each * rho): f"the others of a passage are {each - 1}, not {each}: the effect "
            f"is 1 + {each - 1} · {rho:g}",
            n / (1 + (passages - 1) * rho): f"the clusters are the passages, and each has {each} "
            f"questions: the effect is 1 + {each - 1} · {rho:g}",
            n * effect: "the effect makes the variance larger: divide by it",
            n / math.sqrt(effect): "the design effect multiplies the variance; its root multiplies "
            "the error",
            n / (effect - 1): f"the 1 is missing: the effect is 1 + {each - 1} · {rho:g}, not "
            f"{effect - 1:.2g}",
        },
        otherwise=f"the design effect is 1 + ({each} − 1) · {rho:g}, and {n} divided by it "
        "is asked for",
        because=f"1 + {each - 1} · {rho:g} = {effect:.2g}, and {n} / {effect:.2g} ≈ {right:.0f}.",
    )


@varied(percent=range(10, 31), lead=(3, 4, 5))
def check_needed(percent: int = 20, lead: int = 3) -> NumberExercise:
    """Ask how many questions find a lead, by the percentage on which two models differ."""
    differ, delta = percent / 100, lead / 100

    def needed(z: float, variance: float) -> int:
        return math.ceil(z**2 * variance / delta**2)

    z, variance = 1.959964 + 0.841621, differ - delta**2
    exact = z**2 * variance / delta**2
    more, less = (differ + delta) / 2, (differ - delta) / 2
    apart = more * (1 - more) + less * (1 - less)
    right = needed(z, variance)
    return NumberExercise(
        "17.4",
        question=f"Two models answer the same questions. You expect that they differ on "
        f"{percent} % of them, and that one leads by {lead} points. How many questions find this "
        "in 80 of 100 cases, two-sided at 5 %?",
        right=right,
        within=3,
        low=-10,  # where somebody takes 3 points for 3
        high=1e7,
        expects="a whole number of questions",
        wrong={
            z**2 * variance / lead**2: f"a lead of {lead} points is δ = {delta:g}, not {lead}",
            z**2 * (differ - lead**2) / lead**2: f"a lead of {lead} points is δ = {delta:g}, not "
            f"{lead}; a variance is not negative",
            needed(z, apart): "p₁₀ and p₀₁ are shares of the same questions: where one model alone "
            "is right the other one is not, and that is in p₁₀ + p₀₁ − δ²",
            needed(z, variance) * differ: "so many will be discordant; to get them both models "
            f"have to answer all questions, 1 / {differ:g} times as many",
            needed(z, 2 * 0.7 * 0.3): "that is for two sets of questions, at an accuracy of 0.7; "
            "here both models answer the same ones",
            needed(z, differ): "the variance is p₁₀ + p₀₁ − δ²; you left out δ²",
            needed(1.959964, variance): "1.96 alone finds it every second time; add 0.84 for a "
            "power of 80 %",
            needed(1.644854 + 0.841621, variance): "1.64 is for a one-sided test; two-sided it is "
            "1.96",
            exact * delta: "divide by δ², not by δ",
            exact / z: "1.96 + 0.84 stands there squared: so much is wanted in errors, and n goes "
            "with the square of an error",
            (1.959964**2 + 0.841621**2) * variance / delta**2: "add 1.96 and 0.84 first, and "
            "square the sum",
            variance / delta**2: "with so many the lead is one error; it takes 1.96 + 0.84 of them",
            needed(z, differ * (1 - differ)): "that is the variance of *whether* they differ; "
            "subtracted are answers, +1, 0 or −1, and that has p₁₀ + p₀₁ − δ²",
            needed(z, differ - delta): "δ is squared in the variance, too: p₁₀ + p₀₁ − δ²",
            math.sqrt(right): "that is the root of n: square it",
        },
        otherwise=f"(1.96 + 0.84)² · ({differ:g} − {delta:g}²) / {delta:g}²",
        because=f"7.849 · {short(variance, 4)} / {short(delta**2)} ≈ {exact:,.1f}, so question "
        f"number {right:,} does it.",
    )


check_diagnose = ChoiceExercise(
    "17.5",
    choices={
        "a": "The model likes what stands first.",
        "b": "Rounded costs tie, and the first of them gets the tie.",
        "c": "Both are 52.4 % but for luck: the error is 1.8 points.",
        "d": "Rounding took away what the model knows.",
    },
    right="b",
    replies={
        "a": "each option is read by itself: the model never sees in which order they stand",
        "b": "In 102 of the 800 questions two options or more cost least; argmin takes the first "
        "of them, so that the right one wins these ties or loses them.",
        "c": "the questions, answers and costs are the same 800 both times; nothing was drawn anew",
        "d": "with ties shared the rounded costs still give 52.0 %; the order alone moves the "
        "score by eight points",
    },
)


@exercise("17.2")
def check_gain(answer: Answer) -> None:
    """Check ``answer(first, second, correlation)``: unpaired error over paired error."""
    for first, second, rho in ((1.0, 1.0, 0.9), (0.5, 3.0, 0.5), (3.0, 1.0, -0.4), (1.0, 1.5, 0.0)):
        unpaired = math.hypot(first, second)
        variance = first**2 + second**2 - 2 * rho * first * second

        def ratio(variance: float, unpaired: float = unpaired) -> np.ndarray:
            return np.asarray(unpaired / math.sqrt(variance))

        mean = (first**2 + second**2) / 2
        explain(
            np.asarray(as_number(answer(first, second, rho))),
            ratio(variance),
            {
                "that is the ratio of variances; take the root": ratio(variance) ** 2,
                "that is paired over unpaired: turn it around": 1 / ratio(variance),
                "a positive correlation makes a difference surer: Var(A − B) has −2ρσσ": ratio(
                    first**2 + second**2 + 2 * rho * first * second
                ),
                "the covariance is counted twice: −2ρσ₁σ₂": ratio(
                    first**2 + second**2 - rho * first * second
                ),
                "1/√(1 − ρ) holds for equal errors only": np.asarray(1 / math.sqrt(1 - rho)),
                "ρ is a correlation; the covariance is ρσ₁σ₂": ratio(
                    first**2 + second**2 - 2 * rho
                ),
                "the covariance is ρσ₁σ₂, not ρ times the mean of the two variances": ratio(
                    2 * mean - 2 * rho * mean
                )
                if first != second
                else np.asarray(-1.0),
            },
        )


@exercise("17.3")
def check_wilson(answer: Answer) -> None:
    """Check ``answer(right, n)``: Wilson's interval at 95 %, z = 1.96."""
    for right, n in ((9, 10), (3, 8), (60, 100), (0, 12), (12, 12)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            got = as_array(answer(right, n), (2,))
        z, p = 1.96, right / n
        center, square = p + z * z / (2 * n), z * z / (4 * n * n)
        spread = p * (1 - p) / n
        stretch = 1 + z * z / n

        def ends(middle: float, reach: float) -> np.ndarray:
            return np.array([middle - reach, middle + reach])

        middle, reach = center / stretch, z * math.sqrt(spread + square) / stretch
        expected = np.clip(ends(middle, reach), 0, 1)
        known = {
            "the lower end comes first: middle − reach, then middle + reach": expected[::-1],
            "those are the middle and the reach; return middle − reach and middle + reach": (
                np.array([middle, reach])
            ),
            "that is Wald's: the variance must be that of the p you test, not of the share": ends(
                p, z * math.sqrt(spread)
            ),
            "that is Wald's, cut at 0 and 1: the variance must be that of the p you test": np.clip(
                ends(p, z * math.sqrt(spread)), 0, 1
            ),
            "divide by 1 + z²/n": ends(center, z * math.sqrt(spread + square)),
            "z²/4n² is missing under the root": ends(
                center / stretch, z * math.sqrt(spread) / stretch
            ),
            "under the root stands z²/4n², not z²/4n": ends(
                center / stretch, z * math.sqrt(spread + z * z / (4 * n)) / stretch
            ),
            "the middle is p + z²/2n before the division": ends(
                p / stretch, z * math.sqrt(spread + square) / stretch
            ),
        }
        if not np.allclose(got, [*wilson(right, n)], atol=1e-7):  # z need not be rounded
            explain(got, expected, known)


@exercise("17.6")
def check_accuracy(answer: Answer) -> None:
    """Check ``answer(costs, right)``: mean accuracy with ties shared, the right one anywhere."""
    for seed in (1, 11, 15, 27):  # where no two of these mistakes give one number
        random = np.random.default_rng(seed)
        costs = random.integers(0, 4, size=(97, 4)).astype(float)
        costs[:5] = 1.0  # all four alike
        right = random.integers(0, 4, size=97)
        rows = np.arange(97)
        best = costs == costs.min(axis=1, keepdims=True)
        single = best.sum(axis=1) == 1
        explain(
            np.asarray(as_number(answer(costs.copy(), right.copy()))),
            np.mean([credits(costs[[i]], int(right[i]))[0] for i in rows]),
            {
                "argmin gives a tie to whoever stands first: share it among the best": np.mean(
                    costs.argmin(axis=1) == right
                ),
                "the right option is not in the first column: `right` says where": np.mean(
                    best[:, 0] / best.sum(axis=1)
                ),
                "that still takes the first of the best, and the first column for the right one": (
                    np.mean(costs.argmin(axis=1) == 0)
                ),
                "a tie counts as wholly right: share it, 1/2, 1/3 or 1/4": np.mean(
                    best[rows, right]
                ),
                "a tie counts as wrong: share it, 1/2, 1/3 or 1/4": np.mean(
                    best[rows, right] & single
                ),
                "`best[:, right]` is a matrix, each row with every `right`: take one place of each "
                "row, best[np.arange(len(costs)), right]": np.mean(
                    best[:, right] / best.sum(axis=1)
                ),
                "`best[:, right]` is a matrix, each row with every `right`; take one place of each "
                "row, best[np.arange(len(costs)), right]": np.mean(
                    best[:, right] / best.sum(axis=1, keepdims=True)
                ),
                "`best[:, right]` holds every `right` in each row: take one place of each row, "
                "best[np.arange(len(costs)), right], and share a tie": np.mean(best[:, right]),
                "a tie of three or four is shared by three or four: 1/3 or 1/4, not 1/2": np.mean(
                    best[rows, right] * np.where(single, 1, 0.5)
                ),
                "argmin gives a tie to whoever stands first, from behind to whoever stands last: "
                "share it among the best": np.mean(3 - costs[:, ::-1].argmin(axis=1) == right),
                "you leave out the questions with a tie: they count with their share": np.mean(
                    best[rows, right][single]
                ),
                "the least cost is best, not the largest": np.mean(
                    [credits(-costs[[i]], int(right[i]))[0] for i in rows]
                ),
            },
        )


@exercise("17.7")
def check_cut(answer: Answer) -> None:
    """Check ``answer(scores, level)``: the cut of split conformal prediction."""
    for n, level in ((53, 0.87), (19, 0.9), (100, 0.9), (40, 0.95), (57, 0.3)):
        scores = np.random.default_rng(n).exponential(size=n)
        ranked = np.sort(scores)
        explain(
            np.asarray(as_number(answer(scores.copy(), level))),
            conformal_quantile(scores, level),
            {
                "the rank is ⌈(n + 1) · level⌉: the new case counts, too": ranked[
                    math.ceil(n * level - 1e-9) - 1
                ],
                "that is one too far: the r-th smallest stands at place r − 1": ranked[
                    min(math.ceil((n + 1) * level - 1e-9), n - 1)
                ],
                "round up, not down: the promise is *at least*": ranked[
                    math.floor((n + 1) * level + 1e-9) - 1
                ]
                if (n + 1) * level % 1 > 1e-9
                else -1.0,
                "np.quantile mixes two scores; take the r-th smallest itself": np.quantile(
                    scores, level
                ),
                "np.quantile counts n, not n + 1, and mixes two scores": np.quantile(
                    scores, math.ceil((n + 1) * level) / n
                ),
                "sort the scores first: asked is the r-th smallest, not the r-th": scores[
                    math.ceil((n + 1) * level - 1e-9) - 1
                ],
                "take small scores into the set: sort upwards": ranked[::-1][
                    math.ceil((n + 1) * level - 1e-9) - 1
                ],
            },
        )
    try:
        few = as_number(answer(np.arange(5.0), 0.9))
    except IndexError:
        raise Mistake(
            "five cases and a level of 0.9: the rank is ⌈6 · 0.9⌉ = 6, beyond the last; then the "
            "set is everything, math.inf"
        ) from None
    if few != math.inf:
        raise Mistake(
            f"five cases and a level of 0.9: the rank is 6, beyond the last, so the set is "
            f"everything and the cut math.inf; yours is {few:g}"
        )
    just = as_number(answer(np.arange(9.0), 0.9))
    if just != 8:
        raise Mistake(
            "nine cases and a level of 0.9: the rank is 10 · 0.9 = 9, the last of them, and the "
            f"cut is the largest score, 8; yours is {just:g}"
        )


def _board(answer: Answer, costs: np.ndarray, lengths: np.ndarray) -> tuple[int, float]:
    """Read which entry a reader chooses, and the score that is reported for it."""
    try:
        chosen, score = answer(costs.copy(), lengths.copy())
    except (TypeError, ValueError):
        raise Mistake("return two things: the number of the chosen entry, and its score") from None
    number = int(as_number(chosen))
    if not 0 <= number < 12:
        raise Mistake(f"choose one of the entries 0 to 11, got {number}")
    return number, as_number(score)


def _named(answer: Answer) -> None:
    """Name what is reported where there is no noise: entry i has 0.1 · i bits more than entry 0."""
    long = np.tile([True, False, False, True], 15)  # as many in each half, however it is cut
    lengths = np.where(long, 5000, 1000)
    each = np.where(long, 4.0, 3.0) + 0.1 * np.arange(12)[:, None]
    chosen, score = _board(answer, each * lengths, lengths)
    if abs(score) > 10:
        raise Mistake("give bits per letter: sum of the bits over sum of the lengths")
    by_letters, by_scenes = 23 / 6, 3.5
    alike = (
        "you take each scene for one: a score in bits per letter is the sum of the bits over the "
        "sum of the lengths, so that a long scene counts for more"
    )
    if score < 2.9:  # the cheapest scene has 3 bits a letter
        raise Mistake(
            "divide the bits of some scenes by the letters of the same scenes, not of all: where "
            f"every scene costs 3 bits a letter or more, you report {score:.2f}"
        )
    others = "that is about the mean of all twelve entries, not the score of the one that you chose"
    readings = {
        by_letters + 0.1 * chosen: "",
        by_scenes + 0.1 * chosen: alike,
        by_letters + 0.55: others,
        by_scenes + 0.55: f"{others}; and sum bits and letters before you divide",
    }
    nearest = min(readings, key=lambda value: abs(value - score))
    if readings[nearest] and abs(nearest - score) < 0.12:
        raise Mistake(readings[nearest])


@exercise("17.8")
def check_board(answer: Answer) -> None:
    """Check ``answer(costs, lengths)``: which entry is chosen, and an honest score for it."""
    _named(answer)
    equal: list[tuple[float, float]] = []
    mixed: list[tuple[float, float]] = []
    for seed in range(120):
        random = np.random.default_rng(seed)
        lengths = random.integers(500, 8000, size=60)
        hard = random.normal(3.4, 0.1, size=60) + 0.1 * (lengths / 4250 - 1)  # long ones are dearer
        for gap, into in ((0.0, equal), (0.2, mixed)):
            worth = gap * random.permutation(12) / 12
            noise = random.normal(0, 0.15, size=(12, 60))
            costs = (hard + worth[:, None] + noise) * lengths
            chosen, score = _board(answer, costs, lengths)
            truth = ((hard + worth[chosen]) * lengths).sum() / lengths.sum()
            into.append((score - truth, worth[chosen]))
    for where, found in (("among equal entries", equal), ("where entries differ", mixed)):
        off = np.array([error for error, _ in found])
        sure = off.std() / math.sqrt(len(off))
        if off.mean() < -4 * sure:
            raise Mistake(
                f"{where} the score that you report is too good by {-off.mean():.3f} bits: "
                "choose on some scenes, and report the same entry on the others"
            )
        if off.mean() > 4 * sure:
            raise Mistake(
                f"{where} the score that you report is too bad by {off.mean():.3f} bits: of which "
                "entry is it, and which scenes does it read?"
            )
        if off.std() > 0.06:
            raise Mistake(
                f"your score scatters by {off.std():.3f} bits around the truth; read it on a good "
                "part of the scenes"
            )
    lost = float(np.mean([worth for _, worth in mixed]))
    if lost > 0.03:
        raise Mistake(
            f"where entries differ, yours is {lost:.3f} bits worse than the best one on average: "
            "choose on enough scenes, the one with the fewest bits per letter"
        )
