"""What the library takes where a caller says nothing: every default of every public function.

A default is a promise: chapters and readers rely on it.  ``python tests/tools/defaults.py`` writes
those of today into ``tests/tools/defaults.json``; look at the difference before you commit it.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import NoneType
from typing import Any

FILE = Path(__file__).with_suffix(".json")


def of(function: Callable[..., Any]) -> dict[str, str]:
    """Return the defaults of a function, or of the construction of a class, as they are written."""
    return {
        name: repr(parameter.default)
        for name, parameter in inspect.signature(function).parameters.items()
        if isinstance(parameter.default, bool | int | float | str | tuple | NoneType)
    }


def main() -> None:
    """Write the defaults of today."""
    from test_api import TOPICS, public

    found = {topic: {n: d for n, item in public(topic) if (d := of(item))} for topic in TOPICS}
    FILE.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    sys.path.append(str(FILE.parents[1] / "library"))  # where test_api is
    main()
