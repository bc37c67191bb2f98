"""Checks for the exercises of the chapter *Inference*: each names the mistake it recognizes."""

from __future__ import annotations

import math
from typing import Any

import torch

from primer.notebook import ChoiceExercise, Mistake, NumberExercise, exercise, varied
from primer.notebook.answers import Answer, as_array, as_number, as_whole, explain, same
from primer.notebook.tensors import as_tensor, draw
from primer.notebook.wording import word


@varied(times=range(2, 11), inverse=(2, 3, 4))
def check_ratio(times: int = 4, inverse: int = 2) -> NumberExercise:
    """Ask for the ratio of two probabilities at the temperature 1/inverse."""
    right = times**inverse
    return NumberExercise(
        "11.1",
        question=f"At temperature 1 one token is {word(times)} times as probable as another. How "
        f"many times as probable is it at τ = 1/{inverse}?",
        right=right,
        within=0.01,
        low=0,
        high=20_000,
        expects="a ratio of two probabilities",
        wrong={
            times: f"that is the ratio at τ = 1; at τ = 1/{inverse} it is raised to the power "
            f"1/τ = {inverse}",
            times ** (1 / inverse): f"you raised {times} to the power τ = 1/{inverse}; the power "
            f"is 1/τ = {inverse}: colder is sharper",
            times * inverse: f"you multiplied by 1/τ = {inverse}; it is the logits that are "
            "multiplied, and the ratio of the probabilities is raised to that power",
            1 / right: "that is how many times as probable the other one is; turn it around",
        },
        otherwise=f"the difference of the two logits is ln {times} = {math.log(times):.3f}; "
        f"divide it by 1/{inverse} and take the exponential",
        because=f"{times} to the power 1/τ = {inverse}: the difference of the logits "
        f"{'doubles' if inverse == 2 else f'is {word(inverse)} times as large'}.",
    )


check_who = ChoiceExercise(
    "11.2",
    choices={
        "a": "greedy, top-p with p = 0.9, temperature 1.5",
        "b": "temperature 1.5, greedy, top-p with p = 0.9",
        "c": "greedy, temperature 1.5, top-p with p = 0.9",
        "d": "top-p with p = 0.9, temperature 1.5, greedy",
    },
    right="c",
    replies={
        "a": "text 1 is greedy; but 'fRanather' in text 2 is no word: at temperature 1.5 a quarter "
        "of the words are unknown, at p = 0.9 four in a hundred",
        "b": "text 1 repeats itself word for word; of a hundred texts at temperature 1.5 none went "
        "round in a circle to its end; it is greedy",
        "c": "A circle, words that do not exist, and neither.",
        "d": "text 3 does not repeat itself; greedy texts do, six sevenths of their runs of four "
        "are repeated",
    },
)


@varied(
    model=(
        ("GPT-2", 0.249, 0.0369),
        ("GPT-2 medium", 0.710, 0.0983),
        ("GPT-2 large", 1.548, 0.1843),
        ("GPT-2 XL", 3.115, 0.3072),
    ),
    texts=(16, 24, 32, 48, 64, 96, 128),
)
def check_length(
    model: tuple[str, float, float] = ("GPT-2", 0.249, 0.0369), texts: int = 64
) -> NumberExercise:
    """Ask from which length on the caches of some texts are more bytes than the weights."""
    name, weights, cache = model  # in GB, and in MB for each token
    megabytes = 1000 * weights
    one = megabytes / cache
    right = one / texts
    return NumberExercise(
        "11.6",
        question=f"{name} has {weights:g} GB of weights, and its cache takes {cache:g} MB a token, "
        f"both in half precision. You let {texts} texts take their steps together. From what "
        "length of text on, in tokens, does a step fetch more bytes of caches than of weights?",
        right=right,
        within=right / 100,
        low=0,
        high=900_000,
        expects="a number of tokens",
        wrong={
            one: f"that is for one text; each of the {texts} texts has a cache of its own, so "
            f"divide by {texts}",
            right / 1000: f"you mixed up MB and GB: {weights:g} GB are {megabytes:g} MB",
            right * 1000: f"a GB has a thousand MB, not a million: {weights:g} GB are "
            f"{megabytes:g} MB",
            right / 2: f"the factor 2 for keys and values is already in the {cache:g} MB",
            right * 2: f"the {weights:g} GB are already in half precision; do not double them",
        },
        otherwise=f"solve {texts} · length · {cache:g} MB = {megabytes:g} MB for the length",
        because=f"From {math.ceil(right)} tokens on, batching {texts} texts fetches more caches "
        "than weights.",
    )


