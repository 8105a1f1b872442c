// SPDX-License-Identifier: Apache-2.0
// RowFile: a text file of lines with steps; it can be truncated to an earlier step.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/storage/input_file.hpp>
#include <crochet/storage/path_lock.hpp>
#include <crochet/storage/whole_file.hpp>

namespace crochet::io {

/// Appends lines to a file.
/// - Opens the file for each line, so that a crash of the program loses no written line. Does not sync to disk.
/// - Two processes must not write to one file: see own().
/// - Cost of a line: an open, a write and a close, about 10 us.
class RowFile {
 public:
  /// Parses the step of a line; empty if the line is not of this format.
  using StepOf = std::optional<std::int64_t> (*)(std::string_view line);

  /// Creates the directory, and takes the lock of the file (storage/path_lock.hpp). Takes no lock if the path is not a
  /// regular file (/dev/null) or is below /dev (/dev/stdout). Throws FailedPreconditionError, with the owner's process
  /// id, if another process writes to the file; IoError if the directory cannot be created or written, or the path is a
  /// named pipe: its reader would end after the first line.
  static PathLock own(const std::filesystem::path& path) {
    if (is_stream(path)) return {};
    make_folder(path);
    return PathLock::of_file(behind_links(path));
  }

  /// Replaces the file by one that contains only this first line, or nothing if the line is empty. Creates the
  /// directory.
  /// Throws IoError.
  static void create(const std::filesystem::path& path, std::string_view first_line) {
    make_folder(path);
    write(path, first_line, is_stream(path) ? "ab" : "wb");
  }

  /// Truncates an existing file to its first line and the lines of steps up to `step`. This drops the lines that a
  /// session wrote before it was set back to `step`, and an incomplete line. Creates a missing file. Throws IoError,
  /// also if the file begins with another line, or a complete line has no step: then another program wrote it, or it
  /// has other columns. The file is then unchanged.
  /// `row_start`: how each row begins.
  static void resume(const std::filesystem::path& path, std::string_view first_line, std::int64_t step, StepOf step_of,
                     std::string_view row_start = {}) {
    std::error_code none;
    if (!std::filesystem::is_regular_file(path, none) || is_stream(path)) {  // missing, or nothing to be read
      return create(path, first_line);
    }
    const std::string text = read_whole_file(path);
    if (first_line.starts_with(text)) return create(path, first_line);  // empty, or its first line is incomplete
    const std::string kept = lines_up_to(text, path, first_line, step, step_of, row_start);
    if (text.starts_with(kept)) {  // the file stays the same, with its permissions, links and readers
      if (kept != text) std::filesystem::resize_file(path, kept.size(), none);
      return none ? fail(path, none.message()) : void();
    }
    const std::filesystem::path file = std::filesystem::canonical(path, none);  // a link remains one
    write_whole_file(none ? path : file, {std::as_bytes(std::span{kept})});
  }

  /// Appends a line. If the file was removed, or is empty although it needs a first line, writes `first_line` before
  /// it. Returns whether this happened. Throws IoError.
  static bool append(const std::filesystem::path& path, std::string_view line, std::string_view first_line) {
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(path, error);
    const bool gone = status.type() == std::filesystem::file_type::not_found;
    const bool emptied = !first_line.empty() && std::filesystem::is_regular_file(status) &&
                         std::filesystem::file_size(path, error) == 0 && !error;
    if (gone) make_folder(path);
    const bool begins = gone || emptied;
    const std::string header = begins && !first_line.empty() ? std::string(first_line) + '\n' : "";
    write(path, header + std::string(line), "ab");
    return begins;
  }

 private:
  /// Whether lines can only be appended. The standard output of a program is one also if the shell has redirected it to
  /// a file, which other lines are written to. Throws IoError for a named pipe.
  static bool is_stream(const std::filesystem::path& path) {
    const std::string name = path.string();
    if (name.starts_with("/dev/") || name.starts_with("/proc/")) return true;
    std::error_code none;
    const std::filesystem::file_status status = std::filesystem::status(path, none);
    if (std::filesystem::is_fifo(status)) {
      fail(path, "it is a named pipe, and each line opens the file anew; write to /dev/stdout instead");
    }
    return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
  }
  /// The file that a link leads to, which need not exist.
  static std::filesystem::path behind_links(const std::filesystem::path& path) {
    constexpr int most_links = 40;  // the system's limit
    std::error_code error;
    std::filesystem::path file = path;
    for (int i = 0; i < most_links && std::filesystem::is_symlink(file, error); ++i) {
      file = file.parent_path() / std::filesystem::read_symlink(file, error);
    }
    const std::filesystem::path real = std::filesystem::weakly_canonical(file, error);
    return error ? path : real;
  }
  static void make_folder(const std::filesystem::path& path) {
    std::error_code error;
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
    if (error) fail(path, error.message());
  }
  static std::string lines_up_to(std::string_view text, const std::filesystem::path& path, std::string_view first_line,
                                 std::int64_t step, StepOf step_of, std::string_view row_start) {
    if (!first_line.empty() && !text.starts_with(std::string(first_line) + '\n')) {
      fail(path, "it exists and begins otherwise than with " + std::string(first_line) +
                     "; give another path, or have it replaced");
    }
    std::string kept = first_line.empty() ? "" : std::string(first_line) + '\n';
    text.remove_prefix(kept.size());
    for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
      const std::string_view line = text.substr(0, end);
      const auto of = step_of(line);
      if (!of && !line.empty()) has_other_lines(path);
      if (of && *of <= step) kept.append(text.substr(0, end + 1));
      text.remove_prefix(end + 1);
    }
    if (!text.starts_with(row_start) && !row_start.starts_with(text)) has_other_lines(path);
    return kept;
  }

  /// If a write fails, truncates the incomplete line, so that the next line starts a new row.
  static void write(const std::filesystem::path& path, std::string_view line, const char* mode) {
    std::error_code unknown;
    std::uintmax_t before = std::filesystem::file_size(path, unknown);
    if (*mode == 'w' || unknown == std::errc::no_such_file_or_directory) before = 0, unknown.clear();
    std::FILE* file = std::fopen(path.c_str(), mode);
    if (file == nullptr) fail(path, std::strerror(errno));
    std::string text(line);
    if (!text.empty()) text += '\n';
    const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
    const int why = errno;
    if (std::fclose(file) == 0 && written) return;
    const int cause = written ? errno : why;
    if (!unknown) std::filesystem::resize_file(path, before, unknown);
    fail(path, std::strerror(cause));
  }
  [[noreturn]] CROCHET_COLD static void has_other_lines(const std::filesystem::path& path) {
    fail(path, "it exists, and a line of it has no step; give another path, or have it replaced");
  }
  [[noreturn]] CROCHET_COLD static void fail(const std::filesystem::path& path, const std::string& why) {
    throw IoError("crochet: cannot write " + path.string() + ": " + why);
  }
};

}  // namespace crochet::io
