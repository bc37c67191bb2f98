"""Score the options: JavaScript against the library, its state, its life in a browser."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
import traitlets
from hypothesis import given, settings
from hypothesis import strategies as st
from thorough import WIDTHS
from widget_page import settle

from primer.evaluation import credits
from primer.notebook.figures import png
from primer.widgets.score_options import ALONE, RULES, SETS, ScoreOptions
from primer.widgets.shared.quantized import book_model

FILE, HARNESS = "score_options.js", Path(__file__).with_name("score_options.mjs")


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    """Write the packed model for Node to read."""
    file = tmp_path_factory.mktemp("model") / "plays.bin"
    file.write_bytes(book_model())
    return str(file)


def own_bits(widget: ScoreOptions, text: str) -> float:
    """Sum the bits of a text's tokens from the second on, one after the other."""
    ids = torch.tensor(widget.encoding().encode(text))
    with torch.no_grad():
        nats = widget.model()(ids[None])[0].double().log_softmax(-1)
    return -float(nats[torch.arange(len(ids) - 1), ids[1:]].sum()) / math.log(2)


@pytest.mark.parametrize("context", SETS)
def test_the_page_finds_the_costs_that_the_library_finds(javascript, model_file, context):
    widget = ScoreOptions(text=context, options="\n".join(SETS[context]))
    found = javascript(HARNESS, "costs", model_file, context, SETS[context], ALONE)
    after, alone = widget.costs()
    np.testing.assert_allclose(found["after"], after, atol=2e-3)
    np.testing.assert_allclose(found["alone"], alone, atol=2e-3)
    by_hand = [own_bits(widget, context + o) - own_bits(widget, context) for o in SETS[context]]
    np.testing.assert_allclose(after, by_hand, atol=1e-3)


@given(st.data())
@settings(max_examples=8, deadline=None)
def test_what_a_reader_read_or_did_not_finish_changes_nothing(javascript, model_file, data):
    tokens = st.lists(st.integers(0, 3), min_size=1, max_size=12)
    lists = data.draw(st.lists(tokens, min_size=2, max_size=5))
    stopped = [data.draw(st.integers(0, 6)) for _ in lists[:-1]] + [0]
    found = javascript(HARNESS, "readInTurn", model_file, lists, stopped)
    for one, so_far, ids in zip(found, stopped, lists, strict=True):
        if not so_far:
            fresh = javascript(HARNESS, "readInTurn", model_file, [ids], [0])
            assert one == pytest.approx(fresh[0], abs=1e-4)


@given(
    after=st.lists(st.floats(1, 200), min_size=3, max_size=3),
    alone=st.lists(st.floats(1, 200), min_size=3, max_size=3),
)
def test_the_rules_are_the_chapters(javascript, after, alone):
    options = ["a", "bcd", "Ω is one letter"]
    scores = javascript(FILE, "scored", {"after": after, "alone": alone}, options)
    expected = {
        "sum": np.array(after),
        "letter": np.array(after) / [len(option) for option in options],
        "alone": np.array(after) - alone,
    }
    for rule in RULES:
        np.testing.assert_allclose(scores[rule], expected[rule])
        answer = javascript(FILE, "least", scores[rule])
        assert credits([scores[rule]], answer)[0] > 0  # among the best, by the library


def test_the_result_line_says_each_rules_answer(javascript):
    scores = {"sum": [3, 1, 2], "letter": [1, 2, 3], "alone": [2, 1, 3]}
    in_a_file = dict(sorted(RULES.items()))  # as a notebook stores them
    assert javascript(FILE, "describe", scores, in_a_file) == (
        "Answers: sum of bits (b), bits a letter (a), less the cost alone (b). "
        "2 different answers of one model."
    )
    same = {rule: [1, 2] for rule in RULES}
    assert javascript(FILE, "describe", same, in_a_file).endswith("(a). All rules agree.")


def test_what_cannot_be_scored_is_said(javascript, model_file):
    assert javascript(HARNESS, "why", model_file, "To", ["one"]).startswith("Write two options")
    said = javascript(HARNESS, "why", model_file, "word " * 300, ["one", "two"])
    assert said.startswith("The model reads 256 tokens; the context with option (a) has ")
    assert javascript(HARNESS, "why", model_file, "", ["one", "two"]) == ""
    assert javascript(HARNESS, "said", model_file, "To be\n") == "3 tokens of context."
    assert "ends in a blank" in javascript(HARNESS, "said", model_file, "To be ")
    with pytest.raises(ValueError, match="the model reads 256 tokens; context and option have"):
        ScoreOptions(text="word " * 300).costs()


@pytest.mark.parametrize(
    "state", [{"rule": "best"}, {"options": "a\ud800"}, {"text": "\ud800"}, {"checkpoint": b"no"}]
)
def test_values_of_another_kind_are_refused(state):
    with pytest.raises(traitlets.TraitError):
        ScoreOptions(**state)


@pytest.mark.parametrize("rule", RULES)
def test_the_still_picture_shows_the_scores(rule):
    widget = ScoreOptions(rule=rule)
    (axes,) = widget.picture().axes
    np.testing.assert_allclose([bar.get_width() for bar in axes.patches], widget.scores())
    assert widget.listed()[int(widget.scores().argmin())][:20] in axes.get_title()


def test_lines_that_are_empty_are_no_options():
    assert ScoreOptions(options="\n one\n\ntwo \n").listed() == [" one", "two "]
    assert len(ScoreOptions(options="\n".join("abcdefgh")).listed()) == 6
    assert png(ScoreOptions(options="alone").picture()).startswith(b"\x89PNG")


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_options_are_typed_and_scored(widget_page, width):
    page = widget_page(ScoreOptions(), width=width, has_touch=True)
    result = page.locator(".result")
    page.wait_for_function("document.querySelector('.result').textContent.includes('Answers')")
    assert "sum of bits (d)" in result.inner_text()
    page.get_by_label("less the cost alone").tap()
    settle(page)
    assert page.locator("tr.chosen th").inner_text().startswith("(a) favour")
    page.get_by_role("textbox", name="Options").fill("yes")
    settle(page)
    assert "Write two options or more" in page.locator(".note").inner_text()
    assert not page.locator(".scores").is_visible()
    page.get_by_role("textbox", name="Options").fill("yes\nno\nmaybe")
    page.wait_for_function("document.querySelectorAll('.costs tbody tr').length === 3")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0
