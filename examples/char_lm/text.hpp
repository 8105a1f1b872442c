// SPDX-License-Identifier: Apache-2.0
// The training text: read, converted to numbers, divided into windows.
#pragma once
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <crochet/crochet.hpp>
#include <crochet/data/shuffle.hpp>

namespace char_lm {

/// Characters as numbers: 0 is a new line, the others are the printable ASCII characters. Any other character (tabs,
/// accented letters) becomes a blank.
class Text {
 public:
  static constexpr std::int32_t symbols = 96;

  static constexpr std::int32_t number_of(char c) { return c == '\n' ? 0 : c < ' ' || c > '~' ? 1 : c - ' ' + 1; }
  static constexpr char character(std::int32_t number) {
    return number == 0 ? '\n' : static_cast<char>(' ' + number - 1);
  }
  static std::vector<std::int32_t> numbers(const std::string& text) {
    std::vector<std::int32_t> all(text.size());
    std::transform(text.begin(), text.end(), all.begin(), number_of);
    return all;
  }

  /// Reads a file, or all files of a folder in the order of their names. Links are skipped: their files are read
  /// already.
  explicit Text(const std::filesystem::path& from) {
    std::vector<std::filesystem::path> files;
    if (std::filesystem::is_directory(from)) {
      for (const auto& entry : std::filesystem::directory_iterator(from)) {
        if (entry.is_regular_file() && !entry.is_symlink()) files.push_back(entry.path());
      }
      std::sort(files.begin(), files.end());
    } else {
      files.push_back(from);
    }
    for (const auto& file : files) append(file);
    if (all_.size() < 10'000)
      throw std::runtime_error(from.string() + ": too little text, 10,000 characters are needed");
  }

  /// The last tenth is for validation.
  std::span<const std::int32_t> training() const { return std::span(all_).first(all_.size() - all_.size() / 10); }
  std::span<const std::int32_t> validation() const { return std::span(all_).last(all_.size() / 10); }

 private:
  void append(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) throw std::runtime_error("cannot read " + file.string());
    const std::vector<std::int32_t> more = numbers({std::istreambuf_iterator<char>(in), {}});
    all_.insert(all_.end(), more.begin(), more.end());
  }

  std::vector<std::int32_t> all_;
};

/// Batches of windows of `length` characters, and for each character the next one. Feeds are valid until the next
/// batch.
class Windows {
 public:
  Windows(std::span<const std::int32_t> text, std::int64_t batch, std::int64_t length)
      : text_(text), batch_(batch), length_(length) {}

  auto feeds() const { return crochet::feeds(crochet::feed<"tokens">(tokens_), crochet::feed<"labels">(labels_)); }

  /// A batch of windows at random positions.
  auto draw(crochet::SplitMix64& random) {
    clear();
    for (std::int64_t i = 0; i < batch_; ++i) add(random.below(static_cast<std::uint32_t>(places())));
    return feeds();
  }
  /// The next batch of a pass over the text, window after window. Empty when no complete batch is left; the call after
  /// that starts the next pass.
  auto next() {
    clear();
    for (std::int64_t i = 0; i < batch_ && at_ < places(); ++i, at_ += length_) add(at_);
    std::optional batch = feeds();
    if (static_cast<std::int64_t>(tokens_.size()) < batch_ * length_) at_ = 0, batch.reset();
    return batch;
  }

  const std::vector<std::int32_t>& tokens() const { return tokens_; }
  const std::vector<std::int32_t>& labels() const { return labels_; }

 private:
  std::int64_t places() const { return static_cast<std::int64_t>(text_.size()) - length_; }
  void clear() { tokens_.clear(), labels_.clear(); }
  void add(std::int64_t from) {
    const auto window = text_.subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(length_) + 1);
    tokens_.insert(tokens_.end(), window.begin(), window.end() - 1);
    labels_.insert(labels_.end(), window.begin() + 1, window.end());
  }

  std::span<const std::int32_t> text_;
  std::int64_t batch_, length_, at_ = 0;
  std::vector<std::int32_t> tokens_, labels_;
};

}  // namespace char_lm
