"""List the studies, or train what is missing of one: ``python -m studies NAME [--jobs 2]``."""

from __future__ import annotations

import ast
import importlib
import sys
from pathlib import Path

from studies.study import Study

HERE = Path(__file__).parent


def names() -> dict[str, str]:
    """Return what is to be run, and the first line of what it says about itself."""
    found = {}
    for path in sorted(HERE.glob("*/[!_]*.py")):
        said = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
        found[f"{path.parent.name}.{path.stem}"] = said.partition("\n")[0]
    return found


def main(arguments: list[str]) -> None:
    """Run a study; without a name say which there are."""
    if not arguments or arguments[0] not in names():
        for name, said in names().items():
            print(f"{name:28} {said}")
        if arguments:
            sys.exit(f"there is no study {arguments[0]!r}; these are all")
        return
    module = importlib.import_module(f"studies.{arguments[0]}")  # by its name, as workers find it
    if hasattr(module, "main"):
        module.main(arguments[1:])
        return
    for study in [value for value in vars(module).values() if isinstance(value, Study)]:
        study.main(arguments[1:])


if __name__ == "__main__":
    main(sys.argv[1:])
