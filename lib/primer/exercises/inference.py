"""Checks for the exercises of the chapter *Inference*: each names the mistake it recognizes."""

from __future__ import annotations

import torch

from primer.inference import expected_tokens, probabilities, residual
from primer.notebook import Mistake, exercise
from primer.notebook.answers import Answer, as_whole, explain, same
from primer.notebook.tensors import as_tensor, draw


@exercise("11.1")
def check_temperature(answer: Answer) -> None:
    """Check ``answer(logits, temperature)``: the probabilities at a temperature."""
    logits, temperature = torch.tensor([2.0, 1.0, 0.0, -1.0], dtype=torch.float64), 0.5
    got = as_tensor(answer(logits.clone(), temperature), (4,))
    plain = logits.softmax(-1)
    if same(got, probabilities(logits, temperature)):
        return
    if same(got, logits / temperature):
        raise Mistake("these are the warped logits; the softmax is still to come")
    if same(got, probabilities(logits, 1 / temperature)):
        raise Mistake("your distribution gets flatter at τ = 1/2: divide by τ, do not multiply")
    if same(got, plain):
        raise Mistake(
            "nothing has changed: dividing probabilities by τ and normalizing cancels; "
            "divide the logits"
        )
    if same(got, plain / temperature):
        raise Mistake("divide the logits by τ, before the softmax; your numbers do not sum to 1")
    raise Mistake("token 0 should be e² = 7.39 times as probable as token 1 at τ = 1/2")


@exercise("11.2")
def check_nucleus(answer: Answer) -> None:
    """Check ``answer(probabilities, p)``: the ids of the tokens in the nucleus."""
    weights = [0.05, 0.4, 0.1, 0.25, 0.2]  # falling: 1, 3, 4, 2, 0
    for p, right in ((0.7, {1, 3, 4}), (0.3, {1}), (1.0, {0, 1, 2, 3, 4})):
        got = {int(token) for token in answer(torch.tensor(weights, dtype=torch.float64), p)}
        if got == right:
            continue
        if got == {i for i, weight in enumerate(weights) if weight >= p}:
            raise Mistake(f"p = {p} is the mass of the set, not a threshold for each token")
        if p == 0.7 and got == {1, 3}:
            raise Mistake(
                "the set has mass 0.65, less than p = 0.7: the token that crosses p belongs to it"
            )
        if p == 0.7 and got == {0, 1, 2}:
            raise Mistake("go through the tokens in order of falling probability, not of their ids")
        if p == 0.7 and got == {0, 2, 4, 3}:
            raise Mistake("you start with the least probable tokens; the nucleus is at the top")
        raise Mistake(f"for p = {p} the smallest set is {sorted(right)}, yours is {sorted(got)}")


@exercise("11.3")
def check_cached_step(answer: Answer) -> None:
    """Check ``answer(query, keys, values, key, value)``: the output for the newest token."""
    query, key, value = draw(3, 4)
    keys, values = draw(2, 5, 4, seed=1)
    got = as_tensor(answer(query, keys.clone(), values.clone(), key, value), (4,))
    all_keys, all_values = torch.cat([keys, key[None]]), torch.cat([values, value[None]])
    scores = all_keys @ query / 2  # √4
    if same(got, scores.softmax(-1) @ all_values):
        return
    if same(got, (keys @ query / 2).softmax(-1) @ values):
        raise Mistake("the newest token attends to itself too: append its key and value first")
    if same(got, (2 * scores).softmax(-1) @ all_values):
        raise Mistake("the scores are not divided by √d")
    if same(got, scores @ all_values):
        raise Mistake("the scores are not yet weights: the softmax is missing")
    swapped = torch.cat([key[None], keys]) @ query / 2
    if same(got, swapped.softmax(-1) @ all_values):
        raise Mistake("the new key stands first and the new value last: append both at the end")
    raise Mistake("with the cache appended there are six keys, six scores and six values")


@exercise("11.4")
def check_cache_bytes(answer: Answer) -> None:
    """Check ``answer(n_layers, n_kv_heads, d_head, n_tokens, batch, bytes_per_number)``."""
    layers, heads, width, tokens, batch, size = 32, 5, 128, 1000, 3, 4
    right = 2 * layers * heads * width * tokens * batch * size
    explain(
        as_whole(answer(layers, heads, width, tokens, batch, size)),
        right,
        {
            "keys and values are both stored: a factor 2 is missing": right // 2,
            "every layer has keys and values of its own": right // layers,
            "each of the key and value heads has its own rows": right // heads,
            "every text of the batch needs its own cache": right // batch,
            "the cache grows by one row for each token": right // tokens,
            "a number takes several bytes; you count numbers": right // size,
        },
        "for 1 layer, 1 head of width 1, 1 token, 1 text and 2 bytes it should be 4",
    )


