"""The slides of a chapter: what its sections guess, ask and show, in their order."""

from __future__ import annotations

import html
import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urldefrag

from bs4.element import Tag

from press.site import article_of
from press.slides.lectures import PAGE, Item, Part
from press.slides.pieces import BELOW, moved, slide, words_of

_BOXES = ", .guess, .question, img.figure"
"""What of a section becomes slides beside its widgets."""


@dataclass(frozen=True)
class Picture:
    """A figure that a deck shows.

    Attributes
    ----------
    file : Path
        The file of the site.
    chapter : str
        The name of its chapter.
    section : str
        The title of its section.
    alt : str
        What is to be seen.
    """

    file: Path
    chapter: str
    section: str
    alt: str


@dataclass(frozen=True)
class Made:
    """A slide, with the files that it shows."""

    text: str
    pictures: tuple[Picture, ...] = ()
    widgets: tuple[Path, ...] = ()


class Chapter:
    """A chapter's page, from which slides are made.

    Parameters
    ----------
    site : Path
        The folder of the built site.
    page : str
        The page, without its ending.
    """

    def __init__(self, site: Path, page: str) -> None:
        self.site, self.page = site, page
        article = article_of(site, page)
        root = article.find("section")
        if not isinstance(root, Tag):
            raise ValueError(f"{page}.html has no section: it is no chapter.")
        self.root = root
        self.sections = root.find_all("section", recursive=False)

    def at(self, anchor: str) -> Tag:
        """Return the section of the chapter in which an anchor stands.

        Raises
        ------
        ValueError
            When there is none.
        """
        place = self.root.find(id=anchor)
        for section in self.sections:
            if place is section or (place and section in place.parents):
                return section
        raise ValueError(f"{self.page}.html has no section {anchor!r}.")

    def sections_of(self, part: Part, items: tuple[Item, ...]) -> list[tuple[Tag, bool]]:
        """Return the sections that a lecture reads or shows, without exercises and what follows.

        Beside each stands whether it is read; of the others only a widget is shown.
        """
        names = [str(section.get("id")) for section in self.sections]
        end = names.index("exercises") if "exercises" in names else len(names)
        first = self.sections.index(self.at(part.first)) if part.first else 0
        last = self.sections.index(self.at(part.last)) if part.last else end - 1
        besides = [self.at(anchor) for anchor in part.besides]
        shown = [self.at(item.anchor) for item in items if item.page == self.page]
        found = []
        for number, section in enumerate(self.sections[:end]):
            read = first <= number <= last or any(section is one for one in besides)
            if read or any(section is one for one in shown):
                found.append((section, read))
        return found

    def opening(self) -> str:
        """Write the slide with the chapter's question."""
        words = self.root.find("p", recursive=False)
        return slide(self._heading(self.root), self._clean(words) if words else "", kind="opening")

    def summary(self, part: Part) -> str:
        """Write the slide with the lines of the summary, where the chapter is read to its end."""
        section = self.root.find(id="summary")
        lines = section.find("ul") if isinstance(section, Tag) else None
        if part.last or not isinstance(lines, Tag):
            return ""
        return slide(f"Summary: {html.escape(part.title)}", self._clean(lines), kind="summary")

    def slides_of(self, section: Tag, read: bool, items: tuple[Item, ...]) -> Iterator[Made]:
        """Make the slides of a section, in the order of what stands in it; see `sections_of`."""
        shown = [
            item for item in items if item.page == self.page and self.at(item.anchor) is section
        ]
        seen = False
        for element in section.select(f".widget-embed{_BOXES if read else ''}"):
            kinds = element.get_attribute_list("class")
            if "widget-embed" in kinds:
                if not seen:  # of two in one section the one that is named first
                    for item, file, frame in self._frames(section, shown):
                        yield Made(self._widget(section, item, frame), widgets=(file,))
                seen = True
            elif "admonition" in kinds:
                yield Made(self._box(section, element))
            elif element.name == "img" and not element.find_parent(_hides):
                yield self._figure(section, element)

    def _frames(self, section: Tag, items: list[Item]) -> Iterator[tuple[Item, Path, str]]:
        """Give each item its widget: the one of its name, else the first of the section."""
        found = {}
        for fold in section.select(".widget-embed"):
            cell = fold.find_parent(class_="cell_output")
            view = cell.select_one(".widget-view") if isinstance(cell, Tag) else None
            if view is not None and fold.a is not None:
                file = self._file(str(fold.a["href"]))
                found[file] = (str(view.get("style", "")), str(view.get("aria-label", "")))
        for number, item in enumerate(items):
            file = list(found)[min(_place_of(items, number), len(found) - 1)]
            style, name = found[file]
            address = posixpath.relpath(file.as_posix(), (self.site / BELOW).as_posix())
            yield (
                item,
                file,
                (
                    f'<iframe data-src="{html.escape(address)}" title="{html.escape(name)}" '
                    f'style="{html.escape(style)}"></iframe>'
                ),
            )

    def _widget(self, section: Tag, item: Item, frame: str) -> str:
        """Write the slide of a widget: the question first, its answer on the next step."""
        lines = []
        for number, step in enumerate(item.steps):
            kind = "asks" if step.asks else "answer"
            later = " fragment custom" if number else ""
            lines.append(f'<p class="{kind}{later}">{moved(step.words, PAGE)}</p>')
        body = "\n".join([*lines, f'<div class="frame">{frame}</div>'])
        return slide(html.escape(item.title), body, kind="widget", source=self._source(section))

    def _box(self, section: Tag, box: Tag) -> str:
        """Write the slide of a guess or a question."""
        kind = "guess" if "guess" in box.get_attribute_list("class") else "question"
        asked = [
            self._clean(child)
            for child in box.find_all(True, recursive=False)
            if child.name in ("p", "div", "ul", "ol")
            and not {"admonition-title", "reply"} & set(child.get_attribute_list("class"))
        ]
        choices = "".join(self._choice(choice) for choice in box.select("details.choice"))
        if choices:
            answer = f'<ol class="choices">{choices}</ol>'
        else:
            fold = box.select_one("details.fold-answer")
            inside = (
                [c for c in fold.find_all(True, recursive=False) if c.name != "summary"]
                if fold
                else []
            )
            answer = (
                f'<div class="answer fragment custom">{"".join(map(self._clean, inside))}</div>'
            )
        heading = "Guess first" if kind == "guess" else "Question"
        body = f'<div class="asks">{"".join(asked)}</div>\n{answer}'
        return slide(heading, body, kind=kind, source=self._source(section))

    def _choice(self, choice: Tag) -> str:
        """Write a choice: its reply on the next step if it is right, else on the one after."""
        right = "right" in choice.get_attribute_list("class")
        words, reply = choice.select_one(".words"), choice.select_one(".reply")
        said = f'<div class="reply fragment custom" data-fragment-index="{0 if right else 1}">'
        said += f"{self._inside(reply)}</div>" if reply else "</div>"
        return f'<li class="{"right" if right else "wrong"}">{self._inside(words)}{said}</li>'

    def _figure(self, section: Tag, image: Tag) -> Made:
        """Make the slide of a figure."""
        near = image.find_parent("section") or section
        shown = image.parent if image.parent and image.parent.name == "picture" else image
        picture = Picture(
            self._file(str(image["src"])),
            posixpath.basename(self.page),
            words_of(near.find(("h2", "h3"))),
            str(image.get("alt", "")),
        )
        body = f'<div class="picture">{self._clean(shown)}</div>'
        made = slide(self._heading(near), body, kind="figure", source=self._source(section))
        return Made(made, pictures=(picture,))

    def _heading(self, section: Tag) -> str:
        """Write the title of a section, formulas and all."""
        heading = section.find(("h1", "h2", "h3"))
        return self._inside(heading) if isinstance(heading, Tag) else ""

    def _source(self, section: Tag) -> str:
        """Write the link to the section."""
        anchor, number = str(section.get("id", "")), section.select_one(".section-number")
        name = words_of(number) or words_of(section.find(("h1", "h2", "h3")))
        link = f"../{self.page}.html#{anchor}"
        return f'<p class="source"><a href="{link}">{html.escape(name)}</a></p>'

    def _file(self, address: str) -> Path:
        """Return the file to which an address of the page leads."""
        path = posixpath.join(posixpath.dirname(self.page), unquote(urldefrag(address).url))
        return self.site / posixpath.normpath(path)

    def _clean(self, element: Tag) -> str:
        return moved(element.decode(), self.page)

    def _inside(self, element: Tag | None) -> str:
        return moved(element.decode_contents(), self.page) if element else ""


def _hides(element: Tag) -> bool:
    """Say whether a chapter does not show at once what an element holds."""
    boxes = {"exercise", "solution", "admonition"} & set(element.get_attribute_list("class"))
    return element.name in {"noscript", "details"} or bool(boxes)


def _place_of(items: list[Item], number: int) -> int:
    """Return which of the widgets of a section an item shows: each title is another one."""
    return list(dict.fromkeys(item.title for item in items)).index(items[number].title)
