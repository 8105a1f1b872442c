// SPDX-License-Identifier: Apache-2.0
// Collects the errors of a clean-up in which everybody gets a turn: the first one is thrown, the others travel inside
// it.
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

/// Puts `further` into the error, in place and without changing its type, if it is one of ours. If not, says what
/// would be lost on the diagnostic sink.
CROCHET_COLD inline void nest_in(const std::exception_ptr& error, const std::exception_ptr& further) {
  try {
    std::rethrow_exception(error);
  } catch (Error& ours) {
    ours.nest(further);
  } catch (...) {
    diagnose(message({"crochet: a further error while a session was closed: ", what_of(further)}));
  }
}

/// Called with each error in turn; `rethrow_first` then throws the first, holding the second, holding the third.
class NestedErrors {
 public:
  CROCHET_COLD void operator()(const std::exception_ptr& error) {
    if (!first_) {
      first_ = error;
    } else {
      nest_in(last_, error);  // the exceptions are shared: what the last one holds, the first one holds
    }
    last_ = error;
  }

  void rethrow_first() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::exception_ptr first_, last_;
};

}  // namespace crochet::detail
