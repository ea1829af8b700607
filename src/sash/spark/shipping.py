"""Operators and policies on their way to Spark's workers.

A worker has sash, and whatever packages are installed there: what they define is sent by its
name. Everything else (a class of a notebook, of a script or of a module beside it, and the helper
functions and constants it uses) is sent by value, as cloudpickle does it, with two things added:

- the text of each function goes along. Compiled code is generated from text and kept on disk
  under its hash, so a worker finds there what the driver, or a worker before it, has compiled;
- the same bytes are unpacked once in a process. So an operator that comes with every task is one
  operator, of one class, and is compiled once.
"""

from __future__ import annotations

import hashlib
import inspect
import io
import linecache
import pickle
import sys
import sysconfig
import textwrap
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from pathlib import PurePath
from types import FunctionType, ModuleType
from typing import Any

import pyspark.cloudpickle

from sash.aggregators.sources import tree_of
from sash.operators.base import Operator
from sash.operators.errors import OperatorError
from sash.spark.holding_back import what_holds_back
from sash.windows.definitions import Definition

cloudpickle: Any = pyspark.cloudpickle.cloudpickle
PACKING = threading.RLock()
"""What is sent by value is noted in one place for all threads."""

EVERYWHERE = ("sash", "pyspark", "py4j")
"""Packages that every worker has, wherever they lie."""

INSTALLED = ("site-packages", "dist-packages")


class Shipped:
    """An operator or a window's definition, in a form that reaches a worker. Made by `shipped`."""

    def __init__(self, value: Any, data: bytes) -> None:
        self._value = value
        self._data = data

    @property
    def operator(self) -> Operator:
        assert isinstance(self._value, Operator)
        return self._value

    @property
    def definition(self) -> Definition:
        assert isinstance(self._value, Definition)
        return self._value

    def __reduce__(self) -> tuple[Any, ...]:
        return _received, (self._data,)

    def __repr__(self) -> str:
        return f"<shipped {self._value!r}, {len(self._data)} bytes>"


def shipped(value: Operator | Definition) -> Shipped:
    """An operator, or a window's definition, to be pickled for workers.

    An OperatorError says in a sentence what holds it back, if anything does.

    >>> import pickle
    >>> from sash.operators.extremes import Max
    >>> pickle.loads(pickle.dumps(shipped(Max("len")))).operator
    Max('len')
    """
    try:
        return Shipped(value, _packed(value))
    except Exception as error:  # whatever an object says that does not want to be pickled
        raise OperatorError(what_holds_back(value, error, _packed)) from error


def _received(data: bytes) -> Shipped:
    return Shipped(_unpacked(data), data)


# Packing


def _packed(value: Any, within: frozenset[type] = frozenset()) -> bytes:
    """A value as bytes, with the text of all functions that are among them."""
    with io.BytesIO() as file, PACKING, _by_value_again():
        packer = _Packer(file, within)
        packer.dump(value)
        return pickle.dumps((repr(value), packer.texts, file.getvalue()))


class _Packer(cloudpickle.Pickler):  # type: ignore[misc]
    """cloudpickle's, which takes the texts of functions along.

    within: the classes that are being packed; another class is packed apart, so that a worker
    knows it again in another operator.
    """

    def __init__(self, file: io.BytesIO, within: frozenset[type]) -> None:
        super().__init__(file)
        self.within = within
        self.texts: dict[str, str] = {}

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, (FunctionType, ModuleType, type)):
            _send_by_value(value)
        found = super().reducer_override(value)
        if found is NotImplemented:  # it is sent by its name
            return found
        if isinstance(value, FunctionType):
            text = _text(value)
            return found if text is None else super().reducer_override(self._retold(value, text))
        if type(value) is type and issubclass(value, Operator):
            if value in self.within:
                return _empty_class, _outline(value), _content(value), None, None, _fill_class
            return _unpacked, (_packed(value, self.within | {value}),)
        return found

    def _retold(self, function: FunctionType, text: str) -> FunctionType:
        """The function as if it had been written in a file of its own."""
        name = f"<sash {hashlib.sha256(text.encode()).hexdigest()[:32]}>"
        self.texts[name] = text
        made = FunctionType(
            function.__code__.replace(co_filename=name, co_firstlineno=1),
            function.__globals__,
            function.__name__,
            function.__defaults__,
            function.__closure__,
        )
        made.__kwdefaults__ = function.__kwdefaults__
        made.__annotations__ = function.__annotations__
        made.__qualname__ = function.__qualname__
        made.__module__ = function.__module__
        made.__doc__ = function.__doc__
        made.__dict__.update(function.__dict__)
        return made


def _text(function: FunctionType) -> str | None:
    """The text of a function, if it is what runs."""
    if tree_of(function) is None:
        return None
    return textwrap.dedent(inspect.getsource(function))


# An operator's class. cloudpickle would make two classes one if only what they use has changed.


def _outline(cls: type) -> tuple[Any, ...]:
    return cls.__name__, cls.__bases__, cls.__module__, cls.__qualname__


def _content(cls: type) -> dict[str, Any]:
    without = ("__dict__", "__weakref__", "__module__", "__qualname__", "__firstlineno__")
    return {name: value for name, value in vars(cls).items() if name not in without}


def _empty_class(name: str, bases: tuple[type, ...], module: str, qualname: str) -> type:
    return type(name, bases, {"__module__": module, "__qualname__": qualname})


def _fill_class(cls: type, content: dict[str, Any]) -> None:
    for name, value in content.items():
        setattr(cls, name, value)


# By name or by value


def _send_by_value(value: Any) -> None:
    """Let cloudpickle send by value what no package that is installed has."""
    name = value.__name__ if isinstance(value, ModuleType) else value.__module__
    module = sys.modules.get(name)
    if module is None or name == "__main__" or is_installed(module):
        return
    cloudpickle.register_pickle_by_value(module)


@contextmanager
def _by_value_again() -> Iterator[None]:
    """What cloudpickle sends by value afterwards is what it did before."""
    before = cloudpickle.list_registry_pickle_by_value()
    try:
        yield
    finally:
        for name in cloudpickle.list_registry_pickle_by_value() - before:
            cloudpickle.unregister_pickle_by_value(sys.modules[name])


@cache
def is_installed(module: ModuleType) -> bool:
    """Whether a module is Python's own, or that of a package that a worker has too."""
    if module.__name__.partition(".")[0] in EVERYWHERE:
        return True
    file = getattr(module, "__file__", None)
    if file is None:
        return getattr(module.__spec__, "origin", None) in ("built-in", "frozen")
    path = PurePath(file)
    own = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib")]
    return any(part in INSTALLED for part in path.parts) or any(
        path.is_relative_to(folder) for folder in own
    )


# Unpacking


@lru_cache(maxsize=1024)
def _unpacked(data: bytes) -> Any:
    """What was packed; for the same bytes, the same object."""
    name, texts, content = pickle.loads(data)
    for file, text in texts.items():  # where `inspect` looks for it
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    try:
        return pickle.loads(content)
    except (ImportError, AttributeError) as error:
        raise OperatorError(
            f"{name} cannot be used on this worker: {error}; install what is missing there, or "
            f"define it beside the operator."
        ) from error
