"""LANGUAGE.md L10.2 and L10.3: checksums over changed bytes, in fragments and quotes too."""

from __future__ import annotations

import pytest

from polysome.testing.wire import wrong_checksums
from rules.apply_specs import SUMS, UDP4, l4, own, sent, words
from rules.packets import checksum, ethernet, extension, fragment6, icmp, icmpv6, ipv4, ipv6, tcp, udp


def only_sum(body: str, *values: int) -> bytes:
    return sent(own(f"require sum; {body} send b;", "state start { extract sum; }"), words(*values))


def only_maybe(body: str, *values: int) -> bytes:
    return sent(own(f"require maybe; {body} send b;", "state start { extract maybe; }"), words(*values))


# ---------------------------------------------------------------- L10.2: checksums


def test_L10_2_a_right_checksum_stays_right() -> None:
    # 1 + 2 = 3, so fffc; 5 + 2 = 7, so fff8.
    assert only_sum("sum.a = 5;", 1, 2, 0xFFFC) == words(5, 2, 0xFFF8)


def test_L10_2_a_wrong_checksum_stays_wrong_by_the_same_difference() -> None:
    # acc = ffff - 1234 + (5 - 1) = edcf; ffff - edcf = 1230. Right would be fffc before and fff8 after: both 4 less.
    assert only_sum("sum.a = 5;", 1, 2, 0x1234) == words(5, 2, 0x1230)


def test_L10_2_the_sum_wraps_around() -> None:
    # acc = ffff - fffc + (fff0 - 1) = fff2; ffff - fff2 = d. Check: fff0 + 2 + d = ffff.
    assert only_sum("sum.a = 0xfff0;", 1, 2, 0xFFFC) == words(0xFFF0, 2, 0xD)
    # Downwards: fff0 to 1. acc = ffff - d + (1 - fff0) = fff2 - ffef = 3.
    assert only_sum("sum.a = 1;", 0xFFF0, 2, 0xD) == words(1, 2, 0xFFFC)


def test_L10_2_two_changed_words_are_one_update() -> None:
    # 10 + 20 = 30 hex: ffcf.
    assert only_sum("sum.a = 0x10; sum.b = 0x20;", 1, 2, 0xFFFC) == words(0x10, 0x20, 0xFFCF)


def test_L10_2_none_becomes_ffff() -> None:
    # a + b = ffff, so acc would be 0: it is ffff, and the checksum 0.
    assert only_sum("sum.a = 0xfffd;", 1, 2, 0xFFFC) == words(0xFFFD, 2, 0)
    # ffff (as good as 0) over words that swap: the difference is 0, acc ffff.
    assert only_sum("sum.a = 2; sum.b = 0xfffd;", 0xFFFD, 2, 0xFFFF) == words(2, 0xFFFD, 0)


def test_L10_2_one_of_which_nothing_changed_is_not_touched() -> None:
    assert only_sum("sum.a = 1;", 1, 2, 0xFFFF) == words(1, 2, 0xFFFF)
    assert only_sum("", 1, 2, 0xABCD) == words(1, 2, 0xABCD)


def test_L10_2_zero_stays_zero_where_it_means_none() -> None:
    assert only_maybe("maybe.a = 5;", 1, 2, 0) == words(5, 2, 0)
    assert only_sum("sum.a = 5;", 1, 2, 0) == words(5, 2, 0xFFFB)  # acc = ffff + 4 = 4; ffff - 4


def test_L10_2_a_result_of_zero_becomes_ffff_where_zero_means_none() -> None:
    assert only_maybe("maybe.a = 0xfffd;", 1, 2, 0xFFFC) == words(0xFFFD, 2, 0xFFFF)
    # And ffff goes on as 0 does: acc = 0 + (1 - fffd) = 3 modulo ffff.
    assert only_maybe("maybe.a = 1;", 0xFFFD, 2, 0xFFFF) == words(1, 2, 0xFFFC)


# Which headers may be all zeros, as far as the checksum covers.
MAY_BE_ZEROS = {
    "checksum(header)": True,
    "checksum(header, rest)": True,
    "checksum(rest)": True,
    "checksum(pseudo, header, rest)": False,  # whose length is not zero
    "checksum(header); valid a != 0": False,
    "checksum(rest); valid a != 0": True,  # the header is not covered
    "checksum(header); valid a < 9 or b > 1": True,
    "checksum(header); size (a >> 12) * 2": False,
    "checksum(header); size (a >> 14) * 2 + 6": True,
}


