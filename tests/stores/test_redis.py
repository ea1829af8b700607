"""Redis: who has a window open, and what a write does."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from textwrap import dedent
from uuid import uuid4

import pytest
from stores.server import Server

from sash.stores import InUseError, Redis, Space, StoreError

SHORT = 0.4
"""Seconds of a lease that is to end while a test waits."""
LONG = 600.0


@pytest.fixture
def prefix() -> str:
    return uuid4().hex


@pytest.fixture
def make(redis_server: Server, prefix: str) -> Iterator[Callable[..., Redis]]:
    """Clients of the shared server, each as if of a process of its own."""
    made: list[Redis] = []

    def new(**options: object) -> Redis:
        made.append(Redis(redis_server.url, prefix=prefix, **options))
        return made[-1]

    yield new
    for store in made:
        store.close()


def keys(server: Server, prefix: str) -> set[bytes]:
    with server.client() as client:
        return set(client.scan_iter(f"{prefix}:*"))


class TestLeases:
    def test_is_taken_over_when_it_has_ended(self, make: Callable[..., Redis]) -> None:
        gone = make(lease=SHORT).open("w")
        gone.write({b"k": b"old"})
        new = make(lease=LONG).open("w")
        new.write({b"k": b"new"})
        for use in (lambda: gone.write({b"k": b"late"}), gone.renew, gone.destroy):
            with pytest.raises(InUseError, match=r"'w'.*was taken over by another") as refused:
                use()
            assert not refused.value.passing
        gone.release()
        assert new.get([b"k"]) == [b"new"]
        new.renew()

    def test_goes_on_if_nobody_took_it(
        self, make: Callable[..., Redis], redis_server: Server, prefix: str
    ) -> None:
        space = make(lease=SHORT).open("w")
        lease = f"{prefix}:{{w}}:lease".encode()
        while lease in keys(redis_server, prefix):
            time.sleep(0.02)
        space.write({b"k": b"v"})
        assert lease in keys(redis_server, prefix)

    def test_who_lives_keeps_it(self, make: Callable[..., Redis]) -> None:
        """The lease of the first is as long as that of the second, and is renewed meanwhile."""
        first = make(lease=2.0).open("w")
        assert first.renews == 0.5
        done = threading.Event()

        def renew() -> None:
            while not done.wait(0.05):
                first.renew()

        thread = threading.Thread(target=renew)
        thread.start()
        try:
            with pytest.raises(InUseError, match=r"'w'.*in use by another"):
                make(lease=2.0).open("w")
        finally:
            done.set()
            thread.join()

    def test_one_that_outlasts_ours(self, make: Callable[..., Redis]) -> None:
        first = make(lease=LONG).open("w")
        with pytest.raises(InUseError, match="in use by another"):
            make(lease=0.05).open("w")
        first.write({b"k": b"v"})

    def test_released_is_free_at_once(
        self, make: Callable[..., Redis], redis_server: Server, prefix: str
    ) -> None:
        first = make(lease=LONG).open("w")
        first.write({b"k": b"v"})
        first.release()
        assert keys(redis_server, prefix) == {f"{prefix}:{{w}}".encode()}
        store = make(lease=LONG)
        second = store.open("w")
        assert second.get([b"k"]) == [b"v"]
        store.close()
        make(lease=LONG).open("w").destroy()
        assert keys(redis_server, prefix) == set()

    def test_killed(self, make: Callable[..., Redis], redis_server: Server, prefix: str) -> None:
        """Nobody need do anything: the window can be opened when the lease has ended."""
        code = """
            import sys
            from sash.stores import Redis

            space = Redis(sys.argv[1], prefix=sys.argv[2], lease=2.0).open("w")
            space.write({b"k": b"v"})
            print("written", flush=True)
            sys.stdin.read()
        """
        run = [sys.executable, "-c", dedent(code), redis_server.url, prefix]
        with subprocess.Popen(run, stdin=-1, stdout=-1, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "written\n"
            process.send_signal(signal.SIGKILL)
        assert make(lease=2.0).open("w").get([b"k"]) == [b"v"]

    def test_one_of_two_who_open_at_once(self, make: Callable[..., Redis]) -> None:
        store = make(lease=LONG)
        opened: list[Space] = []
        refused: list[InUseError] = []

        def try_it() -> None:
            try:
                opened.append(store.open("w"))
            except InUseError as error:
                refused.append(error)

        threads = [threading.Thread(target=try_it) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (len(opened), len(refused)) == (1, 7)

    def test_opening_again_after_an_answer_was_lost(
        self, make: Callable[..., Redis], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store = make(lease=LONG)
        with monkeypatch.context() as patch:
            run = store._client.run

            def lost(*given: object) -> int:
                run(*given)
                raise StoreError("no answer.", passing=True)

            patch.setattr(store._client, "run", lost)
            with pytest.raises(StoreError, match="no answer"):
                store.open("w")
        store.open("w").write({b"k": b"v"})


class TestWrites:
    def test_one_that_comes_late_is_not_done(self, make: Callable[..., Redis]) -> None:
        """It was given up and done again, and something else was written since."""
        space = make().open("w")
        space.write({b"k": b"1"})
        number = space._tried
        space.write({b"k": b"2"})
        space._tried = number - 1
        with pytest.raises(StoreError, match="had a later write already"):
            space.write({b"k": b"1"})
        assert space.get([b"k"]) == [b"2"]

    def test_forgotten_scripts(self, make: Callable[..., Redis], redis_server: Server) -> None:
        space = make().open("w")
        for durable in (False, True):
            with redis_server.client() as client:
                client.script_flush()
            space.write({b"k": b"%d" % durable}, durable=durable)
            assert space.get([b"k"]) == [b"%d" % durable]

    def test_many_at_once(self, make: Callable[..., Redis]) -> None:
        space = make().open("w")
        some = {b"%06d" % i: b"%d" % i for i in range(20_000)}
        space.write(some)
        assert list(space.scan()) == sorted(some.items())
        assert space.get(list(some)) == list(some.values())
        space.write({}, list(some))
        assert list(space.scan()) == []

    def test_expires(self, make: Callable[..., Redis], redis_server: Server, prefix: str) -> None:
        hash, owner = f"{prefix}:{{w}}", f"{prefix}:{{w}}:owner"
        space = make(expires=1000.0).open("w")
        space.write({b"k": b"v"})
        with redis_server.client() as client:
            assert client.ttl(hash) in range(900, 1001)
            assert client.ttl(owner) in range(900, 1001)
            client.expire(hash, 500)
            space.renew()
            assert client.ttl(hash) in range(900, 1001)
            space.release()
            make().open("w").renew()
            assert client.ttl(hash) == -1  # whoever opens it says whether it expires

    def test_gone_meanwhile(
        self, make: Callable[..., Redis], redis_server: Server, prefix: str
    ) -> None:
        """As after it expired, was evicted, or was deleted by hand."""
        for gone in ("{w}", "{w}:owner"):
            space = make().open("w")
            space.write({b"k": b"v"})
            with redis_server.client() as client:
                client.delete(f"{prefix}:{gone}")
            with pytest.raises(StoreError, match="no longer what was written") as lost:
                space.write({b"l": b"v"})
            assert not lost.value.passing
            assert not isinstance(lost.value, InUseError)
            space.destroy()

    def test_prefixes_are_apart(self, redis_server: Server, prefix: str) -> None:
        names = [prefix, f"{prefix}:a", f"{prefix}*", f"{prefix}?[a]\\"]
        stores = [Redis(redis_server.url, prefix=name) for name in names]
        for i, store in enumerate(stores):
            store.open(f"w{i}").write({b"k": b"%d" % i})
        for i, store in enumerate(stores):
            assert store.names() == [f"w{i}"]
            store.close()

    @pytest.mark.parametrize(
        "options", [{"prefix": "a{b"}, {"lease": 0}, {"timeout": 0}, {"expires": 5.0}]
    )
    def test_settings_that_make_no_sense(self, options: dict[str, object]) -> None:
        with pytest.raises(ValueError, match=r"\.$"):
            Redis("redis://127.0.0.1:1", **options)
