"""Slides: a deck for each lecture, with every answer on a later step than its question."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from axe import AXE
from bs4 import BeautifulSoup
from playwright.sync_api import Browser, Page
from thorough import a_few
from written import BOOK, CHAPTERS

from press.site import SITE, serve
from press.slides import write
from press.slides.chapter import Picture
from press.slides.deck import deck_of
from press.slides.figures import LICENSE, LIST, named, zip_figures
from press.slides.lectures import PAGE, Lecture, chosen, lectures_of

WHEN = datetime(2026, 11, 29, tzinfo=UTC)


def named_in_the_text() -> list[str]:
    """Name the lectures from the page's source: by week, or by the chapters of the paragraph."""
    text = (BOOK / f"{PAGE}.md").read_text("utf-8").partition("\n(teachers-four)=")[0]
    names = []
    for section in text.split("\n### ")[1:]:
        title, reading = section.split("\n\n", 2)[:2]
        week = re.match(r"Week (\d+): ", title)
        read = re.findall(r"\]\(\.\./\d\d-([a-z-]+)\)", reading)
        names.append(f"week-{int(week[1]):02}" if week else "-and-".join(read))
    return names


NAMES = named_in_the_text()
LOOKS = [
    ("light", {"width": 1280, "height": 720}),
    ("dark", {"width": 390, "height": 844}),
]


@pytest.fixture(scope="module")
def lectures() -> dict[str, Lecture]:
    if not (SITE / f"{PAGE}.html").exists():
        pytest.fail("the site is not built: run `make book`, then these tests")
    return {lecture.name: lecture for lecture in lectures_of(SITE)}


# ── what a lecture is ────────────────────────────────────────────────────────────────────────────


def test_every_lecture_of_the_page_for_teachers_has_a_deck(lectures: dict[str, Lecture]) -> None:
    assert [*lectures] == NAMES, (
        f"the built {PAGE}.html has other lectures than its source, "
        f"{sorted({*lectures} ^ {*NAMES})}: build the site anew"
    )
    assert {name for one in lectures.values() for name in one.chapters} == set(CHAPTERS)
    text = (BOOK / f"{PAGE}.md").read_text("utf-8").partition("(teachers-four)=")[0]
    listed = re.findall(r"^- ", text, re.MULTILINE)
    assert sum(len(one.items) for one in lectures.values()) == len(listed)


@pytest.mark.parametrize("name", NAMES)
def test_an_item_asks_first_and_has_an_answer(name: str, lectures) -> None:
    for item in lectures[name].items:
        assert item.steps[0].asks
        assert not all(step.asks for step in item.steps)
        for step in item.steps:
            assert len(step.words) > 3, item
            assert not step.asks or step.words.endswith("?</em>")


def test_a_lecture_reads_as_far_as_the_page_says(lectures: dict[str, Lecture]) -> None:
    [first], [second] = lectures["week-01"].parts, lectures["week-02"].parts
    assert (first.first, first.last) == ("", "stat-mle")
    assert (second.first, second.last) == ("stat-tests", "")
    pretraining, scaling = lectures["week-12"].parts
    assert (pretraining.last, pretraining.besides) == (
        "pretraining-probe",
        ("pretraining-context",),
    )
    assert (scaling.last, scaling.besides) == ("scaling-twenty", ())
    for one in lectures["reasoning"].parts:  # what it links besides is no limit
        assert (one.first, one.last, one.besides) == ("", "", ())


def test_a_chapter_that_no_lecture_reads_is_named(lectures, capsys, monkeypatch) -> None:
    with pytest.raises(ValueError, match=r"No lecture reads a chapter '77'; there are 01, 02, 03"):
        chosen([*lectures.values()], "77")
    assert [one.name for one in chosen([*lectures.values()], "1")] == ["week-01", "week-02"]
    assert [one.name for one in chosen([*lectures.values()], "10-beyond-attention")] == [
        "fourier-and-beyond-attention"
    ]
    monkeypatch.chdir(BOOK)
    assert write.main(["77"]) == 1
    assert "No lecture reads a chapter '77'" in capsys.readouterr().err


