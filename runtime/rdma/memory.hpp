/// The memory that a server lends: one region, zero-based (its first byte has address 0), behind one key.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace polysome::rdma {

class Region {
  public:
    /// Full of ones (DESIGN 6, rule 2): the number of no cell.
    Region(uint64_t size, uint32_t rkey) : bytes_(size, 0xff), rkey_(rkey) {}

    uint64_t size() const { return bytes_.size(); }
    uint32_t rkey() const { return rkey_; }

    /// Whether `length` bytes from `address` may be touched with `rkey`; no bytes may be, with any, anywhere (C9-88)

    bool allows(uint32_t rkey, uint64_t address, uint64_t length) const {
        if (length == 0) return true;
        return rkey == rkey_ && length <= size() && address <= size() - length;
    }

    /// The bytes themselves, for what is allowed; whatever the address if there are none.
    std::span<const uint8_t> at(uint64_t address, uint64_t length) const {
        return length == 0 ? std::span<const uint8_t>{} : std::span(bytes_).subspan(address, length);
    }

    /// What is allowed; `bytes` is not of this region.
    void write(uint64_t address, std::span<const uint8_t> bytes) {
        if (!bytes.empty()) std::memcpy(bytes_.data() + address, bytes.data(), bytes.size());
    }

    /// Full of ones again. O(size).
    void forget() { std::memset(bytes_.data(), 0xff, bytes_.size()); }

  private:
    std::vector<uint8_t> bytes_;
    uint32_t rkey_;
};

}  // namespace polysome::rdma
