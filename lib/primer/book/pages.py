"""Look at the built site the way a reader's browser does: its pages, and a server for them."""

from __future__ import annotations

import contextlib
import functools
import http.server
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SITE = Path(__file__).parents[3] / "_build" / "html"
"""Where ``make book`` puts the site."""


def page_names(site: Path) -> list[str]:
    """Return the pages of a site, relative to its folder, without the widgets' own files."""
    return sorted(
        path.relative_to(site).as_posix()
        for path in site.rglob("*.html")
        if not path.relative_to(site).as_posix().startswith(("_static/", "_sources/", "embed/"))
    )


class _Quiet(http.server.SimpleHTTPRequestHandler):
    """A server that does not write a line for each request."""

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class Server(http.server.ThreadingHTTPServer):
    """A server that is not surprised when a browser leaves before it has everything."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report errors other than those."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextlib.contextmanager
def serve(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine only, and give its address without a slash at its end."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with Server(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()
