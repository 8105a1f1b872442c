// SPDX-License-Identifier: Apache-2.0
// Collects the errors of a clean-up that continues after an error: the first one is thrown and holds the others.
#pragma once

#include <exception>
#include <string>

#include <crochet/base/config.hpp>
#include <crochet/base/diagnostics.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/message.hpp>

namespace crochet::detail {

/// The message of an exception of any kind.
CROCHET_COLD inline std::string what_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& known) {
    return known.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

/// Stores `further` in the error, in place and without changing its type, behind the errors that it already holds, if
/// the last of them is a crochet::Error. Otherwise reports `further` to the diagnostic sink, where it would be lost.
/// Does nothing if the error is `further` or holds it.
CROCHET_COLD inline void nest_in(const std::exception_ptr& error, const std::exception_ptr& further) {
  if (error == further) return;
  try {
    std::rethrow_exception(error);
  } catch (Error& ours) {
    ours.nested() ? nest_in(ours.nested(), further) : ours.nest(further);
  } catch (...) {
    diagnose_or("crochet: a further error while a session was closed", [&] {
      return message({"crochet: a further error while a session was closed: ", what_of(further)});
    });
  }
}

/// Called with each error in turn. `rethrow_first` then throws the first; it holds the second, which holds the third.
class NestedErrors {
 public:
  CROCHET_COLD void operator()(const std::exception_ptr& error) {
    if (!first_) {
      first_ = error;
    } else {
      nest_in(first_, error);  // exception_ptr shares the object that is thrown
    }
  }

  [[nodiscard]] const std::exception_ptr& first() const { return first_; }
  void rethrow_first() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::exception_ptr first_;
};

}  // namespace crochet::detail
