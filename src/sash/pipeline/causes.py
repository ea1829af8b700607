"""What an error of Spark's comes from: Java tells that last, below a page of where it was."""

from __future__ import annotations

import re

CAUSE = re.compile(r"^\s*Caused by: (.+)$", re.MULTILINE)
PACKAGE = re.compile(r"^(?:[a-z]\w*\.)+(?=[A-Z])")


def all_said(error: BaseException | None) -> str:
    """The words of an error, and those of Java, where it comes from there."""
    said: list[str] = []
    while error is not None:
        said += [str(error), getattr(error, "_stackTrace", "")]  # so PySpark keeps it
        error = getattr(error, "_cause", None)
    return "\n".join(said)


def python_came_late(error: BaseException) -> bool:
    """Whether Spark has not waited for a Python of its own: ten seconds, which nothing sets.

    So it does when a stream starts, before there is a micro-batch.
    """
    return "Python worker failed to connect back" in all_said(error)


MEND_FILE = "write it anew, or move it away"
HEADER = re.compile(r"in CSV header is not equal|CSV header does not conform")
CSV_FILE = re.compile(r"^\s*CSV file: (?:file://)?(.+)$", re.MULTILINE)


def root_cause(error: BaseException) -> str | None:
    """The last cause that Java tells of, in a line.

    >>> said = "An error occurred while calling o5.save.\\n: org.apache.spark.SparkException: Job"
    >>> root_cause(RuntimeError(said))
    'SparkException: Job'
    >>> said += "\\n  at …\\nCaused by: java.io.IOException: disk full\\n  at …"
    >>> root_cause(RuntimeError(said))
    'IOException: disk full'
    >>> root_cause(ValueError("x is 3"))
    """
    said = all_said(error)
    path = CSV_FILE.search(said) if HEADER.search(said) else None
    if path:
        return f"{path[1]} has other columns than other files, or in another order: {MEND_FILE}."
    causes = CAUSE.findall(said)
    if not causes:
        called = re.search(r"^An error occurred while calling .+\n: (.+)$", str(error), re.M)
        causes = [called[1]] if called else []
    return PACKAGE.sub("", causes[-1].strip()) if causes else None
