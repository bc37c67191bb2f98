"""Small errors that somebody could make in a line of Python, one at a time.

``mutmut`` and ``cosmic-ray`` know fewer kinds: no argument is swapped, no guard removed, no bound
moved by one; they would bring fourteen packages, and both run the tests anew for each error, which
takes longer for what the tests of this library import than for what they do.  So the errors are
made here, with Python's own parser, and :file:`mutants.py` tries them.

What only a reader of the source sees stays as it is: texts and messages, annotations, ``__all__``,
what stands behind ``if TYPE_CHECKING``, ``__repr__``; and the commands, ``main``.  So do numbers of
threads, and ``strict`` of ``zip``, which no input can reach.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

ARITHMETIC = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"),
    ast.Pow: ("**", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
}
COMPARISONS = {
    ast.Lt: ("<", ("<=", ">")),
    ast.LtE: ("<=", ("<", ">")),
    ast.Gt: (">", (">=", "<")),
    ast.GtE: (">=", (">", "<")),
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
    ast.Is: ("is", ("is not",)),
    ast.IsNot: ("is not", ("is",)),
    ast.In: ("in", ("not in",)),
    ast.NotIn: ("not in", ("in",)),
}
NAMES = [
    ("min", "max"),
    ("argmin", "argmax"),
    ("minimum", "maximum"),
    ("floor", "ceil"),
    ("sin", "cos"),
    ("any", "all"),
    ("sum", "mean"),
    ("zeros", "ones"),
    ("zeros_like", "ones_like"),
    ("tril", "triu"),
    ("real", "imag"),
]
SWAPPED = dict(NAMES) | {b: a for a, b in NAMES}
COMMUTING = {"min", "max", "minimum", "maximum", "hypot", "gcd", "isclose", "allclose", "equal"}
"""Functions to whose arguments' order nothing depends."""
MUTE = {"__repr__", "__str__", "main"}
"""Functions that only write, and the commands that train for hours, which no test runs."""


class Mutant(NamedTuple):
    """One changed place of a file, in bytes of its UTF-8."""

    start: int
    end: int
    new: str
    operator: str
    line: int
    inside: str = ""
    """The function or class around it, or what is assigned: ``"Class.method"``."""
    later: bool = False
    """Whether it runs when that function is called, not when the module is imported."""

    def applied(self, source: bytes, line_end: bytes = b" \\\n") -> bytes:
        """Return the source with this change; the lines below stay where they are.

        Where lines are lost, `line_end` stands for each: Python's, or JavaScript's, a bare ``\\n``.
        """
        lost = source[self.start : self.end].count(b"\n") - self.new.count("\n")
        return source[: self.start] + self.new.encode() + line_end * lost + source[self.end :]


def mutants(text: str) -> Iterator[Mutant]:
    """Find every change of a module."""
    yield from Finder(text).walk(ast.parse(text), "", False)


