// SPDX-License-Identifier: Apache-2.0
// Catalogue: which checkpoints a directory has, in the file `checkpoint` that TensorFlow's tools read, too.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include <crochet/storage/file_system.hpp>

namespace crochet {

/// A checkpoint that is listed.
struct CheckpointInfo {
  std::filesystem::path prefix;  ///< what the names of its files begin with
  double time = 0;               ///< when it was saved, seconds since 1970, UTC
  friend bool operator==(const CheckpointInfo&, const CheckpointInfo&) = default;
};

/// The checkpoints of a directory, oldest first; the last one is the current one. What is kept for good is not listed.
struct Catalogue {
  std::vector<CheckpointInfo> all;
  double last_preserved = 0;  ///< when the last one that is kept for good was saved; or, before, where counting began

  /// Lists a checkpoint as the newest; one of this prefix that is listed already moves there. Times never go back, even
  /// if the clock does.
  void record(const std::filesystem::path& prefix, double time);
};

/// Which checkpoints stay.
struct Retention {
  int max_to_keep = 5;                            ///< the newest so many; 0: all
  double keep_checkpoint_every_n_hours = 10'000;  ///< and of the others one every so many hours, for good

  /// Takes off the list what is too much, down to the limit, however much that is, and returns what is to be removed.
  /// The others that it took off are kept for good.
  std::vector<CheckpointInfo> sweep(Catalogue& catalogue) const;
};

namespace detail {

/// The list without what it has twice (the later place counts), with times that never go back. Linear.
void tidy(std::vector<CheckpointInfo>& all);

}  // namespace detail

/// Reads `directory/name`; nothing if there is no such file. Of each listed path only the last part counts: the
/// checkpoints of a directory lie in it. So TensorFlow's absolute paths, and those of a directory that was moved or
/// copied, mean the files beside the list, and no list leads to files elsewhere. What is listed twice counts once.
/// Throws IoError if it cannot be read, DataLossError if it is not a list of checkpoints or names none as the current
/// one. Cost: linear in the list.
std::optional<Catalogue> read_catalogue(const std::filesystem::path& directory, std::string_view name,
                                        io::FileSystem& files = io::local_files());

/// Writes it, durably, in place of an older one; it must not be empty. Throws IoError, and leaves the older one as it
/// was.
void write_catalogue(const Catalogue& catalogue, const std::filesystem::path& directory, std::string_view name,
                     io::FileSystem& files = io::local_files());

}  // namespace crochet

#ifdef CROCHET_HEADER_ONLY
#include <crochet/checkpoint/catalogue.ipp>
#endif
