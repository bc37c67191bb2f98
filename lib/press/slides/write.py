"""Write the decks of all lectures beside the site, and link them from the page for teachers.

Run ``python -m press.slides.write [08]`` in the root of the book, or ``make slides``; with a
chapter's number or name only the lectures that read it are written anew.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from press.downloads.editions import size
from press.publish.dating import written_at
from press.site import Place
from press.slides.deck import deck_of
from press.slides.figures import zip_figures
from press.slides.lectures import PAGE, Lecture, chosen, lectures_of
from press.slides.pieces import BELOW

SITE, LICENSE = Path("_build/html"), Path("LICENSE-TEXT")
REVEAL = Path("node_modules/reveal.js")
SHARED = {
    "reveal.js": REVEAL / "dist/reveal.js",
    "reveal.css": REVEAL / "dist/reveal.css",
    "reveal-license.txt": REVEAL / "LICENSE",
    "deck.js": Path(__file__).parent / "look/deck.js",
    "deck.css": Path(__file__).parent / "look/deck.css",
}
"""What all decks share: its name in their folder → the file."""


def write(
    site: Path, lectures: Iterable[Lecture], license_: Path, moment: datetime
) -> dict[Lecture, Path]:
    """Write the decks of lectures, and a zip of figures for each that shows some.

    Parameters
    ----------
    site : Path
        The folder of the built site.
    lectures : iterable of Lecture
        The lectures.
    license_ : Path
        The text of the license of figures.
    moment : datetime
        When the book was written.

    Returns
    -------
    dict of Lecture to Path
        The deck of each.

    Raises
    ------
    ValueError
        When something is not there: nothing of that lecture is written.
    """
    folder = site / BELOW
    folder.mkdir(exist_ok=True)
    for name, file in SHARED.items():
        if not file.is_file():
            raise ValueError(f"{file} is not there: `make` installs it with what npm has.")
        shutil.copyfile(file, folder / name)
    written = {}
    for lecture in lectures:
        deck = deck_of(site, lecture)
        written[lecture] = file = folder / f"{lecture.name}.html"
        file.write_text(deck.text, encoding="utf-8")
        figures = folder / f"{lecture.name}-figures.zip"
        figures.unlink(missing_ok=True)
        if deck.pictures:
            zip_figures(figures, lecture.title, deck.pictures, license_, moment)
    return written


def offered(folder: Path, lectures: Iterable[Lecture]) -> str:
    """Write the list of the decks that are there, with their sizes: HTML."""
    lines = []
    for lecture in lectures:
        deck, figures = (folder / f"{lecture.name}{end}" for end in (".html", "-figures.zip"))
        if deck.is_file():
            more = (
                f', <a href="../../{BELOW}/{figures.name}" download>figures</a> ({size(figures)})'
                if figures.is_file()
                else ""
            )
            link = f'<a href="../../{BELOW}/{deck.name}">{lecture.title}</a> ({size(deck)})'
            lines.append(f"<li><p>{link}{more}</p></li>")
    return '<ul class="simple">\n' + "\n".join(lines) + "\n</ul>\n"


def offer(site: Path, lectures: Iterable[Lecture]) -> None:
    """Link the decks that are there from the page for teachers.

    Raises
    ------
    ValueError
        When the page has no place for them.
    """
    Place(site / f"{PAGE}.html", "slides").fill(offered(site / BELOW, lectures))


def main(arguments: list[str]) -> int:
    """Write the decks, or say what is missing."""
    try:
        lectures = lectures_of(SITE)
        wanted = chosen(lectures, arguments[0] if arguments else "")
        if not arguments:
            shutil.rmtree(SITE / BELOW, ignore_errors=True)
        moment = datetime.fromtimestamp(written_at(Path()), UTC)
        written = write(SITE, wanted, LICENSE, moment)
        offer(SITE, lectures)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    for lecture, file in written.items():
        print(f"{file}: {lecture.title}, {size(file)}")
    print(f"{SITE / PAGE}.html links them.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
