"""The text for many windows in shared arrays: what one of them is, and how it is moved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sash.aggregators.rings import indexes, lays_out

if TYPE_CHECKING:
    from sash.aggregators.generating import Writer

INLINE = '@njit(inline="always")\n'


def windows(writer: Writer, layout: tuple[bool, ...]) -> str:
    """Rings that are parts of arrays, and a state that is an item of each column."""
    fields = len(writer.fields("p"))
    partials, numbers = len(writer.algorithm.RINGS), len(indexes(writer.algorithm))
    cuts, views = [], []
    for r in range(partials + numbers):
        cuts.append(f"    a{r} = offsets[j, {r}]\n    b{r} = a{r} + lengths[n, {r}]\n")
        arrays = [f"pools[{r}][{i}][a{r}:b{r}]" for i in range(fields)]
        views.append(f"({', '.join(arrays)},)" if r < partials else f"pools[{r}][a{r}:b{r}]")
    columns = sum(fields if is_partial else 1 for is_partial in layout)
    items = "".join(f"kept[{c}][j], " for c in range(columns))
    stores = "".join(f"    kept[{c}][j] = flat[{c}]\n" for c in range(columns))
    inputs = sum(leaf.inputs for _, leaf in writer.leaves) + sum(writer.nulls)
    rows = "".join(f"rows[{i}], " for i in range(inputs))
    return (
        f"{INLINE}def window_of(pools, offsets, lengths, levels, k):\n"
        f"    j = uint64(k)\n    n = uint64(levels[j])\n{''.join(cuts)}"
        f"    return ({', '.join(views)},)\n\n"
        f"{INLINE}def load_state(kept, k):\n    j = uint64(k)\n    return unpack(({items}))\n\n"
        f"{INLINE}def store_state(kept, k, state):\n    j = uint64(k)\n"
        f"    flat = pack(state)\n{stores}\n"
        f"{INLINE}def rebased(rows, base):\n    return ({rows}base,)\n\n"
    )


def moving(writer: Writer) -> str:
    """To other rings: as the algorithm does it, or slot by slot."""
    algorithm = writer.algorithm
    head = f"{INLINE}def moved(old, rings, state):\n"
    if lays_out(algorithm):
        return f"{head}    return regrow(old, rings, state)\n\n"
    partials = len(algorithm.RINGS)
    copies = [f"put(rings[{r}], i, get(old[{r}], i))" for r in range(partials)]
    for r, name in enumerate(indexes(algorithm), partials):
        if name not in getattr(algorithm, "SETTLED", ()):
            copies.append(f"put_int(rings[{r}], i, get_int(old[{r}], i))")
    body = "".join(f"        {copy}\n" for copy in copies)
    return (
        f"{head}    start, end = span(state)\n    for i in range(start, end):\n{body}"
        f"    return state\n\n"
    )
