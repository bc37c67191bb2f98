"""Whole training runs: killed and continued, shared by two processes, refused with a reason."""

from __future__ import annotations

import multiprocessing
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
import torch
from forked import fork_server
from torch.nn.functional import cross_entropy

from primer import datasets
from primer.language_models import BytePairEncoding
from primer.train import (
    PLAYS_2,
    Batches,
    Configuration,
    DataSettings,
    TrainingSettings,
    data,
    held_out_loss,
    join_processes,
    learning_rate,
    loop,
    make_optimizer,
    read_configuration,
    read_corpus,
    read_log,
    token_stream,
    train,
)
from primer.train.__main__ import main
from primer.transformers import Transformer, TransformerConfig, load_checkpoint, read_metadata

CONFIGURATION = """
[data]
texts = "{texts}"
vocab_size = 300

[model]
n_layers = 1
d_model = 16
n_heads = 2
context_length = 16
dropout = 0.1

[training]
steps = 200
batch_size = 4
learning_rate = 1e-2
final_learning_rate = 1e-3
warmup_steps = 5
weight_decay = 0.1
clip_norm = 1.0
save_every = 2
held_out_windows = 8
"""

PATIENCE = 300  # seconds until a child must have stored something


@pytest.fixture(scope="module")
def file(texts: Path) -> Path:
    """Write the configuration as a file."""
    file = texts / "speech.toml"
    file.write_text(CONFIGURATION.format(texts=texts.as_posix()), encoding="utf-8")
    return file


@pytest.fixture
def small(texts: Path) -> Configuration:
    """Make a run of ten steps without dropout."""
    return Configuration(
        DataSettings(str(texts), 300),
        TransformerConfig(vocab_size=300, n_layers=1, d_model=16, n_heads=2, context_length=16),
        TrainingSettings(
            steps=10,
            batch_size=4,
            learning_rate=1e-2,
            final_learning_rate=1e-3,
            warmup_steps=2,
            weight_decay=0.1,
            clip_norm=1.0,
            save_every=5,
            held_out_windows=8,
        ),
    )


def saved_step(folder: Path) -> int:
    """Read from the log how far a run has come."""
    try:
        return max((line.step for line in read_log(folder / "speech-log.csv")), default=0)
    except ValueError:
        return 0


def start(file: Path, folder: Path) -> multiprocessing.process.BaseProcess:
    """Start the command in a process of its own."""
    child = fork_server().Process(target=main, args=([str(file), "--output", str(folder)],))
    child.start()
    return child


@pytest.mark.thorough
def test_killed_at_random_it_ends_with_the_same_weights(file: Path, tmp_path: Path) -> None:
    left_alone = start(file, tmp_path / "left alone")
    folder, draw = tmp_path / "killed", random.Random(6)
    stopped_at = [0]
    for _ in range(6):
        child = start(file, folder)
        until = time.monotonic() + PATIENCE
        while saved_step(folder) == stopped_at[-1] and child.is_alive():
            assert time.monotonic() < until, f"no step is stored after {PATIENCE} s"
            time.sleep(0.001)
        time.sleep(draw.uniform(0, 0.02))  # in a step, in an evaluation, while writing: anywhere
        child.kill()
        child.join()
        if child.exitcode == 0:
            break  # it was faster than the signal
        assert child.exitcode == -signal.SIGKILL
        stopped_at.append(saved_step(folder))
    assert len(stopped_at) > 3, "it ended too early: give it more steps"
    assert stopped_at == sorted(stopped_at)
    assert stopped_at[-1] < 200
    for child in (left_alone, start(file, folder)):
        child.join()
        assert child.exitcode == 0

    alone = tmp_path / "left alone"
    assert_same_model(folder / "speech.safetensors", alone / "speech.safetensors")
    logs = [read_log(path / "speech-log.csv") for path in (alone, folder)]
    assert [line._replace(seconds=0) for line in logs[0]] == [
        line._replace(seconds=0) for line in logs[1]
    ]
    assert not list(folder.glob("*-state.pt*"))  # neither whole nor half


def assert_same_model(first: Path, second: Path) -> None:
    """Compare two models to the last bit, and what they say about themselves."""
    assert read_metadata(first) == read_metadata(second)
    models = [load_checkpoint(path).state_dict() for path in (first, second)]
    for name, weight in models[0].items():
        assert torch.equal(weight, models[1][name]), name


