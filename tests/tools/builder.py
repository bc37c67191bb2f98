"""Builds books, each in a process forked from this one: importing Sphinx takes as long as a build.

For each line, the folder of a book, it answers with a line of JSON: exit status, output, errors.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import tempfile
from pathlib import Path

import sample_exercises
import yaml
from sphinx.application import builtin_extensions

COMMAND = ["build", "-W", "-n", "--keep-going", "--quiet", "."]
CONFIG = Path(__file__).parents[2] / "_config.yml"


def build(folder: str) -> None:
    """Build a book as `make book` does: a warning is an error; the process ends with it."""
    from jupyter_book.cli.main import main  # imported before; it warns, which a test may not

    os.chdir(folder)
    main(COMMAND)


if __name__ == "__main__":
    sys.modules["primer.exercises.sample"] = sample_exercises
    config = yaml.safe_load(CONFIG.read_text("utf-8"))["sphinx"]["config"]
    for name in ["jupyter_book.cli.main", *builtin_extensions, *config["extensions"]]:
        importlib.import_module(name)
    for line in sys.stdin:
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            child = os.fork()
            if child == 0:
                os.dup2(output.fileno(), 1)
                os.dup2(errors.fileno(), 2)
                build(line.rstrip("\n"))
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            said = []
            for file in (output, errors):
                file.seek(0)
                said.append(file.read().decode())
            print(json.dumps([status, *said]), flush=True)
