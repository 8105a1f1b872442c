// SPDX-License-Identifier: Apache-2.0
// Names under construction. Strings cannot outlive a constant expression, so names are stored in one array of
// characters.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace crochet {

/// A name in a text pool.
struct PooledName {
  std::int32_t begin = 0;
  std::int32_t length = 0;
  std::int32_t node = -1;  ///< the node with this name, or the index of a dynamic dimension
  std::uint32_t hash = 0;  ///< hash_of(the name), for fast comparison
};

/// FNV-1a, 32 bits (Fowler, Noll, Vo).
constexpr std::uint32_t hash_of(std::string_view name) {
  std::uint32_t h = 2166136261U;
  const char* c = name.data();
  for (std::size_t i = 0; i < name.size(); ++i) h = (h ^ static_cast<unsigned char>(c[i])) * 16777619U;
  return h;
}

/// An append-only array of characters. Plain memory: a vector takes ten constexpr steps per character, this class one.
class TextPool {
 public:
  constexpr TextPool() = default;
  constexpr TextPool(const TextPool& other) { append(other.view()); }
  constexpr TextPool(TextPool&& other) noexcept { swap(other); }
  constexpr TextPool& operator=(TextPool other) noexcept {
    swap(other);
    return *this;
  }
  constexpr ~TextPool() { delete[] data_; }

  constexpr std::size_t size() const { return size_; }
  constexpr const char* data() const { return data_; }
  constexpr const char& operator[](std::size_t i) const { return data_[i]; }
  constexpr std::string_view view() const { return {data_, size_}; }
  // NOLINTNEXTLINE(google-explicit-constructor): a joined name is passed as a name
  constexpr operator std::string_view() const { return view(); }

  constexpr void append(std::string_view text) {
    const char* from = text.data();
    const std::size_t n = text.size();
    if (size_ + n > room_) grow(size_ + n);
    for (std::size_t i = 0; i < n; ++i) data_[size_ + i] = from[i];
    size_ += n;
  }

 private:
  constexpr void grow(std::size_t wanted) {
    room_ = 2 * wanted + 256;
    char* larger = new char[room_];
    for (std::size_t i = 0; i < size_; ++i) larger[i] = data_[i];
    delete[] data_;
    data_ = larger;
  }
  constexpr void swap(TextPool& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(room_, other.room_);
  }

  char* data_ = nullptr;
  std::size_t size_ = 0, room_ = 0;
};

}  // namespace crochet
