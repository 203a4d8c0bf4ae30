"""The tables and registers of the P4 program, by its names (targets/tofino), as updates for a driver."""

from __future__ import annotations

from polysome_controller.driver import Put, Remove, SetRegister, Update

# Bytes that a request has on the link beside those that are counted, which are the packet's before it became one, and
# an FCS: 80 around a packet that is written (Ethernet to RETH, the cell's head, 4 to 7 of pad, ICRC), 14 more than the
# frame of edits that becomes a READ; there are as many of one as of the other.
REQUEST_EXTRA = 47
PRIMARIES = "Ingress.primaries"
INGRESS_EVENTS, EGRESS_EVENTS = "Ingress.events", "Egress.events"
REQUESTS = "Egress.requests"  # by switch port
FALLBACK = "Ingress.fallback"
TABLES = ("Ingress.nf_links", "Ingress.verdicts", "Ingress.stations", "Ingress.floods", "Egress.nf_stations")
# Only in programs that park packets, as are all registers, the meter and the requests' counter.
PARKING_TABLES = (
    *("Ingress.buckets", "Ingress.answers", "Ingress.servers"),
    *("Egress.servers", "Egress.queue_pairs"),
)
# Ingress events that only an attacker makes, or a fault of some part.
FORGED = ("unknown", "own_address", "foreign_answer", "no_queue_pair", "repeated_edits", "old_edits", "no_port")
# Events that are a lost packet, and how the switch's process counts all frames that end in the program:
# acknowledgements and sweeps too.
LOST = (
    *(f"ingress.{name}" for name in (*FORGED, "unknown_station", "edits_given_up", "foreign_cell")),
    *(f"egress.{name}" for name in ("short", "long", "too_many", "given_up")),
)
ENDED = "dropped by the program"


def bucket(role: int, number: int, primary: int, primary_port: int, backup: int, backup_port: int) -> Put:
    """For frames from ports of this role: packets of traffic, or probes."""
    parameters = (
        ("primary", primary),
        ("primary_port", primary_port),
        ("backup", backup),
        ("backup_port", backup_port),
    )
    key = (("md.port.role", role), ("bucket", number))
    return Put("Ingress.buckets", key, "choose", parameters)


def nf_link(traffic_port: int, way: int, port: int, session: int) -> Put:
    key = (("md.port.index", traffic_port), ("hdr.bridge.way", way))
    return Put("Ingress.nf_links", key, "to_nf", (("port", port), ("session", session)))


def send(verdict: int, port: int) -> Put:
    return Put("Ingress.verdicts", (("md.verdict", verdict),), "send", (("port", port),))


def flood(verdict: int, group: int) -> Put:
    return Put("Ingress.verdicts", (("md.verdict", verdict),), "flood", (("group", group),))


def station(mac: int, port: int) -> Put:
    return Put("Ingress.stations", (("hdr.station.dst", mac),), "forward", (("port", port),))


def no_station(mac: int) -> Remove:
    return Remove("Ingress.stations", (("hdr.station.dst", mac),))


def flood_station(port: int, group: int) -> Put:
    """For frames to a group of stations that come in by this port."""
    return Put("Ingress.floods", (("ig_intr_md.ingress_port", port),), "flood_station", (("group", group),))


def server_port(pair: int, port: int) -> Put:
    return Put("Ingress.servers", (("hdr.bridge.queue_pair", pair),), "to_server", (("port", port),))


def nf_station(port: int, mac: int) -> Put:
    return Put("Egress.nf_stations", (("eg_intr_md.egress_port", port),), "nf", (("mac", mac),))


def server(port: int, mac: int, ip: int, key: int) -> Put:
    parameters = (("mac", mac), ("ip", ip), ("key", key))
    return Put("Egress.servers", (("eg_intr_md.egress_port", port),), "server", parameters)


def answered(port: int, number: int, pair: int) -> Put:
    key = (("ig_intr_md.ingress_port", port), ("hdr.bth.queue_pair", number))
    return Put("Ingress.answers", key, "answered", (("queue_pair", pair),))


def no_answers(port: int, number: int) -> Remove:
    return Remove("Ingress.answers", (("ig_intr_md.ingress_port", port), ("hdr.bth.queue_pair", number)))


def remote(pair: int, number: int) -> Put:
    return Put("Egress.queue_pairs", (("hdr.bridge.queue_pair", pair),), "remote", (("number", number),))


def up(pair: int, value: bool) -> list[Update]:
    return [SetRegister(PRIMARIES, pair, int(value)), SetRegister("Ingress.backups", pair, int(value))]


def parked_last(seq: int) -> SetRegister:
    """The next packet that is parked gets the seq behind this one (0 to LAST_SEQ)."""
    return SetRegister("Ingress.counter", 0, seq)


def no_history(pair: int) -> list[Update]:
    """No READ is under way (DESIGN 6, rule 6), and nobody is silent (rule 4)."""
    return [
        SetRegister("Ingress.reads", pair, 0, "count"),
        SetRegister("Ingress.reads", pair, 0, "rests"),
        SetRegister("Ingress.silence", pair, 0),
    ]


def next_psn(pair: int, psn: int) -> list[Update]:
    """The next request has this number, and the one before it counts as the last acknowledged.

    The epochs of its READs begin anew with that: behind the new number, so that no NAK to the old one ends one between.
    """
    numbers = [SetRegister("Egress.psns", pair, psn), SetRegister("Ingress.acknowledged", pair, psn)]
    return [*numbers, SetRegister("Ingress.epochs", pair, 0), SetRegister("Egress.epochs", pair, 0)]
