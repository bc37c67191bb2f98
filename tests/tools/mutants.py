"""Make small errors in the library and the widgets' scripts; tell which of them no test notices.

``python tests/tools/mutants.py`` makes a hundred in Python and a hundred in JavaScript.  It draws a
seed and prints it; ``--seed 17`` draws the same errors again, ``--number 20`` fewer, ``--only
python`` or ``--only javascript`` one half.  It works in a copy of the tree, in a temporary folder,
and keeps what it prints in :file:`_build/mutants.txt`.

The errors are those of :file:`mutate.py` and :file:`mutate.mjs`; what the tests of a file are, says
:file:`mutants_session.py`.  An error that changes nothing that a reader or a test could ever see is
*equivalent*: it stands in :file:`equivalent.toml`, with the reason.

Left out are ``press``, which makes the site and is tested by it, and the scripts that train
for hours.  The checks in the notebooks would notice more; they are slow and not asked.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import mutate
from mutants_session import OPTIONS
from mutate import Mutant

from press.workshop.node import find_node

ROOT = Path(__file__).parents[2]
LIBRARY = ("lib/primer", "lib/studies")
NOT = ("*/train_*.py", "*/__main__.py", "*/__init__.py")
"""Python files that are not changed."""
NOT_TRIED = ("tests/press", "tests/widgets/test_soak.py")
"""Tests of the site, which take long and see nothing of the library that others do not."""
STRUCK = 5
"""So many of a hundred may be equivalent."""
REPORT = Path("_build/mutants.txt")


class Trial(NamedTuple):
    """A mutant, where it stands, and what a reader of the list sees of it."""

    file: str
    mutant: Mutant
    before: str
    after: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.mutant.line}: {self.mutant.operator}"
        return f"{place}\n    {self.before}\n  → {self.after}"


def python_mutants(root: Path) -> dict[str, list[Mutant]]:
    """Return every mutant of the library and the studies, file by file."""
    files = sorted(path for name in LIBRARY for path in (root / name).rglob("*.py"))
    names = [path.relative_to(root) for path in files]
    chosen = [
        name
        for name in names
        if name.match("widgets/*/__init__.py") or not any(name.match(pattern) for pattern in NOT)
    ]
    return {name.as_posix(): [*mutate.mutants((root / name).read_text("utf-8"))] for name in chosen}


def javascript_mutants(root: Path) -> dict[str, list[Mutant]]:
    """Return every mutant of the widgets, file by file."""
    folder = root / "lib/primer/widgets"
    files = sorted(path for path in folder.glob("*/*.js") if path.parent.name != "static")
    names = [path.relative_to(root).as_posix() for path in files]
    command = [find_node(), "tests/tools/mutate.mjs", *names]
    found = subprocess.run(command, cwd=root, check=True, capture_output=True, encoding="utf-8")
    return {name: [Mutant(*m) for m in all_] for name, all_ in json.loads(found.stdout).items()}


def sample(root: Path, mutants: dict[str, list[Mutant]], number: int, seed: int) -> list[Trial]:
    """Draw places by chance, and for each one of the errors that can be made there."""
    places: dict[tuple[str, int, int], list[Mutant]] = {}
    for name, found in mutants.items():
        for mutant in found:
            places.setdefault((name, mutant.start, mutant.end), []).append(mutant)
    draw = random.Random(seed)
    chosen = draw.sample(sorted(places), min(number, len(places)))
    return [trial(root, place[0], draw.choice(places[place])) for place in chosen]


def trial(root: Path, name: str, mutant: Mutant) -> Trial:
    """Show the lines of a mutant as they are and as they become."""
    source = (root / name).read_bytes()
    first = source.rfind(b"\n", 0, mutant.start) + 1
    last = source.find(b"\n", mutant.end)
    before = source[first:last].decode()
    after = (
        source[first : mutant.start] + mutant.new.encode() + source[mutant.end : last]
    ).decode()
    return Trial(name, mutant, *(" ".join(text.split()) for text in (before, after)))


def equivalents() -> set[tuple[str, str, str]]:
    """Return the mutants that make no difference: file, before, after."""
    table = tomllib.loads(Path(__file__).with_name("equivalent.toml").read_text("utf-8"))
    return {(e["file"], e["before"], e["after"]) for e in table.get("equivalent", [])}


def copy(root: Path, folder: Path) -> None:
    """Copy what is under version control or could be, and link what is installed."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, check=True, capture_output=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        if (root / name).is_file() and not (root / name).is_symlink():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / name, folder / name)
    for name in (".venv", "node_modules"):
        if not (folder / name).exists():
            (folder / name).symlink_to((root / name).resolve())


