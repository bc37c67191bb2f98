"""The contest with more training, and a cliff that was predicted: what is tried and stored."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
import torch

from primer.exercises.positions import check_alias
from primer.positions import budgets, experiment, farther


def test_what_is_stored_was_tried_at_all_rates_from_all_seeds():
    settings = [*itertools.product(budgets.CONTESTANTS, (300, 3000), (0.002, 0.004, 0.008))]
    settings += [("ALiBi", 10_000, rate) for rate in (0.002, 0.004, 0.008)]
    wanted = [(*setting, seed) for setting in settings for seed in (0, 1, 2)]
    assert [trial[:4] for trial in budgets.results()] == wanted
    assert all(0 <= share <= 1 for trial in budgets.results() for share in trial[4:])


@pytest.mark.parametrize("contestant", ["RoPE 10⁴", "Shaw"])
def test_a_trial_is_the_contest_with_another_budget(contestant):
    encoding = "RoPE" if contestant == "RoPE 10⁴" else contestant
    trained = experiment.train(encoding, [0, 1, 2], 4, 2, 0.002, 1e4 if "10" in contestant else 100)
    shares = experiment.evaluate(trained).double()
    trials = budgets.run_trials(contestant, 4, 0.002, batch=2)
    assert [trial[:4] for trial in trials] == [(contestant, 4, 0.002, seed) for seed in range(3)]
    for seed, trial in enumerate(trials):
        parts = [
            shares[seed, part, q].mean() for q in (0, 1) for part in (slice(8, 24), slice(48, 72))
        ]
        assert trial[4:] == pytest.approx([float(part) for part in parts], abs=6e-5)


def test_the_rate_is_chosen_by_what_is_right_inside(monkeypatch):
    shares = {0.002: (0.3, 0.9), 0.004: (0.6, 0.1), 0.008: (0.5, 0.8)}
    trials = [
        budgets.Trial("ALiBi", 300, rate, seed, inside, beyond, 0.2, 0.2)
        for rate, (inside, beyond) in shares.items()
        for seed in range(3)
    ]
    monkeypatch.setattr(budgets, "results", lambda: trials)
    assert {trial.rate for trial in budgets.best_of("ALiBi", 300)} == {0.004}
    with pytest.raises(ValueError, match="no trial of 'Shaw' with 300 steps is stored"):
        budgets.best_of("Shaw", 300)


def test_an_unknown_contestant_is_told_who_takes_part():
    with pytest.raises(ValueError, match="RoPE 10⁴"):
        budgets.run_trials("T5", 3, 0.002)


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
        at: np.mean([share[2:] for share in farther.results() if share.position == at], axis=0)
        for at in (53, 54)
    }
    said = [int(percent) / 100 for percent in re.findall(r"(\d+) %", check_alias.because)]
    assert said == pytest.approx([shares[53][0], shares[54][0], shares[54][1]], abs=0.005)
    assert check_alias.right == farther.SUSPECT == 54


def test_hiding_a_suspect_changes_nothing_before_it_exists():
    for share in farther.results():
        assert share.position >= farther.SUSPECT or share.as_trained == share.hidden


def test_a_short_run_has_the_rows_that_are_stored():
    assert [s[:2] for s in farther.run(steps=1)] == [s[:2] for s in farther.results()]
