"""How a query will run on Spark, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import fill
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

from sash.aggregators.choose import choose, need_of
from sash.aggregators.columns import column
from sash.operators.base import Operator
from sash.spark.clocks import UNITS, OrderClock
from sash.spark.frames import planned
from sash.spark.part_rows import Plan, parallelism, partitions
from sash.spark.parts import Split, checked_split, plan_parts
from sash.spark.query import Query
from sash.spark.reading import Call
from sash.spark.series import Series
from sash.spark.several import named_windows, queries_of
from sash.spark.stream_query import StreamQuery
from sash.spark.streams import stream_query, stream_query_of_several
from sash.windows import cutting
from sash.windows.explaining import shape_of

WIDTH = 96


def explain(
    df: DataFrame,
    window: Any,
    aggs: Mapping[str, Operator],
    *,
    by: str | Sequence[str] = (),
    order_by: str | Sequence[str] = (),
    lateness: Any = None,
    idle: Any = None,
    emit: str = "every",
    columns: Sequence[str] | None = None,
    min_size: int = 1,
    algorithm: str = "auto",
    split: Split = "auto",
) -> None:
    """Print how `sliding` will run, given the same: algorithm, parts, what is shuffled, and why."""
    call = Call(window, aggs, by, order_by, lateness, idle, emit, columns, min_size, algorithm)
    windows = named_windows(window)
    if getattr(df, "isStreaming", False):
        several = stream_query_of_several
        asked = stream_query(df, call) if windows is None else several(df, call, windows)
        said = explained_stream(asked)
    elif windows is not None:
        said = explained_several(df, call, windows, split)
    else:
        said = explained(df, *planned(df, call, split))
    for title, text in said:
        print(fill(text, WIDTH, initial_indent=f"{title:12}", subsequent_indent=" " * 12))


def explained(df: DataFrame, query: Query, plan: Plan) -> Iterator[tuple[str, str]]:
    """What is said on each topic."""
    yield from _asked(query)
    yield "slices", _slices(query)
    yield "parts", " ".join(_parts(query, plan))
    yield "shuffle", _shuffle(df, query, plan)
    yield "workers", _workers(query)


def explained_several(
    df: DataFrame, call: Call, windows: dict[str, Any], split: Split
) -> Iterator[tuple[str, str]]:
    """What is said on each topic, of several windows."""
    queries = queries_of(df, call, windows)
    first, plan = plan_parts(df, next(iter(queries.values())), checked_split(split))
    for name, query in queries.items():
        yield name, f"{query.window!r}, kept by {query.chosen}"
    if plan.series:
        yield "passes", f"one for each window, as {plan.why}: each window has parts of its own"
    elif len({query.ties for query in queries.values()}) > 1:
        yield (
            "passes",
            "one for each window, as they read other columns, and so order ties otherwise",
        )
    else:
        yield "passes", "one: rows are shuffled, sorted and sent to workers once, for all windows"
    yield from (each for each in explained(df, first, plan) if each[0] in ("parts", "shuffle"))


def explained_unseen(query: Query) -> Iterator[tuple[str, str]]:
    """What is said on each topic before any row is looked at."""
    yield from _asked(query)
    yield "slices", _slices(query)
    parts = "keys with too many rows, which a look at the rows will tell, are cut into parts"
    yield "parts", parts if query.by else "all rows are cut into parts, one for each core or more"
    how = f"by the hash of {', '.join(query.by)}" if query.by else "each part to a place of its own"
    yield "shuffle", f"once: {_moved(query)}; {how}; then sorted there"
    yield "workers", _workers(query)


def explained_stream(asked: StreamQuery) -> Iterator[tuple[str, str]]:
    """What is said on each topic, of a stream."""
    query = asked.query
    yield from _asked(query) if not asked.names else _asked_of_several(asked)
    yield "late rows", _late(query)
    many = f"{len(asked.shards)} shards" if asked.shards else "a shard for each shuffle partition"
    shards = f"in {many}, by the hash of {', '.join(query.by)}"
    if not query.by:
        shards = "all in one shard, as there are no keys"
    yield "keys", f"{shards}; a shard is one task of a micro-batch"
    slices, sent, stored = asked.slices, ", ".join(asked.sent), ", ".join(asked.asked.stored)
    if slices is None:
        yield "slices", "none: windows, or what is asked of them, need the rows themselves"
    else:
        width = f"{slices.grid.width} {UNITS.get(asked.clock.kind, ('', 'steps'))[1]}"
        yield (
            "slices",
            f"before the shuffle, of {width}: rows of a key between two neighbouring ends of "
            f"windows go on as one partial",
        )
        stored = "partials"
        sent = f"keys, moments and partials of {sent}"
    yield "shuffle", f"once, packed: {sent}"
    yield (
        "state",
        f"a log of what each micro-batch brings ({stored}), and where the windows of its keys "
        f"stand; windows stay in the workers, and are made anew from the log after a stop",
    )


def explained_stored(asked: StreamQuery, algorithm: str, store: str) -> Iterator[tuple[str, str]]:
    """The same of a stream whose window is in a store. store: what it is called."""
    query = asked.query
    how = "as you said" if query.algorithm != "auto" else "which can keep its partials in a store"
    said = {"algorithm": f"{algorithm}, {how}"}
    yield from ((title, said.get(title, text)) for title, text in _asked(query))
    yield "late rows", _late(query)
    sent = ", ".join(asked.sent)
    yield "rows", f"those of a micro-batch come to the driver, all at once, and are sorted: {sent}"
    yield (
        "state",
        f"in {store}: the window, the rows that wait, and which micro-batch was the last, together "
        f"after each one; Spark's checkpoint has only where the source was read up to",
    )


def _late(query: Query) -> str:
    if query.lateness is None:
        whose = "rows of a key" if query.by else "rows"
        return f"none may be: {whose} come in order, and are answered at once"
    late = (
        f"up to {query.lateness} behind the newest time of the stream; rows wait until then, "
        f"and what comes later is dropped and counted"
    )
    if query.early:
        late += "; answers come before that, and again when they change"
    return late


def _asked(query: Query) -> Iterator[tuple[str, str]]:
    per = f"for each {' and '.join(query.by)}" if query.by else "over all rows"
    order = ", ".join(query.order_by)
    ties = f"; ties by {', '.join(query.ties)}" if query.ties else ""
    yield "window", f"{query.window!r}, {per}, in the order of {order}{ties}"
    yield "aggregates", ", ".join(f"{name} = {op!r}" for name, op in query.aggs.items())
    yield "algorithm", _algorithm(query)


def _asked_of_several(asked: StreamQuery) -> Iterator[tuple[str, str]]:
    """Of each window in turn, and of what they have in common."""
    for name, query in zip(asked.names, asked.queries, strict=True):
        yield name, f"{query.window!r}, kept by {query.chosen}"
    yield from (each for each in _asked(asked.query) if each[0] == "aggregates")
    yield "passes", "one: rows are sent, kept and logged once, for all windows"


def _algorithm(query: Query) -> str:
    schema = query.schema_read
    types = [
        [column(pa.array([], schema.field(name).type)).dtype for name in leaf.columns]
        for leaf in query.operator.leaves
    ]
    compiled = query.operator.bind_leaves(types).fixed_width
    how = "compiled once in each worker, or read from the cache on its disk"
    if not compiled:
        how = "in plain Python, as its partials are objects"
    if query.algorithm != "auto":
        return f"{query.chosen}, as you said; {how}"
    need = need_of(query.operator, shape=shape_of(query.steps), arrays=False)
    return f"{query.chosen}: {choose(need).rung.why}; {how}"


def _slices(query: Query) -> str:
    if query.shape.trigger == cutting.AT_ENDS:
        return (
            "none: each row goes into a window once, and is in all answers that it belongs to; "
            "no row is multiplied by the windows that overlap"
        )
    return "none: each row goes into a window once"


def _parts(query: Query, plan: Plan) -> Iterator[str]:
    if not plan.series:
        rest = "each key is computed in one piece" if query.by else "all rows go through one task"
        yield f"{rest}: {plan.why}."
        return
    yield f"{plan.why}."
    for series in plan.series:
        whose = ""
        if query.by:
            pairs = zip(query.by, series.key, strict=True)
            whose = f" of {', '.join(f'{name} = {_key(query, name, key)}' for name, key in pairs)}"
        the = "About" if series.estimated else "The"
        yield f"{the} {series.rows:,} rows{whose} are cut into {_at(query, series)}."
        yield from _sent(query, series)
    if query.by:
        yield "All other keys are computed in one piece each."


def _at(query: Query, series: Series) -> str:
    if not series.cuts:
        few = query.shape.trigger != cutting.WHEN_OVER or not series.grid
        return "1 part, " + ("as they are few" if few else "as no other window begins further on")
    shown = [_value(query, cut) for cut in series.cuts[:3]]
    more = ", …" if len(series.cuts) > 3 else ""
    return f"{len(series.parts)} parts at {query.order_by[0]} = {', '.join(shown)}{more}"


def _key(query: Query, name: str, value: Any) -> str:
    clock = OrderClock.of(name, query.schema.field(name).type)
    return repr(value) if clock is None or value is None else clock.shown(value)


def _value(query: Query, value: Any) -> str:
    return str(value) if query.clock is None else query.clock.shown(value)


def _sent(query: Query, series: Series) -> Iterator[str]:
    if not series.cuts:
        return
    if query.shape.trigger == cutting.WHEN_OVER:
        yield "Windows begin there, so that none is in two parts."
        return
    yield "A part is also sent the rows before its own that its windows reach back to,"
    if series.between:
        yield (
            f"and in {len(series.between)} of them, whose windows are longer than they are, the "
            f"rows between as their total."
        )
    else:
        yield "and answers only for its own."


def _shuffle(df: DataFrame, query: Query, plan: Plan) -> str:
    count = partitions(df)
    if any(series.cuts for series in plan.series):
        how = "each part to a place of its own"
        how += ", other keys by hash" if query.by else ""
    elif query.by:
        how = f"by the hash of {', '.join(query.by)}"
    else:
        how = "all to one place"
    where = f"in {count} partitions on {parallelism(df)} cores"
    return f"once: {_moved(query)}; {how}, {where}; then sorted there"


def _moved(query: Query) -> str:
    kept = query.columns if query.at_rows else ()
    return ", ".join(dict.fromkeys([*kept, *query.reads, *query.order_by, *query.ties]))


def _workers(query: Query) -> str:
    sent = ", ".join(query.reads)
    if query.at_rows:
        return f"are sent {sent}, and give back the answers; rows wait for them in Spark"
    return f"are sent {sent}, and give back a row for each window"
