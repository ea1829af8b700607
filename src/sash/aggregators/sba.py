"""SBA, the sequential boundary aggregator: chunks, summed from both of their ends.

order FIFO · needs associativity · time ≤ 3 ⊕ per slide amortised, n at worst · space n + 2
paper Parallel Boundary Aggregator (2022)

The stream is cut into chunks at boundaries. A window that ends inside a chunk is the sum of that
chunk's values so far (the paper's csa, one running partial) and, before the boundary, a sum that
ends at it (the paper's lcs, written over the values of the chunk it belongs to). A chunk is as
long as the window was when it began, so that one window seldom spans more than two.

Invariants (F ≤ B ≤ C ≤ E ≤ N):
  F ≤ i < B : slots[i] = v[i] ⊕ … ⊕ v[B-1]       lcs, of the chunk that values leave
  B ≤ i < E : slots[i] = v[i]
  middle = v[B] ⊕ … ⊕ v[C-1]                      whole chunks, not yet summed from the right
  last = v[C] ⊕ … ⊕ v[E-1]                        csa; this chunk ends at N
"""

from __future__ import annotations

from typing import Any

from sash.aggregators.primitives import (
    Partial,
    Ring,
    State,
    answer,
    combine,
    fold,
    get,
    identity,
    load,
    put,
    read,
    same,
    store,
)
from sash.aggregators.two_stacks_lite import sum_from

RINGS = ("slots",)
ENTRIES = ("roll_long", "roll_short", "roll_bounds")
SHORTEST_CHUNK = 16
BLOCK = 256


def new() -> State:
    return 0, 0, 0, 0, SHORTEST_CHUNK, identity(), identity()


def insert(rings: tuple[Ring, ...], state: State, v: Partial) -> State:
    (slots,) = rings
    F, E, B, C, N, middle, last = state
    put(slots, E, v)
    E += 1
    last = combine(last, v)
    if E == N:
        middle = last if B == C else combine(middle, last)
        C, last = E, identity()
        N = E + max(E - F, SHORTEST_CHUNK)
    return F, E, B, C, N, middle, last


def evict(rings: tuple[Ring, ...], state: State) -> State:
    (slots,) = rings
    F, E, B, C, N, middle, last = state
    if F == B:
        if F == C:  # the window lies inside this chunk: end the chunk here
            C, last = E, identity()
            N = E + max(E - F, SHORTEST_CHUNK)
        sum_from(slots, F, C)
        B, middle = C, identity()
    return F + 1, E, B, C, N, middle, last


def bulk_evict(rings: tuple[Ring, ...], state: State, count: int) -> State:
    """What is left of the chunk that values now leave is summed; what has left is not touched."""
    (slots,) = rings
    F, E, B, C, N, middle, last = state
    F += count
    if F > B:
        if F >= C:
            C, last = E, identity()
            N = E + max(E - F, SHORTEST_CHUNK)
        sum_from(slots, F, C)
        B, middle = C, identity()
    return F, E, B, C, N, middle, last


def query(rings: tuple[Ring, ...], state: State) -> Partial:
    (slots,) = rings
    F, E, B, C, N, middle, last = state
    total = combine(middle, last) if B < C else last
    return combine(get(slots, F), total) if F < B else total


def slide(
    rings: tuple[Ring, ...], state: State, rows: Any, count: int, length: int, out: Any
) -> State:
    """As everywhere; but between two ends of chunks a slide has nothing to decide."""
    i = 0
    while i < count:
        F, E, B, C, N, middle, last = state
        many = min(B - 1 - F, N - 1 - E, count - i) if length == E - F else 0
        if many > 0:
            state = slide_inside(rings, state, rows, i, many, out)
            i += many
        else:
            while length <= E - F:
                state = evict(rings, state)
                F, E, B, C, N, middle, last = state
            state = insert(rings, state, read(rows, i))
            answer(out, i, query(rings, state))
            i += 1
    return state


def slide_inside(
    rings: tuple[Ring, ...], state: State, rows: Any, i: int, many: int, out: Any
) -> State:
    """So many slides by one, at none of which a chunk begins, ends, or has been left."""
    (slots,) = rings
    F, E, B, C, N, middle, last = state
    for k in range(many):
        v = read(rows, i + k)
        put(slots, E + k, v)
        last = combine(last, v)
        total = combine(middle, last) if B < C else last
        answer(out, i + k, combine(get(slots, F + 1 + k), total))
    return F + many, E + many, B, C, N, middle, last


