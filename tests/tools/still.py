"""What a widget lets a reader move, and what its still picture shows, in words and numbers.

``python tests/tools/still.py`` writes what all widgets show now into ``tests/widgets/still/``, a
text for each; name some to write these alone.  Look at the pictures and at the difference before
you commit them.

A panel's line says what its axes span, and for each kind of mark how many there are and where they
lie.  Behind it stand its words.  Each control is moved by itself, then all together.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import traitlets
from drawn import near, packed, same_text
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import QuadMesh
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.transforms import Transform

from primer import widgets
from primer.widgets.base import Widget
from primer.widgets.controls import Choice, Number, Switch, Whole

FOLDER = Path(__file__).parents[1] / "widgets/still"
PLAIN = {"scale": "linear", "form": "fixed", "knee": 1.0, "whole": False, "look": "select"}
"""What most controls are, which goes without saying."""
ROOM, SHARE = 2e-3, 0.01
"""How far a number may lie off: by itself, and as a share of itself."""
NOTHING = 1e-9
"""Such a share of the greatest number is 0, but for rounding."""


def shapes(axes: Axes) -> Iterator[tuple[str, Transform, Any]]:
    """Name the kind of every mark of a panel, with the points that it is made of."""
    for line in axes.lines:
        look = "" if line.get_linestyle() in ("-", "None") else f" {line.get_linestyle()}"
        yield f"line {to_hex(line.get_color())}{look}", line.get_transform(), line.get_xydata()
    for patch in axes.patches:
        kind = f"patch {to_hex(patch.get_facecolor(), keep_alpha=True)}"
        yield kind, patch.get_transform(), patch.get_path().vertices
    for collection in axes.collections:
        kind = type(collection).__name__
        if np.any(offsets := collection.get_offsets()):
            yield kind, collection.get_offset_transform(), offsets
        elif isinstance(collection, QuadMesh):
            yield kind, collection.get_transform(), collection.get_coordinates()
        elif paths := collection.get_paths():
            points = np.concatenate([path.vertices for path in paths])
            yield kind, collection.get_transform(), points
    for image in axes.images:
        low, high = (f"{x:.3g}" for x in image.get_clim())
        left, right, bottom, top = image.get_extent()
        yield f"image {low} … {high}", axes.transData, [(left, bottom), (right, top)]


def spans(xy: np.ndarray) -> str:
    """Say from where to where points lie."""
    finite = xy[np.isfinite(xy).all(axis=1)]
    if not len(finite):
        return "nowhere"
    finite = np.where(np.abs(finite) > NOTHING * np.abs(finite).max(axis=0), finite, 0.0)
    (left, low), (right, high) = finite.min(axis=0), finite.max(axis=0)
    return f"x {left:.4g} … {right:.4g}, y {low:.4g} … {high:.4g}"


def of_panel(axes: Axes) -> str:
    """Say what a panel spans, and where its marks lie in its own coordinates."""
    marks: dict[str, list[np.ndarray]] = {}
    for kind, transform, points in shapes(axes):
        xy = transform.transform(np.reshape(points, (-1, 2)))
        marks.setdefault(kind, []).append(axes.transData.inverted().transform(xy))
    corners = np.array([axes.get_xlim(), axes.get_ylim()]).T
    told = [f"{len(parts)} {kind}: {spans(np.concatenate(parts))}" for kind, parts in marks.items()]
    return "; ".join([spans(corners), *told])


def words(axes: Axes) -> list[str]:
    """Return what stands written in a panel."""
    legend = axes.get_legend()
    return [
        *(axes.get_title(loc) for loc in ("left", "center", "right")),
        *(axes.get_xlabel(), axes.get_ylabel()),
        " ".join(t.get_text() for t in (*axes.get_xticklabels(), *axes.get_yticklabels())),
        *(text.get_text() for text in axes.texts),
        *((text.get_text() for text in legend.get_texts()) if legend else ()),
    ]


def lay_out(figure: Figure) -> None:
    """Place everything and color everything, as drawing would, without drawing.

    It is a picture's ticks, letters and images that take the time.
    """
    FigureCanvasAgg(figure)  # one renderer, which remembers how wide a text is
    for axes in figure.axes:
        axes.get_xlim()  # they would wait for the drawing
        axes.apply_aspect()
        for collection in axes.collections:
            collection.update_scalarmappable()


def of_figure(figure: Figure) -> list[str]:
    """Describe a whole picture: a line for each panel, with its words below."""
    lay_out(figure)
    found = []
    for k, axes in enumerate(figure.axes):
        pieces = [" ".join(word.split()) for word in words(axes) if word.strip()]
        found += [f"panel {k}: {of_panel(axes)}", *packed(pieces)]
    return found


def elsewhere(control: Any, value: Any) -> Any:
    """Name another value of a control."""
    if isinstance(control, Switch):
        return not value
    if isinstance(control, Choice):
        options = list(control.values)
        return options[(options.index(value) + 1) % len(options)]
    low, high = control.control["low"], control.control["high"]
    start = value if value is not None and value < high else low
    moved = start + 0.4 * (high - start)
    if not isinstance(control, Whole):
        return round(moved, 3)
    return round(moved) if round(moved) != value else value + 1  # near its end 0.4 is no step


def controls(widget: type[Widget]) -> list[str]:
    """Name the controls that can be moved."""
    kinds = (Choice, Number, Switch, Whole)
    return [n for n in widget.spec()["controls"] if isinstance(getattr(widget, n), kinds)]


def moved(widget: Widget, names: list[str]) -> Widget:
    """Move controls from where they stand."""
    for name in names:
        control = getattr(type(widget), name)
        try:
            setattr(widget, name, elsewhere(control, getattr(widget, name)))
        except traitlets.TraitError:
            continue  # another control forbids it where it stands now
    return widget


def declared(name: str, control: dict[str, Any]) -> str:
    """Say in a line what a control is."""
    said = [
        f"{key} {value}"
        for key, value in control.items()
        if key != "label" and value not in (None, "", [], PLAIN.get(key))
    ]
    return f"{name}: {control.get('label', '')}; {', '.join(said)}"


@matplotlib.rc_context()
def account(name: str) -> list[str]:
    """Describe a widget's controls and its picture: as it opens, and with controls moved.

    Of a moved picture those lines stand here that the opened one has not.
    """
    matplotlib.rcdefaults()  # whatever style the caller has chosen
    kind: type[Widget] = getattr(widgets, name)
    opened = of_figure(kind().picture())
    found = [declared(*one) for one in kind.spec()["controls"].items()]
    found += ["opened:", *opened]
    alone = {f"{one} moved:": [one] for one in controls(kind)}
    together = {"all moved:": controls(kind)} if len(alone) > 1 else {}
    for title, names in {**alone, **together}.items():
        picture = of_figure(moved(kind(), names).picture())
        first, *others = [line for line in picture if line not in opened] or [""]
        found += [f"{title} {first.strip()}".strip(), *others]
    return found


def same(now: str, kept: str) -> bool:
    """Compare two lines: where marks lie, with some room, or what stands written."""
    return now == kept or (
        near(now, kept, ROOM, SHARE) if re.search(r"panel \d+: x", kept) else same_text(now, kept)
    )


def file_of(name: str) -> Path:
    """Name the file that keeps what a widget's picture shows."""
    return FOLDER / f"{name}.txt"


def write(names: list[str]) -> None:
    """Keep what pictures show now."""
    FOLDER.mkdir(exist_ok=True)
    for name in names or widgets.__all__:
        lines = account(name)
        file_of(name).write_text("\n".join(lines) + "\n", "utf-8")
        print(f"{name}: {len(lines)} lines", flush=True)


if __name__ == "__main__":
    write(sys.argv[1:])
