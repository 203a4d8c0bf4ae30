"""The NF's C++ reads fields and writes edits where the switch has them; a fault in its text is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.backends.examples import program
from tests.prove.kit import example

from polysome.analysis.framed import framed_classes
from polysome.analysis.layout import Carry
from polysome.backends.nf_cpp.generate import generate
from polysome.backends.system.proof import case_of
from polysome.ir import program as ir
from polysome.prove.fields import fields
from polysome.prove.offsets import offsets
from polysome.prove.result import Status
from polysome.prove.traffic import traffic

NAMES = ("bridge", "dns_guard", "forwarder", "load_balancer", "nat", "router6", "slim_dpi", "vxlan_gateway")
DST, SRC = "load_bytes<uint32_t, 4>(h.data + 7)", "load_bytes<uint32_t, 4>(h.data + 3)"
PUT_SRC = "Writer(bytes + 0).put(e.has_ipv4_src ? e.ipv4_src : f.ipv4_src, 4);"
PUT_DST = "Writer(bytes + 4).put(e.has_ipv4_dst ? e.ipv4_dst : f.ipv4_dst, 4);"
USE_PORTS = "case 2: return use(ethernet_ipv4_tcp_or_udp_fields(p.headers));\n            default: return rare();"
MEMBER = "is not what its frames carry of it"
WRITTEN = "does not write its edits to where they are taken from"
# Of the NF `nat`: what stands in the text, what stands there instead, what is wrong then.
FAULTS = {
    "one byte further on": (f"ipv4_dst(static_cast<uint32_t>({DST}", f"ipv4_dst(static_cast<uint32_t>({SRC}", MEMBER),
    "other bits": (">> 5) & 0x1)", ">> 6) & 0x1)", MEMBER),
    "a mask that is too small": ("& 0x1fff)", "& 0xfff)", MEMBER),
    "fewer bytes": (DST, "load_bytes<uint32_t, 3>(h.data + 7)", MEMBER),
    "beyond the frame": (DST, "load_bytes<uint32_t, 4>(h.data + 60)", "more than there are"),
    "a type that is too small": (f"static_cast<uint32_t>({DST})", f"static_cast<uint8_t>({DST})", MEMBER),
    "a member that is not read": (f"ipv4_dst(static_cast<uint32_t>({DST})),", "", MEMBER),
    "a member of another header": ("ipv4_dst(has(17) ?", "ipv4_dst(has(19) ?", MEMBER),
    "headers that are told apart wrongly": ("case 17: return (valid & uint64_t{0x20000}) != 0;", "", MEMBER),
    "an edit of another header": ("f.has(11) ? (e.has_tcp_sport", "f.has(12) ? (e.has_tcp_sport", WRITTEN),
    "a length of its own": ("len(h.length())", "len(h.in_port)", "`len` is read from"),
    "an edit further on": (PUT_DST, PUT_DST.replace("bytes + 4", "bytes + 5"), WRITTEN),
    "an edit of another size": (PUT_DST, PUT_DST.replace(", 4);", ", 3);"), WRITTEN),
    "two edits the other way round": (
        f"{PUT_SRC}\n        {PUT_DST}",
        f"{PUT_SRC.replace('bytes + 0', 'bytes + 4')}\n        {PUT_DST.replace('bytes + 4', 'bytes + 0')}",
        WRITTEN,
    ),
    "an edit that is forgotten": (PUT_DST, "", WRITTEN),
    "an edit that takes another field's value": (PUT_DST, PUT_DST.replace("? e.ipv4_dst", "? e.ipv4_src"), "it has"),
    "an edit that keeps another field's value": (PUT_DST, PUT_DST.replace(": f.ipv4_dst", ": f.ipv4_src"), "it has"),
    "an edit that keeps nothing": (PUT_DST, PUT_DST.replace(": f.ipv4_dst", ": 0"), "not what it had"),
    "fewer bytes of edits": ("return 12;", "return 10;", "writes 10 bytes of edits"),
    "a class for another": ("{15, 2, uint64_t{2071}}", "{15, 2, uint64_t{32791}}", "for others"),
    "shorter frames": ("{15, 2, uint64_t{2071}}", "{14, 2, uint64_t{2071}}", "of 14 bytes"),
    "the code of another class": ("{14, 3, uint64_t", "{14, 4, uint64_t", ""),
    "a class that is not taken": ("{19, 4, uint64_t{0x18017}}", "{}", "not take"),
    "common frames that are read as others": (USE_PORTS, USE_PORTS.replace("_tcp_or_udp", "_icmp"), "in two ways"),
    "a member that is not copied": ("to.ipv4_dst = f.ipv4_dst;", "", "not all of"),
    "a member that is copied to another": ("to.ipv4_dst = f.ipv4_dst;", "to.ipv4_src = f.ipv4_dst;", "not understood"),
    "anything else": ("p.shape = found.shape;", "p.shape = found.shape; p.headers.data += 1;", "not understood"),
}


@pytest.mark.parametrize("carry", ["fields", "headers"])
@pytest.mark.parametrize("name", NAMES)
def test_every_class_is_proved(name: str, carry: Carry) -> None:
    spec = program(name)
    known = framed_classes(spec, carry)
    found = list(offsets(spec, known, generate(spec, defaults=False, carry=carry)))
    assert len(found) == len(known)
    assert [result for result in found if result.status != Status.proved] == []


@pytest.fixture(scope="module")
def nat() -> tuple[ir.Program, str]:
    spec = program("nat")
    return spec, generate(spec, defaults=False)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_refuted(nat: tuple[ir.Program, str], fault: str) -> None:
    (old, new, why), (spec, text) = FAULTS[fault], nat
    assert old in text
    found = list(offsets(spec, framed_classes(spec), text.replace(old, new)))
    assert any(result.status == Status.refuted and why in result.why for result in found), found


def test_it_is_part_of_what_is_proved_of_fields() -> None:
    case = case_of(example("bridge"))
    assert {result.status for result in fields(traffic(case))} == {Status.proved}
    wrong = replace(case, nf=case.nf.replace("h.data + 0", "h.data + 1"))
    assert wrong.nf != case.nf
    assert Status.refuted in {result.status for result in fields(traffic(wrong))}
