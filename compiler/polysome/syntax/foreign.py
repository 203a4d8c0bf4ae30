"""Words and signs of other languages: what P4, C, Go, Rust and Python write, and what is written here."""

from __future__ import annotations

import re
from typing import Any

from antlr4.Token import CommonToken, Token

from polysome.syntax.diagnostics import Report, did_you_mean
from polysome.syntax.generated.PolysomeLexer import PolysomeLexer
from polysome.syntax.literals import UNITS
from polysome.syntax.spans import Span

IDENT, INT, QUANTITY = PolysomeLexer.IDENT, PolysomeLexer.INT, PolysomeLexer.QUANTITY
_TYPES = {literal.strip("'"): i for i, literal in enumerate(PolysomeLexer.literalNames)}

# Two signs side by side -> what they are called here, and how it is written.
_PAIRS = {
    "--": ("`--` does not exist", "Write `x -= 1;`."),
    "++": ("`++` does not count up", "Write `x += 1;`; between two values, `++` puts one above the other."),
    ":=": ("`:=` does not exist", "A name is bound with `let x = …;`, and changed with `x = …;`."),
    "===": ("`===` does not exist", "Write `==`."),
    "<>": ("`<>` does not exist", "Write `!=`."),
    "/=": ("`/=` does not exist", "Write `x = x / …;`."),
    "%=": ("`%=` does not exist", "Write `x = x % …;`."),
    "<<=": ("`<<=` does not exist", "Write `x = x << …;`."),
    ">>=": ("`>>=` does not exist", "Write `x = x >> …;`."),
    "**": ("`**` does not exist", "Write the factors out."),
}
# A word at the beginning of a statement -> what to write.
_STATEMENTS = {
    "return": 'A handler ends in `send PORT;` or `drop "reason";`; a function\'s value is its last expression.',
    "while": "A loop runs over a constant range: `for i in 0..8 { … }`.",
    "loop": "A loop runs over a constant range: `for i in 0..8 { … }`.",
    "switch": "Write `if a { … } else if b { … } else { … }`; in a parser, `select`.",
    "match": "Write `if a { … } else if b { … } else { … }`; in a parser, `select`.",
    "break": "Put what the loop does into `if`.",
    "continue": "Put what the loop does into `if`.",
    "elif": "Write `else if`.",
    "elsif": "Write `else if`.",
    "try": "Nothing throws: a lookup says what happens in its `else`.",
    "assert": 'Write `require C else drop "reason";`.',
    "del": "Write `remove m[k];`.",
    "delete": "Write `remove m[k];`.",
}
_BINDERS = (
    "var",
    "auto",
    "val",
    "int",
    "uint",
    "bool",
    "bit",
    "let",
    "const",
    "static",
    "unsigned",
    "long",
    "char",
    "byte",
)
_KEYWORDS = ("send", "drop", "bounce", "emit", "push", "pop", "truncate", "remove", "require", "let", "if", "for")


