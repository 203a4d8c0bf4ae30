"""Register actions: what one stateful ALU can do to its register in one access."""

from __future__ import annotations

from polysome.p4 import program as pr
from polysome.p4.limits import ChipLimits
from polysome.p4.types import Bits
from polysome.p4.walk import children
from polysome.syntax.diagnostics import Report
from polysome.syntax.spans import Span

_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_NEGATED = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_SIMPLE = ("+", "-", "|+|", "|-|", "&", "|", "^")
_GREATEST = (1 << 31) - 1


def check_stateful(program: pr.Program, chip: ChipLimits, report: Report) -> None:
    for action in program.register_actions.values():
        if program.registers[action.register].element == Bits(1):
            _one_bit(action, chip, report)
        else:
            _Alu(action, chip, report).check()


def _one_bit(action: pr.RegisterAction, chip: ChipLimits, report: Report) -> None:
    """A register of single bits sets or clears one, and returns what it was, or the opposite."""
    value, rv = action.value, action.rv
    for s in action.body:
        written = s.target.key if isinstance(s, pr.Assign) and isinstance(s.target, pr.Place) else None
        if isinstance(s, pr.Assign) and written == value.key and isinstance(s.value, pr.Const):
            rv = None  # returned what it is now, it would be no news
        elif not (isinstance(s, pr.Assign) and rv is not None and written == rv.key and _is_bit(s.value, value)):
            report.add(
                "E1210",
                "a register of single bits does more than set, clear or return one",
                s.span,
                why=f"A stateful ALU of {chip.name} sets or clears a bit, and returns what it was or the opposite.",
                mend="Return the bit first, then assign 0 or 1; or use a register of 8 bits.",
            )


def _is_bit(e: pr.Expr, value: pr.Place) -> bool:
    if isinstance(e, pr.Unary) and e.op == "~":
        e = e.value
    return isinstance(e, pr.Place) and e.key == value.key


class _Alu:
    def __init__(self, action: pr.RegisterAction, chip: ChipLimits, report: Report) -> None:
        self.action, self.chip, self.report = action, chip, report
        self.compares: dict[str, Span] = {}
        self.operands: dict[str, Span] = {}
        self.local: set[str] = set()
        self.outputs: dict[str, Span] = {}  # what is returned, besides 0

    def check(self) -> None:
        self._block(self.action.body)
        self._limit(
            self.compares, self.chip.stateful_compares, "comparisons", "Compute one of them before, into metadata."
        )
        self._limit(
            self.operands,
            self.chip.stateful_operands,
            "fields of the packet",
            "Compute with them before, into metadata.",
        )

        if len(self.outputs) > 1:
            self._too_much(
                "a register action returns one of several things",
                list(self.outputs.values())[1],
                "Return one of them or 0; keep the other in a second register, or compute it in the control.",
                "has one output for each result, which it can only switch on and off",
            )

    def _limit(self, found: dict[str, Span], most: int, what: str, mend: str) -> None:
        if len(found) > most:
            self._too_much(
                f"a register action with {len(found)} {what}", list(found.values())[most], mend, f"takes {most}"
            )

    def _too_much(self, message: str, at: Span, mend: str, can: str = "") -> None:
        can = can or "does one operation for each value that it writes"
        self.report.add("E1210", message, at, why=f"A stateful ALU of {self.chip.name} {can}.", mend=mend)

    def _block(self, body: tuple[pr.Stmt, ...]) -> None:
        for s in body:
            match s:
                case pr.Declare():
                    self.local.add(s.variable.root)
                case pr.Assign():
                    self._assignment(s)
                case pr.If():
                    self._condition(s.condition)
                    self._block(tuple(children(s)))
                case _:
                    self._too_much(
                        "a register action does something besides computing", s.span, "Use assignments and `if` only."
                    )

    def _assignment(self, s: pr.Assign) -> None:
        if isinstance(s.target, pr.Slice) or s.target.root not in (self.action.value.root, *self.local):
            self._too_much(
                "a register action writes something besides its value and result",
                s.span,
                "Return it, and assign what `execute` yields.",
            )
        if self.action.rv is not None and isinstance(s.target, pr.Place) and s.target.key == self.action.rv.key:
            self._output(s.value)
        if isinstance(s.value, pr.Binary) and s.value.op in _SIMPLE:
            self._operand(s.value.left)
            self._operand(s.value.right)
        else:
            self._operand(s.value)

    def _output(self, e: pr.Expr) -> None:
        if isinstance(e, pr.Const) and e.value > 1:
            self._too_much(
                f"a register action returns the constant {e.value}",
                e.span,
                "Return 1, and let the control choose what that means.",
                "returns a value that it has, or whether a condition holds: of constants 0 and 1",
            )
        elif not isinstance(e, pr.Const) or e.value != 0:
            self.outputs.setdefault(_text(e), e.span)

    def _operand(self, e: pr.Expr) -> None:
        """A constant, the register's value or a field, perhaps widened by zeros or cut."""
        match e:
            case pr.Const():
                return
            case pr.Place():
                if e.root != self.action.value.root and e.root not in self.local:
                    self.operands.setdefault(str(e), e.span)
            case pr.Slice() | pr.Cast() | pr.Unary():
                self._operand(e.value)
            case pr.Binary() if e.op == "++" and isinstance(e.left, pr.Const) and e.left.value == 0:
                self._operand(e.right)
            case _:
                self._too_much(
                    "a register action computes too much in one step",
                    e.span,
                    "Compute a part of it before, into metadata.",
                )

    def _condition(self, e: pr.Expr) -> None:
        match e:
            case pr.Unary():
                self._condition(e.value)
            case pr.Binary() if e.op in ("&&", "||"):
                self._condition(e.left)
                self._condition(e.right)
            case pr.Binary() if e.op in _COMPARISONS:
                text, other = (f"{_text(e.left)} {op} {_text(e.right)}" for op in (e.op, _NEGATED[e.op]))
                if other not in self.compares:
                    self.compares.setdefault(text, e.span)
                self._terms(e.left)
                self._terms(e.right)
            case pr.Const():
                pass
            case _:
                self._too_much(
                    "a condition of a register action that compares nothing", e.span, "Compare it with a constant."
                )

    def _terms(self, e: pr.Expr) -> None:
        """A sum of a value of the register, a field and a constant."""
        if isinstance(e, pr.Binary) and e.op in ("+", "-"):
            self._terms(e.left)
            self._terms(e.right)
        elif isinstance(e, pr.Const) and isinstance(e.type, Bits) and not e.type.signed and e.value > _GREATEST:
            self._too_much(
                f"a register action compares with {e.value}",
                e.span,
                "Compute the difference before, into metadata.",
                f"compares with constants up to {_GREATEST}",
            )
        else:
            self._operand(e)


def _text(e: pr.Expr) -> str:
    match e:
        case pr.Const():
            return str(e.value)
        case pr.Place():
            return str(e)
        case pr.Binary():
            return f"({_text(e.left)} {e.op} {_text(e.right)})"
        case pr.Slice():
            return f"{_text(e.value)}[{e.high}:{e.low}]"
        case pr.Cast() | pr.Unary():
            return f"({e.type}){_text(e.value)}"
        case _:
            return str(id(e))
