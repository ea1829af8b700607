"""Is PySpark installed, and new enough? Importing this says so, or how to get it."""

from __future__ import annotations

import re
from importlib.util import find_spec

OLDEST = (4, 1)
"""transformWithState on rows, and Arrow iterators over groups, came with it."""

CONNECT = {
    "grpc": "grpcio",
    "grpc_status": "grpcio-status",
    "google.rpc": "googleapis-common-protos",
    "zstandard": "zstandard",
}
"""What Spark Connect imports, and the packages they are in."""

WARNED_OF_PANDAS = "PySpark does not yet fully support pandas"
"""How a FutureWarning of PySpark begins. It is not about us: Sash hands Arrow to Spark."""


def version_of(text: str) -> tuple[int, ...]:
    """The numbers that a version begins with.

    >>> version_of("4.3.0.dev1"), version_of("17"), version_of("6.33.5")
    ((4, 3, 0), (17,), (6, 33, 5))
    """
    found = re.match(r"\d+(\.\d+)*", text)
    return tuple(map(int, found[0].split("."))) if found else ()


def require_pyspark() -> None:
    oldest = ".".join(map(str, OLDEST))
    fix = "pip install 'sash[spark]'"
    try:
        import pyspark
    except ModuleNotFoundError:
        raise ImportError(f"sash.spark needs PySpark {oldest} or newer: {fix}") from None
    if version_of(pyspark.__version__) < OLDEST:
        raise ImportError(
            f"sash.spark needs PySpark {oldest} or newer, not {pyspark.__version__}: {fix}"
        )


def require_connect() -> None:
    """Raise, in a sentence, if what Spark Connect needs is not installed."""
    missing = [package for module, package in CONNECT.items() if not is_there(module)]
    if missing:
        raise ImportError(
            f"Spark Connect needs {', '.join(missing)} too: pip install 'sash[connect]'"
        )


def is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package that a submodule would be in
        return False


require_pyspark()
