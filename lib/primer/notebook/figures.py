"""The look of the figures: one style, and one way to show a figure with its description.

On the website a figure is an SVG in two copies, light and dark; in JupyterLab it is a PNG on white
paper.  ``make book`` chooses the first through the environment variable ``PRIMER_FIGURES``.
"""

from __future__ import annotations

import base64
import functools
import io
import os
import warnings

import matplotlib as mpl
import matplotlib.pyplot as plt
from cycler import cycler
from font_source_sans_pro import font_files_ttf
from IPython.display import display
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager
from matplotlib.transforms import Bbox

from primer.palette import CYCLE, LIGHT

LETTERS = "Source Sans Pro"
"""The typeface of figures: that of the site's widgets and labels, under the name it had before."""


@functools.cache
def bring_letters() -> None:
    """Tell matplotlib where upright, bold and slanted letters of the book's sans-serif stand."""
    for cut in ("", "Bold", "It"):
        fontManager.addfont(font_files_ttf[LETTERS.replace(" ", "") + cut])


def use_book_style() -> None:
    """Set matplotlib's defaults to the style of the book: its letters and palette, a thin grid.

    What Source Sans lacks, as some signs of mathematics, is drawn from DejaVu Sans and STIX.

    Its warning that a legend took more than a second to place is left out: the picture is the same,
    and whether it comes depends on what else the machine does.
    """
    bring_letters()
    warnings.filterwarnings("ignore", message=r'Creating legend with loc="best" can be slow')
    mpl.rcParams.update(
        {
            "axes.prop_cycle": cycler(color=[LIGHT[name] for name in CYCLE]),
            "axes.edgecolor": LIGHT["muted"],
            "axes.labelcolor": LIGHT["ink"],
            "axes.titlecolor": LIGHT["ink"],
            "axes.titlesize": 12.5,
            "axes.titleweight": "bold",
            "axes.titlelocation": "left",
            "axes.labelsize": 11.5,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "axes.axisbelow": True,
            "grid.color": LIGHT["grid"],
            "grid.linewidth": 0.7,
            "text.color": LIGHT["ink"],
            "xtick.color": LIGHT["muted"],
            "ytick.color": LIGHT["muted"],
            "xtick.labelcolor": LIGHT["ink"],
            "ytick.labelcolor": LIGHT["ink"],
            "legend.frameon": False,
            "lines.linewidth": 1.8,
            "image.cmap": "viridis",
            "font.family": [LETTERS, "DejaVu Sans"],
            "font.size": 11.5,  # in height of small letters what 10.2 is in DejaVu Sans
            "mathtext.fontset": "custom",
            "mathtext.rm": LETTERS,
            "mathtext.it": f"{LETTERS}:italic",
            "mathtext.bf": f"{LETTERS}:bold",
            "mathtext.cal": f"{LETTERS}:italic",
            "mathtext.fallback": "stixsans",
            "figure.figsize": (7.2, 3.4),
            "figure.dpi": 100,
            "figure.constrained_layout.use": True,
            "figure.facecolor": LIGHT["paper"],
            "axes.facecolor": LIGHT["paper"],
            "svg.hashsalt": "primer",  # the same figure gives the same file
            "svg.fonttype": "path",
        }
    )


def paper(figure: Figure) -> Bbox | None:
    """Lay a figure out, and return the paper that it needs, in inches, if more than its own.

    A title that is longer than its axes runs over the edge of the figure, and so do the labels
    above and below axes of equal scales where their height is wanting; they would be cut off.
    Saving it would lay it out again, which takes longer than drawing, and would draw a figure that
    has a layout engine twice.
    """
    if (layout := figure.get_layout_engine()) and figure.axes:
        layout.execute(figure)
        with mpl.rc_context({"figure.constrained_layout.use": False}):
            figure.set_layout_engine(None)  # the default, which is none
    drawn, own = figure.get_tightbbox(), figure.bbox_inches
    inside = own.contains(drawn.x0, drawn.y0) and own.contains(drawn.x1, drawn.y1)
    return None if inside else Bbox.union([drawn, own])


def png(figure: Figure) -> bytes:
    """Draw a figure as a PNG at twice the resolution of the page."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=160, bbox_inches=paper(figure))
    return buffer.getvalue()


def svg(figure: Figure) -> str:
    """Draw a figure as an SVG on transparent paper, free of dates."""
    buffer = io.StringIO()
    figure.savefig(
        buffer, format="svg", transparent=True, metadata={"Date": None}, bbox_inches=paper(figure)
    )
    return buffer.getvalue()


def show(figure: Figure, alt: str) -> None:
    """Show a figure with its description and close it.

    Parameters
    ----------
    figure : Figure
        The figure.
    alt : str
        What a reader who cannot see the figure should learn from it.  It becomes the image's alt
        text on the site, and the text that stands for the figure in the stored notebook.

    Raises
    ------
    ValueError
        When the description is empty.
    """
    if not alt.strip():
        raise ValueError("show: describe the figure in words, for readers who cannot see it")
    data: dict[str, str] = {"text/plain": f"<Figure: {alt}>"}
    if os.environ.get("PRIMER_FIGURES") == "svg":
        kind, data["image/svg+xml"] = "image/svg+xml", svg(figure)
    else:
        kind, data["image/png"] = "image/png", base64.b64encode(png(figure)).decode()
    plt.close(figure)
    display(data, raw=True, metadata={kind: {"alt": alt}})
