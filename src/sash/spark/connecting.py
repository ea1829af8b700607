"""Addresses of Spark Connect servers. Of one that is not there PySpark says nothing for minutes:
it tries again and again. So it is rung at first."""

from __future__ import annotations

import os
import socket
from urllib.parse import urlsplit

PORT = 15002
SECONDS = 10
PROXIES = ("grpc_proxy", "https_proxy", "http_proxy")
"""With one of these the server may be out of our reach, and not of PySpark's."""


def require_server(url: str) -> None:
    """Raise, in a sentence, if no server can be at an address, such as sc://host:15002."""
    try:
        host, port = host_of(url), urlsplit(url).port or PORT
    except ValueError:  # a port that is no number
        host, port = "", PORT
    if not host:
        raise ValueError(f"remote is an address such as 'sc://host:{PORT}', not {url!r}.")
    if any(os.environ.get(name) for name in PROXIES):
        return
    try:
        socket.create_connection((host, port), timeout=SECONDS).close()
    except OSError as problem:
        raise ConnectionError(
            f"no Spark Connect server answers at {host}:{port} ({problem}): start one there "
            "(sbin/start-connect-server.sh), or write remote='local[*]' to have one started here."
        ) from None


def host_of(url: str) -> str:
    """
    >>> host_of("sc://example.org:15002/;user_id=ann"), host_of("local[2]")
    ('example.org', '')
    """
    return urlsplit(url).hostname or "" if url.startswith("sc://") else ""
