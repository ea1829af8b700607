"""Keys as small numbers: each key that comes gets the next free code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from sash.aggregators.columns import Column, column
from sash.aggregators.compiling import compile_plain

Array = np.ndarray[Any, Any]
DENSE = 4
"""Whole numbers are looked up in a table if it is at most so many times as long as the rows."""


class Keys:
    """The keys of a window by code, and their codes.

    Whole numbers from 0 on are found in a table, if it need not be much longer than the rows; all
    other keys in a dict.
    """

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.free: list[int] = []
        self._codes: dict[Any, int] = {}
        self._table = np.zeros(0, np.int64)  # code, or -1

    def __len__(self) -> int:
        """How many codes are in use or free."""
        return len(self.values)

    def code(self, key: Any) -> int | None:
        """The code of a key; None if it has none."""
        key = _as_key(key)
        if self._in_table(key):
            code = int(self._table[key])
            return None if code < 0 else code
        try:
            return self._codes.get(key)
        except TypeError:
            raise TypeError(f"{key!r} cannot be a key: it can be changed.") from None

    def _in_table(self, key: Any) -> bool:
        return type(key) is int and 0 <= key < len(self._table)

    def codes(self, given: list[Column]) -> Array:
        """The code of each row's key; several columns are one key together."""
        if len(given) == 1:
            return self._of_column(given[0])
        parts, sizes = zip(*(_numbered(c) for c in given), strict=True)
        inverse = np.zeros(len(given[0]), np.int64)
        first = inverse
        for part, size in zip(parts, sizes, strict=True):
            mixed = inverse * max(len(size), 1) + part  # of at most as many values as rows
            _, first, inverse = np.unique(mixed, return_index=True, return_inverse=True)
        keys = [
            tuple(size[part[row]] for part, size in zip(parts, sizes, strict=True))
            for row in first.tolist()
        ]
        return self._each(keys, first)[inverse]

    def _of_column(self, given: Column) -> Array:
        numbers = given.numbers
        plain = numbers is not None and numbers.dtype.kind in "iu" and given.valid is None
        if plain and not given.is_time and not given.is_bool and len(given):
            assert numbers is not None
            low, high = int(numbers.min()), int(numbers.max())
            if low >= 0 and high < max(DENSE * len(given), len(self._table), 2**16):
                return self._by_table(numbers.astype(np.int64, copy=False), high)
        codes, distinct = _numbered(given)
        first = np.full(len(distinct), len(given), np.int64)
        np.minimum.at(first, codes, np.arange(len(given)))
        return self._each(distinct, first)[codes]

    def _by_table(self, numbers: Array, high: int) -> Array:
        self._widen(high)
        free = np.array(self.free[-len(numbers) :], np.int64)
        codes, new = np.empty(len(numbers), np.int64), np.empty(len(numbers), np.int64)
        count = compile_plain(look_up)(numbers, self._table, codes, new, free, len(self.values))
        keys = new[:count].tolist()
        reused = min(len(free), count)
        for key in keys[:reused]:
            self.values[self.free.pop()] = key
        self.values += keys[reused:]
        return codes

    def _widen(self, high: int) -> None:
        """A table as long as this; keys that it reaches move there."""
        if high < len(self._table):
            return
        table = np.full(max(high + 1, 2 * len(self._table)), -1, np.int64)
        table[: len(self._table)] = self._table
        self._table = table
        for key in [key for key in self._codes if self._in_table(key)]:
            table[key] = self._codes.pop(key)

    def _each(self, keys: list[Any], first: Array) -> Array:
        """The codes of distinct keys; new ones are numbered in the order in which they came."""
        known = [self.code(key) for key in keys]
        found = np.array([-1 if code is None else code for code in known], np.int64)
        new = np.flatnonzero(found < 0)
        for i in new[np.argsort(first[new], kind="stable")].tolist():
            code = self.code(keys[i])  # 0.0 and -0.0 are two values and one key
            found[i] = self._add(keys[i]) if code is None else code
        return found

    def _add(self, key: Any) -> int:
        if self.free:
            code = self.free.pop()
            self.values[code] = key
        else:
            code = len(self.values)
            self.values.append(key)
        self._point(key, code)
        return code

    def _point(self, key: Any, code: int) -> None:
        key = _as_key(key)
        if self._in_table(key):
            self._table[key] = code
        else:
            self._codes[key] = code

    def forget(self, codes: Array) -> None:
        """These keys are gone; others may get their codes."""
        for code in codes.tolist():
            key = _as_key(self.values[code])
            if self._in_table(key):
                self._table[key] = -1
            else:
                del self._codes[key]
            self.values[code] = None
            self.free.append(code)

    def content(self) -> dict[str, Any]:
        """For saving."""
        return {"values": self.values, "free": self.free}

    @classmethod
    def restored(cls, content: dict[str, Any]) -> Keys:
        found = cls()
        found.values, found.free = list(content["values"]), list(content["free"])
        unused = set(found.free)
        if len(unused) != len(found.free) or not unused <= set(range(len(found.values))):
            raise ValueError("its free codes are at odds")
        for code, key in enumerate(found.values):
            if code not in unused:
                found._codes[_as_key(key)] = code
        if len(found._codes) != len(found.values) - len(unused):
            raise ValueError("two keys are the same")
        return found


