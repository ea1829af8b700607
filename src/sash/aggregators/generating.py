"""The text of a compiled module: an algorithm's functions and an operator's, side by side.

    the operator's own functions, with their options settled      m0_own_lift, m0_own_combine, …
    the same, returning named tuples of the fields' types         m0_lift, m0_combine, …
    the primitives for those fields                               get, put, read, answer, …
    the algorithm's functions, as they stand in their files       insert, evict, query, slide, …
    entry points, which take and give only arrays and numbers     run_slide, run_roll_long, …

For a composite there is an m0_, m1_, … for each member.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from functools import cache
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from sash.aggregators import driving
from sash.aggregators.binding import COMPILED_ONLY, all_functions_of, called_by
from sash.aggregators.generating_many import moving, windows
from sash.aggregators.generating_policy import NO_RISKS, policy_text
from sash.aggregators.slide_policies import SlidePolicy
from sash.aggregators.sources import (
    Renaming,
    globals_used,
    is_ours,
    literal,
    may_be_null,
    tree_of,
)
from sash.operators.errors import OperatorError
from sash.operators.monoid import Monoid

HEADER = '''\
"""Written by sash: {title}."""
from __future__ import annotations
from collections import namedtuple
from math import inf, nan
from numba import njit, {types}
from sash.aggregators.compiling import as_tuple, clock, present, same_bits
from sash.aggregators.compiling import load_shared, pause, store_shared, take_shared
'''
SCALARS = "boolean, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64"
INLINE = '@njit(inline="always")\n'
# For an algorithm's functions that it lists in APART, as they are long and seldom called: compiled
# once, not at every place that calls them.
CALLED = "@njit(_nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True{more})\n"
# Nothing is allocated inside, so arrays need not be counted: that would cost more than the ⊕.
ENTRY = "@njit(nogil=True, cache=True, _nrt=False{more})\n"
# Our own operators divide by nothing that can be zero, and lose nothing by a fused multiply-add.
OURS = ', error_model="numpy", fastmath={"contract"}'
KNOWN_MODULES = ("math", "numpy")
"""Modules that do not change under us; a value from any other is not kept on disk."""


class Writer:
    """Writes the module for one algorithm and one operator."""

    def __init__(
        self,
        algorithm: ModuleType,
        monoid: Monoid,
        nulls: tuple[bool, ...],
        nan: bool = False,
        policy: SlidePolicy | None = None,
    ) -> None:
        """nulls: which leaves' rows may be null; nan: write NaN for an answer that is null.

        policy: the slide policy by which values leave, if any do.
        """
        self.policy = policy
        self.nan = nan
        self.algorithm = algorithm
        self.monoid = monoid
        self.nulls = nulls
        self.injected: dict[str, Any] = {}
        self.written: dict[Any, str] = {}
        self.leaves = [(f"m{k}_", leaf) for k, leaf in enumerate(monoid.leaves())]
        self.policy_text, self.policy_risks = "", NO_RISKS
        if policy is not None:
            self.policy_text, self.policy_risks = policy_text(self, policy)
        # A policy that divides by zero is to say so, as it does in Python.
        self.more = OURS if is_ours(monoid) and not self.policy_risks.divides else ""
        self.called = CALLED.format(more=self.more)

    def text(self) -> str:
        title = f"{self.algorithm.__name__.rpartition('.')[2]} for {self.monoid.name}"
        parts = [HEADER.format(title=title, types=SCALARS)]
        parts += [self.operator(prefix, leaf) for prefix, leaf in self.leaves]
        parts += [self.whole(), self.rings(), self.rows(), self.answers()]
        layout = state_layout(self.algorithm)
        parts += [self.packing(layout), windows(self, layout), moving(self)]
        parts.append(self.policy_text)
        parts += list(self.algorithm_functions())
        parts += list(self.entries())
        return "\n".join(parts)

    # The operator

    def operator(self, prefix: str, leaf: Monoid) -> str:
        assert leaf.fields is not None
        names = [name for name, _ in leaf.fields]
        text = [f'{prefix}Partial = namedtuple("Partial", {names!r})\n']
        for name, function in leaf.functions.items():
            text.append(self.function(function, f"{prefix}own_{name}", leaf))
            arguments = [f"a{i}" for i in range(function.__code__.co_argcount)]
            call = f"{prefix}own_{name}({', '.join(arguments)})"
            text.append(f"{INLINE}def {prefix}{name}({', '.join(arguments)}):\n")
            if name == "lower":
                if leaf.guarded:
                    test = " and ".join(f"a0[{i}] == none[{i}]" for i in range(len(names)))
                    text.append(f"    none = {prefix}identity()\n")
                    text.append(f"    if {test}:\n        return None\n")
                text.append(f"    return {call}\n\n")
            else:
                made = self.cast(prefix, leaf, "found", 0)
                text.append(f"    found = as_tuple({call})\n    return {made}\n\n")
        fields = ", ".join(f"f{i}" for i in range(len(names)))
        text.append(
            f"@njit(cache=True)\ndef run_{prefix}lower({fields}):\n"
            f"    return {prefix}lower({prefix}Partial({fields}))\n"
        )
        return "".join(text)

    def cast(self, prefix: str, leaf: Monoid, source: str, first: int) -> str:
        """The partial whose fields stand in a tuple from an index on."""
        each = [
            f"{_scalar(dtype)}({source}[{first + i}])"
            for i, (_, dtype) in enumerate(leaf.fields or ())
        ]
        return f"{prefix}Partial({', '.join(each)})"

    def function(
        self, function: FunctionType, name: str, leaf: Monoid, takes: int | None = None
    ) -> str:
        """A user's function as text, its options settled and its globals under our names.

        takes: how many arguments it is called with, if it may have more that have defaults.
        """
        source = leaf.sources.get(function.__name__) if "_own_" in name else None
        tree = tree_of(function, source)
        keywords = dict(function.__kwdefaults__ or {})
        if takes is not None and function.__code__.co_argcount > takes:
            names = function.__code__.co_varnames[takes : function.__code__.co_argcount]
            defaults = (function.__defaults__ or ())[-len(names) :]
            keywords.update(zip(names, defaults, strict=True))
        if tree is None:
            if keywords and takes is None:
                raise OperatorError(
                    f"{leaf.name}.{function.__name__} has options and its source cannot be read; "
                    f"define the operator in a file, or use partial=object."
                )
            self.injected[name] = function
            return ""
        lines, renamed = [], {}
        for used, value in globals_used(function).items():
            renamed[used], line = self.referred(used, value, leaf)
            lines.append(line)
        tree = Renaming(renamed).visit(tree)
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
        if takes is not None:
            tree.args.args, tree.args.defaults = tree.args.args[:takes], []
        for argument in tree.args.args:
            argument.annotation = None
        return "".join(lines) + INLINE + ast.unparse(ast.fix_missing_locations(tree)) + "\n\n"

    def constant(self, name: str, value: Any) -> str:
        text = literal(value)
        if text is None:
            self.injected[name] = value
            return name
        return text

    def referred(self, used: str, value: Any, leaf: Monoid) -> tuple[str, str]:
        """The name under which a global of a user's function is written, and the line for it."""
        text = literal(value)
        # Constants by their text: which of them are one object differs between processes.
        key = id(value) if text is None else (used, text)
        if key in self.written:
            return self.written[key], ""
        name = self.written[key] = f"use{len(self.written)}_{used}"
        if text is not None:
            return name, f"{name} = {text}\n"
        if isinstance(value, ModuleType) and value.__name__.split(".")[0] in KNOWN_MODULES:
            return name, f"import {value.__name__} as {name}\n"
        if isinstance(value, (BuiltinFunctionType, np.ufunc)):
            home = "numpy" if isinstance(value, np.ufunc) else value.__module__
            if home in KNOWN_MODULES:
                return name, f"from {home} import {value.__name__} as {name}\n"
        if isinstance(value, FunctionType) and tree_of(value) is not None:
            return name, self.function(value, name, leaf)
        self.injected[name] = value
        return name, ""

    def whole(self) -> str:
        """The primitives of the whole operator: its only leaf's, or each member's."""
        wanted = {"identity": 0, "combine": 2} | ({"inverse": 2} if self.monoid.invertible else {})
        if not self.monoid.members:
            return "".join(f"{name} = m0_{name}\n" for name in wanted)
        names = [f"m{k}" for k in range(len(self.leaves))]
        text = [f'Partial = namedtuple("Partial", {names!r})\n']
        for name, arity in wanted.items():
            arguments = [f"a{i}" for i in range(arity)]
            each = ", ".join(
                f"{prefix}{name}({', '.join(f'{a}[{k}]' for a in arguments)})"
                for k, (prefix, _) in enumerate(self.leaves)
            )
            head = f"{INLINE}def {name}({', '.join(arguments)}):\n"
            text.append(f"{head}    return Partial({each})\n\n")
        return "".join(text)

    # Rings, rows and answers

    def fields(self, partial: str) -> list[str]:
        """Each field of a whole partial, in the order in which rings hold them."""
        found = []
        for k, (_, leaf) in enumerate(self.leaves):
            part = f"{partial}[{k}]" if self.monoid.members else partial
            found += [f"{part}[{i}]" for i in range(len(leaf.fields or ()))]
        return found

    def made(self, source: str, first: int) -> str:
        """A whole partial, of the fields that stand in a tuple from an index on."""
        parts = []
        for prefix, leaf in self.leaves:
            parts.append(self.cast(prefix, leaf, source, first))
            first += len(leaf.fields or ())
        return f"Partial({', '.join(parts)})" if self.monoid.members else parts[0]

    def rings(self) -> str:
        fields = self.fields("p")
        read = ", ".join(f"ring[{i}][j]" for i in range(len(fields)))
        puts = "".join(f"    ring[{i}][j] = {field}\n" for i, field in enumerate(fields))
        text = []
        for reading, writing, fold in (
            ("get", "put", "uint64(i) & uint64(ring[0].size - 1)"),
            ("load", "store", "uint64(i)"),
        ):
            text.append(f"{INLINE}def {reading}(ring, i):\n    j = {fold}\n    f = ({read},)\n")
            text.append(f"    return {self.made('f', 0)}\n\n")
            text.append(f"{INLINE}def {writing}(ring, i, p):\n    j = {fold}\n{puts}\n")
            whole = fold.replace("ring[0]", "ring")
            head = self.called if hasattr(self.algorithm, "APART") else INLINE
            text.append(f"{head}def {reading}_int(ring, i):\n    return ring[{whole}]\n\n")
            text.append(f"{head}def {writing}_int(ring, i, n):\n    ring[{whole}] = n\n\n")
        text.append(f"{INLINE}def length_of(ring):\n    return ring[0].size\n\n")
        text.append(f"{INLINE}def commutative():\n    return {self.monoid.commutative}\n\n")
        both = zip(self.fields("a"), self.fields("b"), strict=True)
        # To the bit, and not by `and`: NaN is not equal to itself, and each test would be a branch.
        alike = " & ".join(f"same_bits({a}, {b})" for a, b in both)
        text.append(f"{INLINE}def equal(a, b):\n    return {alike}\n\n")
        return "".join(text)

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
        if not self.monoid.members:
            return "".join(text) + "read = m0_read\n"
        each = ", ".join(f"{prefix}read(rows, i)" for prefix, _ in self.leaves)
        text.append(f"{INLINE}def read(rows, i):\n    return Partial({each})\n\n")
        return "".join(text)

    def answers(self) -> str:
        text, k = [f"{INLINE}def answer(out, i, p):\n    j = uint64(i)\n"], 0
        for m, (prefix, leaf) in enumerate(self.leaves):
            part = f"p[{m}]" if self.monoid.members else "p"
            found = f"{prefix}found"
            text.append(f"    {found} = {prefix}lower({part})\n")
            several = isinstance(leaf.answer, dict)
            width = len(leaf.answer) if several else 1
            stores = [
                f"out[{k + i}][j] = {found}" + (f"[{i}]" if several else "") for i in range(width)
            ]
            k += width
            if self.writes_nan(leaf):
                text.append(f"    if {found} is None:\n        out[{k - 1}][j] = nan\n    else:\n")
                text += [f"        {store}\n" for store in stores]
            elif may_be_null(leaf):
                text.append(f"    if {found} is None:\n        out[{k}][j] = False\n    else:\n")
                if several:
                    text.append(f"        {found} = present({found})\n")
                text += [f"        {store}\n" for store in stores]
                k += 1
            else:
                text += [f"    {store}\n" for store in stores]
        return "".join(text)

    def writes_nan(self, leaf: Monoid) -> bool:
        """Whether NaN stands for null among this leaf's answers, so that no mask is needed."""
        is_float = str(leaf.answer) in ("float64", "float32")
        return self.nan and is_float and may_be_null(leaf)

    def masks(self, leaf: Monoid) -> bool:
        """Whether a mask tells which of this leaf's answers are null."""
        return may_be_null(leaf) and not self.writes_nan(leaf)

    # The algorithm

    def algorithm_functions(self) -> Iterator[str]:
        written: dict[str, FunctionType] = {}
        apart = getattr(self.algorithm, "APART", ())

        def write(name: str, function: FunctionType) -> Iterator[str]:
            if written.setdefault(name, function) is not function:
                raise AssertionError(f"two functions are called {name}")
            for called_name, called in called_by(function):
                called = roots.get(called_name, called)
                if called_name not in written:
                    yield from write(called_name, called)
            for used in function.__code__.co_names:
                value = function.__globals__.get(used)
                if isinstance(value, int) and used.isupper():
                    yield f"{used} = {value}\n"
            source = textwrap.dedent(inspect.getsource(function))
            # A policy is the module's own: passed on, it could not be kept on disk.
            source = source.replace(", policy: Any)", ")").replace(", policy)", ")")
            head = self.called if name in apart else INLINE
            yield head + source.replace(f"def {function.__name__}(", f"def {name}(", 1)

        roots = all_functions_of(self.algorithm)
        for name in self.entry_names():
            if name not in written:
                yield from write(name, roots[name])

    def entry_names(self) -> list[str]:
        """The functions that are called from outside, of those the algorithm has."""
        names = (*ENTRIES, *getattr(self.algorithm, "ENTRIES", ()))
        there = all_functions_of(self.algorithm)
        shared = driving.query_last
        lacking = {entry for entry, need in NEEDED.items() if there.get(need) in (None, shared)}
        lacking |= set() if self.policy else POLICY_ENTRIES
        return [name for name in names if name in there and name not in lacking]

    def entries(self) -> Iterator[str]:
        head = ENTRY.format(more=self.more)
        functions = all_functions_of(self.algorithm)
        for name in self.entry_names():
            parameters = _parameters(functions[name])
            call = f"{name}({parameters})"
            if "state" in parameters.split(", "):
                call = f"pack({call.replace('state', 'unpack(state)')})"
            yield f"{head}def run_{name}({parameters}):\n    return {call}\n"

    def packing(self, layout: tuple[bool, ...]) -> str:
        """A state as a flat tuple of numbers, which any caller can hold."""
        width = len(self.fields("p"))
        unpacked, packed, k = [], [], 0
        for i, is_partial in enumerate(layout):
            unpacked.append(self.made("state", k) if is_partial else f"int64(state[{k}])")
            packed += self.fields(f"state[{i}]") if is_partial else [f"state[{i}]"]
            k += width if is_partial else 1
        return (
            f"{INLINE}def unpack(state):\n    return ({', '.join(unpacked)},)\n\n"
            f"{INLINE}def pack(state):\n    return ({', '.join(packed)},)\n"
        )


