// SPDX-License-Identifier: Apache-2.0
// Catalogue: which checkpoints a directory has, in the file `checkpoint` that TensorFlow's tools read, too.
#pragma once

#include <algorithm>
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
    while (max_to_keep > 0 && catalogue.all.size() > static_cast<std::size_t>(max_to_keep)) {
      const CheckpointInfo oldest = catalogue.all.front();
      catalogue.all.erase(catalogue.all.begin());
      if (oldest.time - catalogue.last_preserved >= keep_checkpoint_every_n_hours * 3600) {
        catalogue.last_preserved = oldest.time;
      } else {
        expired.push_back(oldest);
      }
    }
    return expired;
  }
};

namespace detail {

/// A path as the state file has it: relative to its directory if it is in there, so that the directory may move.
inline std::string listed_path(const std::filesystem::path& prefix, const std::filesystem::path& directory) {
  const std::filesystem::path relative = prefix.lexically_relative(directory);
  const bool inside = !relative.empty() && *relative.begin() != "..";
  return inside ? relative.string() : std::filesystem::absolute(prefix).string();
}

/// Keeps the parser from writing to stderr.
class QuietParser final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (!text.empty()) return;
    text = "line " + std::to_string(line + 1) + ", column " + std::to_string(column + 1) + ": " + message;
  }
  std::string text;
};

}  // namespace detail

/// Reads `directory/name`; nothing if there is no such file. Throws IoError if it cannot be read, DataLossError if it
/// is not a list of checkpoints or names none as the current one.
inline std::optional<Catalogue> read_catalogue(const std::filesystem::path& directory, std::string_view name) {
  const std::filesystem::path path = directory / name;
  std::error_code error;
  if (std::filesystem::status(path, error).type() == std::filesystem::file_type::not_found) return std::nullopt;
  tensorflow::CheckpointState state;
  google::protobuf::TextFormat::Parser parser;
  detail::QuietParser errors;
  parser.RecordErrorsTo(&errors);
  if (!parser.ParseFromString(io::read_whole_file(path), &state)) {
    throw DataLossError("crochet: " + path.string() + " is damaged: " + errors.text);
  }
  if (state.model_checkpoint_path().empty()) {
    throw DataLossError("crochet: " + path.string() + " is damaged: it names no current checkpoint");
  }
  Catalogue catalogue;
  catalogue.last_preserved = state.last_preserved_timestamp();
  for (int i = 0; i < state.all_model_checkpoint_paths_size(); ++i) {
    const bool timed = i < state.all_model_checkpoint_timestamps_size();
    catalogue.all.push_back(
        {directory / state.all_model_checkpoint_paths(i), timed ? state.all_model_checkpoint_timestamps(i) : 0.0});
  }
  const std::filesystem::path current = directory / state.model_checkpoint_path();
  if (catalogue.all.empty() || catalogue.all.back().prefix != current) catalogue.record(current, 0);
  return catalogue;
}

/// Writes it, durably, in place of an older one. Throws IoError, and leaves the older one as it was.
inline void write_catalogue(const Catalogue& catalogue, const std::filesystem::path& directory, std::string_view name,
                            io::FileSystem& files = io::local_files()) {
  tensorflow::CheckpointState state;
  for (const CheckpointInfo& checkpoint : catalogue.all) {
    state.add_all_model_checkpoint_paths(detail::listed_path(checkpoint.prefix, directory));
    state.add_all_model_checkpoint_timestamps(checkpoint.time);
    state.set_model_checkpoint_path(detail::listed_path(checkpoint.prefix, directory));
  }
  state.set_last_preserved_timestamp(catalogue.last_preserved);
  std::string text;
  google::protobuf::TextFormat::PrintToString(state, &text);
  io::write_whole_file(directory / name, {std::as_bytes(std::span{text})}, files);
}

}  // namespace crochet
