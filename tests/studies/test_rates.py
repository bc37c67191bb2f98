"""The learning rate of every step of a training is the one that its description names.

What is asked is the rate that the optimizer has, however it is computed; a formula of the step says
which share of the highest rate it should be.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from rates import watched_rates

from primer import alignment, inside, language_models, pretraining
from primer.reasoning.recorded import load_recorded
from primer.transformers import Transformer, TransformerConfig
from studies.alignment import judges
from studies.alignment.overoptimization import World
from studies.evaluation import leaks
from studies.reasoning import climb, cups, teachers
from studies.recurrent.backwards import RATE, train_writer
from studies.recurrent.characters import NETS, train_net
from studies.recurrent.characters import RATE as NETS_RATE
from studies.scaling import mup
from studies.train import experts, typed


def small(vocab_size: int = 9, context_length: int = 8) -> Transformer:
    torch.manual_seed(0)
    return Transformer(
        TransformerConfig(
            vocab_size=vocab_size,
            n_layers=1,
            d_model=8,
            n_heads=2,
            context_length=context_length,
        )
    )


def chance() -> torch.Generator:
    return torch.Generator().manual_seed(0)


# ---------------------------------------------------------------- what is said of them


def half_a_cosine(t: int, steps: int) -> float:
    return (1 + math.cos(math.pi * t / steps)) / 2


def level_then_a_line(t: int, steps: int) -> float:
    """Fall to 0 over the last three quarters."""
    return 1.0 if t <= steps / 4 else (steps - t) / (steps * 3 / 4)


def up_and_down(rising: float) -> Callable[[int, int], float]:
    """Rise along half a cosine from 1/25, over a part of the steps, and fall along another."""

    def share(t: int, steps: int) -> float:
        top, last = rising * steps - 1, steps - 1
        if t <= top:
            return 1 - (1 - 1 / 25) * half_a_cosine(t, top)
        lowest = 1 / 25 / 10_000
        return lowest + (1 - lowest) * half_a_cosine(t - top, last - top)

    return share


def ramp_then_cosine(warm: int, end: float = 0.0) -> Callable[[int, int], float]:
    def share(t: int, steps: int) -> float:
        if t < warm:
            return (t + 1) / warm
        return end + (1 - end) * half_a_cosine(t - warm, steps - 1 - warm)

    return share


# ---------------------------------------------------------------- short trainings


def replies(n: int) -> alignment.Replies:
    return alignment.Replies(
        torch.zeros(n, 2, dtype=torch.long),
        torch.tensor([[3, 8]] * n),
        torch.ones(n, 2, dtype=torch.bool),
    )


def tuned(steps: int) -> None:
    alignment.tune(
        small(), replies(8), steps=steps, batch_size=4, learning_rate=0.5, generator=chance()
    )


def judged(steps: int) -> None:
    world = World(None, small(), torch.zeros(1, 2).long(), torch.zeros(1, 2).long())  # type: ignore[arg-type]
    judges.trained(world, replies(8), replies(8), 0.5, 0, steps)


def dictionary(steps: int) -> None:
    inside.train_dictionary(torch.eye(4), 4, 1, chance(), steps=steps, learning_rate=0.5)


def toy(steps: int) -> None:
    inside.train_toy(1, 0.5, torch.ones(2), chance(), steps=steps, learning_rate=0.5)


def layer(steps: int) -> None:
    pretraining.in_context.train_layer(2, 4, seed=0, steps=steps)


def window_model(steps: int) -> None:
    model = language_models.WindowModel(5, window=3, d_embed=4, d_hidden=8)
    rows = language_models.window_rows(np.arange(400) % 5, 5, 3)
    language_models.train_window_model(model, rows, steps=steps, learning_rate=0.5)


@pytest.mark.parametrize(
    ("train", "peak", "share"),
    [
        (tuned, 0.5, level_then_a_line),
        (judged, 0.5, level_then_a_line),
        (dictionary, 0.5, lambda t, steps: min((t + 1) / 30, 1, (steps - t) / (0.3 * steps))),
        (toy, 0.5, half_a_cosine),
        (layer, 0.01, half_a_cosine),
        (window_model, 0.5, up_and_down(0.1)),
        (train_writer, RATE, up_and_down(0.3)),
    ],
)
def test_rates_of_short_trainings(
    train: Callable[[int], object], peak: float, share: Callable[[int, int], float]
) -> None:
    with watched_rates() as rates:
        train(60)
    wanted = [[peak * share(t, 60)] for t in range(60)]
    assert rates == [pytest.approx(each, rel=1e-6) for each in wanted]


# ---------------------------------------------------------------- studies


def test_a_student_of_a_teacher_slows_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(climb, "base", lambda _: load_recorded("base"))
    monkeypatch.setattr(teachers, "BATCH", 2)
    with watched_rates() as rates:
        teachers.taught("worked examples", 0.001, 0, steps=8)
    assert rates == [pytest.approx([0.001 * level_then_a_line(t, 8)]) for t in range(8)]


def test_cups_are_taught_up_a_ramp_level_and_down_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cups, "STEPS", 120)
    monkeypatch.setattr(cups, "BATCH", 2)
    with watched_rates() as rates:
        cups.taught("direct", 1, 0.001, 0)
    ramp, level, line = range(1, 51), [50] * 10, [50 * (60 - k) / 60 for k in range(60)]
    assert rates == [pytest.approx([0.001 * each / 50]) for each in (*ramp, *level, *line)]


def test_experts_are_trained_as_chapter_09_trains(monkeypatch: pytest.MonkeyPatch) -> None:
    play = {"a play": "to be or not to be, " * 200}
    monkeypatch.setattr(typed, "split_plays", lambda: (play, play))
    with watched_rates() as ours:
        next(experts.train_experts("prices", 0.01, 0, steps=60))
    with watched_rates() as in_the_chapter:
        next(typed.train_typed("one layer", 0.01, 0, steps=60))
    assert ours == [pytest.approx(each) for each in in_the_chapter]
    assert len(ours) == 60


def test_character_nets_follow_half_a_cosine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(NETS, "lstm", NETS["lstm"]._replace(hidden_size=4, steps=6))
    with watched_rates() as rates:
        train_net("lstm", 0)
    assert rates == [pytest.approx([NETS_RATE * half_a_cosine(t, 6)]) for t in range(6)]


def test_one_rate_for_all_widths_is_a_ramp_and_a_cosine_of_each_group() -> None:
    steps = 40
    with watched_rates() as rates:
        next(mup.train("mup", "4x2", steps * mup.BATCH * mup.CONTEXT, 0.1, 0))
    shares = [ramp_then_cosine(4)(t, steps) for t in range(steps)]
    matrices, others = (group["lr"] for group in mup.ByWidth("4x2", "mup").groups(0.1))
    assert rates == [pytest.approx([matrices * each, others * each]) for each in shares]


def test_leaks_are_learned_with_twenty_steps_of_ramp(monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = torch.arange(400) % 9
    monkeypatch.setattr(leaks, "BATCH", 2)
    monkeypatch.setattr(leaks, "load_pretrained", lambda _: (small(9, 128), None))
    monkeypatch.setattr(leaks, "split_plays", lambda: ({}, {}))
    monkeypatch.setattr(leaks, "token_stream", lambda *_: tokens)
    monkeypatch.setattr(leaks, "leaking", lambda _: np.zeros(0, dtype=bool))
    monkeypatch.setattr(leaks, "scene_streams", lambda _: [tokens])
    before = small(9, 128).state_dict()
    with watched_rates() as rates:
        trained = leaks.train_on(0.3, 0).state_dict()
    assert not any(torch.equal(trained[name], weight) for name, weight in before.items())
    wanted = [3e-4 * ramp_then_cosine(20, 0.1)(t, 200) for t in range(200)]
    assert rates == [pytest.approx([each, each]) for each in wanted]