def test_killed_after_publishing_it_ends_again(
    small: Configuration, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(_: Path) -> None:
        raise SystemExit

    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", die)
        with pytest.raises(SystemExit):
            train(small, tmp_path, "speech")
    first = (tmp_path / "speech.safetensors").rename(tmp_path / "first.safetensors")
    log = read_log(tmp_path / "speech-log.csv")
    (tmp_path / "speech-log.csv").unlink()
    train(small, tmp_path, "speech")
    assert read_log(tmp_path / "speech-log.csv") == log  # the state has it, too
    assert_same_model(tmp_path / "speech.safetensors", first)
    assert not (tmp_path / "speech-state.pt").exists()


def test_model_knows_what_it_was_trained_on(
    small: Configuration, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = train(small, tmp_path, "speech")
    progress = r"10/10 \[\d\d:\d\d<\d\d:\d\d, .*step/s, loss \d\.\d{3}, [\d,]+ tokens/s\]"
    assert re.search(progress, capsys.readouterr().err)
    last = read_log(tmp_path / "speech-log.csv")[-1]
    metadata = read_metadata(path)
    assert metadata["training"] == small.to_dict()
    assert len(metadata["corpus_sha256"]) == 64
    text = (Path(small.data.texts) / "validation" / "speech.txt").read_text(encoding="utf-8")
    tokenizer = BytePairEncoding.load(tmp_path / "speech-bpe.json")
    stream = token_stream({"speech": text}, tokenizer)
    loss = held_out_loss(load_checkpoint(path), stream, tokenizer, windows=8)
    assert loss.nats_per_token == pytest.approx(last.validation_loss, abs=1e-5)
    assert loss.bits_per_character == pytest.approx(last.bits_per_character, abs=1e-5)
    assert metadata["validation_loss"] == pytest.approx(last.validation_loss, abs=1e-5)
    assert last.validation_loss < read_log(tmp_path / "speech-log.csv")[0].validation_loss
    with pytest.raises(ValueError, match="is a finished model; it is not overwritten"):
        train(small, tmp_path, "speech")


def weights(path: Path) -> torch.Tensor:
    """Join all weights of a saved model."""
    return weights_of(load_checkpoint(path))


def weights_of(model: Transformer) -> torch.Tensor:
    """Join all weights of a model."""
    return torch.cat([p.detach().flatten() for p in model.parameters()])


def test_a_run_is_the_textbooks_loop(small: Configuration, tmp_path: Path) -> None:
    settings = replace(
        small.training, clip_norm=0.3, weight_decay=0.5, beta1=0.8, beta2=0.9, seed=3
    )
    path = train(replace(small, training=settings), tmp_path, "m")
    tokens = read_corpus(small.data.texts, small.data.vocab_size).training
    torch.manual_seed(3)
    model = Transformer(small.model)
    optimizer = make_optimizer(model, betas=(0.8, 0.9), weight_decay=0.5)
    losses, lengths = [], []
    for step in range(10):
        rate = learning_rate(step, peak=1e-2, final=1e-3, warmup_steps=2, total_steps=10)
        for group in optimizer.param_groups:
            group["lr"] = rate
        batch = Batches(tokens, context_length=16, batch_size=4, seed=3).at(step)
        loss = cross_entropy(model(batch[:, :-1]).mT, batch[:, 1:])
        gradients = torch.autograd.grad(loss, list(model.parameters()))
        losses.append(loss.item())
        lengths.append(torch.cat([gradient.flatten() for gradient in gradients]).norm().item())
        for parameter, gradient in zip(model.parameters(), gradients, strict=True):
            parameter.grad = gradient * min(1, 0.3 / lengths[-1])
        optimizer.step()
    assert max(lengths) > 2 * 0.3  # some are clipped
    torch.testing.assert_close(
        weights(path), weights_of(model).half().float(), atol=2e-4, rtol=2e-3
    )
    log = read_log(tmp_path / "m-log.csv")
    means = [sum(losses[:5]) / 5, sum(losses[5:]) / 5]
    assert [line.train_loss for line in log] == pytest.approx(means, abs=2e-5)


@pytest.mark.parametrize("accumulate", [2, 4])
def test_accumulated_gradient_is_that_of_the_whole_batch(
    accumulate: int, small: Configuration, tmp_path: Path
) -> None:
    training = replace(small.training, accumulate=accumulate)
    whole = train(small, tmp_path / "whole", "m")
    parts = train(replace(small, training=training), tmp_path / "parts", "m")
    torch.testing.assert_close(weights(parts), weights(whole), atol=2e-4, rtol=2e-3)


def test_mixed_precision_learns_the_same(small: Configuration, tmp_path: Path) -> None:
    training = replace(small.training, precision="bfloat16")
    train(small, tmp_path / "single", "m")
    mixed = train(replace(small, training=training), tmp_path / "mixed", "m")
    losses = [read_log(tmp_path / kind / "m-log.csv")[-1] for kind in ("single", "mixed")]
    assert losses[0].train_loss != losses[1].train_loss  # it did calculate in another precision
    assert losses[0].validation_loss == pytest.approx(losses[1].validation_loss, abs=0.02)
    assert load_checkpoint(mixed).embed.weight.dtype == torch.float32


def interrupted_at(stop: int) -> Callable[..., Any]:
    """Make a step of the loop that the reader interrupts."""
    original = loop._Run.step

    def step(run: Any, number: int, *rest: Any) -> Any:
        if number == stop:
            raise KeyboardInterrupt
        return original(run, number, *rest)

    return step


@pytest.mark.thorough
def test_two_processes_continue_what_one_began(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = file.read_text(encoding="utf-8").replace("dropout = 0.1", "")
    text = text.replace("steps = 200", "steps = 10").replace("save_every = 2", "save_every = 5")
    shared = tmp_path / "speech.toml"
    shared.write_text(f"{text}accumulate = 2", encoding="utf-8")
    one = train(read_configuration(shared), tmp_path / "one", "speech")
    with monkeypatch.context() as patched:
        patched.setattr(loop._Run, "step", interrupted_at(7))
        assert main([str(shared), "--output", str(tmp_path / "two")]) == 130
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--nproc-per-node", "2", "-m", "primer.train", str(shared)]
    done = subprocess.run(
        [*command, "--output", str(tmp_path / "two")],
        capture_output=True,
        text=True,
        env=os.environ | {"CUDA_VISIBLE_DEVICES": ""},
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    two = tmp_path / "two" / "speech.safetensors"
    torch.testing.assert_close(weights(two), weights(one), atol=2e-4, rtol=2e-3)
    logs = [read_log(path.parent / "speech-log.csv") for path in (one, two)]
    for mine, theirs in zip(*logs, strict=True):
        assert mine.train_loss == pytest.approx(theirs.train_loss, abs=1e-4)
        assert mine.tokens == theirs.tokens
    said = re.findall(r"held-out loss (\d\.\d+) nats", done.stdout)  # once, and of the last step
    assert said == [f"{logs[1][-1].validation_loss:.4f}"]


@pytest.mark.thorough
def test_two_processes_are_killed_and_two_continue(file: Path, tmp_path: Path) -> None:
    text = file.read_text(encoding="utf-8").replace("dropout = 0.1", "")
    shared = tmp_path / "speech.toml"
    shared.write_text(f"{text}accumulate = 2", encoding="utf-8")
    one = train(read_configuration(shared), tmp_path / "one", "speech")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--nproc-per-node", "2", "-m", "primer.train", str(shared)]
    command += ["--output", str(tmp_path / "two")]
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": ""}
    started = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    until = time.monotonic() + PATIENCE
    while not saved_step(tmp_path / "two"):
        assert started.poll() is None, "it ended before a step was stored"
        assert time.monotonic() < until, f"no step is stored after {PATIENCE} s"
        time.sleep(0.001)
    for each in [*psutil.Process(started.pid).children(recursive=True), started]:
        each.kill()  # both, and what started them: alone they would go on
    started.wait()
    stopped_at = saved_step(tmp_path / "two")
    assert 0 < stopped_at < 200
    assert not (tmp_path / "two/speech.safetensors").exists()
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    logs = [read_log(tmp_path / name / "speech-log.csv") for name in ("one", "two")]
    assert [line.step for line in logs[0]] == [line.step for line in logs[1]]
    for mine, theirs in zip(*logs, strict=True):
        assert mine.tokens == theirs.tokens
        assert mine.train_loss == pytest.approx(theirs.train_loss, abs=1e-2)
    assert one.exists()
    assert (tmp_path / "two/speech.safetensors").exists()


# ── what the command says when it cannot do it ───────────────────────────────────────────────────


def complaint(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Run the command, which must fail, and return what it says."""
    assert main(arguments) == 1
    said = capsys.readouterr().err
    assert "Traceback" not in said
    return said


def test_command_without_a_configuration(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = complaint([str(tmp_path / "none.toml"), "--output", str(tmp_path / "out")], capsys)
    assert "no configuration file" in said
    assert not (tmp_path / "out").exists()


def test_command_without_texts(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lost = tmp_path / "lost.toml"
    text = file.read_text(encoding="utf-8").replace("texts = ", 'texts = "nowhere" #')
    lost.write_text(text, encoding="utf-8")
    said = complaint([str(lost), "--output", str(tmp_path / "out")], capsys)
    assert "there is no text file nowhere" in said


@pytest.mark.parametrize(
    ("part", "content", "sentence"),
    [
        ("training", b"to be \xff", "speech.txt is not UTF-8: invalid start byte at byte 6"),
        ("training", b"", "after 0 merges every word of the corpus is one token"),
        ("validation", b"to be", "held-out tokens do not fill one window of 16"),
    ],
)
def test_command_with_texts_of_no_use(
    part: str,
    content: bytes,
    sentence: str,
    texts: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(texts, tmp_path, dirs_exist_ok=True)
    (tmp_path / part / "speech.txt").write_bytes(content)
    file = tmp_path / "speech.toml"
    file.write_text(CONFIGURATION.format(texts=tmp_path.as_posix()), encoding="utf-8")
    assert sentence in complaint([str(file), "--output", str(tmp_path / "out")], capsys)
    assert list((tmp_path / "out").iterdir()) == []  # it was refused before the first step


def test_command_without_the_plays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("primer.datasets.FILE", tmp_path / "plays.zip")
    for read in (data._plays, datasets._files):
        read.cache_clear()  # another test may have read them
    said = complaint([str(PLAYS_2), "--output", str(tmp_path)], capsys)
    assert "there is no such file: install the library anew" in said


def test_command_with_a_state_of_another_run(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "speech-state.pt").write_bytes(b"a letter")
    said = complaint([str(file), "--output", str(tmp_path)], capsys)
    assert "is damaged and cannot be continued" in said
    assert (tmp_path / "speech-state.pt").read_bytes() == b"a letter"


@pytest.mark.parametrize(("steps", "save_every"), [(1, 1), (10, 1), (10, 10)])
def test_diverging_run_says_what_to_change(
    steps: int, save_every: int, small: Configuration, tmp_path: Path
) -> None:
    wild = replace(
        small.training, learning_rate=1e30, warmup_steps=0, steps=steps, save_every=save_every
    )
    with pytest.raises(ArithmeticError, match=r"loss became .* at step \d+; lower learning_rate"):
        train(replace(small, training=wild), tmp_path, "speech")
    assert not list(tmp_path.glob("*-state.pt"))  # broken weights are not worth continuing from


def test_processes_without_a_gpu_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 1)
    monkeypatch.setenv("LOCAL_RANK", "1")
    with pytest.raises(ValueError, match="this machine has 1: lower --nproc-per-node"):
        join_processes().__enter__()


def test_batch_that_processes_cannot_share(
    small: Configuration, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("primer.train.processes.distributed.init_process_group", lambda _: None)
    monkeypatch.setattr("primer.train.processes.distributed.get_rank", lambda: 0)
    monkeypatch.setattr("primer.train.processes.distributed.get_world_size", lambda: 3)
    monkeypatch.setattr("primer.train.processes.distributed.destroy_process_group", lambda: None)
    monkeypatch.setenv("WORLD_SIZE", "3")
    with pytest.raises(ValueError, match="4 sequences cannot be shared equally by 3 processes"):
        train(small, tmp_path, "speech")