def test_without_a_site_it_is_said(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert write.main([]) == 1
    assert "run `make book` first" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


# ── what a deck holds ────────────────────────────────────────────────────────────────────────────

TEACHERS = """<section id="term"><h2>Term</h2><section id="week-3-x">
<h3>Week 3: x &amp; y<a class="headerlink" href="#x">#</a></h3>
<p><strong>Read.</strong> <a href="../02-x.html"><span>X</span></a>, from
<a href="../02-x.html#two">Two</a> on.</p>
<p><strong>In class.</strong></p><ul>
<li><p><a href="../02-x.html#by-hand"><span>By hand</span></a>. <em>Is 1 &lt; 2?</em> Yes &amp; no.
<em>And 3?</em> No.</p></li>
</ul><p><strong>Exercises.</strong> <a href="../02-x.html#e1">2.1 One</a> ·
<a href="../02-x.html#e2">2.2 Two</a>.</p></section></section>"""
CHAPTER = """<section id="x">
<h1><span class="section-number">2 </span>X<a class="headerlink" href="#x">#</a></h1>
<p id="p">Why?</p>
<section id="one"><h2>One</h2><div class="guess admonition"><p>Not read</p></div>
<span id="by-hand"></span><div class="cell_output">
<div class="widget-view" aria-label="Widget: till" style="--at-784:300px"></div>
<details class="widget-embed"><a href="../embed/chapters/02-x/till.html">it</a></details></div>
</section>
<section id="two-things"><span id="two"></span><h2>Two</h2>
<div class="guess admonition" id="g"><p class="admonition-title">Guess first</p>
<p>Which <a href="#one">one</a>?</p>
<details class="choice wrong"><summary><span class="words">This</span></summary>
<div class="reply">Not this.</div></details>
<details class="choice right"><summary><span class="words">That</span></summary>
<div class="reply">Right. That.</div></details></div>
<div class="question admonition"><p class="admonition-title">Question</p><p>How many?</p>
<form class="prediction"><input></form>
<details class="fold fold-answer"><summary>Answer</summary><p>Seven.</p></details></div>
<div class="cell_output"><picture style="--readable: 9px">
<source media="not all" srcset="../_images/d.svg"/>
<img class="figure" alt="A line." src="../_images/l.svg" onload="x()"/></picture></div>
<div class="solution"><img class="figure" alt="Hidden" src="../_images/h.svg"/></div></section>
<section id="exercises"><h2>Exercises</h2><img class="figure" alt="" src="../_images/h.svg"/>
</section>
<section id="summary"><h2>Summary</h2><ul><li>It is so.</li></ul></section></section>"""


def small_site(folder: Path, teachers: str = TEACHERS, chapter: str = CHAPTER) -> Path:
    for name, article in ((f"{PAGE}.html", teachers), ("chapters/02-x.html", chapter)):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"<article class='bd-article'>{article}</article>", encoding="utf-8")
    for name in ("_images/l.svg", "_images/d.svg", "embed/chapters/02-x/till.html"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("<svg/>")
    return folder


def test_a_deck_shows_what_its_lecture_reads(tmp_path: Path) -> None:
    site = small_site(tmp_path)
    [lecture] = lectures_of(site)
    deck = deck_of(site, lecture)
    page = BeautifulSoup(deck.text, "html.parser")
    first, *slides = page.select(".slides > section")
    assert first.h1.get_text() == "Week 3: x & y"
    kinds = [slide.get("class", [""])[0] for slide in slides]
    assert kinds == ["widget", "guess", "question", "figure", "", "summary"]
    widget, guess, question, figure, exercises, summary = slides
    frame = widget.iframe
    assert frame["data-src"] == "../embed/chapters/02-x/till.html"
    assert (frame["style"], frame["title"]) == ("--at-784:300px", "Widget: till")
    said = [(" ".join(p["class"]), p.get_text()) for p in widget.select("p:not(.source)")]
    assert said == [
        ("asks", "Is 1 < 2?"),
        ("answer fragment custom", "Yes & no."),
        ("asks fragment custom", "And 3?"),
        ("answer fragment custom", "No."),
    ]
    choices = [(c["class"], c.div["data-fragment-index"]) for c in guess.select("li")]
    assert choices == [(["wrong"], "1"), (["right"], "0")]
    assert guess.select_one(".asks a")["href"] == "../chapters/02-x.html#one"
    assert question.select_one(".answer.fragment").get_text() == "Seven."
    assert "Seven" not in question.select_one(".asks").get_text()
    assert figure.img["src"] == "../_images/l.svg"
    assert figure.source["srcset"] == "../_images/d.svg"
    assert [" ".join(li.get_text().split()) for li in exercises.select("li")] == [
        "2.1 One",
        "2.2 Two",
    ]
    assert summary.get_text().split("\n")[1] == "Summary: X"
    assert not page.select(".slides [id], .slides [onload], .slides form, .slides [srcdoc]")
    assert [picture.alt for picture in deck.pictures] == ["A line."]


@pytest.mark.parametrize(
    ("gone", "old", "new", "said"),
    [
        ("_images/l.svg", "", "", "shows .*l.svg, which is not there: run `make book`"),
        ("embed/chapters/02-x/till.html", "", "", "till.html, which is not there"),
        ("", 'id="two"', 'id="three"', "02-x.html has no section 'two'"),
        ("chapters/02-x.html", "", "", "02-x.html is not there yet: run `make book`"),
    ],
)
def test_what_is_missing_is_named(tmp_path: Path, gone: str, old: str, new: str, said: str) -> None:
    site = small_site(tmp_path, chapter=CHAPTER.replace(old, new) if old else CHAPTER)
    if gone:
        (site / gone).unlink()
    [lecture] = lectures_of(site)
    with pytest.raises(ValueError, match=said):
        deck_of(site, lecture)


def test_a_page_without_lectures_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="has no lecture"):
        lectures_of(small_site(tmp_path, "<section><h2>Nothing</h2></section>"))
    (tmp_path / f"{PAGE}.html").write_text("<p>words</p>")
    with pytest.raises(ValueError, match="has no article"):
        lectures_of(tmp_path)


