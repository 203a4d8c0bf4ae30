"""Mutants of the whole system: of the P4 program, the soft switch, the RDMA software, and the simulated system.

Those of the P4 program are by the rules of runtime/PROTOCOL.md; the number of the rule comes first in the name.
"""

from __future__ import annotations

from tests.properties.mutants.kinds import Kind, SystemMutant

ENGINE = "tests/testing/test_system_engine.py::"
EXAMPLE = f"{ENGINE}test_examples_do_what_the_interpreter_does"
ATTACKS = "tests/system/test_attacks.py::"
FAULTS = "tests/system/test_fault_mixes.py::"
MIX = f"{FAULTS}test_no_packet_leaves_wrong_and_each_loss_is_counted"
NAK = f"{FAULTS}test_after_a_sequence_nak_requests_are_accepted_within_a_round_trip_without_a_reset"
ROUND = f"{FAULTS}test_edits_that_go_round_for_longer_than_their_slot_lives_change_no_other_packet"
DEAD = f"{FAULTS}test_a_dead_servers_packets_go_to_its_backup"
RESTORED = "tests/system/test_controller_at_work.py::test_a_queue_pair_is_restored_in_its_order"
TRAILERS = f"{ENGINE}test_trailers_of_any_length_leave"
RARE = "tests/system/test_rare_values.py::"
RDMA = "tests/rdma/test_rdma_units.py::test_the_rdma_units"
UNITS = "tests/system/test_system_units.py::test_the_systems_units"
P4 = "tests/p4/"


def of(file: str, *mutants: tuple[str, Kind, str, str, str]) -> tuple[SystemMutant, ...]:
    part = file.rpartition("/")[2].partition(".")[0]
    return tuple(
        SystemMutant(f"system {part}: {name}", kind, file, old, new, test) for name, kind, test, old, new in mutants
    )


EGRESS = of(
    "targets/tofino/ribosome/egress.p4.j2",
    ("1 short frames are written", Kind.missing_check, f"{ATTACKS}test_frames_shorter_than_they_claim_are_not_written", "md.missing = md.claimed |-| md.total;", "md.missing = 0;"),
    ("1 pads as large as the READ counts on, whatever the trailer", Kind.arithmetic, TRAILERS, "(COPY_WRITE, {{ claimed }}, {{ total }}): pad_{{ pad }}();", "(COPY_WRITE, {{ claimed }}, {{ total }}): pad_{{ 4 + -claimed % 4 }}();"),
    ("1 a READ of one word less", Kind.arithmetic, TRAILERS, "hdr.bridge.length + {{ 4 + most_pad }};", "hdr.bridge.length + {{ most_pad }};"),
    ("1 a READ of one word more", Kind.arithmetic, TRAILERS, "hdr.bridge.length + {{ 4 + most_pad }};", "hdr.bridge.length + {{ 8 + most_pad }};"),
    ("1 the pad is not counted", Kind.arithmetic, f"{EXAMPLE}[load_balancer]", "md.size = md.total + md.pad;", "md.size = md.total;"),
    ("3 one PSN too far after a NAK", Kind.boundary, NAK, "value = hdr.bridge.seq;", "value = hdr.bridge.seq + 1;"),
    ("3 a frame that is not written takes a PSN", Kind.order, f"{ATTACKS}test_lengths_that_make_no_sense[0]", "                drop(EVENT_LONG);", "                md.psn = next_psn.execute(hdr.bridge.queue_pair[{{ plan.queue_pair_bits - 1 }}:0]);\n                drop(EVENT_LONG);"),
    ("5 whole packets whatever the meter says", Kind.rate, f"{FAULTS}test_packets_go_whole_while_no_queue_pair_is_up_and_are_parked_again_after", "if (hdr.bridge.mark == MeterColor_t.RED) {", "if (hdr.bridge.mark == MeterColor_t.YELLOW) {"),
    ("7 two cells", Kind.key, ROUND, 'hdr.bridge.seq & {{ "0x%08x" % (plan.cells - 1) }};', "hdr.bridge.seq & 1;"),
    ("10 long frames count as short", Kind.accounting, f"{ATTACKS}test_trailers_of_any_length[4000]", "drop(EVENT_LONG);", "drop(EVENT_SHORT);"),
    ("the address of another cell", Kind.arithmetic, "tests/system/test_protocol.py", "md.cell << {{ plan.cell_bits }};", "md.cell << {{ plan.cell_bits - 1 }};"),
)  # fmt: skip

