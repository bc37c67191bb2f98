"""The tape: JavaScript against the library and torch, its two bugs, and its life in a browser."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import traitlets
from hypothesis import given
from hypothesis import strategies as st
from thorough import WIDTHS
from widget_page import settle

from primer.notebook.figures import png
from primer.widgets.tape import EXPRESSIONS, MOST, SAID, Tape

FILE = "tape.js"
BUGS = ("none", "assign", "order")
names = st.sampled_from(sorted(SAID))


@st.composite
def tapes(draw, bugs=BUGS):
    """Draw a state whose leaves lie on the grid of the keys, off the corner of a ReLU."""
    name = draw(names)
    leaves = sum(spot.op == "leaf" for spot in EXPRESSIONS[name])
    grid = st.integers(-40, 40).map(lambda n: n / 20)
    return {
        "expression": name,
        "leaves": draw(st.lists(grid, min_size=leaves, max_size=leaves)),
        "bug": draw(st.sampled_from(bugs)),
    }


def nodes(javascript, widget):
    spots = Tape.constants["expressions"][widget.expression]
    return javascript(FILE, "nodesOf", spots)


@given(tapes(), st.integers(0, MOST))
def test_values_shares_and_gradients_are_those_of_python(javascript, state, steps):
    widget = Tape(**state)
    own = nodes(javascript, widget)
    found = javascript(FILE, "values", own, list(widget.leaves))
    np.testing.assert_allclose(found, [float(v.value) for v in widget.variables()], atol=1e-12)
    assert javascript(FILE, "order", own, widget.bug) == widget.order()
    played = javascript(FILE, "playBack", own, found, widget.bug, steps)
    expected = widget.played_back(steps)
    np.testing.assert_allclose(played["gradients"], expected.gradients, atol=1e-12)
    assert [len(s) for s in played["shares"]] == [len(s) for s in expected.shares]


@given(tapes(bugs=("none",)))
def test_played_back_it_is_the_library_and_torch(state):
    widget = Tape(**state)
    by_torch = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in widget.leaves]
    waiting, found = iter(by_torch), []
    for spot in EXPRESSIONS[widget.expression]:
        own = [found[i] for i in spot.operands]
        found.append(
            {
                "leaf": lambda own: next(waiting),
                "+": lambda own: own[0] + own[1],
                "−": lambda own: own[0] - own[1],
                "·": lambda own: own[0] * own[1],
                "tanh": lambda own: torch.tanh(own[0]),
                "relu": lambda own: torch.relu(own[0]),
            }[spot.op](own)
        )
        found[-1].retain_grad()
    found[-1].backward()
    expected = [0.0 if v.grad is None else float(v.grad) for v in found]
    np.testing.assert_allclose(widget.right(), expected, atol=1e-12)
    np.testing.assert_allclose(widget.played_back(MOST).gradients, expected, atol=1e-12)


@given(tapes(bugs=("none",)))
def test_a_nudge_finds_the_gradients_of_the_leaves(javascript, state):
    widget = Tape(**state)
    if widget.expression == "kink" and abs(float(widget.variables()[-2].value)) < 1e-3:
        return  # at the corner a nudge finds the mean of two slopes
    nudged = javascript(FILE, "differences", nodes(javascript, widget), list(widget.leaves))
    leaves = [i for i, s in enumerate(EXPRESSIONS[widget.expression]) if s.op == "leaf"]
    np.testing.assert_allclose(nudged, widget.right()[leaves], atol=1e-6)


def wrong(**state):
    widget = Tape(**state)
    gap = abs(np.array(widget.played_back(MOST).gradients) - widget.right())
    return {s.name for s, g in zip(EXPRESSIONS[widget.expression], gap, strict=True) if g > 1e-9}


def test_what_the_chapter_says_of_the_bugs_holds():
    assert wrong() == set()
    assert wrong(bug="assign") == {"x"}
    assert wrong(bug="order") == set()
    assert wrong(expression="inside", bug="assign") == {"h", "a", "x", "w"}
    assert wrong(expression="inside", bug="order") == {"a", "x", "w"}
    assert (
        wrong(expression="neuron", bug="assign") == wrong(expression="neuron", bug="order") == set()
    )
    assert wrong(expression="batch", bug="order") == set()
    batch = Tape(expression="batch", bug="assign").played_back(MOST)
    assert batch.shares[1] == pytest.approx([-0.55, 0.3])  # its squares lose half, w a row as well
    loss = Tape(expression="loss", bug="assign")
    half = np.array(loss.played_back(MOST).gradients) / loss.right()
    named = dict(zip((s.name for s in EXPRESSIONS["loss"]), half, strict=True))
    assert named.pop("L") == 1
    assert named.pop("x") != pytest.approx(0.5)
    assert list(named.values()) == pytest.approx([0.5] * 13)


def test_the_result_line_says_who_hands_what_to_whom(javascript):
    own = nodes(javascript, Tape())
    say = lambda *given: javascript(FILE, "describe", own, [], *given)  # noqa: E731
    assert say("none", 0) == "y = 3.074. With respect to itself its gradient is 1: press Back."
    assert say("none", 2) == "m hands back: h += 2 × 1, x += 0.537 × 1."
    assert say("assign", 2) == "m hands back: h = 2 × 1, x = 0.537 × 1."
    assert say("none", 4) == "All played back: the tape and the nudge agree."
    assert say("assign", 4) == "All played back, and wrong at x: x kept only the last share."
    assert say("order", 4).endswith("does no harm here: each had all its shares when it handed on.")
    own = nodes(javascript, Tape(expression="inside"))
    assert say("order", 4) == (
        "All played back, and wrong at x and w: h handed on before all shares had come."
    )
    assert javascript(FILE, "describe", own, [0, 0], "order", 4).endswith(
        "a bug, and with these numbers it does not show."
    )
    own = nodes(javascript, Tape(expression="neuron"))
    assert say("assign", 5).endswith("no harm here: no value is used twice.")
    own = nodes(javascript, Tape(expression="kink"))
    corner = javascript(FILE, "describe", own, [1.5, -1, 0.5, 1, 1], "none", 5)
    assert corner.startswith("All played back. At its corner a ReLU has no slope: the tape takes 0")


def test_a_box_says_what_arrives_and_what_it_adds_up_to(javascript):
    own = nodes(javascript, Tape())
    found = javascript(FILE, "values", own, [])
    say = lambda bug, steps, i: javascript(FILE, "arriving", own, found, bug, steps, i)  # noqa: E731
    assert say("none", 0, 0) == ""
    assert say("none", 2, 0) == "+= 0.54×1"
    assert say("none", 3, 0) == "1 + 0.54"
    assert say("none", 4, 0) == "1 + 0.54 + 0.43"
    assert say("assign", 4, 0) == "1 → 0.54 → 0.43"


@pytest.mark.parametrize(
    ("state", "complaint"),
    [
        ({"expression": "sum"}, "expression"),
        ({"bug": "both"}, "bug"),
        ({"played": 10}, "0 to 9"),
        ({"leaves": [1.0]}, "must be 2 numbers for 'shortcut', or none, got 1"),
        ({"leaves": [1.0, 2.5]}, "between -2 and 2"),
        ({"leaves": [1.0, float("nan")]}, "between -2 and 2"),
    ],
)
def test_bad_state_is_refused(state, complaint):
    with pytest.raises(traitlets.TraitError, match=complaint):
        Tape(**state)


def test_another_expression_begins_with_its_own_leaves():
    widget = Tape(leaves=[1.0, 1.0])
    widget.expression = "loss"
    assert len(widget.variables()) == 15


@pytest.mark.parametrize("name", SAID)
def test_there_is_a_picture(name):
    assert png(Tape(expression=name, played=MOST).picture()).startswith(b"\x89PNG")


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_it_answers_to_keys_a_finger_and_the_mouse(widget_page, width):
    page = widget_page(Tape(), width=width, has_touch=True)
    result = page.locator(".result")
    assert "m hands back" in result.inner_text()
    nudges = page.locator("tr", has_text="a nudge").locator("td")
    assert nudges.all_inner_texts() == ["–", "–"]  # a task asks what will come
    page.get_by_role("button", name="One node").tap()
    settle(page)
    assert "h hands back: a += 0.712 × 2." in result.inner_text()
    page.get_by_role("slider", name="Nodes played back").press("End")
    settle(page)
    assert "agree" in result.inner_text()
    assert page.locator("td.says").first.inner_text() == "1.964"
    assert nudges.all_inner_texts() == ["1.964", "2.846"]
    assert page.get_by_role("button", name="One node").count() == 0  # there is none left
    page.get_by_role("button", name="Start again").tap()
    settle(page)
    assert page.evaluate("model.get('played')") == 0
    page.get_by_role("slider", name="Nodes played back").press("End")
    settle(page)
    page.get_by_label("= for +=").tap()
    settle(page)
    assert "wrong at x" in result.inner_text()
    assert page.locator("rect.wrong").count() == 1
    grip = page.get_by_role("slider", name="Value of w")
    grip.press("ArrowRight")
    settle(page)
    assert page.evaluate("model.get('leaves')") == [2, 0.35]
    box = page.get_by_role("slider", name="Value of x").bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] - 200, box["y"], steps=4)
    page.mouse.up()
    settle(page)
    assert page.evaluate("model.get('leaves')") == [-2, 0.35]
    page.get_by_role("combobox").select_option("loss")
    settle(page)
    assert page.evaluate("[model.get('leaves'), model.get('played')]") == [[], 0]
    assert page.locator(".grip").count() == 6
    page.get_by_role("button", name="One node").tap()
    settle(page)
    assert "L hands back: d = 1.18 × 1, d = 1.18 × 1." in result.inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0
