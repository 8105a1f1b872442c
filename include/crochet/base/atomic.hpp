// SPDX-License-Identifier: Apache-2.0
// The atomic things that the core needs. <atomic> would be a fifth of what crochet.hpp costs to read, so compilers that
// have the built-in functions use those.
#pragma once

#if !defined(__GNUC__) && !defined(__clang__)
#include <atomic>
#endif

namespace crochet::detail {

/// A value of a built-in type that threads share. Sequentially consistent, except `load`, which acquires.
template <class T>
class Atomic {
 public:
  constexpr explicit Atomic(T value) : value_(value) {}
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;

#if defined(__GNUC__) || defined(__clang__)
  [[nodiscard]] T load() const { return __atomic_load_n(&value_, __ATOMIC_ACQUIRE); }
  void store(T value) { __atomic_store_n(&value_, value, __ATOMIC_SEQ_CST); }
  T exchange(T value) { return __atomic_exchange_n(&value_, value, __ATOMIC_SEQ_CST); }

 private:
  T value_;
#else
  [[nodiscard]] T load() const { return value_.load(std::memory_order_acquire); }
  void store(T value) { value_.store(value); }
  T exchange(T value) { return value_.exchange(value); }

 private:
  std::atomic<T> value_;
#endif
};

}  // namespace crochet::detail
