"""LANGUAGE.md L10.1 and L10.4 to L10.7: order, computed checksums, next fields, lengths, popped headers.

Updated checksums: test_apply_checksums.py. Random packets: tests/semantics/test_checksums.py.
"""

from __future__ import annotations

from rules.apply_specs import SUMS, UDP4, l4, own, sent, words
from rules.harness import errors, nf, run
from rules.packets import checksum, ethernet, extension, ip, ipv4, ipv6, tcp, udp, vlan

# ---------------------------------------------------------------- L10.1: order


def test_L10_1_a_write_comes_before_a_pop_whatever_the_order_of_the_lines() -> None:
    tagged = ethernet(vlan(ipv4(udp(b"abcdef"))), 0x8100)
    body = "require vlan[0] and ipv4; pop vlan[0]; ipv4.src = 10.9.9.9;"
    assert l4(body, tagged) == ethernet(ipv4(udp(b"abcdef"), src="10.9.9.9"))


def test_L10_1_a_write_reaches_its_field_however_many_there_are() -> None:
    many = "header many { " + " ".join(f"f{i}: bit<1>;" for i in range(272)) + " }"
    spec = own(
        "require sum; many.f261 = 1; send b;",
        "state start { extract many; goto s; } state s { extract sum; }",
        many + SUMS,
    )
    data = bytes(34) + words(1, 2, 0xFFFC)
    assert sent(spec, data) == bytes(32) + words(0b0000_0100_0000_0000) + data[34:]  # 261 = 32 * 8 + 5


def test_L10_1_pop_takes_both_headers_and_all_between() -> None:
    inner = ipv4(udp(b"abcdef"))
    tagged = ethernet(vlan(vlan(inner, 7), 5, 0x8100), 0x8100)
    # Without an IP header there is no pseudo header (L4.5): the checksum is over the datagram alone.
    assert l4("require ipv4 and vlan[1]; pop ethernet..ipv4;", tagged) == udp(b"abcdef").under(b"")
    assert l4("require ipv4 and vlan[1]; pop vlan[0]..vlan[1];", tagged) == UDP4


def test_L10_1_pop_names_the_first_header_on_the_wire_first() -> None:
    assert errors(nf("require vlan[1] and ipv4; pop vlan[1]..vlan[0]; send b;")) == ["E0420"]
    assert errors(nf("require vlan[1] and ipv4; pop ipv4..ethernet; send b;")) == ["E0420"]
    assert errors(nf("require vlan[1] and ipv4; pop vlan[1]..ipv4; send b;")) == []


def test_L10_1_pop_leaves_what_was_pushed_between() -> None:
    tagged = ethernet(vlan(vlan(ipv4(udp(b"abcdef")), 7), 5, 0x8100), 0x8100)
    body = "require vlan[1]; push vlan { vid: 9 } before vlan[1]; pop vlan[0]..vlan[1];"
    assert l4(body, tagged) == ethernet(vlan(ipv4(udp(b"abcdef")), 9), 0x8100)


def test_L10_1_the_header_pushed_later_is_nearer() -> None:
    body = "require ipv4; push vlan { vid: 1 } before ipv4; push vlan { vid: 2 } before ipv4;"
    assert l4(body, UDP4) == ethernet(vlan(vlan(ipv4(udp(b"abcdef")), 2), 1, 0x8100), 0x8100)


def test_L10_1_a_header_is_pushed_where_a_popped_one_was() -> None:
    tagged = ethernet(vlan(ipv4(udp(b"abcdef")), 5), 0x8100)
    expected = ethernet(vlan(ipv4(udp(b"abcdef")), 6), 0x8100)
    assert l4("require vlan[0]; pop vlan[0]; push vlan { vid: 6 } before vlan[0];", tagged) == expected
    assert l4("require vlan[0]; push vlan { vid: 6 } before vlan[0]; pop vlan[0];", tagged) == expected


