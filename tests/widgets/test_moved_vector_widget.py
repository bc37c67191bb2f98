"""Moved vector: arrows and their effect in the page against primer, its words, its life."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
import traitlets
from thorough import WIDTHS
from widget_page import rest

from primer.attention import head_outputs
from primer.notebook.figures import png
from primer.widgets.moved_vector import LONGEST, MovedVector, span, take_apart
from primer.widgets.shared.quantized import book_model, unpack

FILE, HARNESS = "moved_vector.js", Path(__file__).with_name("moved_vector.mjs")


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    """Write the packed model for Node to read."""
    file = tmp_path_factory.mktemp("model") / "plays.bin"
    file.write_bytes(book_model())
    return str(file)


# --- what is computed


@pytest.mark.parametrize("layer", range(4))
def test_the_arrows_are_the_heads_outputs_token_by_token(layer):
    model, _ = unpack(book_model())
    tokens = torch.randint(0, 1023, (12,), generator=torch.Generator().manual_seed(7)).tolist()
    seen = {}
    with torch.no_grad():
        model(torch.tensor([tokens]), observe=seen.__setitem__)
        at = f"blocks.{layer}"
        attention = model.blocks[layer].attention
        weights, read = seen[f"{at}.attention.weights"], seen[f"{at}.attention.input"]
        heads = head_outputs(attention, weights, read)[0, :, -1]
    found = take_apart(model, tokens, layer)
    torch.testing.assert_close(found.arrows.sum(dim=1), heads, atol=1e-4, rtol=0)
    torch.testing.assert_close(
        found.before + found.arrows.sum(dim=(0, 1)), seen[f"{at}.between"][0, -1], atol=1e-4, rtol=0
    )


@pytest.mark.parametrize(
    ("text", "place", "layer", "head", "strength", "plane"),
    [
        ("A good word, a fair hand, a true heart. A fair", 13, 1, None, 0.0, "move"),
        ("A good word, a fair hand, a true heart. A fair", 6, 3, 2, 1.5, "guesses"),
        ("The king is dead. Long live the", 0, 0, 3, 2.0, "guesses"),
        ("ROMEO\nω the sun", 4, 2, None, 0.35, "move"),
    ],
)
def test_the_page_finds_pythons_arrows(
    javascript, model_file, text, place, layer, head, strength, plane
):
    state = {"place": place, "layer": layer, "head": head, "strength": strength, "plane": plane}
    widget = MovedVector(text=text, **state)
    tokens = widget.encoding().encode(text)
    found = javascript(HARNESS, "taken", model_file, tokens, state | {"best": widget.best()})
    moved, sources = widget.moved(), widget.sources()
    np.testing.assert_allclose(found["before"], moved.before, atol=1e-4)
    np.testing.assert_allclose(found["lengths"], sources.norm(dim=1), atol=1e-4)
    np.testing.assert_allclose(found["untouched"], moved.logits, atol=1e-3)
    np.testing.assert_allclose(found["axes"], widget.directions(), atol=1e-3)
    chances = torch.tensor(found["logits"]).softmax(dim=0)
    np.testing.assert_allclose(chances, widget.guesses(strength), atol=1e-4)
    whole = moved.arrows.sum(dim=(0, 1)) + (strength - 1) * sources.sum(dim=0)
    np.testing.assert_allclose(found["sum"], widget.directions() @ whole, atol=1e-3)
    longest = sources.norm(dim=1).argsort(descending=True).tolist()[:4]
    assert found["names"][: len(longest)] == longest
    assert found["names"][len(longest) :] == ["others"] * (place >= 4) + ["heads"] * (
        head is not None
    )


@pytest.mark.parametrize("layer", range(4))
def test_a_kept_move_is_pythons(javascript, model_file, layer):
    widget = MovedVector(text="I will leave", place=LONGEST - 1, layer=layer)
    assert widget.angle() is None
    tokens, kept = widget.tokens(), widget.encoding().encode("By your leave")
    widget.kept_text, widget.kept_place = "By your leave, sir", len(kept) - 1
    found = javascript(HARNESS, "apart", model_file, tokens, kept, layer)
    assert found["angle"] == pytest.approx(widget.angle(), abs=0.01)
    np.testing.assert_allclose(found["axes"], widget.directions(), atol=1e-3)
    both = torch.stack([widget.kept(), widget.moved().arrows.sum(dim=(0, 1))])
    shown = (both @ widget.directions().T).norm(dim=1)  # the plane holds both moves whole
    torch.testing.assert_close(shown, both.norm(dim=1), atol=1e-4, rtol=0)
    assert png(widget.picture()).startswith(b"\x89PNG")
    widget.kept_text = widget.text
    assert widget.angle() is None


def test_leave_is_one_vector_before_the_first_layer_and_two_behind_it():
    befores = [
        MovedVector(text=text, place=LONGEST - 1, layer=0).moved().before
        for text in ("By your leave", "I will leave")
    ]
    torch.testing.assert_close(*befores, atol=0, rtol=0)


def test_the_plane_of_the_move_shows_before_and_after_whole(javascript):
    rng = np.random.default_rng(7)
    before, added = torch.tensor(rng.normal(size=(2, 128)))
    axes = span(before, added)
    np.testing.assert_allclose(axes @ axes.T, np.eye(2), atol=1e-12)
    shown = javascript(
        FILE,
        "shares",
        axes.tolist(),
        [before.tolist(), (before + added).tolist(), rng.normal(size=128).tolist()],
    )
    np.testing.assert_allclose(shown[:2], 1, atol=1e-12)
    assert shown[2] < 0.5
    nothing = span(torch.eye(3)[0], 2 * torch.eye(3)[0])
    np.testing.assert_allclose(nothing[1], 0, atol=1e-6)


def test_the_example_copies_the_word_it_heard():
    widget = MovedVector()
    assert [widget.names()[widget.longest()], widget.names()[-1]] == ["␣hand", "␣fair"]
    assert widget.chance(1.0)[0] > 0.3
    assert widget.chance(0.0)[0] < 0.02
    widget.head = 1  # looks at the sentence's stop, not at the word
    assert widget.names()[widget.longest()] == "."
    assert widget.chance(0.0)[0] > 0.3


# --- words and state


def test_the_result_line_says_what_is_seen(javascript):
    state = {"layer": 1, "head": None, "strength": 1}
    longest = {"length": 1.11, "name": "␣hand"}
    said = javascript(FILE, "describe", state, longest, "␣hand", [0.35, 0.35])
    assert said == (
        "Layer 1, all heads: the longest arrow, 1.11, comes from “␣hand”. "
        "“␣hand” comes next with 35%."
    )
    state |= {"head": 2, "strength": 0.5}
    said = javascript(FILE, "describe", state, longest, "␣hand", [0.35, 0.12])
    assert said.startswith("Layer 1, head 2: the longest")
    assert said.endswith("with 35%; with these arrows times 0.5, with 12%.")


def test_the_guesses_shown_do_not_depend_on_the_slider(javascript):
    now, without, twice = [0.4, 0.3, 0.2, 0.1, 0, 0], [0, 0, 0, 0.1, 0.9, 0], [0.9, 0, 0, 0, 0, 0.1]
    assert javascript(FILE, "rowsOf", now, [without, twice], 5) == [0, 1, 2, 4, 3]


def test_names_are_moved_apart_and_a_unit_is_as_long_on_both_axes(javascript):
    labels = [{"words": "one", "x": 10, "y": 20}, {"words": "two", "x": 12, "y": 22}]
    found = javascript(FILE, "apart", labels)
    assert [label["y"] for label in found] == [20, 33]
    across, up = javascript(FILE, "frame", [[2.0, 0.0], [3.0, 1.0]], 300, 200)
    assert (across[1] - across[0]) / 300 == pytest.approx((up[1] - up[0]) / 200)
    assert across[0] < 0 < 3 < across[1]
    assert up[0] < 0 < 1 < up[1]


@pytest.mark.parametrize(
    ("state", "complaint"),
    [
        ({"layer": 4}, "layer must be 0 to 3"),
        ({"head": 4}, "head must be 0 to 3"),
        ({"place": -1}, "place"),
        ({"plane": "any"}, "move"),
        ({"strength": 2.1}, "strength must be 0 to 2"),
        ({"text": "\ud800"}, "lone surrogate"),
        ({"checkpoint": b"no model"}, "no whole language model"),
    ],
)
def test_values_of_another_kind_are_refused(state, complaint):
    with pytest.raises(traitlets.TraitError, match=complaint):
        MovedVector(**state)


@pytest.mark.parametrize("text", ["", "A", "To be " * 2000])
def test_every_text_has_a_still_picture(text):
    widget = MovedVector(text=text, place=LONGEST - 1)
    assert png(widget.picture()).startswith(b"\x89PNG")


# --- in a browser


@pytest.mark.browser
@pytest.mark.parametrize(
    ("text", "slanted"), [("I will leave", 0), ("good morrow, sweet cousin. " * 3, 1)]
)
def test_tokens_stand_upright_where_they_have_room(widget_page, text, slanted):
    page = widget_page(MovedVector(text=text), width=1400)
    rest(page)
    tokens = page.locator("svg.strip text.token")
    turned = sum("rotate" in (one.get_attribute("transform") or "") for one in tokens.all())
    assert turned == slanted * tokens.count()


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_arrows_are_shortened_and_places_chosen(widget_page, width):
    page = widget_page(MovedVector(), width=width, has_touch=True)
    rest(page)
    result, strip = page.locator(".result"), page.locator("svg.strip")
    assert "1.11, comes from “␣hand”. “␣hand” comes next with 35%." in result.inner_text()
    assert page.locator("svg.plane .step").count() == 5
    page.get_by_role("slider", name="Arrows, times").press("Home")
    rest(page)
    assert "with these arrows times 0, with 1%" in result.inner_text()
    page.get_by_role("slider", name="Head").press("Home")
    rest(page)
    assert "Layer 1, head 0" in result.inner_text()
    assert page.locator("svg.plane .step").count() == 6
    page.get_by_role("slider", name="Layer").press("End")
    page.get_by_label("of two guesses").check()
    rest(page)
    assert page.evaluate("[model.get('layer'), model.get('plane')]") == [3, "guesses"]
    assert "more “␣hand”, less “␣heart”" in page.locator("svg.plane").text_content()
    strip.press("ArrowLeft")
    strip.press("ArrowRight")
    strip.press("ArrowRight")
    assert page.evaluate("model.get('place')") == 13
    box = strip.bounding_box()
    assert box
    page.touchscreen.tap(box["x"] + 40, box["y"] + 50)
    rest(page)
    assert page.evaluate("model.get('place')") == 0
    assert page.locator("svg.plane .step").count() == 2
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


def test_a_kept_move_is_named_by_the_end_of_its_text(javascript):
    assert javascript("moved_vector.js", "ending", " By your leave") == "By your leave"
    assert javascript("moved_vector.js", "ending", "And so, by your leave") == "…by your leave"


def test_the_still_picture_names_the_kept_move():
    widget = MovedVector(text="I will leave", place=2, kept_text="By your leave", kept_place=2)
    said = [text.get_text() for text in widget.picture().axes[0].get_legend().get_texts()]
    assert "“By your leave”" in said


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_a_move_is_kept_beside_that_of_another_text(widget_page, width):
    page = widget_page(MovedVector(layer=0), width=width)
    rest(page)
    ghost = page.locator("svg.plane .ghost")
    page.get_by_label("Text").first.select_option("By your leave")
    rest(page)
    page.get_by_role("button", name="Keep this move").click()
    rest(page)
    assert ghost.get_attribute("visibility") == "hidden"  # it is the present one
    page.get_by_label("Text").first.select_option("I will leave")
    rest(page)
    assert ghost.get_attribute("visibility") != "hidden"
    assert "The kept move points 47° away." in page.locator(".result").inner_text()
    drawn = page.locator("svg.plane").text_content()
    assert "along the kept move" in drawn
    assert "By your leave" in drawn  # whose move it is
    page.get_by_role("slider", name="Layer").press("End")
    rest(page)
    assert "° away" in page.locator(".result").inner_text()
    page.get_by_role("button", name="Let the kept move go").click()
    rest(page)
    assert ghost.get_attribute("visibility") == "hidden"
    assert "away" not in page.locator(".result").inner_text()


@pytest.mark.browser
def test_the_arrows_come_one_by_one(widget_page):
    widget = MovedVector(text="I will leave", place=2, layer=0, kept_text="By your leave", arrows=1)
    (panel,) = widget.picture().axes
    assert len(panel.collections) == 2  # the vector before, and one arrow
    assert panel.get_title().endswith("1 of 3 arrows")
    page = widget_page(widget)
    rest(page)
    arrows, end = page.locator("svg.plane .step"), page.locator("svg.plane .after")
    for count in (1, 2):
        assert arrows.count() == count
        assert end.get_attribute("visibility") == "hidden"
        page.get_by_role("button", name="Next arrow").click()
        rest(page)
    assert arrows.count() == 3
    assert end.get_attribute("visibility") != "hidden"  # with the last comes what they lead to
    page.get_by_role("button", name="Arrow by arrow").click()
    rest(page)
    assert arrows.count() == 1
    page.get_by_role("slider", name="Layer").press("End")  # another picture is seen whole
    rest(page)
    assert arrows.count() == 3


@pytest.mark.browser
def test_texts_of_every_kind_get_a_picture_or_a_sentence(widget_page):
    page = widget_page(MovedVector())
    rest(page)
    area, note = page.get_by_role("textbox", name="Text"), page.locator("p.note")
    area.fill("")
    rest(page)
    assert note.inner_text() == "Type something: the model needs a token."
    assert not page.locator("svg.plane").is_visible()
    area.fill("ω" + "To be " * 40)
    rest(page)
    assert "the first 32 are read; a character that the model has no token for" in note.inner_text()
    assert page.locator("svg.strip .bar").count() == 32
    page.get_by_label("Text").first.select_option(index=2)
    rest(page)
    assert note.inner_text() == "9 tokens."
    assert page.locator("svg.strip .token.chosen").text_content() == "␣the"
