"""The state of an interrupted run: saved whole, and refused by a run it does not belong to."""

from __future__ import annotations

import io
import math
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from primer.saving import write_whole
from primer.train.configuration import Configuration
from primer.train.log import LogLine

FORMAT = "primer training state, version 2"
REMEMBERED = {"step", "exp_avg", "exp_avg_sq"}
"""What AdamW knows of a parameter."""


class Progress(NamedTuple):
    """How far a run has come.

    Attributes
    ----------
    step : int
        The number of the next step.
    log : list of LogLine
        What the log holds up to here.
    starts : tuple of int
        The first step of every phase that has begun.
    """

    step: int
    log: list[LogLine]
    starts: tuple[int, ...] = (0,)


def save_state(
    path: str | Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    progress: Progress,
    configuration: Configuration,
    corpus_hash: str,
) -> None:
    """Save everything from which a run continues as if it had never stopped.

    These are the weights, what the optimizer remembers, the step and the log.  The data, the
    learning rate and all random numbers are functions of the seed and the step, so they need no
    saving.  The file is replaced in one go: see :func:`primer.saving.write_whole`.

    Raises
    ------
    OSError
        When there is no room; an earlier state stays as it was.
    """
    write_state(
        path,
        FORMAT,
        model,
        optimizer,
        configuration=configuration.to_dict(),
        corpus_hash=corpus_hash,
        step=progress.step,
        log=[tuple(line) for line in progress.log],
        starts=progress.starts,
    )


def write_state(
    path: str | Path,
    form: str,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    **others: Any,
) -> None:
    """Write a model, its optimizer and what else a run knows, whole or not at all.

    Raises
    ------
    OSError
        When there is no room; an earlier state stays as it was.
    """
    content = io.BytesIO()
    states = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save({"format": form, **others, **states}, content)
    write_whole(path, content.getvalue())


def load_state(
    path: str | Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    configuration: Configuration,
    corpus_hash: str,
) -> Progress:
    """Put a model and its optimizer into the state in which a run was saved.

    Returns
    -------
    Progress
        Where to go on.

    Raises
    ------
    ValueError
        When the file is damaged, is no such state, was saved by a run with another configuration
        or other texts, or holds weights, memories or numbers that no such run has.
    """
    state = read_state(path, FORMAT)
    progress = _progress(path, state, configuration)
    differences = list(_differences(state["configuration"], configuration.to_dict()))
    if state["corpus_hash"] != corpus_hash:
        differences.append("other texts")
    if differences:
        raise ValueError(
            f"{path} belongs to another run ({'; '.join(differences)}); "
            "restore the configuration to continue that run, or start anew in another folder"
        )
    restore(path, state, model, optimizer)
    return progress


def read_state(path: str | Path, form: str) -> dict[str, Any]:
    """Read what :func:`write_state` wrote; every byte is checked against the file's checksums.

    Raises
    ------
    ValueError
        When the file is damaged or is no such state.
    """
    path = Path(path)
    try:
        with zipfile.ZipFile(path) as archive:
            damaged = archive.testzip()
        if damaged is not None:
            raise zipfile.BadZipFile(f"{damaged} does not match its checksum")
        state = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError as error:
        raise ValueError(f"there is no training state {path}") from error
    except (zipfile.BadZipFile, RuntimeError, EOFError, NotImplementedError) as error:
        raise ValueError(
            f"{path} is damaged and cannot be continued ({error}); delete it to start anew"
        ) from error
    except Exception as error:  # torch raises UnpicklingError and others on foreign content
        raise ValueError(f"{path} is not a training state of this package ({error})") from error
    if not (isinstance(state, dict) and state.get("format") == form):
        raise ValueError(f"{path} is not a training state of this package")
    return state


