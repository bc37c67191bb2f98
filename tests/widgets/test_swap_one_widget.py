"""Swap one: carried vectors in the page against primer.inside, its state, its life in a browser."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
import traitlets
from thorough import WIDTHS
from widget_page import rest, settle

from primer.inside import patched, record, swap
from primer.notebook.figures import png
from primer.widgets.shared.quantized import book_model, unpack
from primer.widgets.swap_one import ACTIVATION, LONGEST, PAIRS, PARTS, SwapOne

FILE, HARNESS = "swap_one.js", Path(__file__).with_name("swap_one.mjs")


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    """Write the packed model for Node to read."""
    file = tmp_path_factory.mktemp("model") / "plays.bin"
    file.write_bytes(book_model())
    return str(file)


# --- what is carried


@pytest.mark.parametrize("part", PARTS)
def test_carried_vectors_give_the_librarys_logits(javascript, model_file, part):
    model, _ = unpack(book_model())
    generator = torch.Generator().manual_seed(19)
    for length, layer, head in ((1, 0, None), (2, 3, 1), (13, 1, 3), (32, 2, None)):
        into, source = torch.randint(0, 1023, (2, 1, length), generator=generator)
        place = int(torch.randint(0, length, (), generator=generator))
        heads = None if part == "stream" else head
        name = f"blocks.{layer}.{ACTIVATION[part]}"
        other = record(model, source, [name])[name]
        with torch.no_grad():
            expected = patched(model, into, {name: swap(other, place=place, heads=heads)})[0, -1]
        where = {"part": part, "layer": layer, "place": place, "head": heads}
        found = javascript(
            HARNESS, "patched", model_file, into[0].tolist(), source[0].tolist(), where
        )
        np.testing.assert_allclose(found, expected, atol=1e-3)


@pytest.mark.parametrize(
    ("direction", "part", "head"),
    [("denoise", "stream", None), ("noise", "keys", None), ("denoise", "head", 1)],
)
def test_the_map_is_pythons(javascript, model_file, direction, part, head):
    widget = SwapOne(direction=direction, part=part, head=head)
    first, changed = widget.both()
    found = javascript(HARNESS, "shares", model_file, first, changed, direction, part, head)
    np.testing.assert_allclose(found, widget.shares(), atol=1e-3)


@pytest.mark.parametrize("pair", PAIRS)
def test_the_answer_moves_from_the_word_to_its_neighbor_to_the_end(pair):
    """On each example: at first only the replaced word carries it, in the end only the last."""
    widget = SwapOne(text=pair[0], changed=pair[1])
    shares, (first, changed) = widget.shares(), widget.both()
    assert widget.trouble() == ""
    differ = [i for i, (a, b) in enumerate(zip(first, changed, strict=True)) if a != b]
    assert len(differ) == 1
    np.testing.assert_allclose(shares[0], np.eye(len(first))[differ[0]], atol=1e-4)
    assert shares[3, -1] > 0.9
    carrier = differ[0] + (0 if "lady" in pair[0] else 1)  # what is copied, or where it is found
    assert shares[1].argmax() == carrier
    assert shares[1, carrier] > 0.8


# --- words and state


@pytest.mark.parametrize(
    ("text", "changed", "trouble"),
    [
        ("", "", "Type two texts"),
        ("", "a", "The first text is empty"),
        ("a", "", "The changed text is empty"),
        ("A fair hand", "A kinsman", "replace a word by one of as many tokens"),
        ("A fair hand", "A fair hand", "Both texts are the same"),
        ("To be " * 20, "To see " * 20, f"the map has room for {LONGEST}"),
    ],
)
def test_texts_that_cannot_be_compared_get_a_sentence(
    javascript, model_file, text, changed, trouble
):
    widget = SwapOne(text=text, changed=changed)
    assert trouble in widget.trouble()
    found = javascript(HARNESS, "pair", model_file, text, changed, LONGEST)
    assert found["trouble"] == widget.trouble()
    assert png(widget.picture()).startswith(b"\x89PNG")


def test_what_else_is_said_of_two_texts(javascript, model_file):
    found = javascript(HARNESS, "pair", model_file, "A fair ω", "A fair ψ", LONGEST)
    assert found["trouble"] == ""
    assert found["note"].startswith("A character that the model has no token for is read byte")
    found = javascript(HARNESS, "pair", model_file, "A fair hand", "The poor hand", LONGEST)
    assert found["note"] == "They differ in 2 tokens: a share may be about any of them."


def test_the_result_line_asks_first_and_then_says(javascript):
    state = {"layer": 1, "place": 6, "part": "stream", "head": None, "direction": "denoise"}
    asked = javascript(FILE, "describe", state, "␣hand", None)
    assert asked == (
        "Place 6, “␣hand”, before block 1: predict how much it carries, then press “Carry it over”."
    )
    said = javascript(FILE, "describe", state, "␣hand", 0.944)
    assert said.endswith("carrying over the stream brings back 94% of the difference.")
    state |= {"part": "keys", "head": 2, "direction": "noise"}
    said = javascript(FILE, "describe", state, "␣hand", 1.01)
    assert "in block 1: carrying over the keys, head 2 alone destroys 101%" in said


@pytest.mark.parametrize(
    ("state", "complaint"),
    [
        ({"direction": "both"}, "denoise"),
        ({"part": "queries"}, "stream"),
        ({"head": 4}, "head must be 0 to 3"),
        ({"place": -1}, "place"),
        ({"layer": -1}, "layer"),
        ({"changed": "\ud800"}, "lone surrogate"),
        ({"checkpoint": b"no model"}, "no whole language model"),
    ],
)
def test_values_of_another_kind_are_refused(state, complaint):
    with pytest.raises(traitlets.TraitError, match=complaint):
        SwapOne(**state)


def test_the_still_picture_shows_what_is_filled():
    widget = SwapOne(probed=[5, 20, 999])
    image = widget.picture().axes[0].images[0].get_array()
    assert image.count() == 2
    np.testing.assert_allclose([image[0, 5], image[1, 6]], widget.shares()[[0, 1], [5, 6]])


# --- in a browser


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_places_are_chosen_and_carried_by_keys_and_touch(widget_page, width):
    page = widget_page(SwapOne(), width=width, has_touch=True)
    rest(page)
    result, grid = page.locator(".result"), page.locator("svg.grid")
    assert "Place 6, “␣hand”, before block 1: predict" in result.inner_text()
    assert page.locator("svg .cell").count() == 14
    page.get_by_role("button", name="Carry it over").tap()
    rest(page)
    assert "brings back 94% of the difference" in result.inner_text()
    assert page.locator("svg .cell").count() == 15
    grid.press("ArrowDown")
    grid.press("ArrowLeft")
    settle(page)
    assert page.evaluate("[model.get('layer'), model.get('place')]") == [2, 5]
    box = grid.bounding_box()
    assert box
    page.touchscreen.tap(box["x"] + box["width"] - 32, box["y"] + box["height"] - 20)
    settle(page)
    assert page.evaluate("[model.get('layer'), model.get('place')]") == [3, 13]
    page.get_by_role("button", name="Fill the map").tap()
    rest(page)
    assert page.locator("svg .cell").count() == 56
    assert "Place 13, “␣fair”, before block 3" in result.inner_text()
    assert "brings back 102% of" in result.inner_text()
    row = page.locator(".board tbody tr").nth(2).inner_text()
    assert "␣hand 38%" in row
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


@pytest.mark.browser
def test_texts_parts_and_directions_are_changed(widget_page):
    page = widget_page(SwapOne())
    rest(page)
    result, note = page.locator(".result"), page.locator("p.note[role=status]").last
    page.get_by_label("changed → first").check()
    rest(page)
    assert page.evaluate("model.get('probed')") == []
    page.get_by_role("button", name="Carry it over").click()
    rest(page)
    assert "destroys 89% of" in result.inner_text()
    page.get_by_label("What", exact=True).select_option("keys")
    rest(page)
    page.get_by_role("slider", name="Head").press("Home")
    rest(page)
    page.get_by_role("button", name="Carry it over").click()
    rest(page)
    assert "the keys, head 0 alone destroys" in result.inner_text()
    area = page.get_by_role("textbox", name="Changed text")
    area.fill("A good word, a fair hand, a true heart. A fair")
    settle(page)
    assert "Both texts are the same" in note.inner_text()
    assert not page.locator("svg.grid").is_visible()
    area.fill("A good word, a fairy hand, a true heart. A fair")
    settle(page)
    assert "The first text has 14 tokens and the changed one 15" in note.inner_text()
    page.get_by_label("First text").first.select_option(index=1)
    rest(page)
    assert page.evaluate("model.get('changed')") == PAIRS[1][1]
    assert page.locator("svg .token.differs").text_content() == "␣lady"
    page.get_by_role("textbox", name="First text").fill("word fair hand")
    area.fill("word fair hand.")
    settle(page)
    assert "as many tokens" in note.inner_text()
