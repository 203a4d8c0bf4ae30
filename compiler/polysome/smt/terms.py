"""Terms: bit vectors (unsigned unless said otherwise), truth values, integers.

An operand may be a plain number where a bit vector or an integer stands on the other side. Terms that are built alike
are one term: `eq` compares pointers, and `get_id` is a pointer, which is a term's own as long as the term lives.
"""

from __future__ import annotations

from ctypes import byref, c_uint64, c_void_p
from functools import lru_cache
from typing import Any

from polysome.smt import library as z3
from polysome.smt.library import CONTEXT, ENDED, MOST_ENDED, Function, Note, Pointer, array, give_back, made

_U64 = 1 << 64


class Term:
    """A bit vector or a truth value."""

    __slots__ = ("__weakref__", "pointer")

    def __init__(self, pointer: Pointer | None, _inc: Function = z3.inc_ref, _context: Pointer = CONTEXT) -> None:
        self.pointer: Pointer = pointer or 0  # a term that could not be made ends too
        made(pointer)
        _inc(_context, self.pointer)
        if len(ENDED) > MOST_ENDED:
            give_back()

    def __del__(self, _dec: Function = z3.dec_ref, _note: Note = ENDED.append) -> None:
        if self.pointer:
            _note((_dec, self.pointer))

    # ------------------------------------------------------------ looking at it

    def get_id(self) -> int:
        return self.pointer

    def eq(self, other: Term) -> bool:
        return self.pointer == other.pointer

    def __hash__(self) -> int:
        return hash(self.pointer)

    def __bool__(self) -> bool:
        """Of truth values that are known, and of equations, as `in` asks for them."""
        if is_true(self) or is_false(self):
            return is_true(self)
        if is_eq(self):
            return self.arg(0).eq(self.arg(1))
        raise TypeError("a term is true or false in a model only")

    def size(self) -> int:
        """Bits of a bit vector."""
        return int(z3.get_size(CONTEXT, z3.get_sort(CONTEXT, self.pointer)))

    def num_args(self) -> int:
        return int(z3.get_count(CONTEXT, self.pointer)) if z3.get_ast_kind(CONTEXT, self.pointer) == _APP else 0

    def arg(self, k: int) -> Term:
        return Term(z3.get_arg(CONTEXT, self.pointer, k))

    def children(self) -> list[Term]:
        return [self.arg(k) for k in range(self.num_args())]

    def with_children(self, children: list[Term]) -> Term:
        """The same operator on others."""
        return Term(z3.update(CONTEXT, self.pointer, len(children), array([c.pointer for c in children])))

    def parameter(self, k: int) -> int:
        """Of the operator: of an extraction the highest bit and the lowest one."""
        return int(z3.get_parameter(CONTEXT, z3.get_decl(CONTEXT, self.pointer), k))

    def as_long(self) -> int:
        """A number's value."""
        found = c_uint64()
        if z3.get_uint64(CONTEXT, self.pointer, byref(found)):
            return found.value
        return int(z3.get_numeral(CONTEXT, self.pointer))

    @property
    def name(self) -> str:
        """Of a symbol; "" of all other terms."""
        if not is_symbol(self):
            return ""
        return str(z3.get_symbol(CONTEXT, z3.get_decl_name(CONTEXT, z3.get_decl(CONTEXT, self.pointer))).decode())

    def __str__(self) -> str:
        return self.name or str(z3.get_text(CONTEXT, self.pointer).decode())

    __repr__ = __str__

    # ------------------------------------------------------------ operators

    def _other(self, other: Term | int) -> Pointer:
        if isinstance(other, Term):
            return other.pointer
        of = z3.get_sort(CONTEXT, self.pointer)
        if 0 <= other < _U64:
            return int(z3.mk_uint64(CONTEXT, other, of))
        return made(z3.mk_numeral(CONTEXT, str(int(other)).encode(), of))

    def _with(self, made_by: Function, other: Term | int) -> Term:
        return Term(made_by(CONTEXT, self.pointer, self._other(other)))

    def __eq__(self, other: object) -> Any:
        return self._with(_EQ, other) if isinstance(other, Term | int) else NotImplemented

    def __ne__(self, other: object) -> Any:
        return Not(self == other) if isinstance(other, Term | int) else NotImplemented

    def __add__(self, other: Term | int) -> Term:
        return self._with(_ADD, other)

    def __sub__(self, other: Term | int) -> Term:
        return self._with(_SUB, other)

    def __mul__(self, other: Term | int) -> Term:
        return self._with(_MUL, other)

    def __and__(self, other: Term | int) -> Term:
        return self._with(_AND, other)

    def __or__(self, other: Term | int) -> Term:
        return self._with(_OR, other)

    def __xor__(self, other: Term | int) -> Term:
        return self._with(_XOR, other)

    def __lshift__(self, other: Term | int) -> Term:
        return self._with(_SHL, other)

    def __rshift__(self, other: Term | int) -> Term:
        """With the sign."""
        return self._with(_ASHR, other)

    def __neg__(self) -> Term:
        return Term(_NEG(CONTEXT, self.pointer))

    def __invert__(self) -> Term:
        return Term(_INVERTED(CONTEXT, self.pointer))

    def __lt__(self, other: Term | int) -> Term:
        """Signed, as `<=`, `>` and `>=`."""
        return self._with(_SLT, other)

    def __le__(self, other: Term | int) -> Term:
        return self._with(_SLE, other)

    def __gt__(self, other: Term | int) -> Term:
        return self._with(_SGT, other)

    def __ge__(self, other: Term | int) -> Term:
        return self._with(_SGE, other)


