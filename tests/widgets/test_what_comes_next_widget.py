"""What comes next: the page's model against the library's, its state, its life in a browser."""

from __future__ import annotations

import base64
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
import traitlets
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from playwright.sync_api import Browser, Page, expect
from thorough import COLUMNS
from widget_page import PAGE, PATIENCE, complaints, settle
from written import BOOK, CHAPTER_NOTEBOOKS

from press.notebook import read_notebook
from press.site import serve
from primer.alignment.recorded import ALIGNED
from primer.notebook.figures import png
from primer.transformers import load_pretrained
from primer.widgets import WhatComesNext
from primer.widgets.base import Widget, light
from primer.widgets.shared.changed_model import NOTHING
from primer.widgets.shared.quantized import book_model, pack
from primer.widgets.what_comes_next import MOST, STEPS, WISH
from sphinx_widget_host import HOST, move_large_buffers, share_sources

HARNESS = Path(__file__).with_name("what_comes_next.mjs")
FIRST = WhatComesNext.EXAMPLES[0]
changes = st.sampled_from(["plays", "aligned"])
seeds = st.integers(0, 2**31 - 1)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Write the packed model and its changes for Node to read: { change: (model, change) }."""
    folder = tmp_path_factory.mktemp("model")
    (folder / "plays.bin").write_bytes(book_model())
    (folder / "nothing.bin").write_bytes(NOTHING)
    model = str(folder / "plays.bin")
    return {"plays": (model, str(folder / "nothing.bin")), "aligned": (model, str(ALIGNED))}


# --- the mathematics, against primer --------------------------------------------------------------


@given(change=changes, seed=seeds, temperature=st.floats(0.1, 3), length=st.integers(1, 40))
def test_probabilities_and_attention_are_the_librarys(
    javascript, files, change, seed, temperature, length
):
    ids = np.random.default_rng(seed).integers(0, 1023, length).tolist()
    widget = WhatComesNext(text="", change=change, temperature=temperature, written=ids)
    before = int(np.random.default_rng(seed).integers(0, length))
    found = javascript(HARNESS, "read", *files[change], ids, temperature, before)
    np.testing.assert_allclose(found["p"], widget.distribution(), atol=1e-4)
    np.testing.assert_allclose(found["attention"], widget.read()[1], atol=1e-5)
    assert sum(found["attention"]) == pytest.approx(1)


@pytest.mark.parametrize("change", ["plays", "aligned"])
def test_what_is_drawn_is_what_the_library_draws(javascript, files, change):
    for seed in (0, 1, 7):
        widget = WhatComesNext(change=change, seed=seed, temperature=0.7)
        ids = widget.tokens()
        widget.write(12)
        count = len(widget.written)
        found = javascript(HARNESS, "wrote", *files[change], ids, 0.7, seed, count)
        assert found == widget.written
        assert count == 12 or widget.written[-1] == 1023


def test_the_end_of_a_text_is_no_beginning():
    widget = WhatComesNext(change="aligned", temperature=0.1)
    widget.write(30)
    end = widget.encoding().special_tokens["<|end|>"]
    assert widget.written[-1] == end
    assert end not in widget.tokens()
    written = list(widget.written)
    widget.write(5)
    assert widget.written == written


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "Type a letter or more: the model needs something to continue."),
        ("Ay", "1 piece."),
        ("Go to ω", "; a character that the model has no token for is read byte by byte."),
        ("word " * 2000, "pieces; the last 156 are read."),
    ],
)
def test_what_is_said_of_a_line(javascript, files, text, words):
    found = javascript(HARNESS, "begun", *files["plays"], text, 156)
    assert found["words"].endswith(words)
    assert found["tokens"] == WhatComesNext(text=text).tokens()


def test_the_result_line_names_the_most_probable_piece(javascript, files):
    p = [0.0] * 1024
    p[258], p[259] = 0.75, 0.25
    name = WhatComesNext().encoding().decode([258]).replace(" ", "␣")
    said = javascript(HARNESS, "said", *files["plays"], p, None)
    assert (
        said
        == f"Most probable: “{name}”, 75.0%; as uncertain as if 1.8 pieces were equally likely."
    )
    before = [1 / 1024] * 1024
    said = javascript(HARNESS, "said", *files["plays"], p, before)
    assert f"“{name}”, 75.0% (before it was aligned 0.1%); as" in said
    alone = [float(i == 258) for i in range(1024)]  # no "1.0 pieces"
    said = javascript(HARNESS, "said", *files["plays"], alone, None)
    assert said == f"Most probable: “{name}”, 100.0%; as good as certain."


# --- state and picture ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "complaint"),
    [
        ({"temperature": 0.0}, "temperature must be 0.1 to 3, got 0.0; its limit 0 is greedy"),
        ({"written": [1024]}, "written holds ids below 1024, got 1024"),
        ({"written": [-1]}, "got -1"),
        ({"written": [0] * (MOST + 1)}, "written has at most 100 tokens, got 101"),
        ({"change": "docstrings"}, "change"),
        ({"seed": -1}, "seed"),
        ({"text": "\ud800"}, "half a character"),
        ({"checkpoint": b"nothing"}, "checkpoint: this is no whole language model"),
    ],
)
def test_bad_state_is_refused_with_a_sentence(state, complaint):
    with pytest.raises(traitlets.TraitError, match=complaint):
        WhatComesNext(**state)


def test_who_brings_a_model_is_offered_no_change():
    widget = WhatComesNext(checkpoint=pack(*load_pretrained("plays-1")))
    assert list(widget.changes) == ["plays"]


@pytest.mark.parametrize("text", [FIRST, "", "word " * 2000, "a\nb"])
def test_there_is_a_picture(text):
    assert png(WhatComesNext(text=text).picture()).startswith(b"\x89PNG")


@pytest.mark.parametrize("text", ["", "word " * 2000, "a\nb $x$ \\frac"])
def test_there_is_a_narrow_picture_which_leaves_the_state_as_it_is(text):
    widget = WhatComesNext(text=text, written=[46])
    _, metadata = widget._repr_mimebundle_()
    narrow = base64.b64decode(metadata["image/png"]["narrow"])
    with Image.open(io.BytesIO(narrow)) as picture:
        wide, high = picture.size
    assert high > 2 * wide
    assert len(narrow) < 40_000 or text != FIRST  # the first page waits for it
    assert widget.written == [46]


def test_the_narrow_picture_shows_what_the_page_would_write():
    widget = WhatComesNext()
    lines = [line.get_text() for line in widget.narrow_picture().axes[-1].texts]
    widget.write(MOST)
    whole = (widget.text + widget.encoding().decode(widget.written)).split()
    shown = " ".join(lines).split()
    assert len(shown) > 30
    assert whole[: len(shown)] == shown


def test_a_still_picture_is_light():
    whole = png(WhatComesNext().picture())
    assert light(whole).startswith(b"\x89PNG")
    assert len(light(whole)) < len(whole) / 2


def test_what_the_first_page_lets_one_guess_holds():
    """Aligned it writes “!” and ends; as trained it goes on after a comma."""
    plays, aligned = (WhatComesNext(change=change) for change in ("plays", "aligned"))
    mark = plays.encoding().encode("!")[0]
    comma = plays.encoding().encode(",")[0]
    assert int(plays.distribution().argmax()) == comma
    assert int(aligned.distribution().argmax()) == mark
    assert float(plays.distribution()[mark]) < 0.1
    assert float(aligned.distribution()[mark]) > 0.8


@pytest.mark.parametrize("place", [*STEPS.values(), WISH])
def test_each_step_leads_to_a_section_of_the_book(place):
    page, _, label = place.partition(".html#")
    (notebook,) = (path for path in CHAPTER_NOTEBOOKS if path.stem == page)
    texts = [cell.source for cell in read_notebook(notebook).cells if cell.cell_type == "markdown"]
    assert any(f"({label})=\n#" in text for text in texts)


# --- in a browser ---------------------------------------------------------------------------------


def rested(page: Page) -> None:
    """Wait until the model has read what stands there."""
    settle(page)
    page.wait_for_selector("[aria-busy=false]", state="attached", timeout=PATIENCE)
    settle(page)


def wrote(page: Page) -> list[str]:
    """Return the pieces that the model wrote."""
    return page.locator(".written").all_inner_texts()


def height(page: Page) -> float:
    return float(page.evaluate("widget.getBoundingClientRect().height"))


@pytest.mark.browser
def test_bars_are_the_distribution_of_the_chosen_model(widget_page):
    page = widget_page(WhatComesNext())
    for change in ("plays", "aligned"):
        page.evaluate(f"model.set('change', '{change}')")
        rested(page)
        p = WhatComesNext(change=change).distribution()
        order = p.argsort(descending=True, stable=True)[:8].tolist()
        values = page.locator(".bars .value").all_inner_texts()
        assert values == [f"{100 * float(p[token]):.1f}%" for token in order]
    before = page.locator(".bars .before").first.evaluate("(e) => parseFloat(e.style.width)")
    plays = WhatComesNext().distribution()
    assert before == pytest.approx(100 * float(plays[order[0]] / p[order[0]]), abs=0.2)
    page.get_by_label("Temperature").press("Home")
    rested(page)
    assert page.locator(".bars .value").first.inner_text() == "100.0%"


@pytest.mark.browser
def test_its_result_has_one_line_from_the_width_on_for_which_a_place_is_kept(widget_page):
    """A place of 784 px is as low as the widget in it; its frame takes 34 px of them."""
    page = widget_page(WhatComesNext(), width=1400)
    rested(page)
    kept = json.loads((BOOK / "lib/press/pages/widget_heights.json").read_text("utf-8"))
    found = {}
    for width in (752, 784, 960):
        page.evaluate(f"widget.style.width = '{width}px'")
        settle(page)
        found[width] = page.locator(".result").evaluate("(e) => e.getBoundingClientRect().height")
    assert found[752] > found[784] + 10
    assert found[784] == pytest.approx(found[960], abs=0.5)
    place = kept["index/what-comes-next"]
    assert place["752"] > place["784"] == place["960"]


@pytest.mark.browser
def test_it_writes_what_the_library_draws_and_begins_again_with_other_draws(widget_page):
    widget = WhatComesNext()
    page = widget_page(widget)
    rested(page)
    tall = height(page)
    page.get_by_role("button", name="Let it write").press("Enter")
    page.wait_for_function("model.get('written').length >= 6", timeout=PATIENCE)
    page.get_by_role("button", name="Pause").press("Enter")
    rested(page)
    found = page.evaluate("model.get('written')")
    widget.write(len(found))
    assert found == widget.written
    assert "".join(wrote(page)).replace("⏎", "") == widget.encoding().decode(found)
    assert height(page) == tall
    page.get_by_role("button", name="Begin again").press("Enter")
    rested(page)
    assert page.evaluate("[model.get('written'), model.get('seed')]") == [[], 2]
    assert wrote(page) == []


@pytest.mark.browser
def test_another_model_writes_behind_the_same_line_until_its_text_ends(widget_page):
    page = widget_page(WhatComesNext())
    rested(page)
    page.locator(".bars button").nth(1).press("Enter")
    rested(page)
    assert wrote(page) == ["."]
    page.get_by_role("radio", name=re.compile("aligned")).check()
    widget = WhatComesNext(change="aligned")
    widget.write(MOST)
    count = len(widget.written)
    assert count < MOST
    page.wait_for_function(f"model.get('written').length === {count}", timeout=PATIENCE)
    page.get_by_role("button", name="Let it write").wait_for(timeout=PATIENCE)
    rested(page)
    assert page.evaluate("model.get('written')") == widget.written
    assert page.locator(".result").inner_text().startswith("Here it ended its text. Most probable")
    assert page.locator(".bars button:enabled").count() == 0
    assert page.locator(".piece").last.inner_text() == "the end"
    assert "<|" not in page.locator("#widget").inner_text()
    assert complaints(page) == []
    page.get_by_role("button", name="Let it write").press("Enter")  # anew, with other draws
    page.wait_for_function("model.get('seed') === 2")


@pytest.mark.browser
@pytest.mark.parametrize("width", [*COLUMNS, pytest.param(620, marks=pytest.mark.thorough)])
def test_no_line_moves_what_stands_below(widget_page, width):
    page = widget_page(WhatComesNext(), width=width)
    rested(page)
    tall = height(page)
    field = page.get_by_role("textbox", name="Your line")
    for text in ("", "ω ψ 字", "O my ω " * 1400, "\n", "x"):
        field.fill(text)
        rested(page)
        assert height(page) == tall, text[:12]
        page.get_by_role("button", name="Let it write").press("Enter")
        if text:
            page.wait_for_function("model.get('written').length >= 2", timeout=PATIENCE)
            page.get_by_role("button", name="Pause").press("Enter")
        else:
            expect(page.locator(".prompt .note")).to_contain_text("Type a letter or more")
            assert page.locator(".bars button:enabled").count() == 0
            page.get_by_role("button", name="Let it write").wait_for()  # it has nothing to write
        rested(page)
        assert height(page) == tall, text[:12]
    assert complaints(page) == []


@pytest.mark.browser
def test_a_line_that_is_full_says_so(widget_page):
    page = widget_page(WhatComesNext(written=[46] * MOST))
    rested(page)
    assert page.locator(".result").inner_text().startswith("No more pieces have room.")
    assert page.locator(".bars button:enabled").count() == 0


@pytest.mark.browser
def test_who_types_while_it_writes_is_left_alone(widget_page):
    page = widget_page(WhatComesNext())
    rested(page)
    page.get_by_role("button", name="Let it write").press("Enter")
    page.wait_for_function("model.get('written').length >= 2", timeout=PATIENCE)
    page.get_by_role("textbox", name="Your line").press("End")
    page.keyboard.type("s")
    page.get_by_role("button", name="Let it write").wait_for(timeout=PATIENCE)
    rested(page)
    assert page.evaluate("[model.get('text'), model.get('written')]") == [f"{FIRST}s", []]


# --- as the site shows it: its data waits for a touch ---------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write a page whose widget's data lies beside it, as the site's does."""
    folder = tmp_path_factory.mktemp("first")
    widget = WhatComesNext()
    saved = Widget.get_manager_state(widgets=[widget])
    data = folder / "_static/widget-data"
    light_state = share_sources(move_large_buffers(saved, data), data)
    state = json.dumps(light_state, default=str).replace("</", "<\\/")
    (folder / "_static/widget-host.js").write_bytes(HOST.read_bytes())
    view = json.dumps({"model_id": widget.model_id})
    (folder / "still.png").write_bytes(light(png(widget.picture())))
    page = PAGE.replace('<html lang="en"', '<html lang="en" data-content_root="./"')
    place = '</script><div class="widget-view" style="min-height: 600px"></div>'
    picture = '<noscript><img src="still.png" alt="bars"></noscript></main>'
    page = page.replace("</script></main>", f"{place}{picture}")
    page = page.replace("<script>{host}</script>", '<script src="_static/widget-host.js"></script>')
    text = page.format(theme="light", view=view, state=state)
    (folder / "index.html").write_text(text, "utf-8")
    return folder


