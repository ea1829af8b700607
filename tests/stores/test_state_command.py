"""`sash state` of a store: what is in it, whoever has it open, and without changing anything."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from click.testing import Result
from stores.server import Server
from typer.testing import CliRunner

import sash
from sash.aggregators.saving import pack, unpack
from sash.aggregators.shelf import KIND, MANIFEST
from sash.aggregators.stored_blocks import PACKED, Seal
from sash.aggregators.stored_looking import MEASURES, window_in
from sash.cli import app
from sash.stores import Memory, Place, Redis, RocksDB, Store
from sash.windows.storing import ROWS

BOTH = sash.Together(n=sash.Count("v"), top=sash.Max("v"))


def state(*given: object) -> Result:
    return CliRunner().invoke(app, ["state", *map(str, given)], env={"COLUMNS": "160"})


def told(*given: object) -> dict[str, Any]:
    found = state(*given, "--json")
    assert found.exit_code == 0, found.output
    return dict(json.loads(found.stdout))


def fill(store: Store, name: str = "calls", rows: int = 100, secret: bytes = b"") -> None:
    place = Place(store, name, block=4, secret=secret)
    with sash.Window(BOTH, sash.last("60i"), lateness="5i", store=place) as window:
        for row in range(rows):
            window.push({"v": row}, time=row)


def put(store: Store, name: str, values: dict[bytes, bytes], gone: tuple[bytes, ...] = ()) -> None:
    space = store.open(name)
    space.write(values, gone)
    space.release()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state"


def test_all_windows(folder: Path) -> None:
    with RocksDB(folder) as store:
        fill(store)
        with sash.aggregator("log_mta", sash.ArgMax("a", "b"), store=Place(store, "b")) as window:
            window.bulk_insert({"a": [3, 1, 2], "b": ["x", "y", "z"]})
            window.evict()
        keys, size = store.size("calls")
    found = told(f"rocksdb:{folder}")
    assert found["store"] == f"RocksDB('{folder}')"
    assert "survives the end of the process" in found["durability"]
    one, other = found["windows"]
    assert (one["name"], one["op"], one["window"]) == ("b", "ArgMax('a', 'b')", None)
    assert (one["algorithm"], one["pushed"], one["held"]) == ("log_mta", 3, 2)
    assert (other["name"], other["window"], other["algorithm"]) == ("calls", "last('60i')", "amta")
    assert other["op"] == "Together(n=Count('v'), top=Max('v'))"
    assert (other["pushed"], other["waiting"], other["held"]) == (100, 6, 60)
    assert (other["keys"], other["bytes"], other["block"]) == (keys, size, 4)
    assert other["blocks"] == keys - 1
    assert (other["levels"], other["columns"]) == (5, 10)
    assert (other["secret"], other["problem"]) == (False, None)

    shown = state(f"rocksdb:{folder}")
    assert shown.exit_code == 0
    lines = shown.stdout.splitlines()
    assert "survives the end of the process" in lines[1]
    (row,) = [line for line in lines if line.startswith("calls")]
    assert "Together(n=Count('v'), top=Max('v')) over last('60i'), by amta" in row
    assert row.split()[-8:] == ["100", "60", "5", "10", str(keys - 1), str(keys), f"{size:,}", "no"]


def test_one_with_its_columns(folder: Path) -> None:
    with RocksDB(folder) as store:
        fill(store)
        fill(store, "others")
    found = told(f"rocksdb:{folder}", "--name", "calls")["window"]
    lowest, *_, measures = found["columns"]
    assert (lowest["holds"], lowest["level"], lowest["first"], lowest["base"]) == (
        "values",
        0,
        34,
        92,
    )
    assert lowest["blocks"] == 92 // 4 - 34 // 4
    assert (measures["holds"], measures["level"], measures["first"]) == ("measures", None, 34)
    assert sum(column["blocks"] for column in found["columns"]) == found["blocks"]
    assert 0 < sum(column["bytes"] for column in found["columns"]) < found["bytes"]
    shown = state(f"rocksdb:{folder}", "--name", "calls").stdout
    assert "rows waiting  6" in shown
    assert [line.split()[:6] for line in shown.splitlines() if "values  " in line][-1] == [
        *("0", "values", "0", "34", "92", str(lowest["blocks"]))
    ]
    missing = state(f"rocksdb:{folder}", "--name", "none")
    assert missing.exit_code == 1
    assert "there is no window 'none'" in missing.output
    assert "calls, others" in missing.output


def test_while_it_is_open(folder: Path) -> None:
    """Here, and in another process that writes on."""
    with (
        RocksDB(folder) as store,
        sash.Window(sash.Sum(), 10, store=Place(store, "mine")) as window,
    ):
        window.push_many([1, 2, 3])
        window.sync()
        (found,) = told(f"rocksdb:{folder}")["windows"]
        assert (found["pushed"], found["problem"]) == (3, None)
        window.push(4)
    script = """
