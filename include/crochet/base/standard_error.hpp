// SPDX-License-Identifier: Apache-2.0
// Standard error: the lines of the library, and the progress bar below them on a terminal.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace crochet::detail {

/// Lines on standard error above at most one bar.
/// - A line clears the bar and draws it again below the line.
/// - The library writes to standard error only through the one object of this class, standard_error.
/// - Any thread. The lock is that of the stream, so it also serializes single writes of other code.
/// - Throws nothing and allocates nothing, because destructors write diagnostics too.
class StandardError {
 public:
  /// Writes a line; `text` has no end-of-line.
  void line(std::string_view text) {
    const Lock lock;
    Piece piece;
    if (bar_size_ > 0) piece.add("\r\x1b[K");
    piece.add(text);
    piece.add("\n");
    piece.add(bar_, bar_size_);
  }
  /// Draws the bar in place of the current one. A bar of more than 512 bytes is cut off.
  void draw(std::string_view bar) {
    const Lock lock;
    bar_size_ = bar.size() < sizeof bar_ ? bar.size() : sizeof bar_;
    std::memcpy(bar_, bar.data(), bar_size_);
    Piece piece;
    piece.add("\r");
    piece.add(bar_, bar_size_);
    piece.add("\x1b[K");
  }
  /// Keeps the bar on the terminal as it is, and starts a new line.
  void leave_bar() {
    const Lock lock;
    bar_size_ = 0;
    Piece piece;
    piece.add("\n");
  }

 private:
  struct Lock {
#if defined(_WIN32)
    Lock() { _lock_file(stderr); }
    ~Lock() { _unlock_file(stderr); }
#else
    Lock() { flockfile(stderr); }
    ~Lock() { funlockfile(stderr); }
#endif
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
  };
  /// Collects pieces into one write if they fit: standard error has no buffer of its own.
  class Piece {
   public:
    Piece() = default;
    Piece(const Piece&) = delete;
    Piece& operator=(const Piece&) = delete;
    ~Piece() {
      flush();
      std::fflush(stderr);
    }
    void add(std::string_view text) { add(text.data(), text.size()); }
    void add(const char* text, std::size_t size) {
      if (size > sizeof buffer_ - size_) flush();
      if (size > sizeof buffer_) {
        std::fwrite(text, 1, size, stderr);
        return;
      }
      if (size > 0) std::memcpy(buffer_ + size_, text, size);
      size_ += size;
    }

   private:
    void flush() {
      std::fwrite(buffer_, 1, size_, stderr);
      size_ = 0;
    }
    char buffer_[1024];
    std::size_t size_ = 0;
  };

  char bar_[512]{};
  std::size_t bar_size_ = 0;
};

inline constinit StandardError standard_error{};

/// `standard_error.line` as a function: the default sink of all reports.
inline void write_line(std::string_view line) { standard_error.line(line); }

}  // namespace crochet::detail
