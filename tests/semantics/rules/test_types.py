"""LANGUAGE.md L3.1 to L3.6: types, quantities, bits. The rest of section 3: test_expressions.py, test_hash_rules.py."""

from __future__ import annotations

import pytest

from rules.harness import bare, errors, run, value, value_errors

ANY = b"\0" * 20


def state(body: str, items: str, declarations: str = "", **more: object) -> dict[str, object]:
    """The state after one packet."""
    return run(bare(body, items, declarations), [(0, "a", ANY)], **more).state  # type: ignore[arg-type]


# ---------------------------------------------------------------- L3.1, L3.2


@pytest.mark.parametrize("width", [1, 7, 8, 9, 16, 31, 32, 33, 48, 63, 64, 65, 127, 128])
def test_L3_1_bit_n_is_an_unsigned_integer_of_n_bits(width: int) -> None:
    largest = 2**width - 1
    assert value(str(largest), f"bit<{width}>") == largest
    assert "E0305" in value_errors(str(largest + 1), f"bit<{width}>")


@pytest.mark.parametrize("width", ["0", "129", "1000"])
def test_L3_1_widths_go_from_1_to_128(width: str) -> None:
    assert value_errors("0", f"bit<{width}>") == ["E0205"]


@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_L3_1_u8_to_u64_are_short_for_bit(width: int) -> None:
    assert value("x", f"u{width}", before=f"let x: bit<{width}> = 5;") == 5
    assert value_errors("x", f"u{width}", before=f"let x: bit<{width - 1}> = 5;") == ["E0301"]


def test_L3_1_the_other_types() -> None:
    assert value("true", "bool") is True
    assert value("255.255.255.255", "ipv4") == 2**32 - 1
    assert value("ff:ff:ff:ff:ff:ff", "mac") == 2**48 - 1
    assert value("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ipv6") == 2**128 - 1
    assert value("b", "port") == 1  # the second of the ports a, b
    assert value("in_port", "port", port="b") == 1


def test_L3_1_state_begins_with_zeros_of_every_type() -> None:
    names = ("bool", "u8", "ipv4", "ipv6", "mac", "port", "time", "duration", "bytes", "bitrate", "packetrate")
    items = "state { " + " ".join(f"s{i}: {name};" for i, name in enumerate(names)) + " }"
    assert set(state("bounce;", items).values()) == {0}


@pytest.mark.parametrize(
    ("type", "text", "number"),
    [
        *(("duration", "2s", 2 * 10**9), ("bytes", "2KB", 2000), ("bitrate", "2Kbps", 2000)),
        *(("packetrate", "2Kpps", 2000), ("time", "now", 77)),
    ],
)
def test_L3_2_quantities_are_64_bits(type: str, text: str, number: int) -> None:
    assert value(text, type, time=77) == number
    if type != "time":
        # x + x, 2^63 times the unit in all: 2^63 + 2^63 = 2^64 ≡ 0
        half = f"let x = {2**63} as {type};"
        assert value("x + x", type, before=half) == 0


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("1s", "bytes"),
        ("1KB", "bitrate"),
        ("1Kbps", "packetrate"),
        ("1s", "time"),
        ("now", "duration"),
        ("5", "duration"),
    ],
)
def test_L3_2_units_are_not_exchangeable(text: str, type: str) -> None:
    assert value_errors(text, type) == ["E0301"]


# ---------------------------------------------------------------- L3.3

SHAPES = """
struct Inner { p: u8, q: u16 }
struct Outer { a: Inner, t: (u8, Inner), e: Colour }
enum Colour { red, green, blue }
enum Code: u8 { one = 1, two, ten = 10, eleven }
"""


def test_L3_3_struct_literals_and_members() -> None:
    make = "let s = Outer { a: Inner { p: 1, q: 2 }, t: (3, Inner { p: 4, q: 5 }), e: Colour.blue };"
    for text, type, expected in (
        *(("s.a.p", "u8", 1), ("s.a.q", "u16", 2), ("s.t.0", "u8", 3), ("s.t.1.p", "u8", 4), ("s.t.1.q", "u16", 5)),
        *(("s.a", "Inner", (1, 2)), ("s", "Outer", ((1, 2), (3, (4, 5)), 2))),
    ):
        assert value(text, type, before=make, declarations=SHAPES) == expected


