"""Formulas as plain text, where no formula can be set: in the excerpts of the search.

`pylatexenc <https://pylatexenc.readthedocs.io>`_ turns TeX into letters.  What a reader could take
for something else without the bar of a fraction or the height of an exponent gets parentheses;
what has no line of text, a matrix or several lines, is left out.
"""

from __future__ import annotations

import functools
import re

from pylatexenc import latex2text, macrospec
from pylatexenc.latexwalker import LatexNode, get_default_latex_context_db

LONGEST = 60
"""Letters of a formula that is still read in a line."""
LEFT_OUT = "…"

_FUNCTIONS = "arccos|arctan|arg|cos|cosh|cov|det|dim|exp|inf|lim|ln|log|max|min|Pr|sin|sup|tan|tanh"
_TAKEN_APART = re.compile(
    r"\\(?:begin|\\|array|substack|xrightarrow|overset|underset|stackrel)|/\s*\\[td]?frac"
)


def _grouped(text: str) -> str:
    """Put parentheses around what is more than one number or name."""
    one = r"[\d.,]+|[A-Z]{2,}|[^\W\d_][\u0300-\u036f]?(?:_\w+)?"
    return text if re.fullmatch(one, text) else f"({text})"


def _fraction(node: LatexNode, l2tobj: latex2text.LatexNodes2Text) -> str:
    above, below = (l2tobj.nodelist_to_text([arg]).strip() for arg in node.nodeargd.argnlist)
    return f"{_grouped(above)}/{_grouped(below)} "


def _root(node: LatexNode, l2tobj: latex2text.LatexNodes2Text) -> str:
    degree, inside = node.nodeargd.argnlist
    if degree is not None:
        return f"({l2tobj.nodelist_to_text([inside])})^(1/{l2tobj.nodelist_to_text([degree])})"
    return f"√{_grouped(l2tobj.nodelist_to_text([inside]).strip())}"


@functools.cache
def _writer() -> tuple[latex2text.LatexNodes2Text, object]:
    """Make what turns TeX into text, and what it knows of TeX."""
    fractions = ("frac", "tfrac", "dfrac")
    known = get_default_latex_context_db()
    known.add_context_category(
        "book",
        prepend=True,
        macros=[macrospec.std_macro(name, "{{") for name in fractions],
    )
    written = latex2text.get_default_latex_context_db()
    written.add_context_category(
        "book",
        prepend=True,
        macros=[
            *(latex2text.MacroTextSpec(name, simplify_repl=_fraction) for name in fractions),
            latex2text.MacroTextSpec("sqrt", simplify_repl=_root),
            latex2text.MacroTextSpec("mathbb", simplify_repl="%s"),
        ],
    )
    return latex2text.LatexNodes2Text(math_mode="text", latex_context=written), known


def plain(tex: str) -> str:
    r"""Return a formula as a reader would type it; "…" where a line of text cannot say it.

    Examples
    --------
    >>> plain(r"\hat\theta_n\to\theta"), plain(r"\frac{n}{n-1} = 1.5"), plain(r"\frac83d")
    ('θ̂_n→θ', 'n/(n-1) = 1.5', '8/3 d')
    >>> plain(r"10000^{-2i/d}"), plain(r"O(N\log N)"), plain(r"\sqrt{2\beta}")
    ('10000^(-2i/d)', 'O(N log N)', '√(2β)')
    >>> plain(r"\pi_{\text{ref}}e^{R/\beta}"), plain(r"\begin{pmatrix}1&2\end{pmatrix}")
    ('π_ref e^(R/β)', '…')
    """
    if _TAKEN_APART.search(tex):
        return LEFT_OUT
    tex = re.sub(rf"(?<=[\w}}])\s*(?=\\(?:{_FUNCTIONS})(?![A-Za-z]))", "~", tex)
    tex = re.sub(rf"\\({_FUNCTIONS})(?![A-Za-z])(?=\s*[\\A-Za-z0-9])", r"\\\1~", tex)
    # a raised or lowered group that holds more than a name needs its parentheses
    several = r"[^{}\w\\\s(]|\\(?:times|cdot|pm)"
    tex = re.sub(rf"([_^])\{{((?!\()[^{{}}]*(?:{several})[^{{}}]*)\}}", r"\1{(\2)}", tex)
    tex = re.sub(r"([_^]\{(?:[^{}]|\{[^{}]*\})*\})(?=[A-Za-z0-9])", r"\1~", tex)
    writer, known = _writer()
    text = writer.latex_to_text(tex, latex_context=known, tolerant_parsing=True)
    text = re.sub(r"\s+(?=[),.;])", "", " ".join(text.split()))
    return text if 0 < len(text) <= LONGEST else LEFT_OUT
