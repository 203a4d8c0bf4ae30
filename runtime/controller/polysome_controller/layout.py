"""ControllerConfig, checked, and what follows from it alone: which queue pair is whose, which bucket uses which."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from google.protobuf import json_format

from polysome_controller import control_pb2 as pb
from polysome_controller.errors import ConfigurationError
from polysome_protocol import BTH, TAG

SECOND = 1_000_000_000
SOFT_MODELS = ("software", "linux")  # all others are driven by BfRt


def read_config(path: Path) -> pb.ControllerConfig:
    """The configuration in a file of JSON; ConfigurationError says what is wrong with it."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    try:
        config: pb.ControllerConfig = json_format.Parse(text, pb.ControllerConfig())
    except json_format.ParseError as error:
        raise ConfigurationError(f"{path}: {error}") from error
    try:
        check(config)
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error}") from error
    return config


def check(config: pb.ControllerConfig) -> None:
    """ConfigurationError names the first thing that cannot be."""
    for name in ("nf", "model", "switch", "state", "admin", "switch_mac", "switch_ip"):
        if not getattr(config, name):
            raise ConfigurationError(f"`{name}` is missing")
    for name in ("traffic", "nf_servers"):
        if not getattr(config, name):
            raise ConfigurationError(f"`{name}` is empty: nothing can be decided without one")
    for name in ("queue_pairs", "load", "health", "deadline", "misses", "probes"):
        if not getattr(config.polling, name):
            raise ConfigurationError(f"`polling.{name}` must be more than 0")
    mac_number(config.switch_mac)
    if config.metrics and not config.metrics.rpartition(":")[2].isdecimal():
        raise ConfigurationError(f"`metrics`: `{config.metrics}` is not ADDRESS:PORT")
    _check_names(config)
    _check_sizes(config)
    if config.rdma_servers:
        _check_back_off(config.back_off)


def _check_back_off(back_off: pb.BackOff) -> None:
    if not 0 < back_off.low < back_off.high <= 1:
        raise ConfigurationError("`back_off` needs 0 < low < high <= 1: between the two, nothing moves")
    if not 0 < back_off.step <= 1 or not 0 < back_off.headroom <= 1:
        raise ConfigurationError("`back_off.step` and `back_off.headroom` are shares: more than 0, 1 at most")


def _check_names(config: pb.ControllerConfig) -> None:
    for what, parts in (("nf_servers", config.nf_servers), ("rdma_servers", config.rdma_servers)):
        names = [part.name for part in parts]
        for name in names:
            if not name or names.count(name) > 1:
                raise ConfigurationError(f"`{what}`: every one needs a name of its own, `{name}` is not")
    ports = [p for t in config.traffic for p in t.ports]
    ports += [s.port for s in config.nf_servers] + [s.port for s in config.rdma_servers]
    ports += [config.bring_up.port] if config.bring_up.probes else []
    for port in ports:
        if ports.count(port) > 1:
            raise ConfigurationError(f"switch port {port} is used twice")
    for traffic in config.traffic:
        if not traffic.ports:
            raise ConfigurationError(f"traffic port `{traffic.name}` has no switch port")


def _check_sizes(config: pb.ControllerConfig) -> None:
    sessions = (len(config.nf_servers) + bool(config.bring_up.probes)) * len(config.depths)
    most = max(0, config.mirror_sessions - 1)
    if sessions > most:
        raise ConfigurationError(
            f"{len(config.nf_servers)} NF servers of {len(config.depths)} ways, and the controller, need {sessions} "
            f"mirror sessions; the switch has {most}: name fewer NF servers in the site file"
        )
    bits = TAG["queue_pair"].bits
    pairs = sum(server.queue_pairs for server in config.rdma_servers)
    if not 1 <= config.queue_pair_bits <= bits:
        raise ConfigurationError(f"`queue_pair_bits` must be 1 to {bits}")
    if pairs and config.buckets < 1:
        raise ConfigurationError("`buckets` must be more than 0")
    most = (1 << config.queue_pair_bits) - 1
    if pairs > most:
        raise ConfigurationError(
            f"{pairs} queue pairs: the program has room for {most}, as its last index stands for no queue pair"
        )


