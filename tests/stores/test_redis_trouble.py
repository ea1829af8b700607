"""Redis: servers that go away, are full, forget, or are many."""

from __future__ import annotations

import re
import signal
import threading
import time
from collections.abc import Callable

import pytest
from stores.server import Server

from sash.stores import InUseError, Redis, StoreError

LONG = 600.0
"""Seconds of a lease that does not end while a test runs."""


def test_gone_and_back(redis_with: Callable[..., Server]) -> None:
    server = redis_with("--appendonly", "yes", "--appendfsync", "always")
    with Redis(server.url) as store:
        space = store.open("w")
        space.write({b"k": b"v"}, durable=True)
        # More than one connection, each of which is stale when the server is back.
        threads = [threading.Thread(target=space.get, args=[[b"k"]]) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        server.end(signal.SIGKILL)
        for use in (
            lambda: space.write({b"l": b"v"}),
            lambda: space.get([b"k"]),
            lambda: list(space.scan()),
            lambda: store.open("other"),
            store.names,
            store.durability,
        ):
            with pytest.raises(StoreError) as failed:
                use()
            assert failed.value.passing
            assert not isinstance(failed.value, InUseError)
        server.start()
        space.write({b"l": b"v"})
        assert list(space.scan()) == [(b"k", b"v"), (b"l", b"v")]
        server.end()
    space.release()  # as does the store's close: nothing to be said, as the lease ends


def test_a_server_that_forgets(redis_with: Callable[..., Server]) -> None:
    server = redis_with()
    with Redis(server.url) as store:
        assert store.durability() == "The server loses all when it ends."
        space = store.open("w")
        space.write({b"k": b"v"})
        server.end(signal.SIGKILL)
        server.start()
        with pytest.raises(StoreError, match="no longer what was written") as lost:
            space.write({b"l": b"v"})
        assert not lost.value.passing


def test_does_not_answer(redis_with: Callable[..., Server]) -> None:
    server = redis_with()
    with Redis(server.url, timeout=1.0) as store:
        space = store.open("w")
        server._process.send_signal(signal.SIGSTOP)
        try:
            with pytest.raises(StoreError, match="Timeout") as failed:
                space.write({b"k": b"v"})
            assert failed.value.passing
        finally:
            server._process.send_signal(signal.SIGCONT)
        space.write({b"k": b"w"})
        assert space.get([b"k"]) == [b"w"]


def test_full(redis_with: Callable[..., Server]) -> None:
    """A write is refused as a whole; what frees memory is not."""
    server = redis_with("--maxmemory-policy", "noeviction")
    with Redis(server.url) as store, server.client() as client:
        space = store.open("w")
        space.write({b"a": bytes(100_000), b"b": b"1"})
        client.config_set("maxmemory", "1")
        with pytest.raises(StoreError) as failed:
            space.write({b"c": b"v"}, [b"a"])
        assert failed.value.passing
        assert space.get([b"a", b"b", b"c"]) == [bytes(100_000), b"1", None]
        space.renew()
        client.delete("sash:{w}:lease")
        space.renew()
        space.write({}, [b"a"])
        assert space.get([b"a", b"b"]) == [None, b"1"]
        store.open("other").release()
        client.config_set("maxmemory", 0)
        space.write({b"c": b"v"})


def test_a_replica(redis_with: Callable[..., Server]) -> None:
    server = redis_with()
    with Redis(server.url) as store, server.client() as client:
        space = store.open("w")
        client.replicaof("127.0.0.1", 1)
        for use in (lambda: space.write({b"k": b"v"}), lambda: store.open("other")):
            with pytest.raises(StoreError) as failed:
                use()
            assert failed.value.passing
        client.replicaof("NO", "ONE")
        space.write({b"k": b"v"})


def test_a_cluster(redis_with: Callable[..., Server]) -> None:
    server = redis_with("--cluster-enabled", "yes", "--appendonly", "yes")
    with server.client() as client:
        client.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        while client.cluster("INFO")["cluster_state"] != "ok":
            time.sleep(0.02)
    with Redis(server.url, cluster=True, lease=LONG) as store:
        space = store.open("w")
        space.write({b"k": b"v", b"l": b"v"}, [b"k"], durable=True)
        store.open("v").write({b"k": b"v"})
        assert store.names() == ["v", "w"]
        assert list(space.scan(b"l")) == [(b"l", b"v")]
        assert "within about a second" in store.durability()
        with (
            Redis(server.url, cluster=True, lease=0.05) as other,
            pytest.raises(InUseError, match="in use by another"),
        ):
            other.open("w")
        server.end()
        with pytest.raises(StoreError) as failed:
            space.get([b"k"])
        assert failed.value.passing
        server.start()
        until = time.monotonic() + 60
        while True:
            try:
                space.write({b"m": b"v"})
                break
            except StoreError as error:
                assert error.passing, error
                assert time.monotonic() < until
                time.sleep(0.05)
        space.destroy()
        assert store.names() == ["v"]


def test_a_cluster_that_is_none(redis_server: Server) -> None:
    with (
        Redis(redis_server.url, cluster=True) as store,
        pytest.raises(StoreError, match="Cluster mode is not enabled") as failed,
    ):
        store.open("w")
    assert not failed.value.passing


@pytest.mark.parametrize(
    ("log", "synced", "save", "says"),
    [
        ("yes", "always", "", "before it answers"),
        ("yes", "everysec", "", "within about a second"),
        ("yes", "no", "", "its system says when"),
        ("no", "no", "3600 1", r"after its last snapshot \(3600 1\)"),
        ("no", "no", "", "loses all when it ends"),
    ],
)
def test_what_is_kept(
    redis_with: Callable[..., Server], log: str, synced: str, save: str, says: str
) -> None:
    settings = ("--appendonly", log, "--appendfsync", synced, "--save", save)
    with Redis(redis_with(*settings).url) as store:
        assert re.search(says, store.durability())
        store.open("w").write({b"k": b"v"}, durable=True)
