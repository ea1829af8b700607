"""What a pipeline sets of Spark's settings, and what it leaves to its user."""

from __future__ import annotations

from pathlib import Path

from pipeline.mistakes import GOOD, write_world

from sash.pipeline import read_pipeline
from sash.pipeline.running import settings

HUGE = "-XX:-DontCompileHugeMethods"


def test_java_compiles_what_spark_writes(tmp_path: Path) -> None:
    """Options that are given stay, and a user may know better."""
    write_world(tmp_path)
    file = tmp_path / "pipeline.toml"
    file.write_text(GOOD, encoding="utf-8")
    pipeline = read_pipeline(file)
    driver, executor = "spark.driver.extraJavaOptions", "spark.executor.extraJavaOptions"
    assert settings(pipeline, {})[driver] == settings(pipeline, {})[executor] == HUGE
    assert settings(pipeline, {driver: "-Xss8m"})[driver] == f"-Xss8m {HUGE}"
    theirs = "-XX:+DontCompileHugeMethods"
    assert settings(pipeline, {driver: theirs})[driver] == theirs
    assert driver not in settings(pipeline, {}, remote="sc://host:15002")
