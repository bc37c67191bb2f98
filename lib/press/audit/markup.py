"""What no text of a page may hold: markup that runs, that leads away by itself, or that tells.

A page's policy forbids most of it to the reader's browser; but a policy cannot know who wrote a
script, and none forbids a page to send its reader elsewhere.  So it is looked for, in the notebooks
(:mod:`press.audit.form`) and in every finished page (:mod:`press.publish.policy`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

DATA = re.compile(r"application/(?:[\w.-]+\+)?json|text/plain")
"""Types of a script that is data, which no browser runs."""
FOREIGN = ("iframe", "frame", "frameset", "object", "embed", "applet", "portal", "base", "template")
"""Elements that show another page, run a plug-in, move all links, or hide what they hold."""
ADDRESSES = (
    "src",
    "srcset",
    "href",
    "xlink:href",
    "action",
    "formaction",
    "poster",
    "data",
    "ping",
)
LOADED = {"src", "srcset", "poster", "data", "background"}
"""Of the attributes with an address, those that a page asks for by itself."""
LEADING = {"a", "area", "cite"}
"""Elements whose address is asked for only when a reader follows it."""
RELATIONS = {"canonical", "next", "prev", "author", "license", "help", "search", "index", "me"}
"""What a page may link to anywhere in its head: nothing of it is asked for."""
KEPT = {"content-security-policy", "content-type", "x-ua-compatible"}
"""What a page may say in place of its server."""

_HANDLERS = re.compile(r"""[\s"'/]on[a-z]{4,}\s*=""", re.IGNORECASE)
_NO_SIGN = re.compile(r"[\x00-\x20\x7f]+")
_RUNS = re.compile(r"(?:javascript|vbscript|livescript):", re.IGNORECASE)
_ELSEWHERE = re.compile(r"(?!data:)[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
_DRAWN = re.compile(r"data:(?:image|audio|video|font)/", re.IGNORECASE)
_STYLE_ASKS = re.compile(
    r"@import|(?:url|image-set|image)\(\s*[\"']?\s*(?:[a-z+.-]+:)?//", re.IGNORECASE
)
_SELECTED = ",".join(
    [
        "script,meta[http-equiv],style,[style],link,form,animate,set",
        *FOREIGN,
        *(f"[{name.replace(':', chr(92) + ':')}]" for name in (*ADDRESSES, "background")),
        "[srcdoc]",
    ]
)

Known = Callable[[str, str], bool]
"""Says whether a script is known: its address, or empty, and its text."""


def nobody(address: str, text: str) -> bool:
    """Know no script: what a notebook holds has none."""
    return False


def faults_of_markup(text: str, known: Known = nobody) -> Iterator[str]:
    r"""Say what of some HTML or SVG may not be there.

    Parameters
    ----------
    text : str
        A page or a piece of one.
    known : callable, optional
        Which scripts may be there.

    Yields
    ------
    str
        One part of a sentence for each fault.

    Examples
    --------
    >>> list(faults_of_markup('<p onclick="x()">a <a href="java\nscript:x()">b</a></p>'))
    ["an address that runs: href='java\\nscript:x()'", "a script in an attribute: onclick='x()'"]
    >>> list(faults_of_markup('<a href="https://example.org">b</a> <img src="c.png">'))
    []
    """
    tree = LexborHTMLParser(text)
    for element in tree.css(_SELECTED):
        yield from _faults_of(element, known)
    if _HANDLERS.search(text):
        for element in tree.css("*"):
            for name, value in element.attributes.items():
                if re.fullmatch(r"on\w+", name, re.IGNORECASE):
                    yield f"a script in an attribute: {name}={_short(value)}"


def _faults_of(element: LexborNode, known: Known) -> Iterator[str]:
    """Look at one element."""
    tag = (element.tag or "").lower()
    given = {name.lower(): value or "" for name, value in element.attributes.items()}
    if tag == "script":
        address = given.get("src", given.get("href", given.get("xlink:href", "")))
        script = element.text() or ""
        is_data = not address and DATA.fullmatch(given.get("type", "").strip().lower())
        if not is_data and not known(address, script):
            yield f"a script: {_short(address or script.strip())}"
        return
    if tag in FOREIGN:
        yield f"an element <{tag}>"
    if tag == "meta" and given["http-equiv"].strip().lower() not in KEPT:
        yield f"an order to the browser: http-equiv={_short(given['http-equiv'])}"
    if "srcdoc" in given:
        yield f"a page in an attribute: srcdoc={_short(given['srcdoc'])}"
    if tag in {"animate", "set"} and "href" in given.get("attributename", "").lower():
        yield f"an address that changes by itself: <{tag}>"
    if _STYLE_ASKS.search(given.get("style", "") + (element.text() if tag == "style" else "")):
        yield "a style that asks another place"
    for name in {*ADDRESSES, "background"} & {*given}:
        yield from _faults_of_address(tag, name, given)


def _faults_of_address(tag: str, name: str, given: dict[str, str]) -> Iterator[str]:
    """Look at an attribute that holds an address."""
    value = given[name]
    plain = _NO_SIGN.sub("", value).replace("\\", "/")
    drawn = _DRAWN.match(plain) and (name == "src" or tag in {"image", "feimage"})
    places = plain.split(",") if name == "srcset" else [plain]
    if _RUNS.match(plain):
        yield f"an address that runs: {name}={_short(value)}"
    elif plain.lower().startswith("data:") and not drawn:
        yield f"an address that is a page of its own: {name}={_short(value)}"
    elif name == "ping" or (_asks(tag, name, given) and any(map(_ELSEWHERE.match, places))):
        yield f"something from another place: {name}={_short(value)}"


def _asks(tag: str, name: str, given: dict[str, str]) -> bool:
    """Say whether a page asks for an address, or sends to it, without a reader who sees it."""
    if tag == "link":
        return not {*given.get("rel", "").lower().split()} <= RELATIONS
    return name in LOADED or tag not in LEADING


def _short(value: str | None) -> str:
    """Quote the beginning of a text."""
    text = value or ""
    return repr(text if len(text) <= 60 else f"{text[:60]}…")
