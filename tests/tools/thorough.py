"""What is alike: `make test` looks at a few of a kind, `make thorough` at all others."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, TypeVar

import pytest

One = TypeVar("One", str, tuple[str, ...])


def a_few(names: Iterable[One], few: Collection[One]) -> list[Any]:
    """Return names as parameters of a test, all but a few of which only `make thorough` tries."""
    return [
        name
        if name in few
        else pytest.param(*([name] if isinstance(name, str) else name), marks=pytest.mark.thorough)
        for name in names
    ]


WIDGETS_OF_ALL_KINDS = {"NormBall", "RopeRotation", "SamplingLaboratory", "ShannonGame"}
"""What is dragged, what is turned and plays, what draws by chance, and what a model answers."""

_AT_LENGTH = pytest.mark.thorough
WIDTHS = [390, pytest.param(1400, marks=_AT_LENGTH)]
COLUMNS = [390, pytest.param(800, marks=_AT_LENGTH)]
"""Of a telephone, where room is scarce; the second is that of all tests that name no width."""
