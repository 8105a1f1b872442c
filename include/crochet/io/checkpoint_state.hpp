// SPDX-License-Identifier: Apache-2.0
// The file `checkpoint` of a folder: which checkpoints it has, and which of them is the newest.
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

/// The checkpoints of a folder, by their prefixes as a program uses them (`folder / "model.ckpt-20"`).
struct CheckpointState {
  std::filesystem::path newest{};            // the one to go on from
  std::vector<std::filesystem::path> all{};  // oldest first, the newest last
  std::vector<double> timestamps{};          // when each was saved, seconds since 1970; as many as in `all`, or none
  double last_preserved = 0;                 // the time stamp of the newest that is kept for good
};

/// Where the state of a folder is. A program that keeps several series of checkpoints in one folder gives each a name.
inline std::filesystem::path checkpoint_state_file(const std::filesystem::path& folder,
                                                   std::string_view name = "checkpoint") {
  return folder / name;
}

/// Writes the file, in the text format of `tensorflow.CheckpointState` and with paths relative to the folder, which
/// tf.train.get_checkpoint_state and latest_checkpoint read. Durable when it returns, and complete or not there
/// whenever it is interrupted. Of more than 65,536 checkpoints it lists the last. LogicError if there is no newest, or
/// if there are time stamps but not one for each; IoError.
void write_checkpoint_state(const std::filesystem::path& folder, const CheckpointState& state,
                            std::string_view name = "checkpoint", FileSystem& files = local_files());

/// Reads the file; nothing if there is none. Relative paths are taken from the folder. Says nothing about whether the
/// checkpoints are there. IoError if it may not be read; DataLossError if it is not such a file, names no newest, lists
/// more than 65,536 checkpoints or has more than 16 MiB; ResourceExhaustedError. Memory: see docs/file-formats.md.
std::optional<CheckpointState> read_checkpoint_state(const std::filesystem::path& folder,
                                                     std::string_view name = "checkpoint",
                                                     FileSystem& files = local_files());

}  // namespace crochet::io

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/checkpoint_state.ipp>
#endif
