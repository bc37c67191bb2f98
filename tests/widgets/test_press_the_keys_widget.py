"""Press the keys: JavaScript against the library and torch, its state, its life in a browser."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
import traitlets
from hypothesis import given, settings
from hypothesis import strategies as st
from thorough import WIDTHS
from widget_page import rest, settle

from primer.alignment import Replies
from primer.notebook.figures import png
from primer.reasoning import KINDS, Calculator, check, split_pairs
from primer.reasoning.keys import KEYS
from primer.reasoning.recorded import load_recorded
from primer.widgets import press_the_keys
from primer.widgets.press_the_keys import CALCULATOR, MODELS, MOST, PressTheKeys, packed
from primer.widgets.shared.quantized import book_model, pack_bare, unpack, unpack_bare

FILE, HARNESS = "press_the_keys.js", Path(__file__).with_name("press_the_keys.mjs")
RULES = "calculator.js"
displays, tokens = st.integers(0, 49), st.integers(0, 55)
# what a model writes, what nobody would, and what keeps to the form until it ends
written = st.lists(
    st.one_of(st.tuples(st.integers(50, 53), displays), st.tuples(tokens, tokens)), max_size=10
).map(lambda pairs: [token for pair in pairs for token in pair])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Write the packed models for Node to read."""
    folder = tmp_path_factory.mktemp("models")
    for name in MODELS:
        (folder / name).write_bytes(packed(name))
    return {name: str(folder / name) for name in MODELS}


# --- the calculator and its checker


def test_every_press_is_the_librarys(javascript):
    for key in range(len(KEYS)):
        found = [javascript(RULES, "press", display, key) for display in range(50)]
        assert found == CALCULATOR.table[:, key].tolist()


def test_distances_are_the_librarys(javascript):
    for target in range(50):
        found = javascript(RULES, "distances", target)
        assert found == CALCULATOR.distances[:, target].tolist()


def one_verdict(start, target, reply):
    """Let the library's checker read one reply."""
    prompt = CALCULATOR.prompts(np.array([[start, target]]))
    ids = torch.tensor([reply], dtype=torch.long).reshape(1, -1)
    return int(check(CALCULATOR, Replies(prompt, ids, ids >= 0)).kind)


@given(displays, displays, written, st.booleans())
@settings(max_examples=200)
def test_verdicts_are_the_checkers(javascript, start, target, reply, ends):
    if start == target:
        target = (target + 1) % 50
    reply = [*reply, 54] if ends or not reply else reply
    found = javascript(RULES, "verdict", start, target, reply)
    assert KINDS[found["kind"]] == KINDS[one_verdict(start, target, reply)]


