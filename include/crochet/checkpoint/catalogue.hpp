// SPDX-License-Identifier: Apache-2.0
// Catalogue: which checkpoints a directory has, in the file `checkpoint` that TensorFlow's tools read, too.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/io/checkpoint_state.hpp>
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
  void record(const std::filesystem::path& prefix, double time) {
    std::erase_if(all, [&](const CheckpointInfo& c) { return c.prefix == prefix; });
    all.push_back({prefix, all.empty() ? time : std::max(time, all.back().time)});
  }
};

/// Which checkpoints stay.
struct Retention {
  int max_to_keep = 5;                            ///< the newest so many; 0: all
  double keep_checkpoint_every_n_hours = 10'000;  ///< and of the others one every so many hours, for good

  /// Takes off the list what is too much, down to the limit, however much that is, and returns what is to be removed.
  /// The others that it took off are kept for good.
  std::vector<CheckpointInfo> sweep(Catalogue& catalogue) const {
    std::vector<CheckpointInfo> expired;
    if (max_to_keep <= 0) return expired;
    const auto limit = static_cast<std::size_t>(max_to_keep);
    const std::size_t excess = catalogue.all.size() - std::min(catalogue.all.size(), limit);
    for (std::size_t i = 0; i < excess; ++i) {
      CheckpointInfo& oldest = catalogue.all[i];
      if (oldest.time - catalogue.last_preserved >= keep_checkpoint_every_n_hours * 3600) {
        catalogue.last_preserved = oldest.time;
      } else {
        expired.push_back(std::move(oldest));
      }
    }
    catalogue.all.erase(catalogue.all.begin(), catalogue.all.begin() + static_cast<std::ptrdiff_t>(excess));
    return expired;
  }
};

namespace detail {

/// The list without what it has twice (the later place counts), with times that never go back. Linear.
inline void tidy(std::vector<CheckpointInfo>& all) {
  std::set<std::filesystem::path> seen;
  std::vector<CheckpointInfo> newest_first;
  for (auto at = all.rbegin(); at != all.rend(); ++at) {
    if (seen.insert(at->prefix.filename()).second) newest_first.push_back(std::move(*at));
  }
  all.assign(std::make_move_iterator(newest_first.rbegin()), std::make_move_iterator(newest_first.rend()));
  for (std::size_t i = 1; i < all.size(); ++i) all[i].time = std::max(all[i].time, all[i - 1].time);
}

}  // namespace detail

/// Reads `directory/name`; nothing if there is no such file. Of each listed path only the last part counts: the
/// checkpoints of a directory lie in it. So TensorFlow's absolute paths, and those of a directory that was moved or
/// copied, mean the files beside the list, and no list leads to files elsewhere. What is listed twice counts once.
/// Throws IoError if it cannot be read, DataLossError if it is not a list of checkpoints or names none as the current
/// one. Cost: linear in the list.
inline std::optional<Catalogue> read_catalogue(const std::filesystem::path& directory, std::string_view name,
                                               io::FileSystem& files = io::local_files()) {
  const std::optional<io::CheckpointState> state = io::read_checkpoint_state(directory, name, files);
  if (!state) return std::nullopt;
  Catalogue catalogue{{}, state->last_preserved};
  for (std::size_t i = 0; i < state->all.size(); ++i) {
    const double time = state->timestamps.empty() ? 0.0 : state->timestamps[i];
    catalogue.all.push_back({directory / state->all[i].filename(), time});
  }
  std::erase_if(catalogue.all, [](const CheckpointInfo& c) { return !c.prefix.has_filename(); });
  const std::filesystem::path newest = directory / state->newest.filename();
  if (catalogue.all.empty() || catalogue.all.back().prefix != newest) catalogue.all.push_back({newest, 0});
  detail::tidy(catalogue.all);
  return catalogue;
}

/// Writes it, durably, in place of an older one; it must not be empty. Throws IoError, and leaves the older one as it
/// was.
inline void write_catalogue(const Catalogue& catalogue, const std::filesystem::path& directory, std::string_view name,
                            io::FileSystem& files = io::local_files()) {
  io::CheckpointState state;
  for (const CheckpointInfo& checkpoint : catalogue.all) {
    state.all.push_back(checkpoint.prefix);
    state.timestamps.push_back(checkpoint.time);
    state.newest = checkpoint.prefix;
  }
  state.last_preserved = catalogue.last_preserved;
  io::write_checkpoint_state(directory, state, name, files);
}

}  // namespace crochet
