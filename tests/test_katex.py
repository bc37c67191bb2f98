"""Formulas are rendered while the book is built, and a wrong one stops the build."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from primer.book.katex import Katex

PACKAGE = Path(__file__).parents[1] / "node_modules" / "katex"


@pytest.fixture(scope="module")
def katex() -> Iterator[Katex]:
    renderer = Katex(PACKAGE)
    yield renderer
    renderer.close()


def test_html_and_mathml(katex: Katex) -> None:
    html = katex.render(r"\frac{a}{b}", display=True)
    assert '<span class="katex-display">' in html
    assert "<mfrac>" in html  # for screen readers
    assert '<annotation encoding="application/x-tex">\\frac{a}{b}</annotation>' in html


def test_inline_is_not_displayed(katex: Katex) -> None:
    assert "katex-display" not in katex.render("x", display=False)


def test_a_macro_of_one_formula_does_not_reach_the_next(katex: Katex) -> None:
    katex.render(r"\gdef\mine{x}\mine", display=False)
    with pytest.raises(ValueError, match=r"Undefined control sequence: \\mine"):
        katex.render(r"\mine", display=False)


@pytest.mark.parametrize(
    ("tex", "message"),
    [
        (r"\frac{1", "Unexpected end of input"),
        (r"\nosuch", "Undefined control sequence"),
        ("x é", "Unicode text character"),
    ],
)
def test_refusals(katex: Katex, tex: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        katex.render(tex, display=True)
    assert katex.render("1+1", display=False)  # it goes on


def test_missing_package_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="make book"):
        Katex(tmp_path / "katex")


def test_node_leaves_with_the_renderer() -> None:
    renderer = Katex(PACKAGE)
    assert renderer.render("x", display=False)
    renderer.close()
    assert renderer._process.returncode == 0


def build(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    """Build a book of one page with warnings as errors."""
    (folder / "conf.py").write_text(
        "extensions = ['primer.book.katex']\n"
        "html_math_renderer = 'katex'\n"
        f"katex_folder = {str(PACKAGE)!r}\n"
    )
    (folder / "index.rst").write_text(f"Title\n=====\n\n{text}\n")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "."]
    return subprocess.run([*command, "out"], cwd=folder, capture_output=True, text=True)


def test_good_formulas_are_in_the_page_with_style_and_fonts(tmp_path: Path) -> None:
    lines = r".. math:: a &= b \\ c &= d"
    done = build(tmp_path, f"Let :math:`e^{{x}}`.\n\n{lines}\n   :label: two\n\nSee :eq:`two`.")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "out/index.html").read_text("utf-8")
    assert page.count('class="katex"') == 2
    assert '<span class="eqno">(1)' in page
    assert "MathJax" not in page
    style = (tmp_path / "out/_static/katex/katex.min.css").read_text("utf-8")
    fonts = set(re.findall(r"url\((fonts/[^)]+)\)", style))
    assert "fonts/KaTeX_Main-Regular.woff2" in fonts
    for font in fonts:
        assert (tmp_path / "out/_static/katex" / font).stat().st_size > 1_000


def test_a_wrong_formula_stops_the_build_and_is_located(tmp_path: Path) -> None:
    done = build(tmp_path, "A first line.\n\nLet :math:`\\nosuch`.")
    assert done.returncode != 0
    assert "index.rst:6" in done.stderr
    assert "Undefined control sequence" in done.stderr
