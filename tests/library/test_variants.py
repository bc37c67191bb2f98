"""Exercises with other numbers: each variant is right by its own words, and told apart."""

from __future__ import annotations

import importlib
import itertools
import math
import pkgutil
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import nbformat
import numpy as np
import pytest
from scipy import integrate, optimize, special, stats
from written import CHAPTERS, NOTEBOOKS

from press.registry import topic_of
from primer import exercises
from primer.notebook import Mistake, NumberExercise, varied
from primer.notebook.page_answers import ROUNDED
from primer.notebook.variants import VARIANTS
from primer.scaling import CHINCHILLA_UNROUNDED

BOOK = Path(__file__).parents[2]
CHECKS = {
    name: check
    for module in pkgutil.iter_modules(exercises.__path__)
    if module.name in {topic_of(chapter) for chapter in CHAPTERS}
    for name, check in vars(importlib.import_module(f"primer.exercises.{module.name}")).items()
    if isinstance(check, NumberExercise)
}
VARIED = [check for check in CHECKS.values() if check.others]

ALONE = {
    "1.7": "the share is one half whatever the two probabilities are: that is what it asks",
    "7.8": "two heads of one trained model are silenced, and what that costs was measured",
    "8.7": "where the cliff stands was measured in models that were trained for one offset",
}
"""Exercises whose answer has no other numbers, and why."""

REWORDED = {
    "1.4": "a small sample has another variance than the limit, which every variant has",
    "4.5": "a variant writes its numbers as the code does",
    "6.3": "a matrix stands in one line",
    "9.1": "the chapter names GPT-2, whose width it is",
    "10.3": "the chapter speaks of a lamp that was described in its section",
    "12.1": "the chapter says as BERT does it, and BERT's shares stand in its section",
    "14.1": "the chapter's model is the book's",
    "16.1": "a quarter is written as 1/4",
    "17.4": "a fifth is written as 20 %",
    "18.4": "a half is written as 50 %",
}
"""Questions that say more than the chapter's text, or say it in a line, and why."""

_DIGITS = {
    **{word: str(n) for n, word in enumerate(("zero", "one", "two", "three", "four", "five"))},
    **{word: str(n) for n, word in enumerate(("six", "seven", "eight", "nine", "ten"), 6)},
    **{"eleven": "11", "twelve": "12"},
    **{"third": "3", "fourth": "4", "fifth": "5", "sixth": "6"},
}
_TEX = {
    r"\\frac(\d)(\d)": r"\1/\2",
    r"\\sqrt\{d_k\}": "√dₖ",
    r"\bd_k": "dₖ",
    r"\\sqrt n": "√n",
    r"10\^\{23\}": "10²³",
    r"10\^\{12\}": "10¹²",
    r"\\omega_0": "ω₀",
    r"\\hat\\mu": "μ̂",
    r"\\bar X": "X̄",
    r"I_1": "I₁",
    r"\\cdot": "·",
    r"\\times": "×",
    r"\\ge(?![a-z])": "≥",
    r"\\,": "",
    r"\\mu": "μ",
    r"\\sigma": "σ",
    r"\\beta": "β",
    r"\\tau": "τ",
    r"\\(log|max)": r"\1",
    "½": "0.5",
}


def in_digits(text: str) -> str:
    """Write the small numbers of a text in digits."""
    return re.sub(r"[a-z]+", lambda word: _DIGITS.get(word[0], word[0]), text)


def numbers_in(text: str) -> list[float]:
    """Return the numbers of a text in their order."""
    found = re.findall(r"(?<![\w.])\.?[0-9][0-9,]*(?:\.[0-9]+)?", in_digits(text))
    return [float(number.replace(",", "")) for number in found]


def plain(markdown: str) -> str:
    """Write the text of an exercise without its marks."""
    for mark, sign in _TEX.items():
        markdown = re.sub(mark, sign, markdown)
    return re.sub(r"[$*\\]", "", markdown)


def alike(text: str) -> str:
    """Write a text so that quotation marks and spaces make no difference."""
    return re.sub(r"[\s“”\"]+", "", in_digits(text.lower()))


