"""Questions to z3, and its answers."""

from __future__ import annotations

from ctypes import byref, c_void_p
from enum import IntEnum

from polysome.smt import library as z3
from polysome.smt.library import CONTEXT, ENDED, Function, Note, Pointer, array, give_back, made
from polysome.smt.terms import Term


class Answer(IntEnum):
    unsat = -1
    unknown = 0
    sat = 1


unsat, unknown, sat = Answer.unsat, Answer.unknown, Answer.sat


class Model:
    """Values of symbols that make what was asked true."""

    def __init__(self, pointer: Pointer | None) -> None:
        self.pointer: Pointer = pointer or 0
        made(pointer)
        z3.model_inc_ref(CONTEXT, self.pointer)

    def __del__(self, _dec: Function = z3.model_dec_ref, _note: Note = ENDED.append) -> None:
        if self.pointer:
            _note((_dec, self.pointer))

    def eval(self, term: Term, model_completion: bool = False) -> Term:
        """A term's value; with `model_completion` what the model leaves open is 0."""
        found = c_void_p()
        z3.model_eval(CONTEXT, self.pointer, term.pointer, model_completion, byref(found))
        return Term(found.value)

    def update_value(self, symbol: Term, value: Term) -> None:
        z3.model_add(CONTEXT, self.pointer, z3.get_decl(CONTEXT, symbol.pointer), value.pointer)


class Solver:
    """What is asserted holds together; `logic`: of SMT-LIB, if all of it is of one."""

    def __init__(self, logic: str = "") -> None:
        give_back()  # a solver that has ended keeps a lot
        symbol = z3.symbol(CONTEXT, logic.encode())
        self.pointer = made(z3.mk_solver_for(CONTEXT, symbol) if logic else z3.mk_solver(CONTEXT))
        z3.solver_inc_ref(CONTEXT, self.pointer)

    def __del__(self, _dec: Function = z3.solver_dec_ref, _note: Note = ENDED.append) -> None:
        _note((_dec, self.pointer))

    def patience(self, milliseconds: int) -> None:
        """How long one question may take; its answer is then `unknown`."""
        params = z3.mk_params(CONTEXT)
        z3.params_inc_ref(CONTEXT, params)
        z3.params_set_uint(CONTEXT, params, z3.symbol(CONTEXT, b"timeout"), milliseconds)
        z3.solver_set(CONTEXT, self.pointer, params)
        z3.params_dec_ref(CONTEXT, params)

    def push(self) -> None:
        z3.solver_push(CONTEXT, self.pointer)

    def pop(self) -> None:
        z3.solver_pop(CONTEXT, self.pointer, 1)

    def num_scopes(self) -> int:
        """How many a `push` opened, and no `pop` closed."""
        return int(z3.solver_scopes(CONTEXT, self.pointer))

    def add(self, *terms: Term) -> None:
        for term in terms:
            z3.solver_assert(CONTEXT, self.pointer, term.pointer)

    def check(self, *assumed: Term) -> Answer:
        return Answer(z3.solver_check(CONTEXT, self.pointer, len(assumed), array([term.pointer for term in assumed])))

    def model(self) -> Model:
        """Of the last question, if it was answered with `sat`."""
        return Model(z3.solver_model(CONTEXT, self.pointer))