CONSTANTS = of(
    "targets/tofino/ribosome/constants.p4.j2",
    ("1 packets larger than a cell", Kind.boundary, f"{ATTACKS}test_trailers_of_any_length[4000]", "LONGEST = {{ longest }};", "LONGEST = {{ 8 * plan.cell }};"),
    ("1 a byte more than its cell", Kind.boundary, TRAILERS, "LONGEST = {{ longest }};", "LONGEST = {{ longest + 1 }};"),
    ("2 all ones is given", Kind.boundary, f"{RARE}test_0_and_all_ones_are_never_given", 'LAST_SEQ = {{ "0x%08x" % wire.last_seq }};', "LAST_SEQ = 0x3fffffff;"),
)  # fmt: skip

PARSER = (
    *of(
        "targets/tofino/ribosome/ingress_parser.p4.j2",
        ("6 edits that have a slot ask for one again", Kind.stale, ROUND, "md.has_slot = 1;", "md.has_slot = 0;"),
        ("8 edits of number 0", Kind.missing_check, f"{ATTACKS}test_edits_that_are_malformed_do_nothing", "            0: accept;\n", ""),
        ("8 edits of any version", Kind.missing_check, f"{ATTACKS}test_edits_that_are_malformed_do_nothing", "({{ wire.version }}, {{ wire.flags.split }}): parked;", "(_, {{ wire.flags.split }}): parked;"),
        ("8 edits of any queue pair", Kind.missing_check, f"{ATTACKS}test_edits_for_a_queue_pair_that_there_is_not", '0 &&& {{ "0x%04x" % (wire.most_queue_pairs - plan.queue_pairs) }}: parked_end;', "0 &&& 0: parked_end;"),
        ("8 edits of any length", Kind.missing_check, f"{ATTACKS}test_edits_that_are_malformed_do_nothing", "            default: accept;\n        }\n    }\n    state split_edits {", "            default: split_edits;\n        }\n    }\n    state split_edits {"),
    ),
    *of(
        "targets/tofino/ingress_parser.p4.j2",
        ("8 servers speak for the switch", Kind.missing_check, f"{ATTACKS}test_a_server_cannot_ask_another_in_the_switchs_name", "            SWITCH_IP: accept;\n", "            SWITCH_IP: to_a_station;\n"),
    ),
)  # fmt: skip

INGRESS = (
    *of(
        "targets/tofino/ribosome/ingress.p4.j2",
        ("1 responses of any length", Kind.missing_check, f"{ATTACKS}test_edits_that_lie_about_the_length_get_no_byte", "md.there == 1 && md.beyond[15:2] == 0 && hdr.bridge.way != 0", "md.there == 1 && hdr.bridge.way != 0"),
        ("3 a resynchronisation waits behind others", Kind.order, NAK, "ig_tm_md.qid = {{ wire.queues.first }};", "ig_tm_md.qid = 0;"),
        ("4 silence takes nothing down", Kind.missing_check, DEAD, "} else if (md.silent == LOOKS_UNTIL_DOWN) {", "} else if (md.silent == 99) {"),
        ("5 the backup is not used", Kind.missing_update, DEAD, "                    park_on_backup();\n", "                    fall_back();\n"),
        ("5 answers to any number", Kind.missing_check, f"{ATTACKS}test_old_numbers_are_not_heard_after_a_queue_pair_came_back", "        md.kind = KIND_UNKNOWN;\n        md.event = EVENT_FOREIGN_ANSWER;\n", "        md.event = EVENT_FOREIGN_ANSWER;\n"),
        ("6 tries are not counted", Kind.missing_update, ROUND, "hdr.retry.tries = md.tries + 1;", "hdr.retry.tries = md.tries;"),
    ),
    *of(
        "targets/tofino/ingress.p4.j2",
        ("8 from the switch's own address", Kind.missing_check, f"{ATTACKS}test_the_switchs_address_is_nobody_elses", "            from_the_switch.apply();\n", ""),
        ("8 what is for all goes to nobody", Kind.inverted, f"{ATTACKS}test_what_a_server_says_to_all_reaches_the_other_ones_alone", "hdr.station.dst[40:40] == 1", "hdr.station.dst[40:40] == 0"),
    ),
)  # fmt: skip

