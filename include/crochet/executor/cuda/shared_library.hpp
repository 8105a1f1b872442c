// SPDX-License-Identifier: Apache-2.0
// A shared library that is looked for when it is needed, so that programs start on machines without it.
#pragma once
#include <initializer_list>
#include <string>

namespace crochet::cuda {

/// Stays loaded until the program ends.
class SharedLibrary {
 public:
  /// Loads the first of these names that the system finds. Does not throw.
  explicit SharedLibrary(std::initializer_list<const char*> names);

  explicit operator bool() const { return handle_ != nullptr; }
  /// Why the last name was not loaded.
  const std::string& reason() const { return reason_; }

  /// The file that has the function of this name, or "" if there is none.
  std::string file_of(const char* name) const;
  /// Sets `function` to the library's function of this name; returns whether it has one.
  template <class F>
  bool find(const char* name, F*& function) const {
    function = reinterpret_cast<F*>(address(name));
    return function != nullptr;
  }

 private:
  void* address(const char* name) const;

  void* handle_ = nullptr;
  std::string reason_;
};

}  // namespace crochet::cuda
