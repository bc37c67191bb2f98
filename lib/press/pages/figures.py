"""Sphinx extension and MyST-NB renderer: figures in a light and a dark drawing, and described.

A chapter draws each figure once, in the light colors of :mod:`primer.palette`.  On the site an SVG
becomes two files: the second has every light color replaced by the dark one of the same name, and
in its rasters (maps of numbers) what was light on paper is dark.  On
the page it is one ``<picture>`` with one image, so that whoever reads the page without looking at
it meets the figure once; :file:`book.js` says which drawing fits the theme.  The description that
``primer.notebook.show`` stored beside a figure becomes its alternative text.  On a telephone a
figure is as wide as its smallest letters need, and scrolls within its frame.
"""

from __future__ import annotations

import base64
import html
import io
import math
import posixpath
import re
from typing import Any
from urllib.parse import quote

import matplotlib.image
import numpy as np
from docutils import nodes
from matplotlib.colors import to_rgb
from myst_nb.core.render import MimeData, NbElementRenderer
from sphinx.application import Sphinx
from sphinx.config import Config

from primer.palette import DARK, LIGHT

_DARK_OF = {LIGHT[name].lower(): DARK[name] for name in LIGHT}
_LIGHT_COLOR = re.compile("|".join(map(re.escape, _DARK_OF)), re.IGNORECASE)


_RASTER = re.compile(r"(?<=data:image/png;base64,)[^\"]+")
_LUMA = np.array([0.2126, 0.7152, 0.0722])
_PAPER_LEAST = 0.93
"""A pixel whose every channel reaches this share is paper: the zero of a map such as *Blues*."""
_NEAR = 0.3
"""Distance of two colors of one map, as shares of red, green and blue."""
_MOST_COMPARED = 4_000_000
"""Pairs of colors beyond which a raster is a picture of its own."""


def darken(svg: str) -> str:
    """Replace every light color of the palette by the dark one of the same name.

    Rasters that have paper in them are turned by :func:`darken_pixels`, and with them those of the
    same map beside them: a panel that holds no zero must not be told by another scale.

    Examples
    --------
    >>> darken('<path fill="#0A62A8" stroke="#123456"/>')
    '<path fill="#6cb8f0" stroke="#123456"/>'
    """
    rasters = {encoded: _pixels(encoded) for encoded in _RASTER.findall(svg)}
    papers = [pixels for pixels in rasters.values() if _has_paper(pixels)]
    turned = {
        encoded
        for encoded, pixels in rasters.items()
        if any(pixels is paper for paper in papers) or (papers and _of_one_map(pixels, papers))
    }
    svg = _RASTER.sub(
        lambda match: _png(darken_pixels(rasters[match[0]])) if match[0] in turned else match[0],
        svg,
    )
    return _LIGHT_COLOR.sub(lambda match: _DARK_OF[match[0].lower()], svg)


def _pixels(encoded: str) -> np.ndarray:
    """Read an embedded PNG."""
    return matplotlib.image.imread(io.BytesIO(base64.b64decode(encoded)), format="png")


def _png(pixels: np.ndarray) -> str:
    """Write a PNG to embed."""
    written = io.BytesIO()
    matplotlib.image.imsave(written, pixels, format="png")
    return base64.b64encode(written.getvalue()).decode()


def _colors(pixels: np.ndarray) -> np.ndarray:
    """Return the colors that are seen in a raster, each once; none for one without opacity."""
    if pixels.ndim != 3 or pixels.shape[-1] < 4:
        return np.zeros((0, 3))
    return np.unique(pixels[pixels[..., 3] > 0][:, :3], axis=0)


def _has_paper(pixels: np.ndarray) -> bool:
    """Say whether there is paper in a raster; in a map such as *viridis* there is none."""
    return bool(np.any(_colors(pixels).min(axis=-1, initial=1) >= _PAPER_LEAST))


def _of_one_map(pixels: np.ndarray, papers: list[np.ndarray]) -> bool:
    """Say whether each color of a raster is near one of those that have paper."""
    own, theirs = _colors(pixels), np.concatenate([_colors(paper) for paper in papers])
    if not len(own) or len(own) * len(theirs) > _MOST_COMPARED:
        return False
    apart = np.linalg.norm(own[:, None] - theirs[None], axis=-1)
    return bool(apart.min(axis=1).max() < _NEAR)


def darken_pixels(pixels: np.ndarray) -> np.ndarray:
    r"""Mirror the lightness of pixels and keep their hue: white becomes dark paper.

    With the luma :math:`L = 0.2126 R + 0.7152 G + 0.0722 B` of a pixel each channel :math:`c`
    becomes :math:`c + 1 - 2L`, whose luma is :math:`1 - L`; then 0 is drawn as the dark palette's
    paper and 1 as its ink.

    Parameters
    ----------
    pixels : (rows, columns, 4) ndarray
        Red, green, blue and opacity, from 0 to 1.

    Returns
    -------
    (rows, columns, 4) ndarray
        The pixels for dark paper, equally opaque.

    Examples
    --------
    >>> white, black = darken_pixels(np.array([[[1.0, 1, 1, 1], [0, 0, 0, 1]]]))[0]
    >>> bool(np.allclose(white[:3], to_rgb(DARK["paper"])))
    True
    >>> bool(np.allclose(black[:3], to_rgb(DARK["ink"])))
    True
    """
    colors = pixels[..., :3]
    turned = np.clip(colors + 1 - 2 * (colors @ _LUMA)[..., None], 0, 1)
    paper, ink = np.array(to_rgb(DARK["paper"])), np.array(to_rgb(DARK["ink"]))
    return np.concatenate([paper + (ink - paper) * turned, pixels[..., 3:]], axis=-1)


