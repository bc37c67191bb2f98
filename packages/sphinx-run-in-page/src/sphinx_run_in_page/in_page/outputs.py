"""What a cell prints and shows, on its way to the page; and what cells ask of IPython."""

from __future__ import annotations

import base64
import builtins
import io
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any

Tell = Callable[[str, str, str], object]
"""Takes the kind of an output (a MIME type), its data and its description."""

MOST = 100_000
"""Characters that a cell may print; the page shows no more, so that it does not stand still."""

UNDESCRIBED = "What the cell draws: nobody has described it."
PICTURES = ("image/svg+xml", "image/png", "image/jpeg")
ORDER = (*PICTURES, "text/html", "text/markdown", "text/latex", "text/plain")


class Printed(io.TextIOBase):
    """Standard output and standard error of a cell.

    Parameters
    ----------
    tell : callable
        What takes each piece; None for a cell that runs quietly.
    """

    def __init__(self, tell: Tell | None) -> None:
        self._tell, self._length = tell, 0
        self._kept: list[str] = []

    def write(self, text: str) -> int:
        """Hand on a piece of text, as long as it is not too much."""
        if self._tell is None or self._length > MOST:
            return len(text)
        shown = text[: MOST - self._length]
        self._length += len(text)
        self._kept.append(shown)
        self._tell("text/plain", shown, "")
        if self._length > MOST:
            self._tell(
                "text/plain", f"\n… more than {MOST} characters: the rest is not shown\n", ""
            )
        return len(text)

    @property
    def text(self) -> str:
        """All that was printed."""
        return "".join(self._kept)


class Data:
    """An object of ``IPython.display`` that carries data of one kind.

    Parameters
    ----------
    data : object
        The data: text, or the bytes of a picture.
    """

    kind = "text/html"

    def __init__(self, data: Any = None, **metadata: Any) -> None:
        self.data, self.alt = data, str(metadata.get("alt", ""))

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {self.kind: self.data}


class HTML(Data):
    """Markup, of which the page shows the text."""


class Markdown(Data):
    """Markdown, shown as it is."""

    kind = "text/markdown"


class Latex(Data):
    """A formula, shown as it is."""

    kind = "text/latex"


class SVG(Data):
    """A drawing."""

    kind = "image/svg+xml"


class Image(Data):
    """A picture of which the bytes are given."""

    kind = "image/png"


def bundle_of(value: Any) -> dict[str, Any]:
    """Return an object in all forms that it has.

    Examples
    --------
    >>> bundle_of(3)
    {'text/plain': '3'}
    >>> bundle_of(SVG("<svg/>"))["image/svg+xml"]
    '<svg/>'
    """
    bundle: dict[str, Any] = {"text/plain": repr(value)}
    if hasattr(value, "savefig") and hasattr(value, "axes"):  # a figure of matplotlib
        drawn = io.StringIO()
        value.savefig(drawn, format="svg", bbox_inches="tight")
        bundle["image/svg+xml"] = drawn.getvalue()
    if hasattr(value, "_repr_mimebundle_") and not isinstance(value, type):
        bundle |= value._repr_mimebundle_() or {}
    return bundle


class Screen:
    """The place of ``display``: it shows what the running cell gives it.

    Parameters
    ----------
    tell : callable
        What takes each output.
    """

    def __init__(self, tell: Tell) -> None:
        self._tell, self.quiet = tell, False

    def display(
        self,
        *objects: Any,
        raw: bool = False,
        metadata: Mapping[str, Any] | None = None,
        **_: Any,
    ) -> None:
        """Show objects, or with ``raw`` what was made of them already."""
        if self.quiet:
            return
        for one in objects:
            bundle = one if raw else bundle_of(one)
            kind = next(kind for kind in ORDER if kind in bundle)
            data = bundle[kind]
            if isinstance(data, bytes):
                data = base64.b64encode(data).decode()
            described = (metadata or {}).get(kind) or {}
            alt = described.get("alt", "") or getattr(one, "alt", "")
            if kind in PICTURES:
                alt = alt or UNDESCRIBED
            self._tell(kind, data + ("\n" if kind == "text/plain" else ""), alt)

    def install(self) -> None:
        """Be what ``IPython.display`` is elsewhere, and ``display`` without an import."""
        builtins.display = self.display  # type: ignore[attr-defined]
        package, module = types.ModuleType("IPython"), types.ModuleType("IPython.display")
        package.__path__ = []
        for kind in (HTML, Markdown, Latex, SVG, Image):
            setattr(module, kind.__name__, kind)
        module.Math = Latex  # type: ignore[attr-defined]
        module.display = self.display  # type: ignore[attr-defined]
        module.clear_output = lambda *_, **__: None  # type: ignore[attr-defined]
        package.display = module  # type: ignore[attr-defined]
        package.get_ipython = lambda: None  # type: ignore[attr-defined]
        sys.modules |= {"IPython": package, "IPython.display": module}
