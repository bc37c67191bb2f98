"""Flash cards: taken from the notebooks, on a page that keys operate, and in a file for Anki."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest
from axe import violations_on
from bs4 import BeautifulSoup
from by_keyboard import tab_to
from docutils import nodes
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from playwright.sync_api import Browser, Page, expect
from tiny_book import CHAPTER, build_book, chapter_of
from written import CHAPTER_NOTEBOOKS

from press.downloads.anki import NOTE_TYPE, Note, deck_number, decks_of, field, write_decks
from press.pages.cards import DECK, PAGE, from_root
from press.pages.questions import cards_of, faults_of_cards
from press.publish.dating import EARLIEST, written_at
from press.site import serve

# ---------------------------------------------------------------- what the notebooks hold


@pytest.mark.parametrize("path", CHAPTER_NOTEBOOKS, ids=lambda path: path.stem)
def test_a_chapter_has_six_lines_and_all_its_mistakes(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    cards = cards_of(notebook, path.stem)
    mistakes = sum(
        cell.source.count("\n:class: mistake\n")
        for cell in notebook.cells
        if cell.cell_type == "markdown"
    )
    assert [card.kind for card in cards[:6]] == ["line"] * 6
    assert len(cards) == 6 + mistakes
    assert all(card.kind in {"claim", "mistake"} for card in cards[6:])
    assert len({card.id for card in cards}) == len(cards)
    asked = [card.question for card in cards]
    assert len(set(asked)) == len(asked)
    for card in cards:
        assert card.section
        assert len(card.answer.split()) >= 7, card.answer
        if card.kind != "claim":
            assert "?" in card.question, card.question
            assert card.question[0].isupper(), card.question


def test_no_question_is_asked_twice_in_the_book() -> None:
    asked = [
        card.question
        for path in CHAPTER_NOTEBOOKS
        for card in cards_of(nbformat.read(path, as_version=4), path.stem)
    ]
    assert len(asked) >= 100
    assert len(set(asked)) == len(asked)


SUMMARY = """(positions-summary)=
## Summary

* Attention without positions is **equivariant**:
  it sees a bag.
* *RoPE* turns [queries](appendix/notation.md) by $R_m < 1$.

[Errata](errata.md)

## Further reading

* not a line of the summary
"""
CLAIM = """(positions-order)=
## Order

:::{admonition} Common mistake
:class: mistake
"Attention is *invariant*." It isn't: see ([Su et al., 2024](https://doi.org/10.1016/j.neucom.2023.127063)).
:::
"""
TOLD = """:::{admonition} Common mistake
:class: mistake
Rotating the values, too.
:::
"""
ASKED = [
    {"question": "What does attention see?", "section": "positions-order"},
    {"question": "What does RoPE turn?", "section": "positions-order"},
]


def notebook(summary: object = ASKED, told: object = ({"question": "Which?"},)) -> NotebookNode:
    return new_notebook(
        cells=[
            new_markdown_cell(CLAIM, id="order"),
            new_code_cell("1", id="code"),
            new_markdown_cell(TOLD, id="told", metadata={"cards": list(told)}),  # type: ignore[call-overload]
            new_markdown_cell(SUMMARY, id="summary", metadata={"cards": summary}),
        ]
    )


def test_cards_are_read_from_the_cells() -> None:
    cards = cards_of(notebook(), "08-positions")
    assert [(card.id, card.kind, card.section) for card in cards] == [
        ("08-positions/summary/1", "line", "positions-order"),
        ("08-positions/summary/2", "line", "positions-order"),
        ("08-positions/order/1", "claim", "positions-order"),
        ("08-positions/told/1", "mistake", "positions-order"),
    ]
    assert cards[0].answer == "Attention without positions is **equivariant**: it sees a bag."
    assert cards[2].question == '"Attention is *invariant*."'
    assert cards[2].answer.startswith("It isn't: see")
    assert cards[3].answer == "Rotating the values, too."


@pytest.mark.parametrize(
    ("cells", "cell", "sentence"),
    [
        ((ASKED[:1], [{"question": "Which?"}]), "summary", "has 2 lines and 1 questions"),
        (
            ([ASKED[0], {"section": "positions-order"}], [{"question": "Which?"}]),
            "summary",
            "`cards` 2 of the summary lacks its question",
        ),
        (
            ([ASKED[0], ASKED[1] | {"section": "rope"}], [{"question": "Which?"}]),
            "summary",
            "names the section 'rope'",
        ),
        ((ASKED, []), "told", "'Rotating the values, too.'… neither begins with a claim"),
        ((ASKED, [{}]), "told", "nor has a question in `cards`"),
        ((ASKED, ASKED), "told", "1 common mistakes and 2 questions"),
    ],
)
def test_what_a_card_lacks_is_said(cells: tuple[object, object], cell: str, sentence: str) -> None:
    [(place, said)] = faults_of_cards(notebook(*cells))
    assert place == cell
    assert sentence in said
    with pytest.raises(ValueError, match=f"08-positions, cell {cell}: "):
        cards_of(notebook(*cells), "08-positions")


def test_only_links_to_files_of_the_chapter_are_moved() -> None:
    text = (
        "[a](08-positions.ipynb#x) [b](#y) [c](/d.md) [d](positions-order) [e](https://f.org/g.md)"
    )
    assert from_root(text) == text.replace("(08", "(/chapters/08")


# ---------------------------------------------------------------- the file for Anki


def test_anki_knows_the_cards_by_numbers_that_never_change() -> None:
    notes = [Note("08-positions/summary/4", "q", "a", "s", "8 Positions")]
    _, deck = decks_of(notes)
    assert deck.notes[0].guid == "rYmAQMl|YK"
    assert NOTE_TYPE == 1_763_400_881
    assert deck.deck_id == deck_number("8 Positions") == 1_391_550_273
    assert deck.name == "A Runnable Primer::08 Positions"
    changed = decks_of([Note("08-positions/summary/4", "new", "words", "t", "8 Positions")])
    assert changed[1].notes[0].guid == deck.notes[0].guid


def test_what_anki_cannot_show_is_an_error() -> None:
    with pytest.raises(ValueError, match="holds a image, which"):
        field(nodes.paragraph("", "", nodes.image()), lambda target: "")


def test_links_lead_to_the_web_or_nowhere() -> None:
    link = nodes.reference("", "here", refuri="../a.html#b")
    assert field(link, lambda target: "") == "here"
    assert field(link, lambda target: f"https://x.org/{target}") == (
        '<a href="https://x.org/../a.html#b">here</a>'
    )


# ---------------------------------------------------------------- the page


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a book of one chapter with its cards."""
    cells = [new_markdown_cell("# Positions\n\nWords.", id="title"), *notebook().cells]
    reading = "## References\n\n```{bibliography}\n:filter: docname in docnames\n```"
    cells.append(new_markdown_cell(reading, id="reading"))
    for cell in cells:
        cell.source = cell.source.replace("[Errata](errata.md)", "The end.")
    pages = {
        PAGE: "(cards)=\n# Flash cards\n\nAsk yourself.\n\n```{cards}\n```\n",
        "chapters/appendix/notation": "# Notation\n\nWords.\n",
    }
    return build_book(tmp_path_factory.mktemp("cards"), chapter_of(cells), pages)


