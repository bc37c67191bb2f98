"""The trained networks of the trials, and the stored results that the chapter reads."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits
from torch import nn

from primer.networks import vision
from studies.networks import trials
from studies.networks.trials import SEEDS, Run


@pytest.mark.parametrize("question", ["pixels", "kinks", "labels", "folds"])
def test_every_variant_was_tried_at_the_same_rates_and_seeds(question):
    stored = getattr(trials, question).read()
    tried: dict[tuple[str, str], list[tuple[float, int]]] = {}
    for trial in stored:
        assert trial.test >= 0
        tried.setdefault((trial.variant, trial.case), []).append((trial.rate, trial.seed))
    trained = [
        sorted(runs) for (variant, _), runs in tried.items() if variant not in ("pixels", "random")
    ]
    assert all(runs == trained[0] for runs in trained)
    assert len(trained[0]) == len(set(trained[0])) == SEEDS * len({rate for rate, _ in trained[0]})


def test_a_stored_trial_is_found_again():
    [again] = trials.kink_trial("GELU", "natural", 0.003, 1)
    [stored] = [
        trial
        for trial in trials.kinks.read()
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
        Run("a", "easy", rate, seed, tuning, test)
        for rate, tuning, test in ((0.1, 0.2, 0.5), (0.2, 0.3, 0.1))
        for seed in range(2)
    ]
    made += [Run("a", "hard", rate, 0, 0.0, 10 * rate) for rate in (0.1, 0.2)]
    assert trials.ends(made, "a", "easy").tolist() == [0.5, 0.5]
    assert trials.ends(made, "a", "hard", tuned_on="easy").tolist() == [1.0]
    with pytest.raises(ValueError, match="no run with variant = 'b'"):
        trials.ends(made, "b", "easy")


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


def test_a_denoiser_repairs_what_is_damaged():
    chance = torch.Generator().manual_seed(0)
    x = (torch.rand(6, 64, generator=chance) < 0.5).float()
    model = vision.train_denoiser(x, "mask", 0.01, steps=300, seed=0)
    damaged = vision.damage(x.repeat(50, 1), "mask", chance)
    wrong = [(y - x.repeat(50, 1)).square().mean() for y in (damaged, model(damaged))]
    assert wrong[1] < wrong[0] / 2


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
        (lambda: vision.train_on_line(torch.sin, [3], 0.0, 1, 1), "learning_rate must be"),
        (lambda: vision.train_on_line(torch.sin, [3], 0.1, 1, 0), "seeds must be"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(call, sentence, as_readers_run_it):
    with pytest.raises(ValueError, match=sentence):
        call()


# --- what each trial does, with few steps ---------------------------------------------------------


@pytest.fixture
def short(monkeypatch):
    """Train three steps instead of what is asked for; note how many those would have been."""
    asked = []

    def classifier(model, X, classes, rate, steps, seed):
        asked.append(steps)
        vision.train_classifier(model, X, classes, rate, 3, seed)

    def denoiser(X, kind, rate, steps, seed):
        asked.append(steps)
        return vision.train_denoiser(X, kind, rate, 3, seed)

    monkeypatch.setattr(trials, "train_classifier", classifier)
    monkeypatch.setattr(trials, "train_denoiser", denoiser)
    return asked


def errors_of(model, x, y, parts):
    return [(model(x[part]).argmax(1) != y[part]).double().mean().item() for part in parts]


KEPT, OTHERS = slice(300, 600), slice(600, 1797)


def test_digits_are_sklearns_in_another_order():
    images, classes = load_digits(return_X_y=True)
    order = np.random.default_rng(7).permutation(1797)
    x, y = trials.shuffled_digits(7)
    centered = images[order] - images.mean(axis=0)
    torch.testing.assert_close(
        x.double(), torch.tensor(centered / centered.std()), atol=1e-3, rtol=0
    )
    assert y.tolist() == classes[order].tolist()


@pytest.mark.parametrize("variant", ["convolutional", "fully connected"])
@pytest.mark.parametrize("case", ["natural", "shuffled"])
def test_a_network_learns_three_hundred_digits_and_is_judged_by_the_others(variant, case, short):
    x, y = trials.shuffled_digits(4)
    if case == "shuffled":
        x = x[:, torch.randperm(64, generator=torch.Generator().manual_seed(4))]
    layers = nn.Sequential(nn.Linear(64, 50), nn.ReLU(), nn.Linear(50, 10))
    model = vision.convolutional() if variant == "convolutional" else layers
    torch.manual_seed(4)
    for layer in model:
        if hasattr(layer, "reset_parameters"):
            layer.reset_parameters()
    vision.train_classifier(model, x[:300], y[:300], 0.01, 3, 4)
    tuning, test = errors_of(model, x, y, [KEPT, OTHERS])
    first, *shifted = trials.pixel_trial(variant, case, 0.01, 4)
    assert first == (variant, case, 0.01, 4, pytest.approx(tuning), pytest.approx(test))
    assert short == [300]
    assert len(shifted) == (2 if case == "natural" else 0)
    for pixels, found in enumerate(shifted, 1):
        moved = np.roll(x.reshape(-1, 8, 8).numpy(), pixels, axis=2).reshape(-1, 64)
        [error] = errors_of(model, torch.tensor(moved), y, [OTHERS])
        settings = (variant, f"shifted {pixels}", 0.01, 4)
        assert found == (*settings, pytest.approx(tuning), pytest.approx(error))


@pytest.mark.parametrize(("variant", "kink"), [("SiLU", nn.SiLU), ("ReLU", nn.ReLU)])
def test_a_kink_stands_between_two_hidden_layers_of_fifty(variant, kink, short):
    x, y = trials.shuffled_digits(2)
    torch.manual_seed(2)
    model = nn.Sequential(
        *(nn.Linear(64, 50), kink(), nn.Linear(50, 50), kink(), nn.Linear(50, 10))
    )
    vision.train_classifier(model, x[:300], y[:300], 0.02, 3, 2)
    errors = errors_of(model, x, y, [KEPT, OTHERS])
    [found] = trials.kink_trial(variant, "natural", 0.02, 2)
    assert found == (variant, "natural", 0.02, 2, *map(pytest.approx, errors))
    assert short == [300]


@pytest.mark.parametrize("variant", ["mask", "noise", "pixels"])
def test_features_come_from_a_denoiser_that_saw_a_thousand_digits(variant, short, monkeypatch):
    probed = []

    def noted(name, features, y, rate, seed):
        probed.append((name, features.clone(), y, rate, seed))
        return iter([Run(name, "10", rate, seed, 0.0, 0.0)])

    monkeypatch.setattr(trials, "_probe", noted)
    found = list(trials.label_trial(variant, 0.003, 1))
    x, y = trials.shuffled_digits(1)
    features = [x]
    if variant != "pixels":
        model = vision.train_denoiser(x[:1000], variant, 0.003, 3, 1)
        losses = ((model(x) - x) ** 2).mean(dim=1)
        wanted = [losses[part].mean().item() for part in (slice(1000, 1300), slice(1300, 1797))]
        assert found.pop(0) == (variant, "loss", 0.003, 1, *map(pytest.approx, wanted))
        features = [(x @ model[0].weight.T + model[0].bias).relu()]
        assert short == [1500]
    if variant == "mask":
        hidden = vision.damage(x, "mask", torch.Generator().manual_seed(1))
        features.append((hidden @ model[0].weight.T + model[0].bias).relu())
    names = {"mask": ["mask", "mask left on"]}.get(variant, [variant])
    assert [(t.variant, t.case) for t in found] == [(name, "10") for name in names]
    for name, wanted, (called, given, classes, rate, seed) in zip(
        names, features, probed, strict=True
    ):
        assert (called, rate, seed) == (name, 0.003, 1)
        torch.testing.assert_close(given, wanted.detach())
        assert torch.equal(classes, y)


@pytest.mark.parametrize("features", ["pixels", "random"])
def test_stored_errors_of_features_that_nobody_learned_are_found_again(features, monkeypatch):
    """With few labels, which come first; the penalties and the draws are those of the table."""
    monkeypatch.setattr(trials, "LABELS", trials.LABELS[:1])
    stored = {t[:4]: t for t in trials.labels.read()}
    for again in trials.label_trial(features, 0.0, 0):
        assert again.tuning == pytest.approx(stored[again[:4]].tuning, abs=2e-3)
        assert again.test == pytest.approx(stored[again[:4]].test, abs=2e-3)


def test_random_features_are_those_that_training_begins_with(monkeypatch):
    x = torch.randn(5, 64, generator=torch.Generator().manual_seed(0))
    model = vision.train_denoiser(x, "noise", 1e-9, 1, seed=2)
    torch.testing.assert_close(
        trials.random_features(x, seed=2), model[:2](x).detach(), atol=1e-6, rtol=0
    )


def test_labeled_digits_are_as_many_of_each_class_and_none_twice():
    classes = np.repeat(np.arange(10), 9)
    some = trials._some_of_each(classes, 40, np.random.default_rng(0))
    assert np.bincount(classes[some]).tolist() == [4] * 10
    assert len(set(some.tolist())) == 40


def test_a_fold_is_judged_at_points_of_the_whole_line(monkeypatch):
    asked = []

    def trained(target, sizes, rate, steps, seeds):
        asked.append((sizes, rate, steps, seeds))
        assert target(torch.tensor([[0.25], [0.875]])).flatten().tolist() == [1.0, 0.5]
        return lambda x: torch.stack([k * x for k in range(seeds)])

    monkeypatch.setattr(trials, "train_on_line", trained)
    found = list(trials.fold_trial("trained", "2", 0.003))
    assert asked == [([32] * 5, 0.003, 1000, 3)]
    x = np.arange(1025) / 1024
    folded = 1 - np.abs(1 - 2 * (1 - np.abs(1 - 2 * x)))
    for k, trial in enumerate(found):
        error = np.mean((k * x - folded) ** 2)
        assert trial == ("trained", "2", 0.003, k, *[pytest.approx(error, rel=1e-4)] * 2)
    assert len(found) == 3
