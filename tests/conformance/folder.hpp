// SPDX-License-Identifier: Apache-2.0
// A temporary folder for a scenario with files.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <unistd.h>

namespace crochet::conformance {

/// Creates an empty folder and removes it with all its contents.
class Folder {
 public:
  Folder() : path_(made()) {}
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::string text() const { return path_.string(); }
  /// The names in the folder, sorted.
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  static std::filesystem::path made() {
    std::string name = (std::filesystem::temp_directory_path() / "crochet-conformance-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::filesystem::filesystem_error("mkdtemp", name, {});
    return name;
  }

  std::filesystem::path path_;
};

}  // namespace crochet::conformance
