"""Checks for the exercises of the chapter *Alignment*: each names the mistake it sees."""

from __future__ import annotations

import math

import numpy as np
import torch

from primer.alignment import kl_divergence, reply_mask, tilted
from primer.notebook import ChoiceExercise, Mistake, NumberExercise, exercise, varied
from primer.notebook.answers import Answer, as_array, as_number, explain
from primer.notebook.wording import raised, short, word


@varied(times=range(2, 11), inverse=(2, 3, 4))
def check_odds(times: int = 3, inverse: int = 2) -> NumberExercise:
    """Ask for odds under a leash of β = 1/inverse."""
    right = times**inverse
    power = f"{times}{raised(inverse)}"
    return NumberExercise(
        "15.1",
        question="Under the reference two replies are equally probable. The reward of the first is "
        f"larger by log {times}. How many times as probable as the second does the best policy "
        f"with β = 1/{inverse} make it?",
        right=right,
        within=0.05,
        low=0,
        high=20_000,
        expects="a factor above 0",
        wrong={
            times: "that is the factor for β = 1; a reward counts divided by β",
            times ** (1 / inverse): "you multiplied by β; the exponent is R/β, and dividing by "
            f"1/{inverse} multiplies by {inverse}",
            math.log(times) * inverse: f"that is the logarithm of the factor, log {times} divided "
            f"by 1/{inverse}",
        },
        otherwise=f"the odds are multiplied by e^(difference/β), and e^({inverse} log {times}) = "
        f"{power}",
        because=f"e^(log {times} / β) = e^({inverse} log {times}) = {power} = {right}: a shorter "
        "leash would let them grow less.",
    )


@varied(reward=(1, 2, 3, 5, 6), marks=(8, 10, 12, 15, 20), cost=(4, 5, 8, 10))
def check_break_even(reward: int = 2, marks: int = 12, cost: int = 4) -> NumberExercise:
    """Ask for the β below which it pays to shout."""
    earned, spent = marks * reward, marks * cost
    return NumberExercise(
        "15.4",
        question=f"A proxy gives {reward} for every exclamation mark. A reply of {word(marks)} "
        f"marks costs {cost} nats for each of them. Against a policy that stays where it is, with "
        "reward 0 and KL 0, below which β does it pay always to shout?",
        right=reward / cost,
        within=0.005,
        low=0,
        high=1000,
        expects="a weight above 0, to two decimals",
        wrong={
            cost / reward: "that is nats for a unit of reward; the weight is reward for a nat",
            earned: "that is what the marks earn; set it against what they cost",
            spent: "that is what the marks cost; what do they earn for each nat?",
            reward / spent: f"all {word(marks)} marks earn, not one of them",
            earned / cost: f"all {word(marks)} marks cost, not one of them",
        },
        otherwise=f"{marks} marks earn {marks} · {reward} = {earned} and cost "
        f"{marks} · {cost} = {spent} nats",
        because=f"{earned} / {spent} = {short(reward / cost)}: below it shouting is worth its "
        "price, and the longer the better.",
    )


check_diagnose = ChoiceExercise(
    "15.6",
    choices={
        "a": "It has learned what was wanted: the reward is the highest.",
        "b": "It found a way to score that the reference would hardly ever write.",
        "c": "The leash is too short.",
        "d": "The learning rate is too small.",
    },
    right="b",
    replies={
        "a": "The reward is the proxy's. It rose by 15 while replies lost nearly all their variety",
        "b": "A KL of 60 nats for a reply of twelve tokens and an entropy near 0: one and the same "
        "reply, of the kind nobody rated. Read some of them.",
        "c": "a short leash would have kept the KL small; it is 60 nats",
        "d": "then little would have changed; entropy and KL changed very much",
    },
)


@exercise("15.2")
def check_dpo(answer: Answer) -> None:
    """Check ``answer(chosen, rejected, ref_chosen, ref_rejected, beta)``: the mean DPO loss."""
    for seed, beta in enumerate((0.1, 0.5, 2.0)):
        random = np.random.default_rng(seed)
        chosen, rejected, ref_chosen, ref_rejected = -random.uniform(1, 30, size=(4, 7))
        got = as_number(
            answer(*(x.copy() for x in (chosen, rejected, ref_chosen, ref_rejected)), beta)
        )
        apart = (chosen - ref_chosen) - (rejected - ref_rejected)

        sigmoid = 1 / (1 + np.exp(-beta * apart))

        def loss(margin: np.ndarray) -> np.ndarray:
            return np.asarray(np.logaddexp(0, -margin).mean())

        explain(
            np.asarray(got),
            loss(beta * apart),
            {
                "chosen and rejected are exchanged": loss(-beta * apart),
                "the reference is missing: take log ratios": loss(beta * (chosen - rejected)),
                "β must multiply both log ratios": loss(
                    beta * (chosen - ref_chosen) - (rejected - ref_rejected)
                ),
                "β is missing": loss(apart),
                "β multiplies the log ratios here; it divides in the tilt": loss(apart / beta),
                "take the mean over the pairs, not the sum": 7 * loss(beta * apart),
                "a loss is to be lowered: it is minus the mean of log σ": -loss(beta * apart),
                "the mean comes last: log σ of each margin, then the mean": loss(
                    beta * apart.mean()
                ),
                "the logarithm is missing: the loss is −log σ of the margin": -sigmoid.mean(),
                "that is σ of minus the margin; the loss is −log σ of the margin": 1
                - sigmoid.mean(),
                "a square that wants each log ratio's lead to be 1/(2β) is the loss of IPO; DPO's "
                "is −log σ": ((apart - 1 / (2 * beta)) ** 2).mean(),
            },
        )
    far = as_number(answer(*np.array([[-910.0], [-10.0], [-10.0], [-10.0]]), 1.0))
    if not np.isclose(far, 900):
        raise Mistake(
            f"with a margin of −900 the loss is 900, yours is {far}: the sigmoid has become 0, "
            "or e^900 infinite; use log(1 + e^−m) in a stable form, np.logaddexp(0, -m)"
        )