def test_L3_3_members_may_be_written_in_any_order_but_all_must_be() -> None:
    assert value("Inner { q: 2, p: 1 }", "Inner", declarations=SHAPES) == (1, 2)
    assert value_errors("Inner { q: 2 }", "Inner", declarations=SHAPES) == ["E0310"]
    assert value_errors("Inner { q: 2, p: 1, r: 3 }", "Inner", declarations=SHAPES) == ["E0308"]
    assert value_errors("Inner { q: 2, p: 1, q: 3 }", "Inner", declarations=SHAPES) == ["E0309"]
    assert value_errors("x.r", "u8", before="let x = Inner { q: 2, p: 1 };", declarations=SHAPES) == ["E0308"]


def test_L3_3_structs_and_tuples_compare_as_a_whole() -> None:
    assert value("Inner { p: 1, q: 2 } == Inner { q: 2, p: 1 }", "bool", declarations=SHAPES) is True
    assert value("(1 as u8, 2 as u8) == (1, 3)", "bool") is False
    assert "E0315" in value_errors("(1 as u8, 2 as u8) < (1, 3)", "bool")


def test_L3_3_a_struct_does_not_contain_itself() -> None:
    assert "E0208" in errors(bare("bounce;", "state { s: S; }", "struct S { t: (u8, S) }"))


def test_L3_3_enum_members_count_up_from_0_or_from_the_last_number() -> None:
    assert [value(f"Colour.{m}", "Colour", declarations=SHAPES) for m in ("red", "green", "blue")] == [0, 1, 2]
    assert [value(f"Code.{m}", "u8", declarations=SHAPES) for m in ("one", "two", "ten", "eleven")] == [1, 2, 10, 11]
    assert value_errors("Colour.pink", "Colour", declarations=SHAPES) == ["E0214"]


def test_L3_3_an_enum_without_a_width_only_compares_with_equal_and_not_equal() -> None:
    assert value("Colour.red == Colour.red", "bool", declarations=SHAPES) is True
    assert value("Colour.red != Colour.green", "bool", declarations=SHAPES) is True
    for text in ("Colour.red < Colour.green", "Colour.red + Colour.green", "Colour.red == 0", "Colour.red & 1"):
        assert value_errors(text, "bool", declarations=SHAPES) == ["E0315"]
    assert value_errors("Colour.red", "u8", declarations=SHAPES) == ["E0301"]
    assert value_errors("Colour.red as u8", "u8", declarations=SHAPES) == ["E0314"]


@pytest.mark.parametrize(
    ("text", "type", "expected"),
    [
        *(("Code.ten + 1", "u8", 11), ("Code.ten == x", "bool", True), ("x >= Code.two", "bool", True)),
        *(
            ("Code.one < Code.two", "bool", True),
            ("Code.one + Code.two", "u8", 3),
            ("Code.one == Code.one", "bool", True),
        ),
        *(("x in {Code.one, Code.ten}", "bool", True), ("if true { Code.one } else { x }", "u8", 1)),
        ("Code.ten | 1", "u8", 11),
    ],
)
def test_L3_3_an_enum_with_a_width_converts_to_it_by_itself(text: str, type: str, expected: object) -> None:
    assert value(text, type, before="let x = 10 as u8;", declarations=SHAPES) == expected


def test_L3_3_but_never_the_other_way_and_not_to_another_width() -> None:
    assert value_errors("1", "Code", declarations=SHAPES) == ["E0301"]
    assert value_errors("1 as u8", "Code", declarations=SHAPES) == ["E0301"]
    assert value_errors("Code.one", "u16", declarations=SHAPES) == ["E0301"]
    other = SHAPES + "enum Other: u8 { one = 1 }"
    assert value_errors("Code.one == Other.one", "bool", declarations=other) == ["E0315"]


def test_L3_3_a_members_number_fits_the_width() -> None:
    assert value_errors("1", "u8", declarations="enum E: u8 { a = 255, b }") == ["E0305"]  # used or not
    assert "E0305" in value_errors("E.a", "u8", declarations="enum E: u8 { a = 255, b }")
    assert "E0305" in value_errors("E.a", "bit<2>", declarations="enum E: bit<2> { a = 4 }")


# ---------------------------------------------------------------- L3.4