@dataclass(frozen=True)
class Bucket:
    """Two indices of queue pairs; Layout.nowhere stands for none."""

    primary: int
    backup: int


@dataclass(frozen=True)
class Layout:
    """Queue pairs are numbered server by server. `servers`: the indices of each server's; `buckets`: as they are while
    nothing is wrong; `nowhere`: the index that is never up."""

    servers: tuple[tuple[int, ...], ...]
    server_of: tuple[int, ...]
    buckets: tuple[Bucket, ...]
    nowhere: int

    def home(self, bucket: int) -> int:
        """The server whose own the bucket is."""
        return self.server_of[self.buckets[bucket].primary]

    def moved(self, bucket: int, server: int | None) -> Bucket:
        """The bucket on another server than its own, with a backup on a third if there is one; None: on none."""
        if server is None:
            return Bucket(self.nowhere, self.nowhere)
        if server == self.home(bucket):
            return self.buckets[bucket]
        pairs = self.servers[server]
        others = [s for s in range(len(self.servers)) if s != server and self.servers[s]]
        others = [s for s in others if s != self.home(bucket)] or others
        backups = self.servers[others[bucket % len(others)]]
        return Bucket(pairs[bucket % len(pairs)], backups[bucket % len(backups)])


def layout_of(config: pb.ControllerConfig) -> Layout:
    """Buckets take queue pairs in turn; the backup is the next one on another server, so that a server's buckets fall
    on all others. With one server it is another queue pair there, if there is one. Without queue pairs there are no
    buckets: all packets go whole."""
    servers, first = [], 0
    for server in config.rdma_servers:
        servers.append(tuple(range(first, first + server.queue_pairs)))
        first += server.queue_pairs
    server_of = tuple(s for s, pairs in enumerate(servers) for _ in pairs)
    buckets = tuple(_bucket(number, server_of) for number in range(config.buckets if server_of else 0))
    return Layout(tuple(servers), server_of, buckets, (1 << config.queue_pair_bits) - 1)


def _bucket(number: int, server_of: tuple[int, ...]) -> Bucket:
    count = len(server_of)
    primary = number % count
    first = 1 + number // count % max(count - 1, 1)
    backup = (primary + first) % count
    for i in range(count):
        other = (primary + first + i) % count
        if server_of[other] != server_of[primary]:
            backup = other
            break
    return Bucket(primary, backup)


def number_of(generation: int, pair: int, bits: int) -> int:
    """The switch's number, as BTH has it, of a queue pair, other than its last ones: generations count from 1 and begin
    again after all that fit, so the numbers 0 and 1, which are reserved, never come up."""
    generations = (1 << (BTH["queue_pair"].bits - bits)) - 2
    return ((generation - 1) % generations + 1) << bits | pair


def fingerprint(config: pb.ControllerConfig) -> str:
    """Of all that the switch's tables follow from: another one, and they are filled anew."""
    relevant = pb.ControllerConfig()
    relevant.CopyFrom(config)
    for name in ("polling", "back_off", "admin", "listen", "metrics", "state", "config", "tls", "switch", "nf_hash"):
        relevant.ClearField(name)
    for server in relevant.rdma_servers:
        server.ClearField("address")
        server.ClearField("spare")
    for nf in relevant.nf_servers:
        nf.ClearField("address")
    return hashlib.sha256(relevant.SerializeToString(deterministic=True)).hexdigest()


def mac_number(text: str) -> int:
    """Of "02:70:6f:6c:79:01"; ConfigurationError if it is none."""
    parts = text.split(":")
    try:
        octets = bytes(int(part, 16) for part in parts if len(part) == 2)
    except ValueError:
        octets = b""
    if len(octets) != 6 or len(parts) != 6:
        raise ConfigurationError(f"`{text}` is no MAC address")
    return int.from_bytes(octets, "big")
