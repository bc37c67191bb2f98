"""The errors that `make mutants` makes, the tests it asks, and its verdicts, on small modules."""

from __future__ import annotations

import ast
import gc
import importlib
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import mutants
import mutants_session
import pytest
from mutate import Mutant
from mutate import mutants as found_in

from press.workshop.node import find_node

ROOT = Path(__file__).parents[2]


def changed(text: str) -> set[str]:
    """Return the one-line texts that mutants make of a text."""
    return {mutant.applied(text.encode()).decode().strip() for mutant in found_in(text)}


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("x = a + b", {"x = a - b"}),
        ("x = a @ b", {"x = b @ a"}),
        ("x += a", {"x -= a", "pass"}),
        ("x = a <= b", {"x = a < b", "x = a > b"}),
        ("x = a is not None", {"x = a is None"}),
        ("x = a and b", {"x = a or b"}),
        ("x = not a", {"x =  a"}),
        ("x = -a", {"x = a"}),
        ("x = 3", {"x = 4", "x = 2"}),
        ("x = 0.5", {"x = 1.0"}),
        ("x = True", {"x = False"}),
        ("x = a if b else c", {"x = a if (not (b)) else c"}),
        ("x = a[b:]", {"x = a[(b) + 1:]"}),
        ("x = range(n)", {"x = range((n) - 1)"}),
        ("x = f(a, b)", {"x = f(b, a)"}),
        ("x = min(a)", {"x = max(a)"}),
        ("f(a)", {"pass"}),
        ("x[a] = b", {"pass"}),
        ("x = 'é' + str(a * b)", {"x = 'é' + str(a / b)"}),
    ],
)
def test_the_errors_that_are_made(line: str, wanted: set[str]) -> None:
    assert changed(line) == wanted


@pytest.mark.parametrize(
    "line",
    [
        "'''A text of 3 words.'''",
        "def f(x: Array[3]) -> Array[4]: ...",
        "raise ValueError('at most', 3 + 4)",
        "__all__ = ['a', 'b'][:2]",
        "x = 'a' + 'b'",
        "x = f'{3 + 4}'",
        "x: int | None",
        "def __repr__(self): return 3",
        "x = {3: 'no', 4: 'nearly'}",
        "x = zip(a, strict=True)",
        "x = torch.set_num_threads(2)",
    ],
)
def test_what_is_only_read_stays(line: str) -> None:
    assert changed(line) == set()


def test_a_guard_goes_and_so_does_a_result() -> None:
    text = "def f(x):\n    if x < 0:\n        raise ValueError('no')\n    return x, 2\n"
    made = {(m.line, m.new, m.operator, m.inside, m.later) for m in found_in(text)}
    assert (2, "False", "guard removed", "f", True) in made
    assert (4, "None", "return value", "f", True) in made
    assert (4, "2, x", "results swapped", "f", True) in made


def test_what_runs_at_import_is_told_from_what_runs_later() -> None:
    text = "class A:\n    n = 1\n    def f(self, a=2):\n        return 3\nLIMIT = 4\n"
    where = {m.line: (m.inside, m.later) for m in found_in(text) if m.operator == "constant"}
    assert where == {2: ("A", False), 3: ("A.f", False), 4: ("A.f", True), 5: ("LIMIT", False)}


def test_every_mutant_of_a_module_is_python_with_lines_where_they_were() -> None:
    text = (ROOT / "lib/primer/inference/sampling.py").read_text("utf-8")
    made = list(found_in(text))
    assert len(made) > 50
    for mutant in made:
        source = mutant.applied(text.encode())
        ast.parse(source)
        assert source.count(b"\n") == text.count("\n")


def test_errors_over_several_lines_of_javascript_are_javascript(tmp_path: Path) -> None:
    made = mutants.javascript_mutants(ROOT)
    path, tried = tmp_path / "changed.mjs", 0
    for name in ("kit/scales.js", "shared/rotation.js", "shared/binomial.js", "tape/tape.js"):
        file = f"lib/primer/widgets/{name}"
        source = (ROOT / file).read_bytes()
        long = [one for one in made[file] if b"\n" in source[one.start : one.end]]
        for mutant in long[:4]:
            path.write_bytes(mutant.applied(source, b"\n"))
            assert path.read_bytes().count(b"\n") == source.count(b"\n")
            subprocess.run([find_node(), "--check", path], check=True)
            tried += 1
    assert tried > 3