def restore(
    path: str | Path, state: dict[str, Any], model: nn.Module, optimizer: torch.optim.Optimizer
) -> None:
    """Give a model its weights and an optimizer its memory; settings stay those of the run.

    Raises
    ------
    ValueError
        When a weight or a memory is missing, superfluous, of another shape or not finite; model and
        optimizer are then as before.
    """
    own = model.state_dict()
    weights: Any = state.get("model")
    memory: Any = state.get("optimizer")
    memory = memory.get("state") if isinstance(memory, dict) else None
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    problem = ""
    if not isinstance(weights, dict) or weights.keys() != own.keys():
        problem = "its weights are not those of the model"
    elif not isinstance(memory, dict) or not set(memory) <= set(range(len(parameters))):
        problem = "its optimizer had other parameters"
    else:
        shapes = {f"the weight {name}": (weights[name], own[name].shape) for name in own}
        for number, entries in memory.items():
            if not isinstance(entries, dict) or entries.keys() != REMEMBERED:
                problem = f"of parameter {number} its optimizer remembers something else"
                break
            for name, value in entries.items():
                shape = torch.Size() if name == "step" else parameters[number].shape
                shapes[f"{name} of parameter {number}"] = (value, shape)
        for what, (value, shape) in shapes.items():
            problem = problem or _broken(what, value, shape)
    if problem:
        raise ValueError(f"{path} cannot be continued: {problem}; delete it to start anew")
    model.load_state_dict(weights)
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": memory, "param_groups": groups})


def _broken(what: str, value: Any, shape: torch.Size) -> str:
    """Say why a value is no tensor of numbers of a shape."""
    if not isinstance(value, Tensor) or value.layout != torch.strided or value.is_meta:
        return f"{what} is no tensor"
    if value.shape != shape:
        return f"{what} has shape {tuple(value.shape)} and not {tuple(shape)}"
    if not value.is_floating_point() or not value.isfinite().all():
        return f"{what} holds NaN, infinity or {value.dtype}"
    averaged_square = what.startswith(("step", "exp_avg_sq"))
    return f"{what} is negative" if averaged_square and (value < 0).any() else ""


def _progress(path: str | Path, state: dict[str, Any], configuration: Configuration) -> Progress:
    """Read how far a run had come, or say that no run comes to such a place."""
    try:
        list(_differences(state["configuration"], configuration.to_dict()))  # two that compare
        log = [LogLine(*line) for line in state["log"]]
        starts = tuple(state["starts"])
        steps = [0, *(line.step for line in log), state["step"]]
        whole = [*steps, *starts, *(line.tokens for line in log)]
        possible = (
            all(type(number) is int for number in whole)
            and all(type(number) in (int, float) for line in log for number in line)
            and all(math.isfinite(number) for line in log for number in line)
            and steps == sorted(steps)
            and [0, *starts] == sorted([0, *starts])
            and starts[0] == 0
            and starts[-1] <= state["step"]
            and len(starts) <= len(configuration.course)
            and state["step"] <= starts[-1] + configuration.course[len(starts) - 1].steps
            and bool(log or state["step"] == 0)
            and type(state["corpus_hash"]) is str
        )
    except (KeyError, TypeError, AttributeError, IndexError, OverflowError):
        possible = False
    if not possible:
        raise ValueError(
            f"{path} cannot be continued: its step, log or configuration are of no run; "
            "delete it to start anew"
        )
    return Progress(state["step"], log, starts)


def _differences(saved: dict[str, Any], wanted: dict[str, Any]) -> Any:
    """Name every setting in which two configurations differ."""
    saved, wanted = _by_table(saved), _by_table(wanted)
    for table in saved | wanted:
        before, now = saved.get(table, {}), wanted.get(table, {})
        for name in now | before:
            if before.get(name) != now.get(name):
                yield f"{name}{table} was {before.get(name)!r} and is now {now.get(name)!r}"


def _by_table(configuration: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Give every table a name that can be added to that of a setting; phases are numbered."""
    phases = enumerate(configuration["phases"], start=1)
    tables: dict[str, dict[str, Any]] = {"": {}}
    for name, table in configuration.items():
        if name != "phases":
            tables[""] |= table
    return tables | {f" of phase {number}": phase for number, phase in phases}
