"""A plugin of pytest that tries mutants: it collects the tests once, then forks for each mutant.

What takes long in a test of this library is importing it.  So the changed function gets its new
code in a fork of the process that has imported everything already; only what runs while a module is
imported needs a process of its own.  :file:`mutants.py` starts it in a copy of the tree, with the
sample in ``MUTANTS_SAMPLE``; a line of JSON for each mutant goes to ``MUTANTS_RESULTS``.  A test
that fails without any change is asked no more.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import gc
import inspect
import json
import os
import random
import re
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import TextIO

import pytest
from mutate import Mutant

ENOUGH, CPU, WALL = 100, 60, 200
"""Seconds after which no test begins any more; of work in all, and of one test, before it hangs."""
WIDGETS = Path("lib/primer/widgets")
OURS = re.compile("/lib/(?:primer|studies)/")
OPTIONS = [
    *("-p", "mutants_session", "-p", "no:cacheprovider", "-q", "-n0"),
    *("--doctest-modules", "-m", "not seeds and not thorough"),
]
"""How pytest is called, but for the files."""


def pytest_runtestloop(session: pytest.Session) -> bool:
    """Try every mutant of the sample instead of running the tests."""
    if session.testsfailed and "MUTANTS_ALONE" in os.environ:
        return True  # a test could not even be imported: without a result it counts as noticed
    trials = Trials(session)
    with open(os.environ["MUTANTS_RESULTS"], "a", encoding="utf-8") as results:
        for entry in json.loads(Path(os.environ["MUTANTS_SAMPLE"]).read_text("utf-8")):
            began = time.monotonic()
            verdict, by, tried = trials.judge(Path(entry["file"]), Mutant(*entry["mutant"]))
            took = round(time.monotonic() - began, 1)
            record = {"verdict": verdict, "by": by, "tests": tried, "seconds": took}
            print(json.dumps(record), file=results, flush=True)
    return True


class Trials:
    """Judges mutants with the tests that a session has collected."""

    def __init__(self, session: pytest.Session) -> None:
        self.session = session
        self.alone = "MUTANTS_ALONE" in os.environ  # the module is imported as it is changed
        self.sound: dict[str, bool] = {}  # failed tests that pass without any mutant
        self.functions: dict[tuple[str, str], list[FunctionType]] = {}
        gc.unfreeze()  # conftest.py froze what was imported, and nothing frozen is listed
        for value in gc.get_objects():
            if type(value) is FunctionType and OURS.search(value.__code__.co_filename):
                key = value.__code__.co_filename, value.__code__.co_qualname
                self.functions.setdefault(key, []).append(value)
        gc.freeze()  # what a fork does not collect, it need not copy

    def judge(self, path: Path, mutant: Mutant) -> tuple[str, str, int]:
        """Return what became of a mutant, the test that noticed, and how many belong to it."""
        items = list(belonging(self.session.items, path, mutant))
        while True:
            verdict, by = self.attempt(path, mutant, items)
            if verdict == "survived" or self.alone or self.passes(by):
                return verdict, by, len(items)
            items = [item for item in items if item.nodeid != by]

    def attempt(self, path: Path, mutant: Mutant, items: list[pytest.Item]) -> tuple[str, str]:
        """Change the file, try the tests, and put the file back."""
        if self.alone:
            return self.fork(items)
        source = path.read_bytes()
        try:
            if path.suffix == ".js":
                path.write_bytes(mutant.applied(source, b"\n"))
                return self.javascript(items)
            path.write_bytes(mutant.applied(source))
            later = mutant.later and not _Module(path, mutant).callers & at_import()
            codes = self.changed(path, mutant, source) if later else []
            if codes:
                with contextlib.suppress(ChildProcessError):  # a fork of threads may hang at once
                    return self.fork(items, functools.partial(_swap, codes))
            return self.process(path, mutant, items)
        finally:
            path.write_bytes(source)

    def changed(
        self, path: Path, mutant: Mutant, source: bytes
    ) -> list[tuple[FunctionType, CodeType]]:
        """Pair the functions that a mutant changes with their new code."""
        texts = source, path.read_bytes()
        before, after = ([*_codes(compile(text, path, "exec"))] for text in texts)
        if len(before) != len(after):
            return []  # the mutant takes a function away
        found = []
        for old, new in zip(before, after, strict=True):
            if old.co_qualname == mutant.inside and old.co_code + repr(old.co_consts).encode() != (
                new.co_code + repr(new.co_consts).encode()
            ):
                found += [
                    (function, new)
                    for function in self.functions.get((str(path.resolve()), mutant.inside), [])
                    if abs(function.__code__.co_firstlineno - old.co_firstlineno) <= 3
                    and function.__code__.co_freevars == new.co_freevars
                ]
        return found

    def javascript(self, items: list[pytest.Item]) -> tuple[str, str]:
        """Bundle the widgets anew and try their tests."""
        from press.workshop.bundle import STATIC, bundles, write_bundles

        kept = {path.name: path.read_text("utf-8") for path in STATIC.iterdir()}
        try:
            write_bundles(bundles())
        except ValueError:
            return "killed", ""  # it cannot be bundled
        try:
            return self.fork(items, _current_bundles)
        finally:
            write_bundles(kept)

    def passes(self, nodeid: str) -> bool:
        """Say whether a test passes when nothing is changed, tried once."""
        if nodeid and nodeid not in self.sound:
            items = [item for item in self.session.items if item.nodeid == nodeid]
            self.sound[nodeid] = self.fork(items)[0] == "survived"
        return not nodeid or self.sound[nodeid]

    def fork(
        self, items: list[pytest.Item], prepare: Callable[[], None] = lambda: None
    ) -> tuple[str, str]:
        """Run tests in a fork until one fails or hangs; return the verdict and that test."""
        reading, writing = os.pipe()
        if not (child := os.fork()):
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CPU, (CPU, CPU + 5))
            nowhere = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(nowhere, stream)
            with contextlib.suppress(BaseException), open(writing, "w", encoding="utf-8") as out:
                prepare()
                failed = _first_failure(self.session, items, out)
                print(f"killed {failed}" if failed else "survived ", file=out, flush=True)
            os._exit(0)
        os.close(writing)
        said = b""
        with open(reading, "rb", buffering=0) as words:
            while select.select([words], [], [], WALL)[0] and (more := words.read(4096)):
                said += more
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # with the browser it may have left
        os.waitpid(child, 0)
        if not said:
            raise ChildProcessError("a mutant could not be put in its place")
        verdict, _, by = said.decode().splitlines()[-1].partition(" ")
        return ("timeout" if verdict == "begins" else verdict), by

    def process(self, path: Path, mutant: Mutant, items: list[pytest.Item]) -> tuple[str, str]:
        """Try the tests in a fresh process, which imports the changed module."""
        sample, results = Path("alone.json"), Path("alone.txt")
        sample.write_text(json.dumps([{"file": str(path), "mutant": mutant}]), "utf-8")
        results.write_text("")
        files = dict.fromkeys(item.nodeid.partition("::")[0] for item in items)
        own = {"SAMPLE": str(sample), "RESULTS": str(results), "ALONE": "1"}
        environment = os.environ | {f"MUTANTS_{name}": value for name, value in own.items()}
        without = [f"--deselect={name}" for name, passes in self.sound.items() if not passes]
        command = [sys.executable, "-m", "pytest", *OPTIONS, *without, *files]
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(command, env=environment, capture_output=True, timeout=2 * WALL)
            if said := results.read_text():
                record = json.loads(said)
                return record["verdict"], record["by"]
            return "killed", ""  # the module cannot be imported
        return "timeout", ""


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Give the codes of all functions that a module defines, in its order."""
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield inner
            yield from _codes(inner)


