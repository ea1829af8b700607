"""The words that algorithms are written in.

An algorithm is a handful of pure functions over *rings* of partials and a *state*, a tuple of
positions and partials that is passed in and handed back. It never says what a partial is or how ⊕
is done: it uses the names below, and `binding` (plain Python) or `compiling` (Numba) puts the
operator's own in their place. What stands here is only their meaning.

Positions count up for ever and are never reduced; `get` and `put` fold them into the ring, whose
length is a power of two, so a full ring wraps around without the algorithm knowing.
"""

from __future__ import annotations

from typing import Any

from sash.operators import monoid

Partial = monoid.Partial
Ring = Any
State = Any


def identity() -> Partial:
    """The partial of no value at all."""
    raise NotImplementedError


def combine(a: Partial, b: Partial) -> Partial:
    """a ⊕ b, where everything in a is older than everything in b."""
    raise NotImplementedError


def inverse(total: Partial, old: Partial) -> Partial:
    """What is left of total when old, its oldest part, is taken off."""
    raise NotImplementedError


def get(ring: Ring, position: int) -> Partial:
    """The partial at this position of the ring."""
    raise NotImplementedError


def put(ring: Ring, position: int, p: Partial) -> None:
    """Write a partial at this position of the ring."""
    raise NotImplementedError


def load(buffer: Ring, i: int) -> Partial:
    """The partial at index i of a buffer, which does not wrap around."""
    raise NotImplementedError


def store(buffer: Ring, i: int, p: Partial) -> None:
    """Write a partial at index i of a buffer."""
    raise NotImplementedError


def get_int(ring: Ring, position: int) -> int:
    """The number at this position of a ring of numbers."""
    raise NotImplementedError


def put_int(ring: Ring, position: int, number: int) -> None:
    """Write a number at this position of a ring of numbers."""
    raise NotImplementedError


def load_int(buffer: Ring, i: int) -> int:
    """The number at index i of a buffer of numbers, which does not wrap around."""
    raise NotImplementedError


def store_int(buffer: Ring, i: int, number: int) -> None:
    """Write a number at index i of a buffer of numbers."""
    raise NotImplementedError


def length_of(ring: Ring) -> int:
    """How many slots a ring of partials has."""
    raise NotImplementedError


def equal(a: Partial, b: Partial) -> bool:
    """Whether two partials are the same, field by field; NaN is the same as NaN."""
    raise NotImplementedError


def commutative() -> bool:
    """Whether ⊕ may be given its arguments in any order; settled before a loop is compiled."""
    raise NotImplementedError


def clock() -> int:
    """The time, in ticks of any length. Only in loops that measure."""
    raise NotImplementedError


def load_shared(desk: Ring, i: int) -> int:
    """A number that another thread may write; what it wrote before that number is seen too."""
    raise NotImplementedError


def store_shared(desk: Ring, i: int, number: int) -> None:
    """Write a number that another thread waits for, after all that was written before."""
    raise NotImplementedError


def take_shared(desk: Ring, i: int, number: int) -> bool:
    """Raise a number to this one; True for the one thread that did, if several try at once."""
    raise NotImplementedError


def pause() -> None:
    """Let another thread run while this one waits."""
    raise NotImplementedError


def read(rows: Any, i: int) -> Partial:
    """Row i, lifted; the identity where it is null."""
    raise NotImplementedError


def answer(out: Any, i: int, p: Partial) -> None:
    """Write lower(p), or null, as answer i."""
    raise NotImplementedError


def window_of(pools: Any, offsets: Any, lengths: Any, levels: Any, k: int) -> tuple[Ring, ...]:
    """The rings of one window of many, which lie in shared arrays. Only in compiled loops."""
    raise NotImplementedError


def load_state(kept: Any, k: int) -> State:
    """The state of one window of many: an item of each column. Only in compiled loops."""
    raise NotImplementedError


def store_state(kept: Any, k: int, state: State) -> None:
    """Write the state of one window of many. Only in compiled loops."""
    raise NotImplementedError


def moved(old: tuple[Ring, ...], rings: tuple[Ring, ...], state: State) -> State:
    """Copy what a window holds to rings of another length. Only in compiled loops."""
    raise NotImplementedError


def rebased(rows: Any, base: int) -> Any:
    """The same rows, where row i is the value with the number base + i. Only in compiled loops."""
    raise NotImplementedError


def policy(total: Partial, old: Partial) -> bool:
    """Whether the oldest values, whose sum is old, leave the window. Only in compiled loops."""
    raise NotImplementedError


def same(a: Partial, b: Partial) -> bool:
    """Whether two partials are equal, up to the rounding of floats. Only in invariants."""
    raise NotImplementedError


def fold(window: Any) -> Partial:
    """The partials of a list combined from the left. Only in invariants."""
    raise NotImplementedError


PRIMITIVES = (
    *("identity", "combine", "inverse", "get", "put", "load", "store", "read", "answer"),
    *("get_int", "put_int", "load_int", "store_int", "length_of", "equal", "commutative", "clock"),
    *("load_shared", "store_shared", "take_shared", "pause"),
    *("window_of", "load_state", "store_state", "moved", "rebased", "policy"),
    *("same", "fold"),
)
