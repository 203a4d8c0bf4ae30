"""Generated C++ as people read it: names, lines that fit a screen, and the spec's lines beside what comes from them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest
from tests.native.odd_headers import odd_spec
from tests.semantics.rules.packets import ethernet, ipv4, udp
from tests.testing.builtin.networks import EXAMPLES, example
from tests.testing.traffic.kit import written

from polysome.analysis.layout import Carry
from polysome.backends.folder import contents
from polysome.backends.nf_cpp.constants_code import Reasons, field_names, header_names
from polysome.backends.nf_cpp.generate import generate
from polysome.backends.nf_cpp.lines import WIDTH, fitted
from polysome.engines import ENGINES
from polysome.engines.options import RunOptions
from polysome.engines.trace import Arrival, Trace
from polysome.testing.builtin.compare import same

WORDS = (
    'a reason with \\"quotes\\" in it, and with so many words that no line of a screen has room '
    "for all of them, nor for two thirds"
)
LONG = f"""
use net.l4;
nf long {{
  port from_the_inside_of_the_network_that_is_ours, from_its_outside_where_everybody_else_is;
  on packet {{ drop "{WORDS}"; }}
}}
"""


def long_lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if len(line) > WIDTH]


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_line_of_an_example_fits(name: str) -> None:
    program = example(name).program
    files = contents(program, b"").items()
    texts = {path: data.decode() for path, data in files if path.endswith((".hpp", ".cpp", ".cc", ".hh"))}
    texts |= {f"with {carry}": generate(program, carry=carry) for carry in get_args(Carry)}
    assert {path: lines for path, text in texts.items() if (lines := long_lines(text))} == {}


def test_lines_of_long_names_and_texts_fit(tmp_path: Path) -> None:
    text = generate(written(tmp_path, LONG).program)
    assert long_lines(text) == []
    (reason,) = re.findall(r"^ +(\"a reason.*(?:\n +\".*)*),$", text, re.MULTILINE)
    assert re.sub(r'"\n +"', "", reason) == f'"{WORDS}"' and "\n" in reason


def test_a_long_line_is_broken_where_it_holds_least_together() -> None:
    words = ", ".join(f"first_{n} + second_{n}" for n in range(8))
    call = f"    const auto found = function({words});"
    lines = fitted(call).split("\n")
    assert all(line.endswith((",", "=", ");")) for line in lines) and " ".join(map(str.strip, lines)) == call.strip()
    condition = " || ".join(f"(one_{n} && another_{n})" for n in range(8))
    lines = fitted(f"    if ({condition}) return none;").split("\n")
    assert lines[-1] == "        return none;" and all(line.endswith("||") for line in lines[:-2])
    body = " ".join(f"reader.get(value.member_{n});" for n in range(6))
    lines = fitted(f"inline void read(Reader& reader, Value& value) {{ {body} }}").split("\n")
    assert lines[1:-1] == [f"    reader.get(value.member_{n});" for n in range(6)] and lines[-1] == "}"


@pytest.mark.parametrize("name", EXAMPLES)
def test_drops_and_ports_have_names(name: str) -> None:
    text = generate(example(name).program)
    (listed,) = re.findall(r"namespace Drop \{\nenum : uint16_t \{([^}]*)\}", text)
    names = [word.strip() for word in listed.split(",")]
    (reasons,) = re.findall(r"reasons = \{\n(.*?)\n    \};", text, re.DOTALL)
    assert len(set(names)) == len(names) == len(reasons.split("\n"))
    used = set(re.findall(r"\bDrop::(\w+)", text))
    assert used and used <= set(names)
    assert not re.search(r"\b(drop|send)\((uint16_t\{)?\d|trapped = \d", text)


def test_reasons_alike_have_different_names() -> None:
    reasons = Reasons()
    texts = ["no port", "No port", "no  port!", "ö", "?", "x" * 200, "x" * 201, "if", "none"]
    found = [reasons.name(text) for text in texts]
    assert len(set(found)) == len(found) and found[0] == "Drop::no_port"
    assert found == [reasons.name(text) for text in texts] and all(name.isascii() for name in found)


def test_headers_and_fields_alike_have_different_names(tmp_path: Path) -> None:
    program = written(tmp_path, odd_spec(1)).program
    for names in (header_names(program), field_names(program)):
        assert len(set(names.values())) == len(names)


def test_statements_have_their_line_beside_them() -> None:
    program = example("nat").program
    text = generate(program)
    source = Path(program.file).read_text(encoding="utf-8").split("\n")
    said = re.findall(r"^ +// nat\.nf:(\d+): (.*)$", text, re.MULTILINE)
    assert len({line for line, _ in said}) > 20
    for line, words in said:
        assert words.removesuffix(" …") in " ".join(source[int(line) - 1].split())


MACROS = """
use net.l4;
struct NULL { EOF: u32, stdin: u16 }
header h_addr { stdout: u8; INT_MAX: u8; }
parser macros {
  state start { extract ethernet; select ethernet.ether_type { 0x0800 => ip; 0x88b5 => own; } }
  state ip { extract ipv4; }
  state own { extract h_addr; }
}
nf macros {
  port EOF, NULL, errno, linux, unix;
  param INT_MAX: u32 = 5;
  config RTE_MAX_LCORE: map<u32, NULL>;
  state { BUFSIZ: map<ipv4, u32> { capacity 100; idle 5s; when full drop; } }
  fn stderr(ip6_hops: u32) -> u32 { ip6_hops + INT_MAX }
  on packet from EOF {
    require ipv4 else drop "errno";
    let ip6_nxt = BUFSIZ[ipv4.src] else 0;
    require ip6_nxt < 100 else drop "ip6 plen";
    BUFSIZ[ipv4.src] = stderr(ip6_nxt);
    send NULL;
  }
  on packet from NULL, errno, linux, unix { require h_addr else drop "UINT MAX"; send EOF; }
}
"""


@pytest.mark.slow
@pytest.mark.skipif(ENGINES["native"].missing() is not None, reason=str(ENGINES["native"].missing()))
def test_what_is_called_as_macros_are_builds_and_runs(tmp_path: Path) -> None:
    """C's headers are included before and after: each of these would be replaced."""
    spec = written(tmp_path, MACROS)
    packets = [ethernet(ipv4(udp(bytes(n)), src=n % 3)) for n in range(90)]
    trace = Trace({"RTE_MAX_LCORE": {}}, tuple(Arrival(0, 10**9 + n, data) for n, data in enumerate(packets)))
    meant, native = (ENGINES[name].run(spec.program, trace, RunOptions()) for name in ("interp", "native"))
    assert native.crash is None and meant.drops
    same(meant, native, "as C++")