def _first_failure(session: pytest.Session, items: list[pytest.Item], out: TextIO) -> str:
    """Run tests until one fails or time is up; name it."""
    failed: list[str] = []

    class Witness:
        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            failed.extend([report.nodeid] if report.failed else [])

    session.config.pluginmanager.register(Witness())
    began = time.monotonic()
    for item, following in zip(items, [*items[1:], None], strict=True):
        print("begins", item.nodeid, file=out, flush=True)
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if failed or time.monotonic() - began > ENOUGH:
            break
    session.config.hook.pytest_sessionfinish(session=session, exitstatus=0)  # closes the browser
    return failed[0] if failed else ""


def _swap(codes: Iterable[tuple[FunctionType, CodeType]]) -> None:
    """Give functions their new code."""
    for function, code in codes:
        function.__code__ = code


def _current_bundles() -> None:
    """Give the widgets' classes the scripts of today."""
    from primer import widgets
    from primer.widgets import base

    base.shared_sources.cache_clear()
    for name in widgets.__all__:
        widget = getattr(widgets, name)
        widget._esm, widget._css = base.sources(base.name_of(widget))


# ---------------------------------------------------------------- which tests belong to a file


def belonging(items: Iterable[pytest.Item], path: Path, mutant: Mutant) -> Iterator[pytest.Item]:
    """Give the tests of a file, those first that name what is changed."""
    rank = (_Script if path.suffix == ".js" else _Module)(path, mutant).rank
    ranked = [(rank(item), number, item) for number, item in enumerate(items)]
    chosen = [entry for entry in ranked if entry[0] is not None]
    return (item for _, _, item in sorted(chosen, key=lambda entry: entry[:2]))


