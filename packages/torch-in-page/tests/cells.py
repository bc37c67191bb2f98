"""Run a notebook's cells with the substitute in place of torch, and compare with what is stored.

``python cells.py NOTEBOOK SECONDS`` runs in a process whose ``PYTHONPATH`` begins with a folder
that ``python -m torch_in_page`` wrote.  All cells run in order, so that the global generator stands
where it stood in the notebook; it prints one line of JSON for each: what kind, how it went, how
long it took.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from pathlib import Path
from typing import Any

MEASURED = re.compile(r"(?m)^~ .*$")
ADDRESS = re.compile(r"0x[0-9a-fA-F]+")


class TooLong(BaseException):
    """A cell that takes longer than it may."""


def plain(text: str) -> str:
    """Return a text without what differs between machines."""
    return ADDRESS.sub("0x", MEASURED.sub("~", text)).strip()


def stored(cell: dict[str, Any]) -> str:
    """Return the text that a notebook keeps of a cell's output."""
    texts = []
    for output in cell["outputs"]:
        if output["output_type"] == "stream":
            texts.append("".join(output["text"]))
        elif output["output_type"] == "execute_result":
            texts.append("".join(output["data"].get("text/plain", "")))
    return plain("\n".join(texts))


def run(notebook: Path, seconds: int) -> None:
    """Run all cells and print how each went."""
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    shell = InteractiveShell.instance(cache_size=0)

    def late(*_: Any) -> None:
        raise TooLong

    signal.signal(signal.SIGALRM, late)
    os.chdir(notebook.parent)
    for number, cell in enumerate(json.loads(notebook.read_text())["cells"]):
        if cell["cell_type"] != "code":
            continue
        tags = cell["metadata"].get("tags", [])
        kind = next((tag for tag in tags if tag != "draws"), "learner")
        start, error = time.perf_counter(), ""
        signal.alarm(seconds)
        try:
            with capture_output() as seen:
                result = shell.run_cell("".join(cell["source"]))
            failed = result.error_before_exec or result.error_in_exec
            error = f"{type(failed).__name__}: {failed}" if failed else ""
        except TooLong:
            error = "TooLong"
        finally:
            signal.alarm(0)
        shown = [seen.stdout] + [
            out.data["text/plain"]
            for out in seen.outputs
            if "text/plain" in out.data and out.data["text/plain"] and len(out.data) == 1
        ]
        text = plain("\n".join(part for part in shown if part.strip()))
        wanted = stored(cell)
        print(
            json.dumps(
                {
                    "cell": number,
                    "id": cell.get("id"),
                    "kind": kind,
                    "error": error[:300],
                    "same": text == wanted,
                    "seconds": round(time.perf_counter() - start, 2),
                    "text": "" if text == wanted else text[:1500],
                    "stored": "" if text == wanted else wanted[:1500],
                }
            ),
            file=REAL,
            flush=True,
        )


if __name__ == "__main__":
    REAL = os.fdopen(os.dup(1), "w")
    run(Path(sys.argv[1]).resolve(), int(sys.argv[2]))