def test_figures_come_with_their_words_and_the_license(tmp_path: Path) -> None:
    site = small_site(tmp_path)
    one = Picture(site / "_images/l.svg", "02-x", "Two", "A line & a point.")
    other = Picture(site / "_images/d.svg", "03-y", "Three", "A hill.")
    assert [*named([one, other, one])] == ["02-x-figure-01.svg", "03-y-figure-01.svg"]
    file = zip_figures(tmp_path / "a.zip", "X", [one, other, one], BOOK / LICENSE, WHEN)
    with zipfile.ZipFile(file) as archive:
        assert archive.namelist() == [LIST, LICENSE, "02-x-figure-01.svg", "03-y-figure-01.svg"]
        words = archive.read(LIST).decode()
        assert "Attribution 4.0" in archive.read(LICENSE).decode()
    assert "## 02-x-figure-01.svg" in words
    assert "A line & a point." in words
    assert '02-x, "Two", CC BY 4.0' in words
    again = zip_figures(tmp_path / "b.zip", "X", [one, other, one], BOOK / LICENSE, WHEN)
    assert again.read_bytes() == file.read_bytes()


def test_the_page_for_teachers_links_decks_with_their_sizes(tmp_path, monkeypatch) -> None:
    place = '<div class="slides docutils container">\n<p>None.</p>\n</div>'
    site = small_site(tmp_path, TEACHERS + place)
    monkeypatch.chdir(BOOK)  # what all decks share is installed there
    lectures = lectures_of(site)
    for _ in range(2):  # a second time, as after a change
        [deck] = write.write(site, lectures, BOOK / LICENSE, WHEN).values()
        write.offer(site, lectures)
        page = BeautifulSoup((site / f"{PAGE}.html").read_text("utf-8"), "html.parser")
        [line] = page.select(".slides li")
        assert re.fullmatch(r"Week 3: x & y \(\d+ kB\), figures \(\d+ kB\)", line.get_text())
        for link in line.find_all("a"):
            assert (site / f"{PAGE}.html").parent.joinpath(link["href"]).is_file()
    names = {path.name for path in deck.parent.iterdir()}
    assert names == {*write.SHARED, "week-03.html", "week-03-figures.zip"}
    small_site(tmp_path)
    with pytest.raises(ValueError, match="no place for the slides"):
        write.offer(site, lectures)


