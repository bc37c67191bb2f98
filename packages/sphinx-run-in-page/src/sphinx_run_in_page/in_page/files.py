"""Files of the book that the page loads when code opens them: tables, texts, weights of models.

An empty file stands in the place of each, so that who looks finds it.  Opening it stops the cell;
the page loads the pack that has the file, and the cell begins again.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from sphinx_run_in_page.in_page.absent import Awaited

SITE = Path(__file__).parents[2]
"""Where packs are unpacked."""


class LateFiles:
    """The files that are not there yet.

    Parameters
    ----------
    packs : mapping
        The pack that brings a file, by its path in the packs.
    packages : collection of str
        Packages at the top level that packs bring.  A folder of one is made by its pack alone:
        Python would take an empty folder for the package.
    site : Path
        Where the packs are unpacked.
    """

    def __init__(
        self, packs: Mapping[str, str], packages: Collection[str], site: Path = SITE
    ) -> None:
        self.site, self.packages = site, packages
        self.unmade = dict(packs)
        self.waiting: dict[str, str] = {}  # where an empty file stands -> the pack
        self.lay()
        sys.addaudithook(self._opens)

    def lay(self) -> None:
        """Lay an empty file wherever one can stand by now."""
        for name, pack in list(self.unmade.items()):
            path, top = self.site / name, name.split("/")[0]
            if top in self.packages and not (self.site / top / "__init__.py").is_file():
                continue
            del self.unmade[name]
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()
                self.waiting[str(path)] = pack

    def arrived(self, pack: str) -> None:
        """Open the files of a pack from now on."""
        self.unmade = {name: one for name, one in self.unmade.items() if one != pack}
        self.waiting = {name: one for name, one in self.waiting.items() if one != pack}
        self.lay()

    def _opens(self, event: str, given: tuple[Any, ...]) -> None:
        """Stop who opens a file that is still to come."""
        if event == "open" and self.waiting and isinstance(given[0], str | os.PathLike):
            pack = self.waiting.get(os.path.abspath(given[0]))
            if pack:
                raise Awaited(pack)
