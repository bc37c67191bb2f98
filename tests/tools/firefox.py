"""Firefox, driven by the protocol that it speaks itself (WebDriver BiDi), with no network.

Playwright drives a Firefox of its own only; this drives Debian's.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from websocket import WebSocket, create_connection

NAMES = ("firefox-esr", "firefox")
PATIENCE = 300
"""Seconds to wait for an answer, on a machine that does much else."""
PREFERENCES = {  # nothing is fetched of its own accord, and every way out leads nowhere
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "network.proxy.type": 1,
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": 9,
    "network.proxy.no_proxies_on": "",
}


def find_firefox() -> str | None:
    """Return the path of a Firefox that is installed, None where there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Tab:
    """A tab of the browser.

    Parameters
    ----------
    line : WebSocket
        The connection to the browser.
    """

    def __init__(self, line: WebSocket) -> None:
        self._line, self._count = line, 0
        self.ask("session.new", {"capabilities": {}})
        self._context = self.ask("browsingContext.getTree", {})["contexts"][0]["context"]

    def ask(self, method: str, what: Mapping[str, Any]) -> Any:
        """Send a command, and wait for its answer; what the browser tells besides is passed over.

        Raises
        ------
        RuntimeError
            When the browser refuses the command.
        """
        self._count += 1
        self._line.send(json.dumps({"id": self._count, "method": method, "params": what}))
        while (answer := json.loads(self._line.recv())).get("id") != self._count:
            pass
        if answer["type"] == "error":
            raise RuntimeError(f"{method}: {answer['error']}: {answer['message']}")
        return answer["result"]

    def goto(self, address: str) -> None:
        """Open a page, and wait until it is loaded."""
        where = {"context": self._context, "url": address, "wait": "complete"}
        self.ask("browsingContext.navigate", where)

    def evaluate(self, expression: str) -> Any:
        """Return what an expression of JavaScript comes to, in JSON; a promise is awaited.

        Raises
        ------
        RuntimeError
            When it throws.
        """
        asked = {
            "expression": f"(async () => JSON.stringify(await ({expression})))()",
            "target": {"context": self._context},
            "awaitPromise": True,
        }
        found = self.ask("script.evaluate", asked)
        if found["type"] == "exception":
            raise RuntimeError(found["exceptionDetails"]["text"])
        return json.loads(found["result"].get("value", "null"))


@contextmanager
def opened_firefox(path: str) -> Iterator[Tab]:
    """Start a Firefox without a window and with a profile of its own, and give its tab."""
    with tempfile.TemporaryDirectory() as profile:
        lines = (f'user_pref("{name}", {json.dumps(one)});' for name, one in PREFERENCES.items())
        (Path(profile) / "user.js").write_text("\n".join(lines), "utf-8")
        options = [
            "--headless",
            "--no-remote",
            "--profile",
            profile,
            "--remote-debugging-port",
            "0",
        ]
        with subprocess.Popen([path, *options], stderr=subprocess.PIPE, text=True) as process:
            try:
                assert process.stderr is not None
                told = (re.search(r"BiDi listening on (ws://\S+)", line) for line in process.stderr)
                address = next(filter(None, told)).group(1)
                with closing(
                    create_connection(f"{address}/session", timeout=PATIENCE, suppress_origin=True)
                ) as line:
                    yield Tab(line)
            finally:
                process.kill()
