/// A queue in one piece of memory, which grows by doubling and never shrinks.
#pragma once

#include <utility>
#include <vector>

namespace polysome::system {

template <class T>
class Ring {
  public:
    bool empty() const { return size_ == 0; }
    size_t size() const { return size_; }
    T& front() { return items_[first_]; }
    const T& front() const { return items_[first_]; }

    void push(T item) {
        if (size_ == items_.size()) grow();
        items_[(first_ + size_++) & (items_.size() - 1)] = std::move(item);
    }
    T pop() {
        T item = std::move(items_[first_]);
        first_ = (first_ + 1) & (items_.size() - 1);
        --size_;
        return item;
    }

  private:
    void grow() {
        std::vector<T> more(items_.empty() ? 16 : 2 * items_.size());
        for (size_t i = 0; i < size_; ++i) more[i] = std::move(items_[(first_ + i) & (items_.size() - 1)]);
        items_ = std::move(more);
        first_ = 0;
    }

    std::vector<T> items_;
    size_t first_ = 0;
    size_t size_ = 0;
};

}  // namespace polysome::system
