"""Files where Spark keeps them, be that a disk, HDFS or an object store."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from sash.spark.kind import is_connect


class Files:
    """A folder's files, by Hadoop's own client: it is there wherever Spark can write."""

    def __init__(self, spark: SparkSession, folder: str) -> None:
        if is_connect(spark):
            raise RuntimeError("files cannot be moved through Spark Connect.")
        jvm: Any = spark._jvm
        self._path = jvm.org.apache.hadoop.fs.Path
        self.folder = folder
        self._here = self._path(folder)
        self._system = self._here.getFileSystem(spark._jsc.hadoopConfiguration())

    def names(self, prefix: str = "", within: str = "") -> list[str]:
        """The names of files and folders here that begin so, in order."""
        folder = self._path(self._here, within) if within else self._here
        if not self._system.exists(folder):
            return []
        found = [status.getPath().getName() for status in self._system.listStatus(folder)]
        return sorted(name for name in found if name.startswith(prefix))

    def remove(self, name: str) -> None:
        self._system.delete(self._path(self._here, name), True)

    def read(self, name: str) -> str | None:
        """A small file of text; None if it is not there."""
        if name not in self.names(name):
            return None
        stream = self._system.open(self._path(self._here, name))
        try:
            return bytes(stream.readAllBytes()).decode()
        finally:
            stream.close()

    def write(self, name: str, text: str) -> None:
        """Write a small file, in the place of what was there."""
        stream = self._system.create(self._path(self._here, name), True)
        try:
            stream.write(bytearray(text, "utf-8"))
        finally:
            stream.close()

    def move(self, name: str, to: str) -> None:
        """Give a file another name, within the folder."""
        if not self._system.rename(self._path(self._here, name), self._path(self._here, to)):
            raise OSError(f"{name} in {self.folder} could not be renamed to {to}.")
