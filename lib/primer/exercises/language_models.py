"""Checks for the exercises of the chapter *Language models*: each names the mistake it sees."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np

from primer.datasets import split_plays
from primer.language_models import Alphabet, KneserNey
from primer.notebook import ChoiceExercise, Mistake, NumberExercise, exercise, varied
from primer.notebook.answers import Answer, as_array, explain, same
from primer.notebook.wording import raised

_SURPRISES = [
    bits
    for bits in itertools.combinations_with_replacement(range(1, 8), 3)
    if sum(bits) in (6, 9, 12, 15) and bits[0] < bits[2]
]
"""Three tokens whose mean surprise is a whole number of bits."""


@varied(bits=_SURPRISES)
def check_perplexity(bits: tuple[int, ...] = (1, 2, 3)) -> NumberExercise:
    """Ask for the perplexity of three tokens with these surprises."""
    a, b, c = (2**one for one in bits)  # one over each probability
    mean = sum(bits) // 3
    return NumberExercise(
        "5.1",
        question=f"A model gives the three tokens of a text the probabilities 1/{a}, 1/{b} and "
        f"1/{c}. What is its perplexity?",
        right=2**mean,
        within=0.005,
        low=0,
        high=100_000,
        expects="a number to two decimals",
        wrong={
            mean: f"{mean} is the average in bits; the perplexity is 2 to that power",
            3 / (1 / a + 1 / b + 1 / c): "that is 1 over the mean probability; the mean is taken "
            "of the logarithms",
            (a + b + c) / 3: f"that is the mean of {a}, {b} and {c}; perplexity is their geometric "
            "mean",
            math.exp(mean): f"that is e to the power {mean}: bits belong to powers of 2",
            a * b * c: f"{a * b * c} is 1 over the product; take its third root, for there are "
            "three tokens",
        },
        otherwise=f"the surprises are {bits[0]}, {bits[1]} and {bits[2]} bits; average them, then "
        "take 2 to that power",
        because=f"The surprises {bits[0]}, {bits[1]} and {bits[2]} average {mean} bits, and "
        f"2{raised(mean)} = {2**mean}.",
    )


_CORPORA = [
    (sing, ring, rings, sin)
    for sing, ring, rings, sin in itertools.product(
        range(3, 8), range(3, 8), range(2, 6), range(3, 8)
    )
    if ring + rings > max(sing, sin) and sing + sin > ring + rings
]
"""How often each word stands there, such that r + ing is the third pair and s + in tempts."""


@varied(times=_CORPORA)
def check_merges(times: tuple[int, int, int, int] = (5, 4, 3, 6)) -> NumberExercise:
    """Ask for the length of a corpus of four words after three merges."""
    sing, ring, rings, sin = times
    whole = 4 * sing + 4 * ring + 5 * rings + 3 * sin
    first, second, third = sum(times), sing + ring + rings, ring + rings
    two = whole - first - second
    right = two - third
    return NumberExercise(
        "5.2",
        question=f"A corpus consists of sing ({sing} times), ring ({ring}), rings ({rings}) and "
        f"sin ({sin}). Make three merges with pencil and paper. How many symbols long is the "
        "corpus then, every copy of a word counted?",
        right=right,
        within=0.25,
        low=0,
        high=whole,
        expects="a whole number of symbols",
        wrong={
            whole: "that is the number before any merge",
            two: f"those are left after two merges: i + n takes {first} symbols away, in + g takes "
            f"{second}",
            two - sing - sin: "you took three pairs from one count. After i + n and in + g the "
            f"word sing is s + ing: s + in is left in sin alone, {sin} times, and r + ing has "
            f"{third}",
            two - sin: f"the third merge is the most frequent pair: s + in occurs {sin} times, "
            f"r + ing {third} times",
            whole - right: "so many symbols were saved; asked is how many are left",
            8: "that is the size of the vocabulary, five letters and three merges; asked is the "
            "length of the corpus",
            7: f"you wrote each word once; sing stands in the corpus {sing} times, and so do its "
            "symbols",
        },
        otherwise=f"at first there are {whole} symbols; each merge takes away as many as its pair "
        f"occurs, and the first pair, i + n, occurs {sing} + {ring} + {rings} + {sin} times",
        because=f"i + n ({first}), in + g ({second}) and r + ing ({third}): {whole} − "
        f"{whole - right} = {right}.",
    )


@exercise("5.3")
def check_most_likely(answer: Answer) -> None:
    """Check ``answer(counts)``: the most likely P(w | h) from a table with a row per context."""
    for seed, size in ((0, 3), (1, 4), (2, 7)):
        counts = np.random.default_rng(seed).integers(1, 20, size=(size, size))
        got = as_array(answer(counts.copy()), (size, size))
        mistakes = {
            "you divide by the length of the whole text: that is P(h, w), not P(w | h)": counts
            / counts.sum(),
            "you divide by how often the second symbol occurred; the multiplier belongs to the "
            "context, the row": counts / counts.sum(axis=0, keepdims=True),
            "right totals, but they divide the columns: `keepdims=True` keeps them beside their "
            "rows": counts / counts.sum(axis=1),
            "the table holds whole numbers, and what you write into it is cut to 0: make a new "
            "array": np.zeros((size, size)),
            "you have transposed the table: rows are contexts": (
                counts / counts.sum(axis=1, keepdims=True)
            ).T,
            "one was added to every count: that is Laplace, not maximum likelihood": (counts + 1)
            / (counts.sum(axis=1, keepdims=True) + size),
        }
        explain(got, counts / counts.sum(axis=1, keepdims=True), mistakes)


@exercise("5.4")
def check_discounting(answer: Answer) -> None:
    """Check ``answer(counts, discount)``: absolute discounting, mixed with frequencies."""
    for seed, size, discount in ((0, 4, 0.5), (1, 5, 0.75), (2, 6, 0.3)):
        draw = np.random.default_rng(seed)
        counts = draw.poisson(0.8, size=(size, size)) * draw.integers(1, 5, size=(size, size))
        counts[:, 0] += 1  # no context is empty
        got = as_array(answer(counts.copy(), discount), (size, size))
        total = counts.sum(axis=1, keepdims=True)
        kinds = (counts > 0).sum(axis=1, keepdims=True)
        kept = np.maximum(counts - discount, 0) / total
        back = discount * kinds / total
        frequency = counts.sum(axis=0) / counts.sum()
        different = (counts > 0).sum(axis=0) / (counts > 0).sum()
        if same(got, kept):
            raise Mistake(
                f"the discounts are taken and not given back: row 0 sums to {kept[0].sum():.3f}"
            )
        if got.min() < 0:
            raise Mistake("a count of 0 is discounted too: a probability is negative; cut at 0")
        shares, unseen = counts / total, counts == 0
        late = np.maximum(shares - discount, 0)
        to_unseen = frequency * unseen
        some = to_unseen.sum(axis=1, keepdims=True)
        handed = back * to_unseen / np.where(some > 0, some, 1)
        only_unseen = (
            "what was taken goes to all symbols by their frequency, seen in this row or not: you "
            "gave it to the unseen alone, which is backing off"
        )
        before = "the discount is taken from the counts, before they are divided by the total"
        for wrong in (kept + handed, kept + back * to_unseen):
            if same(got, wrong) and not same(wrong, kept + back * frequency):
                raise Mistake(only_unseen)
        for weight in (discount * kinds, back, 1 - late.sum(axis=1, keepdims=True)):
            if same(got, late + weight * frequency):
                raise Mistake(before)
        mistakes = {
            "the shorter model should be the share of each symbol in all counts; you count the "
            "different contexts, as Kneser–Ney does": kept + back * different,
            "the weight of the shorter model is D times the number of different followers over the "
            "total; you took D over the total": kept + discount / total * frequency,
            "D was taken only from counts that are not 0: count those in the row": kept
            + discount * size / total * frequency,
            "count the followers in the row of the context, not in the column": kept
            + discount * (counts > 0).sum(axis=0) / total * frequency,
            "what was taken is spread evenly, not by the frequency of the symbols": kept
            + back / size,
        }
        explain(got, kept + back * frequency, mistakes)


_TEXTS = [
    (bits, characters * words // 2, tokens * words // 4, words)
    for bits in (1, 2, 3)
    for words in (100, 200, 300, 400)
    for characters in (8, 9, 10, 12)  # in two words
    for tokens in (5, 6)  # in four words
    if bits * characters % 2 == 0 and bits * characters <= 24
]
"""Bits for each character, and thousands of characters, tokens and words."""


@varied(text=_TEXTS)
def check_per_word(text: tuple[int, int, int, int] = (2, 900, 300, 200)) -> NumberExercise:
    """Ask for the perplexity of a word, from the bits of a character."""
    bits, characters, tokens, words = text
    length = characters / words
    surprise = round(bits * length)
    right = 2**surprise
    return NumberExercise(
        "5.5",
        question=f"A text has {characters},000 characters, {tokens},000 tokens and {words},000 "
        f"words. A model reaches {bits} bits per character. What is its perplexity per word?",
        right=right,
        within=0.5,
        low=1,
        high=200_000,
        expects="a whole number",
        wrong={
            surprise: f"{surprise} is the surprise at a word in bits; the perplexity is 2 to that "
            "power",
            2**bits: f"{2**bits} is the perplexity per character; a word has {length:g} of them",
            2 ** (bits * characters / tokens): "that is the perplexity per token, 2 to the power "
            f"{bits * characters / tokens:.3g}: {words},000 words share the bits, not "
            f"{tokens},000 tokens",
            2**bits * length: f"the perplexities of the {length:g} characters multiply, they do "
            "not add",
            math.exp(surprise): f"that is e to the power {surprise}: bits belong to powers of 2",
        },
        otherwise=f"the text has {bits * characters * 1000:,} bits; spread them over its words",
        because=f"{bits} bits times {length:g} characters are {surprise} bits a word, and "
        f"2{raised(surprise)} = {right}.",
    )


check_fault = ChoiceExercise(
    "5.6",
    choices={
        "a": "The alphabet is taken from the training plays alone.",
        "b": "Line 3: np.log where np.log2 should stand.",
        "c": "Line 4: the end of the play is scored but not counted as a character.",
        "d": "Order 7 is too high: the model has memorized the plays.",
    },
    right="b",
    replies={
        "a": "that is as it should be: the held-out plays have no character that the others lack, "
        "and nothing of them may be used",
        "b": "2.172 bits are 1.506 nats: the model is the 7-gram of the scoreboard, and the record "
        "is a unit.",
        "c": "four ends among 428,000 characters change the fifth decimal",
        "d": "memorized training plays do not lower the score on other plays; 7 is the best order",
    },
)

check_closed = ChoiceExercise(
    "5.7",
    choices={
        "a": "A: 120 is less than 250.",
        "b": "B: it has no unknown words.",
        "c": "One cannot say before A also pays for spelling its unknown words.",
        "d": "They are equal: both read words.",
    },
    right="c",
    replies={
        "a": "A is asked an easier question: 8.7 % of the words it only has to call unknown. If "
        "spelling one costs 20 bits, that adds 1.7 bits to each word and makes 120 into 400",
        "b": "having no unknown words is a virtue, but 250 might still be worse than A after A has "
        "paid: that depends on what spelling costs it",
        "c": "With 12 bits for spelling an unknown word A comes to 120 · 2^1.04 = 247 and they are "
        "level; with 20 bits it comes to 400. Compare bits per character, all characters paid.",
        "d": "they read words, but do not predict the same thing: one of them may say unknown",
    },
)


@functools.cache
def _half_of_macbeth() -> tuple[Alphabet, np.ndarray, KneserNey]:
    """Learn from the first 60,000 characters of a play."""
    text = split_plays()[1]["Macbeth"]
    alphabet = Alphabet(text)
    codes = alphabet.encode(text)
    return alphabet, codes, KneserNey.fit([codes[:60_000]], alphabet.vocab_size, 5)


def _fair_places(length: int) -> np.ndarray:
    """Draw 80 places of the play.

    So few decide by luck: a mixture that is better by 0.08 bits may look worse.  Of 40,000 draws
    this is the one on which fifteen mixtures, of orders 1 to 7 and shares of 0.1 to 0.5, gain what
    they gain on all 720 places, each within 0.013 bits.
    """
    places = np.arange(80_000, length - 1, 29)
    return places[np.random.default_rng(5662).choice(len(places), 80, replace=False)]


@exercise("5.8", because="It learns while it reads, and its rows still sum to 1.")
def check_cache(answer: Answer) -> None:
    """Check ``answer(model, read)``: a distribution that uses what was read since training."""
    alphabet, codes, model = _half_of_macbeth()
    given, improved = [], []
    for place in _fair_places(len(codes)).tolist():
        read = codes[60_000:place]
        p = as_array(answer(model, read.copy()), (alphabet.vocab_size,))
        if abs(p.sum() - 1) > 1e-6:
            raise Mistake(f"at place {place} your probabilities sum to {p.sum():.4f}, not to 1")
        if p.min() < 0:
            raise Mistake(f"at place {place} a probability is negative")
        if p[codes[place]] == 0:
            raise Mistake(
                f"at place {place} you give 0 to {alphabet.decode([codes[place]])!r}, and it came: "
                "mix, do not replace"
            )
        given.append(model.distribution(read)[codes[place]])
        improved.append(p[codes[place]])
    gain = np.mean(np.log2(improved)) - np.mean(np.log2(given))
    if abs(gain) < 1e-9:
        raise Mistake("this is the model you were given: what was read since is not used")
    if gain < 0:
        raise Mistake(
            f"your model costs {-gain:.3f} bits more than the one you were given; 0.02 less are "
            "asked for. Give the new counts a smaller share, or more context"
        )
    if gain < 0.02:
        raise Mistake(
            f"your model costs only {gain:.3f} bits less than the one you were given; 0.02 are "
            "asked for"
        )
