"""Questions, tasks and lines in order: their form, and how they answer on the page."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from asking_book import CHOICE, NUMBER, ORDER, SEEN
from axe import violations_on
from bs4 import BeautifulSoup
from by_keyboard import tab_to
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from playwright.sync_api import Browser, Locator, Page, expect
from tiny_book import CHAPTER, NOTHING_KEPT

from press.audit.asking import boxes, faults_of_box
from press.audit.form import faults, names_used_twice
from press.site import serve

Open = Callable[..., Page]
SHIFT, TURNS, LOOK, STEP = (
    f"#{name}"
    for name in (
        "ask-positions-shift",
        "try-positions-turns",
        "try-positions-look",
        "order-positions-step",
    )
)
ANSWERED = "→ try-positions-turns: 0.80 turns (within 0.05)\n"


def faults_in(text: str) -> list[str]:
    """Return what is wrong with the boxes of a text."""
    return [fault for box in boxes(text) for fault in faults_of_box(box)]


@pytest.mark.parametrize("text", [CHOICE, NUMBER, ORDER, SEEN])
def test_a_sound_box_has_no_fault(text: str) -> None:
    assert len(list(boxes(text))) == 1
    assert faults_in(text) == []


FAULTS = [
    (CHOICE.replace(":name: ask-positions-shift\n", ""), "that begins with 'ask-'"),
    (CHOICE.replace("ask-positions", "try-positions"), "that begins with 'ask-'"),
    (CHOICE.replace("positions-shift", "Positions_Shift"), "small letters, digits and hyphens"),
    (NUMBER.replace("try-positions", "ask-positions"), "that begins with 'try-'"),
    (ORDER.replace("order-positions", "positions"), "that begins with 'order-'"),
    (CHOICE.replace("Right. Only", "Only"), "has 0 right choices"),
    (CHOICE.replace("They are", "Right. They are"), "has 2 right choices"),
    (CHOICE.replace("Both tokens move on by five places. Why does", "").replace(
        "the score $q^\\top k$ stay?", ""), "asks nothing"),
    (CHOICE.replace("They are, by five steps each, and that is seen in the picture.", ""),
     "does not reply to 'The arrows are not turned at all'"),
    (CHOICE.replace("dropdown} The angles", "note} The angles"), "has 1 choices; two or three"),
    (CHOICE.replace("The angles of both grow alike", "Answer"), "has choices beside 'Answer'"),
    (SEEN.replace("class: task", "class: question").replace("try-", "ask-"), "is no task"),
    (NUMBER.replace("Five radians are $5/(2\\pi)$ of a turn, a little less than a whole one.", ""),
     "has an empty fold 'Answer'"),
    (ORDER.replace("1. `embed` the new", "1. `embed` a new"),
     "the numbered line '`embed` a new token only' is none of its bullets, word for word"),
    (ORDER.replace("*compute all keys again* – a", "A"),
     "does not reply to the decoy 'compute all keys again'"),
    (ORDER.replace("*compute all keys again*", "*compute all values*"),
     "replies to 'compute all values', which is no bullet that is left out"),
    (ORDER.replace("In order\n1", "Lines\n1"), "has one fold, 'In order'"),
    (ORDER.replace("* compute all keys again", "* sample the next token from the last row"),
     "has two bullets of the same words"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "sentence"), FAULTS, ids=[sentence for _, sentence in FAULTS])
def test_a_fault_of_a_box_is_a_sentence(text: str, sentence: str) -> None:
    assert any(sentence in fault for fault in faults_in(text)), faults_in(text)


def notebook(*texts: str, printed: str = "") -> NotebookNode:
    """Make a notebook of texts, and of a check that prints something."""
    cells = [new_markdown_cell(text, id=f"text-{number}") for number, text in enumerate(texts)]
    if printed:
        outputs = [new_output("stream", text=printed)]
        metadata = {"tags": ["check"]}
        cells.append(new_code_cell("answer()", id="check", outputs=outputs, metadata=metadata))
    return new_notebook(cells=cells)


def test_a_number_has_its_answer_in_the_same_section() -> None:
    assert faults(notebook(NUMBER, printed=ANSWERED)) == []
    (fault,) = faults(notebook(NUMBER))
    assert fault.startswith("try-positions-turns asks for a number: compute it by `answer_to(")
    (fault,) = faults(notebook("Nothing.", printed=ANSWERED))
    assert fault == (
        "a check answers try-positions-turns, which no question or task of its section asks for"
    )
    assert len(faults(notebook(NUMBER, "(a-b)=\n## Later", printed=ANSWERED))) == 2
    assert faults(notebook(NUMBER, printed=2 * ANSWERED)) == [
        "two checks answer try-positions-turns"
    ]


def test_a_name_is_used_once_in_the_book(tmp_path: Path) -> None:
    assert faults(notebook(SEEN, SEEN)) == ["the name try-positions-look is used twice"]
    paths = [tmp_path / "a.ipynb", tmp_path / "b.ipynb"]
    for path in paths:
        path.write_text(json.dumps(notebook(SEEN)), encoding="utf-8")
    assert names_used_twice(paths) == [
        "the name try-positions-look is used in a.ipynb and in b.ipynb"
    ]


def test_the_build_gives_each_line_its_place_and_each_number_its_field(asking_site: Path) -> None:
    page = BeautifulSoup((asking_site / f"{CHAPTER}.html").read_text("utf-8"), "html.parser")
    places = [line["class"][0] for line in page.select(f"{STEP} > ul > li")]
    assert places == ["place-3", "place-0", "place-1", "place-2"]
    assert [one["class"][:2] for one in page.select(f"{STEP} .decoy")] == [["decoy", "of-1"]]
    (form,) = page.select(f"{TURNS} > form.prediction")
    assert (form["data-value"], form["data-unit"], form["data-within"]) == ("0.80", "turns", "0.05")
    assert page.select(f"{LOOK} form") == []
    assert [one["class"][-1] for one in page.select(f"{SHIFT} .choice")] == ["wrong", "right"]


@pytest.fixture
def asking(reading_page: Open, asking_home: str) -> Page:
    """Open the chapter, served."""
    return reading_page(home=asking_home)


def stored(page: Page, name: str = "questions") -> dict[str, object]:
    """Return what is kept."""
    found = page.evaluate(f"localStorage.getItem('runnable-primer:{name}')")
    return dict(json.loads(found or "{}"))


@pytest.mark.browser
def test_the_first_choice_of_a_question_is_kept(asking: Page) -> None:
    summaries = asking.locator(f"{SHIFT} summary")
    tab_to(asking, summaries.nth(0))
    asking.keyboard.press("Enter")
    expect(asking.locator(f"{SHIFT} .choice").nth(0)).to_have_class("choice wrong tried")
    asking.keyboard.press("Tab")
    asking.keyboard.press("Space")
    expect(asking.locator(f"{SHIFT} .choice").nth(1)).to_have_class("choice right tried")
    assert stored(asking) == {"ask-positions-shift": "0"}
    assert list(stored(asking, "review")) == ["ask-positions-shift"]
    asking.reload()
    expect(asking.locator(f"{SHIFT} .tried")).to_have_count(1)
    assert asking.locator(f"{SHIFT} .choice").nth(0).get_attribute("class") == "choice wrong tried"


REPLIES = {
    "0.4": "You said 0.4; it is 0.80 turns, larger by a factor of 2.",
    "0.7": "You said 0.7; it is 0.80 turns, larger by 0.1.",
    "0.85": "Right. You said 0.85; it is 0.80 turns.",
    "4/5 turns": "Right. You said 4/5 turns; it is 0.80 turns.",
    "2.4": "You said 2.4; it is 0.80 turns, smaller by a factor of 3.",
    "−1": "You said −1; it is 0.80 turns, larger by 1.8.",
    "0,8": "A number is expected: decimals follow a point, not a comma.",
    "many": "A number is expected.",
    "": "A number is expected.",
    "0.8 apples": "A number is expected: leave out “apples”.",
}
NUMBERS = [
    ({"value": "124400", "unit": "", "within": "500"}, "120,000",
     "You said 120,000; it is 124,400, larger by 4,400."),
    ({"value": "124400", "unit": "numbers", "within": "500"}, "124,000 numbers",
     "Right. You said 124,000 numbers; it is 124,400 numbers."),
    ({"value": "-2.5", "unit": "%", "within": "0.1"}, "-1 %",
     "You said -1 %; it is −2.5 %, smaller by 1.5."),
    ({"value": "0.00001234", "unit": "", "within": "0.000001"}, "2e-5",
     "You said 2e-5; it is 0.00001234, smaller by 7.7 × 10⁻⁶."),
]  # fmt: skip


@pytest.mark.browser
def test_a_prediction_hears_how_far_it_is(asking: Page) -> None:
    data = {"value": "0.80", "unit": "turns", "within": "0.05"}
    given = [(data, text, reply) for text, reply in REPLIES.items()] + NUMBERS
    for number, text, reply in given:
        script = "([number, text]) => predictions.replyTo(number, text).reply"
        assert asking.evaluate(script, [number, text]) == reply


@pytest.mark.browser
def test_the_first_number_is_kept_and_the_fold_says_what_it_means(asking: Page) -> None:
    box = asking.locator(TURNS)
    field, fold = box.get_by_label("Your prediction: how many turns?"), box.locator("details")
    tab_to(asking, field)
    asking.keyboard.type("soon")
    asking.keyboard.press("Enter")
    expect(box.get_by_role("status")).to_have_text("A number is expected.")
    expect(fold).not_to_have_attribute("open", "")
    assert stored(asking) == {}
    for text in ("0.4", "0.8"):
        field.fill(text)
        asking.keyboard.press("Enter")
        expect(box.get_by_role("status")).to_have_text(
            REPLIES.get(text) or "Right. You said 0.8; it is 0.80 turns."
        )
    expect(fold.locator(".reply")).to_be_visible()
    assert stored(asking) == {"try-positions-turns": "0.4"}
    asking.reload()
    expect(box.get_by_role("status")).to_have_text(REPLIES["0.4"])
    expect(field).to_have_value("0.4")


@pytest.mark.browser
def test_an_answer_is_shown_to_who_only_asks_for_it(asking: Page) -> None:
    for place in (TURNS, LOOK, STEP):
        asking.locator(f"{place} > details > summary").click()
        expect(asking.locator(f"{place} > details > .reply")).to_be_visible()
    expect(asking.locator(f"{TURNS} [role=status]")).to_have_text("")
    asking.wait_for_function("localStorage.getItem('runnable-primer:review')?.includes('order-')")
    assert set(stored(asking)) == {"try-positions-look"}  # nothing was predicted of the others
    assert set(stored(asking, "review")) == {
        "try-positions-turns",
        "try-positions-look",
        "order-positions-step",
    }


def lines_of(page: Page) -> list[str]:
    """Return the first words of the lines that are in the list."""
    found: list[str] = page.locator(f"{STEP} > .lines > li .line").all_text_contents()
    return [line.split()[0] for line in found]


def reply_of(page: Page) -> Locator:
    """Return what is said of the order."""
    return page.locator(f"{STEP} > .reply")


@pytest.mark.browser
def test_lines_are_put_in_order_by_keyboard(asking: Page) -> None:
    box = asking.locator(STEP)

    def check(*sentences: str) -> None:
        tab_to(asking, box.get_by_role("button", name="Check"))
        asking.keyboard.press("Enter")
        for sentence in sentences:
            expect(reply_of(asking)).to_contain_text(sentence)

    check("sample the next token from the last row comes too early")
    first = stored(asking)
    tab_to(asking, box.get_by_role("button", name="Move up: embed the new token only"))
    asking.keyboard.press("Enter")
    asking.keyboard.press("Enter")  # the button keeps the focus
    expect(reply_of(asking)).to_have_text("Line 1 of 4.")
    assert lines_of(asking) == ["embed", "sample", "compute", "score"]
    tab_to(asking, box.get_by_role("button", name="Move down: sample"))
    asking.keyboard.press("Space")
    check("The first line stands right.", "compute all keys again does not belong.", "cache holds")
    tab_to(asking, box.get_by_role("button", name="Leave out: compute all keys again"))
    asking.keyboard.press("Enter")
    expect(reply_of(asking)).to_have_text("Left out.")
    expect(box.get_by_role("button", name="Put back: compute all keys again")).to_be_focused()
    tab_to(asking, box.get_by_role("button", name="Leave out: sample"))
    asking.keyboard.press("Enter")
    check("The first 2 lines stand right. What comes next is left out.")
    tab_to(asking, box.get_by_role("button", name="Leave out: score"))
    asking.keyboard.press("Enter")
    check("The first line stands right. What comes next is left out.")
    for name in ("score", "sample"):
        tab_to(asking, box.get_by_role("button", name=f"Put back: {name}"))
        asking.keyboard.press("Enter")
    assert stored(asking) == first  # the first try counts
    check("Right. The 3 lines stand in order.", "cache holds them")
    assert lines_of(asking) == ["embed", "score", "sample"]
    asking.reload()
    expect(reply_of(asking)).to_contain_text("Right. The 3 lines stand in order.")
    assert lines_of(asking) == ["embed", "score", "sample"]


@pytest.mark.browser
@pytest.mark.parametrize("touch", [False, True])
def test_a_line_is_dragged_by_its_handle(
    reading_page: Open, asking_site: Path, touch: bool
) -> None:
    page = reading_page(viewport={"width": 390 if touch else 1280, "height": 844}, has_touch=touch)
    page.goto(f"{asking_site.as_uri()}/{CHAPTER}.html")
    list_ = page.locator(f"{STEP} > .lines")
    list_.scroll_into_view_if_needed()
    handle = list_.locator("li", has_text="new token only").locator(".handle").bounding_box()
    goal = list_.locator("li").first.bounding_box()
    assert handle is not None
    assert goal is not None
    x, y = handle["x"] + 5, handle["y"] + 8
    if touch:
        session = page.context.new_cdp_session(page)
        steps = [(y + (goal["y"] - 4 - y) * step / 10) for step in range(11)]
        for number, at in enumerate(steps):
            kind = "touchStart" if number == 0 else "touchMove"
            points = [{"x": x, "y": at}]
            session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    else:
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x, goal["y"] - 4, steps=10)
        page.mouse.up()
    expect(reply_of(page)).to_have_text("Line 1 of 4.")
    assert lines_of(page)[0] == "embed"


@pytest.mark.browser
@pytest.mark.parametrize("kept", ["7 8 9", "0 0 1", "none", "nonsense ✓", "\u0000"])
def test_an_order_that_nobody_can_have_made_does_no_harm(
    reading_page: Open, asking_home: str, kept: str
) -> None:
    text = json.dumps({"order-positions-step": kept, "try-positions-turns": kept})
    script = f"localStorage.setItem('runnable-primer:questions', {json.dumps(text)})"
    page = reading_page(script, home=asking_home)
    expect(page.locator(f"{STEP} li")).to_have_count(7)  # four lines, three in the fold
    assert len(lines_of(page)) in (0, 4)


@pytest.mark.browser
def test_where_nothing_is_kept_everything_answers(reading_page: Open, asking_site: Path) -> None:
    page = reading_page(NOTHING_KEPT)
    page.goto(f"{asking_site.as_uri()}/{CHAPTER}.html")
    page.locator(f"{SHIFT} summary").nth(1).click()
    page.locator(f"{TURNS} input").fill("0.4")
    page.locator(f"{TURNS} button").click()
    expect(page.locator(f"{TURNS} [role=status]")).to_have_text(REPLIES["0.4"])
    page.locator(f"{STEP} .check-order").click()
    expect(reply_of(page)).to_contain_text("comes too early")


@pytest.mark.browser
def test_without_scripts_and_on_paper_the_folds_say_it(
    reading_page: Open, asking_site: Path
) -> None:
    for options in ({"java_script_enabled": False}, {}):
        page = reading_page(**options)
        page.goto(f"{asking_site.as_uri()}/{CHAPTER}.html")
        if not options:
            page.emulate_media(media="print")
        expect(page.locator(f"{TURNS} form")).to_be_hidden()
        expect(page.locator(f"{STEP} > ul > li").first).to_be_visible()
        if options:
            page.locator(f"{TURNS} summary").click()
        expect(page.locator(f"{TURNS} .fold-answer > .reply")).to_be_visible()
        offered = [button for button in page.locator("button").all() if button.is_visible()]
        for button in offered:  # a download, which opens by its focus
            assert options
            assert "dropdown-toggle" in (button.get_attribute("class") or "")
            button.click()
        if offered:
            expect(page.locator(".dropdown-menu a").first).to_be_visible()


@pytest.mark.browser
def test_an_answer_waits_for_scripts_that_are_still_to_come(
    chromium: Browser, asking_site: Path
) -> None:
    context = chromium.new_context()
    page = context.new_page()
    page.route("**/*.js", lambda route: route.abort())
    with serve(asking_site) as home:
        page.goto(address := f"{home}/{CHAPTER}.html")
        fields = page.locator("article form input[type=text]")
        kinds = {field.evaluate("(one) => one.form.className") for field in fields.all()}
        assert kinds == {"prediction", "page-answer"}
        for field in fields.all():
            field.fill("0.4")
            field.press("Enter")
        expect(page).to_have_url(address)
        assert {field.input_value() for field in fields.all()} == {"0.4"}
    context.close()


@pytest.mark.browser
def test_what_is_answered_is_counted_taken_out_and_put_back(asking: Page, tmp_path: Path) -> None:
    asking.locator(f"{SHIFT} summary").nth(1).click()
    asking.locator(f"{TURNS} input").fill("0.4")
    asking.locator(f"{TURNS} button").click()
    expect(asking.locator(f"{TURNS} [role=status]")).to_contain_text("You said")
    asking.goto(asking.url.split("#")[0].replace("08-positions", "appendix/kept"))
    row = asking.locator(".kept tbody tr", has_text="Positions").locator("td").last
    expect(row).to_have_text("2 of 5")
    before = stored(asking), stored(asking, "review")
    with asking.expect_download() as download:
        asking.get_by_role("button", name="Save as a file").click()
    download.value.save_as(tmp_path / "kept.json")
    for _ in range(2):
        asking.locator(".kept .deeds button").last.click()
    expect(row).to_have_text("0 of 5")
    assert (stored(asking), stored(asking, "review")) == ({}, {})
    asking.locator(".kept input[type=file]").set_input_files(tmp_path / "kept.json")
    expect(row).to_have_text("2 of 5")
    assert (stored(asking), stored(asking, "review")) == before


@pytest.mark.browser
def test_targets_are_large_and_axe_finds_nothing(asking: Page) -> None:
    asking.locator(f"{SHIFT} summary").nth(0).click()
    asking.locator(f"{TURNS} input").fill("0.4")
    asking.locator(f"{TURNS} button").click()
    asking.locator(f"{STEP} .leave").nth(1).click()
    asking.locator(f"{STEP} .check-order").click()
    for target in asking.locator(
        f":is({SHIFT}, {TURNS}, {STEP}) :is(button, summary, input)"
    ).all():
        size = target.bounding_box()
        assert size is not None
        assert min(size["width"], size["height"]) >= 24
    assert violations_on(asking) == []
    assert asking.evaluate("document.documentElement.scrollWidth <= innerWidth")
