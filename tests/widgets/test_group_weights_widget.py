"""Which question gets the push: JavaScript against the library, its state, its life in a page."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy.stats
import torch
import traitlets
from hypothesis import given
from hypothesis import strategies as st
from thorough import WIDTHS
from widget_page import settle

from primer.notebook.figures import png
from primer.reasoning import dead_share, group_advantages, group_weight
from primer.widgets.group_weights import LEAST, QUESTIONS, SAID, SIZES, GroupWeights

FILE = "group_weights.js"
kinds, sizes = st.sampled_from(sorted(SAID)), st.integers(2, 64)
chances = st.floats(LEAST, 1 - LEAST)


@given(kinds, sizes, chances)
def test_a_push_is_the_librarys_weight_times_the_slope_of_the_chance(javascript, kind, n, p):
    expected = group_weight(p, n, kind) * p * (1 - p)
    assert javascript(FILE, "push", kind, n, p) == pytest.approx(float(expected), rel=1e-9)


@given(kinds, st.integers(2, 5), st.floats(-3, 3))
def test_a_push_is_what_advantages_do_to_the_log_odds(javascript, kind, n, z):
    """All groups of n, each with its probability, and the step of autograd."""
    mean, p = 0.0, 1 / (1 + math.exp(-z))
    for group in itertools.product((0.0, 1.0), repeat=n):
        right = torch.tensor(group, dtype=torch.float64)
        odds = torch.tensor(z, dtype=torch.float64, requires_grad=True)
        signed = torch.where(right == 1, odds, -odds)
        log_probs = torch.nn.functional.logsigmoid(signed)
        (group_advantages(right, n, kind) * log_probs).mean().backward()
        mean += p ** sum(group) * (1 - p) ** (n - sum(group)) * float(odds.grad)
    assert javascript(FILE, "push", kind, n, p) == pytest.approx(mean, abs=1e-9)


@given(kinds, sizes, st.lists(chances, min_size=5, max_size=5))
def test_shares_and_the_pushes_of_groups_are_those_of_python(javascript, kind, n, all_chances):
    widget = GroupWeights(kind=kind, chances=all_chances)
    if n in SIZES:
        widget.n = n
        np.testing.assert_allclose(javascript(FILE, "ofGroups", kind, n), widget.of_groups())
    found = javascript(FILE, "shares", kind, widget.n, all_chances)
    np.testing.assert_allclose(found, widget.shares(), rtol=1e-9)


@given(sizes, chances)
def test_the_law_and_the_dead_groups_are_the_librarys(javascript, n, p):
    law = scipy.stats.binom.pmf(range(n + 1), n, p)
    np.testing.assert_allclose(javascript(FILE, "law", n, p), law, rtol=1e-9, atol=1e-300)
    assert javascript(FILE, "dead", n, p) == pytest.approx(float(dead_share(p, n)), rel=1e-12)


@given(kinds, st.lists(chances, min_size=5, max_size=5))
def test_in_groups_of_two_and_three_all_ways_share_alike(javascript, kind, all_chances):
    for n in (2, 3):
        plain = np.array(all_chances) * (1 - np.array(all_chances))
        found = javascript(FILE, "shares", kind, n, all_chances)
        np.testing.assert_allclose(found, plain / plain.sum(), rtol=1e-9)


def test_the_result_line_says_who_gets_the_push(javascript):
    state = {"kind": "spread", "n": 16, "question": 0, "chances": [0.02, 0.1, 0.5, 0.9, 0.98]}
    words = {"said": dict(sorted(SAID.items())), "names": QUESTIONS}
    assert javascript(FILE, "describe", state, words) == (
        "Divided by the spread, groups of 16: the log-odds of A (p = 0.02) move by 0.071 on "
        "average, 6% of the whole push; C gets 43%. 72% of the groups of A are dead, all right or "
        "all wrong."
    )
    state |= {"question": 2, "kind": "mean"}
    assert "no other gets more. 0% of the groups of C" in javascript(FILE, "describe", state, words)


def test_a_place_is_a_chance_in_thousandths(javascript):
    assert javascript(FILE, "chanceAt", 0, LEAST) == 0.5
    assert javascript(FILE, "chanceAt", 99, LEAST) == 1 - LEAST
    assert javascript(FILE, "chanceAt", -99, LEAST) == LEAST


@pytest.mark.parametrize(
    ("state", "complaint"),
    [
        ({"n": 5}, "n"),
        ({"kind": "pass at n"}, "leave one out"),
        ({"question": 5}, "question"),
        ({"chances": [0.5] * 4}, r"must be 5 numbers, got shape \(4,\)"),
        ({"chances": [0.5] * 4 + [1.0]}, "between 0.005 and 0.995"),
        ({"chances": [0.5] * 4 + [math.nan]}, "between 0.005 and 0.995"),
        ({"chances": ["often"] * 5}, "must be numbers"),
    ],
)
def test_values_out_of_range_are_refused(state, complaint):
    with pytest.raises(traitlets.TraitError, match=complaint):
        GroupWeights(**state)


@pytest.mark.parametrize("kind", SAID)
def test_the_still_picture_shows_curves_groups_and_law(kind):
    widget = GroupWeights(kind=kind, n=8, question=1)
    curves, groups, law = widget.picture().axes
    np.testing.assert_allclose(curves.lines[-1].get_ydata(), widget.pushes())
    np.testing.assert_allclose(groups.lines[0].get_ydata(), widget.of_groups())
    heights = {round(b.get_x() + b.get_width() / 2): b.get_height() for b in law.patches}
    pmf = scipy.stats.binom.pmf(range(9), 8, 0.1)
    np.testing.assert_allclose([heights[k] for k in sorted(heights)], pmf)
    mean = float(np.dot(pmf, widget.of_groups()))
    assert mean == pytest.approx(widget.pushes()[1])


def test_it_has_a_picture():
    assert png(GroupWeights().picture()).startswith(b"\x89PNG")


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_questions_are_moved_by_keys_touch_and_mouse(widget_page, width):
    page = widget_page(GroupWeights(), width=width, has_touch=True)
    result = page.locator(".result")
    assert "A (p = 0.02) move by 0.071" in result.inner_text()
    grips = page.locator(".grip")
    grips.nth(2).press("ArrowRight")
    settle(page)
    assert page.evaluate("model.get('chances')[2]") == pytest.approx(0.53)
    assert page.evaluate("model.get('question')") == 2
    assert "C (p = 0.53)" in result.inner_text()
    page.get_by_label("B", exact=True).tap()
    settle(page)
    assert page.locator("tr.chosen th").inner_text() == "B"
    page.get_by_label("leave one out").tap()
    settle(page)
    assert result.inner_text().startswith("Leaving one out, groups of 16")
    page.get_by_role("slider", name="Replies in a group").press("Home")
    settle(page)
    assert "groups of 2:" in result.inner_text()
    box, mark = page.locator("svg.curves").bounding_box(), grips.nth(0).bounding_box()
    assert box
    assert mark
    y = mark["y"] + mark["height"] / 2
    page.mouse.move(mark["x"] + mark["width"] / 2, y)
    page.mouse.down()
    page.mouse.move(box["x"] + 4, y, steps=4)
    page.mouse.up()
    settle(page)
    assert page.evaluate("model.get('chances')[0]") == LEAST
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0
