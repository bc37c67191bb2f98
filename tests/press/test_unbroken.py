"""A short formula and the punctuation at its sides stay together."""

from __future__ import annotations

import pytest
from docutils import nodes
from docutils.utils import new_document

from press.pages.unbroken import SHORT, keep_together


def arrange(*parts: str) -> nodes.paragraph:
    """Build a paragraph of texts and of formulas, which begin with ``$``, and treat it."""
    document = new_document("page")
    paragraph = nodes.paragraph()
    for part in parts:
        formula = part.startswith("$")
        paragraph += nodes.math("", part[1:]) if formula else nodes.Text(part)
    document += paragraph
    keep_together(None, document)
    return paragraph


@pytest.mark.parametrize(
    ("parts", "together"),
    [
        (("where ", "$x", ", then"), ["x,"]),
        (("so (", "$x", ") holds"), ["(x)"]),
        (("$x", "."), ["x."]),
        (("both ", "$x", ", ", "$y", ", hold"), ["x,", "y,"]),
        (("‘", "$x", "’"), ["‘x’"]),
    ],
)
def test_punctuation_stays_with_its_formula(parts, together):
    paragraph = arrange(*parts)
    wrapped = [node.astext() for node in paragraph.findall(nodes.inline)]
    assert wrapped == together
    assert paragraph.astext() == "".join(part.removeprefix("$") for part in parts)
    assert all(node.parent.astext() in together for node in paragraph.findall(nodes.math))


@pytest.mark.parametrize("parts", [("the ", "$x", " axis"), ("$" + "x" * (SHORT + 1), ", then")])
def test_other_formulas_stay_as_they_are(parts):
    paragraph = arrange(*parts)
    assert [node.astext() for node in paragraph] == [part.removeprefix("$") for part in parts]


def test_a_number_stays_with_its_percent() -> None:
    assert arrange("from 91 % to 95 % of").astext() == "from 91\u00a0% to 95\u00a0% of"


@pytest.mark.parametrize("kind", [nodes.raw, nodes.literal_block, nodes.literal])
def test_code_and_data_keep_their_spaces(kind: type[nodes.TextElement]) -> None:
    document = new_document("page")
    document += kind("", '{"replies": "91 % of 5"}')
    keep_together(None, document)
    assert document.astext() == '{"replies": "91 % of 5"}'