def test_L10_1_before_payload_is_behind_all_headers() -> None:
    mark = "header mark { m: u16; }"
    # UDP: 6 + 2 bytes of data now.
    expected = ethernet(ipv4(udp(b"\xbe\xefabcdef")))
    assert l4("push mark { m: 0xbeef } before payload;", UDP4, mark) == expected


def test_L10_1_truncate_cuts_the_payload_to_n_bytes_in_all() -> None:
    # 14 + 20 + 8 bytes of headers, and 3 of the payload: 45.
    assert l4("truncate 45B;", UDP4) == ethernet(ipv4(udp(b"abc")))


def test_L10_1_truncate_never_cuts_a_header() -> None:
    assert l4("truncate 0B;", UDP4) == ethernet(ipv4(udp(b"")))
    assert l4("truncate 43B;", UDP4) == ethernet(ipv4(udp(b"a")))


def test_L10_1_truncate_to_more_than_there_is_changes_nothing() -> None:
    assert l4("truncate 48B;", UDP4) == UDP4
    assert l4("truncate 9000B;", UDP4) == UDP4


def test_L10_1_of_several_truncates_the_least_counts() -> None:
    assert l4("truncate 45B; truncate 46B;", UDP4) == ethernet(ipv4(udp(b"abc")))


def test_L10_1_truncate_counts_what_was_pushed_and_popped() -> None:
    # With the tag, headers are 46 bytes: 48 leave 2 of the payload.
    body = "require ipv4; truncate 48B; push vlan { vid: 1 } before ipv4;"
    assert l4(body, UDP4) == ethernet(vlan(ipv4(udp(b"ab")), 1), 0x8100)
    tagged = ethernet(vlan(ipv4(udp(b"abcdef"))), 0x8100)
    assert l4("require vlan[0]; truncate 46B; pop vlan[0];", tagged) == ethernet(ipv4(udp(b"abcd")))


def test_L10_1_truncate_takes_n_at_run_time() -> None:
    assert l4("truncate len - 5B;", UDP4) == ethernet(ipv4(udp(b"a")))


# ---------------------------------------------------------------- L10.4: computed checksums


def test_L10_4_a_pushed_header_gets_its_checksum() -> None:
    # The packet of many textbooks: 4500 0073 0000 4000 4011 .... c0a8 0001 c0a8 00c7 has the checksum b861.
    data = ethernet(ipv4(udp(b"x" * 87)))
    body = """require udp and ipv4; pop ipv4;
      push ipv4 { src: 192.168.0.1, dst: 192.168.0.199, dont_fragment: 1 } before udp;"""
    left = l4(body, data)
    assert left[14:34] == bytes.fromhex("45000073000040004011b861c0a80001c0a800c7")
    assert left == ethernet(ipv4(udp(b"x" * 87), src="192.168.0.1", dst="192.168.0.199", fragment=0x4000))


def test_L10_4_a_pushed_header_with_zero_is_none_has_none() -> None:
    body = """require ipv4; push udp { sport: 1, dport: 2 } before payload;
      push ipv4 { src: 0.0.0.1, dst: 0.0.0.2 } before ipv4;"""
    data = ethernet(ipv4(b"abc", protocol=200))
    inner = ipv4(udp(b"abc", 1, 2, check=0))
    assert l4(body, data) == ethernet(ipv4(inner, "0.0.0.1", "0.0.0.2", protocol=4))


def test_L10_4_a_pushed_header_inside_another_is_computed_first() -> None:
    headers = SUMS
    spec = own(
        "push outer { x: 0x10 } before payload; push sum { a: 1, b: 2 } before payload; send b;",
        "state start { extract first; }",
        headers + "header first { f: u16; }",
    )
    # sum: 1 + 2, so fffc. outer: 10 + (1 + 2 + fffc) + 1234 = 1244 modulo ffff: edbb.
    assert sent(spec, words(0xAAAA, 0x1234)) == words(0xAAAA, 0x10, 0xEDBB, 1, 2, 0xFFFC, 0x1234)


