"""Is there a Java that Spark can run on? Asked before Spark asks, whose answer is a stack trace."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

OLDEST = 17
FIX = (
    f"install Java {OLDEST} or newer (such as Eclipse Temurin {OLDEST} or 21) and set JAVA_HOME "
    "to its folder"
)
VECTOR = "jdk.incubator.vector"
"""A module that Spark names when it starts Java; runtimes that were cut down lack it."""


class JavaError(RuntimeError):
    """There is no Java that Spark can run on; the message says what to do."""


def require_java() -> None:
    """Raise a JavaError if Spark would find no Java, or none that it can run on."""
    java = find_java()
    done = _ran(java, f"--add-modules={VECTOR}", "-version")
    whole = done.returncode == 0
    said = done if whole else _ran(java, "-version")
    version = version_in(said.stderr + said.stdout)
    if version is None:
        if said.returncode:
            raise JavaError(f"{java} does not run as Java: {FIX}.")
        return  # an answer of a kind we do not know: let Spark try
    if version < OLDEST:
        raise JavaError(f"Spark needs Java {OLDEST} or newer, and {java} is Java {version}: {FIX}.")
    if not whole:
        raise JavaError(f"{java} lacks the module {VECTOR}, which Spark asks for: {FIX}.")


def find_java() -> Path:
    """Where Spark's start script looks: JAVA_HOME, and only without it the PATH."""
    home = os.environ.get("JAVA_HOME")
    if home:
        found = shutil.which("java", path=str(Path(home) / "bin"))
        if found is None:
            raise JavaError(f"JAVA_HOME is {home}, where there is no bin/java: {FIX}.")
        return Path(found)
    found = shutil.which("java")
    if found is None:
        raise JavaError(f"Spark needs Java, and JAVA_HOME is not set and no java on PATH: {FIX}.")
    return Path(found)


def version_in(text: str) -> int | None:
    """The major version in what `java -version` says.

    >>> version_in('openjdk version "17.0.15" 2025-04-15'), version_in('java version "1.8.0_392"')
    (17, 8)
    """
    found = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(found[1]) if found else None


def _ran(java: Path, *args: str) -> subprocess.CompletedProcess[str]:
    command = [str(java), *args]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise JavaError(f"{java} does not run ({problem}): {FIX}.") from None
