"""Checkers, groups, critics and tilts: against plain loops, enumeration, SciPy, chapter 15."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad
from torch.nn.functional import kl_div

from primer.alignment import (
    Replies,
    best_of_n,
    clipped_policy_loss,
    kl_divergence,
    policy_gradient,
    reinforce_loss,
    reply_mask,
    tilted,
)
from primer.reasoning import (
    KINDS,
    Calculator,
    Cups,
    TwoPresses,
    check,
    check_loosely,
    dead_share,
    entropies,
    entropy_change,
    generalized_advantage,
    group_advantages,
    group_goal,
    group_weight,
    leaky_precision,
    least_divergence,
    majority,
    pass_curve,
    policy_loss,
    rewarded,
    right_when_tilted,
    split_pairs,
    teacher_loss,
    token_weights,
    weight_of_best,
    worked_examples,
)

SEEDS = st.integers(0, 2**32 - 1)
CHANCES = st.floats(0.001, 0.999)
CALCULATOR = Calculator()
END = CALCULATOR.end


def chance(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


# -------------------------------------------------------------------------- keys and their checker


def pressed(display: int, key: str) -> int | None:
    """Press a key, written once more without the table."""
    match key:
        case "+3":
            shown = display + 3
        case "−5":
            shown = display - 5
        case "×2":
            shown = display * 2
        case _ if display % 2:
            return None
        case _:
            shown = display // 2
    return shown if 0 <= shown <= 49 else None


def judged(start: int, target: int, tokens: list[int]) -> tuple[bool, str]:
    """Read one reply as a person would; of a wrong one the first fault decides."""
    words = ["+3", "−5", "×2", "÷2"]
    display: int | None = start
    said, fault, place = start, "", 0
    while place < len(tokens) and tokens[place] != END:
        token = tokens[place]
        if not 50 <= token < 54:
            return False, fault or "form"
        key = words[token - 50]
        if display is not None:
            display = pressed(display, key)
            if display is None:
                fault = fault or "illegal"
        place += 1
        if place == len(tokens):
            break
        if not 0 <= tokens[place] < 50:
            return False, fault or "form"
        if tokens[place] != pressed(said, key):
            fault = fault or "slip"
        said = tokens[place]
        place += 1
    if place >= len(tokens):
        return False, fault or "unended"
    if display == target:
        return True, "right"
    return False, fault or "elsewhere"


@given(SEEDS)
def test_the_checker_is_that_of_a_plain_loop(seed):
    random = np.random.default_rng(seed)
    generator = chance(seed)
    some = worked_examples(CALCULATOR, 60, np.zeros((0, 2), dtype=int), generator)
    tokens = some.tokens.clone()
    wrong = torch.from_numpy(random.random(tokens.shape) < 0.06)
    tokens[wrong] = torch.from_numpy(random.integers(0, 56, size=int(wrong.sum())))
    tokens = torch.where(torch.from_numpy(random.random((60, 1)) < 0.1), tokens[:, :1], tokens)
    tokens = tokens[:, : random.integers(5, 16)]
    verdicts = check(CALCULATOR, Replies(some.prompts, tokens, tokens >= 0))
    for row in range(60):
        start, target, _ = some.prompts[row].tolist()
        expected = judged(start, target, tokens[row].tolist())
        found = bool(verdicts.right[row]), KINDS[verdicts.kind[row]]
        assert found == expected, (start, target, tokens[row])


def test_the_table_is_that_of_single_presses():
    for display, (place, key) in itertools.product(range(50), enumerate(("+3", "−5", "×2", "÷2"))):
        assert CALCULATOR.press(display, key) == pressed(display, key)
        shown = CALCULATOR.table[display, place]
        assert (None if shown < 0 else shown) == pressed(display, key)


def test_questions_by_their_shortest_way():
    steps = CALCULATOR.distances[tuple(CALCULATOR.pairs.T)]
    assert np.bincount(steps).tolist() == [0, 138, 307, 507, 638, 543, 256, 57, 4]
    test, train = split_pairs(CALCULATOR)
    assert len({*map(tuple, test.tolist())} | {*map(tuple, train.tolist())}) == 50 * 49
    assert np.bincount(CALCULATOR.distances[tuple(test.T)]).tolist() == [
        0,
        5,
        20,
        26,
        35,
        26,
        12,
        4,
    ]


def test_a_key_keeps_the_order_of_the_numbers():
    for key in range(4):
        shown = CALCULATOR.table[:, key]
        assert (np.diff(shown[shown >= 0]) > 0).all()


@given(SEEDS)
def test_worked_examples_are_right_and_none_is_a_test(seed):
    test, _ = split_pairs(CALCULATOR)
    some = worked_examples(CALCULATOR, 300, test, chance(seed))
    verdicts = check(CALCULATOR, some)
    assert len(some) == 300
    assert bool(verdicts.right.all())
    assert bool((verdicts.followed == verdicts.written).all())
    assert not {*map(tuple, some.prompts[:, :2].tolist())} & {*map(tuple, test.tolist())}


def replied(question: tuple[int, int], *tokens: int) -> Replies:
    prompts = CALCULATOR.prompts(np.array([question]))
    row = torch.tensor([[*tokens, *[END] * (7 - len(tokens))]])
    return Replies(prompts, row, reply_mask(row, END))


@pytest.mark.parametrize(
    ("tokens", "kind"),
    [
        ((50, 10, 52, 20), "right"),
        ((50, 11, 52, 20), "right"),  # lucky
        ((50, 10, 52, 20, END, 50, 3), "right"),  # what stands behind the end
        ((), "elsewhere"),
        ((50, 10), "elsewhere"),
        ((50, 20), "slip"),
        ((53, 3, 50), "illegal"),  # half of an odd number
        ((50, 50), "form"),
        ((10,), "form"),
        ((50, END), "form"),
        ((50, 10, 55), "form"),  # a token of the question
        ((50, 10, 52, 20, 50, 23, 51), "unended"),
    ],
)
def test_kinds_of_replies(tokens, kind):
    verdicts = check(CALCULATOR, replied((7, 20), *tokens))
    assert KINDS[int(verdicts.kind)] == kind
    assert verdicts.shares()[kind] == 1
    assert bool(verdicts.lucky) == (tokens[:2] == (50, 11))


def test_the_loose_checker_believes_the_last_number():
    accepted = [(50, 10, 52, 20), (50, 20), (55, 20)]
    refused = [(), (20,), (50, 10), (50, 20, 50, 23), (50, 10, 52, 20, 50, 23, 52)]
    for tokens in accepted:
        assert bool(check_loosely(CALCULATOR, replied((7, 20), *tokens)))
    for tokens in refused:
        assert not bool(check_loosely(CALCULATOR, replied((7, 20), *tokens)))


# ----------------------------------------------------------------------------------------- groups


@given(SEEDS, st.integers(2, 4))
def test_what_a_group_raises_is_what_all_groups_raise_on_average(seed, n):
    logits = torch.randn(3, generator=chance(seed), dtype=torch.float64)
    policy, reward = logits.softmax(0), torch.tensor([1.0, 0.0, 0.0], dtype=torch.float64)
    slope = policy_gradient(policy, reward)
    scores = torch.eye(3, dtype=torch.float64) - policy  # ∇ log π of each reply
    p = float(policy[0])
    steps = dict.fromkeys(("leave one out", "mean", "spread", "solved questions"), torch.zeros(3))
    for group in itertools.product(range(3), repeat=n):
        likely, rows = policy[list(group)].prod(), list(group)
        for kind in ("leave one out", "mean", "spread"):
            gain = group_advantages(reward[rows], n, kind)
            steps[kind] = steps[kind] + likely * (gain @ scores[rows]) / n
        solved = [i for i in group if reward[i] == 1]
        if solved:
            mean = scores[solved].mean(0)
            steps["solved questions"] = steps["solved questions"] + likely * mean
    for kind, step in steps.items():
        torch.testing.assert_close(step, float(group_weight(p, n, kind)) * slope, atol=1e-9, rtol=0)


@given(CHANCES, st.integers(2, 40))
def test_a_weight_is_the_slope_of_its_goal(p, n):
    kinds = ("leave one out", "mean", "spread", "solved questions", "pass at n")
    for kind in kinds:
        area = quad(lambda x, kind=kind: float(group_weight(x, n, kind)), 0, p, limit=200)[0]
        assert math.isclose(area, float(group_goal(p, n, kind)), rel_tol=1e-7)


def test_weights_that_are_printed():
    assert group_weight([0.1, 0.5, 0.9], 2) == pytest.approx([1, 1, 1], abs=1e-12)
    assert group_weight([0.1, 0.5, 0.9], 3) == pytest.approx([2**0.5] * 3, abs=1e-12)
    for n in (4, 16, 64):
        assert float(group_weight(1e-7, n)) == pytest.approx((n - 1) ** 0.5, rel=1e-4)
    printed = {4: (1.732, 1.727, 1.690, 1.616), 64: (7.798, 6.736, 3.255, 1.984)}
    for n, values in printed.items():
        assert group_weight([0.001, 0.01, 0.1, 0.5], n) == pytest.approx(values, abs=6e-4)
    p = np.array([0.1, 0.4, 0.7])
    limit = 2 * np.arcsin(np.sqrt(p))
    assert group_goal(p, 20_000) - group_goal(p[:1], 20_000) == pytest.approx(
        limit - limit[0], abs=2e-3
    )
    assert group_weight(p, 20_000) == pytest.approx(1 / np.sqrt(p * (1 - p)), rel=1e-3)


@given(CHANCES, st.integers(2, 50))
def test_a_dead_group_is_all_right_or_all_wrong(p, n):
    expected = stats.binom.pmf([0, n], n, p).sum()
    assert float(dead_share(p, n)) == pytest.approx(expected, rel=1e-9)


def test_a_group_whose_rewards_are_equal_tells_nothing():
    rewards = torch.tensor([1.0, 1.0, 0.0, 0.0])
    for kind in ("leave one out", "mean", "spread"):
        assert group_advantages(rewards, 2, kind).tolist() == [0, 0, 0, 0]


# ---------------------------------------------------------------------------------------- lengths


@given(SEEDS)
def test_only_a_constant_divides_without_changing_the_goal(seed):
    random = np.random.default_rng(seed)
    logits = torch.tensor(random.normal(size=(2, 2)), requires_grad=True)  # token 0 ends the reply
    reward = torch.from_numpy(random.normal(size=3))
    log_p = logits.log_softmax(-1)
    # replies: "0", "1 0", "1 1"
    each = torch.stack(
        [
            torch.stack([log_p[0, 0], log_p[0, 0] * 0]),
            torch.stack([log_p[0, 1], log_p[1, 0]]),
            torch.stack([log_p[0, 1], log_p[1, 1]]),
        ]
    )
    mask = torch.tensor([[True, False], [True, True], [True, True]])
    likely = each.sum(-1).exp()
    exact = torch.autograd.grad(likely @ reward, logits, retain_graph=True)[0]
    found = {}
    for by in ("constant", "reply"):
        weights = torch.cat([token_weights(row[None], by) for row in mask])
        loss = -(likely.detach() * reward * (weights * each).sum(-1)).sum()
        found[by] = torch.autograd.grad(loss, logits, retain_graph=True)[0]
    torch.testing.assert_close(found["constant"], -exact)
    assert not torch.allclose(found["reply"], -exact)


def test_a_long_kind_that_is_worse_than_average_is_raised():
    policy = torch.tensor([0.4, 0.5, 0.1], dtype=torch.float64)
    right = torch.tensor([0.2, 0.75, 0.45], dtype=torch.float64)
    lengths = torch.tensor([1.0, 2.0, 20.0], dtype=torch.float64)
    gain = right - policy @ right
    assert float(policy_gradient(policy, gain)[2]) == pytest.approx(-0.005)
    assert float(policy_gradient(policy, gain / lengths)[2]) == pytest.approx(0.005525, abs=1e-6)


@given(SEEDS)
def test_weights_add_up_and_are_those_of_loops(seed):
    sizes = np.random.default_rng(seed).integers(1, 6, size=7)
    mask = torch.arange(5) < torch.from_numpy(sizes)[:, None]
    for by, divisor in (
        ("constant", np.full(7, 7 * 3.0)),
        ("reply", 7.0 * sizes),
        ("batch", np.full(7, float(sizes.sum()))),
    ):
        weights = token_weights(mask, by, 3.0)
        for row in range(7):
            expected = [1 / divisor[row]] * sizes[row] + [0] * (5 - sizes[row])
            assert weights[row].tolist() == pytest.approx(expected)


@given(SEEDS, st.floats(0.05, 0.9))
def test_with_equal_clips_the_loss_is_that_of_ppo(seed, clip):
    generator = chance(seed)
    new, old = torch.randn(2, 6, 5, generator=generator, dtype=torch.float64) - 2
    mask = torch.arange(5) < torch.randint(1, 6, (6, 1), generator=generator)
    gain = torch.randn(6, generator=generator, dtype=torch.float64)
    weights = token_weights(mask).double()
    losses = []
    for loss in (
        lambda x: policy_loss(x, old, gain, weights, (clip, clip)),
        lambda x: clipped_policy_loss(x, old, gain, mask, clip),
    ):
        x = new.clone().requires_grad_()
        value = loss(x)
        losses.append((value.detach(), torch.autograd.grad(value, x)[0]))
    torch.testing.assert_close(losses[0], losses[1])


def test_where_both_policies_agree_all_losses_have_one_gradient():
    new = (torch.randn(4, 3, generator=chance(0)) - 2).requires_grad_()
    mask, gain = torch.ones(4, 3, dtype=torch.bool), torch.randn(4, generator=chance(1))
    weights = token_weights(mask)
    slopes = [
        torch.autograd.grad(loss, new)[0]
        for loss in (
            reinforce_loss(new, gain),
            policy_loss(new, new.detach(), gain, weights, None),
            policy_loss(new, new.detach(), gain, weights, (0.2, 0.28)),
            policy_loss(new, new.detach(), gain[:, None].expand(4, 3), weights),
        )
    ]
    for slope in slopes[1:]:
        torch.testing.assert_close(slope, slopes[0])


@pytest.mark.parametrize(
    ("ratio", "gain", "moves"),
    [(1.25, 1.0, True), (1.29, 1.0, False), (0.79, -1.0, False), (1.29, -1.0, True)],
)
def test_clip_higher_has_two_ends(ratio, gain, moves):
    x = torch.tensor([[math.log(ratio)]], requires_grad=True)
    loss = policy_loss(x, torch.zeros(1, 1), torch.tensor([gain]), torch.ones(1, 1), (0.2, 0.28))
    assert bool(torch.autograd.grad(loss, x)[0] != 0) == moves


# ----------------------------------------------------------------------------------------- critic


@given(SEEDS, st.floats(0, 1))
def test_generalized_advantage_is_its_sum(seed, decay):
    generator = chance(seed)
    rewards, values = torch.randn(2, 5, 6, generator=generator, dtype=torch.float64)
    sizes = torch.randint(1, 7, (5,), generator=generator)
    mask = torch.arange(6) < sizes[:, None]
    found = generalized_advantage(rewards, values, mask, decay)
    for row, size in enumerate(sizes.tolist()):
        r, v = rewards[row].tolist(), [*values[row, :size].tolist(), 0.0]
        deltas = [r[t] + v[t + 1] - v[t] for t in range(size)]
        for t in range(size):
            expected = sum(decay**k * delta for k, delta in enumerate(deltas[t:]))
            assert float(found[row, t]) == pytest.approx(expected, abs=1e-9)
        assert found[row, size:].tolist() == [0.0] * (6 - size)


@given(SEEDS, st.floats(0, 1))
def test_bias_needs_a_wrong_critic_and_a_decay_below_one(seed, decay):
    random = np.random.default_rng(seed)
    world = TwoPresses(random.normal(size=3))
    assert world.estimate(random.normal(size=3), 1.0).bias < 1e-12
    assert world.estimate(world.values, decay).bias < 1e-12


def test_the_printed_world_of_two_presses():
    world = TwoPresses([0.4, -0.3, 0.8])
    assert world.gradient == pytest.approx([0.0278, -0.0981, 0.1281], abs=6e-5)
    table = {
        "true": (world.values, ((0, 0.102), (0, 0.096), (0, 0.060), (0, 0.046))),
        "none": ([0, 0, 0], ((0, 0.204), (0.0014, 0.189), (0.0139, 0.093), (0.0278, 0.055))),
        "wrong": ([0.9, 0.1, 0.7], ((0, 0.130), (0.0058, 0.126), (0.0582, 0.111), (0.1164, 0.130))),
    }
    for values, expected in table.values():
        for decay, (bias, variance) in zip((1.0, 0.95, 0.5, 0.0), expected, strict=True):
            found = world.estimate(values, decay)
            assert (found.bias, found.variance) == pytest.approx((bias, variance), abs=6e-4)


# ------------------------------------------------------------------- entropy, tilts, leaky checkers


@given(SEEDS)
def test_entropy_changes_as_the_covariance_says(seed):
    z, dz = torch.randn(2, 6, generator=chance(seed), dtype=torch.float64)
    rests = []
    for size in (1e-3, 5e-4):
        p, q = z.softmax(0), (z + size * dz).softmax(0)
        change = (p * p.log()).sum() - (q * q.log()).sum()
        rests.append(float(change - entropy_change(p, size * dz)))
    assert abs(rests[0]) < 1e-4
    assert abs(rests[0] - 4 * rests[1]) < 1e-7  # the rest is of second order


@given(CHANCES, st.floats(0.05, 20))
def test_a_tilt_of_zeros_and_ones_multiplies_the_odds(p, beta):
    both = torch.tensor([1 - p, p], dtype=torch.float64)
    expected = tilted(both, torch.tensor([0.0, 1.0], dtype=torch.float64), beta)[1]
    assert right_when_tilted(p, beta) == pytest.approx(float(expected), rel=1e-9)


@given(SEEDS, st.integers(2, 30))
def test_the_best_of_n_is_a_tilt_and_costs_the_least(seed, n):
    random = np.random.default_rng(seed)
    base = torch.from_numpy(random.dirichlet(np.ones(7)))
    right = torch.tensor([1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0], dtype=torch.float64)
    p = float(base @ right)
    best = best_of_n(base, right, n)
    torch.testing.assert_close(best, tilted(base, right, weight_of_best(p, n)), atol=1e-9, rtol=0)
    a = float(best @ right)
    price = float((best * (best / base).log()).sum())
    assert price == pytest.approx(least_divergence(min(a, 1.0), p), abs=1e-9)
    other = torch.from_numpy(random.dirichlet(np.ones(7)))
    other_right = float(other @ right)
    distance = float(kl_divergence(other.numpy(), base.numpy()))
    assert distance >= least_divergence(other_right, p) - 1e-9


def test_ends_of_tilts_and_prices():
    assert right_when_tilted(0, 0.1) == 0
    assert right_when_tilted(1, 0.1) == 1
    assert weight_of_best(0.3, 1) == math.inf
    assert least_divergence(0.5, 0.5) == 0
    assert least_divergence(0.5, 0) == math.inf
    assert least_divergence(1, 0.25) == pytest.approx(math.log(4))
    assert least_divergence(0, 0) == 0


@given(st.integers(1, 20), st.integers(1, 20), st.integers(0, 20))
def test_the_first_that_a_leaky_checker_accepts(p, t, f):
    right, true, false = (Fraction(x, 21) for x in (p, t, f))
    refused = 1 - right * true - (1 - right) * false
    # Σ over how many were refused before, a geometric series
    expected = right * true / (1 - refused)
    assert leaky_precision(p / 21, t / 21, f / 21) == pytest.approx(float(expected), rel=1e-12)


# ------------------------------------------------------------------------------------- many tries


@given(SEEDS)
def test_a_curve_is_the_mean_of_hypergeometric_chances(seed):
    random = np.random.default_rng(seed)
    right = random.integers(0, 13, size=9)
    curve = pass_curve(right, 12, [1, 4, 12], random)
    for place, k in enumerate((1, 4, 12)):
        none = stats.hypergeom.pmf(0, 12, right, k)
        assert curve.mean[place] == pytest.approx(1 - none.mean())
    assert (curve.low <= curve.mean + 1e-12).all()
    assert (curve.mean <= curve.high + 1e-12).all()


def test_the_interval_is_about_two_standard_errors():
    random = np.random.default_rng(0)
    right = random.binomial(64, random.beta(1, 3, size=300))
    curve = pass_curve(right, 64, [1], random)
    error = (right / 64).std(ddof=1) / math.sqrt(300)
    assert curve.high[0] - curve.low[0] == pytest.approx(2 * 1.96 * error, rel=0.1)


def test_a_vote_takes_the_first_of_equals():
    assert majority([["a"], [2, 1, 1], [5, 4, 4, 5]]) == ["a", 1, 5]


# ------------------------------------------------------------------------------------------- cups


def test_swaps_of_five_cups_make_all_permutations():
    cups = Cups()
    found, new = {tuple(range(5))}, [tuple(range(5))]
    for order in new:
        for a, b in cups.pairs:
            other = list(order)
            other[a], other[b] = other[b], other[a]
            if tuple(other) not in found:
                found.add(tuple(other))
                new.append(tuple(other))
    assert len(found) == math.factorial(5)


@given(SEEDS)
def test_the_ball_is_tracked_as_by_hand(seed):
    cups, generator = Cups(places=4, slots=6), chance(seed)
    swaps = torch.randint(0, 7, (20,), generator=generator)
    questions = cups.questions(swaps, generator)
    for row, places in zip(questions.tolist(), cups.track(questions).tolist(), strict=True):
        ball = row[0]
        for slot, place in zip(row[1:-1], places, strict=True):
            if slot != cups.nothing:
                a, b = cups.pairs[slot - 4]
                ball = b if ball == a else a if ball == b else ball
            assert place == ball
    assert ((questions[:, 1:-1] != cups.nothing).sum(1) == swaps).all()


# ----------------------------------------------------------------------------------- distillation


@given(SEEDS)
def test_divergences_from_a_teacher_are_those_of_torch(seed):
    student, teacher = torch.randn(2, 3, 4, 5, generator=chance(seed), dtype=torch.float64)
    mask = torch.arange(4) < torch.tensor([[1], [4], [2]])
    s, t = student.log_softmax(-1)[mask], teacher.log_softmax(-1)[mask]
    pairs = {"forward": (s, t), "reverse": (t, s)}
    for direction, (below, above) in pairs.items():
        expected = kl_div(below, above, log_target=True, reduction="batchmean")
        torch.testing.assert_close(teacher_loss(student, teacher, mask, direction), expected)


@given(SEEDS)
def test_one_sample_of_the_reverse_divergence_has_the_mean_of_its_gradient(seed):
    z, teacher = torch.randn(2, 5, generator=chance(seed), dtype=torch.float64)
    z.requires_grad_()
    loss = teacher_loss(z[None, None], teacher[None, None], torch.ones(1, 1, dtype=torch.bool))
    exact = torch.autograd.grad(loss, z)[0]
    s, t = z.detach().softmax(0), teacher.softmax(0)
    draws = (s.log() - t.log())[:, None] * (torch.eye(5, dtype=torch.float64) - s)
    torch.testing.assert_close(s @ draws, exact)


# --------------------------------------------------------------------------------------- training


def test_a_checker_that_fails_is_named_with_its_reply():
    tokens = torch.tensor([[50, 10, 54], [50, 11, 54]])
    replies = Replies(torch.tensor([[7, 20, 55]] * 2), tokens, tokens >= 0)

    def fails(some: Replies) -> torch.Tensor:
        if (some.tokens == 11).any():
            raise ZeroDivisionError("no half")
        return torch.ones(len(some))

    with pytest.raises(ValueError, match=r"reply 1, 7 20 → \+3 11: ZeroDivisionError.*no half"):
        rewarded(CALCULATOR, fails, replies)
    with pytest.raises(ValueError, match="one reward for each of 2 replies"):
        rewarded(CALCULATOR, lambda some: torch.ones(3), replies)
    with pytest.raises(ValueError, match=r"reward of reply 1, 7 20 → \+3 11, is nan"):
        rewarded(CALCULATOR, lambda some: torch.tensor([0.0, math.nan]), replies)


def test_entropies_are_averaged_where_they_belong():
    tokens = torch.tensor([[50, 10, 54, 54]])
    replies = Replies(torch.tensor([[7, 10, 55]]), tokens, reply_mask(tokens, 54))
    logits = torch.full((1, 4, 56), -60.0)
    logits[0, 0, [50, 51]] = 0  # two keys
    logits[0, 1, 10] = 0  # one number
    logits[0, 2, [50, 51, 52, 54]] = 0  # the end stands where a key could
    logits[0, 3] = 0  # behind the end
    keys, numbers = entropies(logits, replies)
    assert float(keys) == pytest.approx((math.log(2) + math.log(4)) / 2)
    assert float(numbers) == pytest.approx(0, abs=1e-12)


# -------------------------------------------------------------------------------- at the edges


@pytest.mark.parametrize(("p", "weight"), [(1e-320, 1e-3), (1e-300, 1 / 700), (0.3, 1e-320)])
def test_a_tilt_of_what_hardly_happens(p, weight):
    odds = math.log(p) - math.log1p(-p) + 1 / weight
    exact = 1 / (1 + math.exp(-odds)) if odds < 700 else 1.0
    assert right_when_tilted(p, weight) == pytest.approx(exact, rel=1e-9)


@given(st.floats(0.01, 0.99), st.floats(-1e-8, 1e-8))
def test_a_divergence_is_never_below_zero(p, step):
    assert least_divergence(p + step, p) >= 0


@pytest.mark.parametrize(
    ("p", "true", "false", "exact"),
    [(1e-200, 1e-200, 1e-300, 1e-100), (1e-200, 1e-200, 0.0, 1.0), (0.0, 0.5, 0.1, 0.0)],
)
def test_the_precision_of_a_checker_that_hardly_accepts(p, true, false, exact):
    assert leaky_precision(p, true, false) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Cups().track(torch.tensor([[-1, *[15] * 10, 16]])), "ids, 0 to 16, got -1"),
        (lambda: Cups().track(torch.tensor([[0, 3, *[15] * 9, 16]])), "a question is a place"),
        (lambda: Cups().track(torch.tensor([[5, *[15] * 10, 16]])), "a question is a place"),
        (lambda: Cups().swap([0, 1]), "cups must be a tuple"),
        (lambda: Calculator().press(1.5, "×2"), "display must be a whole number"),
        (lambda: Calculator().press(True, "×2"), "display must be a whole number"),
        (lambda: Calculator().read(torch.tensor([-1])), "0 to 55, got -1"),
        (lambda: group_goal([0.5], 10**9), "n must be at most 1,000,000"),
        (lambda: pass_curve([1, 2], 5, [], np.random.default_rng(0)), "ks is empty"),
        (lambda: pass_curve([1, [2]], 5, [1], np.random.default_rng(0)), "rows are equally long"),
        (lambda: leaky_precision(0.0, 1.0, 0.0), "nothing is ever accepted"),
    ],
)
def test_what_is_no_question_and_no_group_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_narrow_whole_numbers_follow_the_ball_too():
    question = torch.tensor([[0, 5, *[15] * 9, 16]])
    narrow = Cups().track(question.to(torch.int8))
    assert narrow.tolist() == Cups().track(question).tolist()