check_diagnosis = ChoiceExercise(
    "11.7",
    choices={
        "a": "The causal mask is missing during decode.",
        "b": "Every new token is rotated as if it stood at position 0.",
        "c": "The keys are stored before their rotation, and rotated by their positions when read.",
        "d": "The cache keeps half-precision numbers.",
    },
    right="b",
    replies={
        "a": "a token that is read alone needs no mask: the cache holds no key of the future",
        "b": "In prefill the positions 0 to 49 come by themselves; a single token must be told "
        "that it stands at 50. A wrong distance to every key changes every score.",
        "c": "that is slower and gives the same numbers: the rotation depends on a key's own "
        "position, which never changes",
        "d": "half precision keeps three digits: the logits would differ in the second decimal, "
        "not by units, and the prompt's keys are as rough as the others",
    },
)


@exercise("11.3")
def check_nucleus(answer: Answer) -> None:
    """Check ``answer(probabilities, p)``: the ids of the tokens in the nucleus."""
    weights = torch.tensor([0.05, 0.4, 0.1, 0.25, 0.2], dtype=torch.float64)  # falling: 1 3 4 2 0
    cases = [(weights, p) for p in (0.3, 0.7, 1.0)]
    cases += [(draw(7 + seed, seed=seed).softmax(0), 0.8) for seed in range(3)]
    for probabilities, p in cases:
        _check_nucleus(probabilities, p, _ids(answer(probabilities.clone(), p)))
    ties = torch.tensor([0.125, 0.5, 0.125, 0.25], dtype=torch.float64)
    if _ids(answer(ties, 0.75)) != {1, 3}:
        raise Mistake(
            "0.5 + 0.25 reach p = 0.75 exactly: a token stays only if the mass before it is less "
            "than p"
        )


def _check_nucleus(probabilities: torch.Tensor, p: float, got: set[int]) -> None:
    """Check one nucleus in which no mass is p exactly."""
    order = probabilities.argsort(descending=True).tolist()
    nucleus = _until(order, probabilities, p)
    inside, places = nucleus[:-1], list(range(len(order)))
    mistakes = {
        f"p = {p} is the mass of the set, not a threshold for each token": [
            token for token in places if float(probabilities[token]) >= p
        ],
        f"the set has mass {float(probabilities[inside].sum()):.2f}, less than p = {p}: "
        "the token that crosses p belongs to it": inside,
        "these are places in the sorted order; look up whose they are: order[…]": places[
            : len(nucleus)
        ],
        "go through the tokens in order of falling probability, not of their ids": _until(
            places, probabilities, p
        ),
        "you start with the least probable tokens; the nucleus is at the top": _until(
            order[::-1], probabilities, p
        ),
    }
    if got == set(nucleus):
        return
    for sentence, tokens in mistakes.items():
        if got == set(tokens):
            raise Mistake(sentence)
    raise Mistake(
        f"of {len(order)} tokens the smallest set for p = {p} is {sorted(nucleus)}, "
        f"yours is {sorted(got)}"
    )


def _until(order: list[int], probabilities: torch.Tensor, p: float) -> list[int]:
    """Take tokens in this order until their mass reaches p."""
    before = probabilities[order].cumsum(0) - probabilities[order]
    return [token for token, mass in zip(order, before.tolist(), strict=True) if mass < p]


