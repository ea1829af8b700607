"""What runs in a classic session, read from where Spark's own pages read it.

Tasks are counted per stage. Rows are not: in a local session a stage's own counts grow only as
tasks end. The counts of a query's operators grow with every heartbeat, so rows in are what its
sources gave, and rows out what its last Python operator gave.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

ROWS = "number of output rows"
OF_PYTHON = re.compile(
    r"(Python)?MapIn|FlatMap(Co)?Groups|TransformWithState|EvalPython|InPandas|Arrow(Window|Aggregate)"
)
"""Names of operators that run Python."""

COUNT_SECONDS = 0.5
"""Between counts of rows, which take longer than a look at stages, and change with heartbeats."""

LAST_QUERIES = 16
"""Running queries are looked for among so many that began last."""


@dataclass(frozen=True)
class Running:
    """The stages that run now, by number and name; their tasks; the rows of their queries."""

    stages: list[tuple[int, str]]
    done: int = 0
    tasks: int = 0
    rows_in: int | None = None
    rows_out: int | None = None


class Jobs:
    def __init__(self, spark: SparkSession) -> None:
        self.context = spark.sparkContext
        self.stages = spark.sparkContext._jsc.sc().statusStore()
        self.queries = spark._jsparkSession.sharedState().statusStore()
        self.operators: dict[int, Operators] = {}
        self.rows: tuple[int | None, int | None] = (None, None)
        self.counted = 0.0

    def running(self) -> Running | None:
        """What runs; None if the session has been stopped."""
        if self.context._jsc is None:
            return None
        active = _each(self.stages.activeStages())
        if not active:
            self.operators.clear()
            self.rows = (None, None)
            return Running([])
        if time.monotonic() - self.counted >= COUNT_SECONDS:
            self.rows = self._count()
            self.counted = time.monotonic()
        return Running(
            [(stage.stageId(), _name(stage)) for stage in active],
            sum(stage.numCompleteTasks() for stage in active),
            sum(stage.numTasks() for stage in active),
            *self.rows,
        )

    def _count(self) -> tuple[int | None, int | None]:
        sums: list[int | None] = [None, None]
        first = max(self.queries.executionsCount() - LAST_QUERIES, 0)
        for query in _each(self.queries.executionsList(first, LAST_QUERIES)):
            if query.completionTime().isDefined():
                continue
            number = query.executionId()
            values = _values(self.queries.executionMetrics(number))
            known = self.operators.get(number)
            metrics = query.metrics().size()
            if known is None or known.metrics != metrics:  # adaptive execution planned anew
                known = Operators.of(self.queries.planGraph(number), metrics)
                self.operators[number] = known
            for i, counters in enumerate((known.sources, known.python)):
                if counters:
                    rows = sum(values.get(counter, 0) for counter in counters)
                    sums[i] = (sums[i] or 0) + rows
        return sums[0], sums[1]


@dataclass(frozen=True)
class Operators:
    """Which counters of a query count the rows of its sources, and of its last Python operator."""

    sources: list[int]
    python: list[int]
    metrics: int
    """How many counters the query had when it was looked at."""

    @classmethod
    def of(cls, graph: Any, metrics: int) -> Operators:
        fed = {edge.toId() for edge in _each(graph.edges())}
        sources: list[int] = []
        python: dict[int, list[int]] = {}
        for node in _each(graph.allNodes()):
            counters = [m.accumulatorId() for m in _each(node.metrics()) if m.name() == ROWS]
            if node.id() not in fed:
                sources += counters
            if counters and OF_PYTHON.search(node.name()):
                python[node.id()] = counters
        # Numbers are given from the query's end backwards.
        return cls(sources, python[min(python)] if python else [], metrics)


def _name(stage: Any) -> str:
    """What the user calls it, or the call that began it; nothing where Spark knows but itself."""
    given = stage.description()
    if given.isDefined():
        return str(given.get())
    call = str(stage.name()).partition(" at ")[0]
    return "" if call.startswith("$") else call


def _values(metrics: Any) -> dict[int, int]:
    """Counters and their values, from a Scala map to text such as '2,000,000', in one call."""
    found = re.findall(r"^(\d+) -> ([\d,]+)$", metrics.mkString("\n"), re.MULTILINE)
    return {int(counter): int(value.replace(",", "")) for counter, value in found}


def _each(sequence: Any) -> list[Any]:
    return [sequence.apply(i) for i in range(sequence.size())]
