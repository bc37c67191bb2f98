"""`make test CHAPTER=08` finds what belongs to a chapter."""

from __future__ import annotations

import chapter
import pytest


def test_a_chapter_has_its_notebooks_library_tests_and_page():
    found = chapter.arguments("08")
    names = {
        "chapters/08-positions.ipynb",
        "chapters/errata/08-positions.ipynb",
        "lib/primer/positions",
        "lib/studies/positions",
        "tests/library/test_positions.py",
        "tests/studies/test_positions_budgets.py",
        "tests/press/test_site.py",
    }
    assert names <= set(found)
    assert "tests/library/test_fourier.py" not in found
    wanted = found[found.index("-k") + 1].split(" or ")
    assert {"08-positions", "positions", "primer.positions", "rope"} <= set(wanted)


def test_its_widgets_bring_their_tests():
    assert "tests/widgets/test_attention_by_hand_widget.py" in chapter.arguments("07-attention")


@pytest.mark.parametrize("name", ["77", "0", "fourier"])
def test_an_unknown_chapter_is_told_which_there_are(name):
    with pytest.raises(ValueError, match=r"no chapter that is written; there are 01, .*16"):
        chapter.arguments(name)
