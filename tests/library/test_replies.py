"""The reply to a wrong number names the case in which that number comes out: here each is computed.

Words of the sentence, and beside them the number that belongs to what it says.
"""

from __future__ import annotations

import dataclasses
import importlib
import math
import pkgutil
from math import cos, log, pi, sin, sqrt

import pytest
import torch

from primer import attention, exercises
from primer.datasets import plays
from primer.notebook import NumberExercise
from primer.scaling import CHINCHILLA_UNROUNDED
from primer.transformers import load_pretrained

TOPICS = [module.name for module in pkgutil.iter_modules(exercises.__path__)]
GATE = 1 / (1 + math.exp(-2))  # σ(2)
Z_TWO, Z_POWER = 1.959964, 0.841621  # normal quantiles of 97.5 % and of 80 %


def ratio_with(**rounded: float) -> float:
    """Return the tokens for each parameter at Chinchilla's budget, some exponents rounded."""
    return dataclasses.replace(CHINCHILLA_UNROUNDED, **rounded).optimum(5.76e23).ratio


REPLIES = {
    "alignment.check_odds": {"factor for β = 1": 3, "multiplied by β": sqrt(3)},
    "alignment.check_break_even": {"weight is reward for a nat": 2},
    "attention.check_softmax": {
        "their sum, 2.10 of 4.10": 2.1 / 4.1,
        "right for two keys": 3 / 4,
        "equal weights": 1 / 3,
        "weight of the first key": 1 / 5,
    },
    "attention.check_divide": {
        "variance after dividing by √d": 1,
        "variance before any division": 64,
        "the score is multiplied by 8": 8 * 64,
        "factor on the standard deviation": 8,
    },
    "beyond_attention.check_state": {
        "one head; each": 2145 * 65,
        "that is S alone": 8 * 2145 * 64,
        "kept the dimension": 8 * 64 * 65,
        "takes 64² features": 8 * 64**2 * 65,
        "1 + 64 + 64²": 8 * (1 + 64 + 64**2) * 65,
    },
    "beyond_attention.check_filter": {"share that the filter explains": 2 / 3, "which is 1": 0},
    "evaluation.check_effective": {
        "how many there are": 600,
        "questions of a passage all told the same": 30,
        "that is the design effect": 1 + 19 * 0.1,
        "19, not 20": 600 / (1 + 20 * 0.1),
        "divide by it": 600 * (1 + 19 * 0.1),
        "its root multiplies the error": 600 / sqrt(1 + 19 * 0.1),
        "the 1 is missing": 600 / (19 * 0.1),
    },
    "evaluation.check_needed": {
        "two sets of questions": (Z_TWO + Z_POWER) ** 2 * 0.42 / 0.03**2,
        "you left out δ²": (Z_TWO + Z_POWER) ** 2 * 0.2 / 0.03**2,
        "every second time": Z_TWO**2 * 0.1991 / 0.03**2,
        "one-sided test": (1.644854 + Z_POWER) ** 2 * 0.1991 / 0.03**2,
        "not by δ": (Z_TWO + Z_POWER) ** 2 * 0.1991 / 0.03,
        "root of n": (Z_TWO + Z_POWER) * sqrt(0.1991) / 0.03,
        "stands there squared": (Z_TWO + Z_POWER) * 0.1991 / 0.03**2,
        "square the sum": (Z_TWO**2 + Z_POWER**2) * 0.1991 / 0.03**2,
        "the lead is one error": 0.1991 / 0.03**2,
        "*whether* they differ": (Z_TWO + Z_POWER) ** 2 * 0.2 * 0.8 / 0.03**2,
        "δ is squared in the variance": (Z_TWO + Z_POWER) ** 2 * (0.2 - 0.03) / 0.03**2,
    },
    "fine_tuning.check_count": {"that is one block": 58_560 / 4, "rank 4": 58_560 * 4 / 6},
    "fine_tuning.check_bits": {
        "codes alone": 3,
        "constants of the constants are missing": 3 + 8 / 32,
        "constants of 32 bits": 3 + 32 / 32,
        "not by 128": 3 + 8 / 32 + 32 / 128,
    },
    "fourier.check_bin": {
        "bin 1990 of 2000 lies above": 1990 * 4,
        "turns the other way": (2000 - 1990) * 4,
        "not 1 Hz": 1990 - 2000,
        "number of a bin counts": 1990,
    },
    "fourier.check_heard": {
        "nothing was folded": 13_500,
        "5500 Hz is the remainder": 13_500 % 8000,
        "not half of one": 13_500 % 4000,
        "arrow, but a tone of -2500": 13_500 - 2 * 8000,
        "half the rate was taken off once": 13_500 - 4000,
    },
    "inference.check_ratio": {
        "ratio at τ = 1;": 4,
        "raised 4 to the power τ": 4**0.5,
        "multiplied by 1/τ = 2": 4 * 2,
        "turn it around": 1 / 16,
    },
    "inside.check_border": {
        "equal importance": 4 / 7,
        "keeps the feature": 4 * 3 / (2 * 4 + 3 * 3),
        "you left out": 2 / 4,
        "not p²/3": 2 / (4 + 2),
        "other side of the border": 1 - 4 / 11,
    },
    "inside.check_room": {
        "at right angles": 128,
        "for one pair": math.exp(128 * 0.45**2 / 2),
        "by its square": math.exp(128 * 0.45 / 4),
    },
    "language_models.check_perplexity": {
        "2 is the average": (log(2) + log(4) + log(8)) / 3 / log(2),
        "1 over the mean probability": 3 / (1 / 2 + 1 / 4 + 1 / 8),
        "mean of 2, 4 and 8": (2 + 4 + 8) / 3,
        "e to the power 2": math.exp(2),
        "64 is 1 over the product": 2 * 4 * 8,
    },
    "language_models.check_merges": {
        "after two merges": 69 - 18 - 12,
        "symbols were saved": 69 - 32,
    },
    "language_models.check_per_word": {
        "9 is the surprise": 4.5 * 2,
        "4 is the perplexity per character": 2**2,
        "do not add": 4.5 * 4,
        "e to the power 9": math.exp(9),
    },
    "networks.check_flattened": {
        "not 28": 16 * 14**2,
        "pooling is missing": 16 * 24**2,
        "one picture of 12×12": 12**2,
        "not half": 16 * 24**2 / 2,
        "parameters of the convolution": 16 * 25 + 16,
    },
    "networks.check_pieces": {
        "ten units": 2 * 5,
        "2⁵ + 1 counts": 2**5 + 1,
        "four folds": 2**4,
        "corner more for each fold": 5 + 1,
        "inside the interval": 2**5 - 1,
    },
    "optimization.check_predict": {
        "twice per step": math.ceil(log(1000) / log(26 / 24) / 2),
        "not (κ−1)/κ": math.ceil(log(1000) / log(25 / 24)),
        "rate of momentum": math.ceil(log(1000) / log(6 / 4)),
        "κ = 50 the factor": math.ceil(log(1000) / log(51 / 49)),
    },
    "positions.check_by_hand": {
        "clockwise": -sin(1),
        "cos 1 is the score": cos(1),
        "not one degree": sin(pi / 180),
        "before they are turned": 0,
        "that is −sin 2": -sin(2),
        "that is sin 3": sin(3),
    },
    "positions.check_alias": {
        "alias of offset 3": 3 + 44,
        "44 is how many": 44,
        "not from 13": 13 + 44,
        "position 54 on": 54 + 1,
        "25 steps are": 10 + 25,
        "24 steps are": 10 + 24,
    },
    "pretraining.check_doubt": {
        "share of all tokens": 15 * 0.1,
        "among the selected tokens": 10,
        "selected tokens that show a word": 50,
        "that is the share; in percent": 1.5 / 88,
        "1.5 of 13.5": 100 * 1.5 / 13.5,
    },
    "pretraining.check_lengths": {"last sentinel": 150 + 50, "hidden tokens": 150, "50 spans": 151},
    "reasoning.check_ceiling": {
        "divide by how often": 0.05 * 0.9,
        "asked is how many accepted": 0.9,
        "equally frequent": 0.9 / 0.92,
        "90 % of the cases only": 0.05 / (0.05 + 0.95 * 0.02),
        "that is how often a reply is accepted": 0.05 * 0.9 + 0.95 * 0.02,
        "that are wrong": 0.019 / 0.064,
    },
    "reasoning.check_weight": {
        "limit of many replies": 1 / sqrt(0.25),
        "leaving one out": 1,
        "mean without the division": 1 - 1 / 5,
        "divide by n p (1 − p)": (20 + 20 * sqrt(6)) / 32,
        "divide by n: the step": (20 + 20 * sqrt(6)) / 32 / 0.25,
        "divided out twice": (20 + 20 * sqrt(6)) / 32 / (5 / 4) / 5,
    },
    "recurrent.check_half_life": {
        "divided by the bias": log(2) / 2,
        "bias of 1": log(2) / log(1 + math.exp(-1)),
        "ln 2/(1 − σ)": log(2) / (1 - GATE),
        "after −1/ln σ": -1 / log(GATE),
        "after 1/(1 − σ)": 1 / (1 - GATE),
        "bias of 3": log(2) / log(1 + math.exp(-3)),
    },
    "recurrent.check_hump": {"eigenvalue of 0.9": -1 / log(0.9)},
    "regression.check_second_exam": {
        "only if r were 1": 1.5,
        "one standard deviation": 0.8,
        "r is squared": 1.5 * 0.8**2,
        "1.5 / 0.8": 1.5 / 0.8,
        "would be r = 0": 0,
    },
    "scaling.check_days": {
        "at its peak": 44.66 * 0.4,
        "those are hours": 44.66 * 24,
        "longer than the peak": 44.66 * 0.4**2,
        "six for a token": 44.66 / 6,
        "forward pass alone": 44.66 / 3,
        "rounded on the way": 5.9e23 / 1.524e17 / 86_400,
    },
    "scaling.check_rounding": {
        "other way round": 59.1 / 92.6,
        "the difference": 92.6 - 59.1,
        "β rounded alone": ratio_with(beta=0.28) / ratio_with(),
        "α rounded alone": ratio_with(alpha=0.34) / ratio_with(),
    },
    "statistics.check_precision": {
        "four times the data": 4 * 25,
        "twice the data": 2 * 25,
        "to be added": 400 - 25,
        "eight times smaller": 64 * 25,
    },
    "statistics.check_twice": {
        "exact variance at n = 400": 400**3 * 2**2 / (399**2 * 398),
        "one waiting time": 1 / 2**2,
        "standard deviation": 2,
        "counted already": 4 * 400,
        "whole sample": 400 / 4,
    },
    "statistics.check_edge": {
        "that is 1/I₁": 1,
        "E of the square": 1 / 2,
        "standard deviation": sqrt(1 / 2 - 1 / (2 * pi)),
        "square of the mean": 1 / (2 * pi),
    },
    "transformers.check_crossing": {
        "at n = 2d": 2 * 768,
        "at n = 4d": 4 * 768,
        "at n = d": 768,
        "divided by 6": 768 / 6,
        "12d": 12 * 768,
    },
}  # fmt: skip


