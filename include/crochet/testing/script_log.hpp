// SPDX-License-Identifier: Apache-2.0
// The record of scripted executors' runs.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/base/name.hpp>

namespace crochet::testing {

/// Shared by a test and its scripted executors; must outlive them.
struct ScriptLog {
  /// One run: the fetched names, the targets and the fed names, each joined by spaces in the order of the tables.
  struct Run {
    std::string fetched;
    std::string targets;
    std::string fed;
  };

  /// All runs, including those made by hooks.
  std::vector<Run> runs;
  /// Number of reads of each name's value, by a hook or by the caller.
  std::map<std::string, int, std::less<>> reads;
  /// The last scalar fed to each name.
  std::map<std::string, double, std::less<>> fed_scalars;
  /// Number of initializations of executors.
  int initialized = 0;
  /// Exceptions of future runs: the key is the index in `runs`.
  std::map<std::size_t, std::exception_ptr> throws;
  /// Called at the start of every run, if set.
  std::function<void()> on_run;

  /// Makes the run with that index (counting from 0) throw.
  template <class Error>
  void throw_in_run(std::size_t index, Error error) {
    throws[index] = std::make_exception_ptr(std::move(error));
  }
};

namespace detail {

template <class... N>
std::string joined(Names<N...>) {
  std::string text;
  ((text += (text.empty() ? "" : " "), text += N::view()), ...);
  return text;
}

}  // namespace detail

}  // namespace crochet::testing