REGISTERS = (
    *of(
        "targets/tofino/ingress_deparser.p4.j2",
        ("12 a computed zero stays zero", Kind.checksum, f"{RARE}test_udps_computed_zero_becomes_ones_and_its_zero_stays", '{{ ", true" if sum.never_zero }}', ""),
    ),
    *of(
        "targets/tofino/ribosome/park.p4.j2",
        ("2 seq 0 is given", Kind.boundary, f"{RARE}test_0_and_all_ones_are_never_given", "                value = 1;\n", "                value = 0;\n"),
        ("9 a bucket by the time", Kind.order, f"{RARE}test_a_connection_keeps_its_queue_pair", '{{- hashed.fields | join(", ") -}} });', '{{- hashed.fields | join(", ") -}} , md.now });'),
    ),
    *of(
        "targets/tofino/ribosome/queue_pairs.p4.j2",
        ("4 silent for ever", Kind.missing_update, DEAD, "                value = value + 1;", "                value = 2;"),
        ("4 responses do not end a silence", Kind.refresh, f"{EXAMPLE}[load_balancer]", "            (KIND_RESPONSE): has_answered();\n", ""),
        ("6 READs are not given back", Kind.leak, DEAD, "            (KIND_RESPONSE): read_came_back();\n", ""),
        ("6 one READ too many", Kind.boundary, f"{RARE}test_16_reads_are_out_at_most", "value.count < MOST_READS", "value.count <= MOST_READS"),
    ),
    *of(
        "targets/tofino/ribosome/slots.p4.j2",
        ("a slot is not done", Kind.missing_update, f"{MIX}[load_balancer-duplication]", "                slot.since = FREE;\n", ""),
        ("another packet's edits", Kind.missing_check, f"{MIX}[load_balancer-duplication]", "md.now - slot.since <= TIMEOUT && slot.seq == (int<32>)hdr.bridge.seq", "md.now - slot.since <= TIMEOUT"),
        ("8 repeated edits are accepted", Kind.missing_check, f"{RARE}test_edits_repeated_when_their_packet_has_left_are_refused", "            value = 1;\n", "            value = 0;\n"),
        ("the verdict is another field", Kind.verdict, f"{EXAMPLE}[load_balancer]", "value = hdr.{{ wire.place.port }};", "value = hdr.{{ wire.place.queue_pair }};"),
    ),
)  # fmt: skip

GENERATOR = (
    *of(
        "compiler/polysome/plan/architectures/ribosome/p4.py",
        ("words of the edits in another order", Kind.swapped, f"{EXAMPLE}[load_balancer]", "        low = end - start - size\n", "        low = start - (end - width)\n"),
        ("fields from one byte before", Kind.rebuilding, f"{EXAMPLE}[load_balancer]", "start = way.offset(piece.instance, parser) + piece.first", "start = way.offset(piece.instance, parser) + piece.first - (at == 0)"),
    ),
    *of(
        "compiler/polysome/backends/tofino/parser_states.py",
        ("12 UDP's none gets one", Kind.checksum, f"{RARE}test_udps_computed_zero_becomes_ones_and_its_zero_stays", 'yield f"        0: {after};"', 'yield f"        0: {last}_with_{sum.name};"'),
    ),
    *of(
        "compiler/polysome/plan/assumed.py",
        ("12 all ones is parked", Kind.checksum, f"{RARE}test_a_checksum_of_all_ones_goes_whole", "(one.instance, one.field), 0, 0xFFFE)", "(one.instance, one.field), 0, 0xFFFF)"),
    ),
)  # fmt: skip

SWITCH = (
    *of("runtime/switch/objects.hpp", ("an equal amount is too much", Kind.boundary, f"{P4}test_tables.py::test_a_meter_marks_as_rfc_2698_says", "if (s.peak < cost) return red;", "if (s.peak <= cost) return red;")),
    *of("runtime/switch/traffic_manager.hpp", ("the lowest queue first", Kind.order, f"{P4}test_copies.py::test_the_higher_queue_goes_first_once_the_wire_is_free", "unsigned q = queues - 1;\n        while (port.queue[q].first == nullptr || port.queue[q].first->since > at) --q;", "unsigned q = 0;\n        while (port.queue[q].first == nullptr || port.queue[q].first->since > at) ++q;")),
    *of("runtime/switch/switch.hpp", ("a session cuts the packet alone", Kind.rebuilding, f"{P4}test_copies.py::test_a_session_cuts_header_and_packet_together", "Program::mirror_cuts_header ? asked", "!Program::mirror_cuts_header ? asked")),
    *of("runtime/switch/bits.hpp", ("a difference wraps", Kind.arithmetic, "tests/switch/test_switch_units.py::test_the_switchs_units[test_bits]", "return a > b ? static_cast<Bits<W>>(a - b) : Bits<W>{0};", "return cut<W>(a - b);")),
    *of("runtime/switch/table.hpp", ("an erased entry hides another", Kind.lookup, f"{P4}test_tables.py::test_many_entries_come_and_go", "            slots_[i].used = false;\n            gap = i;\n", "            slots_[i].used = false;\n            break;\n"), ("the shortest prefix wins", Kind.lookup, f"{P4}test_tables.py::test_the_longest_prefix_wins", "priority = 128 - keys.prefix;", "priority = keys.prefix;")),
    *of("compiler/polysome/p4/translate/expressions.py", ("sums in conditions wrap", Kind.arithmetic, f"{P4}test_registers.py::test_a_difference_in_a_condition_is_compared_without_wrapping", "if self.exact and (_sum(e.left)", "if not self.exact and (_sum(e.left)")),
)  # fmt: skip