def test_the_file_opens_and_holds_the_cards(site: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(site / DECK) as archive:
        assert set(archive.namelist()) == {"collection.anki2", "media"}
        archive.extract("collection.anki2", tmp_path)
    with sqlite3.connect(tmp_path / "collection.anki2") as database:
        notes = database.execute("SELECT flds, mid, mod FROM notes ORDER BY id").fetchall()
        (cards,) = database.execute("SELECT count(*) FROM cards").fetchone()
    database.close()
    fields = [row[0].split("\x1f") for row in notes]
    assert cards == len(fields) == 4
    assert fields[0] == [
        "What does attention see?",
        "<p>Attention without positions is <b>equivariant</b>: it sees a bag.</p>",
        "Order",
        "8 Positions",
    ]
    assert fields[1][1] == r"<p><i>RoPE</i> turns queries by \(R_m &lt; 1\).</p>"
    assert fields[2][0] == (
        '<span class="ask">What is wrong here?</span> “Attention is <i>invariant</i>.”'
    )
    assert fields[2][1] == "<p>It isn’t: see (Su et al., 2024).</p>"
    assert fields[3][1] == "<p><b>A common mistake:</b> Rotating the values, too.</p>"
    assert {model for _, model, _ in notes} == {NOTE_TYPE}
    # Anki takes the words of a card that it knows only from a newer file.
    newest = max(path.stat().st_mtime for path in site.parents[1].glob("chapters/*.ipynb"))
    assert {mod for _, _, mod in notes} == {int(newest)}


NOTES = [
    Note(f"{n:02}-chapter/summary/{k}", f"q{k}", "a", "s", f"{n} Title")
    for n in (7, 8)
    for k in range(3)
]


def test_the_same_notes_give_the_same_file_whatever_the_clock_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, clock in {"now": None, "1970": 0.0, "2099": 4.1e9}.items():
        with monkeypatch.context() as patch:
            if clock is not None:
                patch.setattr(time, "time", lambda clock=clock: clock)
            write_decks(NOTES, tmp_path / f"{name}.apkg", EARLIEST)
    contents = {path.read_bytes() for path in tmp_path.glob("*.apkg")}
    assert len(contents) == 1
    write_decks(NOTES, tmp_path / "later.apkg", EARLIEST + 1)
    assert (tmp_path / "later.apkg").read_bytes() not in contents


def test_a_file_that_cannot_be_written_leaves_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "cards.apkg"
    write_decks(NOTES, target, EARLIEST)
    before = target.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_decks(NOTES[:2], target, EARLIEST)
    assert target.read_bytes() == before
    assert [*tmp_path.iterdir()] == [target]


def test_the_book_is_dated_by_what_is_said_its_commit_or_its_notebooks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    assert written_at(tmp_path) == EARLIEST  # as in an archive, whose files have no times
    notebook = tmp_path / "chapters/errata/a.ipynb"
    notebook.parent.mkdir(parents=True)
    notebook.write_text("")
    for time_of_file in (0, 1_790_000_000, 1_800_000_000):
        os.utime(notebook, (time_of_file, time_of_file))
        assert written_at(tmp_path) == max(time_of_file, EARLIEST)
    monkeypatch.setenv("GIT_COMMITTER_DATE", "1795000000 +0100")
    nobody = ["-c", "user.name=Nobody", "-c", "user.email=nobody@example.org"]
    for command in (["init", "-q"], ["add", "chapters"], [*nobody, "commit", "-q", "-m", "words"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    assert written_at(tmp_path) == 1_795_000_000
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1780000000")
    assert written_at(tmp_path) == 1_780_000_000
    for nonsense in ("", "yesterday", "-5"):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", nonsense)
        assert written_at(tmp_path) >= EARLIEST


def test_the_summary_leads_to_the_cards_and_they_to_the_sections(site: Path) -> None:
    chapter = BeautifulSoup((site / f"{CHAPTER}.html").read_text("utf-8"), "html.parser")
    [link] = chapter.select(".to-cards a")
    assert link["href"] == "appendix/cards.html#cards-08-positions"
    assert link.text == "the 4 cards of this chapter"
    assert link.find_previous("ul").text.strip().endswith(".")
    page = BeautifulSoup((site / f"{PAGE}.html").read_text("utf-8"), "html.parser")
    assert page.select_one("#cards-08-positions h2") is not None
    assert len(page.select("details.card-fold > summary")) == 4
    assert {link["href"] for link in page.select(".card-where a")} == {
        "../08-positions.html#positions-order"
    }
    assert page.select_one(".card-fold a[href='notation.html']") is not None
    [file] = page.select("a.card-file")
    assert (site / PAGE).parent.joinpath(file["href"]).resolve() == (site / DECK).resolve()


@pytest.fixture
def opened(chromium: Browser, site: Path) -> Iterator[Callable[..., Page]]:
    """Open the page of cards from disk, or where it is served; no error may be reported."""
    contexts, errors = [], []

    def show(home: str = "", **options: object) -> Page:
        context = chromium.new_context(**options)  # type: ignore[arg-type]
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"{home or site.as_uri()}/{PAGE}.html")
        return page

    yield show
    for context in contexts:
        context.close()
    assert errors == []


def question(page: Page) -> str:
    """Return the question that has the focus, the only one that is shown."""
    expect(page.locator(".card-fold:visible")).to_have_count(1)
    return page.evaluate("document.activeElement.innerText").split("\n")[-1].strip()


@pytest.mark.browser
def test_by_key_a_card_that_was_not_known_comes_back(opened: Callable[..., Page]) -> None:
    page = opened()
    start = page.get_by_role("button", name="Ask me these 4 cards")
    tab_to(page, start)
    page.keyboard.press("Enter")
    assert question(page) == "What does attention see?"
    page.keyboard.press("ArrowRight")  # nothing is judged before the answer was seen
    assert question(page) == "What does attention see?"
    page.keyboard.press("Enter")
    expect(page.get_by_text("it sees a bag")).to_be_visible()
    page.keyboard.press("ArrowLeft")  # not known
    expect(page.get_by_role("status")).to_have_text("4 cards to go")
    for expected in ("What does RoPE turn?", "“Attention is invariant.”", "Which?"):
        assert question(page) == expected
        page.keyboard.press("Space")
        expect(page.get_by_role("button", name="I knew it")).to_be_visible()
        page.keyboard.press("ArrowRight")
    assert question(page) == "What does attention see?"
    page.keyboard.press("Enter")
    known = page.get_by_role("button", name="I knew it")
    expect(known).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Order")).to_be_focused()
    page.keyboard.press("Tab")
    expect(known).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text("Done: 3 of 4 cards known at the first try.")
    assert start.evaluate("(node) => node === document.activeElement")
    expect(page.locator(".card-fold:visible")).to_have_count(4)


@pytest.mark.browser
def test_escape_leads_back_to_the_list(opened: Callable[..., Page]) -> None:
    page = opened()
    page.get_by_role("button", name="Ask me these 4 cards").click()
    page.keyboard.press("Escape")
    expect(page.locator(".card-fold:visible")).to_have_count(4)
    expect(page.get_by_role("button", name="Ask me these 4 cards")).to_be_focused()


@pytest.mark.browser
def test_without_a_script_they_are_a_list_that_opens(opened: Callable[..., Page]) -> None:
    page = opened(java_script_enabled=False)
    assert page.locator(".card-fold:visible").count() == 4
    assert page.locator(".standing").count() == 0
    page.locator(".card-fold summary").nth(1).click()
    expect(page.get_by_text("turns queries")).to_be_visible()


@pytest.mark.browser
def test_axe_finds_nothing(opened: Callable[..., Page], site: Path) -> None:
    with serve(site) as home:
        page = opened(home, reduced_motion="reduce")
        page.get_by_role("button", name="Ask me these 4 cards").click()
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="Ask me again")).to_be_visible()
        assert violations_on(page) == []
