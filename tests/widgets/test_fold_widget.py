"""Folds: JavaScript against the library, and their life in a browser."""

from __future__ import annotations

import numpy as np
import pytest
import traitlets
from hypothesis import given
from hypothesis import strategies as st
from thorough import WIDTHS
from widget_page import settle

from primer import networks
from primer.notebook.figures import png
from primer.widgets import Fold

states = {
    "depth": st.integers(1, 6),
    "width": st.integers(2, 4),
    "lacking": st.integers(0, 50),
    "where": st.sampled_from(["first", "last", "every"]),
}


@given(**states)
def test_what_the_layers_make_of_the_line_is_the_librarys(javascript, depth, **state):
    widget = Fold(depth=depth, **state)
    rows = javascript(
        "fold.js", "fold", depth, state["width"], state["lacking"] / 100, state["where"]
    )
    assert len(rows) == depth + 1
    places = np.linspace(0, 1, 301)
    for k, row in enumerate(rows[1:], 1):
        layers = widget.network(k)
        expected = networks.forward(places[:, None], layers, networks.relu).sums[-1].ravel()
        np.testing.assert_allclose(np.interp(places, row["x"], row["y"]), expected, atol=1e-6)
    counts = [javascript("fold.js", "countPieces", row) for row in rows[1:]]
    assert counts == widget.pieces()


@given(st.integers(1, 5), st.integers(2, 4))
def test_pieces_are_the_powers_of_the_width(depth, width):
    assert Fold(depth=depth, width=width).pieces()[-1] == width**depth


def test_what_the_chapter_says_of_it_holds():
    def pieces(lacking, where):
        return Fold(depth=6, lacking=lacking, where=where).pieces()[-1]

    assert [pieces(20, where) for where in ("first", "last", "every")] == [52, 64, 30]
    assert pieces(30, "every") == 7
    assert Fold(depth=6, width=3, lacking=30, where="every").pieces()[-1] > 64
    steps = np.diff(Fold(depth=6, lacking=30, where="every").pieces())
    assert steps.tolist() == [1] * 5  # one more with each layer, as if it were one wide layer


def test_of_too_many_corners_each_column_shows_the_lowest_and_the_highest(javascript):
    few = {"x": [0, 0.5, 1], "y": [0, 1, 0]}
    assert javascript("fold.js", "outline", few, 2) == [[0, 0], [0.5, 1], [1, 0]]
    corners = {"x": [0, 0.1, 0.9, 1], "y": [0, 1, 0.5, 0]}  # as many as there is room for
    assert javascript("fold.js", "outline", corners, 2) == [[0, 0], [0.1, 1], [0.9, 0.5], [1, 0]]
    draw = np.random.default_rng(0)
    x, y = np.sort(draw.uniform(size=100)), draw.uniform(size=100)
    x[-1] = 1.0  # the last corner stands at the end of the last column
    shown = javascript("fold.js", "outline", {"x": x.tolist(), "y": y.tolist()}, 4)
    column = np.minimum(np.floor(4 * x), 3)
    for k in range(4):
        inside = y[column == k]
        assert shown[2 * k : 2 * k + 2] == [
            [(k + 0.5) / 4, v] for v in (inside.min(), inside.max())
        ]


def test_the_result_line_says_what_is_seen(javascript):
    line = javascript("fold.js", "describe", 5, 2, 0, 32)
    assert line.startswith("5 layers of 2 units: 32 straight pieces. One layer with the same 10")
    assert line.endswith("draws at most 11.")
    line = javascript("fold.js", "describe", 6, 4, 20, 1)
    assert line == "6 layers of 4 units: 1 straight piece instead of 4,096."
    line = javascript(
        "fold.js", "describe", 5, 2, 20, 32
    )  # the last layer's fault folds nothing away
    assert line.startswith("5 layers of 2 units: 32 straight pieces, no fewer")


@pytest.mark.parametrize(
    "state", [{"depth": 0}, {"depth": 7}, {"width": 1}, {"lacking": 51}, {"where": "second"}]
)
def test_bad_state_is_refused(state):
    with pytest.raises(traitlets.TraitError):
        Fold(**state)


@pytest.mark.parametrize("widget", [Fold(), Fold(depth=1, width=4, lacking=50, where="every")])
def test_there_is_a_picture(widget):
    assert png(widget.picture()).startswith(b"\x89PNG")


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_it_answers_to_the_keyboard_and_to_a_finger(widget_page, width):
    page = widget_page(Fold(), width=width, has_touch=True)
    result = page.locator(".result")
    assert "32 straight pieces. One layer" in result.inner_text()
    page.get_by_label("Layers").press("End")
    settle(page)
    assert "6 layers of 2 units: 64 straight pieces" in result.inner_text()
    page.get_by_label("Units in each layer").press("ArrowRight")
    settle(page)
    assert "729 straight pieces" in result.inner_text()
    assert page.locator("path.fine").count() == 2  # of 243 and of 729 pieces
    page.get_by_label("One weight too small by").press("End")
    page.get_by_label("every layer").tap()
    settle(page)
    assert "instead of 729" in result.inner_text()
    assert page.locator(".count").count() == 7
    assert page.locator("path.wrong").count() == 6
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0