@pytest.mark.parametrize(
    ("text", "type", "expected"),
    [
        ("255 as u8 + 1", "u8", 0),
        ("0 as u8 - 1", "u8", 255),
        ("16 as u8 * 17", "u8", 16),  # 272 − 256
        ("200 as u8 * 200", "u8", 64),  # 40000 − 156 · 256 = 64
        ("7 as bit<3> + 1", "bit<3>", 0),
        ("0 as bit<1> - 1", "bit<1>", 1),
        ("0 as bit<13> - 2", "bit<13>", 8190),
        (f"{2**128 - 1} as bit<128> + 3", "bit<128>", 2),
        (f"{2**127} as bit<128> * 2", "bit<128>", 0),
        ("7 as u8 / 2", "u8", 3),
        ("7 as u8 % 4", "u8", 3),
        ("3 as u8 / 4", "u8", 0),
    ],
)
def test_L3_4_arithmetic_wraps_modulo_two_to_the_n(text: str, type: str, expected: int) -> None:
    assert value(text, type) == expected
    first, _, rest = text.partition(" as ")[2].partition(" ")  # the same with a value known only at run time
    assert (
        value(f"result {rest}", first, items=f"state {{ x: {first} = {text.split(' ')[0]}; }}", before="result = x;")
        == expected
    )


@pytest.mark.parametrize("operator", ["+", "-", "*", "/", "%", "&", "|", "^", "==", "<"])
def test_L3_4_widths_never_change_by_themselves(operator: str) -> None:
    before = "let x = 1 as u8; let y = 1 as u16;"
    assert "E0315" in value_errors(f"(x {operator} y)", "u16", before=before)
    assert value_errors("x", "u16", before=before) == ["E0301"]
    assert value_errors("y", "u8", before=before) == ["E0301"]


def test_L3_4_as_truncates_or_extends_with_zeros() -> None:
    assert value("0x1234 as u16 as u8", "u8") == 0x34
    assert value("0xff as u8 as u16", "u16") == 0x00FF
    assert value("x as bit<3>", "bit<3>", before="let x = 0x7d as u8;") == 5  # 0111 1101 → 101


def test_L3_4_a_literal_takes_the_width_of_what_it_meets_on_either_side() -> None:
    before = "let x = 250 as u8;"
    assert value("x + 10", "u8", before=before) == 4
    assert value("10 + x", "u8", before=before) == 4
    assert value("(x + 10) == 4", "bool", before=before) is True
    assert value("x + (2 + 3) * 2", "u8", before=before) == 4
    assert value("if x == 250 { 1 } else { x }", "u8", before=before) == 1


@pytest.mark.parametrize(
    "text", ["256", "x + 256", "256 + x", "x == 256", "min(x, 256)", "(x, 256) == (x, x)", "x in {1, 256}"]
)
def test_L3_4_and_must_fit_it(text: str) -> None:
    assert "E0305" in value_errors(text, "u8", before="let x = 1 as u8;")


def test_L3_4_a_literal_that_meets_nothing_has_no_width() -> None:
    assert errors(bare("let x = 5; bounce;")) == ["E0302"]
    assert value_errors("5 ++ 6", "u16") == ["E0302", "E0302"]
    assert value_errors("hash(5)", "u64") == ["E0302"]


def test_L3_4_literals_among_themselves_are_exact() -> None:
    assert value("300 * 2 / 3", "u8") == 200  # 600 needs ten bits on the way
    assert value_errors("100 + 200", "u8") == ["E0305"]


# ---------------------------------------------------------------- L3.5

AMOUNTS = "let d = 10s; let e = 3s; let b = 1500B; let r = 12Kbps; let p = 4pps; let n = 4 as u64; let t = now;"


