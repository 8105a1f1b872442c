// SPDX-License-Identifier: Apache-2.0
// Atomic values for the core headers. <atomic> would take a fifth of the time that crochet.hpp takes to parse, so gcc
// and clang use their built-in functions instead.
#pragma once

#if !defined(__GNUC__) && !defined(__clang__)
#include <atomic>
#endif

namespace crochet::detail {

/// A value of a built-in type that threads share. `load` acquires; all other operations are sequentially consistent.
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
