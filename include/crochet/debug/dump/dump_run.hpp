// SPDX-License-Identifier: Apache-2.0
// DumpRun: the dump of one run, written by TensorFlow or this library.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/debug/dump/dump_file.hpp>
#include <crochet/debug/dump/dump_graph.hpp>
#include <crochet/debug/dump/dump_names.hpp>
#include <crochet/debug/dump/dump_tree.hpp>
#include <crochet/debug/dump/dumped_tensor.hpp>
#include <crochet/debug/event/event_limits.hpp>
#include <crochet/debug/event/parse_core_metadata.hpp>
#include <crochet/io/protobuf_wire.hpp>

namespace crochet::debug {

/// A tensor of a run, as described by its file name; `open` reads the file.
struct DumpEntry {
  DumpName name{};
  std::uint32_t device = 0;    // index in DumpRun::devices
  std::uint32_t position = 0;  // the node's position in the device's graph; 0 without a graph
  std::string file{};          // relative to the run's directory
  std::uint64_t file_bytes = 0;

  /// `<node>:<slot>`
  [[nodiscard]] std::string tensor() const { return name.node + ":" + std::to_string(name.slot); }
};

/// A device of a run.
struct DumpDevice {
  std::string name{};       // /job:localhost/replica:0/task:0/device:CPU:0
  std::string directory{};  // relative to the run's directory
  DumpGraph graph{};        // empty if the dump has none
  bool has_graph = false;
};

/// The last component of a run directory's path, also if the path ends in `/` or `.`.
inline std::string run_name(const std::filesystem::path& directory) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(directory / "", error).lexically_normal();
  return whole.parent_path().filename().string();
}

