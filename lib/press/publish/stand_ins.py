"""Fonts that stand in for the book's own until those have come, letter for letter as wide.

A page is read before its fonts are there.  What its letters are drawn in until then is a font of
the reader's system, scaled so that a line of the book's English is as long in it and as high: when
the fonts come, no line breaks elsewhere and nothing below moves.

The scale is the quotient of the mean widths of a letter, weighted as letters occur in the
chapters, in parts of the font's size.  Times New Roman, Arial and Courier New stand on Windows,
macOS and iOS; Liberation has their widths, on Linux; Noto Serif and Roboto stand on Android.
"""

from __future__ import annotations

from typing import NamedTuple


class Own(NamedTuple):
    """A font of the book: its name, what stands in, and its height above and below a line."""

    family: str
    stand_in: str
    ascent: float
    descent: float


SERIF = Own("Source Serif 4 Variable", "Source Serif Stand-in", 1.036, 0.335)
SANS = Own("Source Sans 3 Variable", "Source Sans Stand-in", 1.024, 0.400)
CODE = Own("Source Code Pro Variable", "Source Code Stand-in", 0.984, 0.273)

_LIGHT, _BOLD = "200 500", "501 900"
_TIMES = ("Times New Roman", "Liberation Serif", "Tinos")
_ARIAL = ("Arial", "Liberation Sans", "Arimo")
_COURIER = ("Courier New", "Liberation Mono", "Cousine")


class StandIn(NamedTuple):
    """Fonts of the same widths, by their names on a reader's system, and the widths of a letter."""

    own: Own
    style: str
    weight: str
    names: tuple[str, ...]
    width: float
    wanted: float


STAND_INS = (
    StandIn(SERIF, "normal", _LIGHT, (*_TIMES, "Times New Roman Regular"), 0.3951, 0.4647),
    StandIn(SERIF, "normal", _BOLD, tuple(f"{name} Bold" for name in _TIMES), 0.4196, 0.4719),
    StandIn(SERIF, "italic", "200 900", tuple(f"{name} Italic" for name in _TIMES), 0.3963, 0.4275),
    StandIn(SERIF, "normal", _LIGHT, ("Noto Serif", "NotoSerif-Regular"), 0.4680, 0.4647),
    StandIn(SERIF, "italic", _LIGHT, ("Noto Serif Italic", "NotoSerif-Italic"), 0.4550, 0.4275),
    StandIn(SANS, "normal", _LIGHT, (*_ARIAL, "Arial Regular"), 0.4382, 0.4078),
    StandIn(SANS, "normal", _BOLD, tuple(f"{name} Bold" for name in _ARIAL), 0.4704, 0.4191),
    StandIn(SANS, "normal", _LIGHT, ("Roboto", "Roboto-Regular"), 0.4349, 0.4078),
    StandIn(CODE, "normal", _LIGHT, _COURIER, 0.6, 0.6),
    StandIn(CODE, "normal", _BOLD, tuple(f"{name} Bold" for name in _COURIER), 0.6, 0.6),
)
"""What to look for, in this order; a name that a system does not know is passed over."""


def families() -> dict[str, list[str]]:
    """Return for each font of the book the families to name behind it, in their order."""
    found: dict[str, list[str]] = {}
    for one in STAND_INS:
        names = found.setdefault(one.own.family, [])
        if (name := _family(one)) not in names:
            names.append(name)
    return found


def _family(one: StandIn) -> str:
    """Name the family of a stand-in: one for each kind of system, so that the next is tried."""
    return f"{one.own.stand_in} {one.names[0].removesuffix(' Bold').removesuffix(' Italic')}"


def rule(one: StandIn) -> str:
    """Write the rule of a stand-in.

    Heights are said of the font that stands in, before it is scaled.

    Examples
    --------
    >>> print(rule(StandIn(Own("Own", "Like own", 0.9, 0.3), "normal", "400", ("Wide",), 0.5, 0.4)))
    @font-face {
      font-family: "Like own Wide";
      font-style: normal;
      font-weight: 400;
      src: local("Wide");
      size-adjust: 80.00%;
      ascent-override: 112.50%;
      descent-override: 37.50%;
      line-gap-override: 0%;
    }
    """
    scale = one.wanted / one.width
    sources = ", ".join(f'local("{name}")' for name in one.names)
    return (
        "@font-face {\n"
        f'  font-family: "{_family(one)}";\n'
        f"  font-style: {one.style};\n"
        f"  font-weight: {one.weight};\n"
        f"  src: {sources};\n"
        f"  size-adjust: {scale:.2%};\n"
        f"  ascent-override: {one.own.ascent / scale:.2%};\n"
        f"  descent-override: {one.own.descent / scale:.2%};\n"
        "  line-gap-override: 0%;\n"
        "}"
    )


def style_sheet() -> str:
    """Write the rules of all stand-ins, and a variable that names those of each font."""
    names = {
        name: ", ".join(f'"{family}"' for family in families()[own.family])
        for name, own in (("serif", SERIF), ("sans", SANS), ("code", CODE))
    }
    variables = " ".join(f"--stand-in-{name}: {families};" for name, families in names.items())
    return "\n".join([*map(rule, STAND_INS), f":root {{ {variables} }}"]) + "\n"
