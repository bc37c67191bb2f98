"""What a cell takes from before it, what it makes, and what it changes: read from its code alone.

Nothing runs.  Where code cannot tell, more counts as changed rather than less: then a cell that
need not have run is run, which costs time and alters no result.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import re
from collections.abc import Iterable

BUILTIN = frozenset(dir(builtins)) - {"copyright", "credits", "exit", "license", "quit"}
"""Python's own names, without those that only a session for typing adds."""
_MAKES_A_SOURCE = re.compile(r"(default_rng|generator|Generator|RandomState|iter)$")
"""Calls that make what changes whenever something is drawn from it."""
_SETS_A_MODULE = re.compile(r"(set|use|update|seed|add|register|enable|disable|manual_seed|reset)")
"""How functions of a module begin that were made to change something in it."""


def without_magics(source: str) -> str:
    r"""Return a cell without the lines that only IPython reads; what Python reads stays whole.

    Examples
    --------
    >>> without_magics("%config x = 1\nx = 1\n!ls")
    '\nx = 1\n'
    >>> without_magics("x = (7\n     % 3)")
    'x = (7\n     % 3)'
    """
    with contextlib.suppress(SyntaxError):
        ast.parse(source)
        return source
    return "\n".join(
        "" if line.lstrip().startswith(("%", "!")) else line for line in source.split("\n")
    )


