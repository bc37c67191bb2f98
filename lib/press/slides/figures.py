"""The figures of a lecture as a zip: each with what is to be seen on it, and the license."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from press.downloads.sheets import TITLE
from press.slides.chapter import Picture

LIST, LICENSE = "figures.md", "LICENSE-TEXT"

_HEAD = """# Figures of *{book}*: {title}

Licensed CC BY 4.0 (`{license}`): say where a figure comes from, link the license, and say what you
changed. Below stands what is to be seen on each, for readers who do not see it.
"""
_ENTRY = """
## {name}

{book}, {chapter}, "{section}", CC BY 4.0.

{alt}
"""


def named(pictures: Iterable[Picture]) -> dict[str, Picture]:
    """Name the files of figures after their chapters, counted.

    Parameters
    ----------
    pictures : iterable of Picture
        In the order in which they are shown.

    Returns
    -------
    dict of str to Picture
        Each figure once.
    """
    counted: dict[str, int] = {}
    names = {}
    for picture in dict.fromkeys(pictures):
        counted[picture.chapter] = number = counted.get(picture.chapter, 0) + 1
        names[f"{picture.chapter}-figure-{number:02}{picture.file.suffix}"] = picture
    return names


def zip_figures(
    target: Path, title: str, pictures: Iterable[Picture], license_: Path, moment: datetime
) -> Path:
    """Write the figures of a lecture.

    Parameters
    ----------
    target : Path
        The file.
    title : str
        What the lecture is called.
    pictures : iterable of Picture
        Its figures.
    license_ : Path
        The text of the license.
    moment : datetime
        When the book was written: the time of all that is in the file.
    """
    names = named(pictures)
    entries = [
        _ENTRY.format(name=name, book=TITLE, chapter=one.chapter, section=one.section, alt=one.alt)
        for name, one in names.items()
    ]
    parts: dict[str, str | bytes] = {
        LIST: _HEAD.format(book=TITLE, title=title, license=LICENSE) + "".join(entries),
        LICENSE: license_.read_bytes(),
        **{name: one.file.read_bytes() for name, one in names.items()},
    }
    half = target.with_suffix(".part")
    with zipfile.ZipFile(half, "w") as archive:
        for name, content in parts.items():
            entry = zipfile.ZipInfo(name, moment.timetuple()[:6])
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED, 9)
    return half.rename(target)
