"""The sweep: its plan, its resumption, and that it does not matter who trains."""

from __future__ import annotations

import math
import sys
import time
import warnings
from pathlib import Path

import pytest
import torch
from forked import fork_server
from joblib.externals.loky.backend import context

from primer.scaling import sweep
from primer.scaling.sweep import (
    RESULTS,
    SIZES,
    TUNED_AT,
    Result,
    Size,
    Trial,
    best_rate,
    load_results,
    missing_trials,
    save_results,
    workers,
)
from primer.train import Batches
from primer.transformers import Transformer

PATIENCE = 300  # seconds until a child must have stored something


def shorten(patch: pytest.MonkeyPatch) -> None:
    """Make the sweep short; a worker needs to know the name of the size alone."""
    patch.setattr(sweep, "TUNED_AT", 2048)
    patch.setattr(sweep, "SIZES", {"4x2": Size(4, 2, 0.03, (1024, 2048), seeds=2)})


@pytest.fixture
def small(monkeypatch):
    """Make the sweep short."""
    shorten(monkeypatch)


def run(path: Path, **who) -> list[Result]:
    """Sweep, and read what was stored."""
    with workers(**who) as parallel:
        sweep.sweep(["4x2"], parallel, path)
    return load_results(path)


def short_sweep(path: Path) -> None:
    """Sweep in a process of one's own."""
    shorten(pytest.MonkeyPatch())
    run(path)


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """Results of one process without interruption."""
    with pytest.MonkeyPatch.context() as patch:
        shorten(patch)
        return run(tmp_path_factory.mktemp("alone") / "sweep.csv")


def test_sizes_count_what_torch_counts():
    for size in SIZES.values():
        model = Transformer(size.config)
        assert size.parameters == sum(p.numel() for p in model.parameters())
        assert size.parameters - size.without_embeddings == model.embed.weight.numel()


def test_a_rate_at_the_edge_is_not_the_best_one():
    results: list[Result] = []
    trained = []
    while missing := missing_trials(results, "16x2"):
        trial = missing[0]
        trained.append(trial)
        loss = abs(math.log2(trial.rate) + 3) if trial.rate < 0.2 else math.nan
        results.append(Result(*trial, loss, loss))
    tuning = [t.rate for t in trained if (t.tokens, t.seed) == (TUNED_AT, 0)]
    assert tuning == [2**-7, 2**-6, 2**-5, 2**-4, 2**-3, 2**-2]
    assert best_rate(results, "16x2") == 2**-3
    runs = 3 * len(SIZES["16x2"].tokens) - 1
    assert {t.rate for t in trained[6 : 6 + runs]} == {2**-3}
    longest = SIZES["16x2"].tokens[-1]
    assert trained[6 + runs :] == [Trial("16x2", longest, rate, 0) for rate in (2**-4, 2**-2)]
    with pytest.raises(ValueError, match="no run has tuned the size '8x2'"):
        best_rate(results, "8x2")


def test_a_better_trained_model_has_a_lower_loss(alone):
    losses = {result.trial: result.nats for result in alone}
    assert len(losses) == len(alone) >= 6
    assert min(losses.values()) < math.log(257)  # the highest rates may end above guessing
    assert len(set(losses.values())) > 1


@pytest.mark.usefixtures("small")
def test_nothing_is_trained_twice(alone, tmp_path, monkeypatch):
    save_results(alone, tmp_path / "sweep.csv")
    monkeypatch.setattr(sweep, "run_trial", None)
    assert run(tmp_path / "sweep.csv") == alone


@pytest.mark.thorough
@pytest.mark.usefixtures("small")
def test_a_killed_sweep_ends_as_one_that_was_left_alone(alone, tmp_path):
    file = tmp_path / "sweep.csv"
    process = fork_server().Process(target=short_sweep, args=(file,))
    process.start()
    until = time.monotonic() + PATIENCE
    while process.is_alive() and len(load_results(file)) < 2 and time.monotonic() < until:
        time.sleep(0.01)
    process.kill()
    process.join()
    before = load_results(file)
    assert 2 <= len(before) < len(alone)
    assert set(before) < set(alone)
    assert run(file) == alone


@pytest.mark.thorough
@pytest.mark.usefixtures("small")
def test_several_processes_find_the_same(alone, tmp_path, monkeypatch):
    fork_server()
    monkeypatch.setattr(context, "_DEFAULT_START_METHOD", "forkserver")  # joblib's own import anew
    assert run(tmp_path / "sweep.csv", jobs=2) == alone


@pytest.mark.thorough
@pytest.mark.usefixtures("small")
def test_a_cluster_finds_the_same(alone, tmp_path):
    dask = pytest.importorskip("dask")
    distributed = pytest.importorskip("distributed")
    fork_server()  # whoever is first says what is preloaded
    method = {"distributed.worker.multiprocessing-method": "forkserver"}
    with warnings.catch_warnings(), dask.config.set(method):
        warnings.simplefilter("ignore")  # of sockets and event loops that dask leaves to the end
        with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster:
            assert run(tmp_path / "sweep.csv", dask=cluster.scheduler_address) == alone


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nowhere at all"])
def test_an_address_without_a_scheduler(address):
    pytest.importorskip("distributed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        who = workers(dask=address, timeout=1)
        with pytest.raises(ConnectionError, match="no dask scheduler answers at"):
            who.__enter__()


def test_without_dask_the_way_to_it_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(ModuleNotFoundError, match=r"pip install 'primer\[cluster\]'"),
        workers(dask="tcp://127.0.0.1:9"),
    ):
        pass


