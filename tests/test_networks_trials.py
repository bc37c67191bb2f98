"""The trained networks of the trials, and the stored results that the chapter reads."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from primer.networks import trials, vision
from primer.networks.trials import QUESTIONS, SEEDS, Trial


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_variant_was_tried_at_the_same_rates_and_seeds(question):
    stored = trials.load_trials(question)
    tried: dict[tuple[str, str], list[tuple[float, int]]] = {}
    for trial in stored:
        assert trial.test >= 0
        tried.setdefault((trial.variant, trial.case), []).append((trial.rate, trial.seed))
    trained = [sorted(runs) for (variant, _), runs in tried.items() if variant != "pixels"]
    assert all(runs == trained[0] for runs in trained)
    assert len(trained[0]) == len(set(trained[0])) == SEEDS * len({rate for rate, _ in trained[0]})


def test_a_stored_trial_is_found_again():
    [again] = trials.kink_trial("GELU", "natural", 0.003, 1)
    [stored] = [
        trial
        for trial in trials.load_trials("kinks")
        if (trial.variant, trial.rate, trial.seed) == ("GELU", 0.003, 1)
    ]
    assert again.test == pytest.approx(stored.test, abs=0.01)
    assert again.tuning == pytest.approx(stored.tuning, abs=0.02)


def test_a_probe_takes_the_penalty_that_suits_the_tuning_digits(monkeypatch):
    """Never the one that suits the test: then the error would be too low to believe."""
    draw = np.random.default_rng(0)
    y = torch.from_numpy(np.tile(np.arange(10), 150))
    features = torch.from_numpy(np.eye(10)[y] + draw.normal(0, 0.8, size=(1500, 10)))
    monkeypatch.setattr(trials, "LABELS", (20,))
    found = {}
    for penalties in ((0.001,), (1.0,), (100.0,), (0.001, 1.0, 100.0)):
        monkeypatch.setattr(trials, "PENALTIES", penalties)
        [trial] = trials._probe("pixels", features, y, 0.1, 0)
        found[penalties] = (trial.tuning, trial.test)
    chosen = found.pop((0.001, 1.0, 100.0))
    assert len(set(found.values())) == 3
    assert chosen == min(found.values())


def test_the_rate_is_chosen_by_the_tuning_error_alone():
    made = [
        Trial("a", "easy", rate, seed, tuning, test)
        for rate, tuning, test in ((0.1, 0.2, 0.5), (0.2, 0.3, 0.1))
        for seed in range(2)
    ]
    made += [Trial("a", "hard", rate, 0, 0.0, 10 * rate) for rate in (0.1, 0.2)]
    assert trials.chosen(made, "a", "easy").tolist() == [0.5, 0.5]
    assert trials.chosen(made, "a", "hard", tuned_on="easy").tolist() == [1.0]
    with pytest.raises(ValueError, match="no trial of 'b'"):
        trials.chosen(made, "b", "easy")


def test_an_unknown_question_is_refused():
    with pytest.raises(ValueError, match="question must be one of 'pixels', 'kinks'"):
        trials.main(["colors"])


def test_untrained_networks_on_the_line_are_torchs():
    x = torch.rand(7, 1)
    found = vision.train_on_line(torch.sin, [5, 4], 0.01, steps=0, seeds=3)(x)
    for seed in range(3):
        peer = vision.seeded(lambda: vision.fully_connected([1, 5, 4, 1]), seed)
        torch.testing.assert_close(found[seed], peer(x).detach())


def test_training_on_the_line_learns_a_line():
    x = torch.linspace(0, 1, 50)[:, None]
    found = vision.train_on_line(lambda x: 1 - 2 * x, [8], 0.01, steps=400, seeds=2)(x)
    assert (found - (1 - 2 * x)).abs().max() < 0.2


def test_a_denoiser_learns_to_restore():
    x = torch.randn(200, 3, generator=torch.Generator().manual_seed(0)) @ torch.randn(3, 64)
    before, after = (
        (vision.train_denoiser(x, "noise", 0.003, steps, seed=0)(x) - x).square().mean()
        for steps in (1, 150)
    )
    assert after < before / 2


def test_damage_does_what_it_says():
    chance = torch.Generator().manual_seed(0)
    x = torch.ones(500, 64)
    assert torch.equal(vision.damage(x, "plain", chance), x)
    masked = vision.damage(x, "mask", chance)
    assert set(masked.unique().tolist()) == {0.0, 1.0}
    assert masked.mean() == pytest.approx(1 - vision.MASKED, abs=0.02)
    assert (vision.damage(x, "noise", chance) - x).std() == pytest.approx(vision.NOISE, rel=0.05)


def test_a_shift_moves_the_columns():
    image = torch.arange(64.0)[None]
    moved = vision.shift_right(image, 3).reshape(8, 8)
    np.testing.assert_array_equal(moved[:, 3:], image.reshape(8, 8)[:, :5])


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: vision.fully_connected([3]), "an input and an output width"),
        (lambda: vision.fully_connected([3, 0]), "width must be a whole number ≥ 1"),
        (lambda: vision.damage(torch.ones(1, 2), "blur", torch.Generator()), "kind must be one of"),
        (lambda: vision.train_on_line(torch.sin, [3], 0.0, 1, 1), "rate must be"),
        (lambda: vision.train_on_line(torch.sin, [3], 0.1, 1, 0), "seeds must be"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(call, sentence, as_readers_run_it):
    with pytest.raises(ValueError, match=sentence):
        call()
