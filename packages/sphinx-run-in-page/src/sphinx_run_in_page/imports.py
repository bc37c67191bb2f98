"""Which packs the book's own modules need when they are imported, read from their code.

Imports inside functions are not followed: what they need is loaded when they are called.
"""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Iterable, Iterator, Mapping

Import = ast.Import | ast.ImportFrom


def at_import(body: Iterable[ast.stmt], *, tried: bool = True) -> Iterator[Import]:
    """Give the imports that run when a module is imported.

    Parameters
    ----------
    body : iterable of statements
        The module.
    tried : bool
        Whether those count that may fail, inside of ``try``.

    Examples
    --------
    >>> code = '''
    ... import a
    ... if TYPE_CHECKING: import b
    ... def f(): import c
    ... class C: import d
    ... '''
    >>> [one.names[0].name for one in at_import(ast.parse(code).body)]
    ['a', 'd']
    """
    for node in body:
        if isinstance(node, Import):
            yield node
        elif isinstance(node, ast.If):
            typing = "TYPE_CHECKING" in ast.dump(node.test)
            yield from at_import([*([] if typing else node.body), *node.orelse], tried=tried)
        elif isinstance(node, ast.Try) and tried:
            handled = [one for handler in node.handlers for one in handler.body]
            yield from at_import([*node.body, *handled, *node.orelse, *node.finalbody])
        elif isinstance(node, ast.With | ast.ClassDef):
            yield from at_import(node.body, tried=tried)


def named_by(node: Import, package: str) -> list[str]:
    """Return the full names that an import may load.

    Examples
    --------
    >>> named_by(ast.parse("from .b import c").body[0], "a")
    ['a.b', 'a.b.c']
    """
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    base = node.module or ""
    if node.level:
        parts = package.split(".")[: len(package.split(".")) - node.level + 1]
        base = ".".join([*parts, *([base] if base else [])])
    return [base, *(f"{base}.{alias.name}" for alias in node.names)]


class OwnModules:
    """The modules of the book's own packs.

    Parameters
    ----------
    files : mapping
        For each pack its files, by their paths.
    brought : mapping
        The pack that brings a module of the libraries.
    """

    def __init__(
        self, files: Mapping[str, Mapping[str, bytes]], brought: Mapping[str, str]
    ) -> None:
        self.brought = brought
        self.code: dict[str, bytes] = {}
        self.pack: dict[str, str] = {}
        self.packages: set[str] = set()
        for pack, paths in files.items():
            for path, content in paths.items():
                if not path.endswith(".py"):
                    continue
                name = path.removesuffix(".py").replace("/", ".")
                if name.endswith(".__init__"):
                    name = name.removesuffix(".__init__")
                    self.packages.add(name)
                self.code[name], self.pack[name] = content, pack
        self.tops = {name.split(".")[0] for name in self.code}
        self._read = functools.cache(self._read_module)
        self._loads = functools.cache(lambda name: frozenset(self._loaded_by(name)))

    def _read_module(self, module: str) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
        """Return what a module imports, what ``__getattr__`` does, and the names that it has."""
        body = ast.parse(self.code[module]).body
        package = module if module in self.packages else module.rpartition(".")[0]
        bound: set[str] = set()
        later: set[str] = set()
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                bound.add(node.name)
                if node.name == "__getattr__":
                    for one in ast.walk(node):
                        later |= set(named_by(one, package)) if isinstance(one, Import) else set()
            elif isinstance(node, ast.Assign):
                bound |= {target.id for target in node.targets if isinstance(target, ast.Name)}
            elif isinstance(node, Import):
                bound |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        now = {name for one in at_import(body) for name in named_by(one, package)}
        return frozenset(now), frozenset(later), frozenset(bound)

    def _loaded_by(self, name: str) -> Iterator[str]:
        """Give what importing a name runs: modules of ours, and of others those at the top."""
        parts = name.split(".")
        if parts[0] not in self.tops:
            yield parts[0]
            return
        for end in range(1, len(parts) + 1):
            if (module := ".".join(parts[:end])) in self.code:
                yield module
        module = name.rpartition(".")[0]
        if name not in self.code and module in self.code:
            _, later, bound = self._read(module)
            if parts[-1] not in bound:
                for one in later:
                    yield from self._loads(one)

    def reached(self, name: str) -> set[str]:
        """Return all modules that importing a name runs: ours, and those of others at the top."""
        found: set[str] = set()
        todo = list(self._loads(name))
        while todo:
            module = todo.pop()
            if module in found:
                continue
            found.add(module)
            if module in self.code:
                for one in self._read(module)[0]:
                    todo += self._loads(one)
        return found

    def packs(self, name: str) -> list[str]:
        """Name the packs without which a name cannot be imported."""
        every = {self.pack.get(one) or self.brought.get(one) for one in self.reached(name)}
        return sorted(one for one in every if one)

    def names(self) -> list[str]:
        """Return the modules, and what they import only when they are asked for it."""
        later = [
            f"{module}.{element.value}"
            for module in sorted(self.code)
            if self._read(module)[1]
            for node in ast.parse(self.code[module]).body
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
            for element in getattr(node.value, "elts", [])
            if element.value not in self._read(module)[2]
        ]
        return [*sorted(self.code), *later]

    def absent(self, written: Iterable[str]) -> list[str]:
        """Name the libraries that some modules cannot do without, and that no pack brings.

        Parameters
        ----------
        written : iterable of str
            The modules, at the top level, that were written for the book.
        """
        there = {*sys.stdlib_module_names, *self.brought, "IPython"}
        tops = {
            name.split(".")[0]
            for module, code in self.code.items()
            if module.split(".")[0] in set(written)
            for one in at_import(ast.parse(code).body, tried=False)
            for name in named_by(one, module)
        }
        return sorted(tops - self.tops - there - {"", "sphinx_run_in_page"})
