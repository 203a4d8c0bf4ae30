"""A file taken apart at its declarations gives the same tree as the whole, and each text is parsed once."""

from __future__ import annotations

import pytest
from tests.p4.skeleton import program
from tests.prove.kit import example

from polysome.backends.system.library import p4_text
from polysome.p4 import ast, pieces
from polysome.p4.build import Builder
from polysome.p4.parse import parse
from polysome.p4.rules import tree
from polysome.syntax.diagnostics import Report

AWKWARD = """// {
#include <core.p4>
@name("}") const bit<8> A = 1; /* } */ const bit<8> B = 2;
@pragma odd {
struct s {}
parser P(packet_in pkt /* { */) {
    Checksum() c; // }
    bit<8> x = 8w1;
    state start { transition select(x) { 1: next; default: accept; } }
    state next { transition accept; }
}
control C(inout s h) {
    Register<bit<8>, bit<8>>(4) r;
    RegisterAction<bit<8>, bit<8>, bit<8>>(r) up = { void apply(inout bit<8> v) { v = v + 1; } };
    @name("; {") action a() { }
    table t { key = { A: exact; } actions = { a; } const entries = { 1: a(); } }
    apply /* { */ { { } t.apply(); }
}
"""


def whole(text: str) -> ast.File:
    return Builder("f.p4", Report()).file_node(tree(text))


@pytest.mark.parametrize(
    "text", [AWKWARD, program(), p4_text(example("load_balancer"))], ids=["awkward", "small", "lb"]
)
def test_pieces_are_the_whole(text: str) -> None:
    assert pieces.file_of("f.p4", text, Report()) == whole(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "const bit<8> A = 1",
        "}",
        "const bit<8> A = ;",
        "parser P() { state start { } bit<8> x; }",
        "control C() { }",
    ],
)
def test_what_is_wrong_is_parsed_as_a_whole(text: str) -> None:
    report = Report()
    with pytest.raises(pieces.Whole):
        pieces.file_of("f.p4", text, report)
    assert report.count == 0
    assert (parse("f.p4", text, report) is None) == (tree(text) is None)


def test_a_text_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    report = Report()
    pieces.file_of("f.p4", AWKWARD, report)
    asked: list[str] = []
    monkeypatch.setattr(pieces, "tree", lambda text, rule: asked.append(text) or tree(text, rule))
    moved = "const bit<8> NEW = 3;\n" + AWKWARD
    assert pieces.file_of("f.p4", moved, report) == whole(moved)
    assert asked == ["const bit<8> NEW = 3;"]
