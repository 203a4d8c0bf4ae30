"""Packets of a common shape are found as all others are: every length, header length and protocol that decides whether
a packet is one, on both sides of each bound. The frames are on the heap, so that a read beyond one is seen.
"""

from __future__ import annotations

import subprocess

import pytest
from tests.backends.examples import program

from polysome.backends.nf_cpp.build import built, missing
from polysome.backends.nf_cpp.generate import generate

MAIN = r"""
#include <cstdio>
#include <cstring>
#include <memory>
#include "parsed.hpp"

using Nf = polysome::nf::load_balancer::Nf;

struct Nobody : polysome::Emitter {
    void emitted(uint16_t, const uint8_t*, size_t) override {}
};

/// Ethernet, IPv4 without options, and what `own` says of itself: TCP's data offset, or the high byte of UDP's length.
void fill(uint8_t* frame, size_t size, uint8_t protocol, uint16_t fragment, uint16_t total, uint16_t own) {
    uint8_t all[128] = {};
    all[12] = 8;
    all[14] = 0x45;
    all[16] = static_cast<uint8_t>(total >> 8);
    all[17] = static_cast<uint8_t>(total);
    all[20] = static_cast<uint8_t>(fragment >> 8);
    all[21] = static_cast<uint8_t>(fragment);
    all[23] = protocol;
    all[38] = static_cast<uint8_t>(own >> 8);
    all[39] = static_cast<uint8_t>(own);
    all[46] = static_cast<uint8_t>(own << 4);
    std::memcpy(frame, all, size);
}

int main() {
    Nobody nobody;
    const Nf nf({}, false, nobody);
    size_t wrong = 0, common = 0, others = 0;
    auto packet = std::make_unique<Nf::Packet>();
    for (size_t size = 30; size <= 100; ++size) {
        const std::unique_ptr<uint8_t[]> frame(new uint8_t[size]);
        for (const uint8_t protocol : {6, 17, 1, 7})
            for (const uint16_t fragment : {0, 0x4000, 0x2000, 1})
                for (uint16_t total = 15; total <= 100; ++total)
                    for (const uint16_t own : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 256, 65535}) {
                        fill(frame.get(), size, protocol, fragment, total, own);
                        nf.parse(frame.get(), static_cast<uint32_t>(size), 0, *packet);
                        const auto& found = packet->headers;
                        const Nf::Headers all = Nf::located(*packet);
                        // Ethernet, IPv4, and TCP or UDP
                        const bool is_common = all.valid == 0x811 || all.valid == 0x1011;
                        ++(is_common ? common : others);
                        if ((packet->shape != 0) == is_common && found.valid == all.valid && found.end == all.end &&
                            found.claimed == all.claimed && found.payload == all.payload && found.size == size)
                            continue;
                        if (++wrong < 5)
                            std::printf("size %zu protocol %u fragment %x total %u own %u: shape %u\n", size, protocol,
                                        fragment, total, own, packet->shape);
                    }
    }
    std::printf("%zu wrong, %zu common, %zu others\n", wrong, common, others);
}
"""


@pytest.mark.skipif(missing() is not None, reason=str(missing()))
def test_a_packet_has_its_shape_exactly_if_it_has_the_headers() -> None:
    flags = ("-std=c++20", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    found = built("parsed", generate(program("load_balancer")), MAIN, flags)
    done = subprocess.run([found], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    wrong, common, others = (int(part.split()[0]) for part in done.stdout.splitlines()[-1].split(","))
    assert not wrong, done.stdout
    assert common > 100_000 and others > 100_000