def test_a_file_that_was_cut_off(tmp_path):
    file = tmp_path / "sweep.csv"
    assert load_results(file) == []
    results = [Result("4x2", 1024, 0.1, seed, 3.25, 4.5) for seed in range(3)]
    save_results(results[::-1], file)
    assert load_results(file) == results
    text = file.read_text(encoding="utf-8")
    file.write_text(text[:-4], encoding="utf-8")
    assert load_results(file) == results[:2]
    file.write_text(text.replace("4x2,1024,0.1,1,", "4x2,1024,"), encoding="utf-8")
    with pytest.raises(ValueError, match=r"holds the line '4x2,1024,3.25,4.5', which is not"):
        load_results(file)


@pytest.mark.usefixtures("small")
def test_unknown_sizes_are_refused(tmp_path):
    with workers() as parallel, pytest.raises(ValueError, match="size must be"):
        sweep.sweep(["5x5"], parallel, tmp_path / "sweep.csv")


@pytest.mark.usefixtures("small")
def test_main_writes_results_and_log(alone, tmp_path, monkeypatch, capsys):
    for name in ("RESULTS", "LOG"):
        monkeypatch.setattr(sweep, name, tmp_path / name)
    save_results(alone, tmp_path / "RESULTS")
    sweep.main(["4x2"])
    log = (tmp_path / "LOG").read_text(encoding="utf-8")
    assert log == capsys.readouterr().out
    assert f"{len(alone)} models" in log


@pytest.mark.skipif(not RESULTS.exists(), reason="no results are stored yet")
def test_stored_results_are_whole():
    results = load_results()
    sizes = [size for size in SIZES if any(result.size == size for result in results)]
    assert [size for size in sizes if missing_trials(results, size)] == []


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
    result = sweep.run_trial(Trial("4x2", steps * 1024 + 1023, 0.1, 3))
    assert torch.equal(torch.get_rng_state(), before)
    assert result[:4] == ("4x2", steps * 1024 + 1023, 0.1, 3)
    assert result.nats == pytest.approx(float(nats), abs=1e-4)
    characters = int(((rows[:, 1:] < 256) & (rows[:, 1:] // 64 != 2)).sum())  # two bits say it
    bits = float(nats) * rows[:, 1:].numel() / characters / math.log(2)
    assert result.bits_per_character == pytest.approx(bits, abs=1e-4)
    assert all(round(number, 5) == number for number in result[4:])


def test_heads_are_sixteen_wide_and_at_least_one():
    heads = {name: size.config.n_heads for name, size in SIZES.items()}
    assert [heads[name] for name in sweep.FAMILY] == [1, 1, 1, 2, 4]
    assert (heads["48x1"], heads["128x4"], SIZES["128x4"].config.context_length) == (3, 8, 64)


def test_the_log_sums_up_what_is_stored():
    said = sweep.report(load_results()).splitlines()
    stored = sweep.LOG.read_text(encoding="utf-8").splitlines()
    assert [said[0], *said[2:]] == [stored[0], *stored[2:]]  # the second tells of the machine


def test_what_is_stored_stands_in_a_fixed_order(tmp_path):
    save_results(reversed(load_results()), tmp_path / "sweep.csv")
    assert (tmp_path / "sweep.csv").read_bytes() == RESULTS.read_bytes()


def test_cheap_runs_come_first_and_every_one_is_stored_at_once(tmp_path, monkeypatch, capsys):
    sizes = {
        "64x2": Size(64, 2, 0.02, (1024, 2048), seeds=2),
        "4x2": Size(4, 2, 0.2, (1024, 2048), seeds=2),
    }
    monkeypatch.setattr(sweep, "TUNED_AT", 2048)
    monkeypatch.setattr(sweep, "SIZES", sizes)
    file, trained = tmp_path / "sweep.csv", []

    def loss(trial: Trial) -> Result:
        assert len(load_results(file)) == len(trained)
        trained.append(trial)
        nats = 2 + abs(math.log2(trial.rate / sizes[trial.size].rate))
        return Result(*trial, nats, nats)

    monkeypatch.setattr(sweep, "run_trial", loss)
    with workers() as parallel:
        results = sweep.sweep(["64x2", "4x2"], parallel, file)
    assert [result.trial for result in results] == trained
    tuning = [(size, 2048, 0) for size in ("4x2", "64x2") for _ in range(3)]
    first = [("4x2", 1024, 0), ("64x2", 1024, 0)]
    second = [(size, tokens, 1) for size, tokens in [("4x2", 1024), ("4x2", 2048)]]
    second += [("64x2", 1024, 1), ("64x2", 2048, 1)]
    assert [(t.size, t.tokens, t.seed) for t in trained[:12]] == [*tuning, *first, *second]
    assert "models trained: 100%" in (said := capsys.readouterr().err)
    assert f"{len(trained)}/{len(trained)} " in said.splitlines()[-1].split("\r")[-1]
