// SPDX-License-Identifier: Apache-2.0
// Counts the allocations of a test program, measures its live memory, and makes allocations fail.
// - This header replaces the program's operator new: include it in exactly one source file of the program, and in no
//   library. crochet/testing.hpp does not include it.
// - With clang's ThreadSanitizer, whose operator new cannot be replaced, all counts stay 0 and no allocation fails.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <new>

// Of <sanitizer/lsan_interface.h>, which not every compiler has. Null if the program has no LeakSanitizer.
extern "C" [[gnu::weak]] void __lsan_disable();
extern "C" [[gnu::weak]] void __lsan_enable();

namespace crochet::testing {

namespace detail {
inline constexpr std::size_t allocation_never_fails = std::numeric_limits<std::size_t>::max();
inline constexpr std::size_t allocation_head = alignof(std::max_align_t);  // header of each allocation: its size

inline std::atomic<std::size_t> allocation_count{0}, live_bytes{0}, peak_bytes{0};
inline std::atomic<std::size_t> first_to_fail{allocation_never_fails}, last_to_fail{allocation_never_fails};

inline void* allocate(std::size_t size) noexcept {
  const std::size_t number = allocation_count.fetch_add(1, std::memory_order_relaxed);
  if (number >= first_to_fail.load(std::memory_order_relaxed) &&
      number <= last_to_fail.load(std::memory_order_relaxed)) {
    return nullptr;
  }
  if (size > std::numeric_limits<std::size_t>::max() - allocation_head) return nullptr;
  auto* const memory = static_cast<std::byte*>(std::malloc(size + allocation_head));
  if (memory == nullptr) return nullptr;
  *reinterpret_cast<std::size_t*>(memory) = size;
  const std::size_t live = live_bytes.fetch_add(size, std::memory_order_relaxed) + size;
  std::size_t peak = peak_bytes.load(std::memory_order_relaxed);
  while (live > peak && !peak_bytes.compare_exchange_weak(peak, live, std::memory_order_relaxed)) {
  }
  return memory + allocation_head;
}
inline void release(void* memory) noexcept {
  if (memory == nullptr) return;
  auto* const begin = static_cast<std::byte*>(memory) - allocation_head;
  live_bytes.fetch_sub(*reinterpret_cast<std::size_t*>(begin), std::memory_order_relaxed);
  std::free(begin);
}
}  // namespace detail

/// Number of calls of operator new so far, on all threads. Over-aligned memory and allocations of the C library are not
/// counted, here and below.
inline std::size_t allocations() { return detail::allocation_count.load(std::memory_order_relaxed); }

/// Bytes allocated by operator new and not freed yet, without the allocator's overhead.
inline std::size_t live_bytes() { return detail::live_bytes.load(std::memory_order_relaxed); }

/// Peak of additional live bytes during `act()`, on all threads together. Memory held by an exception that leaves `act`
/// counts. One measurement at a time.
template <class F>
std::size_t peak_bytes_of(F&& act) {
  const std::size_t before = live_bytes();
  detail::peak_bytes.store(before, std::memory_order_relaxed);
  act();
  return detail::peak_bytes.load(std::memory_order_relaxed) - before;
}

/// During its lifetime, LeakSanitizer ignores all memory that this thread allocates and does not free. For calls of
/// libraries that lose memory when an allocation fails. Without LeakSanitizer it does nothing.
class IgnoredLeaks {
 public:
  IgnoredLeaks() {
    if (__lsan_disable != nullptr) __lsan_disable();
  }
  IgnoredLeaks(const IgnoredLeaks&) = delete;
  IgnoredLeaks& operator=(const IgnoredLeaks&) = delete;
  ~IgnoredLeaks() {
    if (__lsan_enable != nullptr) __lsan_enable();
  }
};

/// During its lifetime, operator new throws std::bad_alloc in its calls `first` to `last`, counted from 0 at the
/// construction, on any thread. One object at a time.
class FailingAllocations {
 public:
  explicit FailingAllocations(std::size_t first, std::size_t last) {
    detail::last_to_fail.store(last < detail::allocation_never_fails - allocations() ? allocations() + last
                                                                                     : detail::allocation_never_fails);
    detail::first_to_fail.store(allocations() + first);
  }
  /// Only the call number `number` fails.
  explicit FailingAllocations(std::size_t number) : FailingAllocations(number, number) {}
  FailingAllocations(const FailingAllocations&) = delete;
  FailingAllocations& operator=(const FailingAllocations&) = delete;
  ~FailingAllocations() { detail::first_to_fail.store(detail::allocation_never_fails); }
};

}  // namespace crochet::testing

#if defined(__has_feature)
#define CROCHET_HAS_FEATURE(name) __has_feature(name)
#else
#define CROCHET_HAS_FEATURE(name) 0
#endif

#if !CROCHET_HAS_FEATURE(thread_sanitizer)
// All forms that are not over-aligned: a sanitizer defines those that a program does not replace.
// NOLINTBEGIN(misc-new-delete-overloads, misc-definitions-in-headers): one file includes this
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (void* memory = crochet::testing::detail::allocate(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return crochet::testing::detail::allocate(size);
}
[[gnu::noinline]] void* operator new[](std::size_t size) { return operator new(size); }
[[gnu::noinline]] void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return crochet::testing::detail::allocate(size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { crochet::testing::detail::release(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  crochet::testing::detail::release(memory);
}
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept {
  crochet::testing::detail::release(memory);
}
[[gnu::noinline]] void operator delete[](void* memory) noexcept { crochet::testing::detail::release(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept {
  crochet::testing::detail::release(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, const std::nothrow_t&) noexcept {
  crochet::testing::detail::release(memory);
}
// NOLINTEND(misc-new-delete-overloads, misc-definitions-in-headers)
#endif
#undef CROCHET_HAS_FEATURE
