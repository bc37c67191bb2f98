"""Programs that compress files, as models: how many more bytes a play takes after the others."""

from __future__ import annotations

import bz2
import lzma
from collections.abc import Callable

from primer.scoreboard.rules import Measure, Plays, Score


def compressor(compress: Callable[[bytes], bytes], memory: int | None = None) -> Measure:
    """Return the measure of a compressor: what a play adds to the plays before it.

    Parameters
    ----------
    compress : function of bytes
        Returns fewer bytes.
    memory : int, optional
        How many bytes before the play the program can look back on; left out, all.

    Examples
    --------
    >>> score = compressor(bz2.compress)({"learn": "to be or not " * 50}, {"judge": "to be" * 99})
    >>> score.bits["judge"] < 8 * 5 * 99
    True
    """

    def measure(training: Plays, held_out: Plays) -> Score:
        before = "\0".join([*training.values(), ""]).encode()[-(memory or 0) :]
        alone = len(compress(before))
        bits = {
            title: 8.0 * (len(compress(before + text.encode() + b"\0")) - alone)
            for title, text in held_out.items()
        }
        return Score(bits, 0)

    return measure


def block_sorting(data: bytes) -> bytes:
    """Compress with bzip2, whose blocks hold 900,000 bytes."""
    return bz2.compress(data, 9)


def dictionary(data: bytes) -> bytes:
    """Compress with LZMA, at its best."""
    return lzma.compress(data, preset=9 | lzma.PRESET_EXTREME)
