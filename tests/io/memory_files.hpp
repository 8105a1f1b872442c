// SPDX-License-Identifier: Apache-2.0
// A read-only file system in memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include <crochet/storage/file_system.hpp>

namespace crochet::test {

/// `files["a.index"] = bytes`: the bytes are borrowed. Writing is not supported.
class MemoryFiles final : public io::FileSystem {
 public:
  std::string_view& operator[](const std::string& name) { return files_[name]; }

  std::unique_ptr<io::RandomAccessFile> open(const std::filesystem::path& path, std::error_code& error) override {
    const auto found = files_.find(path.string());
    if (found == files_.end()) return error = make_error_code(std::errc::no_such_file_or_directory), nullptr;
    return std::make_unique<File>(found->second);
  }
  std::unique_ptr<io::OutputFile> create(const std::filesystem::path&, std::error_code& error) override {
    return error = read_only(), nullptr;
  }
  std::error_code rename(const std::filesystem::path&, const std::filesystem::path&) override { return read_only(); }
  std::error_code remove(const std::filesystem::path&) override { return read_only(); }
  std::error_code sync_folder(const std::filesystem::path&) override { return read_only(); }

 private:
  class File final : public io::RandomAccessFile {
   public:
    explicit File(std::string_view bytes) : bytes_(bytes) {}
    [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
    std::size_t read(std::uint64_t offset, std::span<std::byte> to, std::error_code&) override {
      if (offset >= bytes_.size()) return 0;
      const auto rest = std::as_bytes(std::span{bytes_}).subspan(static_cast<std::size_t>(offset));
      const std::size_t size = std::min(rest.size(), to.size());
      std::copy_n(rest.begin(), size, to.begin());
      return size;
    }

   private:
    std::string_view bytes_;
  };
  static std::error_code read_only() { return make_error_code(std::errc::read_only_file_system); }

  std::map<std::string, std::string_view> files_{};
};

}  // namespace crochet::test
