// SPDX-License-Identifier: Apache-2.0
// Counts calls of malloc, calloc and aligned_alloc, and so of operator new, on all threads. This header replaces these
// functions in the program: include it in exactly one source file.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdlib>

// Sanitizers have their own allocators, which must not be replaced.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CROCHET_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CROCHET_TEST_SANITIZED 1
#endif
#endif

namespace crochet::test {
/// Stays 0 where CROCHET_TEST_SANITIZED is defined.
inline std::atomic<int> mallocs = 0;
}  // namespace crochet::test

#if !defined(CROCHET_TEST_SANITIZED)
// These functions replace glibc's: calls from the C library and from operator new are counted here.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* malloc(std::size_t n) noexcept {
  ++crochet::test::mallocs;
  return __libc_malloc(n);
}
void* calloc(std::size_t n, std::size_t size) noexcept {
  ++crochet::test::mallocs;
  return __libc_calloc(n, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t n) noexcept {
  ++crochet::test::mallocs;
  return __libc_memalign(alignment, n);
}
}
#endif
