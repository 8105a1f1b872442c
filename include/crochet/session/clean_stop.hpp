// SPDX-License-Identifier: Apache-2.0
// Exceptions that are not errors, for example the end of the data.
#pragma once

#include <exception>

namespace crochet {

/// Whether an exception that a thread reports means only that the thread has finished.
using CleanStop = bool (*)(const std::exception_ptr&);

namespace detail {

template <class E>
bool is_a(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const E&) {
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace detail

/// True if the error is of one of the classes or derived from one: `Coordinator c{&is_any_of<OutOfRangeError>}`.
template <class... E>
bool is_any_of(const std::exception_ptr& error) {
  return (detail::is_a<E>(error) || ...);
}

}  // namespace crochet
