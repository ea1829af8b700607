"""Many queries, one computation: slices that windows share, partials that operators share."""

from sash.plans.plan import Plan, share
from sash.plans.queries import Query, query

__all__ = ["Plan", "Query", "query", "share"]
