"""The text of a compiled module: an algorithm's functions and an operator's, side by side.

    the operator's own functions, with their options settled      own_lift, own_combine, …
    the same, returning named tuples of the fields' types         lift, combine, …
    the primitives for those fields                               get, put, read, answer, …
    the algorithm's functions, as they stand in their files       insert, evict, query, slide, …
    entry points, which take and give only arrays and numbers     run_slide, run_roll_long, …

For a composite each name is written once for each member, under the member's name.
"""

from __future__ import annotations

import ast
import inspect
import math
import textwrap
from collections.abc import Iterator
from functools import cache
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from sash.aggregators.binding import LOOPS, called_by, functions_of
from sash.operators.errors import OperatorError
from sash.operators.monoid import Monoid

HEADER = '''\
"""Written by sash: {title}."""
from __future__ import annotations
from collections import namedtuple
from math import inf, nan
from numba import njit, {types}
from sash.aggregators.compiling import as_tuple, present
'''
SCALARS = "boolean, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64"
INLINE = '@njit(inline="always")\n'
# Nothing is allocated inside, so arrays need not be counted: that would cost more than the ⊕.
ENTRY = "@njit(nogil=True, cache=True, _nrt=False)\n"


class Writer:
    """Writes the module for one algorithm and one operator."""

    def __init__(self, algorithm: ModuleType, monoid: Monoid, nulls: tuple[bool, ...]) -> None:
        self.algorithm = algorithm
        self.monoid = monoid
        self.nulls = nulls
        self.injected: dict[str, Any] = {}
        self.leaves = list(_prefixed(monoid))

    def text(self) -> str:
        title = f"{self.algorithm.__name__.rpartition('.')[2]} for {self.monoid.name}"
        parts = [HEADER.format(title=title, types=SCALARS)]
        parts += [self.operator(prefix, leaf) for prefix, leaf in self.leaves]
        if self.monoid.members:
            parts.append(self.composite())
        parts += [self.rings(), self.rows(), self.answers()]
        parts += list(self.algorithm_functions())
        parts += list(self.entries())
        return "\n".join(parts)

    # The operator

    def operator(self, prefix: str, leaf: Monoid) -> str:
        assert leaf.fields is not None
        names = [name for name, _ in leaf.fields]
        casts = ", ".join(f"{_scalar(dtype)}(r[{i}])" for i, (_, dtype) in enumerate(leaf.fields))
        text = [f'{prefix}Partial = namedtuple("Partial", {names!r})\n']
        for name, function in leaf.functions.items():
            text.append(self.function(function, f"{prefix}own_{name}", prefix, leaf))
            parameters = _parameters(function)
            call = f"{prefix}own_{name}({parameters})"
            text.append(f"{INLINE}def {prefix}{name}({parameters}):\n")
            if name == "lower":
                if leaf.guarded:
                    test = " and ".join(f"p[{i}] == r[{i}]" for i in range(len(names)))
                    text.append(f"    p = {parameters}\n    r = {prefix}identity()\n")
                    text.append(f"    if {test}:\n        return None\n")
                text.append(f"    return {call}\n\n")
            else:
                text.append(f"    r = as_tuple({call})\n    return {prefix}Partial({casts})\n\n")
        fields = ", ".join(names)
        text.append(
            f"@njit(cache=True)\ndef run_{prefix}lower({fields}):\n"
            f"    return {prefix}lower({prefix}Partial({fields}))\n"
        )
        return "".join(text)

    def function(self, function: FunctionType, name: str, prefix: str, leaf: Monoid) -> str:
        """A user's function as text, its options settled and its globals under our names."""
        tree = _source_tree(function, leaf.sources.get(function.__name__))
        if tree is None:
            options = set(function.__kwdefaults__ or ())
            if options:
                raise OperatorError(
                    f"{leaf.name}.{function.__name__} has options and its source cannot be read; "
                    f"define the operator in a file, or use partial=object."
                )
            self.injected[name] = function
            return ""
        renamed: dict[str, str] = {}
        lines = []
        closed = inspect.getclosurevars(function)
        for used, value in {**closed.globals, **closed.nonlocals}.items():
            renamed[used] = f"{prefix}use_{used}"
            lines.append(self.written(renamed[used], value, prefix, leaf))
        tree = _Renaming(renamed).visit(tree)
        keywords = function.__kwdefaults__ or {}
        settled = [
            ast.parse(f"{option} = {self.constant(f'{name}_{option}', value)}").body[0]
            for option, value in keywords.items()
        ]
        body = tree.body[1:] if ast.get_docstring(tree) else tree.body
        tree.body = [*settled, *body]
        tree.name = name
        tree.decorator_list = []
        tree.returns = None
        tree.args.kwonlyargs, tree.args.kw_defaults = [], []
        for argument in tree.args.args:
            argument.annotation = None
        return "".join(lines) + INLINE + ast.unparse(ast.fix_missing_locations(tree)) + "\n\n"

    def constant(self, name: str, value: Any) -> str:
        literal = _literal(value)
        if literal is None:
            self.injected[name] = value
            return name
        return literal

    def written(self, name: str, value: Any, prefix: str, leaf: Monoid) -> str:
        """A global that a user's function refers to."""
        literal = _literal(value)
        if literal is not None:
            return f"{name} = {literal}\n"
        if isinstance(value, ModuleType):
            return f"import {value.__name__} as {name}\n"
        if isinstance(value, (BuiltinFunctionType, np.ufunc)):
            home = "numpy" if isinstance(value, np.ufunc) else value.__module__
            if home and home != "builtins":
                return f"from {home} import {value.__name__} as {name}\n"
        if isinstance(value, FunctionType) and _source_tree(value, None) is not None:
            return self.function(value, name, prefix + "sub_", leaf)
        self.injected[name] = value
        return ""

    def may_be_null(self, leaf: Monoid) -> bool:
        """Whether `lower` can return None, as far as its text tells."""
        tree = _source_tree(leaf.functions["lower"], leaf.sources.get("lower"))
        if leaf.guarded or tree is None:
            return True
        return any(
            (isinstance(node, ast.Constant) and node.value is None)
            or (isinstance(node, ast.Return) and node.value is None)
            for node in ast.walk(tree)
        )

    def composite(self) -> str:
        names = [name for name, _ in self.monoid.members]
        text = [f'Partial = namedtuple("Partial", {names!r})\n']
        for function, arguments in (("identity", ""), ("combine", "a, b"), ("inverse", "a, b")):
            if function == "inverse" and not self.monoid.invertible:
                continue
            each = ", ".join(
                f"{name}_{function}({', '.join(f'{x}.{name}' for x in arguments.split(', ') if x)})"
                for name in names
            )
            text.append(f"{INLINE}def {function}({arguments}):\n    return Partial({each})\n\n")
        return "".join(text)

    # Rings, rows and answers

    def paths(self) -> list[tuple[str, str]]:
        """Each field of the whole partial: its path from a partial p, and its leaf's prefix."""
        found = []
        for prefix, leaf in self.leaves:
            inside = f"p.{prefix[:-1]}" if self.monoid.members else "p"
            found += [(f"{inside}.{name}", prefix) for name, _ in leaf.fields or ()]
        return found

    def rings(self) -> str:
        made, k = [], 0
        for prefix, leaf in self.leaves:
            width = len(leaf.fields or ())
            each = ", ".join(f"ring[{k + i}][j]" for i in range(width))
            made.append(f"{prefix}Partial({each})")
            k += width
        whole = f"Partial({', '.join(made)})" if self.monoid.members else made[0]
        puts = "".join(f"    ring[{i}][j] = {path}\n" for i, (path, _) in enumerate(self.paths()))
        text = []
        for reading, writing, fold in (
            ("get", "put", "uint64(i) & uint64(ring[0].size - 1)"),
            ("load", "store", "uint64(i)"),
        ):
            text.append(f"{INLINE}def {reading}(ring, i):\n    j = {fold}\n    return {whole}\n\n")
            text.append(f"{INLINE}def {writing}(ring, i, p):\n    j = {fold}\n{puts}\n")
        return "".join(text)

    def input_types(self, leaf: Monoid) -> list[np.dtype[Any]]:
        """The types of the values that a leaf lifts, for a message only."""
        value = next((d for _, d in leaf.fields or () if d.kind == "f"), np.dtype("float64"))
        return [value] * leaf.inputs

    def rows(self) -> str:
        text, k = [], 0
        for (prefix, leaf), null in zip(self.leaves, self.nulls, strict=True):
            arguments = [f"rows[{k + i}][j]" for i in range(leaf.inputs)]
            k += leaf.inputs
            if leaf.uses_row:
                arguments.append("rows[-1] + i")
            lifted = f"{prefix}lift({', '.join(arguments)})"
            text.append(f"{INLINE}def {prefix}read(rows, i):\n    j = uint64(i)\n")
            if null:
                text.append(f"    return {lifted} if rows[{k}][j] else {prefix}identity()\n\n")
                k += 1
            else:
                text.append(f"    return {lifted}\n\n")
        if self.monoid.members:
            each = ", ".join(f"{prefix}read(rows, i)" for prefix, _ in self.leaves)
            text.append(f"{INLINE}def read(rows, i):\n    return Partial({each})\n\n")
        return "".join(text)

    def answers(self) -> str:
        text, k = [f"{INLINE}def answer(out, i, p):\n    j = uint64(i)\n"], 0
        for prefix, leaf in self.leaves:
            inside = f"p.{prefix[:-1]}" if self.monoid.members else "p"
            text.append(f"    {prefix}r = {prefix}lower({inside})\n")
            width = len(leaf.answer) if isinstance(leaf.answer, dict) else 1
            stores = [
                f"out[{k + i}][j] = {prefix}r" + (f"[{i}]" if isinstance(leaf.answer, dict) else "")
                for i in range(width)
            ]
            k += width
            if self.may_be_null(leaf):
                text.append(f"    if {prefix}r is None:\n        out[{k}][j] = False\n    else:\n")
                if isinstance(leaf.answer, dict):
                    text.append(f"        {prefix}r = present({prefix}r)\n")
                text += [f"        {store}\n" for store in stores]
                k += 1
            else:
                text += [f"    {store}\n" for store in stores]
        return "".join(text)

    # The algorithm

    def algorithm_functions(self) -> Iterator[str]:
        written: dict[str, FunctionType] = {}

        def write(name: str, function: FunctionType) -> Iterator[str]:
            if written.setdefault(name, function) is not function:
                raise AssertionError(f"two functions are called {name}")
            for called_name, called in called_by(function):
                if called_name not in written and called_name not in roots:
                    yield from write(called_name, called)
            for used in function.__code__.co_names:
                value = function.__globals__.get(used)
                if isinstance(value, int) and used.isupper():
                    yield f"{used} = {value}\n"
            source = textwrap.dedent(inspect.getsource(function))
            yield INLINE + source.replace(f"def {function.__name__}(", f"def {name}(", 1)

        roots = {
            name: function
            for name, function in functions_of(self.algorithm).items()
            if name not in ("new", "span", "check_invariants")
        }
        for name, function in roots.items():
            if name not in written:
                yield from write(name, function)

    def entries(self) -> Iterator[str]:
        layout = state_layout(self.algorithm)
        yield self.packing(layout)
        for name, function in functions_of(self.algorithm).items():
            if name not in ENTRIES:
                continue
            parameters = _parameters(function)
            call = f"{name}({parameters})"
            if "state" in parameters:
                call = f"pack({call.replace('state', 'unpack(state)')})"
            yield f"{ENTRY}def run_{name}({parameters}):\n    return {call}\n"

    def packing(self, layout: tuple[bool, ...]) -> str:
        """A state as a flat tuple of numbers, which any caller can hold."""
        width = len(self.paths())
        unpacked, packed, k = [], [], 0
        for i, is_partial in enumerate(layout):
            if not is_partial:
                unpacked.append(f"state[{k}]")
                packed.append(f"state[{i}]")
                k += 1
                continue
            made, inner = [], 0
            for prefix, leaf in self.leaves:
                own = len(leaf.fields or ())
                each = ", ".join(f"state[{k + inner + n}]" for n in range(own))
                made.append(f"{prefix}Partial({each})")
                inner += own
            unpacked.append(f"Partial({', '.join(made)})" if self.monoid.members else made[0])
            packed += [path.replace("p", f"state[{i}]", 1) for path, _ in self.paths()]
            k += width
        return (
            f"{INLINE}def unpack(state):\n    return ({', '.join(unpacked)},)\n\n"
            f"{INLINE}def pack(state):\n    return ({', '.join(packed)},)\n"
        )


