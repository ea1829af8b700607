"""What a measurement depends on besides our code: the machine, and the versions on it."""

from __future__ import annotations

import platform
import shutil
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import sash
from sash.aggregators.cores import cores

PACKAGES = (
    *("numpy", "numba", "llvmlite", "pyarrow", "pandas", "polars", "duckdb", "bottleneck"),
    *("numbagg", "river", "pyspark", "rocksdict", "redis"),
)


def facts() -> dict[str, str]:
    """By name, what a reader of the numbers should know."""
    found = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "processor": _processor(),
        "cores": str(cores()),
        "memory": _memory(),
        "caches": _caches(),
        "system": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "python": platform.python_version(),
        "sash": sash.__version__,
    }
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    found |= {"java": _first_line("java", "-version"), "redis-server": _redis()}
    return {name: fact for name, fact in found.items() if fact}


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    if path.exists():
        for line in path.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _memory() -> str:
    path = Path("/proc/meminfo")
    if not path.exists():
        return ""
    kilobytes = int(path.read_text().split("MemTotal:")[1].split()[0])
    return f"{kilobytes / 2**20:.0f} GiB"


def _caches() -> str:
    found = []
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = (
            (index / name).read_text().strip() for name in ("level", "type", "size")
        )
        if kind != "Instruction":
            found.append(f"L{level} {size}")
    return ", ".join(found)


def _first_line(program: str, *arguments: str) -> str:
    if shutil.which(program) is None:
        return ""
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    return next(iter((done.stdout + done.stderr).splitlines()), "")


def _redis() -> str:
    words = _first_line("redis-server", "--version").split()
    return next((word.removeprefix("v=") for word in words if word.startswith("v=")), "")
