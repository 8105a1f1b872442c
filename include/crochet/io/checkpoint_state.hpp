// SPDX-License-Identifier: Apache-2.0
// The file `checkpoint` of a folder: the list of its checkpoints and the newest of them.
#pragma once

#include <crochet/io/needs_io.hpp>

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/storage/file_system.hpp>
#include <crochet/storage/input_file.hpp>

namespace crochet::io {

/// The checkpoints of a folder, as the prefixes that a program uses (`folder / "model.ckpt-20"`).
struct CheckpointState {
  std::filesystem::path newest{};            // the checkpoint to resume from
  std::vector<std::filesystem::path> all{};  // oldest first, the newest last
  std::vector<double> timestamps{};          // time of saving, seconds since 1970; as many as in `all`, or none
  double last_preserved = 0;                 // time stamp of the newest checkpoint that is kept forever
};

/// The path of a folder's state file. A program with several series of checkpoints in one folder gives each a name.
inline std::filesystem::path checkpoint_state_file(const std::filesystem::path& folder,
                                                   std::string_view name = "checkpoint") {
  return folder / name;
}

/// Writes the file, in the text format of `tensorflow.CheckpointState` with paths relative to the folder.
/// tf.train.get_checkpoint_state and latest_checkpoint can read it.
/// - Durable on return. An interruption leaves a complete file or none.
/// - Of more than 65,536 checkpoints it lists the last 65,536.
/// - Throws LogicError if `newest` is empty, or if there are time stamps but not one for each checkpoint, or one is not
///   finite; IoError.
void write_checkpoint_state(const std::filesystem::path& folder, const CheckpointState& state,
                            std::string_view name = "checkpoint", FileSystem& files = local_files());

/// Reads the file; empty if it does not exist. Relative paths are relative to the folder. Does not check that the
/// checkpoints exist.
/// - Throws IoError if the file cannot be read.
/// - Throws DataLossError if it is invalid, has no newest checkpoint, lists more than 65,536 checkpoints or is larger
///   than 16 MiB.
/// - Throws ResourceExhaustedError. Memory: see docs/file-formats.md.
std::optional<CheckpointState> read_checkpoint_state(const std::filesystem::path& folder,
                                                     std::string_view name = "checkpoint",
                                                     FileSystem& files = local_files());

}  // namespace crochet::io

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/checkpoint_state.ipp>
#endif
