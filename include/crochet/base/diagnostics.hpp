// SPDX-License-Identifier: Apache-2.0
// Where the library says things that it can tell nobody by an exception: stderr, or wherever the program sends them.
#pragma once

#include <string_view>

#include <crochet/base/atomic.hpp>
#include <crochet/base/config.hpp>
#include <crochet/base/standard_error.hpp>

namespace crochet {

/// Receives one line, without an end-of-line. May be called on any thread, also from destructors: it must not throw.
using DiagnosticSink = void (*)(std::string_view line);

/// Writes the line to standard error, above a progress bar if there is one.
inline void write_to_stderr(std::string_view line) { detail::write_line(line); }

namespace detail {
inline Atomic<DiagnosticSink> diagnostic_sink{&write_to_stderr};
}  // namespace detail

/// Sends all further diagnostics to `sink` and returns the one before. Any thread.
inline DiagnosticSink set_diagnostic_sink(DiagnosticSink sink) { return detail::diagnostic_sink.exchange(sink); }

/// Says one line. Any thread.
CROCHET_COLD inline void diagnose(std::string_view line) { detail::diagnostic_sink.load()(line); }

}  // namespace crochet
