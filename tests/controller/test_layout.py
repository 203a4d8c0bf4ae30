"""The configuration's checks, and what follows from it."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format

from polysome_controller import control_pb2 as pb
from polysome_controller.errors import ConfigurationError
from polysome_controller.layout import fingerprint, layout_of, mac_number, number_of, read_config

from .site import Site


@pytest.fixture
def plain(certificates: Path, tmp_path: Path) -> dict[str, Any]:
    return json_format.MessageToDict(Site(certificates, tmp_path).config())


def refusal(plain: dict[str, Any], folder: Path, **changes: Any) -> str:
    file = folder / "controller.json"
    file.write_text(json.dumps({**plain, **changes}))
    with pytest.raises(ConfigurationError) as caught:
        read_config(file)
    assert str(file) in str(caught.value)
    return str(caught.value)


def test_a_good_one_is_read(plain: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "controller.json"
    file.write_text(json.dumps(plain))
    assert read_config(file).nf == "balancer"


def test_what_is_wrong_is_said(plain: dict[str, Any], tmp_path: Path) -> None:
    def why(**changes: Any) -> str:
        return refusal(plain, tmp_path, **changes)

    assert 'no field named "colour"' in why(colour=1)
    assert "`nf` is missing" in why(nf="")
    assert "`traffic` is empty" in why(traffic=[])
    assert "`polling.misses`" in why(polling={**plain["polling"], "misses": 0})
    assert "0 < low < high" in why(backOff={**plain["backOff"], "low": 1.0})
    assert "switch port 40 is used twice" in why(traffic=[{"name": "a", "ports": [40]}])
    assert "`memory0` is not" in why(rdmaServers=[plain["rdmaServers"][0]] * 2)
    assert "`02:70` is no MAC" in why(switchMac="02:70")
    assert "has no switch port" in why(traffic=[{"name": "a"}])
    assert "room for 3" in why(queuePairBits=2)
    assert "1200 mirror sessions; the switch has 1023" in why(depths=[51] * 600)
    assert "the switch has 254" in why(depths=[51] * 200, mirrorSessions=255)
    assert "`buckets` must be more than 0" in why(buckets=0)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="No such file"):
        read_config(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(ConfigurationError, match=r"bad\.json"):
        read_config(tmp_path / "bad.json")


def config_of(*counts: int, buckets: int = 64, bits: int = 6) -> pb.ControllerConfig:
    made = pb.ControllerConfig(buckets=buckets, queue_pair_bits=bits)
    for i, count in enumerate(counts):
        made.rdma_servers.add(name=f"memory{i}", queue_pairs=count)
    return made


@pytest.mark.parametrize("counts", [(1,), (4,), (2, 2), (3, 1, 2), (2, 0, 2)])
def test_buckets_are_spread_and_have_a_backup_elsewhere(counts: tuple[int, ...]) -> None:
    layout = layout_of(config_of(*counts))
    pairs = sum(counts)
    for number, bucket in enumerate(layout.buckets):
        assert bucket.primary == number % pairs
        servers = {layout.server_of[bucket.primary], layout.server_of[bucket.backup]}
        assert len(servers) == min(2, sum(count > 0 for count in counts))
    for server, own in enumerate(layout.servers):
        backups = {layout.server_of[b.backup] for n, b in enumerate(layout.buckets) if layout.home(n) == server}
        others = {s for s in range(len(counts)) if s != server and counts[s]}
        assert not own or not others or backups == others  # its buckets fall on all others


def test_without_queue_pairs_there_are_no_buckets() -> None:
    assert layout_of(config_of()).buckets == layout_of(config_of(0, 0)).buckets == ()


def test_a_moved_bucket_has_its_backup_on_a_third_server() -> None:
    layout = layout_of(config_of(2, 2, 2))
    for number in range(64):
        home = layout.home(number)
        for server in range(3):
            bucket = layout.moved(number, server)
            assert layout.server_of[bucket.primary] == server
            used = {layout.server_of[bucket.primary], layout.server_of[bucket.backup]}
            assert len(used) == 2 and (server == home or home not in used)
    assert layout.moved(0, None).primary == layout.moved(0, None).backup == 63


def test_numbers_never_come_twice_in_a_row_and_are_never_reserved() -> None:
    for bits in (4, 10, 16):
        for pair in (0, 1, (1 << bits) - 2):
            generations = [*range(1, 300), (1 << 24 - bits) - 2, (1 << 24 - bits) - 1]
            found = [number_of(generation, pair, bits) for generation in generations]
            assert all(2 <= number < 1 << 24 and number & (1 << bits) - 1 == pair for number in found)
            assert all(one != two for one, two in pairwise(found))


def test_addresses() -> None:
    assert mac_number("02:70:6f:6c:79:01") == 0x02706F6C7901
    for text in ("02:70:6f:6c:79", "02-70-6f-6c-79-01", "2:70:6f:6c:79:1", "zz:70:6f:6c:79:01"):
        with pytest.raises(ConfigurationError):
            mac_number(text)


def test_only_what_tables_follow_from_means_filling_anew(plain: dict[str, Any]) -> None:
    def of(**changes: Any) -> str:
        return fingerprint(json_format.ParseDict({**plain, **changes}, pb.ControllerConfig()))

    assert of() == of(metrics="127.0.0.1:9", admin="/elsewhere", nfHash="another")
    assert of() != of(buckets=32)
    assert of() != of(verdicts=[])
