"""Whatever a file holds, the front end says what is wrong; it never breaks, and never points outside of the file."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from antlr4 import InputStream

from polysome.syntax.diagnostics import Diagnostic

Diagnose = Callable[[Path], tuple[list[Diagnostic], str]]

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*/*.nf"))
MUTANTS = 8  # of each example
TOKEN = re.compile(r'"[^"\n]*"|//[^\n]*|\w+|[^\w\s]|\s+')
STRANGE = (
    *(
        "&&",
        "||",
        "!",
        "?",
        ":=",
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        ";",
        ":",
        ",",
        ".",
        "..",
        "++",
        "--",
        "==",
        "=",
        "<",
        ">>",
    ),
    *("-1", "0x", "0b_", "1.5", "10.0.0", "10mbps", "5s", "64KB", "ü", "“", "'", '"', "/*", "*/", "#", "@", "\\", "::"),
    *("return", "switch", "else", "in", "not", "and", "send", "drop", "let", "if", "ports", "flow", "now", "len"),
    *("payload", "ipv4", "token_bucket", "map", "ref", "from", "u8", "9" * 50),
)

SPEC = """use net.l4;

nf wire {
  port lan, wan;
  on packet { BODY }
}
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of its own, and a cache that is thrown away: thousands of wrong specs are no use to anybody."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(text: str | bytes, diagnose: Diagnose) -> list[Diagnostic]:
    """What is said about a text; all of it has its place in the text."""
    data = text if isinstance(text, bytes) else text.encode("utf-8")
    Path("spec.nf").write_bytes(data)
    found, shown = diagnose(Path("spec.nf"))
    length = len(data.decode("utf-8", errors="replace"))
    for d in found:
        assert d.span is not None and d.why and d.mend, d
        assert d.span.file != "spec.nf" or 0 <= d.span.start <= d.span.end <= max(length, 1), d
        assert d.message in shown
    return found


def mutant(tokens: list[str], chance: random.Random) -> str:
    """The text with a few tokens deleted, doubled, exchanged or replaced."""
    tokens = list(tokens)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        i, j = chance.randrange(len(tokens)), chance.randrange(len(tokens))
        match chance.randrange(5):
            case 0:
                del tokens[i]
            case 1:
                tokens.insert(i, tokens[j])
            case 2:
                tokens[i] = tokens[j]
            case 3:
                tokens[i], tokens[j] = tokens[j], tokens[i]
            case _:
                tokens[i] = f" {chance.choice(STRANGE)} "
    return "".join(tokens)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: p.stem)
def test_slips_in_the_examples(example: Path, diagnose: Diagnose) -> None:
    tokens = TOKEN.findall(example.read_text(encoding="utf-8"))
    chance = random.Random(example.stem)
    for _ in range(MUTANTS):
        told(mutant(tokens, chance), diagnose)


NESTED = {
    "parentheses": "let x: u8 = " + "(" * 500 + "1" + ")" * 500 + ";",
    "blocks": "if tcp { " * 500 + "}" * 500,
    "negations": "require " + "not " * 2000 + "tcp;",
    "complements": "let x: u8 = " + "~" * 2000 + "1;",
    "operators": "let x = " + " + ".join(["len"] * 3000) + ";",
    "conditions": "require " + " or ".join(["tcp"] * 3000) + ";",
    "branches": "if tcp { } " + "else if udp { } " * 1000,
    "conditional values": "let x: u8 = " + "if tcp { 1 } else " * 1000 + "{ 0 };",
    "members": "let x = flow" + ".src" * 3000 + ";",
    "lengths": "let x = payload" + ".len" * 200 + ";",
    "indexes": "let x = flow" + "[0]" * 300 + ";",
    "calls": "let x = flow" + ".reversed" * 1000 + ";",
    "casts": "let x = len" + " as u64 as bytes" * 1000 + ";",
    "sets": "require len in " + "{" * 60 + "1B" + "}" * 60 + ";",
    "tuples": "let x = " + "(1, " * 60 + "2" + ")" * 60 + ";",
}


@pytest.mark.parametrize("body", NESTED.values(), ids=NESTED.keys())
def test_nesting(body: str, diagnose: Diagnose) -> None:
    assert told(SPEC.replace("BODY", body + " send wan;"), diagnose)


