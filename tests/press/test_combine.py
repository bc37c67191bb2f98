"""The joined style sheets and scripts: what is in them, and when they are made again."""

from __future__ import annotations

import posixpath
import re
import subprocess
from pathlib import Path

import pytest

from press.publish.combine import join, join_site, joined_style
from press.site import SITE
from press.workshop.node import find_node

PAGE = """<html><head>
<link rel="stylesheet" href="{0}_static/styles/theme.css?digest=1" />
<link rel="preload" as="script" href="{0}_static/late.js" />
<link rel="stylesheet" type="text/css" href="{0}_static/own.css?v=2" />
<link rel="icon" href="{0}_static/favicon.svg"/>
<script src="{0}_static/documentation_options.js?v=3"></script>
<script src="{0}_static/first.js"></script>
<script>DOCUMENTATION_OPTIONS.pagename = 'x';</script>
<script data-prefix="tabs-" src="{0}_static/second.js"></script>
<script async="async" src="{0}_static/host.js"></script>
</head><body>A page<script defer src="{0}_static/late.js"></script></body></html>
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site of two pages."""
    files = {
        "_static/styles/theme.css": '@import "../basic.css";\na { background: url(../dot.png) }',
        "_static/basic.css": "b { color: red }",
        "_static/own.css": "i { color: blue }",
        "_static/documentation_options.js": "const DOCUMENTATION_OPTIONS = {};",
        "_static/first.js": "const one = 1",
        "_static/second.js": "(() => one)()",
        "_static/late.js": "late()",
        "index.html": PAGE.format(""),
        "chapters/a.html": PAGE.format("../"),
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def joined(site: Path) -> tuple[Path, Path]:
    """Return the joined style sheet and the joined script, of which there is one each."""
    files = (site / "_static/joined").iterdir()
    style, script = sorted(files, key=lambda path: path.suffix)
    return style, script


def test_a_page_asks_for_one_of_each(site: Path) -> None:
    join_site(site)
    style, script = joined(site)
    for name, root in {"index.html": "./", "chapters/a.html": "../"}.items():
        page = (site / name).read_text("utf-8")
        assert page.count("stylesheet") == 1
        assert f'href="{root}_static/joined/{style.name}"' in page
        tag = (
            f'<script defer data-prefix="tabs-" src="{root}_static/joined/{script.name}"></script>'
        )
        assert tag in page
        assert "preload" not in page
        assert "late.js" not in page
        assert page.index("const DOCUMENTATION_OPTIONS") < page.index("DOCUMENTATION_OPTIONS.page")
        assert "host.js" in page
        assert "favicon.svg" in page
        assert "<body>A page</body>" in page


def test_the_order_is_that_of_the_browser(site: Path) -> None:
    join_site(site)
    style, script = (path.read_text("utf-8") for path in joined(site))
    assert style.index("color: red") < style.index("dot.png") < style.index("color: blue")
    assert script.index("one = 1\n;") < script.index("(() => one)()\n;") < script.index("late()\n;")


def test_one_script_s_strictness_does_not_bind_the_others(site: Path) -> None:
    (site / "_static/first.js").write_text('"use strict";', encoding="utf-8")
    (site / "_static/second.js").write_text("sloppy = 7; console.log(sloppy)", encoding="utf-8")
    script = join(site, ["_static/first.js", "_static/second.js"])
    ran = subprocess.run([find_node(), site / script], capture_output=True, text=True, check=True)
    assert ran.stdout == "7\n"


def test_addresses_lead_to_the_same_files(site: Path) -> None:
    assert 'url("../dot.png")' in joined_style(site, "_static/styles/theme.css")
    (site / "_static/own.css").write_text(
        'p { x: url("fonts/a.woff2") url(data:image/png;base64,a) }'
    )
    assert joined_style(site, "_static/own.css") == (
        'p { x: url("../fonts/a.woff2") url(data:image/png;base64,a) }'
    )


def test_a_change_reaches_pages_that_are_not_written_anew(site: Path) -> None:
    join_site(site)
    before = {path.name for path in (site / "_static/joined").iterdir()}
    join_site(site)
    assert {path.name for path in (site / "_static/joined").iterdir()} == before
    (site / "_static/own.css").write_text("i { color: green }", encoding="utf-8")
    (site / "index.html").write_text(PAGE.format(""), encoding="utf-8")  # this one is written anew
    join_site(site)
    (style,) = (site / "_static/joined").glob("*.css")
    assert "green" in style.read_text("utf-8")
    assert style.name not in before
    for name in ("index.html", "chapters/a.html"):
        assert style.name in (site / name).read_text("utf-8")


def test_a_missing_part_is_named(site: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"gone\.css"):
        join(site, ["_static/own.css", "_static/gone.css"])


def test_the_theme_marks_no_boxes() -> None:
    scripts = list((SITE / "_static/joined").glob("*.js"))
    assert scripts
    for text in (script.read_text("utf-8") for script in scripts):
        assert text.count("[].forEach(") == 1
        assert '"pre",' not in text


def test_every_address_in_the_book_s_styles_leads_to_a_file() -> None:
    sheets = list((SITE / "_static/joined").glob("*.css"))
    assert sheets
    for sheet in sheets:
        for address in re.findall(r'url\("(?!data:)([^"?#]+)', sheet.read_text("utf-8")):
            target = posixpath.normpath(f"_static/joined/{address}")
            assert (SITE / target).is_file(), target
