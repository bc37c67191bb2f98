"""``runnable-primer lab``: the chapters in JupyterLab, wherever the library was installed.

A wheel carries the chapters beside the library.  They are copied into a folder of the reader's,
where they can be changed and run, and a copy that is there is never written over.  In a checkout of
the book ``make lab`` opens the chapters themselves.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

NAME = "runnable-primer"
SHARE = PurePosixPath("share", NAME)
"""Where the wheel has the chapters, and how JupyterLab is set for them, below Python's prefix."""


def share() -> Path:
    """Find the folder of the installed chapters.

    Returns
    -------
    Path
        The folder with ``chapters`` and ``lab`` in it.

    Raises
    ------
    FileNotFoundError
        When the library was installed without them: in a checkout, or from parts of a wheel.
    """
    try:
        distribution = importlib.metadata.distribution(NAME)
    except importlib.metadata.PackageNotFoundError:
        raise FileNotFoundError(
            f"{NAME} is not installed here; `python -m pip install '{NAME}[lab]'` brings it"
        ) from None
    origin = json.loads(distribution.read_text("direct_url.json") or "{}")
    if origin.get("dir_info", {}).get("editable"):
        raise FileNotFoundError(
            "the library is used from a checkout of the book, whose chapters need no copy: "
            "`make lab` opens them there"
        )
    for file in distribution.files or ():
        place = Path(str(file.locate()))
        if place.parts[-4:-1] == (*SHARE.parts, "chapters") and place.is_file():
            return place.resolve().parents[1]
    raise FileNotFoundError(
        f"{NAME} is installed here without its chapters; install the whole wheel: "
        f"`python -m pip install --force-reinstall --no-deps {NAME}`"
    )


def lay_out(chapters: Path, folder: Path) -> list[Path]:
    """Copy the chapters into a folder and leave alone what is there.

    Parameters
    ----------
    chapters : Path
        Where they are installed.
    folder : Path
        The reader's folder; it is made where there is none.

    Returns
    -------
    list of Path
        The files that are there already and differ, the reader's or those of another version, by
        their paths within the folder.

    Raises
    ------
    OSError
        When the folder is a file, or cannot be written.
    """
    kept = []
    for source in sorted(path for path in chapters.rglob("*") if path.is_file()):
        name = source.relative_to(chapters)
        copy = folder / name
        if not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy)
        elif copy.read_bytes() != source.read_bytes():
            kept.append(name)
    return kept


def main(words: Sequence[str] | None = None) -> int:
    """Run the command; what follows ``--`` is for JupyterLab.

    Parameters
    ----------
    words : sequence of str, optional
        The words after the command's name; those it was called with when left out.

    Returns
    -------
    int
        What JupyterLab ends with; 1 where it could not begin, with a sentence on the error stream.
    """
    parser = argparse.ArgumentParser(prog=NAME, description="A Runnable Primer, on your machine.")
    commands = parser.add_subparsers(dest="command", required=True)
    lab = commands.add_parser(
        "lab",
        help="copy the chapters into a folder and open them",
        epilog=f"What follows -- is for JupyterLab: {NAME} lab -- --no-browser",
    )
    lab.add_argument("folder", nargs="?", type=Path, default=Path(NAME), help=f"default: {NAME}")
    words = list(sys.argv[1:] if words is None else words)
    end = words.index("--") if "--" in words else len(words)
    given = parser.parse_args(words[:end])
    try:
        installed = share()
        if importlib.util.find_spec("jupyterlab") is None:
            raise FileNotFoundError(
                f"JupyterLab is not installed here; `python -m pip install '{NAME}[lab]'` brings it"
            )
        kept = lay_out(installed / "chapters", given.folder)
    except OSError as error:
        print(f"{NAME}: {error}", file=sys.stderr)
        return 1
    print(f"The chapters stand in {given.folder.resolve()}.")
    if kept:
        print(
            f"Left alone there, for it is not as installed: {', '.join(map(str, kept))}. "
            f"Another folder gets new copies: {NAME} lab another-folder"
        )
    settings = f"--LabApp.app_settings_dir={installed / 'lab'}"
    return subprocess.call(
        [sys.executable, "-m", "jupyterlab", str(given.folder), settings, *words[end + 1 :]]
    )


if __name__ == "__main__":  # where the command's own folder is on no path, as often on Windows
    sys.exit(main())
