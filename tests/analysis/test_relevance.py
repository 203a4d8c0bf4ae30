"""Which bytes are needed, byte by byte, by the first line that needs them; all expectations computed by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.analysis.specs import needs, paths, program

from polysome.analysis.all import analyse
from polysome.analysis.relevance import relevance
from polysome.semantics.check import check
from polysome.syntax.diagnostics import Report

L4 = ("ethernet", "ipv4", "tcp")


def test_the_first_line_that_needs_a_byte_is_named(tmp_path: Path) -> None:
    p = program(
        tmp_path,
        """use net.l4;
nf t {
  port a, b;
  on packet {
    require ipv4 else send b;
    require ipv4.ttl > 1 else drop "old";
    if tcp { require tcp.syn == 0 else drop "syn"; }
    require ipv4.dst[31:24] != 10 or ipv4.ttl != 3 else bounce;
    send a;
  }
}
""",
    )
    assert needs(p, *L4) == [("ipv4", 8, 8, 6), ("ipv4", 16, 19, 8), ("tcp", 13, 13, 7)]
    assert needs(p, "ethernet", "ipv4", "udp") == [("ipv4", 8, 8, 6), ("ipv4", 16, 19, 8)]
    assert needs(p, "ethernet", "arp") == []


def test_fields_that_share_a_byte_are_one_need(tmp_path: Path) -> None:
    p = program(
        tmp_path,
        """use net.l4;
nf t {
  port a;
  on packet {
    require tcp else drop "not TCP";
    require tcp.fin == 0 else drop "fin";
    require tcp.rst == 0 else drop "rst";
    bounce;
  }
}
""",
    )
    assert needs(p, *L4) == [("tcp", 13, 13, 6)]


def test_what_was_surely_written_is_not_read(tmp_path: Path) -> None:
    p = program(
        tmp_path,
        """use net.l4;
nf t {
  port a;
  on packet {
    require ipv4 else drop "not IPv4";
    ipv4.ttl = 9;
    if ipv4.dscp == 0 { ipv4.identification = 1; }
    require ipv4.ttl == 9 else drop "never";
    require ipv4.identification == 1 else drop "perhaps";
    bounce;
  }
}
""",
    )
    assert needs(p, *L4) == [("ipv4", 1, 1, 7), ("ipv4", 4, 5, 9)]


def test_a_value_counts_where_it_is_used_and_only_as_far_as_the_class_goes(tmp_path: Path) -> None:
    p = program(
        tmp_path,
        """use net.l4;
nf t {
  port a, b;
  on packet {
    require flow.sport != 7 else drop "echo";
    send b;
  }
}
""",
    )
    assert needs(p, *L4) == [
        ("ipv4", 9, 9, 5),
        ("ipv4", 12, 15, 5),
        ("ipv4", 16, 19, 5),
        ("tcp", 0, 1, 5),
        ("tcp", 2, 3, 5),
    ]
    assert needs(p, "ethernet", "ipv6", "ipv6_ext[0]", "udp")[0] == ("ipv6", 8, 23, 5)
    assert ("ipv6_ext[0]", 0, 0, 5) in needs(p, "ethernet", "ipv6", "ipv6_ext[0]", "udp")


def test_options_need_the_end_of_their_header(tmp_path: Path) -> None:
    p = program(
        tmp_path,
        """use net.l4;
nf t {
  port a;
  on packet {
    require ipv4 else drop "not IPv4";
    require ipv4.options[0..4] as u32 == 0 else drop "options";
    bounce;
  }
}
""",
    )
    assert needs(p, *L4) == [("ipv4", 0, 0, 6), ("ipv4", 20, 23, 6)]


def test_the_payload_needs_all_that_says_where_it_begins(tmp_path: Path) -> None:
    p = program(
        tmp_path,
        """use net.l4;
nf t {
  port a;
  on packet {
    require payload[0..2] != 0x4745 else drop "GE";
    bounce;
  }
}
""",
    )
    assert needs(p, *L4) == [("ipv4", 0, 0, 5), ("tcp", 12, 12, 5), ("payload", 0, 1, 5)]
    assert needs(p, "ethernet", "ipv4", "udp") == [("ipv4", 0, 0, 5), ("payload", 0, 1, 5)]
    assert needs(p, "ethernet", "ipv6", "udp") == [("payload", 0, 1, 5)]


def test_bytes_from_a_header_on_are_those_of_what_follows_it(tmp_path: Path) -> None:
    p = program(
        tmp_path,
        """use net.l4;
nf t {
  port a;
  on packet {
    require ipv6 else drop "not IPv6";
    emit ethernet { src: 02:00:00:00:00:01, dst: 02:00:00:00:00:02 } payload packet_from(ipv6, 50) to a;
    drop "told";
  }
}
""",
    )
    assert needs(p, "ethernet", "ipv6", "udp") == [("ipv6", 0, 39, 6), ("udp", 0, 7, 6), ("payload", 0, 1, 6)]
    assert needs(p, "ethernet", "ipv6") == [("ipv6", 0, 39, 6), ("payload", 0, 9, 6)]


def test_without_bound_everything_is_needed_where_that_can_happen(tmp_path: Path) -> None:
    p = program(
        tmp_path,
        """use net.l4;
nf t {
  port a;
  on packet {
    if udp {
      emit ethernet { src: 02:00:00:00:00:01, dst: 02:00:00:00:00:02 } payload payload to a;
    }
    drop "seen";
  }
}
""",
    )
    whole = paths(p, relevance(p).whole)
    assert ("ethernet", "ipv4", "udp") in whole and all("udp" in path for path in whole)


@pytest.mark.parametrize(
    ("policy", "expected"),
    [("fifo", []), ("police 1Mbps, 10KB; classes 1K; idle 1s; when full pass", [("ethernet", 0, 5, 4)])],
)
def test_the_class_counts_only_where_decide_needs_it(
    tmp_path: Path, policy: str, expected: list[tuple[str, int, int, int]]
) -> None:
    p = program(
        tmp_path,
        f"""use net.ethernet;
parser only {{ state start {{ extract ethernet; }} }}
nf t {{ port a; relevant ethernet;
  schedule {{ class ethernet.dst; {policy}; }}
  on packet {{ bounce; }}
}}
""",
    )
    assert needs(p, "ethernet") == expected


def test_listed_bytes_that_nothing_reads_are_named(tmp_path: Path) -> None:
    path = tmp_path / "spec.nf"
    path.write_text(
        """use net.l4;
nf t {
  port a;
  relevant ipv6[0..48];
  on packet { bounce; }
}
""",
        encoding="utf-8",
    )
    report = Report()
    analyse(check(path, report), report)
    assert [(d.code, d.message) for d in report.diagnostics] == [
        ("W0801", "`ipv6[0..48]` is declared relevant, but nothing reads it")
    ]