@cache
def asked_in_the_book() -> dict[str, str]:
    """Return the text of each exercise whose answer is a number, by the name of its check."""
    found = {}
    for file in NOTEBOOKS:
        text = ""
        for cell in nbformat.read(file, as_version=4).cells:
            if cell.cell_type == "markdown":
                asked = re.findall(
                    r"^(:::|```)\{exercise\}[^\n]*\n((?::[^\n]*\n)*)(.*?)^\1",
                    cell.source,
                    re.MULTILINE | re.DOTALL,
                )
                text = asked[-1][2].strip() if asked else text
            elif "exercise" in cell.metadata.get("tags", []):
                for name in re.findall(r"\b(check_\w+)\(answer\)", cell.source):
                    found[f"{file.name} {name}"] = text
    return found


def test_every_number_of_the_book_varies_or_says_why_not() -> None:
    names = {asked.split()[1] for asked in asked_in_the_book()}
    numbers = {name: check for name, check in CHECKS.items() if name in names}
    assert numbers.keys() == CHECKS.keys()
    assert {check.number for check in CHECKS.values() if not check.others} == ALONE.keys()


@pytest.mark.parametrize("check", VARIED, ids=lambda check: check.number)
def test_a_variant_accepts_its_number_and_names_its_mistakes(
    check: NumberExercise, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(check.variants) == VARIANTS
    assert len({one.question for one in check.variants}) == VARIANTS
    for one in check.variants:
        assert one.number == check.number
        assert one.question.endswith((".", "?", ")"))
        one(one.right)
        printed = capsys.readouterr().out.strip()
        assert printed == f"✓ Exercise {check.number} is solved. {one.because}"
        for wrong, sentence in one.wrong.items():
            with pytest.raises(Mistake, match=re.escape(sentence)):
                one(wrong)


DECIMALS = {"one": 1, "two": 2, "three": 3}


@pytest.mark.parametrize("check", CHECKS.values(), ids=lambda check: check.number)
def test_who_asks_for_decimals_wants_them_all(
    check: NumberExercise, capsys: pytest.CaptureFixture[str]
) -> None:
    found = re.search(r"\b(one|two|three) decimals?\b", check.expects)
    if not found:
        return
    digits = DECIMALS[found[1]]
    for one in check.variants:
        one(round(one.right, digits))
        capsys.readouterr()
        below = math.floor(one.right * 10**digits)
        other = max(below, below + 1, key=lambda n: abs(n / 10**digits - one.right)) / 10**digits
        if abs(abs(other - one.right) - 0.5 * 10**-digits) < 1e-9:
            continue  # a half may be rounded to either side
        with pytest.raises(Mistake) as refused:
            one(other)
        told = any(abs(other - wrong) <= one.within for wrong in one.wrong)
        whole = abs(one.right - round(one.right)) < 1e-9
        assert told or whole or str(refused.value).endswith(ROUNDED)


@pytest.mark.parametrize("check", VARIED, ids=lambda check: check.number)
def test_the_first_variant_is_the_text_of_the_chapter(check: NumberExercise) -> None:
    chapter = f"{int(check.number.split('.')[0]):02d}-"
    name = next(name for name, one in CHECKS.items() if one is check)
    (text,) = (
        words
        for asked, words in asked_in_the_book().items()
        if asked.startswith(chapter) and asked.endswith(f" {name}")
    )
    if check.number in REWORDED:
        wanted = Counter(numbers_in(plain(text)))
        assert wanted <= Counter(numbers_in(check.question)) or wanted.keys() <= {
            *numbers_in(check.question),
            2.0,  # "GPT-2"
        }
    else:
        assert alike(plain(text)) == alike(check.question)


def merged(words: dict[str, int], merges: int) -> int:
    """Count the symbols of a corpus after some merges of its most frequent pair."""
    corpus = {tuple(word): times for word, times in words.items()}
    for _ in range(merges):
        pairs: Counter[tuple[str, str]] = Counter()
        for symbols, times in corpus.items():
            for pair in itertools.pairwise(symbols):
                pairs[pair] += times
        (best, most), (_, next_most) = pairs.most_common(2)
        assert most > next_most  # nobody has to break a tie
        joined = {}
        for symbols, times in corpus.items():
            text = " ".join(symbols)
            joined[tuple(re.sub(rf"\b{best[0]} {best[1]}\b", "".join(best), text).split())] = times
        corpus = joined
    return sum(len(symbols) * times for symbols, times in corpus.items())


def corners(folds: int, crease: Fraction) -> int:
    """Count the pieces of a tent that was folded: all points that a fold leads to a corner."""
    found = {Fraction(0), Fraction(1)}
    for _ in range(folds):
        back = {y * crease for y in found} | {1 - y * (1 - crease) for y in found}
        found = back | {crease, Fraction(0), Fraction(1)}
    return len(found) - 1


def steps(least: float, most: float, part: float) -> int:
    """Count the steps of gradient descent on the two ends of a quadratic loss."""
    errors, step, count = np.ones(2), 2 / (least + most), 0
    while np.abs(errors).max() >= part:
        errors, count = errors * (1 - step * np.array([least, most])), count + 1
    return count


def best_tokens(budget: float, alpha: float, beta: float) -> float:
    """Find the tokens for each parameter with the least loss on a budget."""
    law = replace(CHINCHILLA_UNROUNDED, alpha=alpha, beta=beta)

    def loss(log_size: float) -> float:
        size = math.exp(log_size)
        return law.A / size**alpha + law.B / (budget / 6 / size) ** beta

    size = math.exp(optimize.minimize_scalar(loss, bounds=(10, 40), options={"xatol": 1e-9}).x)
    return budget / 6 / size**2


def budget_in(text: str) -> float:
    """Read a number like 5.76·10²³."""
    mantissa, exponent = re.search(r"([\d.]+)·10([⁰¹²³⁴-⁹]+)", text).groups()
    return float(f"{mantissa}e{exponent.translate(str.maketrans('⁰¹²³⁴⁵⁶⁷⁸⁹', '0123456789'))}")


def heard(tone: float, rate: int) -> float:
    """Return the loudest frequency of a tone that was sampled for a second."""
    sampled = np.cos(2 * np.pi * tone * np.arange(rate) / rate)
    return float(np.abs(np.fft.rfft(sampled)).argmax())


def highest_power(top: float, shear: float) -> float:
    """Return the middle of the two powers of a triangular matrix that have the largest norms."""
    matrix = np.array([[top, shear], [0, top]])
    norms = [np.linalg.norm(np.linalg.matrix_power(matrix, k), 2) for k in range(1, 200)]
    first, second = np.argsort(norms)[::-1][:2] + 1
    assert abs(first - second) == 1
    return float(first + second) / 2


def sampled_variance(sd: float) -> float:
    """Integrate the variance of a normal variable whose negative part is set to 0."""
    moments = [
        integrate.quad(lambda x, k=k: x**k * stats.norm.pdf(x, scale=sd), 0, 40 * sd)[0]
        for k in (1, 2)
    ]
    return float(moments[1] - moments[0] ** 2)


def rope(query: float, key: float) -> float:
    """Multiply two turned vectors, as complex numbers."""
    return ((1j * np.exp(1j * key)).conjugate() * np.exp(1j * query)).real


SOLVED: dict[str, Callable[[str, Sequence[float]], float]] = {
    "1.1": lambda _, x: (x[1] * math.sqrt(x[0]) / x[2]) ** 2,
    "1.4": lambda _, x: (
        1 / stats.expon(scale=1 / x[3]).expect(lambda t, rate=x[3]: (1 / rate - t) ** 2)
    ),
    "1.6": lambda _, x: sampled_variance(x[0]),
    "2.1": lambda _, x: x[0] * x[1],
    "3.1": lambda text, x: steps(
        x[0], x[1], {"hundredth": 1e-2, "thousandth": 1e-3, "ten-thousandth": 1e-4,
                     "millionth": 1e-6}[re.search(r"below a ([a-z-]+)", text)[1]]
    ),
    "4.1": lambda _, x: x[2] * len(range(0, int(x[0]) - int(x[3]) + 1, 2)) ** 2,
    "4.5": lambda _, x: corners(int(x[0]), Fraction(str(x[1]))),
    "5.1": lambda _, x: math.exp(-np.mean(np.log([1 / x[2], 1 / x[4], 1 / x[6]]))),
    "5.2": lambda _, x: merged(
        dict(zip(("sing", "ring", "rings", "sin"), map(int, x), strict=False)), int(x[4])
    ),
    "5.5": lambda _, x: math.exp(x[3] * math.log(2) * x[0] / x[2]),
    "6.1": lambda _, x: optimize.brentq(lambda n: special.expit(x[0]) ** n - 0.5, 0, 1000),
    "6.3": lambda _, x: highest_power(x[0], x[1]),
    "7.1": lambda text, x: special.softmax(
        [*x[1 : int(x[0])], x[1] + math.log(float(re.search(r"log (\d+)", text)[1]))]
    )[-1],
    "7.2": lambda _, x: x[1] / (1 / math.sqrt(x[1])) ** 2,
    "8.1": lambda _, x: rope(x[4], x[7]),
    "9.1": lambda _, x: optimize.brentq(
        lambda n: 4 * n * n * x[0] - n * (4 + 2 * x[1]) * 2 * x[0] ** 2, 1, 1e6
    ),
    "10.1": lambda _, x: (
        x[0] * (x[1] + 1)
        * sum(1 for _ in itertools.combinations_with_replacement(range(int(x[1]) + 1), 2))
    ),
    "10.3": lambda _, x: 1 - sum(x[0] * (1 - x[0]) ** (2 * s) for s in range(1000)),
    "11.1": lambda _, x: math.exp(math.log(x[2]) / (x[3] / x[4])),
    "11.6": lambda text, x: (
        float(re.search(r"([\d.]+) GB", text)[1])
        * 1000
        / float(re.search(r"([\d.]+) MB", text)[1])
        / float(re.search(r"let (\d+)", text)[1])
    ),
    "12.1": lambda _, x: 100 * Fraction(x[0] * x[2]) / Fraction(10_000 - x[0] * x[1]),
    "12.3": lambda _, x: x[0] * x[1] / 100 + x[0] * x[1] / 100 / x[2] + 1,
    "13.1": lambda _, x: (
        6 * x[0] * 1e9 * x[1] * 1e12 / (x[2] * x[3] * 1e12 * x[5] / 100) / 24 / 60 / 60
    ),
    "13.3": lambda text, x: (
        best_tokens(budget_in(text), round(x[3], 2), round(x[4], 2))
        / best_tokens(budget_in(text), x[3], x[4])
    ),
    "14.1": lambda _, x: (
        x[0] * x[10] * (x[1] * (x[2] + x[3]) + x[4] * (x[5] + x[6]) + x[7] * (x[8] + x[9]))
    ),
    "14.2": lambda _, x: (x[1] * x[4] * x[0] + x[4] * x[2] + x[3]) / (x[1] * x[4]),
    "15.1": lambda _, x: math.exp(-np.diff(special.log_softmax([math.log(x[1]) * x[3], 0]))[0]),
    "15.4": lambda _, x: optimize.brentq(lambda beta: x[1] * x[0] - beta * x[1] * x[2], 0, 100),
    "16.1": lambda _, x: np.fft.fftfreq(int(x[2] * x[0] / x[1]), 1 / x[2])[int(x[3])],
    "16.2": lambda _, x: heard(x[0], int(x[1])),
    "17.1": lambda _, x: (
        x[0] * x[1] ** 2
        / (x[4] + (1 - x[4]) * np.eye(int(x[1]))).sum()
    ),
    "17.4": lambda _, x: math.ceil(
        stats.norm.ppf([0.975, 0.8]).sum() ** 2 * (100 * x[0] - x[2] ** 2) / x[2] ** 2
    ),
    "19.2": lambda _, x: optimize.brentq(
        lambda p: (
            2 * (1 + x[0]) * integrate.quad(lambda m: m * m * (1 - m), 0, 1)[0] * p * p
            - min(1, x[0]) * (p / 3 - p * p / 4)
        ),
        1e-9,
        1,
    ),
    "19.3": lambda _, x: math.floor(math.sqrt(math.exp(x[0] * x[1] ** 2 / 2))),
    "18.3": lambda _, x: x[0] / (x[0] + (100 - x[0]) * x[2] / x[1]),
    "18.4": lambda _, x: (
        stats.binom(int(x[0]), x[1] / 100).expect(
            lambda k, n=x[0]: np.sqrt(k * (n - k)) / stats.binom(n, x[1] / 100).var()
        )
    ),
}  # fmt: skip
"""Each question once more, from its own words and in another way."""


@pytest.mark.parametrize("check", VARIED, ids=lambda check: check.number)
def test_whoever_reads_the_question_alone_finds_the_right_number(check: NumberExercise) -> None:
    for one in check.variants:
        found = SOLVED[check.number](one.question, numbers_in(one.question))
        assert float(found) == pytest.approx(one.right, rel=1e-6, abs=max(one.within / 10, 1e-9))


def product(a: int = 3, b: int = 4, high: float = 100) -> NumberExercise:
    return NumberExercise(
        "0.1",
        question=f"What is {a} times {b}?",
        right=a * b,
        within=0.5,
        low=0,
        high=high,
        expects="a whole number",
        wrong={a + b: "you added"},
        otherwise="so many rows",
        because="So it is.",
    )


def test_variants_are_drawn_alike_on_every_machine() -> None:
    drawn = varied(a=range(3, 10), b=range(4, 10), high=(100,))(product)
    assert drawn.question == "What is 3 times 4?"
    questions = [one.question for one in drawn.variants[1:4]]
    assert questions == ["What is 5 times 7?", "What is 6 times 6?", "What is 8 times 8?"]
    assert drawn.others == varied(a=range(3, 10), b=range(4, 10), high=(100,))(product).others


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        (
            {"a": range(3, 10), "b": (4,)},
            "exercise 0.1: the template takes a, b, high, and choices are given for a, b",
        ),
        (
            {"a": range(4, 10), "b": (4,), "high": (100,)},
            "exercise 0.1: a=3, the text's own, is none of the choices",
        ),
        (
            {"a": range(3, 10), "b": (4, 5), "high": (100,)},
            "exercise 0.1: the choices make 14 variants and 20 are needed; give more values",
        ),
        (
            {"a": range(3, 10), "b": range(4, 40), "high": (100,)},
            "lies outside 0 … 100, for a=",
        ),
        (
            {"a": range(3, 10), "b": range(4, 8), "high": (100, 200)},
            "is that of another variant",
        ),
        (  # a + b = ab ± 1 where one of them is 1
            {"a": (1, 2, 3), "b": range(1, 8), "high": (100,)},
            "of a=2, b=1, high=100 it was said: exercise 0.1: within 0.5 the answers 2 and 3",
        ),
    ],
)
def test_a_faulty_template_is_refused_in_a_sentence(
    choices: dict[str, Sequence[float]], sentence: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)):
        varied(**choices)(product)


def test_two_mistakes_that_make_one_number_are_not_taken_for_one() -> None:
    def sums(a: int = 3, b: int = 4) -> NumberExercise:
        wrong = {a + b: "you added", 2 * b: "that is twice"}
        return replace(product(a, b), within=0.25, wrong=wrong)

    drawn = varied(a=range(3, 9), b=range(4, 9))(sums)
    assert all(len(one.wrong) == 2 for one in drawn.variants)
    with pytest.raises(ValueError, match="two of its wrong answers are one number"):
        varied(a=range(3, 8), b=range(4, 8))(sums)


def test_an_exercise_with_variants_needs_its_question() -> None:
    def silent(a: int = 3) -> NumberExercise:
        return replace(product(a), question="")

    with pytest.raises(ValueError, match=r"exercise 0\.1: .*needs its question in words"):
        varied(a=range(3, 40))(silent)