def _ids(value: Any) -> set[int]:
    """Read the ids of tokens, in any order."""
    wanted = "return a list of ids of tokens, each once, not a mask or probabilities"
    try:
        tokens = [as_array(token, ()) for token in value]
    except (TypeError, Mistake):
        raise Mistake(wanted) from None
    ids = {int(token) for token in tokens if token.dtype.kind != "b" and token % 1 == 0}
    if len(ids) < len(tokens):
        raise Mistake(wanted)
    return ids


@exercise("11.4")
def check_cached_step(answer: Answer) -> None:
    """Check ``answer(query, keys, values, key, value)``: the output for the newest token."""
    for seed, (n, width) in enumerate(((5, 4), (3, 9), (1, 2))):
        query, key, value = draw(3, width, seed=seed)
        keys, values = draw(2, n, width, seed=seed + 10)
        got = as_tensor(answer(query, keys.clone(), values.clone(), key, value), (width,))
        all_keys, all_values = torch.cat([keys, key[None]]), torch.cat([values, value[None]])
        root = width**0.5
        scores = all_keys @ query
        swapped = torch.cat([key[None], keys]) @ query
        explain(
            got,
            (scores / root).softmax(-1) @ all_values,
            {
                "the newest token attends to itself too: append its key and value first": (
                    (keys @ query / root).softmax(-1) @ values
                ),
                "the scores are not divided by √d": scores.softmax(-1) @ all_values,
                "divide by √d, not by d": (scores / width).softmax(-1) @ all_values,
                f"for width {width} the scores are divided by √{width}, not by 2": (
                    (scores / 2).softmax(-1) @ all_values
                ),
                "divide by √d, the root of the width, not by that of the number of tokens": (
                    (scores / n**0.5).softmax(-1) @ all_values
                ),
                "divide by √d, the root of the width, not by that of the number of keys": (
                    (scores / (n + 1) ** 0.5).softmax(-1) @ all_values
                ),
                "it is the query that is compared with the keys; you compare the new key": (
                    (all_keys @ key / root).softmax(-1) @ all_values
                ),
                f"√2 belongs to the chapter's example of width 2; here the width is {width}": (
                    (scores / 2**0.5).softmax(-1) @ all_values
                ),
                "the scores are not yet weights: the softmax is missing": (
                    scores / root @ all_values
                ),
                "the new key stands first and the new value last: append both at the end": (
                    (swapped / root).softmax(-1) @ all_values
                ),
                "keys are compared, values are read: yours are exchanged": (
                    (all_values @ query / root).softmax(-1) @ all_keys
                ),
            },
            f"with {n} tokens in the cache there are {n + 1} keys, {n + 1} scores and "
            f"{n + 1} values once the newest is appended",
        )


