"""A page says what it may run and ask for: its policy, and a browser that keeps it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output
from playwright.sync_api import Browser, Page
from sphinx.errors import ExtensionError
from tiny_book import BOOK, CHAPTER, build, build_book, chapter_of, write_book

from press.audit.markup import faults_of_markup
from press.publish.policy import (
    PRESSED,
    checksum,
    is_protected,
    policy,
    protect,
    strangers,
    with_policy,
)
from press.publish.scripts import pattern_of
from press.site import page_names, serve

PAGE = """<html><head><meta charset="utf-8" /><title>t</title></head><body>
<button onclick="window.print()">Print</button><p id="said"></p>
<script>document.getElementById("said").textContent = "own script";</script>
<script type="application/json">{"no": "script"}</script>
</body></html>
"""


def test_a_policy_names_the_scripts_in_the_page_and_no_data() -> None:
    said = policy(PAGE)
    assert checksum('document.getElementById("said").textContent = "own script";') in said
    assert said.count("sha256") == 1
    assert "connect-src 'none'" in said
    assert "unsafe-inline" not in said.partition("script-src")[2].partition(";")[0]


def test_only_a_page_whose_cells_run_may_compile_webassembly() -> None:
    runs = PAGE.replace("<p id", '<div class="run-place" data-cell="0"></div><p id')
    scripts = [policy(page).partition("script-src")[2].partition(";")[0] for page in (PAGE, runs)]
    assert "'wasm-unsafe-eval'" not in scripts[0]
    assert scripts[1] == scripts[0].replace(" blob:", " blob: 'wasm-unsafe-eval'")
    assert "connect-src 'none'" in policy(runs)


def test_it_stands_behind_the_character_set_and_is_written_once() -> None:
    once = with_policy(PAGE, "page")
    assert once.index("charset") < once.index("Content-Security-Policy") < once.index("<title>")
    assert with_policy(once, "page") == once
    assert "onclick" not in once
    assert f'data-press="{PRESSED["window.print()"]}"' in once


def test_a_page_with_a_policy_of_its_own_keeps_it() -> None:
    meta = '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'">'
    strict = PAGE.replace("<title>", f"{meta}<title>")
    assert with_policy(strict, "page") == strict


@pytest.mark.parametrize("handler", ['onclick="steal()"', "onerror='window.print()'"])
def test_a_script_in_an_attribute_is_named(handler: str) -> None:
    with pytest.raises(ExtensionError, match=r"chapter\.html: .*script file instead"):
        with_policy(PAGE.replace('onclick="window.print()"', handler), "chapter.html")


def said_by(browser: Browser, address: str) -> tuple[str, list[str]]:
    """Open a page; return what its script said, and what the browser refused."""
    page = browser.new_page()
    refused: list[str] = []
    page.on("console", lambda message: refused.append(message.text))
    page.goto(address)
    text = page.locator("#said").inner_text()
    page.close()
    return text, refused


@pytest.mark.browser
@pytest.mark.parametrize("place", ["disk", "http"])
def test_the_browser_runs_the_pages_scripts_and_no_other(
    chromium: Browser, tmp_path: Path, place: str
) -> None:
    (tmp_path / "good.html").write_text(PAGE, encoding="utf-8")
    (tmp_path / "asks.html").write_text(
        PAGE.replace('textContent = "own', 'textContent = "asked"; fetch("good.html"); "own'),
        encoding="utf-8",
    )
    protect(tmp_path)
    slipped = (tmp_path / "good.html").read_text("utf-8").replace("own script", "foreign script")
    (tmp_path / "foreign.html").write_text(slipped, encoding="utf-8")
    with serve(tmp_path) as home:
        root = home if place == "http" else tmp_path.as_uri()
        assert said_by(chromium, f"{root}/good.html") == ("own script", [])
        text, refused = said_by(chromium, f"{root}/foreign.html")
        assert text == ""
        assert "violates" in refused[0]
        text, refused = said_by(chromium, f"{root}/asks.html")
        assert text == "asked"
        assert "connect-src" in refused[0]


@pytest.mark.browser
def test_the_themes_buttons_still_do_what_they_say(reading_page: Callable[..., Page]) -> None:
    page = reading_page("window.print = () => { window.done = ['print']; };")
    page.evaluate("() => { window.toggleFullScreen = () => window.done.push('full screen'); }")
    for name in PRESSED.values():
        page.evaluate("name => document.querySelector(`[data-press=${name}]`).click()", name)
    assert page.evaluate("window.done") == ["print", "full screen"]


def test_no_script_of_ours_writes_markup() -> None:
    scripts = [
        *(BOOK / "lib").rglob("*.js"),
        *(BOOK / "packages").rglob("*.js"),
    ]
    assert [
        str(path) for path in scripts if re.search(r"\.(inner|outer)HTML\s*=", path.read_text())
    ] == []


STRANGE = {
    "script": "<script>document.title = 'PWNED'</script>",
    "script-with-attributes": "<script async type=module>alert(1)</script>",
    "script-of-an-old-type": "<script type='text/ecmascript'>alert(1)</script>",
    "script-in-capitals": "<SCRIPT>alert(1)</SCRIPT >",
    "script-from-afar": '<script src="https://example.org/x.js"></script>',
    "script-from-afar-too": '<script src="//example.org/x.js"></script>',
    "script-beside": '<script src="../_static/../_images/x.js"></script>',
    "script-as-data": '<script src="data:text/javascript,alert(1)"></script>',
    "script-that-seems-known": "<script>let toggleHintShow = 'Show'; alert(1);</script>",
    "script-of-another-page": "<script>DOCUMENTATION_OPTIONS.pagename = 'x'; alert(1);</script>",
    "map-of-imports": '<script type="importmap">{"imports": {}}</script>',
    "rules-of-speculation": '<script type="speculationrules">{"prefetch": []}</script>',
    "refresh": '<meta http-equiv="refresh" content="0;url=https://example.org">',
    "refresh-in-capitals": '<META HTTP-EQUIV=" Refresh" CONTENT=0>',
    "cookie": '<meta http-equiv="set-cookie" content="a=b">',
    "frame": '<iframe src="other.html"></iframe>',
    "frame-with-a-page": '<iframe srcdoc="&lt;script&gt;alert(1)&lt;/script&gt;"></iframe>',
    "object": '<object data="x.svg"></object>',
    "embed": '<embed src="x.svg">',
    "base": '<base href="https://example.org/">',
    "template": "<div><template shadowrootmode=open><script>alert(1)</script></template></div>",
    "form": '<form action="https://example.org"><button>Send</button></form>',
    "button": '<form><button formaction="//example.org">Send</button></form>',
    "link-that-runs": '<a href="javascript:alert(1)">a</a>',
    "link-in-disguise": '<a href=" jav&#x09;ascript&colon;alert(1)">a</a>',
    "link-of-data": '<a href="data:text/html,<script>alert(1)</script>">a</a>',
    "link-that-tells": '<a href="index.html" ping="/told">a</a>',
    "handler": '<img src="x.png" onerror="alert(1)">',
    "handler-without-quotes": "<div onmouseover=alert(1)>a</div>",
    "handler-behind-a-slash": "<svg/onload=alert(1)></svg>",
    "handler-in-capitals": "<p OnClick = 'window.print()'>a</p>",
    "picture": '<img src="https://example.org/x.png">',
    "picture-in-a-set": '<img srcset="x.png 1x, //example.org/x.png 2x">',
    "picture-behind-a-backslash": '<img src="\\\\example.org/x.png">',
    "video": '<video poster="http://example.org/x.png"></video>',
    "sheet": '<link rel="stylesheet" href="https://example.org/x.css">',
    "prefetch": '<link rel="dns-prefetch" href="//example.org">',
    "style": "<p style=\"background: URL( 'https://example.org/x.png')\">a</p>",
    "style-element": "<style>@import 'x.css';</style>",
    "drawing-with-a-script": "<svg><script>alert(1)</script></svg>",
    "drawing-with-a-far-script": '<svg><script xlink:href="https://example.org/x.js"/></svg>',
    "drawing-with-a-link": '<svg><a xlink:href="javascript:alert(1)"><text>a</text></a></svg>',
    "drawing-that-changes": '<svg><a><animate attributeName=href values="javascript:1"/></a></svg>',
    "drawing-of-a-far-picture": '<svg><image href="https://example.org/x.png"/></svg>',
    "drawing-that-uses": '<svg><use href="https://example.org/x.svg#a"/></svg>',
}
"""Markup that may come in with a text or an output, a way for each kind."""

INNOCENT = """# Innocent

