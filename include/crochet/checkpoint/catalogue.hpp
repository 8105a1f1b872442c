// SPDX-License-Identifier: Apache-2.0
// Catalogue: the list of a directory's checkpoints, in the file `checkpoint` of TensorFlow's format.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include <crochet/storage/file_system.hpp>

namespace crochet {

/// A listed checkpoint.
struct CheckpointInfo {
  std::filesystem::path prefix;  ///< common prefix of the names of its files
  double time = 0;               ///< time of the save, seconds since 1970, UTC
  friend bool operator==(const CheckpointInfo&, const CheckpointInfo&) = default;
};

/// The checkpoints of a directory, oldest first; the last one is the current one. Permanently kept ones are not listed.
struct Catalogue {
  std::vector<CheckpointInfo> all;
  double last_preserved = 0;  ///< time of the last permanently kept checkpoint; before the first one, the start of the
                              ///< interval

  /// Lists a checkpoint as the newest; a listed one of this prefix moves to the end. Times are monotonic, even if the
  /// clock is not.
  void record(const std::filesystem::path& prefix, double time);
};

/// Selects the checkpoints to keep.
struct Retention {
  int max_to_keep = 5;                            ///< number of newest checkpoints to keep; 0: all
  double keep_checkpoint_every_n_hours = 10'000;  ///< of the others, one per this number of hours is kept permanently

  /// Shortens the list to max_to_keep, from any length, and returns the checkpoints to remove. The others taken off the
  /// list are kept permanently.
  std::vector<CheckpointInfo> sweep(Catalogue& catalogue) const;
};

namespace detail {

/// Removes duplicates (the last one stays) and makes the times monotonic. Linear.
void tidy(std::vector<CheckpointInfo>& all);

}  // namespace detail

/// Reads `directory/name`; empty if there is no such file.
/// - Only the last part of each listed path is used, since the checkpoints of a directory are in it. So TensorFlow's
///   absolute paths, and those of a moved or copied directory, refer to the files beside the list, and no list refers
///   to files elsewhere. Duplicates count once.
/// - Throws: IoError if it cannot be read; DataLossError if it is not a list of checkpoints or has no current one.
/// - Cost: linear in the list.
std::optional<Catalogue> read_catalogue(const std::filesystem::path& directory, std::string_view name,
                                        io::FileSystem& files = io::local_files());

/// Writes the list durably, in place of an older one; it must not be empty. Throws IoError, and leaves the older one
/// unchanged.
void write_catalogue(const Catalogue& catalogue, const std::filesystem::path& directory, std::string_view name,
                     io::FileSystem& files = io::local_files());

}  // namespace crochet

#ifdef CROCHET_HEADER_ONLY
#include <crochet/checkpoint/catalogue.ipp>
#endif