ENTRIES = (
    *("bulk_insert", "bulk_evict", "regrow"),
    *("slide", "slide_ranges", "slide_bounds", "follow", "timed_slide", "timed_bounds"),
    "share",
    *COMPILED_ONLY,
)
"""What every algorithm can be asked to do; one with more to offer names it in its own `ENTRIES`."""

POLICY_ENTRIES = {"slide_policy", "follow_policy_keys"}
NEEDED = {
    **{
        "slide_ranges": "query_last",
        "save_values": "value",
        "load_values": "value",
    },
    **dict.fromkeys(POLICY_ENTRIES, "evict_while"),
}
"""What an algorithm must have of its own to be asked for some of these."""


@cache
def state_layout(algorithm: ModuleType) -> tuple[bool, ...]:
    """For each item of an algorithm's state, whether it is a partial (or else a position)."""
    source = inspect.getsource(algorithm.new)
    tree = ast.parse(source).body[0]
    returned = next(node for node in ast.walk(tree) if isinstance(node, ast.Return)).value
    items = returned.elts if isinstance(returned, ast.Tuple) else [returned]
    return tuple(isinstance(item, ast.Call) for item in items)


def _scalar(dtype: np.dtype[Any]) -> str:
    return "boolean" if dtype.kind == "b" else dtype.name


def _parameters(function: FunctionType) -> str:
    code = function.__code__
    return ", ".join(code.co_varnames[: code.co_argcount])