def _last_name(function: ast.expr) -> str:
    """Return the name of what is called, without what it belongs to."""
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _root(node: ast.expr) -> str:
    """Return the variable of which ``a.b[0].c`` is a part, ``""`` when there is none."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


@functools.cache  # a page asks for each of its cells at every press
def objects_of(source: str) -> tuple[set[str], set[str]]:
    """Name the variables of a cell that hold sources of random numbers, and those of other objects.

    Examples
    --------
    >>> objects_of("rng = np.random.default_rng(0); model = Model(3); x = f(2)")
    ({'rng'}, {'model'})
    """
    sources: set[str] = set()
    others: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            name = _last_name(node.value.func)
            kept = (
                sources if _MAKES_A_SOURCE.search(name) else others if name[:1].isupper() else None
            )
            if kept is not None:
                kept |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return sources, others


@functools.cache
def imported_by(source: str) -> set[str]:
    """Name what a cell imports.

    Examples
    --------
    >>> sorted(imported_by("import numpy as np; from book import topic"))
    ['np', 'topic']
    """
    return {
        alias.asname or alias.name.split(".")[0]
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }


class Names(ast.NodeVisitor):
    """Collects, in the order of running, the names that code uses, sets and changes.

    Parameters
    ----------
    sources, others : iterable of str
        Names that are known to hold sources of random numbers, and other objects.
    tells : str
        A pattern of the functions that only tell something about their arguments.
    modules : iterable of str
        Names that are imported.  Calling a function of a module changes the module only where its
        name says so, as ``np.seterr`` and ``plt.rcParams.update`` do.
    """

    def __init__(
        self,
        sources: Iterable[str] = (),
        others: Iterable[str] = (),
        tells: str = "print",
        modules: Iterable[str] = (),
    ) -> None:
        self.sources, self.others, self.tells = set(sources), set(others), tells
        self.modules = set(modules)
        self.uses: set[str] = set()
        self.sets: set[str] = set()
        self.changes: set[str] = set()
        self.later: dict[str, set[str]] = {}  # what functions look up when they are called
        self.alters: dict[str, set[str]] = {}  # and what of it they change then

    def _inner(self, bound: set[str]) -> Names:
        """Begin to read a scope inside this one."""
        inner = Names(self.sources, self.others, self.tells, self.modules)
        inner.sets, inner.alters = set(bound), dict(self.alters)
        return inner

    def _use(self, names: set[str]) -> None:
        self.uses |= names - self.sets

    def visit_Name(self, node: ast.Name) -> None:
        """Note a name that is read or set."""
        if isinstance(node.ctx, ast.Load):
            self._use({node.id})
        else:
            self.sets.add(node.id)

    def _part(self, node: ast.Attribute | ast.Subscript) -> None:
        """Note that a part of something is set: ``x[0] = 1`` needs ``x``, and changes it."""
        if not isinstance(node.ctx, ast.Load) and (name := _root(node)):
            self.changes.add(name)
        self.generic_visit(node)

    visit_Attribute = visit_Subscript = _part

    def visit_Call(self, node: ast.Call) -> None:
        """Note what a call may change: a source that it draws from, an object that it is given."""
        given = {_root(one) for one in [*node.args, *(word.value for word in node.keywords)]}
        self.changes |= (given | {_root(node.func)}) & self.sources
        called = _last_name(node.func)
        if isinstance(node.func, ast.Name):
            self.changes |= self.alters.get(called, set())
        if called[:1].islower() and not re.fullmatch(self.tells, called):
            self.changes |= given & self.others
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        """Note what a call whose value nobody takes was made to change."""
        call = node.value
        if isinstance(call, ast.Call) and not re.fullmatch(self.tells, _last_name(call.func)):
            changed = [call.func] if self._changes_its_owner(call.func) else []
            self.changes |= {_root(one) for one in [*changed, *call.args]} - {""}
        self.generic_visit(node)

    def _changes_its_owner(self, function: ast.expr) -> bool:
        """Say whether a call whose value nobody takes may change what its function belongs to."""
        if not isinstance(function, ast.Attribute):
            return False
        return _root(function) not in self.modules or bool(_SETS_A_MODULE.match(function.attr))

    def visit_Assign(self, node: ast.Assign) -> None:
        """Read the value first."""
        self.visit(node.value)
        for target in node.targets:
            self.visit(target)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Read the value first; an annotation alone sets nothing."""
        if node.value:
            self.visit(node.value)
            self.visit(node.target)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        """Read the value first."""
        self.visit(node.value)
        self.visit(node.target)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """``x += 1`` uses ``x``, and changes it."""
        if isinstance(node.target, ast.Name):
            self._use({node.target.id})
            self.changes.add(node.target.id)
        else:
            self.visit(node.target)
        self.visit(node.value)

    def visit_For(self, node: ast.For) -> None:
        """Read what is gone through first."""
        for part in (node.iter, node.target, *node.body, *node.orelse):
            self.visit(part)

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
    ) -> None:
        """Read a scope whose variables end with it."""
        inner = self._inner(self.sets)
        for part in node.generators:
            for one in (part.iter, part.target, *part.ifs):
                inner.visit(one)
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        for one in parts:
            inner.visit(one)
        self.uses |= inner.uses
        self.changes |= inner.changes - inner.sets | inner.changes & self.sets

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def _imported(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            name = alias.asname or alias.name
            self.sets.add(name.split(".")[0] if isinstance(node, ast.Import) else name)

    visit_Import = visit_ImportFrom = _imported

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        """Read a function: what it uses of outside is needed where it is defined."""
        given = node.args
        for default in (*given.defaults, *given.kw_defaults):
            if default:
                self.visit(default)
        every = (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg)
        inner = self._inner({one.arg for one in every if one})
        shared = {
            name for one in ast.walk(node) if isinstance(one, ast.Global) for name in one.names
        }
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        for one in body:
            inner.visit(one)
        if not isinstance(node, ast.Lambda):
            for decorator in node.decorator_list:
                self.visit(decorator)
            self.sets.add(node.name)
            self.later[node.name] = (inner.uses | shared) - BUILTIN
            self.alters[node.name] = (inner.changes - inner.sets) | (inner.changes & shared)
        self._use(inner.uses | shared)
        self.changes |= shared & (inner.sets | inner.changes)

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = _function

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Read a class: its bases now, its body as a scope."""
        for part in (*node.decorator_list, *node.bases):
            self.visit(part)
        inner = self._inner(set())
        for one in node.body:
            inner.visit(one)
        self._use(inner.uses)
        self.sets.add(node.name)
        self.later[node.name] = inner.uses - BUILTIN


def names_of(
    source: str,
    sources: Iterable[str] = (),
    others: Iterable[str] = (),
    tells: str = "print",
    modules: Iterable[str] = (),
) -> Names:
    r"""Read the code of a cell.

    Raises
    ------
    SyntaxError
        When it is no Python.

    Examples
    --------
    >>> names = names_of("y = f(x)\ny[0] = 2\nprint(y)")
    >>> sorted(names.uses - BUILTIN), sorted(names.sets), sorted(names.changes)
    (['f', 'x'], ['y'], ['y'])
    >>> sorted(names_of("a = rng.normal()", sources=["rng"]).changes)
    ['rng']
    >>> sorted(names_of("book.draw(x)", modules=["book"]).changes)
    ['x']
    """
    own_sources, own_others = objects_of(source)
    known = {*modules, *imported_by(source)}
    found = Names({*sources, *own_sources}, {*others, *own_others}, tells, known)
    found.visit(ast.parse(source))
    found.uses -= BUILTIN
    return found


def imports_of(tree: ast.AST) -> set[str]:
    """Name all that code imports, modules and what is taken out of them.

    Examples
    --------
    >>> sorted(imports_of(ast.parse("import a.b; from c import d as e")))
    ['a.b', 'c', 'c.d']
    """
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found
