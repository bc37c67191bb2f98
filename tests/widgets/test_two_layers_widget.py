"""The second model of the attention maps: two layers of attention alone, in torch and in a page."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
import torch
import traitlets
from hypothesis import given
from hypothesis import strategies as st
from test_language_model_widgets import read_out
from thorough import WIDTHS
from widget_page import complaints, settle

from primer.attention import induction
from primer.notebook.figures import png
from primer.widgets import AttentionMaps
from primer.widgets.shared.two_layers import (
    EXAMPLES,
    LETTERS,
    encode,
    letter_products,
    pack,
    unpack,
)

HARNESS = Path(__file__).with_name("language_model.mjs")
texts = st.text(LETTERS, min_size=1, max_size=induction.LENGTH)


def sharp_model(seed=0, n_layers=2, d_model=64):
    """Make a model whose large random weights make the heads differ."""
    torch.manual_seed(seed)
    model = induction.AttentionOnly(n_layers, d_model).float()
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=0.3)
    return model


@pytest.fixture(scope="module")
def trained():
    return pack(induction.train(n_layers=2).model)


@pytest.fixture(scope="module")
def packed_file(tmp_path_factory):
    file = tmp_path_factory.mktemp("letters") / "letters.bin"
    file.write_bytes(pack(sharp_model()))
    return file


# --- the mathematics --------------------------------------------------------------------------


@given(texts, st.integers(0, 20))
def test_the_products_make_the_models_weights(text, seed):
    model, tokens = sharp_model(seed), encode(text)
    n = len(tokens)
    scores = letter_products(model, tokens) / (64 / induction.N_HEADS) ** 0.5
    hidden = torch.ones(n, n).triu(1).bool()
    with torch.no_grad():
        _, weights = model(torch.tensor([tokens]))
    got = scores.masked_fill(hidden, -torch.inf).softmax(dim=-1)
    torch.testing.assert_close(got, torch.cat(weights), atol=1e-5, rtol=1e-4)


@given(texts)
def test_the_page_computes_what_torch_computes(javascript, packed_file, text):
    expected = letter_products(unpack(packed_file.read_bytes()), encode(text))
    got = javascript(HARNESS, "letterProducts", str(packed_file), text)
    np.testing.assert_allclose(np.reshape(got, expected.shape), expected, atol=1e-3, rtol=1e-4)


def test_the_page_reads_a_narrower_model(javascript, tmp_path):
    """The book's own has as many numbers for a letter as there are letters."""
    file = tmp_path / "narrow.bin"
    file.write_bytes(pack(sharp_model(d_model=32)))
    expected = letter_products(unpack(file.read_bytes()), encode("abcab"))
    got = javascript(HARNESS, "letterProducts", str(file), "abcab")
    np.testing.assert_allclose(np.reshape(got, expected.shape), expected, atol=1e-3, rtol=1e-4)


def test_what_has_no_letter_is_left_out_on_both_sides(javascript, packed_file):
    text = "a-b\nc🎭d"
    assert encode(text) == [0, 1, 2, 3]
    got = javascript(HARNESS, "letterProducts", str(packed_file), text)
    assert len(got[0][0]) == 16


def test_what_is_packed_comes_back_within_half_a_unit():
    model = sharp_model()
    data = pack(model)
    assert len(data) < 64 * 1024
    read = unpack(data)
    assert pack(read) == data
    for name, weight in model.state_dict().items():
        largest = weight.abs().amax(dim=-1, keepdim=True)
        assert ((read.state_dict()[name] - weight).abs() <= largest / 253).all(), name


@pytest.mark.parametrize("damage", [b"x", b"x" * 100])
def test_damaged_bytes_are_refused(damage):
    with pytest.raises(ValueError, match="no whole model of attention alone"):
        unpack(damage)
    with pytest.raises(traitlets.TraitError, match="second: this is no whole model"):
        AttentionMaps(second=damage)


def test_other_models_are_refused():
    with pytest.raises(ValueError, match=r"expected an AttentionOnly .*, got Linear"):
        pack(torch.nn.Linear(2, 2))


@pytest.mark.parametrize("tokens", [[], [64], [0] * 33])
def test_texts_that_the_model_cannot_read_are_refused(tokens):
    with pytest.raises(ValueError, match="reads 1 to 32 tokens from 0 to 63"):
        letter_products(sharp_model(), tokens)


# --- the widget -------------------------------------------------------------------------------


@pytest.mark.thorough
def test_training_makes_the_pair_that_the_widget_names(trained):
    names = AttentionMaps(second=trained, reads="letters").names()
    assert "previous token" in names[0]
    assert "induction" in names[1]


def test_letters_need_a_second_model():
    with pytest.raises(traitlets.TraitError, match="there is no second model to read"):
        AttentionMaps(reads="letters")


@pytest.mark.parametrize("text", ["", "a", EXAMPLES[1]])
def test_there_is_a_picture(trained, text):
    widget = AttentionMaps(second=trained, reads="letters", letters=text, layer=3, head=3)
    widget.picture().draw_without_rendering()


def test_there_is_a_picture_in_pixels(trained):
    widget = AttentionMaps(second=trained, reads="letters", layer=3, head=3)
    assert png(widget.picture()).startswith(b"\x89PNG")


def test_its_weights_are_light(trained):
    assert len(gzip.compress(trained)) < 48 * 1024


# --- in a browser -----------------------------------------------------------------------------


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_the_second_model_is_chosen_typed_to_and_left(widget_page, trained, width):
    widget = AttentionMaps(second=trained)
    page = widget_page(widget, width=width)
    settle(page)
    assert page.get_by_role("textbox", name="Letters").count() == 0
    page.get_by_label("Two layers of attention alone").check()
    settle(page)
    widget.reads = "letters"
    place = page.evaluate("['layer', 'head', 'query', 'key'].map((name) => model.get(name))")
    maps = widget.maps()
    assert widget.names()[place[0]][place[1]] == "induction"
    assert place[2] == len(EXAMPLES[0]) - 1
    assert place[3] == int(maps[place[0], place[1], place[2]].argmax())
    assert read_out(page) == pytest.approx(float(maps[tuple(place)]), abs=6e-4)
    assert page.locator(".heads input:visible, .heads:not([hidden]) input").count() == 4
    page.get_by_role("textbox", name="Letters").fill("ab-ab-ab")
    settle(page)
    assert "is left out" in page.locator(".controls").inner_text()
    assert page.evaluate("model.get('letters')") == "ab-ab-ab"
    assert complaints(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_label("Plays: 4 layers of 4 heads").check()
    settle(page)
    now = page.evaluate("['layer', 'head', 'query', 'key'].map((name) => model.get(name))")
    assert now == [1, 2, 26, 8]
    assert page.get_by_role("textbox", name="Text").input_value() == widget.text
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


@pytest.mark.browser
def test_with_one_model_there_is_nothing_to_choose(widget_page):
    page = widget_page(AttentionMaps())
    settle(page)
    assert not page.get_by_text("Two layers of attention alone").is_visible()
