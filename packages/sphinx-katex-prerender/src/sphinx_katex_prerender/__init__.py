"""Sphinx extension: formulas become HTML and MathML while the book is built.

KaTeX runs in one Node process that reads formulas on its standard input.  The reader's browser
gets finished HTML and MathML, a style sheet and fonts, and no script; :file:`lean.js` says the
same in half as many elements.  A formula that KaTeX rejects
is a Sphinx warning, so a build with warnings as errors fails on it.

Configuration: ``katex_folder``, the installed npm package, relative to the source folder.  There
are no macros: JupyterLab, where a notebook must read alike, would not know them.
"""

from __future__ import annotations

import atexit
import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

from sphinx_katex_prerender.node import find_node

logger = logging.getLogger(__name__)

SERVER = Path(__file__).with_name("katex.js")
LAYOUT = Path(__file__).with_name("layout.css")
_OLD_FONT = re.compile(r",url\([^)]+\.(?:woff|ttf)\) format\([^)]+\)")


class Katex:
    """A running KaTeX.

    Parameters
    ----------
    folder : Path
        The npm package, usually ``node_modules/katex``.

    Raises
    ------
    FileNotFoundError
        When KaTeX is not installed there.
    """

    def __init__(self, folder: Path) -> None:
        script = folder / "dist" / "katex.min.js"
        if not script.exists():
            raise FileNotFoundError(
                f"KaTeX is not in {folder}: run `npm install katex` in the folder of your book, "
                "or say in katex_folder where it is"
            )
        self._process = subprocess.Popen(
            [find_node(), str(SERVER), str(script.resolve())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        self._replies: dict[tuple[str, bool], dict[str, str]] = {}
        atexit.register(self.close)

    def render(self, tex: str, *, display: bool) -> str:
        r"""Return a formula as HTML.

        Parameters
        ----------
        tex : str
            The formula without dollar signs.
        display : bool
            Whether it stands on its own line.

        Raises
        ------
        ValueError
            When KaTeX rejects the formula; the message is KaTeX's.
        """
        key = (tex, display)
        if key not in self._replies:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.write(json.dumps({"tex": tex, "display": display}) + "\n")
            self._process.stdin.flush()
            self._replies[key] = json.loads(self._process.stdout.readline())
        reply = self._replies[key]
        if "error" in reply:
            raise ValueError(reply["error"])
        return reply["html"]

    def close(self) -> None:
        """End the Node process; it leaves by itself when its input ends."""
        if self._process.poll() is None:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.close()
            self._process.wait(timeout=10)
            self._process.stdout.close()


_running: dict[int, Katex] = {}
"""The KaTeX of each process: Sphinx forks when it writes in parallel."""


def _render(translator: Any, node: nodes.Element, *, display: bool) -> str:
    """Render the formula of a node; one that is rejected is shown as TeX and reported."""
    config = translator.config
    if os.getpid() not in _running:
        folder = Path(translator.builder.srcdir) / config.katex_folder
        try:
            _running[os.getpid()] = Katex(folder)
        except (FileNotFoundError, RuntimeError) as error:
            raise ExtensionError(str(error)) from error
    tex = node.astext()
    if display and r"\\" in tex and r"\begin" not in tex:
        tex = rf"\begin{{aligned}}{tex}\end{{aligned}}"
    try:
        return _running[os.getpid()].render(tex, display=display)
    except ValueError as error:
        logger.warning("%s in the formula %r", error, tex, location=node, type="katex")
        return f"<code>{html.escape(tex)}</code>"


def visit_math(translator: Any, node: nodes.math) -> None:
    """Write a formula in a line of text: KaTeX's outer element is Sphinx's, too."""
    formula = _render(translator, node, display=False)
    classes = "math notranslate nohighlight"
    if formula.startswith('<span class="katex">'):
        formula = formula.replace('class="katex"', f'class="{classes} katex"', 1)
    else:
        formula = f'<span class="{classes}">{formula}</span>'
    translator.body.append(formula)
    raise nodes.SkipNode


def visit_displaymath(translator: Any, node: nodes.math_block) -> None:
    """Write a formula on a line of its own, with its number and a link to it."""
    translator.body.append(
        translator.starttag(node, "div", "", CLASS="math notranslate nohighlight")
    )
    translator.body.append(f'<div class="formula">{_render(translator, node, display=True)}</div>')
    if node["number"]:
        number = get_node_equation_number(translator, node)
        translator.body.append(f'<span class="eqno">({number})')
        translator.add_permalink_ref(node, "Link to this equation")
        translator.body.append("</span>")
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def copy_style(app: Sphinx, error: Exception | None) -> None:
    """Copy KaTeX's style sheet and its WOFF2 fonts, the only format browsers of today ask for."""
    if error or app.builder.format != "html":
        return
    source = Path(app.srcdir) / app.config.katex_folder / "dist"
    target = Path(app.outdir) / "_static" / "katex"
    (target / "fonts").mkdir(parents=True, exist_ok=True)
    style = _OLD_FONT.sub("", (source / "katex.min.css").read_text("utf-8"))
    style += "\n" + LAYOUT.read_text("utf-8")
    (target / "katex.min.css").write_text(style, encoding="utf-8")
    for font in source.glob("fonts/*.woff2"):
        shutil.copyfile(font, target / "fonts" / font.name)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer ``katex`` for ``html_math_renderer``."""
    app.add_config_value("katex_folder", "node_modules/katex", "html")
    app.add_html_math_renderer("katex", (visit_math, None), (visit_displaymath, None))
    app.add_css_file("katex/katex.min.css", priority=300)
    app.connect("build-finished", copy_style)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
