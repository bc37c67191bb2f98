"""A formula of half as many elements looks as KaTeX draws it, letter by letter."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from sphinx_katex_prerender import LAYOUT, Katex
from sphinx_katex_prerender.node import find_node

IN_LINES = [
    r"x",
    r"\sigma",
    r"\sigma^2/n",
    r"x_i^2 + y_{n+1}^{-1}",
    r"f(x)=\theta e^{-\theta x^2}",
    r"\hat\theta_n \to \bar X,\; \tilde c",
    r"\frac{a_1}{\frac{b}{c}} - \tfrac12",
    r"\sum_{i=1}^n x_i \le \max\!\Big(0, \log\frac{a}{b}\Big)",
    r"\sqrt{2\kappa} + \sqrt[3]{x}",
    r"P(x_t \mid x_{<t}) \approx 50{,}000^5",
    r"\mathbb{R}^{n\times d}, \mathcal{O}(n\log n), \mathbf{w}^\top",
    r"\operatorname{softmax}(QK^\top/\sqrt{d_k})V",
    r"\lVert x \rVert_2 \quad \text{for every } x",
    r"x^{y^{z}}_{a_{b}}\,\Delta x_{l}\,y",
    r"\color{red}{a}b",
    r"\overline{ab}\,\underline{c}\,\vec v",
]
ON_LINES = [
    r"\int_0^\infty \frac{f(x;\theta+h)-f(x;\theta)}h\,dx",
    r"\begin{aligned} a &= b^2 \\ c &= \sum_j d_j \end{aligned}",
    r"P=\begin{cases}\dfrac{1}{\sum_j p_j}, & i\in V,\\ 0 & \text{else}\\ 1 & \text{no}\end{cases}",
    r"\begin{pmatrix}0&1\\1&0\end{pmatrix}\underbrace{x+y}_{\text{two}}",
    r"\lim_{n\to\infty}\operatorname*{arg\,max}_{w} L(w)\overset{?}{=} 0 \tag{7}",
    r"\left(\frac{a}{b}\right)^{2}\xrightarrow{d} \mathcal N(0, 1)",
]
FORMULAS = [*((tex, False) for tex in IN_LINES), *((tex, True) for tex in ON_LINES)]
PLAIN = """
const katex = require(process.argv[1]);
const asked = JSON.parse(require("fs").readFileSync(0, "utf8"));
const render = ([tex, displayMode]) => katex.renderToString(tex, { displayMode, strict: "error" });
console.log(JSON.stringify(asked.map(render)));
"""
LETTERS = """(pairs) => pairs.map((pair) => [...pair.children].map((one) => {
  const from = one.querySelector("i").getBoundingClientRect();
  const place = (what, said) => {
    const { x, y, width, height } = what.getBoundingClientRect();
    return [said, x - from.x, y - from.y, width, height];
  };
  const lines = one.querySelectorAll(".frac-line, .overline-line, .underline-line, svg");
  const found = [...lines].map((line) => place(line, "a line"));
  const range = document.createRange();
  const texts = document.createTreeWalker(one.querySelector(".katex-html"), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { data, parentElement } = texts.currentNode;
    const { fontFamily, fontStyle, fontWeight, fontSize, color } = getComputedStyle(parentElement);
    for (let i = 0; i < data.length; i++) {
      range.setStart(texts.currentNode, i);
      range.setEnd(texts.currentNode, i + 1);
      const said = [data[i], fontFamily, fontStyle, fontWeight, fontSize, color].join();
      if (data[i] !== "\\u200b") found.push(place(range, said));
    }
  }
  const { width, height } = one.getBoundingClientRect();
  return [["the whole", 0, 0, width, height], ...found];
}))"""
NEAR = 0.2
"""Pixels by which a letter may move: sums of roundings."""


@pytest.fixture(scope="module")
def pairs(katex_folder: Path) -> Iterator[list[tuple[str, str]]]:
    """Render each formula as KaTeX does, and as this package does."""
    script = str((katex_folder / "dist/katex.min.js").resolve())
    done = subprocess.run(
        [find_node(), "-e", PLAIN, script],
        input=json.dumps(FORMULAS),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    katex = Katex(katex_folder)
    thin = [katex.render(tex, display=display) for tex, display in FORMULAS]
    yield list(zip(json.loads(done.stdout), thin, strict=True))
    katex.close()


def shown(chromium: Browser, katex_folder: Path, folder: Path, pairs: Any) -> Any:
    """Measure all letters of all formulas in a line of text."""
    style = (katex_folder / "dist/katex.min.css").resolve().as_uri()
    line = '<div style="display: inline-block; max-width: 340px">A<i></i> line {}, goes on</div>'
    body = "".join(
        f"<section>{line.format(plain)}{line.format(thin)}</section>" for plain, thin in pairs
    )
    page = f'<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="{style}">'
    page += f"<style>{LAYOUT.read_text('utf-8')} body {{ font: 18px/1.6 serif }}</style>{body}"
    (folder / "page.html").write_text(page, "utf-8")
    tab = chromium.new_page(viewport={"width": 1400, "height": 900})
    tab.goto((folder / "page.html").as_uri())
    tab.evaluate("document.fonts.ready")
    found = tab.locator("section").evaluate_all(LETTERS)
    tab.close()
    return found


def test_every_letter_stands_where_katex_puts_it(
    chromium: Browser, katex_folder: Path, tmp_path: Path, pairs: list[tuple[str, str]]
) -> None:
    found = shown(chromium, katex_folder, tmp_path, pairs)
    for (tex, _), both in zip(FORMULAS, found, strict=True):
        rows = [sorted(one, key=lambda row: (row[0], round(row[1]), row[2])) for one in both]
        assert [row[0] for row in rows[0]] == [row[0] for row in rows[1]], tex
        for plain, thin in zip(*rows, strict=True):
            assert thin[1:] == pytest.approx(plain[1:], abs=NEAR), (tex, plain[0])


def test_it_has_half_as_many_elements_and_the_same_mathml(pairs: list[tuple[str, str]]) -> None:
    drawn = [
        [len(re.findall("<[a-z]", html.partition("</math>")[2])) for html in pair] for pair in pairs
    ]
    plain, thin = (sum(numbers) for numbers in zip(*drawn, strict=True))
    assert thin < plain / 2
    said = re.compile(r"<m[ion][ >][^<]*|<annotation.*?</annotation>")
    for (tex, _), pair in zip(FORMULAS, pairs, strict=True):
        assert said.findall(pair[0]) == said.findall(pair[1]), tex
