// SPDX-License-Identifier: Apache-2.0
// latest_checkpoint_step: the step of the newest checkpoint in a directory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>

#include <crochet/checkpoint/saver.hpp>

namespace crochet {

/// The step in the name of the newest checkpoint of the directory; empty while there is none. Reads the state file at
/// each call, since another program may write it, but no tensor. `options` are those of the Saver that writes there.
/// For StopAtCheckpointStep: `{.checkpoint_step = [=] { return latest_checkpoint_step(folder); }, .last_step = 2000}`.
template <io::CheckpointFormat Format = io::TensorBundle>
std::optional<std::int64_t> latest_checkpoint_step(const std::filesystem::path& directory, SaverOptions options = {}) {
  const Saver<Format> saver{directory, std::move(options)};
  const auto prefix = saver.latest_checkpoint();
  const std::int64_t step = prefix ? detail::step_of(*prefix, saver.options().basename) : -1;
  return step < 0 ? std::nullopt : std::optional{step};
}

}  // namespace crochet
