"""The colors of the book: one palette for the site, the figures and the widgets.

Each name has a light and a dark value.  The hues are those of Okabe and Ito, which readers with any
common color vision deficiency can tell apart, moved in lightness until every one has a contrast of
at least 4.5:1 to the paper it is drawn on (``tests/library/test_palette.py`` measures it).

Figures are drawn in the light colors; the site writes a second copy of each figure in which the
light values are replaced by the dark ones.
"""

LIGHT: dict[str, str] = {
    "paper": "#ffffff",
    "panel": "#f5f6f8",
    "ink": "#1d2330",
    "muted": "#565f6d",
    "grid": "#d8dce3",
    "blue": "#0a62a8",
    "orange": "#b84a00",
    "green": "#00705a",
    "purple": "#8f3f7d",
    "gold": "#8a6100",
    "red": "#b3261e",
}
"""Color of each name on white paper."""

DARK: dict[str, str] = {
    "paper": "#14181f",
    "panel": "#1d232c",
    "ink": "#e8ebf0",
    "muted": "#a6b0be",
    "grid": "#39414d",
    "blue": "#6cb8f0",
    "orange": "#ff9a5c",
    "green": "#45cfa6",
    "purple": "#e39acb",
    "gold": "#e8bd4a",
    "red": "#ff8a80",
}
"""Color of each name on dark paper."""

CYCLE: tuple[str, ...] = ("blue", "orange", "green", "purple", "gold", "red")
"""The order in which curves take their colors."""


def css(light_selector: str = ":root", dark_selector: str = "html[data-theme=dark]") -> str:
    """Write the palette as CSS custom properties ``--primer-<name>``.

    Parameters
    ----------
    light_selector, dark_selector : str
        The CSS selectors under which the light and the dark values hold.

    Returns
    -------
    str
        Two CSS rules.

    Examples
    --------
    >>> css(":host", ".dark").splitlines()[0][:40]
    ':host { --primer-paper: #ffffff; --prime'
    """

    def rule(selector: str, colors: dict[str, str]) -> str:
        body = " ".join(f"--primer-{name}: {value};" for name, value in colors.items())
        return f"{selector} {{ {body} }}"

    return rule(light_selector, LIGHT) + "\n" + rule(dark_selector, DARK) + "\n"
