// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/exceptions.hpp>
#include <crochet/executor/cuda/cubin_cache.hpp>
#include <crochet/storage/file_system.hpp>
#include <crochet/storage/input_file.hpp>
#include <crochet/storage/whole_file.hpp>

namespace crochet::cuda {

namespace detail {

CROCHET_INLINE std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325U;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return h;
}

/// In front of an entry: the entry is this, the key, and the code.
struct CacheHeader {
  char magic[8] = {'c', 'r', 'o', 'c', 'u', 'b', '1', '\n'};
  std::uint64_t key_bytes = 0, code_bytes = 0, code_hash = 0;
};

/// The code of an entry if it has this key and is intact.
CROCHET_INLINE std::optional<std::string> code_of(const std::string& entry, std::string_view key) {
  CacheHeader header;
  if (entry.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, entry.data(), sizeof header);
  const std::string_view rest = std::string_view(entry).substr(sizeof header);
  if (std::memcmp(header.magic, CacheHeader{}.magic, sizeof header.magic) != 0) return std::nullopt;
  if (header.key_bytes != key.size() || rest.substr(0, key.size()) != key) return std::nullopt;
  const std::string_view code = rest.substr(key.size());
  if (header.code_bytes != code.size() || header.code_hash != fnv1a(code)) return std::nullopt;
  return std::string(code);
}

/// The bytes of a file, at most `most`; empty if it is larger, or no regular file, or cannot be read.
CROCHET_INLINE std::string entry_in(const std::filesystem::path& path, std::uintmax_t most) {
  try {
    const io::InputFile file{path};
    if (file.size() > most) return {};
    std::string entry(static_cast<std::size_t>(file.size()), '\0');
    file.read_at(0, std::as_writable_bytes(std::span(entry)));
    return entry;
  } catch (const IoError&) {
    return {};
  }
}

/// Whether a name is that of an entry, or of an unfinished one, which a program that was killed leaves.
CROCHET_INLINE bool is_of_cache(const std::filesystem::path& path) {
  const std::string name = path.filename().string();  // as path_of() and store() make them
  return name.find_first_not_of("0123456789abcdef") == 16 && name.compare(16, 6, ".cubin") == 0;
}

}  // namespace detail

CROCHET_INLINE std::filesystem::path CubinCache::default_folder() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::filesystem::path(value == nullptr ? "" : value);
  };
  if (const auto own = variable("CROCHET_CACHE_DIR"); !own.empty()) return own;
  if (const auto cache = variable("XDG_CACHE_HOME"); !cache.empty()) return cache / "crochet";
  const auto home = variable("HOME");
  return home.empty() ? home : home / ".cache" / "crochet";
}

CROCHET_INLINE std::filesystem::path CubinCache::path_of(std::string_view key) const {
  std::string name;
  for (std::uint64_t h = detail::fnv1a(key); name.size() < 16; h >>= 4U) name.push_back("0123456789abcdef"[h & 15U]);
  return folder_ / (name + ".cubin");
}

CROCHET_INLINE std::string CubinCache::find_or_compile(std::string_view key,
                                                       const std::function<std::string()>& compile) const {
  if (folder_.empty()) return compile();
  if (auto code = detail::code_of(detail::entry_in(path_of(key), limit_), key)) return *std::move(code);
  std::string code = compile();
  store(key, code);
  return code;
}

CROCHET_INLINE void CubinCache::store(std::string_view key, std::string_view code) const {
  try {
    std::filesystem::create_directories(folder_);
    const std::filesystem::path path = path_of(key);
    static std::atomic<unsigned> number{0};
    std::filesystem::path own = path;  // several processes and threads may write the same entry
    own += "." + std::to_string(getpid()) + "-" + std::to_string(number++);
    detail::CacheHeader header;
    header.key_bytes = key.size();
    header.code_bytes = code.size();
    header.code_hash = detail::fnv1a(code);
    io::write_whole_file(
        own, {std::as_bytes(std::span(&header, 1)), std::as_bytes(std::span(key)), std::as_bytes(std::span(code))});
    if (io::local_files().rename(own, path)) io::local_files().remove(own);
    remove_oldest();
  } catch (const std::filesystem::filesystem_error&) {  // compiled again in the next process
  } catch (const IoError&) {
  }
}

CROCHET_INLINE void CubinCache::remove_oldest() const {
  struct Entry {
    std::filesystem::file_time_type time;
    std::filesystem::path path;
    std::uintmax_t bytes;
  };
  std::vector<Entry> entries;
  std::uintmax_t bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder_)) {
    if (!detail::is_of_cache(file.path())) continue;
    std::error_code error, gone;  // another process may have removed it
    if (!file.is_regular_file(error)) continue;
    const std::uintmax_t size = file.file_size(error);
    const auto time = file.last_write_time(gone);
    if (error || gone) continue;
    bytes += size;
    entries.push_back({time, file.path(), size});
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.time < b.time; });
  for (std::size_t k = 0; k + 1 < entries.size() && bytes > limit_; ++k) {
    bytes -= entries[k].bytes;
    io::local_files().remove(entries[k].path);
  }
}

}  // namespace crochet::cuda
