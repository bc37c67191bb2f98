"""The race and the sweep: what was tried, how it is tuned, and how a run is measured."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from scipy.stats import gmean

from primer import optimization as opt
from primer.optimization import race, sweep
from primer.optimization.network import Mlp, train

# --- the race -------------------------------------------------------------------------------------


def test_every_setting_of_the_race_is_stored_and_then_ten_other_seeds_of_the_best():
    runs = race.load_runs()
    wanted = [
        (rule, memory, 2.0**power, seed)
        for rule, memories in race.MEMORIES.items()
        for memory in memories
        for power in range(race.LARGEST_RATE[rule] - 7, race.LARGEST_RATE[rule] + 1)
        for seed in (0, 1, 2)
    ]
    wanted += [(rule, *race.tuned(runs, rule), seed) for rule in race.MEMORIES for seed in SEEDS]
    assert [run[:4] for run in runs] == wanted
    assert all(2.0**power in race.rates_of("Adam") for power in range(-10, -2))
    assert len(race.rates_of("Adam")) == 8


SEEDS = (3, 4, 5, 6, 7, 8, 9, 10, 11, 12)


def test_the_best_rates_of_the_race_lie_inside_as_its_log_says():
    runs, said = race.load_runs(), race.LOG.read_text(encoding="utf-8")
    for rule in race.MEMORIES:
        memory, rate = race.tuned(runs, rule)
        assert race.rates_of(rule)[0] < rate < race.rates_of(rule)[-1]
        last = race.finals(runs, rule)
        loss, right = gmean([run.loss for run in last]), np.mean([run.accuracy for run in last])
        steps = np.median([run.steps for run in last])
        words = f"loss {loss:.3f}, accuracy {right:.3f}, median steps to 0.3 {steps:.1f}"
        power = f"beta {memory:<4} rate 2^{round(math.log2(rate)):<3} inside: {words}"
        assert f"{rule:16} {power}\n" in said


def made_up(rule, memory, rate, *losses, first=0):
    """Make up a run for each seed."""
    return [
        race.Run(rule, memory, rate, seed, loss, 0.5, 61)
        for seed, loss in enumerate(losses, start=first)
    ]


def test_a_rule_is_tuned_by_the_mean_of_logarithms_of_its_own_tuning_runs():
    runs = [
        *made_up("Adam", 0.9, 0.5, 0.2, 0.2, 0.2),
        *made_up("Adam", 0.5, 0.25, 0.01, 0.1, 0.8),  # its mean is higher, that of logs lower
        *made_up("Adam", 0.0, 0.25, 0.3, 0.3, 0.3),
        *made_up("Adam", 0.0, 0.25, *[1e-9] * 10, first=3),
        *made_up("Muon", 0.0, 0.125, 1e-9, 1e-9, 1e-9),
    ]
    assert race.tuned(runs, "Adam") == (0.5, 0.25)
    late = made_up("Adam", 0.5, 0.25, 0.7, 0.6, first=3)
    assert race.finals([*late[::-1], *runs], "Adam") == late


@pytest.mark.parametrize(
    ("rule", "theirs"),
    [
        ("gradient descent", lambda w: torch.optim.SGD(w, lr=0.05)),
        ("momentum", lambda w: torch.optim.SGD(w, lr=0.05, momentum=0.7)),
        ("sign", lambda w: race.SignDescent(w, 0.05)),
        ("sign, memory", lambda w: race.SignDescent(w, 0.05, 0.7)),
        ("Adam", lambda w: torch.optim.Adam(w, lr=0.05, betas=(0.7, 0.999))),
        ("Muon", lambda w: opt.Muon(w, lr=0.05, momentum=0.7)),
    ],
)
def test_a_rule_is_the_optimizer_that_it_names(rule, theirs):
    data, ends = opt.digits(), []
    memory = 0.0 if rule in ("gradient descent", "sign") else 0.7
    for build in (lambda m: race.make(rule, m, 0.05, memory), lambda m: theirs(m.parameters())):
        torch.manual_seed(0)
        model = Mlp(8, "standard")
        train(model, build(model), data, 4, 0)
        ends.append([p.detach() for p in model.parameters()])
    assert all(torch.equal(a, b) for a, b in zip(*ends, strict=True))


@pytest.mark.parametrize(
    ("losses", "steps", "loss"),
    [
        ([0.2, 0.2, 0.2, 0.2, 0.2], 1, 0.2),
        ([0.9, 0.2, 0.4, 0.2, 0.1], 4, 0.1),
        ([0.9, 0.9, 0.9, 0.9, 0.29], 5, 0.29),
        ([0.1, 0.3, 0.1, 0.1, 0.1], 3, 0.1),  # 0.3 is not below 0.3
        ([0.9, 0.9, 0.9, 0.9, 0.9], 6, 0.9),
        ([0.1, math.nan, 0.1, 0.1, 0.1], 3, 0.1),
        ([0.1, 0.1, 0.1, 0.1, math.inf], 6, 1e6),
        ([0.1, 0.1, 0.1, 0.1, math.nan], 6, 1e6),
        ([0.1, 0.1, 0.1, 0.1, 3e6], 6, 1e6),
        ([0.1, 0.1, 0.1, 0.1, 9e5], 6, 9e5),
    ],
)
def test_a_run_counts_the_steps_after_which_its_loss_stays_low(losses, steps, loss, monkeypatch):
    given = iter(losses)
    monkeypatch.setattr(race, "STEPS", 5)
    monkeypatch.setattr(race, "cross_entropy", lambda *_: next(given))
    run = race.compete("sign", 0.0, 2.0**-8, 1, opt.digits())
    assert (run[:4], run.steps, run.loss) == (("sign", 0.0, 2.0**-8, 1), steps, loss)


def test_a_run_of_the_race_is_a_plain_loop(monkeypatch):
    monkeypatch.setattr(race, "STEPS", 6)
    data = opt.digits()
    torch.manual_seed(4)
    model = Mlp(64, "standard")
    train(model, torch.optim.SGD(model.parameters(), lr=0.125, momentum=0.5), data, 6, 4)
    with torch.no_grad():
        loss = torch.nn.functional.cross_entropy(model(data.train_x), data.train_y)
        right = (model(data.test_x).argmax(1) == data.test_y).double().mean()
    before = torch.get_rng_state()
    run = race.compete("momentum", 0.5, 0.125, 4, data)
    assert torch.equal(torch.get_rng_state(), before)
    assert (run.loss, run.accuracy) == pytest.approx((float(loss), float(right)))
    assert (race.WIDTH, race.LEVEL) == (64, 0.3)


def test_sign_descent_leaves_what_has_no_gradient_and_refuses_odd_numbers():
    still, moved = (torch.nn.Parameter(torch.ones(2)) for _ in range(2))
    moved.grad = torch.tensor([3.0, 0.0])
    race.SignDescent(iter([still, moved]), lr=0.25).step()
    assert (still.tolist(), moved.tolist()) == ([1, 1], [0.75, 1])
    with pytest.raises(ValueError, match="lr must be"):
        race.SignDescent([moved], lr=0.0)
    with pytest.raises(ValueError, match="momentum must be"):
        race.SignDescent([moved], lr=0.1, momentum=1.0)


# --- the sweep ------------------------------------------------------------------------------------


def test_every_setting_of_the_sweep_is_stored():
    complete, apart = (32, 64, 128, 256, 512), (128, 512)
    wanted = [
        (name, width, 2.0**power, seed)
        for name in ("standard", "mup", "rates", "start", "root")
        for width in (complete if name in ("standard", "mup") else apart)
        for power, seed in itertools.product(range(-12, -2), range(5))
    ]
    assert [trial[:4] for trial in sweep.load_trials()] == wanted


def test_what_is_read_of_the_sweep_is_stored_as_it_was(tmp_path, monkeypatch):
    before, trials = sweep.RESULTS.read_bytes(), sweep.load_trials()
    monkeypatch.setattr(sweep, "RESULTS", tmp_path / "sweep.csv")
    sweep.write_trials(trials)
    assert (tmp_path / "sweep.csv").read_bytes() == before


def test_mean_losses_are_those_of_the_log():
    trials, said = sweep.load_trials(), sweep.LOG.read_text(encoding="utf-8")
    for name in ("standard", "mup", "rates", "start", "root"):
        means = sweep.mean_losses(trials, name)
        widths = sweep.widths_of(name)
        assert means.shape == (len(widths), 10)
        for width, row in zip(widths, means, strict=True):
            losses = [[t.loss for t in trials if t[:3] == (name, width, r)] for r in sweep.RATES]
            np.testing.assert_allclose(row, gmean(losses, axis=1))
            each = " ".join(f"{loss:.3f}" for loss in row)
            best = f"best rate 2^{int(row.argmin()) - 12:<3}"
            assert f"{name:8} width {width:4}: {best} losses {each}\n" in said


def test_a_mean_over_seeds_that_are_missing_is_no_number():
    some = [trial for trial in sweep.load_trials() if trial.seed != 3 or trial.width != 64]
    assert np.isnan(sweep.mean_losses(some, "mup")).tolist() == [[w == 1] * 10 for w in range(5)]


def test_a_trial_of_the_sweep_is_a_plain_loop_with_torchs_adam():
    data = opt.digits()
    torch.manual_seed(4)
    model = Mlp(48, "root")
    train(model, torch.optim.Adam(model.rates(0.02)), data, 7, 4)
    with torch.no_grad():
        loss = torch.nn.functional.cross_entropy(model(data.train_x), data.train_y)
        right = (model(data.test_x).argmax(1) == data.test_y).double().mean()
    before = torch.get_rng_state()
    trial = sweep.run_trial("root", 48, 0.02, 4, data, steps=7)
    assert torch.equal(torch.get_rng_state(), before)
    assert trial[:4] == ("root", 48, 0.02, 4)
    assert trial[4:] == pytest.approx((float(loss), float(right)))