class Integer(Term):
    """An integer without bounds."""

    __slots__ = ()
    __hash__ = Term.__hash__

    def _together(self, made_by: Function, other: Term | int) -> Integer:
        return Integer(made_by(CONTEXT, 2, array([self.pointer, self._other(other)])))

    def __add__(self, other: Term | int) -> Integer:
        return self._together(_INT_ADD, other)

    def __mul__(self, other: Term | int) -> Integer:
        return self._together(_INT_MUL, other)

    def __rmul__(self, other: int) -> Integer:
        return Integer(_INT_MUL(CONTEXT, 2, array([self._other(other), self.pointer])))

    def __mod__(self, other: Term | int) -> Integer:
        return Integer(_MOD(CONTEXT, self.pointer, self._other(other)))


_EQ, _CONCAT, _IMPLIES = z3.binary("eq"), z3.binary("concat"), z3.binary("implies")
_ADD, _SUB, _MUL = z3.binary("bvadd"), z3.binary("bvsub"), z3.binary("bvmul")
_UDIV, _UREM = z3.binary("bvudiv"), z3.binary("bvurem")
_AND, _OR, _XOR, _NEG, _INVERTED = *map(z3.binary, ("bvand", "bvor", "bvxor")), *map(z3.unary, ("bvneg", "bvnot"))
_SHL, _LSHR, _ASHR = z3.binary("bvshl"), z3.binary("bvlshr"), z3.binary("bvashr")
_ULT, _ULE, _UGT, _UGE = map(z3.binary, ("bvult", "bvule", "bvugt", "bvuge"))
_SLT, _SLE, _SGT, _SGE = map(z3.binary, ("bvslt", "bvsle", "bvsgt", "bvsge"))
_INT_ADD, _INT_MUL, _MOD = z3.many("add"), z3.many("mul"), z3.binary("mod")
_ALL, _ANY, _NOT = z3.many("and"), z3.many("or"), z3.unary("not")
_APP, _NUMERAL = 1, 0  # Z3_ast_kind


# ---------------------------------------------------------------- symbols and numbers


def BitVec(name: str, width: int) -> Term:
    return Term(z3.mk_const(CONTEXT, z3.symbol(CONTEXT, name.encode()), z3.sort(width)))


def Bool(name: str) -> Term:
    return BitVec(name, 0)


@lru_cache(maxsize=65_536)
def BitVecVal(value: int, width: int) -> Term:
    """Modulo 2^width."""
    value &= (1 << width) - 1
    if value < _U64:
        return Term(z3.mk_uint64(CONTEXT, value, z3.sort(width)))
    return Term(z3.mk_numeral(CONTEXT, str(value).encode(), z3.sort(width)))


def IntVal(value: int) -> Integer:
    return Integer(z3.mk_numeral(CONTEXT, str(value).encode(), z3.sort(-1)))


_TRUE, _FALSE = (Term(z3.of_context(f"mk_{name}", c_void_p)(CONTEXT)) for name in ("true", "false"))


def BoolVal(value: bool) -> Term:
    return _TRUE if value else _FALSE


def uninterpreted(name: str, of: list[Term], width: int) -> Term:
    """An unknown function, told from others by its name, of these terms: a bit vector."""
    sorts = array([z3.get_sort(CONTEXT, term.pointer) for term in of])
    decl = made(z3.mk_func_decl(CONTEXT, z3.symbol(CONTEXT, name.encode()), len(of), sorts, z3.sort(width)))
    z3.inc_ref(CONTEXT, decl)
    applied = Term(z3.mk_app(CONTEXT, decl, len(of), array([term.pointer for term in of])))
    z3.dec_ref(CONTEXT, decl)
    return applied


# ---------------------------------------------------------------- operators without a sign of their own


def Not(term: Term) -> Term:
    return Term(_NOT(CONTEXT, term.pointer))


def And(*terms: Term | bool) -> Term:
    return Term(_ALL(CONTEXT, len(terms), _truths(terms)))


def Or(*terms: Term | bool) -> Term:
    return Term(_ANY(CONTEXT, len(terms), _truths(terms)))


def _truths(terms: tuple[Term | bool, ...]) -> Any:
    return array([term.pointer if isinstance(term, Term) else BoolVal(term).pointer for term in terms])


def Implies(one: Term, other: Term) -> Term:
    return Term(_IMPLIES(CONTEXT, one.pointer, other.pointer))