@pytest.mark.parametrize("said", MAY_BE_ZEROS)
def test_L10_2_a_result_of_zero_becomes_ffff_where_all_may_be_zero(said: str) -> None:
    """ffff is right whatever is covered, 0 is wrong for zeros; elsewhere the update gives what a computation does."""
    field, _, rules = said.partition("; ")
    rest = "rest: rest; " if "size" in rules else ""
    header = f"header h {{ a: u16; b: u16; check: u16 {field}; {rest}{rules + ';' if rules else ''} }}"
    front = "header v { x: u16; pseudo x; }"
    parser = "state start { extract v; goto next; } state next { extract h; }"
    spec = own("require h; v.x = 2; h.a = 0x3000; h.b = 0xcfff; send b;", parser, front + header)
    a, b, behind = 0x3000, 0xFFF, 0xC000  # behind the header lies what makes the sum 0 where it is covered
    difference = 0 if "header" not in field else 0xC000
    difference += 1 if "pseudo" in field else 0
    before = difference  # so that it is 0 afterwards
    left = sent(spec, words(1, a, b, before, behind))
    if field == "checksum(rest)":
        assert left == words(2, a, 0xCFFF, before, behind), "nothing that it covers changed"
        return
    assert left == words(2, a, 0xCFFF, 0xFFFF if MAY_BE_ZEROS[said] else 0, behind)


def test_L10_2_an_echo_of_zeros_is_answered_with_a_right_checksum() -> None:
    for data in (b"", bytes(9), b"\x12\x34\xed\xcb"):
        request = ethernet(ipv4(icmp(data, identifier=0, sequence=0)))
        left = l4("require icmp; icmp.type = 0;", request)
        assert left[34:] == words(0, 0xFFFF, 0, 0) + data and checksum(left[34:]) == 0
        assert wrong_checksums(left) == ()
    assert wrong_checksums(left[:36] + bytes(2) + left[38:]) == (), "of these data 0 would be right too"
    zeros = l4("require icmp; icmp.type = 0;", ethernet(ipv4(icmp(identifier=0, sequence=0))))
    assert wrong_checksums(zeros[:36] + bytes(2) + zeros[38:]) == ("ICMP",)


NESTED = "state start { extract outer; goto inner; } state inner { extract %s; }"


def test_L10_2_innermost_first_so_that_the_outer_sum_sees_the_inner_change() -> None:
    # a from 1 to 5 and check from fffc to fff8 cancel: the outer checksum is over 10 + (1 + 2 + fffc = 0).
    spec = own("require sum; sum.a = 5; send b;", NESTED % "sum")
    assert sent(spec, words(0x10, 0xFFEF, 1, 2, 0xFFFC)) == words(0x10, 0xFFEF, 5, 2, 0xFFF8)


def test_L10_2_without_an_inner_checksum_the_outer_one_takes_it_all() -> None:
    # Outer: 10 + 1 + 2 = 13, so ffec; then 10 + 5 + 2 = 17, so ffe8.
    spec = own("require maybe; maybe.a = 5; send b;", NESTED % "maybe")
    assert sent(spec, words(0x10, 0xFFEC, 1, 2, 0)) == words(0x10, 0xFFE8, 5, 2, 0)


def test_L10_2_bytes_of_an_odd_word_count_in_their_place() -> None:
    # Covered: aa 01 | 02 03 | check | 04 00. f is the second word's first byte.
    headers = "header odd { x: u8; y: u8; f: u8; g: u8; check: u16 checksum(header, rest); }\nheader tail { t: u8; }"
    parser = "state start { extract odd; goto t; } state t { extract tail; }"
    data = bytes([0xAA, 1, 2, 3]) + words(0xFFFF - (0xAA01 + 0x0203 + 0x0400)) + b"\4"
    spec = own("require tail; odd.f = 0x10; tail.t = 9; send b;", parser, headers)
    expected = bytes([0xAA, 1, 0x10, 3]) + words(0xFFFF - (0xAA01 + 0x1003 + 0x0900)) + b"\x09"
    assert sent(spec, data) == expected


def test_L10_2_words_are_counted_from_the_header_that_has_the_checksum() -> None:
    # One byte in front of it: its words are 0001, 0002 all the same.
    headers = SUMS + "header lead { l: u8; }"
    spec = own(
        "require sum; sum.b = 0x102; send b;", "state start { extract lead; goto s; } state s { extract sum; }", headers
    )
    assert sent(spec, b"\x55" + words(1, 2, 0xFFFC)) == b"\x55" + words(1, 0x102, 0xFEFC)