@functools.cache
def _text(item: pytest.Item) -> str:
    """Return what a test says: its name, its values and its code."""
    function = getattr(item, "function", None)
    code = inspect.getsource(function) if function else ""
    return f"{item.nodeid}\n{code}"


@functools.cache
def at_import() -> frozenset[str]:
    """Return the functions that modules of the library call while they are imported."""
    waiting: list[ast.AST] = [ast.parse(_read(path)) for path in Path("lib").rglob("*.py")]
    called = set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Call):
            called.add(getattr(node.func, "attr", getattr(node.func, "id", "")))
        if isinstance(node, ast.FunctionDef) and "@varied(" in ast.unparse(node):
            called.add(node.name)  # it makes the variants of its exercise
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            defaults = [*node.args.defaults, *node.args.kw_defaults]
            waiting += [*getattr(node, "decorator_list", []), *filter(None, defaults)]
        else:
            waiting += ast.iter_child_nodes(node)
    return frozenset(called)


@functools.cache
def _read(path: Path) -> str:
    """Return the text of a file, read once."""
    return path.read_text("utf-8")


def _says(words: Iterable[str], text: str) -> bool:
    """Say whether a text has one of some words."""
    return any(re.search(rf"\b{re.escape(word)}\b", text) for word in words)


def _in_browser(item: pytest.Item) -> bool:
    """Say whether a test opens a page."""
    fixtures = getattr(item, "fixturenames", ())
    return bool({"chromium", "widget_page", "reading_page"} & {*fixtures})


class _Module:
    """How near a test is to a change of a module: 0 is nearest, None is not at all."""

    def __init__(self, path: Path, mutant: Mutant) -> None:
        self.path, self.stem, self.topic = path.resolve(), path.stem, Path(path.parts[2]).stem
        self.package = path.parts[1]
        text = _read(path)
        self.names = {n for n in re.split(r"\W+", mutant.inside) if n and not n.startswith("__")}
        self.names -= {"forward", "self"}
        self.classes = re.findall(r"^class (\w+)", text, re.MULTILINE)
        parts = {
            found[1]: part
            for part in re.split(r"^(?=def |class |@)", text, flags=re.MULTILINE)
            if (found := re.search(r"^(?:def|class) (\w+)", part, re.MULTILINE))
        }
        self.callers = _users(self.names, parts)

    def rank(self, item: pytest.Item) -> int | None:
        """Return the nearness of a test."""
        if isinstance(item, pytest.DoctestItem):
            near = item.path == self.path
            return (0 if _says(self.names, item.name) else 1) if near else None
        text = _text(item)
        if self.topic == "exercises":
            values = getattr(getattr(item, "callspec", None), "params", {}).values()
            own = vars(sys.modules[f"primer.exercises.{self.stem}"]).values()
            mine = any(value is other for value in values for other in own)
            mine = mine or f"[{self.stem}." in item.name  # an exercise by its name
            return (0 if _says(self.names, text) else 1) if mine else None
        if self.topic == "widgets":
            return self.rank_of_widget(item, text)
        if _in_browser(item):
            return None
        if item.path.name == "test_bad_calls.py":
            about = f"{self.topic}." in item.name
            return (0 if _says(self.names, item.name) else 2) if about else None
        if item.name == f"test_a_default_is_what_it_was[{self.topic}]":
            return 0
        if f"[{self.topic}.{self.stem}:" in item.name:  # a case of what all studies are asked
            return 1
        file = _read(item.path)
        here = rf"{self.package}\.{self.topic}\b|from {self.package} import .*\b{self.topic}\b"
        if not re.search(here, file):
            return None
        if _says(self.names, text):
            return 0
        if _says(self.callers, text):
            return 1
        inner = f"{self.package}.{self.topic}.{self.stem}"
        return 2 if item.path.stem.startswith(f"test_{self.topic}") or inner in file else None

    def rank_of_widget(self, item: pytest.Item, text: str) -> int | None:
        """Return the nearness to a widget's class, or to what widgets share."""
        shared = f"widgets.{self.stem} import" in _read(item.path)
        if not _says([*self.classes, self.stem], text) and not shared:
            return None
        return 3 if _in_browser(item) else 0 if _says(self.names, text) else 1