def look_up(numbers, table, codes, new, free, known):  # type: ignore[no-untyped-def]
    """The code of each number; one without gets a free code, from the last on, or the next."""
    count = 0
    for i in range(len(numbers)):
        code = table[numbers[i]]
        if code < 0:
            left = len(free) - count
            code = free[left - 1] if left > 0 else known - left
            table[numbers[i]] = code
            new[count] = numbers[i]
            count += 1
        codes[i] = code
    return count


NAN, TRUTH = ("NaN",), ("truth",)


def _as_key(key: Any) -> Any:
    """NaN is one key, though it is not equal to itself; 1 is the key 1.0, and not True."""
    if isinstance(key, tuple):
        return tuple(_as_key(part) for part in key)
    if isinstance(key, (bool, np.bool_)):
        return TRUTH, bool(key)
    if isinstance(key, (float, np.floating)) and key == key and float(key).is_integer():
        return int(key)
    return NAN if key != key else key


def _numbered(given: Column) -> tuple[Array, list[Any]]:
    """Each value as the number of the distinct value it is, and those values."""
    source = given.source
    if given.kind == "list" or (given.kind == "numpy" and source.dtype == object):
        values = given.objects()
        if len({type(v) for v in values if v is not None}) > 1:
            return _by_dict(values)
        try:
            source = pa.array(values)
        except (pa.ArrowException, OverflowError):
            return _by_dict(values)
    elif given.kind == "numpy":
        source = pa.array(source)
    try:
        encoded = source.dictionary_encode(null_encoding="encode")
    except pa.ArrowException:  # of a type that Arrow does not tell apart
        return _by_dict(given.objects())
    distinct = column(encoded.dictionary).objects()
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64), distinct


def _by_dict(values: list[Any]) -> tuple[Array, list[Any]]:
    seen: dict[Any, int] = {}
    try:
        codes = [seen.setdefault(_as_key(v), len(seen)) for v in values]
    except TypeError as error:
        raise TypeError(f"these cannot be keys: {error}.") from None
    first: dict[int, Any] = {}
    for value, code in zip(values, codes, strict=True):
        first.setdefault(code, value)
    return np.array(codes, np.int64), list(first.values())


def by_key(codes: Array, count: int) -> tuple[Array | None, Array, Array]:
    """The order that puts rows of one key side by side, each key's code, and where its rows end.

    None for an order that they are in already.
    """
    if not len(codes):
        return None, codes, codes
    if (codes[1:] >= codes[:-1]).all():
        order, grouped = None, codes
    elif len(codes) * 8 < count:
        order = np.argsort(codes, kind="stable")
        grouped = codes[order]
    else:
        order = np.empty(len(codes), np.int64)
        ends = np.zeros(count + 1, np.int64)
        compile_plain(counting_sort)(codes, order, ends)
        there = np.flatnonzero(np.diff(ends))
        return order, there, ends[there + 1]
    ends = np.append(np.flatnonzero(np.diff(grouped)) + 1, len(grouped))
    return order, grouped[ends - 1], ends


def counting_sort(codes, order, ends):  # type: ignore[no-untyped-def]
    """The rows of each code, in their order, one code after the other; where each code's end."""
    for code in codes:
        ends[code + 1] += 1
    for k in range(1, len(ends)):
        ends[k] += ends[k - 1]
    at = ends[:-1].copy()
    for i in range(len(codes)):
        order[at[codes[i]]] = i
        at[codes[i]] += 1
