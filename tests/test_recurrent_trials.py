"""Trainings side by side against torch's, one by one, and the stored results."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn.functional import mse_loss

from primer.recurrent import trials
from primer.recurrent.layers import run
from primer.recurrent.tasks import adding_problem, reversal


@pytest.mark.parametrize("variant", trials.CELLS)
def test_a_stacked_cell_steps_for_each(variant):
    cells = [trials.CELLS[variant]() for _ in range(3)]
    together = trials.stacked(cells)
    x = torch.randn(3, 4, 5, 2)
    state = tuple(z.expand(3, -1, -1) for z in together.zero_state(4))
    for projected in together.project(x.permute(2, 0, 1, 3)).unbind():
        state = together.step(projected, state)
    for k, cell in enumerate(cells):
        torch.testing.assert_close(state[0][k], run(cell, x[k])[1][0])


def test_side_by_side_is_torchs_adam_one_by_one(monkeypatch):
    monkeypatch.setattr(trials, "LOOKS", (4,))
    found = list(trials.adding_trials("LSTM, bias 1"))
    assert len(found) == len(trials.ADDING_RATES) * trials.SEEDS
    [trial] = [t for t in found if (t.rate, t.seed) == (0.01, 1)]
    torch.manual_seed(1)
    random = torch.Generator().manual_seed(1)
    cell, head = trials.CELLS["LSTM, bias 1"](), nn.Linear(trials.UNITS, 1)
    parameters = [*cell.parameters(), *head.parameters()]
    optimizer = torch.optim.Adam(parameters, 0.01)

    def error(numbers, sums):
        return mse_loss(head(run(cell, numbers)[1][0])[:, 0], sums)

    for _ in range(4):
        optimizer.zero_grad()
        error(*adding_problem(trials.BATCH, trials.LENGTH, random)).backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
    held_out = torch.Generator().manual_seed(1000)
    for wanted in (trial.tuning, trial.test):
        got = error(*adding_problem(1000, trials.LENGTH, held_out)).item()
        assert got == pytest.approx(wanted, rel=1e-3)


@pytest.mark.parametrize("question", trials.QUESTIONS)
def test_every_variant_was_tried_at_the_same_rates_and_seeds(question):
    tried: dict[tuple[str, str], list[tuple[float, int]]] = {}
    for trial in trials.load_trials(question):
        assert trial.test >= 0
        tried.setdefault((trial.variant, trial.case), []).append((trial.rate, trial.seed))
    runs = [sorted(each) for each in tried.values()]
    assert {variant for variant, _ in tried} == set(trials.QUESTIONS[question][1])
    assert all(each == runs[0] for each in runs)
    assert len(runs[0]) == len(set(runs[0]))


def test_an_unknown_question_is_refused():
    with pytest.raises(ValueError, match="question must be one of 'adding', 'reversal'"):
        trials.main(["colors"])
    with pytest.raises(ValueError, match="question must be one of"):
        trials.load_trials("colors")


def test_the_writer_reads_sixty_four_strings_a_step(monkeypatch):
    sizes = []

    def counted(count, *rest):
        sizes.append(count)
        return reversal(count, *rest)

    monkeypatch.setattr(trials, "reversal", counted)
    trials.learn_reversal(None, 0.01, 0, steps=3)
    assert sizes == [64] * 3
