"""Redis: names and passwords that nobody is told, and certificates that are verified."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path

import pytest
from stores.conftest import or_skip
from stores.server import Server, certificates

from sash.stores import Redis, StoreError

NAME, WORD = "ann@home", "p/w:#?&%41 x"
QUOTED = "ann%40home", "p%2Fw%3A%23%3F%26%2541%20x"


@pytest.fixture
def server(redis_with: Callable[..., Server]) -> Server:
    server = redis_with("--requirepass", "of the default user")
    with server.client(password="of the default user") as client:
        client.acl_setuser(
            NAME,
            enabled=True,
            passwords=[f"+{WORD}"],
            keys=["mine:*"],
            categories=["+@all", "-@admin", "-@dangerous"],
        )
    return server


def test_from_the_address_or_options(server: Server) -> None:
    name, word = QUOTED
    at = f"127.0.0.1:{server.port}"
    stores = [
        Redis(f"redis://{name}:{word}@{at}/0", prefix="mine"),
        Redis(f"redis://{at}/0?username={name}&password={word}", prefix="mine"),
        Redis(f"redis://{at}/0", prefix="mine", username=NAME, password=WORD),
        Redis(f"valkey://{at}/0", prefix="mine", password="of the default user"),
    ]
    for store in stores:
        with store:
            store.open("w").destroy()
            assert repr(store) in (f"Redis('redis://{at}/0')", f"Redis('valkey://{at}/0')")


def test_told_to_nobody(server: Server) -> None:
    name, word = QUOTED
    at = f"127.0.0.1:{server.port}"
    user = {"username": NAME, "password": f"wrong{WORD}"}
    attempts: list[tuple[str, dict[str, object]]] = [
        # Wrong, or not allowed to
        (f"redis://{name}:wrong{word}@{at}", {}),
        (f"redis://{at}", user),
        (f"redis://{at}?username={name}&password=wrong{word}", {}),
        (f"redis://{name}:{word}@{at}", {"prefix": "others"}),
        (f"redis://{name}:{word}@{at}", {"cluster": True}),
        (f"redis://{name}:wrong{word}@{at}", {"cluster": True}),
        (f"redis://{at}", {"prefix": "mine"}),
        # No such host, no such address or option, not quoted
        (f"redis://{name}:{word}@nowhere.invalid", {}),
        (f"redis://{name}:{word}@{at}/0?db={word}", {}),
        (f"redis://{name}:{word}@{at}", {"nonsense": WORD}),
        (f"redis://{NAME}:{WORD}@{at}", {}),
        (f"redis://{NAME}:{WORD}", {}),
        (f"redis://{name}:{word}@host:{word}", {}),
        (f"redis://[{name}:{word}@host", {}),
        (f"http://{name}:{word}@{at}", {}),
    ]
    for url, options in attempts:
        with pytest.raises(StoreError) as failed:
            Redis(url, **options).open("w")
        assert not failed.value.passing, failed.value
        told = traceback.format_exception(failed.value)
        error: BaseException | None = failed.value
        while error is not None:
            told += [str(error), repr(error), repr(error.args)]
            error = error.__cause__ or error.__context__
        for secret in (NAME, WORD, *QUOTED, "p/w", "wrong", "%41"):
            assert not any(secret in each for each in told), (url, told)


def test_one_that_may_not_ask_for_settings(server: Server) -> None:
    url = f"redis://{QUOTED[0]}:{QUOTED[1]}@127.0.0.1:{server.port}"
    with Redis(url, prefix="mine") as store:
        assert "unknown" in store.durability()
        store.open("w").write({b"k": b"v"}, durable=True)
        assert store.names() == ["w"]


def test_tls(redis_with: Callable[..., Server], tmp_path: Path) -> None:
    made = or_skip(lambda: certificates(tmp_path))
    settings = ("--tls-cert-file", made["it.crt"], "--tls-key-file", made["it.key"])
    asked = ("--tls-ca-cert-file", made["ca.crt"], "--tls-auth-clients", "no")
    server = redis_with(*map(str, (*settings, *asked)), tls=True)
    at = f"127.0.0.1:{server.port}"
    authority = str(made["ca.crt"])
    for url, options, says in (
        (f"rediss://{at}", {}, "CERTIFICATE_VERIFY_FAILED"),
        (f"valkeys://{at}", {}, "CERTIFICATE_VERIFY_FAILED"),
        # A name that the certificate is not for
        (f"rediss://localhost:{server.port}", {"ssl_ca_certs": authority}, "mismatch"),
    ):
        with Redis(url, **options) as store:
            with pytest.raises(StoreError, match=says) as failed:
                store.open("w")
            assert not failed.value.passing
    for scheme in ("rediss", "valkeys"):
        for url, options in (
            (f"{scheme}://{at}", {"ssl_ca_certs": authority}),
            (f"{scheme}://{at}?ssl_ca_certs={authority}", {}),
        ):
            with Redis(url, **options) as store:
                store.open("w").write({b"k": b"v"})
                assert store.names() == ["w"]