def emitted(body: str, data: bytes, more: str = "") -> bytes:
    outcome = run(nf(body + '\n drop "done";', declarations=more), [(0, "a", data)])
    assert outcome.dropped == {"done": 1}
    ((_, _, made),) = outcome.emitted
    return made


def test_L10_4_all_checksums_of_an_emitted_packet_are_computed() -> None:
    body = """emit ethernet { dst: 02:00:00:00:00:02, src: 02:00:00:00:00:01 }, ipv4 { src: 10.0.0.1, dst: 10.0.0.2 },
      udp { sport: 1000, dport: 53 } payload payload to b;"""
    assert emitted(body, UDP4) == UDP4


def test_L10_4_an_emitted_udp_checksum_of_zero_is_ffff() -> None:
    # 10.0.0.1, 10.0.0.2, 17, 10, 10 again, ports 0: 0a00 + 1 + 0a00 + 2 + 11 + a + a = 1428; data ebd7 makes it ffff.
    body = """emit ethernet { dst: 02:00:00:00:00:02, src: 02:00:00:00:00:01 }, ipv4 { src: 10.0.0.1, dst: 10.0.0.2 },
      udp { sport: 0, dport: 0 } payload 0xebd7 as u16 to b;"""
    assert emitted(body, UDP4)[34:] == words(0, 0, 10, 0xFFFF, 0xEBD7)


def test_L10_4_where_all_is_zero_the_checksum_is_ffff() -> None:
    body = "emit icmp { type: 0 } to b;"
    assert emitted(body, UDP4) == words(0, 0xFFFF, 0, 0)
    assert checksum(bytes(8)) == 0xFFFF


# ---------------------------------------------------------------- L10.5: next fields


def test_L10_5_a_pushed_header_is_named() -> None:
    left = l4("require ipv4; push vlan { vid: 9 } before ipv4;", UDP4)
    assert left == ethernet(vlan(ipv4(udp(b"abcdef")), 9), 0x8100)  # ethernet says vlan; vlan says what ethernet said


def test_L10_5_what_was_said_about_a_header_is_said_by_the_one_before_it_now() -> None:
    inner = ipv4(udp(b"abcdef"))
    stacked = ethernet(vlan(vlan(inner, 7), 5, 0x88A8), 0x8100)  # a customer tag, then a service tag
    assert l4("require vlan[1]; pop vlan[0];", stacked) == ethernet(vlan(inner, 7), 0x88A8)
    stacked = ethernet(vlan(vlan(inner, 7), 5, 0x8100), 0x88A8)
    assert l4("require vlan[1]; pop vlan[0];", stacked) == ethernet(vlan(inner, 7), 0x8100)


def test_L10_5_a_tag_in_front_of_a_service_tag_says_so() -> None:
    service = ethernet(vlan(ipv4(udp(b"abcdef")), 5), 0x88A8)
    expected = ethernet(vlan(vlan(ipv4(udp(b"abcdef")), 5), 9, 0x88A8), 0x8100)
    assert l4("require vlan[0]; push vlan { vid: 9 } before vlan[0];", service) == expected


def test_L10_5_what_was_said_about_the_payload_goes_with_it() -> None:
    unknown = ethernet(b"abcdef", 0x1234)
    assert l4("push vlan { vid: 9 } before payload;", unknown) == ethernet(vlan(b"abcdef", 9, 0x1234), 0x8100)
    tagged = ethernet(vlan(b"abcdef", 9, 0x1234), 0x8100)
    assert l4("require vlan[0]; pop vlan[0];", tagged) == unknown


def test_L10_5_a_name_counts_where_the_enum_is_another_one() -> None:
    # GRE says 0800 about the inner IP header; the outer one must say 4.
    inner = ipv4(udp(b"abcdef"))
    data = ethernet(ipv4(b"\0\0\x08\0" + inner, "192.0.2.1", protocol=47))
    spec = nf("require gre and inner.ipv4; pop gre; send b;", use="net.tunnel")
    assert sent(spec, data) == ethernet(ipv4(inner, "192.0.2.1", protocol=4))