@exercise("11.5")
def check_extensions(answer: Answer) -> None:
    """Check ``answer(scores, log_probs, k)``: the best extensions as (row, token, score)."""
    scores = torch.tensor([0.9, 0.1], dtype=torch.float64).log()
    steps = torch.tensor([[0.5, 0.3, 0.2], [0.95, 0.04, 0.01]], dtype=torch.float64).log()
    order = _extensions(answer, scores, steps, 3)
    if order == [(1, 0), (0, 0), (0, 1)]:
        raise Mistake(
            "you rank by the last probability alone; what counts is the sum of the whole text"
        )
    if order == _ranked(scores[:, None] * steps, 3):
        raise Mistake(
            "you multiply logarithms; they are added. The product of two negative numbers is "
            "positive, and largest for the least probable text"
        )
    if order == [(0, 2), (1, 1), (1, 2)] or order[0] == (1, 2):
        raise Mistake("these are the worst ones: larger, less negative sums are better")
    for seed, (rows, width, k) in enumerate(((2, 3, 3), (2, 5, 4), (3, 7, 4), (4, 6, 2))):
        if seed:
            scores = draw(rows, seed=seed).flatten()
            steps = draw(rows, width, seed=seed + 20).log_softmax(-1)
        total = scores[:, None] + steps
        best = total.flatten().argsort(descending=True)[:k].tolist()
        right = _ranked(total, k)
        order = _extensions(answer, scores, steps, k)
        if order == right:
            continue
        if order == [(token, row) for row, token in right]:
            raise Mistake("rows and tokens are exchanged: first the hypothesis, then the token")
        if order == [(place // k, place % k) for place in best]:
            raise Mistake(
                f"a row of the table holds {width} tokens: the row is place // {width}, not // {k}"
            )
        if sorted(order) == sorted(right):
            raise Mistake("the right ones, but they should come best first")
        if {i for i, _ in order} == {0}:
            raise Mistake("the extensions of all hypotheses compete, not those of the first alone")
        raise Mistake(
            f"with {rows} hypotheses and {width} tokens there are {rows} · {width} candidates; "
            f"the best is {right[0]} with {float(total[right[0]]):.2f}"
        )


def _ranked(table: torch.Tensor, k: int) -> list[tuple[int, int]]:
    """Return row and column of the k largest entries, the largest first."""
    places = table.flatten().argsort(descending=True)[:k].tolist()
    return [divmod(place, table.shape[1]) for place in places]


def _extensions(
    answer: Answer, scores: torch.Tensor, steps: torch.Tensor, k: int
) -> list[tuple[int, int]]:
    """Return rows and tokens of the answer, whose scores must be the sums."""
    value = answer(scores.clone(), steps.clone(), k)
    try:
        triples = [(i, j, s) for i, j, s in value]
    except (TypeError, ValueError):
        raise Mistake("return a list of k triples (hypothesis, token, score)") from None
    got = [
        (as_whole(i, "a hypothesis"), as_whole(j, "a token"), as_number(s, "a score"))
        for i, j, s in triples
    ]
    if len(got) != k:
        raise Mistake(f"{k} extensions are asked for, yours are {len(got)}")
    rows, width = steps.shape
    total = scores[:, None] + steps
    inside = [(i, j, s) for i, j, s in got if 0 <= i < rows and 0 <= j < width]
    order = [(i, j) for i, j, _ in got]
    wrong = [s for i, j, s in inside if abs(s - float(total[i, j])) > 1e-5]
    if wrong and order == _ranked(total, k):
        raise Mistake("the choice is right; the scores should be the sums of both logarithms")
    return order


@exercise("11.8")
def check_penalized(answer: Answer) -> None:
    """Check ``answer(logits, tokens, penalty)``: the logits of tokens already used, lowered."""
    for seed, (tokens, penalty) in enumerate((([1, 3, 1, 1], 2.0), ([0, 5], 0.5), ([2], 1.5))):
        logits = draw(6, seed=seed).flatten()
        given, used = logits.clone(), torch.tensor(tokens)
        got = as_tensor(answer(given, used, penalty), (6,))
        once = logits.clone()
        once[used] -= penalty
        if not torch.equal(given, logits):
            raise Mistake("you changed the logits that were given to you: copy them first")
        if same(got, once):
            continue
        counts = torch.bincount(used, minlength=6)
        if same(got, logits - penalty * counts):
            raise Mistake(
                "token 1 stands there three times; its logit is lowered once, not thrice (a set of "
                "tensors keeps equal ones apart; take set(tokens.tolist()))"
            )
        if same(got, logits - penalty):
            raise Mistake("all logits are lowered alike, which changes no probability")
        if same(got, 2 * logits - once):
            raise Mistake("used tokens should become less probable: subtract the penalty")
        others = logits - penalty
        others[used] += penalty
        if same(got, others):
            raise Mistake("you lowered the tokens that have not been used")
        raise Mistake(
            f"of six logits only those of the tokens {sorted(set(tokens))} fall, each by {penalty}"
        )
