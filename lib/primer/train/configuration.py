"""What a training run is: the data, the model and the training, read from a small TOML file."""

from __future__ import annotations

import dataclasses
import difflib
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from primer.inputs import (
    checked,
    checked_fields,
    count,
    fraction,
    not_negative,
    one_of,
    positive,
    whole,
)
from primer.train.initialization import Initialization
from primer.train.phases import Phase
from primer.train.repetition import Repeats
from primer.train.schedule import check_schedule
from primer.transformers import TransformerConfig


@checked_fields
@dataclass(frozen=True)
class DataSettings:
    """The texts, and the size of the vocabulary they are cut into.

    Parameters
    ----------
    texts : str
        ``"plays"``, or a folder with the text files ``training/*.txt`` and ``validation/*.txt``.
    vocab_size : int
        Tokens of the byte-pair encoding that is trained on the training texts.
    """

    texts: str
    vocab_size: int


@checked_fields
@dataclass(frozen=True)
class TrainingSettings:
    """How the weights are found.

    Parameters
    ----------
    steps : int
        Updates of the weights.
    batch_size : int
        Sequences in one step, over all processes and all parts of an accumulated gradient.
    learning_rate : float
        The highest, reached at the end of the warm-up.
    final_learning_rate : float
        The lowest, reached at the last step.
    warmup_steps : int
        Steps in which the learning rate rises.
    weight_decay : float
        Share of each matrix that is taken away per step and unit of learning rate.
    clip_norm : float
        The longest gradient that is followed as it is.
    save_every : int
        Steps from one checkpoint, evaluation and line of the log to the next.
    held_out_windows : int
        Stretches of held-out text, each as long as the context, in one evaluation.
    beta1, beta2 : float
        How much AdamW remembers of the gradient and of its square.
    accumulate : int
        Parts in which a process works through its share of the batch: less memory, same gradient.
    precision : {"float32", "bfloat16"}
        The type in which matrices are multiplied; weights and their updates stay in float32.
    seed : int
        Decides the first weights, the order of the data and dropout.
    initialization : {"gpt-2", "fan-in"}
        How the first weights are drawn: see :func:`primer.train.initialize`.
    shared_vector : float
        The length of a random vector that all embeddings have in common at the start.
    repeated : float
        The share of sequences that repeat a segment of text, see :class:`RepeatingBatches`.
    repeats : {"text", "random", "both"}
        What the segment is made of.

    Raises
    ------
    ValueError
        When a number is out of range.
    """

    steps: int
    batch_size: int
    learning_rate: float
    final_learning_rate: float
    warmup_steps: int
    weight_decay: float
    clip_norm: float
    save_every: int
    held_out_windows: int
    beta1: float = 0.9
    beta2: float = 0.95
    accumulate: int = 1
    precision: Literal["float32", "bfloat16"] = "float32"
    seed: int = 0
    initialization: Initialization = "gpt-2"
    shared_vector: float = 0.0
    repeated: float = 0.0
    repeats: Repeats = "text"

    def __post_init__(self) -> None:
        for name in ("steps", "batch_size", "save_every", "held_out_windows", "accumulate"):
            count(name, getattr(self, name))
        positive("clip_norm", self.clip_norm)
        check_schedule(self.learning_rate, self.final_learning_rate, self.warmup_steps, self.steps)
        not_negative("weight_decay", self.weight_decay)
        not_negative("shared_vector", self.shared_vector)
        for name in ("beta1", "beta2"):
            fraction(name, getattr(self, name))
        if not 0 <= whole("seed", self.seed) < 1 << 32:  # with the step behind it, 64 bits are full
            raise ValueError(f"seed must lie between 0 and {(1 << 32) - 1}, got {self.seed}")


@checked_fields
@dataclass(frozen=True)
class Configuration:
    """The tables of a configuration file.

    Attributes
    ----------
    data : DataSettings
    model : TransformerConfig
        Its vocabulary is the one of ``data``.
    training : TrainingSettings
    phases : tuple of Phase
        What comes before the steps that ``training`` describes.

    Raises
    ------
    ValueError
        When a phase does not fit the model, or its batch cannot be divided.
    """

    data: DataSettings
    model: TransformerConfig
    training: TrainingSettings
    phases: tuple[Phase, ...] = ()

    def __post_init__(self) -> None:
        for phase in self.course:
            if phase.context_length > self.model.context_length:
                raise ValueError(
                    f"a phase reads {phase.context_length} tokens at a time and the model "
                    f"{self.model.context_length}: shorten its context_length"
                )
            if phase.batch_size % self.training.accumulate:
                raise ValueError(
                    f"a batch of {phase.batch_size} sequences cannot be worked through in "
                    f"{self.training.accumulate} equal parts; make batch_size a multiple of "
                    "accumulate"
                )

    @property
    def course(self) -> tuple[Phase, ...]:
        """All phases in their order; the last is the one that ``training`` describes."""
        training = self.training
        main = Phase(
            training.steps,
            self.model.context_length,
            training.batch_size,
            training.learning_rate,
            training.final_learning_rate,
            training.warmup_steps,
            training.weight_decay,
            self.model.dropout,
            training.repeated,
            training.repeats,
        )
        return (*self.phases, main)

    def to_dict(self) -> dict[str, Any]:
        """Return the tables as plain dictionaries."""
        return {
            "data": dataclasses.asdict(self.data),
            "model": self.model.to_dict(),
            "training": dataclasses.asdict(self.training),
            "phases": [dataclasses.asdict(phase) for phase in self.phases],
        }


