"""Settings that all tests share."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

# A first call compiles, which takes seconds: no deadline. The full run tries more.
settings.register_profile("default", deadline=None, max_examples=25, derandomize=True)
settings.register_profile("full", deadline=None, max_examples=400)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

WITH_SPARK = ("tests/spark/", "docs/spark.md", "docs/streams.md", "README.md")


class SparkInOneProcess(LoadScopeScheduling):
    """What uses Spark runs in one process, where it shares a session; all else runs anywhere.

    (A mark, xdist_group, would say so too, but from pytest 9.2 on xdist 3.8 does not heed it.)
    """

    def _split_scope(self, nodeid: str) -> str:
        return "spark" if nodeid.startswith(WITH_SPARK) else nodeid


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> SparkInOneProcess:
    return SparkInOneProcess(config, log)
