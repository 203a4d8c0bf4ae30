"""P4 text to syntax tree: precedence, numbers, what is ignored; and full names and chips in the typed program."""

from __future__ import annotations

import pytest
from tests.p4.chips import TOFINO, TOFINO2
from tests.p4.skeleton import program

from polysome.p4 import ast
from polysome.p4.load import load
from polysome.p4.parse import parse
from polysome.p4.translate.translate import translate
from polysome.syntax.diagnostics import Report


def expression(text: str) -> ast.Expr:
    report = Report()
    tree = parse("e.p4", f"const bit<8> X = {text};", report)
    assert tree is not None, [d.message for d in report.diagnostics]
    (item,) = tree.items
    assert isinstance(item, ast.Constant)
    return item.value


def shown(e: ast.Expr) -> str:
    """With a parenthesis around every operation."""
    match e:
        case ast.Number():
            return str(e.value)
        case ast.Name():
            return e.name
        case ast.Unary():
            return f"({e.op}{shown(e.value)})"
        case ast.Binary():
            return f"({shown(e.left)} {e.op} {shown(e.right)})"
        case ast.Conditional():
            return f"({shown(e.condition)} ? {shown(e.yes)} : {shown(e.no)})"
        case ast.Cast():
            kind = e.type.name.text if isinstance(e.type, ast.NamedType) else "bits"
            return f"({kind}: {shown(e.value)})"
        case ast.Member():
            return f"{shown(e.base)}.{e.name.text}"
        case ast.Slice():
            return f"{shown(e.base)}[{shown(e.high)}:{shown(e.low) if e.low is not None else ''}]"
        case ast.Call():
            types = f"<{len(e.type_args)}>" if e.type_args else ""
            return f"{shown(e.callee)}{types}({', '.join(map(shown, e.args))})"
        case _:
            return "{" + ", ".join(map(shown, getattr(e, "items", ()))) + "}"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a + b * c - d", "((a + (b * c)) - d)"),
        ("a & b == c", "((a & b) == c)"),  # unlike C
        ("a | b ^ c & d", "(a | (b ^ (c & d)))"),
        ("a << 1 + b", "(a << (1 + b))"),
        ("a >> 1 > b", "((a >> 1) > b)"),
        ("a < b == c > d", "((a < b) == (c > d))"),
        ("a == b && c || !d", "(((a == b) && c) || (!d))"),
        ("a ++ b |-| c |+| d", "(((a ++ b) |-| c) |+| d)"),
        ("a ? b : c ? d : e", "(a ? b : (c ? d : e))"),
        ("~a.b[7:4] + -c", "((~a.b[7:4]) + (-c))"),
        ("(bit<8>)a + b", "((bits: a) + b)"),
        ("(bit<8>)a.b[3:0] ++ c", "((bits: a.b[3:0]) ++ c)"),
        ("(a) - b", "(a - b)"),
        ("(kind_t)a.b + c", "((kind_t: a.b) + c)"),
        ("(kind_t)(a + b)", "(kind_t: (a + b))"),
        ("(kind_t)~a", "(kind_t: (~a))"),
        ("p.lookahead<bit<16>>() == 1", "(p.lookahead<1>() == 1)"),
        ("unpack<t>(p)", "unpack<1>(p)"),
        ("h.get({a.b, 8w0 ++ c})", "h.get({a.b, (0 ++ c)})"),
        ("t.apply().hit", "t.apply().hit"),
        ("key + actions + state + entries", "(((key + actions) + state) + entries)"),
    ],
)
def test_operators_bind_as_p4_says(text: str, wanted: str) -> None:
    assert shown(expression(text)) == wanted


@pytest.mark.parametrize(
    ("text", "value", "width", "signed"),
    [
        ("5", 5, None, False),
        ("0x1F", 31, None, False),
        ("0b1_01", 5, None, False),
        ("0o17", 15, None, False),
        ("0d10", 10, None, False),
        ("1_000", 1000, None, False),
        ("16w0xff_ff", 0xFFFF, 16, False),
        ("8s5", 5, 8, True),
        ("9w0b11", 3, 9, False),
    ],
)
def test_numbers(text: str, value: int, width: int | None, signed: bool) -> None:
    found = expression(text)
    assert isinstance(found, ast.Number)
    assert (found.value, found.width, found.signed) == (value, width, signed)


def test_annotations_pragmas_and_comments_are_ignored_but_names() -> None:
    p4 = program(
        types="@pragma pa_auto_init_metadata\n/* a * comment */ // another",
        locals="""
        @hidden @name("other") action a() { }
        @name(".top") @stage(3, 4) table t { key = { hdr.ethernet.dst : exact @name("mac"); } actions = { a; } }""",
        apply="t.apply();",
    )
    found = load("names.p4", p4, TOFINO)
    assert list(found.tables) == ["top"] and found.tables["top"].actions == ("Ingress.other", "NoAction")
    assert found.tables["top"].keys[0].name == "mac" and found.tables["top"].size == 512


def test_controls_in_controls_have_names_below_theirs() -> None:
    inner = "action a() { mac = 1; } table t { actions = { a; } } apply { t.apply(); }"
    sub = f"control Sub(inout bit<48> mac, in bit<16> kind) {{ {inner} }}"
    p4 = program(
        types=sub,
        locals="Sub() one; Sub() two;",
        apply="one.apply(hdr.ethernet.dst, 5); two.apply(hdr.ethernet.src, hdr.ethernet.ether_type);",
    )
    found = load("subs.p4", p4, TOFINO)
    assert list(found.tables) == ["Ingress.one.t", "Ingress.two.t"]
    assert list(found.actions) == ["NoAction", "Ingress.one.a", "Ingress.two.a"]


def test_tofino_2_has_wider_metadata() -> None:
    p4 = program(arch="t2na", apply="tm.qid = 100; dprsr.mtu_trunc_len = 5;")
    found = load("two.p4", p4, TOFINO2)
    assert found.arch == "t2na" and "for Tofino 2" in translate(found, TOFINO2)


def test_the_same_program_gives_the_same_code() -> None:
    p4 = program(apply="tm.ucast_egress_port = 1;")
    assert translate(load("a.p4", p4, TOFINO), TOFINO) == translate(load("a.p4", p4, TOFINO), TOFINO)
