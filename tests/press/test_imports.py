"""Imports run one way: no circle among modules, and chapters along their prerequisites."""

import ast
from collections.abc import Collection, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from written import BOOK

from press.registry import read_book

LIBRARY = BOOK / "lib/primer"
PRESS = BOOK / "lib/press"


def module_name(path: Path, library: Path) -> str:
    parts = path.relative_to(library.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(tree: ast.Module) -> Iterator[str]:
    """Give the names that a module imports while it is imported itself."""
    waiting: list[ast.AST] = [*tree.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)


def import_graph(library: Path) -> dict[str, set[str]]:
    """Map each module of a library to those that must have been imported before it.

    Who imports ``a.b`` also runs the package ``a``, unless it stands in ``a`` itself.
    """
    paths = {module_name(path, library): path for path in sorted(library.rglob("*.py"))}
    graph = {}
    for module, path in paths.items():
        needed = set()
        for name in imported(ast.parse(path.read_text("utf-8"))):
            packages = name.split(".")
            prefixes = {".".join(packages[:n]) for n in range(1, len(packages) + 1)}
            needed |= {
                prefix
                for prefix in prefixes & paths.keys()
                if prefix == name or not f"{module}.".startswith(f"{prefix}.")
            }
        graph[module] = needed - {module}
    return graph


def circle(library: Path) -> str:
    """Say which modules import each other in a circle; an empty text when none do."""
    try:
        TopologicalSorter(import_graph(library)).prepare()
    except CycleError as error:
        path = " imports ".join(reversed(error.args[1]))
        return f"{path}: move what they share into a module that imports none of them"
    return ""


@pytest.mark.parametrize("room", [LIBRARY, PRESS], ids=["primer", "press"])
def test_no_module_imports_itself_by_others(room: Path) -> None:
    assert circle(room) == ""


def _first(node: ast.AST) -> list[str]:
    """Give the modules that one statement imports, without the names taken from them."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [str(node.module)] if isinstance(node, ast.ImportFrom) else []


def out_of(room: Path, others: Collection[str]) -> list[str]:
    """Say in a sentence each where a room imports others, at whatever depth of its code."""
    return [
        f"{path.relative_to(room.parent)} imports {name}: {room.name} may import none of "
        f"{', '.join(others)}; move what both need into {room.name}"
        for path in sorted(room.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        for name in _first(node)
        if name.partition(".")[0] in others
    ]


def test_what_a_reader_imports_needs_no_press(tmp_path: Path) -> None:
    assert out_of(LIBRARY, ["press"]) == []
    (tmp_path / "primer").mkdir()
    (tmp_path / "primer/a.py").write_text("def late():\n    from press.site import SITE\n")
    assert out_of(tmp_path / "primer", ["press"]) == [
        "primer/a.py imports press.site: primer may import none of press; move what both need into "
        "primer"
    ]


def test_the_graph_knows_whom_the_library_imports() -> None:
    graph = import_graph(LIBRARY)
    assert "primer.attention.masks" in graph["primer.attention"]
    assert "primer.attention" in graph["primer.transformers.model"]
    assert graph["primer.palette"] == set()


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({"a.py": "import lib.b", "b.py": "from lib import c", "c.py": "import lib.a"}, "a b c"),
        ({"a.py": "from lib.p.inner import x", "p/inner.py": "", "p/__init__.py": "import lib.a"},
         "a p"),
        ({"p/__init__.py": "from lib.p.x import y", "p/x.py": "from lib.p import z"}, "p p.x"),
        ({"a.py": "import lib.b", "b.py": "if True:\n    from lib.a import x"}, "a b"),
        ({"a.py": "import lib.b", "b.py": "def later():\n    import lib.a"}, ""),
        ({"p/__init__.py": "from lib.p.x import y", "p/x.py": "import lib.p.z", "p/z.py": ""}, ""),
    ],
)  # fmt: skip
def test_a_circle_is_one_sentence(tmp_path: Path, files: dict[str, str], sentence: str) -> None:
    for name, text in files.items():
        path = tmp_path / "lib" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = circle(tmp_path / "lib")
    assert bool(found) == bool(sentence)
    if sentence:
        names = found.partition(":")[0].split(" imports ")
        assert names[0] == names[-1]
        assert set(names) == {f"lib.{name}" for name in sentence.split()}


def strangers(library: Path) -> list[str]:
    """Say which modules of the learner's library import a study, wherever they do."""
    return [
        f"{module_name(path, library)} imports {name}: studies import primer and never the other "
        "way; keep here what both need"
        for path in sorted(library.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in imported(ast.Module([node], []))
        if name == "studies" or name.startswith("studies.")
    ]


def test_the_library_imports_no_study() -> None:
    assert strangers(LIBRARY) == []


def test_an_import_of_a_study_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/a.py").write_text("def later():\n    from studies.train import typed\n")
    assert strangers(tmp_path / "lib")[0].startswith("lib.a imports studies.train: studies import")


def test_no_study_imports_itself_by_others() -> None:
    assert circle(BOOK / "lib/studies") == ""


def test_a_chapter_imports_only_what_it_builds_on() -> None:
    book = read_book(BOOK)
    home: dict[str, str] = {}
    for chapter in book.chapters:
        for package in chapter.library:
            home.setdefault(f"primer.{package}", chapter.name)
    strangers = []
    studies = BOOK / "lib/studies"
    needs = import_graph(LIBRARY) | {
        module_name(path, studies): {*imported(ast.parse(path.read_text("utf-8")))}
        for path in studies.rglob("*.py")
    }
    home |= {name.replace("primer", "studies", 1): chapter for name, chapter in home.items()}
    for module, needed in needs.items():
        here = home.get(".".join(module.split(".")[:2]))
        for other in sorted(needed if here else ()):
            there = home.get(".".join(other.split(".")[:2]))
            if there and there not in {here, *book.before(here)}:
                strangers.append(
                    f"{module} imports {other}, but {here} does not build on {there}: move it, or "
                    "say so in chapters/book.toml"
                )
    assert strangers == []


def test_an_experiment_is_run_from_the_room_of_studies() -> None:
    """``python -m studies`` would not list one that a topic ran by itself."""
    programs = {
        path.relative_to(LIBRARY).as_posix()
        for path in LIBRARY.rglob("*.py")
        if path.name == "__main__.py" or '__name__ == "__main__"' in path.read_text("utf-8")
    }
    trainer, lab = "train/__main__.py", "lab.py"
    assert programs <= {trainer, lab}, (
        f"{', '.join(sorted(programs - {trainer, lab}))}: what takes longer than a chapter may is "
        "a file in lib/studies/TOPIC, as CONTRIBUTING says under 'A study'"
    )
