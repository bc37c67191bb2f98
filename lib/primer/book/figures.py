"""MyST-NB renderer: figures in a light and a dark copy, with their descriptions.

A chapter draws each figure once, in the light colors of :mod:`primer.palette`.  On the site an SVG
becomes two files: the second has every light color replaced by the dark one of the same name.  The
theme shows the one that fits.  The description that ``primer.notebook.show`` stored beside a figure
becomes its alternative text.
"""

from __future__ import annotations

import re

from docutils import nodes
from myst_nb.core.render import MimeData, NbElementRenderer

from primer.palette import DARK, LIGHT

_DARK_OF = {LIGHT[name].lower(): DARK[name] for name in LIGHT}
_LIGHT_COLOR = re.compile("|".join(map(re.escape, _DARK_OF)), re.IGNORECASE)


def darken(svg: str) -> str:
    """Replace every light color of the palette by the dark one of the same name.

    Examples
    --------
    >>> darken('<path fill="#0A62A8" stroke="#123456"/>')
    '<path fill="#6cb8f0" stroke="#123456"/>'
    """
    return _LIGHT_COLOR.sub(lambda match: _DARK_OF[match[0].lower()], svg)


class ThemedFigure:
    """MyST-NB's renderer of images, entry point ``myst_nb.mime_renderers``."""

    mime_priority_overrides = ()

    @staticmethod
    def handle_mime(
        renderer: NbElementRenderer, data: MimeData, inline: bool
    ) -> list[nodes.Element] | None:
        """Render an SVG as a pair and a PNG with its description; leave all else to MyST-NB.

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
            The images; None when the output is no figure.
        """
        if data.mime_type == "image/svg+xml":
            copies = {"only-light": data.content, "only-dark": darken(str(data.content))}
        elif data.mime_type == "image/png":
            copies = {"on-paper": data.content}
        else:
            return None
        images = []
        for theme, content in copies.items():
            copy = MimeData(**{**vars(data), "content": content})
            (image,) = renderer.render_image(copy)
            image["classes"] = [*image.get("classes", []), "figure", theme]
            image["alt"] = data.output_metadata.get(data.mime_type, {}).get("alt", "")
            image["loading"] = "lazy"
            images.append(image)
        return images
