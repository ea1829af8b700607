"""Numbers that rise: a line of them that grows behind and is forgotten in front; places in them."""

from __future__ import annotations

from typing import Any

import numpy as np

from sash.aggregators.compiling import compile_plain

Array = np.ndarray[Any, Any]
SMALLEST = 64
FEW = 256
"""So many places are found before it is worth compiling something for it."""


class Line:
    """Numbers by their place, which is counted from the first that ever came.

    >>> line = Line()
    >>> line.append(np.array([7, 8, 9]))
    >>> line.forget_before(1)
    >>> line.first, line.numbers.tolist(), line.at(np.array([2])).tolist()
    (1, [8, 9], [9])
    """

    def __init__(self, first: int = 0) -> None:
        self.first = first
        """The place of the oldest that is kept."""
        self._array = np.zeros(SMALLEST, np.int64)
        self._begin = self._end = 0

    def __len__(self) -> int:
        return self._end - self._begin

    @property
    def end(self) -> int:
        """The place of the next."""
        return self.first + len(self)

    @property
    def numbers(self) -> Array:
        """Those that are kept, the oldest first."""
        return self._array[self._begin : self._end]

    def at(self, places: Array) -> Array:
        """Those at these places."""
        found: Array = self.numbers[places - self.first]
        return found

    def append(self, more: Array) -> None:
        if self._end + len(more) > len(self._array):
            # Twice the room that is needed: what is moved is paid for by what came since.
            grown = np.zeros(max(SMALLEST, 2 * (len(self) + len(more))), np.int64)
            grown[: len(self)] = self.numbers
            self._array, self._begin, self._end = grown, 0, len(self)
        self._array[self._end : self._end + len(more)] = more
        self._end += len(more)

    def forget_from(self, place: int) -> None:
        """Those from this place on have never come."""
        self._end = min(self._end, self._begin + max(place - self.first, 0))

    def forget_before(self, place: int) -> None:
        """Those before this place are not asked for again."""
        gone = min(max(place - self.first, 0), len(self))
        self._begin += gone
        self.first += gone


def first_from(numbers: Array, bounds: Array) -> Array:
    """For each of some bounds the first of some numbers that is not before it. Both rise.

    >>> first_from(np.array([2, 4, 4, 7]), np.array([1, 4, 5, 9])).tolist()
    [0, 1, 3, 4]
    """
    if len(bounds) < FEW:
        return np.searchsorted(numbers, bounds)
    found = np.empty(len(bounds), np.int64)
    compile_plain(find_first)(numbers, bounds, found)
    return found


def find_first(numbers: Any, bounds: Any, found: Any) -> None:
    """From one bound to the next in steps that double, and then by halving.

    The first step is half of the way between the last two bounds: most lie about as far apart.
    """
    low, count, last, far = 0, len(numbers), 0, 0
    for j in range(len(bounds)):
        bound, step = bounds[j], max(1, far >> 1)
        while low + step <= count and numbers[low + step - 1] < bound:
            low += step
            step += step
        high = min(low + step, count)
        while low < high:
            middle = (low + high) >> 1
            if numbers[middle] < bound:
                low = middle + 1
            else:
                high = middle
        far, last = low - last, low
        found[j] = low
