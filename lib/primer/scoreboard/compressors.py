"""Programs that compress files, as models: how many bytes a scene adds to what precedes it."""

from __future__ import annotations

import bz2
import lzma
from collections.abc import Callable

import numpy as np

from primer.scoreboard.rules import Measure, Plays, Score
from primer.scoreboard.scenes import scene_starts


def compressor(compress: Callable[[bytes], bytes], memory: int | None = None) -> Measure:
    """Return the measure of a compressor: what each scene adds to all that stands before it.

    What the scenes add is together what the play adds to the plays before it. A program writes
    whole bytes (LZMA four at a time), so that a scene's share is known to some 32 bits.

    Parameters
    ----------
    compress : function of bytes
        Returns fewer bytes.
    memory : int, optional
        How many bytes before the play the program can look back on; left out, all.

    Examples
    --------
    >>> score = compressor(bz2.compress)({"learn": "to be or not " * 50}, {"judge": "to be" * 99})
    >>> float(score.bits["judge"].sum()) < 8 * 5 * 99
    True
    """

    def measure(training: Plays, held_out: Plays) -> Score:
        before = "\0".join([*training.values(), ""]).encode()[-(memory or 0) :]
        alone = len(compress(before))
        bits = {}
        for title, text in held_out.items():
            parts = [text[:start] for start in scene_starts(text)[1:]] + [f"{text}\0"]
            sizes = [len(compress(before + part.encode())) for part in parts]
            bits[title] = 8.0 * np.diff([alone, *sizes])
        return Score(bits, 0)

    return measure


def block_sorting(data: bytes) -> bytes:
    """Compress with bzip2, whose blocks hold 900,000 bytes."""
    return bz2.compress(data, 9)


def dictionary(data: bytes) -> bytes:
    """Compress with LZMA, at its best."""
    return lzma.compress(data, preset=9 | lzma.PRESET_EXTREME)


PPM_ORDER = 8  # of 5 to 9 the best on four of the 34 plays, after the thirty others
PPM_MEMORY = 1 << 29  # bytes: enough to forget nothing of the plays


def partial_matching(data: bytes) -> bytes:
    """Compress with PPMd, prediction by partial matching, as 7-Zip has it.

    Raises
    ------
    ModuleNotFoundError
        When ``pyppmd`` is not installed: only the measurement needs it.
    """
    try:
        import pyppmd
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "PPMd is measured with the package 'pyppmd', which is not installed: pip install pyppmd"
        ) from None
    packed: bytes = pyppmd.compress(data, max_order=PPM_ORDER, mem_size=PPM_MEMORY, variant="H")
    return packed
