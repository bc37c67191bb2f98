"""Checks for the exercises of *Scaling laws*: each names the mistake it recognizes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from primer.notebook import ChoiceExercise, Mistake, NumberExercise, exercise, varied
from primer.notebook.answers import Answer, as_number, explain
from primer.notebook.wording import raised, short
from primer.scaling import CHINCHILLA_UNROUNDED, ChinchillaLaw


@varied(
    billions=(13, 30, 70, 175),
    trillions=(0.3, 1, 1.4, 2, 3.5),
    devices=(512, 1024, 1221, 2048),
    percent=(30, 35, 40, 45, 50),
)
def check_days(
    billions: int = 70, trillions: float = 1.4, devices: int = 1221, percent: int = 40
) -> NumberExercise:
    """Ask for the days that a training takes."""
    reached = percent / 100
    operations = 6 * billions * 1e9 * trillions * 1e12
    speed = devices * 312e12 * reached
    seconds = operations / speed
    days = seconds / 86_400
    return NumberExercise(
        "13.1",
        question=f"{billions} billion parameters, {trillions:g} trillion tokens, {devices:,} "
        f"devices of 312·10¹² operations a second, of which {percent} % are reached. How many "
        "days, to one decimal?",
        right=days,
        within=0.05,
        low=0,
        high=1e6,
        expects="a number of days to one decimal",
        wrong={
            days * reached: f"that is with every device at its peak; only {percent} % of it is "
            "reached",
            days * 24: "those are hours: divide by 24",
            round(days * 24): "those are hours: divide by 24",
            float(f"{operations:.1e}") / speed / 86_400: "something was rounded on the way: keep "
            f"{short(operations)} operations and {short(speed, 4)} a second",
            days * reached**2: f"{percent} % of the peak takes longer than the peak: divide by "
            f"{reached:g}",
            days / 6: "a parameter costs two operations forward and four backward, six for a "
            "token in all",
            days / 3: "that is the forward pass alone; the backward pass costs twice as much again",
        },
        otherwise=f"6 times {billions} billion times {trillions:g} trillion operations, over "
        f"{devices:,} devices that each do {percent} % of 312e12 operations a second, over 86,400 "
        "seconds a day",
        because=f"{short(operations)} operations over {short(speed, 4)} a second are "
        f"{short(seconds / 1e6)} million seconds.",
    )


@varied(
    budget=(
        *(mantissa * 10.0**n for n in range(21, 27) for mantissa in range(1, 10)),
        5.76e23,
    )
)
def check_rounding(budget: float = 5.76e23) -> NumberExercise:
    """Ask how two digits of the exponents change the tokens for each parameter, at a budget."""
    law = CHINCHILLA_UNROUNDED

    def ratio(**rounded: float) -> float:
        return replace(law, **rounded).optimum(budget).ratio

    printed, beta, alpha = ratio(), ratio(beta=0.28), ratio(alpha=0.34)
    both = ratio(alpha=0.34, beta=0.28)
    mantissa, exponent = f"{budget:e}".split("e+")
    power = f"{float(mantissa):g}·10{raised(int(exponent))}"
    return NumberExercise(
        "13.3",
        question=f"By what factor, to two decimals, do the tokens for each parameter at {power} "
        "operations change when the exponents .3392 and .2849 are rounded to two digits? Guess it, "
        "then compute it.",
        right=both / printed,
        within=0.005,
        low=0,
        high=1000,
        expects="a factor, to two decimals",
        wrong={
            1: f"print both: the recommendations are {both:.1f} and {printed:.1f} tokens for a "
            "parameter",
            printed / both: "that is the other way round: the printed exponents ask for more "
            "tokens, not fewer",
            both - printed: "that is the difference; the question is for the factor",
            round(both, 1) - round(printed, 1): "that is the difference; the question is for the "
            "factor",
            beta / printed: "that is β rounded alone; α is rounded, too",
            alpha / printed: "that is α rounded alone; β is rounded, too",
        },
        otherwise=f"law.optimum({short(budget)}).ratio of the two laws, one over the other",
        because=f"{both:.1f} / {printed:.1f} ≈ {both / printed:.2f}: rounding β alone makes a "
        f"factor of {beta / printed:.2f}, α alone one of {alpha / printed:.2f}.",
    )


check_missing = ChoiceExercise(
    "13.4",
    choices={
        "a": "The table of embeddings, which 12 × layers × d² leaves out.",
        "b": "Biases and the gains of the norms.",
        "c": "One more matrix of d × d in each layer, for relative positions.",
        "d": "A feed-forward layer wider than 4d.",
    },
    right="c",
    replies={
        "a": "32,000 rows of 16,384 are half a billion, not 22 billion",
        "b": "13 vectors of 16,384 in each of 80 layers are 17 million",
        "c": "80 · 16384² is 21.5 billion, and with the embeddings, half a billion, all of the "
        "missing 22. Chinchilla's missing 5.6 are found in the same way.",
        "d": "the paper prints the width of that layer as 4d",
    },
)

check_diagnose = ChoiceExercise(
    "13.5",
    choices={
        "a": "The floor E of the loss is reached.",
        "b": "The learning rate suits the small sizes and is too high for the large ones.",
        "c": "The text is read many times over.",
        "d": "Embeddings were counted.",
    },
    right="b",
    replies={
        "a": "then lower rates would not help the largest size either",
        "b": "The best rate moves down as the model grows, so one rate for all bends the line up "
        "at its end. It looks like a floor and is only a step size.",
        "c": "every run reads its text once",
        "d": "counting them shifts points to the right, most of all the small ones; it makes no "
        "size's loss depend on the rate",
    },
)


@exercise("13.2")
def check_split(answer: Answer) -> None:
    """Check ``answer(flops, A, B, alpha, beta)``: the best number of parameters."""
    rng = np.random.default_rng(13)
    for _ in range(4):
        flops = 10 ** rng.uniform(15, 25)
        big, text = rng.uniform(100, 900, size=2)
        alpha, beta = rng.uniform(0.25, 0.5, size=2)
        right, tokens = ChinchillaLaw(1.0, big, text, alpha, beta).optimum(flops)
        scale = (alpha * big / (beta * text)) ** (1 / (alpha + beta))
        explain(
            as_number(answer(flops, big, text, alpha, beta)),
            right,
            {
                "the exponent of C is β/(α+β): the other one, α/(α+β), belongs to the tokens": scale
                * (flops / 6) ** (alpha / (alpha + beta)),
                "C is 6ND: a 6 is missing": right * 6 ** (beta / (alpha + beta)),
                "α and β stand in G as factors too, because a power was differentiated": (
                    right * (beta / alpha) ** (1 / (alpha + beta))
                ),
                "that is the number of tokens": tokens,
                "the fraction in G is upside down: the more size is worth, the larger the best "
                "one": right / scale**2,
            },
        )


NOISE, CASES = (0.003, 0.03), 12
"""How far runs scatter, in turns, and in how many cases."""
WIDEST, HELD = 5, 4
"""How wide an interval may be, in scatters, and how many of each kind it must hold."""


@exercise("13.6")
def check_forecast(answer: Answer) -> None:
    """Check ``answer(x, loss, new)``: low, high for the loss at ``new`` times the size."""
    rng = np.random.default_rng(7)
    x = np.repeat(np.logspace(3, 5, 5), 3)
    held: dict[float, int] = dict.fromkeys(NOISE, 0)
    widths: dict[float, list[float]] = {noise: [] for noise in NOISE}
    # laws so unlike that no fixed share of the last losses forecasts most of them, and runs that
    # scatter so unlike that no fixed width suits both kinds
    for case, exponent in enumerate(np.linspace(0.04, 0.16, CASES)):
        noise, scale = NOISE[case % 2], rng.uniform(1e6, 1e8)
        loss = (scale / x) ** exponent * np.exp(noise * rng.normal(size=len(x)))
        value = answer(x.copy(), loss, 8e5)
        try:
            low, high = value
        except (TypeError, ValueError):
            raise Mistake(
                "return two numbers, the lower and the upper end of an interval"
            ) from None
        low, high = as_number(low, "the lower end"), as_number(high, "the upper end")
        if not low < high:
            raise Mistake("the lower end comes first and lies below the upper one")
        truth = (scale / 8e5) ** exponent
        held[noise] += low <= truth <= high
        widths[noise].append((high - low) / truth)
    calm, wild = (float(np.mean(widths[noise])) for noise in NOISE)
    if wild < 2 * calm:
        raise Mistake(
            f"your interval has a fixed width: {calm:.1%} of the loss where runs scatter by 0.3 %, "
            f"{wild:.1%} where they scatter by 3 %; resample the runs, and their own scatter says "
            "how wide it must be"
        )
    for noise, wide in zip(NOISE, (calm, wild), strict=True):
        if wide > WIDEST * noise:
            raise Mistake(
                f"where runs scatter by {noise:.1%} your interval is {wide:.1%} of the loss wide, "
                f"more than {WIDEST * noise:.1%}: that scatter allows a narrower one"
            )
        if held[noise] < HELD:
            raise Mistake(
                f"where runs scatter by {noise:.1%} your interval holds the true loss in "
                f"{held[noise]} of {CASES // 2} cases: fit resamples of the runs, predict with "
                "each fit, and take the 2.5 % and 97.5 % quantiles"
            )
