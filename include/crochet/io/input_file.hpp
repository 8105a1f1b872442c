// SPDX-License-Identifier: Apache-2.0
// A file to read from, at any place.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include <crochet/config.hpp>
#include <crochet/error.hpp>

namespace crochet::io {

/// An open file. Throws IoError with the name of the file and the cause; DataLossError if it is shorter than what is
/// asked for. Not for two threads at the same time.
class InputFile {
 public:
  explicit InputFile(std::filesystem::path path) : path_(std::move(path)), file_(std::fopen(path_.c_str(), "rb")) {
    if (file_ == nullptr) fail();
    std::setvbuf(file_.get(), nullptr, _IONBF, 0);  // what is read is read in large pieces
    std::error_code error;
    size_ = std::filesystem::file_size(path_, error);
    if (error) throw IoError("crochet: cannot read " + path_.string() + ": " + error.message());
  }

  const std::filesystem::path& path() const { return path_; }
  /// In bytes, when it was opened.
  std::uint64_t size() const { return size_; }

  /// Fills `to` with the bytes from `offset` on.
  void read_at(std::uint64_t offset, std::span<std::byte> to) const {
    if (to.empty()) return;
    if (offset > size_ || to.size() > size_ - offset) {
      throw DataLossError("crochet: " + path_.string() + " is damaged: it ends at byte " + std::to_string(size_) +
                          ", and what lies at byte " + std::to_string(offset) + " needs " + std::to_string(to.size()) +
                          " more");
    }
    if (std::fseek(file_.get(), static_cast<long>(offset), SEEK_SET) != 0) fail();
    errno = 0;
    if (std::fread(to.data(), 1, to.size(), file_.get()) != to.size()) {
      if (errno != 0) fail();
      throw DataLossError("crochet: " + path_.string() + " became shorter while it was read");
    }
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  [[noreturn]] CROCHET_COLD void fail() const {
    throw IoError("crochet: cannot read " + path_.string() + ": " +
                  std::error_code(errno, std::generic_category()).message());
  }

  std::filesystem::path path_;
  std::unique_ptr<std::FILE, Close> file_;
  std::uint64_t size_ = 0;
};

/// The contents of a file. Throws IoError.
inline std::string read_whole_file(const std::filesystem::path& path) {
  const InputFile file{path};
  std::string contents(static_cast<std::size_t>(file.size()), '\0');
  file.read_at(0, std::as_writable_bytes(std::span{contents}));
  return contents;
}

}  // namespace crochet::io
