// SPDX-License-Identifier: Apache-2.0
// The compiled half of checkpoint_state.hpp.
#pragma once

#include <crochet/io/checkpoint_state.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <crochet/proto/checkpoint.pb.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>
#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/storage/file_system.hpp>
#include <crochet/storage/input_file.hpp>
#include <crochet/storage/whole_file.hpp>

namespace crochet::io::detail {

inline constexpr std::uint64_t largest_state_file = std::uint64_t{16} << 20;  // bytes

inline constexpr int most_listed_checkpoints = 65'536;

inline constexpr int deepest_state = 32;  // nesting depth of messages; the format has one level

/// Keeps the first error of protobuf's parser, which would otherwise print it.
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

/// The path as stored in the file: relative to the folder, so that the folder can be moved.
CROCHET_INLINE std::string path_in(const std::filesystem::path& folder, const std::filesystem::path& prefix) {
  const auto plain = [](const std::filesystem::path& path) {
    return std::filesystem::absolute(path).lexically_normal();
  };
  return plain(prefix).lexically_relative(plain(folder / "x").parent_path()).string();
}

}  // namespace crochet::io::detail

namespace crochet::io {

CROCHET_INLINE void write_checkpoint_state(const std::filesystem::path& folder, const CheckpointState& state,
                                           std::string_view name, FileSystem& files) {
  const auto is_finite = [](double time) { return std::isfinite(time); };
  if (!is_finite(state.last_preserved) || !std::all_of(state.timestamps.begin(), state.timestamps.end(), is_finite)) {
    throw LogicError("crochet: the time of a checkpoint is infinite or not a number");
  }
  if (state.newest.empty() || (!state.timestamps.empty() && state.timestamps.size() != state.all.size())) {
    throw LogicError("crochet: a checkpoint state needs a newest one, and as many time stamps as checkpoints or none");
  }
  proto::CheckpointState proto;
  proto.set_model_checkpoint_path(detail::path_in(folder, state.newest));
  const std::size_t left_out =
      state.all.size() - std::min<std::size_t>(state.all.size(), detail::most_listed_checkpoints);
  auto& paths = *proto.mutable_all_model_checkpoint_paths();
  paths.Reserve(static_cast<int>(state.all.size() - left_out));
  for (const auto& prefix : std::span(state.all).subspan(left_out)) {
    // Made here: if a field allocates its string itself, a failed allocation leaves it broken.
    paths.AddAllocated(std::make_unique<std::string>(detail::path_in(folder, prefix)).release());
  }
  for (const double time : std::span(state.timestamps).subspan(state.timestamps.empty() ? 0 : left_out)) {
    proto.add_all_model_checkpoint_timestamps(time);
  }
  proto.set_last_preserved_timestamp(state.last_preserved);
  std::string text;
  google::protobuf::TextFormat::PrintToString(proto, &text);
  while (text.size() > detail::largest_state_file &&
         !paths.empty()) {  // the reader takes no more: leave out the oldest
    const int half = (paths.size() + 1) / 2;
    paths.DeleteSubrange(0, half);
    auto& times = *proto.mutable_all_model_checkpoint_timestamps();
    if (!times.empty()) times.erase(times.begin(), times.begin() + half);
    google::protobuf::TextFormat::PrintToString(proto, &text);
  }
  write_whole_file(checkpoint_state_file(folder, name), {std::as_bytes(std::span{text})}, files);
}

}  // namespace crochet::io

namespace crochet::io::detail {

[[noreturn]] CROCHET_COLD CROCHET_INLINE void state_is_damaged(const std::filesystem::path& file,
                                                               const std::string& why) {
  throw DataLossError("crochet: " + file.string() + " is damaged: " + why);
}

/// The message in a state file, with its sizes checked.
CROCHET_INLINE proto::CheckpointState parse_checkpoint_state(const InputFile& in) {
  const std::filesystem::path& file = in.path();
  if (in.size() > largest_state_file) state_is_damaged(file, "it is larger than 16 MiB");
  std::string text(static_cast<std::size_t>(in.size()), '\0');
  in.read_at(0, std::as_writable_bytes(std::span{text}));
  proto::CheckpointState proto;
  google::protobuf::TextFormat::Parser parser;
  TextErrors errors;
  parser.RecordErrorsTo(&errors);
  parser.AllowUnknownField(true);
  parser.SetRecursionLimit(deepest_state);
  if (!parser.ParseFromString(text, &proto)) state_is_damaged(file, errors.first);
  const auto count = proto.all_model_checkpoint_timestamps_size();
  const bool names_one = std::filesystem::path(proto.model_checkpoint_path()).has_filename();
  if (!names_one || (count != 0 && count != proto.all_model_checkpoint_paths_size())) {
    state_is_damaged(file, "it names no newest checkpoint, or too few times");
  }
  const auto& times = proto.all_model_checkpoint_timestamps();
  if (!std::isfinite(proto.last_preserved_timestamp()) ||
      !std::all_of(times.begin(), times.end(), [](double time) { return std::isfinite(time); })) {
    state_is_damaged(file, "a time is infinite or not a number");
  }
  if (proto.all_model_checkpoint_paths_size() > most_listed_checkpoints) {
    state_is_damaged(file, "it lists more than 65,536 checkpoints");
  }
  return proto;
}

}  // namespace crochet::io::detail

namespace crochet::io {

CROCHET_INLINE std::optional<CheckpointState> read_checkpoint_state(const std::filesystem::path& folder,
                                                                    std::string_view name, FileSystem& files) {
  const std::filesystem::path file = checkpoint_state_file(folder, name);
  return detail::reading(file, [&]() -> std::optional<CheckpointState> {
    const std::optional<InputFile> in = InputFile::if_there(file, files);
    if (!in) return std::nullopt;
    const proto::CheckpointState proto = detail::parse_checkpoint_state(*in);
    CheckpointState state{.newest = folder / proto.model_checkpoint_path()};
    for (const std::string& path : proto.all_model_checkpoint_paths()) state.all.push_back(folder / path);
    state.timestamps.assign(proto.all_model_checkpoint_timestamps().begin(),
                            proto.all_model_checkpoint_timestamps().end());
    state.last_preserved = proto.last_preserved_timestamp();
    return state;
  });
}

}  // namespace crochet::io
