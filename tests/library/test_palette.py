"""The palette can be read by everyone: contrast to the paper, and one set of names."""

from __future__ import annotations

import pytest

from primer.palette import CYCLE, DARK, LIGHT, css


def luminance(color: str) -> float:
    """Relative luminance of a color as WCAG 2.2 defines it."""
    channels = [int(color[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    darker, lighter = sorted([luminance(first), luminance(second)])
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_of_known_colors() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("ground", ["paper", "panel"])
@pytest.mark.parametrize("name", ["ink", "muted", *CYCLE])
def test_text_can_be_read(theme: dict[str, str], ground: str, name: str) -> None:
    assert contrast(theme[name], theme[ground]) >= 4.5


def test_both_themes_have_the_same_names() -> None:
    assert list(LIGHT) == list(DARK)
    assert len(set(LIGHT.values())) == len(LIGHT)  # a figure is darkened by its colors
    assert set(CYCLE) <= set(LIGHT)


def test_css_names_every_color() -> None:
    light, dark = css().splitlines()
    assert all(f"--primer-{name}: {value};" in light for name, value in LIGHT.items())
    assert all(f"--primer-{name}: {value};" in dark for name, value in DARK.items())
