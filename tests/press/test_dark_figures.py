"""In a dark figure panels of one map are turned together, and maps without paper stay."""

from __future__ import annotations

import base64
import io

import matplotlib as mpl
import matplotlib.image
import numpy as np

from press.pages.figures import darken

LOW_TO_HIGH = np.linspace(0, 1, 25).reshape(5, 5)


def embedded(numbers: np.ndarray, name: str) -> str:
    """Draw numbers as matplotlib embeds a map in an SVG."""
    written = io.BytesIO()
    matplotlib.image.imsave(written, mpl.colormaps[name](numbers), format="png")
    return base64.b64encode(written.getvalue()).decode()


def changed(*rasters: str) -> list[bool]:
    """Say which rasters of a figure are turned."""
    dark = darken("".join(f'<image href="data:image/png;base64,{one}"/>' for one in rasters))
    return [one not in dark for one in rasters]


def test_panels_of_one_map_are_turned_together() -> None:
    for name in ("Blues", "RdBu"):
        whole, high = embedded(LOW_TO_HIGH, name), embedded(0.6 + LOW_TO_HIGH / 3, name)
        assert changed(whole, high) == [True, True], name
        assert changed(high) == [False], name  # by itself it is a picture without paper


def test_a_map_without_paper_stays_beside_one_with_paper() -> None:
    assert changed(embedded(LOW_TO_HIGH, "gray"), embedded(LOW_TO_HIGH, "viridis")) == [True, False]
