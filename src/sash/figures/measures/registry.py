"""All kinds of measurement by the names that experiments call them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from sash.figures.cases import Group
from sash.figures.measures.batches import batches
from sash.figures.measures.bulk_evictions import bulk_evictions
from sash.figures.measures.calls import calls
from sash.figures.measures.calls_each import calls_each
from sash.figures.measures.constant_size import constant_size
from sash.figures.measures.dimensions import dimensions
from sash.figures.measures.drift import drift
from sash.figures.measures.even_times import even_times
from sash.figures.measures.latency import latency
from sash.figures.measures.memory import memory
from sash.figures.measures.page_faults import page_faults
from sash.figures.measures.partial_bytes import partial_bytes
from sash.figures.measures.parts_of_objects import parts_of_objects
from sash.figures.measures.plugs_on_spark import plugs_on_spark
from sash.figures.measures.policy_calls import policy_calls
from sash.figures.measures.policy_streams import policy_streams
from sash.figures.measures.python_calls import python_calls
from sash.figures.measures.ranges import all_ranges
from sash.figures.measures.resizing import resizing
from sash.figures.measures.rivals_by_time import by_time
from sash.figures.measures.rivals_on_arrays import on_arrays
from sash.figures.measures.rivals_on_events import on_events
from sash.figures.measures.rivals_on_spark import on_spark
from sash.figures.measures.rivals_own import of_ones_own
from sash.figures.measures.slices import rows_slid, slices_of_rows, slices_of_time
from sash.figures.measures.throughput import throughput
from sash.figures.measures.two_parts import two_parts
from sash.figures.measures.updates import updates
from sash.figures.measures.window_per_memory import window_per_memory

Measure = Callable[..., list[Group]]
"""Takes the settings of an experiment by name."""

MEASURES: dict[str, Measure] = {
    "throughput": throughput,
    "all ranges": all_ranges,
    "calls": calls,
    "memory": memory,
    "batches": batches,
    "resizing": resizing,
    "updates": updates,
    "calls of each operation": calls_each,
    "latency": latency,
    "page faults": page_faults,
    "rows": rows_slid,
    "slices of rows": slices_of_rows,
    "slices of time": slices_of_time,
    "rivals on arrays": on_arrays,
    "rivals by time": by_time,
    "rivals, own aggregate": of_ones_own,
    "rivals on events": on_events,
    "drift": drift,
    "rivals on Spark": on_spark,
    "plugs on Spark": plugs_on_spark,
    "constant size by policy": constant_size,
    "bulk evictions by policy": bulk_evictions,
    "streams by policy": policy_streams,
    "window per memory": window_per_memory,
    "dimensions": dimensions,
    "calls by policy": policy_calls,
    "profile by policy": python_calls,
    "bytes of a partial": partial_bytes,
    "parts of objects": parts_of_objects,
    "parts of two threads": two_parts,
    "even times": even_times,
}


def measure_named(name: str) -> Measure:
    """A kind of measurement: ours, or `module:function` of an experiment of one's own."""
    module, found, function = name.partition(":")
    if found:
        own: Measure = getattr(import_module(module), function)
        return own
    return MEASURES[name]
