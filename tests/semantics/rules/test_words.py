"""LANGUAGE.md section 1: words, literals, precedence, files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rules.harness import bare, errors, nf, program, run, value, value_errors

GRAMMAR = Path(__file__).parents[3] / "compiler" / "polysome" / "syntax" / "Polysome.g4"
ANY = b"\0" * 20


# ---------------------------------------------------------------- L1.1, L1.2


def test_L1_1_declarations_stand_in_any_order_and_names_may_come_before_what_they_name() -> None:
    spec = """
    nf early {
      on packet { count += step(LIMIT as u16); last = Colour.green; both = Pair { a: 1, b: 2 }; send out; }
      state { count: u16; last: Colour; both: Pair; }
      port out;
    }
    parser p { state start { extract h; } }
    fn step(x: u16) -> u16 { twice(x) }
    fn twice(x: u16) -> u16 { x * 2 }
    const LIMIT: u8 = HALF + 1;
    const HALF: u8 = 2;
    struct Pair { a: u8, b: Small }
    enum Colour { red, green }
    struct Unused { p: Pair }
    header h { first: Small; }
    """.replace("Small", "bit<8>")
    state = run(spec, [(0, "out", ANY)]).state
    assert state == {"count": 6, "last": 1, "both": (1, 2)}  # (2 + 1) · 2


def test_L1_1_every_kind_of_declaration_is_allowed_at_the_top() -> None:
    spec = """
    use net.udp;
    struct S { a: u8 }
    enum E { a }
    const C: u8 = 1;
    fn f(x: u8) -> u8 { x }
    header h { a: u8; }
    header g { a: u8; }
    parser p { state start { extract h; } }
    parse g after h when h.a == 1;
    block b { state { n: u8; } }
    nf all { port x; on packet { bounce; } }
    """
    assert errors(spec) == []


def test_L1_1_files_are_utf_8() -> None:
    outcome = run(bare('drop "größer als 5 €"; // ∀ δ'), [(0, "a", ANY)])
    assert outcome.dropped == {"größer als 5 €": 1}


def test_L1_2_comments_are_skipped() -> None:
    assert value("1 /* 2 + */ + // 3 +\n 4", "u8") == 5
    assert value("1 /* over\n lines ** / */ + 1", "u8") == 2
    assert errors(bare("bounce; /* never ends")) != []


def test_L1_2_three_slashes_document_the_declaration_that_follows() -> None:
    spec = bare("bounce;").replace("nf tiny", "// not this\n/// What it\n/// is for.\nnf tiny")
    assert program(spec).doc.split() == ["What", "it", "is", "for."]
    assert program(bare("bounce;")).doc == ""


# ---------------------------------------------------------------- L1.3, L1.4


@pytest.mark.parametrize(
    ("text", "number"),
    [("0", 0), ("007", 7), ("1_000", 1000), ("1__0_", 10), ("0xff", 255), ("0xFf_", 255), ("0x1_0", 16), ("0b1_01", 5)],
)
def test_L1_3_integers_are_decimal_hexadecimal_or_binary_with_underscores(text: str, number: int) -> None:
    assert value(text, "u32") == number


@pytest.mark.parametrize(
    ("text", "type", "number"),
    [
        # durations in ns
        *(("7ns", "duration", 7), ("7us", "duration", 7_000), ("7ms", "duration", 7_000_000)),
        *(("7s", "duration", 7 * 10**9), ("7min", "duration", 420 * 10**9), ("7h", "duration", 25_200 * 10**9)),
        ("7d", "duration", 604_800 * 10**9),
        # sizes in bytes: 3·1024 = 3072, 3·1024² = 3145728, 3·1024³ = 3221225472
        *(("3B", "bytes", 3), ("3KB", "bytes", 3000), ("3MB", "bytes", 3_000_000), ("3GB", "bytes", 3_000_000_000)),
        *(("3KiB", "bytes", 3072), ("3MiB", "bytes", 3_145_728), ("3GiB", "bytes", 3_221_225_472)),
        # rates in bit/s and packets/s
        *(("9bps", "bitrate", 9), ("9Kbps", "bitrate", 9000), ("9Mbps", "bitrate", 9_000_000)),
        ("9Gbps", "bitrate", 9_000_000_000),
        *(("9pps", "packetrate", 9), ("9Kpps", "packetrate", 9000), ("9Mpps", "packetrate", 9_000_000)),
        # plain numbers
        *(("4K", "u64", 4000), ("4M", "u64", 4_000_000), ("4G", "u64", 4_000_000_000)),
        *(("4Ki", "u64", 4096), ("4Mi", "u64", 4_194_304), ("4Gi", "u64", 4_294_967_296)),
    ],
)
def test_L1_3_units(text: str, type: str, number: int) -> None:
    assert value(text, type) == number


@pytest.mark.parametrize(
    ("text", "type", "number"),
    [
        *(("1.5KB", "bytes", 1500), ("1.5s", "duration", 1_500_000_000), ("0.001us", "duration", 1)),
        *(("1.5K", "u16", 1500), ("0.5Ki", "u16", 512), ("2.50Mbps", "bitrate", 2_500_000), ("1_0.5K", "u16", 10_500)),
    ],
)
def test_L1_3_a_quantity_may_have_a_fraction_if_it_is_a_whole_number_of_the_smallest_unit(
    text: str, type: str, number: int
) -> None:
    assert value(text, type) == number


@pytest.mark.parametrize("text", ["0.5ns", "1.0001KB", "0.3Ki", "1.5B"])
def test_L1_3_a_fraction_of_the_smallest_unit_is_an_error(text: str) -> None:
    assert "E0104" in value_errors(text, "u64")


@pytest.mark.parametrize("text", ["1kb", "1S", "1sec", "1Kib", "1e3", "5x"])
def test_L1_3_other_units_are_errors(text: str) -> None:
    assert "E0104" in value_errors(text, "u64")


@pytest.mark.parametrize("text", ["1 s", "1.5", "0xfs"])
def test_L1_3_no_space_no_fraction_without_a_unit_no_unit_after_hexadecimal(text: str) -> None:
    assert value_errors(text, "duration") != []


def test_L1_3_per_cent() -> None:
    # error 1 % → width ⌈e / 0.01⌉ = ⌈271.83⌉ = 272 counters (STATE.md, count_min): accepted as an option's value
    sketch = "state { seen: count_min<u8> { error 1%; confidence 99.5%; } }"
    assert errors(bare("seen.add(1); bounce;", sketch)) == []


@pytest.mark.parametrize(
    ("text", "type", "number"),
    [
        ("10.0.0.1", "ipv4", 0x0A000001),
        ("255.255.255.255", "ipv4", 0xFFFFFFFF),
        ("::", "ipv6", 0),
        ("::1", "ipv6", 1),
        ("fe80::", "ipv6", 0xFE80 << 112),
        ("2001:db8::1", "ipv6", 0x2001_0DB8_0000_0000_0000_0000_0000_0001),
        ("1:2:3:4:5:6:7:8", "ipv6", 0x0001_0002_0003_0004_0005_0006_0007_0008),
        ("2001:DB8:0:0:8:800:200C:417A", "ipv6", 0x2001_0DB8_0000_0000_0008_0800_200C_417A),
        # RFC 4291, section 2.2, form 3: the last 32 bits as an IPv4 address
        ("::13.1.68.3", "ipv6", 0x0D014403),
        ("::ffff:129.144.52.38", "ipv6", 0xFFFF_8190_3426),
        ("0:0:0:0:0:ffff:10.0.0.1", "ipv6", 0xFFFF_0A00_0001),
        ("64:ff9b::10.0.0.1", "ipv6", 0x64 << 112 | 0xFF9B << 96 | 0x0A000001),
        ("02:00:00:00:00:01", "mac", 0x020000000001),
        ("Aa:bB:cc:DD:ee:ff", "mac", 0xAABBCCDDEEFF),
    ],
)
def test_L1_4_addresses(text: str, type: str, number: int) -> None:
    assert value(text, type) == number


@pytest.mark.parametrize(
    ("prefix", "inside", "outside"),
    [
        ("10.0.0.0/8", "10.255.0.1", "11.0.0.0"),
        ("0.0.0.0/0", "255.255.255.255", None),
        ("10.0.0.1/32", "10.0.0.1", "10.0.0.0"),
        ("2001:db8::/32", "2001:db8:ffff::", "2001:db9::"),
        ("::/0", "ffff::", None),
        ("::ffff:10.0.0.0/104", "::ffff:10.1.2.3", "::ffff:11.0.0.0"),
    ],
)
def test_L1_4_prefixes(prefix: str, inside: str, outside: str | None) -> None:
    assert value(f"{inside} in {prefix}", "bool") is True
    if outside is not None:
        assert value(f"{outside} in {prefix}", "bool") is False


@pytest.mark.parametrize("prefix", ["10.0.0.1/8", "2001:db8::1/32", "10.0.0.0/33", "::/129"])
def test_L1_4_host_bits_must_be_zero_and_the_length_possible(prefix: str) -> None:
    assert "E0105" in value_errors(f"10.0.0.1 in {prefix}", "bool")


@pytest.mark.parametrize("address", ["256.0.0.1", "1::2::3", "1:2:3:4:5:6:7::8:9"])
def test_L1_4_what_is_no_address_is_an_error(address: str) -> None:
    assert value_errors(address, "ipv6") != []


# ---------------------------------------------------------------- L1.5, L1.6

RESERVED = set(
    re.findall(
        r"\w+",
        """
        let if else for in require send bounce drop emit push pop truncate remove and or not as when where on use
        struct enum const fn action relevant true false
        """,
    )
)
WORDS = sorted(set(re.findall(r"'([a-z]+)'", GRAMMAR.read_text(encoding="utf-8").split("// ---- tokens")[0])))


@pytest.mark.parametrize("word", sorted(RESERVED))
def test_L1_5_reserved_words_are_no_names(word: str) -> None:
    assert value_errors("1", "u8", before=f"let {word} = 1 as u8;") != []


def test_L1_5_all_other_words_of_the_grammar_are_names_where_they_have_no_meaning() -> None:
    words = [w for w in WORDS if w not in RESERVED] + ["rest", "min", "hash", "len", "now", "key"]
    assert {"state", "parser", "header", "nf", "config", "zero", "core", "every", "value", "class"} <= set(words)
    lets = " ".join(f"let {w} = {i} as u32;" for i, w in enumerate(words))
    total = " + ".join(words)
    assert value(total, "u32", before=lets) == sum(range(len(words)))


def test_L1_5_reserved_words_are_members_where_a_member_must_stand() -> None:
    # `p.in` of properties: after a dot every word is a name
    assert errors(nf("bounce;", "property x { for p in trace where p.in.ipv4 expect p.at >= p.at; }")) == []


def test_L1_6_types_headers_and_values_are_three_name_spaces() -> None:
    body = """
    let mac: mac = 02:00:00:00:00:07;
    let ipv4_src: ipv4 = if ipv4 { ipv4.src } else { 0.0.0.0 };
    let flow: Flow = flow;
    if ethernet { ethernet.dst = mac; }
    send b;
    """
    assert run(nf(body), [(0, "a", b"\0" * 60)]).bytes == [bytes.fromhex("020000000007") + b"\0" * 54]


def test_L1_6_a_member_may_be_called_like_its_type() -> None:
    declarations = "struct Box { mac: mac, u8: u8 }"
    assert (
        value("b.mac", "mac", before="let b = Box { mac: 00:00:00:00:00:05, u8: 1 };", declarations=declarations) == 5
    )


# ---------------------------------------------------------------- L1.7, L1.8


@pytest.mark.parametrize(
    ("text", "type", "result"),
    [
        ("true or false and false", "bool", True),  # true or (false and false)
        ("not false or true", "bool", True),  # (not false) or true; both ways true, so:
        ("not true or true", "bool", True),  # (not true) or true, not: not (true or true)
        ("not true and false", "bool", False),  # (not true) and false, not: not (true and false)
        ("not 1 as u8 == 2", "bool", True),  # not (1 == 2)
        ("not not true", "bool", True),
        ("true and not 1 as u8 == 1 or true", "bool", True),  # (true and (not (1 == 1))) or true
        ("7 as u8 == 3 + 4", "bool", True),
        ("2 as u8 < 1 + 2", "bool", True),
        ("3 as u8 in {1, 3} and true", "bool", True),
        ("1 as u8 ++ 255 as u8 + 2", "u16", 0x0101),  # 1 ++ (255 + 2)
        ("1 + 2 * 3", "u8", 7),
        ("10 - 2 - 3", "u8", 5),  # left to right
        ("100 / 5 / 2", "u8", 10),
        ("7 * 5 % 4", "u8", 3),  # (7 · 5) % 4 = 35 % 4
        ("2 + 9 % 4", "u8", 3),
        ("~0x0f as u16", "u16", 0xFFF0),  # ~(0x0f as u16)
        ("~(0x0f as u8) * 1", "u8", 0xF0),  # (~0x0f) · 1
        ("2 * 300 as u16 as u8 as u16", "u16", 88),  # 2 · (300 mod 256 = 44)
        ("1 as u16 << 3", "u16", 8),
    ],
)
def test_L1_7_precedence(text: str, type: str, result: object) -> None:
    assert value(text, type) == result


def test_L1_7_complement_is_looser_than_as_and_members() -> None:
    declarations = "struct S { a: u8 }"
    before = "let s = S { a: 0x0f };"
    assert value("~s.a", "u8", before=before, declarations=declarations) == 0xF0
    assert value("~s.a as u16", "u16", before=before, declarations=declarations) == 0xFFF0  # not (~s.a) as u16 = 0x00f0


@pytest.mark.parametrize("text", ["x < y < z", "x == y == true", "x == y != z", "x in {1} == true", "x <= y == z"])
def test_L1_7_comparisons_do_not_chain(text: str) -> None:
    assert "E0107" in value_errors(text, "bool", before="let x = 1 as u8; let y = 2 as u8; let z = 3 as u8;")


@pytest.mark.parametrize(
    "text",
    [f"x {op} y == z" for op in ("&", "|", "^", "<<", ">>")]
    + [f"x == y {op} z" for op in ("&", "|", "^", "<<", ">>")]
    + [f"x {op} y + z" for op in ("&", "|", "^", "<<", ">>")]
    + [f"x * y {op} z" for op in ("&", "|", "^", "<<", ">>")]
    + ["x & y | z", "x ^ y & z", "x | y ^ z", "x << y & z", "x << y >> z", "x & y in {1, 2}", "x % y | z"],
)
def test_L1_7_bitwise_operators_need_parentheses_among_others(text: str) -> None:
    before = "let x = 1 as u8; let y = 2 as u8; let z = 3 as u8;"
    assert "E0107" in value_errors(text, "bool", before=before)
    assert "E0107" in value_errors(text, "u8", before=before)


@pytest.mark.parametrize(
    ("text", "type", "result"),
    [
        *(("(x & y) == z", "bool", False), ("(x | y) == z", "bool", True), ("x == (y ^ z)", "bool", True)),
        *(("x | y | z", "u8", 3), ("(x << y) + z", "u8", 7), ("x << (y + z)", "u8", 32), ("(x & y) | z", "u8", 3)),
        *(("(x < y) == true", "bool", True), ("x << y << z", "u8", 32)),  # (1 << 2) << 3
    ],
)
def test_L1_7_with_parentheses_they_mix(text: str, type: str, result: object) -> None:
    assert value(text, type, before="let x = 1 as u8; let y = 2 as u8; let z = 3 as u8;") == result


STRUCT = "struct S { a: u8 }"


@pytest.mark.parametrize(
    "head",
    [
        *("s == S { a: 1 }", "S { a: 1 } == s", "s != S { a: 1 }", "true and s == S { a: 1 }"),
        *("s == S { a: 1 } or false", "not s == S { a: 1 }"),
    ],
)
def test_L1_8_a_struct_literal_in_the_head_of_an_if_needs_parentheses(head: str) -> None:
    before = f'let s = S {{ a: 1 }}; if {head} {{ drop "yes"; }}'
    assert errors(bare(f"{before} bounce;", declarations=STRUCT)) == ["E0108"]
    assert value_errors(f"if {head} {{ 1 }} else {{ 2 }}", "u8", before="let s = S { a: 1 };", declarations=STRUCT) == [
        "E0108"
    ]


def test_L1_8_also_in_the_head_of_a_for() -> None:
    body = "for i in 0..S { a: 2 }.a { x += 1; } bounce;"
    assert "E0108" in errors(bare(body, "state { x: u8; }", declarations=STRUCT))


@pytest.mark.parametrize(
    "head",
    [
        *("s == (S { a: 1 })", "(S { a: 1 }) == s", "(s == S { a: 1 })", "true and (s == S { a: 1 })"),
        *("one(S { a: 1 }) == 1", "not (s == S { a: 1 })"),
    ],
)
def test_L1_8_in_parentheses_it_is_allowed(head: str) -> None:
    declarations = STRUCT + " fn one(s: S) -> u8 { s.a }"
    body = f'let s = S {{ a: 1 }}; if {head} {{ drop "yes"; }} bounce;'
    assert errors(bare(body, declarations=declarations)) == []


# ---------------------------------------------------------------- L1.9

LIBRARY = """
use deeper;
const FROM_LIBRARY: u8 = FROM_DEEPER + 1;
"""
DEEPER = "const FROM_DEEPER: u8 = 41;"


def test_L1_9_use_makes_what_a_file_declares_and_what_that_uses_visible() -> None:
    files = {"library.nf": LIBRARY, "deeper.nf": DEEPER}
    spec = "use library;\n" + bare("x = FROM_LIBRARY; y = FROM_DEEPER; bounce;", "state { x: u8; y: u8; }")
    assert run(spec, [(0, "a", ANY)], files=files).state == {"x": 42, "y": 41}


def test_L1_9_the_own_folder_goes_before_the_standard_library() -> None:
    own = "header l4 { a: u8; } parser mine { state start { extract l4; } }"
    spec = nf("x = l4.a; bounce;".replace("x = l4.a;", "if l4 { x = l4.a; }"), "state { x: u8; }")
    assert run(spec, [(0, "a", b"\x07" + ANY)], files={"net/l4.nf": own}).state == {"x": 7}


def test_L1_9_a_file_that_is_nowhere_is_an_error() -> None:
    assert errors(nf("bounce;", use="net.no_such_file")) == ["E0201"]
    assert errors(nf("bounce;", use="circle"), files={"circle.nf": "use circle;"}) == ["E0202"]


BLOCK = """
block counter {
  param step: u8 = 1;
  param start: u8 = 0;
  state { n: u8 = start; }
  action up() { n += step; }
}
"""


def test_L1_9_use_as_instantiates_a_block_with_its_own_state() -> None:
    items = "use counter as one; use counter as two { step: 10, start: 5 };"
    spec = bare("one.up(); two.up(); two.up(); bounce;", items)
    # one: 0 + 1; two: 5 + 10 + 10
    assert run(spec, [(0, "a", ANY)], files={"counter.nf": BLOCK}).state == {"one.n": 1, "two.n": 25}


def test_L1_9_its_state_is_read_by_its_dotted_name() -> None:
    spec = bare("one.up(); x = one.n + 1; bounce;", "use counter as one; state { x: u8; }")
    assert run(spec, [(0, "a", ANY)], files={"counter.nf": BLOCK}).state["x"] == 2


def test_L1_9_params_of_blocks_are_overridden_by_their_dotted_names() -> None:
    spec = bare("one.up(); bounce;", "use counter as one { step: 3 };")
    assert run(spec, [(0, "a", ANY)], files={"counter.nf": BLOCK}, params={"one.step": "7"}).state == {"one.n": 7}
    assert errors(bare("bounce;", "use counter as one { stop: 3 };"), files={"counter.nf": BLOCK}) == ["E0220"]
    assert errors(bare("bounce;", "use counter as one;"), files={"counter.nf": "const X: u8 = 1;"}) == ["E0221"]
