"""Trainings side by side against torch's, one by one, and the stored results."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn.functional import mse_loss

from primer.recurrent.layers import run
from primer.recurrent.seq2seq import EncoderDecoder
from primer.recurrent.tasks import adding_problem, reversal
from studies.recurrent import trials


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
    found = list(trials.adding_trials("LSTM, bias 1", 0.01))
    assert [t.seed for t in found] == list(range(trials.SEEDS))
    trial = found[1]
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


def test_the_writer_reads_sixty_four_strings_a_step(monkeypatch):
    sizes = []

    def counted(count, *rest):
        sizes.append(count)
        return reversal(count, *rest)

    monkeypatch.setattr(trials, "reversal", counted)
    trials.learn_reversal(None, 0.01, 0, steps=3)
    assert sizes == [64] * 3


def test_descent_is_clipped_adam_for_each_network_at_its_own_rate():
    """The gradients are long, short, and next to nothing: only the long one is shortened."""
    torch.manual_seed(0)
    lengths, rates = [100.0, 0.5, 1e-7], [0.1, 0.01, 0.2]
    shapes = [(3, 2, 4), (3, 4, 1), (3, 1, 1)]
    together = [nn.Parameter(torch.randn(shape, dtype=torch.float64)) for shape in shapes]
    apart = [[nn.Parameter(p[k].detach().clone()) for p in together] for k in range(3)]
    optimizers = [torch.optim.Adam(own, rate) for own, rate in zip(apart, rates, strict=True)]
    descend = trials.adam_steps(together, torch.tensor(rates, dtype=torch.float64))
    for t in range(1, 9):
        for p in together:
            p.grad = torch.randn_like(p) * torch.tensor(lengths)[:, None, None] / p[0].numel()
        for k, (own, optimizer) in enumerate(zip(apart, optimizers, strict=True)):
            for mine, p in zip(own, together, strict=True):
                mine.grad = p.grad[k].clone()
            nn.utils.clip_grad_norm_(own, 1.0)
            optimizer.step()
        descend(t)
        assert all(p.grad is None for p in together)
    for k, own in enumerate(apart):
        for mine, p in zip(own, together, strict=True):
            torch.testing.assert_close(p[k], mine, rtol=1e-5, atol=1e-9)


def test_cells_begin_as_their_names_say():
    torch.manual_seed(0)
    cells = {name: build() for name, build in trials.CELLS.items()}
    squares = {
        name: cell.state_weight[:, :32] @ cell.state_weight[:, :32].T
        for name, cell in cells.items()
    }
    torch.testing.assert_close(squares["Elman, orthogonal"], torch.eye(32), atol=1e-5, rtol=0)
    assert (squares["Elman"] - torch.eye(32)).abs().max() > 0.1
    for forget in (0.0, 1.0):
        bias = cells[f"LSTM, bias {forget:.0f}"].bias
        assert bias[:32].tolist() == [forget] * 32
        assert not bias[32:].any()
    assert {cell.input_weight.shape[0] for cell in cells.values()} == {2}


def test_a_stored_adding_trial_is_found_again(monkeypatch):
    """The first look at the cheapest cell, at every rate that leaves rounding errors small."""
    monkeypatch.setattr(trials, "LOOKS", trials.LOOKS[:1])
    stored = {t[:4]: t for t in trials.adding.read()}
    for rate in trials.ADDING_RATES[:3]:
        for again in trials.adding_trials("Elman", rate):
            assert again.tuning == pytest.approx(stored[again[:4]].tuning, rel=0.02)
            assert again.test == pytest.approx(stored[again[:4]].test, rel=0.02)


def test_a_writer_is_trained_by_torchs_adam_on_strings_of_its_seed():
    found = trials.learn_reversal("bilinear", 0.02, 3, steps=4)
    assert not found.training
    torch.manual_seed(3)
    random = torch.Generator().manual_seed(3)
    model = EncoderDecoder(6, 32, "bilinear")
    optimizer = torch.optim.Adam(model.parameters(), 0.02)
    for _ in range(4):
        length = torch.randint(2, 9, (1,), generator=random).item()
        optimizer.zero_grad()
        model.loss(*reversal(64, length, 6, random)).backward()
        optimizer.step()
    for name, weight in found.state_dict().items():
        torch.testing.assert_close(weight, model.state_dict()[name])


def test_a_writer_reads_four_hundred_batches_of_two_to_eight_letters(monkeypatch):
    lengths = []

    class Counting(EncoderDecoder):
        def loss(self, source, target):
            lengths.append(source.shape[1])
            return next(self.parameters()).sum()

    monkeypatch.setattr(trials, "EncoderDecoder", Counting)
    trials.learn_reversal(None, 0.01, 0)
    assert len(lengths) == 400
    assert set(lengths) == set(range(2, 9))


def test_a_reversal_trial_is_the_share_of_letters_that_are_wrong(monkeypatch):
    """A writer who copies is right where a string is its own mirror image."""
    asked = []

    class Copying:
        def write(self, source, length):
            assert source.shape == (500, length)
            return source, None

    def learned(*settings):
        asked.append(settings)
        return Copying()

    monkeypatch.setattr(trials, "learn_reversal", learned)
    found = list(trials.reversal_trials("attention", 0.004, 2))
    assert asked == [("bilinear", 0.004, 2)]
    random = torch.Generator().manual_seed(1000)
    for k, length in enumerate((2, 4, 6, 8, 12, 16)):
        wrong = []
        for _ in range(2):
            source, _ = reversal(500, length, 6, random)
            wrong.append((source != source.flip(1)).double().mean().item())
        case = ("attention", f"length {length}", 0.004, 2)
        assert found[k] == (*case, *map(pytest.approx, wrong))
