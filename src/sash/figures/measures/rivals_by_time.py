"""Windows of an hour over rows that come at any time, as each library computes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pyarrow as pa

import sash
from sash.figures.cases import Case, Group
from sash.figures.data import Array
from sash.figures.measures.installed import installed, missing
from sash.figures.measures.rivals_on_arrays import (
    OPERATORS,
    Run,
    Timed,
    duckdb_query,
    one_thread,
)

HOUR = 3_600_000_000
"""In microseconds."""

Asked = Callable[[str, Array, Array], Run]
"""What is asked, the values and their times."""


def by_sash(what: str, values: Array, times: Array) -> Run:
    return lambda: sash.rolling(values, "1h", OPERATORS[what], times=times)


def by_pandas(what: str, values: Array, times: Array) -> Run:
    import pandas as pd

    series = pd.Series(values, index=pd.DatetimeIndex(times))
    name = {"Max": "max", "Mean": "mean", "StdDev": "std"}[what]
    return lambda: getattr(series.rolling("1h"), name)().to_numpy()


def by_polars(what: str, values: Array, times: Array) -> Run:
    one_thread()
    import polars as pl

    frame = pl.DataFrame({"t": times, "x": values})
    name = {"Max": "max", "Mean": "mean", "StdDev": "std"}[what]
    call = getattr(pl.col("x"), f"rolling_{name}_by")("t", "1h")
    return lambda: frame.select(call).to_series().to_numpy()


def by_duckdb(what: str, values: Array, times: Array) -> Run:
    # Both ends of its ranges are closed; ours is open at the old one.
    reach = f"interval {HOUR - 1} microseconds preceding"
    over = f"order by t range between {reach} and current row"
    return duckdb_query(what, pa.table({"t": times, "x": values}), over)


LIBRARIES: dict[str, Asked] = {
    "sash": by_sash,
    "pandas": by_pandas,
    "polars": by_polars,
    "duckdb": by_duckdb,
}


def by_time(
    *,
    operators: Sequence[str],
    sizes: Sequence[int],
    rows: int,
    fewer: dict[str, int] | None = None,
) -> list[Group]:
    """As `on_arrays`; sizes: how many rows an hour has on average."""
    one_thread()
    rng = np.random.default_rng(0)
    values, gaps = rng.random(rows), rng.exponential(1.0, rows)

    def group(operator: str, size: int) -> list[Case]:
        # No two at the same time: of those, DuckDB's windows have all from the first on.
        times = np.cumsum((gaps * HOUR / size).astype(np.int64) + 1).astype("datetime64[us]")
        cases = []
        for name in installed(LIBRARIES):
            few = min(max((fewer or {}).get(name, rows), 2 * size), rows)
            timed = Timed(LIBRARIES[name](operator, values[:few], times[:few]), few)
            cases.append(Case(operator, name, size, timed.run, timed.answers))
        return cases

    told = missing(LIBRARIES)
    return told + [partial(group, operator, size) for operator in operators for size in sizes]
