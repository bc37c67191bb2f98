"""Long runs say every half minute how long is left, from what each test took the last time."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

TIMES = Path("_build/test-times.json")
EVERY = 30
"""Seconds between two lines."""


def minutes(seconds: float) -> str:
    """Write a time as a reader of the screen wants it.

    >>> minutes(70), minutes(7)
    ('1 min 10 s', '7 s')
    """
    whole, rest = divmod(round(seconds), 60)
    return f"{whole} min {rest:02d} s" if whole else f"{rest} s"


class Progress:
    """A plugin of the process that gives out the tests."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.file = config.rootpath / TIMES
        self.known: dict[str, float] = {}
        self.took: dict[str, float] = {}
        self.waiting: set[str] = set()
        self.processes: set[Any] = set()
        self.total = 0
        self.started = self.said = time.monotonic()
        self.active = not hasattr(config, "workerinput")
        if self.active and self.file.is_file():
            self.known = json.loads(self.file.read_text())

    def expect(self, names: Iterable[str]) -> None:
        """Note which tests will run."""
        self.waiting = set(names)
        self.total = len(self.waiting)
        if self.total > 100:
            self.say(f"{self.total} tests, {self.left()}")

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note the tests of a run in one process."""
        if self.active and session.items:
            self.expect(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: list[str]) -> None:
        """Note the tests of a run in several processes; all of them report the same."""
        self.processes.add(node)
        if not self.total:
            self.expect(ids)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up what a test took, and speak now and then."""
        if not self.active:
            return
        self.took[report.nodeid] = self.took.get(report.nodeid, 0) + report.duration
        if report.when == "teardown":
            self.waiting.discard(report.nodeid)
        if time.monotonic() - self.said > EVERY:
            self.said = time.monotonic()
            done = self.total - len(self.waiting)
            self.say(f"{done} of {self.total} tests, {self.left()}")

    def left(self) -> str:
        """Say how long the tests that wait will take."""
        seconds = sum(self.known.get(name, 0) for name in self.waiting)
        unknown = sum(name not in self.known for name in self.waiting)
        if unknown > len(self.waiting) / 2:
            return f"{minutes(time.monotonic() - self.started)} so far, no time known of earlier"
        return f"about {minutes(seconds / max(len(self.processes), 1))} left"

    def say(self, line: str) -> None:
        """Write a line of its own."""
        reporter = self.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter.ensure_newline()
            reporter.write_line(line)

    def pytest_sessionfinish(self) -> None:
        """Keep the times for the next run, beside the book that was built."""
        if self.active and self.total > 100 and self.file.parent.is_dir():
            kept = {**self.known, **{name: round(t, 3) for name, t in self.took.items()}}
            self.file.write_text(json.dumps(kept))
