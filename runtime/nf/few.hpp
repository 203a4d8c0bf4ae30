/// A list that needs the heap only when it is long.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>
#include <vector>

namespace polysome {

/// The first `N` items live in the object. Items are trivially copyable. Appending is O(1) amortized, `insert` O(size).
template <class T, size_t N>
class Few {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    Few() : items_(reinterpret_cast<T*>(inside_)) {}
    Few(const Few&) = delete;
    Few& operator=(const Few&) = delete;

    void push_back(const T& item) {
        if (size_ == room_) [[unlikely]] {
            grow(T(item));
        } else {
            new (items_ + size_++) T(item);
        }
    }
    /// Puts `item` before the one at `place` (at most `size()`).
    void insert(size_t place, const T& item) {
        const T copy = item;
        push_back(copy);
        std::memmove(static_cast<void*>(items_ + place + 1), items_ + place, (size_ - 1 - place) * sizeof(T));
        items_[place] = copy;
    }

    bool empty() const { return size_ == 0; }
    size_t size() const { return size_; }
    T& operator[](size_t i) { return items_[i]; }
    const T& operator[](size_t i) const { return items_[i]; }
    T* begin() { return items_; }
    T* end() { return items_ + size_; }
    const T* begin() const { return items_; }
    const T* end() const { return items_ + size_; }

  private:
    [[gnu::noinline]] void grow(T item) {
        if (outside_.empty()) outside_.assign(items_, items_ + size_);
        outside_.push_back(item);
        ++size_;
        outside_.resize(outside_.capacity(), item);
        room_ = outside_.size();
        items_ = outside_.data();
    }

    size_t size_ = 0;
    size_t room_ = N;
    T* items_;
    alignas(T) std::byte inside_[N * sizeof(T)];
    std::vector<T> outside_;
};

}  // namespace polysome
