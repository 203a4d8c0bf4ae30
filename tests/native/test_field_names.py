"""What header fields are called in generated code."""

from __future__ import annotations

from pathlib import Path

from tests.native.odd_headers import odd_spec
from tests.testing.traffic.kit import written

from polysome.backends.nf_cpp.reads import field_name
from polysome.ir import program as ir

TWINS = """
header x { k: u8; a_b: u8; }
header x_a { b: u8; c: u8; }
parser twins {
  state start { extract x; select x.k { 1 => more; } }
  state more { extract x_a; }
}
nf twins { port a, b; on packet { send b; } }
"""


def names(program: ir.Program) -> list[str]:
    parser = program.parser
    return [field_name(parser, i, n) for i, j in enumerate(parser.instances) for n in range(len(j.header.fields))]


def test_no_two_fields_have_the_same_name(tmp_path: Path) -> None:
    for text in (TWINS, odd_spec(1), "use net.tunnel;\nnf any { port a, b; on packet { send b; } }"):
        found = names(written(tmp_path, text).program)
        assert len(set(found)) == len(found)


def test_a_name_says_header_and_field(tmp_path: Path) -> None:
    assert "ipv4_src" in names(written(tmp_path, "use net.l4;\nnf any { port a, b; on packet { send b; } }").program)
    assert names(written(tmp_path, TWINS).program)[-1] == "x_a_c"