@pytest.mark.parametrize(
    ("text", "type", "expected"),
    [
        *(("d + e", "duration", 13 * 10**9), ("d - e", "duration", 7 * 10**9), ("b + 500B", "bytes", 2000)),
        *(("r - 2Kbps", "bitrate", 10_000), ("p + p", "packetrate", 8)),
        *(("t - d", "time", 90 * 10**9), ("t + d", "time", 110 * 10**9), ("t - (t - d)", "duration", 10 * 10**9)),
        *(("d * n", "duration", 40 * 10**9), ("n * d", "duration", 40 * 10**9), ("b * 2", "bytes", 3000)),
        *(
            ("2 * b", "bytes", 3000),
            ("d * 0", "duration", 0),
            ("0 * d", "duration", 0),
            ("d / 4", "duration", 2_500_000_000),
        ),
        *(("d / e", "u64", 3), ("b / 400B", "u64", 3), ("d % e", "duration", 10**9), ("b % 400B", "bytes", 300)),
        *(("d < e", "bool", False), ("t > t - 1ns", "bool", True), ("b == 1.5KB", "bool", True)),
        *(("10.0.0.1 < 10.0.0.2", "bool", True), ("00:00:00:00:00:02 > 00:00:00:00:00:01", "bool", True)),
        *(("::1 <= ::2", "bool", True), ("10.0.0.1 == 10.0.0.1", "bool", True)),
    ],
)
def test_L3_5_what_quantities_and_addresses_do(text: str, type: str, expected: object) -> None:
    assert value(text, type, before=AMOUNTS, time=100 * 10**9) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # 1500 bytes in 1 s are 12000 bit/s
        *(("b / 1s == 12Kbps", True), ("b / 1s < 12Kbps", False), ("b / 1s <= r", True), ("12001bps > b / 1s", True)),
        # 1 byte in 3 s is 8/3 bit/s: more than 2, less than 3, equal to none
        *(("1B / e > 2bps", True), ("1B / e < 3bps", True), ("1B / e == 2bps", False), ("1B / e >= 3bps", False)),
        # 4 packets in 1 s; 1 in 3 s is a third of a packet/s
        *(
            ("n / 1s == p", True),
            ("1 / e > 0", True),
            ("1 / e < 1pps", True),
            ("10 / e > 3pps", True),
            ("10 / e < 4pps", True),
        ),
        # the product is not cut to 64 bits: 2^63 bytes in 1 ns are 8·2^63·10^9 bit/s, above every 64-bit rate
        (f"{2**63}B / 1ns > 9000000000Gbps", True),
        *((f"{2**63} / 1ns > p", True), ("0B / d == 0", True), ("0 / d < p", True), ("0 / d == 0", True)),
    ],
)
def test_L3_5_an_amount_per_duration_compares_with_a_rate_without_rounding(text: str, expected: bool) -> None:
    assert value(text, "bool", before=AMOUNTS) is expected


@pytest.mark.parametrize("text", ["d > 0", "0 < b", "r != 0", "p >= 0", "t > 0", "max(d, 0) == d", "(d + 0) == d"])
def test_L3_5_a_literal_0_needs_no_unit(text: str) -> None:
    assert value(text, "bool", before=AMOUNTS, time=1) is True
    assert value_errors(text.replace("0", "1"), "bool", before=AMOUNTS) != []


def test_L3_5_also_where_a_quantity_is_wanted() -> None:
    assert value("0", "duration") == 0
    assert value("if true { 0 } else { d }", "duration", before=AMOUNTS) == 0
    assert value("f(0)", "bytes", declarations="fn f(x: bytes) -> bytes { x + 2B }") == 2


@pytest.mark.parametrize(
    "text",
    [
        *(
            "d + b",
            "t + t",
            "d - t",
            "d * e",
            "t * 2",
            "2 * t",
            "t / 2",
            "t / d",
            "t % d",
            "2 / b",
            "b / r",
            "r * d",
            "d + 1",
        ),
        *(
            "1 - d",
            "b / n / d",
            "d & e",
            "~d",
            "d << 1",
            "d == b",
            "r == p",
            "t == d",
            "b / d",
            "b / d == p",
            "n / d == r",
        ),
        *(
            "b / d + 1",
            "10.0.0.1 + 1",
            "10.0.0.1 == ::1",
            "10.0.0.1 - 10.0.0.0",
            "d * x",
            "x / d == p",
            "10.0.0.1 == 5",
        ),
    ],
)
def test_L3_5_nothing_else(text: str) -> None:
    before = AMOUNTS + "let x = 2 as u8;"
    for type in ("duration", "u64", "bool"):
        assert value_errors(text, type, before=before) != []


