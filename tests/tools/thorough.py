"""What is alike: `make test` looks at a few of a kind, `make thorough` at all others."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def a_few(names: Iterable[str], few: Collection[str]) -> list[Any]:
    """Return names as parameters of a test, all but a few of which only `make thorough` tries."""
    return [
        name if name in few else pytest.param(name, marks=pytest.mark.thorough) for name in names
    ]


WIDGETS_OF_ALL_KINDS = {"NormBall", "RopeRotation", "SamplingLaboratory", "ShannonGame"}
"""What is dragged, what is turned and plays, what draws by chance, and what a model answers."""
