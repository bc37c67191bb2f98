"""Show one widget alone, in a page that follows its files: ``make widget NAME=rope``.

The page is what a reader gets on the site, the host and the saved state, with no Python behind it.
When a file of :mod:`primer.widgets` changes, the modules are bundled anew and the page is loaded
again; what is wrong with them stands in the page.

Run ``python -m press.workshop.live_widget rope``; ``PORT=8001`` chooses another port.
"""

from __future__ import annotations

import functools
import html
import http.server
import json
import os
import subprocess
import sys
from typing import Any

from press.site import Server
from press.workshop.bundle import WIDGETS, bundles, write_bundles
from primer.inputs import one_of
from sphinx_widget_host import HOST

PORT = 8001

PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{name}</title>
<style>body {{ max-width: 50rem; margin: 1rem auto; }}</style></head>
<body>
<p><button onclick="toggle()">light or dark</button></p>
<main>{view}</main>
<script type="application/vnd.jupyter.widget-state+json">{state}</script>
<script>
const toggle = () => {{
  const {{ dataset }} = document.documentElement;
  dataset.theme = dataset.theme === "dark" ? "light" : "dark";
}};
setInterval(async () => {{
  const reply = await fetch("/version").catch(() => null);
  if (reply && (await reply.text()) !== "{version}") location.reload();
}}, 400);
</script>
<script src="/widget-host.js"></script>
</body></html>
"""

# Runs in a process of its own, so that a changed Python file is read again.
STATE = """
import json, sys
from primer.widgets.base import Widget
import importlib
module = importlib.import_module("primer.widgets." + sys.argv[1])
kinds = [kind for kind in vars(module).values() if isinstance(kind, type)
         and issubclass(kind, Widget) and kind.__module__ == module.__name__]
widget = kinds[-1]()
state = Widget.get_manager_state(widgets=[widget])
json.dump([widget.model_id, state], sys.stdout, default=str)
"""


def names() -> list[str]:
    """Name the widgets that there are."""
    scripts = WIDGETS.glob("*/*.js")
    return sorted(path.stem for path in scripts if path.stem == path.parent.name != "kit")


def version(*suffixes: str) -> str:
    """Return a word that changes with the files of the widgets that end so."""
    files = [path for path in WIDGETS.rglob("*") if path.suffix in suffixes]
    own = [path for path in files if "static" not in path.relative_to(WIDGETS).parts]
    return str(max(path.stat().st_mtime_ns for path in own))


@functools.lru_cache(maxsize=1)
def saved_state(name: str, python: str) -> tuple[str, dict[str, Any]]:
    """Return the model id and the saved state of a widget, as its Python files make it."""
    del python  # only for the cache: another version is computed anew
    run = subprocess.run([sys.executable, "-c", STATE, name], capture_output=True, text=True)
    if run.returncode:
        raise ValueError(run.stderr.strip())
    model, state = json.loads(run.stdout)
    return model, state


def page(name: str) -> str:
    """Make the page of a widget, or of what is wrong with it."""
    now = version(".py", ".js", ".css")
    view, state = "", "{}"
    try:
        write_bundles(bundles())
        model, saved = saved_state(name, version(".py"))
        esm, css = _sources(name)
        record = saved["state"][model]
        fresh = {**record, "state": {**record["state"], "_esm": esm, "_css": css}}
        state = json.dumps({**saved, "state": {**saved["state"], model: fresh}})
        kind = "application/vnd.jupyter.widget-view+json"
        view = f'<script type="{kind}">{json.dumps({"model_id": model})}</script>'
    except ValueError as error:
        view = f"<pre>{html.escape(str(error))}</pre>"
    return PAGE.format(name=name, view=view, state=state.replace("</", "<\\/"), version=now)


def _sources(name: str) -> tuple[str, str]:
    """Read the bundles as they are now."""
    from primer.widgets import base  # here, for it imports torch

    base.shared_sources.cache_clear()
    return base.sources(name)


class Alone(http.server.BaseHTTPRequestHandler):
    """Answers for one widget."""

    widget = ""

    def do_GET(self) -> None:
        """Give the page, the host or the version of the files."""
        kind, text = "text/html", ""
        if self.path == "/version":
            text = version(".py", ".js", ".css")
        elif self.path == "/widget-host.js":
            kind, text = "text/javascript", HOST.read_text("utf-8")
        elif self.path == "/":
            text = page(self.widget)
        else:
            self.send_error(404)
            return
        data = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def server(name: str, port: int) -> Server:
    """Make the server of a widget, on this machine only.

    Raises
    ------
    ValueError
        When there is no widget of that name.
    """
    one_of("NAME", name, names())
    handler = type("Handler", (Alone,), {"widget": name})
    return Server(("127.0.0.1", port), handler)


def main() -> int:
    """Serve the widget that the command line names until Ctrl+C."""
    try:
        made = server(" ".join(sys.argv[1:]), int(os.environ.get("PORT", PORT)))
    except ValueError as error:
        print(f"{error}; for example `make widget NAME=rope`", file=sys.stderr)
        return 1
    print(f"http://127.0.0.1:{made.server_address[1]} — Ctrl+C ends it.")
    try:
        made.serve_forever()
    except KeyboardInterrupt:
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
