"""Mend the links of printed pages, and bind them into one file.

A link to another page of the site is printed as the address of a file on the machine that printed
it.  In a chapter's own PDF it leads to the web, where the book has an address there, and nowhere
otherwise; in the whole book it leads to the page where that chapter says it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag

from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, DictionaryObject, NameObject, NullObject, NumberObject
from pypdf.generic import TextStringObject as Text

AUTHOR = "The authors of A Runnable Primer"
_THIN = 2.0  # points; links that only name places are this thin


@dataclass(frozen=True)
class Part:
    """A printed page of the site.

    Attributes
    ----------
    file : Path
        Its PDF.
    page : str
        Its name in the site, without its ending.
    title : str
        What it is called.
    prefix : str
        What stands before the numbers of its pages.
    address : str
        Where it is on the web, or ``""``.
    """

    file: Path
    page: str
    title: str
    prefix: str
    address: str


def page_of(address: str, site: Path) -> tuple[str, str] | None:
    """Split the address of a file of the site into its page and the place there.

    Examples
    --------
    >>> site = Path("/home/me/_build/html")
    >>> page_of("file:///home/me/_build/html/chapters/a.html#b", site)
    ('chapters/a', 'b')
    >>> page_of("https://example.org/a.html", site) is None
    True
    """
    root = f"{site.resolve().as_uri()}/"
    if not address.startswith(root):
        return None
    file, place = urldefrag(address.removeprefix(root))
    return unquote(file).removesuffix(".html"), unquote(place)


def _links(page: Any) -> list[Any]:
    """List the links of a page of a PDF."""
    found = [entry.get_object() for entry in page.get("/Annots", [])]
    return [entry for entry in found if entry.get("/Subtype") == "/Link"]


def _address(link: Any) -> str:
    """Return the address of a link, ``""`` if it leads to a place in its file."""
    action = link.get("/A")
    return str(action.get_object().get("/URI", "")) if action is not None else ""


def _is_thin(link: Any) -> bool:
    """Say whether a link is too small to be one of the text."""
    left, bottom, right, top = (float(number) for number in link["/Rect"])
    return abs(right - left) < _THIN and abs(top - bottom) < _THIN


def _write(writer: PdfWriter, target: Path) -> None:
    """Write a PDF; by itself pypdf would ask the system for each of its thousands of words."""
    with target.open("wb") as file:
        writer.write(file)


def _drop(page: Any, unwanted: list[Any]) -> None:
    """Take links off a page."""
    if unwanted:
        kept = [e for e in page["/Annots"] if not any(e.get_object() is one for one in unwanted)]
        page[NameObject("/Annots")] = ArrayObject(kept)


def finish(part: Part, site: Path, target: Path) -> int:
    """Write a chapter's own PDF: its links mended, its author named.

    Parameters
    ----------
    part : Part
        The chapter as it was printed.
    site : Path
        The folder of the site from which it was printed.
    target : Path
        The PDF.

    Returns
    -------
    int
        The number of its pages.
    """
    writer: Any = PdfWriter(clone_from=part.file)
    root = part.address.removesuffix(f"{part.page}.html")
    for page in writer.pages:
        unwanted = []
        for link in _links(page):
            aim = page_of(_address(link), site)
            if aim and part.address:
                place = f"#{aim[1]}" if aim[1] else ""
                link["/A"].get_object()[NameObject("/URI")] = Text(f"{root}{aim[0]}.html{place}")
            elif aim or _is_thin(link):
                unwanted.append(link)
        _drop(page, unwanted)
    writer.add_metadata({"/Author": AUTHOR})
    _write(writer, target)
    return len(writer.pages)


def bind(front: Part, parts: list[Part], site: Path, target: Path) -> int:
    """Bind printed pages into one file, in which their links lead from one to the other.

    Parameters
    ----------
    front : Part
        What stands in front, without bookmarks.
    parts : list of Part
        The pages as they were printed; each brings its bookmarks.
    site : Path
        The folder of the site from which they were printed.
    target : Path
        The PDF.

    Returns
    -------
    int
        The number of its pages.
    """
    writer: Any = PdfWriter()
    places: dict[tuple[str, str], tuple[int, float]] = {}  # page and height of each
    first = len(PdfReader(front.file).pages)
    writer.append(front.file, import_outline=False)
    for part in parts:
        reader: Any = PdfReader(part.file)
        number_of = {page.indirect_reference.idnum: i for i, page in enumerate(reader.pages)}
        start = len(writer.pages)
        places[part.page, ""] = (start, float(reader.pages[0].mediabox.top))
        for name, place in reader.named_destinations.items():
            at = number_of[place.page.idnum]
            places[part.page, name.lstrip("/")] = (start + at, float(place.top or 0))
        _name_pages(reader, part, site)
        writer.append(reader)
        writer.set_page_label(start, len(writer.pages) - 1, style="/D", prefix=part.prefix)
    writer.set_page_label(0, first - 1, style="/r")
    for page in writer.pages:
        unwanted = []
        for link in _links(page):
            aim = page_of(_address(link), site)
            if aim is None:
                continue
            found = places.get(aim, places.get((aim[0], "")))
            if found is None or _is_thin(link):
                unwanted.append(link)
            else:
                _lead(link, writer.pages[found[0]], found[1])
        _drop(page, unwanted)
    writer.add_metadata({"/Title": front.title, "/Author": AUTHOR})
    writer.root_object[NameObject("/PageMode")] = NameObject("/UseOutlines")
    writer.root_object[NameObject("/Lang")] = Text("en")
    writer.compress_identical_objects(remove_unreferenced=True)
    _write(writer, target)
    return len(writer.pages)


def _name_pages(reader: Any, part: Part, site: Path) -> None:
    """Let the links within a part name their page, as those to other parts do.

    The names of places are those of its page alone: bound with others, they would not be one place.
    """
    address = (site.resolve() / f"{part.page}.html").as_uri()
    for page in reader.pages:
        for link in _links(page):
            if isinstance(name := link.get("/Dest"), str):
                action: Any = {NameObject("/S"): NameObject("/URI")}
                action[NameObject("/URI")] = Text(f"{address}#{name.lstrip('/')}")
                link[NameObject("/A")] = DictionaryObject(action)
                del link["/Dest"]


def _lead(link: Any, page: Any, top: float) -> None:
    """Let a link lead to a height of a page of its own file."""
    del link["/A"]
    place = [page.indirect_reference, NameObject("/XYZ"), NumberObject(0), NumberObject(int(top))]
    link[NameObject("/Dest")] = ArrayObject([*place, NullObject()])