def test_L3_5_they_wrap_at_64_bits() -> None:
    assert value("e - d", "duration", before=AMOUNTS) == 2**64 - 7 * 10**9
    assert value("t - d", "time", before=AMOUNTS, time=10**9) == 2**64 - 9 * 10**9
    assert value("d * n", "duration", before="let d = 10s; let n = 2000000000 as u64;") == 20 * 10**18 - 2**64


# ---------------------------------------------------------------- L3.6


@pytest.mark.parametrize(
    ("text", "type", "expected"),
    [
        ("x[15:8]", "u8", 0x12),
        ("x[7:0]", "u8", 0x34),
        ("x[11:4]", "u8", 0x23),
        ("x[2:2]", "bit<1>", 1),  # 0x34 = 0011 0100
        ("x[3:3]", "bit<1>", 0),
        ("x[15:0]", "u16", 0x1234),
        ("10.1.2.3[31:24]", "u8", 10),
        ("02:00:00:00:00:07[47:40]", "u8", 2),
        ("2001:db8::[127:96]", "u32", 0x20010DB8),
        ("x ++ 0xab as u8", "bit<24>", 0x1234AB),
        ("x[7:4] ++ x[3:0]", "u8", 0x34),
        ("1 as bit<1> ++ 0 as bit<2> ++ 1 as bit<1>", "bit<4>", 0b1001),
        ("10.0.0.1 ++ 10.0.0.2", "u64", 0x0A0000010A000002),
        ("x ++ 02:00:00:00:00:07", "u64", 0x1234_0200_0000_0007),
    ],
)
def test_L3_6_slices_and_concatenation(text: str, type: str, expected: int) -> None:
    assert value(text, type, before="let x = 0x1234 as u16;") == expected


@pytest.mark.parametrize("text", ["x[16:8]", "x[7:8]", "true[0:0]", "now[3:0]", "x[y:0]"])
def test_L3_6_a_slice_is_inside_and_its_bounds_are_constant(text: str) -> None:
    found = value_errors(text, "u8", before="let x = 1 as u16; let y = 7 as u8;")
    assert found in (["E0307"], ["E0303"])


def test_L3_6_nothing_is_wider_than_128_bits() -> None:
    assert value_errors("::1 ++ 1 as bit<1>", "bit<128>") == ["E0313"]


@pytest.mark.parametrize(
    ("text", "type", "expected"),
    [
        *(("0x0f as u8 & 0x3c", "u8", 0x0C), ("0x0f as u8 | 0x3c", "u8", 0x3F), ("0x0f as u8 ^ 0x3c", "u8", 0x33)),
        *(("~(0x0f as u8)", "u8", 0xF0), ("~(0 as bit<3>)", "bit<3>", 7), ("~0.0.0.255", "ipv4", 0xFFFFFF00)),
        *(("10.1.2.3 & 255.255.0.0", "ipv4", 0x0A010000), ("0.0.0.1 | 10.0.0.0", "ipv4", 0x0A000001)),
        *(("::f ^ ::1", "ipv6", 0xE), ("10.1.2.3 >> 24", "ipv4", 10), ("::1 << 127", "ipv6", 2**127)),
        ("~00:00:00:00:00:00", "mac", 2**48 - 1),
    ],
)
def test_L3_6_bits_of_integers_and_addresses(text: str, type: str, expected: int) -> None:
    assert value(text, type) == expected


@pytest.mark.parametrize(
    ("text", "type", "expected"),
    [
        *(
            ("x << 1", "u8", 0x02),
            ("x << 7", "u8", 0x80),
            ("x << 8", "u8", 0),
            ("x << 9", "u8", 0),
            ("x << 200", "u8", 0),
        ),
        *(
            ("y >> 7", "u8", 1),
            ("y >> 8", "u8", 0),
            ("y >> 255", "u8", 0),
            ("x << huge", "u8", 0),
            ("y >> huge", "u8", 0),
        ),
        *(("x << n", "u8", 0), ("y << 0", "u8", 0x80), ("y << 1", "u8", 0), ("::1 << 128", "ipv6", 0)),
    ],
)
def test_L3_6_a_shift_by_the_width_or_more_gives_0(text: str, type: str, expected: int) -> None:
    before = f"let x = 1 as u8; let y = 0x80 as u8; let huge = {2**127} as bit<128>; let n = 8 as bit<4>;"
    assert value(text, type, before=before) == expected
