"""Train a model from the command line: ``python -m primer.train CONFIGURATION``.

With several processes: ``torchrun --nproc-per-node 2 -m primer.train CONFIGURATION``.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from primer.train.configuration import PLAYS_2, read_configuration
from primer.train.log import read_log
from primer.train.loop import train


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m primer.train",
        description="Train a language model. Interrupted, the same command continues.",
    )
    parser.add_argument("configuration", type=Path, help=f"a TOML file, for example {PLAYS_2.name}")
    parser.add_argument(
        "--output", type=Path, help="folder for the model and its log (default: runs/NAME)"
    )
    options = parser.parse_args(arguments)
    name = options.configuration.stem
    folder = options.output or Path("runs") / name
    try:
        model = train(read_configuration(options.configuration), folder, name)
        last = read_log(folder / f"{name}-log.csv")[-1]
    except KeyboardInterrupt:
        print("\nstopped; the same command continues from the last saved step", file=sys.stderr)
        return 130
    except (ValueError, OSError, ArithmeticError, ModuleNotFoundError) as error:
        print(f"primer.train: {error}", file=sys.stderr)
        return 1
    if os.environ.get("RANK", "0") == "0":  # one of several processes speaks for all
        print(
            f"{model}: held-out loss {last.validation_loss:.4f} nats per token, "
            f"{last.bits_per_character:.4f} bits per character, "
            f"after {last.seconds / 60:.1f} minutes"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
