"""Look at the built site the way a reader's browser does: its pages, and a server for them."""

from __future__ import annotations

import contextlib
import functools
import http.server
import os
import re
import sys
import threading
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup
from bs4.element import Tag

from press.publish.theme_marks import ARTICLE

SITE = Path(__file__).parents[2] / "_build" / "html"
"""Where ``make book`` puts the site."""
TERMS = "terms"
"""The folder of a site that shows what was kept for the terms of a course."""


def page_names(site: Path) -> list[str]:
    """Return the pages of a site, relative to its folder.

    Widgets' own files, slides and the sites that are kept for a term are no pages of it.
    """
    names = (path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    others = ("_static/", "_sources/", "embed/", "slides/", f"{TERMS}/")
    return sorted(name for name in names if not name.startswith(others))


def article_of(site: Path, page: str) -> Tag:
    """Read the article of a page.

    Raises
    ------
    ValueError
        When the page is not there, or has no article.
    """
    file = site / f"{page}.html"
    if not file.is_file():
        raise ValueError(f"{file} is not there yet: run `make book` first.")
    article = BeautifulSoup(file.read_text("utf-8"), "html.parser").select_one(f"article.{ARTICLE}")
    if article is None:
        raise ValueError(f"{file} has no article: it is no page of the book.")
    return article


class Place:
    """A container of a built page, ``::: {container} name``, that a later step fills.

    Raises
    ------
    ValueError
        When the page is not there, or has no such container: before anything is written.
    """

    def __init__(self, page: Path, name: str) -> None:
        if not page.is_file():
            raise ValueError(f"{page} is not there yet: run `make book` first.")
        self.page, self._text = page, page.read_text("utf-8")
        opened = rf'<div class="{re.escape(name)} docutils container">\n'
        self._around = re.compile(rf"({opened}).*?(</div>)", re.DOTALL)
        if not self._around.search(self._text):
            raise ValueError(f"{page} has no place for the {name}: a container named `{name}`.")

    def fill(self, content: str) -> None:
        """Write the page with this in its place; what an earlier step wrote there goes."""
        filled = self._around.sub(lambda found: found[1] + content + found[2], self._text, count=1)
        self.page.write_text(filled, encoding="utf-8")


class _Files(http.server.SimpleHTTPRequestHandler):
    """Gives files without writing a line for each, and ``404.html`` where there is none.

    As on GitHub Pages the page is that of the site, which begins in some folder above the address.
    """

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer with the site's own page when nothing is found."""
        if code != HTTPStatus.NOT_FOUND:
            return super().send_error(code, message, explain)
        if self.path == "/favicon.ico":  # a browser asks for it by itself, and would log a fault
            self.send_response(HTTPStatus.NO_CONTENT)
            return self.end_headers()
        folder = Path(self.translate_path(self.path))
        above = [one for one in folder.parents if one.is_relative_to(self.directory)]
        pages = [one / "404.html" for one in above]
        page = next((one for one in pages if os.path.exists(one)), None)  # of a wrong name False
        if page is None:
            return super().send_error(code, message, explain)
        content = page.read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def send_head(self) -> Any:
        """Open the file; a name that no file can have, with a byte 0 or half a letter, has none."""
        try:
            return super().send_head()
        except ValueError:
            self.send_error(HTTPStatus.NOT_FOUND)
            return None

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class Server(http.server.ThreadingHTTPServer):
    """A server that is not surprised when a browser leaves before it has everything."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report errors other than those."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextlib.contextmanager
def serve(folder: Path, port: int = 0) -> Iterator[str]:
    """Serve a folder on this machine only, and give its address without a slash at its end.

    Parameters
    ----------
    folder : Path
        The site.
    port : int
        Where; 0 is a free one.
    """
    handler = functools.partial(_Files, directory=str(folder))
    with Server(("127.0.0.1", port), handler) as server:
        # asked every 0.02 s whether it shall end: by itself the wait is half a second
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def main() -> int:
    """Serve the built site until Ctrl+C."""
    port = int(sys.argv[1])
    if not (SITE / "index.html").exists():
        print("There is no site yet: run 'make book' first.")
        return 1
    try:
        with serve(SITE, port) as address:
            print(f"{address} — Ctrl+C ends it.", flush=True)
            threading.Event().wait()
    except OSError as error:
        print(f"Port {port} cannot be used ({error.strerror}): name another with PORT=…")
        return 1
    except KeyboardInterrupt:
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
