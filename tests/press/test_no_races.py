"""Tests wait for what they ask for: no fixed sleep, no loop without an end, no reading at once.

What these rules cannot see: whether what is waited for is what is asked; reading by a function of a
test's own or by ``evaluate``, which asks for the state that a handler has set before the action
returns; an address that a variable holds; a test that leans on another, on the time of day or on
the speed of the machine in some other way.  What hangs all the same is ended by its time-out.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from written import BOOK

TOOLS = {"mutants.py", "mutants_session.py", "mutate.py", "probe.py", "fuzz.py"}
"""What only `make` calls: they wait for processes, and no test does by them."""
FILES = [
    path
    for folder in (BOOK / "tests", *(BOOK / "packages").glob("*/tests"))
    for path in sorted(folder.rglob("*.py"))
    if path.name not in TOOLS
]
ACTS = {"click", "dblclick", "press", "tap", "fill", "type", "check", "uncheck", "select_option"}
READS = {
    *("text_content", "inner_text", "all_inner_texts", "all_text_contents", "input_value"),
    *("is_visible", "is_hidden", "is_enabled", "is_checked", "get_attribute", "count"),
}


def called(node: ast.AST) -> str:
    """Return the name of the method that an expression calls."""
    method = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    return node.func.attr if method else ""


def waits_by_the_clock(node: ast.AST) -> bool:
    """Whether it sleeps: ``page.wait_for_timeout(…)``, ``time.sleep(…)``, ``sleep(…)``."""
    if not isinstance(node, ast.Call):
        return False
    return called(node) in {"wait_for_timeout", "sleep"} or ast.unparse(node.func) == "sleep"


def has_an_end(loop: ast.AST) -> bool:
    """Whether a loop ends when what it waits for does not come: it counts, or asks the time."""
    if isinstance(loop, ast.For):
        return isinstance(loop.iter, ast.Call) and ast.unparse(loop.iter.func) == "range"
    return isinstance(loop, ast.While) and "monotonic" in ast.unparse(loop)


def faults_of_tests(text: str) -> Iterator[str]:
    r"""Say where tests race, or may hang.

    >>> list(faults_of_tests("page.press('Tab')\nassert page.inner_text() == 'x'"))
    ['2: what is read directly after an action may come later: write expect(…), or settle first']
    >>> list(faults_of_tests("page.press('Tab')\nexpect(page).to_have_text('x')"))
    []
    """
    tree = ast.parse(text)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}

    def around(node: ast.AST) -> Iterator[ast.AST]:
        while node in parents and not isinstance(node, ast.FunctionDef):
            node = parents[node]
            yield node

    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        if waits_by_the_clock(node) and not any(map(has_an_end, around(node))):
            yield f"{line}: a fixed sleep proves nothing: wait for what is asked, or use page.clock"
        if is_endless(node):
            yield f"{line}: the loop may never end: count its rounds"
        if isinstance(node, ast.Assert) and asks_for_the_address(node.test):
            yield f"{line}: an address comes later: expect(page).to_have_url(…)"
        if is_unseeded(node):
            yield f"{line}: without a seed a failure cannot be repeated"
        if waits_for_idleness(node):
            yield f"{line}: a page may never be idle: requestIdleCallback(…, {{ timeout: … }})"
        for block in (getattr(node, name, None) for name in ("body", "orelse", "finalbody")):
            acted = False
            for statement in block if isinstance(block, list) else []:
                if isinstance(statement, ast.Assert):
                    if acted and reads(statement):
                        yield (
                            f"{statement.lineno}: what is read directly after an action may come "
                            "later: write expect(…), or settle first"
                        )
                    acted = False
                elif not names_only(statement):
                    acted = acts(statement)


def is_endless(node: ast.AST) -> bool:
    """Whether it is ``while True`` and gives nothing out between its rounds."""
    forever = (
        isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and node.test.value
    )
    return bool(forever) and not any(isinstance(one, ast.Yield) for one in ast.walk(node))


def asks_for_the_address(test: ast.expr) -> bool:
    """Whether a condition reads ``page.url``."""
    places = [one for one in ast.walk(test) if isinstance(one, ast.Attribute)]
    return any(ast.unparse(place).endswith("page.url") for place in places)


def is_unseeded(node: ast.AST) -> bool:
    """Whether it makes a generator of random numbers without a seed."""
    made = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
    bare = isinstance(node, ast.Call) and not (node.args or node.keywords)
    return bare and made.endswith(("Random", "default_rng", "RandomState"))


def waits_for_idleness(node: ast.AST) -> bool:
    """Whether a script waits until the browser has nothing to do, however long that takes."""
    text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
    return re.search(r"requestIdleCallback\(\w+\)", text) is not None


def acts(statement: ast.AST) -> bool:
    """Whether a statement does something to a page, and nothing else."""
    return isinstance(statement, ast.Expr) and called(statement.value) in ACTS


def names_only(statement: ast.AST) -> bool:
    """Whether a statement gives a name to what the page has no part in: no time passes there."""
    words = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
    return isinstance(statement, ast.Assign | ast.AnnAssign) and "page" not in words


def reads(statement: ast.AST) -> bool:
    """Whether a statement reads what a page shows."""
    return any(called(node) in READS for node in ast.walk(statement))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_it_waits_for_what_it_asks(path: Path) -> None:
    assert list(faults_of_tests(path.read_text("utf-8"))) == []


IDLE = "requestIdleCallback"
RACING = [
    "def f(page):\n    page.wait_for_timeout(300)",
    "import time\ntime.sleep(1)",
    "from time import sleep\nfor text in ('a', 'b'):\n    sleep(1)",
    "while not done():\n    time.sleep(0.1)",
    "while True:\n    page.keyboard.press('Tab')\n    if page.evaluate('x'):\n        break",
    "while 1:\n    pass",
    "def f(page):\n    assert page.url == 'x'",
    "def f(page):\n    assert page.url.endswith('x')",
    "assert 'x' in self.page.url",
    "draw = random.Random()",
    "rng = np.random.default_rng()",
    "page.get_by_text('x').click()\nassert page.locator('p').count() == 2",
    "if yes:\n    page.press('x')\n    assert 'x' in said.inner_text()",
    "page.press('x')\nrows = Desk(rate=0.6).rows()\nassert rows == said.all_inner_texts()",
    "for key in keys:\n    page.keyboard.press(key)\n    assert one.is_visible(), key",
    f"page.evaluate('() => new Promise((go) => {IDLE}(go))')",
]
PATIENT = [
    "for _ in range(200):\n    page.clock.run_for(5)\n    page.wait_for_timeout(5)",
    "while time.monotonic() < until:\n    time.sleep(0.1)",
    "def f():\n    while True:\n        yield 1",
    "home = page.url.replace('a', 'b')\npage.goto(home)",
    "draw = random.Random(1)\nrng = np.random.default_rng(2)",
    "page.press('x')\nsettle(page)\nassert 'x' in said.inner_text()",
    "page.press('x')\nsaid = result(page)\nassert said.inner_text() == 'x'",
    "page.press('x')\nassert page.evaluate('model.get(\"n\")') == 2",
    "with page.expect_download():\n    link.click()\nassert page.locator('p').count()",
    "text = 'while True: time.sleep(1)'",
    "page.evaluate('() => new Promise((go) => requestIdleCallback(go, { timeout: 9 }))')",
]


@pytest.mark.parametrize("text", RACING)
def test_what_races_is_named(text: str) -> None:
    assert len(list(faults_of_tests(text))) == 1


@pytest.mark.parametrize("text", PATIENT)
def test_what_waits_is_left_alone(text: str) -> None:
    assert list(faults_of_tests(text)) == []


def test_every_test_has_a_time_out(request: pytest.FixtureRequest) -> None:
    for item in request.session.items:
        marker = item.get_closest_marker("timeout")
        assert marker is not None, item.nodeid
        assert 60 <= marker.args[0] <= 3600
        assert marker.kwargs["method"] in {"signal", "thread"}


def test_what_hangs_is_ended_by_name(tmp_path: Path) -> None:
    (tmp_path / "test_hangs.py").write_text(
        "import threading, pytest\n"
        "@pytest.mark.timeout(1, method='signal')\n"
        "def test_it(): threading.Event().wait()\n"
        "def test_another(): pass\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert "1 failed, 1 passed" in done.stdout, done.stdout
    assert "Timeout" in done.stdout