/// One run directory. The constructor lists it and reads metadata and graphs; tensors are opened one at a time. Throws
/// IoError if it is not a directory; all other errors are in problems(), and the rest of the run stays readable.
class DumpRun {
 public:
  explicit DumpRun(std::filesystem::path directory, const DumpLimits& limits = {})
      : directory_(std::move(directory)), limits_(limits), left_(limits.files) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(directory_, ignored)) {
      throw IoError("crochet: " + directory_.string() + " is no directory of a dump");
    }
    std::vector<std::filesystem::directory_entry> entries;
    detail::list_folder(directory_, left_, entries, problems_);
    for (const std::filesystem::directory_entry& entry : entries) top_entry(entry);
    sort_tensors();
  }

  [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }
  /// The last component of the directory: `run_<microseconds>_<number>`.
  [[nodiscard]] std::string name() const { return run_name(directory_); }
  /// In step order: by time, then by firing number, then in the graph's order, producers first. (In TensorFlow the
  /// order within a microsecond depends on the file system.)
  [[nodiscard]] std::span<const DumpEntry> tensors() const { return tensors_; }
  [[nodiscard]] std::span<const DumpDevice> devices() const { return devices_; }
  /// Usually one; several if several programs wrote into one directory.
  [[nodiscard]] std::span<const CoreMetadata> metadata() const { return metadata_; }
  /// The fetches and feeds as text, as printed by Python or by this library.
  [[nodiscard]] std::span<const std::string> fetches() const { return fetches_; }
  [[nodiscard]] std::span<const std::string> feeds() const { return feeds_; }
  /// Whether the run has no mark of incompleteness. `crochet-debugd` writes the mark when a stream is interrupted.
  [[nodiscard]] bool complete() const { return complete_; }
  /// The unusable files with their errors, and the reason why the run is incomplete.
  [[nodiscard]] const DumpProblems& problems() const { return problems_; }

  /// Opens a tensor of this run. Throws the exceptions of DumpedTensor.
  [[nodiscard]] DumpedTensor open(const DumpEntry& entry) const { return {directory_ / entry.file, entry.name}; }

 private:
  static constexpr std::uint64_t event_graph_def = 4, event_log_message = 6, log_message_text = 2;  // field numbers

  void top_entry(const std::filesystem::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(core_metadata_prefix)) {
      metadata_file(entry.path());
    } else if (name.starts_with(fetches_prefix)) {
      text_file(entry.path(), fetches_);
    } else if (name.starts_with(feeds_prefix)) {
      text_file(entry.path(), feeds_);
    } else if (name.starts_with(device_prefix)) {
      device_directory(entry, name);
    } else if (name == incomplete_mark) {
      mark_file(entry.path());
    }  // other files do not belong to the debugger
  }

  template <class F>
  void attempt(F act) {
    try {
      act();
    } catch (const IoError& error) {
      problems_.emplace_back(error.what());
    }
  }

  /// The bytes of a field of a message, without parsing the message; the last one if the field occurs several times.
  static std::optional<std::string_view> field_of(std::string_view message, std::uint64_t number) {
    std::optional<std::string_view> found;
    io::for_each_field(message, [&](const io::WireField& field) {
      if (field.number == number && field.type == io::WireType::bytes) found = field.bytes;
    });
    return found;
  }
  /// Calls `use(bytes)` with a field of the event in a small file. Memory: the size of the file.
  template <class Use>
  void read_field(const std::filesystem::path& path, std::uint64_t most, std::uint64_t number, const char* missing,
                  Use use) {
    attempt([&] {
      const DumpFile file{path};
      const std::string bytes = file.read_all(std::min(most, max_event));
      try {
        const auto field = field_of(bytes, number);
        if (!field) throw DataLossError(missing);
        use(*field);
      } catch (const DataLossError& error) {
        detail::damaged(file.path(), error.what());
      }
    });
  }
  void text_file(const std::filesystem::path& path, std::vector<std::string>& to) {
    read_field(path, limits_.metadata_bytes, event_log_message, "it holds no text", [&](std::string_view message) {
      to.emplace_back(field_of(message, log_message_text).value_or(std::string_view{}));
    });
  }
  void mark_file(const std::filesystem::path& path) {
    complete_ = false;
    attempt([&] {
      problems_.push_back("crochet: " + directory_.string() + " is incomplete: " + DumpFile{path}.read_all(1U << 16));
    });
  }
  void metadata_file(const std::filesystem::path& path) {
    read_field(path, limits_.metadata_bytes, event_log_message, "it holds no text", [&](std::string_view message) {
      metadata_.push_back(parse_core_metadata(field_of(message, log_message_text).value_or(std::string_view{})));
    });
  }

  void device_directory(const std::filesystem::directory_entry& entry, const std::string& name) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(entry.symlink_status(ignored))) {
      problems_.push_back("crochet: " + entry.path().string() + " is no folder");
      return;
    }
    const auto device = static_cast<std::uint32_t>(devices_.size());
    devices_.push_back({device_of_directory(name), name, {}, false});
    detail::each_file_below(entry.path(), limits_, left_, problems_,
                            [&](const std::filesystem::directory_entry& file, const std::string& relative) {
                              const std::string base = file.path().filename().string();
                              if (base.starts_with(graph_prefix)) {
                                graph_file(file.path(), devices_[device]);
                              } else {
                                tensor_file(file, relative, device);
                              }
                            });
  }
  void graph_file(const std::filesystem::path& path, DumpDevice& device) {
    read_field(path, limits_.graph_bytes, event_graph_def, "it holds no graph", [&](std::string_view graph) {
      device.graph = DumpGraph{graph};
      device.has_graph = true;
    });
  }
  void tensor_file(const std::filesystem::directory_entry& file, const std::string& relative, std::uint32_t device) {
    try {
      std::error_code error;
      DumpEntry entry{parse_dump_name(relative), device, 0, devices_[device].directory + "/" + relative,
                      file.file_size(error)};
      tensors_.push_back(std::move(entry));
    } catch (const DataLossError& error) {
      problems_.push_back("crochet: " + file.path().string() + " is no tensor of a dump: " + error.what());
    }
  }

  void sort_tensors() {
    for (DumpEntry& entry : tensors_) {
      const DumpGraph::Node* const node = devices_[entry.device].graph.find(entry.name.node);
      if (node != nullptr) entry.position = node->position;
    }
    std::sort(tensors_.begin(), tensors_.end(), [](const DumpEntry& a, const DumpEntry& b) {
      return std::tie(a.name.time, a.name.debug_event, a.position, a.file) <
             std::tie(b.name.time, b.name.debug_event, b.position, b.file);
    });
  }

  std::filesystem::path directory_;
  DumpLimits limits_;
  std::size_t left_;
  std::vector<DumpEntry> tensors_{};
  std::vector<DumpDevice> devices_{};
  std::vector<CoreMetadata> metadata_{};
  std::vector<std::string> fetches_{}, feeds_{};
  DumpProblems problems_{};
  bool complete_ = true;
};

}  // namespace crochet::debug
