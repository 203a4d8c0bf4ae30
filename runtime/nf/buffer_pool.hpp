/// Buffers for the bytes of held packets: size classes of powers of two, carved from slabs, reused through free lists.
#pragma once

#include <bit>
#include <cstring>
#include <memory>
#include <vector>

#include "nf/types.hpp"

namespace polysome {

/// O(1) a call; the heap is asked only when a size class has no free buffer and the slab is used up.
///
/// Memory is at most twice the bytes held at the worst moment (64 bytes a packet at least), and goes back at the end.
class BufferPool {
  public:
    /// A copy of `size` bytes.
    uint8_t* copy(const uint8_t* data, size_t size) {
        const unsigned c = size_class(size);
        uint8_t* p;
        if (free_[c] != nullptr) {
            p = free_[c];
            std::memcpy(static_cast<void*>(&free_[c]), p, sizeof(uint8_t*));
        } else {
            p = carve(size_t{smallest} << c);
        }
        if (size != 0) std::memcpy(p, data, size);
        return p;
    }

    /// `p` comes from copy(), with the same size.
    void give_back(uint8_t* p, size_t size) {
        const unsigned c = size_class(size);
        std::memcpy(p, static_cast<const void*>(&free_[c]), sizeof(uint8_t*));
        free_[c] = p;
    }

  private:
    static constexpr size_t smallest = 64;
    static constexpr size_t slab_bytes = 1 << 18;

    static unsigned size_class(size_t size) {
        return size <= smallest ? 0 : static_cast<unsigned>(std::bit_width((size - 1) / smallest));
    }

    uint8_t* carve(size_t bytes) {
        if (bytes > left_) {
            const size_t slab = bytes > slab_bytes ? bytes : slab_bytes;
            slabs_.emplace_back(new uint8_t[slab]);
            next_ = slabs_.back().get();
            left_ = slab;
        }
        uint8_t* p = next_;
        next_ += bytes;
        left_ -= bytes;
        return p;
    }

    std::array<uint8_t*, 40> free_{};
    std::vector<std::unique_ptr<uint8_t[]>> slabs_;
    uint8_t* next_ = nullptr;
    size_t left_ = 0;
};

}  // namespace polysome
