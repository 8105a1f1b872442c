// SPDX-License-Identifier: Apache-2.0
// Diagnostics that cannot be reported by an exception. They go to standard error, or to a sink that the program sets.
#pragma once

#include <new>
#include <string_view>

#include <crochet/base/atomic.hpp>
#include <crochet/base/config.hpp>
#include <crochet/base/standard_error.hpp>

namespace crochet {

/// Receives one line, without an end-of-line. Called on any thread, also from destructors: it must not throw.
using DiagnosticSink = void (*)(std::string_view line);

/// Writes the line to standard error, above the progress bar if there is one.
inline void write_to_stderr(std::string_view line) { detail::write_line(line); }

namespace detail {
inline Atomic<DiagnosticSink> diagnostic_sink{&write_to_stderr};
}  // namespace detail

/// Sends all further diagnostics to `sink`, null: to standard error, and returns the previous sink. Any thread.
inline DiagnosticSink set_diagnostic_sink(DiagnosticSink sink) {
  return detail::diagnostic_sink.exchange(sink != nullptr ? sink : &write_to_stderr);
}

/// Sends one line to the diagnostic sink. Any thread.
CROCHET_COLD inline void diagnose(std::string_view line) { detail::diagnostic_sink.load()(line); }

namespace detail {
/// Sends the line `text()` to the diagnostic sink; if there is no memory for it, `otherwise`.
template <class Text>
CROCHET_COLD void diagnose_or(std::string_view otherwise, const Text& text) noexcept {
  try {
    diagnose(text());
  } catch (const std::bad_alloc&) {
    diagnose(otherwise);
  }
}
}  // namespace detail

}  // namespace crochet
