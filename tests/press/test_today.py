"""Today: what was met comes back after a day, a week and a month, mixed, and nothing is lost."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from axe import violations_on
from by_keyboard import tab_to
from playwright.sync_api import Locator, Page, expect
from sample_exercises import check_count, check_order
from tiny_book import NOTHING_KEPT

from press.pages.page_answers import form
from press.pages.today import element_at, moved

Open = Callable[..., Page]
DAY = 86_400_000  # ms
NOON = 1_800_000_000_000 - 1_800_000_000_000 % DAY + DAY // 2
"""A noon in Greenwich; the browsers of these tests stand there."""
PAGE = "chapters/appendix/today.html"
SECTIONS = {
    "ask-attention-sum": "a-first-look",
    "ask-attention-sign": "a-first-look",
    "07-attention/summary/1": "a-first-look",
    "07-attention/summary/2": "a-first-look",
    "ask-positions-shift": "first-section",
    "try-positions-turns": "second-section",
    "try-positions-look": "second-section",
    "order-positions-step": "third-section",
    "8.1": "exercises",
}
"""What a reader has met, and where it stands."""
UNDATED = ("07-attention/summary/1", "07-attention/summary/2", "try-positions-look")
MET = {
    "review": {name: [0, NOON] for name in SECTIONS if name not in UNDATED},
    "progress": {
        "07-attention": {"read": ["a-first-look"], "stop": "a-first-look", "at": NOON},
        "08-positions": {"read": [], "stop": "first-section", "at": NOON},
    },
    "questions": {"try-positions-look": "seen"},
}
"""What her browser keeps: an earlier edition did not date all of it."""


def opened(
    reading_page: Open, home: str, kept: dict[str, Any], days: float = 1, **options: Any
) -> Page:
    """Open Today so many days after that noon, in a browser that keeps this."""
    page = reading_page(home=home, timezone_id="UTC", **options)
    page.evaluate(
        "(kept) => { for (const name in kept)"
        " localStorage.setItem(`runnable-primer:${name}`, JSON.stringify(kept[name])); }",
        kept,
    )
    page.clock.install()
    come_back(page, days, f"{home}/{PAGE}")
    return page


def come_back(page: Page, days: float, address: str = "") -> None:
    """Open the page again so many days after that noon."""
    page.clock.set_fixed_time((NOON + days * DAY) / 1000)
    page.goto(address or page.url)
    page.locator(".today > .told").wait_for(state="attached")


def stored(page: Page, name: str = "review") -> dict[str, Any]:
    """Return what is kept."""
    return dict(
        json.loads(page.evaluate(f"localStorage.getItem('runnable-primer:{name}')") or "{}")
    )


def standing(page: Page) -> Locator:
    """Return the line that says how far one is."""
    return page.locator(".today > .standing")


def button(page: Page, name: str) -> Locator:
    """Return a button below what is asked."""
    return page.locator(".today > .deeds").get_by_role("button", name=re.compile(name))


def answer(page: Page, *, known: bool = True) -> str:
    """Answer what is asked now, and return its name."""
    box = page.locator(".today .asked")
    name = str(box.get_attribute("data-name"))
    if "/" in name or name.endswith("-look"):
        box.locator("summary").click()
        button(page, "I knew it" if known else "Not yet").click()
    elif name == "8.1":  # with other numbers than its chapter has
        expect(box.locator(".question")).to_be_visible()
        question = box.locator(".question").inner_text()
        (asked,) = (one for one in check_count.others if one.question == question)
        box.locator("input").fill(f"{asked.right}" if known else "7")
        box.get_by_role("button", name="Check").click()
    elif box.locator("form").count():
        box.locator("input").fill("0.8" if known else "7")
        box.get_by_role("button", name="Check").click()
    elif name.startswith("order"):
        if known:
            box.get_by_role("button", name="Leave out: compute").click()
            for _ in range(2):
                box.get_by_role("button", name="Move down: sample").click()
        box.get_by_role("button", name="Check").click()
    else:
        box.locator(".choice.right" if known else ".choice.wrong").first.locator("summary").click()
    expect(page.locator(".asked-where")).to_contain_text(re.compile("Comes back|it rests"))
    return name


def go_through(page: Page, *, known: bool = True) -> list[str]:
    """Answer all of a round; return the names in their order."""
    button(page, "Ask me").click()
    names = []
    while not names or "of" in (standing(page).inner_text()):
        expect(standing(page)).to_contain_text(f"Question {len(names) + 1} of ")
        names.append(answer(page, known=known))
        last = standing(page).inner_text().split()
        button(page, "Next|Finish").click()
        if last[1] == last[3]:
            break
    expect(standing(page)).to_contain_text("Done for now")
    return names


@pytest.mark.browser
def test_what_was_met_comes_back_after_a_day_a_week_and_a_month(
    reading_page: Open, asking_home: str
) -> None:
    page = opened(reading_page, asking_home, MET, days=0.4)
    expect(standing(page)).to_have_text(
        "You have met 9 questions; none is due today. 9 questions come back tomorrow."
    )
    day = 0.6  # the next morning
    for then in (7, 30):
        come_back(page, day)
        expect(standing(page)).to_have_text("You have met 9 questions.")
        names = go_through(page)
        assert sorted(names) == sorted(SECTIONS)
        assert all(SECTIONS[one] != SECTIONS[next_] for one, next_ in pairwise(names)), names
        expect(standing(page)).to_have_text(
            f"Done for now: 9 of 9 known. 9 questions come back in {then} days."
        )
        come_back(page, day + then - 0.9)
        expect(standing(page)).to_contain_text("none is due today. 9 questions come back tomorrow.")
        day += then
    come_back(page, day)
    assert sorted(go_through(page)) == sorted(SECTIONS)
    expect(standing(page)).to_have_text("Done for now: 9 of 9 known.")
    come_back(page, 1000)
    expect(standing(page)).to_have_text("You have met 9 questions; none is due today.")


@pytest.mark.browser
def test_what_is_missed_comes_back_the_next_day(reading_page: Open, asking_home: str) -> None:
    known = {**MET, "review": {"ask-attention-sum": [2, NOON], "8.1": [1, NOON]}, "questions": {}}
    known["progress"] = {}
    page = opened(reading_page, asking_home, known, days=40)
    names = go_through(page, known=False)
    assert names == ["8.1", "ask-attention-sum"]  # what has waited longer comes first
    expect(standing(page)).to_have_text(
        "Done for now: 0 of 2 known. 2 questions come back tomorrow."
    )
    assert {name: step for name, (step, _) in stored(page).items()} == dict.fromkeys(names, 0)
    come_back(page, 41)
    assert len(go_through(page)) == 2


@pytest.mark.browser
def test_an_answer_that_was_only_looked_at_is_not_known(
    reading_page: Open, asking_home: str
) -> None:
    kept = {"review": {"try-positions-turns": [1, NOON]}}
    page = opened(reading_page, asking_home, kept, days=8)
    button(page, "Ask me 1 question").click()
    page.locator(".asked .fold-answer summary").click()
    expect(page.locator(".asked-where")).to_contain_text(
        "Comes back tomorrow. From 8.2 Second section"
    )
    button(page, "Finish").click()
    expect(standing(page)).to_contain_text("0 of 1 known")


@pytest.mark.browser
def test_who_has_no_answer_to_an_exercise_is_shown_it(reading_page: Open, asking_home: str) -> None:
    page = opened(reading_page, asking_home, {"review": {"8.1": [1, NOON]}}, days=8)
    button(page, "Ask me 1 question").click()
    page.locator(".asked").get_by_role("button", name="Show the answer").click()
    expect(page.locator(".asked .reply")).to_have_text(re.compile(r"The answer is \d+\. \w+"))
    expect(page.locator(".asked-where")).to_contain_text("Comes back tomorrow.")
    button(page, "Finish").click()
    expect(standing(page)).to_contain_text("0 of 1 known")


@pytest.mark.browser
def test_so_is_who_has_none_to_one_without_other_numbers(
    reading_page: Open, asking_home: str
) -> None:
    page = opened(reading_page, asking_home, {})
    told = page.evaluate(
        """(form) => {
          document.querySelector(".today").innerHTML = form;
          const [told, box] = [[], document.querySelector(".today form")];
          window.askAnew(box, (...said) => told.push(said));
          box.querySelector("[type=button]:not([hidden])").click();
          return [...told, box.querySelector(".reply").textContent];
        }""",
        form(check_order, "chapters/08-positions"),
    )
    assert told == [["", False], "The answer is (b). Nothing in it depends on n."]


@pytest.mark.browser
def test_an_exercise_with_other_numbers_does_not_show_those_of_its_chapter(
    reading_page: Open, asking_home: str
) -> None:
    page = opened(reading_page, asking_home, {"review": {name: [0, NOON] for name in ("8.1",)}})
    button(page, "Ask me").click()
    expect(page.locator(".asked .question")).to_be_visible()
    expect(page.locator(".asked .exercise .admonition-title")).to_be_visible()
    expect(page.locator(".asked .exercise > :not(.admonition-title)")).to_be_hidden()


@pytest.mark.browser
def test_choices_stand_in_another_order_each_time(reading_page: Open, asking_home: str) -> None:
    page = opened(reading_page, asking_home, {})
    orders = page.evaluate("""() => Array.from({ length: 40 }, () => {
      const box = document.createElement("div");
      box.className = "admonition question";
      const choice = '<details class="choice"><summary>$&</summary></details>';
      const inner = "abc".replaceAll(/./g, choice);
      box.innerHTML = `<p>?</p>${inner}<p>!</p>`;
      window.askAnew(box, () => {});
      return box.textContent;
    })""")
    assert len(set(orders)) > 3
    assert {"".join(sorted(order)) for order in orders} == {"!?abc"}
    assert all(order[0] + order[-1] == "?!" for order in orders)


@pytest.mark.browser
@pytest.mark.parametrize("height", [844, 480])
def test_a_question_is_seen_whole_when_it_is_asked(
    reading_page: Open, asking_home: str, height: int
) -> None:
    review = {key: [0, NOON] for key in ("ask-attention-sum", "ask-positions-shift", "8.1")}
    kept = {"review": review}
    page = opened(reading_page, asking_home, kept, viewport={"width": 390, "height": height})
    button(page, "Ask me").click()
    for number in range(3):
        expect(standing(page)).to_have_text(f"Question {number + 1} of 3")
        expect(page.locator(".asked")).to_be_in_viewport(ratio=1)
        answer(page)
        page.mouse.wheel(0, 400)
        button(page, "Next|Finish").click()


@pytest.mark.browser
def test_it_is_taken_out_and_put_back(reading_page: Open, asking_home: str, tmp_path: Path) -> None:
    page = opened(reading_page, asking_home, MET, days=1)
    go_through(page)
    before = stored(page)
    assert {step for step, _ in before.values()} == {1}
    page.goto(page.url.replace("today", "kept"))
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as a file").click()
    download.value.save_as(tmp_path / "kept.json")
    for _ in range(2):
        page.locator(".kept .deeds button").last.click()
    assert stored(page) == {}
    page.evaluate(  # another device, on which less was known, and earlier
        f"localStorage.setItem('runnable-primer:review', '{{\"8.1\": [0, {NOON}]}}')"
    )
    page.locator(".kept input[type=file]").set_input_files(tmp_path / "kept.json")
    expect(page.locator(".kept .told")).to_contain_text("added to what was here")
    assert stored(page) == before
    come_back(page, 8, page.url.replace("kept", "today"))
    expect(button(page, "Ask me 9 questions")).to_be_visible()


@pytest.mark.browser
def test_another_edition_drops_what_has_gone_and_keeps_the_rest(
    reading_page: Open, asking_home: str
) -> None:
    review = {**MET["review"], "ask-gone-for-good": [2, NOON], "guess-00000000": [0, NOON]}
    kept = {**MET, "review": {**review, "07-attention#gone": [0, NOON], "x": "nonsense"}}
    page = opened(reading_page, asking_home, kept)
    told = page.locator(".today > .told")
    expect(told).to_have_text("2 questions are no longer in the book, and dropped here.")
    assert sorted(stored(page)) == sorted(SECTIONS)
    page.reload()
    expect(told).to_have_text("")


@pytest.mark.browser
def test_a_clock_that_was_set_back_loses_nothing(reading_page: Open, asking_home: str) -> None:
    kept = {"review": {"8.1": [1, NOON + 900 * DAY], "ask-attention-sum": [0, NOON - 5 * DAY]}}
    page = opened(reading_page, asking_home, kept, days=0)
    told = page.locator(".today > .told")
    expect(told).to_have_text(
        "By this device’s clock 1 question was answered at a time to come: "
        "the days count from today."
    )
    assert stored(page) == {"8.1": [1, NOON], "ask-attention-sum": [0, NOON - 5 * DAY]}
    come_back(page, 7)
    expect(told).to_have_text("")
    expect(button(page, "Ask me 2 questions")).to_be_visible()


FULL = """localStorage.setItem("runnable-primer:questions", '{ "ask-attention-sum": "0" }');
const set = Storage.prototype.setItem;
Storage.prototype.setItem = function (key, text) {
  if (key === "runnable-primer:review") throw new DOMException("full", "QuotaExceededError");
  set.call(this, key, text);
};"""


@pytest.mark.browser
@pytest.mark.parametrize(("script", "met"), [(NOTHING_KEPT, 0), (FULL, 1)])
def test_where_nothing_is_kept_a_sentence_says_so(
    reading_page: Open, asking_site: Path, script: str, met: int
) -> None:
    page = reading_page(script)
    page.goto(f"{asking_site.as_uri()}/{PAGE}")
    expect(page.locator(".today > .told")).to_contain_text("its storage is switched off or full")
    if met:
        button(page, "Ask me 1 question").click()
        answer(page)
        assert stored(page, "questions") == {"ask-attention-sum": "0"}
    else:
        expect(page.locator(".today .empty")).to_be_visible()


@pytest.mark.browser
@pytest.mark.parametrize("text", ["nonsense", "[1, 2]", '{"8.1": 3, "a": [1], "b": ["x", 1]}'])
def test_nonsense_in_the_storage_is_as_nothing(
    reading_page: Open, asking_home: str, text: str
) -> None:
    script = f"localStorage.setItem('runnable-primer:review', {json.dumps(text)})"
    page = reading_page(script, home=asking_home)
    page.goto(f"{asking_home}/{PAGE}")
    expect(page.locator(".today .empty")).to_be_visible()
    expect(page.locator(".today > .told")).to_have_text("")


@pytest.mark.browser
def test_from_disk_only_chapters_that_were_met_are_loaded(
    reading_page: Open, asking_site: Path
) -> None:
    page = reading_page("localStorage.clear();")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.rpartition("/")[2].split("?")[0]))
    page.goto(f"{asking_site.as_uri()}/{PAGE}")
    expect(page.locator(".today .empty")).to_contain_text("Nothing is here yet.")
    page.add_init_script("""localStorage.setItem("runnable-primer:review",
      JSON.stringify({ "ask-attention-sum": [0, 0], "ask-attention-sign": [0, 0] }));""")
    page.reload()
    expect(page.locator(".today .empty")).to_be_hidden()
    button(page, "Ask me 1 question of 2").click()  # both are of one section
    answer(page)
    assert "07-attention.js" in asked
    assert "08-positions.js" not in asked


@pytest.mark.browser
def test_what_cannot_be_loaded_is_asked_another_time(reading_page: Open, asking_home: str) -> None:
    page = opened(reading_page, asking_home, {"review": {"8.1": [0, NOON]}})
    page.route("**/today/08-positions.js*", lambda route: route.fulfill(status=200, body=""))
    button(page, "Ask me").click()
    expect(page.locator(".today > .told")).to_have_text(
        "What “8 Positions” asks could not be loaded; it is asked another time."
    )
    assert stored(page) == {"8.1": [0, NOON]}
    expect(button(page, "Ask me 1 question")).to_be_visible()


@pytest.mark.browser
def test_the_first_page_leads_here_when_something_is_due(
    reading_page: Open, asking_home: str
) -> None:
    page = opened(reading_page, asking_home, {"review": {"8.1": [0, NOON]}}, days=0.4)
    page.goto(f"{asking_home}/index.html")
    expect(page.locator(".go-on")).to_be_hidden()
    page.clock.set_fixed_time((NOON + DAY) / 1000)
    page.reload()
    page.get_by_role("link", name="questions from what you have read").click()
    page.wait_for_url(f"**/{PAGE}")


@pytest.mark.browser
def test_a_section_that_is_read_brings_its_cards(reading_page: Open, asking_home: str) -> None:
    page = reading_page(home=asking_home, viewport={"width": 1280, "height": 500})
    page.goto(f"{asking_home}/chapters/07-attention.html")
    page.locator("html[data-marked-at]").wait_for()
    page.locator("#summary").evaluate("node => node.scrollIntoView({ block: 'center' })")
    page.mouse.wheel(0, 20)
    expect(page.locator(".reading-line")).to_contain_text("read")
    page.wait_for_function(
        "() => localStorage.getItem('runnable-primer:review')?.includes('#a-first-look')"
    )
    page.goto(f"{asking_home}/{PAGE}")
    expect(standing(page)).to_contain_text("You have met 2 questions; none is due today.")
    assert set(stored(page)) == {"07-attention/summary/1", "07-attention/summary/2"}


@pytest.mark.browser
def test_by_keyboard_alone(reading_page: Open, asking_home: str) -> None:
    kept = {"review": {"ask-attention-sum": [0, NOON], "try-positions-turns": [0, NOON]}}
    page = opened(reading_page, asking_home, kept)
    tab_to(page, button(page, "Ask me 2 questions"))
    page.keyboard.press("Enter")
    for number in (1, 2):
        expect(standing(page)).to_have_text(f"Question {number} of 2")
        field = page.locator(".asked input")
        expect(page.locator(".asked :focus")).to_have_count(1)
        if field.count():
            page.keyboard.type("0.8")
        else:
            tab_to(page, page.locator(".asked .choice.right summary"))
        page.keyboard.press("Enter")
        tab_to(page, button(page, "Next|Finish"))
        page.keyboard.press("Enter")
    expect(standing(page)).to_contain_text("Done for now: 2 of 2 known.")
    expect(standing(page)).to_be_focused()


@pytest.mark.browser
def test_nobody_is_kept_out(reading_page: Open, asking_home: str) -> None:
    page = opened(reading_page, asking_home, MET, viewport={"width": 390, "height": 844})
    button(page, "Ask me").click()
    for number in range(9):
        expect(standing(page)).to_have_text(f"Question {number + 1} of 9")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        answer(page, known=number % 2 == 0)
        for one in page.locator(".today button:visible").all():
            assert (one.bounding_box() or {})["height"] >= 24
        button(page, "Next|Finish").click()
    page.clock.resume()
    come_back(page, 2)
    button(page, "Ask me").click()
    expect(standing(page)).to_contain_text("Question 1 of")
    page.clock.resume()
    assert violations_on(page) == []


@pytest.mark.browser
def test_without_scripts_a_sentence_says_so(reading_page: Open, asking_site: Path) -> None:
    page = reading_page(java_script_enabled=False)
    page.goto(f"{asking_site.as_uri()}/{PAGE}")
    expect(page.get_by_text("Scripts are switched off")).to_be_visible()
    expect(page.locator(".today .empty")).to_be_hidden()


@pytest.mark.browser
def test_never_two_of_one_section_and_ten_where_that_is_possible(
    reading_page: Open, asking_home: str
) -> None:
    page = opened(reading_page, asking_home, {})
    rng = np.random.default_rng(0)
    for _ in range(60):
        sections = int(rng.integers(1, 8))
        due = [
            {"name": str(number), "section": int(at), "chapter": int(at) // 2, "day": int(day)}
            for number, (at, day) in enumerate(
                zip(rng.integers(sections, size=25), rng.integers(5, size=25), strict=True)
            )
        ][: int(rng.integers(0, 26))]
        mixed = page.evaluate("(due) => window.mix(due, 10)", due)
        names = [one["name"] for one in mixed]
        assert len(set(names)) == len(names) <= min(10, len(due))
        assert all(one["section"] != other["section"] for one, other in pairwise(mixed))
        counts = Counter(one["section"] for one in due)
        if sum(min(count, 5) for count in counts.values()) >= 10:
            assert len(mixed) == 10
        elif due:
            assert len(mixed) >= min(len(due), 2 * (len(due) - max(counts.values())) + 1)
        if mixed:
            assert min(one["day"] for one in mixed) == min(one["day"] for one in due)


@pytest.mark.browser
@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Pacific/Kiritimati"])
def test_days_are_those_of_the_calendar(reading_page: Open, asking_home: str, zone: str) -> None:
    page = reading_page(home=asking_home, timezone_id=zone)
    found = page.evaluate("""() => {
      const { after, dueDay, isDue } = window.schedule;
      const at = (...parts) => new Date(...parts).getTime();
      const night = at(2027, 2, 13, 23, 50); // in New York the clocks change on the 14th
      const week = after([0, night], true, at(2027, 2, 14, 0, 10));
      return [
        isDue([0, night], at(2027, 2, 13, 23, 59)), isDue([0, night], at(2027, 2, 14, 0, 10)),
        week[0], isDue(week, at(2027, 2, 20, 23, 59)), isDue(week, at(2027, 2, 21, 0, 1)),
        after([2, night], true, night)[0], isDue([3, 0], night),
        after([2, night], false, night), isDue([0, 0], night),
        dueDay([1, night]) - dueDay([0, night]), dueDay([2, night]) - dueDay([0, night]),
      ].map((one) => (Array.isArray(one) ? one[0] : one));
    }""")
    assert found == [False, True, 1, False, True, 3, False, 0, True, 6, 29]


def test_a_fragment_is_whole_and_leads_where_it_led() -> None:
    page = '<div><form><details></details></form><div class="a">b</div></div><div>c</div>'
    assert element_at(page, 0) == page.removesuffix("<div>c</div>")
    with pytest.raises(ValueError, match="nothing ends what begins with '<div><p>'"):
        element_at("<div><p>", 0)
    chapter = "chapters/08-positions.html"
    for one, other in {
        '<a id="x" href="#eq">': '<a href="../08-positions.html#eq">',
        '<a href="appendix/glossary.html#key">': '<a href="glossary.html#key">',
        '<a href="https://doi.org/1">': '<a href="https://doi.org/1">',
        '<img src="../_images/a.svg">': '<img src="../../_images/a.svg">',
        '<input id="try-a-said" type="text">': '<input id="try-a-said" type="text">',
    }.items():
        assert moved(one, chapter, PAGE) == other
