// SPDX-License-Identifier: Apache-2.0
// Compiled plans on disk, shared by processes.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace crochet::cuda {

/// A folder of compiled plans. An entry is written as a whole and verified when it is read, so processes share a folder
/// without locks, and a damaged entry counts as none.
class CubinCache {
 public:
  /// `limit`: the bytes of all entries; the entries that were written first are removed.
  explicit CubinCache(std::filesystem::path folder, std::uintmax_t limit = std::uintmax_t{256} << 20)
      : folder_(std::move(folder)), limit_(limit) {}

  /// $CROCHET_CACHE_DIR, else $XDG_CACHE_HOME/crochet, else ~/.cache/crochet; empty if none is set.
  static std::filesystem::path default_folder();

  /// The code for a key, which is everything that the code depends on. Calls `compile()` if there is no entry, and
  /// stores its result. A folder that cannot be read or written is as good as none. Throws what `compile` throws.
  std::string find_or_compile(std::string_view key, const std::function<std::string()>& compile) const;

 private:
  std::filesystem::path path_of(std::string_view key) const;
  void store(std::string_view key, std::string_view code) const;
  void remove_oldest() const;

  std::filesystem::path folder_;
  std::uintmax_t limit_;
};

}  // namespace crochet::cuda
