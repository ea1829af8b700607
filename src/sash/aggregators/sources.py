"""A user's functions as text: whether they can be read back, and what they refer to."""

from __future__ import annotations

import ast
import dis
import inspect
import math
import textwrap
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from sash.operators.monoid import Monoid


def tree_of(function: FunctionType, source: str | None = None) -> ast.FunctionDef | None:
    """A function's definition, or None if its source cannot be read or is not what runs.

    It is not what runs if the function was decorated, or if its file was edited after it was
    loaded.
    """
    if hasattr(function, "__wrapped__"):
        return None
    try:
        text = source if source is not None else textwrap.dedent(inspect.getsource(function))
        tree = ast.parse(text).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        return None
    if not isinstance(tree, ast.FunctionDef):
        return None
    plain = [d for d in tree.decorator_list if getattr(d, "id", None) != "staticmethod"]
    if plain or not (source or _same_code(tree, function)):
        return None
    return tree


def _same_code(tree: ast.FunctionDef, function: FunctionType) -> bool:
    code = function.__code__
    if code.co_freevars:  # compiled alone, it would not close over anything
        return True
    bare = ast.FunctionDef(
        tree.name, tree.args, tree.body, [], tree.returns, tree.type_comment, lineno=1, col_offset=0
    )
    module = ast.fix_missing_locations(ast.Module([bare], []))
    compiled = compile(module, code.co_filename, "exec", dont_inherit=True)
    found = next(c for c in compiled.co_consts if hasattr(c, "co_code"))
    return _gist(found) == _gist(code)


def _gist(code: Any) -> tuple[Any, ...]:
    """What a function computes: its names, its constants and its operations, in order.

    Not its instructions: those depend on what its module imports.
    """
    constants = [repr(c) for c in code.co_consts if not hasattr(c, "co_code")]
    operations = [
        (i.opname, i.arg)
        for i in dis.get_instructions(code)
        if i.opname.startswith(("BINARY", "COMPARE", "UNARY"))
    ]
    return code.co_names, code.co_varnames, constants, operations


def globals_used(function: FunctionType) -> dict[str, Any]:
    """What a function looks up outside itself, by name; built-ins are left out."""
    names = {i.argval for i in dis.get_instructions(function) if i.opname == "LOAD_GLOBAL"}
    known = function.__globals__
    used = {name: known[name] for name in sorted(names) if name in known}
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    for name, cell in cells:
        used[name] = cell.cell_contents
    return used


def literal(value: Any) -> str | None:
    """A constant as text, or None if it is not a plain number, string or tuple of such."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value) in (bool, int, str):
        return repr(value)
    if type(value) is float:
        if math.isfinite(value):
            return repr(value)
        return "nan" if value != value else ("inf" if value > 0 else "(-inf)")
    if type(value) is tuple:
        items = [literal(item) for item in value]
        if all(item is not None for item in items):
            return f"({', '.join(map(str, items))},)" if items else "()"
    return None


def may_be_null(monoid: Monoid) -> bool:
    """Whether `lower` can return None, as far as its text tells."""
    lower = monoid.functions["lower"]
    tree = tree_of(lower, monoid.sources.get("lower"))
    if monoid.guarded or tree is None or not _always_returns(tree.body):
        return True
    if any(isinstance(value, FunctionType) for value in globals_used(lower).values()):
        return True
    return any(
        (isinstance(node, ast.Constant) and node.value is None)
        or (isinstance(node, ast.Return) and node.value is None)
        for node in ast.walk(tree)
    )


def _always_returns(body: list[ast.stmt]) -> bool:
    last = body[-1]
    if isinstance(last, ast.If):
        return _always_returns(last.body) and bool(last.orelse) and _always_returns(last.orelse)
    return isinstance(last, (ast.Return, ast.Raise))


def may_raise(monoid: Monoid, answering: bool = True) -> bool:
    """Whether a function of the operator can raise: it divides, calls something, or says so.

    Our own raise only if they say so: they divide by nothing that can be zero, and ask for no root
    or logarithm that there is none of.

    answering: whether answers are asked for, or values only inserted.
    """
    raises = _says_raise if is_ours(monoid) else _may_raise
    return any(
        raises(function, leaf.sources.get(name))
        for leaf in monoid.leaves()
        for name, function in leaf.functions.items()
        if answering or name != "lower"
    )


RISKY: dict[tuple[CodeType, str | None], bool] = {}
"""What has been found out: reading a function's source takes a millisecond."""


def _may_raise(function: FunctionType, source: str | None) -> bool:
    key = function.__code__, source
    if key not in RISKY:
        tree = tree_of(function, source)
        RISKY[key] = tree is None or any(map(_is_risky, ast.walk(tree)))
    return RISKY[key]


def is_ours(monoid: Monoid) -> bool:
    """Whether all of its functions are this library's."""
    functions = [f for leaf in monoid.leaves() for f in leaf.functions.values()]
    return all((f.__module__ or "").startswith("sash.") for f in functions)


SAYS_RAISE: dict[CodeType, bool] = {}
"""What was found of our own functions, by their code: they are looked at for every window."""


def _says_raise(function: FunctionType, source: str | None = None) -> bool:
    code = function.__code__
    if code not in SAYS_RAISE:
        SAYS_RAISE[code] = _has_raise(function, source)
    return SAYS_RAISE[code]


def _has_raise(function: FunctionType, source: str | None) -> bool:
    tree = tree_of(function, source)
    if tree is None or any(isinstance(node, ast.Raise) for node in ast.walk(tree)):
        return True
    called = (f for f in globals_used(function).values() if isinstance(f, FunctionType))
    return any(map(_says_raise, called))


def _is_risky(node: ast.AST) -> bool:
    """A call, a raise, or a division or shift by something else than a number above zero."""
    risky = (ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.LShift, ast.RShift)
    if isinstance(node, ast.BinOp) and isinstance(node.op, risky):
        by = node.right.value if isinstance(node.right, ast.Constant) else None
        return isinstance(node.op, ast.Pow) or not isinstance(by, (int, float)) or by <= 0
    if isinstance(node, ast.AugAssign):
        return isinstance(node.op, risky)
    return isinstance(node, (ast.Raise, ast.Call))


class Renaming(ast.NodeTransformer):
    """Gives the globals that a function uses the names under which they are written."""

    def __init__(self, renamed: dict[str, str]) -> None:
        self.renamed = renamed

    def visit_Name(self, node: ast.Name) -> ast.Name:
        if node.id in self.renamed:
            node.id = self.renamed[node.id]
        return node
