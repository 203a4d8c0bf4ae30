// The hashes of TNA's HashAlgorithm_t that programs may use, over a list of fields laid out as bytes, big-endian.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "protocol/protocol.hpp"
#include "switch/bits.hpp"

namespace polysome::p4 {

/// A reflected CRC of W bits, computed eight bytes at a time (slicing by 8).
template <unsigned W, std::uint32_t Polynomial, std::uint32_t Initial, std::uint32_t Final>
class Crc {
  public:
    static std::uint32_t of(std::span<const std::uint8_t> data) {
        std::uint64_t crc = Initial;
        const std::uint8_t* p = data.data();
        std::size_t n = data.size();
        for (; n >= 8; n -= 8, p += 8) {
            std::uint64_t word = 0;
            std::memcpy(&word, p, 8);
            if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
            word ^= crc;
            crc = 0;
            for (unsigned i = 0; i < 8; ++i) crc ^= tables[7 - i][word >> 8 * i & 0xff];
        }
        for (; n > 0; --n, ++p) crc = tables[0][(crc ^ *p) & 0xff] ^ crc >> 8;
        return static_cast<std::uint32_t>(crc ^ Final);
    }

  private:
    static constexpr std::array<std::array<std::uint32_t, 256>, 8> tables = [] {
        std::array<std::array<std::uint32_t, 256>, 8> t{};
        std::uint32_t reflected = 0;
        for (unsigned i = 0; i < W; ++i) reflected |= (Polynomial >> i & 1) << (W - 1 - i);
        for (std::uint32_t i = 0; i < 256; ++i) {
            std::uint32_t c = i;
            for (int k = 0; k < 8; ++k) c = c & 1 ? c >> 1 ^ reflected : c >> 1;
            t[0][i] = c;
        }
        for (unsigned j = 1; j < 8; ++j)
            for (unsigned i = 0; i < 256; ++i) t[j][i] = t[0][t[j - 1][i] & 0xff] ^ t[j - 1][i] >> 8;
        return t;
    }();
};

using Crc8 = Crc<8, 0x07, 0, 0>;
using Crc16 = Crc<16, 0x8005, 0, 0>;  // CRC-16/ARC
using Crc32 = Crc<32, protocol::crc32::polynomial, protocol::crc32::start, protocol::crc32::final>;

/// Fields one after the other, as bytes; the first bits of a list that is no whole bytes are zeros.
template <unsigned TotalBits>
class Joined {
  public:
    template <unsigned W, class T>
    [[gnu::always_inline]] void put(T value) {
        if constexpr (W > 64) {
            put<W - 64>(static_cast<std::uint64_t>(value >> 64));
            put<64>(static_cast<std::uint64_t>(value));
            return;
        }
        at_ += W;
        unsigned low = size * 8 - at_;  // of the value's lowest bit, from the end
        unsigned byte = size - 1 - low / 8;
        u128 rest = static_cast<u128>(value) << low % 8;
        for (unsigned done = 0; done < W + low % 8; done += 8, rest >>= 8)
            bytes_[byte - done / 8] =
                static_cast<std::uint8_t>(bytes_[byte - done / 8] | static_cast<std::uint8_t>(rest));
    }
    std::span<const std::uint8_t> bytes() const { return bytes_; }

  private:
    static constexpr unsigned size = (TotalBits + 7) / 8;
    std::array<std::uint8_t, size> bytes_{};
    unsigned at_ = size * 8 - TotalBits;
};

}  // namespace polysome::p4
