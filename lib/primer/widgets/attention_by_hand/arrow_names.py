"""Names beside the tips of arrows, off all that is drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox

from primer.palette import LIGHT

GAPS = (5.0, 9.0, 14.0, 20.0)
"""Points from a tip to its name: the nearest that is free."""
TURNS, CLEAR = 24, 3.0
"""Directions that are tried, and the points between a name and a line."""

Point = Sequence[float]


def name_tips(
    axes: Axes,
    tips: Sequence[Point],
    names: Sequence[str],
    colors: Sequence[str],
) -> list[Annotation]:
    """Write the names of arrows at their tips, preferably outwards, on no arrow and no other name.

    Parameters
    ----------
    axes : Axes
        Where the arrows are drawn, with its limits.
    tips : sequence of points
        Where the arrows end, in data; all begin at the origin.
    names, colors : sequences of str
        A name for each tip, and its color in the palette.

    Returns
    -------
    list of Annotation
        The names, where they stand.

    Raises
    ------
    ValueError
        When there are not as many names and colors as tips.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> axes = Figure().subplots()
    >>> _ = axes.set(xlim=(-2, 2), ylim=(-2, 2))
    >>> right, up = name_tips(axes, [(1, 0), (0, 1)], ["a", "b"], ["blue", "orange"])
    >>> right.get_position()[0] > 0, up.get_position()[1] > 0
    (True, True)
    """
    if not len(tips) == len(names) == len(colors):
        raise ValueError(
            f"name_tips: {len(tips)} tips, {len(names)} names and {len(colors)} colors; "
            "give one name and one color for each tip"
        )
    texts = [
        axes.annotate(
            name,
            (tip[0], tip[1]),
            xytext=(0, 0),
            textcoords="offset points",
            ha="center",
            va="center",
            color=LIGHT[color],
            fontsize=9,
        )
        for tip, name, color in zip(tips, names, colors, strict=True)
    ]
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()  # lays the axes out; the names must not widen them
    unit = figure.dpi / 72  # pixels in a point
    seen = axes.transData.transform
    arrows = [seen(np.array([(0, 0), tip], float)) / unit for tip in tips]
    frame = Bbox(axes.get_window_extent().get_points() / unit)
    taken: list[Bbox] = []
    for text, (start, tip) in zip(texts, arrows, strict=True):
        text.set_in_layout(False)
        extent = text.get_window_extent()
        width, height = extent.width / unit, extent.height / unit
        box = _best(tip, start, (width, height), arrows, taken, frame)
        taken.append(box)
        middle = ((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2)
        text.set_position((float(middle[0] - tip[0]), float(middle[1] - tip[1])))
    return texts


def _best(
    tip: np.ndarray,
    start: np.ndarray,
    size: tuple[float, float],
    lines: list[np.ndarray],
    taken: list[Bbox],
    frame: Bbox,
) -> Bbox:
    """Return the box near a tip that touches least, outwards if it may."""
    outwards = math.atan2(tip[1] - start[1], tip[0] - start[0])
    best, least = frame, math.inf
    for gap in GAPS:
        for turn in range(TURNS):
            side = (1 if turn % 2 else -1) * math.ceil(turn / 2) * 2 * math.pi / TURNS
            dx, dy = math.cos(outwards + side), math.sin(outwards + side)
            x, y = tip[0] + dx * (gap + size[0] / 2), tip[1] + dy * (gap + size[1] / 2)
            box = Bbox.from_bounds(x - size[0] / 2, y - size[1] / 2, *size)
            struck = sum(touches(line, box.padded(CLEAR)) for line in lines)
            covered = sum(other.overlaps(box) for other in taken)
            outside = max(0.0, frame.x0 - box.x0, box.x1 - frame.x1, frame.y0 - box.y0)
            outside = max(outside, box.y1 - frame.y1)
            cost = 100 * (struck + 2 * covered) + 50 * outside + gap + 4 * abs(side)
            if cost < least:
                best, least = box, cost
    return best


def touches(line: np.ndarray, box: Bbox) -> bool:
    """Tell whether a straight line from one point to another touches a box."""
    (x0, y0), (x1, y1) = line
    first, last = 0.0, 1.0
    for way, room in (
        (x0 - x1, x0 - box.x0),
        (x1 - x0, box.x1 - x0),
        (y0 - y1, y0 - box.y0),
        (y1 - y0, box.y1 - y0),
    ):
        if way == 0 and room < 0:
            return False
        if way < 0:
            first = max(first, room / way)
        elif way > 0:
            last = min(last, room / way)
    return bool(first <= last)
