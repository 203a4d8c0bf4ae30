"""Wrong properties: each has one diagnostic, whose message is a whole sentence of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from polysome.semantics.check import check
from polysome.syntax.diagnostics import Diagnostic, Report, SpecError

NF = """use net.l4;
struct Plan { rate: bitrate }
nf n {
  port a, b;
  config plans: map<ipv4, Plan>;
  config addresses: list<ipv4>;
  state {
    total: bytes;
    free: pool<u16> { from 1024..65535; }
    meters: map<Flow, token_bucket(1Mbps, 64KB)> { capacity 1K; idle 30s; when full evict oldest; }
    hosts: set<ipv6> { capacity 1K; age 1h; when full pass; }
    octets: count_min<Flow> { error 1%; confidence 99%; }
  }
  on packet { HANDLER send b; }
  property wrong { PROPERTY }
}
"""


def diagnose(folder: Path, handler: str, text: str) -> tuple[Diagnostic, str]:
    """The only diagnostic, and the text that it underlines."""
    path = folder / "n.nf"
    source = NF.replace("HANDLER", handler).replace("PROPERTY", text)
    path.write_text(source, encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        check(path, Report())
    assert len(caught.value.diagnostics) == 1, [d.message for d in caught.value.diagnostics]
    found = caught.value.diagnostics[0]
    assert found.span is not None
    return found, source[found.span.start : found.span.end]


# What stands behind `for p in trace expect`; the code; the message; what is underlined.
EXPRESSIONS = [
    ("p.snet", "E0901", "a packet has no `snet`", "snet"),
    ("p.ipv4.ttl == 1", "E0901", "a packet has no `ipv4`", "ipv4"),
    ("p.in.ipv5.ttl == 1", "E0901", "`p.in` has no `ipv5`", "ipv5"),
    ("p.in.sent", "E0901", "`p.in` has no `sent`", "sent"),
    ("p.in.ipv4.tttl == 1", "E0402", "ipv4 has no field `tttl`", "tttl"),
    ("flow == p.flow", "E0902", "`flow` of which packet?", "flow"),
    ("ipv4.ttl == 3", "E0902", "`ipv4` of which packet?", "ipv4.ttl"),
    ("now == p.at", "E0902", "`now` of which packet?", "now"),
    ("total == 3B", "E0903", "`total` at which time?", "total"),
    ("p.flow in meters", "E0903", "`meters` at which time?", "meters"),
    ("octets.estimate(p.flow) == 0", "E0903", "`octets` at which time?", "octets"),
    ("p.after.totl == 3B", "E0904", "there is no state or config `totl`", "totl"),
    ("p.after == 3B", "E0905", "`p.after` alone is no value", "p.after"),
    ("trace == 4", "E0906", "`trace` is no value", "trace"),
    ("p.at", "E0301", "bool was expected here, but this is a time", "p.at"),
    ("p.at == 3", "E0315", "`==` is not defined for time and integer", "p.at == 3"),
    ("p.in.payload == 4", "E0315", "`==` is not defined for byte string and integer", "p.in.payload == 4"),
    ("p < p", "E0315", "`<` is not defined for packet and packet", "p < p"),
    ("hash(p) == 4", "E0322", "packet cannot be hashed", "p"),
    ("p.after.meters == 1", "E0502", "`meters` as a whole is not a value", "p.after.meters"),
    ("p.after.hosts[p.flow.src]", "E0317", "`hosts` cannot be indexed", "p.after.hosts[p.flow.src]"),
    ("p.after.octets.estimat(p.flow) == 1", "E0503", "`octets` has no member `estimat`", "estimat"),
    ("plans[p.at].rate == 4Mbps", "E0301", "ipv4 was expected here, but this is a time", "p.at"),
    ("cont(r in trace) == 1", "E0320", "there is no function `cont`", "cont"),
    ("count(r) == 1", "E0908", "`count` is not written like this", "count(r)"),
    ("bytes(p.flow) == 1B", "E0908", "`bytes` is not written like this", "bytes(p.flow)"),
    ("sum(r in trace: r.at) == p.at", "E0909", "`sum` is not defined for time", "r.at"),
    ("bytes(p.flow, p.at..p.len) == 1B", "E0301", "time was expected here, but this is bytes", "p.len"),
    ("within(p.sent, p.sent..p.held)", "E0909", "`within` is not defined for bool", "p.sent"),
    ("evicted(p.len)", "E0910", "no map or set has keys of type bytes", "p.len"),
    ("ended(p.flow, End.idel)", "E0214", "enum `End` has no member `idel`", "idel"),
    ("checksums_valid(p.flow)", "E0908", "`checksums_valid` is not written like this", "checksums_valid(p.flow)"),
    ("outputs(batsh: 4) == outputs()", "E0911", "a run has no option `batsh`", "batsh"),
    ("outputs(4) == outputs()", "E0911", "an option of a run needs its name", "4"),
    ("outputs(ties: 1, ties: 2) == outputs()", "E0911", "option `ties` is given twice", "ties"),
    ("outputs(batch: 0) == outputs()", "E0912", "option `batch` cannot have this value", "0"),
    ("outputs(engine: nativ) == outputs()", "E0912", "option `engine` cannot have this value", "nativ"),
    ("outputs(faults: {loss, fire}) == outputs()", "E0912", "option `faults` cannot have this value", "{loss, fire}"),
    ("outputs(jump: 4) == outputs()", "E0301", "duration was expected here, but this is an integer", "4"),
    (
        "outputs() < outputs()",
        "E0315",
        "`<` is not defined for run's outputs and run's outputs",
        "outputs() < outputs()",
    ),
]
WRITES = [
    ("p.after.octets.add(p.flow)", "octets.add"),
    ("p.after.hosts.add(p.flow.src)", "hosts.add"),
    ("p.after.free.take() == 1", "free.take"),
    ("p.after.meters[p.flow].take(4B)", "take"),
]
ITEMS = [
    ("for p in 5 expect p == 1;", "E0906", "a name cannot run over integer"),
    ("for p, q in addresses expect p == q;", "E0906", "2 names cannot run over list<ipv4>"),
    ("for p, q, r in plans expect p == q;", "E0906", "3 names cannot run over map<ipv4, Plan>"),
    ("for p in tracee expect p.sent;", "E0213", "there is no `tracee` here"),
    ("for p, p in trace expect p.sent;", "E0203", "`p` is declared twice"),
    ("for p in trace where p.len expect p.sent;", "E0301", "bool was expected here, but this is bytes"),
    ("for p in trace where p.sent let x = p.len;", "E0907", "property `wrong` expects nothing"),
    ("for e in emitted expect e.nothing;", "E0901", "an emitted packet has no `nothing`"),
    ("for e in emitted expect e.in.ipv4.ttl == 3;", "E0901", "an emitted packet has no `in`"),
    ("for e in emitted expect e.ipv4.tttl == 3;", "E0901", "header `ipv4` has no `tttl`"),
]
QUANTIFIERS = [
    ('if exists r in trace where r.sent { drop "x"; }', "quantifiers belong into properties"),
    ("let n = count(r in trace where r.sent);", "`count` belongs into properties"),
    ('if outputs() == 1 { drop "x"; }', "`outputs` belongs into properties"),
]


@pytest.mark.parametrize(("text", "code", "message", "underlined"), EXPRESSIONS)
def test_wrong_expression(tmp_path: Path, text: str, code: str, message: str, underlined: str) -> None:
    found, shown = diagnose(tmp_path, "", f"for p in trace expect {text};")
    assert (found.code, found.message, shown) == (code, message, underlined)
    assert found.why.endswith((".", "?"))


@pytest.mark.parametrize(("text", "what"), WRITES)
def test_snapshots_are_only_looked_at(tmp_path: Path, text: str, what: str) -> None:
    found, _ = diagnose(tmp_path, "", f"for p in trace expect {text};")
    assert (found.code, found.message) == ("E0505", f"`{what}` changes state, which cannot happen here")


@pytest.mark.parametrize(("text", "code", "message"), ITEMS)
def test_wrong_item(tmp_path: Path, text: str, code: str, message: str) -> None:
    found, _ = diagnose(tmp_path, "", text)
    assert (found.code, found.message) == (code, message)


@pytest.mark.parametrize(("statement", "message"), QUANTIFIERS)
def test_quantifiers_outside_of_properties(tmp_path: Path, statement: str, message: str) -> None:
    found, _ = diagnose(tmp_path, statement, "expect true;")
    assert (found.code, found.message) == ("E0306", message)


@pytest.mark.parametrize(
    ("text", "mend"),
    [
        ("p.snet", "Did you mean `sent`?"),
        ("p.ipv4.ttl == 1", "Say which: `in.ipv4` as it arrived, or `out.ipv4` as it left."),
        ("now == p.at", "Write `p.at`."),
        ("total == 3B", "Write `p.before.total`, or `p.after.total`."),
        ("sum(r in trace where r.sent) == 1", "Write `sum(r in trace where C: e)`."),
        ("outputs(engine: nativ) == outputs()", "Did you mean `native`?"),
    ],
)
def test_mends(tmp_path: Path, text: str, mend: str) -> None:
    assert diagnose(tmp_path, "", f"for p in trace expect {text};")[0].mend == mend
