"""Spark for a command: what it and its workers print goes to a file, not between our lines."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import typer

from sash.cli.telling import stderr

ENDING = 3.0
"""Seconds that Java may take to end after it has stopped answering."""


@contextmanager
def started(
    name: str, master: str | None, remote: str | None, conf: Mapping[str, str]
) -> Iterator[Any]:
    """A session, which ends with the command. If that fails, Spark's log stays, and is named."""
    import sash.spark

    handle, path = tempfile.mkstemp(prefix="sash-spark-", suffix=".log")
    settings: dict[str, Any] = dict(conf)
    try:
        try:
            with _stderr_to(handle):
                spark = sash.spark.session(master, name, remote=remote, progress=False, **settings)
        except RuntimeError as error:
            why = _why_not(Path(path))
            if why is None:
                raise
            raise RuntimeError(why) from error
        try:
            with sash.spark.progress(spark):
                yield spark
        except Exception as error:
            ended = _java_has_ended(spark, error)
            if ended is None:
                raise
            raise RuntimeError(ended) from error
        finally:
            with suppress(Exception):
                spark.stop()
    except typer.Exit:
        raise
    except Exception:
        if Path(path).stat().st_size:
            stderr().print(f"Spark's own words are in {path}", style="dim", markup=False)
            path = ""
        raise
    finally:
        os.close(handle)
        if path:
            Path(path).unlink(missing_ok=True)


def _why_not(log: Path) -> str | None:
    """Why Java has ended before there was a session, as far as Spark's log tells."""
    said = log.read_text(encoding="utf-8", errors="replace")
    package = r"\[(?:unresolved dependency|download failed): ([^\s#]+)#([^\s;]+);([^\s:!\]]+)"
    missing = re.search(package, said)
    if missing:
        return (
            f"Spark cannot fetch {':'.join(missing.groups())}. Give its jars, with "
            f"--conf spark.jars=…, or another registry, with --conf spark.jars.repositories=…, or "
            f"another version, with --conf spark.jars.packages=…"
        )
    ended = re.search(r'Exception in thread "main" (?:[\w.$]+: )?([^\n]+)', said)
    return f"Spark does not start: {ended[1].strip()}" if ended else None


def _java_has_ended(spark: Any, error: Exception) -> str | None:
    """Whether what went wrong is that Java is gone: killed, or out of memory."""
    process = getattr(getattr(getattr(spark, "_sc", None), "_gateway", None), "proc", None)
    lost = isinstance(error, OSError) or type(error).__name__ in ("Py4JError", "Py4JNetworkError")
    if process is None or not lost:
        return None
    try:
        code = process.wait(ENDING)
    except subprocess.TimeoutExpired:
        return None
    how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
    return f"the Java that Spark runs in has ended {how}."


@contextmanager
def _stderr_to(handle: int) -> Iterator[None]:
    """While Java starts, which keeps what it is given: its stderr, and that of its workers."""
    sys.stderr.flush()
    try:
        ours = os.dup(2)
    except OSError:
        yield
        return
    os.dup2(handle, 2)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(ours, 2)
        os.close(ours)
