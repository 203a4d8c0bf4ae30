"""The port of a tag is what the frame says: any of 16 bits, of which an NF has a few."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from tests.backends.examples import program
from tests.testing.traffic.kit import written

from polysome.backends.nf_cpp.build import built, missing
from polysome.backends.nf_cpp.generate import generate

SPARSE = "use net.l4; nf sparse { port a, b, c, d; on packet from b, d { send a; } }"
MAIN = """#include <cstdint>
#include <cstdio>
#include "handles.hpp"
int main() {
    for (uint32_t port = 0; port < 1 << 16; ++port)
        if (Ports{}.handles(static_cast<uint16_t>(port))) std::printf("%u ", port);
}
"""


@pytest.mark.skipif(missing() is not None, reason=str(missing()))
@pytest.mark.parametrize("name", ["load_balancer", "bridge", "sparse"])
def test_only_ports_with_a_handler_have_one(name: str, tmp_path: Path) -> None:
    """With a shift by more than a word has, others would have one, too."""
    nf = written(tmp_path, SPARSE).program if name == "sparse" else program(name)
    wanted = [1, 3] if name == "sparse" else list(range(len(nf.ports)))
    (line,) = re.findall(r"^ *bool handles\(.*$", generate(nf), re.MULTILINE)
    flags = ("-std=c++20", "-O0", "-fsanitize=undefined", "-fno-sanitize-recover=all")
    found = built("handles", f"struct Ports {{\n{line}\n}};\n", MAIN, flags)
    done = subprocess.run([found], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert [int(port) for port in done.stdout.split()] == wanted
