"""The recorded runs against one wish: who is compared, what is rewarded, how each is judged."""

from __future__ import annotations

import copy
import functools
import itertools
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from primer.alignment import (
    PolicyReport,
    PreferenceFit,
    Replies,
    speeches,
    whitened,
    write_replies,
)
from primer.alignment.recorded import FIRST_REPLIES, Pair, first_replies, wish
from primer.language_models import BytePairEncoding
from primer.tables import write_records
from primer.transformers import Transformer, TransformerConfig
from studies.alignment import overoptimization
from studies.alignment.overoptimization import (
    World,
    compare,
    features,
    fingerprint,
    fit_proxy,
    shift,
)


def random(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.fixture(scope="module")
def bytes_world() -> World:
    """A model of bytes that says few things, among them an exclamation mark and its end."""
    tokenizer = BytePairEncoding([])
    torch.manual_seed(0)
    config = TransformerConfig(vocab_size=257, n_layers=1, d_model=16, n_heads=2, context_length=24)
    model = Transformer(config).eval()
    bias = torch.full((257,), -6.0)
    bias[torch.tensor([*b"!!?ae o", 256])] = 4.0
    model.head.bias = torch.nn.Parameter(bias)
    prompts = torch.randint(97, 123, (1010, 12), generator=random(5))
    return World(tokenizer, model, prompts, prompts[:6].flip(1))


@pytest.fixture(scope="module")
def compared(bytes_world: World) -> tuple[Replies, Replies]:
    return compare(bytes_world, 3)


def test_comparisons_are_a_thousand_and_the_rater_sees_a_difference_of_one_by_two_nats(
    bytes_world: World, compared: tuple[Replies, Replies]
) -> None:
    draw = random(103)
    asked = bytes_world.prompts[torch.randperm(1010, generator=draw)[:1000]]
    sides = [write_replies(bytes_world.reference, asked, 12, 256, draw) for _ in range(2)]
    texts = [side.texts(bytes_world.tokenizer) for side in sides]
    chance = np.random.default_rng(3).random(1000)
    for row, (a, b) in enumerate(zip(*texts, strict=True)):
        first_won = chance[row] < 1 / (1 + math.exp(-2 * (wish(a) - wish(b))))
        for side, number in zip(compared, (0, 1) if first_won else (1, 0), strict=True):
            assert torch.equal(side.tokens[row], sides[number].tokens[row])
            assert torch.equal(side.mask[row], sides[number].mask[row])
    assert all(torch.equal(side.prompts, asked) for side in compared)


def test_the_proxy_is_fitted_to_what_was_chosen_less_what_was_not(
    bytes_world: World, compared: tuple[Replies, Replies]
) -> None:
    chosen, rejected = (features(side.texts(bytes_world.tokenizer)) for side in compared)
    found = fit_proxy(bytes_world, *compared)
    p = 1 / (1 + np.exp(-(chosen - rejected) @ found.weights))
    np.testing.assert_allclose((chosen - rejected).T @ (1 - p), 0, atol=1e-6)  # the best there is
    assert found.weights[0] > 0


def test_a_policy_is_judged_by_what_it_replies_to_the_prompts_held_out(bytes_world: World) -> None:
    policy = copy.deepcopy(bytes_world.reference)
    torch.nn.init.normal_(policy.embed.weight, std=2.0, generator=random(1))
    proxy = PreferenceFit(np.array([1.0, -2.0, 3.0]), np.eye(3), 0.0)
    found = overoptimization.judge(bytes_world, policy, proxy, 8)
    replies = write_replies(policy, bytes_world.held_out, 12, 256, random(8))
    texts = replies.texts(bytes_world.tokenizer)
    worth = [t.count("!") - 0.2 * len(t) + 3 * t.count("?") for t in texts]
    away = shift(policy, bytes_world.reference, replies)
    expected = [np.mean([wish(t) for t in texts]), np.mean(worth), away]
    assert found[:3] == pytest.approx(expected)
    assert found.replies == " | ".join(" ".join(t.split()) for t in texts[:4])
    assert found.kl > 0.1


def test_pairs_are_held_back_where_the_rater_tells_them_apart(
    bytes_world: World, compared: tuple[Replies, Replies]
) -> None:
    chosen, rejected = (side.texts(bytes_world.tokenizer) for side in compared)
    apart = [i for i in range(900, 1000) if wish(chosen[i]) != wish(rejected[i])]
    assert overoptimization.told_apart(bytes_world, *compared, 900).tolist() == apart
    assert 0 < len(apart) < 100


def test_the_direct_run_leaves_out_two_hundred_pairs_and_is_judged_by_them(
    bytes_world: World, compared: tuple[Replies, Replies], monkeypatch: pytest.MonkeyPatch
) -> None:
    def steps(  # type: ignore[no-untyped-def]
        policy, reference, *sides, generator, **rest
    ) -> Iterator[float]:
        assert reference is bytes_world.reference
        assert rest == {"steps": 36, "beta": 0.1, "learning_rate": 3e-4}
        assert torch.equal(generator.get_state(), random(1002).get_state())
        for side, whole in zip(sides, (chosen, rejected), strict=True):
            assert torch.equal(side.tokens, whole.tokens[:50])
        for _ in range(3):
            policies.append(moved(policies[-1]))
            policy.load_state_dict(policies[-1].state_dict())
            yield 0.0

    chosen, rejected = (side[:250] for side in compared)
    policies = [bytes_world.reference]
    monkeypatch.setattr(overoptimization, "PAIRS", 250)
    monkeypatch.setattr(overoptimization, "train_on_pairs", steps)
    found = list(overoptimization.trained(bytes_world, chosen, rejected, "direct", 2))
    proxy = fit_proxy(bytes_world, chosen, rejected)
    held = overoptimization.told_apart(bytes_world, chosen, rejected, 50)
    judged = [overoptimization.judge(bytes_world, p, proxy, 2) for p in policies]
    ratios = [shift(policies[2], bytes_world.reference, side[held]) for side in (chosen, rejected)]
    own = (fingerprint(), "direct", 2)
    assert found[0] == (*own, 0, *judged[0][:3], None, None, judged[0].replies)
    assert found[1] == (*own, 2, *judged[2][:3], *ratios, judged[2].replies)
    assert judged[0].kl == pytest.approx(0, abs=1e-5)
    assert judged[2] != judged[1] != judged[0]


def moved(model: Transformer) -> Transformer:
    """Return another model, not far from this one."""
    other = copy.deepcopy(model)
    with torch.no_grad():
        other.head.bias += torch.randn(257, generator=random(3))
    return other


@pytest.mark.parametrize(
    ("run", "settings"),
    [
        ("no leash", {"kl_weight": 0.0}),
        ("long leash", {"kl_weight": 0.2}),
        ("leash", {"kl_weight": 0.5}),
        ("clipped", {"kl_weight": 0.5, "passes": 2, "advantages": whitened}),
    ],
)
def test_a_run_is_rewarded_by_the_proxy_and_told_of_every_second_step_and_its_last(
    run: str,
    settings: dict[str, object],
    bytes_world: World,
    compared: tuple[Replies, Replies],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def steps(  # type: ignore[no-untyped-def]
        policy, reference, reward, prompts, *, generator, **rest
    ) -> Iterator[PolicyReport]:
        draw = random(1004)
        assert torch.equal(prompts, bytes_world.prompts[torch.randperm(1010, generator=draw)])
        assert torch.equal(generator.get_state(), draw.get_state())
        assert reference is bytes_world.reference
        assert policy is not reference
        same = {"end_token": 256, "length": 12, "steps": 24, "learning_rate": 3e-4}
        assert rest == same | settings
        replies = compared[0][:20]
        worth = proxy(features(replies.texts(bytes_world.tokenizer)))
        np.testing.assert_allclose(reward(replies), worth, rtol=1e-6)
        for step in (1, 2):
            yield PolicyReport(step, 0.0, 0.0, 1.0, 3.0)
        yield PolicyReport(3, 0.0, 0.0, 0.0, 3.0, "collapsed")

    few = [side[:100] for side in compared]
    proxy = fit_proxy(bytes_world, *few)
    monkeypatch.setattr(overoptimization, "train_policy", steps)
    rows = list(overoptimization.trained(bytes_world, *few, run, 4))
    judged = overoptimization.judge(bytes_world, bytes_world.reference, proxy, 4)
    *worth, replies = judged
    assert rows == [
        (fingerprint(), run, 4, step, *worth, None, None, replies) for step in (0, 2, 3)
    ]


@pytest.mark.parametrize("rank", [None, 2])
def test_a_world_is_tuned_on_speeches_of_twelve_plays_and_judged_by_others(
    rank: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def play(name: str, times: int) -> str:
        return "".join(f"\n\nTHE KING OF {name}\n{name} {k}!" for k in range(times))

    def tuned(model, replies, *, generator, **rest):  # type: ignore[no-untyped-def]
        assert torch.equal(replies.tokens, shown.tokens)
        assert torch.equal(replies.prompts, shown.prompts)
        assert torch.equal(generator.get_state(), random(0).get_state())
        kinds = {name.rpartition(".")[2] for name, p in model.named_parameters() if p.requires_grad}
        sizes = {p.shape[1] for name, p in model.named_parameters() if name.endswith(".A")}
        calls.append((rest, kinds <= {"A", "B"}, sizes))

    calls: list[object] = []
    letters = BytePairEncoding([])
    training = {name: play(name, 3) for name in "ABCDEFGHIJKLMN"}
    validation = {name: play(name, 70) for name in "YZ"}
    cut = functools.partial(speeches, tokenizer=letters, prompt_length=12, longest=11)
    shown, judged = cut({name: training[name] for name in "ABCDEFGHIJKL"}), cut(validation)
    monkeypatch.setattr(overoptimization, "load_pretrained", lambda _: (small_bytes(), letters))
    monkeypatch.setattr(overoptimization, "split_plays", lambda: (training, validation))
    monkeypatch.setattr(overoptimization, "tune", tuned)
    world = overoptimization.make_world(rank=rank)
    everything = overoptimization.make_world(None, rank=rank, learning_rate=5e-3)
    lora = (False, set()) if rank is None else (True, {2})
    assert calls == [({"steps": 48, "learning_rate": rate}, *lora) for rate in (1e-3, 5e-3)]
    assert torch.equal(world.prompts, shown.prompts)
    assert torch.equal(world.held_out, judged.prompts[:96])
    assert torch.equal(everything.held_out, judged.prompts)
    assert len(judged) > 97
    assert world.end == 256


def small_bytes() -> Transformer:
    torch.manual_seed(2)
    config = TransformerConfig(vocab_size=257, n_layers=1, d_model=8, n_heads=2, context_length=24)
    return Transformer(config).eval()


def test_the_recorded_runs_are_those_of_the_constants_and_of_this_model() -> None:
    runs = overoptimization.study.read()
    assert {run.model for run in runs} == {fingerprint()}
    steps: dict[tuple[str, int], list[int]] = {}
    for run in runs:
        steps.setdefault((run.run, run.seed), []).append(run.step)
        assert run.replies.count(" | ") >= 3
    kinds = [*overoptimization.RUNS, "direct"]
    assert set(steps) == set(itertools.product(kinds, range(overoptimization.SEEDS)))
    for (kind, _), taken in steps.items():
        last = taken[-1]  # who holds no leash or a long one may collapse before the end
        assert taken == [*range(0, last, 2), last]
        assert last == (36 if kind == "direct" else 24) or kind in ("no leash", "long leash")


def test_the_first_replies_are_written_as_they_are_read(tmp_path: Path) -> None:
    write_records(tmp_path / "again.csv", Pair, first_replies())
    assert (tmp_path / "again.csv").read_bytes() == FIRST_REPLIES.read_bytes()
    assert {pair.model for pair in first_replies()} == {fingerprint()}