import sys, sash
window = sash.Window(sash.Sum(), 10, store=sys.argv[1])
while True:
    window.push_many(range(100))
    window.sync()
    print(window.pushed, flush=True)
"""
    with subprocess.Popen(
        [sys.executable, "-c", script, f"rocksdb:{folder}"], stdout=subprocess.PIPE, text=True
    ) as other:
        try:
            assert other.stdout is not None
            for _ in range(3):
                least = int(other.stdout.readline())
                mine, theirs = told(f"rocksdb:{folder}")["windows"]
                assert (mine["pushed"], theirs["name"]) == (4, "window")
                assert theirs["pushed"] >= least
                assert theirs["problem"] is None
        finally:
            other.kill()


def test_redis(redis_server: Server) -> None:
    url = f"redis://127.0.0.1:{redis_server.port}/11"
    with Redis(url) as store:
        name = uuid4().hex
        with sash.Window(sash.Sum(), 10, store=Place(store, name, block=2)) as window:
            for value in range(100):
                window.push(value)
            window.sync()
            for address in (url, url.replace("redis:", "valkey:")):
                found = told(address, "--name", name)
                assert found["durability"] == "The server loses all when it ends."
                assert (found["window"]["pushed"], found["window"]["held"]) == (100, 10)
                assert found["window"]["problem"] is None
            assert name in state(url).stdout
            window.push(100)  # it is not in its way
        store.open(name).destroy()


def test_redis_while_it_is_written(redis_server: Server) -> None:
    """Keys and manifest are not read at one moment: that is no damage."""
    with Redis(redis_server.url, prefix=uuid4().hex) as store:
        with sash.Window(sash.Sum(), 50, store=Place(store, block=1)) as window:
            for value in range(100):
                window.push(value)
                found = window_in(store, "window")
                assert found.problem is None or "manifest" in found.problem  # none yet
        store.open("window").destroy()


def test_a_password_is_not_shown(redis_with: Callable[..., Server]) -> None:
    server = redis_with("--requirepass", "hunter2")
    url = f"redis://:hunter2@127.0.0.1:{server.port}/0"
    with Redis(url) as store:
        fill(store)
    for given in ([url], [f"{url}/hunter2"], [url, "--json"], [url, "--name", "calls"]):
        found = state(*given)
        assert found.exit_code == 0
        assert "calls" in found.stdout
        assert f"Redis('redis://127.0.0.1:{server.port}" in found.stdout
        assert "hunter2" not in found.output
    wrong = [
        url.replace("hunter2", "hunter3"),
        url.replace(str(server.port), "1"),
        url.replace("redis:", "REDIS:"),
        url.replace("redis://", "redis:"),
    ]
    for address in wrong:
        for more in ([], ["--json"], ["--name", "none"], ["--top", "3"]):
            found = state(address, *more)
            assert found.exit_code == 1
            assert found.output.startswith("sash state: ")
            assert "hunter" not in found.output
            assert "Traceback" not in found.output
    missing = state(url, "--name", "none")
    assert (missing.exit_code, "hunter" in missing.output) == (1, False)


def test_secrets(folder: Path, tmp_path: Path) -> None:
    with RocksDB(folder) as store:
        fill(store, "open")
        fill(store, "sealed", secret=b"\0ours\n")
    address, ours, theirs = f"rocksdb:{folder}", tmp_path / "ours", tmp_path / "theirs"
    ours.write_bytes(b"\0ours\n")
    theirs.write_bytes(b"theirs")
    without, sealed = told(address)["windows"]
    assert (without["secret"], without["problem"]) == (False, None)
    assert sealed["problem"].startswith("it is sealed with a secret, which is needed to read it")
    assert (sealed["pushed"], sealed["secret"]) == (None, None)
    assert sealed["blocks"] == without["blocks"]  # so much can be seen
    without, sealed = told(address, "--secret-file", ours)["windows"]
    assert (without["secret"], sealed["secret"]) == (False, True)
    assert sealed["pushed"] == without["pushed"] == 100
    without, sealed = told(address, "--secret-file", theirs)["windows"]
    assert sealed["problem"].startswith("it is sealed with another secret")
    shown = state(address, "--secret-file", ours)
    assert [line.split()[-1] for line in shown.stdout.splitlines()[-2:]] == ["no", "yes"]
    assert "ours" not in shown.output
    assert "is sealed with a secret" in state(address, "--name", "sealed").stdout
    missing = state(address, "--secret-file", tmp_path / "none")
    assert missing.exit_code == 1
    assert "No such file" in missing.output


def test_damage_is_told_in_its_row(folder: Path) -> None:
    names = ["another's", "cut", "fine", "flipped", "forged", "holes", "manifest gone", "strange"]
    with RocksDB(folder) as store:
        for name in names:
            if name != "strange":
                fill(store, name)
        manifests = {name: dict(store.peek(name)).get(MANIFEST, b"") for name in names}
        put(store, "another's", {MANIFEST: manifests["fine"]})
        put(store, "cut", {MANIFEST: manifests["cut"][:15]})
        flipped = bytearray(manifests["flipped"])
        flipped[-30] ^= 1
        put(store, "flipped", {MANIFEST: bytes(flipped)})
        seal = Seal(b"", b"manifest of forged")
        content = unpack(KIND, seal.open(MANIFEST, manifests["forged"])[1])
        content["content"]["aggregator"]["in"] = -1
        put(store, "forged", {MANIFEST: seal.close(MANIFEST, PACKED, pack(KIND, content))})
        blocks = tuple(key for key, _ in store.peek("holes") if key[:2] == b"b\0")
        put(store, "holes", {}, blocks[3:5])
        put(store, "manifest gone", {}, (MANIFEST,))
        put(store, "strange", {b"k": b"v"})
    found = {each["name"]: each for each in told(f"rocksdb:{folder}")["windows"]}
    assert list(found) == names
    said = {name: each["problem"] for name, each in found.items()}
    assert said["fine"] is None
    assert "another window's" in said["another's"]
    assert said["cut"] == "a value in the store is cut off."
    assert "damaged" in said["flipped"]
    assert said["forged"].endswith("is none: its counts are at odds.")
    assert said["holes"] == "2 of its blocks are gone from the store."
    assert found["holes"]["pushed"] == 100
    gone = said["manifest gone"]
    assert gone == "the window 'manifest gone' has blocks in the store and no manifest."
    assert said["strange"] == "the window 'strange' has no manifest."
    shown = state(f"rocksdb:{folder}")
    assert shown.exit_code == 0
    text = " ".join(shown.stdout.split())
    assert "a value in the store is cut off." in text
    assert "2 of its blocks are gone" in text
    columns = told(f"rocksdb:{folder}", "--name", "holes")["window"]["columns"]
    assert [column["missing"] for column in columns] == [2] + [0] * 9


@pytest.mark.parametrize("at", ["layout", "bits", "columns", "content"])
@pytest.mark.parametrize("nonsense", [None, 7, -1, "x", [], {}, {0: None}, {"window": 3}, 2**70])
def test_any_nonsense_is_told(at: str, nonsense: object) -> None:
    store = Memory()
    fill(store)
    seal = Seal(b"", b"manifest of calls")
    content = unpack(KIND, seal.open(MANIFEST, dict(store.peek("calls"))[MANIFEST])[1])
    content[at] = nonsense
    put(store, "calls", {MANIFEST: seal.close(MANIFEST, PACKED, pack(KIND, content))})
    found = window_in(store, "calls")
    assert found.keys > 1
    assert found.problem is not None or found.manifest is not None


def test_names_that_a_terminal_would_obey(folder: Path) -> None:
    with RocksDB(folder) as store:
        fill(store, "[red]\x1b[31m\r")
    shown = state(f"rocksdb:{folder}").stdout
    assert r"[red]\x1b[31m\r" in shown
    assert "\x1b" not in shown


def test_an_empty_store(folder: Path) -> None:
    RocksDB(folder).close()
    assert "There are no windows in it." in state(f"rocksdb:{folder}").stdout
    assert told(f"rocksdb:{folder}")["windows"] == []


def test_no_store(folder: Path, tmp_path: Path) -> None:
    """One sentence, an exit code that scripts see, and nothing is made."""
    file = tmp_path / "file"
    file.touch()
    for path in (folder, folder / "deeper", tmp_path, file):
        found = state(f"rocksdb:{path}")
        assert found.exit_code == 1
        assert found.output == f"sash state: there is no store in {path}.\n"
    assert list(tmp_path.iterdir()) == [file]
    for address in ("rocksdb:", "redis:host", "memory:x"):
        found = state(address)
        assert found.exit_code == 1
        assert "the address of a store is rocksdb:PATH" in found.output


def test_a_store_of_something_else(folder: Path) -> None:
    with RocksDB(folder) as store:
        store._db[b"\xff\xfe"] = b"v"
    found = state(f"rocksdb:{folder}")
    assert found.exit_code == 1
    assert found.output == "sash state: the store has keys that are none of sash's.\n"


def test_options_that_do_not_go_together(folder: Path) -> None:
    found = state(f"rocksdb:{folder}", "--top", "3")
    assert (found.exit_code, "--top is for" in found.output) == (1, True)
    for option in ("--name", "--secret-file"):
        found = state(folder, option, "x")
        assert (found.exit_code, "are for stores" in found.output) == (1, True)


def test_help() -> None:
    shown = state("--help").output
    assert "sash state rocksdb:state" in shown
    assert "--secret-file" in shown


def test_columns_are_told_by_their_numbers() -> None:
    assert MEASURES == ROWS
