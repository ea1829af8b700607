"""A Redis server of our own on this machine, for as long as a block runs."""

from __future__ import annotations

import random
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis

ANSWERING = 60.0
"""Seconds within which a server must answer; it takes a few hundredths."""


class RedisNotAvailableError(RuntimeError):
    """There is no redis-server here, or it does not start; the message says why."""


class Server:
    """One that can be ended and started again, with the same data on the same port."""

    def __init__(self, folder: Path, *settings: str, tls: bool = False) -> None:
        program = shutil.which("redis-server") or shutil.which("valkey-server")
        if program is None:
            raise RedisNotAvailableError("there is no redis-server on the path.")
        self.folder, self.port, self._tls = folder, free_port(), tls
        ports = ["--port", "0", "--tls-port", str(self.port)] if tls else ["--port", str(self.port)]
        self._run = [program, "--bind", "127.0.0.1", "--dir", str(folder), "--save", "", *ports]
        self._run += ["--daemonize", "no", "--databases", "16", *settings]
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def client(self, **options: object) -> redis.Redis:
        """As whoever runs the server would look at it."""
        return redis.Redis(port=self.port, **options)

    def start(self) -> None:
        with (self.folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                self._run,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # a Ctrl-C is for us, who then end it
            )
        until = time.monotonic() + ANSWERING
        while time.monotonic() < until and self._process.poll() is None:
            if self._answers():
                return
            time.sleep(0.01)
        tail = (self.folder / "server.log").read_text(errors="replace")[-1000:]
        self.end()
        raise RedisNotAvailableError(f"redis-server does not start:\n{tail}")

    def _answers(self) -> bool:
        """Whether it listens, and has loaded what it kept."""
        with socket.socket() as attempt:
            attempt.settimeout(ANSWERING)
            if attempt.connect_ex(("127.0.0.1", self.port)) != 0:
                return False
            if self._tls:
                return True
            attempt.sendall(b"PING\r\n")
            return not attempt.recv(100).startswith(b"-LOADING")

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        if self._process is not None:
            self._process.send_signal(how)  # nothing, if it has ended by itself
            self._process.wait()
            self._process = None


@contextmanager
def server(folder: Path, *settings: str, tls: bool = False) -> Iterator[Server]:
    it = Server(folder, *settings, tls=tls)
    try:
        yield it
    finally:
        it.end()


BUS = 10_000
"""A server of a cluster listens at so much higher a port too."""


def free_port() -> int:
    """Below those that Linux gives to outgoing connections, one of which could come in between."""
    for port in random.sample(range(20_000, 22_500), 200):
        if _is_free(port) and _is_free(port + BUS):
            return port
    raise RedisNotAvailableError("no free port between 20000 and 22500.")


def _is_free(port: int) -> bool:
    with socket.socket() as attempt:
        attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            attempt.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def certificates(folder: Path) -> dict[str, Path]:
    """An authority of our own, and a certificate of it for 127.0.0.1."""
    if shutil.which("openssl") is None:
        raise RedisNotAvailableError("there is no openssl on the path.")
    paths = {name: folder / name for name in ("ca.key", "ca.crt", "it.key", "it.csr", "it.crt")}
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1\n")
    new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-batch"]
    authority = ["-CA", paths["ca.crt"], "-CAkey", paths["ca.key"], "-CAcreateserial"]
    names = ["-days", "2", "-extfile", folder / "names"]
    own, asked = ["-keyout", paths["ca.key"]], ["-keyout", paths["it.key"]]
    for command in (
        ["req", "-x509", *new, "-subj", "/CN=ours", "-days", "2", *own, "-out", paths["ca.crt"]],
        ["req", *new, "-subj", "/CN=it", *asked, "-out", paths["it.csr"]],
        ["x509", "-req", "-in", paths["it.csr"], *authority, *names, "-out", paths["it.crt"]],
    ):
        subprocess.run(["openssl", *map(str, command)], check=True, capture_output=True)
    return paths
