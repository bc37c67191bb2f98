"""What a widget lets a reader move, and what its still picture shows, as numbers and words.

``python tests/tools/still.py`` writes what all widgets show now into ``tests/widgets/still/``, one
file for each; name some to write these alone.  Look at the pictures and at the difference before
you commit them.

As in :file:`drawn.py`, marks of one kind are described together: how many numbers there are, the
least, the greatest, the mean, and where the large ones stand.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import traitlets
from drawn import Drawn, as_lines, changed, describe
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
SIDE = 400
"""A panel counts as so many pixels wide and high, whatever the layout makes of it."""


def shapes(axes: Axes) -> Iterator[tuple[str, Transform, Any]]:
    """Name the look of every mark of a panel, with the points that it is made of."""
    for line in axes.lines:
        look = f"line {to_hex(line.get_color())} {line.get_linestyle()} {line.get_marker()}"
        yield look, line.get_transform(), line.get_xydata()
    for patch in axes.patches:
        edge = to_hex(patch.get_edgecolor(), keep_alpha=True)
        look = f"patch {to_hex(patch.get_facecolor(), keep_alpha=True)} {edge}"
        yield look, patch.get_transform(), patch.get_path().vertices
    for collection in axes.collections:
        kind = type(collection).__name__
        if np.any(offsets := collection.get_offsets()):
            yield kind, collection.get_offset_transform(), offsets
        elif isinstance(collection, QuadMesh):
            yield kind, collection.get_transform(), corners(collection.get_coordinates())
        elif paths := collection.get_paths():
            points = np.concatenate([path.vertices for path in paths])
            yield kind, collection.get_transform(), points
    for text in axes.texts:
        yield f"text {to_hex(text.get_color())}", text.get_transform(), text.get_position()


def corners(mesh: np.ndarray) -> np.ndarray:
    """Return the closed outline of every cell; a spectrogram has too many for a path of each."""
    low, high = slice(None, -1), slice(1, None)
    around = [(low, low), (low, high), (high, high), (high, low), (low, low)]
    return np.stack([mesh[place] for place in around], axis=2)


def shades(axes: Axes) -> Iterator[tuple[str, Any]]:
    """Yield the colors that stand for numbers, of 255."""
    for image in axes.images:
        low, high = image.get_clim()
        yield "image", (np.asarray(image.get_array(), dtype=float) - low) / ((high - low) or 1)
    for collection in axes.collections:
        yield "fill", collection.get_facecolor()
        yield "edge", collection.get_edgecolor()


def of_panel(axes: Axes) -> Drawn:
    """Describe all that one panel shows: marks of one look together, colors, and words."""
    marks: dict[str, list[Any]] = {}
    into_panel = axes.transAxes.inverted()
    for look, transform, points in shapes(axes):
        xy = transform.transform(np.reshape(points, (-1, 2)))
        marks.setdefault(look, []).append(SIDE * into_panel.transform(xy))
    found: Drawn = {}
    for look, parts in marks.items():
        xy = np.concatenate(parts)
        for name, values in zip("xy", xy[np.isfinite(xy).all(axis=1)].T, strict=True):
            found[f"{look} {name}"] = describe(values.tolist()) if len(values) else None
    for k, (kind, numbers) in enumerate(shades(axes)):
        if len(shown := np.ma.masked_invalid(numbers).compressed()):
            found[f"{kind} {k}"] = describe((255 * shown).tolist())
    legend = axes.get_legend()
    words = {
        "title": [axes.get_title(loc) for loc in ("left", "center", "right")],
        "axes": [axes.get_xlabel(), axes.get_ylabel()],
        "ticks": [t.get_text() for t in (*axes.get_xticklabels(), *axes.get_yticklabels())],
        "colors": [to_hex(one.get_color()) for one in (axes.title, axes.xaxis.label)],
        "grid": [str(line.get_visible()) for line in axes.get_xgridlines()[:1]],
        "texts": [text.get_text() for text in axes.texts],
        "legend": [text.get_text() for text in legend.get_texts()] if legend else [],
        "frame": [side for side, spine in axes.spines.items() if spine.get_visible()],
    }
    return found | {name: " | ".join(said) for name, said in words.items() if any(said)}


def lay_out(figure: Figure) -> None:
    """Find limits and colors, as a figure does before it draws, where its panels stand.

    Making room for titles and numbers takes longer than all else, and shows no other marks.
    """
    FigureCanvasAgg(figure)  # one renderer, which remembers how wide a text is
    for axes in figure.axes:
        axes.get_xlim()  # they would wait for the drawing
        axes.apply_aspect()
        for collection in axes.collections:
            collection.update_scalarmappable()
        for text in axes.texts:  # an annotation looks where it points
            text.get_window_extent()


def of_figure(figure: Figure) -> Drawn:
    """Describe a whole picture, panel by panel."""
    lay_out(figure)
    panels = {f"panel {k}": of_panel(axes) for k, axes in enumerate(figure.axes)}
    found = {
        f"{name}: {key}": value for name, kinds in panels.items() for key, value in kinds.items()
    }
    width, height = figure.get_size_inches()
    return {"size": f"{width:g} by {height:g} inches", **found}


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
    return round(moved) if isinstance(control, Whole) else round(moved, 3)


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


@matplotlib.rc_context()
def states(name: str) -> dict[str, Drawn]:
    """Describe a widget's controls and its picture: as it opens, and with controls moved.

    Each is moved by itself, and then all together.
    """
    matplotlib.rcdefaults()  # whatever style the caller has chosen
    kind: type[Widget] = getattr(widgets, name)
    declared = kind.spec()["controls"].items()
    opened = of_figure(kind().picture())
    alone = {f"{one} moved": [one] for one in controls(kind)}
    pictures = {
        title: changed(of_figure(moved(kind(), names).picture()), opened)
        for title, names in {**alone, "moved": controls(kind)}.items()
    }
    said = {f"{name} {key}": str(said) for name, c in declared for key, said in c.items()}
    return {"controls": said, "opened": opened, **pictures}


def file_of(name: str) -> Path:
    """Name the file that keeps what a widget's picture shows."""
    return FOLDER / f"{name}.json"


def write(names: list[str]) -> None:
    """Keep what pictures show now."""
    FOLDER.mkdir(exist_ok=True)
    for name in names or widgets.__all__:
        file_of(name).write_text(as_lines(states(name)), "utf-8")
        print(f"{name}: {file_of(name).stat().st_size:,} bytes", flush=True)


if __name__ == "__main__":
    write(sys.argv[1:])
