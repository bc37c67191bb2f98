"""The site's style sheets lose the rules that nothing on it can use."""

from __future__ import annotations

from pathlib import Path

import pytest

from press.publish.unused_styles import drop_unused

PACKAGE = Path(__file__).parents[2] / "node_modules" / "purgecss"


def test_rules_stay_that_a_page_or_a_script_uses(tmp_path: Path) -> None:
    (tmp_path / "_static").mkdir()
    (tmp_path / "chapters").mkdir()
    (tmp_path / "index.html").write_text(
        '<html data-theme="dark"><div class="cell"><p class="told">A</p></div></html>'
    )
    (tmp_path / "chapters" / "one.html").write_text('<details class="fold">B</details>')
    (tmp_path / "_static" / "play.js").write_text(
        'node.classList.add("playing"); node.dataset.state = "held"'
    )
    style = tmp_path / "_static" / "theme.css"
    style.write_text(
        ".told{color:red}.untold{color:blue}.fold[open]>p{margin:0}.playing{top:0}"
        'html[data-theme="dark"] .told{color:pink}.bs-tooltip-top{left:0}.told .gone{right:0}'
        ":focus-visible{outline:0}.told:is(:hover,:focus-visible){top:1px}.untold:hover{top:2px}"
        '.told[data-state="held"]{top:3px}'
        ".told > :is(:first-child,:last-child){top:5px}.told > :is(.gone,.lost){top:6px}"
        ".cell{top:8px}div.cell:has(> *:nth-child(2)) .told,.told p{top:7px}"
    )
    drop_unused(tmp_path, PACKAGE)
    left = style.read_text()
    for kept in (".told{color:red}", ".playing", "[data-theme", ".bs-tooltip-top", "outline:0"):
        assert kept in left
    for kept in ("top:1px", "top:3px", "top:5px"):
        assert kept in left
    assert "div.cell" not in left
    assert "}.told p{top:7px}" in left
    assert ".cell{" in left
    for dropped in (".untold", ".gone"):
        assert dropped not in left


def test_a_missing_package_says_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="run `make book`"):
        drop_unused(tmp_path, tmp_path / "purgecss")
