"""All claims, in the order of the papers."""

from __future__ import annotations

from sash.figures.claims import (
    constant_time,
    constant_time_latency,
    constant_time_speed,
    flat_fit,
    flat_fit_counts,
    mta,
    mta_evictions,
    mta_streams,
    pba,
    pba_latency,
    pba_spark,
    reactive,
    reactive_b_int,
    reactive_updates,
    rivals,
    rivals_spark,
)
from sash.figures.claims.judging import Claim, Found, Judged
from sash.figures.papers import PAPERS

ALL = (
    reactive.CLAIMS,
    reactive_updates.CLAIMS,
    reactive_b_int.CLAIMS,
    constant_time.CLAIMS,
    constant_time_speed.CLAIMS,
    constant_time_latency.CLAIMS,
    mta.CLAIMS,
    mta_evictions.CLAIMS,
    mta_streams.CLAIMS,
    flat_fit.CLAIMS,
    flat_fit_counts.CLAIMS,
    pba.CLAIMS,
    pba_latency.CLAIMS,
    pba_spark.CLAIMS,
    rivals.CLAIMS,
    rivals_spark.CLAIMS,
)


def claims() -> list[Claim]:
    """Every claim, paper by paper."""
    return [claim for paper in PAPERS for each in ALL if each.paper == paper for claim in each.all]


def judged(found: Found) -> list[Judged]:
    """Every claim with its verdict."""
    return [claim.judged(found) for claim in claims()]
