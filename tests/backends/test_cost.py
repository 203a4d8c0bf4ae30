"""What `polysome check --cost` is made of: paths of packets, recorded instructions, cache lines, their places."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.backends.examples import EXAMPLES

from polysome.backends.cost import memory
from polysome.backends.cost.analyser import Processor, cycles, straight
from polysome.backends.cost.places import Place, Places
from polysome.backends.cost.tracing import Recording, missing
from polysome.testing.packet_paths import Path as PacketPath
from polysome.testing.packet_paths import examples
from polysome.testing.spec import load

MODEL = Processor("skylake", False, "")
REGISTERS = [0x1000 * n for n in range(16)]  # rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15

needs_llvm = pytest.mark.skipif(missing() is not None, reason=f"{missing()}")


# ---------------------------------------------------------------- cache lines


@pytest.mark.parametrize(
    ("text", "touched"),
    [
        ("movq (%rcx), %rax", [(0x1000, 8)]),
        ("movl %eax, -0x8(%rbx,%rcx,4)", [(0x3000 + 4 * 0x1000 - 8, 4)]),
        ("movzbl 0x7(,%rdx,8), %eax", [(8 * 0x2000 + 7, 1)]),
        ("vmovups %ymm0, 64(%r8)", [(0x8040, 32)]),
        ("pcmpeqw (%rsi), %xmm1", [(0x6000, 16)]),
        ("cmpb $0, 3(%rdi)", [(0x7003, 1)]),
        ("prefetcht0 (%rax,%rcx)", [(0x1000, 1)]),
        ("sete (%rcx)", [(0x1000, 1)]),
        ("movsb (%rsi), %es:(%rdi)", [(0x6000, 1), (0x7000, 1)]),
        ("leaq 8(%rcx), %rax", []),
        ("nopw 0(%rax,%rax)", []),
        ("movq 0x10(%rip), %rax", []),
        ("movq %fs:(%rcx), %rax", []),
        ("vpgatherqq %ymm1, (%rax,%ymm2), %ymm0", []),
        ("addq %rax, %rcx", []),
    ],
)
def test_what_an_instruction_touches(text: str, touched: list[tuple[int, int]]) -> None:
    assert [(address(REGISTERS), size) for address, size in memory.operands(text)] == touched


def test_addresses_wrap_around() -> None:
    ((address, _),) = memory.operands("movb -1(%rax), %cl")
    assert address(REGISTERS) == 2**64 - 1


def test_what_lies_across_two_lines_touches_both() -> None:
    assert list(memory.lines(64, 64)) == [1]
    assert list(memory.lines(120, 8)) == [1]
    assert list(memory.lines(121, 8)) == [1, 2]


# ---------------------------------------------------------------- cycles


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("callq 0x401000", ("jmp 0", "movq $0, -8(%rsp)")),
        ("callq *0x10(%rax)", ("jmpq *0x10(%rax)", "movq $0, -8(%rsp)")),
        ("retq", ("jmpq *(%rsp)",)),
        ("pushq %rbx", ("movq %rbx, -8(%rsp)",)),
        ("popq %rbx", ("movq (%rsp), %rbx",)),
        ("pushq 8(%rax)", ("pushq 8(%rax)",)),
        ("nopw %cs:(%rax,%rax)", ("nop",)),
        ("notrack jmpq *%rax", ("jmpq *%rax",)),
        ("addq %rax, %rcx", ("addq %rax, %rcx",)),
    ],
)
def test_calls_and_the_stack_are_what_they_do(text: str, taken: tuple[str, ...]) -> None:
    assert straight(text) == taken


@needs_llvm
def test_cycles_follow_from_what_depends_on_what() -> None:
    chain, apart = ["addq %rax, %rax"] * 64, [f"movq %rax, %r{n}" for n in (8, 9, 10, 11)] * 16
    slow, fast, nothing = cycles([chain, apart, []], MODEL)
    assert 60 <= slow.cycles <= 68 and fast.cycles < slow.cycles / 2
    assert (slow.instructions, slow.unknown, nothing.instructions, nothing.cycles) == (64, 0, 0, 0.0)


@needs_llvm
def test_calls_cost_what_their_code_does() -> None:
    """The analyser would assume 100 cycles for each."""
    (one,) = cycles([["callq 0x401000", "pushq %rbx", "popq %rbx", "retq"]], MODEL)
    assert one.cycles < 20


@needs_llvm
def test_what_the_analyser_does_not_know_is_left_out_and_counted() -> None:
    known, both = cycles(
        [["addq %rax, %rax"], ["addq %rax, %rax", "frobnicate %rax", "vpxorq %zmm1, %zmm2, %zmm3"]], MODEL
    )
    assert known.cycles == both.cycles and (known.unknown, both.unknown, both.instructions) == (0, 2, 3)


# ---------------------------------------------------------------- places in the spec

GENERATED = """\
class Nf {
    /// wire.nf:7: on packet from a.
    Verdict packet_0() {
        Endpoint public_{};
        // wire.nf:8: let m = t[k] else drop "none";
        {
            find();
            if (x) {
                // wire.nf:9: drop "none"
                return drop(10);
            }
            use();
        }
        // net.nf:3: send b;
        return send(1);
    }
    void settle() {
        state.free.settle();
    }
};
"""


def test_a_comment_holds_for_what_stands_below_it(tmp_path: Path) -> None:
    source = tmp_path / "wire.hpp"
    source.write_text(GENERATED, encoding="utf-8")
    places = Places(Recording((), {}, (), tmp_path / "trace", source))

    def at(*lines: int) -> Place:
        """Of code that is inlined from these lines, the outermost first."""
        places = Places(Recording((), {}, (), tmp_path / "trace", source))
        places._frames[0] = [("/x/nf/flow_map/table.hpp", 5), *((str(source), line) for line in reversed(lines))]
        return places.of(0, ())

    assert places.of(1, ()) == Place("", 0, "")
    assert [at(n).line for n in (4, 7, 10, 12, 15, 18)] == [7, 8, 9, 8, 3, 0]
    assert at(15) == Place("net.nf", 3, "flow_map/table")
    assert at(7, 18).line == 8, "what a handler calls is at the line that calls it"


# ---------------------------------------------------------------- paths


@pytest.fixture(scope="module")
def nat_paths() -> list[PacketPath]:
    return list(examples(load(EXAMPLES / "nat" / "nat.nf"), 0, 8))


def test_the_same_paths_are_found_each_time(nat_paths: list[PacketPath]) -> None:
    again = list(examples(load(EXAMPLES / "nat" / "nat.nf"), 0, 8))
    assert again == nat_paths and len(set(again)) == len(again) > 10


def test_a_path_tells_what_happens_to_maps_and_where_the_verdict_is(nat_paths: list[PacketPath]) -> None:
    program = load(EXAMPLES / "nat" / "nat.nf").program

    def line(path: PacketPath) -> str:
        return "" if path.verdict is None else program.place(path.verdict)

    sent = [p for p in nat_paths if p.handler == 0 and line(p) == "nat.nf:92"]
    assert {p.changes for p in sent} == {(), (("insert", "out"),)}
    reasons = {p.reason for p in nat_paths}
    assert {"later fragment", "no free port", "unsolicited"} & reasons and "short frame" not in reasons
    assert all(p.reason is not None for p in nat_paths if line(p) in ("nat.nf:48", "nat.nf:58", "nat.nf:86"))


def test_examples_take_the_path_they_are_listed_for() -> None:
    from polysome.testing.packet_paths import followed

    found = examples(load(EXAMPLES / "firewall" / "firewall.nf"), 0, 2)
    for path, those in found.items():
        for one in those[:2]:
            again = {e.packet: p for p, e in followed(one.program, one.trace, one.small)}
            assert again[one.packet] == path
