"""LANGUAGE.md L1.10 and L1.11: what the ports and params of a block are, and its properties in the NF that uses it."""

from __future__ import annotations

from polysome.analysis.layout import layout
from polysome.ir import program as ir
from polysome.ir import properties as pr
from rules.harness import diagnostics, errors, program, run, warnings

NF = """use net.l4;
nf n {{
  port lan, wan;
  {items}
  on packet from lan {{ {body} send wan; }}
  on packet from wan {{ {body} send lan; }}
}}
"""
BLOCK = """use net.l4;
block part {
  port inside;
  param step: u8;
  param start: u8 = 0;
  state { n: u8 = start; }
  action up() { if in_port == inside { n += step; } }
  fn twice(x: u8) -> u8 { x + x }
  /// Counts what comes from inside,
  /// and nothing else.
  property counts {
    for p in trace expect p.after.n - p.before.n == (if p.in_port == inside { step } else { 0 }) and twice(2) == 4;
  }
}
"""
FILES = {"part.nf": BLOCK}
ANY = bytes(64)


def nf(items: str, body: str = "") -> str:
    return NF.format(items=items, body=body)


# ---------------------------------------------------------------- L1.10


def test_L1_10_a_port_is_the_one_given() -> None:
    trace = [(0, "lan", ANY), (1, "wan", ANY), (2, "wan", ANY)]
    for port, expected in (("lan", 1), ("wan", 2)):
        spec = nf(f"use part {{ inside: {port}, step: 1 }};", "part.up();")
        assert run(spec, trace, files=FILES).state["part.n"] == expected


def test_L1_10_else_the_one_of_the_same_name() -> None:
    block = BLOCK.replace("port inside", "port wan").replace("inside", "wan")
    spec = nf("use part { step: 1 };", "part.up();")
    assert run(spec, [(0, "lan", ANY), (1, "wan", ANY), (2, "wan", ANY)], files={"part.nf": block}).state["part.n"] == 2


def test_L1_10_a_port_that_is_neither_is_an_error_with_the_line_to_write() -> None:
    (found,) = diagnostics(nf("use part as x { step: 1 };", "x.up();"), files=FILES)
    assert found.code == "E0218"
    assert "`lan`, `wan`" in found.mend and "`use part as x { step: 1, inside: lan };`" in found.mend


def test_L1_10_what_is_given_is_a_port_that_is_known() -> None:
    for wrong, code in (("5", "E0301"), ("nothing", "E0213"), ("in_port", "E0316")):
        assert errors(nf(f"use part {{ inside: {wrong}, step: 1 }};"), files=FILES) == [code]
    assert errors(nf("use part { inside: if true { wan } else { lan }, step: 1 };"), files=FILES) == []
    assert errors(nf("use part { insde: lan, step: 1 };"), files=FILES) == ["E0220"]
    assert errors(nf("use part { inside: lan, inside: wan, step: 1 };"), files=FILES) == ["E0309"]


def test_L1_10_blocks_in_blocks_get_the_ports_of_their_user() -> None:
    files = FILES | {
        "whole.nf": "block whole { port wan; use part { inside: wan, step: 3 }; action go() { part.up(); } }"
    }
    outcome = run(nf("use whole;", "whole.go();"), [(0, "lan", ANY), (1, "wan", ANY)], files=files)
    assert outcome.state["whole.part.n"] == 3


def test_L1_10_a_param_without_value_takes_that_of_the_same_name_and_type() -> None:
    use, trace = "use part { inside: lan };", [(0, "lan", ANY)]
    spec = nf(f"param step: u8 = 4; param start: u8 = 50; {use}", "part.up();")
    assert run(spec, trace, files=FILES).state["part.n"] == 4  # `start` has a default
    assert run(spec, trace, files=FILES, params={"step": "6"}).state["part.n"] == 6
    assert run(spec, trace, files=FILES, params={"step": "6", "part.step": "7"}).state["part.n"] == 7
    given = nf("param step: u8 = 4; use part { inside: lan, step: step + 1, start: 10 };", "part.up();")
    assert run(given, trace, files=FILES).state["part.n"] == 15
    assert errors(nf(f"param step: u16 = 4; {use}"), files=FILES) == ["E0219"]
    assert errors(nf(use), files=FILES) == ["E0219"]


def test_L1_10_a_param_that_only_a_block_takes_is_used() -> None:
    spec = nf("param step: u8 = 4; param other: u8 = 4; use part { inside: lan };", "part.up();")
    assert [d.message for d in diagnostics(spec, files=FILES)] == ["param `other` is never used"]


