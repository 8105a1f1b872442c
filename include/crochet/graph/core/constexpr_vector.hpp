// SPDX-License-Identifier: Apache-2.0
// The vector used to build graphs and plans at compile time. Compared to std::vector, a model's headers compile in
// three quarters of the time, and the passes are evaluated faster.
#pragma once
#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <vector>  // for std::allocator and std::construct_at; <memory> is larger

#include <crochet/base/config.hpp>

namespace crochet {

/// A growing array with a part of std::vector's interface; iterators are pointers. Optimised for compile time; at run
/// time it is used only where speed does not matter.
template <class T>
class ConstexprVector {
 public:
  using value_type = T;

  constexpr ConstexprVector() = default;
  constexpr explicit ConstexprVector(std::size_t size, const T& value = T()) { assign(size, value); }
  constexpr ConstexprVector(const T* begin, const T* end) { assign(begin, end); }
  constexpr ConstexprVector(std::initializer_list<T> list) { assign(list.begin(), list.end()); }
  constexpr ConstexprVector(const ConstexprVector& other) { assign(other.begin(), other.end()); }
  constexpr ConstexprVector(ConstexprVector&& other) noexcept { swap(other); }
  constexpr ConstexprVector& operator=(ConstexprVector other) noexcept {
    swap(other);
    return *this;
  }
  constexpr ~ConstexprVector() { release(); }

  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr std::size_t capacity() const { return capacity_; }

  constexpr T* data() { return data_; }
  constexpr const T* data() const { return data_; }
  constexpr T* begin() { return data_; }
  constexpr const T* begin() const { return data_; }
  constexpr T* end() { return data_ + size_; }
  constexpr const T* end() const { return data_ + size_; }
  constexpr T& operator[](std::size_t i) { return data_[i]; }
  constexpr const T& operator[](std::size_t i) const { return data_[i]; }
  constexpr T& front() { return data_[0]; }
  constexpr const T& front() const { return data_[0]; }
  constexpr T& back() { return data_[size_ - 1]; }
  constexpr const T& back() const { return data_[size_ - 1]; }

  constexpr void push_back(T value) {
    if (size_ == capacity_) reserve(2 * capacity_ + 4);
    std::construct_at(data_ + size_++, static_cast<T&&>(value));
  }
  constexpr void pop_back() { shrink(size_ - 1); }
  constexpr void clear() { shrink(0); }
  /// `value` must not be an element of this list.
  constexpr void assign(std::size_t size, const T& value) {
    clear();
    resize(size, value);
  }
  CROCHET_COLD constexpr void assign(const T* begin, const T* end) {
    clear();
    reserve(static_cast<std::size_t>(end - begin));
    CROCHET_SHORT_LOOP
    for (; begin != end; ++begin) std::construct_at(data_ + size_++, *begin);
  }
  CROCHET_COLD constexpr void resize(std::size_t size, const T& value = T()) {
    reserve(size);
    CROCHET_SHORT_LOOP
    while (size_ < size) std::construct_at(data_ + size_++, value);
    shrink(size);
  }
  CROCHET_COLD constexpr void reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    ConstexprVector larger;
    larger.data_ = std::allocator<T>().allocate(capacity);
    larger.capacity_ = capacity;
    CROCHET_SHORT_LOOP
    for (T& element : *this) std::construct_at(larger.data_ + larger.size_++, static_cast<T&&>(element));
    swap(larger);
  }

  constexpr void swap(ConstexprVector& other) noexcept {
    T* const data = data_;
    const std::size_t size = size_, capacity = capacity_;
    data_ = other.data_, size_ = other.size_, capacity_ = other.capacity_;
    other.data_ = data, other.size_ = size, other.capacity_ = capacity;
  }

 private:
  constexpr void shrink(std::size_t size) {
    if constexpr (!std::is_trivially_destructible_v<T>) {
      for (std::size_t i = size; i < size_; ++i) std::destroy_at(data_ + i);
    }
    size_ = size;
  }
  constexpr void release() {
    clear();
    if (data_ != nullptr) std::allocator<T>().deallocate(data_, capacity_);
  }

  T* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace crochet
