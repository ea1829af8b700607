"""An algorithm in machine code: its functions and an operator's, fused into one loop by Numba.

For each pair a small Python module is written: the operator's functions, the primitives for the
fields of its partial, the algorithm's functions as they stand in their files, and entry points.
The file is named by the hash of its text and lies in a cache folder, where Numba keeps the machine
code beside it: another process that needs the same pair finds it there. An operator that uses what
cannot be written down as text (an object of the caller's, a function without source) is compiled
in this process only.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import os
import sys
import tempfile
import textwrap
import threading
from collections.abc import Callable
from functools import cache, cached_property
from pathlib import Path
from pickle import UnpicklingError
from types import FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, ir_utils, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.errors import NumbaError
from numba.extending import intrinsic, overload

from sash.aggregators.generating import Writer
from sash.aggregators.slide_policies import NotCompiledError, SlidePolicy
from sash.operators.errors import OperatorError
from sash.operators.monoid import Monoid


def as_tuple(result: Any) -> Any:
    """A one-field partial may be returned bare; which, is settled while compiling."""
    raise NotImplementedError


@overload(as_tuple)
def _as_tuple(result):  # type: ignore[no-untyped-def]  # Numba compares the parameters
    if isinstance(result, types.BaseTuple):
        return lambda result: result
    return lambda result: (result,)


@intrinsic
def present(typing_context, optional):  # type: ignore[no-untyped-def]
    """The value of an optional that is known to be there."""

    def unwrap(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        if not isinstance(optional, types.Optional):
            return arguments[0]
        return context.make_helper(builder, optional, value=arguments[0]).data

    kind = optional.type if isinstance(optional, types.Optional) else optional
    return kind(optional), unwrap


@intrinsic
def clock(typing_context):  # type: ignore[no-untyped-def]
    """The processor's count of cycles: a clock that costs next to nothing to read."""

    def read(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        kind = ir.FunctionType(ir.IntType(64), [])
        counter = cgutils.get_or_insert_function(  # type: ignore[no-untyped-call]
            builder.module, kind, "llvm.readcyclecounter"
        )
        return builder.call(counter, [])

    return types.int64(), read


@intrinsic
def same_bits(typing_context, a, b):  # type: ignore[no-untyped-def]
    """Whether two numbers of one type are the same to the bit."""

    def compare(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        one, other = arguments
        if isinstance(a, types.Float):
            whole = ir.IntType(a.bitwidth)
            one, other = builder.bitcast(one, whole), builder.bitcast(other, whole)
        return builder.icmp_unsigned("==", one, other)

    return types.boolean(a, b), compare


@intrinsic
def load_shared(typing_context, desk, i):  # type: ignore[no-untyped-def]
    """A number of an int64 array that another thread may write."""

    def read(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        cell = _cell(context, builder, signature, arguments)
        return builder.load_atomic(cell, "acquire", 8)

    return types.int64(desk, types.int64), read


@intrinsic
def store_shared(typing_context, desk, i, number):  # type: ignore[no-untyped-def]
    """Write a number of an int64 array that another thread waits for."""

    def write(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        cell = _cell(context, builder, signature, arguments)
        builder.store_atomic(arguments[2], cell, "release", 8)
        return context.get_dummy_value()

    return types.none(desk, types.int64, types.int64), write


@intrinsic
def take_shared(typing_context, desk, i, number):  # type: ignore[no-untyped-def]
    """Raise a number of an int64 array to this one; whether it was lower."""

    def take(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        cell = _cell(context, builder, signature, arguments)
        before = builder.atomic_rmw("max", cell, arguments[2], "acq_rel")
        return builder.icmp_signed("<", before, arguments[2])

    return types.boolean(desk, types.int64, types.int64), take


def _cell(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    return builder.gep(array.data, [arguments[1]])


@intrinsic
def pause(typing_context):  # type: ignore[no-untyped-def]
    """Offer this core to another thread; returns at once if none wants it."""

    def offer(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        kind = ir.FunctionType(ir.IntType(32), [])
        name = "SwitchToThread" if os.name == "nt" else "sched_yield"
        function = cgutils.get_or_insert_function(builder.module, kind, name)  # type: ignore[no-untyped-call]
        builder.call(function, [])
        return context.get_dummy_value()

    return types.none(), offer


LABELS: Any = getattr(ir_utils, "_the_max_label", None)
LONG_LABEL = 1 << 1_000


def keep_labels_short() -> None:
    """Let Numba number blocks of code from the start again, between two functions that it compiles.

    It goes on from one function to the next, and whenever it puts one in place of a call whose code
    holds another such already, the number it has come to doubles. So a process that compiles some
    150 operators comes to names of a thousand digits, with which LLVM refuses each one more.
    """
    if LABELS is not None and LABELS._value > LONG_LABEL:
        with global_compiler_lock:  # held by whoever compiles
            LABELS._value = 0


class Compiled:
    """The entry points of one algorithm for one operator; each is compiled when first called."""

    def __init__(
        self,
        algorithm: ModuleType,
        monoid: Monoid,
        nulls: tuple[bool, ...],
        nan: bool = False,
        policy: SlidePolicy | None = None,
    ) -> None:
        self.monoid = monoid
        self.failed: dict[str, str] = {}
        self.writer = Writer(algorithm, monoid, nulls, nan, policy)
        self.text = self.writer.text()
        self.module = _load(self.text, {k: _callable(v) for k, v in self.writer.injected.items()})

    def call(self, entry: str, *args: Any) -> Any:
        """Run an entry point; an operator that does not compile gets a sentence."""
        keep_labels_short()
        try:
            return getattr(self.module, f"run_{entry}")(*args)
        except NumbaError as error:
            raise OperatorError(self._blame(error)) from error
        except ZeroDivisionError as error:
            raise ZeroDivisionError(f"{self.monoid.name} divides by zero on some window") from error
        except (UnpicklingError, EOFError):  # the machine code on disk is damaged
            _forget_code(self.module)
            self.module = _load(self.text, {}, fresh=True)
            return getattr(self.module, f"run_{entry}")(*args)

    def ready(self, entry: str, *args: Any) -> None:
        """Compile an entry point that depends on a policy, which may be such that this fails."""
        function = getattr(self.module, f"run_{entry}")
        if function.signatures:
            return
        if entry in self.failed:  # Numba would take as long to find out again
            raise NotCompiledError(self.failed[entry])
        keep_labels_short()
        try:
            function.compile(tuple(map(numba.typeof, args)))
        except (UnpicklingError, EOFError):
            return  # `call` knows what to do
        except Exception as error:  # Numba's own, and whatever it stumbles over
            self.failed[entry] = f"the policy does not compile: {_first_reason(error)}"
            raise NotCompiledError(self.failed[entry]) from error

    @cached_property
    def answer_types(self) -> list[tuple[str, np.dtype[Any]]]:
        """The answer's fields: one without a name, or several."""
        found = []
        for prefix, leaf in self.writer.leaves:
            if isinstance(leaf.answer, dict):
                found += [(name, np.dtype(kind)) for name, kind in leaf.answer.items()]
            elif leaf.answer is not None:
                found.append(("", np.dtype(leaf.answer)))
            else:
                found.append(("", self._inferred(prefix, leaf)))
        return found

    @cached_property
    def nullable(self) -> list[bool]:
        """For each leaf, whether a mask tells which of its answers are null."""
        return [self.writer.masks(leaf) for _, leaf in self.writer.leaves]

    def _inferred(self, prefix: str, leaf: Monoid) -> np.dtype[Any]:
        entry = getattr(self.module, f"run_{prefix}lower")
        keep_labels_short()
        try:
            if not entry.signatures:
                entry(
                    *[
                        dtype.type(value)
                        for (_, dtype), value in zip(
                            leaf.fields or (), leaf.identity(), strict=True
                        )
                    ]
                )
            kind = entry.nopython_signatures[0].return_type
        except NumbaError as error:
            raise OperatorError(self._blame(error)) from error
        except (ArithmeticError, ValueError):
            kind = entry.nopython_signatures[0].return_type
        kind = kind.type if isinstance(kind, types.Optional) else kind
        if isinstance(kind, types.BaseTuple):
            raise OperatorError(
                f"{leaf.name}.lower returns several values: name them and their types with "
                f'answer={{"name": "float64", …}} in the decorator.'
            )
        try:
            return np.dtype(numba.np.numpy_support.as_dtype(kind))
        except (NotImplementedError, NumbaError) as error:
            raise OperatorError(
                f"{leaf.name}.lower returns {kind}, which is not a number; "
                f"use partial=object to run it as plain Python."
            ) from error

    def _blame(self, error: NumbaError) -> str:
        """Which function of which operator does not compile, and why, in a sentence."""
        for prefix, leaf in self.writer.leaves:
            partial = _numba_partial(getattr(self.module, f"{prefix}Partial"), leaf)
            value = [types.float64] * leaf.inputs  # what it is given in fact is not known here
            row = [types.int64] if leaf.uses_row else []
            calls: dict[str, tuple[Any, ...]] = {
                "identity": (),
                "lift": (*value, *row),
                "combine": (partial, partial),
                "inverse": (partial, partial),
                "lower": (partial,),
            }
            for name, signature in calls.items():
                function = getattr(self.module, f"{prefix}{name}", None)
                if function is None:
                    continue
                try:
                    numba.njit(_nrt=False)(function.py_func).compile(signature)  # type: ignore[call-overload]
                except NumbaError as own:
                    return (
                        f"{leaf.name}.{name} does not compile: {_first_reason(own)} Write it with "
                        f"numbers and math only, or use partial=object to run it as plain Python."
                    )
        return f"{self.monoid.name} does not compile: {_first_reason(error)}"


@cache
def compile_plain(function: FunctionType, **settled: int) -> Callable[..., Any]:
    """A function over arrays, compiled as it stands and kept in the same cache.

    `settled` are the values of names in capitals that its file leaves open.
    """
    source = textwrap.dedent(inspect.getsource(function))
    known = {**function.__globals__, **settled}
    constants = [n for n in function.__code__.co_names if n.isupper() and isinstance(known[n], int)]
    lines = ["from __future__ import annotations", "from numba import njit"]
    lines += [f"{name} = {known[name]}" for name in constants]
    text = "\n".join(lines) + f"\n\n\n@njit(nogil=True, cache=True)\n{source}"
    compiled: Callable[..., Any] = getattr(_load(text, {}), function.__name__)
    return compiled


@cache
def _writable_cache() -> Path | None:
    """The folder for generated modules, ours alone; None if there is none to be had."""
    chosen = os.environ.get("SASH_CACHE_DIR")
    own = getattr(os, "getuid", lambda: "user")()
    ours = [
        os.environ.get("XDG_CACHE_HOME", "~/.cache") + "/sash",
        f"{tempfile.gettempdir()}/sash-{own}",
    ]
    for name in [chosen] if chosen else ours:
        try:
            folder = Path(name).expanduser()
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except (OSError, RuntimeError):  # not writable; no home
            continue
        if os.access(folder, os.W_OK) and (own == "user" or folder.stat().st_uid == own):
            return folder
    return None


def _callable(value: Any) -> Any:
    """What could not be written down, as generated code can use it."""
    return numba.njit(value) if isinstance(value, FunctionType) else value


LOADING = threading.Lock()


def _load(text: str, injected: dict[str, Any], fresh: bool = False) -> ModuleType:
    """Import generated text, from the cache folder if machine code can be kept for it."""
    with LOADING:
        return _loaded(text, injected, fresh)


def _forget_code(module: ModuleType) -> None:
    """Remove what Numba has kept for a generated module."""
    source = Path(str(module.__file__))
    for path in source.parent.rglob(f"{source.stem}*.nb?"):
        path.unlink(missing_ok=True)


def _loaded(text: str, injected: dict[str, Any], fresh: bool) -> ModuleType:
    digest = hashlib.sha256(text.encode()).hexdigest()[:32]
    name = f"sash_{digest}"
    if not injected and not fresh and name in sys.modules:
        return sys.modules[name]
    folder = None if injected else _writable_cache()
    if folder is None:
        module = ModuleType(name)
        module.__dict__.update(injected)
        exec(
            compile(text.replace("cache=True", "cache=False"), f"<{name}>", "exec"), module.__dict__
        )
        return module
    path = folder / f"{name}.py"
    if not path.exists() or path.read_text() != text:
        _write_at_once(path, text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[name] = module
    return module


def _write_at_once(path: Path, text: str) -> None:
    """Another process sees the old file or the whole new one."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
        file.write(text)
    os.replace(file.name, path)


def _numba_partial(make: Any, leaf: Monoid) -> Any:
    return types.NamedTuple(  # type: ignore[no-untyped-call]
        [numba.from_dtype(dtype) for _, dtype in leaf.fields or ()], make
    )


def _first_reason(error: Exception) -> str:
    """The line of Numba's report that tells what is wrong."""
    lines = [line.strip() for line in str(error).splitlines()]
    lines = [s for s in lines if s and not s.startswith(("Failed in", "During:", "File", ">>>"))]
    telling = [s for s in lines if any(word in s for word in TELLING)]
    return (telling or lines or ["for an unknown reason"])[0].rstrip(".:") + "."


TELLING = ("annot", "nknown", "No implementation", "not supported", "ntyped", "nvalid use")
