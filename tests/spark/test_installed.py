"""Sash without PySpark, or with an old one: all but sash.spark works, and that says what to do."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from sash.spark.installed import require_connect

WITHOUT = """
    import sys, types
    sys.modules["pyspark"] = {pyspark}
    import sash
    assert not [name for name in sys.modules if name.startswith(("pyspark.", "sash.spark"))]
    assert sash.rolling([1, 2], 2, sash.Sum()) == [1, 3]
    try:
        sash.spark.session()
    except ImportError as missing:
        print(missing)
"""


@pytest.mark.parametrize(
    ("pyspark", "sentence"),
    [
        ("None", "sash.spark needs PySpark 4.1 or newer: pip install 'sash[spark]'"),
        (
            "types.SimpleNamespace(__version__='4.0.1', __spec__=None)",
            "sash.spark needs PySpark 4.1 or newer, not 4.0.1: pip install 'sash[spark]'",
        ),
    ],
)
def test_without_pyspark(run: Any, pyspark: str, sentence: str) -> None:
    done = run(WITHOUT.format(pyspark=pyspark))
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == sentence


def test_listed_and_imported_late(run: Any) -> None:
    done = run("""
        import sys, sash
        print("spark" in dir(sash), "pyspark" in sys.modules, sash.spark.session.__name__)
        print(hasattr(sash, "sparkle"))
    """)
    assert done.stdout.split() == ["True", "False", "session", "False"], done.stderr


def test_without_connect(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("grpc", "grpc_status", "zstandard"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"Spark Connect needs grpcio, grpcio-status, .*zstand"):
        require_connect()