def test_L10_5_extension_headers_keep_their_numbers() -> None:
    front = extension(60) + extension(17)  # hop-by-hop, then destination options
    data = ethernet(ipv6(udp(b"ab"), next_header=0, extensions=front))
    expected = ethernet(ipv6(udp(b"ab"), next_header=60, extensions=extension(17)))
    assert l4("require ipv6_ext[1]; pop ipv6_ext[0];", data) == expected
    expected = ethernet(ipv6(udp(b"ab"), next_header=17))
    assert l4("require ipv6_ext[1]; pop ipv6_ext[0]..ipv6_ext[1];", data) == expected


def test_L10_5_where_neither_is_known_the_field_stays() -> None:
    # UDP says nothing about its payload.
    data = ethernet(ipv4(udp(b"abcdef")))
    assert l4("require udp; pop udp;", data) == ethernet(ipv4(b"abcdef", protocol=17))
    # A header that the enum does not name: ether type 0800 stays, that of the tag is 0.
    mark = "header mark { m: u16; }"
    left = l4("require ipv4; push vlan { vid: 1 } before ipv4; push mark { m: 7 } before ipv4;", data, mark)
    assert left == ethernet(words(1, 0, 7) + data[14:], 0x8100)


def test_L10_5_nothing_is_set_where_the_same_header_follows() -> None:
    # A wrong version behind ether type 86dd would not be parsed; IPv4 behind a tag of type 88a8 is what it is.
    data = ethernet(vlan(ipv4(udp(b"abcdef"))), 0x88A8)
    expected = ethernet(vlan(ipv4(udp(b"abc"))), 0x88A8)
    assert l4("truncate 49B;", data) == expected


# ---------------------------------------------------------------- L10.6: lengths

LONGER = "header mark { m: u32; }"


def test_L10_6_lengths_grow_and_shrink_with_what_they_cover() -> None:
    assert l4("push mark { m: 0x61626364 } before payload;", UDP4, LONGER) == ethernet(ipv4(udp(b"abcdabcdef")))
    data = ethernet(ipv6(udp(b"abcdef"), next_header=60, extensions=extension(17)))
    assert l4("require ipv6_ext[0]; pop ipv6_ext[0];", data) == ethernet(ipv6(udp(b"abcdef")))


def test_L10_6_bytes_behind_a_udp_datagram_stay_behind_it() -> None:
    # 14 bytes of UDP, of which 6 data, then 4 more in the IP packet.
    def packet(data: bytes, behind: bytes) -> bytes:
        whole = ipv4(udp(data))
        return ethernet(ipv4(whole[20:] + behind, protocol=17))

    old = packet(b"abcdef", b"wxyz")
    assert l4("push mark { m: 0x61626364 } before payload;", old, LONGER) == packet(b"abcdabcdef", b"wxyz")
    assert l4("truncate 50B;", old) == packet(b"abcdef", b"wx")
    assert l4("truncate 48B;", old) == packet(b"abcdef", b"")
    assert l4("truncate 47B;", old) == packet(b"abcde", b"")


def test_L10_6_a_first_fragment_keeps_what_it_says_of_the_rest() -> None:
    first = ipv4(ipv4(udp(b"x" * 40))[20:44], protocol=17, fragment=0x2000)  # UDP says 48, 24 are here
    left = l4("push mark { m: 0 } before payload;", ethernet(first), LONGER)
    assert left[16:18] == words(48)
    assert left[34:42] == ipv4(udp(bytes(4) + b"x" * 40))[20:28]  # length 52, and the checksum of the whole
    tagged = l4("require ipv4; push vlan { vid: 1 } before ipv4; truncate 9000B;", ethernet(first))
    assert tagged == ethernet(vlan(first, 1), 0x8100)