`<script>alert(1)</script>` and [a link](https://example.org), <https://example.org>,
<a href="mailto:somebody@example.org">mail</a>, <a href="../index.html#a">here</a>,
<span style="color: red">red</span>, once = 1, <b title="onclick=1">bold</b>
<img src="data:image/png;base64,iVBORw0KGgo=" alt="nothing">
<script type="application/json">{"no": "script"}</script>

```html
<iframe src="https://example.org" onload="alert(1)"></iframe>
```

<svg><g id="a"/><use href="#a"/><image href="data:image/png;base64,iVBORw0KGgo="/></svg>
"""


@pytest.mark.parametrize("text", STRANGE.values(), ids=STRANGE)
def test_what_runs_or_leads_away_is_a_fault(text: str) -> None:
    assert list(faults_of_markup(f"<p>before {text} behind</p>"))


def test_what_only_speaks_of_it_is_none() -> None:
    text = INNOCENT.replace("`<script>alert(1)</script>`", "").replace("<https://example.org>", "")
    assert list(faults_of_markup(re.sub(r"```.*?```", "", text, flags=re.DOTALL))) == []


def test_a_template_fills_in_words_and_no_more() -> None:
    pattern = pattern_of('set("{{ mode }}", "{{ other }}");')
    assert pattern.fullmatch('set("auto", "");')
    assert not pattern.fullmatch('set("auto", ""); alert("");')
    assert not pattern.fullmatch('set("auto", ""+alert(1)+"");')


def strange_chapter() -> list[tuple[str, NotebookNode]]:
    """Give cells with strangers in them, each with what the build must say of it."""
    outputs = {
        "alert(1)": {"text/html": "<p>a</p><script>alert(1)</script>"},
        "window.evil = 2": {"application/javascript": "window.evil = 2"},
        "alert(4)": {"text/markdown": "a <script>alert(4)</script>"},
    }
    cells = [
        (said, new_code_cell("1", outputs=[new_output("display_data", data=data)]))
        for said, data in outputs.items()
    ]
    block = new_markdown_cell("```{raw} html\n<script>alert(6)</script>\n```")
    return [*cells, ("alert(6)", block)]


def test_a_drawing_with_a_script_is_found(tmp_path: Path) -> None:
    """No page runs it, but who opens the drawing alone does."""
    (tmp_path / "_images").mkdir()
    evil, good = tmp_path / "_images/evil.svg", tmp_path / "_images/good.svg"
    evil.write_text('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(3)</script></svg>')
    good.write_text('<svg xmlns="http://www.w3.org/2000/svg"><style>p {}</style><path/></svg>')
    assert [*strangers(tmp_path, lambda *_: False)] == [evil]


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """Build a book with every stranger on a page of its own; give what is said, and the site."""
    folder = tmp_path_factory.mktemp("strange")
    cells = [cell for _, cell in strange_chapter()]
    pages = {f"pages/{name}": f"# Page\n\n{text}\n" for name, text in STRANGE.items()}
    pages["pages/innocent"] = INNOCENT
    write_book(folder, chapter_of([new_markdown_cell("# Strange"), *cells]), pages)
    done = build(folder)
    assert done.returncode != 0
    return done.stdout + done.stderr, folder / "_build/html"


def test_a_stranger_stops_the_build_which_names_its_page(refused: tuple[str, Path]) -> None:
    said, site = refused
    named = set(re.findall(r"(\S+\.html) holds ", said))
    text = {"handler-behind-a-slash"}  # which Markdown takes for text
    assert named == {f"pages/{name}.html" for name in STRANGE.keys() - text} | {f"{CHAPTER}.html"}
    assert not named & {*page_names(site)}, "a page with a stranger may not be left"
    assert "pages/innocent.html" in page_names(site)


@pytest.mark.parametrize("mark", [said for said, _ in strange_chapter()])
def test_a_stranger_in_an_output_is_told(refused: tuple[str, Path], mark: str) -> None:
    assert mark in refused[0]


def test_a_book_without_strangers_is_built_twice(tmp_path: Path) -> None:
    """The second time no page is written anew, and none is looked at."""
    site = build_book(tmp_path, chapter_of([new_markdown_cell(INNOCENT)]))
    for name in page_names(site):
        assert is_protected((site / name).read_text("utf-8"), name)
    assert not [*site.glob("_static/*webpack-macros.html")]
    again = build(tmp_path)
    assert again.returncode == 0, again.stderr


def test_a_page_cannot_give_itself_its_policy() -> None:
    """The text of a page stands behind its character set, never directly."""
    evil = PAGE.replace("own script", "evil")
    tag = re.search(r"<meta http-equiv[^>]*>", with_policy(evil, "page"))
    assert tag
    assert not is_protected(evil.replace("<p id", f"{tag[0]}<p id"), "page")
    assert is_protected(with_policy(evil, "page"), "page")
