"""Names of arrows in figures: on no arrow, on no other name, inside the axes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Annotation

from primer.widgets import AttentionByHand
from primer.widgets.attention_by_hand import worked_example
from primer.widgets.attention_by_hand.arrow_names import name_tips, touches


def struck(figure: Figure) -> list[str]:
    """Return the names that an arrow from the origin or another name strikes out."""
    figure.draw_without_rendering()
    found = []
    for axes in figure.axes:
        notes = [one for one in axes.texts if isinstance(one, Annotation)]
        seen = axes.transData.transform
        arrows = [seen(np.array([one.xyann, one.xy])) for one in notes if one.arrow_patch]
        names = [(one.get_text(), one.get_window_extent()) for one in notes if one.get_text()]
        found += [name for name, box in names if any(touches(line, box) for line in arrows)]
        for (name, box), (_, other) in itertools.combinations(names, 2):
            if box.overlaps(other):
                found.append(name)
    return found


@pytest.mark.parametrize(
    "state",
    [
        {},
        worked_example(),
        {"query": [2.0, 0.3], "key": [[2.0, 0.0], [2.0, 0.6], [-3.0, 0.0]]},
        {"value": [[3.0, 3.0], [2.6, 3.0], [-1.0, -1.0]]},
    ],
)
def test_the_picture_of_attention_by_hand_strikes_no_name_out(state):
    assert struck(AttentionByHand(**state).picture()) == []


def test_struck_names_would_be_found():
    figure = Figure()
    axes = figure.subplots()
    axes.set(xlim=(0, 2), ylim=(0, 2))
    axes.annotate("", (1, 1), (0, 0), arrowprops={"arrowstyle": "->"})
    axes.annotate("on it", (0.5, 0.5), (0, 0), textcoords="offset points", ha="center", va="center")
    assert struck(figure) == ["on it"]


@pytest.mark.parametrize("turn", np.linspace(0, 2 * np.pi, 9)[:-1])
def test_a_name_stands_outwards_and_inside(turn):
    axes = Figure().subplots()
    axes.set(xlim=(-2, 2), ylim=(-2, 2))
    tip = (np.cos(turn), np.sin(turn))
    (name,) = name_tips(axes, [tip], ["a"], ["blue"])
    assert np.dot(name.get_position(), tip) > 0
    box, frame = name.get_window_extent(), axes.get_window_extent()
    assert frame.x0 <= box.x0
    assert box.x1 <= frame.x1
    assert frame.y0 <= box.y0
    assert box.y1 <= frame.y1


def test_as_many_names_as_tips():
    with pytest.raises(ValueError, match="2 tips, 1 names and 1 colors"):
        name_tips(Figure().subplots(), [(1, 0), (0, 1)], ["a"], ["blue"])