def last_sums(rows: Any, start: int, length: int, lcs: Ring) -> None:
    """lcs of the chunk before start.

    The window that ends with a chunk needs nothing of the one before: the identity stands where
    that one's first row would be, and everywhere before the first chunk.
    """
    right = identity()
    for k in range(length - 1, 0, -1):
        if start > 0:
            right = combine(read(rows, start - length + k), right)
        store(lcs, k, right)
    store(lcs, 0, identity())


def roll_long(rows: Any, start: int, end: int, length: int, lcs: Ring, csa: Ring, out: Any) -> None:
    """Answer each row i in start ≤ i < end for the `length` rows up to it; length ≥ BLOCK.

    Chunks are as long as the window and begin at its multiples; start is one of them. The rows are
    all at hand, so the sums of a chunk from its right (lcs, for the windows of the next chunk) are
    formed beside those from its left (csa): two chains of ⊕ that do not wait for each other. The
    last step, which joins two sums for each answer, has no chain at all and is done in blocks.
    lcs has room for that of the last chunk, that of this one, and one identity.
    """
    last_sums(rows, start, length, lcs)
    old, new = 0, length
    for B in range(start, end, length):
        left, right = identity(), identity()
        stop = min(length, end - B)
        for first in range(0, stop, BLOCK):
            count = min(BLOCK, stop - first)
            if stop == length:
                for k in range(first, first + count):
                    left = combine(left, read(rows, B + k))
                    store(csa, k - first, left)
                    right = combine(read(rows, B + length - 1 - k), right)
                    store(lcs, new + length - 1 - k, right)
            else:
                for k in range(first, first + count):
                    left = combine(left, read(rows, B + k))
                    store(csa, k - first, left)
            store(lcs, old + length, identity())
            for k in range(count):
                answer(out, B + first + k, combine(load(lcs, old + first + k + 1), load(csa, k)))
        old, new = new, old


def roll_short(
    rows: Any, start: int, end: int, length: int, lcs: Ring, csa: Ring, out: Any
) -> None:
    """The same for length < BLOCK: a block is many chunks.

    lcs begins with that of the last chunk of the last block.
    """
    last_sums(rows, start, length, lcs)
    block = BLOCK // length * length
    for S in range(start, end, block):
        stop = min(S + block, end)
        for B in range(S, stop, length):
            left, right = identity(), identity()
            chunk_end = min(B + length, stop)
            for i in range(B, chunk_end):
                left = combine(left, read(rows, i))
                store(csa, i - S, left)
            for i in range(chunk_end - 1, B, -1):
                right = combine(read(rows, i), right)
                store(lcs, i - S + length, right)
            store(lcs, B - S + length, identity())
        for i in range(S, stop):
            answer(out, i, combine(load(lcs, i - S + 1), load(csa, i - S)))
        for k in range(length):
            store(lcs, k, load(lcs, block + k))


def roll_bounds(
    rows: Any, starts: Any, ends: Any, first: int, last: int, slots: Ring, out: Any
) -> None:
    """Answer j in first ≤ j < last for the rows starts[j] ≤ i < ends[j]; neither ever goes back.

    A boundary is placed at the end of a window when none is left inside it.
    """
    j = first
    while j < last:
        B = ends[j]
        total = identity()
        for i in range(B - 1, starts[j] - 1, -1):
            total = combine(read(rows, i), total)
            put(slots, i, total)
        answer(out, j, total)
        j += 1
        total = identity()
        E = B
        while j < last and starts[j] < B:
            while ends[j] > E:
                total = combine(total, read(rows, E))
                E += 1
            answer(out, j, combine(get(slots, starts[j]), total))
            j += 1


def boundary_before(starts: Any, ends: Any, count: int, wanted: int) -> int:
    """The last answer up to `wanted` at which `roll_bounds` places a boundary."""
    B = ends[0]
    found = 0
    for j in range(1, count):
        if j > wanted:
            break
        if starts[j] >= B:
            B = ends[j]
            found = j
    return found


def sound(rings: tuple[Ring, ...], state: State) -> bool:
    F, E, B, C, N, middle, last = state
    return 0 <= F <= B <= C <= E < N  # type: ignore[no-any-return]


def check_invariants(rings: tuple[Ring, ...], state: State, window: Any) -> None:
    (slots,) = rings
    F, E, B, C, N, middle, last = state
    assert sound(rings, state)
    assert len(window) == E - F
    for i in range(F, B):
        assert same(get(slots, i), fold(window[i - F : B - F]))
    for i in range(B, E):
        assert same(get(slots, i), window[i - F])
    assert same(middle, fold(window[B - F : C - F]))
    assert same(last, fold(window[C - F :]))
