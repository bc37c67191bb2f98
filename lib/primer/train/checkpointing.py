"""The state of an interrupted run: saved whole, and refused by a run it does not belong to."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

from primer.saving import write_whole
from primer.train.configuration import Configuration
from primer.train.log import LogLine

FORMAT = "primer training state, version 2"


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
    content = io.BytesIO()
    state = {
        "format": FORMAT,
        "configuration": configuration.to_dict(),
        "corpus_hash": corpus_hash,
        "step": progress.step,
        "log": [tuple(line) for line in progress.log],
        "starts": progress.starts,
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
    }
    torch.save(state, content)
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
        When the file is damaged, is no such state, or was saved by a run with another configuration
        or other texts.
    """
    state = _read(Path(path))
    differences = list(_differences(state["configuration"], configuration.to_dict()))
    if state["corpus_hash"] != corpus_hash:
        differences.append("other texts")
    if differences:
        raise ValueError(
            f"{path} belongs to another run ({'; '.join(differences)}); "
            "restore the configuration to continue that run, or start anew in another folder"
        )
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    log = [LogLine(*line) for line in state["log"]]
    return Progress(state["step"], log, tuple(state["starts"]))


def _read(path: Path) -> dict[str, Any]:
    """Read the file; every byte of it is checked against the checksums that it holds."""
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
    if not (isinstance(state, dict) and state.get("format") == FORMAT):
        raise ValueError(f"{path} is not a training state of this package")
    return state


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
