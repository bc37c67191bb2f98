r"""Labels that nobody annotated: names in stage directions, which the plays set in capitals."""

from __future__ import annotations

import re
from typing import NamedTuple

from primer.inputs import checked

DIRECTION = re.compile(r"_((?:[^_\n]|\n(?!\s*\n))+)_")
"""Between two underscores, over no empty line: a direction that is never closed ends nowhere."""
WORD = re.compile(r"[A-Za-z]+(?:['’-][A-Za-z]+)*")


class Direction(NamedTuple):
    """A stage direction.

    Attributes
    ----------
    words : list of str
        In lower case: capitals would give the names away.
    names : list of bool
        Whether each word is part of a name.
    """

    words: list[str]
    names: list[bool]


@checked
def stage_directions(markdown: str) -> list[Direction]:
    """Read the stage directions of a play, and mark the names in them.

    A word of at least two letters, all of them capitals, is part of a name.

    Parameters
    ----------
    markdown : str
        A play, from :func:`primer.datasets.plays_in_markdown`.

    Returns
    -------
    list of Direction
        In the order of the play.

    Examples
    --------
    >>> stage_directions("_Exeunt KING CLAUDIUS and a Lord_")[0].names
    [False, True, True, False, False, False]
    """
    found = []
    for match in DIRECTION.finditer(markdown):
        words = WORD.findall(match[1])
        if words:
            names = [len(word) > 1 and word.upper() == word for word in words]
            found.append(Direction([word.lower() for word in words], names))
    return found