def test_errors_in_javascript() -> None:
    lines = {"lib/primer/widgets/shared/random.js", "lib/primer/widgets/kit/numbers.js"}
    made = mutants.javascript_mutants(ROOT)
    assert lines < set(made)
    name = "lib/primer/widgets/shared/rotation.js"
    shown = {mutants.trial(ROOT, name, mutant)[2:] for mutant in made[name]}
    kinds = {mutant.operator for mutant in made[name]}
    assert {"arithmetic", "constant", "arguments swapped", "function"} <= kinds
    assert any("Math.cos" in before and "Math.sin" in after for before, after in shown)
    assert all(before != after for before, after in shown)


def test_a_seed_draws_the_same_again_and_no_place_twice() -> None:
    made = {"lib/primer/saving.py": [Mutant(k // 2, k // 2 + 1, str(k), "", 1) for k in range(80)]}
    one, other = (mutants.sample(ROOT, made, 20, seed) for seed in (17, 17))
    assert one == other != mutants.sample(ROOT, made, 20, 18)
    assert len({trial.mutant.start for trial in one}) == 20


def test_equivalent_mutants_are_struck_up_to_five_in_a_hundred(monkeypatch, capsys) -> None:
    trials = [mutants.Trial("a.py", Mutant(k, k, "", "sign", k), f"{k}", "") for k in range(40)]
    records = [{"verdict": "survived" if k < 4 else "killed"} for k in range(40)]
    monkeypatch.setattr(mutants, "equivalents", lambda: {("a.py", f"{k}", "") for k in range(3)})
    mutants.tell("python", trials, records, print)
    said = capsys.readouterr().out
    assert "2 of 38 survived (2 equivalent ones struck, 0 hung" in said
    assert "a.py:2: sign" in said
    assert "a.py:0: sign" not in said


def test_what_is_equivalent_still_stands_in_its_file_and_changes_it() -> None:
    for file, before, after in mutants.equivalents():
        assert before != after
        source = " ".join((ROOT / file).read_text("utf-8").split())
        assert before in source, f"equivalent.toml: {file} has no {before!r} any more"


SMALL = {
    "lib/primer/__init__.py": "",
    "lib/primer/sums.py": '''
START = 10


def total(values):
    """Add: see the tests."""
    result = START
    for value in values:
        result = result + value
    return result


def forever(n):
    """Count."""
    while n > 0:
        n = n - 1
    return n


def untested(a, b):
    """Subtract."""
    return a - b


LIMIT = 3
''',
    "tests/library/test_limit.py": """
from primer.sums import LIMIT

assert LIMIT == 3


def test_limit():
    assert LIMIT
""",
    "tests/library/test_sums.py": """
from primer.sums import START, forever, total


def test_total():
    assert total([1, 2, 4]) == 17


def test_start():
    assert START == 10


def test_forever():
    assert forever(3) == 0


def test_of_itself_fails():
    assert total([]) < 0
""",
}


@pytest.mark.thorough
def test_verdicts_on_a_small_library(tmp_path) -> None:
    for name, text in SMALL.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    for name in ("mutate.py", "mutants_session.py"):
        text = (ROOT / "tests/tools" / name).read_text("utf-8")
        (tmp_path / "tests/tools").mkdir(exist_ok=True)
        (tmp_path / "tests/tools" / name).write_text(
            re.sub(r"(?<=WALL = ).*", "20, 2, 60", text), "utf-8"
        )
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    seeds: of none\n")
    every = mutants.python_mutants(tmp_path)["lib/primer/sums.py"]
    wanted = {
        (9, "-"): "killed",
        (2, "11"): "killed",  # while the module is imported
        (15, ">="): "killed",
        (16, "+"): "timeout",
        (22, "+"): "survived",
        (25, "4"): "killed",  # while a test is imported
    }
    chosen = [m for m in every if (m.line, m.new) in wanted]
    assert len(chosen) == len(wanted)
    trials = [mutants.trial(tmp_path, "lib/primer/sums.py", mutant) for mutant in chosen]
    said: list[str] = []
    records = mutants.judge(tmp_path, trials, said.append)
    got = {(m.line, m.new): r["verdict"] for m, r in zip(chosen, records, strict=True)}
    assert got == wanted
    assert all("itself" not in record["by"] for record in records)
    assert any("22" in line for line in said)
    assert said[-1].startswith("6 of 6, 1 survived")


CASES = ("cups", "climb")
"""Two studies of one topic."""


class Asked:
    """A test as the plugin sees it: where it stands and what it says."""

    def __init__(self, file: str, name: str, *fixtures: str) -> None:
        self.path, self.name, self.fixturenames = ROOT / "tests/widgets" / file, name, fixtures
        self.nodeid = f"tests/widgets/{file}::{name}"


def test_a_function_gets_its_new_code_without_a_new_process(monkeypatch) -> None:
    monkeypatch.chdir(ROOT)
    importlib.import_module("primer.optimization.noisy_inputs")
    gc.freeze()  # as conftest.py does
    path = Path("lib/primer/optimization/noisy_inputs.py")
    text = path.read_text("utf-8")
    mutant = next(m for m in found_in(text) if (m.inside, m.new) == ("input_moments", "/"))
    trials = mutants_session.Trials(SimpleNamespace(items=[]))  # type: ignore[arg-type]
    monkeypatch.setattr(Path, "read_bytes", lambda _: mutant.applied(text.encode()))
    ((function, code),) = trials.changed(path, mutant, text.encode())
    assert function.__name__ == "input_moments"
    assert code.co_code != function.__code__.co_code


def test_what_every_study_is_asked_belongs_to_each(monkeypatch) -> None:
    monkeypatch.chdir(ROOT)
    mutant = Mutant(0, 1, "", "constant", 1, "report")
    module = mutants_session._Module(Path("lib/studies/reasoning/cups.py"), mutant)
    cases = [Asked("../studies/test_study.py", f"test_a[reasoning.{n}:study]") for n in CASES]
    assert [module.rank(case) for case in cases] == [1, None]


def test_variants_of_an_exercise_are_made_while_its_module_is_imported(monkeypatch) -> None:
    monkeypatch.chdir(ROOT)
    mutants_session.at_import.cache_clear()
    assert "check_precision" in mutants_session.at_import()
    assert "check_transfer" not in mutants_session.at_import()


def test_what_an_exercise_is_asked_by_its_name_belongs_to_its_topic(monkeypatch) -> None:
    monkeypatch.chdir(ROOT)
    importlib.import_module("primer.exercises.optimization")
    mutant = Mutant(0, 1, "", "constant", 1, "check_predict")
    module = mutants_session._Module(Path("lib/primer/exercises/optimization.py"), mutant)
    named = ("optimization.check_predict", "statistics.check_edge")
    cases = [Asked("../library/test_replies.py", f"test_a_reply[{name}]") for name in named]
    assert [module.rank(case) for case in cases] == [0, None]


def script_of(monkeypatch, name: str, text: str) -> mutants_session._Script:
    """Return what belongs to a change of a script behind a text."""
    monkeypatch.chdir(ROOT)
    (path,) = Path("lib/primer/widgets").glob(f"**/{name}")
    start = path.read_bytes().index(text.encode()) + len(text.encode())
    return mutants_session._Script(path, Mutant(start, start + 1, "", "", 1))


def test_what_is_read_through_a_harness_belongs_to_a_script(monkeypatch) -> None:
    script = script_of(monkeypatch, "shared/attention_scores.js", "KINDS = {")
    assert {"KINDS", "headTargets"} <= script.names
    assert "language_model.mjs" in script.scripts
    assert script.rank(Asked("test_language_model_widgets.py", "test_a")) == 1
    assert script.rank(Asked("test_least_squares_widget.py", "test_a")) is None


def test_of_many_widgets_those_are_tried_that_name_what_is_changed(monkeypatch) -> None:
    script = script_of(monkeypatch, "kit/numbers.js", "between =")
    assert len(script.classes) == script.SOME
    for name in script.scripts[1:]:
        assert script._names_it(mutants_session.WIDGETS / name.removesuffix(".js") / name)
    assert script.rank(Asked("test_kit.py", "test_a")) == 0
    drawn = [f"test_each[{name}]" for name in (*script.classes, "NoSuchWidget")]
    got = [script.rank(Asked("test_drawn.py", name, "chromium")) for name in drawn]
    assert got == [2, 2, 2, None]


def test_the_command_says_what_it_takes() -> None:
    command = [sys.executable, "tests/tools/mutants.py", "--help"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert "--seed" in run.stdout
