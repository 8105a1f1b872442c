// SPDX-License-Identifier: Apache-2.0
// Makes the system refuse new threads. In a program that includes this header (in one file), its pthread_create
// replaces that of the C library, for std::thread too.
#pragma once

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>

namespace crochet::testing {

/// How many more threads may start, and how many are running.
inline std::atomic<int> threads_left{1 << 30}, threads_running{0};

/// During its lifetime only the first `allowed` threads start.
class RefusedThreads {
 public:
  explicit RefusedThreads(int allowed) : before_(threads_left.exchange(allowed)) {}
  ~RefusedThreads() { threads_left = before_; }
  RefusedThreads(const RefusedThreads&) = delete;
  RefusedThreads& operator=(const RefusedThreads&) = delete;

 private:
  int before_;
};

namespace detail {
struct Started {
  void* (*body)(void*);
  void* argument;
};
inline void* run_counted(void* started) {
  const Started mine = *static_cast<Started*>(started);
  delete static_cast<Started*>(started);
  void* const result = mine.body(mine.argument);
  --threads_running;
  return result;
}
}  // namespace detail

}  // namespace crochet::testing

/// The sanitizer's pthread_create, in programs that contain it (clang).
extern "C" int __interceptor_pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)
    __attribute__((weak));

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                              void* argument) noexcept {
  using namespace crochet::testing;
  if (threads_left.fetch_sub(1) <= 0) return EAGAIN;
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = &__interceptor_pthread_create != nullptr
                                 ? &__interceptor_pthread_create
                                 : reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  ++threads_running;
  auto* const started = new crochet::testing::detail::Started{body, argument};
  const int code = create(thread, attributes, &crochet::testing::detail::run_counted, started);
  if (code != 0) {
    delete started;
    --threads_running;
  }
  return code;
}
