"""The contest with more training, and a cliff that was predicted: what is tried and stored."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
import torch

from primer.exercises.positions import check_alias
from primer.positions import experiment
from studies.positions import budgets, farther


def test_what_is_stored_was_tried_at_all_rates_from_all_seeds():
    settings = [*itertools.product(budgets.CONTESTANTS, (300, 3000), (0.002, 0.004, 0.008))]
    settings += [("ALiBi", 10_000, rate) for rate in (0.002, 0.004, 0.008)]
    wanted = [(*setting, seed) for setting in settings for seed in (0, 1, 2)]
    assert [run[:4] for run in budgets.study.read()] == wanted
    assert all(0 <= share <= 1 for run in budgets.study.read() for share in run[4:])


@pytest.mark.parametrize("contestant", ["RoPE 10⁴", "Shaw"])
def test_a_trial_is_the_contest_with_another_budget(contestant):
    encoding = "RoPE" if contestant == "RoPE 10⁴" else contestant
    trained = experiment.train(encoding, [0, 1, 2], 4, 2, 0.002, 1e4 if "10" in contestant else 100)
    shares = experiment.evaluate(trained).double()
    runs = [*budgets.train_contestant(contestant, 4, 0.002, batch_size=2)]
    assert [run[:4] for run in runs] == [(contestant, 4, 0.002, seed) for seed in range(3)]
    for seed, run in enumerate(runs):
        parts = [
            shares[seed, part, q].mean() for q in (0, 1) for part in (slice(8, 24), slice(48, 72))
        ]
        assert run[4:] == pytest.approx([float(part) for part in parts], abs=6e-5)


def test_the_rate_is_chosen_by_what_is_right_inside():
    shares = {0.002: (0.3, 0.9), 0.004: (0.6, 0.1), 0.008: (0.5, 0.8)}
    runs = [
        budgets.Run("ALiBi", 300, rate, seed, inside, beyond, 0.2, 0.2)
        for rate, (inside, beyond) in shares.items()
        for seed in range(3)
    ]
    assert {run.rate for run in budgets.best_of(runs, "ALiBi", 300)} == {0.004}
    with pytest.raises(ValueError, match="no run with contestant = 'Shaw', steps = 300"):
        budgets.best_of(runs, "Shaw", 300)


def test_an_unknown_contestant_is_told_who_takes_part():
    with pytest.raises(ValueError, match="RoPE 10⁴"):
        list(budgets.train_contestant("T5", 3, 0.002))


@pytest.mark.parametrize("lag", [1, 10, 23])
def test_back_asks_as_many_places_back_as_it_is_told(lag):
    trained = experiment.train("none", [0], steps=1, lag=lag)
    digits, back = trained.digits[0], trained.answers[0, :, :, 0]
    assert torch.equal(back[:, lag:], digits[:, :-lag])
    assert (back[:, :lag] == -100).all()


@pytest.mark.parametrize("lag", [0, -3, 24])
def test_a_question_that_no_training_text_answers_is_refused(lag):
    with pytest.raises(ValueError, match=f"lag must be 1 to 23 places, got {lag}"):
        experiment.train("none", [0], steps=1, lag=lag)


def test_the_stored_prediction_is_what_the_exercise_says():
    shares = {
        at: np.mean([share[2:] for share in farther.study.read() if share.position == at], axis=0)
        for at in (53, 54)
    }
    said = [int(percent) / 100 for percent in re.findall(r"(\d+) %", check_alias.because)]
    assert said == pytest.approx([shares[53][0], shares[54][0], shares[54][1]], abs=0.005)
    assert check_alias.right == farther.SUSPECT == 54


def test_hiding_a_suspect_changes_nothing_before_it_exists():
    for share in farther.study.read():
        assert share.position >= farther.SUSPECT or share.as_trained == share.hidden


def test_a_short_run_has_the_rows_that_are_stored():
    assert [s[:2] for s in farther.train_all(steps=1)] == [s[:2] for s in farther.study.read()]