_SIDE = re.compile(r'viewBox="0 0 ([\d.]+)')
_LETTERS = re.compile(r"scale\((0\.[\d]+) -\1\)")
NARROW = "screen and (max-width: 600px)"
"""Where a picture's narrow form stands, if it has one."""
LEAST = 9
"""Pixels of the smallest letters of a figure, indices apart, however narrow the page."""


def width_to_read(svg: str) -> int | None:
    """Return the pixels of width at which the smallest letters of a figure are 9 pixels high.

    Matplotlib draws letters from outlines of 100 units, and scales each text by its size in points
    over 100.

    Examples
    --------
    >>> width_to_read('<svg viewBox="0 0 500 300"><g transform="translate(9 9) scale(0.1 -0.1)"/>')
    450
    >>> width_to_read('<svg viewBox="0 0 500 300">') is None  # no letters
    True
    """
    side = _SIDE.search(svg)
    sizes = [100 * float(scale) for scale in _LETTERS.findall(svg)]
    return math.ceil(LEAST * float(side[1]) / min(sizes)) if side and sizes else None


class themed(nodes.General, nodes.Element):  # type: ignore[misc]
    """A figure in two drawings, the light one and the dark one: one image on the page."""


def visit_themed(self: Any, node: themed) -> None:
    """Write the light drawing as the image, and the dark one as what may stand in for it."""
    light, dark = node.children
    file = posixpath.join(self.builder.imgpath, quote(self.builder.images[dark["uri"]]))
    wide = f' style="--readable: {node["readable"]}px"' if node.get("readable") else ""
    self.body.append(f'<picture{wide}><source media="not all" srcset="{html.escape(file)}">')
    light.walkabout(self)
    self.body.append("</picture>\n")
    raise nodes.SkipNode


class narrowed(nodes.General, nodes.Element):  # type: ignore[misc]
    """A picture in two forms, one for wide windows and one for narrow ones."""


def visit_narrowed(self: Any, node: narrowed) -> None:
    """Write the wide picture as the image, and the narrow one as what stands in for it."""
    wide, narrow = node.children
    file = posixpath.join(self.builder.imgpath, quote(self.builder.images[narrow["uri"]]))
    self.body.append(f'<picture><source media="{NARROW}" srcset="{html.escape(file)}">')
    wide.walkabout(self)
    self.body.append("</picture>\n")
    raise nodes.SkipNode


class ThemedFigure:
    """MyST-NB's renderer of images, entry point ``myst_nb.mime_renderers``."""

    mime_priority_overrides = ()

    @staticmethod
    def handle_mime(
        renderer: NbElementRenderer, data: MimeData, inline: bool
    ) -> list[nodes.Element] | None:
        """Render an SVG in two drawings and a PNG as it is; leave all else to MyST-NB.

        A PNG whose metadata hold another one, ``narrow``, is a picture with two forms.

        Parameters
        ----------
        renderer : NbElementRenderer
            MyST-NB's renderer of the page.
        data : MimeData
            One format of an output.
        inline : bool
            Whether the image stands in a line of text.

        Returns
        -------
        list of Element or None
            The figure; None when the output is none.
        """
        if data.mime_type not in {"image/svg+xml", "image/png"}:
            return None

        about = data.output_metadata.get(data.mime_type, {})

        def image(content: str | bytes, kind: str) -> nodes.Element:
            (node,) = renderer.render_image(MimeData(**{**vars(data), "content": content}))
            node["classes"] = [*node.get("classes", []), "figure", kind]
            node["alt"] = about.get("alt", "")
            node["loading"] = "lazy"
            return node

        if data.mime_type == "image/png":
            forms = [image(one, "on-paper") for one in (data.content, about.get("narrow")) if one]
            return [narrowed("", *forms)] if len(forms) > 1 else forms
        # by its class "dark-light" the theme knows that it need not change the image's colors
        copies = (data.content, darken(str(data.content)))
        both = (image(content, "dark-light") for content in copies)
        return [themed("", *both, readable=width_to_read(str(data.content)))]


def name_dark_colors(app: Sphinx, config: Config) -> None:
    """Tell what draws in the page, too, which color stands for which on dark paper."""
    if "run_dark" in config:  # where cells run in their page
        config.run_dark = _DARK_OF


def setup(app: Sphinx) -> dict[str, Any]:
    """Register what a figure is on a page; the renderer is an entry point."""
    app.connect("config-inited", name_dark_colors)
    app.add_node(themed, html=(visit_themed, None))
    app.add_node(narrowed, html=(visit_narrowed, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