class Foreign:
    """Reports them (E0113), and puts into the token list what was meant, or leaves the statement out."""

    def __init__(self, file: str, text: str, report: Report, most: int) -> None:
        self.file, self.text, self.report, self.most = file, text, report, most
        self.tokens: list[Any] = []
        self.dropped: set[int] = set()

    def mended(self, tokens: list[Any]) -> list[Any]:
        self.tokens = tokens
        i = 0
        while i < len(tokens) - 1 and self.report.count < self.most:
            i = self._at(i)
        return [t for i, t in enumerate(self.tokens) if i not in self.dropped]

    def _at(self, i: int) -> int:
        """Look at token `i`; the index of the next one to look at."""
        if i in self.dropped:
            return i + 1
        return (
            self._signs(i) or self._quantity(i) or self._dotted(i) or (self._begins(i) and self._statement(i)) or i + 1
        )

    # ------------------------------------------------------------ signs

    def _signs(self, i: int) -> int:
        token = self.tokens[i]
        if token.text in ("&", "|") and self._adjoins(i) and self.tokens[i + 1].text == token.text:
            word = "and" if token.text == "&" else "or"
            self._add(i, i + 1, f"`{token.text * 2}` is written `{word}`", f"Write `{word}`.")
            self._replace(i, 2, _TYPES[word], word)
            return i + 1
        if token.text == "?":
            mend = "Write `if c { a } else { b }`: it is a value, too."
            self._add(i, i, "`?` does not exist", mend)
            return self._leave_out(i)
        for sign, (message, mend) in _PAIRS.items():
            if self.text.startswith(sign, token.start) and self._is_sign(i, sign):
                last = i
                while self.tokens[last].stop < token.start + len(sign) - 1:
                    last += 1
                self._add(i, last, message, mend)
                return self._leave_out(i)
        return 0

    def _is_sign(self, i: int, sign: str) -> bool:
        """`a ++ b` puts a above b; the sign alone, behind a value, is another language's."""
        after = self.text[self.tokens[i].start + len(sign) : self.tokens[i].start + len(sign) + 1]
        if sign in ("++", "--"):
            return bool(re.match(r"\s*[;)}]", self.text[self.tokens[i].start + len(sign) :]))
        return not (sign in (":=", "/=", "%=", "<<=", ">>=") and after == "=")

    def _quantity(self, i: int) -> int:
        """`10 Mbps`: a number, a space and a unit."""
        token, unit = self.tokens[i], self.tokens[i + 1]
        if token.type != INT or unit.type != IDENT or not self._same_line(i):
            return 0
        name = unit.text if unit.text in UNITS else next((u for u in UNITS if u.lower() == unit.text.lower()), None)
        if name is None or self.tokens[i + 2].text not in (";", ",", ")", "}", "]", "{", "+", "-", "*", "/"):
            return 0
        self.report.add(
            "E0104",
            "there is a space between the number and its unit",
            Span(self.file, token.start, unit.stop + 1),
            why="A quantity is one word.",
            mend=f"Write `{token.text}{name}`.",
        )
        self._replace(i, 2, QUANTITY, token.text + name)
        return i + 1

    def _dotted(self, i: int) -> int:
        """`10.0.0`, `1.5`: numbers with dots that are neither an address nor a quantity."""
        token = self.tokens[i]
        found = re.match(r"\d+(\.\d+)+(?![\w.])", self.text[token.start : token.start + 80])
        if token.type != INT or found is None or (i > 0 and self.tokens[i - 1].text == "."):
            return 0
        last = i
        while self.tokens[last].stop < token.start + found.end() - 1:
            last += 1
        parts = found[0].split(".")
        fraction = len(parts) == 2
        self.report.add(
            "E0104" if fraction else "E0105",
            f"`{found[0]}` has no unit" if fraction else f"`{found[0]}` is not a valid ipv4 literal",
            Span(self.file, token.start, token.start + found.end()),
            why="Numbers are whole; only quantities have a fraction, which their smallest unit makes whole."
            if fraction
            else "An IPv4 address has four numbers from 0 to 255.",
            mend=f"Write for example `{found[0]}s` or `{found[0]}MB`."
            if fraction
            else f"Write all four, for example `{'.'.join([*parts, '0', '0'][:4])}`.",
        )
        kind, text = (INT, parts[0]) if fraction else (PolysomeLexer.IPV4, "0.0.0.0")
        self._replace(i, last - i + 1, kind, text)
        return last + 1

    # ------------------------------------------------------------ statements

    def _begins(self, i: int) -> bool:
        """Does a statement or a declaration begin here?"""
        return i == 0 or self.tokens[i - 1].text in (";", "{", "}")

    def _statement(self, i: int) -> int:
        token, following = self.tokens[i], self.tokens[i + 1]
        word = token.text
        if word == "for" and following.text == "(":
            self._add(i, i, "a loop has no three parts", "Write `for i in 0..8 { … }`, with constant bounds.")
            return self._leave_out(i)
        if word == "let" and following.text in ("mut", "var", "const") and self.tokens[i + 2].type == IDENT:
            self._add(
                i + 1, i + 1, f"`{following.text}` is not needed", "Write `let x = …;`: a local can always be changed."
            )
            self.dropped.add(i + 1)
            return i + 2
        if token.type != IDENT:
            return 0
        if word in _STATEMENTS and following.text not in ("=", ".", ":", ","):
            self._add(i, i, f"there is no `{word}`", _STATEMENTS[word])
            return self._leave_out(i)
        if following.type == IDENT and self._same_line(i) and self.tokens[i + 2].text in ("=", ";"):
            return self._two_words(i)
        if following.type == PolysomeLexer.STRING and _close(word) is not None:
            return self._no_statement(i, _close(word))
        return 0

    def _two_words(self, i: int) -> int:
        """`int x = 5;`, `Send lan;`: no statement begins with two names."""
        word, name, after = (self.tokens[i + n].text for n in range(3))
        keyword = next((k for k in _KEYWORDS if k == word.lower()), None) or _close(word)
        if after == "=" or word in _BINDERS:
            type = f": {word}" if re.fullmatch(r"u\d+|bool|ipv[46]|mac|time|duration|bytes", word) else ""
            self._add(i, i, f"`{word} {name}` declares nothing", f"A name is bound with `let {name}{type} = …;`.")
            return self._leave_out(i)
        return self._no_statement(i, keyword) if keyword is not None else 0

    def _no_statement(self, i: int, keyword: str | None) -> int:
        self._add(i, i, f"no statement begins with `{self.tokens[i].text}`", f"Did you mean `{keyword}`?")
        return self._leave_out(i)

    # ------------------------------------------------------------ places

    def _adjoins(self, i: int) -> bool:
        return bool(self.tokens[i].stop + 1 == self.tokens[i + 1].start)

    def _same_line(self, i: int) -> bool:
        return "\n" not in self.text[self.tokens[i].stop + 1 : self.tokens[i + 1].start]

    def _leave_out(self, i: int) -> int:
        """Leave out the statement in which token `i` stands; the index of what follows."""
        first = i
        depth = 0
        while first > 0 and not (depth == 0 and self.tokens[first - 1].text in (";", "{", "}")):
            first -= 1
            depth += {")": 1, "]": 1, "(": -1, "[": -1}.get(self.tokens[first].text, 0)
            if depth < 0:
                first += 1
                break
        last, depth = i, 0
        while self.tokens[last].type != Token.EOF:
            word = self.tokens[last].text
            depth += {"{": 1, "(": 1, "[": 1, "}": -1, ")": -1, "]": -1}.get(word, 0)
            if depth < 0:
                last -= 1
                break
            if depth == 0 and (word == ";" or (word == "}" and self.tokens[last + 1].text not in (";", "else"))):
                break
            last += 1
        if self.tokens[last].type == Token.EOF:
            last -= 1
        self.dropped.update(range(first, last + 1))
        return last + 1

    def _replace(self, i: int, count: int, kind: int, text: str) -> None:
        new: CommonToken = self.tokens[i].clone()
        new.type, new.text, new.stop = kind, text, self.tokens[i + count - 1].stop
        self.tokens[i] = new
        self.dropped.update(range(i + 1, i + count))

    def _add(self, i: int, last: int, message: str, mend: str) -> None:
        self.report.add(
            "E0113",
            message,
            Span(self.file, self.tokens[i].start, self.tokens[last].stop + 1),
            why="That is how other languages write it.",
            mend=mend,
        )


def _close(word: str) -> str | None:
    """The keyword that a word looks like."""
    hint = did_you_mean(word, _KEYWORDS)
    return hint.split("`")[1] if hint.startswith("Did") and len(word) > 2 else None
