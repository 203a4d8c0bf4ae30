"""Web servers, and the programs that ask them."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

from tests.up.load.network import Network, run

NGINX = """
user root;
worker_processes 1;
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
  access_log {folder}/access.log;
  client_max_body_size 100m;
  keepalive_requests 1000000;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{
    listen 80 backlog=1024;
    listen [::]:80 ipv6only=on;
    root {folder}/www;
    location / {{ dav_methods PUT; }}
    location = /who {{ return 200 "{name}\\n"; }}
  }}
}}
"""


@dataclass(frozen=True)
class Server:
    name: str
    namespace: str
    folder: Path

    @property
    def files(self) -> Path:
        return self.folder / "www"

    @property
    def asked(self) -> int:
        """Requests so far."""
        return (self.folder / "access.log").read_text().count("\n")


def serve(made: Network, namespace: str, name: str, folder: Path) -> Server:
    """nginx in a namespace: it keeps what is PUT, and says its name at /who."""
    (folder / "www").mkdir(parents=True)
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, name=name))
    made.start(namespace, "nginx", "-e", folder / "error.log", "-c", folder / "nginx.conf", log=folder / "said")
    return Server(name, namespace, folder)


def random_file(path: Path, size: int) -> str:
    """Makes a file that nothing can guess or compress; its SHA-256."""
    data = os.urandom(size)
    path.write_bytes(data)
    return hashlib.sha256(data).hexdigest()


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def curl(namespace: str, url: str, *options: str, seconds: int = 20) -> str:
    """What the server answered; the request must not fail."""
    return run(namespace, "curl", "--silent", "--show-error", "--fail", "--max-time", str(seconds), *options, url)


@dataclass(frozen=True)
class Wrk:
    """What wrk measured. `sockets`: connections that failed or were reset; `late`: answers after its timeout; `bad`:
    answers that are no success; `longest`: that an answer took, in s (not of late ones)."""

    requests: int
    rate: float
    sockets: int
    late: int
    bad: int
    longest: float
    text: str

    @property
    def errors(self) -> int:
        return self.sockets + self.late + self.bad


def wrk(namespace: str, url: str, seconds: int, connections: int = 8) -> Wrk:
    options = ("-t", "1", "-c", str(connections), "-d", f"{seconds}s", "--timeout", "20s")
    return wrk_result(run(namespace, "wrk", *options, url, timeout=seconds + 40))


def wrk_result(text: str) -> Wrk:
    found = re.search(r"(\d+) requests in", text), re.search(r"Requests/sec:\s+([\d.]+)", text)
    longest = re.search(r"Latency +\S+ +\S+ +([\d.]+)(us|ms|s|m)\b", text)
    assert found[0] and found[1] and longest, text
    sockets = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", text)
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    *failed, late = map(int, sockets.groups()) if sockets else (0, 0)
    seconds = float(longest[1]) * {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0}[longest[2]]
    return Wrk(int(found[0][1]), float(found[1][1]), sum(failed), late, int(bad[1]) if bad else 0, seconds, text)