@pytest.fixture
def opened(chromium: Browser, folder: Path):
    """Open that page over http or from disk, as a telephone does."""
    contexts = []

    def open_page(address: str) -> tuple[Page, list[str]]:
        context = chromium.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
        contexts.append(context)
        page, asked = context.new_page(), []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(address)
        page.wait_for_selector("html[data-widgets=ready]", timeout=PATIENCE)
        return page, asked

    yield open_page
    for context in contexts:
        context.close()


def touched_once(page: Page, asked: list[str]) -> None:
    """Touch the still picture, once; the model comes and writes."""
    assert [url for url in asked if "widget-data" in url] == []  # nothing of it came before
    page.touchscreen.tap(200, 300)
    page.wait_for_selector(".written", timeout=PATIENCE)
    assert page.locator(".bars .value").count() == 8


@pytest.mark.browser
def test_one_touch_of_the_picture_leads_to_the_first_letters(opened, folder):
    with serve(folder) as address:
        touched_once(*opened(f"{address}/index.html"))


@pytest.mark.browser
def test_from_disk_it_takes_one_touch_as_well(opened, folder):
    page, asked = opened((folder / "index.html").as_uri())
    touched_once(page, asked)
    link = page.get_by_role("link", name="attention")
    assert link.get_attribute("href") == f"./chapters/{STEPS['attention']}"
    assert page.locator("a.step").count() == len(STEPS) + 1


