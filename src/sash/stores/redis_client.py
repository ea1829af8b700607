"""Calls to a Redis server: one client, whose errors are ours and tell nothing that is secret."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from hashlib import sha1
from threading import RLock
from typing import Any, TypeVar

from sash.stores.contract import StoreError
from sash.stores.redis_errors import may_pass, secrets, where, without

Found = TypeVar("Found")
SCHEMES = {"redis": "redis", "rediss": "rediss", "valkey": "redis", "valkeys": "rediss"}
"""What redis-py calls them; those that end with s are for TLS."""


class Client:
    """A server, or a cluster, that is connected to when it is asked something."""

    def __init__(self, url: str, timeout: float, cluster: bool, options: dict[str, Any]) -> None:
        self._redis = _library()
        self._where, self._hidden = where(url), secrets(url, options)
        self._timeout, self._cluster = timeout, cluster
        self._waits = not cluster
        """Whether the server may know WAITAOF, which is for the connection that wrote."""
        self._lock = RLock()
        self._closed = False
        self._made: Any = None
        self._make = self._maker(url, options)
        if not cluster:
            self._client()

    def __repr__(self) -> str:
        return f"Redis({self._where!r})"

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._forget()

    def _forget(self) -> None:
        with self._lock:
            client, self._made = self._made, None
        if client is not None:
            client.close()

    def call(self, ask: Callable[[Any], Found]) -> Found:
        """A call to the server; what fails is told without what is secret."""
        known = self._redis.exceptions
        try:
            return ask(self._client())
        except StoreError:
            raise
        except (known.RedisError, known.RedisClusterException, OSError) as error:
            said = without(self._hidden, str(error)) or type(error).__name__
            problem = StoreError(
                f"{self!r} did not do it: {said}", passing=may_pass(self._redis, error)
            )
            if isinstance(error, known.RedisClusterException):
                self._forget()  # it no longer knows the cluster's servers; the next does
        # Raised here, so that it does not have the client's error as its context.
        raise problem

    def run(self, script: str, keys: list[bytes], given: list[Any], durable: bool = False) -> int:
        """What a script answers. The server may have forgotten it, and then gets it again."""
        short, whole = ("EVALSHA", sha1(script.encode()).hexdigest()), ("EVAL", script)
        run = self._synced if durable and self._waits else self._plain

        def call(client: Any) -> int:
            try:
                return run(client, *short, len(keys), *keys, *given)
            except self._redis.exceptions.NoScriptError:
                return run(client, *whole, len(keys), *keys, *given)

        return self.call(call)

    def setting(self, name: str) -> str:
        found = self.call(lambda client: client.config_get(name))
        return str(found.get(name, ""))

    def _plain(self, client: Any, *command: Any) -> int:
        return int(client.execute_command(*command))

    def _synced(self, client: Any, *command: Any) -> int:
        """And wait until it is on disk, if the server is one that tells."""
        with client.pipeline(transaction=False) as both:
            both.execute_command(*command)
            both.execute_command("WAITAOF", 1, 0, int(self._timeout * 800))
            done, synced = both.execute(raise_on_error=False)
        if isinstance(done, Exception):
            raise done
        if isinstance(synced, Exception):  # older than Redis 7.2, or without an append-only file
            self._waits = False
        elif int(synced[0]) < 1:
            if self.setting("appendfsync") != "no":
                raise StoreError(f"{self!r} did not get a write to its disk in time.", passing=True)
            self._waits = False  # it would be told of none
        return int(done)

    def _maker(self, url: str, options: dict[str, Any]) -> Callable[[], Any]:
        """Makes a client, which does not try again by itself: whoever calls does."""
        redis = self._redis
        scheme, _, rest = url.partition("://")
        if scheme not in SCHEMES:
            raise StoreError(
                f"{self!r} is no address of a server: it begins with redis:// or valkey://, or for "
                f"TLS rediss:// or valkeys://."
            )
        given: dict[str, Any] = {
            "socket_timeout": self._timeout,
            "socket_connect_timeout": self._timeout,
            "retry": redis.retry.Retry(redis.backoff.NoBackoff(), 0),
        }
        if SCHEMES[scheme] == "rediss":  # older versions of redis-py take any host's certificate
            given |= {"ssl_cert_reqs": "required", "ssl_check_hostname": True}
        given = {**given, **options, "decode_responses": False}
        url = f"{SCHEMES[scheme]}://{rest}"

        def make() -> Any:
            if self._cluster:
                return redis.RedisCluster.from_url(url, **given)
            client = redis.Redis.from_url(url, **given)
            # Not connected: only to hear at once of options that there are not.
            client.connection_pool.connection_class(**client.connection_pool.connection_kwargs)
            return client

        return make

    def _client(self) -> Any:
        with self._lock:
            if self._closed:
                raise StoreError(f"{self!r} was closed.")
            if self._made is None:
                with suppress(TypeError, ValueError, AttributeError):  # which may quote the address
                    self._made = self._make()
            if self._made is not None:
                return self._made
        raise StoreError(f"{self!r} is no address of a server, or its options are not redis-py's.")


def _library() -> Any:
    try:
        import redis
    except ImportError:
        raise ImportError("Redis needs the package redis: pip install 'sash[stores]'.") from None
    return redis