def test_L10_2_a_result_of_zero_is_ffff_after_truncation_too() -> None:
    # The datagram of test_L10_4_an_emitted_udp_checksum_of_zero_is_ffff, with two more bytes.
    expected = ethernet(ipv4(udp(b"\xeb\xd7", 0, 0)))
    assert expected[40:42] == b"\xff\xff"
    assert l4("truncate 44B;", ethernet(ipv4(udp(b"\xeb\xd7\x11\x22", 0, 0)))) == expected


def test_L10_2_the_pseudo_header_counts() -> None:
    body = "require udp and ipv4; ipv4.src = 192.0.2.77; ipv4.dst = 192.0.2.78; udp.sport = 9;"
    assert l4(body, UDP4) == ethernet(ipv4(udp(b"abcdef", sport=9), src="192.0.2.77", dst="192.0.2.78"))
    body = "require tcp and ipv6; ipv6.dst = 2001:db8::99; tcp.window = 7;"
    data = ethernet(ipv6(tcp(b"abc"), next_header=60, extensions=extension(6)))
    expected = ipv6(tcp(b"abc", window=7), dst="2001:db8::99", next_header=60, extensions=extension(6))
    assert l4(body, data) == ethernet(expected)


def test_L10_2_udp_without_checksum_stays_so() -> None:
    body = "require udp and ipv4; ipv4.src = 192.0.2.77; udp.sport = 9;"
    data = ethernet(ipv4(udp(b"abcdef", check=0)))
    assert l4(body, data) == ethernet(ipv4(udp(b"abcdef", sport=9, check=0), src="192.0.2.77"))


def test_L10_2_where_bytes_come_the_sum_is_over_all_of_them() -> None:
    # The outer checksum covers 2 bytes more: 10 + beef = beff, so 4100.
    headers = SUMS + "header mark { m: u16; }"
    spec = own("push mark { m: 0xbeef } before payload; send b;", "state start { extract outer; }", headers)
    assert sent(spec, words(0x10, 0xFFEF)) == words(0x10, 0x4100, 0xBEEF)
    # Wrong by one before, wrong by one afterwards.
    assert sent(spec, words(0x10, 0xFFEE)) == words(0x10, 0x40FF, 0xBEEF)


def test_L10_2_where_bytes_go_the_sum_is_over_those_that_are_left() -> None:
    # 10 + 1234 = 1244: edbb. Without the last two bytes: ffef. An odd byte stands in front: 10 + 1200 = 1210: edef.
    parser = "state start { extract outer; }"
    data = words(0x10, 0xEDBB, 0x1234)
    assert sent(own("truncate 4B; send b;", parser), data) == words(0x10, 0xFFEF)
    assert sent(own("truncate 5B; send b;", parser), data) == words(0x10, 0xEDEF) + b"\x12"


# ---------------------------------------------------------------- L10.3: fragments and quotes

REWRITE = """
  if ipv4 { ipv4.src = 192.0.2.77; }
  if ipv6 { ipv6.src = 2001:db8::77; }
  if udp { udp.sport = 9; }
"""


def test_L10_3_the_first_fragment_is_updated_like_a_whole_packet() -> None:
    old, new = ipv4(udp(b"x" * 40)), ipv4(udp(b"x" * 40, sport=9), src="192.0.2.77")
    for start, size, flags in ((0, 24, 0x2000), (24, 24, 3)):
        part, expected = (
            ethernet(ipv4(whole[20 + start : 20 + start + size], protocol=17, fragment=flags, src=src))
            for whole, src in ((old, "10.0.0.1"), (new, "192.0.2.77"))
        )
        assert l4(REWRITE, part) == expected


