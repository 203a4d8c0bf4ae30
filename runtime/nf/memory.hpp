/// Large zeroed arrays that cost nothing until they are touched, or all at once.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

namespace polysome {

/// What is no larger than this, in bytes, stays in the second cache level, which takes hardly longer to read than to
/// fetch ahead.
inline constexpr size_t always_near = size_t{256} << 10;

/// Memory that is larger than this, in bytes, is mostly not in the last cache level: it takes so long to come that more
/// packets have to be looked at ahead, though they fill the first level.
inline constexpr size_t far_away = size_t{24} << 20;

/// How an array is used: `random`, all of it; `sparse`, hardly more than its beginning, or from one end to the other,
/// or a place now and then, which must not wait until a huge page is zeroed.
enum class Access : uint8_t { random, sparse };

/// When arrays that are made from now on take their pages. `at_once`: before packets come, which would wait for it: a
/// huge page takes a millisecond, and the first few hundred flows touch one each. Only arrays with random access that
/// get huge pages do.
struct Pages {
    static inline bool at_once = false;
};

/// A fixed number of `T`s, all bytes zero at first. Pages are taken when first touched, or as `Pages` says; nothing is
/// reserved. Arrays of half a MiB or more get huge pages (2 MiB) where the system grants them, but for
/// those with `sparse` access. Not copied, not moved. Throws std::bad_alloc if there is no address space.
template <class T>
class MappedArray {
    static_assert(std::is_trivially_destructible_v<T>);

  public:
    explicit MappedArray(size_t size, Access access = Access::random) : size_(size) {
        constexpr size_t page = 4096;
        if (size > (SIZE_MAX - 2 * huge) / sizeof(T)) throw std::bad_alloc();
        const size_t bytes = size * sizeof(T);
        const bool large = bytes >= huge / 4 && access != Access::sparse;
        mapped_ = large ? (bytes + huge - 1) / huge * huge + huge : (bytes + page) / page * page;
        base_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (base_ == MAP_FAILED) throw std::bad_alloc();
        auto* start = static_cast<uint8_t*>(base_);
        if (large) {
            start += -reinterpret_cast<uintptr_t>(start) % huge;  // a huge page begins at a multiple of its size
            (void)madvise(start, mapped_ - huge, MADV_HUGEPAGE);  // a hint: may be refused
        }
        data_ = reinterpret_cast<T*>(start);
        if (!large || !Pages::at_once) return;
        for (size_t at = 0; at < bytes; at += page) *static_cast<volatile uint8_t*>(start + at) = 0;
    }
    ~MappedArray() { munmap(base_, mapped_); }
    MappedArray(const MappedArray&) = delete;
    MappedArray& operator=(const MappedArray&) = delete;

    T& operator[](size_t i) { return data_[i]; }
    const T& operator[](size_t i) const { return data_[i]; }
    T* data() { return data_; }
    const T* data() const { return data_; }
    size_t size() const { return size_; }
    size_t bytes() const { return size_ * sizeof(T); }

  private:
    static constexpr size_t huge = size_t{2} << 20;
    size_t size_;
    size_t mapped_ = 0;
    void* base_ = nullptr;
    T* data_ = nullptr;
};

}  // namespace polysome
