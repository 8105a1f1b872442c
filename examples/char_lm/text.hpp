// SPDX-License-Identifier: Apache-2.0
// The training text: read, converted to ids, divided into windows.
#pragma once
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <crochet/crochet.hpp>
#include <crochet/data/char_vocabulary.hpp>
#include <crochet/data/data_batches.hpp>
#include <crochet/data/read_text.hpp>
#include <crochet/data/sequence.hpp>

namespace char_lm {

namespace cr = crochet;

inline constexpr std::int32_t symbols = 96;  // number of characters that the model distinguishes
inline constexpr std::int64_t context = 64;  // number of characters that a prediction depends on

/// A new line and the printable ASCII characters. Any other character (tabs, accented letters) becomes a blank.
inline cr::CharVocabulary vocabulary() {
  std::string characters = "\n";
  for (char c = ' '; c <= '~'; ++c) characters += c;
  return cr::CharVocabulary{characters, U' '};
}

/// The text of a file, or of all files of a folder in the order of their names. Links are skipped: their files are read
/// already.
inline std::string read_all(const std::filesystem::path& from) {
  if (!std::filesystem::is_directory(from)) return cr::read_text(from);
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(from)) {
    if (entry.is_regular_file() && !entry.is_symlink()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::string text;
  for (const auto& file : files) text += cr::read_text(file);
  return text;
}

/// The parts of the text for training and validation. The second is its last tenth.
inline std::pair<cr::Sequence<std::int32_t>, cr::Sequence<std::int32_t>> read_parts(const std::filesystem::path& from) {
  const cr::Sequence all{vocabulary().encode(read_all(from))};
  if (all.size() < 10'000) throw std::runtime_error(from.string() + ": too little text, 10,000 characters are needed");
  return all.split(0.9);
}

/// Windows of the text, and for each character the next one, as `tokens` and `labels`.
inline auto windows(const cr::Sequence<std::int32_t>& text, std::int64_t stride) {
  return text.windows<"tokens", "labels">({.length = context, .stride = stride});
}

}  // namespace char_lm
