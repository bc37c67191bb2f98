"""A deck of slides: the HTML of one lecture, which shows pictures and widgets of the site.

In the order of the chapters stand what they guess, ask and show: a box as a slide, with the answer
on the next step and what is wrong with the others on the one after; a widget in a frame of its own
height, with the question of the page for teachers; a figure.  At the end stand the exercises and
the lines of the summary.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from pathlib import Path

from press.downloads.sheets import TITLE
from press.publish.policy import RULES
from press.slides.chapter import Chapter, Picture
from press.slides.lectures import PAGE, Lecture
from press.slides.pieces import moved, slide

HELP = (
    "Left and right turn the slides, up and down scroll one that is high, Esc shows all, "
    "S changes light and dark."
)

_POLICY = {
    **RULES,
    "script-src": "'self' file:",
    "frame-src": "'self' file:",  # the widgets
}
_DOCUMENT = """<!doctype html>
<html lang="en" class="reveal-full-page">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} — {book}</title>
<link rel="stylesheet" href="../_static/palette.css">
<link rel="stylesheet" href="../_static/fonts/fonts.css">
<link rel="stylesheet" href="../_static/katex/katex.min.css">
<link rel="stylesheet" href="reveal.css">
<link rel="stylesheet" href="deck.css">
<script src="reveal.js"></script>
<script src="deck.js"></script>
</head>
<body>
<noscript><p>These slides need a browser that runs their script.
<a href="../{page}.html#{anchor}">The page for teachers</a> says what they show.</p></noscript>
<main><div class="reveal"><div class="slides">
{slides}
</div></div></main>
<footer>{book} · CC BY 4.0</footer>
</body>
</html>
"""


@dataclass(frozen=True)
class Deck:
    """A deck: its HTML, the figures and the widgets' files that it shows."""

    text: str
    pictures: tuple[Picture, ...]
    widgets: tuple[Path, ...]


def deck_of(site: Path, lecture: Lecture) -> Deck:
    """Make the deck of a lecture.

    Parameters
    ----------
    site : Path
        The folder of the built site.
    lecture : Lecture
        The lecture.

    Returns
    -------
    Deck
        The deck.

    Raises
    ------
    ValueError
        When a chapter, a section, a picture or the file of a widget is not there.
    """
    slides = [_first(lecture)]
    pictures, widgets = list[Picture](), list[Path]()
    chapters = {part: Chapter(site, part.page) for part in lecture.parts}
    for part, chapter in chapters.items():
        if not part.first:
            slides.append(chapter.opening())
        for section, read in chapter.sections_of(part, lecture.items):
            for made in chapter.slides_of(section, read, lecture.items):
                slides.append(made.text)
                pictures += made.pictures
                widgets += made.widgets
    slides.append(_exercises(lecture))
    slides += [chapter.summary(part) for part, chapter in chapters.items()]
    for file in (*widgets, *(picture.file for picture in pictures)):
        if not file.is_file():
            raise ValueError(f"{lecture.name} shows {file}, which is not there: run `make book`.")
    text = _DOCUMENT.format(
        policy="; ".join(f"{name} {value}" for name, value in _POLICY.items()),
        title=html.escape(lecture.title),
        book=TITLE,
        page=PAGE,
        anchor=lecture.anchor,
        slides="\n".join(slide for slide in slides if slide),
    )
    return Deck(text, tuple(pictures), tuple(dict.fromkeys(widgets)))


def _first(lecture: Lecture) -> str:
    """Write the slide with the title."""
    reading = f"<p>{moved(lecture.reading, PAGE)}</p>" if lecture.reading else ""
    title = html.escape(lecture.title)
    return (
        f'<section class="first">\n<h1>{title}</h1>{reading}\n<p class="help">{HELP}</p></section>'
    )


def _exercises(lecture: Lecture) -> str:
    """Write the slide with the exercises."""
    words = moved(lecture.exercises, PAGE).removeprefix("<strong>Exercises.</strong>")
    lines = "".join(f"<li>{one.strip()}</li>" for one in re.split(r"\s+·\s+", words.rstrip(".")))
    return slide("Exercises", f"<ul>{lines}</ul>")
