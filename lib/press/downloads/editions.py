"""The editions on the site: its page on paper and e-books links what has been made, with its size.

``make editions`` writes the PDFs and the EPUB from the built site, and then this puts them into its
folder.  A site without them says so; they are linked, and no page loads them.

Run ``python -m press.downloads.editions`` in the root of the book.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from press.downloads.archive import FOLDER
from press.site import Place

SITE, MADE = Path("_build/html"), (Path("_build/pdf"), Path("_build/epub"))
PAGE, BELOW = Path("chapters/appendix/about.html"), "editions"
"""The page that offers them, and the folder of the site in which they lie."""

_WHOLE = {".pdf": "The whole book as a PDF", ".epub": "The whole book as an EPUB"}


def offered(files: list[Path]) -> str:
    """Write the list of the editions: the whole book first, then its chapters.

    Parameters
    ----------
    files : list of Path
        The editions.

    Returns
    -------
    str
        HTML, with links from the page to the files.
    """
    whole = [file for file in files if file.stem == FOLDER]
    parts = [file for file in files if file.stem != FOLDER]
    lines = [
        f'<li><p><a href="../../{BELOW}/{file.name}" download>{words}</a> ({size(file)})</p></li>'
        for words, file in [
            *((_WHOLE[file.suffix], file) for file in whole),
            *((file.stem.replace("-", " "), file) for file in parts),
        ]
    ]
    return '<ul class="simple">\n' + "\n".join(lines) + "\n</ul>\n"


def size(file: Path) -> str:
    """Write how large a file is.

    Examples
    --------
    >>> size(Path("LICENSE"))
    '1 kB'
    """
    bytes_ = file.stat().st_size
    return f"{bytes_ / 1e6:.1f} MB" if bytes_ >= 1e6 else f"{bytes_ / 1e3:.0f} kB"


def offer(site: Path, made: tuple[Path, ...]) -> list[Path]:
    """Copy the editions to the site, and link them from its page.

    Parameters
    ----------
    site : Path
        The folder of the built site.
    made : tuple of Path
        The folders with the editions.

    Returns
    -------
    list of Path
        What is offered.

    Raises
    ------
    ValueError
        When nothing was made, or the page is not there or has no place for it.
    """
    files = [file for folder in made for file in sorted(folder.glob("*")) if file.suffix in _WHOLE]
    if not files:
        raise ValueError("There is no edition yet: `make editions` writes them.")
    place = Place(site / PAGE, "editions")
    folder = site / BELOW
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for file in files:
        shutil.copyfile(file, folder / file.name)
    place.fill(offered(files))
    return files


def main() -> int:
    """Put the editions on the site, or say what is missing."""
    try:
        files = offer(SITE, MADE)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{SITE / PAGE} offers {len(files)} files.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
