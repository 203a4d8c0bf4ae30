"""The software switch of a bundle: the P4 program, the same one as C++, and what makes a process of it."""

from __future__ import annotations

from polysome.backends.bundle.translation import translation
from polysome.backends.nf_cpp.generate import namespace
from polysome.backends.system.library import limits, p4_text
from polysome.backends.templates import fill
from polysome.plan.design import Design
from polysome_protocol import text_hash


def emit(design: Design) -> dict[str, bytes]:
    """The files by path in the bundle: `switch/NAME.p4`, and `switch/soft`, a CMake project that makes `NAME_switch`.

    It needs the bundle's `runtime/`, with the folders nf, host, switch, rdma and control. A function of the design and
    of the installed Polysome.
    """
    name = namespace(design.program)
    p4 = p4_text(design)
    values = {"name": design.program.name, "nf": name, "hash": text_hash(p4)}
    texts = {
        f"switch/{name}.p4": p4,
        "switch/soft/main.cpp": fill("bundle/soft_switch.cpp", values),
        "switch/soft/CMakeLists.txt": fill("bundle/soft_switch.CMakeLists.txt", values),
        f"switch/soft/{name}_switch.hpp": translation(f"{name}.p4", p4, limits(design.site.switch)),
    }
    return {path: text.encode() for path, text in texts.items()}
