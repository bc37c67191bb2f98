"""The race and the sweep: what was tried, how it is tuned, and how a run is measured."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy.stats import gmean

from primer import optimization as opt
from primer.optimization.network import Mlp, train
from studies.optimization import race, sweep

# --- the race -------------------------------------------------------------------------------------


def test_every_setting_of_the_race_is_stored_and_then_ten_other_seeds_of_the_best():
    runs = race.study.read()
    wanted = [
        (rule, memory, 2.0**power, seed)
        for rule, memories in race.MEMORIES.items()
        for memory in memories
        for power in range(race.LARGEST_RATE[rule] - 7, race.LARGEST_RATE[rule] + 1)
        for seed in (0, 1, 2)
    ]
    wanted += [(*race.tuned(runs, rule)[:3], seed) for rule in race.MEMORIES for seed in SEEDS]
    assert [run[:4] for run in runs] == wanted
    assert all(2.0**power in race.rates_of("Adam") for power in range(-10, -2))
    assert len(race.rates_of("Adam")) == 8


SEEDS = (3, 4, 5, 6, 7, 8, 9, 10, 11, 12)


def test_the_best_rates_of_the_race_lie_inside_as_its_log_says():
    runs, said = race.study.read(), race.study.log.read_text(encoding="utf-8")
    for rule in race.MEMORIES:
        _, memory, rate, *_ = race.tuned(runs, rule)
        assert race.rates_of(rule)[0] < rate < race.rates_of(rule)[-1]
        last = race.ends(runs, rule)
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
    assert race.tuned(runs, "Adam")[1:3] == (0.5, 0.25)
    late = made_up("Adam", 0.5, 0.25, 0.7, 0.6, first=3)
    assert race.ends([*late[::-1], *runs], "Adam") == late


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
    [run] = race.compete("sign", 0.0, 2.0**-8, 1)
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
    [run] = race.compete("momentum", 0.5, 0.125, 4)
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


def test_mean_losses_are_those_of_the_log():
    runs, said = sweep.study.read(), sweep.study.log.read_text(encoding="utf-8")
    for name in ("standard", "mup", "rates", "start", "root"):
        means = sweep.mean_losses(runs, name)
        widths = sweep.widths_of(name)
        assert means.shape == (len(widths), 10)
        for width, row in zip(widths, means, strict=True):
            losses = [[t.loss for t in runs if t[:3] == (name, width, r)] for r in sweep.RATES]
            np.testing.assert_allclose(row, gmean(losses, axis=1))
            each = " ".join(f"{loss:.3f}" for loss in row)
            best = f"best rate 2^{int(row.argmin()) - 12:<3}"
            assert f"{name:8} width {width:4}: {best} losses {each}\n" in said


def test_a_mean_over_seeds_that_are_missing_is_no_number():
    some = [run for run in sweep.study.read() if run.seed != 3 or run.width != 64]
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
    [run] = sweep.train_width("root", 48, 0.02, 4, steps=7)
    assert torch.equal(torch.get_rng_state(), before)
    assert run[:4] == ("root", 48, 0.02, 4)
    assert run[4:] == pytest.approx((float(loss), float(right)))


def test_stored_runs_are_what_the_sweep_computes():
    stored = {run[:4]: run for run in sweep.study.read()}
    # at the edge of what is stable (mup at 2⁻⁶) another processor ends elsewhere
    some = [("standard", 32, 2.0**-7, 1), ("mup", 64, 2.0**-8, 0), ("rates", 128, 2.0**-7, 2)]
    for setting in some:
        [again] = sweep.train_width(*setting)
        assert again.loss == pytest.approx(stored[setting].loss, rel=0.05)
        assert again.accuracy == pytest.approx(stored[setting].accuracy, abs=0.02)


def test_stored_runs_are_what_the_race_computes():
    stored = {run[:4]: run for run in race.study.read()}
    for setting in [("sign, memory", 0.5, 2.0**-8, 5), ("momentum", 0.9, 2.0**-5, 1)]:
        [again], before = race.compete(*setting), stored[setting]
        assert again.loss == pytest.approx(before.loss, rel=0.05)
        assert again.accuracy == pytest.approx(before.accuracy, abs=0.02)
        assert again.steps == pytest.approx(before.steps, abs=3)


def test_sign_descent_with_memory_follows_the_running_mean():
    w = torch.nn.Parameter(torch.tensor([0.0, 0.0]))
    optimizer = race.SignDescent([w], lr=1.0, momentum=0.5)
    for gradient in ([1.0, 1.0], [-3.0, -0.4]):  # running means: 0.5, 0.5, then -1.25, 0.05
        w.grad = torch.tensor(gradient)
        optimizer.step()
    assert w.tolist() == [0.0, -2.0]


def test_an_unknown_rule_is_refused():
    with pytest.raises(ValueError, match="rule must be one of"):
        race.make("newton", opt.Mlp(4, "mup"), 0.1, 0.0)
