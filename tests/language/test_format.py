"""The formatter: one form for each spec, a fixed point, with the same meaning and all comments."""

from __future__ import annotations

import random
from pathlib import Path
from textwrap import dedent, indent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polysome.syntax.diagnostics import Report
from polysome.syntax.formatter import FormatterError, formatted, same
from polysome.syntax.formatter.atoms import Atom, atoms_of
from polysome.syntax.formatter.layout import WIDTH
from polysome.syntax.formatter.walk import Walk
from polysome.syntax.parse import parse
from polysome.syntax.text import decoded

ROOT = Path(__file__).resolve().parents[2]
OURS = sorted([*(ROOT / "examples").rglob("*.nf"), *(ROOT / "stdlib").rglob("*.nf")])
ALL = sorted([*OURS, *(ROOT / "tests").rglob("*.nf")])


def fmt(text: str) -> str:
    """The formatted text, of which a second formatting changes nothing."""
    report = Report()
    once = formatted("spec.nf", text, report)
    assert once is not None, [d.message for d in report.errors]
    assert formatted("spec.nf", once, Report()) == once
    return once


def parsed(text: str) -> object:
    report = Report()
    tree = parse("spec.nf", text, report)
    assert tree is not None and not report.errors
    return tree


def comments(text: str) -> list[str]:
    return [a.text for a in atoms_of(text) if a.comment]


def nf(body: str) -> str:
    """The body of an NF, as it comes out."""
    lines = fmt("nf x {\n" + dedent(body) + "\n}\n").splitlines()
    assert lines[0] == "nf x {" and lines[-1] == "}"
    return dedent("\n".join(lines[1:-1])) + "\n"


def handler(body: str) -> str:
    lines = nf("on packet {\n" + indent(dedent(body), "    ") + "\n}").splitlines()
    assert lines[0] == "on packet {" and lines[-1] == "}"
    return dedent("\n".join(lines[1:-1])) + "\n"


def unchanged(text: str, shape: object = fmt) -> None:
    text = dedent(text).lstrip("\n")
    assert callable(shape) and shape(text) == text


# ---------------------------------------------------------------- every spec there is


