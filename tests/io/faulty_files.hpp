// SPDX-License-Identifier: Apache-2.0
// A file system that fails, or a machine that stops, at a point that the test chooses.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <set>
#include <span>
#include <system_error>
#include <utility>

#include <crochet/storage/file_system.hpp>

namespace crochet::test {

/// Thrown through the writing code when the machine stops. Later calls of that code have no effect.
struct MachineStopped {};

/// Files on disk, without the wait for the disk in sync.
class LocalFilesWithoutSync : public io::FileSystem {
 public:
  std::unique_ptr<io::OutputFile> create(const std::filesystem::path& path, std::error_code& error) override {
    std::unique_ptr<io::OutputFile> file = io::local_files().create(path, error);
    return file ? std::make_unique<File>(std::move(file)) : nullptr;
  }
  std::error_code rename(const std::filesystem::path& from, const std::filesystem::path& to) override {
    return io::local_files().rename(from, to);
  }
  std::error_code remove(const std::filesystem::path& path) override { return io::local_files().remove(path); }
  std::error_code sync_folder(const std::filesystem::path&) override { return {}; }

 private:
  class File final : public io::OutputFile {
   public:
    explicit File(std::unique_ptr<io::OutputFile> file) : file_(std::move(file)) {}
    std::error_code write(std::span<const std::byte> bytes) override { return file_->write(bytes); }
    std::error_code start_sync() override { return file_->start_sync(); }
    std::error_code sync() override { return {}; }
    std::error_code close() override { return file_->close(); }

   private:
    std::unique_ptr<io::OutputFile> file_;
  };
};

/// Files on disk that work for `budget` bytes and calls. The next byte or call fails with `error`. Without an error the
/// machine stops there, and unsynced data is lost. No call waits for the disk.
class FaultyFiles final : public io::FileSystem {
 public:
  explicit FaultyFiles(std::size_t budget, std::error_code error = {}) : budget_(budget), error_(error) {}

  std::unique_ptr<io::OutputFile> create(const std::filesystem::path& path, std::error_code& error) override {
    error = spend();
    if (error) return nullptr;
    unsynced_.insert(path);
    std::unique_ptr<io::OutputFile> file = io::local_files().create(path, error);
    return file ? std::make_unique<File>(*this, path, std::move(file)) : nullptr;
  }
  std::error_code rename(const std::filesystem::path& from, const std::filesystem::path& to) override {
    if (const std::error_code error = spend()) return error;
    if (unsynced_.erase(from) != 0) unsynced_.insert(to);
    return io::local_files().rename(from, to);
  }
  std::error_code remove(const std::filesystem::path& path) override {
    if (stopped_) return {};
    if (error_ && budget_ == 0) return io::local_files().remove(path);  // clean-up after an error works
    if (const std::error_code error = spend()) return error;
    return io::local_files().remove(path);
  }
  std::error_code sync_folder(const std::filesystem::path&) override { return spend(); }

  /// Whether everything was done within the budget.
  bool had_enough() const { return budget_ > 0; }

 private:
  class File final : public io::OutputFile {
   public:
    File(FaultyFiles& files, std::filesystem::path path, std::unique_ptr<io::OutputFile> file)
        : files_(&files), path_(std::move(path)), file_(std::move(file)) {}
    std::error_code write(std::span<const std::byte> bytes) override {
      const std::size_t n = std::min(bytes.size(), files_->budget_);
      std::error_code error = file_->write(bytes.first(n));
      files_->budget_ -= n;
      if (!error && n < bytes.size()) error = files_->spend();
      return error;
    }
    std::error_code start_sync() override {
      const std::error_code error = files_->spend();
      return error ? error : file_->start_sync();
    }
    std::error_code sync() override {
      if (const std::error_code error = files_->spend()) return error;
      files_->unsynced_.erase(path_);
      return {};
    }
    std::error_code close() override {
      if (const std::error_code error = files_->spend()) return error;
      return std::exchange(file_, nullptr)->close();
    }

   private:
    FaultyFiles* files_;
    std::filesystem::path path_;
    std::unique_ptr<io::OutputFile> file_;
  };

  std::error_code spend() {
    if (budget_ > 0) {
      --budget_;
      return {};
    }
    if (error_) return error_;
    stopped_ = true;
    for (const std::filesystem::path& path : unsynced_) (void)truncate(path);
    throw MachineStopped{};
  }
  static std::error_code truncate(const std::filesystem::path& path) {
    std::error_code error;
    std::filesystem::resize_file(path, 0, error);
    return error;
  }

  std::size_t budget_;
  std::error_code error_;
  bool stopped_ = false;
  std::set<std::filesystem::path> unsynced_{};
};

}  // namespace crochet::test