def test_L10_3_the_first_ipv6_fragment_too() -> None:
    old, new = ipv6(udp(b"x" * 40)), ipv6(udp(b"x" * 40, sport=9), src="2001:db8::77")
    for start, size, more in ((0, 24, 1), (24, 24, 0)):
        part, expected = (
            ethernet(
                ipv6(whole[40 + start :][:size], src=src, next_header=44, extensions=fragment6(17, start // 8, more))
            )
            for whole, src in ((old, "2001:db8::1"), (new, "2001:db8::77"))
        )
        assert l4(REWRITE, part) == expected


QUOTE = """
  require icmp.quoted.ipv4;
  icmp.quoted.ipv4.src = 192.0.2.77;
  if icmp.quoted.udp { icmp.quoted.udp.sport = 9; }
  if icmp.quoted.tcp { icmp.quoted.tcp.sport = 9; }
"""


def test_L10_3_a_quote_with_its_checksum_is_updated_and_so_is_icmp() -> None:
    old, new = ipv4(udp(b"abcd")), ipv4(udp(b"abcd", sport=9), src="192.0.2.77")
    for size in (28, 30, 32):  # IP and UDP header; then data
        assert l4(QUOTE, ethernet(ipv4(icmp(old[:size], 3, 1)))) == ethernet(ipv4(icmp(new[:size], 3, 1)))


def test_L10_3_a_quote_cut_before_its_checksum_is_updated_as_far_as_it_goes() -> None:
    old, new = ipv4(tcp(b"abcd")), ipv4(tcp(b"abcd", sport=9), src="192.0.2.77")
    for size in (20, 24, 28, 36):  # no TCP; its ports; 8 bytes; all before its checksum at 16
        # Below 24 bytes there are no ports, so nothing is written there.
        expected = new[:20] + (old if size < 24 else new)[20:size]
        assert l4(QUOTE, ethernet(ipv4(icmp(old[:size], 3, 1)))) == ethernet(ipv4(icmp(expected, 3, 1)))


def test_L10_3_of_half_a_field_the_half_is_written() -> None:
    old, new = ipv4(tcp(b"abcd")), ipv4(tcp(b"abcd", sequence=0x11223344))
    body = "require icmp.quoted.tcp; icmp.quoted.tcp.sequence = 0x11223344;"
    assert l4(body, ethernet(ipv4(icmp(old[:26], 3, 1)))) == ethernet(ipv4(icmp(new[:26], 3, 1)))


def test_L10_3_half_a_checksum_is_no_field() -> None:
    old, new = ipv4(udp(b"abcd")), ipv4(udp(b"abcd", sport=9), src="192.0.2.77")
    expected = new[:26] + old[26:27]  # the quote ends in the middle of the UDP checksum
    assert l4(QUOTE, ethernet(ipv4(icmp(old[:27], 3, 1)))) == ethernet(ipv4(icmp(expected, 3, 1)))


def test_L10_3_a_quoted_udp_without_checksum_stays_so() -> None:
    old, new = ipv4(udp(b"abcd", check=0)), ipv4(udp(b"abcd", sport=9, check=0), src="192.0.2.77")
    assert l4(QUOTE, ethernet(ipv4(icmp(old, 3, 1)))) == ethernet(ipv4(icmp(new, 3, 1)))


def test_L10_3_an_icmpv6_quote() -> None:
    body = (
        "require icmpv6.quoted.udp and icmpv6.quoted.ipv6; icmpv6.quoted.ipv6.dst = ::9; icmpv6.quoted.udp.dport = 9;"
    )
    old, new = ipv6(udp(b"abcd")), ipv6(udp(b"abcd", dport=9), dst="::9")
    assert l4(body, ethernet(ipv6(icmpv6(old[:50], 1, 4)))) == ethernet(ipv6(icmpv6(new[:50], 1, 4)))


def test_L10_3_truncate_changes_nothing_in_a_quote_but_its_end() -> None:
    quoted = ipv4(udp(b"abcdefgh"))
    # Headers: 14 + 20 + 8 + 20 + 8 = 70. The quoted lengths and checksums still speak of the whole packet.
    assert l4("truncate 72B;", ethernet(ipv4(icmp(quoted, 3, 1)))) == ethernet(ipv4(icmp(quoted[:30], 3, 1)))


def test_L10_3_pop_and_push_change_no_length_next_or_checksum_of_a_quote() -> None:
    quoted = ipv4(udp(b"abcdefgh"))
    data = ethernet(ipv4(icmp(quoted, 3, 1)))
    body = "require icmp.quoted.udp; pop icmp.quoted.udp;"
    assert l4(body, data) == ethernet(ipv4(icmp(quoted[:20] + b"abcdefgh", 3, 1)))
    body = """require icmp.quoted.udp; pop icmp.quoted.udp;
      push tcp { sport: 1, dport: 2, sequence: 3, window: 4 } before payload;"""
    assert l4(body, data)[42:62] == quoted[:20]  # the protocol stays 17
    body = "require icmp.quoted.ipv4; push mark { m: 1 } before payload;"
    expected = ethernet(ipv4(icmp(quoted[:28] + b"\0\1abcdefgh", 3, 1)))
    assert l4(body, data, "header mark { m: u16; }") == expected
