"""A cell gives what it gives in a notebook run from its top, in whatever order cells are run."""

from __future__ import annotations

import contextlib
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sphinx_run_in_page.in_page.names import names_of
from sphinx_run_in_page.in_page.slices import WHOLE, Memory, needed, units_of, with_calls

LINES = (
    "a = 1",
    "b = [a, 2]",
    "b.append(a)",
    "a += 3",
    "c = sum(b) + a",
    "b[0] = c",
    "def f(x):\n    return x + a",
    "c = f(c)",
    "a = [f(i) for i in range(2)][1]",
    "for i in range(2):\n    a += i",
    "a, c = c, a",
    "print(a, b, c)",
    "print(f(1))",
    "def g():\n    b.append(1)\n    return len(b)",
    "c = g()",
    "print(g())",
)
START = [("setup", "a, c = 5, 6\nb = [7]\ndef f(x):\n    return -x\ndef g():\n    return 8")]


@settings(max_examples=300, deadline=None)
@given(
    lines=st.lists(st.sampled_from(LINES), min_size=1, max_size=8),
    order=st.lists(st.integers(0, 7), min_size=1, max_size=12),
)
def test_any_order_gives_what_the_notebook_gives(lines: list[str], order: list[int]) -> None:
    cells = [*START, *(("", line) for line in lines)]
    units = units_of(cells)
    memory, names = Memory(), {}
    for chosen in order:
        cell = 1 + chosen % len(lines)
        unit = with_calls([one for one in units if one.cell <= cell], set())[0][-1]
        given = unit.uses | unit.changes
        for one in [*memory.to_run(needed(units, cell, given, set()), given), unit]:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(one.source, names)
            memory.ran(one)
        expected = {}
        for number in range(cell + 1):
            aside = io.StringIO()
            with contextlib.redirect_stdout(aside):
                exec(cells[number][1], expected)
        assert printed.getvalue() == aside.getvalue()
        for name in unit.sets | unit.changes:
            if isinstance(expected[name], int | list):
                assert names[name] == expected[name]


@pytest.mark.parametrize(
    ("code", "uses", "changes"),
    [
        ("x.y[0] = 2", {"x"}, {"x"}),
        ("x += y", {"x", "y"}, {"x"}),
        ("[i for i in x if i > y]", {"x", "y"}, set()),
        ("lambda a, b=c: a + d", {"c", "d"}, set()),
        ("with open(p) as f:\n    f.read()", {"p"}, {"f"}),
        ("del x", set(), set()),
        ("print(x)", {"x"}, set()),
        ("train(x)", {"train", "x"}, {"x"}),
        ("x.fit(y)", {"x", "y"}, {"x", "y"}),
        ("class A(B):\n    c = d", {"B", "d"}, set()),
        ("async def f():\n    return x", {"x"}, set()),
        ("import b\nb.draw(x)\nb.set_rate(y)", {"x", "y"}, {"b", "x", "y"}),
        ("import b\nb.draw(x)", {"x"}, {"x"}),
        ("if (n := len(x)) > 2:\n    y = n", {"x"}, set()),
    ],
)
def test_names_of_code(code: str, uses: set[str], changes: set[str]) -> None:
    names = names_of(code)
    assert names.uses == uses
    assert names.changes == changes


def test_a_check_is_split_and_what_it_verifies_is_left_out() -> None:
    cells = [
        ("", "seen = []\ndef look():\n    seen.append(1)\n    return seen"),
        ("check", "n = 3\nimport widgets\nshown = widgets.Fold()\nverify(look(), [1])"),
        ("", "print(n, seen)"),
    ]
    units = units_of(cells, tells="print|verify", split=["check"])
    wanted = needed(units, 2, units[-1].uses, set())
    assert [unit.source for unit in wanted] == [cells[0][1], "n = 3"]


def test_what_a_whole_cell_sets_in_a_module_is_had_without_the_rest() -> None:
    cells = [("", "import lib"), (WHOLE, "x = long()\nlib.set_digits(2)"), ("", "lib.write(3)")]
    units = units_of(cells)
    wanted = needed(units, 2, units[-1].uses, set())
    assert [unit.source for unit in wanted] == ["import lib", "lib.set_digits(2)"]
    wanted = needed(units, 2, {"x"}, set())
    assert [unit.source for unit in wanted] == ["import lib", cells[1][1]]
