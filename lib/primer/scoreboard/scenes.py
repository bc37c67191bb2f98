r"""Where the scenes of a play are, and what each of them costs."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

HEADING = re.compile(r"^(?:ACT [^\n]*\n\n)?(?:SCENE |EPILOGUE$)[^\n]*", re.MULTILINE)


def scene_starts(play: str) -> Int[np.ndarray, " scenes"]:
    r"""Find where the scenes of a play begin.

    A scene begins at a line that starts with ``SCENE`` (or is ``EPILOGUE``), or at the heading of
    the act right before it. What stands before the first scene belongs to the first; a text
    without such lines is one scene.

    Parameters
    ----------
    play : str
        A text of :func:`primer.datasets.plays`.

    Returns
    -------
    int array of shape (scenes,)
        The places of the first characters, from 0 on.

    Examples
    --------
    >>> scene_starts("Prelude\n\nACT I\n\nSCENE I. A wood\n\nHo!\n\nSCENE II. A room\n\nHush.\n")
    array([ 0, 38])
    >>> scene_starts("To be")
    array([0])
    """
    starts = [heading.start() for heading in HEADING.finditer(play)]
    return np.array([0, *starts[1:]])


def scene_names(play: str) -> list[str]:
    r"""Name the scenes of a play by their headings' first words.

    Examples
    --------
    >>> scene_names("ACT I\n\nSCENE I. A wood\n\nHo!\n\nSCENE II. A room\n\nEPILOGUE\n\nBye.\n")
    ['I.I', 'I.II', 'EPILOGUE']
    """
    act, names = "", []
    for heading in HEADING.finditer(play):
        found = re.search(r"^ACT (\w+)", heading[0])
        act = found[1] if found else act
        scene = re.search(r"SCENE (\w+)", heading[0])
        names.append(f"{act}.{scene[1]}" if scene else heading[0])
    return names


def scene_lengths(play: str) -> Int[np.ndarray, " scenes"]:
    """Count the characters of each scene; together they are the play.

    Examples
    --------
    >>> scene_lengths("To be, or not to be")
    array([19])
    """
    return np.diff([*scene_starts(play), len(play)])


def by_scene(
    play: str, bits: Sequence[float] | Float[np.ndarray, " places"]
) -> Float[np.ndarray, " scenes"]:
    r"""Add up the bits of the characters of each scene, and those of the end with the last.

    Parameters
    ----------
    play : str
        A play of n characters.
    bits : array of shape (n + 1,)
        What each character and the end cost.

    Raises
    ------
    ValueError
        When there is another number of bits.

    Examples
    --------
    >>> by_scene("SCENE I\nA\nSCENE II\nB", [1.0] * 10 + [2.0] * 11)
    array([10., 22.])
    """
    bits = np.asarray(bits, dtype=float)
    if bits.shape != (len(play) + 1,):
        raise ValueError(
            f"bits must hold one number for each of {len(play)} characters and one for the end, "
            f"got shape {bits.shape}"
        )
    return np.add.reduceat(bits, scene_starts(play))


def of_characters(
    text: str, tokens: Sequence[bytes], bits: Sequence[float] | Float[np.ndarray, " tokens_and_end"]
) -> Float[np.ndarray, " places"]:
    r"""Spread the bits of tokens evenly over their bytes, and add them up for each character.

    Parameters
    ----------
    text : str
        A text of n characters.
    tokens : sequence of bytes
        The tokens that spell it.
    bits : array
        What each token costs, and the end.

    Returns
    -------
    array of shape (n + 1,)
        What each character costs, and the end.

    Raises
    ------
    ValueError
        When the tokens do not spell the text, or there is another number of bits.

    Examples
    --------
    >>> of_characters("aé", [b"a\xc3", b"\xa9"], [2.0, 1.0, 0.5])
    array([1. , 2. , 0.5])
    """
    spelled = text.encode()
    if b"".join(tokens) != spelled:
        raise ValueError("the tokens spell another text than the one that is given")
    costs = np.asarray(bits, dtype=float)
    if costs.shape != (len(tokens) + 1,):
        raise ValueError(
            f"bits must hold one number for each of {len(tokens)} tokens and one for the end, got "
            f"shape {costs.shape}"
        )
    lengths = np.array([len(token) for token in tokens], dtype=int)
    of_bytes = np.repeat(costs[:-1] / lengths, lengths)
    begins = (np.frombuffer(spelled, np.uint8) & 0xC0) != 0x80  # all other bytes go on with one
    places = np.cumsum(begins) - 1
    return np.append(np.bincount(places, of_bytes, minlength=len(text)), costs[-1])
