"""RocksDB: what survives, who is let in, and disks that fail."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from sash.stores import InUseError, RocksDB, StoreError

WRITES = """
    import sys
    from sash.stores import RocksDB

    store = RocksDB(sys.argv[1])
    space = store.open("w")
    for i in range(100):
        space.write({b"%03d" % i: b"v" * 1000, b"last": b"%d" % i}, durable=i % 10 == 0)
    print("written", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def other(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that has the folder "db" open and has written to it."""
    process = subprocess.Popen(
        [sys.executable, "-c", dedent(WRITES), str(tmp_path / "db")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "written\n"
        yield process
        process.kill()


def test_killed(tmp_path: Path, other: subprocess.Popen[str]) -> None:
    os.kill(other.pid, signal.SIGKILL)
    other.wait()
    with RocksDB(tmp_path / "db") as store:
        assert store.size("w")[0] == 101
        assert store.open("w").get([b"last", b"099"]) == [b"99", b"v" * 1000]


def test_another_process(tmp_path: Path, other: subprocess.Popen[str]) -> None:
    with pytest.raises(InUseError, match=r"db is open already: one store at a time") as refused:
        RocksDB(tmp_path / "db")
    assert not refused.value.passing
    with RocksDB(tmp_path / "db", read_only=True) as look:
        assert look.names() == ["w"]
        assert look.size("w")[0] == 101
        space = look.open("w")
        assert space.get([b"last"]) == [b"99"]
        for write in (lambda: space.write({b"k": b"v"}), space.destroy):
            with pytest.raises(StoreError, match="read only"):
                write()


def test_twice_in_a_process(tmp_path: Path) -> None:
    """Also by another path, as RocksDB itself would not notice."""
    (tmp_path / "link").symlink_to(tmp_path / "db")
    with RocksDB(tmp_path / "db"):
        for path in (tmp_path / "db", tmp_path / "link", tmp_path / "x" / ".." / "db"):
            with pytest.raises(InUseError, match="open already"):
                RocksDB(path)
    with RocksDB(tmp_path / "link") as store:
        store.open("w").write({b"k": b"v"})


def test_looking_sees_what_was_written_until_then(tmp_path: Path) -> None:
    with RocksDB(tmp_path / "db") as store:
        space = store.open("w")
        space.write({b"a": b"1"})
        with RocksDB(tmp_path / "db", read_only=True) as look:
            space.write({b"b": b"2"}, [b"a"])
            assert list(look.peek("w")) == [(b"a", b"1")]
        with RocksDB(tmp_path / "db", read_only=True) as look:
            assert list(look.peek("w")) == [(b"b", b"2")]


def test_looking_while_files_come_and_go(tmp_path: Path) -> None:
    """All that is there is put and deleted again, many times the size of the write buffer."""
    with RocksDB(tmp_path / "db") as store:
        space = store.open("w")
        value = os.urandom(1 << 20)

        def fill() -> None:
            for i in range(80):
                space.write({b"%d" % i: value}, [b"%d" % (i - 8)])

        fill()
        with RocksDB(tmp_path / "db", read_only=True) as look:
            before = list(look.peek("w"))
            fill()
            store._db.compact_range(None, None)
            assert list(look.peek("w")) == before


def test_what_is_deleted_takes_no_room(tmp_path: Path) -> None:
    with RocksDB(tmp_path / "db") as store:
        space = store.open("w")
        for i in range(200):
            space.write({b"%08d" % i: os.urandom(1 << 20)}, [b"%08d" % (i - 4)])
        store._db.flush()
        # Compactions run behind; here all that are due.
        store._db.compact_range(None, None)
        space.release()
    assert sum(path.stat().st_size for path in (tmp_path / "db").iterdir()) < 100 << 20


def test_scans_do_not_keep_it_open(tmp_path: Path) -> None:
    store = RocksDB(tmp_path / "db")
    space = store.open("w")
    space.write({b"a": b"1", b"b": b"2"})
    scan = space.scan()
    next(scan)
    store.close()
    with RocksDB(tmp_path / "db") as again:
        assert again.size("w")[0] == 2
    with pytest.raises(StoreError, match="was closed"):
        next(scan)


def test_a_scan_is_of_the_moment_it_was_made(tmp_path: Path) -> None:
    with RocksDB(tmp_path / "db") as store:
        space = store.open("w")
        space.write({b"a": b"1", b"b": b"2"})
        scan = space.scan()
        space.write({b"c": b"3"}, [b"b"])
        assert list(scan) == [(b"a", b"1"), (b"b", b"2")]


def test_places_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in ("file", "file/x", "file/x/y"):
        with pytest.raises(StoreError, match="a file is in the way") as refused:
            RocksDB(tmp_path / path)
        assert not refused.value.passing
    with pytest.raises(StoreError, match=r"could not be made.*No such file") as refused:
        RocksDB("/proc/none/x")
    assert not refused.value.passing


@pytest.mark.parametrize("broken", ["garbage", "MANIFEST-999999\n", ""])
def test_damage(tmp_path: Path, broken: str) -> None:
    with RocksDB(tmp_path / "db") as store:
        store.open("w").write({b"k": b"v"})
    (tmp_path / "db" / "CURRENT").write_text(broken)
    with pytest.raises(StoreError, match="could not be opened: ") as refused:
        RocksDB(tmp_path / "db")
    assert not refused.value.passing
    assert not isinstance(refused.value, InUseError)


def test_goes_on_after_a_disk_failed(tmp_path: Path) -> None:
    """After an error that is not a full disk RocksDB would refuse all until it is opened anew."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with RocksDB(tmp_path / "db") as store:
        space, value = store.open("w"), os.urandom(1 << 20)
        space.write({b"a": b"1", b"b": b"2"}, durable=True)
        scan = space.scan()
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 15, before[1]))
        try:
            for _ in range(3):
                with pytest.raises(StoreError, match="File too large") as failed:
                    space.write({b"c": value}, [b"a"])
                assert failed.value.passing
                assert space.get([b"a", b"c"]) == [b"1", None]
            assert next(scan) == (b"a", b"1")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        space.write({b"c": value}, [b"a"])
        assert space.get([b"a", b"b", b"c"]) == [None, b"2", value]
        with pytest.raises(StoreError, match="opened anew") as failed:
            next(scan)
        assert failed.value.passing
        with pytest.raises(InUseError):
            store.open("w")
    with RocksDB(tmp_path / "db") as store:
        assert [key for key, _ in store.peek("w")] == [b"b", b"c"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True)
    except OSError as error:
        pytest.skip(f"no mount here: {error}")
    if done.returncode:
        pytest.skip(f"may not mount here: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_full_disk(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(5 << 20))
    with RocksDB(small_disk / "db") as store:
        space = store.open("w")
        written: dict[bytes, bytes] = {}
        with pytest.raises(StoreError, match="No space left") as full:
            for i in range(200):
                some = {b"%03d" % i: os.urandom(100_000)}
                space.write(some, durable=i % 2 == 0)
                written |= some
        assert full.value.passing
        assert written
        assert dict(space.scan()) == written
        ballast.unlink()
        until = time.monotonic() + 60
        while True:
            try:
                space.write({b"more": b"v"})
                break
            except StoreError as error:
                assert error.passing
                assert time.monotonic() < until
                time.sleep(0.1)
        written[b"more"] = b"v"
        left = {key: value for key, value in space.scan() if key in written}
        assert left == written
        assert store.size("w")[0] <= len(written) + 1  # what raised may yet be there