FILES = {
    "empty": "",
    "blank": " \n\t\n\n",
    "a comment": "// nothing",
    "a comment without end": "/* nothing",
    "a brace": "{",
    "a closing brace": "}",
    "a word": "nf",
    "a quote": '"',
    "a zero byte": "nf \0 x { }",
    "control characters": "".join(map(chr, range(1, 32))),
    "Cyrillic": "нф провод { порт а, б; }",
    "emoji": "nf 🙂 { port a; on packet { send a; } }",
    "right to left": "nf \u202ex { port a; }",
    "a shell script": "#!/bin/sh\nset -e\nfor f in *.nf; do polysome check $f; done\n",
    "P4": "#include <core.p4>\nheader h { bit<8> x; }\ncontrol c(inout h hdr) { apply { hdr.x = 1; } }\n",
    "C": "#include <stdio.h>\nint main(void) { for (int i = 0; i < 3; i++) printf(\"%d\\n\", i); return 0; }\n",
    "Go": 'package main\nimport "fmt"\nfunc main() { x := 1; fmt.Println(x, &x) }\n',
    "Rust": 'fn main() { let mut x = vec![1, 2]; for y in &x { println!("{}", y); } x.push(3) }\n',
    "Python": "def f(x):\n    return [i ** 2 for i in range(x)]\n",
    "JSON": '{"a": [1, 2.5, null], "b": {"c": "d"}}',
    "many errors": SPEC.replace("BODY", "x = = 5; " * 300 + "send wan;"),
    "a long line": SPEC.replace("BODY", "require len > 0B; " * 2000 + "send wan"),
    "a long word": "nf " + "x" * 100_000,
    "a long number": SPEC.replace("BODY", f"let x: u64 = {'9' * 10_000}; let y = {'9' * 10_000}s; send wan;"),
    "a long comment": "/*" + "x\n" * 50_000,
    "noise": "".join(random.Random(1).choices("abc(){};:.,=\"'/*+-<>0123 \n", k=20_000)),
}  # fmt: skip


@pytest.mark.parametrize("text", FILES.values(), ids=FILES.keys())
def test_what_is_no_spec(text: str, diagnose: Diagnose) -> None:
    found = told(text, diagnose)
    assert found and len(found) <= 30


def test_bytes_that_are_no_text(diagnose: Diagnose) -> None:
    (found,) = told(SPEC.replace("BODY", 'drop "für nichts";').encode("latin-1"), diagnose)
    assert found.code == "E0110" and found.label == "the byte 0xfc"


BODIES = {"good": "send wan;", "a wrong name": "send wam;", "wrong syntax": "let x = ;\n    send wan"}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_line_ends_and_a_byte_order_mark_mean_nothing(body: str, diagnose: Diagnose) -> None:
    text = SPEC.replace("BODY", f"\n    {body}\n  ")

    def shown(data: bytes) -> str:
        Path("spec.nf").write_bytes(data)
        return diagnose(Path("spec.nf"))[1]

    plain = shown(text.encode())
    assert shown(text.replace("\n", "\r\n").encode()) == plain
    assert shown(text.replace("\n", "\r").encode()) == plain
    assert shown(b"\xef\xbb\xbf" + text.encode()) == plain


def test_tabs_do_not_move_the_underline(diagnose: Diagnose) -> None:
    Path("spec.nf").write_text(SPEC.replace("BODY", "\n\t\trequire\ttcp; send\twam;\n"))
    lines = diagnose(Path("spec.nf"))[1].split("\n")
    at = next(i for i, line in enumerate(lines) if "wam;" in line)
    assert lines[at + 1].index("^^^") == lines[at].index("wam")


@pytest.mark.parametrize(
    "line",
    [
        "WRONG",
        " " * 50_000 + "WRONG",
        "WRONG" + " " * 50_000,
        "\t" * 50_000 + "WRONG" + "\t" * 50_000,
        "send " + "w" * 50_000 + ";",
        '"' + "w" * 50_000,
        "'" + "w" * 50_000 + "'",
        "let x = " + "9" * 50_000 + ";",
        "let x = " + "ü" * 50_000 + ";",
        "let x = flow." + "x" * 50_000 + ";",
        "let " + "x" * 50_000 + " = 3;",
        "m." + "x" * 50_000 + "(3); /* ` */",
    ],
    ids=lambda line: f"{line[:15].strip()}-{len(line)}",
)
def test_of_long_lines_and_names_only_the_place_is_shown(line: str, diagnose: Diagnose) -> None:
    Path("spec.nf").write_text(SPEC.replace("BODY", f"\n{line.replace('WRONG', 'send wam;')}"), encoding="utf-8")
    lines = diagnose(Path("spec.nf"))[1].split("\n")
    assert max(map(len, lines)) < 650, lines  # 160 characters, each a tab at most
    if "WRONG" in line:
        at = next(i for i, line in enumerate(lines) if "wam;" in line)
        assert lines[at + 1].index("^^^") == lines[at].index("wam")


@pytest.mark.parametrize("comment", ["//\n", "/// what it is\n", "/**/", "/* * // \n */\n", " \t\n"])
def test_comments_move_what_follows_and_cost_nothing(
    comment: str, diagnose: Diagnose, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lexer, which is slow, sees none of a million characters of them."""
    seen = 0
    consume = InputStream.consume

    def counted(self: InputStream) -> None:
        nonlocal seen
        seen += 1
        consume(self)

    monkeypatch.setattr(InputStream, "consume", counted)
    comments = comment * (1_000_000 // len(comment))
    wrong = SPEC.replace("on packet", f"{comments}on packet").replace("BODY", "send wan; tcp = tcp")
    (found,) = [d for d in told(wrong, diagnose) if d.code.startswith("E01")]
    assert found.span is not None and found.span.start >= wrong.index("tcp = tcp")
    assert seen < 100_000  # of the library, where it is not cached
