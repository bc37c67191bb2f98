"""The sweep: its plan, and what is trained."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from primer.train import Batches
from primer.transformers import Transformer
from studies.scaling import sweep
from studies.scaling.sweep import SIZES, TUNED_AT, Run, Size, best_rate, settings_of, study


def test_sizes_count_what_torch_counts():
    for size in SIZES.values():
        model = Transformer(size.config)
        assert size.parameters == sum(p.numel() for p in model.parameters())
        assert size.parameters - size.without_embeddings == model.embed.weight.numel()


def test_a_rate_at_the_edge_is_not_the_best_one():
    runs: list[Run] = []
    trained = []
    while missing := [s for s in settings_of("16x2", runs) if s not in {run[:4] for run in runs}]:
        for size, tokens, rate, seed in missing:
            loss = abs(math.log2(rate) + 3) if rate < 0.2 else math.nan
            runs.append(Run(size, tokens, rate, seed, loss, loss))
        trained.append(missing)
    tuning = [s[2] for batch in trained for s in batch if (s[1], s[3]) == (TUNED_AT, 0)]
    assert tuning == [2**-7, 2**-6, 2**-5, 2**-4, 2**-3, 2**-2]
    assert best_rate(runs, "16x2") == 2**-3
    *_, many, after = trained
    assert len(many) == 3 * len(SIZES["16x2"].tokens) - 1
    assert {s[2] for s in many} == {2**-3}
    longest = SIZES["16x2"].tokens[-1]
    assert after == [("16x2", longest, rate, 0) for rate in (2**-4, 2**-2)]
    with pytest.raises(ValueError, match="no run with size = '8x2', tokens = 131072"):
        best_rate(runs, "8x2")


def test_a_short_sweep_trains_better_than_guessing(tmp_path, monkeypatch):
    monkeypatch.setattr(sweep, "TUNED_AT", 2048)
    monkeypatch.setattr(sweep, "SIZES", {"4x2": Size(4, 2, 0.03, (1024, 2048), seeds=2)})
    runs = replace(study, table=tmp_path / "sweep.csv").go()
    losses = {run[:4]: run.nats for run in runs}
    assert len(losses) == len(runs) >= 6
    assert min(losses.values()) < math.log(257)  # the highest rates may end above guessing
    assert len(set(losses.values())) > 1


def test_unknown_sizes_are_refused():
    with pytest.raises(ValueError, match="size must be"):
        list(sweep.train_size("5x5", 1024, 0.1, 0))


def test_the_plays_are_read_as_bytes_and_none_of_those_that_are_held_out(monkeypatch):
    plays = {"one": "To be", "two": "é"}, {"three": "or not"}
    monkeypatch.setattr(sweep, "split_plays", lambda: plays)
    training, held_out = sweep._streams.__wrapped__()
    assert training.tolist() == [256, *b"To be", 256, *"é".encode(), 256]
    assert held_out.tolist() == [256, *b"or not", 256]


def test_a_trial_is_a_plain_loop_with_torchs_adamw(monkeypatch):
    stream = torch.randint(257, (40_000,), generator=torch.Generator().manual_seed(0))
    monkeypatch.setattr(sweep, "_streams", lambda: (stream, stream.flip(0)))
    torch.manual_seed(3)
    model = Transformer(SIZES["4x2"].config)
    flat = [p for p in model.parameters() if p.ndim < 2]
    deep = [p for p in model.parameters() if p.ndim >= 2]
    groups = [{"params": deep, "weight_decay": 0.1}, {"params": flat, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.95))
    steps, lengths = 20, []
    for step in range(steps):
        for group in optimizer.param_groups:  # two steps up, eighteen along a cosine to 0
            group["lr"] = 0.1 * (
                (step + 1) / 2 if step < 2 else (1 + math.cos(math.pi * (step - 2) / 17)) / 2
            )
        batch = Batches(stream, 64, 16, 3).at(step)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(batch[:, :-1]).mT, batch[:, 1:]).backward()
        lengths.append(float(torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)))
        optimizer.step()
    windows = torch.linspace(0, (40_000 - 1) // 64 - 1, 512, dtype=torch.float64).long()
    rows = stream.flip(0)[windows[:, None] * 64 + torch.arange(65)]
    with torch.no_grad():
        nats = torch.nn.functional.cross_entropy(model(rows[:, :-1]).mT, rows[:, 1:])
    before = torch.get_rng_state()
    [result] = sweep.train_size("4x2", steps * 1024 + 1023, 0.1, 3)
    assert torch.equal(torch.get_rng_state(), before)
    assert result[:4] == ("4x2", steps * 1024 + 1023, 0.1, 3)
    assert result.nats == pytest.approx(float(nats), abs=1e-4)
    characters = int(((rows[:, 1:] < 256) & (rows[:, 1:] // 64 != 2)).sum())  # two bits say it
    bits = float(nats) * rows[:, 1:].numel() / characters / math.log(2)
    assert result.bits_per_character == pytest.approx(bits, abs=1e-4)


def test_heads_are_sixteen_wide_and_at_least_one():
    heads = {name: size.config.n_heads for name, size in SIZES.items()}
    assert [heads[name] for name in sweep.FAMILY] == [1, 1, 1, 2, 4]
    assert (heads["48x1"], heads["128x4"], SIZES["128x4"].config.context_length) == (3, 8, 64)


def test_the_log_sums_up_what_is_stored():
    _, *said = sweep.report(study.read())
    assert set(said) <= set(study.log.read_text(encoding="utf-8").splitlines())
