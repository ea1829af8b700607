"""Sash on Spark: the only layer that imports pyspark.

`sliding` computes any aggregate over any window of a DataFrame, and `explain` tells how it will.
`session` starts a Spark that has what Sash needs, `check` tells what another one lacks, `progress`
shows how far a long job has come, and `state` what the checkpoint of a stream holds.
"""

import sash.spark.installed  # noqa: F401 (first: its sentence, instead of an import that fails)
from sash.spark.checks import check
from sash.spark.explaining import explain
from sash.spark.frames import sliding
from sash.spark.progress import progress
from sash.spark.session import session
from sash.spark.stored_state import state

__all__ = ["check", "explain", "progress", "session", "sliding", "state"]