# ── a deck in a browser ──────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def decks(lectures, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Write a deck beside what the site has, and not into it."""
    site = tmp_path_factory.mktemp("decks")
    for name in ("_static", "_images", "embed", "chapters"):
        (site / name).symlink_to(SITE / name)

    def written(name: str) -> Path:
        with pytest.MonkeyPatch.context() as patched:
            patched.chdir(BOOK)
            [deck] = write.write(site, [lectures[name]], BOOK / LICENSE, WHEN).values()
        return deck

    return written


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    context, errors = chromium.new_context(viewport=LOOKS[0][1]), []
    opened = context.new_page()
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
    yield opened
    context.close()
    assert errors == []


@pytest.mark.parametrize("name", a_few(NAMES, {"week-09"}))
def test_a_deck_goes_by_keyboard_from_disk(name: str, decks, page: Page) -> None:
    """Right to the last answer, back, light and dark; no answer is seen before it is due."""
    page.goto(decks(name).as_uri())
    page.wait_for_function("window.Reveal?.isReady()")
    total, steps, seen = page.evaluate("Reveal.getTotalSlides()"), 0, 0
    asked = """() => [...Reveal.getCurrentSlide().querySelectorAll(".reply, .answer")]
        .filter((answer) => answer.checkVisibility()).length"""
    while not page.evaluate("Reveal.isLastSlide()"):
        before = page.evaluate("Reveal.getIndices()")
        page.keyboard.press("ArrowRight")
        page.wait_for_function(
            "(before) => JSON.stringify(Reveal.getIndices()) !== before",
            arg=page.evaluate("(before) => JSON.stringify(before)", before),
        )
        steps += 1
        now = page.evaluate("Reveal.getIndices()")
        if now["h"] != before["h"]:
            assert page.evaluate(asked) == 0
        else:
            seen += page.evaluate(asked) > 0
    assert total == len(page.query_selector_all(".slides > section"))
    assert steps > total
    assert seen > total / 2
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("!Reveal.isLastSlide()")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    page.keyboard.press("s")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.evaluate("document.querySelector('picture > source').media") == "all"
    assert page.evaluate("document.querySelector('iframe').dataset.src.split('#')[1]") == "dark"


@pytest.mark.parametrize(
    ("name", "every"),
    [("week-02", False)] + [pytest.param(name, True, marks=pytest.mark.thorough) for name in NAMES],
)
def test_axe_finds_nothing_and_widgets_have_their_own_height(
    name: str, every: bool, decks, page: Page
) -> None:
    """`make test` asks axe about one slide of each kind, `make thorough` about every one."""
    deck = decks(name)
    with serve(deck.parents[1]) as home:  # from disk no page may look into a frame
        for scheme, size in LOOKS:
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size(size)
            page.goto(f"{home}/slides/{deck.name}?{scheme}")
            page.wait_for_function("window.Reveal?.isReady()")
            page.evaluate(AXE.read_text("utf-8"))
            looked = set()
            for number in range(page.evaluate("Reveal.getTotalSlides()")):
                page.evaluate("(number) => Reveal.slide(number, 0, 99)", number)
                slide = page.query_selector("section.present")
                width = "(slide) => slide.scrollWidth - slide.clientWidth"
                assert slide.evaluate(width) <= 0, f"{name}, slide {number + 1} is too wide"
                kind = slide.get_attribute("class").split()[0]
                if frame := slide.query_selector("iframe"):
                    inside = frame.content_frame()
                    inside.wait_for_selector(".primer-widget")
                    inside.wait_for_function(
                        """() => {
                          const { scrollHeight, clientHeight } = document.documentElement;
                          return scrollHeight <= clientHeight;
                        }"""
                    )
                if every or kind not in looked:
                    found = page.evaluate(
                        "axe.run({ iframes: false, rules: { 'target-size': { enabled: true } } })"
                    )
                    assert [one["id"] for one in found["violations"]] == [], (name, number)
                looked.add(kind)
