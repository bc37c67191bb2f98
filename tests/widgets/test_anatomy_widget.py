"""Anatomy: its numbers against the library and torch, its state, its life in a browser."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import traitlets
from hypothesis import given
from hypothesis import strategies as st
from widget_page import settle

from primer.notebook.figures import png
from primer.transformers import ORIGINAL, cache_bytes, count_parameters, flops_by_part
from primer.widgets import Anatomy
from primer.widgets.anatomy import BYTES, dissect, specimens

MODULE = "anatomy.js"
NAMES = list(specimens())
decoders = st.sampled_from([name for name in NAMES if not specimens()[name].encoder])


def parameters(name):
    """Add up the parameters of a model."""
    return sum(weight["parameters"] for weight in dissect(specimens()[name])["weights"])


# --- the mathematics, against primer and torch ----------------------------------------------------


@given(decoders, st.integers(1, 4096))
def test_flops_are_the_librarys(javascript, name, tokens):
    got = javascript(MODULE, "flopsByPart", dissect(specimens()[name]), tokens)
    assert got == flops_by_part(specimens()[name].config, tokens)


@given(decoders, st.integers(1, 4096), st.integers(1, 256), st.sampled_from(sorted(BYTES)))
def test_the_cache_is_the_librarys(javascript, name, tokens, texts, size):
    got = javascript(MODULE, "cacheBytes", dissect(specimens()[name]), tokens, texts, size)
    assert got == texts * cache_bytes(specimens()[name].config, tokens, size)


def test_a_matrix_is_no_vector(javascript):
    weights = dissect(specimens()[NAMES[0]])["weights"]
    for weight in weights:
        said = javascript(MODULE, "describe", weights, weight["name"])
        form = "a vector of" if len(weight["shapes"][0]) == 1 else "a matrix of"
        assert form in said
    assert {len(weight["shapes"][0]) for weight in weights} == {1, 2}


@pytest.mark.parametrize(
    ("parameters", "share"),
    [(4, "under 0.01%"), (7, "0.01%"), (990, "0.99%"), (996, "1.0%"), (25_000, "25.0%")],
)
def test_shares_are_written_as_exactly_as_they_are_small(javascript, parameters, share):
    part = {"name": "gate", "shapes": [[3, 4]], "copies": 1, "flops": 0, "parameters": parameters}
    rest = {**part, "name": "rest", "parameters": 100_000 - parameters}
    assert javascript(MODULE, "describe", [part, rest], "gate") == (
        f"gate: a matrix of 3 × 4: {parameters:,} parameters, {share} of the model"
        "; looked up, added or multiplied number by number: no matrix product."
    )


def test_what_is_said_of_a_weight_with_a_bias_in_many_layers_and_of_a_tied_one(javascript):
    weights = [
        {"name": "up", "shapes": [[2, 3000], [3000]], "copies": 2, "flops": 6000, "parameters": 9},
        {"name": "head", "shapes": [[5, 2]], "copies": 0, "flops": 20, "parameters": 0},
    ]
    assert javascript(MODULE, "describe", weights, "up") == (
        "up: a matrix of 2 × 3,000 with a bias of 3,000, in each of 2 layers: 9 parameters, 100.0% "
        "of the model; 6.00 kFLOP for each token."
    )
    assert javascript(MODULE, "describe", weights, "head") == (
        "head: a matrix of 5 × 2: the embedding once more, so that no parameter is added; "
        "20 FLOP for each token."
    )


@pytest.mark.parametrize("name", NAMES)
def test_areas_are_shares_of_the_parameters(javascript, name):
    weights = dissect(specimens()[name])["weights"]
    cells = javascript(MODULE, "mosaic", weights)
    total = sum(weight["parameters"] for weight in weights)
    for weight in weights:
        corners = np.array(cells[weight["name"]]).reshape(-1, 4)
        assert len(corners) == weight["copies"]
        area = float((corners[:, 2] * corners[:, 3]).sum())
        assert area == pytest.approx(weight["parameters"] / total, abs=1e-9)
    every = np.array([cell for found in cells.values() for cell in found])
    assert (every[:, :2] + every[:, 2:]).max() == pytest.approx(1)


@pytest.mark.parametrize("name", [name for name in NAMES if not specimens()[name].encoder])
def test_parameters_are_those_of_the_formula(name):
    assert parameters(name) == count_parameters(specimens()[name].config)


def test_the_books_own_number_is_that_of_its_file():
    assert f"{parameters(NAMES[0]):,}" == specimens()[NAMES[0]].published


def test_the_original_is_torchs_transformer():
    c = ORIGINAL
    with torch.device("meta"):
        model = torch.nn.Transformer(
            c.d_model, c.n_heads, c.n_layers, c.n_layers, c.ff_width, batch_first=True
        )
    # torch ends both stacks with a norm that the paper does not have, and has no embedding.
    blocks = sum(weight.numel() for weight in model.parameters()) - 4 * c.d_model
    assert parameters("original transformer") == blocks + c.vocab_size * c.d_model
    assert parameters("original transformer") == pytest.approx(65e6, rel=0.04)


@pytest.mark.parametrize(
    ("name", "published", "within"),
    [("GPT-2", 124e6, 0.005), ("Llama-2-7B", 6.7e9, 0.01), ("GPT-3", 175.0e9, 0.003)],
)
def test_the_totals_are_the_published_ones(name, published, within):
    assert parameters(name) == pytest.approx(published, rel=within)


def test_the_originals_flops_and_cache(javascript):
    data = dissect(specimens()["original transformer"])
    c, tokens = ORIGINAL, 100
    flops = javascript(MODULE, "flopsByPart", data, tokens)
    assert flops["scores"] == 3 * 4 * tokens * c.d_model * c.n_layers
    assert flops["projections"] == 3 * 4 * 2 * c.d_model**2 * c.n_layers
    assert flops["feed-forward"] == 2 * 2 * 2 * c.d_model * c.ff_width * c.n_layers
    kept = javascript(MODULE, "cacheBytes", data, tokens, 1, 2)
    assert kept == 2 * cache_bytes(c, tokens, 2)  # of what is written, and of what is read


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (512, "512"),
        (9_999, "10.0 k"),
        (124_439_808, "124.4 M"),
        (174.6e9, "174.6 B"),
        (3.5e12, "3.50 T"),
        (2e15, "2000 T"),
    ],
)
def test_numbers_are_written_short(javascript, number, text):
    assert javascript(MODULE, "compact", number) == text


# --- the Python side ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "complaint"),
    [
        ({"specimen": "GPT-5"}, "specimen must be one of .*GPT-3.* got 'GPT-5'"),
        ({"specimen": "GPT-2", "tokens": 1025}, "GPT-2 reads at most 1024 tokens, got 1025"),
        ({"tokens": 0}, "0"),
        ({"texts": 257}, "257"),
        ({"bytes_per_number": 3}, "3"),
        ({"chosen": "gate"}, "chosen must be one of .* got 'gate'"),
        ({"model": "GPT-2"}, "Anatomy has no model"),
    ],
)
def test_bad_state_is_refused(state, complaint):
    with pytest.raises(traitlets.TraitError, match=complaint):
        Anatomy(**state)


def test_another_model_keeps_what_it_can():
    widget = Anatomy(specimen="Llama-2-7B", chosen="gate")
    widget.specimen = "GPT-2"
    assert (widget.tokens, widget.chosen) == (1024, "query")


@pytest.mark.parametrize("name", NAMES)
def test_there_is_a_picture(name):
    Anatomy(specimen=name).picture().draw_without_rendering()


def test_there_is_a_picture_in_pixels():
    assert png(Anatomy().picture()).startswith(b"\x89PNG")


# --- in a browser ---------------------------------------------------------------------------------


@pytest.mark.browser
def test_a_weight_is_chosen_by_keyboard_by_its_block_and_by_its_area(widget_page):
    page = widget_page(Anatomy())
    result = page.locator(".result")
    expected = "query: a matrix of 768 × 768 with a bias of 768, in each of 12 layers: 7,087,104"
    assert result.inner_text().startswith(expected)
    page.get_by_role("radio", name="query,").press("ArrowDown")
    settle(page)
    assert result.inner_text().startswith("key: a matrix")
    page.locator(".matrix", has_text="up").click()
    settle(page)
    assert result.inner_text().startswith("up: a matrix of 768 × 3,072")
    assert page.get_by_role("radio", name="up,").is_checked()
    page.locator("tbody tr", has_text="down").locator("td").last.click()
    settle(page)
    assert result.inner_text().startswith("down: a matrix of 3,072 × 768")
    page.locator("thead th").last.click()  # what is no weight chooses none
    settle(page)
    assert result.inner_text().startswith("down: a matrix")
    page.locator(".areas path.embedding").first.click()
    settle(page)
    assert result.inner_text().startswith("tokens: a matrix of 50,257 × 768")
    assert page.locator(".matrix.chosen").count() == 0


@pytest.mark.browser
def test_blocks_have_the_proportions_of_their_matrices(widget_page):
    page = widget_page(Anatomy(specimen="Llama-2-7B"))
    sizes = {}
    for block in page.locator(".matrix").all():
        box = block.bounding_box()
        sizes[block.inner_text()] = (box["height"], box["width"])
    assert sizes["query"] == pytest.approx((52, 52))
    line = page.locator(".areas svg").evaluate("(e) => e.style.getPropertyValue('--line')")
    assert float(line) == 1
    unit = sizes["query"][0] / 4096
    for name in ("gate", "up"):
        np.testing.assert_allclose(sizes[name], [4096 * unit, 11008 * unit], rtol=0.01)
    np.testing.assert_allclose(sizes["down"], [11008 * unit, 4096 * unit], rtol=0.01)


@pytest.mark.browser
def test_length_batch_and_format_act_at_once(widget_page):
    page = widget_page(Anatomy(specimen="GPT-3"), width=390)
    tiles = page.locator(".tile b")
    assert tiles.all_inner_texts() == ["174.6 B", "358.8 GFLOP", "9.66 GB", "349.2 GB"]
    page.get_by_label("Tokens of text").press("Home")
    page.get_by_label("Texts at once").press("ArrowRight")
    page.get_by_label("Stored as").select_option("float32")
    settle(page)
    flops = sum(flops_by_part(specimens()["GPT-3"].config, 1).values())
    assert tiles.all_inner_texts() == ["174.6 B", f"{flops / 1e9:.1f} GFLOP", "18.9 MB", "698.4 GB"]
    notes = page.locator(".tile .note").all_inner_texts()
    assert notes[2] == "9.44 MB a token; 0.00 times the weights"
    assert notes[3] == "4 bytes a number"
    page.get_by_label("Stored as").select_option("int8")
    settle(page)
    assert page.locator(".tile .note").last.inner_text() == "1 byte a number"
    # lines between 96 columns are a third as strong
    line = page.locator(".areas svg").evaluate("(e) => e.style.getPropertyValue('--line')")
    assert float(line) == pytest.approx(1 / 3)
    query, room = page.locator(".matrix", has_text="query"), "widget.clientWidth"
    beside = 390 - page.evaluate(room)
    for width, side in ((380, 52), (379, 46)):  # on a small telephone matrices are smaller
        page.set_viewport_size({"width": width + beside, "height": 800})
        settle(page)
        assert page.evaluate(room) == width
        assert query.evaluate("(e) => [e.style.width, e.style.height]") == [f"{side}px"] * 2
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.browser
def test_another_model_is_shown_whole(widget_page):
    page = widget_page(Anatomy(specimen="Llama-2-7B", chosen="gate"))
    page.get_by_label("Model").select_option("original transformer")
    settle(page)
    assert page.evaluate("[model.get('tokens'), model.get('chosen')]") == [512, "query"]
    assert page.locator("tbody tr").count() == len(
        dissect(specimens()["original transformer"])["weights"]
    )
    assert page.locator(".matrix").count() == 6 + 10
    page.get_by_label("Model").select_option(NAMES[0])
    settle(page)
    assert specimens()[NAMES[0]].published in page.locator(".tile").first.inner_text()
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0
