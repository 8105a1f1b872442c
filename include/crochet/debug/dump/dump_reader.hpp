// SPDX-License-Identifier: Apache-2.0
// DumpReader: the runs below a DumpingDebugHook's session root, written by TensorFlow or this library.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/debug/dump/dump_names.hpp>
#include <crochet/debug/dump/dump_run.hpp>
#include <crochet/debug/dump/dump_tree.hpp>

namespace crochet::debug {

/// The runs of a session root, or a single run if `root` is its directory. The constructor lists only names; `open`
/// reads a run. Throws IoError if `root` cannot be listed or is neither of the two.
class DumpReader {
 public:
  explicit DumpReader(std::filesystem::path root, const DumpLimits& limits = {})
      : root_(std::move(root)), limits_(limits) {
    std::error_code error;
    if (!std::filesystem::is_directory(root_, error)) {
      throw IoError("crochet: cannot read " + root_.string() + ": " + (error ? error.message() : "it is no directory"));
    }
    std::vector<std::filesystem::directory_entry> entries;
    if (!detail::list_folder(root_, limits_.files, entries, problems_)) throw IoError(problems_.front());
    for (const std::filesystem::directory_entry& entry : entries) add(entry);
    std::stable_sort(runs_.begin(), runs_.end(), [](const Place& a, const Place& b) {
      return std::tie(a.name.time, a.name.number) < std::tie(b.name.time, b.name.number);
    });
    if (is_run_) {
      runs_.assign(1, {{}, root_});
      problems_.clear();
    } else if (runs_.empty()) {
      throw IoError("crochet: " + root_.string() + " holds no dump: neither run_* directories nor the files of a run");
    }
  }

  [[nodiscard]] const std::filesystem::path& root() const { return root_; }
  [[nodiscard]] std::size_t size() const { return runs_.size(); }
  /// The directory of a run; runs are in the order of their time stamps.
  [[nodiscard]] const std::filesystem::path& directory(std::size_t run) const { return runs_[run].directory; }
  /// The last component of the run's directory: `run_<microseconds>_<number>`.
  [[nodiscard]] std::string name(std::size_t run) const { return run_name(runs_[run].directory); }
  /// Throws the exceptions of DumpRun.
  [[nodiscard]] DumpRun open(std::size_t run) const { return DumpRun{runs_[run].directory, limits_}; }
  /// Unusable entries of the session root.
  [[nodiscard]] const DumpProblems& problems() const { return problems_; }

 private:
  struct Place {
    RunName name{};
    std::filesystem::path directory{};
  };

  void add(const std::filesystem::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    is_run_ = is_run_ || name.starts_with("_tfdbg_");
    RunName run;
    if (!parse_run_name(name, run)) return;
    std::error_code error;
    if (std::filesystem::is_directory(entry.symlink_status(error))) {
      runs_.push_back({run, entry.path()});
    } else {
      problems_.push_back("crochet: " + entry.path().string() + " is no folder");
    }
  }

  std::filesystem::path root_;
  DumpLimits limits_;
  std::vector<Place> runs_{};
  DumpProblems problems_{};
  bool is_run_ = false;
};

}  // namespace crochet::debug