@pytest.mark.parametrize("path", ALL, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_every_spec_has_one_form_and_keeps_its_meaning(path: Path) -> None:
    """Ours are in it."""
    report = Report()
    text = decoded(str(path), path.read_bytes(), report)
    once = formatted(str(path), text, report) if text is not None else None
    if once is None:
        assert report.errors and "fail" in path.parts
        return
    assert text is not None and not report.errors
    if path in OURS:
        assert once == text, f"{path.relative_to(ROOT)}: run `polysome fmt`"
        assert all(len(line) <= WIDTH for line in once.splitlines() if "//" not in line)
    if once != text:
        assert formatted(str(path), once, Report()) == once and same(parsed(text), parsed(once))
    assert comments(text) == comments(once)
    assert once.endswith("\n") and not once.endswith("\n\n") and "\n\n\n" not in once
    assert all(line == line.rstrip() for line in once.splitlines())


# ---------------------------------------------------------------- any spacing

ENDS = ("\n", "\n\n\n    ", "\n\t")
COMMENTS = ("/* a */", "// b\n", "\n// c\n", "\n/* d\n   e */\n", "/// f\n")


@st.composite
def spaced(draw: st.DrawFn) -> str:
    """A spec of ours with other blanks and line ends between its tokens, and some more comments."""
    path = draw(st.sampled_from(ALL_GOOD))
    chance = random.Random(draw(st.integers(0, 2**32)))
    ends, more = draw(st.sampled_from((0.0, 0.02, 0.3, 1.0))), draw(st.sampled_from((0.0, 0.02)))
    keep = draw(st.sampled_from((0.0, 0.9)))
    text = ""
    for before, atom in pairs(atoms_of(path.read_text(encoding="utf-8"))):
        apart = atom.newlines + atom.blanks > 0
        space = chance.choice((" ", "   ", "\t")) if apart or chance.random() < 0.1 else ""
        if chance.random() < keep:
            space = "\n" * atom.newlines + " " * atom.blanks
        elif chance.random() < ends:
            space = chance.choice(ENDS)
        if before is not None and before.to_line_end and "\n" not in space:
            space = "\n" + space
        if chance.random() < more:
            space += chance.choice(COMMENTS)
        text += space + atom.text
    return text


def pairs(atoms: list[Atom]) -> list[tuple[Atom | None, Atom]]:
    return list(zip([None, *atoms], atoms, strict=False))


ALL_GOOD = [p for p in ALL if "fail" not in p.parts and p.stat().st_size < 5000]


@settings(max_examples=30)
@given(spaced())
def test_any_spacing_comes_to_rest_and_keeps_its_meaning(text: str) -> None:
    once = fmt(text)
    assert same(parsed(text), parsed(once)) and comments(text) == comments(once)
    for line in once.splitlines():
        assert line == line.rstrip() or line.startswith("   e")
        assert len(line) <= WIDTH or "//" in line or "*/" in line, line


@pytest.mark.parametrize("path", ALL_GOOD[::4], ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_a_spec_on_one_line_is_readable_again(path: Path) -> None:
    text = ""
    for before, atom in pairs(atoms_of(path.read_text(encoding="utf-8"))):
        end = before is not None and before.to_line_end
        text += ("\n" if end else " " if atom.newlines + atom.blanks else "") + atom.text
    once = fmt(text)
    assert all(len(line) <= WIDTH for line in once.splitlines() if "//" not in line)
    assert same(parsed(text), parsed(once))


# ---------------------------------------------------------------- the style


def test_blanks_between_tokens() -> None:
    assert handler('let a=m [k]else  drop"x";a .f  = ~ b+f( 1,x :2 )* (c [ 7:0 ]) ;send{a ,b};') == (
        'let a = m[k] else drop "x";\na.f = ~b + f(1, x: 2) * (c[7:0]);\nsend {a, b};\n'
    )
    assert nf("state{m:map< Flow,( u8,list<set<u8> > ) >{capacity 1K;}}") == (
        "state { m: map<Flow, (u8, list<set<u8>>)> { capacity 1K; } }\n"
    )
    assert nf("relevant ipv4 . { src,dst },payload[ 0 .. 16 ]when  tcp ;port a ,b;") == (
        "relevant ipv4.{src, dst}, payload[0..16] when tcp;\nport a, b;\n"
    )
    assert handler("if not( (a>>2)==1 ){ bounce ; }") == "if not ((a >> 2) == 1) { bounce; }\n"


def test_short_bodies_stay_on_their_line_and_long_ones_on_theirs() -> None:
    unchanged("if a { b(); } else { c(); }\n", handler)
    unchanged("if a {\n  b();\n} else {\n  c();\n}\n", handler)
    unchanged("if a { x }\nelse if b { y }\nelse { z }\n", handler)
    assert handler("if a { b();\nc(); } else { d(); }\n") == "if a {\n  b();\n  c();\n} else {\n  d();\n}\n"
    assert handler("if a {\n  b();\n}\nelse\n{ d(); }\n") == "if a {\n  b();\n} else {\n  d();\n}\n"
    unchanged("on packet from a { b(); send c; }\n", nf)
    assert handler("a(); b();") == "a();\nb();\n"


def test_clauses_fields_and_params_may_share_a_line() -> None:
    unchanged("param rate: bitrate = 10Mbps;  param burst: bytes = 64KB;\n", nf)
    unchanged("header h {\n  a: u8;  b: u8;\n  c: u16;\n}\n")
    unchanged("header h { a: u8; b: u8; }\n")
    unchanged("schedule {\n  class flow; fifo;\n  when full drop;\n}\n", nf)
    assert nf("port a; on packet { send a; }") == "port a;\non packet { send a; }\n"


def test_empty_lines() -> None:
    assert nf("\n\nport a;\n\n\n\nport b;\n\n") == "port a;\n\nport b;\n"
    assert fmt("\n\nuse a;\nuse b;\n\n\n\nuse c;\n\n\n") == "use a;\nuse b;\n\nuse c;\n"
    assert handler("let a = b\n\n  and c;") == "let a = b\n  and c;\n"
    assert fmt("") == "" and fmt("\n\n// a\n\n\n// b") == "// a\n\n// b\n"


def test_continued_lines() -> None:
    unchanged(
        """
        require icmp.quoted.ipv4 or icmp.type == IcmpType.echo_request
          or icmp.type == IcmpType.echo_reply
          else drop "ICMP type without translation";
        let reason: u8 =
          if a { 1 }
          else if b { 2 }
          else { 3 };
        emit ethernet { src: a, dst: b },
             flow_record {
               src: f.src, dst: if c { d } else { e },
               sport: f.sport
             } to collector;
        let x = call(one,
                     two) + (a
                             and b);
        """,
        handler,
    )
    unchanged(
        """
        property p {
          for p, q in trace where p.sent and q.sent
            and not (exists r in trace where r.at >= p.at
                     and r.at <= q.at)
          let n = sum(r in trace where r.sent
                        and r.flow == p.flow:
                      r.len);
          expect n > 0B;
        }
        """,
        nf,
    )
    unchanged("x = a\n    == b;\n", handler)
    unchanged("relevant ipv4.src,\n         ipv4.dst when ipv4;\n", nf)


def test_line_ends_where_none_may_be_are_taken_out() -> None:
    assert handler("let\na\n=\nb\n.\nc(\n1,\n2\n)\n;\nsend\nd;") == "let a =\n  b.c(1,\n      2);\nsend d;\n"
    assert handler("x = a in\nb and\nc;") == "x = a in b and c;\n"


def test_long_lines_break_first_where_it_matters_least() -> None:
    name = "a_name_of_thirty_characters__x"
    assert handler(f'require {name} and {name} and {name} else drop "{name}";') == (
        f'require {name} and {name} and {name}\n  else drop "{name}";\n'
    )
    assert handler(f"x = {name}({name}, {name}) or {name} and {name};") == (
        f"x = {name}({name}, {name})\n  or {name} and {name};\n"
    )
    assert handler(f"if {name} {{ {name}({name}); }} else {{ {name}({name}); }}") == (
        f"if {name} {{\n  {name}({name});\n}} else {{\n  {name}({name});\n}}\n"
    )
    assert fmt(f"struct S {{ {name}: u8, {name}: u8, {name}: u8, {name}: u8 }}") == (
        f"struct S {{\n  {name}: u8,\n  {name}: u8,\n  {name}: u8,\n  {name}: u8\n}}\n"
    )
    assert nf(f"property p {{ for p in trace where p.{name} and p.{name} expect p.{name} and p.{name}; }}") == (
        f"property p {{\n  for p in trace where p.{name} and p.{name}\n  expect p.{name} and p.{name};\n}}\n"
    )
    assert handler(f"x = a\n /* c */ and {name} and {name} and {name} and {name};") == (
        f"x = a\n  /* c */ and {name} and {name} and {name}\n  and {name};\n"
    )
    assert handler(f'drop "{name * 5}";') == f'drop "{name * 5}";\n'


def test_tables_stay_tables() -> None:
    unchanged("param pvid:   bit<12>  = 1;\nparam ageing: duration = 300s;\n", nf)
    assert nf("param a:   u8 = 1;\nparam long: u64 = 2;\n/// c\nparam b: u8 = 3;") == (
        "param a:    u8 = 1;\nparam long: u64 = 2;\n/// c\nparam b: u8 = 3;\n"
    )
    unchanged("param a:    u8 = 1;\nparam long: u64 = 2;\n/// c\nparam b:    u8 = 3;\n", nf)
    unchanged("param a: u8 = 1;\nparam long: u64 = 2;\n", nf)
    assert nf("param a:   u8 = 1;\n\nparam long: u64 = 2;\n") == "param a: u8 = 1;\n\nparam long: u64 = 2;\n"
    unchanged("on packet from a  { send b; }\non packet from bb { send a; }\n", nf)
    unchanged("enum E: u8 {\n  a   = 1,\n  bcd = 2\n}\n")


# ---------------------------------------------------------------- comments


def test_comments_stay_where_they_are() -> None:
    unchanged(
        """
        /// What it is.
        use net.l4;  // behind

        // on its own
        nf x {  // opens
          /* before */ port a, /* between */ b;
          // last
        }
        // end
        """
    )
    assert fmt("nf x { // c\n// d\n}") == "nf x {  // c\n  // d\n}\n"
    assert handler("a = b // why\n+ c;") == "a = b  // why\n    + c;\n"
    assert handler("if a { b(); } // one\nelse { c(); }") == "if a { b(); }  // one\nelse { c(); }\n"


def test_comments_behind_code_keep_their_column() -> None:
    unchanged("a();            // one\nlonger(b);      // two\n\nc();            // three\n", handler)
    assert handler("a();     // one\nmuch_longer();  // two") == "a();            // one\nmuch_longer();  // two\n"
    assert handler("a();  // one\nlonger(b);   // two") == "a();        // one\nlonger(b);  // two\n"
    unchanged("a();        // one\n            // goes on\nb();\n", handler)
    assert handler("a(); // one\n// alone\nb();") == "a();  // one\n// alone\nb();\n"
    text = "// " + "x" * 100
    assert handler(f"a();{' ' * 40}{text}") == f"a();{' ' * (WIDTH - 4 - 4 - len(text))}{text}\n"


def test_empty_lines_before_and_between_comments() -> None:
    unchanged("use net.l4;\n\n// end\n")
    unchanged("use net.l4;\n// end\n\n// more\n")
    unchanged("nf x {\n  port a;\n\n  // last but one\n\n  // last\n}\n")
    unchanged("// first\n\nuse net.l4;\n")
    assert fmt("\n\n// first\nuse net.l4;\n\n\n\n// end\n\n") == "// first\nuse net.l4;\n\n// end\n"
    assert fmt("nf x {\n\n  // first\n  port a;\n  // last\n\n}\n") == "nf x {\n  // first\n  port a;\n  // last\n}\n"


# ---------------------------------------------------------------- what must not happen


def test_a_text_with_errors_is_not_formatted() -> None:
    for wrong in (
        "nf x {",
        "nf x { port a }",
        "nf x { on packet { return; } }",
        "use 1;",
        "nf x { on packet { x = 1s2; } }",
    ):
        report = Report()
        assert formatted("spec.nf", wrong, report) is None and report.errors


def test_numbers_with_dots_do_not_become_an_address() -> None:
    assert handler("x = t.0 .1.0\n.1.0;") == "x = t.0.1.0 .1.0;\n"


def test_a_formatter_that_would_change_the_meaning_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    def glued(self: object, rule: str, word: str, token: int, number: int) -> None:
        self.gaps[token].space = 0  # type: ignore[attr-defined]

    monkeypatch.setattr(Walk, "_sign", glued)
    with pytest.raises(FormatterError, match=r"spec\.nf"):
        formatted("spec.nf", "use a as b;", Report())


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("use a;", "use b;"),
        ("const A: u8 = 1;", "const A: u8 = 2;"),
        ("use a; use b;", "use a;"),
        ("/// a\nnf x { }", "nf x { }"),
    ],
)
def test_trees_that_differ_are_not_the_same(a: str, b: str) -> None:
    assert same(parsed(a), parsed(a.replace(" ", "  "))) and not same(parsed(a), parsed(b))