@exercise("15.3")
def check_baseline(answer: Answer) -> None:
    """Check ``answer(policy, reward)``: the constant baseline of least variance."""
    for seed, n in enumerate((3, 5, 8)):
        random = np.random.default_rng(seed)
        policy, reward = random.dirichlet(np.ones(n)), random.normal(size=n) * 3
        size = 1 - 2 * policy + policy @ policy  # of the gradient of log π(y), squared
        alone = 1 - policy  # its entry at y's own logit
        explain(
            as_array(answer(policy.copy(), reward.copy()), ()),
            (policy * size) @ reward / (policy @ size),
            {
                "that is the mean reward, which is best only where all gradients are equally "
                "long: replies with a long gradient count more": policy @ reward,
                "weigh by the squared length of the gradient, not by the length": (
                    (policy * np.sqrt(size)) @ reward / (policy @ np.sqrt(size))
                ),
                "the mean is over draws of the policy: weigh by π, too": size @ reward / size.sum(),
                "e_y − π has entries at all logits, not only at y: its squared length is "
                "1 − 2π(y) + Σπ²": (policy * alone**2) @ reward / (policy @ alone**2),
                "1 − π(y) is the gradient's entry at y alone: weigh by the squared length of all "
                "of it, 1 − 2π(y) + Σπ²": (policy * alone) @ reward / (policy @ alone),
            },
        )


@exercise("15.5")
def check_mask(answer: Answer) -> None:
    """Check ``answer(tokens, end)``: which tokens of replies count."""
    for seed in range(4):
        random = np.random.default_rng(seed)
        tokens = random.integers(0, 6, size=(6, 5 + seed))
        right = reply_mask(torch.from_numpy(tokens), 5).numpy()
        ends = tokens == 5
        first, place = ends.argmax(axis=1)[:, None], np.arange(tokens.shape[1])
        explain(
            as_array(answer(tokens.copy(), 5), tokens.shape).astype(float),
            right.astype(float),
            {
                "the end token itself must count, or nobody learns to stop": (
                    np.cumsum(ends, axis=1) == 0
                ).astype(float),
                "the count is already 1 at the end and stays so behind it: leave the place itself "
                "out of the count": (np.cumsum(ends, axis=1) <= 1).astype(float),
                "in a row without an end argmax is 0, and all but its first token is lost: such a "
                "row counts whole": (place <= first).astype(float),
                "the end token itself must count, and in a row without an end argmax is 0: such a "
                "row counts whole": (place < first).astype(float),
                "what stands behind the first end counts still": (~ends).astype(float),
                "everything counts": np.ones(tokens.shape),
                "of several ends only the first counts": (
                    np.cumsum(ends, axis=1) - ends == 0
                ).astype(float)
                + (np.cumsum(ends, axis=1) > 1) * ends,
            },
        )


@exercise("15.7")
def check_leash(answer: Answer) -> None:
    """Check ``answer(reference, proxy, rated, gold)``: a weight of the KL that does not ruin."""
    grid = np.geomspace(0.05, 50, 60)
    # bends and units so unlike that no β suits all, nor a fixed share of the proxy's spread
    for seed, bend in enumerate(np.linspace(0.1, 0.7, 6)):
        random = np.random.default_rng(seed)
        z = random.normal(size=400)
        proxy = (1, 4)[seed % 2] * z
        gold = z - bend * z**2 + 0.3 * random.normal(size=400)
        reference = np.full(400, 1 / 400)
        rated = random.choice(400, size=120, replace=False)
        beta = as_number(answer(reference.copy(), proxy.copy(), rated.copy(), gold[rated]))
        if not 1e-300 < beta < np.inf:  # below it R/β overflows
            raise Mistake(f"β must be above 0, and β and R/β finite; yours is {beta:.3g}")

        def worth(weight: float, gold: np.ndarray = gold, proxy: np.ndarray = proxy) -> float:
            policy = tilted(torch.full((400,), 1 / 400).double(), torch.from_numpy(proxy), weight)
            return float(policy @ torch.from_numpy(gold))

        best, start = max(map(worth, grid)), float(reference @ gold)
        got = worth(beta)
        if got < start + 0.5 * (best - start):
            policy = tilted(torch.from_numpy(reference), torch.from_numpy(proxy), beta)
            gone = float(kl_divergence(policy, torch.from_numpy(reference)))
            raise Mistake(
                f"with your β = {beta:.2g} gold goes from {start:.2f} to {got:.2f} at KL "
                f"{gone:.1f}; {best:.2f} is to be had, and half of that gain is asked for"
            )