def judge(folder: Path, trials: list[Trial], said: Any) -> list[dict[str, Any]]:
    """Try mutants in a copy of the tree; tell how it goes."""
    given, results = folder / "sample.json", folder / "results.txt"
    entries = [{"file": one.file, "mutant": one.mutant} for one in trials]
    given.write_text(json.dumps(entries), "utf-8")
    results.write_text("")
    library = [
        f"{folder}/{path}"
        for path in ("lib", "packages/sphinx-widget-host/src", "tests/tools", "tests/library")
    ]
    own = {"MUTANTS_SAMPLE": str(given), "MUTANTS_RESULTS": str(results), "OMP_NUM_THREADS": "1"}
    environment = {**os.environ, **own, "PYTHONPATH": os.pathsep.join(library)}
    ignored = [f"--ignore={path}" for path in NOT_TRIED if (folder / path).exists()]
    command = [sys.executable, "-m", "pytest", *OPTIONS, *ignored]
    command += ["tests", *(name for name in LIBRARY if (folder / name).is_dir())]
    began = time.monotonic()
    with (folder / "log.txt").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
    told = 0
    while True:
        ended = process.poll() is not None
        records = [json.loads(line) for line in results.read_text("utf-8").splitlines()]
        if len(records) > told:
            for one, record in zip(trials[told:], records[told:], strict=False):
                if record["verdict"] == "survived":
                    said(str(one))
            told = len(records)
            alive = sum(record["verdict"] == "survived" for record in records)
            minutes = (time.monotonic() - began) / 60
            said(f"{told} of {len(trials)}, {alive} survived, {minutes:.0f} min")
        if ended:
            break
        time.sleep(2)
    if len(records) < len(trials):
        raise RuntimeError("pytest ended early:\n" + (folder / "log.txt").read_text()[-3000:])
    return records


def main() -> int:
    """Draw, try and tell."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--number", type=int, default=100)
    parser.add_argument("--only", choices=["python", "javascript"])
    given = parser.parse_args()
    REPORT.parent.mkdir(exist_ok=True)
    with REPORT.open("a", encoding="utf-8") as report:

        def say(line: str) -> None:
            print(line, flush=True)
            print(line, file=report, flush=True)

        say(f"seed {given.seed}: `make mutants SEED={given.seed}` tries it again")
        for kind, find in {"python": python_mutants, "javascript": javascript_mutants}.items():
            if given.only in (None, kind):
                trials = sample(ROOT, find(ROOT), given.number, given.seed)
                say(f"\n{kind}: {len(trials)} mutants")
                with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
                    copy(ROOT, Path(folder))
                    tell(kind, trials, judge(Path(folder), trials, say), say)
    return 0


def tell(kind: str, trials: list[Trial], records: list[dict[str, Any]], said: Any) -> None:
    """Print what survived, without the equivalent ones, of which there may be five in a hundred."""
    known = equivalents()
    alive = [one for one, r in zip(trials, records, strict=True) if r["verdict"] == "survived"]
    same = [one for one in alive if (one.file, one.before, one.after) in known]
    struck = same[: len(trials) * STRUCK // 100]
    left = [one for one in alive if one not in struck]
    hung = sum(record["verdict"] == "timeout" for record in records)
    said(
        f"\n{kind}: {len(left)} of {len(trials) - len(struck)} survived"
        f" ({len(struck)} equivalent ones struck, {hung} hung and count as noticed)"
    )
    for one in left:
        said(str(one))


if __name__ == "__main__":
    sys.exit(main())
