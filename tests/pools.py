"""Keys with a window each, as lists of values, and random plans for them."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from cases import Case
from oracle import alike

import sash
from sash.aggregators import columns
from sash.aggregators.answers import LeafAnswers, dress
from sash.aggregators.plan import Plan
from sash.aggregators.pool import Pool
from sash.aggregators.registry import for_operator
from sash.aggregators.running import types_of


def leaves_of(operator: sash.Operator, values: list[Any]) -> list[columns.Leaf]:
    return columns.leaves(values, operator)[0]


class Keys:
    """All values that ever came for each key, and what its window holds: S ≤ i < E."""

    def __init__(self, algorithm: str, case: Case, seed: int, nulls: bool = False) -> None:
        self.case = case
        self.chance = random.Random(seed)
        self.nulls = nulls
        self.module = for_operator(algorithm, case.operator)
        types = types_of(leaves_of(case.operator, case.pool))
        self.pool = Pool(self.module, case.operator, types)
        self.values: list[list[Any]] = []
        self.bounds: list[tuple[int, int]] = []

    def add(self, count: int) -> None:
        self.pool.add(count)
        self.values += [[] for _ in range(count)]
        self.bounds += [(0, 0)] * count

    def forget(self, codes: list[int]) -> None:
        self.pool.forget(np.array(codes, np.int64))
        for k in codes:
            self.values[k], self.bounds[k] = [], (0, 0)

    def value(self) -> Any:
        if self.nulls and self.chance.random() < 0.3:
            return None
        return self.chance.choice(self.case.pool)

    def rows(self, most: int, among: list[int] | None = None) -> dict[int, list[Any]]:
        """Rows for some of the keys, in any order of the keys."""
        some = self.chance.sample(
            among or range(len(self.values)), self.chance.randint(1, len(among or self.values))
        )
        return {k: [self.value() for _ in range(self.chance.randint(0, most))] for k in some}

    def asked(self, k: int, count: int, longest: int) -> list[tuple[int, int]]:
        """Bounds for the answers of a key that gets so many rows: they slide, jump, or stay."""
        S, E = self.bounds[k]
        end = E + count
        kind = self.chance.choice(["last", "any", "none"])
        if kind == "last":
            size = self.chance.randint(1, longest)
            return [(max(S, i - size), i) for i in range(E + 1, end + 1)]
        if kind == "none":
            return []
        found = []
        for _ in range(self.chance.randint(1, 4)):
            E = self.chance.randint(E, end)
            S = self.chance.randint(max(S, E - longest), max(S, E)) if E >= S else S
            E = max(S, E)
            if end >= E:
                found.append((S, E))
        return found

    def batch(self, most: int = 6, longest: int = 9, among: list[int] | None = None) -> Plan:
        """Send a batch, and compare every answer with what the values of its window answer."""
        return self.send(self.rows(most, among), longest)

    def send(self, rows: dict[int, list[Any]], longest: int) -> Plan:
        flat: list[Any] = []
        groups: list[tuple[int, ...]] = []
        asked: list[tuple[int, int]] = []
        whose: list[int] = []
        for k, more in rows.items():
            S, E = self.bounds[k]
            bounds = self.asked(k, len(more), longest)
            S_then = max([S, *(b[0] for b in bounds)])
            S_then = self.chance.randint(S_then, max(S_then, E + len(more)))
            E_then = E + len(more)
            S_then = min(S_then, E_then)
            S_then = max(S_then, E_then - longest) if self.chance.random() < 0.9 else S_then
            groups.append(
                (k, len(flat), S, E, len(asked), len(asked) + len(bounds), S_then, E_then)
            )
            asked += bounds
            whose += [k] * len(bounds)
            flat += more
        plan = Plan(*np.array(groups, np.int64).T, *np.array([*asked, (0, 0)], np.int64)[:-1].T)
        if not any(value is not None for value in flat):  # nothing that tells a type
            flat.append(self.case.pool[0])
        found = self.pool.follow(leaves_of(self.case.operator, flat), plan)
        for k, more in rows.items():
            self.values[k] += more
        for k, *_, S_then, E_then in groups:
            self.bounds[k] = S_then, E_then
        self.compare(found, [(k, *bounds) for k, bounds in zip(whose, asked, strict=True)])
        for k, (S, E) in enumerate(self.bounds):
            assert self.pool.held[k] == E - S
        return plan

    def compare(self, found: list[LeafAnswers], asked: list[tuple[int, int, int]]) -> None:
        operator = self.case.operator
        windows = [self.values[k][S:E] for k, S, E in asked]
        empty = np.array([all(v is None for v in window) for window in windows], bool)
        for answers in found:
            answers.settle_empty(empty)
        dressed = dress(operator, found, "list")
        members = getattr(operator, "members", None)
        each = list(zip(*dressed.values(), strict=True)) if members else dressed
        for one, bounds in zip(each, asked, strict=True):
            assert alike(one, self.expected(*bounds)), (one, bounds)

    def expected(self, k: int, S: int, E: int) -> Any:
        """What the values S ≤ i < E of a key answer."""
        window = sash.aggregator("recalc", self.case.operator)
        window._in = window._out = S
        for value in self.values[k][S:E]:
            window.insert(value)
        return window.query()

    def check_queries(self) -> None:
        """What windows answer when they are asked one by one."""
        for k, (S, E) in enumerate(self.bounds):
            window = self.values[k][S:E]
            if window and None not in window and not isinstance(self.pool.monoid.answer, dict):
                found = self.pool.monoid.lower(self.pool.query(k))
                assert alike(found, self.expected(k, S, E)), (found, window)

    def use(self, pool: Pool) -> None:
        """Send rows to windows that may hold anything, whatever they answer."""
        for count in (1, 5, 40):
            held = pool.held.copy()
            keys = np.arange(len(held))
            S, E = np.zeros_like(held), held
            rows = keys * count
            then = E + count
            answers = np.arange(len(held) * count)
            ends = np.repeat(E, count) + answers % count + 1
            starts = np.minimum(ends, np.maximum(ends - 6, 0))
            starts = np.maximum(starts, np.repeat(S, count))
            plan = Plan(keys, rows, S, E, rows, rows + count, then - 3, then, starts, ends)
            values = [self.chance.choice(self.case.pool) for _ in answers]
            try:
                pool.follow(leaves_of(self.case.operator, values), plan)
            except (ArithmeticError, ValueError):
                return
