"""Cells run in Firefox as in Chromium: from disk, with no network, and print what is stored."""

from __future__ import annotations

import json

import pytest
from firefox import find_firefox, opened_firefox
from pressed import SITE, delivered, difference, ids_of

PRESS = """new Promise(done => {{
  document.addEventListener("run-in-page", ({{ detail }}) => done(detail), {{ once: true }});
  document.querySelector(`.run-place[data-cell='{cell}'] button`).click();
}})"""
SAID = "document.querySelector(`.run-place[data-cell='{cell}'] [role=status]`).textContent"


@pytest.mark.thorough
@pytest.mark.parametrize("chapter", ["01-statistics", "16-fourier"])
def test_every_cell_prints_in_firefox_what_is_stored(chapter: str) -> None:
    path = find_firefox()
    if path is None:
        pytest.skip("NO CELL RAN IN FIREFOX: it is not installed (Debian's is firefox-esr)")
    if not (SITE / "run" / "manifest.js").is_file():
        pytest.skip("NO CELL RAN IN A PAGE: the book was built without Run, and said why")
    ids = ids_of(f"chapters/{chapter}")
    known = json.loads(delivered(SITE / f"run/cells/chapters-{chapter}.js"))["cells"]
    cells = [number for number, one in enumerate(known) if "source" in one]
    others = {}
    with opened_firefox(path) as tab:
        tab.goto((SITE / f"chapters/{chapter}.html").as_uri())
        for cell in cells:
            answer = tab.evaluate(PRESS.format(cell=cell))
            said = tab.evaluate(SAID.format(cell=cell))
            if answer.get("error") or "printed" not in answer:
                others[ids[cell]] = answer.get("error") or said
            elif "something else" in said:
                others[ids[cell]] = difference(answer)
    assert others == {}
    assert len(cells) > 30
