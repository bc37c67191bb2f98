"""A book's notebooks run with the substitute in place of torch, and print what they store.

``CELLS`` names notebooks, separated as in ``PATH``; without it those of the book around this folder
are taken.  It takes minutes a notebook: ``pytest -m thorough tests/test_cells.py``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from torch_in_page.__main__ import write

RUNNER = Path(__file__).with_name("cells.py")
BOOK = Path(__file__).parents[3]
GIVEN = os.environ.get("CELLS", "")
NOTEBOOKS = [Path(name) for name in GIVEN.split(os.pathsep) if name] or sorted(
    path for path in (BOOK / "chapters").glob("*.ipynb") if "torch" in path.read_text("utf-8")
)
SECONDS = 20  # what a cell may take; in a page it would be several times as long
SHARE = 0.75
"""How many of a notebook's learner's cells must print exactly what is stored."""


@pytest.mark.thorough
@pytest.mark.skipif(not NOTEBOOKS, reason="no notebook around this folder imports torch")
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_learners_cells_print_what_is_stored(notebook: Path, tmp_path: Path) -> None:
    write(tmp_path)
    path = os.pathsep.join([str(tmp_path), str(BOOK / "lib")])
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", RUNNER, notebook, str(SECONDS)],
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    cells = [json.loads(line) for line in ran.stdout.splitlines()]
    assert cells, ran.stderr
    learners = [cell for cell in cells if cell["kind"] == "learner"]
    good = [cell for cell in learners if cell["same"] and not cell["error"]]
    other = [
        f"cell {cell['cell']}: {cell['error'] or 'other text: ' + cell['text'][:100]}"
        for cell in learners
        if cell not in good
    ]
    print(f"{notebook.stem}: {len(good)} of {len(learners)} learner's cells print what is stored")
    assert len(good) >= SHARE * len(learners), "\n".join(other)
