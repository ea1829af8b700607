"""A query whose window cannot be shared: kept by itself, over the same rows."""

from __future__ import annotations

from sash.aggregators.choose import choose, need_of
from sash.plans.queries import Query
from sash.windows import cutting
from sash.windows.batches import Batch
from sash.windows.engine import Engine, Given
from sash.windows.explaining import shape_of


class Alone:
    """The window of one query. Rows are tried on a copy, as those of others may be refused."""

    def __init__(self, query: Query) -> None:
        need = need_of(query.operator, shape=shape_of(query.window), arrays=False)
        self.algorithm = choose(need).algorithm
        self.engine = Engine(
            query.operator,
            query.shape,
            least=query.min_size,
            idle=cutting.FOREVER,
            algorithm=self.algorithm,
            keyed=False,
        )
        self._then = self.engine

    def run(self, batch: Batch, now: int, finish: bool) -> Given:
        self._then = self.engine.copy()
        return self._then.run(batch, now, finish, all_keys=True)

    def commit(self) -> None:
        self.engine = self._then
