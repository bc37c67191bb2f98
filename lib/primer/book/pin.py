"""Write ``requirements.txt``: every package of a fresh install, pinned to what was installed.

The bounds stand in ``pyproject.toml``; this resolves them once, in an empty virtual environment, so
that everyone builds the book with the versions its numbers were checked with.

Run ``python -m primer.book.pin`` in the root of the book.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

TORCH = "torch==2.13.0"  # pinned before all others, so that nothing pulls in another build
HEADER = """\
# Every package the book is built and tested with. Made by `make pin`; the bounds stand in
# pyproject.toml. CUDA packages are never pinned: the book needs no GPU (README, "Install").
"""


def pinned(freeze: str) -> list[str]:
    r"""Turn ``pip freeze`` into pins that hold on every machine.

    Build tags (``+cpu``) go, and so do the packages that only torch's CUDA build needs.

    Examples
    --------
    >>> pinned("numpy==2.4.6\nnvidia-nccl-cu13==2.30\ntorch==2.13.0+cpu\n-e /home/me/primer")
    ['numpy==2.4.6', 'torch==2.13.0']
    """
    lines = [re.sub(r"\+[a-z0-9.]+$", "", line) for line in freeze.splitlines() if "==" in line]
    return sorted(
        (line for line in lines if not re.match(r"nvidia|triton|cuda|primer\b", line)),
        key=str.lower,
    )


def bounds() -> list[str]:
    """Return what ``pyproject.toml`` asks for, the optional groups included."""
    project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
    groups: dict[str, list[str]] = project["optional-dependencies"]
    return [*project["dependencies"], *(name for group in groups.values() for name in group)]


def main() -> int:
    """Install what the book needs into a new environment and freeze it."""
    with tempfile.TemporaryDirectory() as folder:
        print("Resolving in an empty environment (a few minutes) …", flush=True)
        venv.create(folder, with_pip=True)
        pip = [str(Path(folder) / "bin" / "pip"), "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "--quiet", TORCH], check=True)
        subprocess.run([*pip, "install", "--quiet", TORCH, *bounds()], check=True)
        freeze = subprocess.run(
            [*pip, "freeze", "--all"], check=True, capture_output=True, text=True
        ).stdout
    lines = [line for line in pinned(freeze) if not line.startswith("pip==")]
    Path("requirements.txt").write_text(HEADER + "\n".join(lines) + "\n")
    print(f"requirements.txt: {len(lines)} packages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