class Finder:
    """Walks through a module, with its text at hand."""

    def __init__(self, text: str) -> None:
        self.source = text.encode()
        self.lines = [0]
        for line in self.source.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))

    def start(self, node: ast.AST) -> int:
        """Return the first byte of a node."""
        return self.lines[node.lineno - 1] + node.col_offset

    def end(self, node: ast.AST) -> int:
        """Return the byte behind a node."""
        return self.lines[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: ast.AST) -> str:
        """Return what is written for a node."""
        return self.source[self.start(node) : self.end(node)].decode()

    def walk(self, node: ast.AST, name: str, within: bool) -> Iterator[Mutant]:
        """Give the changes of a node and of what stands in it."""
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if node.name not in MUTE:
                yield from self.definition(node, name, within)
            return
        if isinstance(node, ast.Assign | ast.AnnAssign) and not within and not name:
            name = self.text(node.targets[0] if isinstance(node, ast.Assign) else node.target)
        for start, end, new, operator in self.changes(node):
            line = self.source.count(b"\n", 0, start) + 1
            yield Mutant(start, end, new, operator, line, name, within)
        for child in self.children(node):
            yield from self.walk(child, name, within)

    def definition(self, node: Any, name: str, within: bool) -> Iterator[Mutant]:
        """Give the changes of a function or a class: what runs now, then what runs when called."""
        if not within:
            name = f"{name}.{node.name}".lstrip(".")
        now = [*node.decorator_list, *getattr(node, "bases", [])]
        if not isinstance(node, ast.ClassDef):
            now += [d for d in (*node.args.defaults, *node.args.kw_defaults) if d is not None]
        for part in now:
            yield from self.walk(part, name, within)
        for statement in node.body:
            yield from self.walk(statement, name, within or not isinstance(node, ast.ClassDef))

    def children(self, node: ast.AST) -> Iterator[ast.AST]:
        """Give what is looked at in a node: no message, no annotation."""
        match node:
            case ast.Raise() | ast.JoinedStr() | ast.Import() | ast.ImportFrom():
                return
            case ast.Assert():
                yield node.test
            case ast.AnnAssign():
                yield from [node.value] if node.value else []
            case ast.Assign(targets=[ast.Name(id="__all__")]):
                return
            case ast.If() if "TYPE_CHECKING" in self.text(node.test):
                yield from node.orelse
            case ast.If() if "__name__" in self.text(node.test):
                return
            case ast.Call(func=ast.Attribute(attr="warn" | "set_num_threads")):
                return
            case ast.Call(func=ast.Name(id="zip")):
                yield from node.args  # what is strict there guards against errors of our own
            case ast.Dict(values=texts) if texts and all(_is_text(text) for text in texts):
                return  # what is said to each of some answers
            case _:
                yield from ast.iter_child_nodes(node)

    def between(self, left: ast.AST, right: ast.AST, old: str, new: str) -> Iterator[tuple]:
        """Change the sign between two operands."""
        start, end = self.end(left), self.start(right)
        gap = self.source[start:end].decode()
        if found := re.search(rf"(?<!\S){re.escape(old)}(?!\S)|{re.escape(old)}", gap):
            at = start + len(gap[: found.start()].encode())
            yield at, at + len(old), new

    def changes(self, node: ast.AST) -> Iterator[tuple[int, int, str, str]]:
        """Give the changes of a node itself: start, end, what is put there, what it is called."""
        match node:
            case ast.BinOp(left, op, right):
                texts = any(isinstance(n, ast.JoinedStr) or _is_text(n) for n in (left, right))
                types = isinstance(op, ast.BitOr) and re.search(
                    r"None|\b(int|float|str)\b", self.text(node)
                )
                if isinstance(op, ast.MatMult):
                    yield from self.swap(left, right, "operands swapped")
                elif not texts and not types and type(op) in ARITHMETIC:
                    for change in self.between(left, right, *ARITHMETIC[type(op)]):
                        yield *change, "arithmetic"
            case ast.AugAssign(target, op, value) if type(op) in ARITHMETIC:
                old, new = ARITHMETIC[type(op)]
                for change in self.between(target, value, f"{old}=", f"{new}="):
                    yield *change, "arithmetic"
                yield self.start(node), self.end(node), "pass", "deleted statement"
            case ast.Compare(left, ops, others):
                for a, op, b in zip([left, *others], ops, others, strict=False):
                    old, new = COMPARISONS[type(op)]
                    for other in new:
                        for change in self.between(a, b, old, other):
                            yield *change, "comparison"
            case ast.BoolOp(op, values):
                old, new = ("and", "or") if isinstance(op, ast.And) else ("or", "and")
                for a, b in pairwise(values):
                    for change in self.between(a, b, old, new):
                        yield *change, "boolean"
            case ast.UnaryOp(op) if isinstance(op, ast.Not | ast.USub):
                sign, kind = ("not", "boolean") if isinstance(op, ast.Not) else ("-", "sign")
                yield self.start(node), self.start(node) + len(sign), "", kind
            case ast.Constant(value=bool(value)):
                yield self.start(node), self.end(node), str(not value), "boolean"
            case ast.Constant(value=int(value)):
                yield self.start(node), self.end(node), str(value + 1), "constant"
                if value > 0:
                    yield self.start(node), self.end(node), str(value - 1), "constant"
            case ast.Constant(value=float(value)):
                new = 1.0 if value == 0 else 2 * value
                yield self.start(node), self.end(node), repr(new), "constant"
            case ast.If(test, body) | ast.While(test, body):
                if "TYPE_CHECKING" in self.text(test) or "__name__" in self.text(test):
                    return
                raises = len(body) == 1 and isinstance(body[0], ast.Raise)
                new = "False" if raises else f"not ({self.text(test)})"
                kind = "guard removed" if raises else "condition"
                yield self.start(test), self.end(test), new, kind
            case ast.IfExp(test):
                yield self.start(test), self.end(test), f"(not ({self.text(test)}))", "condition"
            case ast.Return(value) if value is not None and self.text(value) != "None":
                yield self.start(value), self.end(value), "None", "return value"
                if isinstance(value, ast.Tuple) and len(value.elts) == 2:
                    yield from self.swap(*value.elts, "results swapped")
            case (
                ast.Expr(ast.Call() | ast.Yield() | ast.YieldFrom()) | ast.Break() | ast.Continue()
            ):
                yield self.start(node), self.end(node), "pass", "deleted statement"
            case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
                yield self.start(node), self.end(node), "pass", "deleted statement"
            case ast.Slice(lower, upper):
                for bound in (lower, upper):
                    if bound is not None and not isinstance(bound, ast.Constant):
                        yield (
                            self.start(bound),
                            self.end(bound),
                            f"({self.text(bound)}) + 1",
                            "off by one",
                        )
            case ast.Call(func, args):
                yield from self.call(func, args)

    def call(self, func: ast.expr, args: list[ast.expr]) -> Iterator[tuple[int, int, str, str]]:
        """Give the changes of a call: another function, other places of the arguments."""
        name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
        if name in SWAPPED:
            yield self.end(func) - len(name), self.end(func), SWAPPED[name], "function"
        if name == "range" and not isinstance(args[-1], ast.Constant):
            last = args[-1] if len(args) < 3 else args[1]
            yield self.start(last), self.end(last), f"({self.text(last)}) - 1", "off by one"
        if name not in {"isinstance", "hasattr", *COMMUTING} and not any(
            isinstance(a, ast.Starred) or _is_text(a) for a in args
        ):
            for a, b in pairwise(args):
                yield from self.swap(a, b, "arguments swapped")

    def swap(self, a: ast.expr, b: ast.expr, kind: str) -> Iterator[tuple[int, int, str, str]]:
        """Let two neighbors change places."""
        start, middle, end = self.start(a), self.source[self.end(a) : self.start(b)], self.end(b)
        if self.text(a) != self.text(b):
            yield start, end, self.text(b) + middle.decode() + self.text(a), kind


def _is_text(node: ast.AST) -> bool:
    """Say whether a node is a text."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
