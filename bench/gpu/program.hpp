// SPDX-License-Identifier: Apache-2.0
// The main function of a program of this folder.
#pragma once
#include <cstdlib>
#include <exception>
#include <string_view>

#include <crochet/base/exceptions.hpp>

#include "device.hpp"
#include "measure.hpp"

namespace bench {

/// The exit status without a GPU that can be used, or without NVRTC.
inline constexpr int no_gpu = 3;

/// False for an unknown option.
inline bool parse(int count, char** words, Options& options) {
  for (int i = 1; i < count; i += 2) {
    const std::string_view name = words[i];
    if (i + 1 == count) return false;
    if (name == "--filter") {
      options.filter = words[i + 1];
    } else if (name == "--seconds") {
      options.seconds = std::atof(words[i + 1]);
    } else {
      return false;
    }
  }
  return true;
}

/// Calls run(options) behind a line with the device's name. What it throws is printed.
template <class Run>
int program(int count, char** words, const Run& run) {
  Options options;
  if (!parse(count, words, options)) {
    std::fprintf(stderr, "usage: %s [--filter TEXT] [--seconds S]\n", words[0]);
    return 2;
  }
  try {
    report({{"part", "device"}, {"case", name_of(*device())}, {"blocks", device()->blocks()}});
    run(options);
    return 0;
  } catch (const crochet::DeviceError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return no_gpu;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", words[0], error.what());
    return 1;
  }
}

/// Calls measure_case(); an error is a line of its own, and the other cases go on.
template <class Case>
void try_case(std::string_view part, const std::string& name, const Options& options, const Case& measure_case) {
  if (!options.filter.empty() && name.find(options.filter) == std::string::npos) return;
  try {
    measure_case();
  } catch (const std::exception& error) {
    report({{"part", part}, {"case", name}, {"error", error.what()}});
  }
}

}  // namespace bench
