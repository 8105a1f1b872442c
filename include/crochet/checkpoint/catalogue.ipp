// SPDX-License-Identifier: Apache-2.0
// The compiled half of catalogue.hpp.
#pragma once

#include <crochet/checkpoint/catalogue.hpp>

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

CROCHET_INLINE void Catalogue::record(const std::filesystem::path& prefix, double time) {
  std::erase_if(all, [&](const CheckpointInfo& c) { return c.prefix == prefix; });
  // A clock that was ahead: with times to come nothing more would be preserved until they have come.
  for (CheckpointInfo& earlier : all) earlier.time = std::min(earlier.time, time);
  last_preserved = std::min(last_preserved, time);
  all.push_back({prefix, time});
}

CROCHET_INLINE std::vector<CheckpointInfo> Retention::sweep(Catalogue& catalogue) const {
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

}  // namespace crochet

namespace crochet::detail {

CROCHET_INLINE void tidy(std::vector<CheckpointInfo>& all) {
  std::set<std::filesystem::path> seen;
  std::vector<CheckpointInfo> newest_first;
  for (auto at = all.rbegin(); at != all.rend(); ++at) {
    if (seen.insert(at->prefix.filename()).second) newest_first.push_back(std::move(*at));
  }
  all.assign(std::make_move_iterator(newest_first.rbegin()), std::make_move_iterator(newest_first.rend()));
  for (std::size_t i = 1; i < all.size(); ++i) all[i].time = std::max(all[i].time, all[i - 1].time);
}

}  // namespace crochet::detail

namespace crochet {

CROCHET_INLINE std::optional<Catalogue> read_catalogue(const std::filesystem::path& directory, std::string_view name,
                                                       io::FileSystem& files) {
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

CROCHET_INLINE void write_catalogue(const Catalogue& catalogue, const std::filesystem::path& directory,
                                    std::string_view name, io::FileSystem& files) {
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
