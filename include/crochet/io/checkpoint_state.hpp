// SPDX-License-Identifier: Apache-2.0
// The file `checkpoint` of a folder: which checkpoints it has, and which of them is the newest.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <crochet/proto/checkpoint.pb.h>
#include <crochet/error.hpp>
#include <crochet/io/file_system.hpp>
#include <crochet/io/input_file.hpp>
#include <crochet/io/whole_file.hpp>

namespace crochet::io {

/// The checkpoints of a folder, by their prefixes as a program uses them (`folder / "model.ckpt-20"`).
struct CheckpointState {
  std::filesystem::path newest{};            // the one to go on from
  std::vector<std::filesystem::path> all{};  // oldest first, the newest last
  std::vector<double> timestamps{};          // when each was saved, seconds since 1970; as many as in `all`, or none
  double last_preserved = 0;                 // the time stamp of the newest that is kept for good
};

namespace detail {

/// Keeps the first complaint of protobuf's parser, which would print it.
class TextErrors final : public google::protobuf::io::ErrorCollector {
 public:
#if GOOGLE_PROTOBUF_VERSION >= 4022000
  void RecordError(int line, google::protobuf::io::ColumnNumber, absl::string_view message) override {
    add(line, std::string(message));
  }
#else
  void AddError(int line, google::protobuf::io::ColumnNumber, const std::string& message) override {
    add(line, message);
  }
#endif
  std::string first{};

 private:
  void add(int line, const std::string& message) {
    if (first.empty()) first = "line " + std::to_string(line + 1) + ": " + message;
  }
};

/// As the file has it: relative to the folder, so that the folder can be moved.
inline std::string path_in(const std::filesystem::path& folder, const std::filesystem::path& prefix) {
  const auto plain = [](const std::filesystem::path& path) {
    return std::filesystem::absolute(path).lexically_normal();
  };
  return plain(prefix).lexically_relative(plain(folder / "x").parent_path()).string();
}

}  // namespace detail

/// Where the state of a folder is. A program that keeps several series of checkpoints in one folder gives each a name.
inline std::filesystem::path checkpoint_state_file(const std::filesystem::path& folder,
                                                   std::string_view name = "checkpoint") {
  return folder / name;
}

/// Writes the file, in the text format of `tensorflow.CheckpointState` and with paths relative to the folder, which
/// tf.train.get_checkpoint_state and latest_checkpoint read. Durable when it returns, and complete or not there
/// whenever it is interrupted. LogicError if there is no newest, or if there are time stamps but not one for each;
/// IoError.
inline void write_checkpoint_state(const std::filesystem::path& folder, const CheckpointState& state,
                                   std::string_view name = "checkpoint", FileSystem& files = local_files()) {
  if (state.newest.empty() || (!state.timestamps.empty() && state.timestamps.size() != state.all.size())) {
    throw LogicError("crochet: a checkpoint state needs a newest one, and as many time stamps as checkpoints or none");
  }
  proto::CheckpointState proto;
  proto.set_model_checkpoint_path(detail::path_in(folder, state.newest));
  for (const auto& prefix : state.all) proto.add_all_model_checkpoint_paths(detail::path_in(folder, prefix));
  for (const double time : state.timestamps) proto.add_all_model_checkpoint_timestamps(time);
  proto.set_last_preserved_timestamp(state.last_preserved);
  std::string text;
  google::protobuf::TextFormat::PrintToString(proto, &text);
  write_whole_file(checkpoint_state_file(folder, name), {std::as_bytes(std::span{text})}, files);
}

/// Reads the file; nothing if there is none. Relative paths are taken from the folder. Says nothing about whether the
/// checkpoints are there. IoError if it may not be read; DataLossError if it is not such a file, or names no newest.
inline std::optional<CheckpointState> read_checkpoint_state(const std::filesystem::path& folder,
                                                            std::string_view name = "checkpoint",
                                                            FileSystem& files = local_files()) {
  const std::filesystem::path file = checkpoint_state_file(folder, name);
  std::error_code error;
  if (!std::filesystem::exists(file, error) && !error) return std::nullopt;
  proto::CheckpointState proto;
  google::protobuf::TextFormat::Parser parser;
  detail::TextErrors errors;
  parser.RecordErrorsTo(&errors);
  parser.AllowUnknownField(true);
  if (!parser.ParseFromString(read_whole_file(file, files), &proto)) {
    throw DataLossError("crochet: " + file.string() + " is damaged: " + errors.first);
  }
  const auto count = proto.all_model_checkpoint_timestamps_size();
  const bool names_one = std::filesystem::path(proto.model_checkpoint_path()).has_filename();
  if (!names_one || (count != 0 && count != proto.all_model_checkpoint_paths_size())) {
    throw DataLossError("crochet: " + file.string() + " is damaged: it names no newest checkpoint, or too few times");
  }
  CheckpointState state{.newest = folder / proto.model_checkpoint_path()};
  for (const std::string& path : proto.all_model_checkpoint_paths()) state.all.push_back(folder / path);
  state.timestamps.assign(proto.all_model_checkpoint_timestamps().begin(),
                          proto.all_model_checkpoint_timestamps().end());
  state.last_preserved = proto.last_preserved_timestamp();
  return state;
}

}  // namespace crochet::io
