"""Write the folders that a page's Python imports: ``python -m torch_in_page FOLDER``.

The folder gets ``torch``, which is this package under the name that chapters import, and
``safetensors``, which reads and writes its files.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

_LEFT_OUT = shutil.ignore_patterns("__pycache__", "beside", "__main__.py", "py.typed")


def write(folder: Path) -> list[Path]:
    """Write the packages into a folder, and return where they stand.

    Parameters
    ----------
    folder : Path
        Where ``torch`` and ``safetensors`` shall be; what is there under these names is replaced.
    """
    here = Path(__file__).parent
    found = [(here, folder / "torch")]
    found += [
        (part, folder / part.name) for part in sorted((here / "beside").iterdir()) if part.is_dir()
    ]
    found = [(source, target) for source, target in found if source.name != "__pycache__"]
    for source, target in found:
        if target.exists():
            shutil.rmtree(target)
        shutil.copytree(source, target, ignore=_LEFT_OUT)
    return [target for _, target in found]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(
            "python -m torch_in_page FOLDER writes torch and safetensors for a page there"
        )
    for written in write(Path(sys.argv[1])):
        print(written)
