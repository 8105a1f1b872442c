// SPDX-License-Identifier: Apache-2.0
// SaverOptions: names, retention, and replacements for the clock, the sink and the file system in tests.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <crochet/storage/file_system.hpp>
#include <crochet/storage/float_storage.hpp>

namespace crochet {

struct SaverOptions {
  std::string basename = "model.ckpt";            ///< a checkpoint's files are named `<basename>-<step>...`
  int max_to_keep = 5;                            ///< number of newest checkpoints to keep; 0: all
  double keep_checkpoint_every_n_hours = 10'000;  ///< of older ones, one per this number of hours is kept permanently
  bool pad_step_number = false;                   ///< steps in file names have at least 8 digits
  std::string latest_filename = "checkpoint";     ///< the state file
  /// How variables of float are stored. A rounded checkpoint has half the bytes and is for inference and for other
  /// programs: a training that continues from it does not continue bit for bit, and with float16 small numbers of an
  /// optimizer's slots become zero. Doubles, integers, the step and the state of hooks are stored as they are.
  FloatStorage float_storage = FloatStorage::float32;
  /// Seconds since 1970, UTC; unset: the system clock. It is saved, so it is not the steady clock.
  std::function<double()> clock{};
  /// Receives a line for each damaged or not removable checkpoint; unset: diagnose().
  std::function<void(std::string_view)> say{};
  io::FileSystem* files = nullptr;  ///< unset: the operating system's
};

}  // namespace crochet
