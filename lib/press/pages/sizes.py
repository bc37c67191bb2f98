"""Sphinx extension: every image says how large it is, so that its place is kept until it comes.

A browser that knows width and height of an image lays the page out once.  A style sheet may still
make the image narrower; its height then follows the width.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.images import get_image_size

_IMAGE = re.compile(r'<img\b(?![^>]*\swidth=)([^>]*?\bsrc="([^"]+)"[^>]*?)\s*/?>')
_SVG = re.compile(rb"<svg\b[^>]*>")
_LENGTH = re.compile(rb'\s(width|height)="([\d.]+)(pt|px)?"')
PIXELS = {b"pt": 4 / 3, b"px": 1.0, b"": 1.0}
"""What a unit of a drawing is on the page."""


def size_of_drawing(svg: bytes) -> tuple[int, int] | None:
    """Return width and height of a drawing in pixels, None when it does not say them.

    Examples
    --------
    >>> size_of_drawing(b'<svg height="345.6pt" width="518.4pt">')
    (691, 461)
    >>> size_of_drawing(b'<svg viewBox="0 0 1 1">')
    """
    found = _SVG.search(svg)
    lengths = {
        name: round(float(number) * PIXELS[unit])
        for name, number, unit in (_LENGTH.findall(found[0]) if found else ())
    }
    return (lengths[b"width"], lengths[b"height"]) if len(lengths) == 2 else None


def size_of(file: Path) -> tuple[int, int] | None:
    """Return width and height of an image in pixels."""
    if file.suffix == ".svg":
        with file.open("rb") as opened:
            return size_of_drawing(opened.read(4000))
    return get_image_size(str(file))


def with_sizes(body: str, files: dict[str, Path]) -> str:
    """Write width and height into the images of a page that have none.

    Parameters
    ----------
    body : str
        The text of the page.
    files : dict
        Where an image lies, by the last part of its address.

    Returns
    -------
    str
        The text; an image that is not among the files stays as it is.
    """

    def sized(image: re.Match[str]) -> str:
        file = files.get(unquote(image[2].rpartition("/")[2]))
        size = size_of(file) if file and file.is_file() else None
        return f'<img{image[1]} width="{size[0]}" height="{size[1]}" />' if size else image[0]

    return _IMAGE.sub(sized, body)


def give_sizes(
    app: Sphinx, page: str, template: str, context: dict[str, Any], tree: nodes.document | None
) -> None:
    """Look at the images of a page."""
    if tree is not None and app.builder.format == "html":
        found = {name: Path(app.srcdir, source) for source, name in app.builder.images.items()}
        context["body"] = with_sizes(context["body"], found)


def setup(app: Sphinx) -> dict[str, Any]:
    """Come before the template takes the text."""
    app.connect("html-page-context", give_sizes)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