@pytest.mark.browser
def test_who_comes_near_in_another_way_lets_it_wait(opened, folder):
    with serve(folder) as address:
        page, _ = opened(f"{address}/index.html")
        page.keyboard.press("Tab")
        page.get_by_role("button", name="Let it write").wait_for(timeout=PATIENCE)
        page.wait_for_selector("[aria-busy=false]", state="attached", timeout=PATIENCE)
        assert page.locator(".written").count() == 0
        page.get_by_role("button", name="Let it write").press("Enter")
        page.wait_for_selector(".written", timeout=PATIENCE)


@pytest.mark.browser
def test_a_model_that_does_not_come_leaves_the_picture_and_a_sentence(opened, folder):
    with serve(folder) as address:
        page, _ = opened(f"{address}/index.html")
        page.route("**/widget-data/*", lambda route: route.abort())
        page.touchscreen.tap(200, 300)
        expect(page.locator(".widget-unavailable p")).to_contain_text("could not be loaded")
        assert page.locator(".widget-unavailable img").count() == 1


@pytest.mark.browser
def test_an_aligned_model_that_does_not_come_is_told(opened, folder):
    with serve(folder) as address:
        page, _ = opened(f"{address}/index.html")
        page.touchscreen.tap(200, 300)
        page.wait_for_selector(".written", timeout=PATIENCE)
        page.route("**/widget-data/*", lambda route: route.abort())
        page.get_by_role("radio", name=re.compile("aligned")).check()
        expect(page.locator(".prompt .note")).to_contain_text("could not be loaded")
        page.get_by_role("button", name="Let it write").wait_for(timeout=PATIENCE)
        page.get_by_role("radio", name=re.compile("plays")).check()
        expect(page.locator(".prompt .note")).to_have_text("8 pieces.")


def test_the_first_page_shows_it_and_chapter_3_keeps_its_own():
    assert "WhatComesNext()" in (BOOK / "index.md").read_text("utf-8")
    assert "StepSize" in (BOOK / "chapters/03-optimization.ipynb").read_text("utf-8")
