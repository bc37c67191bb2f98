"""Every widget shows what it showed when somebody last looked: opened, and move by move."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import drawn
import pytest
import traitlets
from playwright.sync_api import Browser
from thorough import a_few

from primer import widgets
from primer.widgets.base import Widget

MOVING = ("range", "select", "checkbox")
"""Controls that always lead elsewhere; a button or a choice may stand where it leads already."""


@pytest.mark.browser
@pytest.mark.parametrize("name", widgets.__all__)
def test_a_widget_shows_what_it_showed(chromium: Browser, name: str) -> None:
    now = drawn.account(chromium, name)
    assert not now.lost, f"nothing can be seen in {now.lost}"
    picture, words = drawn.kept(name)
    found = drawn.differences(drawn.framed(name, now.picture), picture, drawn.same_line)
    found += drawn.differences(now.words, words, drawn.same_text)
    assert not found, "\n".join(
        [*found[:12], f"if it is meant: python tests/tools/drawn.py {name}"]
    )
    idle = [title for title in now.idle if title.startswith(MOVING)]
    assert not idle, f"{name} draws and says nothing new when these are moved: {idle}"


@pytest.mark.browser
def test_a_made_up_name_is_no_part_of_a_picture(chromium: Browser) -> None:
    """Names are drawn by chance for each page; some read like a number, as ``1e-6`` does."""
    page = chromium.new_page(viewport={"width": drawn.WIDTH, "height": 900})
    name = "SpectrogramExplorer"
    try:
        page.evaluate("Math.random = () => 10 / 36 + 1 / 36 ** 2 + 14 / 36 ** 3")
        assert page.evaluate("Math.random().toString(36)") == "0.a1e"
        drawn.open_widget(page, getattr(widgets, name)())
        assert page.locator("[fill*='primer-a1e-']").count(), "the name is not drawn this way"
        now = drawn.framed(name, page.evaluate("drawn.picture()"))
    finally:
        page.close()
    assert not drawn.differences(now, drawn.kept(name)[0], drawn.same_line)


def has_names(value: object) -> bool:
    """Say whether somewhere in a state a dictionary has two names or more."""
    if isinstance(value, dict):
        return len(value) > 1 or any(map(has_names, value.values()))
    return isinstance(value, list) and any(map(has_names, value))


NAMING = [
    name
    for name, one in ((name, getattr(widgets, name)) for name in widgets.__all__)
    if has_names(one.constants)
    or any(isinstance(getattr(one, trait), traitlets.Dict) for trait in one.state_names())
]
"""The widgets that bring the page dictionaries of their own."""


@pytest.mark.browser
@pytest.mark.parametrize("name", a_few(NAMING, NAMING[::8]))
def test_nothing_on_a_page_stands_in_the_order_of_names(chromium: Browser, name: str) -> None:
    page = chromium.new_page(viewport={"width": drawn.WIDTH, "height": 900})
    try:
        drawn.open_widget(page, getattr(widgets, name)(), backward=True)  # kept: from A to Z
        now = drawn.framed(name, page.evaluate("drawn.picture()"))
    finally:
        page.close()
    found = drawn.differences(now, drawn.kept(name)[0], drawn.same_line)
    assert not found, "\n".join(["write it as a list of pairs, [name, value]:", *found[:12]])


def test_there_is_a_drawing_for_each_widget_and_no_other() -> None:
    files = {path for name in widgets.__all__ for path in drawn.files_of(name)}
    assert set(drawn.FOLDER.iterdir()) == files | {drawn.COLORS}


def test_the_drawings_wear_the_colors_of_the_book() -> None:
    assert drawn.COLORS.read_text("utf-8") == drawn.colors()


@pytest.mark.parametrize("name", widgets.__all__)
def test_a_drawing_can_be_opened(name: str) -> None:
    picture = drawn.files_of(name)[0]
    assert ET.parse(picture).getroot().tag.endswith("}svg")
    sheets = drawn.sheets(name)
    assert all((drawn.FOLDER / sheet).is_file() for sheet in sheets)
    assert all(f'href="{sheet}"' in picture.read_text("utf-8") for sheet in sheets)


BAR = '<rect class="bar" fill="rgb(10 98 168)" y="{}" height="{}"/>'


@pytest.mark.parametrize(
    ("now", "kept", "equal"),
    [
        (BAR.format(5, 100.4), BAR.format(5, 100.1), True),
        (BAR.format(5, 101), BAR.format(5, 100), False),  # a pixel higher
        (BAR.format(5, 100) * 8, BAR.format(5, 100) * 9, False),  # a bar less
        (BAR.format(100, 5), BAR.format(5, 100), False),  # the other way round
        (BAR.format(5, 9).replace("168", "170"), BAR.format(5, 9), True),
        (BAR.format(5, 9).replace("168", "180"), BAR.format(5, 9), False),
        ("<p>power 0.465</p>", "<p>power 0.466</p>", True),
        ("<p>4 | 20</p>", "<p>5 | 20</p>", False),
        ('<text class="tick">40.5</text>', '<text class="tick">40.6</text>', False),
        ('<text class="count">40.5</text>', '<text class="count">40.6</text>', True),
    ],
)
def test_what_counts_as_the_same_drawing(now: str, kept: str, equal: bool) -> None:
    assert drawn.same_line(now, kept) == equal


@pytest.mark.parametrize(
    ("now", "kept", "equal"),
    [
        ("power 0.465", "power 0.466", True),
        ("power 0.465", "power 0.485", False),
        ("power 0.465", "power 0.4650", False),
        ("power 0.465", "Power 0.465", False),
        ("row 2", "row 1", False),
        ("41 %", "42 %", True),
        ("−5 | 0 | 5", "−5 | 0", False),
    ],
)
def test_what_counts_as_the_same_words(now: str, kept: str, equal: bool) -> None:
    assert drawn.same_text(now, kept) == equal


def test_what_is_new_is_told_and_what_stands_no_more_is_not() -> None:
    now = drawn.Shown("", ["a", "b", "b"], 0)
    assert now.after(["b", "c"]) == ["a", "b"]
    assert now.after(["a", "b", "b"]) == []
    assert drawn.packed(["short", "s" * 60, "both"]) == ["    short | both", f"    {'s' * 60}"]


def test_every_line_that_differs_is_named() -> None:
    assert drawn.differences(["a", "b"], ["a", "c", "d"], str.__eq__) == [
        "now:  b\nkept: c",
        "only kept: d",
    ]


def test_every_widget_is_known() -> None:
    assert all(issubclass(getattr(widgets, name), Widget) for name in widgets.__all__)


SVG = "{http://www.w3.org/2000/svg}"


def scales(name: str) -> list[tuple[set[str], str]]:
    """List the numbers of each horizontal scale of an opened widget, with the name of the scale."""
    found = []
    for panel in ET.parse(drawn.files_of(name)[0]).iter(f"{SVG}svg"):
        words: dict[str, list[str]] = {"tick": [], "label": []}
        for text in panel.iter(f"{SVG}text"):
            if text.get("text-anchor") == "middle" and text.get("class") in words:
                words[text.attrib["class"]].append("".join(text.itertext()))
        numbers = {word for word in words["tick"] if drawn.PLAIN.search(word)}
        if "panel" in panel.get("class", "").split() and len(numbers) > 1:
            found.append((numbers, "".join(words["label"])))
    return found


@pytest.mark.parametrize("name", widgets.__all__)
def test_a_scale_has_a_name_or_stands_over_one_that_has(name: str) -> None:
    named = [numbers for numbers, label in scales(name) if label]
    nameless = [numbers for numbers, label in scales(name) if not label]
    assert [one for one in nameless if not any(one <= other for other in named)] == []


@pytest.mark.parametrize("name", sorted({*widgets.__all__} - {"Decoding"}))
def test_that_a_text_ends_is_said_in_words(name: str) -> None:
    shown = [file.read_text("utf-8") for file in drawn.files_of(name)]
    assert not any(token in text for text in shown for token in ("<|", "&lt;|"))