RDMA_MUTANTS = (
    *of("runtime/rdma/icrc.hpp", ("congestion bits are covered", Kind.checksum, f"{RDMA}[test_icrc]", "    headers[congestion] = 0xff;\n", "    static_cast<void>(congestion);\n"), ("32 ones in front", Kind.checksum, f"{RDMA}[test_icrc]", "byte < 8;", "byte < 4;")),
    *of("runtime/rdma/queue_pair.hpp", ("half of the numbers and one", Kind.boundary, f"{RDMA}[test_sequence]", "ahead <= PSN_MASK / 2", "ahead <= PSN_MASK / 2 + 1")),
    *of(
        "runtime/rdma/execution.hpp",
        ("a NAK for each request", Kind.missing_update, f"{RDMA}[test_sequence]", "if (std::exchange(qp.gap_told, true)) {", "if (qp.gap_told) {"),
        ("one READ too many", Kind.boundary, f"{RDMA}[test_waiting]", "!well_formed || qp.reads >= config_.max_reads", "!well_formed || qp.reads > config_.max_reads"),
        ("READs are repeated beyond what was read", Kind.missing_check, f"{RDMA}[test_sequence]", "            read_packets(reth.length, config_.mtu) > used || qp.reads", "            read_packets(reth.length, config_.mtu) > used + 64 || qp.reads"),
    ),
    *of("runtime/rdma/memory.hpp", ("a region without an end", Kind.boundary, f"{RDMA}[test_requests]", "address <= size() - length", "address < size()"), ("2 a new region is zeros", Kind.stale, f"{RDMA}[test_life]", "std::memset(bytes_.data(), 0xff, bytes_.size());", "std::memset(bytes_.data(), 0, bytes_.size());")),
    *of("runtime/rdma/roce.hpp", ("a trailer is part of the datagram", Kind.parsing, f"{RDMA}[test_roce]", "return bytes.subspan(ETHERNET_SIZE, Ipv4::total_length::read(bytes.data() + ETHERNET_SIZE));", "return bytes.subspan(ETHERNET_SIZE);")),
    *of("runtime/rdma/responder.hpp", ("an old number lives on", Kind.stale, f"{RDMA}[test_life]", "        by_qpn_.erase(qp.qpn);\n", ""), ("a READ sees later WRITEs", Kind.time, f"{RDMA}[test_waiting]", "            reply.data = reply.copy;\n", "")),
)  # fmt: skip

PARTS = (
    *of("runtime/controller/polysome_controller/servers.py", ("5 nothing is waited for", Kind.time, RESTORED, "        await asyncio.sleep(self._context.config.longest_queueing / SECOND)\n", ""), ("5 our number stays", Kind.missing_update, f"{ATTACKS}test_old_numbers_are_not_heard_after_a_queue_pair_came_back", "            updates += [program.no_answers(port, old) for old in numbers[:-1]]\n", "")),
    *of("runtime/system/system.hpp", ("each wake of the NF is a look of the controller", Kind.time, "tests/system/test_controller_at_work.py::test_gaps_of_hours_cost_few_looks", "return clocks_.due(mishaps);", "return clocks_.time();")),
    *of("runtime/system/ledger.hpp", ("the last cause", Kind.accounting, f"{UNITS}[test_parts]", "packet != nullptr && packet->cause == no_cause", "packet != nullptr")),
    *of("runtime/system/nf_host.hpp", ("a burst takes the time of a frame", Kind.time, "tests/system/test_nf_core.py::test_frames_that_wait_are_decided_in_bursts", "busy_ = now + n * config_.frame_time;", "busy_ = now + config_.frame_time;")),
)  # fmt: skip

SYSTEM_MUTANTS: tuple[SystemMutant, ...] = (
    *EGRESS, *CONSTANTS, *PARSER, *INGRESS, *REGISTERS, *GENERATOR, *SWITCH, *RDMA_MUTANTS, *PARTS,
)  # fmt: skip
