"""Which files of two builds differ: none should, when both were made from the same sources.

Run ``python tests/tools/same.py one/_build/html other/_build/html``.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterator
from pathlib import Path

MAY_DIFFER: dict[str, str] = {}
"""What of a site may differ from build to build, and why."""


def files(site: Path) -> dict[str, Path]:
    """Return the files of a site by name."""
    found = (path for path in site.rglob("*") if path.is_file())
    return {path.relative_to(site).as_posix(): path for path in sorted(found)}


def differences(one: Path, other: Path) -> Iterator[str]:
    """Say, a sentence for each file, what differs between two sites."""
    first, second = files(one), files(other)
    for name in sorted(first.keys() ^ second.keys()):
        yield f"{name} is only in {one if name in first else other}"
    for name in sorted(first.keys() & second.keys() - MAY_DIFFER.keys()):
        left, right = first[name].read_bytes(), second[name].read_bytes()
        if left != right:
            yield f"{name}: {first_difference(left, right)}"


def first_difference(left: bytes, right: bytes) -> str:
    """Show where two contents begin to differ."""
    place = next(
        (k for k, (a, b) in enumerate(zip(left, right, strict=False)) if a != b),
        min(len(left), len(right)),
    )
    around = slice(max(0, place - 60), place + 60)
    shown = [text[around].decode("utf-8", "replace") for text in (left, right)]
    return "\n".join([f"at byte {place}", *difflib.ndiff(*([line] for line in shown))])


if __name__ == "__main__":
    found = list(differences(*map(Path, sys.argv[1:3])))
    print(*found, f"{len(found)} files differ", sep="\n")
    sys.exit(bool(found))