@exercise("11.5")
def check_extensions(answer: Answer) -> None:
    """Check ``answer(scores, log_probs, k)``: the best extensions as (row, token, score)."""
    scores = torch.tensor([-1.0, -2.0], dtype=torch.float64)
    steps = torch.tensor([[0.5, 0.3, 0.2], [0.9, 0.06, 0.04]], dtype=torch.float64).log()
    got = [(int(i), int(j), float(s)) for i, j, s in answer(scores.clone(), steps.clone(), 3)]
    if len(got) != 3:
        raise Mistake(f"three extensions are asked for, yours are {len(got)}")
    total = scores[:, None] + steps
    right = [(0, 0), (1, 0), (0, 1)]
    order = [(i, j) for i, j, _ in got]
    if order == right and all(abs(s - float(total[i, j])) < 1e-5 for i, j, s in got):
        return
    if order == [(1, 0), (0, 0), (0, 1)]:
        raise Mistake(
            "you rank by the last probability alone; what counts is the sum of the whole text"
        )
    if order == right:
        raise Mistake("the choice is right; the scores should be the sums of both logarithms")
    if sorted(order) == sorted(right):
        raise Mistake("the right three, but they should come best first")
    if order == [(0, 2), (1, 1), (1, 2)] or order[0] == (1, 2):
        raise Mistake("these are the worst ones: larger, less negative sums are better")
    if {i for i, _ in order} == {0}:
        raise Mistake("the extensions of all hypotheses compete, not those of the first alone")
    raise Mistake("there are 2 · 3 candidates; (0, 0) with −1 + ln 0.5 = −1.69 is the best")


@exercise("11.6")
def check_replacement(answer: Answer) -> None:
    """Check ``answer(p, q)``: the distribution to draw from after a rejection."""
    p = torch.tensor([0.5, 0.3, 0.2, 0.0], dtype=torch.float64)
    q = torch.tensor([0.2, 0.2, 0.5, 0.1], dtype=torch.float64)
    got = as_tensor(answer(p.clone(), q.clone()), (4,))
    if same(got, residual(p, q)):
        return
    if same(got, p):
        raise Mistake(
            "drawing from p again gives tokens that q likes too often: "
            "they were already kept when they were guessed"
        )
    if same(got, (p - q).clamp(min=0)):
        raise Mistake("your numbers sum to 0.4, the probability of a rejection: normalize them")
    if same(got, residual(q, p)):
        raise Mistake("this is what q has too much of; fill up what p has and q has not")
    if same(got, (p - q).abs() / (p - q).abs().sum()):
        raise Mistake("where q is larger than p nothing is missing: clip at 0, no absolute value")
    if bool((got < 0).any()):
        raise Mistake("a probability is negative: where q is larger than p it should be 0")
    raise Mistake("kept guesses cover min(p, q); what remains of p, normalized, is the answer")


@exercise("11.7")
def check_best_guesses(answer: Answer) -> None:
    """Check ``answer(rate, cost)``: the number of guesses per pass that is fastest."""
    for rate, cost in ((0.8, 0.1), (0.6, 0.05), (0.3, 0.4)):
        tokens = [1.0] + [expected_tokens(rate, n) for n in range(1, 21)]
        got = as_whole(answer(rate, cost))
        if got == _fastest(tokens, cost):
            continue
        if got == 20:
            raise Mistake(
                "each guess costs a pass of the draft, γ of them γ · c, and those behind a "
                "rejected one are lost: the best γ is not the largest"
            )
        if got == _fastest([n - 1 for n in tokens], cost):
            raise Mistake("the target itself adds one token in every pass: the sum begins with β⁰")
        raise Mistake(
            f"for β = {rate} and c = {cost}, compare the tokens per unit of time, "
            "(1 + β + … + β^γ)/(1 + γc), for γ = 0 … 20"
        )


def _fastest(tokens: list[float], cost: float) -> int:
    """Return the number of guesses with the most tokens per unit of time."""
    speed = [n / (1 + guesses * cost) for guesses, n in enumerate(tokens)]
    return speed.index(max(speed))
