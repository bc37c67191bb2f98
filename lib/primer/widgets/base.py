"""What all widgets of the book share: how they are declared, shown and described.

A widget is a folder: a Python class, and beside it an ES module with the folder's name
(``rope/__init__.py``, ``rope/rope.js``, and ``rope/rope.css`` if it needs styles of its own).
Python computes data with the library and fills traits; the module draws them and computes whatever
a control changes, so that nothing the reader can do needs Python to be running.

The controls are declared on the traits, see :mod:`primer.widgets.controls`; the page gets them in
the trait ``_spec``, with the names of all traits and the class's :attr:`Widget.constants`.

A page gets one module: the kit, which all widgets share, and behind it the widget's own part with
the modules that it imports, both as ``make widgets`` has bundled them into ``static``.  The line
between them lets a site keep the kit once for all its pages (:mod:`sphinx_widget_host`).
"""

from __future__ import annotations

import base64
import functools
import io
from pathlib import Path
from typing import Any, ClassVar

import anywidget
import matplotlib as mpl
import traitlets
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from PIL import Image

from primer import palette
from primer.notebook.figures import png, use_book_style
from primer.widgets.controls import declared_controls

STATIC = Path(__file__).with_name("static")

LIGHT_SELECTOR = ".primer-widget"
DARK_SELECTOR = (
    ":is(html[data-theme=dark], body[data-jp-theme-light=false], body.vscode-dark, "
    "body.vscode-high-contrast:not(.vscode-high-contrast-light)) .primer-widget"
)
"""Where the dark colors hold: on the site, in JupyterLab and in VS Code."""

SCHEMES = (
    f"{LIGHT_SELECTOR} {{ color-scheme: light; }}\n{DARK_SELECTOR} {{ color-scheme: dark; }}\n"
)
"""Tell the browser which theme its own controls belong to: not every host does."""

SHARED_ABOVE = "/*! what stands above is shared by all widgets */\n"
"""Between what every widget carries and what is its own, in scripts and styles alike."""


@functools.cache
def shared_sources() -> tuple[str, str]:
    """Read what stands above each widget: the kit; the palette, the themes and the kit's styles."""
    script, style = ((STATIC / name).read_text("utf-8") for name in ("kit.js", "kit.css"))
    colors = palette.css(LIGHT_SELECTOR, DARK_SELECTOR) + SCHEMES
    return script + SHARED_ABOVE, colors + style + SHARED_ABOVE


def whole_ticks(*axes: Axis) -> None:
    """Let axes that count something have no ticks between whole numbers."""
    for axis in axes:
        axis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))


def sources(name: str) -> tuple[str, str]:
    """Return the module of a widget and its styles, as a page gets them.

    Raises
    ------
    ValueError
        When the widget has not been bundled.
    """
    script, style = STATIC / f"{name}.js", STATIC / f"{name}.css"
    if not script.exists():
        raise ValueError(f"there is no bundle of {name}.js: run `make widgets`")
    kit, common = shared_sources()
    own = style.read_text("utf-8") if style.exists() else ""
    return kit + script.read_text("utf-8"), common + own


def light(image: bytes) -> bytes:
    """Write a PNG in 256 colors, about a third of its weight: a page shows it before its widget."""
    buffer = io.BytesIO()
    with Image.open(io.BytesIO(image)) as picture:
        colors = picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    colors.save(buffer, "png", optimize=True)
    return buffer.getvalue()


def name_of(cls: type[Widget]) -> str:
    """Return the name that a widget's folder, module and styles share.

    Examples
    --------
    >>> from primer.widgets import RopeRotation
    >>> name_of(RopeRotation)
    'rope'
    """
    return cls.__module__.rpartition(".")[2]


class Widget(anywidget.AnyWidget):
    """A widget of the book.

    A subclass sets :attr:`description`, declares its traits and draws :meth:`picture`; its ES
    module is found by the name of its folder.

    Raises
    ------
    ValueError
        When the class is made: a control is declared badly, or its module has not been bundled.
    """

    description: str = ""
    """What the widget shows, for readers who cannot see it: the picture's alt text."""

    constants: ClassVar[dict[str, Any]] = {}
    """Numbers and words that the page needs besides the traits; any JSON."""

    _spec = traitlets.Dict(read_only=True).tag(sync=True)

    def __init_subclass__(cls, abstract: bool = False, **kwargs: Any) -> None:
        """Check the declared controls; find the bundled ES module and the styles."""
        # anywidget derives a class for each instance, which has its module
        if "_esm" not in vars(cls) and not abstract:
            cls.spec()
            cls._esm, cls._css = sources(name_of(cls))
        super().__init_subclass__(**kwargs)

    def __init__(self, **state: Any) -> None:
        allowed = self.state_names()
        if unknown := sorted(set(state) - {*allowed, "layout"}):
            raise traitlets.TraitError(
                f"{type(self).__name__} has no {', '.join(unknown)}; it has {', '.join(allowed)}"
            )
        super().__init__(**state)

    @traitlets.default("_spec")
    def _default_spec(self) -> dict[str, Any]:
        spec = self.spec()
        for name, control in spec["controls"].items():
            if "among" in control:  # as a list: a notebook's file sorts the names of a dictionary
                spec["controls"][name] = {**control, "options": self.traits()[name].offered(self)}
        return spec

    @classmethod
    def spec(cls) -> dict[str, Any]:
        """Say what the page is to know: the traits' names, their controls and the constants.

        ``later`` are the binary traits that a page may load when the widget asks for them.
        """
        names = cls.state_names()
        controls = declared_controls(cls.__name__, ((name, getattr(cls, name)) for name in names))
        later = [name for name in names if getattr(cls, name).metadata.get("later")]
        spec = {"traits": names, "controls": controls, "constants": cls.constants}
        return spec | ({"later": later} if later else {})

    @classmethod
    def state_names(cls) -> list[str]:
        """Name the traits that the book's classes add to a plain widget, in order of definition."""
        classes = [c for c in reversed(cls.__mro__) if issubclass(c, Widget)]
        return [
            name
            for c in classes
            for name, trait in vars(c).items()
            if isinstance(trait, traitlets.TraitType) and trait.metadata.get("sync")
            if not name.startswith("_")
        ]

    def picture(self) -> Figure:
        """Draw the present state with matplotlib, for places where no script runs.

        Returns
        -------
        Figure
            A figure made without pyplot, so that nobody has to close it.
        """
        raise NotImplementedError(f"{type(self).__name__} has no picture")

    def __repr__(self) -> str:
        """Name the widget and the numbers and words among its traits; never its data."""
        state = [
            f"{name}={value!r}"
            for name in self.state_names()
            if isinstance(value := getattr(self, name), bool | int | float | str)
        ]
        return f"{type(self).__name__}({', '.join(state)})"

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Offer the live view, and the picture where no script runs."""
        data, metadata = super()._repr_mimebundle_(**kwargs) or ({}, {})
        with mpl.rc_context():
            use_book_style()
            image = png(self.picture())
        data["image/png"] = base64.b64encode(light(image)).decode()
        metadata["image/png"] = {"alt": self.description}
        return data, metadata