def checks() -> dict[str, NumberExercise]:
    modules = {topic: importlib.import_module(f"primer.exercises.{topic}") for topic in TOPICS}
    return {
        f"{topic}.{name}": item
        for topic, module in modules.items()
        for name, item in vars(module).items()
        if isinstance(item, NumberExercise)
    }


def numbers_of(check: NumberExercise, words: str) -> list[float]:
    """Return the wrong numbers whose sentence has these words."""
    return [number for number, sentence in check.wrong.items() if words in sentence]


@pytest.mark.parametrize("name", REPLIES)
def test_a_reply_belongs_to_its_number(name: str) -> None:
    check = checks()[name]
    for words, number in REPLIES[name].items():
        found = numbers_of(check, words)
        assert found, f"no reply says {words!r}"
        assert any(abs(wrong - number) <= check.within + 1e-9 for wrong in found), words


def test_whoever_answers_between_0_and_1_is_not_told_that_this_is_not_above_0() -> None:
    found = {name: check.low for name, check in checks().items() if "above 0" in check.expects}
    assert len(found) >= 2
    assert set(found.values()) == {0}, found


def test_no_exercise_with_a_number_is_forgotten() -> None:
    measured = {"attention.check_pair", "statistics.check_walk", "inference.check_length"}
    assert checks().keys() - measured <= REPLIES.keys()


def test_what_heads_cost_is_measured_head_by_head() -> None:
    model, tokenizer = load_pretrained("plays")
    model = model.float()
    text = next(play for title, play in plays().items() if "macbeth" in str(title).lower())
    pages = torch.tensor(tokenizer.encode(text))[: 12 * 256].reshape(12, 256)

    @torch.no_grad()
    def loss() -> float:
        logits = model(pages)[:, :-1].mT
        return float(torch.nn.functional.cross_entropy(logits, pages[:, 1:]))

    whole, check = loss(), checks()["attention.check_pair"]
    cases = {"head 0.2 alone": [2], "head 0.3 alone": [3], "whole layer 0": range(4)}
    for words, heads in cases.items():
        with attention.ablate_heads(model.blocks[0].attention, list(heads)):
            rise = loss() - whole
        (number,) = numbers_of(check, words)
        assert rise == pytest.approx(number, abs=0.005), words
    assert whole == pytest.approx(3.33, abs=0.005)
