// SPDX-License-Identifier: Apache-2.0
// SaverOptions: names, retention, and replacements for the clock, the sink and the file system in tests.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <crochet/storage/file_system.hpp>

namespace crochet {

struct SaverOptions {
  std::string basename = "model.ckpt";            ///< a checkpoint's files are named `<basename>-<step>...`
  int max_to_keep = 5;                            ///< number of newest checkpoints to keep; 0: all
  double keep_checkpoint_every_n_hours = 10'000;  ///< of older ones, one per this number of hours is kept permanently
  bool pad_step_number = false;                   ///< steps in file names have at least 8 digits
  std::string latest_filename = "checkpoint";     ///< the state file
  /// Seconds since 1970, UTC; unset: the system clock. It is saved, so it is not the steady clock.
  std::function<double()> clock{};
  /// Receives a line for each damaged or not removable checkpoint; unset: diagnose().
  std::function<void(std::string_view)> say{};
  io::FileSystem* files = nullptr;  ///< unset: the operating system's
};

}  // namespace crochet