def test_L10_6_what_truncate_cut_is_never_said_to_be_there() -> None:
    first = ipv4(ipv4(udp(b"x" * 40))[20:44], protocol=17, fragment=0x2000)
    left = l4("truncate 50B;", ethernet(first))  # 36 of IP, 16 of UDP
    assert (left[16:18], left[38:40], len(left)) == (words(36), words(16), 50)


def test_L10_6_a_pushed_header_speaks_of_what_is_behind_it() -> None:
    body = """require ipv4; push ipv4 { src: 192.0.2.1, dst: 192.0.2.2 } before ipv4;
      push udp { sport: 1, dport: 2 } before ipv4;"""
    inner = ipv4(udp(b"abcdef"))
    outer = ipv4(udp(inner, 1, 2, check=0), "192.0.2.1", "192.0.2.2")
    assert l4(body, UDP4) == ethernet(outer)


def test_L10_6_a_pushed_header_ends_where_the_one_before_it_does() -> None:
    # The new UDP header is inside the old datagram: 8 + 6, not 8 + 6 + 4.
    whole = ipv4(udp(b"abcdef"))
    data = ethernet(ipv4(whole[20:] + b"wxyz", protocol=17))
    inside = udp(b"abcdef", 1, 2, check=0).data
    expected = ethernet(ipv4(ipv4(udp(inside))[20:] + b"wxyz", protocol=17))
    assert l4("push udp { sport: 1, dport: 2 } before payload;", data) == expected


def test_L10_6_a_length_over_the_header_alone_never_changes() -> None:
    options = b"\1\1\1\0"
    data = ethernet(ipv4(tcp(b"abcdef", options=options), options=options))
    assert l4("truncate 70B;", data) == ethernet(ipv4(tcp(b"abcdef"[: 70 - 62], options=options), options=options))
    assert l4("truncate 64B;", data) == ethernet(ipv4(tcp(b"ab", options=options), options=options))


# ---------------------------------------------------------------- L10.7: popped headers


def test_L10_7_a_write_to_a_popped_header_has_no_effect() -> None:
    tagged = ethernet(vlan(ipv4(udp(b"abcdef"))), 0x8100)
    assert l4("require vlan[0]; vlan[0].vid = 99; pop vlan[0];", tagged) == UDP4
    body = """require udp and ipv4; ipv4.src = 192.0.2.77; pop ipv4; ipv4.dst = 192.0.2.78;
      push ipv4 { src: 10.0.0.9, dst: 10.0.0.2 } before udp;"""
    assert l4(body, UDP4) == ethernet(ipv4(udp(b"abcdef"), src="10.0.0.9"))


def test_L10_7_a_popped_header_reads_as_before() -> None:
    tagged = ethernet(vlan(ipv4(udp(b"abcdef")), 5), 0x8100)
    body = "require vlan[0]; vlan[0].vid = 99; pop vlan[0]; ethernet.src = (vlan[0].vid as u64) as mac;"
    assert l4(body, tagged) == ethernet(ipv4(udp(b"abcdef")), src="00:00:00:00:00:63")


def test_L10_7_a_popped_header_must_be_valid_on_every_parse_class() -> None:
    assert errors(nf("pop vlan[0]; send b;")) == ["E0404"]
    assert errors(nf("if ipv4 { pop ipv4..udp; } send b;")) == ["E0404"]
    assert errors(nf("require vlan[0]; pop vlan[0]; send b;")) == []


def test_L10_7_addresses_of_a_new_header_make_the_checksum_inside() -> None:
    body = "require udp and ipv4; pop ipv4; push ipv6 { src: 2001:db8::7, dst: 2001:db8::8 } before udp;"
    assert l4(body, UDP4) == ethernet(ipv6(udp(b"abcdef"), "2001:db8::7", "2001:db8::8"))
    assert ip("2001:db8::7")[-1] == 7