def test_L1_10_a_block_has_no_packet_handler_contract_or_schedule() -> None:
    for item in ("on packet { bounce; }", "relevant flow;", "schedule { class flow; fifo; }", "traffic { flows 1K; }"):
        block = BLOCK.replace("port inside;", f"port inside; {item}")
        assert errors(nf("use part { inside: lan, step: 1 };"), files={"part.nf": block}) == ["E0225"]


# ---------------------------------------------------------------- L1.11


def test_L1_11_properties_of_a_block_are_the_nfs_named_by_its_alias() -> None:
    items = "use part as one { inside: lan, step: 1 }; use part as two { inside: wan, step: 1 };"
    found = program(nf(f"{items} property own {{ expect true; }}"), files=FILES).properties
    assert [p.name for p in found] == ["own", "one.counts", "two.counts"]
    assert found[1].doc == "Counts what comes from inside,\nand nothing else."
    assert found[1].span.file.endswith("part.nf")


def test_L1_11_they_read_the_blocks_own_names() -> None:
    items = "param step: u8 = 9; param inside: u8 = 1; state { n: u8; } use part { inside: wan, step: 3 };"
    (found,) = program(nf(items, "n += step + inside;"), files=FILES).properties
    assert _states(found) == {"part.n"}
    assert ("port", 1) in _constants(found) and ("u8", 3) in _constants(found)


def test_L1_11_and_the_nfs_packets_and_entries() -> None:
    block = """block part { property p {
      for p in trace
      expect p.in.own.x == 7 and p.who == 7 and p.class == 7 and not evicted(p.who) and ended(p.at..p.at);
    } }"""
    spec = """header own { x: u8; }
      parser mine { state start { extract own; } value who: u8 = if own { own.x } else { 0 }; }
      nf n { port a; use part; state { m: map<u8, u8> { capacity 4; forever; when full drop; } }
             schedule { class who; fifo; } on packet { m[who] = 1; bounce; } }"""
    (found,) = program(spec, files={"part.nf": block}).properties
    assert [e.maps for e in _nodes(found) if isinstance(e, pr.Ended)] == [("m",), ("m",)]


def test_L1_11_what_the_nf_lacks_is_an_error_where_it_is_used() -> None:
    spec = nf("use part;").replace("use net.l4;", "use net.ethernet; parser p { state start { extract ethernet; } }")
    for condition in ("p.in.ipv4.ttl > 1", "p.flow == p.flow", "p.in.ethernet.src == p.in.vlan.vid", "ended(5 as u8)"):
        block = f"block part {{ property p {{ for p in trace expect {condition} and p.in.ipv6.hop_limit > 1; }} }}"
        (found,) = diagnostics(spec, files={"part.nf": block})
        assert found.code == "E0224" and found.message.startswith("`part` does not fit this NF: ")
        assert found.span is not None and found.span.file.endswith("spec.nf")


def test_L1_11_only_the_line_of_the_nf_is_named_for_blocks_in_blocks() -> None:
    files = {
        "whole.nf": "block whole { use part; }",
        "part.nf": "block part { property p { for p in trace expect p.in.nothing; } }",
    }
    (found,) = diagnostics(nf("use whole;"), files=files)
    assert found.code == "E0224" and found.span is not None and found.span.file.endswith("spec.nf")


def test_L1_11_reading_in_a_property_makes_nothing_relevant() -> None:
    block = "block part { port lan; property p { for p in trace where p.in_port == lan expect p.in.ipv4.ttl > 1; } }"
    files = {"part.nf": block}
    for relevant in ("", "relevant ipv4.src;"):
        items, body = f"{relevant} state {{ s: ipv4; }}", "if ipv4 { s = ipv4.src; }"
        with_one, without = nf(f"{items} use part;", body), nf(items, body)
        assert len(program(with_one, files=files).properties) == 1
        assert _kept(program(with_one, files=files)) == _kept(program(without))
        assert warnings(with_one, files=files) == []


def _kept(found: ir.Program) -> list[object]:
    """What of each parse class goes to the NF server."""
    return [(c.classes, c.whole, c.kept) for c in layout(found).classes]


# ---------------------------------------------------------------- the tree


def _nodes(root: object) -> list[ir.Node]:
    """The node and all inside it."""
    if isinstance(root, tuple):
        return [n for part in root for n in _nodes(part)]
    if not isinstance(root, ir.Node):
        return []
    return [root, *(n for name in root.__dataclass_fields__ for n in _nodes(getattr(root, name)))]


def _states(found: pr.Property) -> set[str]:
    return {n.state for n in _nodes(found) if isinstance(n, ir.StateRead)}


def _constants(found: pr.Property) -> set[tuple[str, object]]:
    return {(str(n.type), n.value) for n in _nodes(found) if isinstance(n, ir.Const)}
