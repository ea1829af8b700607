"""`sash run --stream` in a process of its own, which can be watched, stopped and killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.memory": "1g",
    # Java is not compiled for a long run: that is a third of what a short one takes.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
PATIENCE = 300.0
"""Seconds after which what is waited for will not come."""


class Run:
    """One run of a pipeline file. With the block it ends: killed, if not by itself."""

    def __init__(self, file: Path, conf: Mapping[str, str], *more: str) -> None:
        self.checkpoint = file.with_suffix(".checkpoint")
        self.out, self.err = file.with_suffix(".out"), file.with_suffix(".err")
        given = [f"--conf={name}={value}" for name, value in (SETTINGS | dict(conf)).items()]
        program = "from sash.cli import main; main()"
        command = [sys.executable, "-c", program, "run", str(file), "--stream", *more]
        with self.out.open("wb") as out, self.err.open("wb") as err:
            self.process = subprocess.Popen(
                [*command, "--master=local[2]", *given],
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                cwd=file.parent,
                env=os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"},
            )

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def planned(self) -> int:
        """How many micro-batches have begun, in this run or one before."""
        return _logged(self.checkpoint / "offsets")

    def committed(self) -> int:
        """How many have ended."""
        return _logged(self.checkpoint / "commits")

    def until(self, so: Callable[[], bool], what: str) -> None:
        """Wait; meanwhile the run must not end."""
        began = time.monotonic()
        while not so():
            assert self.process.poll() is None, f"it ended before {what}:\n{self.said()}"
            assert time.monotonic() - began < PATIENCE, f"no {what}:\n{self.said()}"
            time.sleep(0.005)

    def interrupt(self) -> None:
        """What Ctrl-C does in a terminal: all that we started hear of it."""
        os.killpg(self.process.pid, signal.SIGINT)

    def ended(self) -> str:
        """Wait for an end without error; what was told then."""
        assert self.process.wait(PATIENCE) == 0, self.said()
        assert "Traceback" not in self.said()
        return self.out.read_text(encoding="utf-8")

    def kill(self) -> None:
        """At once, and Java with it; the workers go when they find it gone."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def said(self) -> str:
        told = [path.read_text(encoding="utf-8", errors="replace") for path in (self.out, self.err)]
        return "\n".join(told)[-3000:]


def _logged(folder: Path) -> int:
    names = os.listdir(folder) if folder.is_dir() else []
    return max((int(name) + 1 for name in names if name.isdigit()), default=0)
