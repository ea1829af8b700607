"""Several calls of `sliding` on one stream, whose windows are in a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import DataType, StructField, StructType

from sash.operators.errors import OperatorError
from sash.spark.arriving import in_utc
from sash.spark.explaining import explained_stored
from sash.spark.query import quoted
from sash.spark.reading import Call, query_of, read_query
from sash.spark.stored_windows import StoredQuestion, window_in_store
from sash.spark.stream_query import StreamQuery
from sash.spark.streams import answer_fields, query_of_stream
from sash.spark.timing import times_of
from sash.stores.contract import Store
from sash.stores.memory import Memory
from sash.stores.places import Place
from sash.windows.cutting import NEVER

ASIDE = "aside"
MANY_ROWS = 1 << 17
"""So many answers are worth a file."""

Arguments = Mapping[str, Any]
"""Those of `sliding`, besides the rows."""


def wrong_in_store(types: Mapping[str, DataType], arguments: Arguments) -> str | None:
    """What would be refused of a window in a store, of rows with these columns; None if nothing."""
    try:
        window = window_in_store(_unseen(types, arguments), Place(Memory()))
    except (TypeError, ValueError, OperatorError) as error:
        return str(error)
    window.close()
    return None


def told_in_store(
    types: Mapping[str, DataType], arguments: Arguments, store: str
) -> list[tuple[str, str]]:
    """How rows with these columns would be answered, by topic. store: what it is called."""
    asked = _unseen(types, arguments)
    place = Place(Memory())
    with window_in_store(asked, place) as window:
        return list(explained_stored(asked, window.algorithm, store))


def _unseen(types: Mapping[str, DataType], arguments: Arguments) -> StreamQuery:
    rows = StructType([StructField(name, kind) for name, kind in types.items()])
    return query_of_stream([query_of(rows, Call(**arguments))], rows, shards=())


class StoredStream:
    """Several questions of one stream. Its rows come to the driver, a micro-batch at a time."""

    mode = "append"

    def __init__(self, df: DataFrame, several: Sequence[Arguments], aside: str) -> None:
        """aside: a column of text; rows that have one are not for windows."""
        rows = df.drop(aside)
        self.asked = [
            query_of_stream([read_query(rows, Call(**arguments))], rows.schema, shards=())
            for arguments in several
        ]
        self.fields = [answer_fields(rows, each) for each in self.asked]
        self.columns = list(dict.fromkeys(name for each in self.asked for name in each.sent))
        given = [quoted(name).alias(f"c{k}") for k, name in enumerate(self.columns)]
        self.answers = df.select(*given, quoted(aside).alias(ASIDE))
        """The rows that are to be answered, and those that are set aside."""
        self.windows: list[StoredQuestion] = []

    def questions(self) -> list[dict[str, Any]]:
        """What is asked, in a form that can be kept. There are no shards."""
        return [{"asked": each.fingerprint, "shards": []} for each in self.asked]

    def difference(self, k: int, kept: Mapping[str, Any]) -> str | None:
        """What a call asks otherwise than one that was kept, in words; None if it is the same."""
        mine = self.asked[k]
        return None if mine.fingerprint == kept["asked"] else mine.difference(kept["asked"])

    def open(self, k: int, store: Store, name: str) -> int:
        """Open the window of a question, the first before the second; tells the rows it has had."""
        assert k == len(self.windows)
        self.windows.append(StoredQuestion(self.asked[k], Place(store, name=name)))
        return self.windows[k].window.pushed

    def let_go(self) -> None:
        """Let others open the windows, as they were when they were synced."""
        for each in self.windows:
            each.let_go()

    def set_aside(self, rows: DataFrame) -> DataFrame:
        """The texts of rows that were set aside, in the column "aside"."""
        return rows.select(ASIDE).filter(f"{ASIDE} IS NOT NULL")

    def good(self, rows: DataFrame) -> MicroBatch:
        """The others, brought here."""
        table = rows.filter(f"{ASIDE} IS NULL").drop(ASIDE).toArrow().combine_chunks()
        arrays = [
            column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
            for column in table.columns
        ]
        schema = pa.unify_schemas([each.query.schema for each in self.asked])
        columns = in_utc(self.columns, arrays, schema)
        clock = self.asked[0].clock
        times = times_of(columns[clock.column], clock)
        return MicroBatch(columns, table.num_rows, int(times.max(initial=NEVER)))

    def answered(self, k: int, found: pa.RecordBatch | None, like: DataFrame) -> DataFrame:
        """Answers to a question as a DataFrame, in the session of another one."""
        spark = like.sparkSession
        schema = StructType([StructField(name, kind) for name, kind in self.fields[k]])
        if found is None:
            return spark.createDataFrame([], schema)
        table = pa.Table.from_batches([found]).rename_columns([name for name, _ in self.fields[k]])
        return spark.createDataFrame(table, schema).coalesce(1 + table.num_rows // MANY_ROWS)

    def shown(self, number: int) -> str:
        """A time, as Spark tells it: in the zone of the session."""
        clock = self.asked[0].clock
        if clock.kind == "timestamp" and clock.type.tz is not None:
            zone = self.answers.sparkSession.conf.get("spark.sql.session.timeZone", None)
            with suppress(pa.ArrowException, LookupError, ValueError):  # one that Python lacks
                value = pa.scalar(number, pa.timestamp("us", zone)).as_py()
                return str(value.replace(tzinfo=None))
        return clock.shown(number)


class MicroBatch:
    """The good rows of a micro-batch, by column."""

    def __init__(self, columns: dict[str, pa.Array], count: int, newest: int) -> None:
        self.columns = columns
        self.count = count
        self.newest = newest

    def of(self, names: Sequence[str]) -> dict[str, pa.Array]:
        return {name: self.columns[name] for name in names}
