// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <dlfcn.h>

#include <crochet/base/config.hpp>
#include <crochet/executor/cuda/shared_library.hpp>

namespace crochet::cuda {

CROCHET_INLINE SharedLibrary::SharedLibrary(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) return;
    const char* const why = dlerror();
    if (why != nullptr) reason_ = why;
  }
}

CROCHET_INLINE void* SharedLibrary::address(const char* name) const {
  return handle_ == nullptr ? nullptr : dlsym(handle_, name);
}
CROCHET_INLINE std::string SharedLibrary::file_of(const char* name) const {
  Dl_info info{};
  void* const function = address(name);
  return function == nullptr || dladdr(function, &info) == 0 ? std::string() : info.dli_fname;
}

}  // namespace crochet::cuda
