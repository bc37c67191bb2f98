"""What the check of an exercise asks a reader's function, and with what it compares, as numbers.

``python tests/tools/asked.py`` writes what all checks ask now into ``tests/tools/asked.json``; look
at the difference before you commit it.  Of the arguments in each place of a call, over all calls of
a check, and of what is right and what known mistakes give, the file keeps how many numbers there
were and two sums: a plain one and a weighted one, so that neither a number nor their order changes
unseen.
"""

from __future__ import annotations

import functools
import importlib
import json
import pkgutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch

from primer import exercises
from primer.notebook import ChoiceExercise, NumberExercise
from primer.notebook.answers import explain

FILE = Path(__file__).with_suffix(".json")
DRAWS = np.random.default_rng
"""Without a seed a check asks something else each time: here it gets one."""
TOPICS = [module.name for module in pkgutil.iter_modules(exercises.__path__)]


def numbers(value: Any) -> Iterator[np.ndarray]:
    """Yield all numbers that an argument holds, in pieces; a text yields its length."""
    if isinstance(value, str):
        yield np.array([len(value)])
    elif isinstance(value, torch.Tensor):
        yield from numbers(value.detach().cpu().numpy())
    elif isinstance(value, np.ndarray):
        yield np.array(value.shape)
        flat = value.ravel()
        parts = [flat.real, flat.imag] if np.iscomplexobj(flat) else [flat]
        yield np.nan_to_num(np.concatenate(parts).astype(float), posinf=1e9, neginf=-1e9)
    elif isinstance(value, dict):
        yield from numbers([*value, *value.values()])
    elif isinstance(value, list | tuple | range):
        yield np.array([len(value)])
        for part in value:
            yield from numbers(part)
    elif isinstance(value, bool | int | float | complex | np.number | np.bool_):
        yield from numbers(np.array([value]))


class Witness:
    """Stands before a reader's function and notes what it is asked."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.places: dict[str, list[np.ndarray]] = {}

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Note the arguments and hand them on."""
        for place, value in {**dict(enumerate(arguments)), **named}.items():
            self.places.setdefault(str(place), []).extend(numbers(value))
        return self.function(*arguments, **named)


def described(places: dict[str, list[np.ndarray]]) -> dict[str, list[float]]:
    """Return for each place how many numbers there were, their sum and a weighted sum."""
    found = {}
    for place, seen in places.items():
        x = np.concatenate([[], *seen])
        sums = x.sum(), x @ np.cos(1 + np.arange(len(x)) % 1009)
        found[place] = [len(x), *(float(f"{total:.9g}") for total in sums)]
    return found


def first_answers() -> dict[str, tuple[Callable[[Any], None], Any]]:
    """Return for each check the first of its right answers, by the check's name."""
    found: dict[str, tuple[Callable[[Any], None], Any]] = {}
    for topic in TOPICS:
        checks = vars(importlib.import_module(f"primer.exercises.{topic}"))
        names = {id(check): name for name, check in checks.items() if name.startswith("check_")}
        for check, answer in importlib.import_module(f"answers.{topic}").RIGHT:
            found.setdefault(f"{topic}.{names[id(check)]}", (check, answer))
        found |= {
            f"{topic}.{name}": (checks[name], checks[name].right)
            for name in names.values()
            if isinstance(checks[name], NumberExercise | ChoiceExercise)
        }
    return found


def asked(check: Callable[[Any], None], answer: Any) -> dict[str, list[float]]:
    """Let a check ask a right answer; describe what it asks, or the numbers that it declares."""
    if isinstance(check, NumberExercise | ChoiceExercise):
        check(answer)
        plain = [value for value in vars(check).values() if isinstance(value, int | float)]
        wrong = check.wrong if isinstance(check, NumberExercise) else {}
        return described({"declared": [*numbers(plain), *numbers([*wrong])]})
    witness = Witness(answer)
    if callable(answer) and not isinstance(answer, type):
        functools.update_wrapper(witness, answer)

    def noted(got: Any, right: Any, mistakes: Any, otherwise: str | None = None) -> None:
        for place, said in {"right": right, "mistakes": [*mistakes.values()]}.items():
            witness.places.setdefault(place, []).extend(numbers(said))
        explain(got, right, mistakes, otherwise)

    with (
        mock.patch("numpy.random.default_rng", lambda seed=0: DRAWS(seed)),
        mock.patch.dict(vars(sys.modules[check.__module__]), explain=noted),
    ):
        check(witness if callable(answer) else answer)
    return described(witness.places)


def near(now: dict[str, list[float]], kept: dict[str, list[float]]) -> bool:
    """Say whether a check asks what it asked, but for what another machine rounds differently."""
    return now.keys() == kept.keys() and all(
        now[place][0] == kept[place][0]
        and np.allclose(now[place], kept[place], rtol=1e-4, atol=1e-5 * max(1, kept[place][0]))
        for place in kept
    )


def main() -> None:
    """Keep what all checks ask now."""
    found = {name: asked(*case) for name, case in first_answers().items()}
    lines = (f" {json.dumps(name)}: {json.dumps(places)}" for name, places in found.items())
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


if __name__ == "__main__":
    sys.path.append(str(FILE.parents[1] / "library"))  # where the answers are
    main()
