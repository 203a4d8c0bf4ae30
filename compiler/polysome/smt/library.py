"""z3's C library: the functions that terms and solvers are made with, and the one context that they live in.

Pointers are plain numbers. A function that fails says so by a null pointer (`made`), or its results are none.

A context serves one thread at a time, but Python ends what nobody needs in whichever thread collects garbage, and the
others run while z3 answers. So what ends is noted in `ENDED`, and given back by who uses z3 (`give_back`).
"""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Callable
from ctypes import POINTER, c_bool, c_char_p, c_int, c_int64, c_uint, c_uint64, c_void_p
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

Pointer = int
Function = Callable[..., Any]
Note = Callable[[tuple[Function, Pointer]], None]


def _library() -> ctypes.CDLL:
    spec = find_spec("z3")
    folders = [] if spec is None else spec.submodule_search_locations or []
    found = [path for folder in folders for path in sorted(Path(folder, "lib").glob("libz3.*"))]
    if not found:
        raise ImportError("the package z3-solver has no library: install it anew")
    return ctypes.CDLL(str(found[0]))


_LIBRARY: Final = _library()


def function(name: str, result: Any, *parameters: Any) -> Function:
    found = _LIBRARY[f"Z3_{name}"]
    found.restype, found.argtypes = result, parameters
    return found


def of_context(name: str, result: Any, *parameters: Any) -> Function:
    """A function whose first parameter is the context."""
    return function(name, result, c_void_p, *parameters)


def _context() -> Pointer:
    config = function("mk_config", c_void_p)()
    made = function("mk_context_rc", c_void_p, c_void_p)(config)
    function("del_config", None, c_void_p)(config)
    # Without this a mistake ends the process.
    of_context("set_error_handler", None, c_void_p)(made, None)
    return int(made)


CONTEXT: Final = _context()
_error_code = of_context("get_error_code", c_int)
_error_text = of_context("get_error_msg", c_char_p, c_int)


class Misused(Exception):
    """z3 refuses what it was asked: a fault of ours."""


def made(pointer: Pointer | None) -> Pointer:
    if pointer is None:
        raise Misused(_error_text(CONTEXT, _error_code(CONTEXT)).decode())
    return pointer


def array(pointers: list[Pointer]) -> Any:
    return (c_void_p * len(pointers))(*pointers)


inc_ref = of_context("inc_ref", None, c_void_p)
dec_ref = of_context("dec_ref", None, c_void_p)
ENDED: Final[deque[tuple[Function, Pointer]]] = deque()  # what nobody needs, and how it is given back
MOST_ENDED: Final = 4096


def give_back() -> None:
    """What has ended, to z3."""
    while ENDED:
        dec, pointer = ENDED.popleft()
        dec(CONTEXT, pointer)


@cache
def sort(width: int) -> Pointer:
    """Of bit vectors; 0: of truth, -1: of integers."""
    if width > 0:
        found = of_context("mk_bv_sort", c_void_p, c_uint)(CONTEXT, width)
    else:
        found = of_context("mk_int_sort" if width else "mk_bool_sort", c_void_p)(CONTEXT)
    inc_ref(CONTEXT, made(found))
    return int(found)


symbol = of_context("mk_string_symbol", c_void_p, c_char_p)
mk_const = of_context("mk_const", c_void_p, c_void_p, c_void_p)
mk_uint64 = of_context("mk_unsigned_int64", c_void_p, c_uint64, c_void_p)
mk_int64 = of_context("mk_int64", c_void_p, c_int64, c_void_p)
mk_numeral = of_context("mk_numeral", c_void_p, c_char_p, c_void_p)
mk_func_decl = of_context("mk_func_decl", c_void_p, c_void_p, c_uint, c_void_p, c_void_p)
mk_app = of_context("mk_app", c_void_p, c_void_p, c_uint, c_void_p)


def unary(name: str) -> Function:
    return of_context(f"mk_{name}", c_void_p, c_void_p)


def binary(name: str) -> Function:
    return of_context(f"mk_{name}", c_void_p, c_void_p, c_void_p)


def many(name: str) -> Function:
    return of_context(f"mk_{name}", c_void_p, c_uint, c_void_p)


mk_ite = of_context("mk_ite", c_void_p, c_void_p, c_void_p, c_void_p)
mk_extract = of_context("mk_extract", c_void_p, c_uint, c_uint, c_void_p)
mk_zero_ext = of_context("mk_zero_ext", c_void_p, c_uint, c_void_p)
mk_sign_ext = of_context("mk_sign_ext", c_void_p, c_uint, c_void_p)
mk_bv2int = of_context("mk_bv2int", c_void_p, c_void_p, c_bool)

get_sort = of_context("get_sort", c_void_p, c_void_p)
get_sort_kind = of_context("get_sort_kind", c_int, c_void_p)
get_size = of_context("get_bv_sort_size", c_uint, c_void_p)
get_ast_kind = of_context("get_ast_kind", c_int, c_void_p)
get_decl = of_context("get_app_decl", c_void_p, c_void_p)
get_decl_kind = of_context("get_decl_kind", c_int, c_void_p)
get_decl_name = of_context("get_decl_name", c_void_p, c_void_p)
get_symbol = of_context("get_symbol_string", c_char_p, c_void_p)
get_parameter = of_context("get_decl_int_parameter", c_int, c_void_p, c_uint)
get_count = of_context("get_app_num_args", c_uint, c_void_p)
get_arg = of_context("get_app_arg", c_void_p, c_void_p, c_uint)
get_uint64 = of_context("get_numeral_uint64", c_bool, c_void_p, POINTER(c_uint64))
get_numeral = of_context("get_numeral_string", c_char_p, c_void_p)
get_text = of_context("ast_to_string", c_char_p, c_void_p)

simplify = of_context("simplify", c_void_p, c_void_p)
substitute = of_context("substitute", c_void_p, c_void_p, c_uint, c_void_p, c_void_p)
update = of_context("update_term", c_void_p, c_void_p, c_uint, c_void_p)

mk_solver = of_context("mk_simple_solver", c_void_p)
mk_solver_for = of_context("mk_solver_for_logic", c_void_p, c_void_p)
solver_inc_ref = of_context("solver_inc_ref", None, c_void_p)
solver_dec_ref = of_context("solver_dec_ref", None, c_void_p)
solver_set = of_context("solver_set_params", None, c_void_p, c_void_p)
solver_push = of_context("solver_push", None, c_void_p)
solver_pop = of_context("solver_pop", None, c_void_p, c_uint)
solver_scopes = of_context("solver_get_num_scopes", c_uint, c_void_p)
solver_assert = of_context("solver_assert", None, c_void_p, c_void_p)
solver_check = of_context("solver_check_assumptions", c_int, c_void_p, c_uint, c_void_p)
solver_model = of_context("solver_get_model", c_void_p, c_void_p)
mk_params = of_context("mk_params", c_void_p)
params_inc_ref = of_context("params_inc_ref", None, c_void_p)
params_dec_ref = of_context("params_dec_ref", None, c_void_p)
params_set_uint = of_context("params_set_uint", None, c_void_p, c_void_p, c_uint)
model_inc_ref = of_context("model_inc_ref", None, c_void_p)
model_dec_ref = of_context("model_dec_ref", None, c_void_p)
model_eval = of_context("model_eval", c_bool, c_void_p, c_void_p, c_bool, POINTER(c_void_p))
model_add = of_context("add_const_interp", None, c_void_p, c_void_p, c_void_p)
