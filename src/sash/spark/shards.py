"""Shards of a stream: keys that share a task and a state, and which task that is.

Spark sends a group to the partition that its hash tells. With shards numbered 0, 1, 2, … some
partitions would get two and others none; so a shard's number is such that each has one.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F

from sash.spark.query import Query, quoted

SHARD = "__sash_shard"


def shard_numbers(partitions: int, questions: int = 1) -> list[list[int]]:
    """For each question, a number for each of so many partitions, that Spark sends there.

    The first has the same numbers however many follow; 0 is among them.
    """
    found: dict[int, list[int]] = {place: [] for place in range(partitions)}
    number = 0
    while any(len(numbers) < questions for numbers in found.values()):
        found[murmur3(number) % partitions].append(number)
        number += 1
    return [sorted(numbers[k] for numbers in found.values()) for k in range(questions)]


def murmur3(number: int, seed: int = 42) -> int:
    """Spark's hash of an integer (Murmur3, 32 bits), with sign."""

    def times(a: int, b: int) -> int:
        return a * b & 0xFFFFFFFF

    def rotated(a: int, by: int) -> int:
        return (a << by | a >> (32 - by)) & 0xFFFFFFFF

    mixed = times(rotated(times(number & 0xFFFFFFFF, 0xCC9E2D51), 15), 0x1B873593)
    found = times(rotated(seed ^ mixed, 13), 5) + 0xE6546B64 & 0xFFFFFFFF
    found ^= 4  # bytes
    found = times(found ^ found >> 16, 0x85EBCA6B)
    found = times(found ^ found >> 13, 0xC2B2AE35)
    found ^= found >> 16
    return found - (1 << 32) if found >= 1 << 31 else found


def shard_of(query: Query, numbers: Sequence[int]) -> Column:
    """The number of the shard that a row's key is in."""
    if not query.by:
        return F.lit(numbers[0])
    place = F.pmod(F.hash(*(quoted(name) for name in query.by)), F.lit(len(numbers)))
    return F.element_at(F.array(*map(F.lit, numbers)), place + 1).cast("int")
