"""Sets of parse classes in words: what is said is exactly the set."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.analysis.specs import EXAMPLES, ROOT, class_of

from polysome.analysis.layout import layout
from polysome.analysis.patterns import patterns, wire_order, words
from polysome.analysis.relevance import members, passing
from polysome.ir import program as ir
from polysome.semantics.check import check
from polysome.syntax.diagnostics import Report


def nat() -> ir.Program:
    return check(ROOT / "examples/nat/nat.nf", Report())


def said(p: ir.Program, *paths: tuple[str, ...]) -> list[str]:
    mask = sum(1 << class_of(p, *path) for path in paths)
    return [words(pattern, p.parser) for pattern in patterns(mask, p.parser.all_classes, p.parser)]


def test_words() -> None:
    p = nat()
    tags = ((), ("vlan[0]",), ("vlan[0]", "vlan[1]"))
    assert said(p, ("ethernet", "ipv4", "tcp")) == ["ethernet / ipv4 / tcp"]
    assert said(p, ("ethernet", "ipv4", "tcp"), ("ethernet", "ipv4", "udp")) == ["ethernet / ipv4 / tcp | udp"]
    assert said(p, *(("ethernet", *t, "ipv4", "udp") for t in tags)) == ["ethernet / vlan ×0-2 / ipv4 / udp"]
    assert said(p, *(("ethernet", *t, "arp") for t in tags[1:])) == ["ethernet / vlan ×1-2 / arp"]
    assert said(p, ("ethernet", "ipv4"), ("ethernet", "ipv4", "esp")) == ["ethernet / ipv4 / [esp]"]
    assert said(p, ("ethernet", "arp"), ("ethernet", "ipv4", "ah")) == ["ethernet / arp", "ethernet / ipv4 / ah"]
    assert said(p, ()) == ["no header"]


def test_what_brings_nothing_is_left_out() -> None:
    p = nat()
    mask = sum(1 << class_of(p, "ethernet", "ipv4", *more) for more in ((), ("esp",), ("ah",)))
    plain = frozenset(i for i, x in enumerate(p.parser.instances) if x.name in ("esp", "ah"))
    (pattern,) = patterns(mask, p.parser.all_classes, p.parser)
    assert words(pattern, p.parser, plain) == "ethernet / ipv4 / …"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_patterns_cover_exactly_the_set(path: Path) -> None:
    p = check(path, Report())
    among = passing(p)
    masks = [one.classes for one in layout(p).classes]
    for mask in [*masks, among, sum(masks[::2]), sum(masks[1::3])]:
        covered = 0
        for pattern in patterns(mask, among, p.parser):
            low = [set(token) for token in pattern.low]
            high = {i for token in pattern.high for i in token}
            for c in members(among):
                held = set(p.parser.classes[c])
                if held <= high and all(token & held for token in low):
                    covered |= 1 << c
        assert covered == mask


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_ranks_follow_the_wire(path: Path) -> None:
    parser = check(path, Report()).parser
    ranks = wire_order(parser)
    for headers in parser.classes:
        assert [ranks[i] for i in headers] == sorted(ranks[i] for i in headers)
    assert len(set(ranks)) == len(ranks)