@checked
def read_configuration(path: str | Path) -> Configuration:
    """Read a training run from a TOML file.

    Parameters
    ----------
    path : path
        The file, with tables ``[data]``, ``[model]`` and ``[training]``, and one ``[[phases]]``
        for each phase that comes before; ``plays-1.toml`` and ``plays-2.toml`` beside this module
        are commented examples.

    Returns
    -------
    Configuration
        Checked: every value has its type and lies in its range.

    Raises
    ------
    ValueError
        When there is no such file, it is not TOML, or a table or value is missing, unknown,
        of the wrong type or out of range.

    Examples
    --------
    >>> read_configuration(PLAYS_2).model.d_model
    128
    """
    path = Path(path)
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, IsADirectoryError) as error:
        raise ValueError(
            f"there is no configuration file {path}; {PLAYS_2} is an example"
        ) from error
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error}") from error
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not a TOML file: {error}") from error
    try:
        return parse_configuration(tables)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def parse_configuration(tables: dict[str, Any]) -> Configuration:
    """Check the tables of a configuration file; :func:`read_configuration` says what is asked."""
    names = [field.name for field in dataclasses.fields(Configuration)]
    _refuse_unknown("table", tables, names)
    for name in ("data", "model", "training"):
        if not isinstance(tables.get(name), dict):
            raise ValueError(f"the table [{name}] is missing")
    phases = tables.get("phases", [])
    if not (isinstance(phases, list) and all(isinstance(phase, dict) for phase in phases)):
        raise ValueError("each phase is a table [[phases]], in double brackets")
    data = _build(DataSettings, "data", tables["data"])
    if "vocab_size" in tables["model"]:
        raise ValueError("vocab_size stands in [data]; remove it from [model]")
    model = _build(TransformerConfig, "model", {**tables["model"], "vocab_size": data.vocab_size})
    training = _build(TrainingSettings, "training", tables["training"])
    before = tuple(_build(Phase, "[phases]", phase) for phase in phases)
    return Configuration(data, model, training, before)


def _build(kind: type[Any], table: str, values: dict[str, Any]) -> Any:
    """Make a dataclass of a table's values, after checking their names and types."""
    fields = {field.name: field for field in dataclasses.fields(kind)}
    _refuse_unknown(f"key in [{table}]", values, list(fields))
    types = get_type_hints(kind)
    for name, field in fields.items():
        if name in values:
            values = {**values, name: _convert(f"{name} in [{table}]", values[name], types[name])}
        elif field.default is dataclasses.MISSING:
            raise ValueError(f"{name} is missing in [{table}]")
    return kind(**values)


def _convert(name: str, value: Any, wanted: Any) -> Any:
    """Check one value against its annotation; an integer may stand for a float, nothing else."""
    if get_origin(wanted) is Literal:
        return one_of(name, value, get_args(wanted))
    if isinstance(value, int) and not isinstance(value, bool) and wanted is float:
        return float(value)
    allowed = [kind for kind in get_args(wanted) or (wanted,) if kind in (bool, int, float, str)]
    if allowed and type(value) not in allowed:
        kinds = " or ".join(kind.__name__ for kind in allowed)
        raise ValueError(f"{name} must be of type {kinds}, got {value!r}")
    return value


def _refuse_unknown(what: str, given: dict[str, Any], known: list[str]) -> None:
    """Raise on a name that means nothing, and guess what was meant."""
    for name in given:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            guess = f"did you mean {close[0]!r}?" if close else f"allowed are {', '.join(known)}"
            raise ValueError(f"unknown {what}: {name!r}; {guess}")


PLAYS_1 = Path(__file__).with_name("plays-1.toml")
"""The configuration of the first edition of the book's model."""

PLAYS_2 = Path(__file__).with_name("plays-2.toml")
"""The configuration of the second edition, which the chapters read."""
