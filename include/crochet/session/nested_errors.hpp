// SPDX-License-Identifier: Apache-2.0
// Collects the errors of a clean-up in which everybody gets a turn: the first one is thrown, the others travel inside
// it.
#pragma once

#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <crochet/config.hpp>
#include <crochet/error.hpp>
#include <crochet/session/diagnostics.hpp>

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
    diagnose("crochet: a further error while a session was closed: " + what_of(further));
  }
}

/// Called with each error in turn; `rethrow_first` then throws the first, holding the second, holding the third.
class NestedErrors {
 public:
  CROCHET_COLD void operator()(std::exception_ptr error) { errors_.push_back(std::move(error)); }

  void rethrow_first() const {
    if (errors_.empty()) return;
    for (std::size_t i = errors_.size(); i-- > 1;) nest_in(errors_[i - 1], errors_[i]);
    std::rethrow_exception(errors_.front());
  }

 private:
  std::vector<std::exception_ptr> errors_;
};

}  // namespace crochet::detail
