"""Sphinx extension: each page says what it may run and ask for, and the browser holds it to that.

A content security policy stands in the head of every page: scripts come from the book's own files,
or stand in the page and are named by their checksum; no script may ask any place for anything
(``connect-src 'none'``).  So whatever slips into a page later, from a reader's text or from a
library, neither runs nor tells anybody.  What came in while the book was built is looked for before
that: a script that nobody knows (:mod:`press.publish.scripts`), or anything that leads away by
itself (:mod:`press.audit.markup`), stops the build, and its page is taken back.  ``file:`` lets the
same page live when it is opened from disk, and ``blob:`` lets the widget host start the modules
that the page carries.  A page whose code cells run may compile WebAssembly
(``'wasm-unsafe-eval'``), which is no ``eval`` of JavaScript; the worker that runs them is held to
the page's policy.

What an element does when it is pressed is a script too.  The theme's two buttons of this kind are
told by name (``data-press``) what they do; ``book.js`` does it.

Source: W3C, `Content Security Policy Level 3 <https://www.w3.org/TR/CSP3/>`_.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from press.audit.markup import faults_of_markup
from press.publish.combine import STATIC
from press.publish.scripts import KnownScripts
from press.publish.theme_marks import NOT_PUBLISHED, PRESSED
from press.site import TERMS, page_names

RULES = {
    "default-src": "'none'",
    "script-src": "'self' file: blob:",
    "style-src": "'self' file: 'unsafe-inline'",
    "img-src": "'self' file: data: blob:",
    "media-src": "'self' file: data: blob:",
    "font-src": "'self' file: data:",
    "connect-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'self' file:",
}
"""What a page may do, before the checksums of its own scripts are added."""

ASKS = {"404.html": {"connect-src": "'self'", "base-uri": "'self' file:"}}
"""The page of addresses that lead nowhere asks its own site how deep it stands."""

RUNS = 'class="run-place"'
"""What a page has on which code cells run; WebAssembly, which Python is there, is allowed to it."""

_CHARSET = re.compile(r'<meta charset="[^"]*" ?/?>')
_META = re.compile(r'\s*<meta http-equiv="Content-Security-Policy"[^>]*>')
_SCRIPT = re.compile(r"<script(?![^>]*\bsrc=)([^>]*)>(.*?)</script>", re.DOTALL)
_TYPE = re.compile(r'\btype="([^"]*)"')
_HANDLER = re.compile(r"<(?!script)\w[^>]*?\s(on[a-z]+)=(\"[^\"]*\"|'[^']*')[^>]*>")
_RUNS = {"", "module", "text/javascript", "application/javascript"}


def checksum(script: str) -> str:
    r"""Return what names an inline script in a policy.

    .. math:: \text{'sha256-'}\;\mathrm{base64}(\mathrm{SHA256}(\text{script}))\;\text{'}

    Examples
    --------
    >>> checksum("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def policy(page: str, name: str = "") -> str:
    """Return the policy of a page: the rules for one of its name, and its scripts' checksums."""
    sums = []
    for attributes, script in _SCRIPT.findall(page):
        kind = _TYPE.search(attributes)
        if (kind[1] if kind else "") in _RUNS:
            sums.append(checksum(script.replace("\r\n", "\n")))
    python = ["'wasm-unsafe-eval'"] if RUNS in page else []
    scripts = [RULES["script-src"], *python, *dict.fromkeys(sums)]
    rules = RULES | ASKS.get(name, {}) | {"script-src": " ".join(scripts)}
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def with_policy(page: str, name: str) -> str:
    """Return a page with its policy in its head, and with no script in an attribute.

    A page that comes with a policy of its own, as a widget's single file does, keeps it.

    Parameters
    ----------
    page
        The text of a page.
    name
        What to call it in an error.

    Raises
    ------
    ExtensionError
        When an element has a script in an attribute that :data:`PRESSED` does not know.
    """

    def named(found: re.Match[str]) -> str:
        attribute, script = found[1], html.unescape(found[2][1:-1])
        if attribute != "onclick" or script not in PRESSED:
            raise ExtensionError(
                f"{name}: an element has {attribute}={found[2]}; a page's policy forbids scripts "
                "in attributes: listen to the event in a script file instead"
            )
        return found[0].replace(f"{attribute}={found[2]}", f'data-press="{PRESSED[script]}"')

    own = _META.search(page)
    if own and RULES["script-src"] not in own[0]:
        return page
    page = _HANDLER.sub(named, _META.sub("", page))
    # behind the character set, which a browser looks for in the first kilobyte only
    return _CHARSET.sub(lambda found: found[0] + _tag(page, name), page, count=1)


def _tag(page: str, name: str) -> str:
    """Return what stands behind the character set of a page."""
    content = policy(page, name)
    return f'\n    <meta http-equiv="Content-Security-Policy" content="{content}">'


def is_protected(page: str, name: str) -> bool:
    """Say whether a page has its policy, in the one place where no text of the book can stand."""
    charset = _CHARSET.search(page)
    return charset is not None and page.startswith(_tag(page, name), charset.end())


def protect(site: Path) -> None:
    """Write the policy into every page of a site; what is kept for a term has its own already."""
    for file in site.rglob("*.html"):
        if not {site / STATIC, site / TERMS} & set(file.parents):
            with file.open(encoding="utf-8", newline="") as opened:
                text = opened.read()
            protected = with_policy(text, file.relative_to(site).as_posix())
            if protected != text:
                with file.open("w", encoding="utf-8", newline="") as opened:
                    opened.write(protected)


def strangers(site: Path, known: Callable[[str, str, str], bool]) -> dict[Path, list[str]]:
    """Find what may not be in the pages and drawings of a site that were written anew.

    Parameters
    ----------
    site
        The folder of the built site.
    known
        Says whether a page may have a script; see :meth:`KnownScripts.on`.

    Returns
    -------
    dict
        The file, and what is wrong with it.
    """
    found: dict[Path, list[str]] = {}
    for name in page_names(site):
        text = (site / name).read_text("utf-8")
        if is_protected(text, name):
            continue  # it was looked at when it got its policy
        rest = text
        for script in PRESSED:
            rest = rest.replace(f'onclick="{script}"', "")
        faults = list(faults_of_markup(rest, lambda *script, name=name: known(name, *script)))
        if "base-uri" in ASKS.get(name, ()):  # its own template names where the site begins
            faults = [fault for fault in faults if fault != "an element <base>"]
        if faults:
            found[site / name] = faults
    for drawing in sorted(site.glob("_images/*.svg")):  # who opens it alone sees a page
        if faults := list(faults_of_markup(drawing.read_text("utf-8", errors="replace"))):
            found[drawing] = faults
    return found


def refuse_built(app: Sphinx, error: Exception | None) -> None:
    """Stop the build of a site with a stranger in it, and take back the page that has it.

    Raises
    ------
    ExtensionError
        With a sentence for each page.
    """
    if error or app.builder.format != "html":
        return
    site = Path(app.outdir)
    for name in NOT_PUBLISHED:
        (site / STATIC / name).unlink(missing_ok=True)
    found = strangers(site, KnownScripts(app).on)
    for file in found:
        file.unlink()
    if found:
        raise ExtensionError(
            "\n".join(
                f"{file.relative_to(site).as_posix()} holds {', '.join(dict.fromkeys(faults))}: "
                "take it out of the text, the output or the file that it came from"
                for file, faults in found.items()
            )
        )


def protect_built(app: Sphinx, error: Exception | None) -> None:
    """Protect the pages of a site that has been built."""
    if not error and app.builder.format == "html":
        protect(Path(app.outdir))


def setup(app: Sphinx) -> dict[str, Any]:
    """Look at the pages as they were written; protect them when nothing else will change them."""
    app.connect("build-finished", refuse_built, priority=700)
    app.connect("build-finished", protect_built, priority=990)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
