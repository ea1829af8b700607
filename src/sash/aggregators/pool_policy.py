"""A slide policy for the windows of many keys, compiled with the algorithm and the operator.

How many values a window will hold is not known beforehand. So the loop over the keys passes over a
window that is full, and when it has come to the end, all of these get twice the room, and it goes
on with them.
"""

from __future__ import annotations

from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from sash.aggregators.answers import LeafAnswers
from sash.aggregators.columns import Leaf
from sash.aggregators.compiling import Compiled
from sash.aggregators.plan import Array, Plan, levels_for
from sash.aggregators.registry import check_slides_by_policy
from sash.aggregators.running import CodeKey, Job
from sash.aggregators.slide_policies import NotCompiledError, SlidePolicy
from sash.operators.functions import VALUE

if TYPE_CHECKING:
    from sash.aggregators.pool import Pool


def follow_policy(
    pool: Pool, leaves: list[Leaf], plan: Plan, policy: SlidePolicy, nan: bool
) -> tuple[list[LeafAnswers], Array]:
    job = _job(pool, leaves, policy, nan)
    rows = int((plan.rows + plan.count).max(initial=0))
    _check(pool, plan, job)
    out, answers = job.outputs(rows)
    starts = np.empty(rows, np.int64)
    at, last, base = plan.rows.copy(), plan.rows + plan.count, plan.E - plan.rows
    groups = np.flatnonzero(plan.count)
    count = len(groups)
    segments = pool.segments

    def given() -> tuple[Any, ...]:
        windows = (*segments.windows(), job.rows, plan.keys)
        return (*windows, groups, count, at, last, base, segments.held, starts, out)

    job.code.ready("follow_policy_keys", *given())
    may_stop = pool.may_stop or job.code.writer.policy_risks.fails
    with pool.unless_it_fails(plan.keys, plan.count, may_stop):
        _grow(pool, plan.keys[groups], (plan.E - plan.S)[groups] + 1)
        while count:
            count = job.call("follow_policy_keys", *given())
            full = plan.keys[groups[:count]]
            _grow(pool, full, 2 << segments.levels[full].astype(np.int64))
    pool.done(job, rows)
    return job.collect(out, answers), starts


def _grow(pool: Pool, keys: Array, need: Array) -> None:
    levels = levels_for(need)
    grows = levels > pool.segments.levels[keys]
    if grows.any():
        pool.segments.grow(pool.code, keys[grows], levels[grows])


def _check(pool: Pool, plan: Plan, job: Job) -> None:
    """What compiled loops are told must be true, as they do not look."""
    rows = min((len(array) for array in job.rows[:-1]), default=2**62)
    known = (plan.keys >= 0) & (plan.keys < len(pool))
    if known.all():
        known &= (plan.S >= 0) & (pool.segments.held[plan.keys] == plan.E - plan.S)
        known &= (plan.rows >= 0) & (plan.count >= 0) & (plan.rows + plan.count <= rows)
    if not known.all():
        group = int(np.argmin(known))
        raise ValueError(f"group {group} of the plan is at odds with its window.")


def _job(pool: Pool, leaves: list[Leaf], policy: SlidePolicy, nan: bool) -> Job:
    """Compiled loops over these rows. A window may still hold nulls that came earlier."""
    check_slides_by_policy(pool.algorithm)
    if not policy.raw:
        for leaf in leaves:
            _check_answers(leaf)
    job = pool.job(leaves, nan)
    for k, mask in enumerate(job.valid):
        if mask is None and pool.had_nulls[k]:
            given = leaves[k].inputs[0]
            rows = len(given if given.numbers is None else given.numbers)
            job.valid[k] = np.ones(rows, bool)
    job.rows = job.arrays(job.valid, 0)
    nulls = tuple(mask is not None for mask in job.valid)
    key = CodeKey(pool.operator)
    job.compiled = _compiled(pool.algorithm, key, pool.types, nulls, nan, policy)
    return job


@lru_cache(maxsize=64)
def _compiled(
    algorithm: ModuleType, key: CodeKey, types: Any, nulls: Any, nan: bool, policy: SlidePolicy
) -> Compiled:
    """Kept from one pool to the next; not for ever, as a policy may be a function of no text."""
    return Compiled(algorithm, key.operator.bind_leaves(types), nulls, nan, policy)


def _check_answers(leaf: Leaf) -> None:
    """A policy that is shown answers must be shown what the caller gets."""
    operator = leaf.operator
    if operator.takes or operator.finish is not None:
        raise NotCompiledError(f"an answer of {operator!r} is not a number.")
    keeps = isinstance(operator.answer, str) and operator.answer == VALUE
    if keeps and any(given.is_time or given.is_bool for given in leaf.inputs):
        raise NotCompiledError(f"an answer of {operator!r} is a time or a truth, not a number.")
