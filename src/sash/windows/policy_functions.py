"""What a function given as a policy says, as text, if its source can be found.

The source is looked up where the function says it comes from. It is believed only if it compiles
to the very code that the function has: files change while programs run, and several functions
may stand on one line.
"""

from __future__ import annotations

import ast
import builtins
import linecache
import warnings
from collections.abc import Iterator
from copy import deepcopy
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from sash.windows.policy_language import FUNCTIONS, NAMES

Function = ast.Lambda | ast.FunctionDef

NOT_READABLE = (SyntaxError, ValueError, MemoryError, RecursionError)
ALIKE = (
    *("co_name", "co_code", "co_names", "co_varnames", "co_freevars"),
    *("co_argcount", "co_posonlyargcount", "co_kwonlyargcount"),
)


def expression_of(function: Any) -> str | None:
    """The expression that a function of (total, old) returns, with numbers for other names.

    What it says is not checked here. None if there is none, or if it cannot be found.
    """
    if not isinstance(function, FunctionType):
        return None
    try:
        for node in _functions_of(_source(function)):
            body = _returned(node)
            if body is not None and _is_code_of(node, function.__code__):
                return ast.unparse(_Settled(function, node).visit(deepcopy(body)))
    except (*NOT_READABLE, _NotANumberError):
        pass
    return None


def _source(function: FunctionType) -> str:
    name = function.__code__.co_filename
    linecache.checkcache(name)
    return "".join(linecache.getlines(name, function.__globals__))


@lru_cache(maxsize=8)
def _functions_of(source: str) -> list[Function]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they were given when the source was first read
        tree = ast.parse(source)
    return [node for node in ast.walk(tree) if isinstance(node, Function)]


def _returned(node: Function) -> ast.expr | None:
    """What the function returns, if it does nothing else."""
    if isinstance(node, ast.Lambda):
        return node.body
    match node.body:
        case [ast.Return(value=value)] | [
            ast.Expr(value=ast.Constant(value=str())),
            ast.Return(value=value),
        ]:
            return value
    return None


def _is_code_of(node: Function, code: CodeType) -> bool:
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    if first != code.co_firstlineno:
        return False
    # The names that the code has from a function around it must come from one here too.
    around = ast.parse(f"def around({', '.join(code.co_freevars)}): pass")
    outer = around.body[0]
    assert isinstance(outer, ast.FunctionDef)
    outer.body = [ast.Return(node) if isinstance(node, ast.Lambda) else node]
    ast.fix_missing_locations(around)
    made = compile(around, code.co_filename, "exec", dont_inherit=True)
    return any(_alike(found, code) for scope in _codes_in(made) for found in _codes_in(scope))


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    return (constant for constant in code.co_consts if isinstance(constant, CodeType))


def _alike(one: CodeType, other: CodeType) -> bool:
    constants = [[(type(c), repr(c)) for c in code.co_consts] for code in (one, other)]
    return constants[0] == constants[1] and all(
        getattr(one, part) == getattr(other, part) for part in ALIKE
    )


class _NotANumberError(Exception):
    pass


class _Settled(ast.NodeTransformer):
    """Puts total and old for the two arguments, and numbers for what else is named."""

    def __init__(self, function: FunctionType, node: Function) -> None:
        given = node.args
        names = [a.arg for a in (*given.posonlyargs, *given.args)]
        if len(names) < 2 or given.vararg or given.kwarg:
            raise _NotANumberError
        self.renamed = dict(zip(names, NAMES, strict=False))
        defaults = function.__defaults__ or ()
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        self.values: dict[str, Any] = {
            **vars(builtins),
            **function.__globals__,
            **{name: cell.cell_contents for name, cell in cells},
            **dict(zip(names[len(names) - len(defaults) :], defaults, strict=True)),
            **(function.__kwdefaults__ or {}),
        }

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self.renamed:
            return ast.Name(self.renamed[node.id], ast.Load())
        value = self.values.get(node.id)
        if isinstance(value, bool) or not isinstance(value, (int, float, np.integer)):
            raise _NotANumberError
        number = float(value) if isinstance(value, float) else int(value)
        negative = number < 0
        literal = ast.Constant(-number if negative else number)
        return ast.UnaryOp(ast.USub(), literal) if negative else literal

    def visit_Call(self, node: ast.Call) -> ast.expr:
        named = isinstance(node.func, ast.Name) and node.func.id not in self.renamed
        called = self.values.get(node.func.id) if named else None  # type: ignore[attr-defined]
        for name, function in FUNCTIONS.items():
            if called is function:
                arguments = [self.visit(argument) for argument in node.args]
                return ast.Call(ast.Name(name, ast.Load()), arguments, node.keywords)
        raise _NotANumberError
