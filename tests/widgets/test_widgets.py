"""How tests call JavaScript; the RoPE widget: its JavaScript against the library, and its life."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
import torch
import traitlets
from hypothesis import given
from hypothesis import strategies as st
from thorough import WIDTHS
from widget_page import complaints, settle

from primer.positions import apply_rope, rope_frequencies, rope_matrix, rope_permutation
from primer.widgets import RopeRotation

# ---------------------------------------------------------------- the harness itself


def write_module(folder: Path, source: str) -> Path:
    """Write an ES module for the harness to call."""
    path = folder / "module.mjs"
    path.write_text(source, "utf-8")
    return path


def test_javascript_takes_arrays_and_returns_typed_arrays(javascript, tmp_path):
    module = write_module(
        tmp_path, "export const twice = (x) => Float64Array.from(x, (v) => 2 * v);"
    )
    assert javascript(module, "twice", np.array([1.5, -2.0])) == [3.0, -4.0]


def test_javascript_refuses_what_json_cannot_carry(javascript, tmp_path):
    module = write_module(tmp_path, "export const inverse = (x) => ({ inverse: 1 / x });")
    with pytest.raises(ValueError, match="not JSON compliant"):
        javascript(module, "inverse", math.nan)
    with pytest.raises(RuntimeError, match="inverse is Infinity"):
        javascript(module, "inverse", 0)


def test_javascript_reports_errors_and_goes_on(javascript, tmp_path):
    module = write_module(
        tmp_path, "export const same = (x) => { if (!x) throw Error('no x'); return x; };"
    )
    with pytest.raises(RuntimeError, match="same failed: Error: no x"):
        javascript(module, "same", 0)
    with pytest.raises(RuntimeError, match="exports no function other"):
        javascript(module, "other")
    assert javascript(module, "same", "ü") == "ü"


# ---------------------------------------------------------------- RoPE: JavaScript against primer

LAYOUTS = ["interleaved", "half"]
bases = st.floats(2, 6).map(lambda exponent: 10.0**exponent)
positions = st.integers(0, 5000)


@st.composite
def two_vectors(draw):
    """Draw a query and a key of one even length."""
    size = 2 * draw(st.integers(1, 16))
    vector = st.lists(st.floats(-10, 10), min_size=size, max_size=size)
    return draw(vector), draw(vector)


def rope_score(query, key, m, n, base, layout):
    """Compute the score with the library."""
    q = apply_rope(torch.tensor(query, dtype=torch.float64), m, base, layout)
    k = apply_rope(torch.tensor(key, dtype=torch.float64), n, base, layout)
    return float(q @ k)


@given(pairs=st.integers(1, 64), base=bases)
def test_rope_frequencies_agree(javascript, pairs, base):
    got = javascript("rotation.js", "ropeFrequencies", 2 * pairs, base)
    np.testing.assert_allclose(got, rope_frequencies(2 * pairs, base), rtol=0, atol=1e-6)


@given(pairs=st.integers(1, 64))
def test_rope_permutation_agrees(javascript, pairs):
    got = javascript("rotation.js", "ropePermutation", 2 * pairs)
    assert got == rope_permutation(2 * pairs).tolist()


@pytest.mark.parametrize("layout", LAYOUTS)
@given(vectors=two_vectors(), position=positions, base=bases)
def test_rotated_vectors_agree(javascript, layout, vectors, position, base):
    got = javascript("rotation.js", "applyRope", vectors[0], position, base, layout)
    want = apply_rope(torch.tensor(vectors[0], dtype=torch.float64), position, base, layout)
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-6)


@pytest.mark.parametrize("layout", LAYOUTS)
@given(vectors=two_vectors(), m=positions, n=positions, base=bases)
def test_rope_scores_agree(javascript, layout, vectors, m, n, base):
    shares = javascript("rotation.js", "pairScores", *vectors, m, n, base, layout)
    assert len(shares) == len(vectors[0]) // 2
    assert sum(shares) == pytest.approx(rope_score(*vectors, m, n, base, layout), abs=1e-6)


@pytest.mark.parametrize("layout", LAYOUTS)
@given(vectors=two_vectors(), base=bases, offsets=st.lists(st.integers(-64, 64), min_size=1))
def test_score_curve_agrees(javascript, layout, vectors, base, offsets):
    """The curve is q R(n − m) kᵀ, which the library computes with the whole matrix."""
    query, key = (np.array(v) for v in vectors)
    got = javascript("rotation.js", "scoreCurve", query, key, offsets, base, layout)
    want = [query @ rope_matrix(r, query.size, base, layout).numpy() @ key for r in offsets]
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-6)
    shares = [
        javascript("rotation.js", "pairCurve", query, key, pair, offsets, base, layout)
        for pair in range(query.size // 2)
    ]
    np.testing.assert_allclose(np.sum(shares, axis=0), want, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("frequencies", "expected"), [([1.0], 44), ([1.0, 0.562], 44), ([1.0, 0.08], None)]
)
def test_the_mark_finds_the_distance_that_looks_like_none(javascript, frequencies, expected):
    distances = np.arange(-64, 65)
    scores = np.cos(distances[:, None] * np.array(frequencies)).sum(axis=1)
    at = javascript("rotation.js", "lookalike", scores.tolist(), 0.95)
    assert (distances[at] if at >= 0 else None) == expected


# ---------------------------------------------------------------- RoPE: traits and picture


@pytest.mark.parametrize("dim", [8, 16])
def test_rope_defaults_end_on_their_circles_and_agree_best_at_equal_positions(dim):
    widget = RopeRotation()
    pairs = np.reshape([widget.query, widget.key], (2, 8, 2))
    np.testing.assert_allclose(np.linalg.norm(pairs, axis=-1), 1, atol=1e-12)
    distances = range(-64, 65)
    scores = [
        rope_score(widget.query[:dim], widget.key[:dim], 64, 64 + r, 1e4, "interleaved")
        for r in distances
    ]
    assert distances[int(np.argmax(scores))] == 0


def test_rope_repr_names_the_controls_only():
    assert repr(RopeRotation()) == "RopeRotation(m=3, n=8, base=10000.0, dim=8, pair=0)"


@pytest.mark.parametrize(
    ("state", "complaint"),
    [
        ({"m": -1}, "m must be 0 to 64, got -1"),
        ({"n": 65}, "n must be 0 to 64, got 65"),
        ({"m": 1.5}, "expected an int"),
        ({"base": 0.0}, "base must be 100 to 1,000,000, got 0.0"),
        ({"base": math.nan}, "base must be 100 to 1,000,000, got nan"),
        ({"dim": 7}, "dim must be even and at most 16, got 7"),
        ({"dim": 8, "key": [1, 2, 3, 4]}, "dim must be even and at most 4, got 8"),
        ({"pair": 4}, "the pairs 0 to 3, got pair 4"),
        ({"query": [1.0, 2.0, 3.0]}, r"query must hold an even number .* shape \(3,\)"),
        ({"query": [1.0, math.inf]}, "query must be finite"),
        ({"key": "ab"}, "key must be a list of numbers"),
    ],
)
def test_rope_refuses_bad_state(state, complaint):
    with pytest.raises(traitlets.TraitError, match=complaint):
        RopeRotation(**state)


def test_rope_takes_arrays_and_fits_dimension_and_pair_to_them():
    widget = RopeRotation(pair=3)
    widget.query = np.arange(4)
    assert (widget.query, widget.dim, widget.pair) == ([0.0, 1.0, 2.0, 3.0], 4, 1)


@pytest.mark.parametrize(
    "state", [{}, {"dim": 2}, {"dim": 16, "pair": 7}, {"query": [0] * 4, "key": [0] * 4}]
)
def test_rope_picture_draws_the_state(state):
    widget = RopeRotation(m=5, n=9, **state)
    figure = widget.picture()
    texts = [text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))]
    signed = f"{widget.score():.3f}".replace("-", "−")  # a true minus, as people write
    assert "Query turned to m = 5 (blue), key turned to n = 9 (orange)" in texts
    assert f"The score depends on n − m = 4 only: it is {signed}" in "".join(texts)
    assert sum(text.startswith("pair ") for text in texts) == widget.dim // 2


# ---------------------------------------------------------------- RoPE: in a browser


def score(page) -> float:
    """Read the displayed score."""
    return float(page.locator(".number").inner_text().replace("−", "-"))


def result(page) -> str:
    """Read the line that screen readers announce, after the next frame."""
    settle(page)
    return page.locator(".result").inner_text()


@pytest.mark.browser
def test_rope_shows_what_the_library_computes(widget_page):
    widget = RopeRotation(m=20, n=7, dim=12, base=500.0)
    page = widget_page(widget)
    want = widget.score()
    assert score(page) == pytest.approx(want, abs=6e-4)
    assert result(page) == f"m = 20, n = 7, distance −13, score {want:.3f}".replace("-", "−")
    assert page.locator("tfoot td").text_content() == page.locator(".number").inner_text()
    assert page.locator("tbody tr").count() == page.locator(".pair").count() == 6
    assert page.locator("tfoot th").get_attribute("colspan") == "5"  # of six columns


@pytest.mark.browser
def test_rope_offers_as_many_dimensions_as_both_vectors_have(widget_page):
    page = widget_page(RopeRotation(query=np.arange(6), key=np.arange(12), dim=4))
    assert page.get_by_label("Dimension").get_attribute("max") == "6"


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_rope_marks_the_distance_that_looks_like_none(widget_page, width):
    page = widget_page(RopeRotation(query=[1.0, 0.0], key=[1.0, 0.0], dim=2), width=width)
    name, mark = page.locator("svg.curve > text"), page.locator("circle.alias")
    assert name.text_content() == "44 looks like 0"  # seven turns of a radian a token
    axis = page.locator("svg.curve .axis").get_attribute("d")
    left, top, bottom, right = (float(part) for part in re.findall(r"[\d.]+", axis))
    at = left + (right - left) * (44 + 64) / 128
    assert float(mark.get_attribute("cx")) == pytest.approx(at)
    drawn = page.locator("path.total").get_attribute("d")
    curve = np.reshape([float(part) for part in re.findall(r"[\d.]+", drawn)], (-1, 2))
    heights = (curve[:, 1] - (top + bottom) / 2) / (top - bottom) * 2
    np.testing.assert_allclose(heights, np.cos(np.arange(-64, 64.1, 0.25)), atol=2e-3)
    assert float(mark.get_attribute("cy")) == pytest.approx(curve[4 * 108, 1], abs=0.01)
    drawing, words = page.locator("svg.curve").bounding_box(), name.bounding_box()
    assert words["x"] + words["width"] <= drawing["x"] + drawing["width"]
    middle = words["x"] + words["width"] / 2 - drawing["x"]
    assert (middle == pytest.approx(at, abs=1)) == (width == 1400)  # moved where there is no room
    page.evaluate("model.set('query', [0, 0, 1, 0]); model.set('key', [0, 0, 1, 0])")
    page.evaluate("model.set('dim', 4)")
    settle(page)
    assert not name.is_visible()
    assert not mark.is_visible()


@pytest.mark.browser
def test_rope_follows_the_last_pair_that_is_left(widget_page):
    page = widget_page(RopeRotation(pair=3, m=5, n=2))
    dots = page.locator("path.trail")
    passed = dots.evaluate_all("all => all.map((e) => e.getAttribute('d').split('M').length - 1)")
    assert passed == [6, 3] * 4  # the positions 0 to 5 and 0 to 2, of each pair
    assert page.get_by_text("pair 3 alone").is_visible()
    page.get_by_label("Dimension").press("ArrowLeft")
    result(page)
    assert page.evaluate("[model.get('dim'), model.get('pair')]") == [6, 2]
    page.get_by_label("Dimension").press("Home")
    result(page)
    assert page.evaluate("[model.get('dim'), model.get('pair')]") == [2, 0]
    assert page.get_by_text("pair 0 alone").count() == 1
    assert not page.get_by_text("pair 0 alone").is_visible()  # it is the whole score


@pytest.mark.browser
def test_rope_draws_arrows_as_long_as_the_pairs(widget_page):
    page = widget_page(RopeRotation(query=[3.0, 0, 0, 1], key=[0, 2.0, 2, 0], dim=4, m=0, n=0))
    arrows = "path.query:not(.trail), path.key:not(.trail)"
    tips = page.evaluate(rf"""[...document.querySelectorAll("{arrows}")]
      .map((e) => e.getAttribute("d").match(/L(\S+) ([^M]+)M/).slice(1).map(Number))""")
    lengths = np.hypot(*np.array(tips).T)  # query and key of pair 0, then of pair 1
    np.testing.assert_allclose(lengths / lengths[0], [1, 2 / 3, 1 / 3, 2 / 3], atol=1e-3)


@pytest.mark.browser
def test_rope_says_that_other_partners_give_the_same_in_another_order(widget_page):
    page = widget_page(RopeRotation(query=[3.0, 0, 0, 1], key=[0, 2.0, 2, 0], dim=4, m=2, n=0))
    page.get_by_text("Every pair in numbers, and").click()
    settle(page)
    words = page.locator("#widget").evaluate("(e) => e.textContent")
    apart = float(re.search(r"differs by up to (\S+) in a coordinate", words)[1])
    again = float(re.search(r"in that order: difference ([\d.]+?)\.(?!\d)", words)[1])
    assert apart > 1 > 1e-9 > again


@pytest.mark.browser
@pytest.mark.parametrize(
    ("mover", "expected"),
    [
        ("both", [[3, 62], [4, 63], [5, 64], [0, 59], [1, 60]]),
        ("both", [[62, 3], [63, 4], [64, 5], [59, 0], [60, 1]]),
        ("key", [[3, 62], [3, 63], [3, 64], [3, 0], [3, 1]]),
    ],
)
def test_rope_moves_to_the_end_and_begins_anew(widget_page, mover, expected):
    m, n = expected[0]
    page = widget_page(RopeRotation(m=m, n=n), clock=True)
    page.get_by_label("moves").select_option(mover)
    positions = "[model.get('m'), model.get('n')]"
    page.get_by_role("button", name="Play").click()
    seen = []
    for _ in range(10):
        page.clock.run_for(250)
        now = page.evaluate(positions)
        seen += [now] if now not in seen[-1:] else []
    assert seen[:5] == expected


@pytest.mark.browser
def test_rope_answers_to_the_keyboard(widget_page):
    page = widget_page(RopeRotation())
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    assert result(page).startswith("m = 4, n = 8, distance 4,")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowLeft")
    assert result(page).startswith("m = 4, n = 7, distance 3,")
    for _ in range(6):  # shift, base, dimension, play, what moves, the pairs
        page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    result(page)
    assert page.evaluate("model.get('pair')") == 1
    assert page.locator("tbody tr.chosen th").text_content() == "1"
    focusable = page.locator("input, button, select")
    marked = page.locator("[data-lm-suppress-shortcuts=true]")
    assert focusable.count() == marked.count() == 11


@pytest.mark.browser
def test_shifting_both_leaves_the_score(widget_page):
    page = widget_page(RopeRotation(m=3, n=8))
    before = page.locator(".number").inner_text()
    shift = page.get_by_label("Shift both")
    assert shift.get_attribute("aria-valuetext") == "+0 (−3 … +56)"
    shift.focus()
    page.keyboard.press("PageUp")
    for _ in range(20):
        page.keyboard.press("ArrowRight")
    text = result(page)
    moved = page.evaluate("model.get('m')") - 3
    assert moved >= 20
    assert shift.get_attribute("aria-valuetext") == f"+{moved} (−3 … +56)"
    assert text.startswith(f"m = {3 + moved}, n = {8 + moved}, distance 5,")
    assert page.locator(".number").inner_text() == before
    kept = f"Both shifted by +{moved}: difference since the shift 0.000"
    assert kept in page.locator(".readout").inner_text()
    page.get_by_label("Key position n").press("ArrowRight")
    assert "distance 6" in result(page)
    assert page.locator(".number").inner_text() != before
    assert "difference since" not in page.locator(".readout").inner_text()


@pytest.mark.browser
def test_rope_answers_to_the_mouse(widget_page):
    page = widget_page(RopeRotation())
    page.locator(".pair").nth(2).click()
    result(page)
    assert page.evaluate("model.get('pair')") == 2
    page.get_by_label("Query position m").click()
    assert 30 <= page.evaluate("model.get('m')") <= 34
    box = page.locator(".curve").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 100, steps=4)
    page.mouse.up()
    assert page.evaluate("model.get('n') - model.get('m')") in range(8, 17)


@pytest.mark.browser
def test_rope_answers_to_touch_on_a_phone(widget_page):
    page = widget_page(RopeRotation(), width=390, has_touch=True, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_label("Key position n").tap()
    result(page)
    assert 30 <= page.evaluate("model.get('n')") <= 34
    page.locator(".pair").nth(1).tap()
    assert page.evaluate("model.get('pair')") == 1
    ticks = page.locator("svg.curve .tick").all_text_contents()
    assert [t for t in ticks if "." not in t][:5] == ["−64", "−32", "0", "32", "64"]


@pytest.mark.browser
@pytest.mark.parametrize("mover", ["both", "key"])
def test_rope_plays_and_pauses(widget_page, mover):
    page = widget_page(RopeRotation())
    page.get_by_label("moves").select_option(mover)
    play = page.get_by_role("button", name="Play")
    before = page.locator(".number").inner_text()
    play.click()
    page.wait_for_function("model.get('n') >= 9")
    assert page.locator(".result").get_attribute("aria-live") == "off"
    page.get_by_role("button", name="Pause").click()
    at, to = page.evaluate("[model.get('m'), model.get('n')]")
    assert at == (to - 5 if mover == "both" else 3)
    assert result(page).startswith(f"m = {at}, n = {to}, ")
    assert (page.locator(".number").inner_text() == before) == (mover == "both")


@pytest.mark.browser
def test_rope_follows_changes_from_python_and_lets_go(widget_page):
    page = widget_page(RopeRotation(pair=3))
    chosen = page.locator("label:has(:checked) .pair b")
    assert chosen.all_text_contents() == ["Pair 3"]
    page.evaluate("model.set('pair', 1)")
    result(page)
    assert chosen.all_text_contents() == ["Pair 1"]
    page.evaluate("model.set('query', [1, 0]); model.set('dim', 2); model.set('pair', 0)")
    assert result(page).startswith("m = 3, n = 8")
    assert page.locator(".pair").count() == 1
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


@pytest.mark.browser
def test_rope_scores_nothing_when_a_vector_is_zero(widget_page):
    page = widget_page(RopeRotation(query=[0] * 8))
    assert score(page) == 0
    assert "NaN" not in page.locator("#widget").inner_html()


@pytest.mark.thorough
@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 390])
def test_rope_is_accessible(widget_page, theme, width):
    page = widget_page(RopeRotation(dim=16), width=width, theme=theme)
    assert complaints(page) == []
