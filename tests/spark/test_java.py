"""Spark is not started on a Java that it cannot run on; one sentence says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sash.spark.java import JavaError, find_java, require_java, version_in

OLD = "echo 'openjdk version \"11.0.2\" 2019-01-15' >&2"
OLDER = 'case "$1" in --*) exit 1;; esac; echo \'java version "1.8.0_392"\' >&2'
CUT_DOWN = 'case "$1" in --*) exit 1;; esac; echo \'openjdk version "21.0.4"\' >&2'
NEW = "echo 'openjdk version \"25\" 2025-09-16' >&2"
STRANGE = "echo 'a Java of my own'"
BROKEN = "exit 3"


def a_java(folder: Path, script: str) -> Path:
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    java.chmod(0o755)
    return folder


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        (OLD, r"Spark needs Java 17 or newer, and .*bin/java is Java 11: install Java 17 or newer"),
        (OLDER, "is Java 8: install Java 17"),
        (CUT_DOWN, r"lacks the module jdk\.incubator\.vector.*: install Java 17"),
        (BROKEN, r"bin/java does not run as Java: install Java 17"),
    ],
)
def test_refused(
    script: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(a_java(tmp_path, script)))
    with pytest.raises(JavaError, match=sentence) as refused:
        require_java()
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("script", [NEW, STRANGE])
def test_let_through(script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(a_java(tmp_path, script)))
    assert find_java() == tmp_path / "bin" / "java"
    require_java()


def test_the_one_we_test_with() -> None:
    require_java()


def test_path_only_without_java_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_path = a_java(tmp_path / "path", NEW)
    monkeypatch.setenv("PATH", str(on_path / "bin"))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "gone"))
    with pytest.raises(JavaError, match=r"JAVA_HOME is .*gone, where there is no bin/java: "):
        find_java()
    monkeypatch.delenv("JAVA_HOME")
    assert find_java() == on_path / "bin" / "java"
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(JavaError, match="JAVA_HOME is not set and no java on PATH: install"):
        find_java()


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ('openjdk version "21" 2023-09-19', 21),
        ('WARNING: Using incubator modules\nopenjdk version "17.0.15"', 17),
        ('java version "1.8.0_392"', 8),
        ("command not found", None),
    ],
)
def test_versions(said: str, version: int | None) -> None:
    assert version_in(said) == version


def test_session_asks_first(run: Any, tmp_path: Path) -> None:
    home = a_java(tmp_path / "eleven", OLD)
    done = run("import sash; sash.spark.session()", JAVA_HOME=str(home))
    assert done.returncode
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("sash.spark.java.JavaError: Spark needs Java 17 or newer, and ")
    assert "Py4J" not in done.stderr and "JAVA_GATEWAY" not in done.stderr