ENTRIES = ("bulk_insert", "bulk_evict", "slide", "slide_bounds", *LOOPS)


@cache
def state_layout(algorithm: ModuleType) -> tuple[bool, ...]:
    """For each item of an algorithm's state, whether it is a partial (or else a position)."""
    source = inspect.getsource(algorithm.new)
    tree = ast.parse(source).body[0]
    returned = next(node for node in ast.walk(tree) if isinstance(node, ast.Return)).value
    items = returned.elts if isinstance(returned, ast.Tuple) else [returned]
    return tuple(isinstance(item, ast.Call) for item in items)


def _prefixed(monoid: Monoid) -> Iterator[tuple[str, Monoid]]:
    if not monoid.members:
        yield "", monoid
    for name, member in monoid.members:
        yield f"{name}_", member


def _scalar(dtype: np.dtype[Any]) -> str:
    return "boolean" if dtype.kind == "b" else dtype.name


def _parameters(function: FunctionType) -> str:
    code = function.__code__
    return ", ".join(code.co_varnames[: code.co_argcount])


def _literal(value: Any) -> str | None:
    """A constant as text, or None if it is not a plain number, string or tuple of such."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        return repr(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return repr(value)
        return "nan" if value != value else ("inf" if value > 0 else "(-inf)")
    if isinstance(value, tuple):
        items = [_literal(item) for item in value]
        if all(item is not None for item in items):
            return f"({', '.join(map(str, items))},)" if items else "()"
    return None


def _source_tree(function: FunctionType, source: str | None) -> ast.FunctionDef | None:
    """A function's definition, or None if its source cannot be read."""
    try:
        text = source if source is not None else textwrap.dedent(inspect.getsource(function))
        tree = ast.parse(text).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        return None
    return tree if isinstance(tree, ast.FunctionDef) else None


class _Renaming(ast.NodeTransformer):
    """Gives the globals that a function uses the names under which they are written."""

    def __init__(self, renamed: dict[str, str]) -> None:
        self.renamed = renamed

    def visit_Name(self, node: ast.Name) -> ast.Name:
        if node.id in self.renamed:
            node.id = self.renamed[node.id]
        return node