@given(displays, st.lists(st.integers(0, 3), min_size=1, max_size=9), st.data())
@settings(max_examples=100)
def test_walks_that_are_written_down_are_judged_alike(javascript, start, keys, data):
    """True ways, with a false number now and then."""
    shown = [start]
    for key in keys:
        display = CALCULATOR.table[shown[-1], key]
        if display < 0:
            break
        shown.append(int(display))
    reply = [t for key, d in zip(keys, shown[1:], strict=False) for t in (50 + key, d)]
    if reply and data.draw(st.booleans()):
        at = 2 * data.draw(st.integers(0, len(reply) // 2 - 1)) + 1
        reply[at] = data.draw(displays)
    target = shown[-1] if shown[-1] != start else (start + 7) % 50
    found = javascript(RULES, "verdict", start, target, [*reply, 54, 3, 60])
    assert found["kind"] == one_verdict(start, target, [*reply, 54])
    assert found["shown"] == shown
    assert javascript(RULES, "walk", start, keys) == shown


def test_replies_in_words_are_the_librarys(javascript):
    reply = [50, 10, 52, 20, 54, 54]
    assert javascript(RULES, "words", reply) == Calculator().read(torch.tensor(reply))


# --- the models


def test_both_models_are_small_enough():
    together = sum(len(packed(name)) for name in MODELS)
    assert together < 0.3e6
    assert together * 4 / 3 < 0.6e6  # as text in a notebook


@pytest.mark.parametrize("name", MODELS)
def test_log_probabilities_are_torchs(javascript, files, name):
    model = unpack_bare(packed(name))
    generator = torch.Generator().manual_seed(3)
    for length in (1, 3, 12, 32):
        ids = torch.randint(0, 56, (1, length), generator=generator)
        with torch.no_grad():
            expected = model(ids)[0].double().log_softmax(-1)
        found = javascript(HARNESS, "logProbabilities", files[name], ids[0].tolist())
        np.testing.assert_allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize("name", MODELS)
def test_eight_bits_change_little(name):
    questions = CALCULATOR.prompts(split_pairs(CALCULATOR)[0])
    with torch.no_grad():
        exact = load_recorded(name)(questions)[:, -1].softmax(-1)
        rounded = unpack_bare(packed(name))(questions)[:, -1].softmax(-1)
    assert float((exact - rounded).abs().sum(-1).mean() / 2) < 0.02


def test_what_is_packed_comes_back_and_other_models_are_refused():
    model = unpack_bare(packed("base"))
    assert pack_bare(model) == packed("base")
    with pytest.raises(ValueError, match="tied_embeddings = False"):
        pack_bare(unpack(book_model())[0])
    with pytest.raises(ValueError, match="read by unpack"):
        unpack_bare(book_model())
    with pytest.raises(ValueError, match="no whole language model"):
        unpack(packed("base"))
    with pytest.raises(ValueError, match="no whole language model"):
        unpack_bare(packed("base")[:1000])


@pytest.mark.parametrize("name", MODELS)
def test_the_page_expects_what_torch_expects(javascript, files, name):
    widget = PressTheKeys(start=16, target=18, pressed=["+3", "−5", "÷2"])
    asked = javascript(RULES, "asked", 16, 18, [0, 1, 3])
    assert asked == [16, 18, 55, 50, 19, 51, 14, 53, 7]
    found = javascript(HARNESS, "next", files[name], asked)
    np.testing.assert_allclose(found, widget.expected(name), atol=1e-5)


def test_what_a_reader_read_before_changes_nothing(javascript, files):
    lists = [[16, 18, 55, 50, 19], [16, 18, 55, 51, 11], [16, 18, 55], [3, 4, 55, 50, 6]]
    for one, ids in zip(
        javascript(HARNESS, "nextInTurn", files["base"], lists), lists, strict=True
    ):
        fresh = javascript(HARNESS, "next", files["base"], ids)
        np.testing.assert_allclose(one, fresh, atol=1e-5)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("start", "target", "seed"), [(16, 18, 0), (33, 44, 5), (0, 49, 11)])
def test_the_page_draws_what_python_draws(javascript, files, name, start, target, seed):
    widget = PressTheKeys(start=start, target=target, seed=seed)
    own = 2 * seed + [*MODELS].index(name)
    found = javascript(HARNESS, "drawn", files[name], start, target, 16, own)
    expected = widget.replies(name)
    assert [len(reply) for reply in found] == expected.lengths.tolist()
    for reply, row in zip(found, expected.tokens.tolist(), strict=True):
        assert reply == row[: len(reply)]


# --- words and state


def test_the_result_line_counts_both_models_and_says_where_the_reader_stands(javascript):
    def said(start, target, keys):
        return javascript(FILE, "place", start, target, keys)

    state = {"start": 16, "target": 18, "pressed": []}
    assert javascript(FILE, "describe", state, [3, 13], 16) == (
        "16 → 18: of 16 replies the base has 3 right, the trained model 13. "
        "Your display shows 16; 4 presses can do it."
    )
    assert said(16, 18, [1]) == "You show 11 after 1 press; 3 more could do it."
    assert said(7, 20, [0, 2]) == "You are there after 2 presses; fewer cannot do it."
    assert said(7, 13, [2, 3, 0, 0]) == "You are there after 4 presses, 2 more than it takes."
    assert said(10, 40, [0, 1, 0, 1, 0, 1, 0, 1, 0]).endswith("no room for more. Take one back.")


def test_what_cannot_be_pressed_or_asked_is_said(javascript):
    assert javascript(FILE, "refused", 7, 0) == ""
    assert javascript(FILE, "refused", 7, 3).endswith("half of an odd number is no whole number.")
    assert javascript(FILE, "refused", 30, 2).endswith("the display shows 0 to 49.")
    assert javascript(FILE, "refused", 3, 1).startswith("−5 is illegal at 3")
    assert javascript(FILE, "trouble", {"start": 3, "target": 4}) == ""
    assert "no press is needed" in javascript(FILE, "trouble", {"start": 3, "target": 3})


@pytest.mark.parametrize(
    ("state", "complaint"),
    [
        ({"start": 50}, "start must be 0 to 49, got 50"),
        ({"target": -1}, "target must be 0 to 49"),
        ({"model": "misled"}, "trained"),
        ({"tries": 5}, "tries"),
        ({"seed": -1}, "seed"),
        ({"pressed": ["+4"]}, "the keys are"),
        ({"pressed": ["+3"] * (MOST + 1)}, "10 keys, 9 have room"),
        ({"base": b"no model"}, "base: this is no whole language model"),
        ({"trained": book_model()}, "trained: this model's tokens are a text's"),
    ],
)
def test_values_of_another_kind_are_refused(state, complaint):
    with pytest.raises(traitlets.TraitError, match=complaint):
        PressTheKeys(**state)


def test_the_still_picture_shows_the_ways_and_the_verdicts():
    widget = PressTheKeys(pressed=["+3", "−5", "÷2", "÷2"])  # the last is illegal: 7 is odd
    assert widget.walk() == [16, 19, 14, 7]
    ways, bars = widget.picture().axes
    assert ways.lines[-2].get_ydata().tolist() == [16, 19, 14, 7]
    right = sum(int(line.get_ydata()[-1]) == 18 for line in ways.lines[:-2])
    assert right == int(widget.verdicts("trained").right.sum()) == 13
    widths = [bar.get_width() for bar in bars.patches]
    assert sum(widths[:6]) == sum(widths[6:]) == 16
    assert png(PressTheKeys(start=7, target=7).picture()).startswith(b"\x89PNG")


@given(displays, written)
def test_ways_in_the_picture_are_those_of_the_page(javascript, start, reply):
    reply = [*reply, 54]
    found = javascript(RULES, "verdict", start, (start + 1) % 50, reply)
    assert press_the_keys._shown(start, reply) == found["shown"]


# --- in a browser


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_keys_are_pressed_and_replies_drawn(widget_page, width):
    page = widget_page(PressTheKeys(), width=width, has_touch=True)
    rest(page)
    result = page.locator(".result")
    assert "the base has 3 right, the trained model 13" in result.inner_text()
    page.get_by_role("button", name="minus 5").tap()
    settle(page)
    assert page.evaluate("model.get('pressed')") == ["−5"]
    assert "You show 11 after 1 press; 3 more could do it." in result.inner_text()
    half = page.get_by_role("button", name="half")
    assert half.get_attribute("aria-disabled") == "true"
    half.press("Enter")
    settle(page)
    assert "half of an odd number" in result.inner_text()
    page.get_by_role("button", name="minus 5").press("Enter")
    page.get_by_role("button", name="plus 3").press("Enter")
    page.get_by_role("button", name="times 2").click()
    settle(page)
    assert "You are there after 4 presses; fewer cannot do it." in result.inner_text()
    page.get_by_role("button", name="Take one back").click()
    rest(page)
    assert page.locator(".display").inner_text() == "9 → 18"
    shares = page.locator(".chance").all_inner_texts()
    expected = PressTheKeys(pressed=["−5", "−5", "+3"])
    for text, (key, name) in zip(
        shares, ((k, n) for k in (50, 51, 52, 53, 54) for n in MODELS), strict=True
    ):
        near = 100 * float(expected.expected(name)[key])
        assert abs(float(text.strip().rstrip("%")) - near) <= 0.51
    told = page.locator(".board thead .told").all_inner_texts()
    assert len(told) == len(KINDS)
    assert all(told)
    board = "(board) => board.scrollWidth <= board.clientWidth"
    assert page.locator(".board").evaluate(board)  # no column is cut off
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


@pytest.mark.browser
def test_questions_models_and_draws_are_chosen(widget_page):
    page = widget_page(PressTheKeys(tries=4))
    rest(page)
    result = page.locator(".result")
    page.get_by_label("base", exact=True).check()
    settle(page)
    assert page.locator(".board tr.chosen th").inner_text() == "base"
    page.get_by_role("button", name="Draw again").click()
    rest(page)
    assert page.evaluate("model.get('seed')") == 1
    widget = PressTheKeys(tries=4, seed=1)
    right = [int(widget.verdicts(name).right.sum()) for name in MODELS]
    assert f"the base has {right[0]} right, the trained model {right[1]}" in result.inner_text()
    page.get_by_role("button", name="plus 3").click()
    page.get_by_role("slider", name="Target").press("Home")
    rest(page)
    assert page.evaluate("[model.get('target'), model.get('pressed')]") == [0, []]
    page.get_by_role("slider", name="Start").press("Home")
    settle(page)
    assert "no press is needed" in page.locator(".note").inner_text()
    assert not page.locator(".screen").is_visible()
    page.get_by_role("button", name="Another question").click()
    rest(page)
    first = split_pairs(CALCULATOR)[0][0].tolist()
    assert page.evaluate("[model.get('start'), model.get('target')]") == first
    page.get_by_text("The replies, key by key").click()
    settle(page)
    assert page.locator(".replies tbody tr").count() == 4
