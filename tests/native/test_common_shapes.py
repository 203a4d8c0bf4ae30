"""Which packets have code of their own: the ways through a parser that common_shapes chooses.

That their code means the same: test_shapes.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.testing.builtin.networks import EXAMPLES, example
from tests.testing.traffic.kit import written

from polysome.backends.nf_cpp.generate import generate
from polysome.backends.nf_cpp.shapes import MOST, Shape, common_shapes
from polysome.ir import program as ir
from polysome.ir.walk import written_fields

OWN = """header first {{ kind: u8; mark: u8; }}
header second {{ {second} }}
header third {{ a: u8; sum: u8; }}
parser own {{
  state start {{ extract first; select first.kind {{ {cases} }} }}
  state to_second {{ extract second; }}
  state second_too {{ extract second; }}
  state mark {{ select first.mark {{ 5 => to_second; }} }}
  state stack {{ extract third as third[..2]; }}
  state again {{ extract first as again; }}
  state quote {{ extract third as cut_off cut 1; }}
}}
nf own {{ port a, b; {relevant} on packet {{ {handler} send b; }} }}
"""


def shapes(program: ir.Program) -> list[Shape]:
    return common_shapes(program, written_fields([h.body for h in program.packet_handlers]))


def own(
    tmp_path: Path, cases: str, handler: str = "", second: str = "a: u8; b: u8;", relevant: str = ""
) -> list[Shape]:
    text = OWN.format(cases=cases, handler=handler, second=second, relevant=relevant)
    program = written(tmp_path, text).program
    found = shapes(program)
    made = generate(program)
    assert all(made.count(f"struct {shape.name} {{") == 1 for shape in found)
    return found


def text(program: ir.Program, shape: Shape) -> str:
    """`ethernet 0, ipv4 14, tcp|udp 34`."""
    names = [program.parser.instances[i].name for i in shape.path]
    names.append("|".join(program.parser.instances[i].name for i in shape.last))
    return ", ".join(f"{name} {offset}" for name, offset in zip(names, shape.offsets, strict=True))


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("nat", ["ethernet 0, ipv4 14, tcp|udp 34"]),
        ("load_balancer", ["ethernet 0, ipv4 14, tcp|udp 34"]),
        ("bridge", ["ethernet 0"]),
        ("firewall", ["ethernet 0, ipv4 14, tcp|udp 34", "ethernet 0", "ethernet 0, ipv6 14, tcp 54"]),
        ("router6", ["ethernet 0, ipv6 14, expiring|tcp|udp 54"]),
    ],
)
def test_the_ways_of_most_packets(name: str, wanted: list[str]) -> None:
    program = example(name).program
    assert [text(program, shape) for shape in shapes(program)] == wanted


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_holds_of_all_shapes(name: str) -> None:
    program = example(name).program
    parser, found = program.parser, shapes(program)
    assert 1 <= sum(len(shape.ways) for shape in found) <= MOST
    assert [shape.number for shape in found] == list(range(1, len(found) + 1))
    for shape in found:
        sizes = [parser.instances[i].header.fixed for i in shape.path]
        assert list(shape.offsets) == [sum(sizes[:n]) for n in range(len(sizes) + 1)]
        assert len(set(shape.last)) == len(shape.last)
        for last in shape.last:
            number = parser.classes.index((*shape.path, last))
            assert program.contract is None or program.contract.passing >> number & 1
            assert shape.mask(last) == sum(1 << i for i in (*shape.path, last))
            assert shape.offset(last) == shape.offsets[-1]


def test_several_ways_to_the_same_headers_are_one(tmp_path: Path) -> None:
    (shape, alone) = own(tmp_path, "1 => to_second; 2 => second_too; 3 => mark;")
    assert len(shape.ways) == 3 and shape.last == (1,) and shape.name == "first_second_shape"
    assert alone.path == () and alone.name == "first_shape"


def test_no_stacks_no_repetitions_and_nothing_that_may_be_cut(tmp_path: Path) -> None:
    found = own(tmp_path, "1 => to_second; 2 => stack; 3 => quote;")
    assert [shape.name for shape in found] == ["first_second_shape", "first_shape"]
    assert "first_again_shape" in [shape.name for shape in own(tmp_path, "1 => again;")]


def test_only_what_the_contract_lets_pass(tmp_path: Path) -> None:
    found = own(tmp_path, "1 => to_second;", relevant="relevant second;", handler="second.a = 1;")
    assert [shape.name for shape in found] == ["first_second_shape"]


@pytest.mark.parametrize(
    ("before", "width", "some"), [(0, 128, True), (4, 124, True), (4, 128, False), (7, 122, False)]
)
def test_none_if_a_written_field_fits_in_no_integer_with_the_bits_beside_it(
    before: int, width: int, some: bool, tmp_path: Path
) -> None:
    after = -(before + width) % 8
    fields = [("x", before), ("wide", width), ("y", after)]
    second = " ".join(f"{name}: bit<{bits}>;" for name, bits in fields if bits)
    found = own(tmp_path, "1 => to_second;", handler="if second { second.wide = 1; }", second=second)
    assert bool(found) == some
    assert own(tmp_path, "1 => to_second;", handler="if second { first.mark = 1; }", second=second)


EITHER = """header first {{ kind: u8; mark: u8; {end} }}
header second {{ n: u8; m: u8; {fields} {clauses} }}
header third {{ n: u8; m: u8; }}
parser own {{
  state start {{ extract first; select first.kind {{ 1 => two; 2 => three; {more} }} }}
  state two {{ extract second; }}
  state three {{ extract third; }}
}}
nf own {{ port a, b; on packet {{ send b; }} }}
"""
ENDS = "end mark as u16 + 2;"


@pytest.mark.parametrize(
    ("clauses", "end", "without"),
    [
        ("", "", True),
        ("size n;", "", True),
        ("valid n >= 2; size n;", "", True),
        ("valid n >= 3; size n;", "", False),
        ("valid n > 1; size n;", "", False),
        ("valid m >= 2; size n;", "", False),
        ("valid n >= 1; size n as u16 * 2;", "", True),
        ("valid n >= 2; size n as u16 * 2;", "", False),
        ("valid n >= 2; end n;", ENDS, True),
        ("valid n >= 3; end n;", ENDS, False),
        ("end n;", "", False),
        ("size n; end m;", ENDS, False),
    ],
)
def test_which_of_two_comes_last_is_found_without_a_branch(
    clauses: str, end: str, without: bool, tmp_path: Path
) -> None:
    """Where all that a header demands is that what it says of its size or the packet's is no less than its fixed part;
    and nobody else has said where the packet ends, or it says nothing of that."""
    fields = "more: rest;" if "size" in clauses else ""
    spec = EITHER.format(clauses=clauses, end=end, fields=fields, more="")
    assert ("const bool is_second" in generate(written(tmp_path, spec).program)) == without


def test_one_header_that_two_ways_lead_to_is_no_choice(tmp_path: Path) -> None:
    spec = EITHER.format(clauses="", end="", fields="", more="3 => two_too;")
    spec = spec.replace("1 => two; 2 => three;", "1 => two;").replace(
        "state three", "state two_too { extract second; }\n  state three"
    )
    assert "const bool is_second" not in generate(written(tmp_path, spec).program)


def test_a_field_may_be_called_as_the_choice_is(tmp_path: Path) -> None:
    """Else its test would ask for itself."""
    spec = EITHER.format(clauses="", end="", fields="", more="").replace("kind", "is_second")
    text = generate(written(tmp_path, spec).program)
    assert "const bool is_second_ = is_second == 1u;" in text and "const bool is_third = is_second == 2u;" in text


@pytest.mark.parametrize(
    ("fields", "some"), [("a: u8; b: u16; c: u8;", True), ("a: bit<4>; b: u16; c: bit<12>;", False)]
)
def test_none_behind_a_pseudo_header_of_parts_of_bytes(fields: str, some: bool, tmp_path: Path) -> None:
    found = own(tmp_path, "1 => to_second;", second=f"{fields} pseudo b;")
    assert ("first_second_shape" in [shape.name for shape in found]) == some