def If(condition: Term, one: Term, other: Term) -> Term:
    kind = Integer if isinstance(one, Integer) else Term
    return kind(z3.mk_ite(CONTEXT, condition.pointer, one.pointer, other.pointer))


def Concat(*terms: Term) -> Term:
    """The first is the most significant."""
    whole = terms[0]
    for term in terms[1:]:
        whole = Term(_CONCAT(CONTEXT, whole.pointer, term.pointer))
    return whole


def Extract(high: int, low: int, term: Term) -> Term:
    return Term(z3.mk_extract(CONTEXT, high, low, term.pointer))


def ZeroExt(more: int, term: Term) -> Term:
    return Term(z3.mk_zero_ext(CONTEXT, more, term.pointer))


def SignExt(more: int, term: Term) -> Term:
    return Term(z3.mk_sign_ext(CONTEXT, more, term.pointer))


def BV2Int(term: Term) -> Integer:
    return Integer(z3.mk_bv2int(CONTEXT, term.pointer, False))


def ULT(one: Term, other: Term | int) -> Term:
    return one._with(_ULT, other)


def ULE(one: Term, other: Term | int) -> Term:
    return one._with(_ULE, other)


def UGT(one: Term, other: Term | int) -> Term:
    return one._with(_UGT, other)


def UGE(one: Term, other: Term | int) -> Term:
    return one._with(_UGE, other)


def UDiv(one: Term, other: Term | int) -> Term:
    return one._with(_UDIV, other)


def URem(one: Term, other: Term | int) -> Term:
    return one._with(_UREM, other)


def LShR(one: Term, other: Term | int) -> Term:
    return one._with(_LSHR, other)


_SIMPLE: dict[Pointer, tuple[Term, Term]] = {}  # with the term itself: its pointer is its own as long as it lives
_MOST_SIMPLE = 1 << 18


def simplify(term: Term) -> Term:
    found = _SIMPLE.get(term.pointer)
    if found is None:
        if len(_SIMPLE) == _MOST_SIMPLE:
            _SIMPLE.clear()
        found = _SIMPLE[term.pointer] = (term, Term(z3.simplify(CONTEXT, term.pointer)))
    return found[1]


def substitute(term: Term, *pairs: tuple[Term, Term]) -> Term:
    """With all pairs at once: the first of each replaced by the second."""
    olds, news = array([old.pointer for old, _ in pairs]), array([new.pointer for _, new in pairs])
    return Term(z3.substitute(CONTEXT, term.pointer, len(pairs), olds, news))


# ---------------------------------------------------------------- what a term is


def is_true(term: Term) -> bool:
    return term.pointer == _TRUE.pointer


def is_false(term: Term) -> bool:
    return term.pointer == _FALSE.pointer


def kind(term: Term) -> int:
    """Of an application: a number for its operator; -1 of numbers."""
    if z3.get_ast_kind(CONTEXT, term.pointer) != _APP:
        return -1
    return int(z3.get_decl_kind(CONTEXT, z3.get_decl(CONTEXT, term.pointer)))


def _sort_kind(term: Term) -> int:
    return int(z3.get_sort_kind(CONTEXT, z3.get_sort(CONTEXT, term.pointer)))


_x, _y, _p, _q = BitVec("x", 8), BitVec("y", 8), Bool("p"), Bool("q")
SYMBOL, EQ, NOT, AND, OR = kind(_x), kind(_x == _y), kind(Not(_p)), kind(And(_p, _q)), kind(Or(_p, _q))
CONCAT, EXTRACT, BV2INT = kind(Concat(_x, _y)), kind(Extract(3, 0, _x)), kind(BV2Int(_x))
ADD, MUL, MOD = kind(BV2Int(_x) + 1), kind(2 * BV2Int(_x)), kind(BV2Int(_x) % 7)
_BOOL_SORT, _BV_SORT, _INT_SORT = _sort_kind(_p), _sort_kind(_x), _sort_kind(BV2Int(_x))


def is_app_of(term: Term, operator: int) -> bool:
    return kind(term) == operator


def is_not(term: Term) -> bool:
    return kind(term) == NOT


def is_and(term: Term) -> bool:
    return kind(term) == AND


def is_or(term: Term) -> bool:
    return kind(term) == OR


def is_eq(term: Term) -> bool:
    return kind(term) == EQ


def is_symbol(term: Term) -> bool:
    return kind(term) == SYMBOL and term.num_args() == 0


def is_bool(term: Term) -> bool:
    return _sort_kind(term) == _BOOL_SORT


def is_bv(term: Term) -> bool:
    return _sort_kind(term) == _BV_SORT


def is_bv_value(term: Term) -> bool:
    return z3.get_ast_kind(CONTEXT, term.pointer) == _NUMERAL and is_bv(term)


def is_int_value(term: Term) -> bool:
    return z3.get_ast_kind(CONTEXT, term.pointer) == _NUMERAL and _sort_kind(term) == _INT_SORT
