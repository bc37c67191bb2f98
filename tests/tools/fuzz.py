"""Try other random numbers than `make test` does: all properties and simulations, seed by seed.

``python tests/tools/fuzz.py`` draws five seeds and prints them; ``python tests/tools/fuzz.py 17
42`` (``make fuzz SEEDS="17 42"``) tries these again.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

HOW_MANY = 5
TOOLS = Path(__file__).parent


def run(seed: int) -> bool:
    """Try one seed; say whether everything held."""
    print(f'\nseed {seed}: `make fuzz SEEDS="{seed}"` tries it again', flush=True)
    command = [sys.executable, "-m", "pytest", "-p", "typed"]
    command += ["--numprocesses=auto", "--dist=worksteal"]
    options = [
        "-m",
        "hypothesis or seeds",
        "--hypothesis-profile=fuzz",
        f"--hypothesis-seed={seed}",
    ]
    environment = {**os.environ, "PRIMER_SEED": str(seed), "PYTHONPATH": str(TOOLS)}
    return subprocess.run([*command, *options, "tests"], env=environment).returncode == 0


def main() -> int:
    """Try the seeds of the command line, or fresh ones."""
    try:
        seeds = [int(word) for word in sys.argv[1:]]
    except ValueError:
        print(f"seeds are whole numbers, not {' '.join(sys.argv[1:])!r}", file=sys.stderr)
        return 2
    failed = [seed for seed in seeds or random.sample(range(10**6), HOW_MANY) if not run(seed)]
    if failed:
        again = " ".join(map(str, failed))
        print(f'\nA test failed with {again}: `make fuzz SEEDS="{again}"`', file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
