"""Where Spark's experiments run: a session and a folder, which are gone when the process ends."""

from __future__ import annotations

import shutil
import tempfile
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any


def folder() -> Path:
    """One that is removed at the end, whatever happens."""
    made = Path(tempfile.mkdtemp(prefix="sash-figures-"))
    # Processes of multiprocessing do not run atexit's functions, but these, the greatest first.
    Finalize(None, shutil.rmtree, (made, True), exitpriority=1)
    return made


def session(master: str) -> Any:
    """One that is stopped at the end."""
    from sash.figures.measures import sparks_own

    started = sparks_own.session(master)
    Finalize(None, started.stop, exitpriority=10)
    return started
