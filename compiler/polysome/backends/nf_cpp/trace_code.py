"""Handlers once more, for people who ask why: they also say what they look at in the state (`seen.look`).

The same statements in the same order as `statement_code`, in functions of their own, so that the others pay nothing.
"""

from __future__ import annotations

from polysome.backends.nf_cpp.statement_code import Statements
from polysome.backends.nf_cpp.text_code import value_text
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.reads import children


class TracedStatements(Statements):
    """Collects the lines of one function that has a `seen`."""

    quiet = False  # in the text of a key, which was looked at before

    def code(self, e: ir.Expr) -> str:
        text = super().code(e)
        looked = None if self.quiet else self._look(e)
        if looked is None:
            return text
        state, operation, key = looked
        if e.type == t.Tuple(()):
            return f"({{ {text}; {self._note(state, operation, key, 'std::string()')} }})"
        value = self.temp("seen")
        note = self._note(state, operation, key, value_text(e.type, value))
        return f"({{ const auto {value} = {text}; {note} {value}; }})"

    def looked(self, s: ir.Lookup, condition: str, found: str) -> None:
        operation = "take" if s.kind == "pool" else "peek" if s.kind in ("map", "index") and not s.refresh else "find"
        name = s.source if s.index is None else s.index
        text = value_text(self._found(s), found)
        self.put_line(self._note(name, operation, s.key, f"{condition} ? {text} : std::string()"))

    def stored(self, state: str, key: ir.Expr, value: str) -> str:
        decl = self.program.state[state]
        assert isinstance(decl, ir.MapDecl)
        shown = value_text(decl.value, value) if decl.value is not None else "std::string()"
        return self._note(state, "insert", key, shown) + " "

    def removed(self, s: ir.MapRemove) -> None:
        self.put_line(self._note(s.state, "remove", s.key, "std::string()"))

    def _look(self, e: ir.Expr) -> tuple[str, str, ir.Expr | None] | None:
        """The name, the operation and the key of a look at the state or the config."""
        match e:
            case ir.StateRead(state=s):
                return s, "read", None
            case ir.ArrayRead(state=s, index=i):
                return s, "read", i
            case ir.Contains(state=s, index=i, key=k):
                return i or s, "contains", k
            case ir.StateLen(state=s):
                return s, "len", None
            case ir.MethodCall(state=s, method=m) if isinstance(self.program.state[s], ir.KindDecl):
                return s, m, e.args[0] if e.args else None
            case ir.BucketOp(place=p):
                return p.state, "take" if e.take else "has", e.amount
            case ir.ListIndex(table=ir.Config(name=n), index=i):
                return n, "at", i
            case ir.InSet(item=x, set=ir.Config(name=n)):
                return n, "contains", x
            case _:
                return None

    def _note(self, state: str, operation: str, key: ir.Expr | None, found: str) -> str:
        shown = "std::string()"
        if key is not None and not _changes(key):
            self.quiet = True
            shown = value_text(key.type, self.code(key))
            self.quiet = False
        return f'seen.look("{state}", "{operation}", {shown}, {found});'


def _changes(e: ir.Expr) -> bool:
    """Does `e` change state, so that it must not be computed again?"""
    return isinstance(e, ir.MethodCall | ir.BucketOp) or any(_changes(child) for child in children(e))
