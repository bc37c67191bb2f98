r"""What chapters use of the package ``regex``: Unicode's properties in patterns, on ``re``.

A property, ``\p{L}``, becomes the characters of ``re`` that have it, as ``unicodedata`` knows them.
"""

from __future__ import annotations

import functools
import re
import unicodedata

_PROPERTY = re.compile(r"\\p\{(\w+)\}")
_SPACE = "\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"


@functools.cache
def _kinds() -> str:
    """Return the first letter of each character's category, one after the other."""
    return "".join(unicodedata.category(one)[0] for one in map(chr, range(0x110000)))


@functools.cache
def _characters(name: str) -> str:
    r"""Return what stands between brackets for a property.

    Raises
    ------
    NotImplementedError
        When it is another property than ``\p{White_Space}`` and the letters of the categories.
    """
    if name == "White_Space":
        return _SPACE
    if name not in {"L", "M", "N", "P", "S", "Z", "C"}:
        raise NotImplementedError(f"regex in this page has no property {name!r}")
    runs = re.finditer(f"{name}+", _kinds())
    return "".join(f"\\U{run.start():08x}-\\U{run.end() - 1:08x}" for run in runs)


def compile(pattern: str, flags: int = 0) -> re.Pattern[str]:
    r"""Compile a pattern in which properties stand between brackets or alone."""
    parts, inside, at = [], False, 0
    while at < len(pattern):
        found = _PROPERTY.match(pattern, at)
        if found:
            text = _characters(found[1])
            parts.append(text if inside else f"[{text}]")
            at = found.end()
            continue
        letter = pattern[at : at + 2] if pattern[at] == "\\" else pattern[at]
        inside = letter == "[" or (inside and letter != "]")
        parts.append(letter)
        at += len(letter)
    return re.compile("".join(parts), flags)
