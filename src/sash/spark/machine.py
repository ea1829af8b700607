"""How much memory this process may use."""

from __future__ import annotations

import os
from pathlib import Path

CGROUP_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
"""Where a container's limit is written, in the two versions of control groups."""


def memory() -> int | None:
    """In bytes: the machine's, or less if this is a container; None if it cannot be told."""
    try:
        whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
    return min([whole, *filter(None, map(_limit, CGROUP_LIMITS))])


def _limit(path: Path) -> int | None:
    try:
        said = path.read_text(encoding="ascii").strip()
    except OSError:
        return None
    return int(said) if said.isdigit() else None  # "max": no limit
