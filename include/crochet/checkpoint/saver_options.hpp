// SPDX-License-Identifier: Apache-2.0
// SaverOptions: names, retention, and what a test puts in the machine's place.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include <crochet/storage/file_system.hpp>

namespace crochet {

struct SaverOptions {
  std::string basename = "model.ckpt";            ///< a checkpoint's files are called `<basename>-<step>...`
  int max_to_keep = 5;                            ///< the newest so many; 0: all
  double keep_checkpoint_every_n_hours = 10'000;  ///< and of older ones, one every so many hours, for good
  bool pad_step_number = false;                   ///< steps in file names have at least 8 digits
  std::string latest_filename = "checkpoint";     ///< the state file
  /// Seconds since 1970, UTC; the machine's clock if not set. It is saved, so it is not the steady one.
  std::function<double()> clock{};
  /// Where is said what was set aside, or could not be removed; diagnose() if not set.
  std::function<void(std::string_view)> say{};
  io::FileSystem* files = nullptr;  ///< the machine's, if not set
};

namespace detail {

inline double utc_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace detail

}  // namespace crochet
