"""What a Redis server and its client say: whether it may pass, and without what is secret."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qsl, unquote, unquote_plus, urlsplit

SECRET = ("username", "password")
MAY_PASS = re.compile(
    r"\b(READONLY|OOM|LOADING|BUSY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|MISCONF|NOREPLICAS|MOVED|ASK)\b"
)
"""How answers begin that a server gives while it starts, is full, or hands over to another."""
FOR_GOOD = re.compile(
    r"WRONGPASS|NOAUTH|NOPERM|invalid username-password|AUTH|CERTIFICATE_VERIFY_FAILED|"
    r"WRONG_VERSION_NUMBER|Name or service not known|Cluster mode is not enabled|querystring"
)


def may_pass(redis: Any, error: Exception) -> bool:
    """Whether trying again may help."""
    known = redis.exceptions
    refused = (known.AuthenticationError, known.AuthorizationError, known.NoPermissionError)
    if isinstance(error, refused) or FOR_GOOD.search(str(error)):
        return False
    passing = (
        known.ConnectionError,
        known.TimeoutError,
        known.ReadOnlyError,
        known.OutOfMemoryError,
        known.ClusterError,
        known.RedisClusterException,
        OSError,
    )
    return isinstance(error, passing) or MAY_PASS.search(str(error)) is not None


def where(url: str) -> str:
    """An address without what may be secret."""
    scheme = url.partition(":")[0]
    try:
        parts = urlsplit(url)
        # A password with a sign that is not quoted ends up in what follows the host.
        if "@" in parts.path + parts.query + parts.fragment or not parts.hostname:
            return f"{scheme}://…"
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        port = f":{parts.port}" if parts.port else ""
        path = parts.path if re.fullmatch(r"/\d*", parts.path) else ""
        return f"{scheme}://{host}{port}{path}"
    except ValueError:
        return f"{scheme}://…"


def secrets(url: str, options: dict[str, Any]) -> list[str]:
    """What nobody is to read: names and passwords, quoted or not, the longest first."""
    found = {str(options[name]) for name in SECRET if options.get(name)}
    try:
        parts = urlsplit(url)
    except ValueError:
        return [url]
    user, at, _ = parts.netloc.rpartition("@")
    if at:
        found |= {user, *user.split(":", 1)}
    found |= {value for name, value in parse_qsl(parts.query) if name in SECRET}
    raw = (each.partition("=") for each in parts.query.split("&"))
    found |= {value for name, _, value in raw if unquote_plus(name) in SECRET}
    return sorted({*found, *map(unquote, found)} - {""}, key=len, reverse=True)


def without(hidden: list[str], text: str) -> str:
    """The first line of what was said, without these."""
    said = text.partition("\n")[0]
    for each in hidden:
        said = said.replace(each, "…")
    return said