class _Script:
    """How near a test is to a change of a widget's script."""

    SOME = 3
    """Of the widgets that share a script, so many are tried, by chance."""

    def __init__(self, path: Path, mutant: Mutant) -> None:
        from primer import widgets
        from primer.widgets.base import name_of

        text = _read(path)
        above = text.encode()[: mutant.start].decode()
        parts = {
            found[1]: part
            for part in re.split(r"^(?=(?:export )?(?:const|function|class) )", text, flags=re.M)
            if (found := re.match(r"(?:export )?(?:const|function|class)\*? (\w+)", part))
        }
        before = re.findall(r"^(?:export )?(?:const|function|class)\*? (\w+)", above, re.MULTILINE)
        self.names = _users(before[-1:], parts) or {path.name}
        self.kit = path.parent.name == "kit"
        users = [file for file in sorted(WIDGETS.glob("*/*.js")) if path in _imports(file)]
        modules = {name_of(getattr(widgets, n)): n for n in widgets.__all__}
        entries = [file for file in [path, *users] if file.stem in modules]
        if len(entries) > self.SOME:  # the kit, say: rather those that name what is changed
            naming = [file for file in entries if self._names_it(file)]
            rest = [file for file in entries if file not in naming]
            draw = random.Random(mutant.start)
            entries = (draw.sample(naming, len(naming)) + draw.sample(rest, len(rest)))[: self.SOME]
            users = entries
        self.classes = [modules[file.stem] for file in entries]
        harnesses = [] if self.kit else Path("tests/widgets").glob("*.mjs")
        through = [file for file in harnesses if path in _imports(file)]
        self.scripts = [path.name, *(file.name for file in [*users, *through])]

    def _names_it(self, entry: Path) -> bool:
        """Say whether a widget's own scripts, without the kit, name what is changed."""
        own = [
            file
            for file in _imports(entry)
            if file.parents[1] == WIDGETS and file.parent.name != "kit"
        ]
        return any(_says(self.names, _read(file)) for file in [entry, *own])

    def rank(self, item: pytest.Item) -> int | None:
        """Return the nearness of a test: Node is quick, then the drawing, then other pages."""
        if isinstance(item, pytest.DoctestItem):
            return None
        text, file = _text(item), _read(item.path)
        if not _in_browser(item):
            if any(f'"{name}"' in text for name in self.names) or (
                self.kit and item.path.stem == "test_kit"
            ):
                return 0
            return 1 if any(f'"{name}"' in file for name in self.scripts) else None
        if item.path.stem == "test_drawn":
            return 2 if any(f"[{name}]" in item.name for name in self.classes) else None
        if self.kit and item.path.stem == "test_kit":
            return 3
        if _says(self.classes, text):
            return 4
        return 5 if _says(self.classes, file) and "_widget." in item.path.name else None


def _users(names: Iterable[str], parts: dict[str, str]) -> set[str]:
    """Return names and those of the parts of a file that use them, directly or through others."""
    found, known = set(names), -1
    while known < len(found):
        known = len(found)
        found |= {name for name, part in parts.items() if _says(found, part)}
    return found


@functools.cache
def _imports(script: Path) -> frozenset[Path]:
    """Return the widgets' scripts that a script imports, directly or through others."""
    own = re.findall(r'from "(\.[^"]+)"', _read(script))
    files = (Path(os.path.normpath(script.parent / name)) for name in own)
    direct = [file for file in files if file.is_relative_to(WIDGETS)]  # no package's, in circles
    return frozenset(direct).union(*(_imports(file) for file in direct))
