"""Bundle the widgets' modules and styles into ``primer/widgets/static``: ``make widgets``.

The bundles are committed, so that the library, JupyterLab and a downloaded copy need no Node; a
test says when they are not current.  What joins them is esbuild, in :file:`bundle.mjs`.

Run ``python -m press.workshop.bundle`` to write them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from press.workshop.node import find_node

WIDGETS = Path(__file__).parents[2] / "primer" / "widgets"
STATIC = WIDGETS / "static"
ROOT = Path(__file__).parents[3]


def bundles(folder: Path = WIDGETS) -> dict[str, str]:
    """Bundle the kit and every widget of a folder.

    Parameters
    ----------
    folder : Path
        Where the modules stand; a widget is a module with a Python file of its name.

    Returns
    -------
    dict
        The texts by the names of their files: ``"kit.js"``, ``"rope.js"``, ``"rope.css"``, …

    Raises
    ------
    ValueError
        When a module cannot be bundled, with file, line and reason; or when esbuild is missing.
    """
    if not (ROOT / "node_modules" / "esbuild").exists():
        raise ValueError("esbuild is not installed: run `make book` or `npm ci`")
    script = Path(__file__).with_name("bundle.mjs")
    run = subprocess.run(
        [find_node(), str(script), str(folder)], cwd=ROOT, capture_output=True, encoding="utf-8"
    )
    if run.returncode:
        raise ValueError(run.stderr.strip())
    found: dict[str, str] = json.loads(run.stdout)
    return found


def stale(folder: Path = STATIC, wanted: dict[str, str] | None = None) -> list[str]:
    """Name the bundles that are not what their sources make, too many or missing."""
    wanted = bundles() if wanted is None else wanted
    present = {path.name: path.read_text("utf-8") for path in folder.glob("*")}
    return sorted(name for name in {*wanted, *present} if wanted.get(name) != present.get(name))


def write_bundles(wanted: dict[str, str]) -> list[str]:
    """Write the bundles that have changed, take away what is none, and name what changed."""
    changed = stale(STATIC, wanted)
    STATIC.mkdir(exist_ok=True)
    for name in changed:
        if name in wanted:
            (STATIC / name).write_text(wanted[name], "utf-8")
        else:
            (STATIC / name).unlink()
    return changed


def main() -> int:
    """Bundle everything and say what changed."""
    try:
        changed = write_bundles(bundles())
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    for name in changed:
        print(f"wrote {(STATIC / name).relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
