// SPDX-License-Identifier: Apache-2.0
// Counts the allocations of a test program. Including this header replaces the program's operator new, so include it in
// exactly one source file of the program, and in no library. crochet/testing.hpp leaves it out.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace crochet::testing {

namespace detail {
inline std::atomic<std::size_t> allocation_count{0};
}  // namespace detail

/// How often the program has called operator new so far, on any thread. Memory that is over-aligned, and what the C
/// library allocates, is not counted.
inline std::size_t allocations() { return detail::allocation_count.load(std::memory_order_relaxed); }

}  // namespace crochet::testing

// NOLINTBEGIN(misc-new-delete-overloads, misc-definitions-in-headers): the others call these; one file includes this
[[gnu::noinline]] void* operator new(std::size_t size) {
  crochet::testing::detail::allocation_count.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
// NOLINTEND(misc-new-delete-overloads, misc-definitions-in-headers)
